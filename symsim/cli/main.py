"""The command `symsim`.

Exit codes: 0 all as expected; 1 a result differs from dense attention or is not finite;
2 usage or malformed input; 3 environment; 4 undecided, or a resource limit.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from typing import NoReturn

import symsim
from symsim.arithmetic import NumberError
from symsim.cli import listing, run
from symsim.cli.output import ERROR_PREFIX
from symsim.model import ModelError
from symsim.simulation import InputError, OptionError
from symsim.simulation.simulate import ResourceError

USAGE, UNDECIDED = 2, 4


class Parser(argparse.ArgumentParser):
    """Says what is wrong with the command line in one line."""

    def error(self, message: str) -> NoReturn:
        self.exit(USAGE, f"{ERROR_PREFIX}{message} (see {self.prog} --help)\n")


def parser() -> Parser:
    """The command line's grammar."""
    main_parser = Parser(prog="symsim", description=symsim.__doc__)
    main_parser.add_argument("--version", action="version", version=f"symsim {symsim.__version__}")
    commands = main_parser.add_subparsers(dest="command", required=True, metavar="COMMAND")
    for command in (run, listing):
        command.add_to(commands)
    return main_parser


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command line; returns the exit code."""
    try:
        options = parser().parse_args(arguments)
        code: int = options.execute(options)
    except (InputError, OptionError, ModelError, NumberError) as error:
        print(f"{ERROR_PREFIX}{error}", file=sys.stderr)
        return USAGE
    except ResourceError as error:
        print(f"{ERROR_PREFIX}{error}", file=sys.stderr)
        return UNDECIDED
    return code
