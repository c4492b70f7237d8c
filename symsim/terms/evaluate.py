"""Evaluation of terms in any arithmetic."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from fractions import Fraction
from typing import Any, Protocol

import numpy as np

from symsim.terms.term import Kind, Term, TermError, postorder

Array = np.ndarray[Any, np.dtype[Any]]


class Operations(Protocol):
    """The operations that a term may ask of an arithmetic, on arrays, entry by entry."""

    def constant(self, value: Fraction) -> Array:
        """`value`, rounded to the arithmetic where it rounds, with no axes."""

    def integers(self, values: Array) -> Array:
        """An array of small integers as numbers of the arithmetic."""

    def add(self, left: Array, right: Array) -> Array:
        """Sums."""

    def sub(self, left: Array, right: Array) -> Array:
        """Differences."""

    def mul(self, left: Array, right: Array) -> Array:
        """Products."""

    def div(self, left: Array, right: Array) -> Array:
        """Quotients; a zero divisor must not raise."""

    def neg(self, value: Array) -> Array:
        """Negatives."""

    def exp(self, value: Array) -> Array:
        """Exponentials, in the base of the arithmetic."""

    def log(self, value: Array) -> Array:
        """The inverse of exp."""

    def maximum(self, left: Array, right: Array) -> Array:
        """The larger of each two."""

    def dot(self, left: Array, right: Array) -> Array:
        """Inner products along the last axis, which is kept with length 1."""


def evaluate(
    roots: Sequence[Term],
    columns: Mapping[str, Array],
    operations: Operations,
    tokens: int | None = None,
) -> tuple[Array, ...]:
    """The values of `roots`, each broadcastable to (..., tokens, width).

    `columns` maps a column name to an array (..., tokens, width); `tokens` is the number of
    positions, needed by position primitives only.
    """
    values: dict[Term, Array] = {}
    for node in postorder(tuple(roots)):
        values[node] = _value(node, [values[arg] for arg in node.args], columns, operations, tokens)
    return tuple(values[root] for root in roots)


def _value(
    node: Term,
    args: list[Array],
    columns: Mapping[str, Array],
    operations: Operations,
    tokens: int | None,
) -> Array:
    match node.kind:
        case Kind.COLUMN:
            return columns[str(node.payload)]
        case Kind.CONSTANT:
            assert isinstance(node.payload, Fraction)
            return operations.constant(node.payload)
        case Kind.POSITION | Kind.IN_RANGE | Kind.BIT:
            return operations.integers(_positional(node, tokens))
        case Kind.ADD:
            return operations.add(*args)
        case Kind.SUB:
            return operations.sub(*args)
        case Kind.MUL:
            return operations.mul(*args)
        case Kind.DIV:
            return operations.div(*args)
        case Kind.NEG:
            return operations.neg(*args)
        case Kind.EXP:
            return operations.exp(*args)
        case Kind.LOG:
            return operations.log(*args)
        case Kind.MAX:
            return operations.maximum(*args)
        case Kind.DOT:
            # A constant comes without axes, an inner product needs the last one.
            return operations.dot(*map(np.atleast_1d, args))


def _positional(node: Term, tokens: int | None) -> Array:
    """The position primitive `node` at the positions 0, ..., tokens - 1, (tokens, 1) integers."""
    if tokens is None:
        raise TermError(f"{node!r}: evaluation needs the number of tokens")
    positions = np.arange(tokens)[:, None]
    payload = node.payload if isinstance(node.payload, tuple) else ()
    match node.kind:
        case Kind.IN_RANGE:
            lo, hi = payload
            return ((lo <= positions) & (positions < hi)).astype(np.int64)
        case Kind.BIT:
            return (positions >> payload[0]) & 1
        case _:
            return positions
