"""Mutants of a step's claim: near misses that the engines must refute."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from symsim.claims.claim import Claim
from symsim.claims.verdict import Verdict


@dataclass(frozen=True)
class MutantReport:
    """How many mutants of a claim were killed, and what became of the others.

    survivors: a line each. unexplained: those alive without a reason given by the step.
    """

    killed: int = 0
    total: int = 0
    survivors: tuple[str, ...] = ()
    unexplained: tuple[str, ...] = ()


def mutate(claim: Claim, verdict: Verdict, explained: Mapping[str, str]) -> MutantReport:
    """Mutate a proved formula and judge every mutant."""
    return MutantReport()
