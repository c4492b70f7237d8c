"""The command `symsim`.

Exit codes: 0 all as expected; 1 a result differs from dense attention or is not finite;
2 usage or malformed input; 3 environment; 4 undecided, or a resource limit; 130 interrupted;
141 whoever read the output closed it.
"""

from __future__ import annotations

import contextlib
import io
import os
import sys
from collections.abc import Sequence

EXIT_USAGE, EXIT_ENVIRONMENT, EXIT_UNDECIDED = 2, 3, 4
EXIT_INTERRUPTED, EXIT_PIPE = 130, 141


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
        return _fail("interrupted", EXIT_INTERRUPTED)
    except BrokenPipeError:
        _discard_output()
        return EXIT_PIPE
    except MemoryError:
        return _fail("out of memory", EXIT_UNDECIDED)
    except OSError as error:
        _discard_output()
        return _fail(f"standard output: {error.strerror}", EXIT_ENVIRONMENT)
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
