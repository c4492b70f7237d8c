"""`exact` and `exact:pl2` against Python's fractions."""

import math
from fractions import Fraction
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from symsim.arithmetic import UNDEFINED, NotRationalError, NumberError, arithmetic

EXACT, PL2 = arithmetic("exact"), arithmetic("exact:pl2")
rationals = st.fractions(-50, 50, max_denominator=64)


def number(arithmetic_, value):
    return arithmetic_.convert(np.array([Fraction(value)], dtype=object))


def value(arithmetic_, array):
    return arithmetic_.rational(array.ravel()[0])


def pl2_weight(x):
    """2^⌊x⌋ (1 + x − ⌊x⌋)."""
    floor = math.floor(x)
    return Fraction(2) ** floor * (1 + x - floor)


@given(rationals, rationals)
@pytest.mark.parametrize("numbers", [EXACT, PL2], ids=lambda numbers: numbers.name)
def test_operations(numbers, a, b):
    x, y = number(numbers, a), number(numbers, b)
    assert value(numbers, numbers.add(x, y)) == a + b
    assert value(numbers, numbers.sub(x, y)) == a - b
    assert value(numbers, numbers.mul(x, y)) == a * b
    assert value(numbers, numbers.neg(x)) == -a
    assert value(numbers, numbers.maximum(x, y)) == max(a, b)
    if b:
        assert value(numbers, numbers.div(x, y)) == a / b
    else:
        assert numbers.div(x, y)[0] is UNDEFINED


@given(st.integers(-300, 300))
def test_exact_powers_of_two(n):
    assert value(EXACT, EXACT.exp(number(EXACT, n))) == Fraction(2) ** n
    assert value(EXACT, EXACT.log(number(EXACT, Fraction(2) ** n))) == n


@pytest.mark.parametrize("x", [3, Fraction(1, 3), 0, -2, Fraction(-1, 2), 6])
def test_logarithms_that_are_not_rational_are_refused(x):
    with pytest.raises(NotRationalError, match="power of two"):
        EXACT.log(number(EXACT, x))


def test_a_logit_that_is_no_integer_is_named():
    logits = EXACT.convert(np.array([[0, 1], [2, Fraction(1, 2)]], dtype=object))
    with pytest.raises(NotRationalError, match="logit at row 1, column 1 is 1/2"):
        EXACT.exp(logits)


@pytest.mark.parametrize("exponent", [2**24 + 1, -(2**24) - 1, 10**9])
def test_huge_weights_are_refused(exponent):
    with pytest.raises(NumberError, match="too large to write out"):
        EXACT.exp(number(EXACT, exponent))


@given(rationals, st.integers(-20, 20))
def test_pl2_weight(x, n):
    weight = value(PL2, PL2.exp(number(PL2, x)))
    assert weight == pl2_weight(x) > 0
    assert value(PL2, PL2.exp(number(PL2, x + n))) == Fraction(2) ** n * weight
    assert value(PL2, PL2.log(number(PL2, weight))) == x


def test_pl2_weight_of_zero_and_integers():
    for n in range(-30, 31):
        assert value(PL2, PL2.exp(number(PL2, n))) == Fraction(2) ** n


@given(st.lists(rationals, min_size=2, max_size=6, unique=True))
def test_pl2_weight_increases(points):
    weights = [value(PL2, PL2.exp(number(PL2, x))) for x in sorted(points)]
    assert all(a < b for a, b in pairwise(weights))


@pytest.mark.parametrize("x", [0, -1])
def test_pl2_log_needs_a_positive_number(x):
    with pytest.raises(NotRationalError, match="positive"):
        PL2.log(number(PL2, x))


@pytest.mark.parametrize("operation", ["add", "sub", "mul", "div", "maximum"])
def test_undefined_absorbs(operation):
    undefined = np.array([UNDEFINED], dtype=object)
    one = number(EXACT, 1)
    for pair in ((undefined, one), (one, undefined), (undefined, undefined)):
        assert getattr(EXACT, operation)(*pair)[0] is UNDEFINED
    for unary in (EXACT.neg, EXACT.exp, EXACT.log):
        assert unary(undefined)[0] is UNDEFINED
    assert not EXACT.equal(UNDEFINED, UNDEFINED)
    assert not EXACT.finite(undefined)[0]


@given(st.data())
def test_attention_is_a_double_loop(data):
    rows, tokens, m, w = (data.draw(st.integers(1, 4)) for _ in range(4))
    draw = lambda *shape: np.array(  # noqa: E731
        data.draw(
            st.lists(st.integers(-3, 3), min_size=math.prod(shape), max_size=math.prod(shape))
        )
    ).reshape(shape)
    query, key, values = draw(rows, m), draw(tokens, m), draw(tokens, w)
    allowed = np.array(
        data.draw(
            st.lists(
                st.lists(st.booleans(), min_size=tokens, max_size=tokens).filter(any),
                min_size=rows,
                max_size=rows,
            )
        )
    )
    for numbers, weight in ((EXACT, lambda x: Fraction(2) ** int(x)), (PL2, pl2_weight)):
        given_ = [numbers.convert(matrix)[None] for matrix in (query, key, values)]
        for mask in (allowed, None):
            out = numbers.attention(*given_, mask)[0]
            for i in range(rows):
                keys = [j for j in range(tokens) if mask is None or mask[i, j]]
                weights = {j: weight(Fraction(int(query[i] @ key[j]))) for j in keys}
                for c in range(w):
                    expected = sum(weights[j] * int(values[j, c]) for j in keys)
                    assert numbers.rational(out[i, c]) == expected / sum(weights.values())


def test_a_masked_undefined_is_not_read():
    values = np.array([[[EXACT.integers(np.array(3)).item()], [UNDEFINED]]], dtype=object)
    zeros = EXACT.integers(np.zeros((1, 2, 1), dtype=np.int64))
    masked = EXACT.attention(zeros[:, :1], zeros, values, np.array([[True, False]]))
    assert value(EXACT, masked) == 3
    assert EXACT.attention(zeros[:, :1], zeros, values, None)[0, 0, 0] is UNDEFINED
