"""What arithmetics of Python objects share: arrays of dtype object, operated entry by entry."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable
from fractions import Fraction
from typing import Any

import numpy as np

from symsim.arithmetic.base import Arithmetic, Array, ConversionError, require_keys
from symsim.arithmetic.undefined import UNDEFINED


def as_fraction(value: Any) -> Fraction:
    """The exact value of an int, float, numpy scalar or Fraction; ConversionError otherwise."""
    if isinstance(value, np.generic):
        value = value.item()
    if isinstance(value, (int, Fraction)) and not isinstance(value, bool):
        return Fraction(value)
    if isinstance(value, float) and np.isfinite(value):
        return Fraction(value)
    raise ConversionError(f"{value!r}: expected a finite number")


def filled(shape: tuple[int, ...], entries: list[Any]) -> Array:
    """An object array of `shape` with the given entries in row-major order."""
    flat = np.empty(len(entries), dtype=object)
    flat[:] = entries
    return flat.reshape(shape)


def each(function: Callable[[Any], Any], values: Array) -> Array:
    """`function` of every entry, as an object array of the same shape."""
    return filled(values.shape, [function(value) for value in values.ravel()])


class ObjectArithmetic(Arithmetic):
    """An arithmetic on object arrays; subclasses say how single numbers behave.

    The order of operations is stated here once: logits are inner products in the order of the
    columns, sums over keys run from the first allowed key to the last, the division by the
    sum of weights comes last.
    """

    dtype = np.dtype(object)

    @abstractmethod
    def from_fraction(self, value: Fraction) -> Any:
        """`value` as a number, without loss; ConversionError if it has no exact form."""

    @abstractmethod
    def exp_of(self, value: Any) -> Any:
        """base ** value of one number."""

    @abstractmethod
    def log_of(self, value: Any) -> Any:
        """The inverse of exp_of, of one number."""

    @abstractmethod
    def larger(self, left: Any, right: Any) -> Any:
        """The larger of two numbers."""

    def quotient(self, left: Any, right: Any) -> Any:
        """left / right of two numbers, UNDEFINED where the divisor is zero."""
        return left / right

    def constant_of(self, value: Fraction) -> Any:
        """`value` as a number, rounded where the arithmetic rounds."""
        return self.from_fraction(value)

    def convert(self, values: Array) -> Array:
        return each(lambda value: self.from_fraction(as_fraction(value)), np.asarray(values))

    def constant(self, value: Fraction) -> Array:
        return filled((), [self.constant_of(value)])

    def integers(self, values: Array) -> Array:
        return each(lambda value: self.from_fraction(Fraction(int(value))), values)

    def add(self, left: Array, right: Array) -> Array:
        return np.asarray(np.add(left, right), dtype=object)

    def sub(self, left: Array, right: Array) -> Array:
        return np.asarray(np.subtract(left, right), dtype=object)

    def mul(self, left: Array, right: Array) -> Array:
        return np.asarray(np.multiply(left, right), dtype=object)

    def neg(self, value: Array) -> Array:
        return np.asarray(np.negative(value), dtype=object)

    def div(self, left: Array, right: Array) -> Array:
        return np.asarray(np.frompyfunc(self.quotient, 2, 1)(left, right), dtype=object)

    def maximum(self, left: Array, right: Array) -> Array:
        return np.asarray(np.frompyfunc(self.larger, 2, 1)(left, right), dtype=object)

    def exp(self, value: Array) -> Array:
        return each(lambda x: x if x is UNDEFINED else self.exp_of(x), value)

    def log(self, value: Array) -> Array:
        return each(lambda x: x if x is UNDEFINED else self.log_of(x), value)

    def project(self, tokens: Array, weight: Array) -> Array:
        columns = [self.dot(tokens, weight[:, c]) for c in range(weight.shape[1])]
        return np.concatenate(columns, axis=-1)

    def attention(self, query: Array, key: Array, value: Array, allowed: Array | None) -> Array:
        calls, rows, tokens = query.shape[0], query.shape[1], key.shape[1]
        if allowed is None:
            allowed = np.ones((rows, tokens), dtype=bool)
        require_keys(allowed)
        out = np.empty((calls, rows, value.shape[2]), dtype=object)
        for call in range(calls):
            out[call] = self.attend(query[call], key[call], value[call], allowed)
        return out

    def attend(self, query: Array, key: Array, value: Array, allowed: Array) -> Array:
        """Attention of one call: query (rows, m), key (tokens, m), value (tokens, w)."""
        return np.stack(
            [
                self.attend_row(query[row], key[keys], value[keys])
                for row, keys in enumerate(map(np.flatnonzero, allowed))
            ]
        )

    def attend_row(self, query: Array, key: Array, value: Array) -> Array:
        """Attention of one query (m) over the keys (n, m) and values (n, w) it may read."""
        weights = self.weights(self.logits(query, key))
        total = weights[0]
        weighted = self.mul(weights[0], value[0])
        for j in range(1, len(weights)):
            total = total + weights[j]
            weighted = self.add(weighted, self.mul(weights[j], value[j]))
        return self.div(weighted, filled((), [total]))

    def logits(self, query: Array, key: Array) -> Array:
        """The logits (n) of one query (m) on keys (n, m)."""
        if key.shape[1] == 0:
            return self.integers(np.zeros(len(key), dtype=np.int64))
        return self.dot(query[None, :], key)[:, 0]

    def weights(self, logits: Array) -> Array:
        """The unnormalized weights of a row's logits."""
        if self.subtracts_maximum:
            largest = logits[0]
            for logit in logits[1:]:
                largest = self.larger(largest, logit)
            logits = self.sub(logits, filled((), [largest]))
        return self.exp(logits)
