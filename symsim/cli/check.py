"""`symsim check`: replay proof documents and compare verdicts with what they expect."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from typing import Any

from rich.progress import Progress

from symsim.claims.check import DocumentResult, check
from symsim.claims.verdict import Kind
from symsim.cli import exit_codes
from symsim.cli.output import check_destination, console, print_line, progress_bar, write
from symsim.cli.selection import Selection, select
from symsim.report.record import as_json, as_junit
from symsim.report.words import heading, step_line, summary


def add_to(commands: Any) -> None:
    """Add the subcommand to the command line's grammar."""
    parser = commands.add_parser(
        "check",
        help="replay proof documents",
        description="Decide every step of proof documents with every engine that can, and "
        "compare with the verdicts they expect. Without names: all packaged documents.",
    )
    parser.add_argument("names", nargs="*", metavar="ID|PATH")
    parser.add_argument("--json", metavar="FILE|-", help="write the record")
    parser.add_argument("--junit", metavar="FILE", help="write JUnit XML")
    parser.add_argument("--jobs", metavar="N", type=int, default=1, help="worker processes (1)")
    parser.set_defaults(execute=execute)


def execute(arguments: argparse.Namespace) -> int:
    """0 if all verdicts are the expected ones, 4 if the rest is merely undecided, else 1."""
    for destination in (arguments.json, arguments.junit):
        if destination is not None:
            check_destination(destination)
    results = results_of(select(arguments.names), arguments.jobs)
    if arguments.json is not None:
        write(arguments.json, as_json(results))
    if arguments.junit is not None:
        write(arguments.junit, as_junit(results))
    if arguments.json != "-":
        _print(results)
    return exit_code(results)


def results_of(selections: Sequence[Selection], jobs: int = 1) -> list[DocumentResult]:
    """Check what is selected, with a progress bar on a terminal."""
    results: list[DocumentResult] = []
    with progress_bar() as bar:
        results.extend(_checked(selection, jobs, bar) for selection in selections)
    return results


def _checked(selection: Selection, jobs: int, bar: Progress) -> DocumentResult:
    document = selection.document
    steps = sum(len(statement.steps) for statement in document.statements)
    task = bar.add_task(document.id, total=None if selection.only else steps)
    return check(selection.path, selection.only, jobs=jobs, progress=lambda _: bar.advance(task))


def _print(results: Sequence[DocumentResult]) -> None:
    out = console()
    for result in results:
        print_line(out, result.document.title)
        for statement in result.statements:
            print_line(out, "")
            print_line(out, heading(statement))
            for step in statement.steps:
                mark = " " if step.as_expected else "!"
                print_line(out, f"{mark} {step_line(step)}")
        print_line(out, "")
        print_line(out, summary(result))


def exit_code(results: Sequence[DocumentResult]) -> int:
    """The exit code for checked documents; no steps at all is an error of usage."""
    steps = [step for result in results for step in result.steps]
    if not steps:
        return exit_codes.USAGE
    unexpected = [step for step in steps if not step.as_expected]
    if not unexpected:
        return exit_codes.OK
    open_kinds = {Kind.UNDECIDED, Kind.NOT_RUN, Kind.PROBABLE, Kind.SAMPLED, Kind.ENCLOSED}
    merely_open = all(step.verdict.kind in open_kinds for step in unexpected)
    return exit_codes.UNDECIDED if merely_open else exit_codes.DIFFERS
