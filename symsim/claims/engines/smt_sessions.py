"""What an SMT solver is asked, and the two solvers that answer: z3 and cvc5.

A session is one query: expressions are built, assertions made, then it is checked once. Every
query has its own context, so answers do not depend on what was asked before.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import Any, Literal, Protocol

import cvc5
import z3

from symsim.claims.domain import Comparison

TIME_LIMIT = 4.0
"""Seconds after which a query is given up, whatever its resources; cvc5 may overrun it."""

Z3_RESOURCES = 10_000_000
"""z3's resource units for one query, a few seconds: the same query always ends alike."""

CVC5_RESOURCES = 200_000
"""cvc5's resource units for one query, a few seconds."""

_SEED = 20250613

Expression = Any
"""A number or a truth value of a solver."""


@dataclass(frozen=True)
class Answer:
    """A solver's answer; with "unknown" comes the solver's reason."""

    status: Literal["unsat", "sat", "unknown"]
    reason: str = ""


class Session(Protocol):
    """One query to a solver. Numbers are integers or reals and are not mixed in an operation."""

    def variable(self, name: str, *, integer: bool) -> Expression:
        """A new unknown, different from all others, whatever their names: these are for reading."""

    def number(self, value: Fraction, *, integer: bool) -> Expression:
        """A constant."""

    def real(self, value: Expression) -> Expression:
        """An integer as a real number."""

    def add(self, left: Expression, right: Expression) -> Expression:
        """The sum."""

    def mul(self, left: Expression, right: Expression) -> Expression:
        """The product."""

    def neg(self, value: Expression) -> Expression:
        """The negative."""

    def maximum(self, left: Expression, right: Expression) -> Expression:
        """The larger of the two."""

    def compare(self, left: Expression, comparison: Comparison, right: Expression) -> Expression:
        """The truth of a comparison."""

    def negation(self, truth: Expression) -> Expression:
        """Not `truth`."""

    def require(self, *alternatives: Expression) -> None:
        """Assert that one of the alternatives is true."""

    def check(self) -> Answer:
        """Whether everything required can hold at once."""

    def value(self, variable: Expression) -> Fraction | None:
        """After "sat": the value of an unknown, None where it is not rational."""


class Z3Session:
    """A query to z3."""

    def __init__(self) -> None:
        self._context = z3.Context()
        self._solver = z3.Solver(ctx=self._context)
        self._solver.set("random_seed", _SEED)
        self._solver.set("rlimit", Z3_RESOURCES)
        self._solver.set("timeout", int(1000 * TIME_LIMIT))
        self._names: dict[str, int] = {}

    def variable(self, name: str, *, integer: bool) -> Expression:
        # To z3 a name is the variable: two that read alike, as excerpts may, would be one.
        times = self._names[name] = self._names.get(name, 0) + 1
        name = name if times == 1 else f"{name} #{times}"
        return z3.Int(name, self._context) if integer else z3.Real(name, self._context)

    def number(self, value: Fraction, *, integer: bool) -> Expression:
        if integer:
            return z3.IntVal(value.numerator, self._context)
        return z3.RealVal(str(value), self._context)

    def real(self, value: Expression) -> Expression:
        return z3.ToReal(value)

    def add(self, left: Expression, right: Expression) -> Expression:
        return left + right

    def mul(self, left: Expression, right: Expression) -> Expression:
        return left * right

    def neg(self, value: Expression) -> Expression:
        return -value

    def maximum(self, left: Expression, right: Expression) -> Expression:
        return z3.If(left >= right, left, right)

    def compare(self, left: Expression, comparison: Comparison, right: Expression) -> Expression:
        match comparison:
            case "=":
                return left == right
            case "!=":
                return left != right
            case "<=":
                return left <= right
            case "<":
                return left < right

    def negation(self, truth: Expression) -> Expression:
        return z3.Not(truth)

    def require(self, *alternatives: Expression) -> None:
        self._solver.add(z3.Or(*alternatives) if len(alternatives) > 1 else alternatives[0])

    def check(self) -> Answer:
        try:
            result = self._solver.check()
        except z3.Z3Exception as error:
            return Answer("unknown", str(error))
        if result == z3.unsat:
            return Answer("unsat")
        if result == z3.sat:
            return Answer("sat")
        reason = self._solver.reason_unknown()
        # z3 says "canceled" where its resource limit ends a query.
        return Answer("unknown", "resource limit" if reason == "canceled" else reason)

    def value(self, variable: Expression) -> Fraction | None:
        found = self._solver.model().eval(variable, model_completion=True)
        if z3.is_int_value(found) or z3.is_rational_value(found):
            return Fraction(found.as_string())
        return None


class Cvc5Session:
    """A query to cvc5."""

    def __init__(self) -> None:
        self._terms = cvc5.TermManager()
        self._solver = cvc5.Solver(self._terms)
        self._solver.setOption("produce-models", "true")
        self._solver.setOption("seed", str(_SEED))
        self._solver.setOption("rlimit-per", str(CVC5_RESOURCES))
        self._solver.setOption("tlimit-per", str(int(1000 * TIME_LIMIT)))
        self._assertions: list[Expression] = []
        self._sorts: set[bool] = set()

    def variable(self, name: str, *, integer: bool) -> Expression:
        self._sorts.add(integer)
        sort = self._terms.getIntegerSort() if integer else self._terms.getRealSort()
        return self._terms.mkConst(sort, name)

    def number(self, value: Fraction, *, integer: bool) -> Expression:
        self._sorts.add(integer)
        if integer:
            return self._terms.mkInteger(str(value.numerator))
        return self._terms.mkReal(str(value))

    def real(self, value: Expression) -> Expression:
        self._sorts.add(False)
        return self._terms.mkTerm(cvc5.Kind.TO_REAL, value)

    def add(self, left: Expression, right: Expression) -> Expression:
        return self._terms.mkTerm(cvc5.Kind.ADD, left, right)

    def mul(self, left: Expression, right: Expression) -> Expression:
        return self._terms.mkTerm(cvc5.Kind.MULT, left, right)

    def neg(self, value: Expression) -> Expression:
        return self._terms.mkTerm(cvc5.Kind.NEG, value)

    def maximum(self, left: Expression, right: Expression) -> Expression:
        at_least = self._terms.mkTerm(cvc5.Kind.GEQ, left, right)
        return self._terms.mkTerm(cvc5.Kind.ITE, at_least, left, right)

    def compare(self, left: Expression, comparison: Comparison, right: Expression) -> Expression:
        match comparison:
            case "=":
                return self._terms.mkTerm(cvc5.Kind.EQUAL, left, right)
            case "!=":
                return self._terms.mkTerm(cvc5.Kind.DISTINCT, left, right)
            case "<=":
                return self._terms.mkTerm(cvc5.Kind.LEQ, left, right)
            case "<":
                return self._terms.mkTerm(cvc5.Kind.LT, left, right)

    def negation(self, truth: Expression) -> Expression:
        return self._terms.mkTerm(cvc5.Kind.NOT, truth)

    def require(self, *alternatives: Expression) -> None:
        many = len(alternatives) > 1
        self._assertions.append(
            self._terms.mkTerm(cvc5.Kind.OR, *alternatives) if many else alternatives[0]
        )

    def check(self) -> Answer:
        # The narrowest logic chooses the procedure: coverings for reals, lemmas for integers.
        numbers = "".join("I" if integer else "R" for integer in sorted(self._sorts, reverse=True))
        self._solver.setLogic(f"QF_N{numbers}A")
        for assertion in self._assertions:
            self._solver.assertFormula(assertion)
        try:
            result = self._solver.checkSat()
        except RuntimeError as error:
            return Answer("unknown", str(error))
        if result.isUnsat():
            return Answer("unsat")
        if result.isSat():
            return Answer("sat")
        return Answer("unknown", str(result.getUnknownExplanation()).rpartition(".")[2].lower())

    def value(self, variable: Expression) -> Fraction | None:
        found = self._solver.getValue(variable)
        if found.isIntegerValue():
            return Fraction(found.getIntegerValue())
        if found.isRealValue():
            return Fraction(found.getRealValue())
        return None
