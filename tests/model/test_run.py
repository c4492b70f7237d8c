"""Runs: what they refuse, and what batches, skipped rows and masks may not change."""

from __future__ import annotations

import re
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from symsim.arithmetic import UNDEFINED, NotRationalError, arithmetic
from symsim.constructions import from_qkv, quadratic_calls, quadratic_calls_as_printed
from symsim.model import (
    CAUSAL,
    FULL,
    Block,
    Head,
    Layer,
    Mask,
    Merge,
    ModelError,
    Parameter,
    Plan,
    RunError,
    Transformer,
    beside,
    run,
    stack,
)
from symsim.terms import log, trace

from .oracles import ROOMY, bits, converted, fractions, rationals, same, single_call

EXACT = arithmetic("exact")
MACHINES = ["float32", "float64", "float64:blas", "float32:blas", "float16", "bfloat16"]
ALL = [*MACHINES, "exact:pl2", "ball:128", "mp:60", "p:11:-14:15"]
STATED = [name for name in ALL if not name.endswith(":blas")]
either_way = pytest.mark.parametrize("batched", [True, False], ids=["batched", "one by one"])


def attending(mask: Mask = FULL, psi=None) -> Transformer:
    """q = k = x, of width 2; values v, of width 2."""
    block = same("x", 2)
    head = Head({"c": block}, {"c": block}, {"y": same("v", 2)})
    phi = trace(lambda token: {"x": token.x, "v": token.v}, {"x": 2, "v": 2})
    return Transformer(phi, (Layer((head,), trace(psi, {"y": 2}) if psi else None),), mask)


# -- refusals -----------------------------------------------------------------------------------


def weighted_plan() -> Plan:
    weight = Block("x", Parameter("W", (2, 1)))
    phi = trace(lambda token: {"x": token.x}, {"x": 2})
    return single_call(Transformer(phi, (Layer((Head({}, {}, {"y": weight}),)),)), 3)


X, W = np.ones((3, 2), dtype=np.int64), np.ones((2, 1), dtype=np.int64)


@pytest.mark.parametrize(
    ("inputs", "parameters", "message"),
    [
        ({}, {"W": W}, "input x: found nothing, expected object of shape (3, 2)"),
        ({"y": X}, {"W": W}, "input x: found nothing"),
        ({"x": X[:2]}, {"W": W}, "input x: found object of shape (2, 2), expected object of"),
        ({"x": X[:, 0]}, {"W": W}, "input x: found object of shape (3,), expected"),
        ({"x": X}, {}, "parameter W: found nothing, expected object of shape (2, 1)"),
        ({"x": X}, {"w": W}, "parameter W: found nothing"),
        ({"x": X}, {"W": W.T}, "parameter W: found object of shape (1, 2), expected object of"),
        ({"x": X}, {"W": X}, "parameter W: found object of shape (3, 2), expected object of"),
    ],
)
def test_missing_and_misshapen_numbers_are_refused(inputs, parameters, message):
    given_ = converted(EXACT, inputs), converted(EXACT, parameters)
    with pytest.raises(RunError, match=re.escape(message)):
        run(weighted_plan(), EXACT, *given_)


@pytest.mark.parametrize(
    ("name", "x", "message"),
    [
        ("exact", X, "input x: found int64 of shape (3, 2), expected object of shape (3, 2)"),
        ("exact", X / 2, "input x: found float64 of shape"),
        ("float32", X / 3, "input x: found float64 of shape (3, 2), expected float32 of shape"),
        ("float64", X.tolist(), "input x: found a list, expected float64 of shape (3, 2)"),
    ],
)
def test_numbers_of_another_arithmetic_are_refused(name, x, message):
    numbers = arithmetic(name)
    with pytest.raises(RunError, match=re.escape(message)):
        run(weighted_plan(), numbers, {"x": x}, converted(numbers, {"W": W}))


def test_a_parameter_of_another_arithmetic_is_refused():
    numbers = arithmetic("float32")
    message = "parameter W: found float64 of shape (2, 1), expected float32 of shape (2, 1)"
    with pytest.raises(RunError, match=re.escape(message)):
        run(weighted_plan(), numbers, converted(numbers, {"x": X}), {"W": W / 2})


def test_a_plan_without_a_result_is_refused():
    plan = Plan(ROOMY)
    given_ = converted(EXACT, {"x": [[1]]})
    plan.input("x", 1, 1)
    with pytest.raises(ModelError, match="a plan declares its result"):
        run(plan, EXACT, given_)


# -- batches ------------------------------------------------------------------------------------

ORACLES = [attending(), attending(CAUSAL), attending(FULL, lambda t: {"y": t.y / 2 + 1})]
CALLS = [(oracle, rows) for oracle in range(3) for rows in (2, 3)] * 2


def shuffled_plan(order: list[int]) -> Plan:
    """Twelve calls of round 1 recorded in `order`, their first rows averaged in round 2."""
    plan = Plan(ROOMY)
    x, v = plan.input("x", 36, 2), plan.input("v", 36, 2)
    outputs = {}
    for number in order:
        oracle, rows = CALLS[number]
        tokens = beside(x[3 * number :][:rows], v[3 * number :][:rows])
        outputs[number] = plan.call("block", f"call {number}", ORACLES[oracle], tokens)
    firsts = [outputs[number][:1] for number in range(12)]
    last = stack(*firsts[:6]).named("x"), stack(*firsts[6:]).named("v")
    second = plan.call("aggregation", "second", ORACLES[1], beside(*last))
    plan.finish(stack(second, *(outputs[number] for number in range(12))))
    return plan


@pytest.mark.parametrize("name", ALL)
@settings(max_examples=5)
@given(order=st.permutations(range(12)))
def test_results_do_not_depend_on_the_order_of_recording(name, order):
    numbers, random = arithmetic(name), np.random.default_rng(3)
    given_ = converted(numbers, {n: random.integers(-9, 10, (36, 2)) / 8 for n in ("x", "v")})
    first = run(shuffled_plan(list(range(12))), numbers, given_, batched=False)
    assert bits(run(shuffled_plan(order), numbers, given_)) == bits(first)


PLANS = {
    "repaired": lambda: quadratic_calls(from_qkv(7, 2), 3),
    "anchored": lambda: quadratic_calls(from_qkv(7, 2), 3, readout="anchored"),
    "printed": lambda: quadratic_calls_as_printed(from_qkv(6, 2), 3),
}


@pytest.mark.parametrize("name", ["float32", "float64", "float64:blas", "ball:128"])
@pytest.mark.parametrize("plan", PLANS)
def test_constructions_batched_equal_one_call_at_a_time_bit_for_bit(plan, name):
    plan, numbers, random = PLANS[plan](), arithmetic(name), np.random.default_rng(4)
    shape = (plan.inputs["Q"].rows, 2)
    given_ = converted(numbers, {n: random.integers(-9, 10, shape) / 8 for n in "QKV"})
    told: list[int] = []
    together = run(plan, numbers, given_, progress=told.append)
    apart = run(plan, numbers, given_, batched=False)
    assert bits(together) == bits(apart)
    assert max(told) > 1


@either_way
@pytest.mark.parametrize("plan", PLANS)
def test_progress_counts_every_step_once(plan, batched):
    plan, numbers = PLANS[plan](), arithmetic("exact:pl2")
    given_ = converted(numbers, {n: np.zeros((r.rows, 2), int) for n, r in plan.inputs.items()})
    told: list[int] = []
    run(plan, numbers, given_, batched=batched, progress=told.append)
    assert sum(told) == len(plan.steps)
    assert len(told) < len(plan.steps) if batched else set(told) == {1}


# -- rows that nobody reads -----------------------------------------------------------------------


def own_rows(psi) -> Transformer:
    """Each row reads itself alone; then ψ."""
    phi = trace(lambda token: {"x": token.x}, {"x": 1})
    return Transformer(
        phi, (Layer((Head({}, {}, {"x": same("x")}),), trace(psi, {"x": 1})),), Mask("window", 1)
    )


def rows_of(psi, rows: slice) -> Plan:
    plan = Plan(ROOMY)
    plan.finish(plan.call("block", "only", own_rows(psi), plan.input("x", 3, 1))[rows])
    return plan


def logarithms(token):
    return {"x": log(token.x)}


def inverses(token):
    return {"x": 1 / token.x}


@either_way
def test_a_row_that_nobody_reads_is_not_computed(batched):
    given_ = converted(EXACT, {"x": [[4], [0], [2]]})
    result = run(rows_of(logarithms, slice(None, None, 2)), EXACT, given_, batched=batched)
    assert rationals(EXACT, result) == [2, 1]
    with pytest.raises(NotRationalError):
        run(rows_of(logarithms, slice(None)), EXACT, given_, batched=batched)


@either_way
@pytest.mark.parametrize("name", ALL)
def test_a_row_that_nobody_reads_may_divide_by_zero(name, batched):
    numbers = arithmetic(name)
    given_ = converted(numbers, {"x": [[4], [0], [2]]})
    result = run(rows_of(inverses, slice(None, None, 2)), numbers, given_, batched=batched)
    assert rationals(numbers, result) == [Fraction(1, 4), Fraction(1, 2)]
    every = run(rows_of(inverses, slice(None)), numbers, given_, batched=batched)
    assert numbers.finite(every)[:, 0].tolist() == [True, False, True]


@pytest.mark.parametrize("name", ALL)
def test_calls_of_one_oracle_of_which_different_rows_are_read(name):
    plan, numbers, random = Plan(ROOMY), arithmetic(name), np.random.default_rng(10)
    x, v = plan.input("x", 12, 2), plan.input("v", 12, 2)
    oracle = attending()
    tokens = [beside(x[3 * c :][:3], v[3 * c :][:3]) for c in range(4)]
    outputs = [plan.call("block", f"{c}", oracle, t) for c, t in enumerate(tokens)]
    read = [outputs[0][:1], outputs[1][1:2], outputs[2][2:], outputs[3][::2]]
    plan.finish(stack(*read))
    given_ = converted(numbers, {n: random.integers(-8, 9, (12, 2)) / 8 for n in ("x", "v")})
    together = run(plan, numbers, given_)
    assert bits(together) == bits(run(plan, numbers, given_, batched=False))
    if name in STATED:
        halves = [{n: m[3 * c : 3 * c + 3] for n, m in given_.items()} for c in range(4)]
        alone = np.concatenate([run(single_call(oracle, 3), numbers, h) for h in halves])
        assert bits(together) == bits(alone[[0, 4, 8, 9, 11]])


def test_a_merge_that_nobody_reads_is_not_computed():
    merge = Merge(trace(lambda t: {"s": log(t.x)}, {"x": 1}), trace(lambda t: {"x": t.s}, {"s": 1}))
    plan = Plan(ROOMY)
    plan.waive("outside-merge")
    x = plan.input("x", 2, 1)
    plan.merge_outside("unread", merge, x)
    read = plan.merge_outside("read", merge, x[:1])
    plan.finish(read)
    result = run(plan, EXACT, converted(EXACT, {"x": [[8], [0]]}))
    assert rationals(EXACT, result) == [3]


@either_way
def test_undefined_absorbs_what_reads_it_and_nothing_else(batched):
    plan = Plan(ROOMY)
    x = plan.input("x", 3, 1)
    inverse = plan.call("block", "1/x", own_rows(inverses), x)
    causal = Transformer(
        trace(lambda t: {"x": t.x}, {"x": 1}), (Layer((Head({}, {}, {"y": same("x")}),)),), CAUSAL
    )
    plan.finish(plan.call("block", "mean", causal, inverse))
    result = run(plan, EXACT, converted(EXACT, {"x": [[4], [2], [0]]}), batched=batched)
    assert rationals(EXACT, result[:2]) == [Fraction(1, 4), Fraction(3, 8)]
    assert result[2, 0] is UNDEFINED


@either_way
def test_a_logit_that_a_mask_drops_need_not_be_an_integer(batched):
    """x_1 = (1, 0) and x_2 = (3/5, 4/5) have norm 1 and inner product 3/5."""
    given_ = converted(EXACT, {"x": fractions([[1, 0], ["3/5", "4/5"]]), "v": [[1, 2], [3, 4]]})
    plan = single_call(attending(Mask("window", 1)), 2)
    assert rationals(EXACT, run(plan, EXACT, given_, batched=batched)) == [1, 2, 3, 4]
    with pytest.raises(NotRationalError, match="3/5"):
        run(single_call(attending(), 2), EXACT, given_, batched=batched)


# -- entries that a mask drops --------------------------------------------------------------------

CAUSAL_ONLY = [CAUSAL, Mask("window", 2), Mask("sink", 1, 1)]


def four_calls(mask: Mask) -> Plan:
    plan = Plan(ROOMY)
    x, v = plan.input("x", 20, 2), plan.input("v", 20, 2)
    tokens = [beside(x[5 * c :][:5], v[5 * c :][:5]) for c in range(4)]
    oracle = attending(mask)
    plan.finish(stack(*(plan.call("block", f"{c}", oracle, t) for c, t in enumerate(tokens))))
    return plan


@either_way
@pytest.mark.parametrize("where", ["x", "v"], ids=["key", "value"])
@pytest.mark.parametrize("mask", CAUSAL_ONLY, ids=str)
@pytest.mark.parametrize("name", ALL)
def test_what_is_undefined_in_a_dropped_entry_does_not_spread(name, mask, where, batched):
    """Token 3 of call 1 has 0/0 in one column: rows that may not read it keep their bits."""
    numbers, random = arithmetic(name), np.random.default_rng(5)
    given_ = converted(numbers, {n: random.integers(1, 10, (20, 2)) / 8 for n in ("x", "v")})
    clean = run(four_calls(mask), numbers, given_, batched=batched)
    with numbers.working():
        zero = numbers.integers(np.zeros(1, dtype=np.int64))
        given_[where][8, :1] = numbers.div(zero, zero)
    assert not numbers.finite(given_[where])[8, 0]
    poisoned = run(four_calls(mask), numbers, given_, batched=batched)

    reads = {5 + i for i in range(5) if mask.allows(i, 3)}
    spared = [row for row in range(20) if row not in reads]
    assert len(spared) >= 18
    assert bits(poisoned[spared]) == bits(clean[spared])
    finite = numbers.finite(poisoned)
    columns = [0] if where == "v" else [0, 1]
    assert not finite[sorted(reads)][:, columns].any()
    if where == "v":
        assert bits(poisoned[:, 1:].copy()) == bits(clean[:, 1:].copy())
