"""The protocol that every arithmetic meets, and the errors that arithmetics raise."""

from __future__ import annotations

from abc import ABC, abstractmethod
from contextlib import AbstractContextManager, nullcontext
from enum import Enum
from fractions import Fraction
from typing import Any

import numpy as np

Array = np.ndarray[Any, np.dtype[Any]]


class NumberError(ValueError):
    """Base of what an arithmetic refuses; the message names what was found and expected."""


class UnknownArithmeticError(NumberError):
    """No arithmetic has the given name."""


class ConversionError(NumberError):
    """A number cannot be represented without loss."""


class NotRationalError(NumberError):
    """An exponential or logarithm leaves the rational numbers."""


class UndecidableError(NumberError):
    """The arithmetic cannot carry out, or cannot decide, what was asked."""


class Evidence(Enum):
    """What a run in an arithmetic establishes."""

    IDENTITY = "identity"  # equality for all real inputs of the size
    EXACT = "exact"  # equality on the given input
    VALUE = "value"  # a high-precision value, not certified
    ENCLOSURE = "enclosure"  # a certified enclosure of the true value
    MEASURED = "measured"  # what a machine would return


class Arithmetic(ABC):
    """A kind of number, as arrays of it, with attention on such arrays.

    Arrays are numpy arrays: of dtype object where numbers are exact, enclosing or of custom
    precision, and of the format's own dtype in hardware formats. Every method is to be called
    inside `working()`, which is the one place where a working precision is entered.
    `exp` and `log` are to the arithmetic's own base, "e" or "2".
    """

    name: str
    base: str
    evidence: Evidence
    dtype: np.dtype[Any]
    subtracts_maximum: bool = False
    """Whether softmax subtracts the row maximum, as machines do."""

    @property
    def rounds(self) -> bool:
        """Whether single operations round, so that a run only measures."""
        return self.evidence in (Evidence.VALUE, Evidence.MEASURED)

    def working(self) -> AbstractContextManager[object]:
        """Enter the working precision."""
        return nullcontext()

    # -- conversion ---------------------------------------------------------------------

    @abstractmethod
    def convert(self, values: Array) -> Array:
        """`values` (integers, floats or Fractions) without loss.

        Raises ConversionError naming the first entry that has no exact representation.
        """

    def rounded(self, values: Array) -> Array:
        """`values` converted, each rounded to the nearest number of the arithmetic."""
        return self.convert(values)

    @abstractmethod
    def constant(self, value: Fraction) -> Array:
        """`value` as an array without axes, rounded where the arithmetic rounds."""

    @abstractmethod
    def integers(self, values: Array) -> Array:
        """An array of small integers as numbers of the arithmetic."""

    # -- entry by entry, broadcasting ---------------------------------------------------

    @abstractmethod
    def add(self, left: Array, right: Array) -> Array: ...
    @abstractmethod
    def sub(self, left: Array, right: Array) -> Array: ...
    @abstractmethod
    def mul(self, left: Array, right: Array) -> Array: ...
    @abstractmethod
    def div(self, left: Array, right: Array) -> Array:
        """Quotients; a division by zero is UNDEFINED, NaN, infinite or non-finite, never raised."""

    @abstractmethod
    def neg(self, value: Array) -> Array: ...
    @abstractmethod
    def exp(self, value: Array) -> Array: ...
    @abstractmethod
    def log(self, value: Array) -> Array: ...
    @abstractmethod
    def maximum(self, left: Array, right: Array) -> Array: ...

    # -- along axes ---------------------------------------------------------------------

    def dot(self, left: Array, right: Array) -> Array:
        """Inner products along the last axis, which is kept with length 1.

        Order: products in the order of the columns, each added to the sum of those before.
        """
        total = self.mul(left[..., :1], right[..., :1])
        for c in range(1, max(left.shape[-1], right.shape[-1])):
            total = self.add(total, self.mul(left[..., c : c + 1], right[..., c : c + 1]))
        return total

    @abstractmethod
    def project(self, tokens: Array, weight: Array) -> Array:
        """`tokens` (..., n, e) times `weight` (e, m)."""

    @abstractmethod
    def attention(self, query: Array, key: Array, value: Array, allowed: Array | None) -> Array:
        """softmax(query keyᵀ) value for a batch of calls.

        query (calls, rows, m), key (calls, tokens, m), value (calls, tokens, w);
        allowed (rows, tokens) says which keys a row may read, None that it reads all.
        Returns (calls, rows, w). m = 0 means that all logits are 0. An entry that is not
        allowed is never read. One call at a time gives the same numbers, bit for bit.
        Raises ValueError for a row that may read no key.
        """

    # -- what users see -----------------------------------------------------------------

    @abstractmethod
    def equal(self, left: Any, right: Any) -> bool | None:
        """Whether two numbers are equal; None where the arithmetic cannot decide."""

    @abstractmethod
    def finite(self, values: Array) -> Array:
        """Boolean array: which entries are defined and finite."""

    @abstractmethod
    def text(self, value: Any) -> str:
        """One number: `p/q` where exact, decimal or a ball elsewhere."""

    @abstractmethod
    def rational(self, value: Any) -> Fraction:
        """The exact value (of a ball: its midpoint). Raises UndecidableError if there is none."""


def require_keys(allowed: Array) -> None:
    """Raise ValueError if a row of `allowed` (rows, tokens) may read no key."""
    reads = np.asarray(allowed.any(axis=1))
    if not reads.all():
        raise ValueError(f"row {first_index(~reads)[0]} may read no key: expected at least one")


def first_index(wrong: Array) -> tuple[int, ...]:
    """The index of the first true entry of a boolean array."""
    return tuple(int(i) for i in np.argwhere(wrong)[0])
