"""Evaluation of terms in any arithmetic."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from fractions import Fraction
from typing import Any, Protocol

import numpy as np

from symsim.terms.term import Kind, Term, postorder

Array = np.ndarray[Any, np.dtype[Any]]


class Operations(Protocol):
    """The operations that a term may ask of an arithmetic, on arrays, entry by entry."""

    def constant(self, value: Fraction) -> Array:
        """`value`, rounded to the arithmetic where it rounds, with no axes."""

    def integers(self, values: Array) -> Array:
        """An array of small integers as numbers of the arithmetic."""

    def add(self, left: Array, right: Array) -> Array: ...
    def sub(self, left: Array, right: Array) -> Array: ...
    def mul(self, left: Array, right: Array) -> Array: ...
    def div(self, left: Array, right: Array) -> Array: ...
    def neg(self, value: Array) -> Array: ...
    def exp(self, value: Array) -> Array: ...
    def log(self, value: Array) -> Array: ...
    def maximum(self, left: Array, right: Array) -> Array: ...
    def dot(self, left: Array, right: Array) -> Array:
        """Inner products along the last axis, which is kept with length 1."""


def evaluate(
    roots: Sequence[Term], columns: Mapping[str, Array], operations: Operations, tokens: int = 1
) -> tuple[Array, ...]:
    """The values of `roots`, each broadcastable to (..., tokens, width).

    `columns` maps a column name to an array (..., tokens, width); `tokens` is the number of
    positions, used by position primitives only.
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
    tokens: int,
) -> Array:
    match node.kind:
        case Kind.COLUMN:
            return columns[str(node.payload)]
        case Kind.CONSTANT:
            assert isinstance(node.payload, Fraction)
            return operations.constant(node.payload)
        case Kind.POSITION | Kind.IN_RANGE | Kind.BIT:
            return operations.integers(_positional(node, np.arange(tokens)[:, None]))
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
            return operations.dot(*args)


def _positional(node: Term, positions: Array) -> Array:
    """The position primitive `node` at `positions`, as integers."""
    payload = node.payload if isinstance(node.payload, tuple) else ()
    match node.kind:
        case Kind.IN_RANGE:
            lo, hi = payload
            return ((lo <= positions) & (positions < hi)).astype(np.int64)
        case Kind.BIT:
            return (positions >> payload[0]) & 1
        case _:
            return positions
