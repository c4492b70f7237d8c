"""Simulations: options, precision that doubles, rounded inputs, limits."""

import sys

import numpy as np
import pytest
from support import CASES

from symsim.arithmetic import arithmetic
from symsim.simulation import (
    OptionError,
    Options,
    ResourceError,
    check_resources,
    random_head,
    read_case,
    sample_heads,
    simulate,
)
from symsim.simulation.inputs import HeadData

LARGE_LOGITS = CASES / "full-large-logits.json"


def real_head(length=5, dimension=2):
    return random_head(length, dimension, 0, integers=False)


def test_precision_doubles_until_something_is_told():
    result = simulate(read_case(LARGE_LOGITS), Options(), arithmetic("ball:4"))
    assert (result.succeeded, result.case_agrees) == (True, True)
    assert result.requested == "ball:4"
    bits = int(result.numbers.name.removeprefix("ball:"))
    assert bits in (8, 16, 32, 64, 128)
    assert simulate(read_case(LARGE_LOGITS), Options(), arithmetic(f"ball:{bits}")).succeeded
    assert result.comparison.max_relative_error < 1


def test_precision_keeps_its_base():
    result = simulate(read_case(LARGE_LOGITS), Options(), arithmetic("ball:4:base2"))
    assert result.numbers.base == "2"
    assert result.numbers.name.endswith(":base2")
    assert result.case_agrees is True


def test_precision_stops_doubling_at_the_limit(monkeypatch):
    module = sys.modules["symsim.simulation.simulate"]
    monkeypatch.setattr(module, "LARGEST_PRECISION", 7)
    result = simulate(read_case(LARGE_LOGITS), Options(), arithmetic("ball:4"))
    assert (result.numbers.name, result.succeeded) == ("ball:4", None)
    assert result.comparison.equal is None


def test_rounded_inputs_are_counted():
    thirds = np.array([[1 / 3], [0.5]])
    head = HeadData("thirds", dict.fromkeys("QKV", thirds))
    expected = {"float64": 0, "float32": 3, "bfloat16": 3, "p:53": 0, "p:30": 3, "mp:53": 0}
    for name, count in expected.items():
        assert simulate(head, Options(), arithmetic(name)).rounded_inputs == count
    assert simulate(head, Options(), arithmetic("ball:20")).rounded_inputs == 0


def test_rounded_inputs_of_fractions():
    head = read_case(CASES / "full-m2.json")
    assert simulate(head, Options(), arithmetic("float32")).rounded_inputs == 0
    head.matrices["Q"][0, 0] += 10**8 + 1
    assert simulate(head, Options(), arithmetic("p:20")).rounded_inputs == 1


@pytest.mark.parametrize("name", ["float64", "float32", "ball:128", "exact", "mp:100"])
def test_heads_given_by_x(name):
    """The simulation from X and W agrees with the one from Q = X W_Q, K, V."""
    rng = np.random.default_rng(0)
    x = rng.integers(-2, 3, (5, 3))
    w = {f"W_{side}": rng.integers(-1, 2, (3, 2)) for side in "QKV"}
    by_x = simulate(HeadData("x", {"X": x}, w), Options(tokens=3), arithmetic(name))
    products = {side: x @ w[f"W_{side}"] for side in "QKV"}
    by_qkv = simulate(HeadData("qkv", products), Options(tokens=3), arithmetic(name))
    assert by_x.succeeded
    assert by_x.dimension == 3
    with by_x.numbers.working():
        pairs = zip(by_x.output.ravel(), by_qkv.output.ravel(), strict=True)
        assert all(by_x.numbers.equal(a, b) is not False for a, b in pairs)


def test_symbolic_parameters():
    """Proved for all X and all W_Q, W_K, W_V of the shape."""
    x, w = np.zeros((3, 2)), {f"W_{side}": np.zeros((2, 1)) for side in "QKV"}
    result = simulate(HeadData("x", {"X": x}, w), Options(tokens=2), arithmetic("symbolic"))
    assert result.comparison.equal is True


def test_readouts_on_a_nearly_hard_head():
    """Layer 0 head 2 of the sample: the printed readout divides by zero, the dual one does not."""
    (head,) = (head for head in sample_heads() if head.name == "layer0.head2")
    dual = simulate(head, Options(), arithmetic("float64"))
    printed = simulate(head, Options(readout="printed"), arithmetic("float64"))
    assert (dual.succeeded, dual.comparison.non_finite_rows) == (True, 0)
    assert (printed.succeeded, printed.comparison.non_finite_rows) == (False, 22)


def test_progress_counts_every_step():
    told = []
    simulate(
        real_head(), Options(tokens=2), arithmetic("float64"), progress=lambda *a: told.append(a)
    )
    done, steps = zip(*told, strict=True)
    assert set(steps) == {5**2 + 5 * 4}
    assert sorted(done) == list(done)
    assert done[-1] == steps[-1]


def test_tokens_of_the_options_come_before_those_of_the_input():
    head = read_case(CASES / "full-ragged.json")
    assert simulate(head, Options(), arithmetic("exact")).tokens == head.tokens
    assert simulate(head, Options(tokens=7), arithmetic("exact")).tokens == 7
    with pytest.raises(OptionError, match="--tokens 0: expected an integer of at least 2"):
        simulate(head, Options(tokens=0), arithmetic("exact"))


@pytest.mark.parametrize("tokens", [2, 5, 6, 7, 10**30])
def test_any_number_of_tokens(tokens):
    result = simulate(real_head(), Options(tokens=tokens), arithmetic("ball:64"))
    assert result.succeeded
    assert result.plan.ledger.max_tokens <= min(tokens, 6)


@pytest.mark.parametrize(
    ("name", "length", "width", "tokens"),
    [
        ("exact", 4097, 1, 32),
        ("exact", 2049, 1, 2049),
        ("exact", 1000, 10**6, 32),
        ("ball:25600", 500, 1, 32),
        ("float32", 65537, 1, 32),
        ("float32", 8193, 1, 8193),
        ("float32", 20000, 1, 32),
        ("float32", 800, 1, 2),
        ("symbolic", 65, 1, 32),
    ],
)
def test_resources(name, length, width, tokens):
    with pytest.raises(ResourceError, match=f"N = {length}, d = {width}, M = {tokens}: .* expect"):
        check_resources(arithmetic(name), length, width, tokens, "repaired")


def test_resources_that_are_enough():
    check_resources(arithmetic("float32"), 8192, 64, 8192, "repaired")
    check_resources(arithmetic("float32"), 12000, 64, 32, "repaired")
    check_resources(arithmetic("ball:128"), 2048, 64, 32, "repaired")
    check_resources(arithmetic("exact"), 1024, 64, 32, "printed")


def test_dense_attention_by_chunks_is_the_same(monkeypatch):
    head, numbers = real_head(7, 2), arithmetic("ball:64")
    whole = simulate(head, Options(tokens=3), numbers)
    monkeypatch.setattr("symsim.simulation.large_head._CHUNK", 14)
    assert whole.large.dense(numbers).shape == (7, 2)
    assert [str(y) for y in whole.large.dense(numbers).ravel()] == [
        str(y) for y in simulate(head, Options(), numbers).large.dense(numbers).ravel()
    ]
