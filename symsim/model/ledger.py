"""The ledger of a plan: what it costs, complete before any arithmetic."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field


@dataclass
class Ledger:
    """Counts of a plan.

    calls: oracle calls by kind (block, aggregation, mlp). rounds: the longest chain of calls
    in which each reads an output of the one before. max_tokens, max_embedding, parameters:
    the largest over the calls. constants_padded: fixed numbers stored outside the oracle.
    mlp_operations: operations of all MLPs on all tokens. rows, rows_read: output rows of the
    calls, and how many of them the plan reads (the others need not be computed).
    outside_operations: arithmetic outside the oracle, which only a waiver allows.
    waivers: rules a printed construction was allowed to break, with what it did.
    """

    calls: Counter[str] = field(default_factory=Counter)
    rounds: int = 0
    max_tokens: int = 0
    max_embedding: int = 0
    parameters: int = 0
    constants_padded: int = 0
    mlp_operations: int = 0
    rows: int = 0
    rows_read: int = 0
    outside_operations: int = 0
    waivers: dict[str, str] = field(default_factory=dict)

    @property
    def total_calls(self) -> int:
        """Oracle calls of every kind together."""
        return self.calls.total()
