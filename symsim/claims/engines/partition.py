"""Partition claims: decided for all sizes by z3 and by cvc5, and enumerated at small sizes.

A claim splits into conditions, each a formula over the integers:
- disjoint: two cells that hold the same x of the set have the same index;
- covering: `choice` lies in the range of the index and its cell holds x, where q = ⌊n/m⌋ is an
  integer with q·m ≤ n < (q + 1)·m, and m ≥ 1 is a condition of its own, decided before;
- inside: the cells hold nothing but the set.
That the set is not always empty is shown by enumeration, without which nothing is proved.

Products are what solvers find hard; they are given instances of a law of the integers,
a > b and z ≥ 0 imply a·z ≥ (b + 1)·z, for the factors that the condition multiplies.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import reduce
from math import ceil, floor
from operator import mul

from symsim.claims.claim import Formula, Partition
from symsim.claims.domain import (
    Domain,
    Relation,
    Variable,
    at_most,
    free_symbols,
    integer,
    less,
)
from symsim.claims.engines.exponents import Monomial, NotApplicableError, Polynomials
from symsim.claims.engines.rational import ExactRelation, ExactTerm
from symsim.claims.engines.smt import ALL_SIZES, Solver, ask
from symsim.claims.engines.smt_sessions import Cvc5Session, Z3Session
from symsim.claims.engines.smt_translation import Clause
from symsim.claims.verdict import Evidence, Kind
from symsim.terms import Kind as TermKind
from symsim.terms import Term, column, constant, postorder

LARGEST = 12
"""Enumeration tries integers of at most this absolute value, or fewer (EVALUATIONS)."""

EVALUATIONS = 150_000
"""Relations that one enumeration evaluates, about half a second."""

RANGE = 10_000
"""Cells that are looked through at one point."""

SOLVERS: Mapping[str, Solver] = {"z3": Z3Session, "cvc5": Cvc5Session}

_ENUMERATION = "enumeration"
_INTEGRAL = frozenset(
    {TermKind.COLUMN, TermKind.CONSTANT, TermKind.ADD, TermKind.SUB, TermKind.MUL}
    | {TermKind.NEG, TermKind.MAX}
)

_Point = dict[str, int]


def decide_partition(claim: Partition) -> tuple[Evidence, ...]:
    """Evidence by enumeration (SAMPLED, never a proof: it names its sizes), by z3 and by cvc5.

    REFUTED comes with a witness certified by looking through all cells: the smallest in the
    sum of absolute values, then in the order of the symbols, where enumeration finds it.
    Raises DomainError for a symbol that is not declared, or declared twice.
    """
    conditions = _conditions(claim)
    if (unfit := _unfit(claim)) is not None:
        return (Evidence("partition", Kind.UNDECIDED, "", (unfit,)),)
    cells = _Cells(claim)
    enumerated, inhabited = _enumeration(claim, cells)
    if not inhabited:
        line = f"empty domain: no parameters up to {LARGEST} make a set with an element"
        return (Evidence(_ENUMERATION, Kind.UNDECIDED, "", (line,)),)
    solved = (_by_solver(name, SOLVERS[name], conditions, cells) for name in SOLVERS)
    return (enumerated, *solved)


def _unfit(claim: Partition) -> str | None:
    """Why a claim is not one over the integers that can be decided here."""
    for variable in (*claim.parameters.variables, claim.element, claim.index):
        if not variable.integer:
            return f"{variable.name} is no integer"
    for name, terms in _terms(claim).items():
        for node in postorder(terms):
            if node.kind not in _INTEGRAL or node.width != 1 or not _is_whole(node.payload):
                return f"{name} is not made of integers by +, −, ·, max: it has {node!r}"
    return None


def _is_whole(payload: object) -> bool:
    return not isinstance(payload, Fraction) or payload.denominator == 1


def _terms(claim: Partition) -> dict[str, tuple[Term, ...]]:
    parameters, element = claim.parameters.relations, (*claim.element.bounds, *claim.whole)
    cells = (*claim.index.bounds, *claim.member)
    return {
        "the domain": _sides(parameters),
        "the set": _sides(element),
        "a cell": _sides(cells),
        "the choice": (claim.choice,),
        "a quotient": tuple(term for quotient in claim.quotients for term in quotient),
    }


def _sides(relations: Sequence[Relation]) -> tuple[Term, ...]:
    return tuple(side for relation in relations for side in (relation.left, relation.right))


# -- conditions -------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class _Condition:
    """One part of the claim: all its formulas must hold."""

    name: str
    formulas: tuple[Formula, ...]


def _conditions(claim: Partition) -> tuple[_Condition, ...]:
    return (*_divisors(claim), _covering(claim), _disjoint(claim), _inside(claim))


def _quotient_domain(claim: Partition, count: int) -> Domain:
    """Parameters and an x of the set, with the first `count` quotients."""
    given = claim.parameters
    quotients = claim.quotients[:count]
    defined = [
        relation for q, n, m in quotients for relation in (at_most(q * m, n), less(n, (q + 1) * m))
    ]
    variables = (*given.variables, claim.element, *(integer(q) for q, _, _ in quotients))
    return Domain(variables, (*given.hypotheses, *claim.whole, *defined))


def _divisors(claim: Partition) -> Iterator[_Condition]:
    for count, (q, _, m) in enumerate(claim.quotients):
        formula = Formula(at_most(1, m), _quotient_domain(claim, count))
        yield _Condition(f"quotient {q.payload}", (formula,))


def _covering(claim: Partition) -> _Condition:
    on = _quotient_domain(claim, len(claim.quotients))
    chosen = {claim.index.name: claim.choice}
    needed = (*claim.index.bounds, *claim.member)
    return _Condition("covering", tuple(Formula(_substituted(r, chosen), on) for r in needed))


def _disjoint(claim: Partition) -> _Condition:
    given, index = claim.parameters, claim.index
    other = _other(claim)
    renamed = {index.name: other.symbol}
    on = Domain(
        (*given.variables, claim.element, index, other),
        (
            *given.hypotheses,
            *claim.whole,
            *claim.member,
            *(_substituted(relation, renamed) for relation in claim.member),
        ),
    )
    return _Condition("disjoint", (Formula(at_most(other.symbol, index.symbol), on),))


def _other(claim: Partition) -> Variable:
    """A second index, with a name of its own."""
    name = f"{claim.index.name}_2"
    while name in (*claim.parameters.names, claim.element.name):
        name += "_2"
    return replace(claim.index, symbol=column(name))


def _inside(claim: Partition) -> _Condition:
    given = claim.parameters
    anywhere = integer(claim.element.symbol)
    on = Domain((*given.variables, anywhere, claim.index), (*given.hypotheses, *claim.member))
    needed = (*claim.element.bounds, *claim.whole)
    return _Condition("inside", tuple(Formula(relation, on) for relation in needed))


def _substituted(relation: Relation, values: Mapping[str, Term]) -> Relation:
    left, right = (_substituted_term(side, values) for side in (relation.left, relation.right))
    return Relation(left, relation.comparison, right)


def _substituted_term(term: Term, values: Mapping[str, Term]) -> Term:
    made: dict[Term, Term] = {}
    for node in postorder((term,)):
        if node.kind is TermKind.COLUMN:
            made[node] = values.get(str(node.payload), node)
        else:
            args = tuple(made[arg] for arg in node.args)
            made[node] = Term(node.kind, args, node.payload, node.width)
    return made[term]


# -- solvers ----------------------------------------------------------------------------------


def _by_solver(
    name: str, solver: Solver, conditions: Sequence[_Condition], cells: _Cells
) -> Evidence:
    lines = []
    for condition in conditions:
        for formula in condition.formulas:
            failed = _not_proved(name, solver, condition.name, formula, cells)
            if failed is not None:
                return failed
        lines.append(
            f"{condition.name}: {' and '.join(str(f.relation) for f in condition.formulas)}"
        )
    return Evidence(name, Kind.PROVED, ALL_SIZES, tuple(lines))


def _not_proved(
    name: str, solver: Solver, condition: str, formula: Formula, cells: _Cells
) -> Evidence | None:
    """None where the solver proves the formula."""
    try:
        outcome = ask(solver, formula, _product_lemmas(formula))
    except NotApplicableError as error:
        return Evidence(name, Kind.UNDECIDED, "", (f"{condition}: {error}",))
    if outcome.answer.status == "unsat":
        return None
    if outcome.answer.status == "unknown":
        line = f"{condition}: {name} gave up: {outcome.answer.reason}"
        return Evidence(name, Kind.UNDECIDED, "", (line,))
    point = {
        variable: floor(value)
        for variable, value in (outcome.candidate or {}).items()
        if variable in cells.names
    }
    flaw = cells.flaw(point) if cells.admits(point) else None
    if flaw is not None:
        return flaw.evidence(name)
    line = (
        f"{condition}: {formula.relation} fails at {_shown(point)}, where no flaw of the cells is"
    )
    return Evidence(name, Kind.UNDECIDED, "", (line,))


def _product_lemmas(formula: Formula) -> list[Clause]:
    """a ≤ b or z < 0 or (b + 1)·z ≤ a·z, for integers a and b that occur multiplied by z.

    One of a and b may be 0; z is a product of the symbols left when a is taken out.
    """
    polynomials = Polynomials()
    factors: dict[Monomial, dict[int, None]] = {}
    for relation in (*formula.domain.relations, formula.relation):
        for monomial in polynomials.of(relation.left - relation.right):
            for atom, _ in monomial:
                rest = _without(monomial, atom)
                if rest and _all_symbols(polynomials, monomial):
                    factors.setdefault(rest, {})[atom] = None
    lemmas: list[Clause] = []
    for rest, atoms in factors.items():
        z = reduce(mul, (polynomials.atoms[a].term ** power for a, power in rest))
        numbers = [constant(0), *(polynomials.atoms[a].term for a in atoms)]
        lemmas += [
            (at_most(a, b), less(z, 0), at_most((b + 1) * z, a * z))
            for a in numbers
            for b in numbers
            if a is not b
        ]
    return lemmas


def _without(monomial: Monomial, atom: int) -> Monomial:
    """The monomial divided by one factor `atom`."""
    return tuple((a, power - (a == atom)) for a, power in monomial if a != atom or power > 1)


def _all_symbols(polynomials: Polynomials, monomial: Monomial) -> bool:
    return all(polynomials.atoms[atom].term.kind is TermKind.COLUMN for atom, _ in monomial)


# -- cells at a point -------------------------------------------------------------------------


@dataclass(frozen=True)
class _Flaw:
    """A point of parameters and element at which the cells are no partition, and why."""

    point: _Point
    why: str

    @property
    def size(self) -> tuple[int, tuple[int, ...]]:
        """What makes one witness smaller than another."""
        values = tuple(self.point.values())
        return sum(map(abs, values)), values

    def evidence(self, engine: str) -> Evidence:
        witness = {name: Fraction(value) for name, value in self.point.items()}
        line = f"at {_shown(self.point)}: {self.why}"
        return Evidence(engine, Kind.REFUTED, _shown(self.point), (line,), witness)


class _Cells:
    """The claim evaluated exactly at integer points of its parameters and its element."""

    def __init__(self, claim: Partition) -> None:
        self._claim = claim
        self.names = (*claim.parameters.names, claim.element.name)
        self._parameters = [ExactRelation(r) for r in claim.parameters.relations]
        self._whole = [ExactRelation(r) for r in (*claim.element.bounds, *claim.whole)]
        self._range = [ExactRelation(r) for r in claim.index.bounds]
        self._member = [ExactRelation(r) for r in claim.member]
        index = claim.index
        self._lower = None if index.lower is None else ExactTerm(index.lower)
        self._upper = None if index.upper is None else ExactTerm(index.upper)
        self.evaluations = 0

    def admits(self, point: _Point) -> bool:
        """Whether the point has all values, with parameters in their domain."""
        return set(point) == set(self.names) and self._all(self._parameters, point)

    def in_set(self, point: _Point) -> bool:
        """Whether the element belongs to the set."""
        return self._all(self._whole, point)

    def flaw(self, point: _Point) -> _Flaw | None:
        """What is wrong at an admitted point; None also where the cells cannot be listed."""
        x, found = f"{self._claim.element.name} = {point[self._claim.element.name]}", self.at(point)
        if found is None:
            return None
        if not self.in_set(point):
            return _Flaw(point, f"{x}, not in the set, lies in cell {found[0]}") if found else None
        if not found:
            return _Flaw(point, f"{x} lies in no cell")
        if len(found) > 1:
            return _Flaw(point, f"{x} lies in cells {', '.join(map(str, found))}")
        return None

    def at(self, point: _Point) -> list[int] | None:
        """The indices of all cells that hold the element, None where there are too many cells."""
        lower = None if self._lower is None else self._lower(point)
        upper = None if self._upper is None else self._upper(point)
        if lower is None or upper is None or upper - lower > RANGE:
            return None
        name = self._claim.index.name
        indices = range(ceil(lower), floor(upper) + 1)
        return [t for t in indices if self._all((*self._range, *self._member), {**point, name: t})]

    def _all(self, relations: Sequence[ExactRelation], point: _Point) -> bool:
        for relation in relations:
            self.evaluations += 1
            if relation(point) is not True:
                return False
        return True


# -- enumeration ------------------------------------------------------------------------------


def _enumeration(claim: Partition, cells: _Cells) -> tuple[Evidence, bool]:
    """What enumeration finds in boxes of growing size, and whether some set has an element."""
    checked, scope, inhabited = 0, "no sizes", False
    smallest: _Flaw | None = None
    for largest in range(1, LARGEST + 1):
        box = _box(claim, cells, largest)
        inhabited = inhabited or box.elements > 0
        smallest = min(filter(None, (smallest, box.flaw)), key=lambda flaw: flaw.size, default=None)
        # A smaller sum needs smaller values: nothing outside the box can be below this one.
        if not box.complete or (smallest is not None and smallest.size[0] <= largest + 1):
            break
        checked, scope = box.elements, f"{', '.join(f'|{n}|' for n in cells.names)} ≤ {largest}"
    if smallest is not None:
        return smallest.evidence(_ENUMERATION), True
    line = f"each of {checked} elements lies in exactly one cell, and nothing else in any: {scope}"
    kind = Kind.SAMPLED if checked else Kind.UNDECIDED
    return Evidence(_ENUMERATION, kind, scope, (line,)), inhabited


@dataclass(frozen=True)
class _Box:
    """What one box holds: elements of sets seen, the smallest flaw, whether all was seen."""

    elements: int
    flaw: _Flaw | None
    complete: bool


def _box(claim: Partition, cells: _Cells, largest: int) -> _Box:
    elements = 0
    smallest: _Flaw | None = None
    for point in _points(claim, largest, cells):
        if cells.evaluations > EVALUATIONS:
            return _Box(elements, smallest, complete=False)
        elements += cells.in_set(point)
        if cells.at(point) is None:
            return _Box(elements, smallest, complete=False)
        flaw = cells.flaw(point)
        if flaw is not None and (smallest is None or flaw.size < smallest.size):
            smallest = flaw
    return _Box(elements, smallest, complete=True)


def _points(claim: Partition, largest: int, cells: _Cells) -> Iterator[_Point]:
    """Parameters of the domain with any element, all of at most `largest` in absolute value."""
    names = cells.names
    checks: list[list[ExactRelation]] = [[] for _ in names]
    for relation in claim.parameters.relations:
        used = free_symbols(relation.left, relation.right)
        checks[max((names.index(name) for name in used), default=0)].append(ExactRelation(relation))

    def extended(point: _Point, place: int) -> Iterator[_Point]:
        if place == len(names):
            yield point
            return
        for value in range(-largest, largest + 1):
            longer = {**point, names[place]: value}
            cells.evaluations += 1
            if all(check(longer) is True for check in checks[place]):
                yield from extended(longer, place + 1)

    return extended({}, 0)


def _shown(point: Mapping[str, int]) -> str:
    return ", ".join(f"{name} = {value}" for name, value in point.items()) or "no rational point"
