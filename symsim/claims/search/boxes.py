"""Inequalities proved on boxes by subdivision, in Arb.

A relation is read as right - left > 0, ≥ 0 or ≠ 0. On a box it is enclosed three ways, each of
which suffices: plainly, by the mean value form d(m) + Σ d_i(box)·(x_i - m_i), and, where the
derivative in some variables has one sign on the box, on the face at which d is least. A box
that does not decide is halved, and boxes on which a hypothesis certainly fails hold no point of
the domain. Closed boxes are covered, so what is proved includes open bounds.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import floor

from flint import arb, ctx, fmpq

from symsim.claims.claim import Formula
from symsim.claims.domain import Domain, Variable
from symsim.claims.search.certified import (
    CERTIFIED,
    Check,
    Compiled,
    Number,
    Operation,
    UndecidedAtError,
    UndefinedAtError,
    as_ball,
    compared,
    fraction,
    rational,
)
from symsim.claims.search.witness import Failure, failure_at
from symsim.terms import Kind

BITS = 160
"""Working precision."""

BOXES = 4_000
"""Boxes looked at before a subdivision gives up."""

HALVINGS = 40
"""Halvings of one box, in all directions together, before a subdivision gives up."""

MOST_VARIABLES = 3

Box = tuple[tuple[fmpq, fmpq], ...]
"""Closed intervals, one a variable."""


@dataclass(frozen=True)
class Subdivision:
    """The outcome: proved, failing at a point, or undecided near the point of `stuck`."""

    proved: bool
    boxes: int
    failure: Failure | None = None
    stuck: Mapping[str, Fraction] | None = None


def box_of(domain: Domain) -> Box | None:
    """The smallest box seen to contain a domain of 1 to 3 bounded real variables, or None.

    A bound in earlier symbols is enclosed over their intervals.
    """
    if not 0 < len(domain.variables) <= MOST_VARIABLES:
        return None
    box: Box = ()
    for k, variable in enumerate(domain.variables):
        interval = _interval(variable, domain.names[:k], box)
        if interval is None:
            return None
        box = (*box, interval)
    return box


def _interval(variable: Variable, names: Sequence[str], box: Box) -> tuple[fmpq, fmpq] | None:
    if variable.integer or variable.lower is None or variable.upper is None:
        return None
    sides = Compiled((variable.lower, variable.upper), names)
    try:
        with ctx.workprec(BITS):
            lower, upper = sides([_hull(*ends) for ends in box])
    except (UndefinedAtError, UndecidedAtError):
        return None
    if not (as_ball(lower).is_finite() and as_ball(upper).is_finite()):
        return None
    ends = _end(lower, arb.lower), _end(upper, arb.upper)
    return ends if ends[0] <= ends[1] else None


def _end(number: Number, end: Callable[[arb], arb]) -> fmpq:
    return number if isinstance(number, fmpq) else end(number).fmpq()


def _hull(lower: fmpq, upper: fmpq) -> Number:
    return lower if lower == upper else arb(lower).union(arb(upper))


def subdivide(claim: Formula, box: Box) -> Subdivision:
    """Proves a relation < , ≤ or ≠ on the part of `box` that the domain may fill.

    Where a midpoint certifiably fails it is returned; a box that no halving decides ends it.
    """
    with ctx.workprec(BITS):
        return _Subdividing(claim).run(box)


class _Subdividing:
    def __init__(self, claim: Formula) -> None:
        self._claim = claim
        self._names = claim.domain.names
        relation = claim.relation
        self._comparison = relation.comparison
        self._relation = Check(relation, self._names)
        self._margin = Compiled((relation.right - relation.left,), self._names)
        self._jet = Compiled(
            (relation.right - relation.left,), self._names, _JETS, lambda c: (arb(rational(c)), ())
        )
        self._conditions = [Check(given, self._names) for given in claim.domain.relations]

    def run(self, whole: Box) -> Subdivision:
        stack = [(whole, 0)]
        boxes = 0
        while stack:
            box, halvings = stack.pop()
            boxes += 1
            if self._empty(box):
                continue
            slopes = self._slopes(box)
            if self._decided(box, slopes):
                continue
            middle = tuple((lower + upper) / 2 for lower, upper in box)
            failure = self._failure(middle)
            if failure is not None:
                return Subdivision(False, boxes, failure)
            if halvings == HALVINGS or boxes >= BOXES:
                simple = [simplest_between(*ends) for ends in box]
                return Subdivision(False, boxes, stuck=self._point(simple))
            stack += [(half, halvings + 1) for half in _halves(box, slopes)]
        return Subdivision(True, boxes)

    def _point(self, values: Sequence[fmpq]) -> dict[str, Fraction]:
        return dict(zip(self._names, map(fraction, values), strict=True))

    def _failure(self, values: Sequence[fmpq]) -> Failure | None:
        """A certified failure at a point, looked at closely only where the relation may fail."""
        if self._relation(values, (BITS,)) in (True, None):
            return None
        return failure_at(self._claim, self._point(values))

    def _empty(self, box: Box) -> bool:
        """Whether a bound or hypothesis certainly fails on all of the box."""
        intervals = [_hull(*ends) for ends in box]
        return any(check(intervals, (BITS,)) is False for check in self._conditions)

    def _slopes(self, box: Box) -> tuple[arb, ...] | None:
        """Enclosures of the derivatives over the box; None unless all and the value are finite."""
        zero, one = arb(0), arb(1)
        jets = [
            (arb(_hull(*ends)), tuple(one if i == k else zero for i in range(len(box))))
            for k, ends in enumerate(box)
        ]
        ((value, slopes),) = self._jet(jets)
        slopes = slopes or (zero,) * len(box)
        finite = value.is_finite() and all(slope.is_finite() for slope in slopes)
        return slopes if finite else None

    def _decided(self, box: Box, slopes: tuple[arb, ...] | None) -> bool:
        margin = self._at(box)
        if self._enough(margin):
            return True
        if slopes is None:
            return False
        return self._enough(self._mean_value(box, slopes)) or self._enough(self._least(box, slopes))

    def _at(self, box: Box) -> Number | None:
        try:
            (margin,) = self._margin([_hull(*ends) for ends in box])
        except (UndefinedAtError, UndecidedAtError):
            return None
        return margin

    def _enough(self, margin: Number | None) -> bool:
        if margin is None:
            return False
        if self._comparison == "!=":
            return compared(margin, "!=", fmpq(0)) is True
        return compared(fmpq(0), self._comparison, margin) is True

    def _mean_value(self, box: Box, slopes: tuple[arb, ...]) -> Number | None:
        middle = [(lower + upper) / 2 for lower, upper in box]
        margin = self._at(tuple((m, m) for m in middle))
        if margin is None:
            return None
        for slope, (lower, upper), m in zip(slopes, box, middle, strict=True):
            margin = margin + slope * _hull(lower - m, upper - m)
        return margin

    def _least(self, box: Box, slopes: tuple[arb, ...]) -> Number | None:
        """The margin on the face where it is least, if some derivatives have one sign."""
        if self._comparison == "!=":
            return None
        face = tuple(
            (lower, lower) if slope >= 0 else (upper, upper) if slope <= 0 else (lower, upper)
            for slope, (lower, upper) in zip(slopes, box, strict=True)
        )
        return None if face == box else self._at(face)


def _halves(box: Box, slopes: tuple[arb, ...] | None) -> tuple[Box, Box]:
    """The box halved where the margin varies most, or where it is widest."""
    widths = [float(fraction(upper - lower)) for lower, upper in box]
    steep = [1.0 if slopes is None else float(abs(slopes[k]).mid()) for k in range(len(box))]
    k = max(range(len(box)), key=lambda i: (widths[i] * steep[i], widths[i]))
    lower, upper = box[k]
    middle = (lower + upper) / 2
    return (*box[:k], (lower, middle), *box[k + 1 :]), (*box[:k], (middle, upper), *box[k + 1 :])


def simplest_between(lower: fmpq, upper: fmpq) -> fmpq:
    """The rational number of smallest denominator in a closed interval."""
    if lower <= 0 <= upper:
        return fmpq(0)
    if upper < 0:
        return -simplest_between(-upper, -lower)
    whole = -floor(-fraction(lower))
    if whole <= upper:
        return fmpq(whole)
    below = fmpq(whole - 1)
    return below + 1 / simplest_between(1 / (upper - below), 1 / (lower - below))


# -- values with derivatives ----------------------------------------------------------------

_Jet = tuple[arb, tuple[arb, ...]]
"""A ball and its derivatives in each variable; no derivatives: all are 0."""


def _linear(value: arb, left: _Jet, a: arb, right: _Jet, b: arb) -> _Jet:
    """`value` with the derivatives a·left' + b·right'."""
    if not right[1]:
        return value, tuple(a * x for x in left[1])
    if not left[1]:
        return value, tuple(b * y for y in right[1])
    return value, tuple(a * x + b * y for x, y in zip(left[1], right[1], strict=True))


def _product(left: _Jet, right: _Jet) -> _Jet:
    return _linear(left[0] * right[0], left, right[0], right, left[0])


def _quotient(left: _Jet, right: _Jet) -> _Jet:
    value = left[0] / right[0]
    return _linear(value, left, 1 / right[0], right, -value / right[0])


def _exponential(of: _Jet, _: _Jet) -> _Jet:
    value = of[0].exp()
    return value, tuple(value * x for x in of[1])


def _logarithm(of: _Jet, _: _Jet) -> _Jet:
    return of[0].log(), tuple(x / of[0] for x in of[1])


def _larger(left: _Jet, right: _Jet) -> _Jet:
    if left[0] >= right[0]:
        return left
    if right[0] >= left[0]:
        return right
    # Between the two slopes, as the mean value theorem for a maximum has it.
    share = arb(0).union(arb(1))
    return _linear(left[0].max(right[0]), left, share, right, share)


_ONE = arb(1)

_JETS: Mapping[Kind, Operation] = {
    Kind.ADD: lambda a, b: _linear(a[0] + b[0], a, _ONE, b, _ONE),
    Kind.SUB: lambda a, b: _linear(a[0] - b[0], a, _ONE, b, -_ONE),
    Kind.MUL: _product,
    Kind.DOT: _product,
    Kind.DIV: _quotient,
    Kind.NEG: lambda a, _: (-a[0], tuple(-x for x in a[1])),
    Kind.EXP: _exponential,
    Kind.LOG: _logarithm,
    Kind.MAX: _larger,
}
assert _JETS.keys() == CERTIFIED.keys()
