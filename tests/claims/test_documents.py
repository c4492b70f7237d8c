"""The packaged documents: every step comes out as expected, and no step can be changed unseen."""

from dataclasses import replace

import pytest

from symsim.claims import (
    Acceptance,
    Count,
    Counterexample,
    Evaluation,
    Execution,
    Formula,
    Imported,
    Induction,
    Kind,
    Partition,
    Relation,
    Unproved,
)
from symsim.claims.check import assemble, check, result_of
from symsim.claims.claim import Claim
from symsim.claims.library import load, packaged
from symsim.claims.mutants import select
from symsim.claims.search.witness import counterexample, failure_at
from symsim.cli import exit_codes
from symsim.cli.check import exit_code
from symsim.constructions import sum_of_tokens
from symsim.model import Limits, Plan, run
from symsim.report.words import summary
from symsim.terms import constant

STEPS = {step.name: (path, step) for path in packaged() for step in load(path).steps}
OPEN = {Kind.UNDECIDED, Kind.PROBABLE, Kind.SAMPLED, Kind.ENCLOSED}


@pytest.fixture(scope="session")
def checked():
    return {path: check(path, jobs=2) for path in packaged()}


@pytest.fixture
def result(checked, name):
    path, _ = STEPS[name]
    return next(result for result in checked[path].steps if result.name == name)


every_step = pytest.mark.parametrize("name", STEPS)


def with_step(document_result, changed):
    """The document's result with another result of one step."""
    results = {result.name: result for result in document_result.steps}
    return assemble(document_result.document, results | {changed.name: changed})


def assert_noticed(document_result, changed):
    """The run fails and names the step, and no other."""
    broken = with_step(document_result, changed)
    others = [r.name for r in document_result.steps if not r.as_expected and r.name != changed.name]
    unexpected = [result.name for result in broken.steps if not result.as_expected]
    assert changed.name in unexpected
    assert set(unexpected) == {changed.name, *others}
    assert f"NOT as expected: {', '.join(unexpected)}." in summary(broken)
    only = with_step(document_result, changed) if not others else None
    if only is not None:
        merely_open = changed.verdict.kind in OPEN
        code = exit_codes.UNDECIDED if merely_open else exit_codes.DIFFERS
        assert exit_code([only]) == code


# -- as they are ------------------------------------------------------------------------------


def test_names_are_told_apart_across_documents():
    assert len(STEPS) == sum(len(load(path).steps) for path in packaged())


@every_step
def test_step_is_as_expected(result):
    assert result.as_expected, summary_of(result)


def summary_of(result):
    return f"{result.verdict.kind.value}: {result.verdict.reason} {result.mutants.unexplained}"


def test_documents_are_as_expected(checked):
    for result in checked.values():
        assert result.as_expected, summary(result)
        assert "all as expected" in summary(result)
    assert exit_code(list(checked.values())) == exit_codes.OK


@every_step
def test_proved_formula_has_two_engines_or_says_alone(result, name):
    _, step = STEPS[name]
    verdict = result.verdict
    if verdict.kind is Kind.PROVED and isinstance(step.claim, Formula):
        assert len(set(verdict.provers)) > 1 or verdict.reason.endswith(" alone")
    if verdict.kind is Kind.PROVED:
        assert verdict.provers
        assert verdict.scope


@every_step
def test_refuted_step_has_a_witness(result, name):
    _, step = STEPS[name]
    if result.verdict.kind is not Kind.REFUTED:
        return
    assert result.verdict.witness
    match step.claim:
        case Formula():
            assert failure_at(step.claim, result.verdict.witness) is not None
        case Execution() | Count() | Acceptance() if step.claim.sizes:
            at = {name: int(value) for name, value in result.verdict.witness.items()}
            (size,) = (size for size in step.claim.sizes if size.values == at)
            again = result_of(replace(step, claim=replace(step.claim, sizes=(size,))))
            assert again.verdict.kind is Kind.REFUTED


@every_step
def test_explained_mutants_are_alive(result, name):
    _, step = STEPS[name]
    for what in step.survivors:
        assert any(line.startswith(f"{what}: alive") for line in result.mutants.survivors)


# -- expectations flipped ---------------------------------------------------------------------


@every_step
def test_flipped_expectation_is_noticed(checked, result, name):
    path, _ = STEPS[name]
    for kind in (Kind.PROVED, Kind.REFUTED, Kind.NOT_RUN, Kind.UNDECIDED):
        if kind is not result.verdict.kind:
            assert_noticed(checked[path], replace(result, expected=kind))


# -- claims changed ---------------------------------------------------------------------------


def changes(step):
    """The step's claim with one thing changed, such that another verdict is due."""
    claim, refuted = step.claim, step.expect is Kind.REFUTED
    match claim:
        case Formula() if refuted:
            assumed = replace(claim.domain, hypotheses=(*claim.domain.hypotheses, claim.relation))
            yield "what is claimed is assumed", Formula(claim.relation, assumed)
        case Formula():
            killed = (m for m in select(claim).mutants if counterexample(m.formula, 2_000))
            mutant = next(killed)
            yield mutant.description, mutant.formula
        case Partition():
            first, *rest = claim.member
            shifted = Relation(first.left + 1, first.comparison, first.right)
            yield "a cell off by one", replace(claim, member=(shifted, *rest))
        case Count():
            yield "closed form + 1", replace(claim, closed_form=claim.closed_form + constant(1))
            if refuted:
                yield "the smallest size only", replace(claim, sizes=claim.sizes[:1])
        case Execution() if refuted:
            yield "the plan as its own reference", replace(claim, reference=own_result(claim))
        case Execution():
            yield "a wrong reference", replace(claim, reference=twice(claim.reference))
        case Acceptance():
            yield "another plan", replace(claim, plan=lambda _: plan_of(rows=2 if refuted else 3))
        case Evaluation():
            other = claim.result + 1 if claim.result is not None else 1
            yield "another result", replace(claim, result=other)
            if refuted:
                yield "not finite", replace(claim, result=None)
        case Counterexample():
            *others, (name, value) = claim.values.items()
            yield "another point", replace(claim, values={**dict(others), name: value + 1})
        case Induction():
            relation = claim.step.relation
            turned = Relation(relation.right, relation.comparison, relation.left)
            yield (
                "sides of the step exchanged",
                replace(claim, step=Formula(turned, claim.step.domain)),
            )
        case Imported():
            yield "no longer imported", Unproved(claim.assumes)
        case Unproved():
            yield "imported", Imported("a paper", claim.reason)
        case _:
            raise AssertionError(f"{step.name}: no change for a {type(claim).__name__}")


def twice(reference):
    return lambda numbers, given: reference(numbers, given) + reference(numbers, given)


def own_result(claim):
    def reference(numbers, given):
        shapes = {name: matrix.shape for name, matrix in given.items()}
        size = next(size for size in claim.sizes if dict(claim.inputs(size)) == shapes)
        parameters = {name: matrix for name, matrix in given.items() if name.startswith("W_")}
        return run(claim.plan(size), numbers, given, parameters)

    return reference


def plan_of(rows):
    """A.2 on so many tokens, by an oracle of two."""
    plan = Plan(Limits.of_paper(tokens=2, dimension=1))
    plan.finish(plan.call("block", "A.2", sum_of_tokens(rows, {"x": 1}), plan.input("x", rows, 1)))
    return plan


@every_step
def test_changed_claim_is_noticed(checked, name):
    path, step = STEPS[name]
    found = {}
    for what, claim in changes(step):
        changed = result_of(replace(step, claim=claim, survivors={}), mutants=False)
        found[what] = changed.verdict
        if not changed.as_expected:
            assert_noticed(checked[path], changed)
            return
    pytest.fail(f"{name}: {found} is as expected")


def test_every_kind_of_claim_has_a_change():
    kinds = {type(step.claim) for _, step in STEPS.values()}
    assert kinds <= set(Claim.__args__)
    assert set(Claim.__args__) - kinds <= {Imported}, "a kind that no document has"


# -- the register -----------------------------------------------------------------------------


@pytest.fixture(params=packaged(), ids=lambda path: path.stem)
def document(request):
    return load(request.param)


def two_heads():
    return next(load(path) for path in packaged() if load(path).id == "two_heads")


def test_findings_and_their_steps_name_each_other(document):
    steps = {step.name: step for step in document.steps}
    for finding in document.findings:
        assert finding.steps, finding.id
        assert set(finding.steps) <= set(steps)
    named = {finding.id: set(finding.steps) for finding in document.findings}
    for step in document.steps:
        assert step.finding is None or step.name in named[step.finding], step.name


def test_finding_is_shown_by_a_refuted_step_or_says_what_is_open(checked):
    for result in checked.values():
        verdicts = {step.name: step.verdict for step in result.steps}
        for finding in result.document.findings:
            settled = {verdicts[name].kind for name in finding.steps}
            assert settled & {Kind.PROVED, Kind.REFUTED} or finding.open_part, finding.id


def test_register_covers_the_findings():
    expected = {"G01", "G02", "G05", "G09", "G11", "G12", "G25", "G28", "G29"}
    assert {finding.id for finding in two_heads().findings} >= expected


def test_every_objection_of_the_review_is_answered_or_open():
    objections = {objection.source: objection for objection in two_heads().objections}
    referee = [f"referee {k}" for k in range(1, 5)]
    minor = [f"referee minor {k}" for k in range(1, 6)]
    assert set(objections) >= {*referee, *minor, "desk editor", "skeptic"}
    for objection in objections.values():
        assert objection.steps or objection.answer.startswith("Open"), objection.source


def test_refuted_printed_steps_are_repaired_or_in_the_register(document):
    for step in document.steps:
        if step.role == "printed" and step.expect is Kind.REFUTED:
            assert document.repairs_of(step) or step.finding, step.name


@every_step
def test_claim_reads_as_text(name):
    _, step = STEPS[name]
    for sign in ("<function", "Term(", "object at", "Relation(", "Fraction("):
        assert sign not in str(step.claim)
