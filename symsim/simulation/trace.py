"""The trace of a run: every step with its numbers, to be followed by hand."""

from __future__ import annotations

import textwrap
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from symsim.arithmetic import Arithmetic, Array
from symsim.model import Block, Identity, Ones, Plan, StepNumbers, Transformer, describe, explain
from symsim.model.explain import source
from symsim.model.plan import Call, Step
from symsim.simulation.simulate import Simulation

TRACED_STEPS = 64
"""Steps up to which a trace shows numbers; beyond, one line a step."""

WIDTH = 80
"""Columns of a trace: wider tables become lists."""

_NO_BREAK = "\N{NO-BREAK SPACE}"


def trace_lines(simulation: Simulation) -> Iterator[str]:
    """Every call with its tokens, logits, weights and outputs; of a large run, one line a step.

    All rows count from 0. The last table says where each row of the result comes from.
    """
    plan = simulation.plan
    if len(plan.steps) > TRACED_STEPS:
        yield from describe(plan)
        yield f"numbers are shown for up to {TRACED_STEPS} steps; this plan has {len(plan.steps)}"
        return
    large, numbers = simulation.large, simulation.numbers
    shown = {step.step: step for step in explain(plan, numbers, large.matrices, large.parameters)}
    page = _Page(simulation)
    with numbers.working():
        in_rounds = sorted(plan.steps, key=lambda step: step.level)
        for number, step in enumerate(in_rounds, start=1):
            yield f"{_heading(step)} ({number} of {len(plan.steps)})"
            yield from page.step(shown[step])
            yield ""
    yield from page.result()
    yield ""


def _heading(step: Step) -> str:
    if isinstance(step, Call):
        return f"round {step.round}, call of {step.input.rows} tokens: {step.label}"
    return f"outside the oracle, merge of {step.input.rows} rows: {step.label}"


@dataclass(frozen=True)
class _Page:
    """Writes the numbers of one simulation."""

    simulation: Simulation

    @property
    def numbers(self) -> Arithmetic:
        return self.simulation.numbers

    def step(self, shown: StepNumbers) -> Iterator[str]:
        """One step: what it reads, what it computes, what it returns."""
        plan, step = self.simulation.plan, shown.step
        sources = [f"{name} = {source(plan, part)}" for name, part in step.input.fields.items()]
        yield from _paragraph("reads", sources)
        tokens = _columns(self.numbers, shown.tokens)
        after = _columns(self.numbers, shown.after_phi)
        count = range(step.input.rows)
        if any(after.get(name) != cells for name, cells in tokens.items()):
            yield from _table("token", count, tokens)
        if isinstance(step, Call):
            yield from _paragraph("φ", step.oracle.input_mlp.formulas())
            yield from _table("token", count, after | _remarks(self.numbers, shown.after_phi))
            yield from self._head(step.oracle, shown)
        else:
            yield from _paragraph("each row", step.merge.per_row.formulas())
            yield from _table("row", count, after)
            yield from _paragraph("of the sums", step.merge.of_sum.formulas())
        yield from _table("row", shown.rows, _columns(self.numbers, shown.output))

    def _head(self, oracle: Transformer, shown: StepNumbers) -> Iterator[str]:
        """The head of a one-layer oracle: logits, weights, what it returns, and ψ."""
        layer = oracle.layers[0]
        for head, in_numbers in zip(layer.heads, shown.heads, strict=True):
            yield "logits: ⟨query of the row, key of the column⟩"
            yield from _matrix(self.numbers, shown.rows, in_numbers.logits)
            yield f"weights: {self.numbers.base}^logit, divided by the sum of the row"
            yield from _matrix(self.numbers, shown.rows, in_numbers.weights)
            sums = [f"{name} = Σ weight·{_factor(block)}" for name, block in head.value.items()]
            yield from _paragraph("head", sums)
            yield from _table("row", shown.rows, _columns(self.numbers, in_numbers.output))
        if layer.mlp:
            yield from _paragraph("ψ", layer.mlp.formulas())

    def result(self) -> Iterator[str]:
        """Where each row of the result comes from, beside dense attention."""
        numbers, plan = self.numbers, self.simulation.plan
        dense = self.simulation.large.dense(numbers)
        yield "result: row i simulates query i of the large head"
        columns = {
            "from": _origins(plan),
            **_columns(numbers, {"Y": self.simulation.output, "dense attention": dense}),
        }
        yield from _table("row", range(len(dense)), columns)


def _origins(plan: Plan) -> list[str]:
    """The step and row that each row of the result is read from."""
    (columns,) = plan.output.fields.values()
    places = {
        int(address): f"{step.label}, row {row}"
        for step in plan.steps
        for column in step.output.fields.values()
        if column.width == columns.width
        for row, address in enumerate(column.addresses)
    }
    return [places[int(address)] for address in columns.addresses]


def _remarks(numbers: Arithmetic, columns: Mapping[str, Array]) -> dict[str, list[str]]:
    """What φ's indicators say of each token of a block call; nothing for other calls."""
    if "real" not in columns:
        return {}
    tokens = range(len(columns["real"]))
    real, synthetic = (
        [name in columns and numbers.rational(columns[name][j, 0]) != 0 for j in tokens]
        for name in ("real", "synthetic")
    )
    if "synthetic" not in columns:  # as printed: no padding
        synthetic = [not flag for flag in real]
    other = ["" if flag else "no key: padding" for flag in real]
    return {"": ["synthetic token" if synthetic[j] else other[j] for j in tokens]}


def _factor(block: Block) -> str:
    return block.source if isinstance(block.weight, Identity | Ones) else str(block)


# -- layout -----------------------------------------------------------------------------------


def _columns(numbers: Arithmetic, columns: Mapping[str, Array]) -> dict[str, list[str]]:
    """Each row of a column group as text."""
    return {
        name: [_vector(numbers, row) for row in values.reshape(len(values), -1)]
        for name, values in columns.items()
    }


def _vector(numbers: Arithmetic, values: Array) -> str:
    entries = [numbers.text(value) for value in values]
    return entries[0] if len(entries) == 1 else f"({', '.join(entries)})"


def _matrix(numbers: Arithmetic, rows: Sequence[int] | Array, values: Array) -> Iterator[str]:
    """A row for each query, a column for each token."""
    columns = {str(j): [numbers.text(x) for x in values[:, j]] for j in range(values.shape[1])}
    return _table("row", rows, columns)


def _table(
    corner: str, rows: Sequence[int] | Array, columns: Mapping[str, Sequence[str]]
) -> Iterator[str]:
    """Aligned columns, or, where that is too wide, the columns of each row as a list."""
    cells = [[corner, *map(str, rows)], *([name, *column] for name, column in columns.items())]
    widths = [max(map(len, column)) for column in cells]
    if sum(widths) + 2 * len(widths) <= WIDTH:
        for line in zip(*cells, strict=True):
            padded = (cell.rjust(width) for cell, width in zip(line, widths, strict=True))
            yield f"  {'  '.join(padded)}".rstrip()
        return
    for place, row in enumerate(rows):
        entries = [
            f"{name} = {column[place]}" if name else column[place]
            for name, column in columns.items()
        ]
        yield from _paragraph(f"  {corner} {row}", [entry for entry in entries if entry])


def _paragraph(title: str, entries: Sequence[str]) -> list[str]:
    """Entries after a title, broken between entries where that is possible."""
    kept = [e.replace(" ", _NO_BREAK) if len(e) < WIDTH // 2 else e for e in entries]
    lines = textwrap.wrap(
        f"{title}: {'; '.join(kept)}",
        WIDTH,
        subsequent_indent="      ",
        break_long_words=False,
        break_on_hyphens=False,
    )
    return [line.replace(_NO_BREAK, " ") for line in lines]
