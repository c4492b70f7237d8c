"""Mutants of a step's claim: near misses that its engines must refute."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from fractions import Fraction

from symsim.claims.claim import (
    Claim,
    Count,
    Counterexample,
    Evaluation,
    Execution,
    Formula,
    Induction,
    Partition,
)
from symsim.claims.domain import Relation
from symsim.claims.execute import count, execute
from symsim.claims.mistakes import mistaken
from symsim.claims.mutants import judge, select
from symsim.claims.obligations import obligations
from symsim.claims.verdict import Kind, Verdict
from symsim.terms import Kind as TermKind
from symsim.terms import Term, constant, postorder

Decide = Callable[[Claim], Verdict]


@dataclass(frozen=True)
class MutantReport:
    """How many mutants of a claim were killed, and what became of the others.

    survivors: a line each. unexplained: those alive without a reason given by the step.
    """

    killed: int = 0
    total: int = 0
    survivors: tuple[str, ...] = ()
    unexplained: tuple[str, ...] = ()


def mutate(
    claim: Claim, verdict: Verdict, explained: Mapping[str, str], decide: Decide
) -> MutantReport:
    """Mutate a proved claim and judge every mutant; nothing to mutate in the other kinds."""
    if verdict.kind is not Kind.PROVED:
        return MutantReport()
    fates = list(_fates(claim, decide))
    killed = [what for what, fate in fates if fate == "killed"]
    alive = [what for what, fate in fates if fate == "alive"]
    survivors = [
        f"{what}: {fate}" + (f" ({explained[what]})" if what in explained else "")
        for what, fate in fates
        if fate != "killed"
    ]
    return MutantReport(
        len(killed),
        len(fates),
        tuple(survivors),
        tuple(what for what in alive if what not in explained),
    )


def _fates(claim: Claim, decide: Decide) -> Iterator[tuple[str, str]]:
    """What was changed, and what became of it.

    An acceptance, an import and what is unproved have nothing that could be nearly so.
    """
    match claim:
        case Formula():
            yield from _formulas(claim, decide)
        case Induction():
            for part, formula in (("base", claim.base), ("step", claim.step)):
                yield from ((f"{part}: {what}", fate) for what, fate in _formulas(formula, decide))
        case Partition():
            yield from ((what, _killed(decide(changed))) for what, changed in _partitions(claim))
        case Count():
            for what, term in _shifted_constants(claim.closed_form):
                evidence = count(replace(claim, closed_form=term))
                yield what, "killed" if evidence.kind is Kind.REFUTED else "alive"
        case Execution():
            for mistake in claim.mistakes:
                with mistaken(mistake):
                    found = {evidence.kind for evidence in execute(claim)}
                yield mistake.what, "killed" if Kind.REFUTED in found else "alive"
        case Evaluation():
            yield from _results(claim, decide)
        case Counterexample():
            yield from _neighbours(claim, decide)


def _results(claim: Evaluation, decide: Decide) -> Iterator[tuple[str, str]]:
    """Another result: one more, or not finite; of what is not finite, 0."""
    other: tuple[Fraction | int | None, ...] = (
        (0,)
        if claim.result is None
        else (
            claim.result + 1,
            None,
        )
    )
    for result in other:
        what = "result not finite" if result is None else f"result {result}"
        yield what, _killed(decide(replace(claim, result=result)))


def _neighbours(claim: Counterexample, decide: Decide) -> Iterator[tuple[str, str]]:
    """Each value one more: outside the domain, or no counterexample; else another one."""
    for name, value in claim.values.items():
        moved = replace(claim, values={**claim.values, name: value + 1})
        fate = _killed(decide(moved))
        yield f"{name} + 1", "another one" if fate == "equivalent" else fate


def _formulas(claim: Formula, decide: Decide) -> Iterator[tuple[str, str]]:
    for mutant in select(claim).mutants:
        yield mutant.description, judge(mutant, lambda f: _of_mutant(f, decide))


def _of_mutant(claim: Formula, decide: Decide) -> Verdict:
    """The verdict on a mutant; where it became A = A, that on what A needs to have a value."""
    if not claim.says_nothing:
        return decide(claim)
    for needed in obligations(claim):
        verdict = decide(needed)
        if verdict.kind is not Kind.PROVED:
            return verdict
    return Verdict(Kind.PROVED, "all sizes", "both sides are the same term")


def _killed(verdict: Verdict) -> str:
    if verdict.kind is Kind.REFUTED:
        return "killed"
    return "equivalent" if verdict.kind is Kind.PROVED else "alive"


def _partitions(claim: Partition) -> Iterator[tuple[str, Partition]]:
    """Each relation of a cell with its left or right side off by one, or dropped."""
    for place, relation in enumerate(claim.member):
        for what, changed in (
            ("left side + 1", Relation(relation.left + 1, relation.comparison, relation.right)),
            ("right side + 1", Relation(relation.left, relation.comparison, relation.right + 1)),
        ):
            member = (*claim.member[:place], changed, *claim.member[place + 1 :])
            yield f"{relation}: {what}", replace(claim, member=member)
        without = (*claim.member[:place], *claim.member[place + 1 :])
        yield f"{relation}: dropped", replace(claim, member=without)


def _shifted_constants(term: Term) -> Iterator[tuple[str, Term]]:
    """The term plus and minus one, doubled, and with each of its constants off by one."""
    yield "closed form + 1", term + 1
    yield "closed form - 1", term - 1
    for node in postorder((term,)):
        if node.kind is TermKind.CONSTANT and isinstance(node.payload, Fraction):
            for by in (1, -1):
                yield f"{node.payload} → {node.payload + by}", _with(term, node, node.payload + by)


def _with(term: Term, old: Term, value: Fraction) -> Term:
    """The term with the constant `old` replaced everywhere."""
    rebuilt: dict[Term, Term] = {}
    for node in postorder((term,)):
        if node is old:
            rebuilt[node] = constant(value)
        else:
            args = tuple(rebuilt[arg] for arg in node.args)
            rebuilt[node] = Term(node.kind, args, node.payload, node.width)
    return rebuilt[term]
