"""`symsim check`: replay proof documents and compare verdicts with what they expect."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from typing import Any

from rich.console import Console
from rich.progress import Progress

from symsim.claims.check import DocumentResult, StatementResult, check, chosen
from symsim.claims.verdict import Kind
from symsim.cli import exit_codes
from symsim.cli.output import check_destination, console, print_line, progress_bar, write
from symsim.cli.selection import Selection, select
from symsim.cli.text import print_wrapped
from symsim.report.record import as_json, as_junit
from symsim.report.words import dependencies, heading, standing_line, step_words, summary
from symsim.simulation import InputError

_WIDEST_NAME = 20


def add_to(commands: Any) -> None:
    """Add the subcommand to the command line's grammar."""
    parser = commands.add_parser(
        "check",
        help="replay proof documents",
        description="Decide every step of proof documents with every engine that can, and "
        "compare with the verdicts they expect. Without names: all packaged documents.",
        allow_abbrev=False,
    )
    add_names(parser)
    parser.add_argument("--json", metavar="FILE|-", help="write the record")
    parser.add_argument("--junit", metavar="FILE", help="write JUnit XML")
    add_jobs(parser)
    parser.set_defaults(execute=execute)


def add_names(parser: argparse.ArgumentParser) -> None:
    """The argument that `select` understands."""
    parser.add_argument(
        "names",
        nargs="*",
        metavar="ID|PATH",
        help="documents, statements and steps by name; documents by path",
    )


def add_jobs(parser: argparse.ArgumentParser) -> None:
    """The option for worker processes."""
    parser.add_argument(
        "--jobs", metavar="N", type=_at_least_one, default=1, help="worker processes (1)"
    )


def _at_least_one(text: str) -> int:
    number = int(text) if text.isascii() and text.isdigit() else 0
    if not 1 <= number <= 10_000:
        raise argparse.ArgumentTypeError(f"{text!r} is no number of processes, expected 1 or more")
    return number


def execute(arguments: argparse.Namespace) -> int:
    """0 if all verdicts are the expected ones, 4 if the rest is merely undecided, else 1."""
    if arguments.json is not None:
        check_destination(arguments.json)
    if arguments.junit is not None:
        _check_junit(arguments.junit)
    results = results_of(select(arguments.names), arguments.jobs)
    if arguments.json is not None:
        write(arguments.json, as_json(results))
    if arguments.junit is not None:
        write(arguments.junit, as_junit(results))
    if arguments.json != "-":
        _print(results)
    return exit_code(results)


def _check_junit(destination: str) -> None:
    if destination == "-":
        raise InputError(destination, "--junit", "standard output", "a file to write")
    try:
        check_destination(destination)
    except InputError as error:
        raise InputError(error.source, "--junit", error.found, error.expected) from None


def results_of(
    selections: Sequence[Selection], jobs: int = 1, *, mutants: bool = True
) -> list[DocumentResult]:
    """Check what is selected, with a progress bar on a terminal."""
    results: list[DocumentResult] = []
    with progress_bar() as bar:
        results.extend(_checked(selection, jobs, mutants, bar) for selection in selections)
    return results


def _checked(selection: Selection, jobs: int, mutants: bool, bar: Progress) -> DocumentResult:
    steps = chosen(selection.document, selection.only)
    task = bar.add_task(selection.document.id, total=len(steps))
    return check(
        selection.path,
        selection.only,
        jobs=jobs,
        mutants=mutants,
        progress=lambda _: bar.advance(task),
    )


def _print(results: Sequence[DocumentResult]) -> None:
    out = console()
    for result in results:
        print_wrapped(out, [result.document.title])
        for statement in result.statements:
            print_line(out, "")
            _print_statement(out, statement)
        print_line(out, "")
        print_wrapped(out, [dependencies(result.document), summary(result)])
        print_line(out, "")


def _print_statement(out: Console, result: StatementResult) -> None:
    print_wrapped(out, [heading(result.statement), f"  {standing_line(result)}"])
    width = min(_WIDEST_NAME, max(len(step.name) for step in result.steps))
    for step in result.steps:
        mark = " " if step.as_expected else "!"
        print_wrapped(out, [f"{mark} {step.name:{width}}  {step_words(step)}"], hang=width + 4)


def exit_code(results: Sequence[DocumentResult]) -> int:
    """The exit code for checked documents; no steps at all is an error of usage."""
    steps = [step for result in results for step in result.steps]
    if not steps:
        return exit_codes.USAGE
    unexpected = [step for step in steps if not step.as_expected]
    if not unexpected:
        return exit_codes.OK
    open_kinds = {Kind.UNDECIDED, Kind.PROBABLE, Kind.SAMPLED, Kind.ENCLOSED}
    merely_open = all(step.verdict.kind in open_kinds for step in unexpected)
    return exit_codes.UNDECIDED if merely_open else exit_codes.DIFFERS
