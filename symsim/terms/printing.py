"""Terms as formulas for the terminal and as LaTeX."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from fractions import Fraction
from string import digits

from symsim.terms.term import Kind, Term, TermError, postorder

LONGEST_FORMULA = 1_000_000
"""Characters that a formula may have: a shared subterm is written out at every use."""

_EXCERPT = 200

Part = str | Term
_Level = Callable[[Term], int]

# How tightly a printed term holds together.
_SUM, _FRACTION, _PRODUCT, _SIGN, _ATOM = range(5)
_LEVEL = {
    Kind.ADD: _SUM,
    Kind.SUB: _SUM,
    Kind.MUL: _PRODUCT,
    Kind.DIV: _PRODUCT,
    Kind.NEG: _SIGN,
}
_TEXT = {Kind.ADD: " + ", Kind.SUB: " - ", Kind.MUL: "·", Kind.DIV: "/"}
_LATEX = {Kind.ADD: " + ", Kind.SUB: " - ", Kind.MUL: r" \cdot "}
_LATEX_FUNCTION = {Kind.EXP: r"\exp", Kind.LOG: r"\ln", Kind.MAX: r"\max"}


def formula(term: Term) -> str:
    """`term` on one line; different terms in the same columns have different formulas.

    It reads as Python does, · for *: a leading - holds tighter than · and /, which hold tighter
    than + and -, all from left to right. `-3` and `1/2` are constants; the negative of 3 is
    `-(3)` and the quotient of 1 by 2 is `1/(2)`.
    Raises TermError for a formula of more than LONGEST_FORMULA characters.
    """
    return _written(term, _text_parts)


def latex(term: Term) -> str:
    """`term` as LaTeX mathematics, without delimiters.

    Raises TermError for a formula of more than LONGEST_FORMULA characters.
    """
    return _written(term, _latex_parts)


def excerpt(term: Term) -> str:
    """The beginning of the formula of `term`, whatever its length."""
    text = ""
    for piece in _pieces(term, _text_parts):
        text += piece
        if len(text) > _EXCERPT:
            return f"{text[:_EXCERPT]}…"
    return text


def _written(term: Term, parts: Callable[[Term], list[Part]]) -> str:
    pieces = []
    length = 0
    for piece in _pieces(term, parts):
        pieces.append(piece)
        length += len(piece)
        if length > LONGEST_FORMULA:
            raise TermError(
                f"{term!r} has {len(postorder((term,)))} nodes and a formula of more than "
                f"{LONGEST_FORMULA} characters: a shared node is written out at every use"
            )
    return "".join(pieces)


def _pieces(term: Term, parts: Callable[[Term], list[Part]]) -> Iterator[str]:
    """The text of `term` from left to right; `parts` splits a node into text and operands."""
    stack: list[Part] = [term]
    while stack:
        part = stack.pop()
        if isinstance(part, str):
            yield part
        else:
            stack.extend(reversed(parts(part)))


# -- brackets -------------------------------------------------------------------------------


def _text_level(term: Term) -> int:
    if isinstance(term.payload, Fraction) and term.payload.denominator != 1:
        return _FRACTION
    return _SIGN if _is_negative(term) else _LEVEL.get(term.kind, _ATOM)


def _latex_level(term: Term) -> int:
    if term.kind is Kind.DIV:
        return _ATOM
    return _SIGN if _is_negative(term) else _LEVEL.get(term.kind, _ATOM)


def _is_negative(term: Term) -> bool:
    return isinstance(term.payload, Fraction) and term.payload < 0


def _needs_brackets(node: Term, place: int, level: _Level) -> bool:
    """Whether the tree cannot be read back without brackets, or two signs would meet."""
    own, operand = level(node), node.args[place]
    inner = level(operand)
    last = place == len(node.args) - 1
    return inner < own or (last and (inner == own or _starts_with_sign(operand, level)))


def _starts_with_sign(term: Term, level: _Level) -> bool:
    while level(term) == _PRODUCT and level(term.args[0]) >= _PRODUCT:
        term = term.args[0]
    return term.kind is Kind.NEG or _is_negative(term)


def _joins(node: Term, place: int) -> bool:
    """Whether a constant operand would be read as the end of another constant: -3, 1/2."""
    if node.args[place].kind is not Kind.CONSTANT:
        return False
    first = node.args[0]
    return node.kind is Kind.NEG or (
        node.kind is Kind.DIV
        and place == 1
        and first.kind is Kind.CONSTANT
        and _text_level(first) != _FRACTION
    )


# -- text -----------------------------------------------------------------------------------


def _text_operand(node: Term, place: int) -> list[Part]:
    operand = node.args[place]
    if _needs_brackets(node, place, _text_level) or _joins(node, place):
        return ["(", operand, ")"]
    return [operand]


def _text_parts(node: Term) -> list[Part]:
    match node.kind:
        case Kind.COLUMN | Kind.CONSTANT:
            return [str(node.payload)]
        case Kind.POSITION:
            return ["position"]
        case Kind.IN_RANGE | Kind.BIT:
            return [f"{node.kind.value}({', '.join(map(str, _integers(node)))})"]
        case Kind.NEG:
            return ["-", *_text_operand(node, 0)]
        case Kind.ADD | Kind.SUB | Kind.MUL | Kind.DIV:
            return [*_text_operand(node, 0), _TEXT[node.kind], *_text_operand(node, 1)]
        case _:
            return [f"{node.kind.value}(", *_listed(node), ")"]


def _listed(node: Term) -> list[Part]:
    """The operands, with commas between them."""
    parts: list[Part] = []
    for operand in node.args:
        parts += [", ", operand] if parts else [operand]
    return parts


def _integers(node: Term) -> tuple[int, ...]:
    assert isinstance(node.payload, tuple)
    return node.payload


# -- LaTeX ----------------------------------------------------------------------------------


def _latex_operand(node: Term, place: int) -> list[Part]:
    operand = node.args[place]
    if _needs_brackets(node, place, _latex_level):
        return [r"\left(", operand, r"\right)"]
    return [operand]


def _latex_parts(node: Term) -> list[Part]:
    match node.kind:
        case Kind.COLUMN:
            return [_latex_name(str(node.payload))]
        case Kind.CONSTANT:
            return [_latex_rational(node.payload)]
        case Kind.POSITION:
            return ["p"]
        case Kind.IN_RANGE:
            lo, hi = _integers(node)
            return [rf"[{lo} \le p < {hi}]"]
        case Kind.BIT:
            return [rf"\mathrm{{bit}}_{{{_integers(node)[0]}}}(p)"]
        case Kind.NEG:
            return ["-", *_latex_operand(node, 0)]
        case Kind.DIV:
            return [r"\frac{", node.args[0], "}{", node.args[1], "}"]
        case Kind.ADD | Kind.SUB | Kind.MUL:
            return [*_latex_operand(node, 0), _LATEX[node.kind], *_latex_operand(node, 1)]
        case Kind.DOT:
            return [r"\langle ", *_listed(node), r" \rangle"]
        case _:
            return [rf"{_LATEX_FUNCTION[node.kind]}\left(", *_listed(node), r"\right)"]


def _latex_rational(value: object) -> str:
    assert isinstance(value, Fraction)
    if value.denominator == 1:
        return str(value.numerator)
    sign = "-" if value < 0 else ""
    return rf"{sign}\frac{{{abs(value.numerator)}}}{{{value.denominator}}}"


def _latex_name(name: str) -> str:
    """`a_ij` as a_{ij}, `q1` as q_{1}; a name of several letters upright."""
    head, *indices = name.split("_")
    letters = head.rstrip(digits)
    index = ",".join(filter(None, [head[len(letters) :], *indices]))
    base = letters if len(letters) == 1 else rf"\mathrm{{{letters}}}"
    return f"{base}_{{{index}}}" if index else base
