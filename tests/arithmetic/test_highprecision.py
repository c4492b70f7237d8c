"""`mp:BITS` against Python's fractions and against Arb."""

from fractions import Fraction

import mpmath
import numpy as np
import pytest
from flint import arb, ctx, fmpq
from hypothesis import given
from hypothesis import strategies as st

from symsim.arithmetic import ConversionError, NumberError, arithmetic

BITS = 100
MP = arithmetic(f"mp:{BITS}")
UNIT_ROUNDOFF = Fraction(1, 2**BITS)
dyadic = st.builds(Fraction, st.integers(-(2**40), 2**40), st.sampled_from([1, 2, 64, 2**20]))


def number(value):
    return MP.convert(np.array([Fraction(value)], dtype=object))


def close(array, exact):
    """Within one rounding of the exact value."""
    return abs(MP.rational(array[0]) - exact) <= UNIT_ROUNDOFF * abs(exact)


@given(dyadic, dyadic)
def test_operations_round_once(a, b):
    with MP.working():
        x, y = number(a), number(b)
        assert close(MP.add(x, y), a + b)
        assert close(MP.sub(x, y), a - b)
        assert close(MP.mul(x, y), a * b)
        assert MP.rational(MP.neg(x)[0]) == -a
        assert MP.rational(MP.maximum(x, y)[0]) == max(a, b)
        if b:
            assert close(MP.div(x, y), a / b)
        else:
            assert not MP.finite(MP.div(x, y))[0]


@given(st.builds(Fraction, st.integers(-1000, 1000), st.just(16)))
def test_exp_and_log_agree_with_arb(x):
    ulp = 2 * UNIT_ROUNDOFF
    with MP.working(), ctx.workprec(400):
        exact = arb(fmpq(x.numerator, x.denominator))
        for result, ball in (
            (MP.exp(number(x))[0], exact.exp()),
            (MP.log(number(x))[0], exact.log()),
        ):
            if not ball.is_finite():
                assert x <= 0
                assert not MP.finite(np.array([result]))[0]
                continue
            value = MP.rational(result)
            error = abs(arb(fmpq(value.numerator, value.denominator)) - ball)
            assert error <= abs(ball) * arb(fmpq(1, ulp.denominator // ulp.numerator))


@pytest.mark.parametrize("value", [Fraction(1, 3), 2**BITS + 1, Fraction(1, 10)])
def test_conversion_without_loss_or_refused(value):
    with pytest.raises(ConversionError, match="no exact form in mp:100"):
        number(value)


@pytest.mark.parametrize("value", [Fraction(1, 3), 2**BITS + 1, Fraction(-22, 7)])
def test_rounding_is_to_nearest(value):
    assert close(MP.rounded(np.array([value], dtype=object)), value)


@pytest.mark.parametrize("value", [2**BITS - 1, Fraction(-3, 2**500), 0, -7])
def test_exact_values_survive(value):
    assert MP.rational(number(value)[0]) == value


def test_the_global_precision_is_never_touched():
    before = mpmath.mp.prec
    MP.exp(number(1))
    assert mpmath.mp.prec == before == 53


def test_too_few_bits():
    with pytest.raises(NumberError, match="at least 2"):
        arithmetic("mp:1")
