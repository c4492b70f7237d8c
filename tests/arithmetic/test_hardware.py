"""Hardware formats against roundings computed here, from integers and from MPFR at more bits.

A format is described once more below, by IEEE 754's (p, emin) and its largest number; nothing of
symsim is used to say what a result must be.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property

import gmpy2
import ml_dtypes
import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from symsim.arithmetic.base import ConversionError, Evidence, NumberError, UndecidableError
from symsim.arithmetic.hardware import Hardware

Operation = Callable[[Fraction, Fraction], Fraction]


@dataclass(frozen=True)
class Format:
    """Numbers ±k · 2^(e − p + 1) with k < 2^p and e ≥ emin, up to `largest`."""

    name: str
    dtype: np.dtype
    code: type
    p: int
    emin: int
    largest: Fraction
    infinite: bool = True

    @property
    def arithmetic(self) -> Hardware:
        return Hardware(self.name)

    def nearest(self, value: Fraction) -> float:
        """`value` to the nearest number, ties to even, in exact integer arithmetic."""
        if value == 0:
            return 0.0
        n, d = abs(value.numerator), value.denominator
        e = n.bit_length() - d.bit_length()
        if Fraction(n, d) < Fraction(2) ** e:
            e -= 1
        quantum = Fraction(2) ** (max(e, self.emin) - self.p + 1)
        result = round(value / quantum) * quantum  # Python rounds a Fraction's tie to even
        if abs(result) > self.largest:
            return np.nan if not self.infinite else np.inf if value > 0 else -np.inf
        return float(result)

    # -- 16 and 8 bits: all codes ---------------------------------------------------------

    @cached_property
    def magnitudes(self) -> np.ndarray:
        """The finite non-negative numbers in the order of their codes 0, 1, 2, …"""
        half = 2 ** (self.p - 1)
        values = []
        code = 0
        while True:
            exponent, fraction = divmod(code, half)
            k = fraction if exponent == 0 else half + fraction
            value = Fraction(k) * Fraction(2) ** (self.emin + max(exponent - 1, 0) - self.p + 1)
            if value > self.largest:
                return np.array(values)
            values.append(float(value))
            code += 1

    @cached_property
    def midpoints(self) -> np.ndarray:
        """midpoints[i] lies between the numbers of codes i and i + 1, the last is the overflow."""
        magnitudes = self.magnitudes
        beyond = 2 * magnitudes[-1] - magnitudes[-2]
        return (magnitudes + np.append(magnitudes[1:], beyond)) / 2  # exact in float64

    @property
    def sign_bit(self) -> int:
        return 1 << (8 * self.dtype.itemsize - 1)

    @property
    def every(self) -> np.ndarray:
        """All numbers of the format, NaNs included."""
        return np.arange(2 * self.sign_bit).astype(self.code).view(self.dtype)

    def codes(self, doubles: np.ndarray) -> np.ndarray:
        """The codes of exact `doubles` rounded to nearest, ties to even; -1 for NaN."""
        size = np.abs(doubles)
        index = np.searchsorted(self.midpoints, size, side="left")  # midpoints below size
        tie = self.midpoints[np.minimum(index, len(self.midpoints) - 1)] == size
        return self.signed(index + (tie & (index % 2 == 1)), np.signbit(doubles), doubles)

    def codes_of_truncated(self, doubles: np.ndarray) -> np.ndarray:
        """The codes of numbers of more than 53 bits, given truncated to 53."""
        index = np.searchsorted(self.midpoints, np.abs(doubles), side="right")
        return self.signed(index, np.signbit(doubles), doubles)

    def signed(self, index: np.ndarray, negative: np.ndarray, doubles: np.ndarray) -> np.ndarray:
        undefined = np.isnan(doubles)
        if not self.infinite:
            undefined |= index >= len(self.magnitudes)
        return np.where(undefined, -1, index + self.sign_bit * negative)

    def codes_found(self, numbers: np.ndarray) -> np.ndarray:
        """The codes of an array of the format; -1 for NaN."""
        assert numbers.dtype == self.dtype
        codes = np.asarray(numbers).view(self.code).astype(np.int64)
        return np.where(np.isnan(numbers.astype(np.float64)), -1, codes)


def largest(p: int, emax: int) -> Fraction:
    return (2 - Fraction(2) ** (1 - p)) * Fraction(2) ** emax


FLOAT64 = Format("float64", np.dtype("f8"), np.uint64, 53, -1022, largest(53, 1023))
FLOAT32 = Format("float32", np.dtype("f4"), np.uint32, 24, -126, largest(24, 127))
FLOAT16 = Format("float16", np.dtype("f2"), np.uint16, 11, -14, largest(11, 15))
BFLOAT16 = Format("bfloat16", np.dtype(ml_dtypes.bfloat16), np.uint16, 8, -126, largest(8, 127))
E5M2 = Format("float8_e5m2", np.dtype(ml_dtypes.float8_e5m2), np.uint8, 3, -14, largest(3, 15))
E4M3 = Format(
    "float8_e4m3fn", np.dtype(ml_dtypes.float8_e4m3fn), np.uint8, 4, -6, Fraction(448), False
)
FORMATS = (FLOAT64, FLOAT32, FLOAT16, BFLOAT16, E5M2, E4M3)
SMALL = (FLOAT16, BFLOAT16, E5M2, E4M3)
EIGHT = (E5M2, E4M3)

every_format = pytest.mark.parametrize("form", FORMATS, ids=lambda form: form.name)
small_formats = pytest.mark.parametrize("form", SMALL, ids=lambda form: form.name)
eight_bits = pytest.mark.parametrize("form", EIGHT, ids=lambda form: form.name)


@pytest.fixture(autouse=True)
def _working() -> Iterator[None]:
    with Hardware("float64").working():
        yield


def same(left: np.ndarray, right: np.ndarray) -> bool:
    """Equal bit for bit, dtype and shape included; one NaN is like another."""
    if left.dtype != right.dtype or left.shape != right.shape:
        return False
    wide_left, wide_right = left.astype(np.float64), right.astype(np.float64)
    both = np.isnan(wide_left) & np.isnan(wide_right)
    equal = (wide_left == wide_right) & (np.signbit(wide_left) == np.signbit(wide_right))
    return bool((both | equal).all())


def numbers(form: Format, *values: object) -> np.ndarray:
    return form.arithmetic.rounded(np.array(values, dtype=object))


# -- the oracle itself ------------------------------------------------------------------


@small_formats
def test_the_codes_described_here_are_those_of_the_dtype(form: Format) -> None:
    codes = np.arange(len(form.magnitudes)).astype(form.code)
    assert np.array_equal(codes.view(form.dtype).astype(np.float64), form.magnitudes)
    following = np.array([len(form.magnitudes)], dtype=form.code).view(form.dtype)
    assert not np.isfinite(following.astype(np.float64))[0]


# -- description ------------------------------------------------------------------------


@every_format
def test_description(form: Format) -> None:
    found = form.arithmetic
    assert (found.name, found.dtype, found.bits) == (form.name, form.dtype, form.p)
    assert (found.base, found.evidence, found.subtracts_maximum) == ("e", Evidence.MEASURED, True)
    one = np.ones((), dtype=form.dtype)
    following = (one.view(form.code) + form.code(1)).view(form.dtype)
    assert found.unit_roundoff == Fraction(float(following) - 1) / 2


def test_blas_exists_for_two_formats() -> None:
    assert Hardware("float32", order="blas").name == "float32:blas"
    with pytest.raises(NumberError, match="float16:blas: expected one of float64, float32"):
        Hardware("float16", order="blas")
    with pytest.raises(NumberError, match="'float80': expected one of float64, "):
        Hardware("float80")


# -- rounding ---------------------------------------------------------------------------


@small_formats
def test_rounding_of_float64_about_every_number_and_tie(form: Format) -> None:
    points = np.concatenate([form.midpoints, form.magnitudes])
    off = [points * (1 + s * 2.0**-k) for s in (-1, 1) for k in (52, 40, 25, 24, 23)]
    extremes = [0.0, 5e-324, 1e-320, 2.0**-150, 2.0**-149, 3e-45, 3.4028235e38, 3.5e38, 1e39, 1e308]
    tried = np.concatenate([points, *off, extremes])
    tried = np.concatenate([tried, -tried])
    assert np.array_equal(form.codes_found(form.arithmetic.rounded(tried)), form.codes(tried))


def test_rounding_of_float64_is_not_done_twice() -> None:
    value = np.array([1 + 2.0**-8 + 2.0**-40])
    assert BFLOAT16.arithmetic.rounded(value).astype(float)[0] == 1 + 2.0**-7


@st.composite
def near_ties(draw: st.DrawFn, form: Format) -> Fraction:
    """Fractions at, just below or just above a number of the format or a tie."""
    e = draw(st.integers(form.emin - 2, form.largest.numerator.bit_length() + 1))
    k = draw(st.integers(0, 2 ** (form.p + 1)))
    point = k * Fraction(2) ** (max(e, form.emin) - form.p)
    off = draw(st.sampled_from([0, 1, -1])) * Fraction(1, 3 ** draw(st.integers(5, 200)))
    return draw(st.sampled_from([1, -1])) * point * (1 + off)


@every_format
@given(data=st.data())
def test_rounding_of_fractions(form: Format, data: st.DataObject) -> None:
    value = data.draw(near_ties(form))
    found = form.arithmetic.rounded(np.array([value, value], dtype=object))
    assert found.dtype == form.dtype
    expected = form.nearest(value)
    assert same(found[:1].astype(float) + 0.0, np.array([expected]) + 0.0)
    assert same(form.arithmetic.constant(value), found[0, ...])


@every_format
@given(value=st.integers(-(2**80), 2**80) | st.integers(-600, 600))
def test_rounding_of_integers(form: Format, value: int) -> None:
    expected = np.array([form.nearest(Fraction(value))])
    assert same(form.arithmetic.rounded(np.array([value], dtype=object)).astype(float), expected)
    if abs(value) < 2**63:
        assert same(form.arithmetic.integers(np.array([value])).astype(float), expected)


@given(values=st.lists(st.floats(allow_nan=False, allow_infinity=False), min_size=1))
def test_rounding_to_float32(values: list[float]) -> None:
    expected = np.array([FLOAT32.nearest(Fraction(value)) for value in values])
    found = FLOAT32.arithmetic.rounded(np.array(values))
    assert np.array_equal(found.astype(float), expected)


# -- conversion -------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("form", "value", "shown"),
    [
        (FLOAT32, np.array([[0.5, 0.1]]), r"\(0, 1\): 0\.1 is not a number of float32"),
        (FLOAT64, np.array([1, 2**53 + 1]), rf"\(1,\): {2**53 + 1} is not a number of float64"),
        (FLOAT64, np.array([2**64 - 1], dtype=np.uint64), rf"\(0,\): {2**64 - 1} is not"),
        (FLOAT64, np.array([Fraction(1, 3)]), r"\(0,\): 1/3 is not a number of float64"),
        (FLOAT64, np.array([10**400], dtype=object), r"\(0,\): 10+ is not a number"),
        (FLOAT64, np.array([Fraction(1, 10**400)]), r"\(0,\): 1/10+ is not a number"),
        (BFLOAT16, np.array([256, 257]), r"\(1,\): 257\.0 is not a number of bfloat16"),
        (BFLOAT16, np.array([257], dtype=object), r"\(0,\): 257 is not a number of bfloat16"),
        (FLOAT16, np.array([65520.0]), r"\(0,\): 65520\.0 is not a number of float16"),
        (E4M3, np.array([449.0]), r"\(0,\): 449\.0 is not a number of float8_e4m3fn"),
        (E4M3, np.array([1e9]), r"\(0,\): 1000000000\.0 is not a number of float8_e4m3fn"),
        (E5M2, np.array([2.0**-18]), "is not a number of float8_e5m2"),
        (FLOAT64, np.array([1.0, np.nan]), r"\(1,\): nan: expected a finite number"),
        (FLOAT64, np.array([np.inf]), r"\(0,\): inf: expected a finite number"),
        (FLOAT64, np.array([1, float("nan")], dtype=object), r"\(1,\): nan: expected a finite"),
        (FLOAT64, np.array([1, "2"], dtype=object), r"\(1,\): '2': expected a finite number"),
        (FLOAT64, np.array([True]), r"\(0,\): True: expected a finite number"),
        (FLOAT32, np.array([np.inf]).astype(ml_dtypes.bfloat16), r"\(0,\): inf: expected"),
    ],
)
def test_conversion_refuses_loss(form: Format, value: np.ndarray, shown: str) -> None:
    with pytest.raises(ConversionError, match=shown):
        form.arithmetic.convert(value)


@pytest.mark.parametrize(
    ("form", "value"),
    [
        (FLOAT64, np.array([2**53, -(2**53), 2**53 + 2, 2**62])),
        (FLOAT64, np.array([2**63], dtype=np.uint64)),
        (FLOAT64, np.array([2**100, Fraction(3, 2**1074), Fraction(1, 2)], dtype=object)),
        (FLOAT32, np.array([[2**24, 3], [0, -1]])),
        (FLOAT16, np.array([65504.0, 2.0**-24])),
        (BFLOAT16, np.array([256, 258])),
        (BFLOAT16, np.array([2.0**-133, -(2.0**127)])),
        (E4M3, np.array([448.0, 2.0**-9])),
        (E5M2, np.array([Fraction(7, 4), 57344], dtype=object)),
        (FLOAT64, np.zeros((0, 3))),
        (FLOAT64, np.zeros((0, 3), dtype=np.int64)),
    ],
)
def test_conversion_without_loss(form: Format, value: np.ndarray) -> None:
    found = form.arithmetic.convert(value)
    assert (found.dtype, found.shape) == (form.dtype, value.shape)
    exact = [
        Fraction(x) if isinstance(x, (int, Fraction)) else Fraction(x.item()) for x in value.ravel()
    ]
    assert [form.arithmetic.rational(x) for x in found.ravel()] == exact


@small_formats
@pytest.mark.parametrize("target", FORMATS, ids=lambda form: form.name)
def test_conversion_between_formats(form: Format, target: Format) -> None:
    """A number of a small format converts exactly where the target has it, else not at all."""
    finite = form.every[np.isfinite(form.every.astype(float))]
    source = finite[:: max(1, len(finite) // 500)]
    nearest = np.array([target.nearest(Fraction(float(value))) for value in source])
    kept = nearest == source.astype(float)
    found = target.arithmetic.convert(source[kept])
    assert found.dtype == target.dtype
    assert same(found.astype(float), source[kept].astype(float))
    for value in source[~kept]:
        with pytest.raises(ConversionError):
            target.arithmetic.convert(np.array([value]))


def test_conversion_keeps_the_sign_of_zero() -> None:
    for form in FORMATS:
        assert np.signbit(form.arithmetic.convert(np.array([-0.0])).astype(float))[0]


# -- entry by entry ---------------------------------------------------------------------


@small_formats
def test_negation_of_every_number(form: Format) -> None:
    found = form.codes_found(form.arithmetic.neg(form.every))
    codes = np.arange(2 * form.sign_bit)
    expected = np.where(np.isnan(form.every.astype(float)), -1, codes ^ form.sign_bit)
    assert np.array_equal(found, expected)


@small_formats
def test_exp_of_every_number_is_correctly_rounded(form: Format) -> None:
    values = form.every.astype(float)
    expected = form.codes_of_truncated(truncated(gmpy2.exp, values))
    rational = values == 0  # exp is irrational at every other number
    expected[rational] = form.codes(np.ones(1))[0]
    assert np.array_equal(form.codes_found(form.arithmetic.exp(form.every)), expected)


@small_formats
def test_log_of_every_number_is_correctly_rounded(form: Format) -> None:
    values = form.every.astype(float)
    expected = form.codes_of_truncated(truncated(gmpy2.log, values))
    expected[values == 1] = 0  # log is irrational at every other positive number
    assert np.array_equal(form.codes_found(form.arithmetic.log(form.every)), expected)


def truncated(function: Callable[[object], object], values: np.ndarray) -> np.ndarray:
    """`function` of each value, truncated toward zero to 53 bits by MPFR."""
    with gmpy2.context(precision=53, round=gmpy2.RoundToZero):
        return np.array([float(function(gmpy2.mpfr(x))) for x in values.tolist()])


@pytest.mark.parametrize(("form", "ulps"), [(FLOAT32, 4), (FLOAT64, 1)])
@pytest.mark.parametrize("function", ["exp", "log"])
def test_exp_and_log_of_wide_formats_stay_within_the_stated_error(
    form: Format, ulps: int, function: str
) -> None:
    random = np.random.default_rng(1)
    values = random.uniform(-80, 80, 20_000).astype(form.dtype)
    if function == "log":
        values = np.exp(values).astype(form.dtype)
    found = getattr(form.arithmetic, function)(values)
    assert found.dtype == form.dtype
    with gmpy2.context(precision=200):
        for x, y in zip(values.tolist(), found, strict=True):
            error = abs(gmpy2.mpfr(float(y)) - getattr(gmpy2, function)(gmpy2.mpfr(x)))
            assert error < ulps * float(np.spacing(np.abs(y)))


@pytest.mark.parametrize("name", ["float32", "float64"])
@given(data=st.data())
def test_exp_and_log_do_not_depend_on_the_layout(name: str, data: st.DataObject) -> None:
    size = data.draw(st.integers(1, 70))
    step = data.draw(st.integers(1, 3))
    seed = data.draw(st.integers(0, 2**32))
    values = np.random.default_rng(seed).uniform(0.01, 20, size * step).astype(name)[::step]
    for function in (Hardware(name).exp, Hardware(name).log):
        alone = [function(values[i : i + 1]) for i in range(size)]
        assert same(function(values), np.concatenate(alone))
        assert same(function(values[0, ...]), alone[0][0, ...])


@eight_bits
def test_sums_and_products_of_every_pair(form: Format) -> None:
    """Sums, differences and products of two 8-bit numbers are exact in float64."""
    left, right = form.every[:, None], form.every[None, :]
    wide_left, wide_right = left.astype(float), right.astype(float)
    arithmetic = form.arithmetic
    for found, exact in (
        (arithmetic.add(left, right), wide_left + wide_right),
        (arithmetic.sub(left, right), wide_left - wide_right),
        (arithmetic.mul(left, right), wide_left * wide_right),
    ):
        assert np.array_equal(form.codes_found(found), form.codes(exact))


@eight_bits
def test_quotients_of_every_pair(form: Format) -> None:
    """|a| / |b| is compared with each midpoint m by |a| and m |b|, exact in float64."""
    left, right = form.every[:, None], form.every[None, :]
    wide_left, wide_right = left.astype(float), right.astype(float)
    size, divisor = np.abs(wide_left)[..., None], np.abs(wide_right)[..., None]
    products = form.midpoints * divisor
    below = (products < size).sum(axis=-1)
    tie = (products == size).any(axis=-1)
    special = wide_left / wide_right  # its sign, NaN, and infinities are exact
    below = np.where(np.isinf(special), len(form.magnitudes), below)
    below = np.where(special == 0, 0, below)
    tie &= (special != 0) & np.isfinite(special)
    expected = form.signed(below + (tie & (below % 2 == 1)), np.signbit(special), special)
    assert np.array_equal(form.codes_found(form.arithmetic.div(left, right)), expected)


@eight_bits
def test_maximum_of_every_pair(form: Format) -> None:
    left, right = (side.ravel() for side in np.meshgrid(form.every, form.every))
    found = form.arithmetic.maximum(left, right)
    expected = [
        x if x != x else y if y != y else x if x >= y else y
        for x, y in zip(left.astype(float).tolist(), right.astype(float).tolist(), strict=True)
    ]
    assert found.dtype == form.dtype
    assert same(found.astype(float), np.array(expected))


OPERATIONS: dict[str, Operation] = {
    "add": lambda a, b: a + b,
    "sub": lambda a, b: a - b,
    "mul": lambda a, b: a * b,
    "div": lambda a, b: a / b,
}


@pytest.mark.parametrize("operation", OPERATIONS)
@pytest.mark.parametrize("form", FORMATS[:4], ids=lambda form: form.name)
@given(data=st.data())
def test_operations_on_sampled_pairs(form: Format, operation: str, data: st.DataObject) -> None:
    code = st.integers(0, 2 * form.sign_bit - 1)
    pairs = np.array(data.draw(st.lists(st.tuples(code, code), min_size=1, max_size=20)))
    left, right = pairs.T.astype(form.code).view(form.dtype)
    usable = np.isfinite(left.astype(float)) & np.isfinite(right.astype(float))
    usable &= (right.astype(float) != 0) | (operation != "div")
    left, right = left[usable], right[usable]
    found = getattr(form.arithmetic, operation)(left, right)
    expected = [
        form.nearest(OPERATIONS[operation](Fraction(float(a)), Fraction(float(b))))
        for a, b in zip(left, right, strict=True)
    ]
    assert found.dtype == form.dtype
    assert np.array_equal(found.astype(float), np.array(expected, dtype=float), equal_nan=True)


@every_format
def test_division_by_zero_is_not_finite(form: Format) -> None:
    arithmetic = form.arithmetic
    found = arithmetic.div(numbers(form, 1, -1, 0), numbers(form, 0, 0, 0))
    assert not arithmetic.finite(found).any()
    assert np.isnan(found.astype(float))[2]


# -- every method keeps the dtype -------------------------------------------------------


@every_format
@pytest.mark.parametrize("shape", [(), (1,), (2, 3), (0, 2)])
def test_every_method_keeps_the_dtype(form: Format, shape: tuple[int, ...]) -> None:
    arithmetic = form.arithmetic
    x = np.full(shape, 2, dtype=form.dtype)
    results = [
        arithmetic.convert(x),
        arithmetic.rounded(x),
        arithmetic.integers(np.full(shape, 3)),
        arithmetic.add(x, x),
        arithmetic.sub(x, x),
        arithmetic.mul(x, x),
        arithmetic.div(x, x),
        arithmetic.maximum(x, x),
        arithmetic.neg(x),
        arithmetic.exp(x),
        arithmetic.log(x),
    ]
    assert [(type(r), r.dtype, r.shape) for r in results] == [
        (np.ndarray, form.dtype, shape)
    ] * len(results)


@pytest.mark.parametrize(
    "arithmetic",
    [
        *(form.arithmetic for form in FORMATS),
        Hardware("float64", "blas"),
        Hardware("float32", "blas"),
    ],
    ids=lambda arithmetic: arithmetic.name,
)
@pytest.mark.parametrize("masked", [False, True])
def test_every_sum_keeps_the_dtype(arithmetic: Hardware, masked: bool) -> None:
    query, key = np.ones((2, 3, 2), arithmetic.dtype), np.ones((2, 4, 2), arithmetic.dtype)
    value = np.ones((2, 4, 5), arithmetic.dtype)
    value[:, 3] = np.nan
    allowed = np.tril(np.ones((3, 4), dtype=bool)) if masked else None
    found = arithmetic.attention(query, key, value, allowed)
    assert (found.dtype, found.shape) == (arithmetic.dtype, (2, 3, 5))
    assert arithmetic.finite(found).all() == masked
    found = arithmetic.project(key, np.ones((2, 3), arithmetic.dtype))
    assert (found.dtype, found.shape) == (arithmetic.dtype, (2, 4, 3))
    found = arithmetic.dot(query, query)
    assert (found.dtype, found.shape) == (arithmetic.dtype, (2, 3, 1))
    assert arithmetic.constant(Fraction(1, 3)).dtype == arithmetic.dtype
    assert arithmetic.finite(found).dtype == bool


# -- attention in the stated order ------------------------------------------------------


def scalar(form: Format) -> Callable[[Callable[..., float], float, float], np.ndarray]:
    """One rounded operation: numpy's on its own scalars, else float64's rounded by the oracle."""
    if form.dtype.kind == "f" and form.dtype.itemsize > 1:
        return lambda operation, x, y: operation(form.dtype.type(x), form.dtype.type(y))

    def rounded(operation: Callable[..., float], x: float, y: float) -> float:
        code = form.codes(np.array([operation(float(x), float(y))]))[0]
        return np.nan if code < 0 else float(np.array([code]).astype(form.code).view(form.dtype)[0])

    return rounded


def scalar_exp(form: Format, x: float) -> float:
    if form.p >= 24:
        return np.exp(form.dtype.type(x))
    if x == 0 or x != x:
        return np.float64(1) if x == 0 else np.nan
    code = form.codes_of_truncated(truncated(gmpy2.exp, np.array([float(x)])))
    return float(code.astype(form.code).view(form.dtype)[0]) if code[0] >= 0 else np.nan


def sequential(
    form: Format, query: np.ndarray, key: np.ndarray, value: np.ndarray, allowed: np.ndarray
) -> np.ndarray:
    """Attention of one call, number by number."""
    do = scalar(form)
    out = np.zeros((len(query), value.shape[1]), dtype=form.dtype)
    for row in range(len(query)):
        keys = [j for j in range(len(key)) if allowed[row, j]]
        logits = []
        for j in keys:
            logit = do(np.multiply, query[row, 0], key[j, 0]) if key.shape[1] else 0.0
            for c in range(1, key.shape[1]):
                logit = do(np.add, logit, do(np.multiply, query[row, c], key[j, c]))
            logits.append(logit)
        top = logits[0]
        for logit in logits[1:]:
            top = np.nan if top != top or logit != logit else max(top, logit)
        weights = [scalar_exp(form, do(np.subtract, logit, top)) for logit in logits]
        total = weights[0]
        for weight in weights[1:]:
            total = do(np.add, total, weight)
        for c in range(value.shape[1]):
            upper = do(np.multiply, weights[0], value[keys[0], c])
            for weight, j in zip(weights[1:], keys[1:], strict=True):
                upper = do(np.add, upper, do(np.multiply, weight, value[j, c]))
            out[row, c] = do(np.divide, upper, total)
    return out


def problem(
    form: Format | Hardware, data: st.DataObject, widest: int = 4, tokens: int = 7
) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """Random query, key, value of `form` and a mask in which each row reads a key."""
    calls, rows, w = (data.draw(st.integers(1, widest)) for _ in range(3))
    m, tokens = data.draw(st.integers(0, widest)), data.draw(st.integers(1, tokens))
    random = np.random.default_rng(data.draw(st.integers(0, 2**32)))
    query, key, value = (
        (random.standard_normal(shape) * 2.0 ** random.integers(-3, 3)).astype(form.dtype)
        for shape in ((calls, rows, m), (calls, tokens, m), (calls, tokens, w))
    )
    allowed = random.random((rows, tokens)) < random.choice([0.3, 0.8])
    allowed[np.arange(rows), random.integers(0, tokens, rows)] = True
    return query, key, value, allowed


@every_format
@given(data=st.data())
def test_stated_order_is_that_of_a_scalar_loop(form: Format, data: st.DataObject) -> None:
    query, key, value, allowed = problem(form, data, widest=3, tokens=5)
    found = form.arithmetic.attention(query, key, value, allowed)
    expected = [sequential(form, *call, allowed) for call in zip(query, key, value, strict=True)]
    assert same(found, np.stack(expected))
    everything = np.ones_like(allowed)
    found = form.arithmetic.attention(query, key, value, None)
    assert same(found, form.arithmetic.attention(query, key, value, everything))


@every_format
def test_project_is_dot_with_each_column(form: Format) -> None:
    random = np.random.default_rng(2)
    tokens = random.standard_normal((2, 3, 5)).astype(form.dtype)
    weight = random.standard_normal((5, 4)).astype(form.dtype)
    do = scalar(form)
    found = form.arithmetic.project(tokens, weight)
    expected = np.zeros((2, 3, 4), dtype=form.dtype)
    for call, n, c in np.ndindex(2, 3, 4):
        total = do(np.multiply, tokens[call, n, 0], weight[0, c])
        for e in range(1, 5):
            total = do(np.add, total, do(np.multiply, tokens[call, n, e], weight[e, c]))
        expected[call, n, c] = total
    assert same(found, expected)
    columns = [form.arithmetic.dot(tokens, weight[:, c]) for c in range(4)]
    assert same(found, np.concatenate(columns, axis=-1))


def test_a_negative_zero_survives_a_skipped_key() -> None:
    """The first allowed product starts the sum: it is not added to +0."""
    for form in FORMATS:
        query, key = np.zeros((1, 1, 1), form.dtype), np.zeros((1, 3, 1), form.dtype)
        value = np.array([[[5.0], [-0.0], [7.0]]]).astype(form.dtype)
        found = form.arithmetic.attention(query, key, value, np.array([[False, True, False]]))
        assert same(found.astype(float), np.array([[[-0.0]]]))


# -- attention in both orders -----------------------------------------------------------

ARITHMETICS = [
    *(form.arithmetic for form in FORMATS),
    Hardware("float64", order="blas"),
    Hardware("float32", order="blas"),
]
every_arithmetic = pytest.mark.parametrize("arithmetic", ARITHMETICS, ids=lambda a: a.name)


@every_arithmetic
@given(data=st.data())
def test_one_call_at_a_time_equals_the_batch(arithmetic: Hardware, data: st.DataObject) -> None:
    query, key, value, allowed = problem(arithmetic, data)
    if data.draw(st.booleans()):
        value[0, 0, 0] = data.draw(st.sampled_from([np.nan, np.inf, -np.inf]))
    mask = data.draw(st.sampled_from([allowed, None]))
    batch = arithmetic.attention(query, key, value, mask)
    size = data.draw(st.integers(1, 2))
    parts = [slice(c, c + size) for c in range(0, len(query), size)]
    found = [arithmetic.attention(query[c].copy(), key[c], value[c], mask) for c in parts]
    assert same(np.concatenate(found), batch)


@every_arithmetic
@given(data=st.data())
def test_one_projection_at_a_time_equals_the_batch(
    arithmetic: Hardware, data: st.DataObject
) -> None:
    random = np.random.default_rng(data.draw(st.integers(0, 2**32)))
    calls, n, e, m = (data.draw(st.integers(1, 20)) for _ in range(4))
    tokens = random.standard_normal((calls, n, e)).astype(arithmetic.dtype)
    weight = random.standard_normal((e, m)).astype(arithmetic.dtype)
    alone = [arithmetic.project(one.copy(), weight) for one in tokens]
    assert same(np.stack(alone), arithmetic.project(tokens, weight))


@pytest.mark.parametrize("name", ["float64", "float32"])
@given(data=st.data())
def test_one_call_at_a_time_equals_the_batch_at_benchmark_sizes(
    name: str, data: st.DataObject
) -> None:
    arithmetic = Hardware(name, order="blas")
    query, key, value, allowed = problem(arithmetic, data, widest=40, tokens=140)
    for mask in (allowed, None):
        batch = arithmetic.attention(query, key, value, mask)
        for call in {0, len(query) // 2, len(query) - 1}:
            one = slice(call, call + 1)
            assert same(arithmetic.attention(query[one], key[one], value[one], mask), batch[one])


@pytest.mark.parametrize("name", ["float64", "float32"])
def test_blas_does_not_depend_on_layout_or_aliasing(name: str) -> None:
    """The matmul of an array with its own transpose, or of strided arrays, has other bits."""
    arithmetic = Hardware(name, order="blas")
    random = np.random.default_rng(3)
    for rows in (1, 2, 3, 7, 31, 32, 128):
        for m in (1, 2, 5, 16, 17):
            token = random.standard_normal((3, rows, m)).astype(name)
            plain = arithmetic.attention(token, token.copy(), token, None)
            assert same(arithmetic.attention(token, token, token, None), plain)
            wide = np.repeat(token, 2, axis=2)[..., ::2]
            turned = np.asfortranarray(token)
            assert same(arithmetic.attention(wide, turned, wide, None), plain)
            weight = random.standard_normal((m, 3)).astype(name)
            plain = arithmetic.project(token, weight)
            assert same(arithmetic.project(wide, weight.copy(order="F")), plain)


@every_arithmetic
@given(data=st.data())
def test_what_is_masked_is_never_read(arithmetic: Hardware, data: st.DataObject) -> None:
    query, key, value, allowed = problem(arithmetic, data)
    assume(key.shape[1] > 1)
    token = data.draw(st.integers(0, key.shape[1] - 1))
    other = (token + 1) % key.shape[1]
    allowed[:, token] = False
    allowed[~allowed.any(axis=1), other] = True
    reads_other = allowed[:, other]
    clean = arithmetic.attention(query, key, value, allowed)
    bad = data.draw(st.sampled_from([np.nan, np.inf, -np.inf]))
    spoilt_key, spoilt_value = key.copy(), value.copy()
    spoilt_key[:, token] = bad
    spoilt_value[:, token] = bad
    assert same(arithmetic.attention(query, spoilt_key, spoilt_value, allowed), clean)
    one = slice(0, 1)
    alone = arithmetic.attention(query[one], spoilt_key[one], spoilt_value[one], allowed)
    assert same(alone, clean[one])
    spoilt_value[:, other] = bad
    found = arithmetic.attention(query, spoilt_key, spoilt_value, allowed)
    assert not arithmetic.finite(found[:, reads_other]).any()
    assert same(found[:, ~reads_other], clean[:, ~reads_other])


@every_arithmetic
def test_a_nan_that_is_read_spreads_to_its_row_or_column_only(arithmetic: Hardware) -> None:
    query, key = np.ones((2, 3, 1), arithmetic.dtype), np.ones((2, 3, 1), arithmetic.dtype)
    value = np.ones((2, 3, 2), arithmetic.dtype)
    causal = np.tril(np.ones((3, 3), dtype=bool))
    value[1, 1, 0] = np.nan
    finite = arithmetic.finite(arithmetic.attention(query, key, value, causal))
    assert np.argwhere(~finite).tolist() == [[1, 1, 0], [1, 2, 0]]
    value[1, 1, 0], key[1, 2] = 1, np.nan
    finite = arithmetic.finite(arithmetic.attention(query, key, value, causal))
    assert np.argwhere(~finite).tolist() == [[1, 2, 0], [1, 2, 1]]


@every_arithmetic
def test_a_row_without_keys_is_an_error(arithmetic: Hardware) -> None:
    x = np.ones((1, 2, 1), arithmetic.dtype)
    with pytest.raises(ValueError, match="row 1 may read no key"):
        arithmetic.attention(x, x, x, np.array([[True, False], [False, False]]))
    with pytest.raises(ValueError, match="0 tokens"):
        arithmetic.attention(x, x[:, :0], x[:, :0], None)


@every_arithmetic
def test_without_logits_attention_is_the_mean(arithmetic: Hardware) -> None:
    value = np.array([[[1.0], [2.0], [4.0], [5.0]]]).astype(arithmetic.dtype)
    nothing = np.ones((1, 4, 0), arithmetic.dtype)
    found = arithmetic.attention(nothing[:, :1], nothing, value, None)
    assert found.astype(float).tolist() == [[[3.0]]]


def test_a_large_logit_does_not_overflow() -> None:
    """executorch PR #18407: logit 151.29 in float32, whose exp is infinite."""
    logit = np.float32(151.29)
    assert np.isinf(np.exp(logit))
    for arithmetic in (Hardware("float32"), Hardware("float32", order="blas")):
        query = np.ones((1, 1, 1), np.float32)
        key = np.array([[[logit], [logit]]])
        value = np.array([[[1.0], [3.0]]], dtype=np.float32)
        assert arithmetic.attention(query, key, value, None).tolist() == [[[2.0]]]


@pytest.mark.parametrize("name", ["float64", "float32"])
def test_blas_agrees_with_the_stated_order_up_to_rounding(name: str) -> None:
    random = np.random.default_rng(4)
    query, key, value = (
        random.random(shape).astype(name) for shape in ((3, 8, 4), (3, 20, 4), (3, 20, 5))
    )
    allowed = np.tril(np.ones((8, 20), dtype=bool), 5)
    stated = Hardware(name).attention(query, key, value, allowed)
    blas = Hardware(name, order="blas").attention(query, key, value, allowed)
    # Positive values: the sums have relative error 20 u, the weights (4 + 4) u and 4 ulp = 8 u.
    u = float(Hardware(name).unit_roundoff)
    assert (np.abs(stated - blas) <= 4 * (20 + 16) * u * stated).all()


# -- what users see ---------------------------------------------------------------------


@every_format
def test_equality_text_and_value(form: Format) -> None:
    arithmetic = form.arithmetic
    one, zero, minus, nan = np.array([1.0, 0.0, -0.0, np.nan]).astype(form.dtype)
    assert arithmetic.equal(one, one) is True
    assert arithmetic.equal(zero, minus) is True
    assert arithmetic.equal(one, zero) is False
    assert arithmetic.equal(nan, nan) is None
    assert arithmetic.finite(np.array([1.0, np.nan]).astype(form.dtype)).tolist() == [True, False]
    assert arithmetic.text(one) == "1.0"
    assert arithmetic.text(nan) == "nan"
    with pytest.raises(UndecidableError, match="nan has no rational value"):
        arithmetic.rational(nan)


@pytest.mark.parametrize(
    ("form", "text"),
    [
        (FLOAT64, "0.1"),
        (FLOAT32, "0.1"),
        (FLOAT16, "0.1"),
        (BFLOAT16, "0.10009765625"),
        (E4M3, "0.1015625"),
        (E5M2, "0.09375"),
    ],
)
def test_text_of_a_tenth(form: Format, text: str) -> None:
    tenth = form.arithmetic.constant(Fraction(1, 10))
    assert form.arithmetic.text(tenth) == text


@small_formats
def test_text_rounds_back(form: Format) -> None:
    for value in form.every[np.isfinite(form.every.astype(float))][::7]:
        text = form.arithmetic.text(value)
        assert form.nearest(Fraction(text)) == float(value)
        assert form.arithmetic.rational(value) == Fraction(float(value))
