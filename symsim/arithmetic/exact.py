"""Rational arithmetics: `exact` (weights 2^logit, integer logits) and `exact:pl2`."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np
from flint import fmpq, fmpq_mat

from symsim.arithmetic.base import Array, Evidence, NotRationalError, NumberError
from symsim.arithmetic.objects import ObjectArithmetic, filled
from symsim.arithmetic.undefined import UNDEFINED

_LARGEST_EXPONENT = 2**24
"""Weights 2^n are written out in binary; beyond this |n| a run is refused."""


class Rational(ObjectArithmetic):
    """Rational numbers (fmpq); subclasses choose the weight function, to the base 2."""

    base = "2"
    evidence = Evidence.EXACT

    def from_fraction(self, value: Fraction) -> fmpq:
        return fmpq(value.numerator, value.denominator)

    def quotient(self, left: Any, right: Any) -> Any:
        return UNDEFINED if right is UNDEFINED or right == 0 else left / right

    def larger(self, left: Any, right: Any) -> Any:
        if left is UNDEFINED or right is UNDEFINED:
            return UNDEFINED
        return max(left, right)

    def attend(self, query: Array, key: Array, value: Array, allowed: Array) -> Array:
        if not (allowed.all() and self.finite(query).all() and self.finite(key).all()):
            return super().attend(query, key, value, allowed)
        weights = self._weight_matrix(query, key)
        if not self.finite(value).all():
            return super().attend(query, key, value, allowed)
        ones = self.integers(np.ones((len(key), 1), dtype=np.int64))
        sums = weights * _matrix(np.concatenate([value, ones], axis=1))
        table = filled((len(query), value.shape[1] + 1), sums.entries())
        return self.div(table[:, :-1], table[:, -1:])

    def _weight_matrix(self, query: Array, key: Array) -> fmpq_mat:
        if key.shape[1] == 0:
            return fmpq_mat(len(query), len(key), [1] * (len(query) * len(key)))
        logits = filled(
            (len(query), len(key)), (_matrix(query) * _matrix(key).transpose()).entries()
        )
        return _matrix(self.exp(logits))

    def equal(self, left: Any, right: Any) -> bool:
        return bool(left == right)

    def finite(self, values: Array) -> Array:
        flags = [value is not UNDEFINED for value in values.ravel()]
        return np.array(flags, dtype=bool).reshape(values.shape)

    def text(self, value: Any) -> str:
        return "UNDEFINED" if value is UNDEFINED else str(value)

    def rational(self, value: Any) -> Fraction:
        if value is UNDEFINED:
            raise NumberError("UNDEFINED has no value")
        return Fraction(int(value.p), int(value.q))


class Exact(Rational):
    """ℚ with weights 2^logit: a logit that is not an integer raises NotRationalError."""

    name = "exact"

    def exp(self, value: Array) -> Array:
        for index, logit in np.ndenumerate(value):
            if logit is not UNDEFINED and logit.q != 1:
                axes = ("row", "column")[-len(index) :]
                place = ", ".join(f"{axis} {i}" for axis, i in zip(axes, index, strict=False))
                raise NotRationalError(
                    f"logit at {place} is {logit}: exact takes integer logits (weights 2^logit)"
                )
        return super().exp(value)

    def exp_of(self, value: fmpq) -> fmpq:
        if value.q != 1:
            raise NotRationalError(f"2^({value}) is not rational: expected an integer logit")
        return _power_of_two(int(value.p))

    def log_of(self, value: fmpq) -> fmpq:
        """log2 of a power of two."""
        if value > 0:
            exponent = int(value.p).bit_length() - int(value.q).bit_length()
            if value == _power_of_two(exponent):
                return fmpq(exponent)
        raise NotRationalError(f"log2({value}) is not rational: expected a power of two")


class PiecewiseLinear2(Rational):
    """ℚ with weights w(x) = 2^⌊x⌋ (1 + x − ⌊x⌋), which equal 2^x at the integers.

    w is rational, positive, increasing and onto, w(0) = 1 and w(x + n) = 2ⁿ w(x) for integer n.
    `log` is its inverse.
    """

    name = "exact:pl2"

    def exp_of(self, value: fmpq) -> fmpq:
        floor = int(value.p) // int(value.q)
        return _power_of_two(floor) * (1 + value - floor)

    def log_of(self, value: fmpq) -> fmpq:
        if value <= 0:
            raise NotRationalError(f"log({value}): expected a positive number")
        exponent = int(value.p).bit_length() - int(value.q).bit_length()
        if _power_of_two(exponent) > value:
            exponent -= 1
        return exponent + value / _power_of_two(exponent) - 1


def _power_of_two(exponent: int) -> fmpq:
    if abs(exponent) > _LARGEST_EXPONENT:
        raise NumberError(
            f"2^{exponent} is too large to write out: expected an exponent up to "
            f"{_LARGEST_EXPONENT} in absolute value"
        )
    return fmpq(2) ** exponent


def _matrix(values: Array) -> fmpq_mat:
    return fmpq_mat(values.shape[0], values.shape[1], values.ravel().tolist())
