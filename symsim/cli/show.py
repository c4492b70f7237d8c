"""`symsim show`, `symsim replay`, `symsim findings`: statements, derivations, the register."""

from __future__ import annotations

import argparse
from typing import Any

from symsim.claims.check import check
from symsim.cli import exit_codes
from symsim.cli.check import exit_code, results_of
from symsim.cli.output import console, print_line
from symsim.cli.selection import SelectionError, select
from symsim.report.words import finding_lines, heading, replayed


def add_to(commands: Any) -> None:
    """Add the subcommands to the command line's grammar."""
    parser = commands.add_parser("show", help="a statement and its steps")
    parser.add_argument("name", metavar="ID")
    parser.set_defaults(execute=show)
    parser = commands.add_parser("replay", help="a derivation, line by line, with its evidence")
    parser.add_argument("name", metavar="ID")
    parser.add_argument("--step", metavar="NAME", help="one step only")
    parser.set_defaults(execute=replay)
    parser = commands.add_parser("findings", help="what fails, re-run now, and how it is repaired")
    parser.add_argument("name", metavar="ID", nargs="?", help="one finding")
    parser.set_defaults(execute=findings)


def show(arguments: argparse.Namespace) -> int:
    """Print statements with what each step says and claims; nothing is decided."""
    out = console()
    for selection in select([arguments.name]):
        for statement in selection.document.statements:
            steps = [
                step
                for step in statement.steps
                if not selection.only or {statement.id, step.name} & set(selection.only)
            ]
            if steps:
                print_line(out, f"{statement.id}  {statement.title}")
                print_line(out, f"  {statement.says}")
            for step in steps:
                print_line(out, f"  {step.name} ({step.role}): {step.says}")
                print_line(out, f"    claim: {step.claim}")
    return exit_codes.OK


def replay(arguments: argparse.Namespace) -> int:
    """Decide and print every selected step with its evidence."""
    (selection,) = select([arguments.step or arguments.name])
    (result,) = results_of([selection])
    out = console()
    steps = {step.name: step for s in selection.document.statements for step in s.steps}
    for statement in result.statements:
        print_line(out, heading(statement))
        for found in statement.steps:
            print_line(out, "")
            for line in replayed(steps[found.name], found):
                print_line(out, line)
    return exit_code([result])


def findings(arguments: argparse.Namespace) -> int:
    """Re-run the steps of the findings and print the register."""
    out, codes = console(), set()
    for selection in select([]):
        document = selection.document
        chosen = [f for f in document.findings if arguments.name in (None, f.id)]
        if not chosen:
            continue
        names = tuple(dict.fromkeys(name for finding in chosen for name in finding.steps))
        result = check(selection.path, names)
        codes.add(exit_code([result]))
        for finding in chosen:
            for line in finding_lines(finding, result):
                print_line(out, line)
            print_line(out, "")
    if not codes:
        raise SelectionError(f"finding {arguments.name!r}: there is none of that name")
    return max(codes)
