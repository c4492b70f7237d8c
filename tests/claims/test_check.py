"""Statements' status from the verdicts of their steps, on documents made here."""

from dataclasses import replace

import pytest

from symsim.claims import (
    Acceptance,
    Document,
    Evaluation,
    Finding,
    Imported,
    Kind,
    Mistake,
    Objection,
    Statement,
    Step,
    Unproved,
    domain,
    identity,
    inequality,
    less,
    real,
    sizes,
    symbols,
)
from symsim.claims.check import Status, assemble, check, chosen, decide_mutant, result_of
from symsim.claims.decide import decide
from symsim.claims.mutants import select
from symsim.claims.statement import DocumentError
from symsim.claims.status import HOLDS, Standing, standings, weakest
from symsim.claims.verdict import Verdict
from symsim.report.words import standing_line, summary

(x,) = symbols("x")
line = domain(real(x))

TRUE = identity(2 * x, x + x, line)
FALSE = identity(x, 2 * x, line)
CITED = Imported("Alman & Song 2023, Theorem 1.1", "attention takes quadratic time")
OPEN = Unproved("nobody has looked")

OF_KIND = {
    "true": (TRUE, Kind.PROVED),
    "false": (FALSE, Kind.REFUTED),
    "cited": (CITED, Kind.IMPORTED),
    "open": (OPEN, Kind.NOT_RUN),
}


def step(name, what, role="printed", repairs=None):
    claim, expect = OF_KIND[what]
    return Step(name, f"{name} says.", claim, expect, role, repairs)


def repair(name, of, what="true"):
    return step(name, what, "repaired", of)


def lemma(name, what):
    return step(name, what, "lemma")


def statement(name, *steps, uses=()):
    return Statement(name, f"title of {name}", f"{name} says.", steps, uses)


def document(*statements, **more):
    return Document("tiny", "A tiny paper", statements, **more)


def checked(made, only=()):
    """Every chosen step decided; mutants do not matter here."""
    return assemble(made, {s.name: result_of(s, mutants=False) for s in chosen(made, only)})


def status(made, only=()):
    """(as printed, after repair) by statement, as text."""
    return {
        found.statement.id: (found.as_printed.value, found.after_repair.value)
        for found in checked(made, only).statements
    }


PRINTED, REPAIRED = "holds as printed", "holds after repair"


# -- one statement ----------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("steps", "expected"),
    [
        ([step("a", "true")], (PRINTED, PRINTED)),
        ([step("a", "false")], ("fails", "fails")),
        ([step("a", "cited")], ("conditional", "conditional")),
        ([step("a", "open")], ("open", "open")),
        ([step("a", "false"), repair("b", "a")], ("fails", REPAIRED)),
        ([step("a", "false"), repair("b", "a", "open")], ("fails", "open")),
        ([step("a", "false"), repair("b", "a", "false")], ("fails", "fails")),
        ([step("a", "false"), repair("b", "a", "cited")], ("fails", "conditional")),
        ([step("a", "false"), repair("b", "a"), repair("c", "a", "open")], ("fails", "open")),
        ([step("a", "true"), step("b", "open")], ("open", "open")),
        ([step("a", "false"), step("b", "open")], ("fails", "fails")),
        ([step("a", "cited"), step("b", "open")], ("open", "open")),
        ([step("a", "false"), repair("b", "a"), step("c", "cited")], ("fails", "conditional")),
        ([step("a", "true"), lemma("b", "false")], (PRINTED, PRINTED)),
        ([step("a", "true"), lemma("b", "open")], (PRINTED, "open")),
        ([step("a", "true"), lemma("b", "cited")], (PRINTED, "conditional")),
        ([lemma("a", "true")], (PRINTED, PRINTED)),
        ([lemma("a", "open")], ("open", "open")),
    ],
    ids=lambda value: (
        "-".join(s.name + s.role[0] for s in value) if isinstance(value, list) else ""
    ),
)
def test_status_of_one_statement(steps, expected):
    assert status(document(statement("S", *steps))) == {"S": expected}


def test_lemma_that_should_hold_and_fails_makes_its_statement_fail():
    wrong = replace(lemma("b", "false"), expect=Kind.PROVED)
    assert status(document(statement("S", step("a", "true"), wrong))) == {"S": (PRINTED, "fails")}


@pytest.mark.parametrize(
    "kind", [Kind.UNDECIDED, Kind.CONFLICT, Kind.PROBABLE, Kind.SAMPLED, Kind.ENCLOSED]
)
def test_what_is_not_proved_is_open(kind):
    made = document(statement("S", step("a", "true")))
    found = standings(made, {"a": Verdict(kind, "", "")})
    assert found["S"].as_printed == Standing(Status.OPEN, ("a",))


def test_every_status_has_a_rank():
    for one in Status:
        assert weakest([Standing(one, ("a",)), HOLDS]).status is one
        assert weakest([Standing(Status.FAILS), Standing(one)]).status is Status.FAILS


# -- several statements -----------------------------------------------------------------------


@pytest.mark.parametrize("what", OF_KIND)
def test_status_is_transitive(what):
    made = document(
        statement("C", step("c", "true"), uses=("B",)),
        statement("A", step("a", what)),
        statement("B", step("b", "true"), uses=("A",)),
    )
    found = status(made)
    assert found["C"] == found["B"] == found["A"]
    assert list(found) == ["C", "A", "B"]


def test_user_of_a_repaired_statement_fails_as_printed_and_holds_after_repair():
    made = document(
        statement("A", step("a", "false"), repair("a2", "a")),
        statement("B", step("b", "true"), uses=("A",)),
    )
    result = checked(made)
    assert status(made)["B"] == ("fails", REPAIRED)
    assert standing_line(result.statements[1]) == (
        "as printed: fails (A); after repair: holds after repair of A"
    )


def test_conditional_names_what_on_also_for_users():
    made = document(
        statement("A", step("a", "cited")), statement("B", step("b", "true"), uses=("A",))
    )
    for found in checked(made).statements:
        assert standing_line(found) == (
            "as printed and after repair: conditional on Alman & Song 2023, Theorem 1.1"
        )


def test_repair_in_another_statement():
    made = document(statement("A", step("a", "false")), statement("A-repaired", repair("r", "a")))
    assert status(made) == {"A": ("fails", REPAIRED), "A-repaired": (PRINTED, PRINTED)}
    assert standing_line(checked(made).statements[1]) == "not in the paper: holds"


def test_repair_stands_on_what_its_statement_uses():
    made = document(
        statement("A", step("a", "false")),
        statement("A-repaired", repair("r", "a"), uses=("L",)),
        statement("L", lemma("l", "open")),
    )
    assert status(made)["A"] == ("fails", "open")


def test_failing_lemma_of_another_statement_does_not_undo_a_repair():
    made = document(
        statement("A", step("a", "false")),
        statement("A-repaired", repair("r", "a"), step("other", "false")),
    )
    assert status(made)["A"] == ("fails", REPAIRED)


def test_repair_that_uses_what_it_repairs_is_a_circle():
    with pytest.raises(DocumentError, match="circle: A → A"):
        document(
            statement("A", step("a", "false")),
            statement("A-repaired", repair("r", "a"), uses=("A",)),
        )


def test_statements_that_repair_each_other_are_no_circle():
    made = document(
        statement("A", step("a", "false"), repair("b2", "b")),
        statement("B", step("b", "false"), repair("a2", "a")),
    )
    assert status(made) == {"A": ("fails", REPAIRED), "B": ("fails", REPAIRED)}


# -- selections -------------------------------------------------------------------------------

SELECTED = document(
    statement("A", step("a", "true"), step("a-false", "false"), repair("a-repair", "a-false")),
    statement("B", step("b", "true"), step("b2", "true")),
    statement("C", step("c", "true"), uses=("B",)),
)


@pytest.mark.parametrize(
    ("only", "expected"),
    [
        ((), {"A": ("fails", REPAIRED), "B": (PRINTED, PRINTED), "C": (PRINTED, PRINTED)}),
        (("a",), {"A": ("partly checked", "partly checked")}),
        (("a", "a-false"), {"A": ("fails", "partly checked")}),
        (("a", "a-false", "a-repair"), {"A": ("fails", REPAIRED)}),
        (("A",), {"A": ("fails", REPAIRED)}),
        (("a-repair",), {"A": ("partly checked", "partly checked")}),
        (("b",), {"B": ("partly checked", "partly checked")}),
        (("C",), {"C": ("partly checked", "partly checked")}),
        (("C", "b"), dict.fromkeys("BC", ("partly checked", "partly checked"))),
        (("C", "B"), dict.fromkeys("BC", (PRINTED, PRINTED))),
    ],
    ids=lambda value: "+".join(value) if isinstance(value, tuple) else "",
)
def test_selection_does_not_pretend(only, expected):
    assert status(SELECTED, only) == expected


def test_selection_names_what_was_not_checked():
    (found,) = checked(SELECTED, ("C",)).statements
    assert standing_line(found) == "as printed and after repair: partly checked, without B"


# -- steps ------------------------------------------------------------------------------------


def test_summary_names_what_is_not_as_expected():
    made = document(statement("S", replace(step("a", "false"), expect=Kind.PROVED)))
    result = checked(made)
    assert not result.as_expected
    assert summary(result) == "1 step: 1 refuted; 0 of 0 mutants killed; NOT as expected: a."


def test_no_steps_are_not_as_expected():
    assert not assemble(SELECTED, {}).as_expected


def test_tool_failure_is_undecided_not_refuted():
    def plan(size):
        raise ZeroDivisionError("in the document's\nown code")

    broken = Step("a", "", Acceptance("it", plan, sizes("N", (1,))), Kind.REFUTED)
    result = result_of(broken)
    assert result.verdict.kind is Kind.UNDECIDED
    assert "ZeroDivisionError: in the document's own code" in " ".join(
        result.verdict.reason.split()
    )
    assert not result.as_expected


def test_unknown_arithmetic_is_undecided():
    result = result_of(Step("a", "", Evaluation("it", x, {"x": 1}, "float17", 1)))
    assert result.verdict.kind is Kind.UNDECIDED
    assert "float17" in result.verdict.reason


def test_mutants_that_cannot_be_made_are_not_as_expected(monkeypatch):
    def broken(*_):
        raise RuntimeError("no mutants today")

    monkeypatch.setattr("symsim.claims.check.mutate", broken)
    result = result_of(step("a", "true"))
    assert result.verdict.kind is Kind.PROVED
    assert not result.as_expected
    assert result.mutants.unexplained == ("mutating it failed: RuntimeError: no mutants today",)


def test_fast_engines_judge_mutants_as_all_engines_do():
    claims = [TRUE, inequality(less(x, x * x + 1), line), identity(x / x, 1, line)]
    kinds = set()
    for claim in claims:
        for mutant in (claim, *(m.formula for m in select(claim).mutants)):
            kind = decide(mutant).kind
            assert decide_mutant(mutant).kind is kind
            kinds.add(kind)
    assert {Kind.PROVED, Kind.REFUTED} <= kinds


# -- documents that are none ------------------------------------------------------------------

FINE = statement("S", step("a", "true"))


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (document, "no statements"),
        (lambda: Document("a/b", "", (FINE,)), "'a/b'"),
        (lambda: Document("", "", (FINE,)), "''"),
        (lambda: Document("..", "", (FINE,)), "'..'"),
        (lambda: document(FINE, FINE), "statement S occurs 2 times"),
        (lambda: document(FINE, statement("T", step("a", "true"))), "step a occurs 2 times"),
        (lambda: document(statement("S")), "S: no steps"),
        (lambda: document(replace(FINE, uses=("T",))), "S: uses names 'T'"),
        (lambda: document(replace(FINE, uses=("S",))), "circle: S → S"),
        (lambda: document(statement("S", repair("a", "b"))), "a: repairs names 'b'"),
        (
            lambda: document(statement("S", replace(step("a", "true"), finding="G1"))),
            "a: finding names 'G1'",
        ),
        (
            lambda: document(FINE, findings=(Finding("G1", "", "", "", "", ("b",)),)),
            "G1: steps names 'b'",
        ),
        (
            lambda: document(FINE, findings=(Finding("G1", "", "", "", "", ("a",)),) * 2),
            "finding G1 occurs 2 times",
        ),
        (
            lambda: document(FINE, objections=(Objection("me", "", "", ("b",)),)),
            "me: steps names 'b'",
        ),
        (lambda: step("a", "true", "repaird"), "role is 'repaird'"),
        (lambda: step("a", "true", "repaired"), "repairs is None"),
        (lambda: step("a", "true", "printed", "b"), "repairs is 'b'"),
        (
            lambda: document(
                statement("A", step("a", "true"), uses=("B",)),
                statement("B", step("b", "true"), uses=("C",)),
                statement("C", step("c", "true"), uses=("B",)),
            ),
            "circle: B → C → B",
        ),
    ],
)
def test_bad_document_says_what_is_wrong(make, message):
    with pytest.raises(DocumentError) as caught:
        make()
    assert message in str(caught.value)


def test_orphans_use_nothing_and_are_used_by_nothing():
    made = document(
        statement("A", step("a", "true")),
        statement("B", step("b", "true")),
        statement("C", step("c", "true"), uses=("B",)),
    )
    assert made.orphans() == ("A",)


def test_order_puts_what_is_used_first():
    made = document(
        statement("A", step("a", "true"), uses=("C",)),
        statement("B", step("b", "true"), uses=("A",)),
        statement("C", step("c", "true")),
    )
    assert [s.id for s in made.order()] == ["C", "A", "B"]


def test_jobs_are_at_least_one(tmp_path):
    with pytest.raises(ValueError, match="jobs is 0"):
        check(tmp_path, jobs=0)


def test_mistake_that_stands_nowhere_is_not_as_expected():
    from symsim.claims.library import load, packaged  # noqa: PLC0415

    paper = next(load(path) for path in packaged() if load(path).id == "two_heads")
    (found,) = (s for s in paper.steps if s.name == "A.2.4")
    nowhere = Mistake("nothing", "a2_sum_of_tokens", "not in this file", "")
    result = result_of(replace(found, claim=replace(found.claim, mistakes=(nowhere,))))
    assert not result.as_expected
    assert "MistakeError" in result.mutants.unexplained[0]
