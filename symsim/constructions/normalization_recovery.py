"""Normalization recovery: block sums from one softmax output (Lemma B.1, Step 1; finding G05).

A block call mixes n real keys with tokens of known weight: one synthetic token and padding.
With A = Σ a_j and B = Σ a_j v_j over the real keys and Z = A + P, P the known weight, the head
returns (y, r) = (B, A)/Z and, for the synthetic token's weight e^c, s = e^c/Z. The layer MLP ψ
turns these into a state:

printed    A = P·r/(1 − r) and B = A·(y/r); the paper prints it for P = 1. It loses log₂(1 + A)
           bits, and divides by zero once r rounds to 1.
dual       A = r/s and B = y/s with c = 0: no subtraction, and P need not be known.
anchored   L = ln r − ln s = ln A − c and R = y/r = B/A, with a logit c of the query's own. The
           anchor cancels when a query's states are merged, being the same in every block.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Literal

from symsim.terms import MLP, Number, Term, Token, log

ReadoutName = Literal["printed", "dual", "anchored"]


def printed(known_weight: int) -> MLP:
    """ψ of the printed readout; `known_weight` is P, all weight that is not a real key's."""

    def psi(token: Token) -> Mapping[str, Term | Number]:
        block_sum = known_weight * token.r / (1 - token.r)
        return {"A": block_sum, "B": block_sum * (token.y / token.r)}

    return psi


def dual(_known_weight: int) -> MLP:
    """ψ of the dual readout."""
    return lambda token: {"A": token.r / token.s, "B": token.y / token.s}


def anchored(_known_weight: int) -> MLP:
    """ψ of the anchored readout, in logarithms relative to the anchor."""
    return lambda token: {"L": log(token.r) - log(token.s), "R": token.y / token.r}


READOUTS: dict[ReadoutName, Callable[[int], MLP]] = {
    "printed": printed,
    "dual": dual,
    "anchored": anchored,
}
"""ψ by the name of the readout, a function of the known weight P."""
