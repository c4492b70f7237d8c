"""`p:BITS[:EMIN:EMAX]`: floating point formats of any precision and range, with MPFR."""

from __future__ import annotations

from contextlib import AbstractContextManager
from fractions import Fraction
from typing import Any, Final

import gmpy2
import numpy as np

from symsim.arithmetic.base import (
    Array,
    ConversionError,
    Evidence,
    NumberError,
    UndecidableError,
)
from symsim.arithmetic.objects import ObjectArithmetic, as_fraction, filled

MAX_BITS: Final = 100_000
"""MPFR takes 1 to 2^63 − 257 bits; one bit has no even and odd, and one exp of 10^6 takes 0.5 s."""

MAX_EXPONENT: Final = 2**30 - 1
"""MPFR's numbers m · 2^e, 1/2 ≤ m < 1, have |e| up to this as gmpy2 builds it, whatever range
a gmpy2 context claims beyond it."""


class Custom(ObjectArithmetic):
    """Binary floats of `bits` bits, of exponents `emin` to `emax` as IEEE 754 counts them.

    Normal numbers are ±1.f · 2^e with emin ≤ e ≤ emax; there are subnormals, infinities and NaN:
    (11, −14, 15) is float16, (53, −1022, 1023) is float64. Without emin and emax the range is
    MPFR's own, without subnormals. Every operation, exp and log included, is correctly rounded to
    nearest, ties to even. Numbers are gmpy2.mpfr, NaN is MPFR's.

    Raises NumberError for bits or exponents out of range.
    """

    base = "e"
    evidence = Evidence.MEASURED
    subtracts_maximum = True

    def __init__(self, bits: int, emin: int | None = None, emax: int | None = None) -> None:
        self.bits = bits
        self.name = f"p:{bits}"
        if not 2 <= bits <= MAX_BITS:
            raise NumberError(f"{self.name}: found {bits} bits, expected 2 to {MAX_BITS}")
        if emin is None or emax is None:
            if emin is not emax:
                raise NumberError(f"{self.name}: found one exponent, expected EMIN and EMAX")
            self._range = {"emin": -MAX_EXPONENT, "emax": MAX_EXPONENT}
            return
        self.name = f"p:{bits}:{emin}:{emax}"
        least = bits - 2 - MAX_EXPONENT
        if not (least <= emin <= 0 <= emax < MAX_EXPONENT and emin < emax):
            raise NumberError(
                f"{self.name}: found exponents {emin} to {emax}, expected EMIN < EMAX, "
                f"EMIN from {least} to 0, EMAX from 0 to {MAX_EXPONENT - 1}"
            )
        # MPFR's significand is in [1/2, 1), and its emin that of the least subnormal number.
        self._range = {"emin": emin - bits + 2, "emax": emax + 1, "subnormalize": True}

    @property
    def unit_roundoff(self) -> Fraction:
        """2^−p of a significand of p bits: the relative error of one rounded operation."""
        return Fraction(1, 2**self.bits)

    def working(self) -> AbstractContextManager[object]:
        """Enter a gmpy2 context of this thread with the precision and range; nothing traps."""
        context: AbstractContextManager[object] = gmpy2.context(
            precision=self.bits, round=gmpy2.RoundToNearest, **self._range
        )
        return context

    def convert(self, values: Array) -> Array:
        """`values` without loss; the sign of a zero is kept.

        Raises ConversionError naming the first entry that is not finite, not a number, or not a
        number of the format.
        """
        values = np.asarray(values)
        numbers = self.rounded(values)
        for index, number in np.ndenumerate(numbers):
            if number != as_fraction(values[index]):
                raise ConversionError(
                    f"entry {index}: {values[index]} is not a number of {self.name}"
                )
        return numbers

    def rounded(self, values: Array) -> Array:
        """Each of `values` rounded once, to the nearest number of the format, ties to even.

        Raises ConversionError for an entry that is not a finite number.
        """
        values = np.asarray(values)
        return filled(values.shape, [self._entry(i, value) for i, value in np.ndenumerate(values)])

    def integers(self, values: Array) -> Array:
        """Integers rounded to the format, as a machine does."""
        return self.rounded(values)

    def from_fraction(self, value: Fraction) -> Any:
        """`value` without loss; raises ConversionError if it is not a number of the format."""
        number = self.constant_of(value)
        if number != value:
            raise ConversionError(f"{value} is not a number of {self.name}")
        return number

    def constant_of(self, value: Fraction) -> Any:
        """`value` rounded once."""
        return gmpy2.mpfr(value)

    def exp_of(self, value: Any) -> Any:
        """The natural exponential."""
        return gmpy2.exp(value)

    def log_of(self, value: Any) -> Any:
        """The natural logarithm; −inf of zero, NaN of negative numbers."""
        return gmpy2.log(value)

    def larger(self, left: Any, right: Any) -> Any:
        """The larger one; of equal ones the left one (−0 or +0), of NaN and a number NaN."""
        return left if left >= right or gmpy2.is_nan(left) else right

    def equal(self, left: Any, right: Any) -> bool | None:
        """Whether two numbers are equal, as −0 and +0 are; None if one is NaN."""
        if gmpy2.is_nan(left) or gmpy2.is_nan(right):
            return None
        return bool(left == right)

    def finite(self, values: Array) -> Array:
        """Boolean array: which entries are neither NaN nor infinite."""
        flags = [gmpy2.is_finite(value) for value in values.ravel()]
        return np.array(flags, dtype=bool).reshape(values.shape)

    def text(self, value: Any) -> str:
        """A decimal of as many digits as tell all numbers of the precision apart."""
        return str(value)

    def rational(self, value: Any) -> Fraction:
        """The exact value. Raises UndecidableError for NaN and infinities."""
        if not gmpy2.is_finite(value):
            raise UndecidableError(f"{value} has no rational value")
        numerator, denominator = value.as_integer_ratio()
        return Fraction(int(numerator), int(denominator))

    def _entry(self, index: tuple[int, ...], value: Any) -> Any:
        """One entry of an array to be converted, rounded."""
        try:
            exact = as_fraction(value)
        except ConversionError as error:
            raise ConversionError(f"entry {index}: {error}") from None
        # A Fraction has one zero, a float two.
        return self.constant_of(exact) if exact else gmpy2.mpfr(float(value))
