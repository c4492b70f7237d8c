"""Terms: the one expression type of token-wise MLP programs and of claims.

A term is a node of a hash-consed directed acyclic graph: building the same expression twice
gives the same object, and nothing is simplified, so an engine receives a formula as written.
A term has a width, the number of columns it stands for; a term of width 1 broadcasts.
"""

from __future__ import annotations

import numbers
import threading
from enum import Enum
from fractions import Fraction
from typing import ClassVar, NoReturn, final
from weakref import WeakValueDictionary


class TermError(TypeError):
    """A function leaves the arithmetic that a term can express."""


class BranchingError(TermError):
    """A function asked for the truth value of data."""


class FloatConstantError(TermError):
    """A float stands where an exact rational constant is needed."""


class WidthError(TermError):
    """Two terms of different widths, neither of them 1, were combined."""


class Kind(Enum):
    """What a node of the expression graph does with its arguments."""

    COLUMN = "column"  # payload: name
    CONSTANT = "constant"  # payload: Fraction
    POSITION = "position"  # index of the token in its call, from 0
    IN_RANGE = "in_range"  # payload: (lo, hi); 1 if lo <= position < hi, else 0
    BIT = "bit"  # payload: k; digit of weight 2^k of the position
    ADD = "add"
    SUB = "sub"
    MUL = "mul"
    DIV = "div"
    NEG = "neg"
    EXP = "exp"  # in the base of the arithmetic
    LOG = "log"  # the inverse of exp
    MAX = "max"
    DOT = "dot"  # inner product of two column groups, of width 1


POSITIONAL = frozenset({Kind.POSITION, Kind.IN_RANGE, Kind.BIT})

Payload = str | Fraction | tuple[int, ...] | None
Number = int | Fraction

_interned: WeakValueDictionary[tuple[object, ...], Term] = WeakValueDictionary()
# Reentrant, as the garbage collector may run a finalizer that builds a term in its turn.
_interning = threading.RLock()


@final
class Term:
    """One node: `kind`, `args`, `payload` and `width` (number of columns).

    Nodes are interned, so two equal expressions are the same object (`is`). Comparison and
    truth value raise BranchingError: a token-wise program has no branches.
    """

    __slots__ = ("__weakref__", "args", "kind", "payload", "width")

    kind: Kind
    args: tuple[Term, ...]
    payload: Payload
    width: int

    # Keeps numpy from spreading a term over an array: `array * term` reaches __rmul__.
    __array_ufunc__: ClassVar[None] = None

    def __new__(
        cls, kind: Kind, args: tuple[Term, ...] = (), payload: Payload = None, width: int = 1
    ) -> Term:
        """The node with these parts, made now unless it exists."""
        # Keyed by identity: arguments are interned, and == on terms raises.
        key = (kind, tuple(map(id, args)), type(payload), payload, width)
        with _interning:
            term = _interned.get(key)
            if term is None:
                term = super().__new__(cls)
                term.kind, term.args, term.payload, term.width = kind, args, payload, width
                _interned[key] = term
            return term

    def __reduce__(self) -> tuple[object, ...]:
        # A flat list of nodes: pickling argument by argument would recurse as deep as the term.
        nodes = postorder((self,))
        place = {node: i for i, node in enumerate(nodes)}
        return _rebuilt, (
            [(n.kind, tuple(place[arg] for arg in n.args), n.payload, n.width) for n in nodes],
        )

    def __repr__(self) -> str:
        from symsim.terms.printing import excerpt  # noqa: PLC0415 - printing imports Term

        return f"Term({excerpt(self)})"

    def _branch(self, *_: object) -> NoReturn:
        raise BranchingError(
            f"{self!r} was compared, tested for truth or converted to a number: a token-wise "
            "program cannot branch on data; use maximum() or an in_range() column"
        )

    __bool__ = __eq__ = __ne__ = __lt__ = __le__ = __gt__ = __ge__ = _branch
    __int__ = __float__ = __index__ = _branch
    __hash__ = object.__hash__

    def __add__(self, other: Term | Number) -> Term:
        return binary(Kind.ADD, self, other)

    def __radd__(self, other: Term | Number) -> Term:
        return binary(Kind.ADD, other, self)

    def __sub__(self, other: Term | Number) -> Term:
        return binary(Kind.SUB, self, other)

    def __rsub__(self, other: Term | Number) -> Term:
        return binary(Kind.SUB, other, self)

    def __mul__(self, other: Term | Number) -> Term:
        return binary(Kind.MUL, self, other)

    def __rmul__(self, other: Term | Number) -> Term:
        return binary(Kind.MUL, other, self)

    def __truediv__(self, other: Term | Number) -> Term:
        return binary(Kind.DIV, self, other)

    def __rtruediv__(self, other: Term | Number) -> Term:
        return binary(Kind.DIV, other, self)

    def __neg__(self) -> Term:
        return Term(Kind.NEG, (self,), width=self.width)

    def __pos__(self) -> Term:
        return self

    def __pow__(self, exponent: int) -> Term:
        """`exponent` factors of this term, a whole number of at least 1."""
        power = self
        for _ in range(whole("power", exponent, least=1) - 1):
            power = power * self
        return power


def _rebuilt(nodes: list[tuple[Kind, tuple[int, ...], Payload, int]]) -> Term:
    """The last of `nodes`, whose arguments are given by their place in the list."""
    terms: list[Term] = []
    for kind, args, payload, width in nodes:
        terms.append(Term(kind, tuple(terms[arg] for arg in args), payload, width))
    return terms[-1]


def whole(what: str, value: object, least: int | None = None) -> int:
    """`value` as an int; raises TermError unless it is a whole number of at least `least`."""
    if not isinstance(value, bool) and isinstance(value, numbers.Integral):
        number = int(value)
        if least is None or number >= least:
            return number
    bound = "" if least is None else f" of at least {least}"
    raise TermError(f"{what} {value!r}: expected a whole number{bound}")


def constant(value: Number) -> Term:
    """The rational constant `value`; raises FloatConstantError for anything inexact."""
    if isinstance(value, bool) or not isinstance(value, numbers.Rational):
        raise FloatConstantError(
            f"constant {value!r} of type {type(value).__name__}: expected an int or a Fraction"
        )
    return Term(Kind.CONSTANT, payload=Fraction(int(value.numerator), int(value.denominator)))


def column(name: str, width: int = 1) -> Term:
    """The named column group of `width` columns (a symbol, in a claim).

    Raises TermError for a name that is no identifier or that a formula uses for the position.
    """
    reserved = sorted(kind.value for kind in POSITIONAL)
    if not isinstance(name, str) or not name.isidentifier() or name[0] == "_":
        raise TermError(f"column name {name!r}: expected an identifier starting with a letter")
    if name in reserved:
        raise TermError(f"column name {name!r}: {', '.join(reserved)} say where a token stands")
    width = whole(f"column {name!r}, width", width, least=1)
    return Term(Kind.COLUMN, payload=name, width=width)


def as_term(value: Term | Number) -> Term:
    """`value` itself, or the constant it denotes."""
    return value if isinstance(value, Term) else constant(value)


def _common_width(kind: Kind, left: Term, right: Term) -> int:
    if left.width != right.width and 1 not in (left.width, right.width):
        raise WidthError(
            f"{kind.value}: {left!r} has {left.width} columns, {right!r} has {right.width}; "
            "expected the same number, or 1"
        )
    return max(left.width, right.width)


def binary(kind: Kind, left: Term | Number, right: Term | Number) -> Term:
    """The node `left kind right`, column by column."""
    left, right = as_term(left), as_term(right)
    return Term(kind, (left, right), width=_common_width(kind, left, right))


def exp(value: Term | Number) -> Term:
    """The exponential, in the base of the arithmetic that evaluates it."""
    term = as_term(value)
    return Term(Kind.EXP, (term,), width=term.width)


def log(value: Term | Number) -> Term:
    """The inverse of exp: the natural logarithm wherever the base is e."""
    term = as_term(value)
    return Term(Kind.LOG, (term,), width=term.width)


def maximum(left: Term | Number, right: Term | Number) -> Term:
    """The larger of two, column by column."""
    return binary(Kind.MAX, left, right)


def relu(value: Term | Number) -> Term:
    """max(value, 0)."""
    return maximum(value, 0)


def dot(left: Term | Number, right: Term | Number) -> Term:
    """The inner product of two groups of the same number of columns."""
    left, right = as_term(left), as_term(right)
    if left.width != right.width:
        raise WidthError(
            f"dot: {left!r} has {left.width} columns, {right!r} has {right.width}; "
            "expected the same number"
        )
    return Term(Kind.DOT, (left, right))


def postorder(roots: tuple[Term, ...]) -> tuple[Term, ...]:
    """Every node below `roots` once, arguments before the nodes that use them."""
    seen: dict[Term, None] = {}
    stack = [(root, False) for root in reversed(roots)]
    while stack:
        term, expanded = stack.pop()
        if term in seen:
            continue
        if expanded:
            seen[term] = None
        else:
            stack.append((term, True))
            stack.extend((arg, False) for arg in reversed(term.args))
    return tuple(seen)
