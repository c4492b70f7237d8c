"""Lemmas A.1 and A.2, executed."""

import numpy as np
import pytest
from support import all_equal

from symsim.arithmetic import arithmetic
from symsim.constructions import sum_of_tokens
from symsim.constructions.a1_block_of_ones import indicator, ones
from symsim.model import Limits, Plan, run
from symsim.terms import evaluate, trace

EXACT = arithmetic("exact")


@pytest.mark.parametrize(("n", "a", "b"), [(3, 2, 1), (4, 1, 3), (3, 0, 2), (2, 2, 2)])
def test_a1_is_a_block_of_ones(n, a, b):
    """φ(X) U, by an explicit matrix product."""
    phi = trace(
        lambda token: {"x": token.x, "flag": indicator(token, a)}, {"x": 1}, sees_position=True
    )
    x = EXACT.integers(np.arange(1, n + 1)[:, None])
    columns = evaluate(tuple(phi.outputs.values()), {"x": x}, EXACT, n)
    phi_of_x = np.concatenate([np.broadcast_to(c, (n, 1)) for c in columns], axis=1)
    block = ones("flag", b)
    assert block.weight.shape == (1, b)
    u = EXACT.integers(np.array([[0] * b, [1] * b]))
    product = EXACT.project(phi_of_x, u)
    expected = EXACT.integers(np.array([[int(i < a)] * b for i in range(n)]))
    assert all_equal(EXACT, product, expected) is True


@pytest.mark.parametrize("n", [1, 2, 3, 5])
def test_a2_returns_the_sum_in_every_row(n):
    numbers = arithmetic("symbolic")
    x = numbers.symbols("x", (n, 2))
    plan = Plan(Limits.of_paper(tokens=max(n, 2), dimension=2))
    plan.finish(plan.call("sum", "A.2", sum_of_tokens(n, {"x": 2}), plan.input("x", n, 2)))
    output = run(plan, numbers, {"x": x})
    total = x[0]
    for row in x[1:]:
        total = total + row
    assert output.shape == (n, 2)
    assert all_equal(numbers, output, np.broadcast_to(total, (n, 2))) is True


def test_a2_with_the_factor_of_another_size_is_wrong():
    plan = Plan(Limits.of_paper(tokens=3, dimension=1))
    plan.finish(plan.call("sum", "A.2", sum_of_tokens(4, {"x": 1}), plan.input("x", 3, 1)))
    output = run(plan, EXACT, {"x": EXACT.integers(np.array([[1], [2], [3]]))})
    assert EXACT.rational(output[0, 0]) == 8  # 4·6/3
