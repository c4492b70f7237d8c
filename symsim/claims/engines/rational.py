"""Exact values of terms at rational points: what certifies a witness."""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction

from symsim.claims.domain import Domain, Relation
from symsim.terms import Kind, Number, Term, postorder

Point = Mapping[str, Number]

_Node = tuple[Kind, object, tuple[int, ...]]


class ExactTerm:
    """A term in the rational numbers: called with a point, it gives its value there.

    The value is None where it is not defined (a zero divisor, a symbol without a value) or not
    rational by construction (exp, log, positions, several columns).
    """

    def __init__(self, term: Term) -> None:
        nodes = postorder((term,))
        place = {node: i for i, node in enumerate(nodes)}
        self._nodes: tuple[_Node, ...] = tuple(
            (node.kind, _payload(node), tuple(place[arg] for arg in node.args)) for node in nodes
        )
        self._scalar = all(node.width == 1 for node in nodes)

    def __call__(self, point: Point) -> Number | None:
        values: list[Number] = []
        if not self._scalar:
            return None
        for kind, payload, places in self._nodes:
            value = _value(kind, payload, [values[i] for i in places], point)
            if value is None:
                return None
            values.append(value)
        return values[-1]


def _payload(node: Term) -> object:
    """A whole constant as an int, which is faster than a Fraction."""
    if isinstance(node.payload, Fraction) and node.payload.denominator == 1:
        return node.payload.numerator
    return node.payload


def _value(kind: Kind, payload: object, args: list[Number], point: Point) -> Number | None:
    match kind:
        case Kind.COLUMN:
            return point.get(str(payload))
        case Kind.CONSTANT:
            assert isinstance(payload, int | Fraction)
            return payload
        case Kind.ADD:
            return args[0] + args[1]
        case Kind.SUB:
            return args[0] - args[1]
        case Kind.MUL | Kind.DOT:
            return args[0] * args[1]
        case Kind.DIV:
            return Fraction(args[0]) / args[1] if args[1] else None
        case Kind.NEG:
            return -args[0]
        case Kind.MAX:
            return max(args)
        case _:
            return None


class ExactRelation:
    """A relation at rational points: True, False, or None where a side has no exact value."""

    def __init__(self, relation: Relation) -> None:
        self.relation = relation
        self._left, self._right = ExactTerm(relation.left), ExactTerm(relation.right)

    def __call__(self, point: Point) -> bool | None:
        left, right = self._left(point), self._right(point)
        if left is None or right is None:
            return None
        match self.relation.comparison:
            case "=":
                return left == right
            case "!=":
                return left != right
            case "<=":
                return left <= right
            case "<":
                return left < right


def belongs(point: Point, domain: Domain) -> bool:
    """Whether the point is seen to lie in the domain: sorts, bounds and hypotheses, exactly."""
    return all(_has_sort(point, v.name, v.integer) for v in domain.variables) and all(
        ExactRelation(relation)(point) is True for relation in domain.relations
    )


def _has_sort(point: Point, name: str, integer: bool) -> bool:
    return name in point and (not integer or Fraction(point[name]).denominator == 1)
