"""`symsim run`: simulate heads and compare them with dense attention."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from pathlib import Path
from time import perf_counter
from typing import Any

from rich.console import Console
from rich.progress import Progress
from rich.table import Table

from symsim.arithmetic import Arithmetic, Evidence, arithmetic
from symsim.cli.output import check_destination, console, print_line, progress_bar, write
from symsim.simulation import (
    HeadData,
    OptionError,
    Options,
    Simulation,
    as_json,
    check_resources,
    conclusion,
    random_head,
    read_case,
    read_heads,
    record,
    sample_heads,
    simulate,
    trace_lines,
)
from symsim.simulation.inputs import excerpt
from symsim.simulation.simulate import CONSTRUCTIONS, DEFAULT_TOKENS, check_options

SAMPLE_ARITHMETICS = ("float32", "bfloat16", "ball:128")
"""What the packaged sample is run in when nothing is asked."""

_LONGEST_NAME = 64
"""Characters of an arithmetic's name."""


def add_to(commands: Any) -> None:
    """Add the subcommand to the command line's grammar."""
    parser = commands.add_parser(
        "run",
        help="simulate attention heads by a small oracle",
        description="Simulate attention heads by calls of an oracle that takes M tokens, and "
        "compare with dense attention. Without an input: eight real heads packaged with symsim.",
        allow_abbrev=False,
    )
    parser.add_argument("construction", metavar="CONSTRUCTION", help=", ".join(CONSTRUCTIONS))
    source = parser.add_mutually_exclusive_group()
    source.add_argument("--case", metavar="FILE.json", type=Path, help="Q, K, V, N, M, d, mask")
    source.add_argument(
        "--heads", metavar="FILE.npz", type=Path, help="Q, K, V or X, W_Q, W_K, W_V of many heads"
    )
    source.add_argument("--random", metavar="N,d", help="a random head")
    parser.add_argument("--mask", choices=("full",), help="the construction's own mask (full)")
    parser.add_argument("--tokens", metavar="M", type=int, help="the oracle's limit (32)")
    parser.add_argument(
        "--arith",
        metavar="A",
        action="append",
        help="arithmetic, see `symsim list`; may be repeated",
    )
    parser.add_argument("--variant", default="repaired", help="repaired (default) or printed")
    parser.add_argument("--readout", help="dual (default), printed or anchored")
    parser.add_argument("--aggregation", help="a (default) or a:head")
    parser.add_argument("--oracle-layers", metavar="L′", type=int, default=1, help="1")
    parser.add_argument("--oracle-heads", metavar="H′", type=int, default=1, help="1")
    parser.add_argument("--seed", type=int, default=0, help="root of every random choice (0)")
    parser.add_argument("--trace", action="store_true", help="every call, with its numbers")
    parser.add_argument("--json", metavar="FILE|-", help="write the record; - for standard output")
    parser.set_defaults(execute=execute)


def execute(arguments: argparse.Namespace) -> int:
    """Run, print and record; 0 if every simulation held, 1 if one did not, 4 if undecided."""
    options, arithmetics = _options(arguments), _arithmetics(arguments)
    for numbers in arithmetics:
        check_options(options, numbers)
    if arguments.json is not None:
        check_destination(arguments.json)
    heads = _heads(arguments, options, arithmetics)
    records, simulations = [], []
    with progress_bar() as progress:
        for numbers in arithmetics:
            for head in heads:
                simulation, seconds = _simulate(head, options, numbers, progress)
                simulations.append(simulation)
                records.append(record(simulation, arguments.seed, seconds))
    try:
        if arguments.json is not None:  # first, as whoever reads the table may stop
            write(arguments.json, as_json(records))
    finally:
        _print(arguments, simulations)
    return _exit_code(simulations)


def _print(arguments: argparse.Namespace, simulations: Sequence[Simulation]) -> None:
    """The trace and the results; nothing beside JSON on standard output."""
    to_stdout = arguments.json == "-"
    if arguments.trace:
        _print_trace(console(stderr=to_stdout), simulations)
    if not to_stdout:
        _print_results(console(), simulations)


def _options(arguments: argparse.Namespace) -> Options:
    for name, value in (
        ("--oracle-layers", arguments.oracle_layers),
        ("--oracle-heads", arguments.oracle_heads),
    ):
        if value != 1:
            raise OptionError(f"{name} {value}: expected 1 (construction full)")
    if arguments.seed < 0:
        raise OptionError(f"--seed {arguments.seed}: expected an integer of at least 0")
    return Options(
        arguments.construction,
        arguments.variant,
        arguments.readout,
        arguments.aggregation,
        arguments.tokens,
    )


def _arithmetics(arguments: argparse.Namespace) -> list[Arithmetic]:
    names: Sequence[str] = SAMPLE_ARITHMETICS
    if arguments.arith:
        names = arguments.arith
    elif arguments.case:
        names = ["exact"]
    elif arguments.random:
        names = ["ball:128"]
    for name in names:
        if len(name) > _LONGEST_NAME:
            raise OptionError(f"--arith {excerpt(name)}: expected a name as in symsim list")
    return [arithmetic(name) for name in dict.fromkeys(names)]


def _heads(
    arguments: argparse.Namespace, options: Options, arithmetics: Sequence[Arithmetic]
) -> list[HeadData]:
    if arguments.case is not None:
        return [read_case(arguments.case)]
    if arguments.heads is not None:
        return read_heads(arguments.heads)
    if arguments.random is None:
        return sample_heads()
    length, dimension = _pair(arguments.random)
    tokens = DEFAULT_TOKENS if options.tokens is None else options.tokens
    for numbers in arithmetics:
        check_resources(numbers, length, dimension, tokens, options.variant)
    integers = any(numbers.evidence is Evidence.EXACT for numbers in arithmetics)
    return [random_head(length, dimension, arguments.seed, integers=integers)]


def _pair(text: str) -> tuple[int, int]:
    try:
        length, dimension = map(int, text.split(","))
    except ValueError:
        length = dimension = 0
    if length < 1 or dimension < 1:
        raise OptionError(f"--random {excerpt(text)}: expected N,d, two integers of at least 1")
    return length, dimension


def _simulate(
    head: HeadData, options: Options, numbers: Arithmetic, progress: Progress
) -> tuple[Simulation, float]:
    task = progress.add_task(f"{numbers.name}  {head.name}", total=None)
    start = perf_counter()
    simulation = simulate(
        head,
        options,
        numbers,
        progress=lambda done, steps: progress.update(task, completed=done, total=steps),
    )
    progress.remove_task(task)
    return simulation, perf_counter() - start


def _exit_code(simulations: Sequence[Simulation]) -> int:
    outcomes = {simulation.succeeded for simulation in simulations}
    if False in outcomes:
        return 1
    return 4 if None in outcomes else 0


def _print_trace(out: Console, simulations: Sequence[Simulation]) -> None:
    for simulation in simulations:
        print_line(out, f"{simulation.head.name} in {simulation.numbers.name}")
        for line in trace_lines(simulation):
            print_line(out, line)


def _print_results(out: Console, simulations: Sequence[Simulation]) -> None:
    """A table for each arithmetic, then what each has established."""
    by_arithmetic: dict[str, list[Simulation]] = {}
    for simulation in simulations:
        by_arithmetic.setdefault(simulation.numbers.name, []).append(simulation)
    for group in by_arithmetic.values():
        out.print(_table(group))
    for group in by_arithmetic.values():
        print_line(out, conclusion(group))


def _table(group: Sequence[Simulation]) -> Table:
    """One row a head."""
    first = group[0]
    measured = first.numbers.rounds
    title = (
        f"{first.numbers.name} (base {first.numbers.base}), {first.options.variant} B.1, "
        f"N = {first.head.length}, M = {first.tokens}, d = {first.dimension}"
    )
    table = Table(title=title, title_justify="left", box=None, pad_edge=False)
    table.add_column("head", overflow="fold")
    columns = ["calls", "rounds", "tokens", "embedding", "error ≤"]
    for name in [*columns, *(["dense ≤"] if measured else []), "not finite"]:
        table.add_column(name, justify="right", no_wrap=True)
    for simulation in group:
        ledger, comparison = simulation.plan.ledger, simulation.comparison
        counts = (ledger.total_calls, ledger.rounds, ledger.max_tokens, ledger.max_embedding)
        errors = [comparison.max_relative_error, *([comparison.dense_error] if measured else [])]
        table.add_row(
            simulation.head.name,
            *map(str, counts),
            *map(_size, errors),
            f"{comparison.non_finite_rows} of {simulation.head.length}",
        )
    return table


def _size(error: float | None) -> str:
    if error is None:
        return "none"
    return "0" if error == 0 else f"{error:.1e}"
