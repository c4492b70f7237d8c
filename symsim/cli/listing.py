"""`symsim list`: what can be run, and in which arithmetics."""

from __future__ import annotations

import argparse
from typing import Any

from rich.table import Table

from symsim.arithmetic import ARITHMETICS
from symsim.cli.output import console
from symsim.simulation.simulate import CONSTRUCTIONS


def add_to(commands: Any) -> None:
    """Add the subcommand to the command line's grammar."""
    parser = commands.add_parser("list", help="constructions and arithmetics", allow_abbrev=False)
    parser.set_defaults(execute=execute)


def execute(_: argparse.Namespace) -> int:
    """Print both lists."""
    for title, rows in (("constructions", CONSTRUCTIONS), ("arithmetics", ARITHMETICS)):
        table = Table(title=title, title_justify="left", box=None, show_header=False)
        for name, description in rows.items():
            table.add_row(name, description)
        console().print(table)
    return 0
