"""Masks: which keys a query may read.

Token indices are absolute and count from 0 (the paper counts from 1): a query's own index is
its position in the sequence, so causal alignment never depends on how tokens are split.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

MaskKind = Literal["full", "causal", "window", "sink"]
BoolArray = np.ndarray[Any, np.dtype[np.bool_]]


class MaskError(ValueError):
    """A mask's parameters make no sense."""


@dataclass(frozen=True)
class Mask:
    """Definitions 2.3-2.5 of Yu & Alman.

    full: every key. causal: j <= i. window r: i - r < j <= i, exactly r keys once i >= r - 1.
    sink (r, s): j <= i and (j < s or j > i - r); a key in both counts once.
    """

    kind: MaskKind = "full"
    window: int | None = None
    sinks: int | None = None

    def __post_init__(self) -> None:
        if self.kind not in ("full", "causal", "window", "sink"):
            raise MaskError(f"mask {self.kind!r}: expected full, causal, window or sink")
        needs_window, needs_sinks = self.kind in ("window", "sink"), self.kind == "sink"
        _check(self.kind, "window", self.window, needed=needs_window, least=1)
        _check(self.kind, "sinks", self.sinks, needed=needs_sinks, least=0)

    def allows(self, query: int, key: int) -> bool:
        """Whether the query at index `query` may read the key at index `key`."""
        if self.kind == "full":
            return True
        if self.kind == "causal":
            return key <= query
        assert self.window is not None
        near = query - self.window < key <= query
        if self.kind == "window":
            return near
        assert self.sinks is not None
        return near or (key <= query and key < self.sinks)

    def matrix(self, tokens: int) -> BoolArray:
        """Boolean (tokens, tokens): entry (i, j) says whether query i may read key j."""
        query, key = np.arange(tokens)[:, None], np.arange(tokens)[None, :]
        if self.kind == "full":
            return np.ones((tokens, tokens), dtype=bool)
        causal = key <= query
        if self.kind == "causal":
            return causal
        keep = key > query - (self.window or 0)
        if self.kind == "sink":
            keep = keep | (key < (self.sinks or 0))
        return causal & keep

    def __str__(self) -> str:
        parameters = [str(p) for p in (self.window, self.sinks) if p is not None]
        return self.kind + (f"({', '.join(parameters)})" if parameters else "")


def _check(kind: str, name: str, value: int | None, *, needed: bool, least: int) -> None:
    whole = isinstance(value, (int, np.integer)) and not isinstance(value, bool)
    if needed and (value is None or not whole or value < least):
        raise MaskError(
            f"{kind} mask: {name} is {value!r}, expected an integer of at least {least}"
        )
    if not needed and value is not None:
        raise MaskError(f"{kind} mask: {name} is {value!r}, expected none")


FULL = Mask("full")
CAUSAL = Mask("causal")
