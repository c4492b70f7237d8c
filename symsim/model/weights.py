"""Sparse weight matrices: W^Q, W^K and W^V by their nonzero blocks.

A block `Block(source, weight)` multiplies the token's column group `source` by `weight`; the
blocks of a head are the only nonzero parts of its matrices. Numbers of a `Parameter` are bound
when a plan is run.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Identity:
    """The width × width identity: a selection of columns."""

    width: int

    @property
    def shape(self) -> tuple[int, int]:
        """(rows, columns)."""
        return self.width, self.width

    @property
    def nonzero(self) -> int:
        """Number of entries that may differ from zero."""
        return self.width

    def __str__(self) -> str:
        return f"I({self.width})"


@dataclass(frozen=True)
class Ones:
    """A 1 × width row of ones: the U of Lemma A.1."""

    width: int

    @property
    def shape(self) -> tuple[int, int]:
        """(rows, columns)."""
        return 1, self.width

    @property
    def nonzero(self) -> int:
        """Number of entries that may differ from zero."""
        return self.width

    def __str__(self) -> str:
        return f"ones(1×{self.width})"


@dataclass(frozen=True)
class Parameter:
    """A named rows × columns matrix of the simulated transformer, such as W_Q."""

    name: str
    shape: tuple[int, int]

    @property
    def nonzero(self) -> int:
        """Number of entries that may differ from zero."""
        return self.shape[0] * self.shape[1]

    def __str__(self) -> str:
        return f"{self.name}({self.shape[0]}×{self.shape[1]})"


Weight = Identity | Ones | Parameter


@dataclass(frozen=True)
class Block:
    """`source` columns times `weight`."""

    source: str
    weight: Weight

    @property
    def width(self) -> int:
        """Number of columns it yields."""
        return self.weight.shape[1]

    def __str__(self) -> str:
        return self.source if isinstance(self.weight, Identity) else f"{self.source}·{self.weight}"
