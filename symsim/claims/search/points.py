"""Rational points of a domain, simple ones first.

Each variable has a list of candidates (`candidates`); the cost of a point is the sum of the
places of its values in these lists. Points come by cost, then, where points are left in the
budget, at random: large values too, and numbers from between the bounds.

The relations of a domain are used, each for its last symbol: an equation gives that symbol's
rational values, an inequality linear in it gives a bound; any other one filters.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from heapq import heappop, heappush
from itertools import count, islice
from random import Random

from flint import fmpq, fmpq_poly, fmpz

from symsim.claims.domain import Domain, Relation, free_symbols
from symsim.claims.search.candidates import Choices, Edge, tighter
from symsim.claims.search.certified import PRECISIONS, Check, Compiled, Operation, Values, rational
from symsim.terms import Kind

SEED = 20250614
"""Of the points that are drawn at random."""

PATIENCE = 200
"""Evaluations left undecided after which only the lowest precision is tried."""

_BY_COST = Fraction(7, 10)
"""Share of a budget that is spent by cost, the rest at random."""

_VISITS = 12
"""Beginnings of points looked at for each point of a budget: hypotheses may leave few points."""

_TRIES = 2
"""Points drawn at random for each point of a budget."""

_REMEMBERED = 20_000
"""Lists of candidates that are kept for each variable."""


# -- a relation as a condition on its last symbol -------------------------------------------


class _NotRationalError(ArithmeticError):
    """The relation is not a quotient of polynomials in the symbol."""


_Quotient = tuple[fmpq_poly, fmpq_poly]


def _over(left: _Quotient, right: _Quotient) -> _Quotient:
    if not right[0]:
        raise _NotRationalError
    return left[0] * right[1], left[1] * right[0]


def _irrational(*_: _Quotient) -> _Quotient:
    raise _NotRationalError


_QUOTIENTS: Mapping[Kind, Operation] = {
    Kind.ADD: lambda a, b: (a[0] * b[1] + b[0] * a[1], a[1] * b[1]),
    Kind.SUB: lambda a, b: (a[0] * b[1] - b[0] * a[1], a[1] * b[1]),
    Kind.MUL: lambda a, b: (a[0] * b[0], a[1] * b[1]),
    Kind.DOT: lambda a, b: (a[0] * b[0], a[1] * b[1]),
    Kind.NEG: lambda a, _: (-a[0], a[1]),
    Kind.DIV: _over,
    Kind.EXP: _irrational,
    Kind.LOG: _irrational,
    Kind.MAX: _irrational,
}


def _constant(value: Fraction | fmpq) -> _Quotient:
    number = rational(value) if isinstance(value, Fraction) else value
    return fmpq_poly([number]), fmpq_poly([1])


@dataclass(frozen=True)
class _Restriction:
    """What a relation leaves of its last symbol when all others are given."""

    roots: tuple[fmpq, ...] | None = None
    lower: Edge | None = None
    upper: Edge | None = None


class _Condition:
    """A relation of a domain, read as a condition on the last of its symbols."""

    def __init__(self, relation: Relation, names: Sequence[str]) -> None:
        used = free_symbols(relation.left, relation.right)
        self.last = max(names.index(name) for name in used)
        self.check = Check(relation, names[: self.last + 1])
        self.others = [names.index(name) for name in used if name != names[self.last]]
        self._comparison = relation.comparison
        self._sides = Compiled(
            (relation.left, relation.right), names[: self.last + 1], _QUOTIENTS, _constant
        )

    def restriction(self, values: Values) -> _Restriction | None:
        """What is left of the symbol; None where the relation can only be checked."""
        if self._comparison == "!=" or not self.check.sides.rational:
            return None
        symbol = fmpq_poly([0, 1]), fmpq_poly([1])
        try:
            (a, b), (c, d) = self._sides([*map(_constant, values), symbol])
        except _NotRationalError:
            return None
        numerator, denominator = a * d - c * b, b * d
        if not numerator and denominator.degree() == 0:
            return _Restriction(roots=() if self._comparison == "<" else None)
        if not numerator:
            return None
        if self._comparison == "=":
            return _Restriction(roots=_rational_roots(numerator))
        if denominator.degree() != 0 or numerator.degree() != 1:
            return None
        constant, slope = (coefficient / denominator[0] for coefficient in numerator.coeffs())
        edge = Edge(-constant / slope, self._comparison == "<")
        return _Restriction(upper=edge) if slope > 0 else _Restriction(lower=edge)


def _rational_roots(polynomial: fmpq_poly) -> tuple[fmpq, ...]:
    _, factors = polynomial.factor()
    linear = (factor.coeffs() for factor, _ in factors if factor.degree() == 1)
    return tuple(-constant / slope for constant, slope in linear)


# -- the points of a domain -----------------------------------------------------------------


class Points:
    """The points of a domain. After an iteration, `complete` says that it left none out.

    Equations and linear bounds hold by the choice of the values, other conditions are
    certified; `contains` certifies all of them from the start.
    """

    def __init__(self, domain: Domain) -> None:
        self.names = domain.names
        self.complete = False
        self._undecided = 0
        self._integer = [variable.integer for variable in domain.variables]
        self._checks = [Check(relation, self.names) for relation in domain.relations]
        general = [check for check in self._checks if free_symbols(*check.terms)]
        self._constant = [check for check in self._checks if check not in general]
        conditions = [_Condition(check.relation, self.names) for check in general]
        self._conditions = [
            [condition for condition in conditions if condition.last == k]
            for k in range(len(self.names))
        ]
        self._others = [
            sorted({i for condition in here for i in condition.others}) for here in self._conditions
        ]
        self._known: list[dict[tuple[fmpz, ...], Choices]] = [{} for _ in self.names]

    def contains(self, values: Values) -> bool:
        """Whether all integrality conditions, bounds and hypotheses certifiably hold."""
        whole = all(v.q == 1 for v, integer in zip(values, self._integer, strict=True) if integer)
        return whole and all(check(values) is True for check in self._checks)

    def __call__(self, budget: int) -> Iterator[tuple[fmpq, ...]]:
        """At most `budget` points, by cost and then at random."""
        self.complete, self._undecided = True, 0
        if not self._all_hold(self._constant, [fmpq(0)] * len(self.names)):
            return
        by_cost = int(budget * _BY_COST)
        found = 0
        for point in islice(self._by_cost(_VISITS * by_cost), by_cost):
            found += 1
            yield point
        # A budget that is spent cuts the iteration off, wherever it stands.
        if found == by_cost:
            self.complete = False
        if not self.complete:
            yield from islice(self._at_random(_TRIES * budget), budget - found)

    def choices(self, values: Values) -> Choices:
        """The candidates for the variable that comes after `values`."""
        k = len(values)
        # An fmpq hashes slowly, as Fractions do, its two integers fast.
        key = tuple([part for i in self._others[k] for part in (values[i].p, values[i].q)])
        known = self._known[k].get(key)
        if known is None:
            if len(self._known[k]) >= _REMEMBERED:
                self._known[k].clear()
            known = self._known[k][key] = self._choices(k, values)
        return known

    def _choices(self, k: int, values: Values) -> Choices:
        lower = upper = roots = None
        filters = []
        for condition in self._conditions[k]:
            restriction = condition.restriction(values)
            if restriction is None:
                filters.append(condition.check)
                continue
            lower = tighter(lower, restriction.lower, 1)
            upper = tighter(upper, restriction.upper, -1)
            if restriction.roots is not None:
                roots = [r for r in restriction.roots if roots is None or r in roots]
        given = None if roots is None else tuple(roots)
        dependent = bool(self._others[k])
        return Choices(self._integer[k], lower, upper, given, dependent, tuple(filters))

    def rebuilt(self, values: Values, k: int, value: fmpq) -> tuple[fmpq, ...] | None:
        """The point with `value` at place k, later values kept where they still can be."""
        built = (*values[:k], value)
        for old in values[k + 1 :]:
            choices = self.choices(built)
            if not choices.values:
                return None
            built = (*built, old if choices.allows(old) else choices.values[0])
        return built if self.contains(built) else None

    def _all_hold(self, checks: Sequence[Check], values: Values) -> bool:
        for check in checks:
            patient = self._undecided < PATIENCE
            answer = check(values, PRECISIONS if patient else PRECISIONS[:1])
            if answer is not True:
                if answer is not False:
                    self._undecided += 1
                    self.complete = False
                return False
        return True

    def _by_cost(self, visits: int) -> Iterator[tuple[fmpq, ...]]:
        """Points by cost, best beginning first; every beginning of a point is seen once.

        A beginning is followed by itself with its last value replaced by the next candidate,
        which costs one more, and by itself with the first candidate of the next variable.
        """
        if not self.names:
            yield ()
            return
        order = count(0, -1)
        waiting: list[tuple[int, int, tuple[fmpq, ...], int]] = [(0, next(order), (), 0)]
        for _ in range(visits):
            if not waiting:
                return
            cost, _, before, rank = heappop(waiting)
            choices = self.choices(before)
            if not (choices.closed and self._integer[len(before)]):
                self.complete = False
            if rank >= len(choices.values):
                continue
            heappush(waiting, (cost + 1, next(order), before, rank + 1))
            values = (*before, choices.values[rank])
            if choices.filters and not self._all_hold(choices.filters, values):
                continue
            if len(values) == len(self.names):
                yield values
            else:
                heappush(waiting, (cost, next(order), values, 0))
        self.complete = False

    def _at_random(self, tries: int) -> Iterator[tuple[fmpq, ...]]:
        random = Random(SEED)
        for _ in range(tries):
            point = self._drawn(random)
            if point is not None:
                yield point

    def _drawn(self, random: Random) -> tuple[fmpq, ...] | None:
        """A point whose values are large or small together in one draw of four."""
        shared = random.random() if random.random() < 0.25 else None
        values: tuple[fmpq, ...] = ()
        for _ in self._integer:
            choices = self.choices(values)
            value = choices.drawn(random, shared)
            if value is None:
                return None
            values = (*values, value)
            if not self._all_hold(choices.filters, values):
                return None
        return values
