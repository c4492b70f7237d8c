"""What goes wrong in practice: public reports, each with what must happen here.

The numbers are those of the project's list of reports (merging and masks 1-20, windows and
sinks 21-25, constructions 27-29, our own tools 32-47). A gate declares a value, a refusal with
its message, or that the question stays undecided, and where its right value comes from.

Left until what they are about is built:

    1  identity of the merge of (value, log-sum-exp) pairs: no such merge yet
    2  key chunks in which some query rows read no key: masked constructions come later
    3  log-sum-exp of an empty block is -inf and never +inf: no log-sum-exp type yet
    5  base of a log-sum-exp at a merge: no log-sum-exp type yet
    6  converting the base of a log-sum-exp twice: no log-sum-exp type yet
    8  sigmoid form of the same merge with two empty states: no such merge yet
    29  a construction for the full mask used under another: constructions take no mask yet
    47  logsumexp of negative weights, of nothing and of infinities: no logsumexp yet
"""

from __future__ import annotations

import ast
import re
import threading
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from decimal import Decimal, localcontext
from fractions import Fraction
from pathlib import Path
from typing import Any

import flint
import gmpy2
import mpmath
import numpy as np
import pytest

import symsim
from symsim.arithmetic import ConversionError, NotRationalError, arithmetic
from symsim.constructions import from_qkv, quadratic_calls, sum_of_tokens
from symsim.constructions.head_input import blocks
from symsim.model import CAUSAL, FULL, Limits, Mask, Plan, dense_attention, run
from symsim.terms import FloatConstantError, trace

ITEMS = {
    *(1, 2, 3, 5, 6, 8, 10, 11, 12, 14, 15, 16, 17, 19, 20),
    *(21, 22, 23, 25, 27, 28, 29, *range(32, 43), 45, 47),
}


@dataclass(frozen=True)
class Value:
    """`got()` must equal `right`, which comes from `source`."""

    items: tuple[int, ...]
    says: str
    got: Callable[[], object]
    right: object
    source: str


@dataclass(frozen=True)
class Refusal:
    """`attempt()` must raise `error` with `message` in its text, as `source` demands."""

    items: tuple[int, ...]
    says: str
    attempt: Callable[[], object]
    error: type[Exception]
    message: str
    source: str


@dataclass(frozen=True)
class Undecided:
    """`got()` must be None: neither yes nor no."""

    items: tuple[int, ...]
    says: str
    got: Callable[[], object]
    source: str


# -- helpers ----------------------------------------------------------------------------------


def dense(name: str, q: Any, k: Any, v: Any, mask: Mask = FULL, **options: Any) -> list[Fraction]:
    """Dense attention as exact rationals, column by column of width 1."""
    numbers = arithmetic(name)
    with numbers.working():
        given = [numbers.convert(np.array(m, dtype=object).reshape(-1, 1)) for m in (q, k, v)]
        result = dense_attention(numbers, *given, mask, **options)
        return [numbers.rational(value) for value in result.ravel()]


def sinks_once(name: str) -> list[Fraction]:
    """Window 3 and 2 sinks, all logits 0: means over the keys {1}, {1,2}, ..., {1,...,5}, ..."""
    return dense(name, [0] * 6, [0] * 6, [1, 2, 4, 8, 16, 32], Mask("sink", 3, 2))


def with_undefined(name: str, where: int) -> list[bool]:
    """2 causal tokens, 0/0 in the key (1) or value (2) of the second: which rows are finite."""
    numbers = arithmetic(name)
    with numbers.working():
        given = [numbers.convert(np.array([[1], [2]], dtype=object)) for _ in range(3)]
        zero = numbers.integers(np.zeros(1, dtype=np.int64))
        given[where][1] = numbers.div(zero, zero)
        result = numbers.attention(*(m[None] for m in given), CAUSAL.matrix(2))[0]
        return [bool(flag) for flag in numbers.finite(result).ravel()]


def no_key(name: str) -> object:
    numbers = arithmetic(name)
    with numbers.working():
        one = numbers.integers(np.ones((1, 2, 1), dtype=np.int64))
        return numbers.attention(one, one, one, np.array([[True, False], [False, False]]))


def near(values: list[Fraction], right: list[int], bits: int) -> bool:
    return all(abs(a - b) < Fraction(1, 2**bits) for a, b in zip(values, right, strict=True))


def far_apart(name: str, sign: int) -> bool:
    """One key of logit ±192, then two keys of logits 0 and ±192."""
    one = dense(name, [sign], [192], [7])
    two = dense(name, [sign * 16] * 2, [0, 12], [1, 2])
    larger = 2 if sign > 0 else 1
    return near(one + two, [7, larger, larger], 40)


def block_masks(length: int, size: int, mask: Mask) -> np.ndarray:
    """The mask put together from pairs of blocks, by absolute index."""
    parts = [range(start, min(start + size, length)) for start in range(0, length, size)]
    pairs = [[np.array([[mask.allows(i, j) for j in u] for i in t]) for u in parts] for t in parts]
    return np.block(pairs)


def paper_masks(length: int) -> Iterator[tuple[Mask, np.ndarray]]:
    """Every mask of this length with the paper's definition of it, indices from 1."""
    ones = range(1, length + 1)
    yield CAUSAL, np.array([[not j > i for j in ones] for i in ones])
    for r in range(1, 11):
        window = [[not (j > i or j <= i - r) for j in ones] for i in ones]
        yield Mask("window", r), np.array(window)
        for s in range(4):
            sink = [[not (j > i or s < j <= i - r) for j in ones] for i in ones]
            yield Mask("sink", r, s), np.array(sink)


def partitions(length: int, size: int) -> bool:
    """Whether the blocks cover each index exactly once and none is empty or too long."""
    parts = [range(length)[block] for block in blocks(length, size)]
    covered = [index for part in parts for index in part]
    return covered == list(range(length)) and all(0 < len(part) <= size for part in parts)


def count_tokens(name: str, tokens: int) -> list[Fraction]:
    """Lemma A.2 on a column of ones: the number of tokens, in every row."""
    numbers, plan = arithmetic(name), Plan(Limits.of_paper(tokens=tokens, dimension=1))
    x = plan.input("x", tokens, 1)
    plan.finish(plan.call("aggregation", "count", sum_of_tokens(tokens, {"x": 1}), x))
    with numbers.working():
        ones = numbers.integers(np.ones((tokens, 1), dtype=np.int64))
    return [numbers.rational(value) for value in run(plan, numbers, {"x": ones}).ravel()]


def simulated(name: str) -> list[Fraction]:
    """Repaired B.1 on q = (0, 1, 2), k = (1, 0, 1), v = (1, 2, 4), two tokens a call."""
    numbers, plan = arithmetic(name), quadratic_calls(from_qkv(3, 1), 2)
    with numbers.working():
        q, k, v = (
            numbers.integers(np.array(m)[:, None]) for m in ([0, 1, 2], [1, 0, 1], [1, 2, 4])
        )
    result = run(plan, numbers, {"Q": q, "K": k, "V": v})
    return [numbers.rational(value) for value in result.ravel()]


# weights 2^⟨q, k⟩: (1, 1, 1), (2, 1, 2), (4, 1, 4)
BY_HAND = [Fraction(7, 3), Fraction(12, 5), Fraction(22, 9)]


def ball_exp_encloses(numerator: int, shift: int, bits: int) -> bool:
    numbers = arithmetic(f"ball:{bits}")
    with numbers.working():
        ball = numbers.exp(numbers.convert(np.array([Fraction(numerator, 2**shift)])))[0]
    with mpmath.workprec(4 * bits):
        true = mpmath.exp(mpmath.mpf(numerator) / mpmath.mpf(2) ** shift)
        middle, radius = (as_fraction(part) for part in (ball.mid(), ball.rad()))
        return abs(Fraction(*mpmath.libmp.to_rational(true._mpf_)) - middle) < radius


def as_fraction(exact: flint.arb) -> Fraction:
    mantissa, exponent = exact.man_exp()
    return Fraction(int(mantissa)) * Fraction(2) ** int(exponent)


def ball_of(value: object) -> flint.arb:
    numbers = arithmetic("ball:53")
    with numbers.working():
        return numbers.convert(np.array([value], dtype=object))[0]


def contains(ball: flint.arb, value: Fraction) -> bool:
    return abs(as_fraction(ball.mid()) - value) <= as_fraction(ball.rad())


def larger_of_overlapping() -> tuple[bool, ...]:
    """max of a ball [0, 1] and 1/2 holds every value from 1/2 to 1."""
    unit = flint.arb(0.5, 0.5)
    larger = arithmetic("ball:53").maximum(np.array([unit]), np.array([flint.arb(0.5)]))[0]
    return tuple(contains(larger, Fraction(n, 4)) for n in (2, 3, 4))


def weight_of_last_key() -> bool:
    """Logits 0, 1, -50, 3, 4, 5: the weight of the last one, against decimal arithmetic."""
    logits = [0, 1, -50, 3, 4, 5]
    numbers = arithmetic("ball:128")
    (ball,) = _row(numbers, logits)
    with localcontext(prec=60):
        weights = [Decimal(x).exp() for x in logits]
        right = Fraction(weights[-1] / sum(weights))
    slack = Fraction(1, 10**50)
    return abs(as_fraction(ball.mid()) - right) <= as_fraction(ball.rad()) + slack


def _row(numbers: Any, logits: list[int]) -> Any:
    with numbers.working():
        key = numbers.integers(np.array(logits)[:, None])
        value = numbers.integers(np.array([0] * (len(logits) - 1) + [1])[:, None])
        one = numbers.integers(np.ones((1, 1), dtype=np.int64))
        return numbers.attention(one[None], key[None], value[None], None).ravel()


# -- gates ------------------------------------------------------------------------------------

EVERY = [
    *("exact", "exact:pl2", "mp:60", "ball:128", "p:11:-14:15"),
    *("float64", "float64:blas", "float32", "float32:blas", "float16", "bfloat16"),
]
MACHINES = [name for name in EVERY if name.startswith(("float", "bfloat", "p:"))]
EXACT = ["exact", "exact:pl2"]

GATES: list[Value | Refusal | Undecided] = [
    *(
        Value((10,), f"a sink inside the window counts once, {name}", lambda n=name: sinks_once(n),
              [Fraction(a, b) for a, b in [(1, 1), (3, 2), (7, 3), (15, 4), (31, 5), (59, 5)]],
              "means by hand: row 6 reads the keys 1, 2, 4, 5, 6")
        for name in EXACT
    ),
    Value((11,), "blocks are disjoint and covering",
          lambda: [(n, m) for n in range(1, 40) for m in range(1, 12) if not partitions(n, m)],
          [], "definition of a partition, N < 40, M < 12"),
    Value((12,), "masks of block pairs make the whole mask",
          lambda: [
              (n, size, str(mask)) for n in range(1, 9) for size in range(1, 5)
              for mask, right in paper_masks(n) if (block_masks(n, size, mask) != right).any()
          ], [], "Definitions 2.3-2.5, N < 9, blocks up to 4"),
    Value((12,), "two devices, causal: (0, 1) is skipped, (1, 0) unmasked, diagonals masked",
          lambda: [
              [block.sum() for block in np.hsplit(rows, 2)]
              for rows in np.vsplit(CAUSAL.matrix(4).astype(int), 2)
          ], [[3, 0], [4, 3]], "counted by hand"),
    Value((14, 15), "each row of each mask reads its own key",
          lambda: [str(m) for n in range(1, 11) for m, _ in paper_masks(n)
                   if not m.matrix(n).diagonal().all()],
          [], "Definitions 2.3-2.5 keep j = i"),
    *(
        Refusal((14, 15), f"a row that reads no key is no row of zeros or of means, {name}",
                lambda n=name: no_key(n), ValueError, "row 1 may read no key",
                "softmax over no key is not defined")
        for name in (
            "float64", "float32", "float16", "float64:blas", "ball:64", "exact", "exact:pl2",
            "symbolic", "mp:64", "p:11",
        )
    ),
    *(
        Value((16,), f"0/0 in a dropped {what} is not read, {name}",
              lambda n=name, w=where: with_undefined(n, w), [True, False],
              "row 1 reads key 1 alone")
        for name in EVERY for where, what in ((1, "key"), (2, "value"))
    ),
    Value((17,), "float16 logits near the least number, causal",
          lambda: dense("float16", [-255] * 2, [255, 255], [1, 3], CAUSAL), [1, 2],
          "logits -65025 are equal, so means of 1 and of 1 and 3"),
    *(
        Value((17, 19), f"logits of ±192 do not overflow, {name}",
              lambda n=name: [far_apart(n, sign) for sign in (1, -1)], [True, True],
              "e^-192 < 2^-40: the larger logit has all the weight")
        for name in MACHINES
    ),
    Value((19,), "logit 151 in float32 and in exact numbers",
          lambda: dense("exact", [151], [1], [3]) + dense("float32", [151], [1], [3]),
          [3, 3], "one key has weight 1"),
    Value((20,), "2 queries and 5 keys: alignment is by absolute index",
          lambda: [[CAUSAL.allows(i, j) for j in range(5)] for i in (0, 1, 3, 4)],
          [[j <= i for j in range(5)] for i in (0, 1, 3, 4)], "Definition 2.3"),
    Value((20,), "the last 2 of 5 causal queries", lambda: dense(
              "exact", [0] * 5, [0] * 5, [1, 2, 3, 4, 10], CAUSAL, rows=np.array([3, 4])),
          [Fraction(10, 4), 4], "means of the first 4 and of all 5 values"),
    Value((21, 22, 23, 25), "window r keeps r keys, none in the future, at every length",
          lambda: [
              (n, str(mask)) for n in range(1, 11) for mask, right in paper_masks(n)
              if not np.array_equal(mask.matrix(n), right)
          ], [], "Definitions 2.3-2.5, N ≤ 10, r ≤ 10, s ≤ 3"),
    Value((22,), "window 128 means 128 keys", Mask("window", 128).matrix(300)[-1].sum,
          128, "Definition 2.4"),
    *(
        Value((27,), f"11 tokens are counted as 11, {name}", lambda n=name: count_tokens(n, 11),
              [11] * 11, "Lemma A.2")
        for name in EXACT
    ),
    *(
        Value((27,), f"11 tokens are counted as 11 up to rounding, {name}",
              lambda n=name, b=bits: near(count_tokens(n, 11), [11] * 11, b), True,
              "Lemma A.2; 11 sums of 11 rounded numbers")
        for name, bits in (("float64", 45), ("float32", 16), ("float16", 3), ("mp:60", 50))
    ),
    *(
        Value((28,), f"one construction, one result, {name}", lambda n=name: simulated(n), BY_HAND,
              "weights 2^⟨q, k⟩ and means by hand")
        for name in EXACT
    ),
    Value((28,), "one construction, one result, ball to base 2",
          lambda: near(simulated("ball:128:base2"), BY_HAND, 100), True, "the same by hand"),
    *(
        Value((32,), f"exp({numerator}/2^{shift}) at {bits} bits is enclosed",
              lambda a=(numerator, shift, bits): ball_exp_encloses(*a), True,
              "mpmath to four times the bits")
        for numerator, shift, bits in (
            (3893924827815215, 50, 53), (1381846513289487, 46, 113), (-1, 53, 53)
        )
    ),
    Undecided((33,), "two balls around 1/10 are neither equal nor different",
              lambda: arithmetic("ball:53").equal(flint.arb("0.1"), flint.arb("0.1")),
              "both are intervals with more than one number"),
    Value((33,), "overlapping balls: Arb's own == and != are both False",
          lambda: (flint.arb("0.1") == flint.arb("0.1"), flint.arb("0.1") != flint.arb("0.1")),
          (False, False), "python-flint: a relation holds if it is certain"),
    Value((33,), "exact balls are equal, disjoint ones differ",
          lambda: (
              arithmetic("ball:53").equal(flint.arb(3), flint.arb(3)),
              arithmetic("ball:53").equal(flint.arb("0.1"), flint.arb("0.2")),
          ), (True, False), "0.1 < 0.2"),
    Value((33,), "the float 0.1 is not 1/10, the Fraction is",
          lambda: (
              contains(ball_of(0.1), Fraction(1, 10)),
              contains(ball_of(0.1), Fraction(0.1)),
              contains(ball_of(Fraction(1, 10)), Fraction(1, 10)),
          ), (False, True, True), "0.1 is 3602879701896397/2^55"),
    Value((33,), "the larger of a ball and a number inside it",
          larger_of_overlapping, (True, True, True), "max(x, 1/2) for x in [0, 1]"),
    Refusal((33, 35), "1/10 has no exact form in float64",
            lambda: arithmetic("float64").convert(np.array([Fraction(1, 10)])), ConversionError,
            "1/10 is not a number of float64", "10 does not divide a power of two"),
    Refusal((35,), "a float constant in an MLP",
            lambda: trace(lambda token: {"y": token.x * 0.2}, {"x": 1}), FloatConstantError,
            "constant 0.2 of type float: expected an int or a Fraction", "constants are rational"),
    Refusal((35,), "a quotient of integers, which Python divides first",
            lambda: trace(lambda token: {"y": token.x + 1 / 5}, {"x": 1}), FloatConstantError,
            "constant 0.2 of type float", "constants are rational"),
    Refusal((35,), "a numpy float in an MLP",
            lambda: trace(lambda token: {"y": np.float64(0.5)}, {"x": 1}), FloatConstantError,
            "float64", "constants are rational"),
    Refusal((28,), "a fractional logit in base 2 is not rounded",
            lambda: dense("exact", [Fraction(1, 2)], [1], [1]), NotRationalError,
            "1/2", "2^(1/2) is irrational"),
    Value((36, 37, 38, 39), "softmax denominator of logits 0, 1, -50, 3, 4, 5",
          weight_of_last_key, True, "decimal arithmetic of 60 digits"),
    Value((45,), "the value of a ball of 256 bits",
          lambda: arithmetic("ball:256").rational(flint.arb(flint.fmpz(2**255 + 1))),
          Fraction(2**255 + 1), "an integer of 256 bits is its own midpoint"),
]  # fmt: skip


def identifier(gate: Value | Refusal | Undecided) -> str:
    return f"{','.join(map(str, gate.items))} {gate.says}"


@pytest.mark.parametrize("gate", GATES, ids=identifier)
def test_gate(gate):
    match gate:
        case Value():
            assert gate.got() == gate.right, gate.source
        case Refusal():
            with pytest.raises(gate.error, match=re.escape(gate.message)):
                gate.attempt()
        case Undecided():
            assert gate.got() is None, gate.source


# -- the code itself ----------------------------------------------------------------------------

PACKAGE = Path(symsim.__file__).parent
RATIONAL_ONLY = ("terms", "model", "constructions")


def sources(*folders: str) -> list[Path]:
    return sorted(path for folder in folders for path in (PACKAGE / folder).rglob("*.py"))


def is_number(node: ast.AST) -> bool:
    return isinstance(node, ast.Constant) and isinstance(node.value, int)


def inexact(tree: ast.AST) -> Iterator[ast.AST]:
    """Float and complex literals, quotients of literal integers, conversions to float."""
    for node in ast.walk(tree):
        literal = isinstance(node, ast.Constant) and isinstance(node.value, (float, complex))
        quotient = isinstance(node, ast.BinOp) and isinstance(node.op, ast.Div)
        named = isinstance(node, ast.Name) and node.id in ("float", "complex")
        member = isinstance(node, ast.Attribute) and node.attr.startswith("float")
        quotient = quotient and is_number(node.left) and is_number(node.right)
        if literal or quotient or named or member:
            yield node


@pytest.mark.parametrize("text", ["x = 0.5", "y = 1 / 5", "z = 2j", "float(x)", "np.float64(x)"])
def test_35_the_lint_for_floats_finds_them(text):
    assert list(inexact(ast.parse(text)))


@pytest.mark.parametrize(
    "path", sources(*RATIONAL_ONLY), ids=lambda path: str(path.relative_to(PACKAGE))
)
def test_35_terms_model_and_constructions_have_no_float_constant(path):
    assert [
        f"line {n.lineno}: {ast.unparse(n)}" for n in inexact(ast.parse(path.read_text()))
    ] == []


UNSOUND = {
    "iv": ((32,), "mpmath's interval exp is not an enclosure"),
    "evalf": ((37, 38, 39, 41), "an unevaluated Sum stops at the first tiny term"),
    "n": ((37, 38, 39), "evalf by another name"),
    "Sum": ((36,), "finite sums are evaluated wrongly"),
    "simplify": ((40,), "loses the case m = n"),
    "lambdify": ((42,), "rounds constants to 53 bits"),
    "workdps": ((34,), "global precision"),
    "dps": ((34,), "global precision"),
}


def asked_for(tree: ast.AST) -> set[str]:
    """Names that are called, read as attributes of something called, or imported."""
    names: set[str] = set()
    for node in ast.walk(tree):
        match node:
            case ast.Call(func=ast.Attribute(attr=attr)):
                names.add(attr)
            case ast.Call(func=ast.Name(id=name)):
                names.add(name)
            case ast.Attribute(attr=attr, ctx=ast.Store()):
                names.add(attr)
            case ast.Import(names=imported) | ast.ImportFrom(names=imported):
                names |= {part for alias in imported for part in alias.name.split(".")}
            case ast.Attribute(attr="iv"):
                names.add("iv")
    return names


def test_32_to_42_the_lint_for_unsound_calls_finds_them():
    text = "from mpmath import iv; mpmath.mp.dps = 50; s.evalf(); sympy.simplify(x); Sum(a).n()"
    found = asked_for(ast.parse(text))
    assert found >= {"iv", "dps", "evalf", "simplify", "Sum", "n"}


@pytest.mark.parametrize("name", UNSOUND)
def test_32_to_42_unsound_calls_of_our_tools_are_not_made(name):
    items, reason = UNSOUND[name]
    users = [
        str(path.relative_to(PACKAGE))
        for path in sources("terms", "arithmetic", "model", "constructions")
        if name in asked_for(ast.parse(path.read_text()))
    ]
    assert users == [], f"{items}: {reason}"


# -- 34: precision belongs to a run, not to the process ------------------------------------------


def precision() -> tuple[object, ...]:
    context = gmpy2.get_context()
    limits = context.precision, context.emin, context.emax, context.subnormalize
    return mpmath.mp.prec, mpmath.iv.prec, flint.ctx.prec, limits, np.geterr()


def head_run(name: str, progress: Callable[[int], None] | None = None) -> list[str]:
    """Repaired B.1 on small integers; every entry of the result in full."""
    numbers, plan = arithmetic(name), quadratic_calls(from_qkv(5, 2), 3)
    random = np.random.default_rng(0)
    with numbers.working():
        given = {n: numbers.integers(random.integers(-2, 3, (5, 2))) for n in "QKV"}
    result = run(plan, numbers, given, progress=progress)
    with numbers.working():
        return [numbers.text(value) for value in result.ravel()]


PRECISIONS = ["mp:200", "ball:200", "ball:77:base2", "p:11:-14:15", "p:100", "float16", "exact:pl2"]


@pytest.mark.parametrize("name", PRECISIONS)
def test_34_a_run_leaves_global_precision_alone(name):
    before = precision()
    head_run(name)
    assert precision() == before


@pytest.mark.parametrize("name", PRECISIONS)
def test_34_a_run_that_fails_leaves_global_precision_alone(name):
    def stop(_: int) -> None:
        raise KeyboardInterrupt

    before = precision()
    with pytest.raises(KeyboardInterrupt):
        head_run(name, progress=stop)
    assert precision() == before


@pytest.mark.parametrize(("outer", "inner"), [(a, b) for a in PRECISIONS for b in PRECISIONS[:4]])
def test_34_a_run_inside_another_changes_neither(outer, inner):
    results: list[list[str]] = []
    nested = head_run(outer, progress=lambda _: results.append(head_run(inner)))
    assert nested == head_run(outer)
    assert results[0] == results[-1] == head_run(inner)


def test_34_global_precision_does_not_reach_a_run():
    alone = {name: head_run(name) for name in PRECISIONS}
    with mpmath.workprec(20), flint.ctx.workprec(20), gmpy2.context(precision=20):
        assert {name: head_run(name) for name in PRECISIONS} == alone


def at_once(*names: str) -> list[list[str]]:
    """One run each in a thread of its own, in step with the others after every batch."""
    meeting = threading.Barrier(len(names))
    results: dict[str, list[str]] = {}

    def work(name: str) -> None:
        results[name] = head_run(name, progress=lambda _: meeting.wait(timeout=20))

    threads = [threading.Thread(target=work, args=[name]) for name in names]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return [results[name] for name in names]


@pytest.mark.parametrize(
    "names", [("mp:60", "mp:200"), ("p:11:-14:15", "p:100"), ("float16", "exact:pl2", "p:30")]
)
def test_34_runs_in_two_threads_do_not_disturb_each_other(names):
    before = precision()
    assert at_once(*names) == [head_run(name) for name in names]
    assert precision() == before


def test_34_balls_in_two_threads_are_documented_as_unsupported():
    assert re.search(r"threads.*balls.*not supported", run.__doc__, re.DOTALL)


def test_every_report_has_a_gate_or_a_reason_to_wait():
    waiting = {int(number) for number in re.findall(r"^    (\d+)  ", __doc__, re.MULTILINE)}
    gated = {item for gate in GATES for item in gate.items}
    linted = {item for items, _ in UNSOUND.values() for item in items}
    assert waiting.isdisjoint(gated | linted)
    assert waiting | gated | linted == ITEMS
