"""Proof documents on disk: those packaged with symsim, and anybody's own.

A document is a Python file, or a folder with an __init__.py, that defines DOCUMENT.
"""

from __future__ import annotations

import contextlib
import importlib.util
import sys
import traceback
from functools import cache
from hashlib import sha256
from importlib.machinery import ModuleSpec
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
    """The document at `path`. Raises LoadError with the reason in one line.

    The document is a module of a name of its own, so that two of the same file name do not
    share parts. What it prints goes to standard error.
    """
    spec = _spec(path)
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    try:
        assert spec.loader is not None
        with contextlib.redirect_stdout(sys.stderr):
            spec.loader.exec_module(module)
    except (Exception, SystemExit) as error:
        for name in [name for name in sys.modules if f"{name}.".startswith(f"{spec.name}.")]:
            del sys.modules[name]
        raise LoadError(f"{path}: {_place(error, path)}{_what(error)}") from error
    document = getattr(module, "DOCUMENT", None)
    if document is None:
        raise LoadError(f"{path}: no DOCUMENT, expected a symsim.claims.Document of that name")
    if not isinstance(document, Document):
        found = type(document).__name__
        raise LoadError(f"{path}: DOCUMENT is of type {found}, expected symsim.claims.Document")
    return document


def _spec(path: Path) -> ModuleSpec:
    try:
        folder = path.is_dir()
        source = path / "__init__.py" if folder else path
        found = source.is_file()
    except OSError as error:  # such as a name that is too long
        raise LoadError(f"{path}: {error.strerror}, expected a .py file or a folder") from None
    if not found:
        what = "a folder without __init__.py" if folder else "nothing"
        expected = "a .py file or a folder with __init__.py"
        raise LoadError(f"{path}: found {what}, expected {expected}")
    name = f"symsim_document_{sha256(str(path).encode(errors='replace')).hexdigest()[:16]}"
    submodules = [str(path)] if folder else None
    spec = importlib.util.spec_from_file_location(
        name, source, submodule_search_locations=submodules
    )
    if spec is None:
        raise LoadError(f"{path}: found no Python file, expected a name that ends in .py")
    return spec


def _place(error: BaseException, path: Path) -> str:
    """Where in the document it happened, as `b1.py, line 12: `."""
    frames = traceback.extract_tb(error.__traceback__)
    own = [frame for frame in frames if Path(frame.filename).is_relative_to(path)]
    if not own or isinstance(error, SyntaxError):
        return ""
    return f"{Path(own[-1].filename).name}, line {own[-1].lineno}: "


def _what(error: BaseException) -> str:
    match error:
        case DocumentError():
            return str(error)
        case SystemExit():
            return "the document ends the program, expected a DOCUMENT"
        case _:
            return f"{type(error).__name__}: {error}"


def _is_document(path: Path) -> bool:
    if path.is_dir():
        return (path / "__init__.py").is_file()
    return path.suffix == ".py" and not path.name.startswith("_")
