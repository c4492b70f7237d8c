"""The SymPy engine: derivations as they are read, and Sturm sequences.

An identity is proved by bringing each side to a quotient in lowest terms, from the inside out,
over a common denominator and by `cancel`, and then the difference of the two, by `together`.
SymPy sees nothing but polynomials and quotients in symbols: exp(Σ c m), the exponent multiplied
out into monomials m, becomes a product of powers of symbols that stand for exp(m/k), with k the
common denominator of the c of that m. So none of SymPy's rules for functions is ever used, nor
`simplify`, nor numerical evaluation. Cancelling a common factor is allowed where the divisors
of the formula are nonzero, which is an obligation of its own; a divisor that is identically
zero is noticed. Quotients that are equal in independent symbols are equal functions.

An inequality in one variable x between rational functions is proved on an interval: by Sturm's
theorem a polynomial has no root there, so it keeps the sign it has at one rational point.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import ceil, floor, lcm
from typing import Any

import sympy

from symsim.claims.claim import Formula
from symsim.claims.domain import Domain, Relation, Variable, free_symbols
from symsim.claims.verdict import Evidence, Kind
from symsim.terms import Kind as TermKind
from symsim.terms import Term, formula, latex, postorder

Expression = Any  # sympy.Expr; SymPy carries no types

_ALL = "all sizes"
_LONGEST = 500
_LARGEST = 500
"""Terms that a polynomial may have: SymPy's greatest common divisors are slow."""
_MOST_STEPS = 20
"""Subterms whose rewriting a derivation shows, those nearest to the whole side last."""


class SymPyEngine:
    """Identities by canonical quotients, one-variable inequalities by Sturm sequences."""

    name = "sympy"

    def decide(self, claim: Formula) -> Evidence | None:
        """PROVED with the derivation, UNDECIDED where it does not close; None otherwise."""
        found = _derived(claim)
        if found is None:
            return None
        proved, lines = found
        shown = tuple(
            f"{_excerpt(expression)}   [{_excerpt(rule)}]"
            for expression, rule in _shown(lines, as_latex=False)
        )
        if proved:
            return Evidence(self.name, Kind.PROVED, _ALL, shown)
        return Evidence(self.name, Kind.UNDECIDED, "", shown[-1:])

    def derivation(self, claim: Formula, latex: bool = False) -> tuple[tuple[str, str], ...]:
        """(expression, justification) of every line, as text or as LaTeX mathematics."""
        found = _derived(claim)
        return () if found is None else _shown(found[1], latex)


def _excerpt(text: str) -> str:
    return text if len(text) <= _LONGEST else f"{text[:_LONGEST]} …"


class _NotApplicableError(ValueError):
    """The formula is none that this engine decides."""


class _ZeroDivisorError(ValueError):
    """A divisor is identically zero."""


@dataclass(frozen=True, eq=False)
class _Line:
    """Parts joined by signs of relation, and why the line may be written."""

    parts: tuple[Term | _Written | str, ...]
    rule: str

    @property
    def is_trivial(self) -> bool:
        """Whether both sides of an equation read the same."""
        return len(self.parts) == 3 and _part(self.parts[0], False) == _part(self.parts[2], False)


@dataclass(frozen=True, eq=False)
class _Written:
    """An expression in symbols, with the table that prints exponentials as such."""

    expression: Expression
    names: dict[Expression, tuple[str, str]]


def _shown(lines: Sequence[_Line], as_latex: bool) -> tuple[tuple[str, str], ...]:
    return tuple(
        ("".join(_part(part, as_latex) for part in line.parts), line.rule) for line in lines
    )


def _part(part: Term | _Written | str, as_latex: bool) -> str:
    if isinstance(part, str):
        return _LATEX_SIGNS.get(part, rf"\text{{{part}}}") if as_latex else part
    if isinstance(part, Term):
        return latex(part) if as_latex else formula(part)
    if as_latex:
        names = {symbol: shown[1] for symbol, shown in part.names.items()}
        return str(sympy.latex(part.expression, symbol_names=names))
    return str(part.expression)


_SIGNS = {"=": " = ", "!=": " ≠ ", "<=": " ≤ ", "<": " < "}
_LATEX_SIGNS = {
    " = ": " = ",
    " - ": " - ",
    " - (": r" - \left(",
    ") = ": r"\right) = ",
    " < ": " < ",
    " ≤ ": r" \le ",
    " ≠ ": r" \ne ",
}


def _derived(claim: Formula) -> tuple[bool, list[_Line]] | None:
    """Whether the claim is proved, and the derivation as far as it goes."""
    try:
        if claim.relation.comparison == "=":
            return _identity(claim.relation)
        return _inequality(claim.relation, claim.domain)
    except _NotApplicableError:
        return None
    except _ZeroDivisorError as error:
        return False, [_Line((str(error),), "no value there")]


_RULES = {
    TermKind.ADD: "common denominator",
    TermKind.SUB: "common denominator",
    TermKind.MUL: "product of fractions",
    TermKind.DIV: "division is multiplication by the inverse",
}


def _over_one_denominator(
    node: Term, a: Expression, b: Expression, c: Expression, d: Expression
) -> tuple[Expression, Expression]:
    """Numerator and denominator of a/b + c/d, − , · or ÷, nothing cancelled."""
    match node.kind:
        case TermKind.MUL:
            return a * c, b * d
        case TermKind.DIV:
            if c == 0:
                divisor = formula(node.args[1])
                raise _ZeroDivisorError(f"{divisor} is identically zero, and a divisor")
            return a * d, b * c
    sign = -1 if node.kind is TermKind.SUB else 1
    return (a + sign * c, b) if b == d else (a * d + sign * c * b, b * d)


# -- terms in SymPy -------------------------------------------------------------------------


class _FinerError(ValueError):
    """An exponent needs a finer share of a monomial."""

    def __init__(self, monomial: Expression, share: int) -> None:
        super().__init__(monomial, share)
        self.monomial, self.share = monomial, share


class _Quotients:
    """Terms as quotients of polynomials in lowest terms, and the lines that lead there."""

    def __init__(self, shares: Mapping[Expression, int]) -> None:
        self.shares = shares
        self.lines: list[_Line] = []
        self.names: dict[Expression, tuple[str, str]] = {}
        self._known: dict[Term, Expression] = {}
        self._logarithms: dict[Expression, Expression] = {}

    def of(self, term: Term) -> Expression:
        """The canonical quotient of `term`."""
        for node in postorder((term,)):
            if node not in self._known:
                self._known[node] = self._quotient(node, [self._known[arg] for arg in node.args])
        return self._known[term]

    def written(self, expression: Expression) -> _Written:
        """`expression` for a line."""
        return _Written(expression, self.names)

    def _quotient(self, node: Term, args: list[Expression]) -> Expression:
        if node.width != 1:
            raise _NotApplicableError("several columns")
        match node.kind:
            case TermKind.COLUMN:
                return self._named(str(node.payload), latex(node))
            case TermKind.CONSTANT:
                assert isinstance(node.payload, Fraction)
                return sympy.Rational(node.payload.numerator, node.payload.denominator)
            case TermKind.ADD | TermKind.SUB | TermKind.MUL | TermKind.DIV:
                return self._combined(node, *args)
            case TermKind.NEG:
                return -args[0]
            case TermKind.EXP:
                return self._exponential(node, args[0])
            case TermKind.LOG:
                return self._logarithm(args[0])
            case kind:
                raise _NotApplicableError(kind.value)

    def _named(self, text: str, tex: str) -> Expression:
        symbol = sympy.Symbol(text)
        self.names[symbol] = (text, tex)
        return symbol

    def _combined(self, node: Term, left: Expression, right: Expression) -> Expression:
        """A sum, product or quotient of quotients as one, in lowest terms."""
        above, below = _over_one_denominator(node, *sympy.fraction(left), *sympy.fraction(right))
        result = sympy.expand(above) if below == 1 else sympy.cancel(above / below)
        if max(len(sympy.Add.make_args(part)) for part in sympy.fraction(result)) > _LARGEST:
            raise _NotApplicableError(f"more than {_LARGEST} terms")
        if node.kind is TermKind.DIV or below != 1:
            self._explain(node, above, below, result)
        return result

    def _explain(
        self, node: Term, above: Expression, below: Expression, result: Expression
    ) -> None:
        """The line that says what was cancelled, and why it may be."""
        common = sympy.cancel(below / sympy.fraction(result)[1])
        rule = _RULES[node.kind]
        parts: list[Term | _Written | str] = [node, " = ", self.written(result)]
        if not common.is_number:
            whole = sympy.Mul(above, sympy.Pow(below, -1, evaluate=False), evaluate=False)
            parts[2:2] = [self.written(whole), " = "]
            rule += f"; {common} cancelled, nonzero as a factor of divisors"
        self.lines.append(_Line(tuple(parts), rule))

    def _exponential(self, node: Term, exponent: Expression) -> Expression:
        """exp(Σ c m + Σ k ln t) = Π exp(m)^c · Π t^k."""
        result: Expression = sympy.Integer(1)
        for monomial, coefficient in sympy.expand(exponent).as_coefficients_dict().items():
            if monomial in self._logarithms and coefficient.is_integer:
                result *= self._logarithms[monomial] ** int(coefficient)
            elif coefficient != 0:
                result *= self._generator(monomial) ** self._steps(monomial, coefficient)
        result = sympy.cancel(sympy.together(result))
        rule = "functional equation of exp, exponent multiplied out"
        self.lines.append(_Line((node, " = ", self.written(result)), rule))
        return result

    def _steps(self, monomial: Expression, coefficient: Expression) -> int:
        share = self.shares.get(monomial, 1)
        if not (coefficient * share).is_integer:
            raise _FinerError(monomial, lcm(share, int(coefficient.q)))
        return int(coefficient * share)

    def _generator(self, monomial: Expression) -> Expression:
        """The symbol for exp(monomial/share)."""
        part = monomial / self.shares.get(monomial, 1)
        return self._named(f"exp({part})", rf"e^{{{self._tex(part)}}}")

    def _tex(self, expression: Expression) -> str:
        names = {symbol: shown[1] for symbol, shown in self.names.items()}
        return str(sympy.latex(expression, symbol_names=names))

    def _logarithm(self, argument: Expression) -> Expression:
        """An independent symbol for each argument in lowest terms."""
        symbol = self._named(f"ln({argument})", rf"\ln\left({self._tex(argument)}\right)")
        self._logarithms[symbol] = argument
        return symbol


def _identity(relation: Relation) -> tuple[bool, list[_Line]]:
    shares: dict[Expression, int] = {}
    while True:
        try:
            return _compared(relation, _Quotients(shares))
        except _FinerError as error:
            shares[error.monomial] = error.share


def _compared(relation: Relation, quotients: _Quotients) -> tuple[bool, list[_Line]]:
    """Both sides in lowest terms, their difference over a common denominator, its numerator."""
    left, right = quotients.of(relation.left), quotients.of(relation.right)
    difference = sympy.together(left - right)
    above, below = sympy.fraction(difference)
    numerator = sympy.expand(above)
    zero = bool(numerator == 0 and sympy.cancel(difference) == 0)
    written = quotients.written
    lines = [_Line((relation.left, " = ", relation.right), "the claim, as written")]
    lines += [line for line in quotients.lines if not line.is_trivial][-_MOST_STEPS:]
    for side, value, name in ((relation.left, left, "left"), (relation.right, right, "right")):
        line = _Line((side, " = ", written(value)), f"{name} side, multiplied out")
        if not line.is_trivial and all(shown.parts[0] is not side for shown in lines[1:]):
            lines.append(line)
    rule = "difference over a common denominator, numerator multiplied out"
    if zero:
        closing = (written(left), " - (", written(right), ") = ", written(numerator))
        lines.append(_Line(closing, rule))
    else:
        open_end = ("left - right = ", written(numerator / below))
        lines.append(_Line(open_end, f"{rule}: not zero"))
    return zero, lines


# -- one variable ---------------------------------------------------------------------------


@dataclass(frozen=True)
class _Interval:
    """Real numbers between rational ends; None where there is no end."""

    low: Fraction | None
    high: Fraction | None
    low_open: bool
    high_open: bool

    def __str__(self) -> str:
        low = "-∞" if self.low is None else str(self.low)
        high = "∞" if self.high is None else str(self.high)
        left = "(" if self.low is None or self.low_open else "["
        right = ")" if self.high is None or self.high_open else "]"
        return f"{left}{low}, {high}{right}"

    @property
    def interior(self) -> _Interval:
        """Without its ends."""
        return _Interval(self.low, self.high, True, True)

    @property
    def is_solid(self) -> bool:
        """Whether it has interior points."""
        return self.low is None or self.high is None or self.low < self.high

    def roots(self, polynomial: Expression) -> int:
        """Distinct roots of a nonzero polynomial within, by Sturm's theorem."""
        squarefree = polynomial.sqf_part()
        low, high = (None if end is None else _rational(end) for end in (self.low, self.high))
        found = int(squarefree.count_roots(low, high))  # ends included
        for end, is_open in ((low, self.low_open), (high, self.high_open)):
            if end is not None and is_open and squarefree.eval(end) == 0:
                found -= 1
        return found

    def point(self, polynomial: Expression) -> Expression:
        """A rational interior point at which `polynomial` does not vanish."""
        for k in range(1, polynomial.degree() + 3):
            x = _rational(self._inside(k))
            if polynomial.eval(x) != 0:
                return x
        raise AssertionError("a polynomial has more roots than its degree")

    def _inside(self, k: int) -> Fraction:
        """Distinct interior points for the whole numbers k from 1 on."""
        if self.low is not None and self.high is not None:
            return self.low + (self.high - self.low) / (k + 1)
        if self.high is not None:
            return self.high - k
        return (self.low or Fraction(0)) + k


def _rational(value: Fraction) -> Expression:
    return sympy.Rational(value.numerator, value.denominator)


def _inequality(relation: Relation, on: Domain) -> tuple[bool, list[_Line]]:
    """Sturm's theorem for a relation ≤, < or ≠ between rational functions of one variable."""
    names = free_symbols(relation.left, relation.right)
    if len(names) > 1:
        raise _NotApplicableError("several variables")
    variable = next((v for v in on.variables if v.name in names), None)
    quotients = _Quotients({})
    try:
        difference = quotients.of(relation.right) - quotients.of(relation.left)
    except _FinerError:
        raise _NotApplicableError("an exponential") from None
    above, below = sympy.fraction(sympy.cancel(sympy.together(difference)))
    x = sympy.Symbol(names[0] if names else "x")
    if not (above.free_symbols | below.free_symbols) <= {x}:
        raise _NotApplicableError("an exponential or a logarithm")
    interval = _interval(variable)
    lines = [
        _Line((relation.left, _SIGNS[relation.comparison], relation.right), "as written"),
        _Line(
            (
                *(relation.right, " - ", relation.left),
                *(" = ", quotients.written(above / below)),
            ),
            "common denominator, lowest terms",
        ),
    ]
    proved, last = _signed(
        relation.comparison,
        sympy.Poly(above, x, domain="QQ"),
        sympy.Poly(below, x, domain="QQ"),
        interval,
    )
    return proved, [*lines, *last]


def _interval(variable: Variable | None) -> _Interval:
    """What the declared bounds that are rational numbers leave of the real line."""
    if variable is None:
        return _Interval(None, None, True, True)
    low, high = _constant(variable.lower), _constant(variable.upper)
    if not variable.integer:
        return _Interval(low, high, variable.lower_open, variable.upper_open)
    if low is not None:
        low = Fraction(floor(low) + 1 if variable.lower_open else ceil(low))
    if high is not None:
        high = Fraction(ceil(high) - 1 if variable.upper_open else floor(high))
    return _Interval(low, high, False, False)


def _constant(bound: Term | None) -> Fraction | None:
    """The value of a bound without symbols; None leaves the bound out."""
    if bound is None or free_symbols(bound):
        return None
    try:
        value = _Quotients({}).of(bound)
    except (_NotApplicableError, _ZeroDivisorError, _FinerError):
        return None
    return Fraction(int(value.p), int(value.q)) if value.is_Rational else None


def _signed(
    comparison: str, above: Expression, below: Expression, interval: _Interval
) -> tuple[bool, list[_Line]]:
    """Whether above/below is ≥ 0 (<=), > 0 (<) or of one strict sign (!=) on the interval."""
    if not interval.is_solid:
        return False, [_Line((f"{interval} has no interior points",), "not decided")]
    if above.is_zero:
        return comparison == "<=", [_Line(("right - left = 0",), "for every value")]
    whole = above * below
    point = interval.point(whole)
    if comparison == "<=":
        odd = above.one
        for factor, multiplicity in above.sqf_list()[1]:
            odd = odd * factor if multiplicity % 2 else odd
        free = interval.interior.roots(odd) == 0 and interval.roots(below) == 0
        what = f"numerator changes sign nowhere inside {interval}, denominator has no root in it"
    else:
        free = interval.roots(whole) == 0
        what = f"numerator and denominator have no root in {interval}"
    value = whole.eval(point)
    if not free:
        return False, [_Line((f"roots in {interval}",), "not decided")]
    if value < 0 and comparison != "!=":
        line = f"numerator times denominator is {value} at {point}"
        return False, [_Line((line,), "the sign is the other one")]
    sign = ">" if value > 0 else "<"
    return True, [
        _Line((what,), "Sturm's theorem"),
        _Line((f"numerator times denominator = {value} {sign} 0 at {point}",), "one sign, here"),
    ]
