"""Traces: every call can be followed by hand."""

import re
from fractions import Fraction

import numpy as np
import pytest

from symsim.arithmetic import arithmetic
from symsim.simulation import Options, random_head, simulate, trace_lines
from symsim.simulation.inputs import HeadData
from symsim.simulation.trace import TRACED_STEPS, WIDTH


def traced(name, options, length=3, dimension=1):
    head = random_head(length, dimension, 0, integers=name.startswith("exact"))
    return "\n".join(trace_lines(simulate(head, options, arithmetic(name))))


def test_trace_of_one_call():
    """q = 1, k = 1, v = 3 and q = 0, k = −1, v = 5, in one call of three tokens."""
    given = {"Q": [[1], [0]], "K": [[1], [-1]], "V": [[3], [5]]}
    head = HeadData("two", {name: np.array(rows) for name, rows in given.items()})
    result = simulate(head, Options(), arithmetic("exact"))
    assert (
        "\n".join(trace_lines(result))
        == """\
round 1, call of 3 tokens: block (0, 0) (1 of 1)
reads: q = Q[0:2], zero; k = K[0:2], zero; v = V[0:2], zero
φ: q = q; k = k; v = v; real = in_range(0, 2); synthetic = in_range(2, 3)
  token  q   k  v  real  synthetic
      0  1   1  3     1          0
      1  0  -1  5     1          0
      2  0   0  0     0          1  synthetic token
logits: ⟨query of the row, key of the column⟩
  row  0   1  2
    0  1  -1  0
    1  0   0  0
weights: 2^logit, divided by the sum of the row
  row    0    1    2
    0  4/7  1/7  2/7
    1  1/3  1/3  1/3
head: y = Σ weight·v; r = Σ weight·real; s = Σ weight·synthetic
  row     y    r    s
    0  17/7  5/7  2/7
    1   8/3  2/3  1/3
ψ: Y = y/r
  row     Y
    0  17/5
    1     4

result: row i simulates query i of the large head
  row                 from     Y  dense attention
    0  block (0, 0), row 0  17/5             17/5
    1  block (0, 0), row 1     4                4
"""
    )


@pytest.mark.parametrize(
    ("name", "options"),
    [
        ("exact", Options(tokens=3)),
        ("exact", Options(tokens=2)),
        ("symbolic", Options(tokens=2)),
        ("ball:64", Options(tokens=2, readout="anchored")),
        ("float16", Options(tokens=3, aggregation="a:head")),
        ("bfloat16", Options()),
        ("exact:pl2", Options(tokens=2, aggregation="a:head", readout="printed")),
    ],
)
def test_traces_name_everything(name, options):
    text = traced(name, options)
    simulation = simulate(
        random_head(3, 1, 0, integers=name.startswith("exact")), options, arithmetic(name)
    )
    calls = len(simulation.plan.steps)
    assert text.count("\nψ: ") + text.count("\nhead: ") >= calls
    assert f"({calls} of {calls})" in text
    for entry in simulation.output.ravel():
        with simulation.numbers.working():
            assert simulation.numbers.text(entry) in " ".join(text.split())
    assert text.count("synthetic token") == simulation.plan.ledger.calls["block"]
    longest = max(re.split(r"[ \n]+", text), key=len)
    assert all(len(line) <= max(WIDTH, len(longest) + 10) for line in text.splitlines())


def test_rounds_in_order():
    rounds = re.findall(r"^round (\d+)", traced("exact", Options(tokens=2), length=4), re.MULTILINE)
    assert rounds == sorted(rounds)


def test_trace_weights_of_large_logits():
    """float16 weights of logits near 40 are those of softmax, not e^40 = ∞."""
    given = {"Q": [[1]], "K": [[40]], "V": [[3]]}
    head = HeadData("one", {name: np.array(rows) for name, rows in given.items()})
    text = "\n".join(trace_lines(simulate(head, Options(), arithmetic("float16"))))
    assert "nan" not in text.split("head: ")[0]


def test_trace_of_the_printed_construction():
    text = traced("exact", Options(variant="printed", tokens=2), length=4)
    assert text.count("synthetic token") == 4
    assert "outside the oracle, merge of 2 rows: block 1, query 1 (12 of 12)" in text
    assert "of the sums: Y = B/A" in text


def test_trace_of_a_head_given_by_x():
    x, w = np.array([[1, 2], [0, 1]]), {f"W_{side}": np.array([[1], [2]]) for side in "QKV"}
    result = simulate(HeadData("x", {"X": x}, w), Options(), arithmetic("exact"))
    text = "\n".join(trace_lines(result))
    assert "y = Σ weight·x_key·W_V(2×1)" in text
    assert str(Fraction(5 * 2**25 + 2 * 2**10, 2**25 + 2**10)) in text


def test_trace_of_a_large_run_has_a_line_for_each_step():
    result = simulate(random_head(9, 1, 0, integers=True), Options(tokens=2), arithmetic("exact"))
    lines = list(trace_lines(result))
    steps = len(result.plan.steps)
    assert steps > TRACED_STEPS
    assert len(lines) == steps + 1
    assert lines[-1] == (f"numbers are shown for up to {TRACED_STEPS} steps; this plan has {steps}")
