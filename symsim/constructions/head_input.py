"""What is given of the simulated head: its Q, K and V, or its X with W^Q, W^K and W^V."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from symsim.model import Block, Identity, ModelError, Parameter, Plan, Register, beside, stack
from symsim.terms import Columns


@dataclass(frozen=True, eq=False)
class HeadInput:
    """The large head's input, as the columns that a token of a block call carries.

    query_side, key_side: token column -> (given matrix, width). query, key, value: the blocks
    that the oracle's W^Q, W^K and W^V apply to those columns.
    """

    tokens: int
    query_side: Mapping[str, tuple[str, int]]
    key_side: Mapping[str, tuple[str, int]]
    query: Block
    key: Block
    value: Block

    @property
    def dimension(self) -> int:
        """The large head's embedding dimension d."""
        sides = (*self.query_side.values(), *self.key_side.values())
        return max(width for _, width in sides)

    @property
    def columns(self) -> Columns:
        """The token's columns and their widths."""
        sides = {**self.query_side, **self.key_side}
        return {name: width for name, (_, width) in sides.items()}

    def matrices(self, plan: Plan) -> dict[str, Register]:
        """Declare the given matrices as inputs of `plan`."""
        given = {*self.query_side.values(), *self.key_side.values()}
        return {name: plan.input(name, self.tokens, width) for name, width in sorted(given)}


def from_qkv(tokens: int, dimension: int, value_width: int | None = None) -> HeadInput:
    """A head given by Q, K (tokens × dimension) and V (tokens × value_width)."""
    width = value_width or dimension
    return HeadInput(
        tokens,
        query_side={"q": ("Q", dimension)},
        key_side={"k": ("K", dimension), "v": ("V", width)},
        query=Block("q", Identity(dimension)),
        key=Block("k", Identity(dimension)),
        value=Block("v", Identity(width)),
    )


def from_x(tokens: int, dimension: int, key_width: int, value_width: int) -> HeadInput:
    """A head given by X (tokens × dimension) and parameters W_Q, W_K, W_V.

    Raises ModelError for matrices wider than the tokens: a head's are m × m (Definition 2.1′).
    """
    for name, width in (("W_Q", key_width), ("W_K", key_width), ("W_V", value_width)):
        if width > dimension:
            raise ModelError("a head's matrices are m × m", name, f"{width} columns", dimension)
    return HeadInput(
        tokens,
        query_side={"x_query": ("X", dimension)},
        key_side={"x_key": ("X", dimension)},
        query=Block("x_query", Parameter("W_Q", (dimension, key_width))),
        key=Block("x_key", Parameter("W_K", (dimension, key_width))),
        value=Block("x_key", Parameter("W_V", (dimension, value_width))),
    )


def within_block(given: HeadInput) -> HeadInput:
    """The input for a call whose queries and keys are one block: X is carried once."""
    if "x_key" not in given.key_side:
        return given
    side = {"x": given.key_side["x_key"]}
    return HeadInput(
        given.tokens,
        side,
        side,
        *(Block("x", block.weight) for block in (given.query, given.key, given.value)),
    )


def blocks(tokens: int, size: int) -> list[slice]:
    """The index blocks S_t, from 0: disjoint, covering, of `size` tokens but for a last rest."""
    return [slice(start, min(start + size, tokens)) for start in range(0, tokens, size)]


class BlockRows:
    """Token rows of block calls: blocks of the given matrices, padded with the zero row."""

    def __init__(self, plan: Plan, given: HeadInput) -> None:
        self._plan = plan
        self._matrices = given.matrices(plan)
        self._made: dict[tuple[str, str, int, int], Register] = {}

    def pair(self, given: HeadInput, queries: slice, keys: slice, rows: int) -> Register:
        """Tokens with the query side of one block and the key side of another."""
        sides = {name: (matrix, queries) for name, (matrix, _) in given.query_side.items()}
        sides |= {name: (matrix, keys) for name, (matrix, _) in given.key_side.items()}
        return beside(
            *(self._padded(name, matrix, block, rows) for name, (matrix, block) in sides.items())
        )

    def _padded(self, column: str, matrix: str, block: slice, rows: int) -> Register:
        key = (column, matrix, block.start, rows)
        if key not in self._made:
            taken = self._matrices[matrix][block].named(column)
            (width,) = taken.columns.values()
            padding = [self._plan.zero(width).named(column)] * (rows - taken.rows)
            self._made[key] = stack(taken, *padding)
        return self._made[key]
