"""`mp:BITS`: values to BITS bits of significand with mpmath; not certified."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import mpmath
import numpy as np

from symsim.arithmetic.base import Array, ConversionError, Evidence, NumberError
from symsim.arithmetic.objects import ObjectArithmetic, as_fraction, each


class HighPrecision(ObjectArithmetic):
    """mpmath floats in a context of their own, so that no global precision is touched."""

    base = "e"
    evidence = Evidence.VALUE

    def __init__(self, bits: int) -> None:
        if bits < 2:
            raise NumberError(f"mp:{bits}: expected at least 2 bits")
        self.name = f"mp:{bits}"
        self.bits = bits
        self._context: Any = mpmath.MPContext()
        self._context.prec = bits

    def from_fraction(self, value: Fraction) -> Any:
        number = self.constant_of(value)
        if self.rational(number) != value:
            raise ConversionError(f"{value} has no exact form in {self.name}")
        return number

    def rounded(self, values: Array) -> Array:
        return each(lambda value: self.constant_of(as_fraction(value)), np.asarray(values))

    def constant_of(self, value: Fraction) -> Any:
        return self._context.fraction(value.numerator, value.denominator)(
            prec=self.bits, rounding="n"
        )

    def quotient(self, left: Any, right: Any) -> Any:
        return left / right if right else self._context.nan

    def exp_of(self, value: Any) -> Any:
        return self._context.exp(value)

    def log_of(self, value: Any) -> Any:
        """The natural logarithm; NaN for negative numbers."""
        return self._context.ln(value) if value >= 0 else self._context.nan

    def larger(self, left: Any, right: Any) -> Any:
        if self._context.isnan(left) or self._context.isnan(right):
            return self._context.nan
        return max(left, right)

    def equal(self, left: Any, right: Any) -> bool | None:
        if self._context.isnan(left) or self._context.isnan(right):
            return None
        return bool(left == right)

    def finite(self, values: Array) -> Array:
        flags = [bool(self._context.isfinite(value)) for value in values.ravel()]
        return np.array(flags, dtype=bool).reshape(values.shape)

    def text(self, value: Any) -> str:
        digits = int(self.bits * 0.30103) + 2
        return str(self._context.nstr(value, digits, strip_zeros=False))

    def rational(self, value: Any) -> Fraction:
        if not self._context.isfinite(value):
            raise NumberError(f"{value} has no rational value")
        mantissa, exponent = int(value.man), int(value.exp)
        if value < 0:
            mantissa = -abs(mantissa)
        return Fraction(mantissa) * Fraction(2) ** exponent
