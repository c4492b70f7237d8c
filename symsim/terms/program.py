"""Token-wise MLP programs: traced from a plain function of named columns.

    ψ = trace(lambda token: {"A": token.r / token.s}, {"r": 1, "s": 1})

The function is called once, with a token whose attributes are the named columns; what it
returns is kept as terms, counted, printed, and evaluated in any arithmetic.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from types import MappingProxyType

from symsim.terms.printing import formula, latex
from symsim.terms.term import Kind, Number, Term, TermError, as_term, column, postorder

Columns = Mapping[str, int]
"""Named column groups and their widths, in order."""


class UnknownColumnError(TermError):
    """A program names a column that its tokens do not have."""


class PositionError(TermError):
    """A program that may not see the position of its token asked for it."""


class Token:
    """What a traced function receives: `token.q` is the column group q.

    The input MLP of a call also sees where its token stands: `position` (from 0),
    `in_range(lo, hi)` (1 if lo <= position < hi, else 0) and `bit(k)`.
    """

    def __init__(self, columns: Columns, *, sees_position: bool) -> None:
        self._columns = columns
        self._sees_position = sees_position

    def __getattr__(self, name: str) -> Term:
        return self[name]

    def __getitem__(self, name: str) -> Term:
        if name not in self._columns:
            raise UnknownColumnError(
                f"column {name!r} is not among the token's columns: {', '.join(self._columns)}"
            )
        return column(name, self._columns[name])

    @property
    def position(self) -> Term:
        """The index of the token in its call, from 0."""
        return self._positional(Kind.POSITION, None)

    def in_range(self, lo: int, hi: int) -> Term:
        """1 if lo <= position < hi, else 0."""
        return self._positional(Kind.IN_RANGE, (lo, hi))

    def bit(self, k: int) -> Term:
        """The binary digit of weight 2^k of the position."""
        if k < 0:
            raise TermError(f"bit({k}): expected a digit of at least 0")
        return self._positional(Kind.BIT, (k,))

    def _positional(self, kind: Kind, payload: tuple[int, ...] | None) -> Term:
        if not self._sees_position:
            raise PositionError(
                f"{kind.value}: only the input MLP sees the position of its token"
            )
        return Term(kind, payload=payload)


MLP = Callable[[Token], Mapping[str, Term | Number]]


@dataclass(frozen=True, eq=False)
class Program:
    """A token-wise program: the columns it reads and, by name, the terms it returns."""

    inputs: Columns
    outputs: Mapping[str, Term]

    @cached_property
    def columns(self) -> Columns:
        """The column groups it returns and their widths."""
        return MappingProxyType({name: term.width for name, term in self.outputs.items()})

    @cached_property
    def nodes(self) -> tuple[Term, ...]:
        """Every node once, arguments first."""
        return postorder(tuple(self.outputs.values()))

    @cached_property
    def operations(self) -> int:
        """Arithmetic operations for one token; a shared node is computed once."""
        return sum(map(operation_count, self.nodes))

    @cached_property
    def constants(self) -> tuple[Fraction, ...]:
        """The distinct rational constants, in increasing order."""
        return tuple(
            sorted(node.payload for node in self.nodes if isinstance(node.payload, Fraction))
        )

    def formulas(self) -> tuple[str, ...]:
        """One line `name = formula` an output."""
        return tuple(f"{name} = {formula(term)}" for name, term in self.outputs.items())

    def latex(self) -> tuple[str, ...]:
        """One line of LaTeX mathematics an output."""
        return tuple(
            f"{latex(column(name))} = {latex(term)}" for name, term in self.outputs.items()
        )


def operation_count(node: Term) -> int:
    """Arithmetic operations of one node: one a column, 2w - 1 for an inner product of w.

    A position primitive counts as one operation, an in_range as its two comparisons.
    """
    match node.kind:
        case Kind.COLUMN | Kind.CONSTANT:
            return 0
        case Kind.DOT:
            return 2 * node.args[0].width - 1
        case Kind.IN_RANGE:
            return 2
        case _:
            return node.width


def trace(function: MLP, columns: Columns, *, sees_position: bool = False) -> Program:
    """The program that `function` computes on tokens with the given columns.

    Raises BranchingError, FloatConstantError, UnknownColumnError, PositionError or WidthError
    where the function leaves token-wise arithmetic.
    """
    frozen = MappingProxyType(dict(columns))
    result = function(Token(frozen, sees_position=sees_position))
    if not isinstance(result, Mapping) or not result:
        raise TermError(f"the program returned {result!r}: expected columns by name")
    outputs = {name: as_term(value) for name, value in result.items()}
    return Program(frozen, MappingProxyType(outputs))
