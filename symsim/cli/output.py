"""Output: tables for people, JSON files that are never half-written."""

from __future__ import annotations

import contextlib
import os
import sys
import tempfile
from pathlib import Path

from rich.console import Console

from symsim.simulation import InputError

ERROR_PREFIX = "symsim: "


def console() -> Console:
    """Standard output for people; plain where it is no terminal or NO_COLOR is set."""
    return Console(highlight=False, soft_wrap=False)


def progress_console() -> Console:
    """Standard error, for progress bars, which show on a terminal only."""
    return Console(stderr=True)


def write(destination: str, text: str) -> None:
    """Write to standard output for "-", else to a file, complete or not at all."""
    if destination == "-":
        sys.stdout.write(text)
        return
    path = Path(destination)
    try:
        handle, temporary = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")
    except OSError as error:
        raise InputError(path, "output", error.strerror, "a file that can be written") from None
    try:
        with os.fdopen(handle, "w", encoding="utf-8") as stream:
            stream.write(text)
        os.chmod(temporary, 0o644)
        os.replace(temporary, path)
    except OSError as error:
        raise InputError(path, "output", error.strerror, "a file that can be written") from None
    finally:
        with contextlib.suppress(FileNotFoundError):
            os.unlink(temporary)
