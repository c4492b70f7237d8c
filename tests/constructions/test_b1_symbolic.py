"""Lemma B.1 for all real inputs of a size: the simulation is dense attention, symbolically."""

import pytest
from support import all_equal, equals_dense, symbols

from symsim.arithmetic import arithmetic
from symsim.constructions import from_qkv, from_x, quadratic_calls, quadratic_calls_as_printed
from symsim.model import dense_attention, dense_product, run


@pytest.mark.parametrize("tokens", range(2, 6))
@pytest.mark.parametrize("length", range(1, 13))
def test_repaired_for_every_small_size(length, tokens):
    for dimension in (1, 2):
        numbers, given = symbols(length, dimension)
        plan = quadratic_calls(from_qkv(length, dimension), tokens)
        assert equals_dense(numbers, plan, given) is True


@pytest.mark.parametrize(
    "options",
    [
        {"readout": "printed"},
        {"readout": "printed", "aggregation": "a:head"},
        {"readout": "dual", "aggregation": "a:head"},
        {"readout": "anchored"},
        {"readout": "anchored", "aggregation": "a"},
    ],
    ids=str,
)
@pytest.mark.parametrize(("length", "tokens"), [(1, 3), (4, 3), (5, 2), (7, 3), (8, 4)])
def test_other_readouts_and_aggregations(length, tokens, options):
    numbers, given = symbols(length, 1)
    plan = quadratic_calls(from_qkv(length, 1), tokens, **options)
    assert equals_dense(numbers, plan, given) is True


@pytest.mark.parametrize(
    ("length", "tokens"), [(2, 2), (3, 3), (4, 2), (6, 2), (6, 3), (8, 4), (10, 5)]
)
def test_printed_where_m_divides_n(length, tokens):
    numbers, given = symbols(length, 2)
    plan = quadratic_calls_as_printed(from_qkv(length, 2), tokens)
    assert equals_dense(numbers, plan, given) is True


@pytest.mark.parametrize("construction", [quadratic_calls, quadratic_calls_as_printed])
def test_given_by_x_and_symbolic_weights(construction):
    numbers = arithmetic("symbolic")
    x = numbers.symbols("X", (4, 2))
    weights = {name: numbers.symbols(name, (2, 1)) for name in ("W_Q", "W_K", "W_V")}
    plan = construction(from_x(4, 2, 1, 1), 2)
    query, key, value = (dense_product(numbers, x, weights[f"W_{side}"]) for side in "QKV")
    reference = dense_attention(numbers, query, key, value)
    assert all_equal(numbers, run(plan, numbers, {"X": x}, weights), reference) is True
