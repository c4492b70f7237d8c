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
from symsim.claims.engines.base import Engine
from symsim.claims.execute import acceptance, count, evaluation, execute
from symsim.claims.obligations import obligations
from symsim.claims.verdict import Evidence, Kind, Verdict, combine
from symsim.claims.witness import failure_at, inhabitant


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

    An empty (or not visibly inhabited) domain leaves the claim undecided: it would hold of
    nothing. An obligation that fails refutes the claim, one not proved leaves it undecided.
    """
    engines = all_engines() if engines is None else engines
    point = inhabitant(claim.domain)
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
    """What an engine says; that it broke down is said of the engine, not of the claim."""
    try:
        return engine.decide(claim)
    except Exception as error:
        line = f"the engine failed: {type(error).__name__}: {error}"
        return Evidence(engine.name, Kind.UNDECIDED, "", (line,))


def _counterexample(claim: Counterexample) -> Evidence:
    """The values lie in the domain, and the relation fails there, certified."""
    scope = show(dict(claim.values))
    if failure := failure_at(claim.refutes, claim.values):
        return Evidence("execution", Kind.PROVED, scope, failure.lines)
    line = f"{claim.refutes.relation} does not fail at {scope}, or that is not in the domain"
    witness = {name: Fraction(value) for name, value in claim.values.items()}
    return Evidence("execution", Kind.REFUTED, scope, (line,), witness)


def _induction(claim: Induction, engines: Sequence[Engine] | None) -> Verdict:
    """PROVED where base and step are; otherwise the first that is not, and why."""
    evidence: list[Evidence] = []
    for part, formula in (("base", claim.base), ("step", claim.step)):
        verdict = decide_formula(formula, engines)
        evidence += verdict.evidence
        if verdict.kind is not Kind.PROVED:
            reason = f"{part}: {verdict.reason}"
            return Verdict(verdict.kind, verdict.scope, reason, tuple(evidence), verdict.witness)
    provers = ", ".join(dict.fromkeys(e.engine for e in evidence if e.kind is Kind.PROVED))
    scope = f"all {claim.variable} from the base on"
    return Verdict(Kind.PROVED, scope, f"base and step by {provers}", tuple(evidence))
