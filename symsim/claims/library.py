"""Proof documents on disk: those packaged with symsim, and anybody's own.

A document is a Python file, or a folder with an __init__.py, that defines DOCUMENT.
"""

from __future__ import annotations

import importlib.util
import sys
from functools import cache
from pathlib import Path

from symsim.claims.statement import Document, DocumentError


class LoadError(ValueError):
    """A path does not hold a proof document; the message names it and what is wrong."""


def packaged() -> tuple[Path, ...]:
    """The documents that come with symsim, from an installation or a checkout."""
    home = Path(__file__).parents[1]
    for folder in (home / "proofs", home.parent / "proofs"):
        if folder.is_dir():
            found = [p for p in sorted(folder.iterdir()) if _is_document(p)]
            if found:
                return tuple(found)
    raise LoadError(f"{home / 'proofs'}: no proof documents are installed")


@cache
def load(path: Path) -> Document:
    """The document at `path`. Raises LoadError with the reason in one line."""
    source = path / "__init__.py" if path.is_dir() else path
    if not source.is_file():
        raise LoadError(f"{path}: found nothing, expected a .py file or a folder with __init__.py")
    name = f"symsim_document_{path.stem}"
    spec = importlib.util.spec_from_file_location(
        name, source, submodule_search_locations=[str(path)] if path.is_dir() else None
    )
    if spec is None or spec.loader is None:
        raise LoadError(f"{path}: not a Python file")
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    try:
        spec.loader.exec_module(module)
    except DocumentError as error:
        raise LoadError(f"{path}: {error}") from None
    except Exception as error:
        raise LoadError(f"{path}: {type(error).__name__}: {error}") from error
    document = getattr(module, "DOCUMENT", None)
    if not isinstance(document, Document):
        raise LoadError(f"{path}: DOCUMENT is {document!r}, expected a symsim.claims.Document")
    return document


def _is_document(path: Path) -> bool:
    if path.is_dir():
        return (path / "__init__.py").is_file()
    return path.suffix == ".py" and not path.name.startswith("_")
