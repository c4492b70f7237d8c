"""What an engine is: something that decides formulas in its own numbers."""

from __future__ import annotations

from typing import Protocol

from symsim.claims.claim import Formula
from symsim.claims.verdict import Evidence


class Engine(Protocol):
    """Decides formulas independently of the other engines.

    An engine may assume that divisors in the formula are nonzero and arguments of logarithms
    positive on the domain: these are formulas of their own (`claims.obligations`), decided
    first. It may not assume anything else, and it returns None where it does not apply.
    """

    name: str

    def decide(self, claim: Formula) -> Evidence | None:
        """PROVED (scope "all sizes") or REFUTED with a certified witness or UNDECIDED; or None."""
