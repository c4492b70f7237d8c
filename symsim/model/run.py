"""Runs: a recorded plan executed in an arithmetic.

Steps of one round, oracle and token count are executed together in cache-sized batches. That
is invisible in the result (one call at a time gives the same numbers, bit for bit) and in the
ledger (written when the plan was recorded). Output rows that the plan never reads are skipped.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence

import numpy as np

from symsim.arithmetic import Arithmetic, Array
from symsim.model.plan import Call, OutsideMerge, Plan, Step
from symsim.model.register import Register
from symsim.model.transformer import Head, Layer, Transformer
from symsim.model.weights import Block, Identity, Ones, Parameter
from symsim.terms import Program, evaluate

_BATCH_BYTES = 2**20
"""A batch's weights should stay in a core's cache."""

Progress = Callable[[int], None]
"""Told after each batch how many steps it held."""


class RunError(ValueError):
    """The numbers given to a run do not fit the plan."""


def run(
    plan: Plan,
    arithmetic: Arithmetic,
    inputs: Mapping[str, Array],
    parameters: Mapping[str, Array] | None = None,
    *,
    batched: bool = True,
    progress: Progress | None = None,
) -> Array:
    """The plan's result (rows, columns) in `arithmetic`, its column groups side by side.

    inputs: by name, arrays of the arithmetic of the shapes the plan declares; parameters:
    arrays for the plan's named weight matrices. `batched=False` executes one call at a time.
    Raises RunError for an input or parameter that is missing, misshapen or of another dtype.

    Runs in several threads at once do not disturb each other, but for balls: python-flint has one
    working precision for the whole process, so such runs are not supported. (They still enclose.)
    """
    with arithmetic.working():
        machine = Machine(plan, arithmetic, parameters or {})
        machine.load(inputs)
        for batch in machine.batches(batched=batched):
            machine.execute(batch)
            if progress:
                progress(len(batch))
        return machine.read(plan.output)


class Machine:
    """The banks of a plan, filled with numbers."""

    def __init__(self, plan: Plan, arithmetic: Arithmetic, parameters: Mapping[str, Array]) -> None:
        self.plan, self.arithmetic, self.parameters = plan, arithmetic, parameters
        self._check_parameters()
        self.banks = {
            columns: np.empty((bank.rows, columns), dtype=arithmetic.dtype)
            for columns, bank in plan.banks.items()
        }

    def load(self, inputs: Mapping[str, Array]) -> None:
        """Store the inputs and the zero rows."""
        for name, register in self.plan.inputs.items():
            field = register.fields[name]
            self._check_given(f"input {name}", inputs.get(name), (register.rows, field.width))
            self.banks[field.width][field.addresses] = inputs[name]
        for columns, register in self.plan.zeros.items():
            zeros = self.arithmetic.integers(np.zeros((1, columns), dtype=np.int64))
            self.banks[columns][register.fields["zero"].addresses] = zeros

    def _check_parameters(self) -> None:
        for oracle in dict.fromkeys(call.oracle for call in self.plan.calls):
            for weight in oracle.weights:
                if isinstance(weight, Parameter):
                    given = self.parameters.get(weight.name)
                    self._check_given(f"parameter {weight.name}", given, weight.shape)

    def _check_given(self, what: str, given: Array | None, shape: tuple[int, int]) -> None:
        """An array of another dtype holds no numbers of the arithmetic."""
        expected = f"expected {self.arithmetic.dtype} of shape {shape}"
        if not isinstance(given, np.ndarray):
            found = "nothing" if given is None else f"a {type(given).__name__}"
            raise RunError(f"{what}: found {found}, {expected}")
        if given.shape != shape or given.dtype != self.arithmetic.dtype:
            raise RunError(f"{what}: found {given.dtype} of shape {given.shape}, {expected}")

    def batches(self, *, batched: bool) -> Iterator[Sequence[Step]]:
        """Steps that may run together: same level, program, token count and rows read.

        Levels ascend; within a level the order is that of recording, as far as batches allow.
        """
        by_level = sorted(self.plan.steps, key=lambda step: step.level)
        if not batched:
            yield from ([step] for step in by_level)
            return
        together: dict[tuple[int, int, int, bytes], list[Step]] = {}
        for step in by_level:
            together.setdefault(self._key(step), []).append(step)
        for steps in together.values():
            size = self._batch_size(steps[0])
            for start in range(0, len(steps), size):
                yield steps[start : start + size]

    def _key(self, step: Step) -> tuple[int, int, int, bytes]:
        program = step.oracle if isinstance(step, Call) else step.merge
        return step.level, id(program), step.input.rows, self.plan.rows_read(step).tobytes()

    def _batch_size(self, step: Step) -> int:
        weights = int(self.plan.rows_read(step).sum()) * step.input.rows
        return max(1, _BATCH_BYTES // max(1, weights * self.arithmetic.dtype.itemsize))

    def execute(self, steps: Sequence[Step]) -> None:
        """Run steps that `batches` put together, and store what they return."""
        first = steps[0]
        tokens = self.gather([step.input for step in steps])
        read = np.flatnonzero(self.plan.rows_read(first))
        if not len(read):
            return
        if isinstance(first, OutsideMerge):
            result = self._merge(first, tokens)
        else:
            result = self.call(first.oracle, tokens, first.input.rows, read)
        for name, values in result.items():
            for step, rows in zip(steps, values, strict=True):
                field = step.output.fields[name]
                self.banks[field.width][field.addresses[read]] = rows

    def read(self, register: Register) -> Array:
        """The numbers of a register, its column groups side by side."""
        return np.concatenate(
            [self.banks[f.width][f.addresses] for f in register.fields.values()], axis=1
        )

    def gather(self, registers: Sequence[Register]) -> dict[str, Array]:
        """Column groups (steps, tokens, width) of registers with the same columns."""
        return {
            name: self.banks[field.width][
                np.stack([register.fields[name].addresses for register in registers])
            ]
            for name, field in registers[0].fields.items()
        }

    # -- the oracle ---------------------------------------------------------------------------

    def call(
        self, oracle: Transformer, tokens: dict[str, Array], count: int, read: Array
    ) -> dict[str, Array]:
        """The rows `read` of the oracle's output, by column group (calls, rows, width)."""
        columns = self.mlp(oracle.input_mlp, tokens, count)
        allowed = None if oracle.mask.kind == "full" else oracle.mask.matrix(count)
        for number, layer in enumerate(oracle.layers, start=1):
            rows = read if number == len(oracle.layers) else np.arange(count)
            columns = self._layer(layer, columns, rows, allowed, residual=oracle.residual)
        return columns

    def _layer(
        self,
        layer: Layer,
        columns: dict[str, Array],
        rows: Array,
        allowed: Array | None,
        *,
        residual: bool,
    ) -> dict[str, Array]:
        mask = None if allowed is None else allowed[rows]
        attended = {name: values[:, rows] for name, values in columns.items()} if residual else {}
        for head in layer.heads:
            for name, values in self._head(head, columns, rows, mask).items():
                attended[name] = self.arithmetic.add(attended[name], values) if residual else values
        return self.mlp(layer.mlp, attended, len(rows)) if layer.mlp else attended

    def _head(
        self, head: Head, columns: dict[str, Array], rows: Array, mask: Array | None
    ) -> dict[str, Array]:
        query, key = self.query_and_key(head, columns, rows)
        value = self.project(head.value, columns)
        mixed = self.arithmetic.attention(query, key, value, mask)
        cuts = np.cumsum([block.width for block in head.value.values()])[:-1]
        return dict(zip(head.value, np.split(mixed, cuts, axis=2), strict=True))

    def query_and_key(
        self, head: Head, columns: Mapping[str, Array], rows: Array
    ) -> tuple[Array, Array]:
        """Queries (calls, rows, m) of the given rows and keys (calls, tokens, m)."""
        sources = {block.source for block in head.query.values()} or set(list(columns)[:1])
        at_rows = {name: columns[name][:, rows] for name in sources}
        return self.project(head.query, at_rows), self.project(head.key, columns)

    def project(self, blocks: Mapping[str, Block], columns: Mapping[str, Array]) -> Array:
        """The blocks' columns side by side: (calls, tokens, Σ widths)."""
        if not blocks:
            shape = next(iter(columns.values())).shape[:2]
            return np.empty((*shape, 0), dtype=self.arithmetic.dtype)
        return np.concatenate(
            [self._apply(block, columns[block.source]) for block in blocks.values()], axis=2
        )

    def _apply(self, block: Block, values: Array) -> Array:
        match block.weight:
            case Identity():
                return values
            case Ones(width=width):
                return np.repeat(values, width, axis=2)
            case weight:
                return self.arithmetic.project(values, self.parameters[weight.name])

    # -- token-wise programs --------------------------------------------------------------------

    def mlp(self, program: Program, columns: dict[str, Array], tokens: int) -> dict[str, Array]:
        """`program` on every token, its columns at full (calls, tokens, width) shape."""
        calls = len(next(iter(columns.values())))
        values = evaluate(tuple(program.outputs.values()), columns, self.arithmetic, tokens)
        return {
            name: np.broadcast_to(value, (calls, tokens, program.columns[name]))
            for name, value in zip(program.outputs, values, strict=True)
        }

    def _merge(self, step: OutsideMerge, tokens: dict[str, Array]) -> dict[str, Array]:
        """The sum over the rows, from first to last, between the two programs of a merge."""
        rows = self.mlp(step.merge.per_row, tokens, step.input.rows)
        sums = {}
        for name, values in rows.items():
            total = values[:, :1]
            for row in range(1, step.input.rows):
                total = self.arithmetic.add(total, values[:, row : row + 1])
            sums[name] = total
        return self.mlp(step.merge.of_sum, sums, 1)
