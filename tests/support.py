"""What several tests need: symbolic heads, runs of them, and the states inside a run."""

import json
from fractions import Fraction
from pathlib import Path

import numpy as np

from symsim.arithmetic import arithmetic
from symsim.model import Call, dense_attention, run
from symsim.model.run import Machine

CASES = Path(__file__).parent / "cases"


def cases(mask):
    """The case files with the given mask."""
    loaded = [json.loads(path.read_text()) for path in sorted(CASES.glob("*.json"))]
    return [case for case in loaded if case["mask"] == mask]


def case_matrices(case, numbers):
    """Q, K, V of a case in an arithmetic."""
    with numbers.working():
        return {name: numbers.convert(np.array(case[name], dtype=object)) for name in "QKV"}


def symbols(length, dimension):
    """The symbolic arithmetic, with fresh symbols for Q, K and V."""
    numbers = arithmetic("symbolic")
    return numbers, {name: numbers.symbols(name, (length, dimension)) for name in "QKV"}


def all_equal(numbers, left, right):
    """Whether all entries are equal; None if that is not decided."""
    assert left.shape == right.shape
    assert left.size
    with numbers.working():
        verdicts = {numbers.equal(a, b) for a, b in zip(left.ravel(), right.ravel(), strict=True)}
    return False if False in verdicts else (None if None in verdicts else True)


def equals_dense(numbers, plan, given):
    """Whether a plan's result is dense attention under the full mask."""
    reference = dense_attention(numbers, given["Q"], given["K"], given["V"])
    return all_equal(numbers, run(plan, numbers, given), reference)


def outputs(numbers, plan, given):
    """By label, the columns that every call of kind block returned, rows that are read only."""
    with numbers.working():
        machine = Machine(plan, numbers, {})
        machine.load(given)
        for batch in machine.batches(batched=True):
            machine.execute(batch)
    found = {}
    for call in plan.calls:
        if call.kind == "block":
            rows = plan.rows_read(call)
            found[call.label] = {
                name: machine.banks[field.width][field.addresses[rows]]
                for name, field in call.output.fields.items()
            }
    assert all(isinstance(step, Call) for step in plan.steps)
    return found


def block_sums(numbers, given, queries, keys):
    """(A, B) over a block of keys for a block of queries, by a double loop."""
    sums, weighted = [], []
    for i in range(queries.start, queries.stop):
        total, vector = None, None
        for j in range(keys.start, keys.stop):
            products = [q * k for q, k in zip(given["Q"][i], given["K"][j], strict=True)]
            weight = numbers.exp_of(sum(products[1:], products[0]))
            term = np.array([weight * v for v in given["V"][j]], dtype=object)
            total = weight if total is None else total + weight
            vector = term if vector is None else vector + term
        sums.append([total])
        weighted.append(vector)
    return {"A": np.array(sums, dtype=object), "B": np.array(weighted, dtype=object)}


def contains(ball, value):
    """Whether a ball contains a rational number, decided in rational numbers."""
    middle, radius = (
        Fraction(int(mantissa)) * Fraction(2) ** int(exponent)
        for mantissa, exponent in (ball.mid().man_exp(), ball.rad().man_exp())
    )
    return abs(middle - Fraction(value)) <= radius
