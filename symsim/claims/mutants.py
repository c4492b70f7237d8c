"""Mutants: small changes of a formula that its engines must refute.

A check that cannot fail is a defect. An identity is changed in its terms; an inequality only
towards strength, as a weakened one is true again; both lose hypotheses and bounds, one at a
time. A mutant is killed by a certified counterexample, a point without a value included; a
survivor is proved, and then classed, or it is alive.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from itertools import islice, zip_longest
from typing import Literal

from symsim.claims.claim import Formula
from symsim.claims.domain import Domain, Relation, Variable, free_symbols
from symsim.claims.search.certified import Check, Values
from symsim.claims.search.points import Points
from symsim.claims.search.witness import counterexample, failure_at
from symsim.claims.verdict import Kind as VerdictKind
from symsim.claims.verdict import Verdict
from symsim.terms import Kind, Term, constant
from symsim.terms.printing import excerpt
from symsim.terms.term import binary

MOST = 60
"""Mutants that are kept of one formula."""

_OCCURRENCES = 1_000
"""Nodes of one side, each use of a shared one counted, that are mutated."""

_SAMPLES = 24
"""Points of the domain at which a change is seen to tighten an inequality."""

_FIRST_POINTS = 2_000
"""Points at which a counterexample to a mutant is sought before its proof is."""

_TIGHTER = (Fraction(9, 10), Fraction(99, 100))
_SHIFTS = (Fraction(1, 10), Fraction(1, 100))
_LONGEST = 60

Change = Literal[
    "sign",
    "constant",
    "operator",
    "symbol",
    "limit",
    "term",
    "exp",
    "hypothesis",
    "strict",
    "tightened",
    "swapped",
]
"""What was changed.

sign: + and - exchanged, a negation dropped or put; constant: by one, or doubled; operator: · and
/ exchanged; symbol: another of the same sort, as by a wrong index; limit: a bound or hypothesis
on integers wider by one; term: a summand or factor dropped; exp: an exp or log dropped;
hypothesis: a hypothesis or bound dropped; and of inequalities: strict: ≤ or ≠ replaced by <;
tightened: less room between the sides; swapped: the sides exchanged.
"""

Fate = Literal["killed", "equivalent", "weaker", "sharper and true", "alive"]

_WIDENED = ("limit", "hypothesis")
_SHARPENED = ("strict", "tightened", "swapped")


@dataclass(frozen=True, eq=False)
class Mutant:
    """A changed formula and what was changed, such as `left: + → - in A + P`."""

    change: Change
    description: str
    formula: Formula


@dataclass(frozen=True)
class Selection:
    """The mutants kept of a formula, the classes in turn, and how many more there are."""

    mutants: tuple[Mutant, ...]
    dropped: int


def mutants(claim: Formula) -> tuple[Mutant, ...]:
    """At most MOST different mutants of a formula; `select` says how many were dropped."""
    return select(claim).mutants


def select(claim: Formula, most: int = MOST) -> Selection:
    """At most `most` mutants, as many of each class as there is room for.

    A class that is cut gives up every so-many-th of its mutants, so that both sides and all
    parts of the formula stay represented; the first of each class always stays.
    """
    by_change: dict[Change, list[Mutant]] = {}
    for mutant in _described_once(_different(claim, _all(claim))):
        by_change.setdefault(mutant.change, []).append(mutant)
    room = _shares({change: len(found) for change, found in by_change.items()}, most)
    kept = [
        found[i * len(found) // room[change]]
        for change, found in by_change.items()
        for i in range(room[change])
    ]
    return Selection(tuple(kept), sum(map(len, by_change.values())) - len(kept))


def judge(mutant: Mutant, decide: Callable[[Formula], Verdict]) -> Fate:
    """What becomes of a mutant.

    killed: a counterexample is certified, found here or by `decide`. Proved, it is "weaker"
    where a hypothesis or bound turns out not to be needed, "sharper and true" where an
    inequality is not tight, else "equivalent". Alive: neither refuted nor proved.
    """
    claim = mutant.formula
    if counterexample(claim, _FIRST_POINTS) is not None:
        return "killed"
    verdict = decide(claim)
    if verdict.witness is not None and failure_at(claim, verdict.witness) is not None:
        return "killed"
    if verdict.kind is not VerdictKind.PROVED:
        return "alive" if counterexample(claim) is None else "killed"
    if mutant.change in _WIDENED:
        return "weaker"
    return "sharper and true" if mutant.change in _SHARPENED else "equivalent"


# -- selection ------------------------------------------------------------------------------


def _different(claim: Formula, found: Iterable[Mutant]) -> Iterator[Mutant]:
    """The mutants that differ from the claim and from those before them."""
    seen = {_key(claim)}
    for mutant in found:
        key = _key(mutant.formula)
        if key not in seen:
            seen.add(key)
            yield mutant


def _key(claim: Formula) -> tuple[object, ...]:
    """What makes two formulas the same: terms are the same object where they are equal."""
    relations = (claim.relation, *claim.domain.relations)
    return tuple((relation.left, relation.comparison, relation.right) for relation in relations)


def _described_once(found: Iterable[Mutant]) -> Iterator[Mutant]:
    """The mutants, a repeated description numbered: it is what a mutant is known by."""
    times: Counter[str] = Counter()
    for mutant in found:
        text = mutant.description
        times[text] += 1
        again = f"{text}, occurrence {times[text]}"
        yield mutant if times[text] == 1 else replace(mutant, description=again)


def _shares(sizes: dict[Change, int], most: int) -> dict[Change, int]:
    """How many to keep of each class: dealt one at a time, up to `most` in all."""
    turns = zip_longest(*([change] * size for change, size in sizes.items()))
    dealt = (change for turn in turns for change in turn if change is not None)
    counted = Counter(islice(dealt, most))
    return {change: counted[change] for change in sizes}


# -- all mutants ----------------------------------------------------------------------------


def _all(claim: Formula) -> Iterator[Mutant]:
    if claim.relation.comparison == "=":
        yield from _of_identity(claim)
    else:
        yield from _of_inequality(claim)
    yield from _of_domain(claim)


def _of_identity(claim: Formula) -> Iterator[Mutant]:
    relation = claim.relation
    for side in ("left", "right"):
        for change, what, term in _of_term(_side(relation, side), claim.domain):
            changed = _with_side(relation, side, term)
            yield Mutant(change, f"{side}: {what}", Formula(changed, claim.domain))


def _side(relation: Relation, side: str) -> Term:
    return relation.left if side == "left" else relation.right


def _with_side(relation: Relation, side: str, term: Term) -> Relation:
    return replace(relation, left=term) if side == "left" else replace(relation, right=term)


# -- one occurrence in a term ---------------------------------------------------------------

_Path = tuple[int, ...]
_Rewriting = tuple[Change, str, Term]

_OTHER = {Kind.ADD: Kind.SUB, Kind.SUB: Kind.ADD, Kind.MUL: Kind.DIV, Kind.DIV: Kind.MUL}
_SIGN = {Kind.ADD: "+", Kind.SUB: "-", Kind.MUL: "·", Kind.DIV: "/"}


def _of_term(root: Term, on: Domain) -> Iterator[_Rewriting]:
    yield "sign", f"- put before {_short(root)}", -root
    for path, node in islice(_occurrences(root), _OCCURRENCES):
        parent = _at(root, path[:-1])
        for change, what, new in _rewritings(node, parent, on):
            yield change, what, _replaced(root, path, new)


def _occurrences(root: Term) -> Iterator[tuple[_Path, Term]]:
    """Every node with the way to it, a shared node once for each use."""
    stack: list[tuple[_Path, Term]] = [((), root)]
    while stack:
        path, node = stack.pop()
        yield path, node
        stack += [((*path, i), node.args[i]) for i in reversed(range(len(node.args)))]


def _at(root: Term, path: _Path) -> Term:
    for i in path:
        root = root.args[i]
    return root


def _replaced(root: Term, path: _Path, new: Term) -> Term:
    """`root` with the node at the end of `path` replaced, this one occurrence only."""
    if not path:
        return new
    i, *rest = path
    args = (*root.args[:i], _replaced(root.args[i], tuple(rest), new), *root.args[i + 1 :])
    return Term(root.kind, args, root.payload, root.width)


def _short(term: Term) -> str:
    text = excerpt(term)
    return text if len(text) <= _LONGEST else f"{text[:_LONGEST]}…"


def _rewritings(node: Term, parent: Term, on: Domain) -> Iterator[_Rewriting]:
    text = _short(node)
    match node.kind:
        case Kind.ADD | Kind.SUB | Kind.MUL | Kind.DIV:
            yield from _of_operation(node, text)
        case Kind.NEG:
            yield "sign", f"- dropped in {text}", node.args[0]
        case Kind.EXP | Kind.LOG:
            yield "exp", f"{node.kind.value} dropped in {text}", node.args[0]
            yield "sign", f"argument negated in {text}", Term(node.kind, (-node.args[0],))
        case Kind.MAX:
            for kept in node.args:
                yield "term", f"{text} → {_short(kept)}", kept
        case Kind.CONSTANT:
            yield from _of_constant(node, parent)
        case Kind.COLUMN:
            yield from _of_symbol(node, parent, on)


def _of_operation(node: Term, text: str) -> Iterator[_Rewriting]:
    left, right = node.args
    other = _OTHER[node.kind]
    change: Change = "sign" if node.kind in (Kind.ADD, Kind.SUB) else "operator"
    yield change, f"{_SIGN[node.kind]} → {_SIGN[other]} in {text}", binary(other, left, right)
    yield "term", f"{_short(right)} dropped in {text}", left
    match node.kind:
        case Kind.ADD | Kind.MUL:
            rest = right
        case Kind.SUB:
            rest = -right
        case _:
            rest = 1 / right
    yield "term", f"{_short(left)} dropped in {text}", rest


def _of_constant(node: Term, parent: Term) -> Iterator[_Rewriting]:
    """c + 1, c - 1 and 2c; no divisor 0, which says nothing of the claim."""
    assert isinstance(node.payload, Fraction)
    old = node.payload
    divisor = parent.kind is Kind.DIV and parent.args[1] is node
    for new in dict.fromkeys((old + 1, old - 1, 2 * old)):
        if new != old and not (divisor and new == 0):
            yield "constant", f"{old} → {new} in {_short(parent)}", constant(new)


def _of_symbol(node: Term, parent: Term, on: Domain) -> Iterator[_Rewriting]:
    integer = {variable.name: variable.integer for variable in on.variables}
    for variable in on.variables:
        if variable.integer == integer[str(node.payload)] and variable.symbol is not node:
            text = f"{node.payload} → {variable.name} in {_short(parent)}"
            yield "symbol", text, variable.symbol


# -- inequalities, towards strength ---------------------------------------------------------


def _of_inequality(claim: Formula) -> Iterator[Mutant]:
    relation, on = claim.relation, claim.domain
    straight, turned = (
        Relation(relation.left, "<", relation.right),
        Relation(relation.right, "<", relation.left),
    )
    if relation.comparison == "!=":
        yield Mutant("strict", "≠ → <", Formula(straight, on))
        yield Mutant("strict", "≠ → >", Formula(turned, on))
        return
    if relation.comparison == "<=":
        yield Mutant("strict", "≤ → <", Formula(straight, on))
    swapped = replace(relation, left=relation.right, right=relation.left)
    yield Mutant("swapped", "sides exchanged", Formula(swapped, on))
    for what, tightened in _tightened(claim):
        yield Mutant("tightened", what, Formula(tightened, on))


def _tightened(claim: Formula) -> Iterator[tuple[str, Relation]]:
    """The relation with less room: the right side first, then every constant of both sides.

    A scaling tightens or loosens with the signs of what it scales: it is taken in the
    direction that is seen to tighten at points of the domain.
    """
    relation, on = claim.relation, claim.domain
    right = relation.right
    samples = list(Points(on)(_SAMPLES))
    if _integers_only(relation, on):
        yield "right - 1", replace(relation, right=_shifted(right, -1))
    scaled = [(f"right · {f}", replace(relation, right=_scaled(right, f))) for f in _factors()]
    tighter = [(what, new) for what, new in scaled if _tightens(relation, new, on, samples)]
    shifted = [
        (f"right - {shift}", replace(relation, right=_shifted(right, -shift))) for shift in _SHIFTS
    ]
    yield from tighter or shifted
    for side in ("left", "right"):
        for what, new in _other_constants(_side(relation, side), _integers_only(relation, on)):
            changed = _with_side(relation, side, new)
            if _tightens(relation, changed, on, samples):
                yield f"{side}: {what}", changed


def _factors() -> Iterator[Fraction]:
    for factor in _TIGHTER:
        yield factor
        yield 1 / factor


def _other_constants(root: Term, integer: bool) -> Iterator[tuple[str, Term]]:
    for path, node in islice(_occurrences(root), _OCCURRENCES):
        if isinstance(node.payload, Fraction) and node.payload:
            old = node.payload
            new = [old - 1, old + 1] if integer else [factor * old for factor in _factors()]
            text = _short(_at(root, path[:-1]))
            for value in new:
                yield f"{old} → {value} in {text}", _replaced(root, path, constant(value))


def _integers_only(relation: Relation, on: Domain) -> bool:
    """Whether both sides are polynomials with integer coefficients in integers."""
    integer = {variable.name for variable in on.variables if variable.integer}
    sides = (relation.left, relation.right)
    nodes = [node for side in sides for _, node in islice(_occurrences(side), _OCCURRENCES)]
    whole = all(
        node.payload.denominator == 1 for node in nodes if isinstance(node.payload, Fraction)
    )
    kinds = {node.kind for node in nodes}
    return whole and kinds.isdisjoint((Kind.DIV, Kind.EXP, Kind.LOG)) and _within(sides, integer)


def _within(terms: tuple[Term, ...], names: set[str]) -> bool:
    return names.issuperset(free_symbols(*terms))


def _tightens(old: Relation, new: Relation, on: Domain, samples: Sequence[Values]) -> bool:
    """Whether right - left is nowhere larger at the samples, and smaller at one: certified."""
    before, after = old.right - old.left, new.right - new.left
    larger = Check(Relation(before, "<", after), on.names)
    smaller = Check(Relation(after, "<", before), on.names)
    return any(smaller(point) is True for point in samples) and not any(
        larger(point) is True for point in samples
    )


# -- the domain, widened --------------------------------------------------------------------


def _of_domain(claim: Formula) -> Iterator[Mutant]:
    """Hypotheses and bounds dropped, and those on integers wider by one."""
    variables, hypotheses = claim.domain.variables, claim.domain.hypotheses
    for k, hypothesis in enumerate(hypotheses):
        others = hypotheses[:k], hypotheses[k + 1 :]
        dropped = Domain(variables, (*others[0], *others[1]))
        yield _on(claim, "hypothesis", f"{hypothesis} dropped", dropped)
        for what, wider in _wider(hypothesis, claim.domain):
            widened = Domain(variables, (*others[0], wider, *others[1]))
            yield _on(claim, "limit", what, widened)
    for k, variable in enumerate(variables):
        for change, what, wider_variable in _of_bounds(variable):
            widened = Domain((*variables[:k], wider_variable, *variables[k + 1 :]), hypotheses)
            yield _on(claim, change, what, widened)


def _on(claim: Formula, change: Change, what: str, on: Domain) -> Mutant:
    return Mutant(change, what, Formula(claim.relation, on))


def _wider(hypothesis: Relation, on: Domain) -> Iterator[tuple[str, Relation]]:
    if hypothesis.comparison in ("<", "<=") and _integers_only(hypothesis, on):
        wider = replace(hypothesis, right=_shifted(hypothesis.right, 1))
        yield f"{hypothesis} → {wider}", wider


def _of_bounds(variable: Variable) -> Iterator[tuple[Change, str, Variable]]:
    bounds = iter(variable.bounds)
    if variable.lower is not None:
        text = str(next(bounds))
        yield "hypothesis", f"{text} dropped", replace(variable, lower=None, lower_open=False)
        if variable.integer:
            wider = replace(variable, lower=_shifted(variable.lower, -1))
            yield "limit", f"{text} → {wider.bounds[0]}", wider
    if variable.upper is not None:
        text = str(next(bounds))
        yield "hypothesis", f"{text} dropped", replace(variable, upper=None, upper_open=False)
        if variable.integer:
            wider = replace(variable, upper=_shifted(variable.upper, 1))
            yield "limit", f"{text} → {wider.bounds[-1]}", wider


def _shifted(term: Term, by: Fraction | int) -> Term:
    """term + by, a constant as one constant."""
    if isinstance(term.payload, Fraction):
        return constant(term.payload + by)
    return term + by if by > 0 else term - -by


def _scaled(term: Term, factor: Fraction) -> Term:
    """factor · term, a constant as one constant."""
    if isinstance(term.payload, Fraction):
        return constant(factor * term.payload)
    return factor * term
