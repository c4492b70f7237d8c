"""Candidates for a variable between its bounds, simple ones first.

Small numbers, powers of two and ten and their reciprocals, the bounds and what is one of these
away from them; all integers where there are few. They are ordered by size, which is twice
|numerator| + denominator - 1, and 1 more for a sign: 0, 1, -1, 2, 1/2, -2, -1/2, 3, 1/3, ...
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property, lru_cache
from itertools import groupby
from math import gcd
from random import Random
from typing import NamedTuple

from flint import fmpq

from symsim.claims.search.certified import Check

_LONGEST_LIST = 400
"""Integers between two bounds that are all listed."""

_NEAR = 12
"""Integers listed in each direction from 0 and from a bound."""

_SMALL_FRACTIONS = tuple(
    fmpq(p, n - p) for n in range(3, 8) for p in range(1, n) if gcd(p, n - p) == 1
)
_POWERS = {fmpq(2) ** k for k in (*range(4, 11), 16, 20, 24, 30, 40, 53, 54, 64)}
_ROUND = tuple(sorted(_POWERS | {fmpq(10) ** k for k in (2, 3, 4, 5, 6, 9, 12, 18)}))
_SHARES = tuple(fmpq(p, q) for q in (2, 4, 10, 100, 1000) for p in (1, q - 1))

# Where the bounds change with other symbols the lists are many, and shorter.
_INTEGERS = (*map(fmpq, range(_NEAR + 1)), *_ROUND)
_FEW_INTEGERS = tuple(map(fmpq, (0, 1, 2, 3, 4, 5, 10, 100, 1000, 2**20)))
_STEPS = (*_INTEGERS, *_SMALL_FRACTIONS, *(1 / value for value in _ROUND))
_FEW_STEPS = (*_FEW_INTEGERS, *(fmpq(1, n) for n in (2, 3, 10, 100, 1000)))


class Edge(NamedTuple):
    """An end of an interval; an open one does not belong to it."""

    at: fmpq
    open: bool


def tighter(one: Edge | None, other: Edge | None, sign: int) -> Edge | None:
    """The tighter of two lower (sign 1) or upper (sign -1) edges."""
    if one is None or other is None:
        return one or other
    return max(one, other, key=lambda edge: (sign * edge.at, edge.open))


def size(value: fmpq) -> int:
    """What a number costs to read: twice |numerator| + denominator - 1, and 1 for a sign."""
    return 2 * (abs(int(value.p)) + int(value.q) - 1) + (value < 0)


@dataclass(frozen=True)
class Choices:
    """What a variable may be once the variables before it are given.

    roots: the only values left by an equation; dependent: the edges change with other symbols;
    filters: the conditions that a value has yet to meet.
    """

    integer: bool
    lower: Edge | None = None
    upper: Edge | None = None
    roots: tuple[fmpq, ...] | None = None
    dependent: bool = False
    filters: tuple[Check, ...] = ()

    def allows(self, value: fmpq) -> bool:
        """Whether a number meets everything but the filters."""
        lower, upper = self.lower, self.upper
        above = lower is None or value > lower.at or (value == lower.at and not lower.open)
        below = upper is None or value < upper.at or (value == upper.at and not upper.open)
        listed = self.roots is None or value in self.roots
        return above and below and listed and (not self.integer or bool(value.q == 1))

    @cached_property
    def closed(self) -> bool:
        """Whether `values` are all the rational numbers that are allowed."""
        return self.roots is not None or (
            self.integer
            and self.lower is not None
            and self.upper is not None
            and _floor(self.upper.at) - _ceiling(self.lower.at) < _LONGEST_LIST
        )

    @cached_property
    def values(self) -> tuple[fmpq, ...]:
        """The candidates in order, filters not applied."""
        if self.roots is not None:
            return _ordered(self, iter(self.roots))
        if self.dependent:
            return _ordered(self, _listed(self))
        return _candidates(self.integer, self.lower, self.upper)

    def drawn(self, random: Random, shared: float | None) -> fmpq | None:
        """A value at random; at the place `shared` of the steps from an edge, if given."""
        share = random.random() if shared is None else shared
        if self.closed:
            return self.values[int(share * len(self.values))] if self.values else None
        step = _STEPS_IN_ORDER[int(share * len(_STEPS_IN_ORDER))]
        if shared is None and random.random() < 0.3:
            step = fmpq(random.randrange(1, 1000), 1000) * 10 ** random.randrange(6)
        for value in (self._away(step, random), self._inside(random)):
            whole = fmpq(_floor(value)) if self.integer else value
            if self.allows(whole):
                return whole
        return None

    def _away(self, step: fmpq, random: Random) -> fmpq:
        """The number a step away from an edge, or from 0."""
        starts = [(fmpq(0), random.choice((1, -1)))]
        if self.lower is not None:
            starts.append((self.lower.at, 1))
        if self.upper is not None:
            starts.append((self.upper.at, -1))
        start, sign = random.choice(starts)
        return start + sign * step

    def _inside(self, random: Random) -> fmpq:
        """A number between the edges, or a little past the only one."""
        share = fmpq(random.randrange(1, 1000), 1000)
        if self.lower is None:
            return -share if self.upper is None else self.upper.at - share
        width = fmpq(1) if self.upper is None else self.upper.at - self.lower.at
        return self.lower.at + share * (width + self.integer)


@lru_cache(maxsize=2_000)
def _candidates(integer: bool, lower: Edge | None, upper: Edge | None) -> tuple[fmpq, ...]:
    choices = Choices(integer, lower, upper)
    return _ordered(choices, _listed(choices))


def _ordered(choices: Choices, values: Iterator[fmpq]) -> tuple[fmpq, ...]:
    inside = [value for value in values if choices.allows(value)]
    inside.sort(key=_order)
    # Equal values are neighbours now; a set would spend more time on their hashes.
    return tuple(value for value, _ in groupby(inside))


def _order(value: fmpq) -> tuple[int, int]:
    return size(value), int(value.q)


def _listed(choices: Choices) -> Iterator[fmpq]:
    """The candidates in any order, perhaps repeated, some of them outside."""
    lower, upper = choices.lower, choices.upper
    if choices.closed:
        assert lower is not None
        assert upper is not None
        yield from map(fmpq, range(_ceiling(lower.at), _floor(upper.at) + 1))
        return
    steps = _steps(choices)
    yield from steps
    yield from (-step for step in steps)
    if lower is not None:
        first = fmpq(_ceiling(lower.at)) if choices.integer else lower.at
        yield from (first + step for step in steps)
    if upper is not None:
        last = fmpq(_floor(upper.at)) if choices.integer else upper.at
        yield from (last - step for step in steps)
    if lower is not None and upper is not None:
        yield from (lower.at + share * (upper.at - lower.at) for share in _SHARES)


def _steps(choices: Choices) -> tuple[fmpq, ...]:
    if choices.integer:
        return _FEW_INTEGERS if choices.dependent else _INTEGERS
    return _FEW_STEPS if choices.dependent else _STEPS


def _floor(value: fmpq) -> int:
    return int(value.p // value.q)


def _ceiling(value: fmpq) -> int:
    return -_floor(-value)


_STEPS_IN_ORDER = tuple(sorted(_STEPS, key=_order))
