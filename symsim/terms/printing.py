"""Terms as formulas for the terminal and as LaTeX."""

from __future__ import annotations

import re
from fractions import Fraction

from symsim.terms.term import Kind, Term, postorder

_SUM, _PRODUCT, _SIGN, _ATOM = 1, 2, 3, 4
_PRECEDENCE = {
    Kind.ADD: _SUM,
    Kind.SUB: _SUM,
    Kind.MUL: _PRODUCT,
    Kind.DIV: _PRODUCT,
    Kind.NEG: _SIGN,
}
_TEXT = {Kind.ADD: " + ", Kind.SUB: " - ", Kind.MUL: "·", Kind.DIV: "/"}
_LATEX = {Kind.ADD: " + ", Kind.SUB: " - ", Kind.MUL: r" \cdot "}


def formula(term: Term) -> str:
    """`term` on one line, with no more parentheses than the usual precedence needs."""
    printed: dict[Term, str] = {}
    for node in postorder((term,)):
        printed[node] = _text_node(node, [printed[arg] for arg in node.args])
    return printed[term]


def latex(term: Term) -> str:
    """`term` as LaTeX mathematics, without delimiters."""
    printed: dict[Term, str] = {}
    for node in postorder((term,)):
        printed[node] = _latex_node(node, [printed[arg] for arg in node.args])
    return printed[term]


def _precedence(term: Term) -> int:
    if isinstance(term.payload, Fraction):
        if term.payload < 0:
            return _SIGN
        return _ATOM if term.payload.denominator == 1 else _PRODUCT
    return _PRECEDENCE.get(term.kind, _ATOM)


def _operands(node: Term, printed: list[str], brackets: tuple[str, str]) -> list[str]:
    """The printed operands, bracketed where precedence or a repeated sign asks for it."""
    own = _precedence(node)
    wrapped = []
    for place, (arg, text) in enumerate(zip(node.args, printed, strict=True)):
        inner = _precedence(arg)
        # The second operand of a difference or a product keeps its brackets at equal
        # precedence, so that the tree as written can be read back.
        needs = inner < own or (place == 1 and inner in (own, _SIGN) and inner < _ATOM)
        wrapped.append(f"{brackets[0]}{text}{brackets[1]}" if needs else text)
    return wrapped


def _text_node(node: Term, printed: list[str]) -> str:
    match node.kind:
        case Kind.COLUMN | Kind.CONSTANT:
            return str(node.payload)
        case Kind.POSITION:
            return "position"
        case Kind.IN_RANGE | Kind.BIT:
            arguments = ", ".join(map(str, _integers(node)))
            return f"{node.kind.value}({arguments})"
        case Kind.NEG:
            return f"-{_operands(node, printed, ('(', ')'))[0]}"
        case Kind.ADD | Kind.SUB | Kind.MUL | Kind.DIV:
            left, right = _operands(node, printed, ("(", ")"))
            return f"{left}{_TEXT[node.kind]}{right}"
        case _:
            return f"{node.kind.value}({', '.join(printed)})"


def _latex_node(node: Term, printed: list[str]) -> str:
    brackets = (r"\left(", r"\right)")
    match node.kind:
        case Kind.COLUMN:
            return _latex_name(str(node.payload))
        case Kind.CONSTANT:
            return _latex_rational(node.payload)
        case Kind.POSITION:
            return "p"
        case Kind.IN_RANGE:
            lo, hi = _integers(node)
            return rf"[{lo} \le p < {hi}]"
        case Kind.BIT:
            return rf"\mathrm{{bit}}_{{{_integers(node)[0]}}}(p)"
        case Kind.NEG:
            return f"-{_operands(node, printed, brackets)[0]}"
        case Kind.DIV:
            return rf"\frac{{{printed[0]}}}{{{printed[1]}}}"
        case Kind.ADD | Kind.SUB | Kind.MUL:
            left, right = _operands(node, printed, brackets)
            return f"{left}{_LATEX[node.kind]}{right}"
        case Kind.DOT:
            return rf"\langle {printed[0]}, {printed[1]} \rangle"
        case _:
            name = {Kind.EXP: r"\exp", Kind.LOG: r"\ln", Kind.MAX: r"\max"}[node.kind]
            return rf"{name}\left({', '.join(printed)}\right)"


def _integers(node: Term) -> tuple[int, ...]:
    assert isinstance(node.payload, tuple)
    return node.payload


def _latex_rational(value: object) -> str:
    assert isinstance(value, Fraction)
    if value.denominator == 1:
        return str(value.numerator)
    sign = "-" if value < 0 else ""
    return rf"{sign}\frac{{{abs(value.numerator)}}}{{{value.denominator}}}"


def _latex_name(name: str) -> str:
    """`a_ij` as a_{ij}; a name of several letters upright."""
    head, *rest = name.split("_")
    base = head if len(head) == 1 else rf"\mathrm{{{head}}}"
    if not rest:
        letters, digits = re.fullmatch(r"(\D*)(\d*)", head).groups() if head.isalnum() else (head, "")  # type: ignore[union-attr]
        if len(letters) == 1 and digits:
            return f"{letters}_{{{digits}}}"
        return base
    return f"{base}_{{{','.join(rest)}}}"
