"""Formulas as SMT queries: the domain and the negated relation, over reals and integers.

Nothing is assumed beyond the domain. A quotient a/b is an unknown q with q·b = a, or b = 0; a
logarithm log(t) an unknown l with exp(l) = t, or t ≤ 0: where a formula is undefined its value is
left open, so a divisor that may vanish is never used as if it did not. The alternative is left
out for nodes that a query of their own has shown to be defined. Exponentials are independent
positive unknowns (`exponents`), with their comparison to 1 where the domain shows a sign. So
"unsat" proves the formula wherever it is defined; "sat" says nothing once an exponential or a
logarithm occurs. A relation between logarithms is asked in both forms, L < R and exp(L − R) < 1.
"""

from __future__ import annotations

from collections.abc import Container, Iterable, Sequence
from dataclasses import dataclass
from fractions import Fraction

from symsim.claims.domain import Domain, Relation, Variable, differs, less
from symsim.claims.engines.exponents import (
    POWER,
    Monomial,
    NotApplicableError,
    Polynomial,
    Polynomials,
    units,
)
from symsim.claims.engines.smt_sessions import Expression, Session
from symsim.terms import Kind, Term, exp, postorder

Clause = Sequence[Relation]
"""Relations of which one holds."""


@dataclass(frozen=True)
class Value:
    """A number of a solver and its sort."""

    expression: Expression
    integer: bool


class Translation:
    """The terms of one query in the numbers of one session.

    `relations` are all that will be asked of it: the units of exponents depend on them.
    `defined`: quotients and logarithms known to be defined on the whole domain.
    Raises NotApplicableError for what has no translation.
    """

    def __init__(
        self,
        session: Session,
        domain: Domain,
        relations: Iterable[Relation],
        defined: Container[Term] = (),
    ) -> None:
        self._session = session
        self._defined = defined
        self._polynomials = Polynomials()
        self._signs = _Signs(domain, self._polynomials)
        self._values: dict[Term, Value] = {}
        self._generators: dict[tuple[Monomial, bool], Value] = {}
        self._independent: dict[str, None] = {}
        asked = [side for r in relations for side in (r.left, r.right)]
        asked += [side for r in relations if _has_logarithm(r) for side in [_exponential(r).left]]
        exponents = [n.args[0] for n in postorder(tuple(asked)) if n.kind is Kind.EXP]
        self._units = units(map(self._polynomials.of, exponents))
        for variable in domain.variables:
            _check_width(variable.symbol)
            expression = session.variable(variable.name, integer=variable.integer)
            self._values[variable.symbol] = Value(expression, variable.integer)

    @property
    def exact(self) -> bool:
        """Whether no exponential or logarithm occurred, so that a model may be a counterexample."""
        return not self._generators and not any(t.kind is Kind.LOG for t in self._values)

    @property
    def generators(self) -> tuple[str, ...]:
        """The exponentials that stand as positive unknowns."""
        return tuple(self._independent)

    def unknown(self, symbol: Term) -> Expression:
        """The solver's unknown for a symbol of the domain."""
        return self._values[symbol].expression

    def require(self, clause: Clause) -> None:
        """Assert that one of the relations holds."""
        self._session.require(*(self._truth(relation) for relation in clause))
        if len(clause) == 1 and _has_logarithm(clause[0]):
            self._session.require(self._truth(_exponential(clause[0])))

    def refute(self, relation: Relation) -> None:
        """Assert that the relation does not hold."""
        self._session.require(self._session.negation(self._truth(relation)))
        if _has_logarithm(relation):
            truth = self._truth(_exponential(relation))
            self._session.require(self._session.negation(truth))

    def _truth(self, relation: Relation) -> Expression:
        left, right = self._alike(self._value(relation.left), self._value(relation.right))
        return self._session.compare(left.expression, relation.comparison, right.expression)

    # -- terms ------------------------------------------------------------------------------

    def _value(self, term: Term) -> Value:
        for node in _needed(term):
            if node not in self._values:
                self._values[node] = self._node(node)
        return self._values[term]

    def _node(self, node: Term) -> Value:
        _check_width(node)
        if node.kind is Kind.EXP:
            return self._exponential_of(self._polynomials.of(node.args[0]))
        if node.kind is Kind.LOG:
            return self._unknown(f"{node!r}")
        args = [self._values[arg] for arg in node.args]
        match node.kind:
            case Kind.CONSTANT:
                assert isinstance(node.payload, Fraction)
                return self._number(node.payload)
            case Kind.ADD:
                return self._sum(args[0], args[1])
            case Kind.SUB:
                return self._sum(args[0], self._negative(args[1]))
            case Kind.MUL:
                return self._product(args[0], args[1])
            case Kind.NEG:
                return self._negative(args[0])
            case Kind.MAX:
                left, right = self._alike(args[0], args[1])
                largest = self._session.maximum(left.expression, right.expression)
                return Value(largest, left.integer)
            case Kind.DIV:
                return self._quotient(node, args[0], args[1])
            case _:
                raise NotApplicableError(f"{node.kind.value} has no place in a formula")

    def _quotient(self, node: Term, dividend: Value, divisor: Value) -> Value:
        payload = node.args[1].payload
        if isinstance(payload, Fraction) and payload:
            return self._product(dividend, self._real(self._number(1 / payload)))
        quotient = self._unknown(f"{node!r}")
        product = self._product(quotient, divisor)
        self._require_of(node, divisor, "=", self._compared(product, "=", dividend))
        return quotient

    def _require_of(self, node: Term, value: Value, sign: str, truth: Expression) -> None:
        """Require `truth`, unless `node` is undefined: `value` compares by `sign` with 0."""
        undefined = self._compared(value, sign, self._number(Fraction(0)))
        if node in self._defined:
            self._session.require(self._session.negation(undefined))
            self._session.require(truth)
        else:
            self._session.require(undefined, truth)

    # -- exponentials -----------------------------------------------------------------------

    def _exponential_of(self, exponent: Polynomial) -> Value:
        product = self._number(Fraction(1))
        for monomial, c in exponent.items():
            power = c / self._units[monomial]
            assert power.denominator == 1
            generator = self._generator(monomial, inverse=power < 0)
            product = self._product(product, self._power(generator, abs(power.numerator)))
        return self._real(product)

    def _generator(self, monomial: Monomial, *, inverse: bool) -> Value:
        """exp(unit · monomial), or its inverse, as a positive number and what is known of it."""
        key = (monomial, inverse)
        if key not in self._generators:
            made = self._inverse(monomial) if inverse else self._direct(monomial)
            self._generators[key] = made
        return self._generators[key]

    def _inverse(self, monomial: Monomial) -> Value:
        made = self._positive(f"1/{self._exponential_text(monomial)}")
        product = self._product(self._generator(monomial, inverse=False), made)
        self._require(product, "=", Fraction(1))
        return made

    def _direct(self, monomial: Monomial) -> Value:
        logarithm = self._polynomials.logarithm(monomial)
        if logarithm is not None:
            return self._exponential_of_logarithm(logarithm, monomial)
        text = self._exponential_text(monomial)
        made = self._positive(text)
        self._independent[text] = None
        sign = self._signs.of(monomial)
        if sign is not None:
            self._require(made, ">" if sign else ">=", Fraction(1))
        return made

    def _exponential_of_logarithm(self, logarithm: Term, monomial: Monomial) -> Value:
        """exp(u·log(t)) for the unit u = a/b: g with g^b = t^a."""
        value, unit = self._real(self._value(logarithm.args[0])), self._units[monomial]
        if logarithm in self._defined and unit == 1:
            self._require(value, ">", Fraction(0))
            return value
        made = self._positive(self._exponential_text(monomial))
        left, right = self._power(made, unit.denominator), self._power(value, unit.numerator)
        self._require_of(logarithm, value, "<=", self._compared(left, "=", right))
        return made

    def _positive(self, name: str) -> Value:
        made = self._unknown(name)
        self._require(made, ">", Fraction(0))
        return made

    def _exponential_text(self, monomial: Monomial) -> str:
        unit = self._units[monomial]
        text = self._polynomials.text(monomial)
        return f"exp({text})" if unit == 1 else f"exp({unit}·{text})"

    # -- numbers ----------------------------------------------------------------------------

    def _unknown(self, name: str) -> Value:
        return Value(self._session.variable(name, integer=False), integer=False)

    def _number(self, value: Fraction) -> Value:
        integer = value.denominator == 1
        return Value(self._session.number(value, integer=integer), integer)

    def _real(self, value: Value) -> Value:
        if not value.integer:
            return value
        return Value(self._session.real(value.expression), integer=False)

    def _alike(self, left: Value, right: Value) -> tuple[Value, Value]:
        """Both as integers, or else both as reals."""
        if left.integer == right.integer:
            return left, right
        return self._real(left), self._real(right)

    def _sum(self, left: Value, right: Value) -> Value:
        left, right = self._alike(left, right)
        return Value(self._session.add(left.expression, right.expression), left.integer)

    def _product(self, left: Value, right: Value) -> Value:
        left, right = self._alike(left, right)
        return Value(self._session.mul(left.expression, right.expression), left.integer)

    def _negative(self, value: Value) -> Value:
        return Value(self._session.neg(value.expression), value.integer)

    def _power(self, base: Value, power: int) -> Value:
        if power > POWER:
            raise NotApplicableError(f"an exponential would be raised to the power {power}")
        product = base
        for _ in range(power - 1):
            product = self._product(product, base)
        return product

    def _compared(self, left: Value, sign: str, right: Value) -> Expression:
        left, right = self._alike(left, right)
        match sign:
            case "=":
                return self._session.compare(left.expression, "=", right.expression)
            case "<=":
                return self._session.compare(left.expression, "<=", right.expression)
            case ">":
                return self._session.compare(right.expression, "<", left.expression)
            case _:
                return self._session.compare(right.expression, "<=", left.expression)

    def _require(self, value: Value, sign: str, bound: Fraction) -> None:
        self._session.require(self._compared(value, sign, self._number(bound)))


def _check_width(node: Term) -> None:
    if node.width != 1:
        raise NotApplicableError(f"{node!r} has {node.width} columns")


def definedness(node: Term) -> Relation | None:
    """What a node needs to be defined."""
    if node.kind is Kind.DIV and node.args[1].kind is not Kind.CONSTANT:
        return differs(node.args[1], 0)
    return less(0, node.args[0]) if node.kind is Kind.LOG else None


def _needed(term: Term) -> tuple[Term, ...]:
    """The nodes whose values make the value of `term`; exponents and logarithms' arguments do not.

    Arguments come before the nodes that use them.
    """
    found: dict[Term, None] = {}
    stack = [(term, False)]
    while stack:
        node, expanded = stack.pop()
        if node in found:
            continue
        if expanded or node.kind in (Kind.EXP, Kind.LOG):
            found[node] = None
        else:
            stack.append((node, True))
            stack.extend((arg, False) for arg in reversed(node.args))
    return tuple(found)


def _has_logarithm(relation: Relation) -> bool:
    """Whether a logarithm is a part of a side, not only of an exponent."""
    sides = (*_needed(relation.left), *_needed(relation.right))
    return any(node.kind is Kind.LOG for node in sides)


def _exponential(relation: Relation) -> Relation:
    """exp(left − right) compared with 1: the same relation, as exp increases."""
    return Relation(exp(relation.left - relation.right), relation.comparison, exp(0))


class _Signs:
    """Signs of monomials that the bounds of the domain show: True > 0, False ≥ 0, None unknown."""

    def __init__(self, domain: Domain, polynomials: Polynomials) -> None:
        self._polynomials = polynomials
        self._columns = {v.symbol: s for v in domain.variables if (s := _sign(v)) is not None}

    def of(self, monomial: Monomial) -> bool | None:
        sign = True
        for number, power in monomial:
            atom = self._atom(number)
            if atom is None and power % 2:
                return None
            sign = sign and atom is True
        return sign

    def _atom(self, number: int) -> bool | None:
        atom = self._polynomials.atoms[number]
        if atom.term.kind is Kind.EXP and not atom.inverted:
            return True
        sign = self._columns.get(atom.term)
        return sign if sign or not atom.inverted else None


def _sign(variable: Variable) -> bool | None:
    lower = variable.lower.payload if variable.lower is not None else None
    if not isinstance(lower, Fraction) or lower < 0:
        return None
    return lower > 0 or variable.lower_open
