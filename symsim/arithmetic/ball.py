"""`ball:BITS[:base2]`: certified enclosures with Arb (python-flint)."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import AbstractContextManager
from fractions import Fraction

import numpy as np
from flint import arb, arb_mat, ctx, fmpq

from symsim.arithmetic.base import Array, Evidence, NumberError, require_keys
from symsim.arithmetic.objects import ObjectArithmetic, filled


class Ball(ObjectArithmetic):
    """Balls [midpoint ± radius] that contain the true value, at a working precision in bits.

    A rational input is enclosed, not converted: 1/3 is a ball. A ball that is not finite says
    "no information"; that is what a division by a ball containing zero gives.
    The precision is one number for the whole process: threads must not differ in it.
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

    def attention(self, query: Array, key: Array, value: Array, allowed: Array | None) -> Array:
        (calls, rows, m), tokens = query.shape, key.shape[1]
        if allowed is not None:
            require_keys(allowed)
        ones = filled((calls, tokens, 1), [arb(1)] * (calls * tokens))
        extended = np.concatenate([value, ones], axis=2)
        width = extended.shape[2]
        queries, keys = _matrices(query), _matrices(key)
        sums: list[arb] = []
        for q, k, v in zip(queries, keys, _matrices(extended), strict=True):
            logits = (q * k.transpose()).entries() if m else [arb(0)] * (rows * tokens)
            if allowed is None:
                weights = arb_mat(rows, tokens, self._exponentials(logits))
                sums += (weights * v).entries()
            else:
                sums += self._masked_sums(filled((rows, tokens), logits), v, allowed)
        table = filled((calls, rows, width), sums)
        return self.div(table[:, :, :-1], table[:, :, -1:])

    def _masked_sums(self, logits: Array, values: arb_mat, allowed: Array) -> list[arb]:
        """Σ weight · value of each row over the keys it may read, and no others."""
        table = filled((values.nrows(), values.ncols()), values.entries())
        sums: list[arb] = []
        for row, keys in enumerate(map(np.flatnonzero, allowed)):
            weights = arb_mat(1, len(keys), self._exponentials(logits[row, keys].tolist()))
            sums += (weights * next(_matrices(table[keys][None]))).entries()
        return sums

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
        if not value.is_finite():
            return "no information"
        return str(value.str(int(self.bits * 0.30103) + 2))

    def rational(self, value: arb) -> Fraction:
        """The midpoint."""
        if not value.is_finite():
            raise NumberError(f"{value} has no finite midpoint")
        mantissa, exponent = value.mid().man_exp()
        return Fraction(int(mantissa)) * Fraction(2) ** int(exponent)


def _matrices(values: Array) -> Iterator[arb_mat]:
    """Each call's matrix of an array (calls, rows, columns)."""
    calls, rows, columns = values.shape
    entries, size = values.ravel().tolist(), rows * columns
    return (
        arb_mat(rows, columns, entries[call * size : (call + 1) * size]) for call in range(calls)
    )
