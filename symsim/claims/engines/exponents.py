"""Exponents as polynomials, and exponentials as powers of independent positive generators.

exp(Σ cₘ m) = Π exp(uₘ m)^(cₘ/uₘ), over monomials m with rational coefficients cₘ; the unit uₘ is
the greatest common divisor of the coefficients with which m occurs, so powers are whole. What
is no polynomial stands as an atom of its own: a logarithm, a maximum, an exponential, the
inverse of a divisor. This holds in every base above 1; nothing else about exp is used.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from fractions import Fraction
from math import gcd, lcm

from symsim.terms import Kind, Term, formula, postorder

MONOMIALS = 200
"""Monomials that an exponent may have when it is multiplied out."""

POWER = 64
"""The largest power of a generator that is written out."""

Monomial = tuple[tuple[int, int], ...]
"""(atom, power) pairs in increasing order of the atom's number; () is the constant 1."""

Polynomial = Mapping[Monomial, Fraction]

ONE: Monomial = ()


class NotApplicableError(Exception):
    """A formula that the SMT translation does not express; the message says why."""


@dataclass(frozen=True, eq=False)
class Atom:
    """What monomials are made of: the value of a term, or the inverse of that value."""

    term: Term
    inverted: bool = False

    def __str__(self) -> str:
        return f"1/({formula(self.term)})" if self.inverted else formula(self.term)


class Polynomials:
    """Terms multiplied out into polynomials over numbered atoms."""

    def __init__(self) -> None:
        self.atoms: list[Atom] = []
        self._numbers: dict[Term | tuple[tuple[Monomial, Fraction], ...], int] = {}
        self._known: dict[Term, Polynomial] = {}

    def of(self, term: Term) -> Polynomial:
        """The polynomial equal to `term`; raises NotApplicableError if it is too long."""
        for node in postorder((term,)):
            if node not in self._known:
                self._known[node] = self._polynomial(node, [self._known[arg] for arg in node.args])
        return self._known[term]

    def text(self, monomial: Monomial) -> str:
        """The monomial, readable."""
        powers = [
            f"{self.atoms[atom]}" + (f"^{power}" if power > 1 else "") for atom, power in monomial
        ]
        return "·".join(powers) or "1"

    def logarithm(self, monomial: Monomial) -> Term | None:
        """The monomial as a term, where it is a logarithm."""
        if len(monomial) != 1 or monomial[0][1] != 1:
            return None
        atom = self.atoms[monomial[0][0]]
        return atom.term if atom.term.kind is Kind.LOG and not atom.inverted else None

    def _polynomial(self, node: Term, args: list[Polynomial]) -> Polynomial:
        match node.kind:
            case Kind.CONSTANT:
                assert isinstance(node.payload, Fraction)
                return {ONE: node.payload} if node.payload else {}
            case Kind.ADD:
                return _sum(args[0], args[1])
            case Kind.SUB:
                return _sum(args[0], _scaled(args[1], Fraction(-1)))
            case Kind.NEG:
                return _scaled(args[0], Fraction(-1))
            case Kind.MUL:
                return _product(args[0], args[1])
            case Kind.DIV:
                return _product(args[0], self._inverse(node.args[1], args[1]))
            case Kind.COLUMN | Kind.LOG | Kind.EXP | Kind.MAX:
                return self._atom(node, Atom(node))
            case _:
                raise NotApplicableError(f"{node.kind.value} has no place in a formula")

    def _inverse(self, divisor: Term, polynomial: Polynomial) -> Polynomial:
        if not polynomial:
            raise NotApplicableError(f"the divisor {formula(divisor)} is 0")
        if set(polynomial) == {ONE}:
            return {ONE: 1 / polynomial[ONE]}
        return self._atom(tuple(sorted(polynomial.items())), Atom(divisor, inverted=True))

    def _atom(self, key: Term | tuple[tuple[Monomial, Fraction], ...], atom: Atom) -> Polynomial:
        number = self._numbers.setdefault(key, len(self.atoms))
        if number == len(self.atoms):
            self.atoms.append(atom)
        return {((number, 1),): Fraction(1)}


def units(polynomials: Iterable[Polynomial]) -> dict[Monomial, Fraction]:
    """For each monomial the greatest rational of which all its coefficients are multiples."""
    found: dict[Monomial, Fraction] = {}
    for polynomial in polynomials:
        for monomial, c in polynomial.items():
            u = found.get(monomial, Fraction(0))
            found[monomial] = Fraction(
                gcd(u.numerator, c.numerator), lcm(u.denominator, c.denominator)
            )
    return found


def _sum(left: Polynomial, right: Polynomial) -> Polynomial:
    total = dict(left)
    for monomial, c in right.items():
        total[monomial] = total.get(monomial, Fraction(0)) + c
    return {monomial: c for monomial, c in total.items() if c}


def _scaled(polynomial: Polynomial, factor: Fraction) -> Polynomial:
    return {monomial: factor * c for monomial, c in polynomial.items()}


def _product(left: Polynomial, right: Polynomial) -> Polynomial:
    if len(left) * len(right) > MONOMIALS:
        raise NotApplicableError(f"an exponent has more than {MONOMIALS} monomials")
    total: Polynomial = {}
    for monomial, c in left.items():
        total = _sum(total, {_times(monomial, other): c * d for other, d in right.items()})
    return total


def _times(left: Monomial, right: Monomial) -> Monomial:
    powers = dict(left)
    for atom, power in right:
        powers[atom] = powers.get(atom, 0) + power
    return tuple(sorted(powers.items()))
