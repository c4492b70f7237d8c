"""Canonical quotients as SymPy expressions, for printing and cross-checks."""

from __future__ import annotations

import sympy

from symsim.arithmetic.generators import Generators, Kind, Monomial, Terms
from symsim.arithmetic.quotient import Quotient


def sympy_quotient(generators: Generators, value: Quotient | None) -> sympy.Expr:
    """The quotient in lowest terms, generators as symbols, exp and log; nan for None."""
    if value is None:
        return sympy.nan
    value.reduce()
    num, den = generators.terms(value.num), generators.terms(value.den)
    return _sum(generators, num) / _sum(generators, den)


def _sum(generators: Generators, terms: Terms) -> sympy.Expr:
    return sympy.Add(*(coefficient * _product(generators, m) for m, coefficient in terms))


def _product(generators: Generators, monomial: Monomial) -> sympy.Expr:
    return sympy.Mul(*(_generator(generators, i) ** exponent for i, exponent in monomial))


def _generator(generators: Generators, index: int) -> sympy.Expr:
    kind, key, positive = generators.known[index]
    match kind:
        case Kind.SYMBOL:
            return sympy.Symbol(key, real=True, positive=positive or None)
        case Kind.EXPONENTIAL:
            return sympy.exp(_product(generators, key) / generators.exponent_denominator)
        case Kind.OPAQUE_EXPONENTIAL:
            return sympy.exp(_sum(generators, key[0]) / _sum(generators, key[1]))
        case Kind.LOGARITHM:
            return sympy.log(_sum(generators, key))
