"""Custom formats against the machine's own, and against mpmath and integers elsewhere."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from typing import Any

import gmpy2
import mpmath
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from symsim.arithmetic.base import ConversionError, Evidence, NumberError, UndecidableError
from symsim.arithmetic.custom import MAX_BITS, MAX_EXPONENT, Custom
from symsim.arithmetic.hardware import Hardware

FLOAT16 = Custom(11, -14, 15)
BFLOAT16 = Custom(8, -126, 127)
E5M2 = Custom(3, -14, 15)
FLOAT32 = Custom(24, -126, 127)
FLOAT64 = Custom(53, -1022, 1023)

TWINS = [
    (FLOAT16, Hardware("float16")),
    (BFLOAT16, Hardware("bfloat16")),
    (E5M2, Hardware("float8_e5m2")),
    (FLOAT32, Hardware("float32")),
    (FLOAT64, Hardware("float64")),
]
every_twin = pytest.mark.parametrize(("custom", "machine"), TWINS, ids=lambda a: a.name)
small_twins = pytest.mark.parametrize(("custom", "machine"), TWINS[:3], ids=lambda a: a.name)


@pytest.fixture(autouse=True)
def _silent() -> Iterator[None]:
    with Hardware("float64").working():
        yield


def as_mpfr(numbers: np.ndarray) -> np.ndarray:
    """The same numbers, NaN and infinities included, as mpfr of the context."""
    return np.asarray(np.frompyfunc(gmpy2.mpfr, 1, 1)(numbers.astype(float)), dtype=object)


def same(found: np.ndarray, expected: np.ndarray) -> bool:
    """Whether mpfr numbers are those of a machine format, signs of zeros included."""
    left = np.array([float(x) for x in found.ravel()]).reshape(found.shape)
    right = expected.astype(float)
    nan = np.isnan(left) & np.isnan(right)
    return found.shape == expected.shape and bool(
        (nan | ((left == right) & (np.signbit(left) == np.signbit(right)))).all()
    )


def every(machine: Hardware) -> np.ndarray:
    """All numbers of a format of 8 or 16 bits."""
    bits = 8 * machine.dtype.itemsize
    return np.arange(2**bits).astype(f"u{machine.dtype.itemsize}").view(machine.dtype)


# -- description ------------------------------------------------------------------------


def test_description() -> None:
    assert (FLOAT16.name, Custom(100).name) == ("p:11:-14:15", "p:100")
    assert (FLOAT16.bits, FLOAT16.unit_roundoff) == (11, Fraction(1, 2048))
    assert (FLOAT16.base, FLOAT16.evidence) == ("e", Evidence.MEASURED)
    assert FLOAT16.subtracts_maximum


@pytest.mark.parametrize(
    ("parameters", "shown"),
    [
        ((1,), "p:1: found 1 bits, expected 2 to 100000"),
        ((-5,), "p:-5: found -5 bits"),
        ((MAX_BITS + 1,), "found 100001 bits, expected 2 to 100000"),
        ((11, -14), "p:11: found one exponent, expected EMIN and EMAX"),
        ((11, 15, -14), "p:11:15:-14: found exponents 15 to -14, expected EMIN < EMAX"),
        ((11, 0, 0), "found exponents 0 to 0"),
        ((11, 1, 5), "found exponents 1 to 5"),
        ((11, -5, -1), "found exponents -5 to -1"),
        ((11, -14, MAX_EXPONENT), f"EMAX from 0 to {MAX_EXPONENT - 1}"),
        ((11, 9 - MAX_EXPONENT - 1, 15), f"EMIN from {9 - MAX_EXPONENT} to 0"),
    ],
)
def test_parameters_out_of_range(parameters: tuple[int, ...], shown: str) -> None:
    with pytest.raises(NumberError, match=shown) as caught:
        Custom(*parameters)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    "parameters",
    [(2,), (MAX_BITS,), (2, -1, 1), (2, 0, 1), (5, 3 - MAX_EXPONENT, MAX_EXPONENT - 1)],
)
def test_extreme_parameters_work(parameters: tuple[int, ...]) -> None:
    custom = Custom(*parameters)
    with custom.working():
        one = custom.constant(Fraction(1))
        assert custom.equal(custom.exp(custom.sub(one, one))[()], one[()])
        assert custom.rational(custom.add(one, one)[()]) == 2


def test_working_restores_the_context() -> None:
    before = gmpy2.get_context().precision
    with FLOAT16.working(), Custom(300).working():
        assert gmpy2.get_context().precision == 300
    with pytest.raises(KeyError), FLOAT16.working():
        raise KeyError
    assert gmpy2.get_context().precision == before


def test_the_range_of_mpfr_is_the_stated_one() -> None:
    """gmpy2 contexts accept wider exponents, to no effect."""
    with Custom(53).working():
        top = gmpy2.mpfr(2) ** (MAX_EXPONENT - 1)
        assert gmpy2.is_finite(top * gmpy2.mpfr(1.5))
        assert gmpy2.is_infinite(top * 2)
    with gmpy2.context(emin=gmpy2.get_emin_min(), emax=gmpy2.get_emax_max()):
        assert gmpy2.is_infinite(top * 2)


# -- conversion -------------------------------------------------------------------------


@small_twins
def test_conversion_of_every_number(custom: Custom, machine: Hardware) -> None:
    numbers = every(machine)
    numbers = numbers[np.isfinite(numbers.astype(float))]
    with custom.working():
        found = custom.convert(numbers)
        assert same(found, numbers)
        assert all(gmpy2.mpfr(custom.text(x)) == x for x in found)
        assert [custom.rational(x) for x in found[::97]] == [
            Fraction(float(x)) for x in numbers[::97]
        ]


@small_twins
def test_rounding_about_every_number_and_tie(custom: Custom, machine: Hardware) -> None:
    numbers = every(machine).astype(float)
    numbers = np.sort(numbers[np.isfinite(numbers)])
    points = np.concatenate([numbers, (numbers[1:] + numbers[:-1]) / 2])
    beyond = [custom.rational(gmpy2.mpfr(numbers[-1])) * (1 + Fraction(k, 64)) for k in range(40)]
    tried = np.concatenate([points, np.nextafter(points, -9e9), np.nextafter(points, 9e9)])
    tried = np.concatenate([tried, [float(x) for x in beyond], [1e39, -1e300, 5e-324]])[::3]
    with custom.working():
        found = np.array([gmpy2.mpfr(x) for x in tried.tolist()], dtype=object)
        assert same(found, machine.rounded(tried))
        assert same(custom.rounded(tried[::11]), machine.rounded(tried[::11]))


@every_twin
@given(
    value=st.fractions()
    | st.builds(Fraction, st.integers(-(2**90), 2**90), st.integers(1, 2**90))
    | st.builds(
        lambda k, e: k * Fraction(2) ** e, st.integers(-(2**60), 2**60), st.integers(-1200, 1100)
    )
)
def test_constants_and_integers(custom: Custom, machine: Hardware, value: Fraction) -> None:
    with custom.working():
        assert same(custom.constant(value), machine.constant(value))
        several = np.array([value, int(value), 0], dtype=object)
        assert same(custom.rounded(several), machine.rounded(several))
        small = np.array([int(value) % 1000])
        assert same(custom.integers(small), machine.integers(small))


@pytest.mark.parametrize(
    ("custom", "value", "shown"),
    [
        (FLOAT32, np.array([[0.5, 0.1]]), r"\(0, 1\): 0\.1 is not a number of p:24:-126:127"),
        (FLOAT64, np.array([1, 2**53 + 1]), rf"\(1,\): {2**53 + 1} is not a number of p:53:"),
        (BFLOAT16, np.array([256, 257]), r"\(1,\): 257 is not a number of p:8:-126:127"),
        (Custom(8), np.array([Fraction(1, 3)]), r"\(0,\): 1/3 is not a number of p:8"),
        (FLOAT16, np.array([65520.0]), r"\(0,\): 65520\.0 is not"),
        (FLOAT16, np.array([2.0**-25]), "is not a number of p:11:-14:15"),
        (FLOAT16, np.array([1.0, np.nan]), r"\(1,\): nan: expected a finite number"),
        (FLOAT16, np.array([np.inf]), r"\(0,\): inf: expected a finite number"),
        (FLOAT16, np.array([1, "2"], dtype=object), r"\(1,\): '2': expected a finite number"),
    ],
)
def test_conversion_refuses_loss(custom: Custom, value: np.ndarray, shown: str) -> None:
    with custom.working(), pytest.raises(ConversionError, match=shown):
        custom.convert(value)


def test_conversion_without_loss() -> None:
    values = [2**53 + 1, Fraction(1, 4), 0.1, -3]
    with Custom(60).working():
        found = Custom(60).convert(np.array(values, dtype=object))
        assert [Custom(60).rational(x) for x in found] == [Fraction(x) for x in values]
        assert Custom(60).from_fraction(Fraction(5, 8)) == 0.625
        with pytest.raises(ConversionError, match="1/3 is not a number of p:60"):
            Custom(60).from_fraction(Fraction(1, 3))
        assert same(Custom(60).convert(np.array([-0.0, 0.0])), np.array([-0.0, 0.0]))


# -- operations against machine formats -------------------------------------------------


@small_twins
def test_unary_operations_on_every_number(custom: Custom, machine: Hardware) -> None:
    numbers = every(machine)
    with custom.working():
        values = as_mpfr(numbers)
        assert same(custom.neg(values), np.negative(numbers))
        assert same(custom.exp(values), machine.exp(numbers))
        assert same(custom.log(values), machine.log(numbers))
        assert np.array_equal(custom.finite(values), np.isfinite(numbers.astype(float)))


def pairs(machine: Hardware, count: int) -> tuple[np.ndarray, np.ndarray]:
    """Random pairs of codes: subnormals and overflow; for half of them of close exponents."""
    random = np.random.default_rng(5)
    size = machine.dtype.itemsize
    left, right = (
        np.frombuffer(random.bytes(count * size), dtype=f"u{size}").copy() for _ in range(2)
    )
    significand = np.array((1 << (machine.bits + 1)) - 1, dtype=left.dtype)
    near = slice(0, count // 2)
    right[near] = (left[near] & ~significand) | (right[near] & significand)
    tiny = slice(0, count // 8)  # subnormals and the least normal numbers
    for side in (left, right):
        side[tiny] &= significand
    return left.view(machine.dtype), right.view(machine.dtype)


@pytest.mark.parametrize(
    ("custom", "machine", "count"),
    [
        (*TWINS[0], 200_000),
        (*TWINS[1], 200_000),
        (*TWINS[2], 20_000),
        (*TWINS[3], 100_000),
        (*TWINS[4], 100_000),
    ],
    ids=lambda a: getattr(a, "name", a),
)
def test_binary_operations_on_random_pairs(custom: Custom, machine: Hardware, count: int) -> None:
    left, right = pairs(machine, count)
    with custom.working():
        x, y = as_mpfr(left), as_mpfr(right)
        for name in ("add", "sub", "mul", "div"):
            assert same(getattr(custom, name)(x, y), getattr(machine, name)(left, right)), name
        some = slice(0, 20_000)
        larger = custom.maximum(x[some], y[some])
        assert same(larger, machine.maximum(left[some], right[some]))


def test_maximum_of_every_pair() -> None:
    custom, machine = TWINS[2]
    left, right = np.meshgrid(every(machine), every(machine))
    with custom.working():
        found = custom.maximum(as_mpfr(left), as_mpfr(right))
        assert same(found, machine.maximum(left, right))


@every_twin
@given(data=st.data())
def test_attention_project_and_dot(custom: Custom, machine: Hardware, data: st.DataObject) -> None:
    random = np.random.default_rng(data.draw(st.integers(0, 2**32)))
    calls, rows, w = (data.draw(st.integers(1, 3)) for _ in range(3))
    m, tokens = data.draw(st.integers(0, 3)), data.draw(st.integers(1, 5))
    query, key, value = (
        (random.standard_normal(shape) * 2.0 ** random.integers(-3, 3)).astype(machine.dtype)
        for shape in ((calls, rows, m), (calls, tokens, m), (calls, tokens, w))
    )
    allowed = random.random((rows, tokens)) < 0.6
    allowed[np.arange(rows), random.integers(0, tokens, rows)] = True
    with custom.working():
        q, k, v = map(as_mpfr, (query, key, value))
        if machine.bits < 24:  # numpy's wider exp is not correctly rounded
            found = custom.attention(q, k, v, allowed)
            assert same(found, machine.attention(query, key, value, allowed))
            unmasked = machine.attention(query, key, value, None)
            assert same(custom.attention(q, k, v, None), unmasked)
        weight = random.standard_normal((w, 2)).astype(machine.dtype)
        assert same(custom.project(v, as_mpfr(weight)), machine.project(value, weight))
        assert same(custom.dot(v, v), machine.dot(value, value))


@every_twin
def test_a_masked_nan_does_not_spread(custom: Custom, machine: Hardware) -> None:
    random = np.random.default_rng(6)
    query, key, value = (random.integers(-2, 3, (2, 3, 2)).astype(float) for _ in range(3))
    causal = np.tril(np.ones((3, 3), dtype=bool))
    with custom.working():
        q = custom.convert(query)
        clean = custom.attention(q, custom.convert(key), custom.convert(value), causal)
        key[:, 2], value[:, 2] = np.nan, np.nan
        found = custom.attention(q, as_mpfr(key), as_mpfr(value), causal)
        finite = custom.finite(found)
        assert finite[:, :2].all()
        assert not finite[:, 2].any()
        assert (found[:, :2] == clean[:, :2]).all()


# -- operations against mpmath and integers ---------------------------------------------


def nearest(value: Fraction, bits: int) -> Fraction:
    """`value` to `bits` bits of significand, ties to even, in exact integer arithmetic."""
    if value == 0:
        return value
    n, d = abs(value.numerator), value.denominator
    e = n.bit_length() - d.bit_length()
    if n < d * Fraction(2) ** e:
        e -= 1
    quantum = Fraction(2) ** (e - bits + 1)
    return round(value / quantum) * quantum


def of_mpmath(number: Any) -> Fraction:
    sign, mantissa, exponent, _ = number._mpf_
    return (-1) ** sign * Fraction(int(mantissa)) * Fraction(2) ** int(exponent)


@given(
    bits=st.integers(2, 300),
    x=st.fractions(min_value=-60, max_value=60),
    y=st.fractions(min_value=Fraction(1, 10**6), max_value=10**6),
)
def test_operations_at_any_precision(bits: int, x: Fraction, y: Fraction) -> None:
    custom = Custom(bits)
    reference = mpmath.MPContext()
    reference.prec = 2 * bits + 300
    with custom.working():
        left, right = custom.constant(x), custom.constant(y)
        a, b = custom.rational(left[()]), custom.rational(right[()])
        assert (a, b) == (nearest(x, bits), nearest(y, bits))
        for name, exact in (("add", a + b), ("sub", a - b), ("mul", a * b), ("div", a / b)):
            found = getattr(custom, name)(left, right)
            assert custom.rational(found[()]) == nearest(exact, bits), name
        exp = of_mpmath(reference.exp(reference.mpf(a.numerator) / a.denominator))
        assert custom.rational(custom.exp(left)[()]) == nearest(exp, bits)
        log = of_mpmath(reference.ln(reference.mpf(b.numerator) / b.denominator))
        assert custom.rational(custom.log(right)[()]) == nearest(log, bits)


def test_every_rounding_in_a_format_of_eight_magnitudes() -> None:
    """2 bits, exponents −1 to 1: 0, the subnormal ¼, and ½ to 3; 3½ and more is infinite."""
    tiny = Custom(2, -1, 1)
    steps = [Fraction(k, 4) for k in (0, 1, 2, 3, 4, 6, 8, 12)]
    with tiny.working():
        numbers = [tiny.from_fraction(step) for step in steps]
        for value in (Fraction(k, 96) for k in range(96 * 4)):
            found = tiny.constant_of(value)
            if value >= Fraction(7, 2):
                assert gmpy2.is_infinite(found)
                continue
            distance = [abs(value - step) for step in steps]
            closest = [i for i, d in enumerate(distance) if d == min(distance)]
            expected = closest[0] if len(closest) == 1 else next(i for i in closest if i % 2 == 0)
            assert found == numbers[expected]


# -- what users see ---------------------------------------------------------------------


def test_special_values() -> None:
    custom = FLOAT16
    with custom.working():
        zero, one, minus = (custom.constant(Fraction(k)) for k in (0, 1, -1))
        top = custom.constant(Fraction(65504))
        nan = custom.div(zero, zero)
        assert gmpy2.is_nan(nan[()])
        assert gmpy2.is_infinite(custom.div(one, zero)[()])
        assert gmpy2.is_infinite(custom.add(top, top)[()])
        assert gmpy2.is_nan(custom.log(minus)[()])
        assert custom.text(custom.log(zero)[()]) == "-inf"
        assert custom.text(custom.exp(custom.neg(top))[()]) == "0.0"
        for left, right in ((nan, one), (one, nan), (nan, nan)):
            assert gmpy2.is_nan(custom.maximum(left, right)[()])
            assert custom.equal(left[()], right[()]) is None
        assert custom.equal(zero[()], custom.neg(zero)[()]) is True
        assert custom.equal(zero[()], one[()]) is False
        assert custom.text(custom.constant(Fraction(1, 10))[()]) == "0.099976"
        with pytest.raises(UndecidableError, match="nan has no rational value"):
            custom.rational(nan[()])
        with pytest.raises(UndecidableError, match="inf has no rational value"):
            custom.rational(custom.div(one, zero)[()])


def test_every_method_gives_object_arrays() -> None:
    with FLOAT16.working():
        for shape in ((), (1,), (2, 3), (0, 2)):
            x = FLOAT16.integers(np.full(shape, 2))
            binary = (FLOAT16.add, FLOAT16.sub, FLOAT16.mul, FLOAT16.div, FLOAT16.maximum)
            results = [x, FLOAT16.neg(x), FLOAT16.exp(x), FLOAT16.log(x)]
            results += [operation(x, x) for operation in binary]
            assert [(r.dtype, r.shape) for r in results] == [(np.dtype(object), shape)] * 9
