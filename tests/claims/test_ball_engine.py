"""The ball engine: refutes with runnable points, proves on boxes, says what it does not know."""

from __future__ import annotations

from fractions import Fraction

import pytest
from flint import arb, ctx, fmpq
from hypothesis import given, settings
from hypothesis import strategies as st

from symsim.claims import (
    Kind,
    at_most,
    differs,
    domain,
    identity,
    inequality,
    integer,
    less,
    positive,
    real,
    symbols,
)
from symsim.claims.engines.ball import BallEngine
from symsim.claims.search.boxes import BITS, box_of, simplest_between, subdivide
from symsim.claims.search.points import SEED
from symsim.claims.search.witness import failure_at
from symsim.terms import column, exp, log, maximum

x, y, z, N, M = symbols("x y z N M")
ENGINE = BallEngine(points=2_000)
QUARTER = Fraction(1, 4)
THOUSANDTH = Fraction(1, 1000)


def between(symbol, lower=0, upper=1):
    return real(symbol, at_least=lower, at_most=upper)


unit = domain(between(x))
square = domain(between(x), between(y))


@pytest.mark.parametrize(
    "claim",
    [
        inequality(at_most(x * (1 - x), QUARTER + THOUSANDTH), unit),
        inequality(less(x * (1 - x), QUARTER + Fraction(1, 10**9)), unit),
        inequality(at_most(0, x * (1 - x)), unit),
        inequality(less(1 + x - THOUSANDTH, exp(x)), domain(between(x, -2, 2))),
        inequality(less(exp(x), 1 + x + x * x), domain(between(x, Fraction(1, 10), 1))),
        inequality(less(log(x), x - 1 + THOUSANDTH), domain(between(x, QUARTER, 4))),
        inequality(less(0, 1 / (1 + exp(-x))), domain(between(x, -20, 20))),
        inequality(differs(x * x, 3), domain(between(x, -1, 1))),
        inequality(less(maximum(x, 1 - x), 1 + THOUSANDTH), unit),
        inequality(at_most(HALF := Fraction(1, 2), maximum(x, 1 - x) + THOUSANDTH), unit),
        inequality(less(x * y * z, exp(x + y + z)), domain(*map(between, (x, y, z)))),
        # The hypothesis is needed, and so is a bound in another symbol.
        inequality(less(x + y, 3), domain(between(x), between(y, 0, 10), less(y, 1 + x / 2))),
        inequality(less(x * x, y + THOUSANDTH), domain(between(x), between(y, x, 1))),
        inequality(less(x - x, 1), domain(between(x, HALF, HALF))),
    ],
    ids=str,
)
def test_inequalities_on_boxes_are_proved(claim):
    evidence = ENGINE.decide(claim)
    assert (evidence.kind, evidence.scope) == (Kind.PROVED, "all sizes"), evidence
    assert "boxes that cover the domain" in evidence.lines[0]


@pytest.mark.parametrize(
    ("claim", "near"),
    [
        (inequality(at_most(x * (1 - x), QUARTER), unit), "x = 1/2"),
        (inequality(at_most(1 + x, exp(x)), unit), "x = 0"),
        (inequality(at_most(2 * x * y, x * x + y * y), square), "x = "),
        (inequality(at_most(Fraction(1, 2), maximum(x, 1 - x)), unit), "x = 1/2"),
    ],
    ids=str,
)
def test_where_equality_is_attained_nothing_is_claimed(claim, near):
    evidence = ENGINE.decide(claim)
    assert evidence.kind is Kind.UNDECIDED
    assert evidence.lines[0].startswith(f"equality is attained at {near}")


def test_a_touching_at_an_irrational_point_is_undecided_near_it():
    evidence = ENGINE.decide(inequality(differs(x * x, 2), domain(between(x, 0, 2))))
    assert evidence.kind is Kind.UNDECIDED
    assert "near x = 1607521/1136689" in evidence.lines[0]  # √2 to 12 digits


@pytest.mark.parametrize(
    "claim",
    [
        inequality(at_most(x * (1 - x), QUARTER - Fraction(1, 10**12)), unit),
        inequality(less(exp(x), 1 + x + x * x), unit),
        inequality(at_most(Fraction(1, 100), 1 - x * y), square),
        inequality(at_most(1 + x + x * x, exp(x)), domain(real(x))),
        identity(x / x, 1, domain(real(x))),
        inequality(less(x, log(0 * x)), unit),
        inequality(less(N, 40), domain(integer(N, at_least=1, at_most=40))),
    ],
    ids=str,
)
def test_a_refutation_carries_a_point_that_runs(claim):
    evidence = ENGINE.decide(claim)
    assert evidence.kind is Kind.REFUTED
    assert failure_at(claim, evidence.witness) is not None
    assert evidence.lines == failure_at(claim, evidence.witness).lines


def test_a_narrow_failure_between_the_candidates_is_found_by_subdivision():
    """Below -10⁻¹² only within 10⁻⁶ of 1/√3, which no list of candidates comes near."""
    dip = (3 * x * x - 1) * (3 * x * x - 1)
    claim = inequality(less(Fraction(1, 10**12), dip), unit)
    assert subdivide(claim, box_of(claim.domain)).failure is not None
    evidence = ENGINE.decide(claim)
    assert evidence.kind is Kind.REFUTED
    assert abs(3 * evidence.witness["x"] ** 2 - 1) <= Fraction(1, 10**6)


def test_few_integers_are_enumerated():
    on = domain(integer(N, at_least=1, at_most=20), integer(M, at_least=0, at_most=N))
    evidence = ENGINE.decide(identity((N - M) * (N + M), N * N - M * M, on))
    assert (evidence.kind, evidence.scope) == (Kind.PROVED, "all sizes")
    assert evidence.lines == ("holds at all 230 points of the domain",)
    assert ENGINE.decide(inequality(less(N, exp(N)), on)).kind is Kind.PROVED
    assert ENGINE.decide(inequality(less(exp(1), 3), domain())).kind is Kind.PROVED


def test_an_enumeration_that_cannot_decide_everywhere_is_no_proof():
    on = domain(integer(N, at_least=0, at_most=5))
    evidence = ENGINE.decide(identity(exp(N) * exp(N), exp(2 * N), on))
    assert evidence.kind is Kind.SAMPLED
    assert evidence.scope == f"1 points, seed {SEED}"


def test_samples_are_no_proof():
    evidence = ENGINE.decide(identity((x + y) * y, x * y + y * y, domain(real(x), real(y))))
    assert (evidence.kind, evidence.scope) == (Kind.SAMPLED, f"2000 points, seed {SEED}")
    assert evidence.lines == ("no counterexample among 2000 points",)
    on = domain(real(x, at_least=1), real(y, at_least=1))
    undecided = ENGINE.decide(identity(exp(x) * exp(y), exp(x + y), on))
    assert undecided.kind is Kind.UNDECIDED
    assert undecided.lines == ("no counterexample among 2000 points, the relation certified at 0",)


def test_nothing_is_said_of_an_empty_domain():
    for empty in (
        domain(integer(N, at_least=1, at_most=0)),
        domain(between(x), less(x, x)),
        domain(between(x, 1, 0)),
    ):
        evidence = ENGINE.decide(inequality(less(0, 1), empty))
        assert evidence.kind is Kind.UNDECIDED
        assert "point" in evidence.lines[0]


def test_terms_of_several_columns_are_left_to_others():
    wide = column("w", 3)
    assert ENGINE.decide(inequality(less(wide, 1), domain(real(wide)))) is None


# -- boxes ------------------------------------------------------------------------------------


def test_boxes_need_finite_bounds_on_reals():
    assert box_of(square) == ((fmpq(0), fmpq(1)),) * 2
    (first, last) = box_of(domain(between(x), between(y, x, 2 + x)))[1]
    assert -THOUSANDTH < Fraction(str(first)) <= 0
    assert 3 <= Fraction(str(last)) < 3 + THOUSANDTH
    assert box_of(domain(positive(x))) is None
    assert box_of(domain(between(x), integer(N, at_least=0, at_most=3))) is None
    assert box_of(domain(*map(between, symbols("a b c e")))) is None
    assert box_of(domain(between(x), between(y, 0, 1 / x))) is None
    assert box_of(domain()) is None


@settings(max_examples=60)
@given(st.lists(st.fractions(-3, 3, max_denominator=7), min_size=4, max_size=4))
def test_what_is_proved_on_a_box_holds_on_a_grid(coefficients):
    a, b, c, e = coefficients
    term = a + b * x + c * x * y + e * exp(x - y) + maximum(x, b * y)
    claim = inequality(less(0, term), square)
    result = subdivide(claim, box_of(square))
    grid = [Fraction(i, 6) for i in range(7)]
    failures = [failure_at(claim, {"x": u, "y": v}) for u in grid for v in grid]
    if result.proved:
        assert failures == [None] * 49
    if result.failure is not None:
        assert failure_at(claim, result.failure.point) is not None


@given(st.fractions(-5, 5), st.fractions(0, 2))
def test_the_simplest_number_between(lower, width):
    ends = fmpq(lower.numerator, lower.denominator), fmpq(width.numerator, width.denominator)
    found = simplest_between(ends[0], ends[0] + ends[1])
    assert ends[0] <= found <= ends[0] + ends[1]
    assert found.q <= ends[0].q
    assert simplest_between(fmpq(3, 10), fmpq(34, 100)) == fmpq(1, 3)


def test_the_working_precision_is_left_as_it_was():
    before = ctx.prec
    ENGINE.decide(inequality(less(exp(x), 3 + x), unit))
    assert ctx.prec == before != BITS
    assert arb(fmpq(1, 3)).rel_accuracy_bits() < BITS
