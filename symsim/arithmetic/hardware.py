"""Machine formats, every operation rounded: float64, float32, float16, bfloat16 and two fp8."""

from __future__ import annotations

from contextlib import AbstractContextManager
from fractions import Fraction
from math import inf, isfinite, isnan, nextafter
from typing import Any, Final, Literal

import ml_dtypes
import numpy as np

from symsim.arithmetic.base import (
    Arithmetic,
    Array,
    ConversionError,
    Evidence,
    NumberError,
    UndecidableError,
    first_index,
    require_keys,
)
from symsim.arithmetic.objects import as_fraction, filled

_FORMATS: Final[dict[str, tuple[np.dtype[Any], int]]] = {
    "float64": (np.dtype(np.float64), 53),
    "float32": (np.dtype(np.float32), 24),
    "float16": (np.dtype(np.float16), 11),
    "bfloat16": (np.dtype(ml_dtypes.bfloat16), 8),
    "float8_e4m3fn": (np.dtype(ml_dtypes.float8_e4m3fn), 4),
    "float8_e5m2": (np.dtype(ml_dtypes.float8_e5m2), 3),
}
"""The dtype and the bits of significand of each format."""

_BLAS_FORMATS: Final = ("float64", "float32")
_FLOATS: Final = frozenset(dtype for dtype, _ in _FORMATS.values())
_EXACT_INTEGERS: Final = 2**53
"""Integers up to this magnitude are float64 numbers."""


class Hardware(Arithmetic):
    """A machine's floating point format; arrays have the format's own dtype, always.

    + − × ÷, conversions and constants are correctly rounded (to nearest, ties to even), in
    every format; so are exp and log in formats of 16 and 8 bits, which the tests show code by
    code. exp and log of float32 and float64 are numpy's: not correctly rounded, with an error
    below one ulp in float64 and below four ulp in float32 (numpy states 2.52 for exp and 3.83
    for log); positions and strides do not change their bits.

    `order` says how sums of `project` and `attention` run: "stated" in the order of the columns
    and keys, "blas" in whatever order numpy's BLAS has. Overflow gives an infinity, in
    float8_e4m3fn, which has none, NaN.

    Raises NumberError for an unknown format, or one that has no BLAS.
    """

    base = "e"
    evidence = Evidence.MEASURED
    subtracts_maximum = True

    def __init__(self, name: str, order: Literal["stated", "blas"] = "stated") -> None:
        if name not in _FORMATS:
            raise NumberError(f"format {name!r}: expected one of {', '.join(_FORMATS)}")
        if order == "blas" and name not in _BLAS_FORMATS:
            raise NumberError(f"{name}:blas: expected one of {', '.join(_BLAS_FORMATS)}")
        self.name = f"{name}:blas" if order == "blas" else name
        self.order = order
        self.dtype, self.bits = _FORMATS[name]
        self._in_double = self.bits <= 8
        """Whether operations are computed in float64 and rounded once.

        That is the correct rounding: 53 ≥ 2·8 + 2 bits.
        """

    @property
    def unit_roundoff(self) -> Fraction:
        """2^−p of a significand of p bits: the relative error of one rounded operation."""
        return Fraction(1, 2**self.bits)

    def working(self) -> AbstractContextManager[object]:
        """Silence numpy's warnings: infinities and NaN are results here."""
        return np.errstate(all="ignore")

    # -- conversion ---------------------------------------------------------------------

    def convert(self, values: Array) -> Array:
        """`values` without loss; the sign of a zero is kept.

        Raises ConversionError naming the first entry that is not finite, not a number, or not a
        number of the format.
        """
        exact = _exact(np.asarray(values))
        numbers = self._nearest(exact)
        lost = np.asarray(numbers.astype(np.float64) != exact, dtype=bool)
        if lost.any():
            index = first_index(lost)
            raise ConversionError(f"entry {index}: {exact[index]} is not a number of {self.name}")
        return numbers

    def rounded(self, values: Array) -> Array:
        """Each of `values` rounded once, to the nearest number of the format, ties to even.

        Raises ConversionError for an entry that is not a finite number.
        """
        return self._nearest(_exact(np.asarray(values)))

    def constant(self, value: Fraction) -> Array:
        """`value` rounded once, without axes."""
        return self._nearest(filled((), [value]))

    def integers(self, values: Array) -> Array:
        """Integers rounded to the format, as a machine does: in float8_e5m2, 9 becomes 8."""
        return self.rounded(values)

    def _nearest(self, exact: Array) -> Array:
        """float64 numbers or Fractions (dtype object), each rounded once to the format."""
        if exact.dtype == object:
            to_double = _nearest_double if self.bits == 53 else _odd_double
            doubles = [to_double(value) for value in exact.ravel()]
            exact = np.array(doubles, dtype=np.float64).reshape(exact.shape)
        if self._in_double:
            # The cast of ml_dtypes goes through a float32 rounded to nearest: two roundings.
            exact = _odd_single(exact)
        return np.asarray(exact, dtype=self.dtype)

    # -- entry by entry -----------------------------------------------------------------

    def add(self, left: Array, right: Array) -> Array:
        """Sums, rounded once."""
        return self._operate(np.add, left, right)

    def sub(self, left: Array, right: Array) -> Array:
        """Differences, rounded once."""
        return self._operate(np.subtract, left, right)

    def mul(self, left: Array, right: Array) -> Array:
        """Products, rounded once."""
        return self._operate(np.multiply, left, right)

    def div(self, left: Array, right: Array) -> Array:
        """Quotients; a division by zero is infinite or NaN."""
        return self._operate(np.divide, left, right)

    def neg(self, value: Array) -> Array:
        """The numbers with the sign changed, that of zeros too."""
        return np.asarray(np.negative(value))

    def exp(self, value: Array) -> Array:
        """Natural exponentials; see the class for their error."""
        return self._elementary(np.exp, value)

    def log(self, value: Array) -> Array:
        """Natural logarithms; −inf of zero (NaN without infinities), NaN of negative numbers."""
        return self._elementary(np.log, value)

    def maximum(self, left: Array, right: Array) -> Array:
        """The larger one; of equal ones the left one (−0 or +0), of NaN and a number NaN."""
        return np.asarray(np.where((left >= right) | np.isnan(left), left, right))

    def _operate(self, operation: np.ufunc, left: Array, right: Array) -> Array:
        """One of + − × ÷, rounded once."""
        if self._in_double:
            return self._nearest(
                np.asarray(operation(left.astype(np.float64), right.astype(np.float64)))
            )
        return np.asarray(operation(left, right))

    def _elementary(self, function: np.ufunc, value: Array) -> Array:
        """One of exp and log: through float64 for 16 and 8 bits, numpy's own otherwise."""
        if self.bits <= 11:
            return self._nearest(np.asarray(function(value.astype(np.float64))))
        return np.asarray(function(_plain(value)))

    # -- along axes ---------------------------------------------------------------------

    def project(self, tokens: Array, weight: Array) -> Array:
        """`tokens` (..., n, e) times `weight` (e, m).

        Products in the order of e, each added to the sum of those before; numpy's matmul in the
        blas order.
        """
        if self.order == "blas":
            return np.asarray(np.matmul(_plain(tokens), _plain(weight)))
        total = self.mul(tokens[..., :1], weight[0])
        for c in range(1, len(weight)):
            total = self.add(total, self.mul(tokens[..., c : c + 1], weight[c]))
        return total

    def attention(self, query: Array, key: Array, value: Array, allowed: Array | None) -> Array:
        """softmax(query keyᵀ) value; shapes as in Arithmetic.attention.

        Stated order: logits by `dot`; the largest allowed logit is subtracted; weights are exp of
        the difference; the sum of weights and the sums of weight · value run from the first
        allowed key to the last; one division at the end. An entry that is not allowed is skipped.
        Blas order: see `_attention_blas`.

        Raises ValueError if a row may read no key.
        """
        if key.shape[1] == 0:
            raise ValueError("attention over 0 tokens: expected at least one key")
        if allowed is not None:
            require_keys(allowed)
        if self.order == "blas":
            return _attention_blas(query, key, value, allowed)
        if allowed is None:
            allowed = np.ones((query.shape[1], key.shape[1]), dtype=bool)
        return self._attention_stated(query, key, value, allowed)

    def _attention_stated(self, query: Array, key: Array, value: Array, allowed: Array) -> Array:
        first = allowed.argmax(axis=1)
        every = np.arange(len(allowed))
        # later[j]: the rows that read key j after another one
        later = [np.flatnonzero(reads & (first < j)) for j, reads in enumerate(allowed.T)]

        logits = self._logits(query, key)
        largest = logits[:, every, first, None]
        for j, rows in enumerate(later):
            largest[:, rows] = self.maximum(largest[:, rows], logits[:, rows, j : j + 1])
        weights = self.exp(self.sub(logits, largest))

        total = weights[:, every, first, None]
        numerators = self.mul(total, value[:, first])
        for j, rows in enumerate(later):
            weight = weights[:, rows, j : j + 1]
            weighted = self.mul(weight, value[:, j : j + 1])
            total[:, rows] = self.add(total[:, rows], weight)
            numerators[:, rows] = self.add(numerators[:, rows], weighted)
        return self.div(numerators, total)

    def _logits(self, query: Array, key: Array) -> Array:
        """Logits (calls, rows, tokens) of query (calls, rows, m) and key (calls, tokens, m)."""
        calls, rows, m = query.shape
        if m == 0:
            return np.zeros((calls, rows, key.shape[1]), dtype=self.dtype)
        return self.dot(query[:, :, None], key[:, None])[..., 0]

    # -- what users see -----------------------------------------------------------------

    def equal(self, left: Any, right: Any) -> bool | None:
        """Whether two numbers are equal, as −0 and +0 are; None if one is NaN."""
        left, right = float(left), float(right)
        if isnan(left) or isnan(right):
            return None
        return bool(left == right)

    def finite(self, values: Array) -> Array:
        """Boolean array: which entries are neither NaN nor infinite."""
        return np.asarray(np.isfinite(values))

    def text(self, value: Any) -> str:
        """The shortest decimal that rounds to `value` (bfloat16 and fp8: as a float64)."""
        return repr(float(value)) if self._in_double else str(self.dtype.type(value))

    def rational(self, value: Any) -> Fraction:
        """The exact value. Raises UndecidableError for NaN and infinities."""
        number = float(value)
        if not isfinite(number):
            raise UndecidableError(f"{number} has no rational value")
        return Fraction(number)


def _attention_blas(query: Array, key: Array, value: Array, allowed: Array | None) -> Array:
    """Attention with numpy's matmul.

    For each call: logits = query keyᵀ by matmul; minus each row's maximum; exp; weights · value
    by matmul, divided by the sum of weights, which is numpy's pairwise sum. A logit that is not
    allowed becomes −inf before the maximum, so its weight is +0; its value, if not finite, is
    not read. Bits do not depend on the batch: matmul runs call by call, on equal layouts.
    """
    query, key, value = _plain(query), _plain(key), _plain(value)
    if np.may_share_memory(query, key):
        key = key.copy()  # matmul takes another routine (syrk) for A Aᵀ, with other bits
    logits = np.matmul(query, key.swapaxes(1, 2))
    if allowed is not None:
        np.copyto(logits, -inf, where=~allowed)
    logits -= logits.max(axis=2, keepdims=True)
    weights = np.exp(logits, out=logits)
    numerators = _weighted_sums(weights, value, allowed)
    numerators /= weights.sum(axis=2, keepdims=True)
    return numerators


def _weighted_sums(weights: Array, value: Array, allowed: Array | None) -> Array:
    """Products of weights (calls, rows, tokens) and value (calls, tokens, w) by matmul.

    The weight of an entry that is not allowed is 0. Its value is not read if it is not finite.
    """
    finite = np.isfinite(value)
    if allowed is None or finite.all():
        return np.asarray(np.matmul(weights, value))
    sums = np.matmul(weights, np.where(finite, value, 0))
    for call, token in np.argwhere(~finite.all(axis=2)):
        read = allowed[:, token, None] & ~finite[call, token]
        products = weights[call, :, token, None] * value[call, token]
        np.add(sums[call], products, out=sums[call], where=read)
    return np.asarray(sums)


def _plain(array: Array) -> Array:
    """`array` in row-major order with the strides of a new array, copied only if it must be.

    numpy calls BLAS or its own loops according to strides, also those of axes of length 1.
    """
    return array if array.strides == np.empty_like(array, order="C").strides else array.copy()


def _exact(values: Array) -> Array:
    """`values` as float64 where that is exact for their dtype, else as Fractions (dtype object).

    Raises ConversionError naming the first entry that is not a finite number.
    """
    if values.dtype in _FLOATS:
        doubles = values.astype(np.float64)
        if not (finite := np.isfinite(doubles)).all():
            index = first_index(~finite)
            raise ConversionError(f"entry {index}: {doubles[index]}: expected a finite number")
        return doubles
    if values.dtype.kind in "iu" and (
        -_EXACT_INTEGERS <= values.min(initial=0) <= values.max(initial=0) <= _EXACT_INTEGERS
    ):
        return values.astype(np.float64)
    return filled(
        values.shape, [_fraction(index, value) for index, value in np.ndenumerate(values)]
    )


def _fraction(index: tuple[int, ...], value: Any) -> Fraction:
    try:
        return as_fraction(value)
    except ConversionError as error:
        raise ConversionError(f"entry {index}: {error}") from None


def _nearest_double(value: Fraction) -> float:
    """The float64 nearest to `value`, ties to even; infinite beyond the range."""
    try:
        return value.numerator / value.denominator
    except OverflowError:
        return inf if value > 0 else -inf


def _odd_double(value: Fraction) -> float:
    """`value` rounded to a float64 so that a second rounding, to at most 51 bits, is the only one.

    Rounding to odd: what is not a float64 becomes the neighbour whose last bit is 1, which lies
    on the same side of every number and midpoint of the narrower format.
    """
    nearest = _nearest_double(value)
    if nearest == value:
        return nearest
    truncated = nextafter(nearest, 0.0) if abs(nearest) > abs(value) else nearest
    return float((np.float64(truncated).view(np.uint64) | np.uint64(1)).view(np.float64))


def _odd_single(doubles: Array) -> Array:
    """float64 numbers rounded to odd float32 numbers; beyond the range to the largest one."""
    nearest = doubles.astype(np.float32)
    widened = nearest.astype(np.float64)
    truncated = nearest.view(np.uint32) - (np.abs(widened) > np.abs(doubles))
    return np.asarray(truncated | (widened != doubles)).view(np.float32)
