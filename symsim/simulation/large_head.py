"""The simulated head in numbers of one arithmetic: what dense references are made from."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

import numpy as np
from flint import fmpq_mat

from symsim.arithmetic import Arithmetic, Array, ConversionError, NotRationalError
from symsim.arithmetic.base import first_index
from symsim.arithmetic.objects import as_fraction
from symsim.arithmetic.symbolic import Symbolic
from symsim.model import Mask, dense_attention, dense_product
from symsim.simulation.inputs import HeadData, excerpt
from symsim.simulation.resources import ResourceError

_CHUNK = 2**20
"""Weights of a dense reference that are held at a time, if they are numbers of 256 bits."""

LARGEST_WEIGHT = 2**24
"""Bits of one exact weight 2^logit."""

LARGEST_WEIGHTS = 2**30
"""Bits of all exact weights together."""


@dataclass(frozen=True, eq=False)
class LargeHead:
    """The head that is simulated: Q, K, V, or X with parameters W_Q, W_K, W_V."""

    matrices: Mapping[str, Array]
    parameters: Mapping[str, Array]
    mask: Mask

    def query_key_value(self, numbers: Arithmetic) -> tuple[Array, Array, Array]:
        """Q, K and V, computed in `numbers` where X is given."""
        with numbers.working():
            if "X" in self.matrices:
                x = self.matrices["X"]
                query, key, value = (
                    dense_product(numbers, x, self.parameters[f"W_{side}"]) for side in "QKV"
                )
            else:
                query, key, value = (self.matrices[side] for side in "QKV")
        return query, key, value

    def dense(self, numbers: Arithmetic, rows: Array | None = None) -> Array:
        """Dense attention in `numbers`, of the given rows or of all."""
        query, key, value = self.query_key_value(numbers)
        chosen = np.arange(len(query)) if rows is None else rows
        bits = max(256, getattr(numbers, "bits", 256))
        size = max(1, _CHUNK * 256 // (bits * len(key)))
        parts = [chosen[start : start + size] for start in range(0, len(chosen), size)]
        return np.concatenate(
            [dense_attention(numbers, query, key, value, self.mask, rows=part) for part in parts]
        )

    def map(self, function: Callable[[Array], Array]) -> LargeHead:
        """The same head with `function` of each matrix."""
        return LargeHead(
            {name: function(matrix) for name, matrix in self.matrices.items()},
            {name: function(matrix) for name, matrix in self.parameters.items()},
            self.mask,
        )


def convert(head: HeadData, numbers: Arithmetic) -> LargeHead:
    """The head in `numbers`: without loss, or rounded where the arithmetic rounds.

    Raises ConversionError naming the first entry beyond the range of the format.
    """
    given = {**head.matrices, **head.parameters}
    with numbers.working():
        values = {name: _as_numbers(head, numbers, name, given[name]) for name in given}
    return LargeHead(
        {name: values[name] for name in head.matrices},
        {name: values[name] for name in head.parameters},
        head.mask,
    )


def _as_numbers(head: HeadData, numbers: Arithmetic, name: str, matrix: Array) -> Array:
    if isinstance(numbers, Symbolic):
        return numbers.symbols(name, matrix.shape)
    if not numbers.rounds:
        return numbers.convert(matrix)
    values = numbers.rounded(matrix)
    if not (finite := numbers.finite(values)).all():
        index = first_index(~finite)
        place = ", ".join(map(str, index))
        raise ConversionError(
            f"{head.place}: {name}[{place}]: found {excerpt(str(matrix[index]))}, "
            f"expected a number in the range of {numbers.name}"
        )
    return values


def rounded_entries(head: HeadData, large: LargeHead, numbers: Arithmetic) -> int:
    """How many entries the conversion to `numbers` changed."""
    if not numbers.rounds:
        return 0
    given, values = {**head.matrices, **head.parameters}, {**large.matrices, **large.parameters}
    return sum(_changed(numbers, given[name], values[name]) for name in given)


def _changed(numbers: Arithmetic, given: Array, values: Array) -> int:
    if given.dtype.kind == "f" and values.dtype != object:  # both contained in float64
        return int((given.astype(np.float64) != values.astype(np.float64)).sum())
    pairs = zip(given.ravel(), values.ravel(), strict=True)
    return sum(numbers.rational(value) != as_fraction(entry) for entry, value in pairs)


def check_exact_logits(name: str, large: LargeHead, numbers: Arithmetic) -> None:
    """Check the logits of a head, which messages call `name`, in one of the exact arithmetics.

    Raises NotRationalError for the first logit that is not an integer (exact), ResourceError
    where weights 2^logit would be too long to write out.
    """
    query, key, _ = large.query_key_value(numbers)
    keys = fmpq_mat(key.tolist()).transpose()
    size, total = max(1, _CHUNK // len(key)), 0
    for start in range(0, len(query), size):
        part = query[start : start + size]
        logits = (fmpq_mat(part.tolist()) * keys).entries()
        for place, logit in enumerate(logits):
            row, column = divmod(place, len(key))
            found = f"{name}: logit at row {start + row}, column {column}: found {{}}"
            if logit.q != 1 and numbers.name == "exact":
                raise NotRationalError(
                    f"{found.format(excerpt(str(logit)))}, expected an integer "
                    "(weights are 2^logit in exact; exact:pl2 takes fractions)"
                )
            bits = abs(int(logit.p)) // int(logit.q)
            total += bits
            if bits > LARGEST_WEIGHT or total > LARGEST_WEIGHTS:
                raise ResourceError(
                    f"{found.format(excerpt(str(logit)))}, expected weights 2^logit of up to "
                    f"{LARGEST_WEIGHT} bits, together {LARGEST_WEIGHTS}"
                )
