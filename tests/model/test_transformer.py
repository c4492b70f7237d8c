"""Transformers: the paper's column split, counts, and runs against plain loops."""

from __future__ import annotations

import re
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from symsim.arithmetic import arithmetic
from symsim.model import (
    CAUSAL,
    FULL,
    Block,
    Head,
    Layer,
    Mask,
    Ones,
    Parameter,
    Plan,
    Transformer,
    TransformerError,
    beside,
    dense_transformer,
    run,
    stack,
)
from symsim.terms import PositionError, Program, Token, trace

from .oracles import (
    ROOMY,
    Case,
    bits,
    converted,
    encloses,
    fractions,
    piecewise_linear,
    plain_transformer,
    power_of_two,
    rationals,
    same,
    single_call,
)

# -- what does not fit ----------------------------------------------------------------------------


def passing(**columns: int) -> Program:
    return trace(lambda token: {name: token[name] for name in columns}, columns)


def reads(source: str, width: int = 1, *, to: str = "y") -> Head:
    """A head with queries, keys and values that are one column group."""
    block = same(source, width)
    return Head({"c": block}, {"c": block}, {to: block})


def layer(*heads: Head, mlp: Program | None = None) -> Layer:
    return Layer(heads, mlp)


A, B = reads("a", to="ya"), reads("b", to="yb")
FINE = layer(A, B)


@pytest.mark.parametrize(
    ("columns", "layers", "message"),
    [
        pytest.param({"a": 1}, (), "a transformer has 0 layers", id="no layer"),
        pytest.param({"a": 1}, (layer(),), "layer 1: 1 columns cannot be cut into 0", id="no head"),
        pytest.param(
            {"a": 1, "b": 2}, (FINE,), "layer 1: 3 columns cannot be cut into 2", id="odd columns"
        ),
        pytest.param(
            {"a": 1, "b": 3}, (FINE,), "layer 1: a named column crosses the cuts at [0, 2, 4]",
            id="column crosses a cut",
        ),
        pytest.param(
            {"a": 1, "b": 1}, (layer(A, A),),
            "layer 1, head 2: reads the column 'a', its group holds ['b']", id="other head's group",
        ),
        pytest.param(
            {"a": 1, "b": 1}, (layer(B, A),),
            "layer 1, head 1: reads the column 'b', its group holds ['a']", id="order",
        ),
        pytest.param(
            {"a": 1, "b": 1}, (FINE, layer(reads("ya"), reads("a"))),
            "layer 2, head 2: reads the column 'a', its group holds ['yb']", id="second layer",
        ),
        pytest.param(
            {"a": 2}, (layer(reads("a", 1)),),
            "layer 1, head 1: a has 1 rows, 'a' has 2 columns", id="identity too small",
        ),
        pytest.param(
            {"a": 2}, (layer(Head({}, {}, {"y": Block("a", Ones(2))})),),
            "layer 1, head 1: a·ones(1×2) has 1 rows, 'a' has 2 columns", id="ones on two columns",
        ),
        pytest.param(
            {"a": 2}, (layer(Head({}, {}, {"y": Block("a", Parameter("W", (3, 1)))})),),
            "layer 1, head 1: a·W(3×1) has 3 rows, 'a' has 2 columns", id="parameter rows",
        ),
        pytest.param(
            {"a": 1, "b": 1}, (layer(Head({"c": same("a")}, {"d": same("b")}, {"y": same("a")})),),
            "layer 1, head 1: queries have coordinates {'c': 1}, keys {'d': 1}", id="coordinates",
        ),
        pytest.param(
            {"a": 1, "b": 2},
            (layer(Head({"c": same("a")}, {"c": same("b", 2)}, {"y": same("a")})),),
            "queries have coordinates {'c': 1}, keys {'c': 2}", id="coordinate widths",
        ),
        pytest.param(
            {"a": 1, "b": 1},
            (layer(Head(*2 * ({"c": Block("a", Ones(3))},), {"y": same("a")})),),
            "layer 1, head 1: 3 query and 1 value columns, its group has 2", id="too many queries",
        ),
        pytest.param(
            {"a": 1, "b": 1}, (layer(Head({}, {}, {"y": Block("a", Ones(3))})),),
            "layer 1, head 1: 0 query and 3 value columns, its group has 2", id="too many values",
        ),
        pytest.param(
            {"a": 1, "b": 1},
            (layer(A, Head({}, {}, {"y": same("b"), "z": same("b")})),),
            "layer 1, head 2: 0 query and 2 value columns, its group has 1", id="values of head 2",
        ),
        pytest.param(
            {"a": 1, "b": 1}, (layer(reads("a"), reads("b")),),
            "layer 1: two heads write the columns ['y']", id="same output",
        ),
        pytest.param(
            {"a": 1}, (layer(reads("a"), mlp=passing(a=1)),),
            "layer 1: the MLP reads {'a': 1}, the heads return {'y': 1}", id="MLP reads φ's column",
        ),
        pytest.param(
            {"a": 1}, (layer(reads("a"), mlp=passing(y=2)),),
            "layer 1: the MLP reads {'y': 2}, the heads return {'y': 1}", id="MLP width",
        ),
        pytest.param(
            {"a": 1, "b": 1}, (layer(A, B, mlp=passing(ya=1)),),
            "layer 1: the MLP reads {'ya': 1}, the heads return {'ya': 1, 'yb': 1}",
            id="MLP reads some",
        ),
    ],
)  # fmt: skip
def test_parts_that_do_not_fit_are_refused_with_their_place(columns, layers, message):
    with pytest.raises(TransformerError, match=re.escape(message)):
        Transformer(passing(**columns), layers)


@pytest.mark.parametrize(
    ("columns", "head", "message"),
    [
        ({"a": 1}, reads("a", to="y"), "layer 1, head 1: adds 1 columns to 'y', its group holds"),
        (
            {"a": 1, "b": 2},
            Head({}, {}, {"a": same("b", 2)}),
            "layer 1, head 1: adds 2 columns to 'a', its group holds {'a': 1, 'b': 2}",
        ),
    ],
)
def test_a_residual_head_adds_to_a_column_of_its_group(columns, head, message):
    with pytest.raises(TransformerError, match=re.escape(message)):
        Transformer(passing(**columns), (layer(head),), residual=True)


def test_a_residual_head_may_not_add_to_another_heads_group():
    with pytest.raises(TransformerError, match="layer 1, head 1: adds 1 columns to 'b'"):
        Transformer(passing(a=1, b=1), (layer(reads("a", to="b"), reads("b")),), residual=True)


POSITIONAL = {
    "position": lambda token: {"y": token.y + token.position},
    "in_range": lambda token: {"y": token.y * token.in_range(0, 1)},
    "bit": lambda token: {"y": token.y - token.bit(0)},
}


@pytest.mark.parametrize("number", [1, 2])
@pytest.mark.parametrize("primitive", POSITIONAL)
def test_a_layer_mlp_that_sees_the_position_is_refused(primitive, number):
    sees = trace(POSITIONAL[primitive], {"y": 1}, sees_position=True)
    layers = [layer(reads("a")), layer(reads("y"))]
    layers[number - 1] = Layer(layers[number - 1].heads, sees)
    message = rf"layer {number}: the MLP reads .*{primitive}.*, only the input MLP sees"
    with pytest.raises(TransformerError, match=message):
        Transformer(passing(a=1), tuple(layers))


def test_a_position_carried_over_from_the_input_mlp_is_refused():
    smuggled = []

    def phi(token: Token):
        smuggled.append(token.position)
        return {"y": token.y + token.position}

    trace(phi, {"y": 1}, sees_position=True)
    with pytest.raises(PositionError):
        trace(lambda token: {"y": token.y + smuggled[0]}, {"y": 1})


# -- counts ---------------------------------------------------------------------------------------

COUNTED = [
    pytest.param(
        Transformer(passing(a=2), (layer(reads("a", 2)),)),
        {"embedding": 2, "parameters": 3 * 2, "operations": 0, "heads": 1, "outputs": {"y": 2}},
        id="identity matrices",
    ),
    pytest.param(
        # φ: two multiplications by 3, one in_range of 2 comparisons; the constant 3.
        Transformer(
            trace(
                lambda t: {"a": 3 * t.a, "one": t.in_range(0, 2)}, {"a": 2, "unused": 4},
                sees_position=True,
            ),
            (layer(Head({}, {}, {"y": same("a", 2), "s": Block("one", Ones(1))})),),
        ),
        {"embedding": 6, "parameters": 2 + 1 + 1, "operations": 4, "outputs": {"y": 2, "s": 1}},
        id="input columns count, unused ones too",
    ),
    pytest.param(
        # ψ: one division and one subtraction; the constant 1 of both is one node.
        Transformer(
            passing(a=2),
            (
                layer(
                    Head({}, {}, {"y": Block("a", Parameter("W", (2, 1)))}),
                    mlp=trace(lambda t: {"u": 1 / t.y, "v": 1 - t.y, "c": t.y, "d": t.y}, {"y": 1}),
                ),
                layer(reads("d")),
            ),
        ),
        {"embedding": 4, "parameters": 2 + 3 + 1, "operations": 2, "outputs": {"y": 1}},
        id="a layer MLP widens the token",
    ),
    pytest.param(
        Transformer(passing(a=1, b=1), (layer(A, B), layer(reads("ya"), reads("yb", to="z")))),
        {"embedding": 2, "parameters": 12, "operations": 0, "heads": 2},
        id="two layers of two heads",
    ),
    pytest.param(
        Transformer(passing(a=1, b=3), (layer(reads("b", 3, to="b")),), residual=True),
        {"embedding": 4, "parameters": 9, "outputs": {"a": 1, "b": 3}},
        id="residual keeps the other columns",
    ),
]  # fmt: skip


@pytest.mark.parametrize(("oracle", "counts"), COUNTED)
def test_counts(oracle, counts):
    for name, count in counts.items():
        assert getattr(oracle, name) == count, name


# -- numbers --------------------------------------------------------------------------------------

MASKS = [FULL, CAUSAL, Mask("window", 2), Mask("sink", 1, 1)]
AB = {"a": 2, "b": 2}
KEYS_BY_K = Block("b", Parameter("K", (2, 2)))


def plain(token):
    return {"a": token.a, "b": token.b}


def flags(token):
    return {
        "a": token.a + token.bit(0),
        "b": 2 * token.b,
        "one": 1 + token.in_range(1, 3),
        "two": token.position - 1,
    }


def own(source: str, width: int, **value: Block) -> Head:
    """A head whose queries and keys are one column group."""
    return Head({"c": same(source, width)}, {"c": same(source, width)}, value)


ONE_HEAD = Head({"c": same("a", 2)}, {"c": same("b", 2)}, {"y": same("b", 2)})
TWO_HEADS = (
    own("a", 2, ya=same("a", 2)),
    Head({"c": same("b", 2)}, {"c": KEYS_BY_K}, {"yb": same("b", 2)}),
)
FLAGGED = Head(
    {"c": same("a", 2), "e": same("one")},
    {"c": same("b", 2), "e": same("two")},
    {"y": same("b", 2), "s": Block("one", Ones(2))},
)
ONES = Head({"c": Block("one", Ones(2))}, {"c": same("b", 2)}, {"s": Block("two", Ones(3))})
CASES = {
    "one head": Case(AB, plain, (((ONE_HEAD,), None, {}),)),
    "no query": Case(AB, plain, (((Head({}, {}, {"y": same("a", 2)}),), None, {}),)),
    "ones and a quotient": Case(
        AB, flags, (((FLAGGED,), lambda t: {"Y": t.y / t.s, "s": t.s}, {"y": 2, "s": 2}),)
    ),
    "ones everywhere": Case(AB, flags, (((ONES,), None, {}),)),
    "two heads": Case(AB, plain, ((TWO_HEADS, None, {}),), parameters={"K": (2, 2)}),
    "residual": Case(AB, plain, (((own("a", 2, b=same("a", 2)),), None, {}),), residual=True),
    "residual, two layers": Case(
        AB,
        plain,
        (
            (
                (own("a", 2, a=same("a", 2)), own("b", 2, b=KEYS_BY_K)),
                lambda t: {"a": t.b, "b": t.a * t.b},
                AB,
            ),
            ((own("a", 2, b=same("b", 2)),), None, {}),
        ),
        residual=True,
        parameters={"K": (2, 2)},
        exact=False,
    ),
    "three layers": Case(
        AB,
        flags,
        (
            ((own("a", 2, u=same("b", 2)),), lambda t: {"p": t.u, "q": 1 - t.u}, {"u": 2}),
            (
                (own("p", 2, p=same("p", 2)), own("q", 2, q=same("q", 2))),
                lambda t: {"w": t.p * t.q},
                {"p": 2, "q": 2},
            ),
            ((own("w", 2, y=same("w", 2)),), lambda t: {"Y": t.y / 3}, {"y": 2}),
        ),
        exact=False,
    ),
}
ALL_CASES = {
    f"{name}, {mask}": replace(case, mask=mask) for mask in MASKS for name, case in CASES.items()
}
EXACT_CASES = {name: case for name, case in ALL_CASES.items() if case.exact}
small = st.integers(-2, 2)


@st.composite
def drawn(draw, case: Case):
    """Columns and parameters of small integers for 1 to 5 tokens."""
    tokens = draw(st.integers(1, 5))

    def matrix(rows: int, columns: int):
        flat = draw(st.lists(small, min_size=rows * columns, max_size=rows * columns))
        return fractions(flat).reshape(rows, columns)

    columns = {name: matrix(tokens, width) for name, width in case.columns.items()}
    return tokens, columns, {name: matrix(*shape) for name, shape in case.parameters.items()}


WEIGHTS = {"exact": power_of_two, "exact:pl2": piecewise_linear}


@pytest.mark.parametrize(
    ("name", "case"),
    [("exact:pl2", case) for case in ALL_CASES] + [("exact", case) for case in EXACT_CASES],
)
@settings(max_examples=8)
@given(data=st.data())
def test_a_call_equals_plain_loops_and_the_dense_reference(name, case, data):
    case = ALL_CASES[case]
    tokens, columns, parameters = data.draw(drawn(case))
    oracle, numbers = case.transformer(), arithmetic(name)
    expected = plain_transformer(case, columns, parameters, WEIGHTS[name])
    given_, weights = converted(numbers, columns), converted(numbers, parameters)

    result = run(single_call(oracle, tokens), numbers, given_, weights)
    assert rationals(numbers, result) == np.concatenate(list(expected.values()), 1).ravel().tolist()

    reference = dense_transformer(numbers, oracle, given_, weights)
    assert list(reference) == list(expected) == list(oracle.outputs)
    for column, values in expected.items():
        assert rationals(numbers, reference[column]) == values.ravel().tolist()


@pytest.mark.parametrize("case", EXACT_CASES.values(), ids=EXACT_CASES)
def test_a_ball_run_to_base_2_encloses_the_exact_result(case):
    random = np.random.default_rng(1)
    columns = {n: fractions(random.integers(-2, 3, (4, w))) for n, w in case.columns.items()}
    parameters = {n: fractions(random.integers(-2, 3, s)) for n, s in case.parameters.items()}
    expected = plain_transformer(case, columns, parameters, power_of_two)
    numbers = arithmetic("ball:128:base2")
    plan = single_call(case.transformer(), 4)
    result = run(plan, numbers, converted(numbers, columns), converted(numbers, parameters))
    values = np.concatenate(list(expected.values()), axis=1)
    for ball, value in zip(result.ravel(), values.ravel(), strict=True):
        assert encloses(ball, value)
        assert ball.rad() < 2**-100


@pytest.mark.parametrize("rows", [np.s_[1:3], np.s_[3:], np.s_[::-2]], ids=str)
@pytest.mark.parametrize("name", ["exact:pl2", "float32", "float64"])
@pytest.mark.parametrize("case", ALL_CASES.values(), ids=ALL_CASES)
def test_reading_some_rows_gives_those_of_all(name, case, rows):
    numbers, oracle, random = arithmetic(name), case.transformer(), np.random.default_rng(9)
    given_ = {n: random.integers(-8, 9, (4, w)) / 8 for n, w in case.columns.items()}
    weights = {n: random.integers(-2, 3, s) for n, s in case.parameters.items()}
    arrays = converted(numbers, given_), converted(numbers, weights)
    whole = run(single_call(oracle, 4), numbers, *arrays)
    some = run(single_call(oracle, 4, rows), numbers, *arrays)
    assert bits(some) == bits(whole[rows])


NAMES = [
    "exact:pl2", "ball:128", "mp:60", "p:11:-14:15",
    "float32", "float64", "float64:blas", "float32:blas", "float16", "bfloat16",
]  # fmt: skip


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("case", ALL_CASES.values(), ids=ALL_CASES)
def test_batched_equals_one_call_at_a_time_bit_for_bit(name, case):
    """Five calls of one oracle on different rows, which the batched run puts together."""
    numbers, oracle, random = arithmetic(name), case.transformer(), np.random.default_rng(2)
    plan = Plan(ROOMY)
    outputs = []
    for call in range(5):
        inputs = [plan.input(f"{n}{call}", 4, w).named(n) for n, w in case.columns.items()]
        outputs.append(plan.call("block", f"call {call}", oracle, beside(*inputs)))
    plan.finish(stack(*outputs))
    given_ = {name: random.integers(-16, 17, (4, 2)) / 8 for name in plan.inputs}
    weights = {n: random.integers(-2, 3, s) for n, s in case.parameters.items()}
    arrays = converted(numbers, given_), converted(numbers, weights)
    batches: list[int] = []
    together = run(plan, numbers, *arrays, progress=batches.append)
    apart = run(plan, numbers, *arrays, batched=False)
    assert batches == [5]
    assert bits(together) == bits(apart)
