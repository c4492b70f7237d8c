"""`ball:BITS[:base2]`: certified enclosures with Arb (python-flint)."""

from __future__ import annotations

from contextlib import AbstractContextManager
from fractions import Fraction
from typing import Any

import numpy as np
from flint import arb, arb_mat, ctx, fmpq

from symsim.arithmetic.base import Array, Evidence, NumberError
from symsim.arithmetic.objects import ObjectArithmetic, filled


class Ball(ObjectArithmetic):
    """Balls [midpoint ± radius] that contain the true value, at a working precision in bits.

    A rational input is enclosed, not converted: 1/3 is a ball. A ball that is not finite says
    "no information"; that is what a division by a ball containing zero gives.
    """

    evidence = Evidence.ENCLOSURE

    def __init__(self, bits: int, base: str = "e") -> None:
        if bits < 2:
            raise NumberError(f"ball:{bits}: expected at least 2 bits")
        self.name = f"ball:{bits}" if base == "e" else f"ball:{bits}:base2"
        self.bits = bits
        self.base = base

    def working(self) -> AbstractContextManager[object]:
        context: AbstractContextManager[object] = ctx.workprec(self.bits)
        return context

    def from_fraction(self, value: Fraction) -> arb:
        return arb(fmpq(value.numerator, value.denominator))

    def exp_of(self, value: arb) -> arb:
        return value.exp() if self.base == "e" else arb(2) ** value

    def log_of(self, value: arb) -> arb:
        return value.log() if self.base == "e" else value.log() / arb.const_log2()

    def larger(self, left: arb, right: arb) -> arb:
        return left.max(right)

    def convert(self, values: Array) -> Array:
        array = np.asarray(values)
        if array.dtype.kind == "f" and array.dtype.itemsize <= 8 and np.isfinite(array).all():
            return filled(array.shape, list(map(arb, array.ravel().tolist())))
        return super().convert(array)

    def div(self, left: Array, right: Array) -> Array:
        return np.asarray(np.true_divide(left, right), dtype=object)

    def attend(self, query: Array, key: Array, value: Array, allowed: Array) -> Array:
        ones = filled((len(key), 1), [arb(1)] * len(key))
        extended = np.concatenate([value, ones], axis=1)
        logits = self._logit_entries(query, key)
        if allowed.all():
            weights = arb_mat(len(query), len(key), self._exponentials(logits))
            sums = (weights * _matrix(extended)).entries()
            table = filled((len(query), extended.shape[1]), sums)
        else:
            table = self._masked_sums(filled(allowed.shape, logits), extended, allowed)
        return self.div(table[:, :-1], table[:, -1:])

    def _masked_sums(self, logits: Array, values: Array, allowed: Array) -> Array:
        """Σ weight · value of each row over the keys it may read, and no others."""
        rows = []
        for row, keys in enumerate(map(np.flatnonzero, allowed)):
            weights = arb_mat(1, len(keys), self._exponentials(logits[row, keys].tolist()))
            rows.append((weights * _matrix(values[keys])).entries())
        return filled((len(rows), values.shape[1]), [entry for row in rows for entry in row])

    def _logit_entries(self, query: Array, key: Array) -> list[arb]:
        if key.shape[1] == 0:
            return [arb(0)] * (len(query) * len(key))
        entries: list[arb] = (_matrix(query) * _matrix(key).transpose()).entries()
        return entries

    def _exponentials(self, logits: list[arb]) -> list[arb]:
        return list(map(arb.exp if self.base == "e" else self.exp_of, logits))

    def equal(self, left: arb, right: arb) -> bool | None:
        if left.is_exact() and right.is_exact():
            return bool(left == right)
        return None if left.overlaps(right) else False

    def finite(self, values: Array) -> Array:
        flags = [bool(value.is_finite()) for value in values.ravel()]
        return np.array(flags, dtype=bool).reshape(values.shape)

    def text(self, value: arb) -> str:
        return str(value.str(int(self.bits * 0.30103) + 2))

    def rational(self, value: arb) -> Fraction:
        """The midpoint."""
        if not value.is_finite():
            raise NumberError(f"{value} has no finite midpoint")
        mantissa, exponent = value.mid().man_exp()
        return Fraction(int(mantissa)) * Fraction(2) ** int(exponent)


def _matrix(values: Array) -> arb_mat:
    return arb_mat(values.shape[0], values.shape[1], values.ravel().tolist())
