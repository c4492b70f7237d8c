"""Lemma B.1 on the case files, whose answers were computed by a plain double loop."""

from fractions import Fraction

import pytest
from flint import arb
from support import all_equal, case_matrices, cases, contains, equals_dense

from symsim.arithmetic import arithmetic
from symsim.constructions import from_qkv, quadratic_calls, quadratic_calls_as_printed
from symsim.model import dense_attention, run

FULL = cases("full")
CORRECT_DIGITS = 60


def identifiers(case):
    return case["id"]


def shape(case):
    return from_qkv(case["N"], case["d"])


def test_there_are_cases():
    assert {case["id"] for case in FULL} == {
        "full-even", "full-large-logits", "full-m2", "full-one-block", "full-one-token",
        "full-ragged",
    }  # fmt: skip


@pytest.mark.parametrize("case", FULL, ids=identifiers)
def test_exact_equals_output_base2(case):
    numbers = arithmetic("exact")
    output = run(quadratic_calls(shape(case), case["M"]), numbers, case_matrices(case, numbers))
    assert [[numbers.rational(y) for y in row] for row in output] == [
        [Fraction(t) for t in row] for row in case["output_base2"]
    ]


@pytest.mark.parametrize("case", FULL, ids=identifiers)
def test_balls_enclose_output_base_e_to_sixty_digits(case):
    numbers = arithmetic("ball:256")
    output = run(quadratic_calls(shape(case), case["M"]), numbers, case_matrices(case, numbers))
    expected = [t for row in case["output_base_e"] for t in row]
    with numbers.working():
        for y, t in zip(output.ravel(), expected, strict=True):
            # The answer's 60th significant digit is rounded: half a unit of it either way.
            last_digit = arb(10) ** (1 - CORRECT_DIGITS) * abs(arb(t)).upper()
            assert y.overlaps(arb(t) + arb(0, last_digit.upper()))
            assert y.rel_accuracy_bits() * 0.30103 >= CORRECT_DIGITS or y == 0


@pytest.mark.parametrize("case", FULL, ids=identifiers)
@pytest.mark.parametrize("readout", ["dual", "printed"])
@pytest.mark.parametrize("aggregation", ["a", "a:head"])
def test_pl2_equals_dense(case, readout, aggregation):
    numbers = arithmetic("exact:pl2")
    plan = quadratic_calls(shape(case), case["M"], readout=readout, aggregation=aggregation)
    assert equals_dense(numbers, plan, case_matrices(case, numbers)) is True


@pytest.mark.parametrize("case", FULL, ids=identifiers)
@pytest.mark.parametrize("aggregation", ["a", "a:head"])
def test_balls_in_base_2_contain_the_exact_answer(case, aggregation):
    numbers = arithmetic("ball:192:base2")
    for readout in ("dual", "printed", "anchored"):
        plan = quadratic_calls(shape(case), case["M"], readout=readout, aggregation=aggregation)
        output = run(plan, numbers, case_matrices(case, numbers))
        answers = [Fraction(t) for row in case["output_base2"] for t in row]
        for y, t in zip(output.ravel(), answers, strict=True):
            assert contains(y, t)


@pytest.mark.parametrize("case", [c for c in FULL if c["N"] > 1], ids=identifiers)
def test_printed_variant_with_an_oracle_whose_m_divides_n(case):
    numbers = arithmetic("exact")
    given = case_matrices(case, numbers)
    divisor = next(m for m in range(2, case["N"] + 1) if case["N"] % m == 0)
    reference = dense_attention(numbers, given["Q"], given["K"], given["V"])
    output = run(quadratic_calls_as_printed(shape(case), divisor), numbers, given)
    assert all_equal(numbers, output, reference) is True
