"""Exponentials and logarithms of quotients; `symbolic` says why equality is decided on them."""

from __future__ import annotations

from fractions import Fraction
from typing import Any, NamedTuple

from symsim.arithmetic.base import UndecidableError
from symsim.arithmetic.generators import (
    E_MONOMIAL,
    Generator,
    Generators,
    Kind,
    Monomial,
    Polynomial,
    Terms,
)
from symsim.arithmetic.quotient import Quotient, constant, excerpt, from_terms


class Exponential(NamedTuple):
    """An exponential as a product of integer powers, before any polynomial is made.

    `factors` are generators by index, each at most once, `powers` the polynomials under
    logarithms.
    """

    factors: list[tuple[int, int]]
    powers: list[tuple[Terms, int]]


def exponential(value: Quotient) -> Exponential:
    """exp(value); the generators that it needs are registered.

    Raises UndecidableError where a coefficient of a polynomial is not a multiple of
    1/exponent_denominator.
    """
    value, powers = _without_logarithms(value)
    generators = value.generators
    if not (value.den.is_one() or value.den.is_constant()):
        return Exponential([_opaque_exponential(value)], powers)
    den = int(value.den.leading_coefficient())
    factors, rest = [], []
    for monomial, coefficient in generators.terms(value.num):
        if _is_independent(generators, monomial):
            factors.append(_power(generators, monomial, Fraction(coefficient, den)))
        else:
            rest.append((monomial, coefficient))
    if rest:
        share = constant(generators, Fraction(1, den))
        factors.append(_opaque_exponential(from_terms(generators, tuple(rest)) * share))
    return Exponential(factors, powers)


def multiplied(generators: Generators, product: Exponential) -> Any:
    """The number that an exponential stands for."""
    num = generators.product((index, k) for index, k in product.factors if k > 0)
    den = generators.product((index, -k) for index, k in product.factors if k < 0)
    opaque = any(generators.known[index].opaque for index, _ in product.factors)
    result: Any = Quotient(generators, num, den, opaque=opaque, reduced=True)
    for terms, k in product.powers:
        result = result * from_terms(generators, terms) ** k
    return result


def _without_logarithms(value: Quotient) -> tuple[Quotient, list[tuple[Terms, int]]]:
    """The r and the (p, k) of value = r + Σ k ln p, with integers k; r in lowest terms."""
    value.reduce()
    found: list[tuple[Terms, int]] = []
    if not value.has_opaque():
        return value, found
    generators = value.generators
    for index in generators.support(value.num):
        generator = generators.known[index]
        if generator.kind is not Kind.LOGARITHM:
            continue
        slope = value.num.derivative(index)
        k = int(slope.leading_coefficient() // value.den.leading_coefficient())
        if slope == value.den * k:
            found.append((generator.key, k))
            value = value - constant(generators, Fraction(k)) * _variable(generators, index)
            value.reduce()
    return value, found


def _is_independent(generators: Generators, monomial: Monomial) -> bool:
    """Whether the exponential of `monomial` is a generator on which equality is decided.

    Not of a power of e: whether e and exp(e) are algebraically independent is not known.
    """
    known = [generators.known[index] for index, _ in monomial]
    if any(generator.opaque for generator in known):
        return False
    e_alone = all(g.kind is Kind.EXPONENTIAL and g.key == E_MONOMIAL for g in known)
    return monomial == E_MONOMIAL or not e_alone


def _power(generators: Generators, monomial: Monomial, coefficient: Fraction) -> tuple[int, int]:
    """exp(coefficient · monomial) as a power of a generator."""
    share = generators.exponent_denominator
    exponent = coefficient * share
    if exponent.denominator != 1:
        term = from_terms(generators, ((monomial, 1),))
        raise UndecidableError(
            f"exp of {coefficient} times {excerpt(term)}: expected a coefficient that is a "
            f"multiple of 1/{share} (exponent_denominator)"
        )
    index = generators.index(Generator(Kind.EXPONENTIAL, monomial, positive=True))
    return index, exponent.numerator


def _opaque_exponential(value: Quotient) -> tuple[int, int]:
    """exp(value) as exp(q) or 1/exp(q), where q = ±value has a positive leading coefficient."""
    generators = value.generators
    sign = 1 if value.num.leading_coefficient() > 0 else -1
    key = generators.terms(value.num * sign), generators.terms(value.den)
    return generators.index(Generator(Kind.OPAQUE_EXPONENTIAL, key, positive=True)), sign


def logarithm(value: Quotient) -> Quotient:
    """ln(value): an exponent where it is known, otherwise a sum of opaque logarithms.

    Raises UndecidableError unless numerator and denominator are manifestly positive: positive
    coefficients, and no generators but exponentials and positive symbols.
    """
    value.reduce()
    if any(value.generators.manifest_sign(part) != 1 for part in (value.num, value.den)):
        raise UndecidableError(
            f"ln of {excerpt(value)}: expected a manifestly positive argument (positive "
            "coefficients, exponentials and positive symbols)"
        )
    generators = value.generators
    return _log_polynomial(generators, value.num) - _log_polynomial(generators, value.den)


def _log_polynomial(generators: Generators, polynomial: Polynomial) -> Quotient:
    """Logarithms of the integer content, of the monomial content and of the rest, added."""
    content = polynomial.term_content()
    ((monomial, coefficient),) = generators.terms(content)
    rest = generators.terms(polynomial / content)
    result = _opaque_log(generators, ((E_MONOMIAL, coefficient),)) + _opaque_log(generators, rest)
    for index, exponent in monomial:
        result = result + constant(generators, Fraction(exponent)) * _log_generator(
            generators, index
        )
    return result


def _opaque_log(generators: Generators, terms: Terms) -> Quotient:
    if terms == ((E_MONOMIAL, 1),):
        return constant(generators, Fraction(0))
    return _variable(generators, generators.index(Generator(Kind.LOGARITHM, terms, positive=False)))


def _log_generator(generators: Generators, index: int) -> Any:
    """The logarithm of a positive generator."""
    generator = generators.known[index]
    match generator.kind:
        case Kind.EXPONENTIAL:
            share = constant(generators, Fraction(1, generators.exponent_denominator))
            return from_terms(generators, ((generator.key, 1),)) * share
        case Kind.OPAQUE_EXPONENTIAL:
            num, den = generator.key
            return from_terms(generators, num) / from_terms(generators, den)
        case _:
            return _opaque_log(generators, ((((index, 1),), 1),))


def _variable(generators: Generators, index: int) -> Quotient:
    return from_terms(generators, ((((index, 1),), 1),))
