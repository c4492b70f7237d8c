"""The FLINT engine: canonical quotients in exponential generators, and signs of coefficients.

Identities are decided by canonical form (`arithmetic.symbolic` says why that decides).
Inequalities are proved by a certificate: with the variables written through their bounds
(`positivity`), right − left is a quotient of polynomials whose signs are seen from their
coefficients. Equal forms and a certificate are proofs; their absence says nothing.

Why a canonical form may stand for the term at a point of the domain: the divisors of the term
are nonzero there, the canonical denominator divides a product of their numerators, and the two
quotients agree wherever both denominators are nonzero.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from fractions import Fraction
from math import lcm

from symsim.arithmetic.base import Array, NumberError
from symsim.arithmetic.quotient import Quotient, excerpt
from symsim.arithmetic.symbolic import Symbolic
from symsim.arithmetic.undefined import UNDEFINED
from symsim.claims.claim import Formula
from symsim.claims.domain import Domain, Relation
from symsim.claims.engines.positivity import Parameters, Selection, UnfitError, selections
from symsim.claims.verdict import Evidence, Kind
from symsim.terms import Kind as TermKind
from symsim.terms import Term, evaluate, postorder

_ALL = "all sizes"
_EXCEPT = frozenset({TermKind.POSITION, TermKind.IN_RANGE, TermKind.BIT, TermKind.DOT})


class FlintEngine:
    """Decides formulas over FLINT polynomials in symbols and exponentials."""

    name = "flint"

    def decide(self, claim: Formula) -> Evidence | None:
        """PROVED with the canonical form or the certificate, otherwise UNDECIDED.

        None for a formula with inner products, positions or symbols of several columns.
        """
        nodes = postorder(_sides(claim.relation, *claim.domain.relations))
        if any(node.kind in _EXCEPT or node.width != 1 for node in nodes):
            return None
        if claim.relation.comparison == "=":
            return self._identity(claim)
        return self._searched(claim)

    def _identity(self, claim: Formula) -> Evidence:
        same, line = _directly(claim)
        if not same and any(given.comparison == "=" for given in claim.domain.hypotheses):
            return self._searched(claim)
        return self._evidence(Kind.PROVED if same else Kind.UNDECIDED, (line,))

    def _searched(self, claim: Formula) -> Evidence:
        for selection in selections(claim.relation, claim.domain):
            lines = _certificate(claim, selection, _scales(claim))
            if lines is not None:
                return self._evidence(Kind.PROVED, lines)
        return self._evidence(Kind.UNDECIDED, ("no certificate by signs of coefficients",))

    def _evidence(self, kind: Kind, lines: tuple[str, ...]) -> Evidence:
        return Evidence(self.name, kind, _ALL if kind is Kind.PROVED else "", lines)


# -- identities -----------------------------------------------------------------------------


def _directly(claim: Formula) -> tuple[bool, str]:
    """Whether the canonical forms agree without any hypothesis, and what to say of it."""
    reason = ""
    for scale in _scales(claim):
        numbers = Symbolic(scale)
        try:
            columns = _symbols(claim.domain, numbers)
            left, right = (
                values.ravel()[0] for values in evaluate(_sides(claim.relation), columns, numbers)
            )
        except NumberError as error:
            reason = reason or str(error)
            continue
        if left is UNDEFINED or right is UNDEFINED:
            return False, "a divisor is identically zero"
        if numbers.equal(left, right):
            return True, f"both sides have the canonical form {excerpt(left)}"
        return False, _difference(claim.domain, left - right)
    return False, reason


def _difference(domain: Domain, difference: Quotient) -> str:
    line = f"different canonical forms: difference = {excerpt(difference)}"
    if difference.has_opaque():
        return f"{line}, in which generators may be dependent"
    if _is_solid(domain):
        return f"{line}, nonzero somewhere in every open set"
    return line


def _is_solid(domain: Domain) -> bool:
    """Whether nothing declared keeps the domain from having interior points."""
    equalities = any(given.comparison == "=" for given in domain.hypotheses)
    return not equalities and not any(variable.integer for variable in domain.variables)


def _symbols(domain: Domain, numbers: Symbolic) -> dict[str, Array]:
    """A symbol for each variable, positive where a bound below is manifestly positive."""
    columns: dict[str, Array] = {}
    for variable in domain.variables:
        positive = variable.lower is not None and _is_positive(
            variable.lower, variable.lower_open, columns, numbers
        )
        columns[variable.name] = numbers.symbols(variable.name, (), positive=positive)
    return columns


def _is_positive(
    lower: Term, is_open: bool, columns: Mapping[str, Array], numbers: Symbolic
) -> bool:
    """Whether x > 0 follows from x > `lower` (if `is_open`) or x ≥ `lower`."""
    try:
        (values,) = evaluate((lower,), columns, numbers)
    except NumberError:
        return False
    value = values.ravel()[0]
    if value is UNDEFINED:
        return False
    value.reduce()
    if value.num.is_zero():
        return is_open
    return all(numbers.generators.manifest_sign(part) == 1 for part in (value.num, value.den))


# -- certificates ---------------------------------------------------------------------------


def _certificate(
    claim: Formula, selection: Selection, scales: Sequence[int]
) -> tuple[str, ...] | None:
    """Lines of a proof in every case that covers the domain, or None."""
    for scale in scales:
        try:
            return _covered(claim, selection, Parameters(scale))
        except UnfitError:
            return None
        except NumberError:
            continue
    return None


def _covered(
    claim: Formula, selection: Selection, parameters: Parameters
) -> tuple[str, ...] | None:
    lines: list[str] = []
    for case in parameters.cases(selection):
        line = _holds(claim.relation, case.columns, parameters)
        if line is None:
            parameters.learn(claim.domain.hypotheses, case.columns)
            line = _holds(claim.relation, case.columns, parameters)
            if line is None:
                return None
            line += ", by its factors and the hypotheses"
        lines.append("; ".join((*case.lines, line)))
        # The next case is written out before this loop sees it.
        parameters.signs.given.clear()
    return tuple(lines)


def _holds(relation: Relation, columns: Mapping[str, Array], parameters: Parameters) -> str | None:
    """Why `relation` holds for all parameters, or None."""
    difference = parameters.value(relation.right - relation.left, columns)
    shown = excerpt(difference)
    if relation.comparison == "=":
        return f"both sides agree: difference = {shown}" if difference.num.is_zero() else None
    below = parameters.signs.strict_sign(difference.den)
    if below == 0:
        return None
    above = difference.num * below
    signs = parameters.signs
    match relation.comparison:
        case "<=" if signs.holds(above, strict=False):
            return f"right - left = {shown} ≥ 0{_key(parameters)}"
        case "<" if signs.holds(above, strict=True):
            return f"right - left = {shown} > 0{_key(parameters)}"
        case "!=" if sign := signs.strict_sign(above):
            return f"right - left = {shown} {'>' if sign > 0 else '<'} 0{_key(parameters)}"
    return None


def _key(parameters: Parameters) -> str:
    """What is known of the parameters, for the reader."""
    known = parameters.signs.generators.known
    weak = [str(known[index].key) for index in sorted(parameters.signs.nonnegative)]
    strict = [str(g.key) for g in known if g.positive and str(g.key).endswith("°")]
    ranges = [f"{name} ≥ 0" for name in weak] + [f"{name} > 0" for name in strict]
    return f" for {', '.join(ranges)}" if ranges else ""


# -- what a formula needs -------------------------------------------------------------------


def _sides(*relations: Relation) -> tuple[Term, ...]:
    return tuple(side for relation in relations for side in (relation.left, relation.right))


def _scales(claim: Formula) -> Sequence[int]:
    """Denominators of exponents to try: 1, then what the constants of the formula suggest."""
    nodes = postorder(_sides(claim.relation, *claim.domain.relations))
    if not any(node.kind is TermKind.EXP for node in nodes):
        return (1,)
    share = lcm(*(part for value in _constants(nodes) for part in _parts(value)))
    return tuple(dict.fromkeys((1, share, share * share)))


def _constants(nodes: Sequence[Term]) -> Iterator[Fraction]:
    return (node.payload for node in nodes if isinstance(node.payload, Fraction))


def _parts(value: Fraction) -> tuple[int, int]:
    return max(1, abs(value.numerator)), value.denominator
