"""Quotients of polynomials in generators: the numbers of the symbolic arithmetic.

Cancellation follows Henrici (1956; Knuth, TAOCP 2, 4.5.1): operands are in lowest terms, so
greatest common divisors are taken of their parts and not of products. One step may be left
out: over equal denominators, sums and quotients are formed from numerators alone, and the
common divisor is cancelled when the number is next needed in lowest terms.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from typing import Any, NoReturn

from symsim.arithmetic.base import NumberError, UndecidableError
from symsim.arithmetic.generators import Generators, Polynomial, Terms
from symsim.arithmetic.undefined import UNDEFINED, Undefined

_EXCERPT = 200


class ForeignNumberError(NumberError):
    """Numbers of two symbolic arithmetics met, whose generators mean different things."""


class Quotient:
    """num/den, polynomials in `generators`; in lowest terms with positive leading den if `reduced`.

    `opaque` is False only if no opaque generator occurs. den is never identically zero as a
    function: a divisor with opaque generators is accepted only if it is manifestly positive or
    negative, otherwise UndecidableError is raised. Dividing by zero gives UNDEFINED.
    Comparison and truth value raise UndecidableError: equality has three values, see
    `Symbolic.equal`.
    """

    __slots__ = ("den", "generators", "num", "opaque", "reduced")

    def __init__(
        self,
        generators: Generators,
        num: Polynomial,
        den: Polynomial,
        *,
        opaque: bool,
        reduced: bool,
    ) -> None:
        self.generators = generators
        self.num = num
        self.den = den
        self.opaque = opaque
        self.reduced = reduced

    def __repr__(self) -> str:
        self.reduce()
        return self.generators.quotient_text(self.num, self.den)

    def _compare(self, *_: object) -> NoReturn:
        raise UndecidableError(
            f"{excerpt(self)} was compared or tested for truth: use Symbolic.equal, which "
            "has three values"
        )

    def __eq__(self, other: object) -> bool:
        return False if isinstance(other, Undefined) else self._compare()

    def __ne__(self, other: object) -> bool:
        return True if isinstance(other, Undefined) else self._compare()

    __hash__ = object.__hash__
    __bool__ = __lt__ = __le__ = __gt__ = __ge__ = _compare

    # -- canonical form -----------------------------------------------------------------

    def reduce(self) -> None:
        """Bring into lowest terms, in place."""
        self.lift()
        if self.reduced:
            return
        if not self.den.is_one():
            common = self.num.gcd(self.den)
            if self.den.leading_coefficient() < 0:
                common = -common
            if not common.is_one():
                self.num, self.den = self.num / common, self.den / common
        self.reduced = True

    def lift(self) -> None:
        """Move to the present context of the generators, in place."""
        generators = self.generators
        if self.num.context() is not generators.context:
            self.num = generators.lifted(self.num)
            self.den = generators.one if self.den.is_one() else generators.lifted(self.den)

    def agrees(self, other: Quotient) -> bool:
        """Whether the two have the same canonical form."""
        self._meet(other)
        if self.den == other.den:
            return bool(self.num == other.num)
        self.reduce()
        other.reduce()
        return bool(self.num == other.num and self.den == other.den)

    def has_opaque(self) -> bool:
        """Whether an opaque generator occurs in the canonical form."""
        if self.opaque:
            self.reduce()
            self.opaque = any(map(self.generators.has_opaque, (self.num, self.den)))
        return self.opaque

    def is_constant(self) -> bool:
        """Whether it is a rational number."""
        self.reduce()
        return bool(self.num.is_constant() and self.den.is_constant())

    def _meet(self, other: Quotient) -> None:
        if other.generators is not self.generators:
            raise ForeignNumberError(
                f"{excerpt(self)} and {excerpt(other)} belong to different symbolic "
                "arithmetics: expected numbers of one"
            )
        self.lift()
        other.lift()

    # -- operations ---------------------------------------------------------------------

    def _make(self, other: Quotient, num: Polynomial, den: Polynomial, reduced: bool) -> Quotient:
        opaque = self.opaque or other.opaque
        return Quotient(self.generators, num, den, opaque=opaque, reduced=reduced)

    def __add__(self, other: Any) -> Quotient:
        if not isinstance(other, Quotient):
            return NotImplemented
        self._meet(other)
        if self.den == other.den:
            return self._make(other, self.num + other.num, self.den, reduced=False)
        return self._make(other, *_sum(self, other), reduced=True)

    def __sub__(self, other: Any) -> Quotient:
        return self + -other if isinstance(other, Quotient) else NotImplemented

    def __neg__(self) -> Quotient:
        return Quotient(
            self.generators, -self.num, self.den, opaque=self.opaque, reduced=self.reduced
        )

    def __pos__(self) -> Quotient:
        return self

    def __mul__(self, other: Any) -> Quotient:
        if not isinstance(other, Quotient):
            return NotImplemented
        self._meet(other)
        if self.den.is_one() and other.den.is_one():
            return self._make(other, self.num * other.num, self.den, reduced=True)
        self.reduce()
        other.reduce()
        num, den = _product(self.num, self.den, other.num, other.den)
        return self._make(other, num, den, reduced=True)

    def __truediv__(self, other: Any) -> Quotient | Undefined:
        if not isinstance(other, Quotient):
            return NotImplemented
        self._meet(other)
        if other.num.is_zero():
            return UNDEFINED
        other._check_divisor()
        if self.den == other.den:
            return self._make(other, self.num, other.num, reduced=False)
        self.reduce()
        other.reduce()
        num, den = _product(self.num, self.den, other.den, other.num)
        return self._make(other, num, den, reduced=False)

    def __pow__(self, exponent: Any) -> Quotient | Undefined:
        """The power to an int, negative ones by division."""
        if not isinstance(exponent, int):
            return NotImplemented
        self.reduce()
        power = Quotient(
            self.generators,
            self.num ** abs(exponent),
            self.den ** abs(exponent),
            opaque=self.opaque,
            reduced=True,
        )
        return power if exponent >= 0 else constant(self.generators, Fraction(1)) / power

    def _check_divisor(self) -> None:
        """Remember a divisor that may be zero for some values of the symbols."""
        generators = self.generators
        if generators.unsigned_divisor is not None and not self.opaque:
            return
        if generators.manifest_sign(self.num):
            return
        self.reduce()
        if generators.manifest_sign(self.num):
            return
        generators.unsigned_divisor = generators.unsigned_divisor or excerpt(self)
        if self.has_opaque():
            raise UndecidableError(
                f"division by {excerpt(self)}: it has opaque exponentials or logarithms and is not "
                "manifestly positive or negative, so it might vanish identically"
            )


def excerpt(value: object) -> str:
    """The beginning of what `value` prints as, for messages: quotients can print at any length."""
    text = repr(value)
    return text if len(text) <= _EXCERPT else text[:_EXCERPT] + " …"


def constant(generators: Generators, value: Fraction) -> Quotient:
    """A rational constant."""
    num, den = map(generators.context.constant, (value.numerator, value.denominator))
    return Quotient(generators, num, den, opaque=False, reduced=True)


def from_terms(generators: Generators, terms: Terms) -> Quotient:
    """The polynomial with the given terms."""
    num = generators.polynomial(terms)
    opaque = any(generators.known[index].opaque for monomial, _ in terms for index, _ in monomial)
    return Quotient(generators, num, generators.one, opaque=opaque, reduced=True)


def _sum(left: Quotient, right: Quotient) -> tuple[Polynomial, Polynomial]:
    """The sum of two numbers of different denominators, in lowest terms."""
    left.reduce()
    right.reduce()
    shared = left.den.gcd(right.den)
    if shared.is_one():
        return left.num * right.den + right.num * left.den, left.den * right.den
    left_rest, right_rest = left.den / shared, right.den / shared
    num = left.num * right_rest + right.num * left_rest
    common = num.gcd(shared)
    return num / common, left_rest * (right.den / common)


def _product(a: Polynomial, b: Polynomial, c: Polynomial, d: Polynomial) -> tuple[Any, Any]:
    """(a/b)·(c/d) in lowest terms (up to the sign of d), of a/b and c/d in lowest terms."""
    if a.is_zero() or c.is_zero():
        return a * c, a.context().constant(1)
    across, back = a.gcd(d), c.gcd(b)
    if not across.is_one():
        a, d = a / across, d / across
    if not back.is_one():
        c, b = c / back, b / back
    return a * c, b * d


def over_common_denominator(numbers: Sequence[Quotient]) -> tuple[list[Polynomial], Polynomial]:
    """Numerators over one denominator, which is their least common multiple."""
    for number in numbers:
        number.lift()
    den = numbers[0].den
    if all(number.den == den for number in numbers):
        return [number.num for number in numbers], den
    for number in numbers:
        number.reduce()
    den = numbers[0].den
    for number in numbers[1:]:
        den = den * (number.den / den.gcd(number.den))
    return [number.num * (den / number.den) for number in numbers], den
