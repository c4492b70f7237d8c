"""Signs of polynomials in generators, and domains as images of nonnegative parameters.

A polynomial whose coefficients are all positive, in generators that are nowhere negative, is
nowhere negative. To bring a claim into such a form, each variable is written through its bounds:
x ≥ l as x = l + x' with x' ≥ 0; x ≤ u as x = u - x'; l ≤ x < u as x = (l + u x')/(1 + x'), and
x = u, where u is attained, as a case of its own. Any selection of the domain's relations may be
used in this way, since leaving one out only enlarges the domain; integers are relaxed to reals.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import combinations, islice, product
from typing import Any, NamedTuple

import numpy as np

from symsim.arithmetic.base import Array, NumberError
from symsim.arithmetic.generators import Generator, Kind, Monomial, Polynomial
from symsim.arithmetic.quotient import Quotient, excerpt
from symsim.arithmetic.symbolic import Symbolic
from symsim.arithmetic.undefined import Undefined
from symsim.claims.domain import Domain, Relation, Variable, free_symbols
from symsim.terms import Kind as TermKind
from symsim.terms import Term, evaluate, postorder

PLANS = 200
"""Selections of relations that are tried on a claim before it is left undecided."""

_LARGEST_FACTORED = 200
_HIGHEST_FACTORED = 30
_MOST_DEVIATIONS = 3
_CHOICES = 5000


class UnfitError(ValueError):
    """A selection of relations does not make the domain an image of parameters."""


# -- signs ----------------------------------------------------------------------------------


class Signs:
    """Signs of polynomials in the generators of an arithmetic.

    A generator is > 0 if it is flagged positive (exponentials are), ≥ 0 if its index is in
    `nonnegative`, and otherwise any real number. Every answer holds for all such values at which
    the polynomials in `given` are ≥ 0, or > 0 where they come with True.
    """

    def __init__(self, numbers: Symbolic) -> None:
        self.generators = numbers.generators
        self.nonnegative: set[int] = set()
        self.given: list[tuple[Polynomial, bool]] = []

    def strict_sign(self, polynomial: Polynomial) -> int:
        """1 if `polynomial` > 0 everywhere, -1 if < 0 everywhere, 0 if that is not seen."""
        if self.holds(polynomial, strict=True):
            return 1
        return -1 if self.holds(-polynomial, strict=True) else 0

    def holds(self, polynomial: Polynomial, *, strict: bool) -> bool:
        """Whether `polynomial` is seen to be ≥ 0, or > 0 if `strict`, everywhere."""
        return self._plain(polynomial, strict) or self._by_factors(polynomial, strict)

    def _plain(self, polynomial: Polynomial, strict: bool) -> bool:
        return (
            self._manifest(polynomial, strict)
            or self._by_square(polynomial, strict)
            or any(
                (strictly or not strict) and _is_multiple(polynomial, self.generators.lifted(known))
                for known, strictly in self.given
            )
        )

    def _manifest(self, polynomial: Polynomial, strict: bool) -> bool:
        """Positive coefficients on monomials ≥ 0; for > 0, one monomial is > 0."""
        terms = self.generators.terms(polynomial)
        if any(coefficient < 0 or not self._nonnegative(m) for m, coefficient in terms):
            return False
        return not strict or any(self._positive(monomial) for monomial, _ in terms)

    def _nonnegative(self, monomial: Monomial) -> bool:
        return all(
            exponent % 2 == 0 or index in self.nonnegative or self.generators.known[index].positive
            for index, exponent in monomial
        )

    def _positive(self, monomial: Monomial) -> bool:
        return all(self.generators.known[index].positive for index, _ in monomial)

    def _by_square(self, polynomial: Polynomial, strict: bool) -> bool:
        """By 2p''p = p'^2 + r, for p of degree 2 in a generator with p'' > 0 and r ≥ 0 (> 0)."""
        for index in self.generators.support(polynomial):
            if polynomial.degrees()[index] != 2:
                continue
            slope = polynomial.derivative(index)
            curvature = slope.derivative(index)
            rest = curvature * polynomial * 2 - slope * slope
            if self._manifest(curvature, strict=True) and self._manifest(rest, strict):
                return True
        return False

    def _by_factors(self, polynomial: Polynomial, strict: bool) -> bool:
        """As a product: even powers are ≥ 0, the other factors have signs of their own."""
        if len(polynomial) > _LARGEST_FACTORED or polynomial.is_zero():
            return False
        if max(polynomial.degrees()) > _HIGHEST_FACTORED:
            return False
        content, factors = polynomial.factor()
        sign = 1 if content > 0 else -1
        for factor, multiplicity in factors:
            if multiplicity % 2 == 0 and not strict:
                continue
            if self._plain(factor, strict):
                continue
            if not self._plain(-factor, strict):
                return False
            sign *= (-1) ** multiplicity
        return sign == 1


def _is_multiple(polynomial: Polynomial, known: Polynomial) -> bool:
    """Whether `polynomial` is a positive multiple of `known`, neither of them zero."""
    if polynomial.is_zero() or known.is_zero():
        return False
    own, other = polynomial.leading_coefficient(), known.leading_coefficient()
    return bool(own * other > 0 and polynomial * other == known * own)


# -- selections of relations ----------------------------------------------------------------

Selection = tuple[tuple[str, tuple[Relation, ...]], ...]
"""Variables in the order in which they are written out, each with the relations it uses."""


def selections(relation: Relation, domain: Domain) -> Iterator[Selection]:
    """At most PLANS selections for a claim `relation`, those close to declared bounds first."""
    usable = [sharpened(given, domain) for given in domain.relations if given.comparison != "!="]
    names = _connected(relation, usable)
    variables = [variable for variable in domain.variables if variable.name in names]
    options = [_options(variable, usable, domain) for variable in variables]
    ordered = (
        _ordered({v.name: used for v, used in zip(variables, chosen, strict=True)})
        for chosen in islice(_choices(options), _CHOICES)
    )
    return islice((selection for selection in ordered if selection is not None), PLANS)


_Used = tuple[Relation, ...]


def _choices(options: Sequence[Sequence[_Used]]) -> Iterator[tuple[_Used, ...]]:
    """One option a variable: the first of each, then with one other choice, then with more."""
    for deviations in range(min(_MOST_DEVIATIONS, len(options)) + 1):
        for changed in combinations(range(len(options)), deviations):
            yield from product(
                *(option[1:] if k in changed else option[:1] for k, option in enumerate(options))
            )


def sharpened(relation: Relation, domain: Domain) -> Relation:
    """a < b between integers as a + 1 ≤ b, other relations unchanged."""
    integers = {variable.name for variable in domain.variables if variable.integer}
    if relation.comparison != "<" or not _is_integer(relation, integers):
        return relation
    return Relation(relation.left + 1, "<=", relation.right)


def _is_integer(relation: Relation, integers: set[str]) -> bool:
    """Whether both sides are polynomials over the integers in integer variables."""
    for node in postorder((relation.left, relation.right)):
        match node.kind:
            case TermKind.COLUMN:
                whole = node.payload in integers
            case TermKind.CONSTANT:
                whole = getattr(node.payload, "denominator", 0) == 1
            case kind:
                whole = kind in (TermKind.ADD, TermKind.SUB, TermKind.MUL, TermKind.NEG)
        if not whole:
            return False
    return True


def _symbols(relation: Relation) -> set[str]:
    return set(free_symbols(relation.left, relation.right))


def _connected(relation: Relation, given: Sequence[Relation]) -> set[str]:
    """The symbols of `relation` and all that relations tie to them."""
    names = _symbols(relation)
    while True:
        more = {name for r in given if names & _symbols(r) for name in _symbols(r)} - names
        if not more:
            return names
        names |= more


def _options(
    variable: Variable, usable: Sequence[Relation], domain: Domain
) -> list[tuple[Relation, ...]]:
    """Sets of relations that may give a variable its range; its declared bounds come first."""
    mine = [r for r in usable if variable.name in _symbols(r)]
    bounds = [sharpened(bound, domain) for bound in variable.bounds]
    declared = [r for r in mine if any(_same(r, bound) for bound in bounds)]
    others = [r for r in mine if r not in declared]
    equalities = [r for r in others if r.comparison == "="]
    inequalities = [r for r in others if r.comparison != "="]
    found: list[tuple[Relation, ...]] = [tuple(declared)]
    found += [(r,) for r in equalities]
    found += [(d, r) for r in inequalities for d in declared]
    found += [(r,) for r in inequalities]
    found += [(d,) for d in declared if len(declared) == 2]
    found += list(combinations(inequalities, 2))
    if declared:
        found.append(())
    return found


def _same(left: Relation, right: Relation) -> bool:
    same_sides = left.left is right.left and left.right is right.right
    return same_sides and left.comparison == right.comparison


def _ordered(used: Mapping[str, tuple[Relation, ...]]) -> Selection | None:
    """Each variable after those its relations name, or None if they go in a circle."""
    waiting = {
        name: {other for r in relations for other in _symbols(r)} - {name}
        for name, relations in used.items()
    }
    order: list[str] = []
    while waiting:
        ready = [name for name, needs in waiting.items() if needs <= set(order)]
        if not ready:
            return None
        order += ready
        waiting = {name: needs for name, needs in waiting.items() if name not in ready}
    return tuple((name, used[name]) for name in order)


# -- parameters -----------------------------------------------------------------------------


class Case(NamedTuple):
    """Values of the variables as numbers in the parameters, and how they were written."""

    columns: Mapping[str, Array]
    lines: tuple[str, ...]


class _Bound(NamedTuple):
    side: int  # 1 lower, -1 upper, 0 the value itself
    value: Quotient
    attained: bool


class Parameters:
    """The variables of a domain as functions of parameters, in one symbolic arithmetic.

    Every point of the domain lies in one of the `cases`, for some values of the parameters that
    `signs` admits. Raises UnfitError where a chosen relation is not linear in its variable with
    a coefficient and denominator of one strict sign.
    """

    def __init__(self, exponent_denominator: int) -> None:
        self.numbers = Symbolic(exponent_denominator)
        self.signs = Signs(self.numbers)
        self._made: dict[str, Array] = {}

    def cases(self, selection: Selection) -> Iterator[Case]:
        """Cases that cover the domain."""
        return self._cases(selection, Case({}, ()))

    def _cases(self, selection: Selection, case: Case) -> Iterator[Case]:
        if not selection:
            yield case
            return
        (name, relations), *rest = selection
        for value in self._values(name, relations, case.columns):
            columns = {**case.columns, name: value}
            lines = (*case.lines, f"{name} = {excerpt(value[()])}") if relations else case.lines
            yield from self._cases(tuple(rest), Case(columns, lines))

    def value(self, term: Term, columns: Mapping[str, Array]) -> Quotient:
        """`term` in lowest terms; UnfitError where it divides by zero identically."""
        (values,) = evaluate((term,), columns, self.numbers)
        value: Any = values.ravel()[0]
        if isinstance(value, Undefined):
            raise UnfitError(f"{term!r} divides by zero")
        value.reduce()
        assert isinstance(value, Quotient)
        return value

    def learn(self, relations: Sequence[Relation], columns: Mapping[str, Array]) -> None:
        """Let `signs` use, besides the ranges of the parameters, what `relations` say of them."""
        for relation in relations:
            if relation.comparison not in ("<=", "<") or not _symbols(relation) <= set(columns):
                continue
            try:
                gap = self.value(relation.right - relation.left, columns)
            except (NumberError, UnfitError):
                continue
            if below := self.signs.strict_sign(gap.den):
                self.signs.given.append((gap.num * below, relation.comparison == "<"))

    def _symbol(self, name: str, *, positive: bool = False) -> Array:
        if name not in self._made:
            self._made[name] = self.numbers.symbols(name, (), positive=positive)
        return self._made[name]

    def _parameter(self, name: str, attained: bool) -> Array:
        """x' ≥ 0, or x° > 0 where the end of the range is not attained."""
        if not attained:
            return self._symbol(f"{name}°", positive=True)
        value = self._symbol(f"{name}'")
        self.signs.nonnegative.add(self._index(f"{name}'"))
        return value

    def _index(self, name: str) -> int:
        return self.numbers.generators.index(Generator(Kind.SYMBOL, name, positive=False))

    def _values(
        self, name: str, relations: Sequence[Relation], columns: Mapping[str, Array]
    ) -> list[Array]:
        """Functions of the parameters that together take every value `relations` allow."""
        bounds = [self._bound(name, relation, columns) for relation in relations]
        sides = {bound.side: bound for bound in bounds}
        if len(sides) < len(bounds) or (0 in sides and len(sides) > 1):
            raise UnfitError(f"two bounds of {name} from the same side")
        if 0 in sides:
            return [_array(sides[0].value)]
        if not sides:
            return [self._symbol(name)]
        if len(sides) == 1:
            ((side, bound),) = sides.items()
            parameter = self._parameter(name, bound.attained)
            step = self.numbers.add if side == 1 else self.numbers.sub
            return [step(_array(bound.value), parameter)]
        return self._between(name, sides[1], sides[-1])

    def _between(self, name: str, low: _Bound, high: _Bound) -> list[Array]:
        """x' = (x - l)/(u - x) is ≥ 0 and has x = (l + u x')/(1 + x'), for l ≤ x < u."""
        n = self.numbers
        lower, upper = _array(low.value), _array(high.value)
        parameter = self._parameter(name, low.attained)
        one = n.integers(np.array(1))
        inside = n.div(n.add(lower, n.mul(upper, parameter)), n.add(one, parameter))
        return [inside, upper] if high.attained else [inside]

    def _bound(self, name: str, relation: Relation, columns: Mapping[str, Array]) -> _Bound:
        """The bound on a variable that a relation linear in it gives."""
        unknown = self._symbol(name)
        index = self._index(name)
        given = self.value(relation.right - relation.left, {**columns, name: unknown})
        generators = self.numbers.generators
        slope = given.num.derivative(index)
        rest = given.num - slope * generators.product([(index, 1)])
        for part in (slope, rest, given.den):
            if any(_depends(self.numbers, k, index) for k in generators.support(part)):
                raise UnfitError(f"{relation} is not linear in {name}")
        side = self.signs.strict_sign(slope) * self.signs.strict_sign(given.den)
        if side == 0:
            raise UnfitError(f"{relation}: the coefficient of {name} has no clear sign")
        value = Quotient(generators, -rest, slope, opaque=given.opaque, reduced=False)
        value.reduce()
        return _Bound(0 if relation.comparison == "=" else side, value, relation.comparison == "<=")


def _array(value: Quotient) -> Array:
    array = np.empty((), dtype=object)
    array[()] = value
    return array


def _depends(numbers: Symbolic, index: int, on: int) -> bool:
    """Whether the generator `index` is the generator `on`, or made from it."""
    generator = numbers.generators.known[index]
    match generator.kind:
        case Kind.SYMBOL:
            return index == on
        case Kind.EXPONENTIAL:
            monomials: list[Monomial] = [generator.key]
        case Kind.OPAQUE_EXPONENTIAL:
            monomials = [monomial for terms in generator.key for monomial, _ in terms]
        case Kind.LOGARITHM:
            monomials = [monomial for monomial, _ in generator.key]
    return any(_depends(numbers, k, on) for monomial in monomials for k, _ in monomial)
