"""Small oracles, and transformers evaluated by plain loops over Fractions.

The plain evaluation applies an MLP's own Python function to Fractions, never the traced
program; masks are the paper's definitions with indices from 1.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from math import floor
from typing import Any

import numpy as np

from symsim.arithmetic import Arithmetic, Array
from symsim.model import (
    FULL,
    Block,
    Head,
    Identity,
    Layer,
    Limits,
    Mask,
    Ones,
    Parameter,
    Plan,
    Transformer,
    beside,
)
from symsim.terms import trace

EVERY = slice(None)
ROOMY = Limits(tokens=8, embedding=64, constants=64, operations=10**4, heads=4, layers=4)


def same(source: str, width: int = 1) -> Block:
    """A column group taken over unchanged."""
    return Block(source, Identity(width))


Function = Callable[[Any], Mapping[str, Any]]


@dataclass(frozen=True)
class Case:
    """A transformer as Python functions and blocks.

    layers: (heads, ψ or None, columns that ψ reads). exact: whether integer inputs give
    integer logits in every layer.
    """

    columns: Mapping[str, int]
    phi: Function
    layers: tuple[tuple[tuple[Head, ...], Function | None, Mapping[str, int]], ...]
    mask: Mask = FULL
    residual: bool = False
    parameters: Mapping[str, tuple[int, int]] = field(default_factory=dict)
    exact: bool = True

    def transformer(self) -> Transformer:
        """The traced transformer."""
        layers = tuple(
            Layer(heads, trace(psi, read) if psi else None) for heads, psi, read in self.layers
        )
        phi = trace(self.phi, self.columns, sees_position=True)
        return Transformer(phi, layers, self.mask, self.residual)


class PlainToken:
    """What a token-wise function sees when it is applied to Fractions."""

    def __init__(self, columns: Mapping[str, Array], place: int) -> None:
        self.columns, self.place = columns, place

    def __getattr__(self, name: str) -> Array:
        return self.columns[name]

    @property
    def position(self) -> Array:
        return fractions([self.place])

    def in_range(self, lo: int, hi: int) -> Array:
        return fractions([1 if lo <= self.place < hi else 0])

    def bit(self, k: int) -> Array:
        return fractions([int(bin(self.place)[2:].zfill(k + 1)[-1 - k])])


def fractions(values: Any) -> Array:
    """Nested integers as an object array of Fractions."""
    integers = np.array(values, dtype=object)
    flat = np.empty(integers.size, dtype=object)
    flat[:] = [Fraction(value) for value in integers.ravel().tolist()]
    return flat.reshape(integers.shape)


def power_of_two(logit: Fraction) -> Fraction:
    """2^logit of an integer logit: the weight of `exact`."""
    assert logit.denominator == 1
    return Fraction(2) ** int(logit)


def piecewise_linear(logit: Fraction) -> Fraction:
    """2^⌊x⌋ (1 + x − ⌊x⌋): the weight of `exact:pl2`."""
    return Fraction(2) ** floor(logit) * (1 + logit - floor(logit))


def kept(mask: Mask, i: int, j: int) -> bool:
    """Whether query i may read key j, both counted from 1 (Definitions 2.3-2.5)."""
    r, s = mask.window or 0, mask.sinks or 0
    match mask.kind:
        case "full":
            return True
        case "causal":
            return j <= i
        case "window":
            return not (j > i or j <= i - r)
        case "sink":
            return not (j > i or s < j <= i - r)


def plain_attention(
    query: Array, key: Array, value: Array, mask: Mask, weight: Callable[[Fraction], Fraction]
) -> Array:
    """Σ_j w(⟨q_i, k_j⟩) v_j / Σ_j w(⟨q_i, k_j⟩), two loops."""
    out = []
    for i in range(1, len(query) + 1):
        total, weighted = Fraction(0), [Fraction(0)] * value.shape[1]
        for j in range(1, len(key) + 1):
            if not kept(mask, i, j):
                continue
            pairs = zip(query[i - 1], key[j - 1], strict=True)
            a = weight(sum((q * k for q, k in pairs), Fraction(0)))
            total += a
            weighted = [b + a * v for b, v in zip(weighted, value[j - 1], strict=True)]
        out.append([b / total for b in weighted])
    return fractions(out).reshape(len(query), value.shape[1])


def plain_columns(function: Any, columns: Mapping[str, Array], tokens: int) -> dict[str, Array]:
    """A token-wise function applied to each token's Fractions."""
    returned = [
        function(PlainToken({name: c[place] for name, c in columns.items()}, place))
        for place in range(tokens)
    ]
    return {
        name: np.stack([np.atleast_1d(np.asarray(r[name], dtype=object)) for r in returned])
        for name in returned[0]
    }


def plain_blocks(
    blocks: Mapping[str, Block],
    columns: Mapping[str, Array],
    parameters: Mapping[str, Array],
    tokens: int,
) -> Array:
    """X W of a W with the given nonzero blocks."""
    parts = [np.empty((tokens, 0), dtype=object)]
    for block in blocks.values():
        source = columns[block.source]
        match block.weight:
            case Identity():
                parts.append(source)
            case Ones(width=width):
                parts.append(source @ fractions([[1] * width]))
            case Parameter(name=name):
                parts.append(source @ parameters[name])
    return np.concatenate(parts, axis=1)


def plain_transformer(
    case: Case,
    columns: Mapping[str, Array],
    parameters: Mapping[str, Array],
    weight: Callable[[Fraction], Fraction],
) -> dict[str, Array]:
    """The case's output columns on Fractions."""
    tokens = len(next(iter(columns.values())))
    state = plain_columns(case.phi, columns, tokens)
    for heads, psi, _ in case.layers:
        after = dict(state) if case.residual else {}
        for head in heads:
            q, k, v = (
                plain_blocks(blocks, state, parameters, tokens)
                for blocks in (head.query, head.key, head.value)
            )
            mixed = plain_attention(q, k, v, case.mask, weight)
            for name, block in head.value.items():
                part, mixed = mixed[:, : block.width], mixed[:, block.width :]
                after[name] = state[name] + part if case.residual else part
        state = plain_columns(psi, after, tokens) if psi else after
    return state


def single_call(oracle: Transformer, tokens: int, rows: slice = EVERY) -> Plan:
    """A plan of one call whose result is the given rows of the oracle's output."""
    plan = Plan(ROOMY)
    inputs = oracle.input_mlp.inputs
    given = [plan.input(name, tokens, width) for name, width in inputs.items()]
    plan.finish(plan.call("block", "only", oracle, beside(*given))[rows])
    return plan


def converted(numbers: Arithmetic, arrays: Mapping[str, Array]) -> dict[str, Array]:
    """Arrays of Fractions or integers as numbers of an arithmetic."""
    with numbers.working():
        return {name: numbers.convert(array) for name, array in arrays.items()}


def rationals(numbers: Arithmetic, array: Array) -> list[Fraction]:
    """The entries of an array as Fractions, row by row."""
    return [numbers.rational(value) for value in array.ravel()]


def encloses(ball: Any, value: Fraction) -> bool:
    """Whether an Arb ball contains `value`, in rational arithmetic.

    `ball.contains(fmpq)` would first round the rational to a ball of the global precision.
    """
    middle, radius = (
        Fraction(int(mantissa)) * Fraction(2) ** int(exponent)
        for mantissa, exponent in (ball.mid().man_exp(), ball.rad().man_exp())
    )
    return abs(value - middle) <= radius


def bits(array: Array) -> list[object]:
    """Something that two arrays share only if they agree bit for bit (NaN included)."""
    if array.dtype != object:
        return [array.shape, array.dtype, array.tobytes()]
    return [array.shape, *(_bits(value) for value in array.ravel())]


def _bits(value: Any) -> object:
    if type(value).__name__ == "arb" and value.is_finite():
        return value.mid().man_exp(), value.rad().man_exp()
    return repr(value)
