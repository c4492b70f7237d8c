"""Which documents and steps the arguments of check, show, replay and findings name."""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from difflib import get_close_matches
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

    With paths, other names are looked up in those documents only, and of a document whose
    parts are named, those parts are selected. ' and '' stand for ′ and ″.
    Raises SelectionError for a name that is in no document, LoadError for a bad path.
    """
    paths = [Path(os.path.realpath(name)) for name in names if _is_path(name)]
    documents = dict.fromkeys(paths or packaged())
    chosen: dict[Path, list[str]] = {}
    for name in names:
        if not _is_path(name):
            for path, part in _find(name, documents):
                chosen.setdefault(path, []).append(part)
    for path in documents if paths or not names else ():
        chosen.setdefault(path, [])
        load(path)
    return tuple(
        Selection(path, () if load(path).id in parts else tuple(dict.fromkeys(parts)))
        for path, parts in chosen.items()
    )


def _is_path(name: str) -> bool:
    if "/" in name or name.endswith(".py"):
        return True
    return name not in _names(packaged()) and os.path.exists(name)


def _find(name: str, documents: Iterable[Path]) -> list[tuple[Path, str]]:
    """Where `name` is a document, a statement or a step; as it is called there."""
    spelled = name.replace("''", "″").replace("'", "′")
    found = [
        (path, part) for path in documents for part in (name, spelled) if part in _names([path])
    ]
    if not found:
        raise SelectionError(_unknown(name, spelled, documents))
    return found


def _unknown(name: str, spelled: str, documents: Iterable[Path]) -> str:
    loaded = [load(path) for path in documents]
    if any(name == finding.id for document in loaded for finding in document.findings):
        return f"{name!r}: is a finding, see `symsim findings {name}`"
    near = nearest(spelled, _names(documents))
    if near:
        return f"{name!r}: no document, statement or step; did you mean {near}?"
    there = "; ".join(
        f"{document.id} with {', '.join(statement.id for statement in document.statements)}"
        for document in loaded
    )
    return f"{name!r}: no document, statement, step or path; there are {there}"


def nearest(name: str, known: Iterable[str]) -> str:
    """Known names that look like `name`, as `A, B or C`; empty if there are none."""
    by_folded = {other.casefold(): other for other in known}
    near = [by_folded[folded] for folded in get_close_matches(name.casefold(), by_folded, 3, 0.7)]
    return " or ".join(filter(None, (", ".join(near[:-1]), *near[-1:])))


def _names(paths: Iterable[Path]) -> list[str]:
    """Ids of documents and statements, names of steps."""
    names: list[str] = []
    for path in paths:
        document = load(path)
        statements = [statement.id for statement in document.statements]
        names += [document.id, *statements, *(step.name for step in document.steps)]
    return names
