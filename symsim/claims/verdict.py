"""Verdicts: computed from what engines return, three-valued and scoped."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import Enum
from fractions import Fraction

Witness = Mapping[str, Fraction]
"""Values of symbols at which a claim was seen to fail (or a domain to be inhabited)."""


class Kind(Enum):
    """What is known of a claim."""

    PROVED = "proved"
    PROBABLE = "probable"  # true up to a stated probability
    ENCLOSED = "enclosed"
    SAMPLED = "sampled"
    REFUTED = "refuted"  # with a certified witness
    UNDECIDED = "undecided"
    CONFLICT = "conflict"  # two engines disagree: our defect
    IMPORTED = "imported"
    NOT_RUN = "not run"


@dataclass(frozen=True)
class Evidence:
    """What one engine found: the engine, its answer, the scope, and lines that show it.

    independent: the name of the family that counts as one voice (z3 and cvc5 are two).
    """

    engine: str
    kind: Kind
    scope: str
    lines: tuple[str, ...] = ()
    witness: Witness | None = None


@dataclass(frozen=True)
class Verdict:
    """The answer on a claim, with every engine's evidence."""

    kind: Kind
    scope: str
    reason: str
    evidence: tuple[Evidence, ...] = ()
    witness: Witness | None = None

    @property
    def provers(self) -> tuple[str, ...]:
        """The engines that proved the claim."""
        return tuple(e.engine for e in self.evidence if e.kind is Kind.PROVED)


_STRENGTH = (Kind.ENCLOSED, Kind.PROBABLE, Kind.SAMPLED, Kind.UNDECIDED, Kind.NOT_RUN)


def combine(evidence: Sequence[Evidence]) -> Verdict:
    """One verdict from all engines.

    A proof and a certified counterexample together are a conflict. Two engines make a proof;
    where only one can decide, the reason says so.
    """
    found = tuple(evidence)
    proofs = [e for e in found if e.kind is Kind.PROVED]
    refutations = [e for e in found if e.kind is Kind.REFUTED]
    if proofs and refutations:
        reason = f"{proofs[0].engine} proves it, {refutations[0].engine} refutes it"
        return Verdict(Kind.CONFLICT, proofs[0].scope, reason, found, refutations[0].witness)
    if refutations:
        first = min(refutations, key=_witness_size)
        return Verdict(Kind.REFUTED, first.scope, f"by {first.engine}", found, first.witness)
    if proofs:
        engines = ", ".join(dict.fromkeys(e.engine for e in proofs))
        only = "" if len({e.engine for e in proofs}) > 1 else " alone"
        return Verdict(Kind.PROVED, proofs[0].scope, f"by {engines}{only}", found)
    for kind in _STRENGTH:
        if matching := [e for e in found if e.kind is kind]:
            reason = "; ".join(line for e in matching for line in e.lines[:1])
            return Verdict(kind, matching[0].scope, reason, found)
    return Verdict(Kind.UNDECIDED, "", "no engine applies", found)


def _witness_size(evidence: Evidence) -> tuple[bool, int]:
    """Readers want the smallest counterexample, and one that is shown before one that is not."""
    if evidence.witness is None:
        return True, 0
    size = sum(abs(value.numerator) + value.denominator for value in evidence.witness.values())
    return False, size
