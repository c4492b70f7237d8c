"""The engine `ball`: certified counterexamples, and proofs by exhaustion or subdivision."""

from __future__ import annotations

from symsim.claims.claim import Formula
from symsim.claims.domain import equal
from symsim.claims.search.boxes import box_of, subdivide
from symsim.claims.search.certified import holds, supported
from symsim.claims.search.points import SEED
from symsim.claims.search.witness import Failure, Search, search
from symsim.claims.verdict import Evidence, Kind

POINTS = 5_000
"""Points at which this engine evaluates a claim: every obligation passes here too."""

_ALL = "all sizes"


class BallEngine:
    """Decides by evaluation in rational numbers and Arb balls.

    Refutes any formula at a certified point. Proves a formula on integers that are few enough
    to be enumerated, and an inequality on a box of up to three bounded reals. Where it does
    neither, SAMPLED counts the points at which the relation was certified to hold: no proof.
    """

    name = "ball"

    def __init__(self, points: int = POINTS) -> None:
        self._points = points

    def decide(self, claim: Formula) -> Evidence | None:
        terms = [side for r in claim.domain.relations for side in (r.left, r.right)]
        if not supported(claim.relation.left, claim.relation.right, *terms):
            return None
        found = search(claim, self._points)
        if found.failure is not None:
            return self._refuted(found.failure)
        if found.proved:
            line = f"holds at all {found.points} points of the domain"
            return Evidence(self.name, Kind.PROVED, _ALL, (line,))
        return self._on_box(claim, found) or self._sampled(found)

    def _refuted(self, failure: Failure) -> Evidence:
        scope = failure.lines[0]
        return Evidence(self.name, Kind.REFUTED, scope, failure.lines, failure.point)

    def _on_box(self, claim: Formula, found: Search) -> Evidence | None:
        """Evidence by subdivision, where it applies."""
        box = box_of(claim.domain)
        if box is None or claim.relation.comparison == "=" or not found.points:
            return None
        result = subdivide(claim, box)
        if result.failure is not None:
            return self._refuted(result.failure)
        if result.proved:
            line = f"enclosed on {result.boxes} boxes that cover the domain"
            return Evidence(self.name, Kind.PROVED, _ALL, (line,))
        assert result.stuck is not None
        near = ", ".join(f"{name} = {number}" for name, number in result.stuck.items())
        relation = claim.relation
        if holds(equal(relation.left, relation.right), result.stuck) is True:
            why = f"equality is attained at {near}: no subdivision decides"
        else:
            why = f"not decided by {result.boxes} boxes, near {near}"
        return Evidence(self.name, Kind.UNDECIDED, "", (why, _no_counterexample(found)))

    def _sampled(self, found: Search) -> Evidence:
        line = _no_counterexample(found)
        if not found.decided:
            return Evidence(self.name, Kind.UNDECIDED, "", (line,))
        scope = f"{found.decided} points, seed {SEED}"
        return Evidence(self.name, Kind.SAMPLED, scope, (line,))


def _no_counterexample(found: Search) -> str:
    if not found.points:
        return "the domain has no points" if found.exhaustive else "no point of the domain found"
    decided = (
        "" if found.decided == found.points else f", the relation certified at {found.decided}"
    )
    return f"no counterexample among {found.points} points{decided}"
