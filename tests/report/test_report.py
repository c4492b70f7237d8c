"""Reports: what is shortened, escaped, written in LaTeX and as JUnit."""

import json
import re
from dataclasses import replace
from xml.etree import ElementTree

import jsonschema
import pytest

from symsim.claims import Kind
from symsim.claims.check import StepResult, assemble, chosen, result_of
from symsim.claims.library import load, packaged
from symsim.claims.mutation import MutantReport
from symsim.claims.verdict import Evidence, Verdict
from symsim.report.markdown import page
from symsim.report.record import as_json, as_junit, schema
from symsim.report.tex import derivation
from symsim.report.words import listed, replayed, shortened, stated, step_line, titled

DOCUMENTS = {load(path).id: load(path) for path in packaged()}
STEPS = [(document, step) for document in DOCUMENTS.values() for step in document.steps]
every_step = pytest.mark.parametrize(
    ("document", "step"), STEPS, ids=[step.name for _, step in STEPS]
)
RAW = re.compile(r"<function|<lambda|object at 0x|Term\(|Relation\(|Size\(|Fraction\(|Kind\.")


def assumed(step, **changes):
    """The step's result as expected, without deciding it."""
    verdict = Verdict(step.expect, "all sizes", "by assumption")
    return replace(StepResult(step.name, verdict, step.expect, MutantReport(), 0.0), **changes)


def assembled(document, **changes):
    """All steps as expected, but for those changed."""
    results = {step.name: assumed(step) for step in document.steps}
    return assemble(document, results | changes)


def test_long_lists_are_shortened_in_the_middle():
    assert shortened("a; b; c") == "a; b; c"
    assert shortened("a; b; c; d") == "a; … 2 more …; d"
    assert listed(["a", "b", "c", "d"]) == "a, b, c, d"
    assert listed(["a", "b", "c", "d", "e"]) == "a, b, c and 2 more"


@every_step
def test_steps_read_as_text(document, step):
    lines = [*replayed(document, step, assumed(step)), titled(document, step)]
    assert not RAW.search("\n".join(lines))
    assert "\n" not in step_line(assumed(step))


@every_step
def test_latex_is_balanced_and_ascii_in_formulas(document, step):
    lines = list(derivation(document, step, assumed(step)))
    assert lines[0].startswith(f"% {step.name} (")
    for line in lines:
        assert line.startswith("% ") or re.fullmatch(r"\\\[ .* \\\]", line), line
        if not line.startswith("% "):
            assert line.count("{") == line.count("}"), line
            assert line.count(r"\left") == line.count(r"\right"), line


def test_statements_name_their_users_and_repairs():
    document = DOCUMENTS["two_heads"]
    (statement,) = (s for s in document.statements if s.id == "A.1")
    lines = list(stated(document, statement, statement.steps))
    assert "  used by: B.1, B.1-repaired" in lines
    assert any("repaired by A.1.3" in line for line in lines)


@pytest.mark.parametrize("document", DOCUMENTS.values(), ids=DOCUMENTS)
def test_page_has_every_step_finding_and_objection(document):
    text = page(assembled(document))
    headings = [line for line in text.splitlines() if line.startswith("### ")]
    expected = len(document.steps) + len(document.findings) + len(document.objections)
    assert len(headings) == expected
    assert not RAW.search(text)
    assert text.count("```") % 2 == 0
    assert "NOT as expected" not in text


def test_page_says_what_is_not_as_expected():
    document = DOCUMENTS["two_heads"]
    (step,) = (s for s in document.steps if s.name == "B.1.8")
    text = page(assembled(document, **{"B.1.8": assumed(step, expected=Kind.REFUTED)}))
    assert "NOT as expected: B.1.8." in text
    assert r"- verdict: **NOT as expected** proved (expected refuted)" in text


def test_page_of_a_part_says_what_was_not_checked():
    document = DOCUMENTS["two_heads"]
    only = {step.name: assumed(step) for step in chosen(document, ["A.2.1"])}
    text = page(assemble(document, only))
    assert "| A.2 | sum of tokens | partly checked | partly checked |" in text
    assert "A.2.3  not checked in this run" in text


def test_record_of_every_kind_is_valid():
    results = [assembled(document) for document in DOCUMENTS.values()]
    jsonschema.validate(json.loads(as_json(results)), schema())


def test_junit_survives_what_xml_cannot_write():
    document = DOCUMENTS["online_softmax"]
    step = document.steps[0]
    evidence = Evidence("engine", Kind.UNDECIDED, "", ("a \x00 b \ud800 <c>",))
    verdict = Verdict(Kind.UNDECIDED, "", "what \x1b[31m & why", (evidence,))
    broken = assumed(step, verdict=verdict)
    text = as_junit([assembled(document, **{step.name: broken})])
    (suite,) = ElementTree.fromstring(text.encode())
    (failure,) = suite.iter("failure")
    assert failure.get("message") == "undecided (expected proved); what \ufffd[31m & why"
    assert "a \ufffd b \ufffd <c>" in failure.text


def test_evidence_of_a_refutation_is_in_the_register():
    document = DOCUMENTS["two_heads"]
    (step,) = (s for s in document.steps if s.name == "B.1.13")
    text = page(assembled(document, **{step.name: result_of(step)}))
    assert "  - at N = 4, M = 2, d = 2 the ledger has 4, the closed form gives 2" in text
