"""`symsim report`: the record of the proof documents as files to send."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

from symsim.cli.check import add_jobs, add_names, exit_code, results_of
from symsim.cli.output import OutputError, console, write
from symsim.cli.selection import SelectionError, select
from symsim.cli.text import print_wrapped
from symsim.report.markdown import page
from symsim.report.record import as_json
from symsim.report.words import summary
from symsim.simulation import InputError


def add_to(commands: Any) -> None:
    """Add the subcommand to the command line's grammar."""
    parser = commands.add_parser(
        "report",
        help="write the record as Markdown and JSON",
        description="Check proof documents; write DIR/ID.md and DIR/ID.json for each.",
        allow_abbrev=False,
    )
    add_names(parser)
    parser.add_argument("--out", metavar="DIR", default="symsim-report", help="symsim-report")
    add_jobs(parser)
    parser.set_defaults(execute=execute)


def execute(arguments: argparse.Namespace) -> int:
    """Check, and write DIR/ID.md and DIR/ID.json for every document."""
    selections = select(arguments.names)
    ids = [selection.document.id for selection in selections]
    for name in ids:
        if ids.count(name) > 1:
            raise SelectionError(f"{name}: {ids.count(name)} documents of this id, one file name")
    folder = _folder(arguments.out)
    results = results_of(selections, arguments.jobs)
    out = console()
    for result in results:
        markdown, record = (folder / f"{result.document.id}.{end}" for end in ("md", "json"))
        write(str(markdown), page(result))
        write(str(record), as_json([result]))
        print_wrapped(out, [f"{markdown}, {record.name}: {summary(result)}"])
    return exit_code(results)


def _folder(name: str) -> Path:
    """The folder, made if it is not there."""
    folder = Path(name)
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except (FileExistsError, NotADirectoryError, ValueError):
        raise InputError(name, "--out", "no folder", "a folder to write to") from None
    except OSError as error:
        raise OutputError(f"{name}: --out: {error.strerror}") from None
    return folder
