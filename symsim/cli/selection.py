"""Which documents and steps the arguments of check, show, replay and findings name."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from symsim.claims.library import load, packaged
from symsim.claims.statement import Document


class SelectionError(ValueError):
    """A name that no document holds, or nothing selected."""


@dataclass(frozen=True)
class Selection:
    """A document and, if not all of it, the statements and steps chosen."""

    path: Path
    only: tuple[str, ...] = ()

    @property
    def document(self) -> Document:
        """The document."""
        return load(self.path)


def select(names: Sequence[str]) -> tuple[Selection, ...]:
    """Documents by path or id, statements and steps by name; all packaged ones by default.

    Raises SelectionError for a name that is in none of them, LoadError for a bad path.
    """
    if not names:
        return tuple(Selection(path) for path in packaged())
    chosen: dict[Path, list[str] | None] = {}
    for name in names:
        path, part = _find(name)
        if part is None:
            chosen[path] = None
        elif (parts := chosen.setdefault(path, [])) is not None:
            parts.append(part)
    return tuple(Selection(path, tuple(parts or ())) for path, parts in chosen.items())


def _find(name: str) -> tuple[Path, str | None]:
    """The document that `name` belongs to, and the part of it; None for all."""
    path = Path(name)
    if path.suffix == ".py" or path.is_dir() or "/" in name:
        load(path.resolve())
        return path.resolve(), None
    known: list[str] = []
    for candidate in packaged():
        document = load(candidate)
        if name == document.id:
            return candidate, None
        for statement in document.statements:
            if name == statement.id or name in (step.name for step in statement.steps):
                return candidate, name
        known += [document.id, *(statement.id for statement in document.statements)]
    raise SelectionError(f"{name!r}: not a document, statement, step or path; there are {known}")
