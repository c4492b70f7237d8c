"""The dense reference against two plain loops over Fractions, and where floats would break."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from symsim.arithmetic import UNDEFINED, NotRationalError, arithmetic
from symsim.model import (
    CAUSAL,
    FULL,
    Head,
    Layer,
    Mask,
    Transformer,
    dense_attention,
    dense_product,
    run,
)
from symsim.terms import trace

from .oracles import (
    converted,
    fractions,
    piecewise_linear,
    plain_attention,
    power_of_two,
    rationals,
    same,
    single_call,
)

MASKS = [
    FULL,
    CAUSAL,
    *(Mask("window", r) for r in (1, 2, 3, 9)),
    *(Mask("sink", r, s) for r in (1, 2, 9) for s in (0, 1, 2)),
]
STATED = ["float32", "float64", "float16", "bfloat16", "p:11:-14:15", "mp:60"]
BLAS = ["float64:blas", "float32:blas"]
every_mask = pytest.mark.parametrize("mask", MASKS, ids=str)


def entries(rows: int, columns: int, *, quarters: bool):
    number = st.integers(-3, 3)
    if quarters:
        number = st.integers(-6, 6).map(lambda n: Fraction(n, 4))
    row = st.lists(number, min_size=columns, max_size=columns)
    table = st.lists(row, min_size=rows, max_size=rows)
    return table.map(lambda t: fractions(t).reshape(rows, columns))


@every_mask
@pytest.mark.parametrize("name", ["exact", "exact:pl2"])
@settings(max_examples=10)
@given(data=st.data())
def test_rational_attention_is_that_of_two_plain_loops(name, mask, data):
    length, width = data.draw(st.integers(1, 6)), data.draw(st.integers(0, 2))
    quarters = name == "exact:pl2"
    q, k = (data.draw(entries(length, width, quarters=quarters)) for _ in range(2))
    v = data.draw(entries(length, 2, quarters=True))
    weight = piecewise_linear if quarters else power_of_two
    expected = plain_attention(q, k, v, mask, weight)

    numbers = arithmetic(name)
    given_ = converted(numbers, {"query": q, "key": k, "value": v})
    result = dense_attention(numbers, **given_, mask=mask)
    assert result.shape == (length, 2)
    assert rationals(numbers, result) == expected.ravel().tolist()

    rows = np.array(data.draw(st.lists(st.integers(0, length - 1), min_size=1)))
    chosen = dense_attention(numbers, **given_, mask=mask, rows=rows)
    assert rationals(numbers, chosen) == expected[rows].ravel().tolist()


@every_mask
@pytest.mark.parametrize("name", STATED + BLAS)
def test_rows_of_machine_attention_are_those_of_all(name, mask):
    numbers, random = arithmetic(name), np.random.default_rng(6)
    table = {n: random.integers(-8, 9, (6, 2)) / 8 for n in ("query", "key", "value")}
    given_ = converted(numbers, table)
    rows = np.array([4, 0, 4, 5])
    whole = dense_attention(numbers, **given_, mask=mask)
    chosen = dense_attention(numbers, **given_, mask=mask, rows=rows)
    slack = 0 if name in STATED else 16 * numbers.unit_roundoff
    for a, b in zip(rationals(numbers, chosen), rationals(numbers, whole[rows]), strict=True):
        assert abs(a - b) <= slack


@every_mask
@pytest.mark.parametrize("name", STATED)
def test_a_call_rounds_as_the_reference_does(name, mask):
    """One call and the reference run the same operations in the same order, in separate code."""
    numbers, random = arithmetic(name), np.random.default_rng(7)
    table = {n: random.integers(-24, 25, (6, 2)) / 8 for n in ("q", "k", "v")}
    given_ = converted(numbers, table)
    phi = trace(lambda t: {"q": t.q, "k": t.k, "v": t.v}, {"q": 2, "k": 2, "v": 2})
    head = Head({"c": same("q", 2)}, {"c": same("k", 2)}, {"y": same("v", 2)})
    called = run(single_call(Transformer(phi, (Layer((head,)),), mask), 6), numbers, given_)
    dense = dense_attention(numbers, given_["q"], given_["k"], given_["v"], mask)
    assert rationals(numbers, called) == rationals(numbers, dense)


@every_mask
@pytest.mark.parametrize("name", ["ball:64", "ball:64:base2", *STATED, *BLAS, "exact"])
def test_queries_of_width_0_average_the_keys_a_row_may_read(name, mask):
    numbers = arithmetic(name)
    values = [[0], [8], [4], [16]]
    given_ = converted(numbers, {"value": values})
    empty = np.empty((4, 0), dtype=numbers.dtype)
    result = dense_attention(numbers, empty, empty, given_["value"], mask)
    for i, value in enumerate(rationals(numbers, result)):
        kept = [Fraction(values[j][0]) for j in range(4) if mask.allows(i, j)]
        mean = sum(kept) / len(kept)
        assert abs(value - mean) <= mean / 2**6


@pytest.mark.parametrize("sign", [1, -1])
@pytest.mark.parametrize("name", [*STATED, *BLAS])
def test_large_logits_do_not_overflow(name, sign):
    """Logits ±1024·(1, 2, 3): the weight of the largest is 1, the others vanish."""
    numbers = arithmetic(name)
    given_ = converted(
        numbers, {"query": [[32 * sign]] * 3, "key": [[32], [64], [96]], "value": [[1], [2], [3]]}
    )
    result = rationals(numbers, dense_attention(numbers, **given_))
    expected = 3 if sign > 0 else 1
    assert all(abs(value - expected) < Fraction(1, 2**50) for value in result)


@pytest.mark.parametrize("where", ["key", "value"])
@pytest.mark.parametrize("mask", [m for m in MASKS if m.kind != "full"], ids=str)
@pytest.mark.parametrize("name", ["exact", "exact:pl2", "ball:64", *STATED, *BLAS])
def test_what_is_undefined_in_a_dropped_entry_is_not_read(name, mask, where):
    numbers, random = arithmetic(name), np.random.default_rng(8)
    given_ = converted(
        numbers, {n: random.integers(1, 4, (5, 2)) for n in ("query", "key", "value")}
    )
    clean = dense_attention(numbers, **given_, mask=mask)
    with numbers.working():
        zero = numbers.integers(np.zeros(1, dtype=np.int64))
        given_[where][3, :1] = numbers.div(zero, zero)
    poisoned = dense_attention(numbers, **given_, mask=mask)
    spared = [i for i in range(5) if not mask.allows(i, 3)]
    readers = [i for i in range(5) if mask.allows(i, 3)]
    assert rationals(numbers, poisoned[spared]) == rationals(numbers, clean[spared])
    assert not numbers.finite(poisoned)[readers, 0].any()
    if where == "value":
        assert rationals(numbers, poisoned[:, 1:]) == rationals(numbers, clean[:, 1:])


@pytest.mark.parametrize("name", [*STATED, *BLAS])
def test_an_infinite_value_leaves_the_other_columns_alone(name):
    numbers = arithmetic(name)
    zeros, values = np.zeros((2, 1), dtype=int), [[1, 1], [1, 3]]
    given_ = converted(numbers, {"query": zeros, "key": zeros, "value": values})
    with numbers.working():
        one, zero = (numbers.integers(np.array([n])) for n in (1, 0))
        given_["value"][1, :1] = numbers.div(one, zero)
    result = dense_attention(numbers, **given_)
    assert not numbers.finite(result)[:, 0].any()
    assert rationals(numbers, result[:, 1:]) == [2, 2]


def test_a_logit_that_a_mask_drops_need_not_be_an_integer():
    numbers = arithmetic("exact")
    table = {"query": [[1], [2]], "key": [[3], ["1/2"]], "value": [[5], [9]]}
    given_ = converted(numbers, {n: fractions(m) for n, m in table.items()})
    result = dense_attention(numbers, **given_, mask=CAUSAL)
    # row 2: weights 2^6 and 2^1
    assert rationals(numbers, result) == [5, Fraction(64 * 5 + 2 * 9, 66)]
    with pytest.raises(NotRationalError, match="1/2"):
        dense_attention(numbers, **given_)


def test_undefined_is_what_a_reading_row_gets_in_exact():
    numbers = arithmetic("exact")
    given_ = converted(numbers, {n: [[0], [0]] for n in ("query", "key", "value")})
    given_["value"][1, 0] = UNDEFINED
    result = dense_attention(numbers, **given_, mask=CAUSAL)
    assert result[0, 0] == 0
    assert result[1, 0] is UNDEFINED


@pytest.mark.parametrize("name", ["exact", "float64", "ball:64"])
def test_the_dense_product_is_the_matrix_product(name):
    numbers = arithmetic(name)
    given_ = converted(numbers, {"left": [[1, 2, 3], [4, 5, 6]], "right": [[1], [10], [100]]})
    with numbers.working():
        assert rationals(numbers, dense_product(numbers, **given_)) == [321, 654]
