"""Output: tables for people, JSON files that are never half-written."""

from __future__ import annotations

import contextlib
import os
import secrets
import stat
import sys
from pathlib import Path

from rich.console import Console
from rich.progress import BarColumn, Progress, TextColumn, TimeRemainingColumn
from rich.text import Text

from symsim.simulation import InputError
from symsim.simulation.inputs import one_line, reason

NARROWEST = 80
"""Columns that tables take at least; a narrower terminal wraps them, nothing is cut."""


class OutputError(RuntimeError):
    """A file could not be written, for a reason that is not the command line's."""


class _Console(Console):
    """Leaves a closed pipe to `main`."""

    def on_broken_pipe(self) -> None:
        raise BrokenPipeError


def console(*, stderr: bool = False) -> Console:
    """Standard output for people, or standard error; plain if no terminal or NO_COLOR is set."""
    made = _Console(
        stderr=stderr,
        highlight=False,
        color_system=None if os.environ.get("NO_COLOR") else "auto",
    )
    made.width = max(made.width, NARROWEST)
    return made


def print_line(out: Console, line: str) -> None:
    """One line as it is, which a terminal may wrap."""
    out.print(Text(line), soft_wrap=True)


def progress_bar() -> Progress:
    """A bar on standard error, on a terminal only."""
    terminal = console(stderr=True)
    return Progress(
        TextColumn("{task.description}"),
        BarColumn(),
        TimeRemainingColumn(),
        console=terminal,
        transient=True,
        disable=not terminal.is_terminal,
    )


def check_destination(destination: str) -> None:
    """Raise InputError if `destination` is a directory, or in one that is not there."""
    if destination == "-":
        return
    path = Path(destination)
    try:
        if path.is_dir():
            raise InputError(path, "--json", "a directory", "a file to write")
        if not path.parent.is_dir():
            raise InputError(path, "--json", "no such directory", "a file in a directory")
    except (OSError, ValueError) as error:
        if isinstance(error, InputError):
            raise
        raise InputError(path, "--json", reason(error), "a file to write") from None


def write(destination: str, text: str) -> None:
    """Write to standard output for "-", else to a file, complete or not at all.

    What is there and no regular file (a pipe, /dev/null) is written to, not replaced; of a
    symbolic link, the file that it points to is replaced. Raises InputError if the file cannot
    be made, OutputError if writing fails.
    """
    if destination == "-":
        sys.stdout.write(text)
        return
    is_regular = _is_new_or_regular(destination)
    path = Path(os.path.realpath(destination) if is_regular else destination)
    target = path.with_name(f".symsim-{secrets.token_hex(8)}") if is_regular else path
    flags = os.O_WRONLY | (os.O_CREAT | os.O_EXCL if is_regular else 0)
    try:
        handle = os.open(target, flags, 0o666)
    except OSError as error:
        raise InputError(destination, "--json", reason(error), "a file to write") from None
    try:
        with open(handle, "w", encoding="utf-8") as stream:
            stream.write(text)
        if is_regular:
            os.replace(target, path)
    except OSError as error:
        raise OutputError(f"{one_line(destination)}: --json: {reason(error)}") from None
    finally:
        if is_regular:
            with contextlib.suppress(FileNotFoundError):
                os.unlink(target)


def _is_new_or_regular(destination: str) -> bool:
    try:
        return stat.S_ISREG(os.stat(destination).st_mode)
    except OSError:
        return True
