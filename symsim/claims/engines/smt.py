"""The engines z3 and cvc5: formulas as questions to two SMT solvers.

They are two voices in that the solvers are: different programs with different procedures. The
translation (`smt_translation`) is shared, so a mistake there is a mistake of both; it is small,
and tested against exact evaluation. Engines prove what they are asked, also of an empty domain:
whether a domain is inhabited is for the caller to see.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction

from symsim.claims.claim import Formula
from symsim.claims.domain import Domain, Relation
from symsim.claims.engines.exponents import NotApplicableError
from symsim.claims.engines.rational import ExactRelation, belongs
from symsim.claims.engines.smt_sessions import Answer, Cvc5Session, Session, Z3Session
from symsim.claims.engines.smt_translation import Clause, Translation, definedness
from symsim.claims.verdict import Evidence, Kind, Witness
from symsim.terms import Term, postorder

ALL_SIZES = "all sizes"

Solver = Callable[[], Session]


@dataclass(frozen=True)
class Outcome:
    """The answer to "can the formula fail?" and, where it can, values that may show it.

    candidate: rational values of the symbols after "sat", or None and the reason for it.
    generators: the exponentials that stand as positive unknowns.
    """

    answer: Answer
    candidate: Witness | None
    no_candidate: str
    generators: tuple[str, ...]


def ask(solver: Solver, claim: Formula, lemmas: Sequence[Clause] = ()) -> Outcome:
    """Whether the domain, the lemmas and the negated relation can hold at once.

    Lemmas must be true in all numbers: they only help. Raises NotApplicableError.
    """
    relations = (claim.relation, *claim.domain.relations)
    return _ask(solver, claim, lemmas, _defined(solver, claim.domain, relations))


def _defined(solver: Solver, domain: Domain, relations: Sequence[Relation]) -> frozenset[Term]:
    """The quotients and logarithms that the solver shows to be defined on the whole domain."""
    found: set[Term] = set()
    for node in postorder(tuple(side for r in relations for side in (r.left, r.right))):
        needed = definedness(node)
        if needed is not None:
            outcome = _ask(solver, Formula(needed, domain), (), frozenset(found))
            if outcome.answer.status == "unsat":
                found.add(node)
    return frozenset(found)


def _ask(
    solver: Solver, claim: Formula, lemmas: Sequence[Clause], defined: frozenset[Term]
) -> Outcome:
    session = solver()
    given: list[Clause] = [(relation,) for relation in claim.domain.relations]
    clauses = [*given, *lemmas]
    relations = [claim.relation, *(relation for clause in clauses for relation in clause)]
    translation = Translation(session, claim.domain, relations, defined)
    for clause in clauses:
        translation.require(clause)
    translation.refute(claim.relation)
    answer = session.check()
    candidate, why = None, "an exponential or a logarithm is an unknown in it"
    if answer.status == "sat" and translation.exact:
        candidate, why = _candidate(session, translation, claim.domain), "it is not rational"
    return Outcome(answer, candidate, why, translation.generators)


def _candidate(session: Session, translation: Translation, domain: Domain) -> Witness | None:
    values: dict[str, Fraction] = {}
    for variable in domain.variables:
        value = session.value(translation.unknown(variable.symbol))
        if value is None:
            return None
        values[variable.name] = value
    return values


def refutes(point: Witness, claim: Formula) -> bool:
    """Whether the claim is seen to fail at the point, by exact evaluation."""
    return belongs(point, claim.domain) and ExactRelation(claim.relation)(point) is False


class _SMTEngine:
    """What the two engines have in common: everything but the solver."""

    def __init__(self, name: str, solver: Solver) -> None:
        self.name = name
        self._solver = solver

    def decide(self, claim: Formula) -> Evidence | None:
        """PROVED for "unsat", REFUTED for a certified model, UNDECIDED otherwise.

        None for a formula that the translation does not express.
        """
        try:
            outcome = ask(self._solver, claim)
        except NotApplicableError:
            return None
        match outcome.answer.status:
            case "unsat":
                return Evidence(self.name, Kind.PROVED, ALL_SIZES, _proof_lines(claim, outcome))
            case "sat":
                return self._candidate(claim, outcome)
            case "unknown":
                reason = f"{self.name} gave up: {outcome.answer.reason}"
                return Evidence(self.name, Kind.UNDECIDED, "", (reason,))

    def _candidate(self, claim: Formula, outcome: Outcome) -> Evidence:
        point = outcome.candidate
        if point is not None and refutes(point, claim):
            at = ", ".join(f"{name} = {value}" for name, value in point.items()) or "once"
            line = f"{claim.relation} fails at {at}"
            return Evidence(self.name, Kind.REFUTED, at, (line,), point)
        unconfirmed = "exact evaluation does not confirm it, a divisor may be 0 there"
        why = outcome.no_candidate if point is None else unconfirmed
        line = f"candidate of {self.name} not certified: {why}"
        return Evidence(self.name, Kind.UNDECIDED, "", (line,))


def _proof_lines(claim: Formula, outcome: Outcome) -> tuple[str, ...]:
    line = f"no values on the domain violate {claim.relation}"
    if not outcome.generators:
        return (line,)
    return (line, f"for any positive values of {', '.join(outcome.generators)}")


class Z3Engine(_SMTEngine):
    """z3."""

    def __init__(self) -> None:
        super().__init__("z3", Z3Session)


class Cvc5Engine(_SMTEngine):
    """cvc5."""

    def __init__(self) -> None:
        super().__init__("cvc5", Cvc5Session)
