"""Plans: arrangements, the rules of the model broken one by one, ledgers against hand counts."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from enum import Enum
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from symsim.arithmetic import Arithmetic, arithmetic
from symsim.constructions import from_qkv, quadratic_calls, quadratic_calls_as_printed
from symsim.model import (
    CAUSAL,
    FULL,
    ArrangementError,
    Block,
    Call,
    Head,
    Layer,
    Limits,
    Mask,
    Merge,
    ModelError,
    Parameter,
    Plan,
    Transformer,
    beside,
    describe,
    explain,
    run,
    stack,
)
from symsim.terms import trace

from .oracles import ROOMY, converted, fractions, rationals, same

EXACT = arithmetic("exact")


def limits(**changed: int) -> Limits:
    """Tight limits: 3 tokens, 4 columns, 6 constants, 2 MLP operations, one head, one layer."""
    tight = {"tokens": 3, "embedding": 4, "constants": 6, "operations": 2}
    return Limits(**(tight | changed))


def averaging(width: int = 1, *, mask: Mask = FULL, of: str = "x", to: str = "x") -> Transformer:
    """Each row of the output is the mean of the rows that the mask lets it read."""
    head = Head({}, {}, {to: same(of, width)})
    return Transformer(trace(lambda token: {of: token[of]}, {of: width}), (Layer((head,)),), mask)


def copying(width: int = 1, **names: str) -> Transformer:
    """Each row reads itself alone."""
    return averaging(width, mask=Mask("window", 1), **names)


def recorded(rows: int, columns: int) -> tuple[Plan, Any]:
    plan = Plan(ROOMY)
    return plan, plan.input("x", rows, columns)


def result(plan: Plan, output: Any, **inputs: Any) -> list[list[Fraction]]:
    plan.finish(output)
    numbers = run(plan, EXACT, converted(EXACT, inputs))
    flat = rationals(EXACT, numbers)
    return fractions(flat).reshape(numbers.shape).tolist()


# -- arrangements -----------------------------------------------------------------------------

TABLE = np.arange(10).reshape(5, 2)


@given(st.slices(5))
def test_slices_take_the_rows_that_numpy_takes(rows):
    plan, x = recorded(5, 2)
    expected = TABLE[rows]
    assert x[rows].rows == len(expected)
    if len(expected):
        assert result(plan, x[rows], x=TABLE) == expected.tolist()


@given(st.slices(5))
def test_slices_of_a_calls_output_take_the_same_rows(rows):
    plan, x = recorded(5, 2)
    output = plan.call("block", "copy", copying(2), x)
    if len(TABLE[rows]):
        assert result(plan, output[rows], x=TABLE) == TABLE[rows].tolist()


def test_slices_compose():
    plan, x = recorded(5, 2)
    assert result(plan, x[::-1][1:][::2], x=TABLE) == TABLE[[3, 1]].tolist()


def test_stack_and_beside_concatenate():
    plan = Plan(ROOMY)
    a, b = plan.input("a", 2, 1), plan.input("b", 2, 2)
    table = beside(stack(a, a[::-1]), stack(b[1:], plan.zero(2).named("b"), b))
    arranged = result(plan, table, a=[[1], [2]], b=[[3, 4], [5, 6]])
    assert arranged == [[1, 5, 6], [2, 0, 0], [2, 3, 4], [1, 5, 6]]


def test_stack_finds_columns_by_name():
    plan = Plan(ROOMY)
    a, b = plan.input("a", 1, 1), plan.input("b", 1, 1)
    assert result(plan, stack(beside(a, b), beside(b, a)), a=[[1]], b=[[2]]) == [[1, 2], [1, 2]]


def test_select_reorders_and_named_renames():
    plan = Plan(ROOMY)
    table = beside(plan.input("a", 1, 1), plan.input("b", 1, 2))
    swapped = table.select("b", "a").named("u", "w")
    assert dict(swapped.columns) == {"u": 2, "w": 1}
    assert result(plan, swapped, a=[[1]], b=[[2, 3]]) == [[2, 3, 1]]


def test_rows_of_two_calls_in_one_register():
    plan, x = recorded(4, 1)
    y = plan.call("block", "first", copying(), x)
    z = plan.call("block", "second", averaging(), y[1:3])
    assert result(plan, stack(z[:1], y[::-1]), x=[[1], [2], [4], [8]]) == [[3], [8], [4], [2], [1]]


@pytest.mark.parametrize(
    ("arrange", "message"),
    [
        (lambda a, b: beside(a, b[1:]), "beside: 1 rows, expected 2"),
        (lambda a, b: beside(a, b, a), "beside: the columns ['a'] occur twice"),
        (stack, "stack: columns {'b': 2}, expected {'a': 1}"),
        (lambda a, b: stack(a, b.named("a")), "stack: columns {'a': 2}, expected {'a': 1}"),
        (lambda a, b: a.named("x", "y"), "2 names for 1 column groups"),
        (lambda a, b: beside(a, b).named("x", "x"), "the column names ['x', 'x'] repeat"),
        (lambda a, b: a.select("q"), "columns ['q'], the register has ['a']"),
        (lambda a, b: a.select("a", "a"), "the column names ['a', 'a'] repeat"),
        (lambda a, b: beside(a, Plan(ROOMY).input("c", 2, 1)), "registers of different plans"),
        (lambda a, b: stack(a, Plan(ROOMY).input("a", 2, 1)), "registers of different plans"),
        (lambda a, b: stack(), "no register, expected at least one"),
    ],
)
def test_registers_that_do_not_fit_are_refused(arrange, message):
    plan = Plan(ROOMY)
    with pytest.raises(ArrangementError, match=re.escape(message)):
        arrange(plan.input("a", 2, 1), plan.input("b", 2, 2))


def test_addresses_cannot_be_changed_after_recording():
    plan, x = recorded(2, 1)
    output = plan.call("block", "copy", copying(), x)
    for register in (x, output, x[::-1], stack(x, output)):
        for field in register.fields.values():
            with pytest.raises(ValueError, match="read-only"):
                field.addresses[0] = 1


# -- rules ------------------------------------------------------------------------------------


def two_heads() -> Transformer:
    heads = (Head({}, {}, {"y": same("x")}), Head({}, {}, {"z": same("w")}))
    return Transformer(trace(lambda t: {"x": t.x, "w": t.x}, {"x": 1}), (Layer(heads),))


def two_layers() -> Transformer:
    layers = (Layer((Head({}, {}, {"y": same("x")}),)), Layer((Head({}, {}, {"y": same("y")}),)))
    return Transformer(trace(lambda t: {"x": t.x}, {"x": 1}), layers)


def multiplying(width: int) -> Transformer:
    """`width` multiplications a token."""
    head = Head({}, {}, {"y": same("x", width)})
    return Transformer(trace(lambda t: {"x": 2 * t.x}, {"x": width}), (Layer((head,)),))


SUM = Merge(
    trace(lambda t: {"s": t.x}, {"x": 1}),
    trace(lambda t: {"x": t.s}, {"s": 1}),
)


def call(oracle: Transformer, rows: int, columns: int = 1, **changed: int) -> Callable[[], Any]:
    def record(plan: Plan) -> None:
        plan.call("block", "the call", oracle, plan.input("x", rows, columns))

    return lambda: record(Plan(limits(**changed)))


def waived(name: str, step: Callable[[Plan], Any], **changed: int) -> Callable[[], Any]:
    def record() -> Any:
        plan = Plan(limits(**changed))
        plan.waive(name)
        return step(plan)

    return record


def no_tokens() -> None:
    plan = Plan(limits())
    plan.call("block", "the call", averaging(), plan.input("x", 2, 1)[2:])


def zero_rows() -> None:
    plan = Plan(limits())
    plan.zero(4)
    plan.zero(3)


def merge_without_waiver() -> None:
    plan = Plan(limits())
    plan.merge_outside("the merge", SUM, plan.input("x", 2, 1))


def merge_of_merges(plan: Plan) -> None:
    plan.merge_outside("the merge", SUM, plan.merge_outside("first", SUM, plan.input("x", 2, 1)))


def merge_of_a_merge_and_a_later_call(plan: Plan) -> None:
    x = plan.input("x", 2, 1)
    merged = plan.merge_outside("first", SUM, x)
    later = plan.call("block", "later", copying(), merged)
    plan.merge_outside("the merge", SUM, stack(merged, later))


def merge_of_other_columns(plan: Plan) -> None:
    plan.merge_outside("the merge", SUM, plan.input("y", 2, 1))


def merge_that_does_not_fit(plan: Plan) -> None:
    merge = Merge(SUM.per_row, trace(lambda t: {"x": t.q}, {"q": 1}))
    plan.merge_outside("the merge", merge, plan.input("x", 2, 1))


def merge_of_nothing(plan: Plan) -> None:
    plan.merge_outside("the merge", SUM, plan.input("x", 2, 1)[2:])


def input_twice() -> None:
    plan = Plan(limits())
    plan.input("x", 2, 1)
    plan.input("x", 3, 1)


def elsewhere() -> Any:
    return Plan(limits()).input("x", 2, 1)


def finished() -> tuple[Plan, Any]:
    plan, x = recorded(2, 1)
    plan.finish(x)
    return plan, x


def call_after_the_result() -> None:
    plan, x = finished()
    plan.call("block", "the call", averaging(), x)


def second_result() -> None:
    plan, x = finished()
    plan.finish(x[:1])


CHAIN = "merges outside are not chained: found a merge of merges, allowed none"
BROKEN = {
    "tokens": (call(averaging(), 4), "the call: tokens of a call: found 4, allowed 1 to 3"),
    "no tokens": (no_tokens, "the call: tokens of a call: found 0, allowed 1 to 3"),
    "tokens with waiver": (
        waived("tokens+1", lambda p: p.call("block", "the call", averaging(), p.input("x", 5, 1))),
        "the call: tokens of a call: found 5, allowed 1 to 4",
    ),
    "embedding": (call(averaging(5), 2, 5), "the call: oracle embedding: found 5, allowed 4"),
    "heads": (call(two_heads(), 2), "the call: oracle heads: found 2, allowed 1"),
    "layers": (call(two_layers(), 2), "the call: oracle layers: found 2, allowed 1"),
    "MLP operations": (
        call(multiplying(3), 2, 3),
        "the call: MLP operations for a token: found 3, allowed 2",
    ),
    "constants": (zero_rows, "zero row: O(d²) padded constants: found 7, allowed 6"),
    "column names": (
        call(averaging(of="q"), 2),
        "the call: columns of a call: found {'x': 1}, allowed {'q': 1}",
    ),
    "column widths": (
        call(averaging(2), 2, 1),
        "the call: columns of a call: found {'x': 1}, allowed {'x': 2}",
    ),
    "outside arithmetic": (
        merge_without_waiver,
        "the merge: outside the oracle only padding and arranging: found arithmetic, allowed none",
    ),
    "merge of merges": (waived("outside-merge", merge_of_merges), f"the merge: {CHAIN}"),
    "merge of a merge, among later rows": (
        waived("outside-merge", merge_of_a_merge_and_a_later_call),
        f"the merge: {CHAIN}",
    ),
    "merge of other columns": (
        waived("outside-merge", merge_of_other_columns),
        "the merge: columns of a merge outside: found {'y': 1}, allowed {'x': 1}",
    ),
    "merge that does not fit": (
        waived("outside-merge", merge_that_does_not_fit),
        "the merge: columns of a merge outside: found {'s': 1}, allowed {'q': 1}",
    ),
    "merge of nothing": (
        waived("outside-merge", merge_of_nothing),
        "the merge: rows of a merge outside: found 0, allowed at least 1",
    ),
    "unknown waiver": (
        lambda: Plan(limits()).waive("free lunch"),
        "waiver: known waivers: found 'free lunch', allowed tokens+1, outside-merge",
    ),
    "input twice": (input_twice, "x: an input is given once"),
    "input without rows": (
        lambda: Plan(limits()).input("x", 0, 1),
        "x: stored matrices have rows and columns: found 0 rows, allowed 1",
    ),
    "input that gives storage back": (
        lambda: Plan(limits()).input("x", -1, 1),
        "x: stored matrices have rows and columns: found -1 rows, allowed 1",
    ),
    "zero row that gives constants back": (
        lambda: Plan(limits()).zero(-1),
        "zero row: stored matrices have rows and columns: found -1 columns, allowed 1",
    ),
    "call after the result": (
        call_after_the_result,
        "the call: a finished plan takes no step: found one more step, allowed none",
    ),
    "second result": (second_result, "result: a finished plan takes no step"),
    "call on another plan's rows": (
        lambda: Plan(limits()).call("block", "the call", averaging(), elsewhere()),
        "the call: matrices stored in this plan: found another plan's, allowed its own",
    ),
    "merge of another plan's rows": (
        waived("outside-merge", lambda p: p.merge_outside("the merge", SUM, elsewhere())),
        "the merge: matrices stored in this plan",
    ),
    "another plan's result": (
        lambda: Plan(limits()).finish(elsewhere()),
        "result: matrices stored in this plan",
    ),
    "no result": (lambda: Plan(limits()).output, "plan: a plan declares its result"),
    "M of 1": (lambda: limits(tokens=1), "limits: the oracle takes M tokens: found 1"),
}  # fmt: skip


@pytest.mark.parametrize("rule", BROKEN)
def test_a_broken_rule_is_named_with_its_step_and_numbers(rule):
    step, message = BROKEN[rule]
    with pytest.raises(ModelError, match=re.escape(message)):
        step()


ALLOWED = {
    "tokens": call(averaging(), 3),
    "tokens with waiver": waived(
        "tokens+1", lambda p: p.call("block", "call", averaging(), p.input("x", 4, 1))
    ),
    "embedding": call(averaging(4), 2, 4),
    "heads": call(two_heads(), 2, heads=2),
    "layers": call(two_layers(), 2, layers=2),
    "MLP operations": call(multiplying(2), 2, 2),
    "constants": lambda: Plan(limits()).zero(6),
    "merge": waived(
        "outside-merge", lambda p: p.merge_outside("merge", SUM, p.input("x", 9, 1))
    ),
}  # fmt: skip


@pytest.mark.parametrize("rule", ALLOWED)
def test_what_just_meets_a_rule_is_allowed(rule):
    ALLOWED[rule]()


def test_the_error_carries_its_parts():
    with pytest.raises(ModelError) as caught:
        call(averaging(), 4)()
    error = caught.value
    parts = (error.rule, error.step, error.found, error.allowed)
    assert parts == ("tokens of a call", "the call", 4, "1 to 3")


def test_a_refused_call_leaves_the_ledger_alone():
    plan = Plan(limits())
    x = plan.input("x", 4, 1)
    with pytest.raises(ModelError):
        plan.call("block", "too long", averaging(), x)
    assert (plan.steps, plan.ledger.total_calls, plan.ledger.rounds) == ([], 0, 0)


def test_the_papers_limits_are_the_stated_multiples():
    paper = Limits.of_paper(tokens=5, dimension=3, heads=2, layers=4)
    assert paper == Limits(tokens=5, embedding=24, constants=36, operations=256, heads=2, layers=4)


# -- ledger -----------------------------------------------------------------------------------


def test_ledger_of_a_small_plan():
    plan = Plan(ROOMY)
    x, w = plan.input("x", 4, 2), Parameter("W", (2, 3))
    wide = Transformer(
        # 2 operations a token, one constant; 6 + 2 entries of matrices; 5 columns
        trace(lambda t: {"x": 2 * t.x, "u": t.x, "one": 1}, {"x": 2}),
        (Layer((Head({}, {}, {"p": same("u", 2), "q": Block("x", w)}),)),),
    )
    first = plan.call("block", "first", wide, x[:3])  # 3 tokens
    second = plan.call("block", "second", wide, x[2:])  # 2 tokens
    both = stack(first[:1], second[:1]).select("p").named("x")
    last = plan.call("aggregation", "last", averaging(2), beside(both))
    plan.finish(last[:1])
    ledger = plan.ledger
    assert dict(ledger.calls) == {"block": 2, "aggregation": 1}
    assert ledger.total_calls == 3
    assert ledger.rounds == 2
    assert ledger.max_tokens == 3
    assert ledger.max_embedding == 5
    assert ledger.parameters == 2 + 6 + 2  # two nonzero blocks and the constants 1 and 2
    assert ledger.mlp_operations == (3 + 2) * 2
    assert ledger.constants_padded == 0
    assert ledger.rows == 3 + 2 + 2
    assert ledger.rows_read == 1 + 1 + 1
    assert ledger.waivers == {}


def test_rounds_are_the_longest_chain_of_rows_and_not_of_registers():
    plan, x = recorded(2, 1)
    early = plan.call("block", "round 1", copying(), x)
    late = plan.call("block", "round 2", copying(), early)
    mixed = stack(x, early, late)  # rows of rounds 0, 0, 1, 1, 2, 2
    expected = [(mixed[4:], 3), (mixed[2:4], 2), (mixed[:4], 2), (mixed[::-4], 3), (mixed[:2], 1)]
    for number, (rows, _) in enumerate(expected):
        plan.call("block", f"mixed {number}", averaging(), rows)
    assert [step.round for step in plan.calls] == [1, 2, *(round_ for _, round_ in expected)]
    assert plan.ledger.rounds == 3


def test_rounds_count_every_column_group():
    plan, x = recorded(2, 1)
    early = plan.call("block", "round 1", copying(to="y"), x)
    oracle = Transformer(
        trace(lambda t: {"x": t.x + t.y}, {"x": 1, "y": 1}),
        (Layer((Head({}, {}, {"z": same("x")}),)),),
    )
    plan.call("block", "round 2", oracle, beside(x, early))
    assert plan.ledger.rounds == 2


def test_a_merge_outside_separates_rounds():
    plan, x = recorded(2, 1)
    plan.waive("outside-merge")
    first = plan.call("block", "round 1", copying(), x)
    merged = plan.merge_outside("after round 1", SUM, first)
    second = plan.call("block", "round 2", copying(), merged)
    plan.merge_outside("after round 2", SUM, second)
    plan.call("block", "round 1 again", copying(), x)
    assert [step.round for step in plan.calls] == [1, 2, 1]
    assert plan.ledger.rounds == 2
    assert dict(plan.ledger.calls) == {"block": 3}
    assert set(plan.ledger.waivers) == {"outside-merge"}


def test_a_zero_row_is_counted_once_however_often_it_is_used():
    plan = Plan(limits())
    rows = [plan.zero(2).named("x") for _ in range(3)]
    plan.call("block", "zeros", averaging(2), stack(*rows))
    plan.call("block", "again", averaging(2), stack(plan.zero(2), plan.zero(2)).named("x"))
    assert plan.ledger.constants_padded == 2
    plan.zero(3)
    assert plan.ledger.constants_padded == 5


def test_rows_read_are_those_that_a_step_or_the_result_reads():
    plan, x = recorded(4, 1)
    y = plan.call("block", "first", averaging(), x)
    unread = plan.call("block", "second", averaging(), y[1:3])
    plan.finish(y[3:])
    assert plan.rows_read(plan.steps[0]).tolist() == [False, True, True, True]
    assert plan.rows_read(plan.steps[1]).tolist() == [False, False]
    assert unread.rows == 2
    assert (plan.ledger.rows, plan.ledger.rows_read) == (6, 3)


def recount(plan: Plan) -> dict[str, Any]:
    """The ledger counted again, from who wrote each row that a step reads."""
    writers = {
        (field.width, int(address)): step
        for step in plan.steps
        for field in step.output.fields.values()
        for address in field.addresses
    }

    def read_by(step: Any) -> Iterator[Any]:
        for field in step.input.fields.values():
            for address in field.addresses:
                if (field.width, int(address)) in writers:
                    yield writers[field.width, int(address)]

    depth: dict[int, int] = {}
    for step in plan.steps:  # a step reads only what was recorded before it
        before = max((depth[id(other)] for other in read_by(step)), default=0)
        depth[id(step)] = before + isinstance(step, Call)
    calls = [step for step in plan.steps if isinstance(step, Call)]
    return {
        "total_calls": len(calls),
        "rounds": max(depth.values()),
        "max_tokens": max(call.input.rows for call in calls),
        "max_embedding": max(call.oracle.embedding for call in calls),
        "mlp_operations": sum(call.input.rows * call.oracle.operations for call in calls),
        "rows": sum(call.output.rows for call in calls),
    }


PLANS = {
    "repaired, ragged": lambda: quadratic_calls(from_qkv(7, 2), 3),
    "repaired, tree": lambda: quadratic_calls(from_qkv(5, 1), 2),
    "repaired, anchored": lambda: quadratic_calls(from_qkv(6, 2), 3, readout="anchored"),
    "printed": lambda: quadratic_calls_as_printed(from_qkv(4, 2), 2),
}


@pytest.mark.parametrize("name", PLANS)
def test_ledgers_of_constructions_agree_with_a_second_count(name):
    plan = PLANS[name]()
    again = recount(plan)
    assert {field: getattr(plan.ledger, field) for field in again} == again


# -- no numbers -------------------------------------------------------------------------------


def reachable(root: object) -> Iterator[object]:
    """Every object that the attributes and entries of `root` lead to."""
    seen: set[int] = set()
    left = [root]
    while left:
        thing = left.pop()
        if id(thing) in seen:
            continue
        seen.add(id(thing))
        yield thing
        if isinstance(thing, dict) or hasattr(thing, "items"):
            left.extend(value for pair in thing.items() for value in pair)
        elif isinstance(thing, (list, tuple, set, frozenset)):
            left.extend(thing)
        elif not isinstance(thing, (str, int, Fraction, np.ndarray, Enum, type)):
            slots = [s for kind in type(thing).__mro__ for s in getattr(kind, "__slots__", ())]
            names = {*slots, *getattr(thing, "__dict__", {})} - {"__weakref__"}
            left.extend(getattr(thing, name) for name in names)


@pytest.mark.parametrize("name", PLANS)
def test_a_plan_holds_addresses_and_counts_and_no_numbers(name):
    held = list(reachable(PLANS[name]()))
    assert sum(isinstance(thing, Call) for thing in held) > 3
    for thing in held:
        assert not isinstance(thing, (float, complex, Arithmetic, np.generic))
        if isinstance(thing, np.ndarray):
            assert thing.dtype in (np.int64, np.bool_)


def test_recording_touches_no_arithmetic(monkeypatch):
    def forbidden(*_: object) -> None:
        raise AssertionError("a plan asked an arithmetic")

    kinds = [Arithmetic]
    for kind in kinds:
        kinds.extend(kind.__subclasses__())
        for name, member in vars(kind).items():
            if callable(member) and not name.startswith("__"):
                monkeypatch.setattr(kind, name, forbidden)
    assert len(kinds) > 5
    plan = quadratic_calls(from_qkv(7, 2), 3)
    assert plan.ledger.total_calls == 16 + 7 * 2
    assert len(list(describe(plan))) == 30


# -- describe and explain -----------------------------------------------------------------------


def test_describe_says_where_rows_come_from():
    plan = Plan(ROOMY)
    plan.waive("outside-merge")
    q = plan.input("Q", 4, 1).named("x")
    padded = stack(q[:2], plan.zero(1).named("x"), plan.zero(1).named("x"))
    y = plan.call("block", "block (0, 0)", copying(), padded)
    z = plan.call("block", "block (0, 1)", copying(), stack(q[2:], plan.zero(1).named("x")))
    plan.call("aggregation", "query 0", averaging(), stack(y[::2], z[1:2], q[::-1]))
    plan.merge_outside("block 0", SUM, z[:2])
    assert list(describe(plan)) == [
        "round 1  block (0, 0)  4 tokens  [x: Q[0:2], zero ×2] → x",
        "round 1  block (0, 1)  3 tokens  [x: Q[2:4], zero] → x",
        "round 2  query 0  7 tokens  [x: block (0, 0)[0,2], block (0, 1)[1:2], Q[3,2,1,0]] → x",
        "outside  block 0  2 tokens  [x: block (0, 1)[0:2]] → x",
    ]


@pytest.mark.parametrize("name", PLANS)
def test_describe_gives_one_line_a_step(name):
    plan = PLANS[name]()
    lines = list(describe(plan))
    assert len(lines) == len(plan.steps)
    for line, step in zip(lines, plan.steps, strict=True):
        assert step.label in line
        assert "\n" not in line


def tiny(mask: Mask = FULL) -> Plan:
    """q = φ(x) = x, k = u, v = 2u + position, ψ(y) = 3y; the result is row 0 of two."""
    oracle = Transformer(
        trace(
            lambda t: {"q": t.x, "k": t.u, "v": 2 * t.u + t.position},
            {"x": 1, "u": 1},
            sees_position=True,
        ),
        (
            Layer(
                (Head({"c": same("q")}, {"c": same("k")}, {"y": same("v")}),),
                trace(lambda t: {"Y": 3 * t.y}, {"y": 1}),
            ),
        ),
        mask,
    )
    plan = Plan(ROOMY)
    rows = beside(plan.input("x", 2, 1), plan.input("u", 2, 1))
    plan.finish(plan.call("block", "tiny", oracle, rows)[:1])
    return plan


def shown(plan: Plan, numbers: Arithmetic, **inputs: Any) -> Any:
    (step,) = explain(plan, numbers, converted(numbers, inputs), {})
    return step


@pytest.mark.parametrize(
    ("mask", "weights", "output"),
    # logits 1·1 = 1 and 1·2 = 2, weights 2 and 4; values 2·1 + 0 = 2 and 2·2 + 1 = 5
    [
        (FULL, [Fraction(1, 3), Fraction(2, 3)], Fraction(12)),
        (CAUSAL, [Fraction(1), Fraction(0)], Fraction(6)),
    ],
    ids=str,
)
def test_explain_shows_the_numbers_of_a_hand_computation(mask, weights, output):
    step = shown(tiny(mask), EXACT, x=[[1], [7]], u=[[1], [2]])
    assert {n: rationals(EXACT, c) for n, c in step.tokens.items()} == {"x": [1, 7], "u": [1, 2]}
    phi = {n: rationals(EXACT, c) for n, c in step.after_phi.items()}
    assert phi == {"q": [1, 7], "k": [1, 2], "v": [2, 5]}
    (head,) = step.heads
    assert rationals(EXACT, head.logits) == [1, 2]
    assert rationals(EXACT, head.weights) == weights
    assert step.rows.tolist() == [0]
    assert {n: rationals(EXACT, c) for n, c in step.output.items()} == {"Y": [output]}


def test_explain_shows_finite_weights_where_the_run_is_finite():
    numbers = arithmetic("float32")
    step = shown(tiny(), numbers, x=[[1000.0], [0.0]], u=[[2.0], [3.0]])
    assert step.heads[0].logits.tolist() == [[2000, 3000]]
    np.testing.assert_array_equal(step.heads[0].weights, [[0, 1]])
    assert step.output["Y"].tolist() == [[21]]  # 3·(2·3 + 1)


def test_explain_shows_a_head_without_queries():
    plan, x = recorded(2, 1)
    plan.finish(plan.call("block", "mean", averaging(), x))
    (step,) = explain(plan, EXACT, converted(EXACT, {"x": [[1], [3]]}), {})
    assert rationals(EXACT, step.heads[0].logits) == [0] * 4
    assert rationals(EXACT, step.heads[0].weights) == [Fraction(1, 2)] * 4


def test_explain_follows_rounds_and_within_one_the_order_of_recording():
    plan, x = recorded(2, 1)
    plan.waive("outside-merge")
    a = plan.call("block", "a", copying(), x)
    b = plan.call("aggregation", "b", copying(), a)
    c = plan.call("block", "c", averaging(), x)
    d = plan.call("block", "d", copying(), x[::-1])
    e = plan.merge_outside("e", SUM, d)
    plan.finish(stack(b, c, e))
    steps = list(explain(plan, EXACT, converted(EXACT, {"x": [[1], [2]]}), {}))
    assert [step.step.label for step in steps] == ["a", "c", "d", "e", "b"]
    merge = steps[3]
    assert {n: rationals(EXACT, v) for n, v in merge.after_phi.items()} == {"s": [2, 1]}
    assert rationals(EXACT, merge.output["x"]) == [3]
