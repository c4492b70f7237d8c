"""The command line's grammar, and the exit code of every error."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from typing import NoReturn

import symsim
from symsim.arithmetic import NumberError, UndecidableError
from symsim.claims.check import MissingEngineError
from symsim.claims.library import LoadError
from symsim.cli import check, exit_codes, listing, report, run, show
from symsim.cli.output import OutputError
from symsim.cli.selection import SelectionError
from symsim.model import ModelError
from symsim.simulation import InputError, OptionError, ResourceError

_EXIT_CODES: tuple[tuple[type[Exception], int], ...] = (
    (UndecidableError, exit_codes.UNDECIDED),
    (ResourceError, exit_codes.UNDECIDED),
    (InputError, exit_codes.USAGE),
    (OptionError, exit_codes.USAGE),
    (ModelError, exit_codes.USAGE),
    (NumberError, exit_codes.USAGE),
    (LoadError, exit_codes.USAGE),
    (SelectionError, exit_codes.USAGE),
    (OutputError, exit_codes.ENVIRONMENT),
    (MissingEngineError, exit_codes.ENVIRONMENT),
)
"""The first that fits counts."""

_ERRORS = tuple(kind for kind, _ in _EXIT_CODES)


class Parser(argparse.ArgumentParser):
    """Says what is wrong with the command line in one line."""

    def error(self, message: str) -> NoReturn:
        self.exit(
            exit_codes.USAGE, f"symsim: {' '.join(message.split())} (see {self.prog} --help)\n"
        )


def parser() -> Parser:
    """The command line's grammar."""
    main_parser = Parser(prog="symsim", description=symsim.__doc__, allow_abbrev=False)
    main_parser.add_argument("--version", action="version", version=f"symsim {symsim.__version__}")
    commands = main_parser.add_subparsers(dest="command", required=True, metavar="COMMAND")
    for command in (run, check, show, report, listing):
        command.add_to(commands)
    return main_parser


def execute(arguments: Sequence[str] | None = None) -> int:
    """Run the command line; returns the exit code. An error is one line on standard error."""
    try:
        options = parser().parse_args(arguments)
        code: int = options.execute(options)
    except SystemExit as end:  # --help, --version, or a usage error that argparse has printed
        return end.code if isinstance(end.code, int) else 0
    except _ERRORS as error:
        print(f"symsim: {' '.join(str(error).split())}", file=sys.stderr)
        return next(code for kind, code in _EXIT_CODES if isinstance(error, kind))
    return code
