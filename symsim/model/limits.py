"""The rules of the model of computation and the error for breaking one (§1.1, §2)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Self

EMBEDDING_FACTOR = 8
"""O(d) embedding of an oracle: at most 8d columns."""

CONSTANTS_FACTOR = 4
"""O(d²) fixed numbers padded outside the oracle: at most 4d² of them in all."""

OPERATIONS_FACTOR = 16
"""O(d²) time of an oracle's MLPs: at most 16(d + 1)² operations a token."""


class ModelError(ValueError):
    """A step breaks a rule of the model: the rule, the call or step, found and allowed."""

    def __init__(self, rule: str, step: str, found: object, allowed: object) -> None:
        super().__init__(rule, step, found, allowed)
        self.rule, self.step, self.found, self.allowed = rule, step, found, allowed

    def __str__(self) -> str:
        return f"{self.step}: {self.rule}: found {self.found}, allowed {self.allowed}"


@dataclass(frozen=True)
class Limits:
    """What one oracle call may hold, and what may be padded outside."""

    tokens: int
    embedding: int
    constants: int
    operations: int
    heads: int = 1
    layers: int = 1

    def __post_init__(self) -> None:
        if self.tokens < 2:
            raise ModelError("the oracle takes M tokens", "limits", self.tokens, "M of at least 2")

    @classmethod
    def of_paper(cls, *, tokens: int, dimension: int, heads: int = 1, layers: int = 1) -> Self:
        """M tokens, O(d) embedding, O(d²) constants and MLP time, with the factors above."""
        return cls(
            tokens=tokens,
            embedding=EMBEDDING_FACTOR * dimension,
            constants=CONSTANTS_FACTOR * dimension**2,
            operations=OPERATIONS_FACTOR * (dimension + 1) ** 2,
            heads=heads,
            layers=layers,
        )
