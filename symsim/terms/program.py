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
from symsim.terms.term import (
    POSITIONAL,
    FloatConstantError,
    Kind,
    Number,
    Term,
    TermError,
    as_term,
    column,
    postorder,
    whole,
)

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

    __slots__ = ("_columns",)

    def __init__(self, columns: Mapping[str, Term]) -> None:
        self._columns = columns

    def __getattr__(self, name: str) -> Term:
        return self[name]

    def __getitem__(self, name: str) -> Term:
        if name not in self._columns:
            raise UnknownColumnError(
                f"column {name!r} is not among the token's columns: {', '.join(self._columns)}"
            )
        return self._columns[name]

    @property
    def position(self) -> Term:
        """The index of the token in its call, from 0."""
        return Term(Kind.POSITION)

    def in_range(self, lo: int, hi: int) -> Term:
        """1 if lo <= position < hi, else 0."""
        bounds = whole("in_range bound", lo), whole("in_range bound", hi)
        return Term(Kind.IN_RANGE, payload=bounds)

    def bit(self, k: int) -> Term:
        """The binary digit of weight 2^k of the position."""
        return Term(Kind.BIT, payload=(whole("bit", k, least=0),))


MLP = Callable[[Token], Mapping[str, Term | Number]]


@dataclass(frozen=True, eq=False)
class Program:
    """A token-wise program: the columns it reads and, by name, the terms it returns."""

    inputs: Columns
    outputs: Mapping[str, Term]

    def __reduce__(self) -> tuple[object, ...]:
        return _program, (dict(self.inputs), dict(self.outputs))

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
    where the function leaves token-wise arithmetic, TermError for a name or width that no
    column can have. A Python operation that terms do not have (abs, %, a loop over a term)
    raises Python's own TypeError, of which TermError is a kind.
    """
    inputs = {name: column(name, width) for name, width in columns.items()}
    result = function(Token(inputs))
    if not isinstance(result, Mapping) or not result:
        raise TermError(f"the program returned {result!r}: expected columns by name")
    program = _program(
        {name: term.width for name, term in inputs.items()},
        {name: _output(name, value) for name, value in result.items()},
    )
    # Looked for here and not where the token is asked, as a term may come from elsewhere.
    for node in program.nodes:
        if node.kind is Kind.COLUMN and inputs.get(str(node.payload)) is not node:
            raise UnknownColumnError(
                f"{node!r}, of width {node.width}, is not among the token's columns: "
                f"{dict(program.inputs)}"
            )
        if node.kind in POSITIONAL and not sees_position:
            raise PositionError(f"{node!r}: only the input MLP sees the position of its token")
    return program


def _output(name: str, value: Term | Number) -> Term:
    """A returned value as a term, its name being one that a column can have."""
    try:
        term = as_term(value)
    except FloatConstantError as error:
        raise FloatConstantError(f"output {name!r}: {error}") from None
    column(name, term.width)
    return term


def _program(inputs: dict[str, int], outputs: dict[str, Term]) -> Program:
    return Program(MappingProxyType(inputs), MappingProxyType(outputs))
