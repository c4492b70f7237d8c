"""Witnesses: values are exact or enclosed, what is shown is minimal, no true claim is refuted."""

from __future__ import annotations

from fractions import Fraction

import mpmath
import pytest
from flint import arb, fmpq
from hypothesis import given, settings
from hypothesis import strategies as st

from symsim.arithmetic.undefined import UNDEFINED
from symsim.claims import (
    at_most,
    differs,
    domain,
    equal,
    identity,
    inequality,
    integer,
    less,
    positive,
    real,
    symbols,
)
from symsim.claims.search.candidates import Choices, Edge, size
from symsim.claims.search.points import Points
from symsim.claims.search.witness import (
    counterexample,
    failure_at,
    holds,
    inhabitant,
    search,
    value,
)
from symsim.terms import TermError, constant, dot, exp, log, maximum
from symsim.terms.program import Token

x, y, A, B, P, N, M, T, m = symbols("x y A B P N M T m")
HALF = Fraction(1, 2)


def point_of(failure):
    assert failure is not None
    return dict(failure.point)


# -- values -----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("term", "expected"),
    [
        (x + y * x, Fraction(3, 4)),
        (x / y - 1, Fraction(0)),
        (-maximum(x, 3 * y), -Fraction(3, 2)),
        (dot(x, y) / (x - 1), -HALF),
        (exp(x - y), Fraction(1)),
        (log(x / y), Fraction(0)),
        (constant(Fraction(1, 3)), Fraction(1, 3)),
    ],
)
def test_rational_values_are_exact(term, expected):
    result = value(term, {"x": HALF, "y": HALF})
    assert type(result) is Fraction
    assert result == expected


@pytest.mark.parametrize(
    ("term", "reference"),
    [
        (exp(x), mpmath.exp),
        (log(1 + x), lambda u: mpmath.log(1 + u)),
        (exp(x) - 1 - x, lambda u: mpmath.exp(u) - 1 - u),
        (exp(x) / (1 + exp(-x)), lambda u: mpmath.exp(u) / (1 + mpmath.exp(-u))),
        (maximum(exp(x), log(3 + x)), lambda u: max(mpmath.exp(u), mpmath.log(3 + u))),
    ],
)
@pytest.mark.parametrize("at", [HALF, Fraction(-1, 3), Fraction(1, 10**30), Fraction(40)])
def test_balls_contain_the_high_precision_value_and_are_accurate(term, reference, at):
    ball = value(term, {"x": at})
    assert isinstance(ball, arb)
    assert ball.rel_accuracy_bits() >= 53
    with mpmath.workprec(2000):
        true = reference(mpmath.mpf(at.numerator) / at.denominator)
        middle, radius = (
            mpmath.ldexp(*map(int, part.man_exp())) for part in (ball.mid(), ball.rad())
        )
        assert abs(true - middle) <= radius + abs(true) * mpmath.mpf(2) ** -1990


def test_undefined_and_undecided_are_told_apart():
    assert value(1 / (x - y), {"x": 1, "y": 1}) is UNDEFINED
    assert value(log(x), {"x": 0}) is UNDEFINED
    assert value(log(1 - exp(x)), {"x": 1}) is UNDEFINED
    assert value(0 * (1 / x), {"x": 0}) is UNDEFINED
    # Zero, but no enclosure can say so.
    assert value(1 / (exp(x) * exp(-x) - 1), {"x": 1}) is None
    assert value(log(exp(x) * exp(-x) - 1), {"x": 1}) is None


def test_terms_without_a_meaning_in_claims_are_refused():
    with pytest.raises(TermError, match="expected symbols"):
        value(Token({}).position, {})


# -- relations --------------------------------------------------------------------------------


def test_relations_are_three_valued():
    at = {"x": Fraction(1), "y": Fraction(2)}
    assert holds(less(x, y), at) is True
    assert holds(at_most(y, x), at) is False
    assert holds(equal(2 * x, y), at) is True
    assert holds(differs(2 * x, y), at) is False
    assert holds(less(exp(x), 3), at) is True
    assert holds(equal(exp(x), Fraction(2718281828459045, 10**15)), at) is False
    assert holds(less(1 / (y - 2 * x), 1), at) is UNDEFINED


def test_overlapping_balls_are_never_called_equal():
    at = {"x": Fraction(1), "y": Fraction(2)}
    same = exp(x) * exp(y), exp(x + y)
    assert holds(equal(*same), at) is None
    assert holds(differs(*same), at) is None
    assert holds(at_most(*same), at) is None
    assert holds(less(*same), at) is None


def test_precision_grows_until_a_tiny_difference_shows():
    tiny = Fraction(1, 10**60)
    assert holds(less(exp(x), exp(x + tiny)), {"x": 1}) is True
    assert holds(equal(exp(x), exp(x) + tiny), {"x": 1}) is False


# -- inhabitants ------------------------------------------------------------------------------


def test_the_inhabitant_is_the_simplest_point():
    assert inhabitant(domain(real(x), positive(A))) == {"x": 0, "A": 1}
    assert inhabitant(domain(integer(N, at_least=5))) == {"N": 5}
    assert inhabitant(domain()) == {}


def test_an_equation_is_solved_for_its_last_symbol():
    split = domain(positive(x), positive(y), equal(x + y, 1))
    assert inhabitant(split) == {"x": HALF, "y": HALF}
    blocks = domain(
        integer(N, at_least=7), integer(M, at_least=3), integer(T), equal(T * (M - 1), N)
    )
    assert inhabitant(blocks) == {"N": 8, "M": 3, "T": 4}
    assert inhabitant(domain(real(x, at_least=1), equal(x * x, 9))) == {"x": 3}
    assert inhabitant(domain(real(x), positive(y), equal(x / (x + y), Fraction(3, 7))))


def test_integer_hypotheses_give_bounds():
    ceiling = domain(
        integer(N, at_least=1000),
        integer(m, at_least=17),
        integer(T),
        less((T - 1) * m, N),
        at_most(N, T * m),
    )
    assert inhabitant(ceiling) == {"N": 1000, "m": 17, "T": 59}


@pytest.mark.parametrize(
    "empty",
    [
        domain(real(x, at_least=1, at_most=0)),
        domain(real(x), less(x, x)),
        domain(integer(N), less(2, N), less(N, 3)),
        domain(integer(N), equal(2 * N, 1)),
        domain(real(x), less(1, 0)),
        domain(real(x), equal(x / x, 0)),
        domain(real(x), equal(x * x, 2)),  # inhabited, by no rational point
        domain(real(x), equal(exp(x), 2)),  # likewise
    ],
    ids=str,
)
def test_where_no_point_is_found_none_is_shown(empty):
    assert inhabitant(empty, budget=500) is None
    assert counterexample(identity(0, 1, empty), budget=500) is None


# -- counterexamples --------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("claim", "expected"),
    [
        (inequality(at_most(x, x * x), domain(real(x))), {"x": HALF}),
        (identity(N * (N + 1) / 2, N * N, domain(integer(N, at_least=1))), {"N": 2}),
        (inequality(at_most(x**3, 1000 * x**2), domain(real(x))), {"x": 1001}),
        (inequality(at_most(N**3, 1000 * N**2), domain(integer(N))), {"N": 1001}),
        (inequality(at_most(1 + x + x * x, exp(x)), domain(positive(x))), {"x": 1}),
        (inequality(less(N * N * N, exp(N)), domain(integer(N, at_least=0))), {"N": 2}),
        (identity(exp(x), 1 + x, domain(real(x))), {"x": 1}),
        (inequality(at_most(x + y, x * y), domain(positive(x), positive(y))), {"x": 1, "y": 1}),
        (identity(A / (A + 1 + P), A / (A + 1), domain(positive(A), real(P, at_least=0))),
         {"A": 1, "P": 1}),
        (identity(0, 1, domain()), {}),
    ],
    ids=str,
)  # fmt: skip
def test_the_counterexample_is_the_simplest_point(claim, expected):
    failure = counterexample(claim)
    assert point_of(failure) == expected
    assert holds(claim.relation, failure.point) is False
    assert not failure.undefined
    assert failure_at(claim, failure.point) == failure


def test_both_sides_are_shown():
    claim = inequality(at_most(A / (A + 1), Fraction(1, 2)), domain(positive(A)))
    assert counterexample(claim).lines == ("at A = 2", "left = 2/3, right = 1/2")
    ball = counterexample(inequality(less(exp(x), 2), domain(real(x, at_least=1))))
    assert ball.lines == ("at x = 1", "left = [2.71828182845905 +/- 4.77e-15], right = 2")


@pytest.mark.parametrize(
    ("claim", "line"),
    [
        (identity(x / x, 1, domain(real(x))), "undefined: the divisor x is 0"),
        (
            identity(log(x * x), log(x * x), domain(real(x))),
            "undefined: the logarithm's argument x·x is not positive",
        ),
        (
            identity(A / (1 - P / (A + P)), A + P, domain(real(A), real(P, at_least=1))),
            "undefined: the divisor 1 - P/(A + P) is 0",
        ),
    ],
)
def test_a_point_without_a_value_is_a_failure_and_says_what_has_none(claim, line):
    failure = counterexample(claim)
    assert failure.undefined
    assert failure.lines[1] == line
    assert holds(claim.relation, failure.point) is UNDEFINED


def test_corners_of_a_box_are_looked_at():
    unit = domain(real(x, at_least=0, at_most=1), real(y, at_least=0, at_most=1))
    corner = inequality(at_most(Fraction(1, 100), 1 - x * y), unit)
    assert point_of(counterexample(corner)) == {"x": 1, "y": 1}
    inside = domain(*unit.variables, less(x, 1), less(y, 1), less(0, x), less(0, y), differs(x, y))
    failure = counterexample(inequality(at_most(Fraction(1, 100), 1 - x * y), inside))
    assert failure.point["x"] * failure.point["y"] > Fraction(99, 100)


def test_only_large_values_of_one_of_many_symbols():
    names = symbols("A1 A2 A3 A4 B1 B2 B3 B4")
    claim = inequality(
        at_most(sum(names[1:4], names[0]), 10**6 * sum(names[5:], names[4])),
        domain(*map(positive, names)),
    )
    failure = counterexample(claim)
    assert holds(claim.relation, failure.point) is False
    assert sorted(failure.point.values())[:7] == [1] * 7


def test_hypotheses_hold_at_counterexamples():
    shares = domain(positive(x), positive(y), equal(x + y, 1), less(x, y))
    failure = counterexample(inequality(at_most(Fraction(1, 4), x * y), shares))
    assert holds(equal(x + y, 1), failure.point) is True
    assert failure.point["x"] < failure.point["y"]


def test_a_point_outside_the_domain_is_no_failure():
    claim = inequality(at_most(x, 1), domain(real(x, at_most=1)))
    assert failure_at(claim, {"x": 2}) is None
    assert failure_at(inequality(less(N, 2), domain(integer(N))), {"N": Fraction(5, 2)}) is None
    assert counterexample(claim) is None


def test_a_search_counts_and_says_whether_it_was_exhaustive():
    few = search(identity(N * N, N * N, domain(integer(N, at_least=1, at_most=9))))
    assert (few.points, few.decided, few.exhaustive, few.proved) == (9, 9, True, True)
    pairs = domain(integer(N, at_least=0, at_most=4), integer(M, at_least=0, at_most=N))
    assert search(inequality(at_most(M, N), pairs)).points == 15
    many = search(identity(x, x, domain(real(x))), budget=100)
    assert (many.points, many.exhaustive, many.proved) == (100, False, False)
    nothing = search(identity(0, 1, domain(integer(N, at_least=1, at_most=0))))
    assert (nothing.points, nothing.exhaustive, nothing.proved) == (0, True, False)


@pytest.mark.parametrize("budget", range(1, 40))
def test_a_budget_that_cuts_a_search_off_leaves_it_inexhaustive(budget):
    """Ten points, 7/10 of the budget by cost: only a larger one may see that there are no more."""
    found = search(identity(N, N, domain(integer(N, at_least=1, at_most=10))), budget)
    assert not found.exhaustive or found.points == 10


def test_an_undecided_hypothesis_leaves_a_search_inexhaustive():
    on = domain(integer(N, at_least=1, at_most=3), equal(exp(N) * exp(-N), 1))
    found = search(identity(N, 0, on))
    assert (found.points, found.exhaustive) == (0, False)


@given(st.integers(-30, 30), st.integers(0, 30), st.booleans(), st.booleans())
def test_integers_between_bounds_are_all_listed(first, length, lower_open, upper_open):
    last = first + length
    lower, upper = Edge(fmpq(first), lower_open), Edge(fmpq(last), upper_open)
    choices = Choices(True, lower, upper)
    expected = set(range(first + lower_open, last + 1 - upper_open))
    assert {int(v.p) for v in choices.values} == expected
    assert len(choices.values) == len(expected)
    assert list(map(size, choices.values)) == sorted(map(size, choices.values))


def test_points_come_by_cost_without_repetition():
    points = list(Points(domain(real(x), integer(N, at_least=0)))(1000))[:600]
    assert points[0] == (0, 0)
    assert len({(str(a), str(b)) for a, b in points}) == 600
    lists = (
        Choices(False).values,
        Choices(True, Edge(fmpq(0), False)).values,
    )
    costs = [sum(map(tuple.index, lists, point)) for point in points]
    assert costs == sorted(costs)


def test_two_searches_find_the_same():
    claim = inequality(at_most(x**2 * y, 10**9 + x * y), domain(positive(x), positive(y)))
    assert counterexample(claim) == counterexample(claim)


# -- no true claim is refuted -----------------------------------------------------------------

numbers = st.builds(Fraction, st.integers(-4, 4), st.integers(1, 3)).map(constant)
terms = st.recursive(
    st.sampled_from([x, y, N]) | numbers,
    lambda inner: (
        st.builds(lambda a, b: a + b, inner, inner)
        | st.builds(lambda a, b: a - b, inner, inner)
        | st.builds(lambda a, b: a * b, inner, inner)
        | st.builds(lambda a, b: a / (1 + b * b), inner, inner)
        | st.builds(lambda a: exp(-(a * a)), inner)
        | st.builds(maximum, inner, inner)
    ),
    max_leaves=6,
)
TRUE = (
    lambda a, b, c: equal((a + b) * c, a * c + c * b),
    lambda a, b, _: equal((a - b) * (a + b), a * a - b * b),
    lambda a, b, _: equal(exp(a + b), exp(a) * exp(b)),
    lambda a, b, _: equal(maximum(a, b) + -maximum(-a, -b) - a, b),
    lambda a, b, c: equal((a / (1 + b * b)) / (1 / (1 + c * c)) * (1 + b * b), a * (1 + c * c)),
    lambda a, b, _: equal(log(exp(a) * exp(b)), a + b),
    lambda a, _b, _c: at_most(1 + a, exp(a)),
    lambda a, b, _: at_most(2 * a * b, a * a + b * b),
    lambda a, b, _: less(0, 1 + exp(a) * exp(b)),
    lambda a, b, _: differs(a * a + 1, -exp(b)),
)
everywhere = domain(real(x), real(y, at_least=-3, at_most=5), integer(N))


@settings(max_examples=60)
@given(terms, terms, terms, st.sampled_from(TRUE))
def test_no_true_claim_is_refuted(a, b, c, true):
    claim = inequality(true(a, b, c), everywhere)
    assert counterexample(claim, budget=60) is None


@settings(max_examples=60)
@given(terms, terms, terms, st.sampled_from(TRUE[:5]), numbers)
def test_a_false_identity_is_refuted(a, b, c, true, difference):
    relation = true(a, b, c)
    shifted = equal(relation.left, relation.right + difference)
    failure = counterexample(inequality(shifted, everywhere), budget=60)
    assert (failure is None) == (difference.payload == 0)
