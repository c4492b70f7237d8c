"""Deciding a claim: inhabited domain, obligations, then every engine that applies."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from functools import cache

from symsim.claims.claim import (
    Acceptance,
    Claim,
    Count,
    Counterexample,
    Evaluation,
    Execution,
    Formula,
    Imported,
    Induction,
    Partition,
    Unproved,
)
from symsim.claims.domain import DomainError
from symsim.claims.engines.base import Engine
from symsim.claims.execute import acceptance, count, evaluation, execute, failed
from symsim.claims.induction import mismatch
from symsim.claims.obligations import obligations
from symsim.claims.search.witness import failure_at, holds, inhabitant
from symsim.claims.verdict import Evidence, Kind, Verdict, combine
from symsim.terms import TermError


@cache
def all_engines() -> tuple[Engine, ...]:
    """All engines for formulas, independent of each other; slow to import."""
    from symsim.claims.engines.ball import BallEngine  # noqa: PLC0415
    from symsim.claims.engines.flint import FlintEngine  # noqa: PLC0415
    from symsim.claims.engines.modular import ModularEngine  # noqa: PLC0415
    from symsim.claims.engines.smt import Cvc5Engine, Z3Engine  # noqa: PLC0415
    from symsim.claims.engines.sympy import SymPyEngine  # noqa: PLC0415

    return (
        SymPyEngine(),
        FlintEngine(),
        ModularEngine(),
        Z3Engine(),
        Cvc5Engine(),
        BallEngine(),
    )


def decide(claim: Claim, engines: Sequence[Engine] | None = None) -> Verdict:
    """The verdict on any claim, from every engine that can decide it."""
    match claim:
        case Formula():
            return decide_formula(claim, engines)
        case Partition():
            from symsim.claims.engines.partition import decide_partition  # noqa: PLC0415

            return combine(decide_partition(claim))
        case Execution():
            return combine(execute(claim))
        case Count():
            return combine([count(claim)])
        case Acceptance():
            return combine([acceptance(claim)])
        case Evaluation():
            return combine([evaluation(claim)])
        case Counterexample():
            return combine([_counterexample(claim)])
        case Induction():
            return _induction(claim, engines)
        case Imported():
            return Verdict(Kind.IMPORTED, "as cited", f"{claim.citation}: {claim.assumes}")
        case Unproved():
            return Verdict(Kind.NOT_RUN, "", claim.reason)


def decide_formula(claim: Formula, engines: Sequence[Engine] | None = None) -> Verdict:
    """Every engine on the formula, after its domain and its obligations.

    Two sides that are the same term leave it undecided: A = A says nothing that could fail. So
    does an empty (or not visibly inhabited) domain: it would hold of nothing. An obligation that
    fails refutes the claim, one not proved leaves it undecided.
    """
    if claim.says_nothing:
        return Verdict(Kind.UNDECIDED, "", "both sides are the same term: nothing is checked")
    return _decided(claim, all_engines() if engines is None else engines)


def _decided(claim: Formula, engines: Sequence[Engine]) -> Verdict:
    try:
        point = inhabitant(claim.domain)
    except TermError as error:
        return Verdict(Kind.UNDECIDED, "", f"no points of the domain can be made: {error}")
    if point is None:
        reason = "no point of the domain was found: the claim may speak of nothing"
        return Verdict(Kind.UNDECIDED, "", reason)
    inhabited = Evidence("domain", Kind.NOT_RUN, "", (f"inhabited: {show(point)}",))
    established = [inhabited]
    for needed in obligations(claim):
        verdict = combine(_all(needed, engines))
        if verdict.kind is Kind.PROVED:
            line = f"{needed.relation} on the domain, {verdict.reason}"
            established.append(Evidence("obligation", Kind.NOT_RUN, verdict.scope, (line,)))
            continue
        kind = verdict.kind if verdict.kind in (Kind.REFUTED, Kind.CONFLICT) else Kind.UNDECIDED
        reason = f"it needs {needed.relation}: {verdict.kind.value} {verdict.reason}"
        return Verdict(kind, verdict.scope, reason, verdict.evidence, verdict.witness)
    verdict = combine(_all(claim, engines))
    return Verdict(
        verdict.kind,
        verdict.scope,
        verdict.reason,
        (*established, *verdict.evidence),
        verdict.witness,
    )


def show(point: object) -> str:
    """A point as `A = 1, B = 1/2`."""
    assert isinstance(point, dict)
    return ", ".join(f"{name} = {value}" for name, value in point.items()) or "no symbols"


def _all(claim: Formula, engines: Sequence[Engine]) -> list[Evidence]:
    found = (_one(claim, engine) for engine in engines)
    return [evidence for evidence in found if evidence is not None]


def _one(claim: Formula, engine: Engine) -> Evidence | None:
    """What an engine says; that it broke down is said of the engine, not of the claim.

    A counterexample is certified here once more, whatever the engine did: it counts only if it
    lies in the domain and the relation fails at it.
    """
    try:
        found = engine.decide(claim)
        if found is None or found.kind is not Kind.REFUTED:
            return found
        if found.witness is not None and failure_at(claim, found.witness) is not None:
            return found
    except Exception as error:
        return failed(engine.name, error)
    shown = "no values" if found.witness is None else show(dict(found.witness))
    line = f"its counterexample is not certified: {shown}"
    return Evidence(engine.name, Kind.UNDECIDED, "", (line,))


def _counterexample(claim: Counterexample) -> Evidence:
    """Whether the values lie in the domain and the relation fails there; both are certified.

    Raises DomainError unless the values are those of the domain's symbols.
    """
    on, relation = claim.refutes.domain, claim.refutes.relation
    if set(claim.values) != set(on.names):
        raise DomainError(
            f"the counterexample gives {', '.join(claim.values) or 'nothing'}, "
            f"expected {', '.join(on.names) or 'nothing'}"
        )
    scope = show(dict(claim.values))
    if failure := failure_at(claim.refutes, claim.values):
        return Evidence("execution", Kind.PROVED, scope, failure.lines)
    witness = {name: Fraction(value) for name, value in claim.values.items()}
    fractional = [v for v in on.variables if v.integer and witness[v.name].denominator != 1]
    outside = [given for given in on.relations if holds(given, witness) not in (True, None)]
    if fractional or outside:
        violated = f"{fractional[0].name} is an integer" if fractional else str(outside[0])
        line = f"{scope} is not in the domain: {violated} fails"
    elif holds(relation, witness) is True:
        line = f"{relation} holds at {scope}"
    else:
        line = f"no precision decides {relation} or the domain at {scope}"
        return Evidence("execution", Kind.UNDECIDED, scope, (line,))
    return Evidence("execution", Kind.REFUTED, scope, (line,), witness)


def _induction(claim: Induction, engines: Sequence[Engine] | None) -> Verdict:
    """PROVED where base and step are, of one statement; otherwise the first that is not."""
    engines = all_engines() if engines is None else engines
    evidence: list[Evidence] = []
    for part, formula in (("base", claim.base), ("step", claim.step)):
        verdict = _decided(formula, engines)
        evidence += verdict.evidence
        if verdict.kind is not Kind.PROVED:
            reason = f"{part}: {verdict.reason}"
            return Verdict(verdict.kind, verdict.scope, reason, tuple(evidence), verdict.witness)
    if (why := mismatch(claim)) is not None:
        reason = f"base and step are no induction: {why}"
        return Verdict(Kind.UNDECIDED, "", reason, tuple(evidence))
    provers = ", ".join(dict.fromkeys(e.engine for e in evidence if e.kind is Kind.PROVED))
    scope = f"all {claim.variable} from the base on"
    return Verdict(Kind.PROVED, scope, f"base and step by {provers}", tuple(evidence))
