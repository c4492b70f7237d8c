"""Formulas read back to the same term; LaTeX as one would write it."""

from __future__ import annotations

import ast
import operator
from fractions import Fraction
from operator import neg

import pytest
from hypothesis import given
from hypothesis import strategies as st

from symsim.terms import (
    Term,
    TermError,
    column,
    constant,
    dot,
    exp,
    formula,
    latex,
    log,
    maximum,
    relu,
    trace,
)

A, B, C = column("a"), column("b"), column("c")
HALF = Fraction(1, 2)


def placed(build):
    """The term of a program that sees the position."""
    program = trace(lambda token: {"x": build(token)}, {"a": 1}, sees_position=True)
    return program.outputs["x"]


FORMULAS = [
    (A - (B - C), "a - (b - c)"),
    (A - B - C, "a - b - c"),
    (A + (B + C), "a + (b + c)"),
    (A + B - C, "a + b - c"),
    (A / (B * C), "a/(b·c)"),
    (A / B * C, "a/b·c"),
    (A / (B / C), "a/(b/c)"),
    (A / B / C, "a/b/c"),
    (A * (B * C), "a·(b·c)"),
    (A * (B / C), "a·(b/c)"),
    (A * (B + C), "a·(b + c)"),
    ((A - B) / C, "(a - b)/c"),
    (A - B * C, "a - b·c"),
    (-(A + B), "-(a + b)"),
    (-(A * B), "-(a·b)"),
    ((-A) * B, "-a·b"),
    (-A + B, "-a + b"),
    (neg(-A), "-(-a)"),
    (A - (-B), "a - (-b)"),
    (A + (-B) * C, "a + (-b·c)"),
    (A + (-B + C) * A, "a + (-b + c)·a"),
    (A + -HALF * B, "a + (-1/2)·b"),
    (A * (-B), "a·(-b)"),
    (A / (-B), "a/(-b)"),
    (A - (B - C) * A, "a - (b - c)·a"),
    # Constants, and what must not look like one.
    (constant(-3), "-3"),
    (-constant(3), "-(3)"),
    (-constant(-3), "-(-3)"),
    (constant(HALF), "1/2"),
    (constant(1) / 2, "1/(2)"),
    (constant(-1) / 2, "-1/(2)"),
    (constant(-HALF), "-1/2"),
    (-constant(HALF), "-(1/2)"),
    (constant(HALF) / 3, "(1/2)/3"),
    (3 / constant(HALF), "3/(1/2)"),
    (constant(1) / 2 / 3, "1/(2)/3"),
    (A * HALF, "a·(1/2)"),
    (HALF * A, "(1/2)·a"),
    (-HALF * A, "(-1/2)·a"),
    (A * 3 / 4, "a·3/4"),
    (A + HALF, "a + 1/2"),
    (A - -HALF, "a - (-1/2)"),
    (A + -3, "a + (-3)"),
    (-3 * A, "-3·a"),
    (A + -3 * B, "a + (-3·b)"),
    (A * -3, "a·(-3)"),
    # Functions.
    (exp(A - B) / log(A), "exp(a - b)/log(a)"),
    (relu(A / B), "max(a/b, 0)"),
    (maximum(-A, HALF), "max(-a, 1/2)"),
    (dot(A, B) + 1, "dot(a, b) + 1"),
    (A**3, "a·a·a"),
    ((A / B) / (1 / B), "a/b/(1/b)"),
    (placed(lambda t: t.position - t.in_range(-2, 5)), "position - in_range(-2, 5)"),
    (placed(lambda t: t.a * t.bit(3)), "a·bit(3)"),
]


@pytest.mark.parametrize(("term", "text"), FORMULAS, ids=[text for _, text in FORMULAS])
def test_formulas_by_hand(term, text):
    assert formula(term) == text
    assert repr(term) == f"Term({text})"


LATEX = [
    (A / B, r"\frac{a}{b}"),
    ((A + B) / (B / C), r"\frac{a + b}{\frac{b}{c}}"),
    (A * (B / C), r"a \cdot \frac{b}{c}"),
    (A / B * C, r"\frac{a}{b} \cdot c"),
    (A * HALF, r"a \cdot \frac{1}{2}"),
    (HALF * A, r"\frac{1}{2} \cdot a"),
    (-HALF * A, r"-\frac{1}{2} \cdot a"),
    (A * -HALF, r"a \cdot \left(-\frac{1}{2}\right)"),
    (A - -HALF, r"a - \left(-\frac{1}{2}\right)"),
    (A - HALF, r"a - \frac{1}{2}"),
    (-(A / B), r"-\frac{a}{b}"),
    (A + (-B) / C, r"a + \frac{-b}{c}"),
    (A + (-B) * C, r"a + \left(-b \cdot c\right)"),
    (A - (B - C), r"a - \left(b - c\right)"),
    (A * (B + C), r"a \cdot \left(b + c\right)"),
    (-(A + B), r"-\left(a + b\right)"),
    (neg(-A), r"-\left(-a\right)"),
    (exp(A - B), r"\exp\left(a - b\right)"),
    (log(A) - 3, r"\ln\left(a\right) - 3"),
    (relu(A), r"\max\left(a, 0\right)"),
    (dot(A, B), r"\langle a, b \rangle"),
    (placed(lambda t: t.position * t.in_range(1, 4)), r"p \cdot [1 \le p < 4]"),
    (placed(lambda t: t.bit(2)), r"\mathrm{bit}_{2}(p)"),
]


@pytest.mark.parametrize(("term", "text"), LATEX, ids=[text for _, text in LATEX])
def test_latex_by_hand(term, text):
    assert latex(term) == text


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("A", "A"),
        ("a_ij", "a_{ij}"),
        ("a_i_j", "a_{i,j}"),
        ("q1", "q_{1}"),
        ("q12_j", "q_{12,j}"),
        ("real", r"\mathrm{real}"),
        ("in2", r"\mathrm{in}_{2}"),
        ("out_i", r"\mathrm{out}_{i}"),
        ("a_", "a"),
    ],
)
def test_latex_names(name, text):
    assert latex(column(name)) == text


# -- reading back ------------------------------------------------------------------------------

OPERATORS = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.Div: operator.truediv,
}
FUNCTIONS = {"exp": exp, "log": log, "max": maximum, "dot": dot}


def integer(node: ast.expr) -> int | None:
    """The value of a literal `3` or `-3`; `-(3)` is none."""
    match node:
        case ast.Constant(value=value):
            return value
        case ast.UnaryOp(operand=ast.Constant(value=value) as operand):
            return -value if operand.col_offset == node.col_offset + 1 else None
    return None


def read(node: ast.expr) -> Term:
    """The term that a formula, parsed by Python, stands for."""
    if (value := integer(node)) is not None:
        return constant(value)
    match node:
        case ast.Name(id=name):
            return column(name)
        case ast.UnaryOp(op=ast.USub(), operand=operand):
            return -read(operand)
        case ast.Call(func=ast.Name(id=name), args=args):
            return FUNCTIONS[name](*map(read, args))
        case ast.BinOp(left=left, op=ast.Div(), right=ast.Constant(value=denominator) as right) if (
            integer(left) is not None and right.col_offset == left.end_col_offset + len("/")
        ):
            return constant(Fraction(integer(left), denominator))
        case ast.BinOp(left=left, op=op, right=right):
            return OPERATORS[type(op)](read(left), read(right))
    raise AssertionError(ast.dump(node))


def read_back(text: str) -> Term:
    return read(ast.parse(text.replace("·", "*"), mode="eval").body)


LEAVES = st.sampled_from([A, B]) | st.builds(
    constant, st.fractions(-3, 3, max_denominator=3) | st.integers(-3, 3)
)
TERMS = st.recursive(
    LEAVES,
    lambda inner: st.one_of(
        *(st.builds(f, inner, inner) for f in (*OPERATORS.values(), maximum, dot)),
        *(st.builds(f, inner) for f in (neg, exp, log)),
    ),
    max_leaves=12,
)


@given(TERMS)
def test_a_formula_reads_back_to_the_term(term):
    assert read_back(formula(term)) is term


@given(TERMS)
def test_no_two_signs_meet(term):
    for text in (formula(term), latex(term)):
        assert not any(pair in text.replace(" ", "") for pair in ("--", "+-", "·-", "/-", "cdot-"))


# -- size --------------------------------------------------------------------------------------


def test_depth_is_no_limit_to_printing():
    left = right = A
    for _ in range(10_000):
        left, right = left / B, B - right
    assert formula(left) == "a" + "/b" * 10_000
    assert formula(right) == "b - (" * 9_999 + "b - a" + ")" * 9_999
    assert latex(left) == r"\frac{" * 10_000 + "a" + "}{b}" * 10_000


@pytest.mark.parametrize("write", [formula, latex])
def test_a_formula_too_long_to_read_is_refused(write):
    term = A
    for _ in range(60):
        term = term + term
    with pytest.raises(TermError, match="has 61 nodes and a formula of more than 1000000 char"):
        write(term)


def test_messages_about_a_long_formula_are_short():
    term = A
    for _ in range(60):
        term = term + term
    assert repr(term).endswith("…)")
    assert len(repr(term)) == len("Term()") + 200 + len("…")
