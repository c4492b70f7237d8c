"""Lemma B.1 on the packaged real heads, M = 32."""

import pytest

from symsim.arithmetic import arithmetic
from symsim.simulation import Options, sample_heads, simulate

HEADS = sample_heads()
WITHIN = 4
"""The simulation's error against that of dense attention in the same format and order."""


@pytest.mark.parametrize("head", HEADS, ids=lambda head: head.name)
@pytest.mark.parametrize("name", ["float32", "bfloat16"])
def test_dual_readout_is_as_good_as_dense_attention(name, head):
    comparison = simulate(head, Options(tokens=32), arithmetic(name)).comparison
    assert comparison.rows_compared == head.length == 128
    assert comparison.non_finite_rows == 0
    assert comparison.max_relative_error <= WITHIN * comparison.dense_error


@pytest.mark.parametrize(
    "options",
    [Options(variant="printed", tokens=32), Options(readout="printed", tokens=32)],
    ids=["printed variant", "printed readout"],
)
def test_printed_recovery_is_not_finite_even_in_float64(options):
    nearly_hard = HEADS[0]
    assert nearly_hard.name == "layer0.head2"
    simulation = simulate(nearly_hard, options, arithmetic("float64"))
    assert simulation.comparison.non_finite_rows == 22  # the figure published with the heads
    assert simulation.succeeded is False


def test_certified_on_a_real_head():
    comparison = simulate(HEADS[0], Options(tokens=32), arithmetic("ball:128")).comparison
    assert comparison.equal is True
    assert 0 < comparison.max_relative_error < 1e-30
