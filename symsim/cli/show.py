"""`symsim show`, `symsim replay`, `symsim findings`: statements, derivations, the register."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from typing import Any

from symsim.claims.check import chosen
from symsim.claims.statement import Document, Finding
from symsim.cli import exit_codes
from symsim.cli.check import add_jobs, exit_code, results_of
from symsim.cli.output import console, print_line
from symsim.cli.selection import Selection, SelectionError, nearest, select
from symsim.cli.text import print_wrapped
from symsim.report.tex import derivation
from symsim.report.words import finding_lines, heading, replayed, standing_line, stated


def add_to(commands: Any) -> None:
    """Add the subcommands to the command line's grammar."""
    parser = commands.add_parser("show", help="a statement and its steps", allow_abbrev=False)
    parser.add_argument("names", nargs="+", metavar="ID|PATH")
    parser.set_defaults(execute=show)
    parser = commands.add_parser(
        "replay", help="a derivation, line by line, with its evidence", allow_abbrev=False
    )
    parser.add_argument("names", nargs="+", metavar="ID|PATH")
    parser.add_argument("--step", metavar="NAME", help="one step only")
    parser.add_argument("--latex", action="store_true", help="formulas to paste into a paper")
    add_jobs(parser)
    parser.set_defaults(execute=replay)
    parser = commands.add_parser(
        "findings", help="what fails, re-run now, and how it is repaired", allow_abbrev=False
    )
    parser.add_argument("name", metavar="ID", nargs="?", help="one finding")
    add_jobs(parser)
    parser.set_defaults(execute=findings)


def show(arguments: argparse.Namespace) -> int:
    """Print statements with what each step says and claims; nothing is decided."""
    out = console()
    for selection in select(arguments.names):
        document = selection.document
        if not selection.only:
            print_wrapped(out, [document.title, ""])
        steps = set(chosen(document, selection.only))
        for statement in document.statements:
            shown = [step for step in statement.steps if step in steps]
            if shown:
                print_wrapped(out, [*stated(document, statement, shown), ""])
    return exit_codes.OK


def replay(arguments: argparse.Namespace) -> int:
    """Decide and print every selected step with its evidence."""
    selections = select(arguments.names)
    if arguments.step is not None:
        selections = _one_step(selections, arguments.step)
    results = results_of(selections, arguments.jobs)
    out = console()
    for result in results:
        steps = {step.name: step for step in result.document.steps}
        for statement in result.statements:
            if not arguments.latex:
                print_wrapped(out, [heading(statement.statement), f"  {standing_line(statement)}"])
                print_line(out, "")
            for found in statement.steps:
                step = steps[found.name]
                if arguments.latex:
                    for line in derivation(result.document, step, found):
                        print_line(out, line)
                else:
                    print_wrapped(out, replayed(result.document, step, found))
                print_line(out, "")
    return exit_code(results)


def _one_step(selections: Sequence[Selection], name: str) -> tuple[Selection, ...]:
    """The step of that name, of those selected."""
    spelled = name.replace("''", "″").replace("'", "′")
    known: list[str] = []
    for selection in selections:
        names = [step.name for step in chosen(selection.document, selection.only)]
        if spelled in names:
            return (Selection(selection.path, (spelled,)),)
        known += names
    near = nearest(spelled, known)
    hint = f"did you mean {near}?" if near else f"there are {', '.join(known)}"
    raise SelectionError(f"--step: {name!r}: no such step; {hint}")


def findings(arguments: argparse.Namespace) -> int:
    """Re-run the steps of the findings, without mutants, and print the register."""
    selections = select([])
    chosen_of = {s: _findings(s.document, arguments.name) for s in selections}
    if not any(chosen_of.values()):
        known = [finding.id for s in selections for finding in s.document.findings]
        raise SelectionError(
            f"{arguments.name!r}: no such finding; there are {', '.join(known) or 'none'}"
        )
    parts = [
        Selection(s.path, tuple(dict.fromkeys(name for f in found for name in f.steps)))
        for s, found in chosen_of.items()
        if any(finding.steps for finding in found)
    ]
    results = results_of(parts, arguments.jobs, mutants=False)
    out = console()
    for result in results:
        for finding in _findings(result.document, arguments.name):
            print_wrapped(out, [*finding_lines(finding, result), ""])
    return exit_code(results)


def _findings(document: Document, name: str | None) -> list[Finding]:
    return [finding for finding in document.findings if name in (None, finding.id)]
