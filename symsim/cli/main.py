"""The command `symsim`: what no subcommand can handle, from Ctrl-C to a closed pipe."""

from __future__ import annotations

import contextlib
import io
import os
import sys
from collections.abc import Sequence

from symsim.cli import exit_codes


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command line (sys.argv by default); returns the exit code."""
    try:
        _escape_what_streams_cannot_encode()
        # Imported here, as numbers take a second to load: Ctrl-C may come then, too.
        from symsim.cli.command_line import execute  # noqa: PLC0415

        code = execute(arguments)
        if sys.stdout is not None:
            sys.stdout.flush()
    except KeyboardInterrupt:
        return _fail("interrupted", exit_codes.INTERRUPTED)
    except BrokenPipeError:
        _discard_output()
        return exit_codes.PIPE_CLOSED
    except MemoryError:
        return _fail("out of memory", exit_codes.UNDECIDED)
    except OSError as error:
        _discard_output()
        return _fail(f"standard output: {error.strerror}", exit_codes.ENVIRONMENT)
    return code


def _fail(message: str, code: int) -> int:
    print(f"symsim: {message}", file=sys.stderr)
    return code


def _escape_what_streams_cannot_encode() -> None:
    """Where the locale is not UTF-8, write the number of a letter instead of failing."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")


def _discard_output() -> None:
    """Let Python's last flush of standard output go nowhere, instead of failing again."""
    with contextlib.suppress(OSError, ValueError), open(os.devnull, "w") as nowhere:
        os.dup2(nowhere.fileno(), sys.stdout.fileno())
