"""A run in words and numbers for people: the trace of its steps, and what was established."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from symsim.arithmetic import Arithmetic, Array, Evidence
from symsim.model import StepNumbers, describe, explain
from symsim.model.plan import Call
from symsim.simulation.simulate import Simulation

TRACED_STEPS = 64
"""Steps up to which a trace shows numbers; beyond, one line a step."""


def trace_lines(simulation: Simulation) -> Iterator[str]:
    """One line a step; in a small run also rows, logits, weights and outputs."""
    lines = describe(simulation.plan)
    if len(simulation.plan.steps) > TRACED_STEPS:
        yield from lines
        yield f"numbers are shown for up to {TRACED_STEPS} steps"
        return
    large, numbers = simulation.large, simulation.numbers
    described = dict(zip(simulation.plan.steps, lines, strict=True))
    for shown in explain(simulation.plan, numbers, large.matrices, large.parameters):
        yield described[shown.step]
        with numbers.working():
            yield from _step(numbers, shown)


def _step(numbers: Arithmetic, shown: StepNumbers) -> Iterator[str]:
    yield from _table(numbers, "token", shown.tokens)
    if isinstance(shown.step, Call):
        oracle = shown.step.oracle
        yield from _program("φ", oracle.input_mlp.formulas())
        yield from _table(numbers, "φ(token)", shown.after_phi)
        for head in shown.heads:
            yield from _rows(numbers, "logits", shown.rows, head.logits)
            yield from _rows(numbers, "weights", shown.rows, head.weights)
        if oracle.layers[0].mlp:
            yield from _program("ψ", oracle.layers[0].mlp.formulas())
    else:
        yield from _program("per row", shown.step.merge.per_row.formulas())
        yield from _program("of the sums", shown.step.merge.of_sum.formulas())
    yield from _table(numbers, "row", shown.output, list(shown.rows))
    yield ""


def _program(name: str, formulas: Sequence[str]) -> Iterator[str]:
    yield f"    {name}: {', '.join(formulas)}"


def _table(
    numbers: Arithmetic, title: str, columns: Mapping[str, Array], rows: Sequence[int] | None = None
) -> Iterator[str]:
    count = len(next(iter(columns.values())))
    for place, row in enumerate(range(count) if rows is None else rows):
        cells = "  ".join(f"{name} = {_vector(numbers, values[place])}" for name, values in columns.items())
        yield f"    {title} {row}: {cells}"


def _rows(numbers: Arithmetic, title: str, rows: Array, values: Array) -> Iterator[str]:
    for row, entries in zip(rows, values, strict=True):
        yield f"    {title} of row {row}: {_vector(numbers, entries)}"


def _vector(numbers: Arithmetic, values: Array) -> str:
    entries = [numbers.text(value) for value in values]
    return entries[0] if len(entries) == 1 else f"({', '.join(entries)})"


def conclusion(simulations: Sequence[Simulation]) -> str:
    """What the runs of one arithmetic established, in a sentence or two."""
    first = simulations[0]
    heads = "the head" if len(simulations) == 1 else f"each of the {len(simulations)} heads"
    broken = [s for s in simulations if s.succeeded is False]
    open_ = [s for s in simulations if s.succeeded is None]
    if broken and not first.numbers.rounds:
        names = ", ".join(s.head.name for s in broken)
        return f"{first.numbers.name}: NOT equal to dense attention on {names}."
    if open_:
        names = ", ".join(s.head.name for s in open_)
        return f"{first.numbers.name}: undecided on {names}."
    return f"{first.numbers.name}: {_established(first, simulations, heads)}"


def _established(first: Simulation, simulations: Sequence[Simulation], heads: str) -> str:
    worst = max(s.comparison.max_relative_error for s in simulations)
    match first.numbers.evidence:
        case Evidence.IDENTITY:
            return (
                f"proved for all real inputs with N = {first.head.length}, M = {first.tokens}, "
                f"d = {first.dimension}: the simulation equals dense attention."
            )
        case Evidence.EXACT:
            weight = "2^logit" if first.numbers.name == "exact" else "the weight pl2"
            return (
                f"for {heads} the simulation equals dense attention exactly (ε = 0) on this "
                f"input, with {weight} for exp."
            )
        case Evidence.ENCLOSURE:
            return (
                f"certified for {heads}: in every entry the enclosures of the simulation and of "
                f"dense attention overlap, and no row differs by more than {worst:.1e} relative."
            )
        case _:
            return _measured(simulations, heads, worst)


def _measured(simulations: Sequence[Simulation], heads: str, worst: float) -> str:
    dense = max(s.comparison.dense_error or 0.0 for s in simulations)
    broken = sum(s.comparison.non_finite_rows for s in simulations)
    rows = sum(s.head.length for s in simulations)
    compared = sum(s.comparison.rows_compared for s in simulations)
    scope = "" if compared == rows else f" over {compared} of {rows} rows"
    finite = (
        f"every row of {heads} is finite" if not broken else f"{broken} of {rows} rows not finite"
    )
    return (
        f"measured{scope}: {finite}; the largest relative row error is {worst:.1e}, "
        f"that of dense attention in the same format {dense:.1e}."
    )
