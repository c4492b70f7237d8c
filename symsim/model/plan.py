"""Plans: a construction recorded from shapes alone, in the paper's model of computation.

Outside the oracle a plan may pad stored matrices with a bounded number of fixed numbers and
arrange them (`beside`, `stack`, slices). Everything else happens inside oracle calls. Limits
are checked as each step is recorded, and the ledger is complete before a number exists.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np

from symsim.model.ledger import Ledger
from symsim.model.limits import Limits, ModelError
from symsim.model.masks import BoolArray
from symsim.model.register import Addresses, Field, Register
from symsim.model.transformer import Transformer, width
from symsim.terms import Columns, Program

WAIVERS = {
    "tokens+1": "M real tokens and the synthetic one: M + 1 tokens in a call",
    "outside-merge": "block results merged by arithmetic outside the oracle",
}
"""Rules that a printed construction may ask to break, by name."""


@dataclass(frozen=True, slots=True, eq=False)
class Call:
    """One oracle call: what it reads, what it returns, and in which round."""

    kind: str
    label: str
    oracle: Transformer
    input: Register
    output: Register
    level: int

    @property
    def round(self) -> int:
        """1 for calls that read no call's output, one more than those it reads otherwise."""
        return self.level // 2


@dataclass(frozen=True, slots=True, eq=False)
class Merge:
    """Arithmetic outside the oracle (waiver outside-merge): Σ over rows, of and by programs."""

    per_row: Program
    of_sum: Program

    def operations(self, rows: int) -> int:
        """Operations of one application to `rows` rows, the additions included."""
        additions = (rows - 1) * width(self.per_row.columns)
        return rows * self.per_row.operations + additions + self.of_sum.operations


@dataclass(frozen=True, slots=True, eq=False)
class OutsideMerge:
    """One application of a Merge to the rows of a register; its output has one row."""

    label: str
    merge: Merge
    input: Register
    output: Register
    level: int


Step = Call | OutsideMerge


@dataclass(slots=True)
class Bank:
    """Storage, yet without numbers, of all column groups of one width.

    `levels` of a row: 0 for inputs and constants, 2r for an output of round r, 2r + 1 for a
    merge outside after round r.
    """

    rows: int = 0
    levels: Addresses = field(default_factory=lambda: np.zeros(64, dtype=np.int64))
    names: list[tuple[int, str]] = field(default_factory=list)

    def allocate(self, rows: int, level: int, name: str) -> Addresses:
        """Addresses for `rows` new rows."""
        start, self.rows = self.rows, self.rows + rows
        if self.rows > len(self.levels):
            self.levels = np.concatenate([self.levels, np.zeros(self.rows, dtype=np.int64)])
        self.levels[start : self.rows] = level
        self.names.append((start, name))
        addresses = np.arange(start, self.rows)
        addresses.setflags(write=False)
        return addresses


class Plan:
    """Records a construction under `limits`; holds shapes, addresses and counts, no numbers."""

    def __init__(self, limits: Limits) -> None:
        self.limits = limits
        self.ledger = Ledger()
        self.steps: list[Step] = []
        self.banks: dict[int, Bank] = {}
        self.inputs: dict[str, Register] = {}
        self.zeros: dict[int, Register] = {}
        self._owner = object()
        self._output: Register | None = None
        self._admitted: set[Transformer] = set()

    # -- recording ------------------------------------------------------------------------

    def input(self, name: str, rows: int, columns: int) -> Register:
        """A given matrix of `rows` × `columns`."""
        if name in self.inputs:
            raise ModelError("an input is given once", name, "a second input", "one of the name")
        self.inputs[name] = self._register(name, rows, {name: columns}, level=0)
        return self.inputs[name]

    def zero(self, columns: int) -> Register:
        """The stored zero row of the given width, counted once and re-arranged at will."""
        if columns not in self.zeros:
            _check_size("zero row", "columns", columns)
            found = self.ledger.constants_padded + columns
            if found > self.limits.constants:
                raise ModelError("O(d²) padded constants", "zero row", found, self.limits.constants)
            self.ledger.constants_padded = found
            self.zeros[columns] = self._register("zero", 1, {"zero": columns}, level=0)
        return self.zeros[columns]

    def waive(self, name: str) -> None:
        """Ask to break the rule called `name` (see WAIVERS); the ledger says so."""
        if name not in WAIVERS:
            raise ModelError("known waivers", "waiver", repr(name), ", ".join(WAIVERS))
        self.ledger.waivers[name] = WAIVERS[name]

    def call(self, kind: str, label: str, oracle: Transformer, tokens: Register) -> Register:
        """Record one oracle call on the rows of `tokens`; its output register.

        Raises ModelError where the call breaks a limit.
        """
        self._check_owner(tokens, label)
        if oracle not in self._admitted:
            self._admit(oracle, label)
        self._check_tokens(oracle, tokens, label)
        level = (self._level(tokens) | 1) + 1
        output = self._register(label, tokens.rows, oracle.outputs, level)
        self.steps.append(Call(kind, label, oracle, tokens, output, level))
        self._count(kind, oracle, tokens.rows, level // 2)
        return output

    def merge_outside(self, label: str, merge: Merge, rows: Register) -> Register:
        """Record a merge by arithmetic outside the oracle; needs the waiver outside-merge."""
        if "outside-merge" not in self.ledger.waivers:
            raise ModelError(
                "outside the oracle only padding and arranging", label, "arithmetic", "none"
            )
        self._check_owner(rows, label)
        self._check_merge(merge, rows, label)
        level = self._level(rows)
        output = self._register(label, 1, merge.of_sum.columns, level + 1)
        self.steps.append(OutsideMerge(label, merge, rows, output, level + 1))
        self.ledger.outside_operations += merge.operations(rows.rows)
        return output

    def finish(self, output: Register) -> None:
        """Declare the result; completes the ledger, and the plan takes no further step."""
        self._check_open("result")
        self._check_owner(output, "result")
        self._output = output
        read = [self.rows_read(step) for step in self.steps if isinstance(step, Call)]
        self.ledger.rows = sum(len(rows) for rows in read)
        self.ledger.rows_read = sum(int(np.count_nonzero(rows)) for rows in read)

    # -- reading ----------------------------------------------------------------------------

    @property
    def output(self) -> Register:
        """The declared result."""
        if self._output is None:
            raise ModelError("a plan declares its result", "plan", "no result", "finish(result)")
        return self._output

    @property
    def calls(self) -> Iterator[Call]:
        """The oracle calls in the order of recording."""
        return (step for step in self.steps if isinstance(step, Call))

    def rows_read(self, step: Step) -> BoolArray:
        """Which output rows of `step` a later step or the result reads."""
        return self._rows_read[step]

    @cached_property
    def _rows_read(self) -> dict[Step, BoolArray]:
        found = {}
        for step in self.steps:
            columns = [
                self._read[width][addresses[0] : addresses[0] + step.output.rows]
                for width, addresses, _ in step.output.fields.values()
            ]
            found[step] = columns[0] if len(columns) == 1 else np.logical_or.reduce(columns)
        return found

    @cached_property
    def _read(self) -> dict[int, BoolArray]:
        """Of every bank, which rows are read at all."""
        read = {columns: np.zeros(bank.rows, dtype=bool) for columns, bank in self.banks.items()}
        for register in (*(step.input for step in self.steps), self.output):
            for column in register.fields.values():
                read[column.width][column.addresses] = True
        return read

    # -- rules --------------------------------------------------------------------------------

    def _admit(self, oracle: Transformer, label: str) -> None:
        """The limits that do not depend on the number of tokens."""
        limits = self.limits
        for rule, found, allowed in (
            ("oracle embedding", oracle.embedding, limits.embedding),
            ("oracle heads", oracle.heads, limits.heads),
            ("oracle layers", len(oracle.layers), limits.layers),
            ("MLP operations for a token", oracle.operations, limits.operations),
        ):
            if found > allowed:
                raise ModelError(rule, label, found, allowed)
        self._admitted.add(oracle)

    def _check_open(self, step: str) -> None:
        """The ledger of a finished plan is complete."""
        if self._output is not None:
            raise ModelError("a finished plan takes no step", step, "one more step", "none")

    def _check_owner(self, register: Register, step: str) -> None:
        if register.owner is not self._owner:
            raise ModelError("matrices stored in this plan", step, "another plan's", "its own")

    def _check_merge(self, merge: Merge, rows: Register, label: str) -> None:
        if rows.rows < 1:
            raise ModelError("rows of a merge outside", label, rows.rows, "at least 1")
        for read, given in (
            (merge.per_row.inputs, rows.columns),
            (merge.of_sum.inputs, merge.per_row.columns),
        ):
            if dict(given) != dict(read):
                raise ModelError("columns of a merge outside", label, dict(given), dict(read))
        levels = (self.banks[f.width].levels[f.addresses] for f in rows.fields.values())
        if any((level % 2).any() for level in levels):
            raise ModelError("merges outside are not chained", label, "a merge of merges", "none")

    def _check_tokens(self, oracle: Transformer, tokens: Register, label: str) -> None:
        allowed = self.limits.tokens + ("tokens+1" in self.ledger.waivers)
        if not 1 <= tokens.rows <= allowed:
            raise ModelError("tokens of a call", label, tokens.rows, f"1 to {allowed}")
        if tokens.columns != oracle.input_mlp.inputs:
            raise ModelError(
                "columns of a call", label, tokens.columns, dict(oracle.input_mlp.inputs)
            )

    def _count(self, kind: str, oracle: Transformer, tokens: int, round_: int) -> None:
        ledger = self.ledger
        ledger.calls[kind] += 1
        ledger.rounds = max(ledger.rounds, round_)
        ledger.max_tokens = max(ledger.max_tokens, tokens)
        ledger.max_embedding = max(ledger.max_embedding, oracle.embedding)
        ledger.parameters = max(ledger.parameters, oracle.parameters)
        ledger.mlp_operations += tokens * oracle.operations

    def _level(self, register: Register) -> int:
        """The latest level among the rows of `register`."""
        return max(
            int(self.banks[width].levels[addresses].max()) if level is None else level
            for width, addresses, level in register.fields.values()
        )

    def _register(self, name: str, rows: int, columns: Columns, level: int) -> Register:
        self._check_open(name)
        _check_size(name, "rows", rows)
        for column, size in columns.items():
            _check_size(name, f"columns of {column}", size)
        fields: Mapping[str, Field] = {
            column: Field(size, self._bank(size).allocate(rows, level, name), level)
            for column, size in columns.items()
        }
        return Register(fields, rows, self._owner)

    def _bank(self, columns: int) -> Bank:
        if columns not in self.banks:
            self.banks[columns] = Bank()
        return self.banks[columns]


def _check_size(step: str, what: str, found: int) -> None:
    if found < 1:
        raise ModelError("stored matrices have rows and columns", step, f"{found} {what}", "1")
