"""Words: what a run established, and traces that can be followed by hand."""

import dataclasses
import math
import re
from fractions import Fraction

import numpy as np
import pytest
from support import CASES

from symsim.arithmetic import arithmetic
from symsim.simulation import Options, conclusion, random_head, read_case, simulate, trace_lines
from symsim.simulation.inputs import HeadData
from symsim.simulation.narrate import TRACED_STEPS, WIDTH


def made(name, options=Options(tokens=3), length=5):  # noqa: B008
    head = random_head(length, 2, 0, integers=name.startswith("exact"))
    return simulate(head, options, arithmetic(name))


def changed(simulation, **comparison):
    return dataclasses.replace(
        simulation, comparison=dataclasses.replace(simulation.comparison, **comparison)
    )


NAME = "random 5,2 seed 0"

ESTABLISHED = {
    "symbolic": "symbolic: proved for all real inputs with N = 5, M = 3, d = 2: the simulation "
    "equals dense attention.",
    "exact": f"exact: for {NAME}, with 2^logit for exp, the simulation equals dense "
    "attention exactly (ε = 0).",
    "exact:pl2": f"exact:pl2: for {NAME}, with the weight pl2 of the logit for exp, the "
    "simulation equals dense attention exactly (ε = 0).",
    "ball:128": f"ball:128: certified for {NAME}: in every entry the enclosures of the simulation "
    "and of dense attention overlap; no row differs by more than ",
    "float32": f"float32: measured: every row of {NAME} is finite; the largest relative error of "
    "a row is at most ",
    "mp:60": f"mp:60: measured: every row of {NAME} is finite; the largest relative error of a "
    "row is at most ",
}


@pytest.mark.parametrize("name", ESTABLISHED)
def test_what_was_established(name):
    assert conclusion([made(name)]).startswith(ESTABLISHED[name])


@pytest.mark.parametrize("name", ["exact", "ball:128", "symbolic"])
def test_difference(name):
    wrong = changed(made(name), equal=False)
    assert conclusion([wrong]) == (
        f"{name}: the simulation is NOT equal to dense attention on {NAME}."
    )


def test_one_difference_among_several_heads():
    right = made("exact")
    wrong = changed(made("exact"), equal=False)
    assert conclusion([right, wrong, right]) == (
        f"exact: the simulation is NOT equal to dense attention on {NAME}; for each of 2 heads, "
        "with 2^logit for exp, the simulation equals dense attention exactly (ε = 0)."
    )


def test_undecided():
    ball = changed(made("ball:64"), equal=None)
    assert conclusion([ball]) == (
        f"ball:64: undecided on {NAME}: the enclosures are too wide to tell anything."
    )
    symbolic = changed(made("symbolic"), equal=None)
    assert conclusion([symbolic]).endswith("equality could not be decided.")


def test_no_bound():
    ball = changed(made("ball:64"), max_relative_error=math.inf)
    assert "has no bound, as dense attention there is zero or its enclosure" in conclusion([ball])
    single = changed(made("float32"), max_relative_error=math.inf)
    assert "the largest relative error of a row is without bound" in conclusion([single])


def test_rows_that_are_not_finite():
    some = changed(made("float16"), non_finite_rows=2)
    words = conclusion([some])
    assert f"2 of 5 rows of {NAME} are NOT finite" in words
    assert "of a finite row" in words
    every = changed(made("float16"), non_finite_rows=5)
    assert conclusion([every]) == f"float16: measured: 5 of 5 rows of {NAME} are NOT finite."


def test_fewer_rows_in_the_reference():
    few = changed(made("float32"), rows_compared=2)
    assert "error of a row among 2 evenly spread of 5 rows is at most" in conclusion([few])


def test_case_answers():
    path = CASES / "full-m2.json"
    exact = simulate(read_case(path), Options(), arithmetic("exact"))
    assert "equals dense attention and the case file's answer exactly" in conclusion([exact])
    ball = simulate(read_case(path), Options(), arithmetic("ball:300"))
    assert "overlap, and so does the case file's answer" in conclusion([ball])
    head = read_case(path)
    head.expected["output_base2"][0][0] += 1
    wrong = simulate(head, Options(), arithmetic("exact"))
    assert conclusion([wrong]) == (
        "exact: the simulation does NOT agree with the case file's answer on full-m2."
    )


def test_doubled_precision():
    ball = simulate(read_case(CASES / "full-large-logits.json"), Options(), arithmetic("ball:4"))
    assert conclusion([ball]).startswith(
        f"{ball.numbers.name} (doubled from ball:4, which told too little): certified for"
    )


# -- traces -----------------------------------------------------------------------------------


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
