"""Explanations: what each step of a plan reads, computes and returns, in numbers."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import groupby
from operator import itemgetter

import numpy as np

from symsim.arithmetic import Arithmetic, Array
from symsim.model.plan import Call, Plan, Step
from symsim.model.register import Field
from symsim.model.run import Machine
from symsim.model.transformer import Head


@dataclass(frozen=True)
class HeadNumbers:
    """One head of one call, for the rows that are read: what its softmax and its output are.

    logits, weights: (rows, tokens); a key that a row may not read has weight 0, whatever its
    logit. output: the head's columns (rows, width) by name.
    """

    logits: Array
    weights: Array
    output: Mapping[str, Array]


@dataclass(frozen=True)
class StepNumbers:
    """One step in numbers: tokens as given, after φ, the heads, and the rows that are read."""

    step: Step
    tokens: Mapping[str, Array]
    after_phi: Mapping[str, Array]
    heads: tuple[HeadNumbers, ...]
    rows: Array
    output: Mapping[str, Array]


def describe(plan: Plan) -> Iterator[str]:
    """One line a step: kind, round, tokens, where each column group comes from, what returns."""
    for step in plan.steps:
        kind = f"round {step.round}" if isinstance(step, Call) else "outside"
        sources = "; ".join(
            f"{name}: {source(plan, field)}" for name, field in step.input.fields.items()
        )
        returns = ", ".join(step.output.columns)
        yield f"{kind}  {step.label}  {step.input.rows} tokens  [{sources}] → {returns}"


def explain(
    plan: Plan,
    arithmetic: Arithmetic,
    inputs: Mapping[str, Array],
    parameters: Mapping[str, Array],
) -> Iterator[StepNumbers]:
    """Run the plan one step at a time, in order of their rounds, and show each step's numbers.

    Of an oracle of several layers, the heads shown are those of the first.
    """
    with arithmetic.working():
        machine = Machine(plan, arithmetic, parameters)
        machine.load(inputs)
        for (step,) in machine.batches(batched=False):
            machine.execute([step])
            yield _numbers(machine, step)


def _numbers(machine: Machine, step: Step) -> StepNumbers:
    rows = np.flatnonzero(machine.plan.rows_read(step))
    tokens = machine.gather([step.input])
    if isinstance(step, Call):
        phi = machine.mlp(step.oracle.input_mlp, tokens, step.input.rows)
        mask = step.oracle.mask.matrix(step.input.rows)[rows]
        heads = tuple(
            _head_numbers(machine, head, phi, rows, mask) for head in step.oracle.layers[0].heads
        )
    else:
        phi, heads = machine.mlp(step.merge.per_row, tokens, step.input.rows), ()
    output = {
        name: machine.banks[field.width][field.addresses[rows]]
        for name, field in step.output.fields.items()
    }
    return StepNumbers(step, _only(tokens), _only(phi), heads, rows, output)


def _only(columns: Mapping[str, Array]) -> dict[str, Array]:
    return {name: values[0] for name, values in columns.items()}


def _head_numbers(
    machine: Machine, head: Head, phi: Mapping[str, Array], rows: Array, mask: Array
) -> HeadNumbers:
    """The weights are what attention makes of values that are the rows of an identity matrix."""
    arithmetic = machine.arithmetic
    query, key = machine.query_and_key(head, phi, rows)
    tokens = key.shape[1]
    if query.shape[2]:
        logits = arithmetic.project(query[0], key[0].T)
    else:
        logits = arithmetic.integers(np.zeros(mask.shape, dtype=np.int64))
    unit = arithmetic.integers(np.eye(tokens, dtype=np.int64))[None]
    values = np.concatenate([unit, machine.project(head.value, phi)], axis=2)
    mixed = arithmetic.attention(query, key, values, mask)[0]
    ends = np.cumsum([tokens, *(block.width for block in head.value.values())])
    weights, *columns = np.split(mixed, ends[:-1], axis=1)
    return HeadNumbers(logits, weights, dict(zip(head.value, columns, strict=True)))


def source(plan: Plan, field: Field) -> str:
    """`Q[0:2], zero` for the rows of a column group."""
    names = plan.banks[field.width].names
    parts = []
    places = [
        bisect_right(names, address, key=itemgetter(0)) - 1 for address in field.addresses.tolist()
    ]
    for place, group in groupby(range(len(places)), key=lambda row: places[row]):
        start, name = names[place]
        rows = [int(field.addresses[row]) - start for row in group]
        if name == "zero":
            parts.append("zero" if len(rows) == 1 else f"zero ×{len(rows)}")
        elif rows == list(range(rows[0], rows[0] + len(rows))):
            parts.append(f"{name}[{rows[0]}:{rows[-1] + 1}]")
        else:
            parts.append(f"{name}[{','.join(map(str, rows))}]")
    return ", ".join(parts)
