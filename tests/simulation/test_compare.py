"""Comparison with dense attention: wrong outputs are caught, bounds bound."""

import math
from fractions import Fraction

import mpmath
import numpy as np
import pytest
from flint import arb, fmpq
from hypothesis import given
from hypothesis import strategies as st
from support import CASES

from symsim.arithmetic import UNDEFINED, arithmetic
from symsim.simulation import Options, compare, random_head, read_case, simulate
from symsim.simulation.inputs import HeadData
from symsim.simulation.large_head import convert

case_agrees = compare.case_agrees
ROUNDED = ["float64", "float32", "float16", "bfloat16", "float8_e4m3fn", "p:20", "mp:60"]


def compared(name, head, change=None):
    """The comparison of dense attention itself, with some entries changed, with itself."""
    numbers = arithmetic(name)
    large = convert(head, numbers)
    reference = large.dense(numbers)
    output = reference.copy()
    with numbers.working():
        for index, function in (change or {}).items():
            output[index] = function(output[index])
    return compare.compare(numbers, output, large, None if numbers.rounds else reference)


def integer_head(length=4, dimension=2, seed=3):
    return random_head(length, dimension, seed, integers=True)


def real_head(length=6, dimension=3, seed=3):
    return random_head(length, dimension, seed, integers=False)


def head_of(q, k, v):
    return HeadData("given", {"Q": np.array(q), "K": np.array(k), "V": np.array(v)})


# -- exact ------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["exact", "exact:pl2", "symbolic"])
def test_equal(name):
    found = compared(name, integer_head())
    assert (found.kind, found.equal, found.max_relative_error) == ("exact", True, 0)
    assert (found.rows_compared, found.non_finite_rows, found.dense_error) == (4, 0, None)


@pytest.mark.parametrize("name", ["exact", "exact:pl2", "symbolic"])
@pytest.mark.parametrize("index", [(0, 0), (3, 1)])
def test_one_wrong_entry(name, index):
    assert compared(name, integer_head(), {index: lambda y: y + y}).equal is False


def test_error_of_a_wrong_exact_entry():
    """Q = 0: dense attention is the mean of V, (2, 2); (2, 2.5) is off by 0.5/√8."""
    head = head_of([[0], [0]], [[0], [0]], [[1, 3], [3, 1]])
    found = compared("exact", head, {(1, 1): lambda y: y + fmpq(1, 2)})
    assert found.equal is False
    assert found.max_relative_error == pytest.approx(0.5 / math.sqrt(8), rel=1e-12)
    assert Fraction(found.max_relative_error) ** 2 >= Fraction(1, 32)


def test_a_tiny_exact_difference_is_a_difference():
    found = compared("exact", integer_head(), {(0, 0): lambda y: y + fmpq(1, 10**400)})
    assert found.equal is False
    assert found.max_relative_error > 0


@pytest.mark.parametrize("rows", [[1], [0, 1, 2, 3]])
def test_undefined(rows):
    found = compared("exact", integer_head(), {(row, 0): lambda _: UNDEFINED for row in rows})
    assert (found.equal, found.non_finite_rows) == (False, len(rows))
    assert found.max_relative_error == (0 if len(rows) == 1 else math.inf)


# -- enclosures -------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["ball:64", "ball:64:base2", "ball:300"])
def test_overlapping(name):
    found = compared(name, real_head())
    assert (found.kind, found.equal, found.non_finite_rows) == ("enclosure", True, 0)
    assert 0 < found.max_relative_error < 2.0**-50


def test_disjoint():
    found = compared("ball:64", real_head(), {(2, 1): lambda y: y + arb("1e-15")})
    assert found.equal is False
    assert 0 < found.max_relative_error < 1e-13


def test_the_bound_bounds():
    """The error of anything in the enclosures, computed with 200 bits."""
    shift = arb(0, "1e-10")
    found = compared("ball:64", real_head(), {(2, 1): lambda y: y + shift})
    assert found.equal is True
    numbers = arithmetic("ball:200")
    truth = convert(real_head(), numbers).dense(numbers)[2]
    worst = Fraction(1, 10**10) / Fraction(float(sum(float(t.mid()) ** 2 for t in truth)) ** 0.5)
    assert worst * (1 - Fraction(1, 10**9)) < found.max_relative_error < 3 * worst


@pytest.mark.parametrize("lost", [arb("nan"), arb(0, "inf")], ids=str)
def test_no_information(lost):
    """A ball that is not finite overlaps everything and is equal to nothing."""
    found = compared("ball:64", real_head(), {(2, 1): lambda _: lost})
    assert (found.equal, found.non_finite_rows) == (None, 1)
    assert found.max_relative_error == math.inf


def test_too_wide_to_tell():
    """Outputs lie within max |V|: an enclosure wider than that would overlap any output."""
    found = compared("ball:64", real_head(), {(2, 1): lambda y: y + arb(0, 100)})
    assert (found.equal, found.non_finite_rows) == (None, 0)


def test_too_wide_in_one_column():
    """The other column's values are large: that says nothing about this one."""
    head = head_of([[1], [0]], [[1], [3]], [[1, 10**9], [2, 10**9]])
    assert compared("ball:64", head).equal is True
    assert compared("ball:64", head, {(0, 0): lambda y: y + arb(0, 5)}).equal is None


def test_disjoint_beats_no_information():
    changes = {(0, 0): lambda _: arb("nan"), (1, 0): lambda y: y + 1}
    assert compared("ball:64", real_head(), changes).equal is False


def test_zero_rows():
    """V = 0 has output 0 in every arithmetic: no error, although relative to 0."""
    head = head_of([[1], [2]], [[1], [3]], [[0], [0]])
    for name in ("exact", "ball:64", "float32", "mp:60"):
        found = compared(name, head)
        assert (found.max_relative_error, found.non_finite_rows) == (0, 0)


@pytest.mark.parametrize("name", ["exact", "float32", "mp:60"])
def test_relative_to_a_zero_row(name):
    """V = ±1 under equal weights: the mean is 0, and nothing else is near it."""
    head = head_of([[0], [0]], [[1], [3]], [[1], [-1]])
    one = np.float32(1e-30) if name == "float32" else Fraction(1, 10**30)
    numbers = arithmetic(name)
    value = one if name == "float32" else numbers.constant(one)[()]
    found = compared(name, head, {(0, 0): lambda _: value})
    assert found.max_relative_error == math.inf


def test_a_zero_row_in_balls_is_decided_without_a_bound():
    head = head_of([[1], [0]], [[1], [1]], [[1], [-1]])
    found = compared("ball:64", head)
    assert (found.equal, found.max_relative_error) == (True, math.inf)


# -- measured ---------------------------------------------------------------------------------


def true_attention(head, numbers):
    """Attention by mpmath with 400 bits, in plain loops, of the inputs as rounded."""
    large = convert(head, numbers)
    with mpmath.workprec(400):
        q, k, v = (
            [[mpmath.mpf(0) + _exact(numbers, x) for x in row] for row in large.matrices[name]]
            for name in "QKV"
        )
        rows = []
        for query in q:
            weights = [mpmath.exp(sum(a * b for a, b in zip(query, key, strict=True))) for key in k]
            total = sum(weights)
            columns = range(len(v[0]))
            pairs = list(zip(weights, v, strict=True))
            rows.append([sum(w * x[c] for w, x in pairs) / total for c in columns])
        return rows


def _exact(numbers, value):
    fraction = numbers.rational(value)
    return mpmath.mpf(fraction.numerator) / fraction.denominator


def true_error(head, numbers, output):
    with mpmath.workprec(400):
        errors = []
        for y, t in zip(output, true_attention(head, numbers), strict=True):
            difference = [_exact(numbers, a) - b for a, b in zip(y, t, strict=True)]
            norms = [mpmath.sqrt(sum(x * x for x in vector)) for vector in (difference, t)]
            errors.append(norms[0] / norms[1])
        return max(errors)


@pytest.mark.parametrize("name", ROUNDED)
def test_measured_error(name):
    numbers, head = arithmetic(name), real_head()
    result = simulate(head, Options(tokens=3), numbers)
    expected = true_error(head, numbers, result.output)
    found = result.comparison
    assert (found.kind, found.equal, found.non_finite_rows) == ("measured", None, 0)
    assert found.rows_compared == head.length
    with mpmath.workprec(400):
        assert expected <= found.max_relative_error <= expected * (1 + mpmath.mpf(2) ** -50)
        dense = true_error(head, numbers, convert(head, numbers).dense(numbers))
        assert dense <= found.dense_error <= dense * (1 + mpmath.mpf(2) ** -50)


def test_reference_doubles_its_precision():
    """Logits of 10^300: 128 bits do not enclose their exponentials' quotients."""
    head = head_of([[1e150], [1e150]], [[0.0], [1e150]], [[1.0], [3.0]])
    numbers = arithmetic("mp:60")
    assert simulate(head, Options(), numbers).comparison.max_relative_error < 2.0**-59


@pytest.mark.parametrize("value", [np.nan, np.inf, -np.inf])
def test_rows_that_are_not_finite_are_counted(value):
    found = compared("float32", real_head(), {(1, 0): lambda _: value, (4, 2): lambda _: value})
    assert found.non_finite_rows == 2
    assert 0 < found.max_relative_error < 1e-6


def test_no_bound_where_no_row_is_finite():
    changes = {(row, 0): lambda _: np.nan for row in range(6)}
    found = compared("float32", real_head(), changes)
    assert (found.non_finite_rows, found.max_relative_error) == (6, math.inf)


def test_budget_of_the_reference(monkeypatch):
    monkeypatch.setattr(compare, "_REFERENCE_PRODUCTS", 3 * 20 * 6)
    result = simulate(real_head(20, 2), Options(tokens=8), arithmetic("float32"))
    assert result.comparison.rows_compared == 3
    assert list(compare._reference_rows(20, 6)) == [0, 10, 19]


@given(length=st.integers(1, 10**6), width=st.integers(1, 10**4))
def test_reference_rows_are_spread(length, width):
    rows = compare._reference_rows(length, width)
    assert rows[0] == 0
    assert rows[-1] < length
    assert len(rows) * length * width <= compare._REFERENCE_PRODUCTS or len(rows) == 1
    gaps = np.diff(rows)
    assert len(rows) == 1 or gaps.max() - gaps.min() <= 1


# -- case files -------------------------------------------------------------------------------

FULL = sorted(CASES.glob("full-*.json"))


@pytest.mark.parametrize("name", ["exact", "exact:pl2", "ball:200", "ball:200:base2", "ball:400"])
@pytest.mark.parametrize("path", FULL, ids=lambda path: path.stem)
def test_case_agrees(path, name):
    result = simulate(read_case(path), Options(), arithmetic(name))
    assert (result.case_agrees, result.succeeded) == (True, True)


@pytest.mark.parametrize("path", FULL, ids=lambda path: path.stem)
@pytest.mark.parametrize("name", ["exact", "ball:300", "ball:300:base2"])
def test_case_disagrees(path, name):
    head = read_case(path)
    for answers in head.expected.values():
        answers[-1][-1] += Fraction(1, 10**50)
    result = simulate(head, Options(), arithmetic(name))
    assert (result.comparison.equal, result.case_agrees, result.succeeded) == (True, False, False)


@pytest.mark.parametrize("name", ["float64", "mp:60", "symbolic"])
def test_case_is_not_compared_where_nothing_is_certified(name):
    path = CASES / "full-m2.json"
    assert simulate(read_case(path), Options(), arithmetic(name)).case_agrees is None


def test_case_without_answers():
    numbers = arithmetic("exact")
    assert case_agrees(numbers, numbers.integers(np.array([[1]])), {}) is None


def test_case_against_undefined():
    numbers = arithmetic("exact")
    output = np.array([[UNDEFINED]], dtype=object)
    assert case_agrees(numbers, output, {"output_base2": [[Fraction(1)]]}) is False


def test_case_against_no_information():
    numbers = arithmetic("ball:64")
    output = np.array([[arb("nan")]], dtype=object)
    assert case_agrees(numbers, output, {"output_base_e": [[Fraction(1)]]}) is None
