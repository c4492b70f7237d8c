"""Generators of exponential quotients, and the FLINT context in which they are variables.

A generator is a function of the symbols that a polynomial treats as a variable: a symbol, the
exponential of a monomial, or an opaque exponential or logarithm. Generators are only ever
appended and the order of terms is lexicographic, so growth neither reorders the terms of a
polynomial nor changes its leading term: a sign or a key fixed early stays valid.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from enum import Enum
from typing import Any, NamedTuple

from flint import fmpz_mpoly_ctx

Polynomial = Any  # fmpz_mpoly; python-flint carries no types

Monomial = tuple[tuple[int, int], ...]
"""Generators by index with their positive exponents, in increasing order of index."""

Terms = tuple[tuple[Monomial, int], ...]
"""A polynomial apart from any context: its terms from the leading one down."""

E_MONOMIAL: Monomial = ()
"""The constant monomial: its exponential is the number e (or a root of it)."""

_FIRST_CAPACITY = 16


class Kind(Enum):
    """What a generator stands for."""

    SYMBOL = "symbol"  # key: name
    EXPONENTIAL = "exponential"  # key: Monomial m, for exp(m/D)
    OPAQUE_EXPONENTIAL = "opaque exponential"  # key: (Terms, Terms), for exp(num/den)
    LOGARITHM = "logarithm"  # key: Terms of a manifestly positive polynomial


class Generator(NamedTuple):
    """One generator: its kind, what determines it within its kind, and whether it is > 0."""

    kind: Kind
    key: Any
    positive: bool

    @property
    def opaque(self) -> bool:
        """Whether polynomial relations between it and other generators may go unnoticed."""
        return self.kind in (Kind.OPAQUE_EXPONENTIAL, Kind.LOGARITHM)


class Generators:
    """The generators of one arithmetic, in order of creation; `context` is wide enough for all.

    The context is widened when a polynomial is made from generators, not when a generator is
    registered: registering many first makes one growth of it.
    """

    def __init__(self, exponent_denominator: int) -> None:
        self.exponent_denominator = exponent_denominator
        self.known: list[Generator] = []
        self.unsigned_divisor: str | None = None
        """The first divisor that was not manifestly of one sign."""
        self._index: dict[Generator, int] = {}
        self._enter(_FIRST_CAPACITY)

    def _enter(self, capacity: int) -> None:
        self.context = fmpz_mpoly_ctx.get(("g", capacity), "lex")
        self.one: Polynomial = self.context.constant(1)

    def __contains__(self, generator: Generator) -> bool:
        return generator in self._index

    def index(self, generator: Generator) -> int:
        """The index of `generator`, registered if it is new."""
        index = self._index.get(generator)
        if index is None:
            index = self._index[generator] = len(self.known)
            self.known.append(generator)
        return index

    # -- polynomials --------------------------------------------------------------------

    def _grow(self) -> None:
        capacity = self.context.nvars()
        if len(self.known) > capacity:
            self._enter(max(len(self.known), capacity * 3 // 2))

    def product(self, powers: Iterable[tuple[int, int]]) -> Polynomial:
        """The product of generators (by index) to exponents of at least 1."""
        self._grow()
        result = None
        for index, exponent in powers:
            factor = self.context.gen(index)
            if exponent != 1:
                factor = factor**exponent
            result = factor if result is None else result * factor
        return self.one if result is None else result

    def polynomial(self, terms: Terms) -> Polynomial:
        """The polynomial with the given terms."""
        self._grow()
        if not terms:
            return self.context.constant(0)
        return total([self.product(monomial) * coefficient for monomial, coefficient in terms])

    def lifted(self, polynomial: Polynomial) -> Polynomial:
        """`polynomial` in the present context."""
        if polynomial.context() is self.context:
            return polynomial
        # project_to_context takes time quadratic in the number of generators.
        return self.polynomial(self.terms(polynomial))

    def terms(self, polynomial: Polynomial) -> Terms:
        """The terms of `polynomial`, from the leading one down.

        Read from its text, the one sparse form that FLINT gives: exponent vectors have an entry
        for every generator, which for thousands of them takes five times as long.
        """
        if polynomial.is_zero():
            return ()
        return tuple(map(_term, str(polynomial).replace(" - ", " + -").split(" + ")))

    # -- questions ----------------------------------------------------------------------

    def support(self, polynomial: Polynomial) -> list[int]:
        """The indices of the generators that occur (FLINT gives the zero polynomial degrees -1)."""
        return [index for index, degree in enumerate(polynomial.degrees()) if degree > 0]

    def has_opaque(self, polynomial: Polynomial) -> bool:
        """Whether an opaque generator occurs."""
        return any(self.known[index].opaque for index in self.support(polynomial))

    def manifest_sign(self, polynomial: Polynomial) -> int:
        """1 or -1 if all coefficients have that sign and only positive generators occur, else 0."""
        signs = {1 if coefficient > 0 else -1 for coefficient in polynomial.coeffs()}
        if len(signs) != 1:
            return 0
        positive = all(self.known[index].positive for index in self.support(polynomial))
        return signs.pop() if positive else 0

    # -- text ---------------------------------------------------------------------------

    def text(self, polynomial: Polynomial) -> str:
        """`polynomial` in the names of its generators."""
        return self._sum(self.terms(polynomial))

    def quotient_text(self, num: Polynomial, den: Polynomial) -> str:
        """`num/den`, or `num` alone if `den` is 1."""
        return self._ratio(self.terms(num), self.terms(den))

    def _ratio(self, num: Terms, den: Terms) -> str:
        if den == ((E_MONOMIAL, 1),):
            return self._sum(num)
        above, below = self._sum(num), self._sum(den)
        if len(num) > 1:
            above = f"({above})"
        return f"{above}/({below})" if re.search(r"[ *]", below) else f"{above}/{below}"

    def _sum(self, terms: Terms) -> str:
        printed = " + ".join(self._product(monomial, c) for monomial, c in terms)
        return printed.replace(" + -", " - ") or "0"

    def _product(self, monomial: Monomial, coefficient: int) -> str:
        factors = [
            self.name(index) if exponent == 1 else f"{self.name(index)}^{exponent}"
            for index, exponent in monomial
        ]
        if abs(coefficient) != 1 or not factors:
            factors.insert(0, str(abs(coefficient)))
        return ("-" if coefficient < 0 else "") + "*".join(factors)

    def name(self, index: int) -> str:
        """The generator of that index as users see it."""
        kind, key, _ = self.known[index]
        match kind:
            case Kind.SYMBOL:
                return str(key)
            case Kind.EXPONENTIAL:
                below = ((E_MONOMIAL, self.exponent_denominator),)
                return f"exp({self._ratio(((key, 1),), below)})"
            case Kind.OPAQUE_EXPONENTIAL:
                return f"exp({self._ratio(*key)})"
            case Kind.LOGARITHM:
                return f"ln({self._sum(key)})"


def total(polynomials: Sequence[Polynomial]) -> Polynomial:
    """The sum of at least one polynomial, halves first: a sum in order copies long ones often."""
    if len(polynomials) == 1:
        return polynomials[0]
    half = len(polynomials) // 2
    return total(polynomials[:half]) + total(polynomials[half:])


def _term(text: str) -> tuple[Monomial, int]:
    """The term that FLINT prints as, for example, `-3*g0^2*g5`."""
    coefficient = 1
    if text[0] == "-":
        coefficient, text = -1, text[1:]
    powers = []
    for factor in text.split("*"):
        if factor[0] == "g":
            index, _, exponent = factor[1:].partition("^")
            powers.append((int(index), int(exponent or 1)))
        else:
            coefficient *= int(factor)
    return tuple(powers), coefficient
