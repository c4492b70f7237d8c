"""Token-wise programs: tracing, counting, evaluation."""

from __future__ import annotations

import copy
import pickle
import re
from fractions import Fraction
from operator import truediv

import numpy as np
import pytest
from hypothesis import given, reject
from hypothesis import strategies as st

from symsim.terms import (
    BranchingError,
    FloatConstantError,
    PositionError,
    TermError,
    Token,
    UnknownColumnError,
    WidthError,
    column,
    constant,
    dot,
    evaluate,
    exp,
    formula,
    log,
    maximum,
    relu,
    trace,
)


def exp_stand_in(x):
    """In place of exp, which leaves the rationals; unlike any other operation."""
    return 3 * x + 1


def log_stand_in(x):
    return x - 5


def entrywise(function, inputs):
    ufunc = np.frompyfunc(function, inputs, 1)
    return lambda self, *args: np.asarray(ufunc(*args), dtype=object)


class Fractions:
    """The operations on object arrays of Fractions."""

    def constant(self, value):
        return np.asarray(value, dtype=object)

    integers = entrywise(lambda x: Fraction(int(x)), 1)
    add = entrywise(lambda x, y: x + y, 2)
    sub = entrywise(lambda x, y: x - y, 2)
    mul = entrywise(lambda x, y: x * y, 2)
    div = entrywise(truediv, 2)
    neg = entrywise(lambda x: -x, 1)
    exp = entrywise(exp_stand_in, 1)
    log = entrywise(log_stand_in, 1)
    maximum = entrywise(max, 2)

    def dot(self, left, right):
        return (left * right).sum(axis=-1, keepdims=True)


def array(*values):
    return np.array(values, dtype=object)


def run(program, columns, tokens=None):
    values = evaluate(tuple(program.outputs.values()), columns, Fractions(), tokens)
    return {name: v.tolist() for name, v in zip(program.outputs, values, strict=True)}


# -- tracing -----------------------------------------------------------------------------------


def test_a_function_of_columns_becomes_terms():
    program = trace(lambda token: {"A": token.r / token["s"], "one": 1}, {"r": 3, "s": 1})
    assert dict(program.inputs) == {"r": 3, "s": 1}
    assert list(program.outputs) == ["A", "one"]
    assert program.outputs["A"] is column("r", 3) / column("s")
    assert program.outputs["one"] is constant(1)
    assert dict(program.columns) == {"A": 3, "one": 1}
    assert program.formulas() == ("A = r/s", "one = 1")
    assert program.latex() == (r"A = \frac{r}{s}", r"\mathrm{one} = 1")


def test_a_program_does_not_follow_its_dictionaries():
    columns, result = {"a": 1}, {}

    def function(token):
        result["x"] = token.a
        return result

    program = trace(function, columns)
    columns["b"] = 1
    result["y"] = column("a")
    assert list(program.inputs) == ["a"]
    assert list(program.outputs) == ["x"]


def test_programs_can_be_pickled_and_copied():
    program = trace(lambda token: {"x": token.a + token.bit(1)}, {"a": 1}, sees_position=True)
    for twin in (pickle.loads(pickle.dumps(program)), copy.deepcopy(program)):
        assert dict(twin.inputs) == {"a": 1}
        assert list(twin.outputs) == ["x"]
        assert twin.outputs["x"] is program.outputs["x"]


# Each function, the error it raises and words of the message.
REFUSED = {
    "branch": (lambda t: {"x": 1 if t.a > 0 else 0}, BranchingError, "cannot branch on data"),
    "float": (lambda t: {"x": 0.5 * t.a}, FloatConstantError, "0.5 of type float: expected an int"),
    "array": (lambda t: {"x": np.array([1, 2]) * t.a}, FloatConstantError, "of type ndarray"),
    "unknown": (lambda t: {"x": t.b}, UnknownColumnError, "'b' is not among .* columns: a, v, w"),
    "unknown item": (lambda t: {"x": t["a "]}, UnknownColumnError, "'a ' is not among"),
    "iteration": (list, UnknownColumnError, "column 0 is not among"),
    "own column": (lambda t: {"x": column("b")}, UnknownColumnError, r"Term\(b\), of width 1"),
    "own width": (lambda t: {"x": column("v", 4)}, UnknownColumnError, r"Term\(v\), of width 4"),
    "widths": (lambda t: {"x": t.v + t.w}, WidthError, r"Term\(v\) has 2 .*Term\(w\) has 3"),
    "position": (lambda t: {"x": t.position}, PositionError, r"Term\(position\): only the input"),
    "range": (lambda t: {"x": t.in_range(0, 2)}, PositionError, r"in_range\(0, 2\)\): only the in"),
    "bit": (lambda t: {"x": t.a * t.bit(3)}, PositionError, r"bit\(3\)\): only the input MLP"),
    "no mapping": (lambda t: t.a, TermError, r"returned Term\(a\): expected columns by name"),
    "nothing": (lambda t: None, TermError, "returned None: expected columns by name"),
    "empty": (lambda t: {}, TermError, "returned {}: expected columns by name"),
    "pairs": (lambda t: [("x", t.a)], TermError, "expected columns by name"),
    "no term": (lambda t: {"x": None}, FloatConstantError, "output 'x': constant None"),
    "list": (lambda t: {"x": [t.a]}, FloatConstantError, r"output 'x': constant \[Term\(a\)\]"),
    "bool": (lambda t: {"x": True}, FloatConstantError, "output 'x': constant True of type bool"),
    "output name": (lambda t: {"x y": t.a}, TermError, "column name 'x y': expected an identif"),
    "no name": (lambda t: {1: t.a}, TermError, "column name 1: expected an identifier"),
    "output bit": (lambda t: {"bit": t.a}, TermError, "column name 'bit'"),
    "float bound": (lambda t: {"x": t.in_range(0.5, 2)}, TermError, "in_range bound 0.5: expected"),
    "bool bound": (lambda t: {"x": t.in_range(0, True)}, TermError, "in_range bound True"),
    "data bound": (lambda t: {"x": t.in_range(0, t.a)}, TermError, r"in_range bound Term\(a\)"),
    "negative bit": (lambda t: {"x": t.bit(-1)}, TermError, "bit -1: .* of at least 0"),
    "data bit": (lambda t: {"x": t.bit(t.a)}, TermError, r"bit Term\(a\): expected a whole"),
}


@pytest.mark.parametrize(("function", "error", "message"), REFUSED.values(), ids=REFUSED)
def test_what_leaves_the_arithmetic_is_refused(function, error, message):
    with pytest.raises(error, match=message) as caught:
        trace(function, {"a": 1, "v": 2, "w": 3})
    assert caught.type is error


def test_a_position_from_another_token_is_no_way_round():
    kept = []

    def keeps(token: Token):
        kept.append(token.in_range(0, 1))
        return {"x": token.a}

    trace(keeps, {"a": 1}, sees_position=True)
    with pytest.raises(PositionError, match=r"in_range\(0, 1\)"):
        trace(lambda token: {"x": token.a + kept[0]}, {"a": 1})


@pytest.mark.parametrize("name", ["position", "in_range", "bit"])
def test_columns_must_not_hide_the_position(name):
    with pytest.raises(TermError, match=f"column name '{name}': bit, in_range, position"):
        trace(lambda token: {"x": token.a}, {"a": 1, name: 1}, sees_position=True)


@pytest.mark.parametrize("width", [0, -2, 1.0, True])
def test_columns_must_have_a_width(width):
    with pytest.raises(TermError, match="column 'v', width"):
        trace(lambda token: {"x": token.a}, {"a": 1, "v": width})


# -- counting ----------------------------------------------------------------------------------


def merge(token):
    """Two blocks of log-weights a, b and averages u, v, merged."""
    largest = maximum(token.a, token.b)
    first, second = exp(token.a - largest), exp(token.b - largest)
    total = first + second
    return {"s": log(total) + largest, "y": (first * token.u + second * token.v) / total}


# Each program, whether it sees the position, its operations and constants by hand.
COUNTED = {
    "columns are free": (lambda t: {"x": t.u, "y": t.a}, 0, []),
    "constants are free": (lambda t: {"x": 3}, 0, [3]),
    "one a column": (lambda t: {"x": t.u * t.a}, 3, []),
    "shared once": (lambda t: {"x": t.a * t.b, "y": t.a * t.b + 1}, 2, [1]),
    # max 1, differences 2, exp 2, total 1, log 1, + 1; products 3 + 3, sum 3, quotient 3
    "merge": (merge, 20, []),
    "inner product": (lambda t: {"x": dot(t.u, t.v)}, 5, []),
    "inner product of one": (lambda t: {"x": dot(t.a, t.b)}, 1, []),
    "negative": (lambda t: {"x": -t.u}, 3, []),
    "power": (lambda t: {"x": t.a**4}, 3, []),
    "relu": (lambda t: {"x": relu(t.a)}, 1, [0]),
    "position": (lambda t: {"x": t.position}, 1, []),
    "range": (lambda t: {"x": t.in_range(1, 3) * t.a}, 3, []),
    "bit": (lambda t: {"x": t.bit(0)}, 1, []),
    "constants once, in order": (
        lambda t: {"x": 2 * t.a + Fraction(1, 2), "y": 2 * t.b - 7 + t.bit(9)},
        6,
        [Fraction(1, 2), 2, 7],
    ),
}


@pytest.mark.parametrize(("function", "operations", "constants"), COUNTED.values(), ids=COUNTED)
def test_counts(function, operations, constants):
    program = trace(function, {"a": 1, "b": 1, "u": 3, "v": 3}, sees_position=True)
    assert program.operations == operations
    assert program.constants == tuple(constants)


def test_nodes_come_after_their_arguments_and_once():
    nodes = trace(merge, {"a": 1, "b": 1, "u": 3, "v": 3}).nodes
    place = {node: i for i, node in enumerate(nodes)}
    assert len(place) == len(nodes)
    assert all(place[arg] < place[node] for node in nodes for arg in node.args)


# -- evaluation --------------------------------------------------------------------------------


def test_widths_broadcast_over_tokens_and_batch():
    program = trace(
        lambda t: {"scaled": t.q * t.s, "norm": dot(t.q, t.q) - t.s, "two": 2}, {"q": 2, "s": 1}
    )
    q = array([[1, 2], [3, 4], [5, 6]], [[0, 1], [1, 0], [2, 2]])
    s = array([[10], [20], [30]], [[1], [2], [3]])
    assert run(program, {"q": q, "s": s}) == {
        "scaled": [[[10, 20], [60, 80], [150, 180]], [[0, 1], [2, 0], [6, 6]]],
        "norm": [[[-5], [5], [31]], [[0], [-1], [5]]],
        "two": 2,
    }


def test_inner_products_of_constants():
    program = trace(lambda t: {"x": dot(2, 3), "y": dot(2, t.a)}, {"a": 1})
    assert run(program, {"a": array([5], [7])}) == {"x": [6], "y": [[10], [14]]}


@pytest.mark.parametrize("n", range(1, 17))
def test_position_primitives_meet_their_definitions(n):
    ranges = [(lo, hi) for lo in range(-1, n + 2) for hi in range(-1, n + 2)]
    digits = range(6)
    program = trace(
        lambda t: (
            {"p": t.position}
            | {f"r{i}": t.in_range(*bounds) for i, bounds in enumerate(ranges)}
            | {f"b{k}": t.bit(k) for k in digits}
        ),
        {"a": 1},
        sees_position=True,
    )
    values = run(program, {}, tokens=n)
    assert values["p"] == [[p] for p in range(n)]
    for i, (lo, hi) in enumerate(ranges):
        assert values[f"r{i}"] == [[int(p in range(lo, hi))] for p in range(n)]
    for k in digits:
        assert values[f"b{k}"] == [[int(f"{p:06b}"[-1 - k])] for p in range(n)]


def test_positions_combine_with_columns():
    program = trace(
        lambda t: {"x": t.in_range(1, 3) * t.v + t.position}, {"v": 2}, sees_position=True
    )
    v = array([[1, 2], [3, 4], [5, 6], [7, 8]])
    assert run(program, {"v": v}, tokens=4) == {"x": [[[0, 0], [4, 5], [7, 8], [3, 3]]]}


def test_positions_need_the_number_of_tokens():
    program = trace(lambda t: {"x": t.bit(0)}, {"a": 1}, sees_position=True)
    with pytest.raises(TermError, match=r"Term\(bit\(0\)\): evaluation needs the number of tokens"):
        run(program, {"a": array([1])})


def test_depth_is_no_limit_to_evaluation():
    depth = 10_000
    term = column("a")
    for _ in range(depth):
        term = 1 + term
    program = trace(lambda t: {"x": term}, {"a": 1})
    assert program.operations == depth
    assert program.constants == (1,)
    assert run(program, {"a": array([5])}) == {"x": [[depth + 5]]}


def test_shared_subterms_are_evaluated_once():
    term = column("a")
    for _ in range(60):
        term = term + term
    program = trace(lambda t: {"x": term}, {"a": 1})
    assert program.operations == 60
    assert run(program, {"a": array([3])}) == {"x": [[3 * 2**60]]}


# -- random expressions, as Python source that runs on terms and on Fractions alike ------------

LEAVES = st.sampled_from(["a", "b", "c"]) | st.builds(
    "number({}, {})".format, st.integers(-3, 3), st.integers(1, 3)
)
BINARY = st.sampled_from(["({} + {})", "({} - {})", "({} * {})", "({} / {})", "max({}, {})"])
UNARY = st.sampled_from(["(-{})", "exp({})", "log({})", "({})**2"])
SOURCES = st.recursive(
    LEAVES,
    lambda inner: st.builds(str.format, BINARY, inner, inner) | st.builds(str.format, UNARY, inner),
    max_leaves=15,
)
RATIONALS = st.fractions(-4, 4, max_denominator=4)
ON_TERMS = {"exp": exp, "log": log, "max": maximum, "number": lambda p, q: constant(Fraction(p, q))}
ON_FRACTIONS = {"exp": exp_stand_in, "log": log_stand_in, "max": max, "number": Fraction}


@given(SOURCES, st.fixed_dictionaries(dict.fromkeys("abc", RATIONALS)))
def test_evaluation_and_formula_agree_with_python(source, values):
    try:
        expected = eval(source, ON_FRACTIONS | values)
    except ZeroDivisionError:
        reject()
    term = eval(source, ON_TERMS | {name: column(name) for name in "abc"})
    columns = {name: array([value]) for name, value in values.items()}
    (value,) = evaluate([term], columns, Fractions())
    assert value.item() == expected

    text = re.sub(r"\d+", r"number(\g<0>)", formula(term)).replace("·", "*")
    assert eval(text, ON_FRACTIONS | values) == expected
