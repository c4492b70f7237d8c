"""Calls in numbers: what cancels in the result is pinned here, as the paper prints it."""

from fractions import Fraction

import numpy as np
import pytest

from symsim.arithmetic import arithmetic
from symsim.constructions import from_qkv, from_x, quadratic_calls, quadratic_calls_as_printed
from symsim.model import ModelError, explain

EXACT = arithmetic("exact")
Q, K, V = ([[1], [2], [-1], [3]], [[2], [-1], [0], [1]], [[1], [5], [2], [-3]])


def shown(plan, numbers=EXACT):
    with numbers.working():
        given = {
            name: numbers.integers(np.array(rows))
            for name, rows in zip("QKV", (Q, K, V), strict=True)
        }
    return {step.step.label: step for step in explain(plan, numbers, given, {})}


def rationals(array):
    return [[EXACT.rational(entry) for entry in row] for row in array]


def test_printed_logits_carry_the_extra_coordinate():
    """⟨q_i, k_j⟩ + 1 among real tokens, 1 in the synthetic token's column (steps 4 and 5)."""
    step = shown(quadratic_calls_as_printed(from_qkv(4, 1), 2))["step 1 (0, 1)"]
    (head,) = step.heads
    queries, keys = Q[:2], K[2:]
    expected = [[q[0] * k[0] + 1 for k in keys] + [1] for q in queries]
    assert rationals(head.logits) == expected
    assert rationals(step.after_phi["real"]) == [[1], [1], [0]]


def test_printed_values_are_a_block_of_ones():
    """r is A/(A + 1), and the state is A (steps 6 to 8)."""
    step = shown(quadratic_calls_as_printed(from_qkv(4, 1), 2))["step 1 (1, 0)"]
    sums = [sum(Fraction(2) ** (q[0] * k[0]) for k in K[:2]) for q in Q[2:]]
    assert rationals(step.heads[0].output["r"]) == [[a / (a + 1)] for a in sums]
    assert rationals(step.output["A"]) == [[a] for a in sums]


def test_printed_parameters():
    """W′ = diag(W, 1): two selections of width 1 in queries and keys, a row of ones in V."""
    oracle = next(quadratic_calls_as_printed(from_qkv(4, 1), 2).calls).oracle
    (head,) = oracle.layers[0].heads
    assert list(head.query) == list(head.key) == ["logit", "extra"]
    assert sum(block.weight.nonzero for block in head.blocks) == 2 + 2 + 1


def test_the_anchor_is_the_querys_own_logit():
    numbers = arithmetic("ball:64:base2")
    step = shown(quadratic_calls(from_qkv(4, 1), 3, readout="anchored"), numbers)["block (0, 1)"]
    anchors = [float(row[0].mid()) for row in step.after_phi["anchor"]]
    assert anchors == [q[0] * k[0] for q, k in zip(Q[:2], K[:2], strict=True)] + [0]


@pytest.mark.parametrize("option", [{"readout": "nope"}, {"aggregation": "b"}])
def test_unknown_options_are_refused(option):
    with pytest.raises(ModelError, match="known"):
        quadratic_calls(from_qkv(4, 1), 3, **option)


@pytest.mark.parametrize("widths", [(3, 1), (1, 3)])
def test_matrices_wider_than_the_tokens_are_refused(widths):
    with pytest.raises(ModelError, match="m × m: found 3 columns, allowed 2"):
        from_x(4, 2, *widths)
