"""Deciding: how evidence is combined, what is asked in which order, and what is no success."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from itertools import permutations, product

import numpy as np
import pytest

from symsim.claims import (
    Acceptance,
    Count,
    Counterexample,
    Evaluation,
    Execution,
    Induction,
    Kind,
    Partition,
    Unproved,
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
    sizes,
    symbols,
)
from symsim.claims.decide import all_engines, decide, decide_formula
from symsim.claims.domain import DomainError, Variable
from symsim.claims.engines.smt_sessions import Cvc5Session, Z3Session
from symsim.claims.mutation import mutate
from symsim.claims.obligations import obligations
from symsim.claims.verdict import Evidence, combine
from symsim.constructions import sum_of_tokens
from symsim.model import Limits, ModelError, Plan
from symsim.terms import column, constant, dot, exp, log

x, y, z, n, N, S = symbols("x y z n N S")
some_x = domain(real(x))
STRENGTH = (Kind.ENCLOSED, Kind.PROBABLE, Kind.SAMPLED, Kind.UNDECIDED, Kind.NOT_RUN)
TRUE = identity((x + 1) * (x - 1), x * x - 1, some_x)
FALSE = identity((x + 1) * (x + 1), x * x + 1, some_x)


def found(kind, engine="one", *, scope="here", line="as seen", witness=None):
    return Evidence(engine, kind, scope, (line,), witness)


def at(**values):
    return {name: Fraction(value) for name, value in values.items()}


class Says:
    """A planted engine: the same evidence for every formula, which it remembers."""

    def __init__(self, evidence, name="planted"):
        self.name = name
        self.asked = []
        self._evidence = evidence

    def decide(self, claim):
        self.asked.append(claim)
        return self._evidence


class Breaks:
    name = "broken"

    def decide(self, claim):
        raise RecursionError("too deep")


PROVES_ALL = found(Kind.PROVED, "planted", scope="all sizes")


# -- combining ------------------------------------------------------------------------------


def test_nothing_proves_nothing():
    verdict = combine([])
    assert verdict.kind is Kind.UNDECIDED
    assert verdict.reason == "no engine applies"


@pytest.mark.parametrize("pair", list(product(STRENGTH, repeat=2)), ids=str)
def test_the_strongest_of_what_is_no_proof_counts(pair):
    verdict = combine([found(kind, scope=kind.value, line=kind.value) for kind in pair])
    expected = min(pair, key=STRENGTH.index)
    assert (verdict.kind, verdict.scope) == (expected, expected.value)
    assert expected.value in verdict.reason
    assert verdict.witness is None
    assert len(verdict.evidence) == 2


@pytest.mark.parametrize("other", STRENGTH)
@pytest.mark.parametrize("first", [True, False])
def test_a_proof_beats_all_but_a_refutation_and_is_alone(other, first):
    evidence = [PROVES_ALL, found(other, "other")]
    verdict = combine(evidence if first else evidence[::-1])
    assert (verdict.kind, verdict.scope) == (Kind.PROVED, "all sizes")
    assert verdict.reason == "by planted alone"
    assert verdict.provers == ("planted",)


@pytest.mark.parametrize("other", STRENGTH)
@pytest.mark.parametrize("first", [True, False])
def test_a_refutation_beats_all_but_a_proof(other, first):
    evidence = [found(Kind.REFUTED, "finder", witness=at(x=2)), found(other, "other")]
    verdict = combine(evidence if first else evidence[::-1])
    assert (verdict.kind, verdict.reason) == (Kind.REFUTED, "by finder")
    assert verdict.witness == at(x=2)


@pytest.mark.parametrize("order", list(permutations(range(3))))
def test_a_proof_and_a_refutation_are_a_conflict_in_any_order(order):
    refuted = found(Kind.REFUTED, "finder", witness=at(x=2))
    evidence = (PROVES_ALL, refuted, found(Kind.SAMPLED, "other"))
    verdict = combine([evidence[k] for k in order])
    assert verdict.kind is Kind.CONFLICT
    assert verdict.reason == "planted proves it, finder refutes it"
    assert verdict.witness == at(x=2)


def test_two_engines_are_not_alone_and_one_twice_is():
    other = found(Kind.PROVED, "other")
    assert combine([PROVES_ALL, other]).reason == "by planted, other"
    assert combine([PROVES_ALL, PROVES_ALL]).reason == "by planted alone"


@pytest.mark.parametrize("order", list(permutations(range(4))))
def test_the_smallest_witness_is_shown_and_none_is_no_witness(order):
    evidence = (
        found(Kind.REFUTED, "large", witness=at(x=100)),
        found(Kind.REFUTED, "fine", witness=at(x=Fraction(1, 7))),
        found(Kind.REFUTED, "small", witness=at(x=-2)),
        found(Kind.REFUTED, "silent"),
    )
    verdict = combine([evidence[k] for k in order])
    assert (verdict.reason, verdict.witness) == ("by small", at(x=-2))


# -- engines that are wrong or break --------------------------------------------------------


def test_an_engine_that_breaks_is_reported_and_never_the_claims_flaw():
    verdict = decide(TRUE, [Breaks()])
    assert verdict.kind is Kind.UNDECIDED
    assert "the engine failed: RecursionError: too deep" in verdict.reason
    verdict = decide(FALSE, [Breaks()])
    assert (verdict.kind, verdict.witness) == (Kind.UNDECIDED, None)


def test_an_engine_that_breaks_leaves_the_others_their_verdict():
    assert decide(TRUE, [Breaks(), *all_engines()]).kind is Kind.PROVED
    verdict = decide(FALSE, [*all_engines(), Breaks()])
    assert verdict.kind is Kind.REFUTED
    assert "broken" in {evidence.engine for evidence in verdict.evidence}


def test_an_engine_that_proves_everything_is_in_conflict_with_a_counterexample():
    verdict = decide(FALSE, [Says(PROVES_ALL), *all_engines()])
    assert verdict.kind is Kind.CONFLICT
    assert verdict.reason.startswith("planted proves it, ")


def test_an_engine_that_proves_everything_is_alone_where_nothing_refutes():
    hidden = inequality(less(0, (x * x - 2) * (x * x - 2)), some_x)
    verdict = decide(hidden, [Says(PROVES_ALL), *all_engines()])
    assert (verdict.kind, verdict.reason) == (Kind.PROVED, "by planted alone")


def test_an_engine_that_proves_everything_cannot_hide_a_divisor_that_vanishes():
    verdict = decide(identity(x / x, 1, some_x), [Says(PROVES_ALL), *all_engines()])
    assert verdict.kind is Kind.CONFLICT
    assert verdict.reason.startswith("it needs x ≠ 0")


@pytest.mark.parametrize(
    "vacuous", [inequality(less(x, 0), domain(positive(x), less(x, 0))), identity(x, x, some_x)]
)
def test_an_engine_that_proves_everything_is_not_asked_what_says_nothing(vacuous):
    planted = Says(PROVES_ALL)
    assert decide(vacuous, [planted]).kind is Kind.UNDECIDED
    assert not planted.asked


@pytest.mark.parametrize(
    ("claim", "witness"),
    [
        (TRUE, at(x=1)),
        (FALSE, at(x=0)),
        (FALSE, None),
        (FALSE, {}),
        (FALSE, at(y=1)),
        (identity(n, 2 * n, domain(integer(n))), at(n=Fraction(1, 2))),
        (identity(x, 2 * x, domain(real(x, at_least=2))), at(x=1)),
        (identity(x, 2 * x, domain(real(x), less(5, x))), at(x=5)),
    ],
)
def test_a_counterexample_that_is_none_does_not_refute(claim, witness):
    planted = Says(found(Kind.REFUTED, "planted", witness=witness))
    verdict = decide(claim, [planted])
    assert (verdict.kind, verdict.witness) == (Kind.UNDECIDED, None)
    assert "not certified" in verdict.reason or "the engine failed: KeyError" in verdict.reason
    assert verdict.evidence[-1].witness is None


def test_a_counterexample_by_a_planted_engine_counts_where_it_is_one():
    verdict = decide(FALSE, [Says(found(Kind.REFUTED, "planted", witness=at(x=1)))])
    assert (verdict.kind, verdict.witness) == (Kind.REFUTED, at(x=1))


def test_without_engines_nothing_is_decided():
    assert decide(TRUE, []).kind is Kind.UNDECIDED
    assert decide(FALSE, []).kind is Kind.UNDECIDED


def test_engines_that_do_not_apply_leave_the_claim_undecided():
    verdict = decide(TRUE, [Says(None)])
    assert (verdict.kind, verdict.reason) == (Kind.UNDECIDED, "no engine applies")


def test_what_no_engine_expresses_is_undecided():
    wide = column("v", 2)
    claim = identity(dot(wide, wide), dot(wide, wide) + 0, domain(real(wide)))
    assert decide(claim).kind is Kind.UNDECIDED
    limited = identity(x, 2 * x, domain(real(x), real(wide), less(dot(wide, wide), 1)))
    verdict = decide(limited)
    assert verdict.kind is Kind.UNDECIDED
    assert verdict.reason.startswith("no points of the domain can be made")


# -- integrality ----------------------------------------------------------------------------


@pytest.mark.parametrize("engine", all_engines(), ids=lambda engine: engine.name)
def test_integers_are_refuted_by_integers_only(engine):
    between = inequality(at_most(n, n * n), domain(integer(n)))
    evidence = engine.decide(between)
    assert evidence is None or evidence.kind is not Kind.REFUTED
    mixed = inequality(less(n, x + 1), domain(integer(n), real(x), less(n, x + Fraction(3, 2))))
    evidence = engine.decide(mixed)
    if evidence is not None and evidence.kind is Kind.REFUTED:
        assert evidence.witness["n"].denominator == 1


def test_a_witness_has_an_integer_and_a_fraction_where_both_are_needed():
    claim = inequality(
        differs(2 * x, 2 * n + 1), domain(integer(n), real(x), less(0, x), less(x, 1))
    )
    assert decide(claim).witness == at(n=0, x=Fraction(1, 2))


# -- domain and obligations -----------------------------------------------------------------


def test_every_verdict_on_a_formula_shows_that_its_domain_is_inhabited():
    for claim in (TRUE, FALSE):
        first = decide(claim).evidence[0]
        assert (first.engine, first.kind) == ("domain", Kind.NOT_RUN)
        assert first.lines[0].startswith("inhabited: x = ")


def shown(claim):
    return [f"{needed.relation} on {needed.domain}" for needed in obligations(claim)]


def test_obligations_come_from_bounds_then_hypotheses_then_the_relation():
    claim = identity(
        1 / (x + y + 4),
        log(z) / 2,
        domain(
            real(x, at_least=1 / constant(3)),
            real(y, at_least=1 / x, at_most=log(x + 2)),
            real(z),
            less(1 / (y + 3), 1),
            less(0, z),
        ),
    )
    assert [str(needed.relation) for needed in obligations(claim)] == [
        "x ≠ 0",
        "0 < x + 2",
        "y + 3 ≠ 0",
        "x + y + 4 ≠ 0",
        "0 < z",
    ]


def test_a_bound_is_judged_on_the_symbols_before_it():
    (needed,) = obligations(identity(y, y + 0, domain(real(x), real(y, at_least=1 / x))))
    assert needed.domain.names == ("x",)
    assert not needed.domain.hypotheses


def test_a_hypothesis_is_not_used_for_its_own_divisors():
    own = domain(real(x), less(0, 1 / x))
    (needed, *_) = obligations(inequality(less(0, x), own))
    assert not needed.domain.hypotheses
    assert decide(inequality(less(0, x), own)).kind is Kind.REFUTED
    in_turn = domain(real(x), less(0, 1 / x), less(0, 1 / (1 / x)))
    assert shown(inequality(less(0, x), in_turn))[:2] == [
        "x ≠ 0 on x real",
        "x ≠ 0 on x real; 0 < 1/x",
    ]


@pytest.mark.parametrize(
    "on",
    [
        domain(real(x), real(y, at_least=1 / x), less(0, x)),
        domain(real(x), real(y), at_most(1 / x, y), less(0, x)),
        domain(real(x), real(y), less(0, x), at_most(1 / x, y)),
    ],
    ids=str,
)
def test_a_hypothesis_without_divisors_is_used_wherever_it_stands(on):
    assert decide(inequality(at_most(1, x * y), on)).kind is Kind.PROVED


def test_a_later_hypothesis_with_a_divisor_is_not_used_for_an_earlier_one():
    on = domain(real(x), real(y), less(1 / x, y), less(0, 1 / x))
    verdict = decide(inequality(less(0, y), on))
    assert verdict.kind is Kind.REFUTED
    assert verdict.reason.startswith("it needs x ≠ 0: refuted")


def test_an_obligation_that_is_not_proved_leaves_the_claim_undecided():
    engine = Says(found(Kind.SAMPLED, "planted"))
    verdict = decide(identity(x / (x * x + 1), x / (1 + x * x), some_x), [engine])
    assert verdict.kind is Kind.UNDECIDED
    assert verdict.reason.startswith("it needs x·x + 1 ≠ 0: sampled")
    assert len(engine.asked) == 1


def test_obligations_are_asked_before_the_claim_and_the_first_that_fails_ends_it():
    engine = Says(PROVES_ALL)
    claim = identity(1 / x + log(x), log(x) + 1 / x, domain(positive(x)))
    assert decide(claim, [engine]).kind is Kind.PROVED
    asked = [str(formula.relation) for formula in engine.asked]
    assert asked == ["x ≠ 0", "0 < x", str(claim.relation)]  # each shared node once


# -- both sides the same --------------------------------------------------------------------


@pytest.mark.parametrize("relation", [equal(x * x, x * x), at_most(x * x, x * x)], ids=str)
def test_the_same_term_twice_says_nothing(relation):
    claim = inequality(relation, some_x)
    assert claim.says_nothing
    verdict = decide_formula(claim)
    assert (verdict.kind, verdict.evidence) == (Kind.UNDECIDED, ())
    assert verdict.reason == "both sides are the same term: nothing is checked"


@pytest.mark.parametrize("relation", [less(x * x, x * x), differs(x * x, x * x)], ids=str)
def test_the_same_term_twice_may_be_false(relation):
    claim = inequality(relation, some_x)
    assert not claim.says_nothing
    assert decide(claim).kind is Kind.REFUTED


def test_a_mutant_that_says_nothing_is_equivalent_and_not_alive():
    claim = identity(x * 1, x, some_x)
    report = mutate(claim, decide(claim), {}, decide)
    assert not report.unexplained
    assert any("1 dropped in x·1: equivalent" in line for line in report.survivors)
    assert 0 < report.killed < report.total


# -- SMT names ------------------------------------------------------------------------------


@pytest.mark.parametrize("session", [Z3Session, Cvc5Session])
@pytest.mark.parametrize("whole", [True, False])
def test_two_unknowns_of_one_name_are_two(session, whole):
    query = session()
    one, other = (query.variable("a", integer=whole) for _ in range(2))
    query.require(query.compare(one, "<", other))
    assert query.check().status == "sat"


# -- executions -----------------------------------------------------------------------------


def sum_plan(size):
    plan = Plan(Limits.of_paper(tokens=max(size.values["N"], 2), dimension=1))
    oracle = sum_of_tokens(size.values["N"], {"x": 1})
    plan.finish(plan.call("block", "sum", oracle, plan.input("x", size.values["N"], 1)))
    return plan


def sums(_, given):
    total = given["x"][0]
    for row in given["x"][1:]:
        total = total + row
    return np.stack([total] * len(given["x"]))


SUM = Execution(
    "sum", sum_plan, lambda size: {"x": (size.values["N"], 1)}, sums, sizes("N", (2,), (3,))
)


def test_an_execution_is_proved_symbolically_and_sampled_in_numbers():
    verdict = decide(SUM)
    assert verdict.kind is Kind.PROVED
    assert verdict.scope == "all real inputs of sizes N = 2; N = 3"
    kinds = {evidence.engine: evidence.kind for evidence in verdict.evidence}
    assert kinds == {"execution in symbolic": Kind.PROVED, "execution in exact": Kind.SAMPLED}


def test_equal_only_where_no_divisor_vanishes_is_no_proof():
    def plan(size):
        n = size.values["N"]
        made = Plan(Limits.of_paper(tokens=max(n, 2), dimension=1))
        divides = sum_of_tokens(n, {"x": 1}, then=lambda token: {"x": token.x * token.x / token.x})
        made.finish(made.call("block", "sum", divides, made.input("x", n, 1)))
        return made

    verdict = decide(replace(SUM, plan=plan, arithmetics=("symbolic",)))
    assert verdict.kind is Kind.UNDECIDED
    assert "only where no divisor is zero" in verdict.reason


def test_an_execution_in_numbers_only_is_no_proof():
    assert decide(replace(SUM, arithmetics=("exact",))).kind is Kind.SAMPLED
    assert decide(replace(SUM, arithmetics=())).kind is Kind.UNDECIDED


def test_an_execution_is_refuted_by_both_at_the_first_wrong_size():
    wrong = replace(
        SUM,
        reference=lambda numbers, given: (
            sums(numbers, given) if len(given["x"]) < 3 else sums(numbers, given) + given["x"][0]
        ),
    )
    verdict = decide(wrong)
    assert (verdict.kind, verdict.witness) == (Kind.REFUTED, at(N=3))
    assert [evidence.kind for evidence in verdict.evidence] == [Kind.REFUTED, Kind.REFUTED]
    assert all("differs at N = 3, x = [[" in evidence.lines[0] for evidence in verdict.evidence)


def test_a_symbolic_difference_that_no_number_shows_is_undecided():
    """x·(x² − 1)·(x² − 4)·… vanishes at all integers that are drawn."""

    def hidden(numbers, given):
        entry = given["x"][0, 0]
        product_ = entry
        for k in range(1, 6):
            whole = numbers.integers(np.array([[k * k]]))[0, 0]
            product_ = product_ * (entry * entry - whole)
        return sums(numbers, given) + product_

    claim = replace(SUM, reference=hidden, sizes=sizes("N", (1,)))
    verdict = decide(claim)
    assert verdict.kind is Kind.SAMPLED
    assert verdict.evidence[0].kind is Kind.UNDECIDED
    assert "no integer input among" in verdict.evidence[0].lines[0]
    assert decide(replace(claim, arithmetics=("symbolic",))).kind is Kind.UNDECIDED


def test_an_execution_whose_equality_is_undecided_says_where():
    """exp of a quotient is opaque: exp(1/(x+1) + x/(x+1)) and e are not told apart."""

    def opaque(numbers, given):
        entry = given["x"][0, 0]
        one = numbers.integers(np.array([[1]]))[0, 0]
        left = numbers.exp_of(one / (entry + one)) * numbers.exp_of(entry / (entry + one))
        return sums(numbers, given) + np.array([[left - numbers.exp_of(one)]], dtype=object)

    claim = replace(SUM, reference=opaque, sizes=sizes("N", (1,)), arithmetics=("symbolic",))
    verdict = decide(claim)
    assert (verdict.kind, verdict.reason) == (Kind.UNDECIDED, "not decided at N = 1")


def test_a_run_in_balls_that_only_overlap_is_undecided():
    def overlapping(numbers, given):
        third = numbers.constant(Fraction(1, 3))
        return sums(numbers, given) + (third - third)

    claim = replace(SUM, reference=overlapping, arithmetics=("ball:53",))
    assert decide(claim).kind is Kind.UNDECIDED


def refuse(size):
    raise ModelError("rule", "call", 2, 1)


def stumble(size):
    return [][size.values["N"]]


@pytest.mark.parametrize("plan", [refuse, stumble])
def test_an_execution_that_breaks_down_is_undecided(plan):
    verdict = decide(replace(SUM, plan=plan))
    assert (verdict.kind, verdict.witness) == (Kind.UNDECIDED, None)
    assert "the engine failed" in verdict.reason


def test_a_result_of_another_shape_is_not_compared():
    verdict = decide(replace(SUM, reference=lambda numbers, given: sums(numbers, given).T))
    assert verdict.kind is Kind.UNDECIDED
    assert "has shape (2, 1), the reference (1, 2)" in verdict.reason


def calls(plan):
    return sum(1 for _ in plan.calls)


COUNT = Count("calls", sum_plan, calls, N / N, sizes("N", (2,), (3,)))
ACCEPTED = Acceptance("sum", sum_plan, sizes("N", (2,), (3,)))
HALVES = Partition(
    domain(integer(N, at_least=1)),
    integer(n, at_least=0, at_most=2 * N - 1),
    (),
    integer(S, at_least=0, at_most=1),
    (at_most(S * N, n), at_most(n, (S + 1) * N - 1)),
    symbols("q")[0],
    ((symbols("q")[0], n, N),),
)


@pytest.mark.parametrize("claim", [SUM, COUNT, ACCEPTED, HALVES], ids=lambda c: type(c).__name__)
def test_with_sizes_it_is_a_success(claim):
    assert decide(claim).kind is Kind.PROVED


@pytest.mark.parametrize("claim", [SUM, COUNT, ACCEPTED], ids=lambda c: type(c).__name__)
def test_without_sizes_it_is_none(claim):
    verdict = decide(replace(claim, sizes=()))
    assert verdict.kind is Kind.UNDECIDED
    assert verdict.reason.startswith("no sizes are given: nothing was checked")
    assert not verdict.provers


def test_a_partition_without_parameters_in_its_domain_is_none():
    nothing = domain(integer(N, at_least=2, at_most=1))
    assert decide(replace(HALVES, parameters=nothing)).kind is Kind.UNDECIDED


@pytest.mark.parametrize("plan", [stumble, lambda size: None], ids=["raises", "nothing"])
def test_a_plan_that_is_none_is_neither_counted_nor_accepted(plan):
    for claim in (COUNT, ACCEPTED):
        verdict = decide(replace(claim, plan=plan))
        assert (verdict.kind, verdict.witness) == (Kind.UNDECIDED, None)
        assert "the engine failed" in verdict.reason


@pytest.mark.parametrize("form", [exp(N), N / (N - N), column("other") + N], ids=str)
def test_a_closed_form_without_a_value_is_undecided(form):
    assert decide(replace(COUNT, closed_form=form)).kind is Kind.UNDECIDED


def test_an_evaluation_that_breaks_down_is_undecided():
    for arithmetic in ("exact", "abacus"):
        verdict = decide(Evaluation("y", y, {"x": 1}, arithmetic, 1))
        assert (verdict.kind, verdict.witness) == (Kind.UNDECIDED, None)
        assert "the engine failed" in verdict.reason


# -- induction ------------------------------------------------------------------------------

BASE = inequality(less(1, 2), domain())
STEP = inequality(less(n + 1, 2 * y), domain(real(n, at_least=1), real(y), less(n, y)))


def test_an_induction_is_proved_where_both_parts_are():
    verdict = decide(Induction("n", BASE, STEP))
    assert (verdict.kind, verdict.scope) == (Kind.PROVED, "all n from the base on")
    assert verdict.reason.startswith("base and step by ")


def test_the_variable_is_the_one_named_where_two_symbols_grow():
    step = inequality(less(n + 1, y + 1), STEP.domain)
    assert decide(Induction("n", BASE, step)).kind is Kind.PROVED
    bounded = inequality(less(n + 1, y + 1), domain(real(n), real(y, at_least=3), less(n, y)))
    assert decide(Induction("y", BASE, bounded)).kind is Kind.UNDECIDED


def test_a_base_may_be_the_same_term_twice():
    base = inequality(at_most(1, 1), domain())
    step = inequality(at_most(n + 1, 2 * y), domain(real(n, at_least=1), real(y), at_most(n, y)))
    assert decide(Induction("n", base, step)).kind is Kind.PROVED


@pytest.mark.parametrize(
    ("base", "step", "why"),
    [
        (inequality(less(3, 2), domain()), STEP, "base: "),
        (BASE, inequality(less(n + 1, y), STEP.domain), "step: "),
        (inequality(at_most(1, 2), domain()), STEP, "the base, 1 ≤ 2, is no case of n < y"),
        (inequality(less(Fraction(1, 2), 2), domain()), STEP, "expected a whole number"),
        (
            inequality(less(0, 2), domain()),
            STEP,
            "the step has n real with 1 ≤ n, the base is at 0",
        ),
        (BASE, inequality(less(n + 2, 3 * y), STEP.domain), "no one symbol n of n < y is n + 1"),
        (BASE, inequality(less(n, y + 1), STEP.domain), "no one symbol n of n < y is n + 1"),
        (BASE, inequality(less(0, n), domain(real(n, at_least=1))), "no induction hypothesis"),
        (
            BASE,
            inequality(
                less(n + 1, 2 * y), domain(real(n, at_least=1, at_most=9), real(y), less(n, y))
            ),
            "it ends",
        ),
        (
            BASE,
            inequality(less(n + 1, 2 * y), domain(real(n, at_least=1), integer(y), less(n, y))),
            "takes y for integers",
        ),
        (
            BASE,
            inequality(
                less(n + 1, 2 * y), domain(real(n, at_least=1), real(y, at_least=3), less(n, y))
            ),
            "the step assumes 3 ≤ y",
        ),
        (
            BASE,
            inequality(
                less(n + 1, 2 * y),
                domain(real(n, at_least=1), real(y), real(z, at_least=0), less(n, y)),
            ),
            "the step assumes 0 ≤ z, the base does not",
        ),
    ],
)
def test_parts_that_do_not_make_an_induction_do_not_prove(base, step, why):
    verdict = decide(Induction("n", base, step))
    assert verdict.kind in (Kind.UNDECIDED, Kind.REFUTED)
    assert why in verdict.reason


# -- counterexamples and domains ------------------------------------------------------------


@pytest.mark.parametrize("values", [{}, {"y": 1}, {"x": 1, "y": 1}])
def test_a_counterexample_gives_every_symbol_and_no_other(values):
    with pytest.raises(DomainError, match="the counterexample gives"):
        decide(Counterexample(FALSE, values))


def test_a_counterexample_that_no_precision_decides_is_not_refuted():
    tiny = Fraction(1, 10**400)
    claim = inequality(at_most(exp(x), 1 + x + x * x), some_x)
    near = inequality(at_most(exp(x), 1 + x + x * x / 2 + x * x * x / 6), some_x)
    assert decide(Counterexample(claim, {"x": tiny})).kind is Kind.UNDECIDED
    assert decide(Counterexample(near, {"x": tiny})).kind is Kind.UNDECIDED
    assert decide(Counterexample(near, {"x": 1})).kind is Kind.PROVED


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: identity(x, y, some_x), "the claim uses y"),
        (lambda: domain(real(x), real(x)), "x is declared twice"),
        (lambda: domain(real(x, at_least=y), real(y)), "a bound of x uses y"),
        (lambda: domain(real(x), less(x, y)), "the hypothesis x < y uses y"),
        (lambda: domain(real(x + 1)), "expected a symbol"),
        (lambda: Variable(constant(1)), "expected a symbol"),
        (lambda: decide(replace(HALVES, choice=z)), "uses z"),
    ],
)
def test_a_domain_that_is_none_raises(make, message):
    with pytest.raises(DomainError, match=message):
        make()


def test_what_is_not_settled_is_not_run():
    assert decide(Unproved("later")) == Verdict(Kind.NOT_RUN, "", "later")
