"""Witnesses: points that inhabit a domain, and points at which a claim fails.

Whatever is returned is certified: integrality, bounds and hypotheses hold at the point, and
the relation fails there (or has no value), in rational numbers or Arb balls. That nothing is
found proves nothing, except where a search was exhaustive.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from fractions import Fraction

from flint import arb, fmpq

from symsim.arithmetic.undefined import UNDEFINED, Undefined
from symsim.claims.claim import Formula
from symsim.claims.domain import Domain, Relation
from symsim.claims.search.candidates import size
from symsim.claims.search.certified import (
    PRECISIONS,
    Check,
    Values,
    fraction,
    holds,
    rational,
    undefined_part,
    value,
)
from symsim.claims.search.points import PATIENCE, Points
from symsim.claims.verdict import Witness

__all__ = [
    "POINTS",
    "Failure",
    "Search",
    "counterexample",
    "failure_at",
    "holds",
    "inhabitant",
    "search",
    "value",
]

POINTS = 20_000
"""Points at which a claim is evaluated before a search gives up."""

_SIMPLIFYING = 2_000
"""Points tried to make a counterexample simpler."""

_DIGITS = 15


@dataclass(frozen=True)
class Failure:
    """A point of a claim's domain at which its relation certifiably fails.

    undefined: the relation has no value there (a divisor is zero, a logarithm's argument not
    positive) where it claims to have one. lines: the point, and the two sides' values or what
    has no value.
    """

    point: Witness
    lines: tuple[str, ...]
    undefined: bool = False


@dataclass(frozen=True)
class Search:
    """What a search for a counterexample found.

    points: how many points of the domain were looked at; decided: at how many of them the
    relation certifiably holds; exhaustive: whether the domain has no other points.
    """

    failure: Failure | None
    points: int
    decided: int
    exhaustive: bool

    @property
    def proved(self) -> bool:
        """Whether the relation was seen to hold at every point of a domain that has some."""
        return self.exhaustive and 0 < self.points == self.decided


def inhabitant(domain: Domain, budget: int = POINTS) -> Witness | None:
    """The first point, simple ones first, that certifiably lies in the domain.

    None says that none was found among rational points, not that there is none.
    """
    points = Points(domain)
    for values in points(budget):
        if points.contains(values):
            return _named(domain, values)
    return None


def counterexample(claim: Formula, budget: int = POINTS) -> Failure | None:
    """A simple point of the domain at which the claim certifiably fails; None if none found."""
    return search(claim, budget).failure


def search(claim: Formula, budget: int = POINTS) -> Search:
    """Evaluates the claim at `budget` points of its domain, up to the first failure.

    A failure is then simplified: no single value of it has a smaller candidate that fails too.
    """
    points, check = Points(claim.domain), Check(claim.relation, claim.domain.names)
    looked = decided = undecided = 0
    for values in points(budget):
        answer = check(values, PRECISIONS if undecided < PATIENCE else PRECISIONS[:1])
        if _fails(answer) and points.contains(values):
            failure = _simple_failure(claim, points, check, values)
            return Search(failure, looked + 1, decided, False)
        looked += 1
        decided += answer is True
        undecided += answer is None
    return Search(None, looked, decided, points.complete)


def failure_at(claim: Formula, point: Mapping[str, Fraction | int]) -> Failure | None:
    """The failure of a claim at a given point, if it lies in the domain and fails there."""
    values = [rational(point[name]) for name in claim.domain.names]
    answer = Check(claim.relation, claim.domain.names)(values)
    if not (_fails(answer) and Points(claim.domain).contains(values)):
        return None
    named = _named(claim.domain, values)
    what = _no_value if answer is UNDEFINED else _sides
    return Failure(named, (_shown(named), what(claim.relation, named)), answer is UNDEFINED)


def _simple_failure(claim: Formula, points: Points, check: Check, values: Values) -> Failure | None:
    answer = check(values)
    simplest = _simplified(points, values, lambda simpler: check(simpler) is answer)
    return failure_at(claim, _named(claim.domain, simplest))


def _fails(answer: bool | Undefined | None) -> bool:
    return answer is False or answer is UNDEFINED


def _named(domain: Domain, values: Values) -> dict[str, Fraction]:
    return dict(zip(domain.names, map(fraction, values), strict=True))


# -- what is shown --------------------------------------------------------------------------


def _shown(point: Witness) -> str:
    values = ", ".join(f"{name} = {number}" for name, number in point.items())
    return f"at {values}" if values else "without symbols"


def _sides(relation: Relation, point: Witness) -> str:
    left, right = (_written(value(side, point)) for side in (relation.left, relation.right))
    return f"left = {left}, right = {right}"


def _written(number: Fraction | arb | Undefined | None) -> str:
    return str(number.str(_DIGITS)) if isinstance(number, arb) else str(number)


def _no_value(relation: Relation, point: Witness) -> str:
    return f"undefined: {undefined_part(relation, point)}"


# -- simplification -------------------------------------------------------------------------


def _simplified(points: Points, values: Values, fails: Callable[[Values], bool]) -> Values:
    """A failing point from which no single replacement by a simpler value fails too."""
    tries = iter(range(_SIMPLIFYING))
    unchanged = k = 0
    while unchanged < len(values):
        simpler = _first_failing(_simpler_points(points, values, k), fails, tries)
        values = values if simpler is None else simpler
        unchanged = unchanged + 1 if simpler is None else 0
        k = (k + 1) % len(values)
    return values


def _first_failing(
    candidates: Iterator[Values], fails: Callable[[Values], bool], tries: Iterator[int]
) -> Values | None:
    return next(
        (simpler for simpler, _ in zip(candidates, tries, strict=False) if fails(simpler)), None
    )


def _simpler_points(points: Points, values: Values, k: int) -> Iterator[Values]:
    """Points with a simpler value at place k, others as they are where they can be."""
    total = sum(map(size, values))
    for new in _simpler_values(points, values, k, values[k]):
        built = points.rebuilt(values, k, new)
        if built is not None and sum(map(size, built)) < total:
            yield built


def _simpler_values(points: Points, values: Values, k: int, old: fmpq) -> Iterator[fmpq]:
    """Smaller candidates, then integers towards 0, halving the distance from below."""
    choices = points.choices(values[:k])
    yield from (value for value in choices.values if size(value) < size(old))
    sign = -1 if old < 0 else 1
    whole = abs(int(old.p)) // int(old.q)
    if old.q != 1 and choices.allows(fmpq(sign * whole)):
        yield fmpq(sign * whole)
    step = whole // 2
    while step:
        if choices.allows(fmpq(sign * (whole - step))):
            yield fmpq(sign * (whole - step))
        step //= 2
