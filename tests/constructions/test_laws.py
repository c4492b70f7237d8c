"""Laws of the simulation, on drawn inputs in exact arithmetic."""

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from support import all_equal, contains, equals_dense

from symsim.arithmetic import UNDEFINED, arithmetic
from symsim.constructions import from_qkv, quadratic_calls
from symsim.constructions.b1_quadratic_calls import block_oracle
from symsim.model import Limits, Plan, beside, run, stack

EXACT, PL2 = arithmetic("exact"), arithmetic("exact:pl2")


@st.composite
def heads(draw, longest=9, widest=3):
    """(M, Q, K, V): small integer matrices and an oracle limit."""
    length, width = draw(st.integers(1, longest)), draw(st.integers(1, widest))
    rows = st.lists(
        st.lists(st.integers(-4, 4), min_size=width, max_size=width),
        min_size=length,
        max_size=length,
    )
    matrices = {
        name: EXACT.convert(np.array(draw(rows), dtype=object).reshape(length, width))
        for name in "QKV"
    }
    return draw(st.integers(2, 6)), matrices


def plan_for(matrices, tokens, **options):
    return quadratic_calls(from_qkv(*matrices["Q"].shape), tokens, **options)


@given(heads())
def test_simulation_is_dense_attention(head):
    tokens, matrices = head
    assert equals_dense(EXACT, plan_for(matrices, tokens), matrices) is True
    assert equals_dense(EXACT, plan_for(matrices, tokens, readout="printed"), matrices) is True


@given(heads(), st.randoms(use_true_random=False))
def test_permuting_queries_permutes_outputs(head, random):
    tokens, matrices = head
    order = list(range(len(matrices["Q"])))
    random.shuffle(order)
    plan = plan_for(matrices, tokens)
    permuted = run(plan, EXACT, {**matrices, "Q": matrices["Q"][order]})
    assert all_equal(EXACT, permuted, run(plan, EXACT, matrices)[order]) is True


@given(heads(), st.integers(2, 12))
def test_splitting_keys_differently_changes_nothing(head, other):
    tokens, matrices = head
    one, two = (run(plan_for(matrices, m), EXACT, matrices) for m in (tokens, other))
    assert all_equal(EXACT, one, two) is True


@given(heads(), st.integers(1, 3))
def test_padding_changes_nothing(head, padding):
    """Zero rows in a block call, between the real tokens and the synthetic one."""
    _, matrices = head
    length, width = matrices["Q"].shape
    states = []
    for extra in (0, padding):
        shape = from_qkv(length + extra, width)
        oracle = block_oracle(shape, length + extra, length, "dual", divides=False)
        plan = Plan(Limits.of_paper(tokens=length + extra + 1, dimension=width))
        zero = plan.zero(width)
        columns = []
        for name, column in (("Q", "q"), ("K", "k"), ("V", "v")):
            real = plan.input(name, length, width).named(column)
            columns.append(stack(real, *[zero.named(column)] * (extra + 1)))
        plan.finish(plan.call("block", "block", oracle, beside(*columns))[:length])
        states.append(run(plan, PL2, matrices))
    assert all_equal(PL2, *states) is True


@given(heads(longest=7), st.integers(0, 6))
def test_an_undefined_query_spoils_its_own_row_only(head, query):
    tokens, matrices = head
    length = len(matrices["Q"])
    assume(query < length)
    poisoned = matrices["Q"].copy()
    poisoned[query] = UNDEFINED
    plan = plan_for(matrices, tokens)
    clean = run(plan, EXACT, matrices)
    spoiled = run(plan, EXACT, {**matrices, "Q": poisoned})
    others = [i for i in range(length) if i != query]
    assert not EXACT.finite(spoiled[query]).any()
    if others:
        assert all_equal(EXACT, spoiled[others], clean[others]) is True


@given(heads())
def test_enclosures_contain_the_exact_value(head):
    tokens, matrices = head
    balls = arithmetic("ball:64:base2")
    exact = run(plan_for(matrices, tokens), EXACT, matrices)
    with balls.working():
        given_balls = {
            name: balls.convert(np.vectorize(EXACT.rational, otypes=[object])(matrix))
            for name, matrix in matrices.items()
        }
    for readout in ("dual", "printed", "anchored"):
        enclosed = run(plan_for(matrices, tokens, readout=readout), balls, given_balls)
        for y, t in zip(enclosed.ravel(), exact.ravel(), strict=True):
            assert not y.is_finite() or contains(y, EXACT.rational(t))
        if readout == "dual":
            assert balls.finite(enclosed).all()


@given(heads())
@pytest.mark.parametrize(
    "name",
    [
        "exact",
        "exact:pl2",
        "mp:80",
        "ball:64",
        "ball:64:base2",
        "float64",
        "float64:blas",
        "float32",
        "float32:blas",
        "float16",
        "bfloat16",
        "float8_e5m2",
        "p:9:-14:15",
    ],
)
def test_batched_equals_one_call_at_a_time(name, head):
    tokens, matrices = head
    numbers = arithmetic(name)
    plan = plan_for(matrices, tokens)
    values = {
        key: np.vectorize(EXACT.rational, otypes=[object])(matrix)
        for key, matrix in matrices.items()
    }
    with numbers.working():
        converted = {key: numbers.convert(matrix) for key, matrix in values.items()}
    batched = run(plan, numbers, converted)
    single = run(plan, numbers, converted, batched=False)
    if batched.dtype == object:
        assert [repr(y) for y in batched.ravel()] == [repr(y) for y in single.ravel()]
    else:
        assert batched.tobytes() == single.tobytes()
