"""Mutants: every class is made, true claims are changed into false ones, survivors are classed."""

from __future__ import annotations

from collections import Counter
from fractions import Fraction
from typing import get_args

import pytest

from symsim.claims import (
    Counterexample,
    Evaluation,
    Formula,
    Induction,
    Kind,
    Verdict,
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
from symsim.claims.decide import decide
from symsim.claims.engines.ball import BallEngine
from symsim.claims.mutants import MOST, Change, Mutant, judge, mutants, select
from symsim.claims.mutation import _fates, mutate
from symsim.claims.search.witness import counterexample, failure_at
from symsim.claims.verdict import combine
from symsim.terms import exp, formula, log, maximum

A, B, P, x, y, N, M, T = symbols("A B P x y N M T")
BALL = BallEngine(points=500)


def by_ball(claim):
    """The verdict of the ball engine alone: small, and never wrong."""
    return combine([BALL.decide(claim)])


def undecided(_):
    return Verdict(Kind.UNDECIDED, "", "not asked")


def proved(_):
    return Verdict(Kind.PROVED, "all sizes", "says the test")


def changes(claim):
    return Counter(mutant.change for mutant in select(claim, 10_000).mutants)


def of(claim, change):
    """The relations of the mutants of a class, as text by description."""
    chosen = [m for m in select(claim, 10_000).mutants if m.change == change]
    return {m.description: str(m.formula.relation) for m in chosen}


SPLIT = identity(A / (A + 1), 1 - 1 / (A + 1), domain(positive(A)))


# -- which mutants there are, counted by hand -------------------------------------------------


def test_a_small_sum_by_hand():
    claim = identity(A + B, B + A, domain(real(A), integer(N), real(B)))
    relations = {m.description: str(m.formula.relation) for m in mutants(claim)}
    assert relations == {
        "left: - put before A + B": "-(A + B) = B + A",
        "left: + → - in A + B": "A - B = B + A",
        "left: B dropped in A + B": "A = B + A",
        "left: A dropped in A + B": "B = B + A",
        "left: A → B in A + B": "B + B = B + A",
        "left: B → A in A + B": "A + A = B + A",
        "right: - put before B + A": "A + B = -(B + A)",
        "right: + → - in B + A": "A + B = B - A",
        "right: A dropped in B + A": "A + B = B",
        "right: B dropped in B + A": "A + B = A",
        "right: B → A in B + A": "A + B = A + A",
        "right: A → B in B + A": "A + B = B + B",
    }


def test_one_use_of_a_shared_term_is_changed_at_a_time():
    claim = identity((A + 1) * (A + 1), A * A + 2 * A + 1, domain(real(A)))
    signs = of(claim, "sign")
    assert signs["left: + → - in A + 1"].startswith("(A - 1)·(A + 1) = ")
    assert signs["left: + → - in A + 1, occurrence 2"].startswith("(A + 1)·(A - 1) = ")


def test_constants_change_by_one_and_double_and_no_divisor_becomes_zero():
    claim = identity(0 + x / 1, x, domain(real(x)))
    assert of(claim, "constant") == {
        "left: 0 → 1 in 0 + x/1": "1 + x/1 = x",
        "left: 0 → -1 in 0 + x/1": "-1 + x/1 = x",
        "left: 1 → 2 in x/1": "0 + x/2 = x",
    }


def test_exp_and_log_are_dropped_and_their_arguments_negated():
    claim = identity(log(exp(x)), x, domain(real(x)))
    assert list(of(claim, "exp").values()) == ["exp(x) = x", "log(x) = x"]
    assert "log(-exp(x)) = x" in of(claim, "sign").values()
    assert "log(exp(-x)) = x" in of(claim, "sign").values()


def test_quotients_and_maxima():
    claim = identity(maximum(A / B, -x), A / B, domain(real(A), positive(B), positive(x)))
    assert "max(A·B, -x) = A/B" in of(claim, "operator").values()
    assert {"max(A, -x) = A/B", "max(1/B, -x) = A/B", "-x = A/B", "A/B = A/B"} <= set(
        of(claim, "term").values()
    )
    assert "max(A/B, x) = A/B" in of(claim, "sign").values()


def test_symbols_are_exchanged_within_their_sort():
    claim = identity(N * x, x * N, domain(integer(N), integer(M), real(x)))
    assert list(of(claim, "symbol").values()) == ["M·x = x·N", "N·x = x·M"]


def test_limits_of_integers_are_widened_by_one():
    on = domain(integer(N, at_least=1, at_most=9), integer(M, at_least=N), less(M, 2 * N))
    claim = identity(N + M, M + N, on)
    limits = [m for m in select(claim, 10_000).mutants if m.change == "limit"]
    assert [m.description for m in limits] == [
        "M < 2·N → M < 2·N + 1",
        "1 ≤ N → 0 ≤ N",
        "N ≤ 9 → N ≤ 10",
        "N ≤ M → N - 1 ≤ M",
    ]
    assert all(str(m.formula.relation) == str(claim.relation) for m in limits)


def test_bounds_and_hypotheses_are_dropped_one_at_a_time():
    on = domain(positive(A), real(x, at_least=0, at_most=1), equal(A * x, 1))
    dropped = [m for m in mutants(identity(A, 1 / x, on)) if m.change == "hypothesis"]
    assert [m.description for m in dropped] == [
        "A·x = 1 dropped",
        "0 < A dropped",
        "0 ≤ x dropped",
        "x ≤ 1 dropped",
    ]
    assert [len(m.formula.domain.relations) for m in dropped] == [3] * 4


def test_an_inequality_is_changed_towards_strength_only():
    claim = inequality(at_most(x * (1 - x), Fraction(1, 4)), domain(real(x)))
    relations = {m.description: str(m.formula.relation) for m in mutants(claim)}
    assert relations == {
        "≤ → <": "x·(1 - x) < 1/4",
        "sides exchanged": "1/4 ≤ x·(1 - x)",
        "right · 9/10": "x·(1 - x) ≤ 9/40",
        "right · 99/100": "x·(1 - x) ≤ 99/400",
    }


def test_a_constant_is_scaled_where_that_tightens_everywhere():
    claim = inequality(less(2 / (A + 3), 5 - A / 7), domain(positive(A)))
    assert list(of(claim, "tightened")) == [
        "right - 1/10",
        "right - 1/100",
        "left: 2 → 20/9 in 2/(A + 3)",
        "left: 2 → 200/99 in 2/(A + 3)",
        "left: 3 → 27/10 in A + 3",
        "left: 3 → 297/100 in A + 3",
        "right: 5 → 9/2 in 5 - A/7",
        "right: 5 → 99/20 in 5 - A/7",
        "right: 7 → 63/10 in A/7",
        "right: 7 → 693/100 in A/7",
    ]


@pytest.mark.parametrize(
    ("claim", "expected"),
    [
        (inequality(less(-A, -1 * A / 2), domain(positive(A))), "right · 10/9"),
        (inequality(at_most(-A, 0), domain(positive(A))), "right - 1/10"),
        (inequality(at_most(N, 2 * N), domain(integer(N, at_least=1))), "right - 1"),
        (inequality(less(x, x + 1), domain(real(x, at_least=1, at_most=0))), "right - 1/10"),
        (inequality(at_most(A, A + exp(-A)), domain(positive(A))), "right · 9/10"),
    ],
    ids=str,
)
def test_a_tightened_right_side_is_always_there(claim, expected):
    tightened = of(claim, "tightened")
    assert next(iter(tightened)) == expected
    chosen = select(claim, 5).mutants
    assert expected in [m.description for m in chosen]


def test_tightened_inequalities_imply_the_claim():
    claim = inequality(at_most(3 - A / 2, 4 - A / 3), domain(positive(A)))
    for mutant in select(claim, 10_000).mutants:
        if mutant.change in ("tightened", "strict"):
            new, old = mutant.formula.relation, claim.relation
            room = at_most(new.right - new.left, old.right - old.left)
            assert counterexample(inequality(room, claim.domain), 500) is None, mutant


def test_a_claim_of_difference_is_ordered_both_ways():
    claim = inequality(differs(A + 1, 0), domain(positive(A)))
    assert list(of(claim, "strict").values()) == ["A + 1 < 0", "0 < A + 1"]


def test_every_class_occurs():
    on = domain(integer(N, at_least=1), positive(A), real(x))
    found = changes(identity(log(exp(A) + N * 2) - A, log(1 + 2 * N / exp(A)), on))
    found += changes(inequality(at_most(A, A + 1), domain(positive(A))))
    assert set(found) == set(get_args(Change))


# -- none twice, none the original ------------------------------------------------------------


def test_no_mutant_is_the_claim_or_another_mutant():
    claim = identity((A + A) * 1, A * 2, domain(real(A)))
    found = select(claim, 10_000).mutants
    relations = [str(m.formula.relation) for m in found]
    assert str(claim.relation) not in relations
    assert len(set(relations)) == len(relations)
    assert len({m.description for m in found}) == len(found)


def test_a_selection_is_balanced_deterministic_and_says_what_it_dropped():
    long = sum((A / (A + k) * exp(x) for k in range(2, 12)), A)
    claim = identity(long, 1 * long, domain(positive(A), real(x)))
    everything, chosen = select(claim, 10**6), select(claim)
    assert everything.dropped == 0
    assert len(chosen.mutants) == MOST
    assert chosen.dropped == len(everything.mutants) - MOST
    kept, all_of = changes_of(chosen), changes_of(everything)
    assert kept.keys() == all_of.keys()
    full = min(kept.values())
    assert all(n == all_of[change] or n >= max(kept.values()) - 1 for change, n in kept.items())
    assert full >= 1
    again = select(claim).mutants
    assert [m.description for m in again] == [m.description for m in chosen.mutants]
    assert mutants(claim)[0].description == chosen.mutants[0].description
    assert {m.description[:5] for m in chosen.mutants} >= {"left:", "right"}


def changes_of(selection):
    return Counter(mutant.change for mutant in selection.mutants)


# -- what becomes of them ---------------------------------------------------------------------

Z = A + 1 + P
IDENTITIES = [
    SPLIT,
    identity(A / (A + 1), A * exp(x) / (A * exp(x) + exp(x)), domain(positive(A), real(x))),
    identity((A / Z) / (1 / Z), A, domain(positive(A), real(P, at_least=0))),
    identity(N * (N + 1) / 2 + (N + 1), (N + 1) * (N + 2) / 2, domain(integer(N, at_least=1))),
    identity(x + log(A / (A + exp(x))) - log(exp(x) / (A + exp(x))), log(A),
             domain(positive(A), real(x))),
]  # fmt: skip


@pytest.mark.parametrize("claim", IDENTITIES, ids=str)
def test_mutants_of_identities_are_killed(claim):
    survivors = {
        (m.change, m.description)
        for m in select(claim, 10_000).mutants
        if judge(m, undecided) != "killed"
    }
    # Bounds that an identity of polynomials does not need.
    needless = {("hypothesis", "1 ≤ N dropped"), ("limit", "1 ≤ N → 0 ≤ N")}
    assert survivors == (needless if claim.domain.names == ("N",) else set())


def test_a_killed_mutant_has_a_counterexample_that_runs():
    for mutant in mutants(SPLIT):
        failure = counterexample(mutant.formula)
        assert failure is not None
        assert failure_at(mutant.formula, failure.point) == failure


def test_survivors_are_classed():
    small = domain(integer(N, at_least=1, at_most=6))
    equivalent = Mutant("sign", "", identity(N - 0, N, small))
    assert judge(equivalent, by_ball) == "equivalent"
    weaker = Mutant("hypothesis", "", identity(N, N, small))
    assert judge(weaker, by_ball) == "weaker"
    assert judge(Mutant("limit", "", identity(N, N, small)), by_ball) == "weaker"
    sharper = Mutant("tightened", "", inequality(at_most(N, 7), small))
    assert judge(sharper, by_ball) == "sharper and true"
    assert judge(Mutant("sign", "", identity(x, x, domain(real(x)))), undecided) == "alive"


def test_a_loose_bound_is_told_from_a_tight_one():
    on = domain(real(x, at_least=0, at_most=1))
    loose = inequality(at_most(x * (1 - x), 1), on)
    fates = {m.description: judge(m, by_ball) for m in mutants(loose)}
    assert fates["right · 9/10"] == fates["right · 99/100"] == "sharper and true"
    tight = inequality(at_most(x * (1 - x), Fraction(1, 4)), on)
    fates = {m.description: judge(m, by_ball) for m in mutants(tight)}
    assert fates["right · 9/10"] == fates["right · 99/100"] == fates["≤ → <"] == "killed"


def test_a_hypothesis_that_is_needed_and_one_that_is_not():
    on = domain(integer(N, at_least=1, at_most=30), less(N, 20), differs(N, 0))
    fates = {
        m.description: judge(m, by_ball)
        for m in mutants(inequality(at_most(N, 19), on))
        if m.change == "hypothesis"
    }
    assert fates["N < 20 dropped"] == "killed"
    assert fates["N ≠ 0 dropped"] == "weaker"


def test_a_verdict_kills_only_with_a_witness_that_runs():
    mutant = Mutant("sign", "", identity(x, x, domain(real(x))))
    empty = Verdict(Kind.REFUTED, "", "", witness={"x": Fraction(1)})
    assert judge(mutant, lambda _: empty) == "alive"
    rare = Mutant("sign", "", identity((x - Fraction(7919, 7907)) * 0 + x, x, domain(real(x))))
    assert judge(rare, proved) == "equivalent"
    hidden = differs(x, Fraction(7919, 7907))
    verdict = Verdict(Kind.REFUTED, "", "", witness={"x": Fraction(7919, 7907)})
    found = Mutant("strict", "", Formula(hidden, domain(real(x))))
    assert judge(found, undecided) == "alive"
    assert judge(found, lambda _: verdict) == "killed"


def test_descriptions_stay_short():
    long = sum((A / (A + k) for k in range(2, 40)), A)
    claim = identity(long, long + 0, domain(positive(A)))
    assert len(formula(long)) > 200
    assert max(len(m.description) for m in mutants(claim)) < 160


def test_every_kind_of_claim_that_can_be_missed_narrowly_has_mutants():
    n, power, x = symbols("n power x")
    growth = Induction(
        "n",
        base=inequality(less(1, 2), domain()),
        step=inequality(
            less(n + 1, 2 * power), domain(real(n, at_least=1), real(power), less(n, power))
        ),
    )
    square = inequality(less(x, x * x), domain(integer(x, at_least=0)))
    cases = (
        (growth, {"base: ", "step: "}),
        (Evaluation("x + 1", x + 1, {"x": 1}, "float32", 2), {"result 3", "result not finite"}),
        (Evaluation("1/x", 1 / x, {"x": 0}, "float32", None), {"result 0"}),
        (Counterexample(square, {"x": 1}), {"x + 1"}),
    )
    for claim, expected in cases:
        verdict = decide(claim)
        assert verdict.kind is Kind.PROVED
        fates = dict(_fates(claim, decide))
        assert all(any(what.startswith(start) for what in fates) for start in expected)
        assert "alive" not in fates.values()
        assert mutate(claim, verdict, {}, decide).killed > 0
    assert dict(_fates(Counterexample(square, {"x": 0}), decide)) == {"x + 1": "another one"}
