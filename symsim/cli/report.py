"""`symsim report`: the record of the proof documents as files to send."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

from symsim.cli.check import exit_code, results_of
from symsim.cli.output import OutputError, console, print_line, write
from symsim.cli.selection import select
from symsim.report.markdown import page
from symsim.report.record import as_json
from symsim.report.words import summary


def add_to(commands: Any) -> None:
    """Add the subcommand to the command line's grammar."""
    parser = commands.add_parser("report", help="write the record as Markdown and JSON")
    parser.add_argument("names", nargs="*", metavar="ID|PATH")
    parser.add_argument("--out", metavar="DIR", default="symsim-report", help="symsim-report")
    parser.add_argument("--jobs", metavar="N", type=int, default=1, help="worker processes (1)")
    parser.set_defaults(execute=execute)


def execute(arguments: argparse.Namespace) -> int:
    """Check, and write DIR/ID.md and DIR/ID.json for every document."""
    folder = Path(arguments.out)
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise OutputError(f"{folder}: {error.strerror}, expected a folder to write to") from None
    results = results_of(select(arguments.names), arguments.jobs)
    for result in results:
        write(str(folder / f"{result.document.id}.md"), page(result))
        write(str(folder / f"{result.document.id}.json"), as_json([result]))
        print_line(console(), summary(result))
    return exit_code(results)
