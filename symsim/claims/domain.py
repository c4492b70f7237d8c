"""Domains: the symbols of a claim with their sorts and bounds, and the claim's hypotheses."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from symsim.terms import Kind, Number, Term, as_term, column, formula, postorder

Comparison = Literal["=", "!=", "<=", "<"]


@dataclass(frozen=True, eq=False)
class Relation:
    """`left` compared with `right`, as written."""

    left: Term
    comparison: Comparison
    right: Term

    def __str__(self) -> str:
        sign = {"=": "=", "!=": "≠", "<=": "≤", "<": "<"}[self.comparison]
        return f"{formula(self.left)} {sign} {formula(self.right)}"


def equal(left: Term | Number, right: Term | Number) -> Relation:
    """left = right."""
    return Relation(as_term(left), "=", as_term(right))


def differs(left: Term | Number, right: Term | Number) -> Relation:
    """left ≠ right."""
    return Relation(as_term(left), "!=", as_term(right))


def at_most(left: Term | Number, right: Term | Number) -> Relation:
    """left ≤ right."""
    return Relation(as_term(left), "<=", as_term(right))


def less(left: Term | Number, right: Term | Number) -> Relation:
    """left < right."""
    return Relation(as_term(left), "<", as_term(right))


@dataclass(frozen=True, eq=False)
class Variable:
    """A symbol that ranges over the reals or the integers, between bounds.

    Bounds are terms in symbols declared before it; an open bound is not attained.
    Raises DomainError for a term that is no symbol.
    """

    symbol: Term
    integer: bool = False
    lower: Term | None = None
    upper: Term | None = None
    lower_open: bool = False
    upper_open: bool = False

    def __post_init__(self) -> None:
        if self.symbol.kind is not Kind.COLUMN:
            raise DomainError(f"{self.symbol!r} is declared, expected a symbol")

    @property
    def name(self) -> str:
        """The symbol's name."""
        return str(self.symbol.payload)

    @property
    def bounds(self) -> tuple[Relation, ...]:
        """The bounds as relations."""
        found = []
        if self.lower is not None:
            found.append(Relation(self.lower, "<" if self.lower_open else "<=", self.symbol))
        if self.upper is not None:
            found.append(Relation(self.symbol, "<" if self.upper_open else "<=", self.upper))
        return tuple(found)

    def __str__(self) -> str:
        sort = "integer" if self.integer else "real"
        bounds = ", ".join(map(str, self.bounds))
        return f"{self.name} {sort}" + (f" with {bounds}" if bounds else "")


def symbols(names: str) -> tuple[Term, ...]:
    """Symbols by name, names separated by blanks."""
    return tuple(column(name) for name in names.split())


def _bound(value: Term | Number | None) -> Term | None:
    return None if value is None else as_term(value)


def real(
    symbol: Term, *, at_least: Term | Number | None = None, at_most: Term | Number | None = None
) -> Variable:
    """A real number, between the bounds given."""
    return Variable(symbol, lower=_bound(at_least), upper=_bound(at_most))


def positive(symbol: Term) -> Variable:
    """A real number > 0."""
    return Variable(symbol, lower=as_term(0), lower_open=True)


def integer(
    symbol: Term, *, at_least: Term | Number | None = None, at_most: Term | Number | None = None
) -> Variable:
    """An integer, between the bounds given."""
    return Variable(symbol, integer=True, lower=_bound(at_least), upper=_bound(at_most))


class DomainError(ValueError):
    """A claim uses a symbol that its domain does not declare, or one is declared twice.

    Also: what is declared is no symbol, or a point leaves symbols of the domain out.
    """


@dataclass(frozen=True, eq=False)
class Domain:
    """Declared symbols, in order, and hypotheses on them.

    Raises DomainError for a symbol declared twice, or used before it is declared.
    """

    variables: tuple[Variable, ...] = ()
    hypotheses: tuple[Relation, ...] = ()

    def __post_init__(self) -> None:
        declared: set[str] = set()
        for variable in self.variables:
            if variable.name in declared:
                raise DomainError(f"{variable.name} is declared twice")
            for bound in (variable.lower, variable.upper):
                _check_declared(bound, declared, f"a bound of {variable.name}")
            declared.add(variable.name)
        for hypothesis in self.hypotheses:
            for side in (hypothesis.left, hypothesis.right):
                _check_declared(side, declared, f"the hypothesis {hypothesis}")

    @property
    def names(self) -> tuple[str, ...]:
        """The declared symbols' names, in order."""
        return tuple(variable.name for variable in self.variables)

    @property
    def relations(self) -> tuple[Relation, ...]:
        """Bounds and hypotheses together."""
        bounds = [bound for variable in self.variables for bound in variable.bounds]
        return (*bounds, *self.hypotheses)

    def check(self, relation: Relation, what: str) -> None:
        """Raise DomainError unless every symbol of `relation` is declared."""
        for side in (relation.left, relation.right):
            _check_declared(side, set(self.names), what)

    def __str__(self) -> str:
        parts = [str(variable) for variable in self.variables]
        parts += [str(hypothesis) for hypothesis in self.hypotheses]
        return "; ".join(parts) or "no symbols"


def domain(*parts: Variable | Relation) -> Domain:
    """A domain from declarations and hypotheses in any order."""
    return Domain(
        tuple(part for part in parts if isinstance(part, Variable)),
        tuple(part for part in parts if isinstance(part, Relation)),
    )


def free_symbols(*terms: Term) -> tuple[str, ...]:
    """Names of the symbols in `terms`, in order of appearance."""
    return tuple(
        dict.fromkeys(str(node.payload) for node in postorder(terms) if node.kind is Kind.COLUMN)
    )


def _check_declared(term: Term | None, declared: set[str], what: str) -> None:
    if term is None:
        return
    for name in free_symbols(term):
        if name not in declared:
            raise DomainError(f"{what} uses {name}, which is not declared before it")
