"""Certified evaluation: terms at a point, exactly or enclosed, and relations three-valued.

Rational numbers stay rational (fmpq) as long as no exp or log of theirs is irrational; from
there on they are Arb balls, which contain the true value whatever the precision. A division by
exactly zero and a logarithm of a number that is not positive are certified to be undefined; by
a ball that contains zero they are undecided, and more precision is tried.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from fractions import Fraction
from operator import add, mul, sub
from typing import Any, cast

from flint import arb, ctx, fmpq

from symsim.arithmetic.undefined import UNDEFINED, Undefined
from symsim.claims.domain import Comparison, Relation, free_symbols
from symsim.terms import Kind, Term, TermError, postorder
from symsim.terms.printing import excerpt

PRECISIONS = (64, 192, 576, 1728)
"""Working precisions in bits, tried in turn until a ball decides."""

Number = Any
"""An fmpq or an arb."""

Values = Sequence[Number]


class UndefinedAtError(ArithmeticError):
    """A divisor is zero or a logarithm's argument not positive: certified."""


class UndecidedAtError(ArithmeticError):
    """A divisor or a logarithm's argument cannot be told from zero at this precision."""


Operation = Callable[[Number, Number], Number]
"""What a kind of node does; a unary one is given its argument twice."""


def rational(value: Fraction | int) -> fmpq:
    """A Fraction as an fmpq."""
    return fmpq(value.numerator, value.denominator)


def fraction(value: fmpq) -> Fraction:
    """An fmpq as a Fraction."""
    return Fraction(int(value.p), int(value.q))


def as_ball(value: Number) -> arb:
    """A number as a ball, at the working precision."""
    return value if isinstance(value, arb) else arb(value)


def _divide(left: Number, right: Number) -> Number:
    if right == 0:
        raise UndefinedAtError("the divisor {} is 0")
    if isinstance(right, arb) and not right != 0:
        raise UndecidedAtError
    return left / right


def _exp(value: Number, _: Number) -> Number:
    return fmpq(1) if isinstance(value, fmpq) and value == 0 else as_ball(value).exp()


def _log(value: Number, _: Number) -> Number:
    if value <= 0:
        raise UndefinedAtError("the logarithm's argument {} is not positive")
    if isinstance(value, fmpq) and value == 1:
        return fmpq(0)
    if not value > 0:
        raise UndecidedAtError
    return as_ball(value).log()


def _max(left: Number, right: Number) -> Number:
    if isinstance(left, fmpq) and isinstance(right, fmpq):
        return max(left, right)
    return as_ball(left).max(as_ball(right))


CERTIFIED: Mapping[Kind, Operation] = {
    Kind.ADD: add,
    Kind.SUB: sub,
    Kind.MUL: mul,
    Kind.DIV: _divide,
    Kind.NEG: lambda value, _: -value,
    Kind.EXP: _exp,
    Kind.LOG: _log,
    Kind.MAX: _max,
    Kind.DOT: mul,
}


def supported(*terms: Term) -> bool:
    """Whether the terms are numbers made of symbols, constants and the operations above."""
    return all(
        node.width == 1 and (node.kind in CERTIFIED or node.kind in (Kind.COLUMN, Kind.CONSTANT))
        for node in postorder(terms)
    )


class Compiled:
    """Terms as a list of operations on the values of named symbols.

    operations: what the kinds of nodes do, so that the same list runs in other numbers than
    the certified ones; constant: a rational constant as such a number.
    """

    def __init__(
        self,
        roots: Sequence[Term],
        names: Sequence[str],
        operations: Mapping[Kind, Operation] = CERTIFIED,
        constant: Callable[[Fraction], Number] = rational,
    ) -> None:
        if not supported(*roots):
            raise TermError(f"{roots!r}: expected symbols, constants, + - · / exp log max")
        self._nodes = postorder(tuple(roots))
        self.rational = not any(node.kind in (Kind.EXP, Kind.LOG) for node in self._nodes)
        constants = [node for node in self._nodes if node.kind is Kind.CONSTANT]
        inner = [node for node in self._nodes if node.args]
        self._constants = [constant(cast("Fraction", node.payload)) for node in constants]
        place = {node: i for i, node in enumerate(constants)}
        symbols = {name: len(constants) + i for i, name in enumerate(names)}
        for node in self._nodes:
            if node.kind is Kind.COLUMN:
                place[node] = symbols[str(node.payload)]
        self._inner = inner
        self._steps: list[tuple[Operation, int, int]] = []
        for node in inner:
            first, last = place[node.args[0]], place[node.args[-1]]
            self._steps.append((operations[node.kind], first, last))
            place[node] = len(constants) + len(names) + len(self._steps) - 1
        self._results = [place[root] for root in roots]

    def __call__(self, values: Values) -> list[Number]:
        """The values of the roots at the working precision.

        Raises UndefinedAtError, saying which divisor or argument, or UndecidedAtError.
        """
        numbers = [*self._constants, *values]
        append = numbers.append
        try:
            for operation, i, j in self._steps:
                append(operation(numbers[i], numbers[j]))
        except UndefinedAtError as error:
            node = self._inner[len(numbers) - len(self._constants) - len(values)]
            raise UndefinedAtError(str(error).format(excerpt(node.args[-1]))) from None
        return [numbers[i] for i in self._results]


def compared(left: Number, comparison: Comparison, right: Number) -> bool | None:
    """Whether the relation holds of all numbers in two balls (True) or of none (False)."""
    if not (isinstance(left, fmpq) and isinstance(right, fmpq)):
        left, right = as_ball(left), as_ball(right)
    match comparison:
        case "=":
            return _decided(left == right, left != right)
        case "!=":
            return _decided(left != right, left == right)
        case "<=":
            return _decided(left <= right, left > right)
        case "<":
            return _decided(left < right, left >= right)


def _decided(certainly: bool, certainly_not: bool) -> bool | None:
    return True if certainly else False if certainly_not else None


class Check:
    """A relation, compiled to be decided at many points."""

    def __init__(self, relation: Relation, names: Sequence[str]) -> None:
        self.relation = relation
        self.terms = relation.left, relation.right
        self.sides = Compiled(self.terms, names)

    def __call__(
        self, values: Values, precisions: Sequence[int] = PRECISIONS
    ) -> bool | Undefined | None:
        """True or False where certified, UNDEFINED where certified, None where undecided."""
        if self.sides.rational:
            return self._once(values)
        for bits in precisions:
            with ctx.workprec(bits):
                answer = self._once(values)
            if answer is not None:
                return answer
        return None

    def _once(self, values: Values) -> bool | Undefined | None:
        try:
            left, right = self.sides(values)
        except UndefinedAtError:
            return UNDEFINED
        except UndecidedAtError:
            return None
        return compared(left, self.relation.comparison, right)


def value(
    term: Term, point: Mapping[str, Fraction | int], accuracy: int = 53
) -> Fraction | arb | Undefined | None:
    """The value of `term` at a rational point.

    A Fraction where it is rational without an irrational exp or log in between; otherwise the
    first ball with `accuracy` good bits, or the last one tried, which contains the value all
    the same. UNDEFINED where a divisor is zero or a logarithm's argument not positive; None
    where no precision told a divisor from zero.
    """
    names = free_symbols(term)
    compiled = Compiled((term,), names)
    values = [rational(point[name]) for name in names]
    found: arb | None = None
    for bits in PRECISIONS:
        with ctx.workprec(bits):
            try:
                (number,) = compiled(values)
            except UndefinedAtError:
                return UNDEFINED
            except UndecidedAtError:
                continue
        if isinstance(number, fmpq):
            return fraction(number)
        found = number
        if number.rel_accuracy_bits() >= accuracy:
            break
    return found


def holds(relation: Relation, point: Mapping[str, Fraction | int]) -> bool | Undefined | None:
    """Whether `relation` holds at a rational point: True and False are certified.

    Two balls that overlap are never called equal: None says that no precision decided.
    UNDEFINED says that a divisor is exactly zero or a logarithm's argument not positive.
    """
    names = free_symbols(relation.left, relation.right)
    return Check(relation, names)([rational(point[name]) for name in names])


def undefined_part(relation: Relation, point: Mapping[str, Fraction | int]) -> str:
    """Which divisor or logarithm of `relation` has no value at `point`."""
    names = free_symbols(relation.left, relation.right)
    compiled = Compiled((relation.left, relation.right), names)
    for bits in PRECISIONS:
        with ctx.workprec(bits):
            try:
                compiled([rational(point[name]) for name in names])
            except UndefinedAtError as error:
                return str(error)
            except UndecidedAtError:
                continue
    return "every part has a value"
