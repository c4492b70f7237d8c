"""The symbolic arithmetic: exponential polynomials over ℚ, equality by canonical form.

Numbers are quotients of polynomials over ℤ in generators: symbols, and exponentials created
when they are first needed. With D the arithmetic's `exponent_denominator`, exp(Σ c_i m_i) of a
polynomial with monomials m_i is the product of the powers exp(m_i/D)^(D c_i); a negative
exponent puts a generator into the denominator.

Why the canonical form decides. Let x be the symbols and m_1, …, m_n distinct nonconstant
monomials, in the symbols and in exponentials of monomials made before. They are linearly
independent over ℚ modulo constants, so by Ax (On Schanuel's conjectures, Annals of Mathematics
93, 1971; the functional form of Schanuel's conjecture) the functions x, exp(m_1/D),
…, exp(m_n/D) are algebraically independent over ℂ; and the one constant generator,
exp(1/D), is transcendental over ℚ. No polynomial in generators other than zero is therefore
the zero function, on any open set of real points, and two quotients are equal as functions if
and only if num_1 den_2 = num_2 den_1 as polynomials: if and only if they agree in lowest terms.
(Powers of e alone are not nonconstant: the algebraic independence of e and exp(e) is an open
question, so exp(e) is opaque.)

Opaque generators extend this soundly, not completely: exp(q) of a quotient q, one a canonical
q up to sign, and ln(p) of a polynomial p with positive coefficients in positive generators.
exp(k ln p + r) = p^k exp(r) for integer k is used, other relations among them go unnoticed. So
equal forms are equal functions; different forms with an opaque generator are undecided.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from typing import TYPE_CHECKING, Any

import numpy as np

from symsim.arithmetic.base import Array, Evidence, NumberError, UndecidableError, require_keys
from symsim.arithmetic.explog import exponential, logarithm, multiplied
from symsim.arithmetic.generators import (
    Generator,
    Generators,
    Kind,
    Polynomial,
    total,
)
from symsim.arithmetic.objects import ObjectArithmetic, filled
from symsim.arithmetic.quotient import (
    ForeignNumberError,
    Quotient,
    constant,
    excerpt,
    from_terms,
    over_common_denominator,
)
from symsim.arithmetic.undefined import UNDEFINED, Undefined

if TYPE_CHECKING:
    import sympy


class Symbolic(ObjectArithmetic):
    """Exponential polynomials over ℚ in symbols made by `symbols`, with natural exp and log."""

    name = "symbolic"
    base = "e"
    evidence = Evidence.IDENTITY

    def __init__(self, exponent_denominator: int = 1) -> None:
        if exponent_denominator < 1:
            raise NumberError(
                f"exponent_denominator {exponent_denominator}: expected a whole number of at "
                "least 1"
            )
        self.generators = Generators(exponent_denominator)

    @property
    def divisor_of_unknown_sign(self) -> str | None:
        """The first divisor met that is not manifestly positive or negative, as text.

        Where there is none, results are defined for all real values of the symbols.
        """
        return self.generators.unsigned_divisor

    # -- numbers -------------------------------------------------------------------------

    def symbols(self, prefix: str, shape: tuple[int, ...], *, positive: bool = False) -> Array:
        """An array of new symbols `prefix_i_j`, real, or positive and real.

        Raises NumberError if a symbol of that name exists.
        """
        names = ["_".join([prefix, *map(str, position)]) for position in np.ndindex(*shape)]
        for name in names:
            if any(Generator(Kind.SYMBOL, name, sign) in self.generators for sign in (False, True)):
                raise NumberError(f"symbol {name} exists already: expected a new name")
        made = [self.generators.index(Generator(Kind.SYMBOL, name, positive)) for name in names]
        return filled(shape, [from_terms(self.generators, ((((index, 1),), 1),)) for index in made])

    def from_fraction(self, value: Fraction) -> Quotient:
        """`value` as a constant."""
        return constant(self.generators, value)

    def _own(self, value: Quotient) -> Quotient:
        if value.generators is not self.generators:
            raise ForeignNumberError(f"{excerpt(value)} belongs to another symbolic arithmetic")
        return value

    def exp_of(self, value: Quotient) -> Any:
        """exp(value); UndecidableError for a coefficient off the grid of 1/D."""
        return multiplied(self.generators, exponential(self._own(value)))

    def exp(self, value: Array) -> Array:
        """The exponentials; all generators are registered first, which makes one growth."""
        products = [
            x if isinstance(x, Undefined) else exponential(self._own(x)) for x in value.ravel()
        ]
        return filled(
            value.shape,
            [x if isinstance(x, Undefined) else multiplied(self.generators, x) for x in products],
        )

    def log_of(self, value: Quotient) -> Quotient:
        """ln(value); UndecidableError if `value` is not manifestly positive."""
        return logarithm(self._own(value))

    # -- attention ----------------------------------------------------------------------

    def attention(self, query: Array, key: Array, value: Array, allowed: Array | None) -> Array:
        """softmax(query keyᵀ) value, the exponentials of all calls in one go."""
        if allowed is None:
            allowed = np.ones((query.shape[1], key.shape[1]), dtype=bool)
        require_keys(allowed)
        readable = [np.flatnonzero(row) for row in allowed]
        places = [(c, r, keys) for c in range(len(query)) for r, keys in enumerate(readable)]
        logits = [self.logits(query[c, r], key[c, keys]) for c, r, keys in places]
        weights = iter(
            self.exp(filled((sum(map(len, logits)),), [x for row in logits for x in row]))
        )
        out = np.empty((len(query), query.shape[1], value.shape[2]), dtype=object)
        for c, r, keys in places:
            out[c, r] = self._average([next(weights) for _ in keys], value[c, keys])
        return out

    def _average(self, weights: list[Any], values: Array) -> Array:
        """Σ_j weights_j values_jc / Σ_j weights_j for every column c."""
        if any(weight is UNDEFINED for weight in weights):
            return filled(values.shape[1:], [UNDEFINED] * values.shape[1])
        scaled, _ = over_common_denominator(weights)
        weight_sum = total(scaled)
        opaque = any(weight.opaque for weight in weights)
        columns = [self._column(scaled, list(column), weight_sum, opaque) for column in values.T]
        return filled(values.shape[1:], columns)

    def _column(
        self, weights: Sequence[Polynomial], values: list[Any], weight_sum: Polynomial, opaque: bool
    ) -> Quotient | Undefined:
        if any(value is UNDEFINED for value in values):
            return UNDEFINED
        numerators, den = over_common_denominator(values)
        weighted = total([w * v for w, v in zip(weights, numerators, strict=True)])
        opaque = opaque or any(value.opaque for value in values)
        den = weight_sum if den.is_one() else den * weight_sum
        return Quotient(self.generators, weighted, den, opaque=opaque, reduced=False)

    # -- what users see -----------------------------------------------------------------

    def larger(self, left: Any, right: Any) -> Any:
        """The larger of two rational constants; UndecidableError otherwise.

        A canonical form has no order.
        """
        if left is UNDEFINED or right is UNDEFINED:
            return UNDEFINED
        for value in (left, right):
            if not self._own(value).is_constant():
                raise UndecidableError(
                    f"maximum with {excerpt(value)}: expected rational constants"
                )
        return left if self.rational(left) >= self.rational(right) else right

    def equal(self, left: Any, right: Any) -> bool | None:
        """Equality as functions of the symbols; None if opaque generators leave it undecided."""
        if left is UNDEFINED or right is UNDEFINED:
            return False
        if self._own(left).agrees(right):
            return True
        return None if left.has_opaque() or right.has_opaque() else False

    def finite(self, values: Array) -> Array:
        """Which entries are not UNDEFINED."""
        defined = [value is not UNDEFINED for value in values.ravel()]
        return np.array(defined, dtype=bool).reshape(values.shape)

    def text(self, value: Any) -> str:
        """The canonical form, generators by name."""
        return repr(value)

    def rational(self, value: Any) -> Fraction:
        """The value of a constant; UndecidableError otherwise."""
        if value is UNDEFINED or not self._own(value).is_constant():
            raise UndecidableError(f"{excerpt(value)} is not a rational constant")
        num, den = value.num.leading_coefficient(), value.den.leading_coefficient()
        return Fraction(int(num), int(den))

    def to_sympy(self, value: Any) -> sympy.Expr:
        """The canonical form as a SymPy expression, for printing and cross-checks."""
        from symsim.arithmetic.sympy_form import (  # noqa: PLC0415, SymPy is slow to import
            sympy_quotient,
        )

        return sympy_quotient(self.generators, None if value is UNDEFINED else self._own(value))
