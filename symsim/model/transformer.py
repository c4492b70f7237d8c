"""Attention heads, layers and transformers as the paper defines them (2.1, 2.1′, 2.2).

The columns of a layer are cut into H equal groups; head h reads its own group only, with
matrices of that group's width; the heads' outputs stand side by side; a token-wise layer MLP
follows. Columns carry names, and a head's matrices are given by their nonzero blocks.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from itertools import accumulate, pairwise
from types import MappingProxyType

from symsim.model.masks import FULL, Mask
from symsim.model.weights import Block, Weight
from symsim.terms import Columns, Program
from symsim.terms.term import POSITIONAL


class TransformerError(ValueError):
    """A transformer's parts do not fit together."""


@dataclass(frozen=True, eq=False)
class Head:
    """One head: logits Σ_c ⟨query_c, key_c⟩ over coordinates c, and named value columns.

    The paper's W^Q has the blocks of `query` as its column blocks, W^K and W^V likewise;
    what is left of the group's width is zero.
    """

    query: Mapping[str, Block]
    key: Mapping[str, Block]
    value: Mapping[str, Block]

    @property
    def blocks(self) -> tuple[Block, ...]:
        """All blocks of its three matrices."""
        return (*self.query.values(), *self.key.values(), *self.value.values())


@dataclass(frozen=True, eq=False)
class Layer:
    """Heads side by side, then the token-wise layer MLP (None: the identity)."""

    heads: tuple[Head, ...]
    mlp: Program | None = None


@dataclass(frozen=True, eq=False)
class Transformer:
    """An input MLP, then attention layers under one mask; Definition 2.2 has no residual.

    With `residual`, a layer computes x + heads(x) before its MLP: a head's value columns are
    then named after the columns of x that they are added to.
    Raises TransformerError, naming layer and head, where the parts do not fit.
    """

    input_mlp: Program
    layers: tuple[Layer, ...]
    mask: Mask = FULL
    residual: bool = False

    def __post_init__(self) -> None:
        if not self.layers:
            raise TransformerError("a transformer has 0 layers, expected at least 1")
        _ = self.stages

    @cached_property
    def stages(self) -> tuple[Columns, ...]:
        """The token's columns after the input MLP and after every layer."""
        stages: list[Columns] = [self.input_mlp.columns]
        for number, layer in enumerate(self.layers, start=1):
            stages.append(self._after(stages[-1], layer, f"layer {number}"))
        return tuple(stages)

    @property
    def outputs(self) -> Columns:
        """The columns of an output row."""
        return self.stages[-1]

    @cached_property
    def embedding(self) -> int:
        """The largest number of columns that a token has, input included."""
        return max(map(width, (self.input_mlp.inputs, *self.stages)))

    @cached_property
    def parameters(self) -> int:
        """Entries of W^Q, W^K, W^V that may differ from zero, and constants of the MLPs."""
        blocks = sum(weight.nonzero for weight in self.weights)
        return blocks + sum(len(mlp.constants) for mlp in self._mlps)

    @cached_property
    def operations(self) -> int:
        """MLP operations for one token, all layers together."""
        return sum(mlp.operations for mlp in self._mlps)

    @property
    def heads(self) -> int:
        """The largest number of heads in a layer."""
        return max((len(layer.heads) for layer in self.layers), default=0)

    @property
    def weights(self) -> tuple[Weight, ...]:
        """The nonzero blocks of all W^Q, W^K and W^V."""
        heads = (head for layer in self.layers for head in layer.heads)
        return tuple(block.weight for head in heads for block in head.blocks)

    @property
    def _mlps(self) -> tuple[Program, ...]:
        return (self.input_mlp, *(layer.mlp for layer in self.layers if layer.mlp))

    def _after(self, columns: Columns, layer: Layer, place: str) -> Columns:
        """The columns after `layer`, or an error where it does not fit tokens of `columns`."""
        attended = dict(columns) if self.residual else {}
        groups = column_groups(columns, len(layer.heads), place)
        for number, (head, group) in enumerate(zip(layer.heads, groups, strict=True), start=1):
            values = _head_values(head, group, f"{place}, head {number}")
            if self.residual:
                _check_residual(values, group, f"{place}, head {number}")
            elif clash := attended.keys() & values.keys():
                raise TransformerError(f"{place}: two heads write the columns {sorted(clash)}")
            attended |= values
        if layer.mlp is None:
            return MappingProxyType(attended)
        if positional := [node for node in layer.mlp.nodes if node.kind in POSITIONAL]:
            raise TransformerError(
                f"{place}: the MLP reads {positional[0]!r}, only the input MLP sees the position"
            )
        if dict(layer.mlp.inputs) != attended:
            raise TransformerError(
                f"{place}: the MLP reads {dict(layer.mlp.inputs)}, the heads return {attended}"
            )
        return layer.mlp.columns


def width(columns: Columns) -> int:
    """The total number of columns."""
    return sum(columns.values())


def column_groups(columns: Columns, heads: int, place: str) -> list[Columns]:
    """The paper's column split: `heads` equal groups, in order, of whole named columns."""
    total = width(columns)
    if heads < 1 or total % heads:
        raise TransformerError(f"{place}: {total} columns cannot be cut into {heads} equal groups")
    ends = dict(zip(columns, accumulate(columns.values()), strict=True))
    cuts = [h * (total // heads) for h in range(heads + 1)]
    groups: list[Columns] = [
        {name: columns[name] for name, end in ends.items() if lo < end <= hi}
        for lo, hi in pairwise(cuts)
    ]
    if any(width(group) != total // heads for group in groups):
        raise TransformerError(f"{place}: a named column crosses the cuts at {cuts}")
    return groups


def _head_values(head: Head, group: Columns, place: str) -> dict[str, int]:
    """The head's value columns, or an error where it leaves its group."""
    for block in head.blocks:
        if block.source not in group:
            raise TransformerError(
                f"{place}: reads the column {block.source!r}, its group holds {list(group)}"
            )
        if block.weight.shape[0] != group[block.source]:
            raise TransformerError(
                f"{place}: {block} has {block.weight.shape[0]} rows, "
                f"{block.source!r} has {group[block.source]} columns"
            )
    query = {name: block.width for name, block in head.query.items()}
    key = {name: block.width for name, block in head.key.items()}
    value = {name: block.width for name, block in head.value.items()}
    if query != key:
        raise TransformerError(f"{place}: queries have coordinates {query}, keys {key}")
    if max(width(query), width(value)) > width(group):
        raise TransformerError(
            f"{place}: {width(query)} query and {width(value)} value columns, "
            f"its group has {width(group)}"
        )
    return value


def _check_residual(values: Mapping[str, int], group: Columns, place: str) -> None:
    for name, columns in values.items():
        if group.get(name) != columns:
            raise TransformerError(
                f"{place}: adds {columns} columns to {name!r}, its group holds {dict(group)}"
            )
