"""`symsim list`: what can be checked, what can be run, and in which arithmetics."""

from __future__ import annotations

import argparse
from collections.abc import Mapping
from typing import Any

from rich.table import Table
from rich.text import Text

from symsim.arithmetic import ARITHMETICS
from symsim.cli.output import console
from symsim.cli.selection import select
from symsim.simulation.simulate import CONSTRUCTIONS


def add_to(commands: Any) -> None:
    """Add the subcommand to the command line's grammar."""
    parser = commands.add_parser(
        "list", help="statements, findings, constructions and arithmetics", allow_abbrev=False
    )
    parser.set_defaults(execute=execute)


def execute(_: argparse.Namespace) -> int:
    """Print the lists."""
    documents = [selection.document for selection in select([])]
    statements = {f"statements of {d.id}": {s.id: s.title for s in d.statements} for d in documents}
    findings = {f"findings of {d.id}": {f.id: f.fails for f in d.findings} for d in documents}
    lists: dict[str, Mapping[str, str]] = {
        **statements,
        **{title: rows for title, rows in findings.items() if rows},
        "constructions": CONSTRUCTIONS,
        "arithmetics": ARITHMETICS,
    }
    for title, rows in lists.items():
        table = Table(title=title, title_justify="left", box=None, show_header=False)
        for name, description in rows.items():
            table.add_row(Text(name), Text(description))
        console().print(table)
    return 0
