"""How much faster FLINT polynomials are than SymPy's own on the same block simulation."""

from __future__ import annotations

import time

import numpy as np
import pytest
from sympy import ZZ
from sympy.polys.fields import field

from symsim.arithmetic.symbolic import Symbolic

N, D, BLOCK = 8, 2, 2
LEAST_RATIO = 10


def block_sums_with_flint():
    """Attention of N tokens from calls on blocks of keys and a synthetic token, and densely."""
    a = Symbolic()
    q, k, v = (a.symbols(name, (N, D)) for name in "QKV")
    zero_key = a.integers(np.zeros((1, D), dtype=int))
    flags = a.integers(np.array([[1, 0]] * BLOCK))
    synthetic = a.integers(np.array([[0] * D + [0, 1]]))
    starts = range(0, N, BLOCK)
    pairs = [(i, j) for j in starts for i in starts]
    keys = {j: np.concatenate([k[j : j + BLOCK], zero_key]) for j in starts}
    values = {
        j: np.concatenate([np.concatenate([v[j : j + BLOCK], flags], axis=1), synthetic])
        for j in starts
    }
    out = a.attention(
        np.stack([q[i : i + BLOCK] for i, _ in pairs]),
        np.stack([keys[j] for _, j in pairs]),
        np.stack([values[j] for _, j in pairs]),
        None,
    )
    y, r, s = out[..., :D], out[..., D : D + 1], out[..., D + 1 :]
    weights = a.div(r, s).reshape(len(starts), N, 1).sum(axis=0)
    sums = a.div(y, s).reshape(len(starts), N, D).sum(axis=0)
    dense = a.attention(q[None], k[None], v[None], None)[0]
    return [a.equal(p, t) for p, t in zip(a.div(sums, weights).flat, dense.flat, strict=True)]


def block_sums_with_sympy():
    """The same quotients in SymPy's sparse field of fractions, exponentials as generators."""
    names = [f"e_{i}_{j}_{c}" for i in range(N) for j in range(N) for c in range(D)]
    names += [f"v_{j}_{c}" for j in range(N) for c in range(D)]
    fractions, *generators = field(names, ZZ)
    e = np.array(generators[: N * N * D], dtype=object).reshape(N, N, D).prod(axis=2)
    v = np.array(generators[N * N * D :], dtype=object).reshape(N, D)
    one = fractions.one
    same = []
    for i in range(N):
        weights, sums = fractions.zero, [fractions.zero] * D
        for j in range(0, N, BLOCK):
            block = e[i, j : j + BLOCK]
            total = block.sum() + one
            y = [(block * v[j : j + BLOCK, c]).sum() / total for c in range(D)]
            r, s = block.sum() / total, one / total
            weights = weights + r / s
            sums = [old + part / s for old, part in zip(sums, y, strict=True)]
        dense = [(e[i] * v[:, c]).sum() / e[i].sum() for c in range(D)]
        same += [part / weights == right for part, right in zip(sums, dense, strict=True)]
    return same


def seconds(function) -> float:
    """Time of one call that finds every entry equal."""
    start = time.perf_counter()
    same = function()
    elapsed = time.perf_counter() - start
    assert same == [True] * (N * D)
    return elapsed


@pytest.mark.benchmark
def test_flint_is_many_times_faster_than_sympy():
    ratio = seconds(block_sums_with_sympy) / min(seconds(block_sums_with_flint) for _ in range(3))
    print(f"SymPy / FLINT on attention in blocks, N={N}, d={D}: {ratio:.0f} times")
    assert ratio >= LEAST_RATIO
