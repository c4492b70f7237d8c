"""Balls against exact values and against mpmath at higher precision."""

from fractions import Fraction

import flint
import mpmath
import numpy as np
import pytest
from flint import arb, ctx
from hypothesis import given
from hypothesis import strategies as st
from support import contains

from symsim.arithmetic import NumberError, arithmetic

BALL, BASE2 = arithmetic("ball:64"), arithmetic("ball:64:base2")
rationals = st.fractions(-30, 30, max_denominator=1000)


def number(value):
    return BALL.convert(np.array([Fraction(value)], dtype=object))


def by_mpmath(function, x):
    """A ball of relative radius 1e-75 around mpmath's value at 400 bits, about 120 digits."""
    with mpmath.workprec(400), ctx.workprec(400):
        value = function(mpmath.mpf(x.numerator) / x.denominator)
        return arb(mpmath.nstr(value, 100)) * (1 + arb(0, "1e-75"))


@given(rationals, rationals)
def test_rational_operations_contain_the_exact_value(a, b):
    with BALL.working():
        x, y = number(a), number(b)
        for ball, exact in (
            (BALL.add(x, y), a + b),
            (BALL.sub(x, y), a - b),
            (BALL.mul(x, y), a * b),
            (BALL.neg(x), -a),
            (BALL.maximum(x, y), max(a, b)),
        ):
            assert contains(ball[0], exact)
        if b:
            assert contains(BALL.div(x, y)[0], a / b)


@given(rationals)
def test_exp_and_log_contain_mpmath_at_higher_precision(x):
    pairs = [(BALL.exp, mpmath.exp), (BASE2.exp, lambda v: mpmath.mpf(2) ** v)]
    if x > 0:
        pairs += [(BALL.log, mpmath.log), (BASE2.log, lambda v: mpmath.log(v) / mpmath.log(2))]
    for operation, function in pairs:
        with BALL.working():
            ball = operation(number(x))[0]
        assert ball.overlaps(by_mpmath(function, x))
        assert ball.rel_accuracy_bits() >= 50 or ball.contains(0)


def test_a_third_is_enclosed_and_a_tenth_is_not_its_double():
    with BALL.working():
        assert contains(number(Fraction(1, 3))[0], Fraction(1, 3))
        assert not number(Fraction(1, 3))[0].is_exact()
        double = BALL.convert(np.array([0.1]))[0]
        assert double.is_exact()
        assert not contains(double, Fraction(1, 10))


def test_division_by_zero_is_no_information():
    with BALL.working():
        quotient = BALL.div(number(1), number(0))
        assert not BALL.finite(quotient)[0]
        assert BALL.text(quotient[0]) == "no information"
        assert not BALL.finite(BALL.div(number(1), BALL.convert(np.array([0.0]))))[0]


def test_equality_has_three_values():
    with BALL.working():
        one, third = number(1)[0], number(Fraction(1, 3))[0]
        assert BALL.equal(one, number(1)[0]) is True
        assert BALL.equal(one, third) is False
        assert BALL.equal(third, number(Fraction(1, 3))[0]) is None


@pytest.mark.parametrize("value", [float("nan"), float("inf")])
def test_only_finite_numbers_are_converted(value):
    with pytest.raises(NumberError, match="finite"):
        BALL.convert(np.array([value]))


def test_the_precision_is_entered_in_one_place_and_left_again():
    before = flint.ctx.prec
    with arithmetic("ball:300").working():
        assert flint.ctx.prec == 300
    assert flint.ctx.prec == before
    with pytest.raises(ZeroDivisionError), arithmetic("ball:300").working():
        raise ZeroDivisionError
    assert flint.ctx.prec == before


@given(st.data())
def test_attention_contains_the_exact_value(data):
    """Base 2 and integer logits, where the exact value is rational."""
    exact = arithmetic("exact")
    entries = st.lists(st.integers(-4, 4), min_size=6, max_size=6)
    matrices = [np.array(data.draw(entries)).reshape(3, 2) for _ in range(3)]
    for allowed in (None, np.tril(np.ones((3, 3), dtype=bool))):
        with BASE2.working():
            balls = BASE2.attention(*(BASE2.convert(m)[None] for m in matrices), allowed)
        answers = exact.attention(*(exact.convert(m)[None] for m in matrices), allowed)
        for ball, answer in zip(balls.ravel(), answers.ravel(), strict=True):
            assert contains(ball, exact.rational(answer))
            assert ball.rel_accuracy_bits() > 50 or answer == 0


def test_a_masked_ball_without_information_is_not_read():
    with BALL.working():
        zeros = BALL.integers(np.zeros((1, 2, 1), dtype=np.int64))
        values = zeros.copy()
        values[0, 1, 0] = arb("nan")
        allowed = np.array([[True, False], [True, True]])
        first, second = BALL.attention(zeros, zeros, values, allowed)[0, :, 0]
        assert first == 0
        assert not second.is_finite()


def test_zero_query_columns_mean_logits_zero():
    with BALL.working():
        empty = np.empty((1, 2, 0), dtype=object)
        values = BALL.integers(np.array([[[2], [4]]]))
        assert BALL.attention(empty, empty, values, None)[0, 0, 0] == 3
