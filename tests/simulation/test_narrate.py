"""Words: what a run established."""

import dataclasses
import math

import pytest
from support import CASES

from symsim.arithmetic import arithmetic
from symsim.simulation import Options, conclusion, random_head, read_case, simulate


def made(name, options=Options(tokens=3), length=5):  # noqa: B008
    head = random_head(length, 2, 0, integers=name.startswith("exact"))
    return simulate(head, options, arithmetic(name))


def changed(simulation, **comparison):
    return dataclasses.replace(
        simulation, comparison=dataclasses.replace(simulation.comparison, **comparison)
    )


NAME = "random 5,2 #0"

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
    assert f"2 of the 5 rows of {NAME} are NOT finite" in words
    assert "of a finite row" in words
    every = changed(made("float16"), non_finite_rows=5)
    assert conclusion([every]) == f"float16: measured: 5 of the 5 rows of {NAME} are NOT finite."


def test_a_head_without_a_finite_row_says_nothing_of_the_others():
    fine, lost = made("float16"), changed(made("float16"), non_finite_rows=5)
    lost = changed(lost, max_relative_error=float("inf"))
    words = conclusion([fine, lost])
    assert "5 of the 10 rows of 2 heads together are NOT finite" in words
    assert "error of a finite row is at most" in words


def test_rows_that_dense_attention_loses_too():
    words = conclusion([changed(made("float16"), non_finite_rows=1, dense_non_finite_rows=1)])
    assert f"1 of the 5 rows of {NAME} is NOT finite (nor is 1 of dense attention)" in words


def test_answers_that_are_not_compared():
    run = simulate(read_case(CASES / "full-m2.json"), Options(), arithmetic("float64"))
    assert conclusion([run]).endswith("(the case file's answer was not compared).")


def test_a_symbolic_run_names_a_divisor_that_may_vanish():
    run = simulate(random_head(3, 1, 0, integers=True), Options(tokens=3), arithmetic("symbolic"))
    assert "proved for all real inputs with N = 3" in conclusion([run])
    v = run.output[0, 0]
    _ = v / (v + v)
    assert "real inputs at which no divisor is zero (such as " in conclusion([run])


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
