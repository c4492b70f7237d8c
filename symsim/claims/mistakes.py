"""Constructions with a deliberate mistake: one place of one source file changed.

What an execution claims of a construction it must refute of its mistaken versions.
"""

from __future__ import annotations

import importlib
import inspect
import sys
import types
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

_PACKAGE = "symsim.constructions"


@dataclass(frozen=True)
class Mistake:
    """`right` replaced by `wrong` in the construction file `file`, where it stands once."""

    what: str
    file: str
    right: str
    wrong: str


class MistakeError(ValueError):
    """The text to replace does not stand exactly once in the file."""


@contextmanager
def mistaken(mistake: Mistake) -> Iterator[None]:
    """Within the context, `symsim.constructions` is imported afresh with the mistake in it.

    Raises MistakeError where there is nothing, or more than one place, to change.
    """
    name = f"{_PACKAGE}.{mistake.file}"
    source = inspect.getsource(importlib.import_module(name))
    if source.count(mistake.right) != 1:
        raise MistakeError(
            f"{mistake.file}: {mistake.right!r} stands {source.count(mistake.right)} times, "
            "expected once"
        )
    saved = {key: sys.modules.pop(key) for key in list(sys.modules) if key.startswith(_PACKAGE)}
    try:
        package = types.ModuleType(_PACKAGE)
        package.__path__ = saved[_PACKAGE].__path__
        module = types.ModuleType(name)
        sys.modules |= {_PACKAGE: package, name: module}
        code = compile(source.replace(mistake.right, mistake.wrong), f"<{mistake.what}>", "exec")
        exec(code, module.__dict__)
        yield
    finally:
        for key in [key for key in sys.modules if key.startswith(_PACKAGE)]:
            del sys.modules[key]
        sys.modules |= saved
