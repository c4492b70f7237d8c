"""Obligations: what a formula asserts by being written down.

Every divisor in the relation, in the hypotheses and in the bounds must be nonzero, and every
argument of a logarithm positive, wherever the formula speaks: an obligation, never a
hypothesis. A hypothesis with divisors or logarithms is not used for its own obligations or for
those of earlier parts (0 < 1/x does not make x nonzero), so those speak on the domain without
it; a hypothesis without any has a value everywhere, and is used wherever its symbols are declared.
"""

from __future__ import annotations

from symsim.claims.claim import Formula
from symsim.claims.domain import Domain, Relation, differs, free_symbols, less
from symsim.terms import Kind, Term, postorder


def obligations(claim: Formula) -> tuple[Formula, ...]:
    """Formulas that must hold for `claim` to make sense, in the order in which they arise."""
    found = []
    given = claim.domain
    for k, variable in enumerate(given.variables):
        for bound in variable.bounds:
            found += _of_relation(bound, _with_total(given, k, 0))
    for k, hypothesis in enumerate(given.hypotheses):
        found += _of_relation(hypothesis, _with_total(given, len(given.variables), k))
    found += _of_relation(claim.relation, given)
    return tuple(found)


def _with_total(given: Domain, variables: int, hypotheses: int) -> Domain:
    """The first variables and hypotheses, and later hypotheses on them that have no divisors."""
    declared = given.variables[:variables]
    names = {variable.name for variable in declared}
    later = [
        relation
        for relation in given.hypotheses[hypotheses:]
        if names.issuperset(free_symbols(relation.left, relation.right))
        and not _of_relation(relation, given)
    ]
    return Domain(declared, (*given.hypotheses[:hypotheses], *later))


def _of_relation(relation: Relation, on: Domain) -> list[Formula]:
    nodes = postorder((relation.left, relation.right))
    return [Formula(needed, on) for node in nodes if (needed := _needed(node)) is not None]


def _needed(node: Term) -> Relation | None:
    if node.kind is Kind.DIV and (
        node.args[1].kind is not Kind.CONSTANT or not node.args[1].payload
    ):
        return differs(node.args[1], 0)
    if node.kind is Kind.LOG:
        return less(0, node.args[0])
    return None
