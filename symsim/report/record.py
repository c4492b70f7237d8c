"""A checked document as a JSON record (schema `symsim.check`) and as JUnit XML."""

from __future__ import annotations

import json
import platform
import re
from collections.abc import Sequence
from datetime import UTC, datetime
from importlib.resources import files
from typing import Any
from xml.etree import ElementTree

from symsim.claims.check import DocumentResult, StatementResult, StepResult
from symsim.claims.claim import Acceptance, Claim, Count, Execution
from symsim.claims.status import Standing
from symsim.claims.verdict import Evidence, Kind, Witness
from symsim.report.words import evidence_lines, step_words
from symsim.simulation.record import versions

SCHEMA = {"name": "symsim.check", "version": 1}


def schema() -> dict[str, Any]:
    """The JSON Schema of a record."""
    text = (files("symsim") / "schemas" / "check.schema.json").read_text(encoding="utf-8")
    loaded: dict[str, Any] = json.loads(text)
    return loaded


def record(results: Sequence[DocumentResult]) -> dict[str, Any]:
    """Documents, statements, steps, verdicts, engines and mutants; volatile fields apart."""
    from symsim.claims.engines.modular import SEED  # noqa: PLC0415 (it imports SymPy: slow)

    return {
        "schema": SCHEMA,
        "as_expected": all(result.as_expected for result in results),
        "documents": [_document(result) for result in results],
        "seed": SEED,
        "versions": versions("z3-solver", "cvc5"),
        "volatile": {
            "finished": datetime.now(UTC).isoformat(timespec="seconds"),
            "platform": platform.platform(),
            "seconds": {
                step.name: round(step.seconds, 3) for result in results for step in result.steps
            },
        },
    }


def as_json(results: Sequence[DocumentResult]) -> str:
    """The record as JSON text."""
    return json.dumps(record(results), indent=1, ensure_ascii=False, allow_nan=False) + "\n"


def _document(result: DocumentResult) -> dict[str, Any]:
    document = result.document
    return {
        "id": document.id,
        "title": document.title,
        "statements": [_statement(statement) for statement in result.statements],
        "orphans": list(document.orphans()),
        "findings": [
            {
                "id": f.id,
                "where": f.where,
                "fails": f.fails,
                "repair": f.repair,
                "raised_by": f.raised_by,
                "steps": list(f.steps),
                "open": f.open_part,
            }
            for f in document.findings
        ],
        "objections": [
            {"source": o.source, "says": o.says, "answer": o.answer, "steps": list(o.steps)}
            for o in document.objections
        ],
    }


def _statement(result: StatementResult) -> dict[str, Any]:
    statement = result.statement
    steps = {step.name: step for step in statement.steps}
    return {
        "id": statement.id,
        "title": statement.title,
        "says": statement.says,
        "uses": list(statement.uses),
        "in_paper": result.is_printed,
        **_standing("as_printed", result.standings.as_printed),
        **_standing("after_repair", result.standings.after_repair),
        "complete": len(result.steps) == len(statement.steps),
        "steps": [
            {
                "name": found.name,
                "says": steps[found.name].says,
                "role": steps[found.name].role,
                "repairs": steps[found.name].repairs,
                "finding": steps[found.name].finding,
                "claim": str(steps[found.name].claim),
                "sizes": _sizes(steps[found.name].claim),
                **_step(found),
            }
            for found in result.steps
        ],
    }


def _standing(field: str, standing: Standing) -> dict[str, Any]:
    return {field: standing.status.value, f"{field}_because": list(standing.because)}


def _sizes(claim: Claim) -> list[dict[str, int]]:
    """All sizes that the claim is executed at."""
    match claim:
        case Execution() | Count() | Acceptance():
            return [dict(size.values) for size in claim.sizes]
        case _:
            return []


def _step(result: StepResult) -> dict[str, Any]:
    verdict = result.verdict
    return {
        "verdict": verdict.kind.value,
        "expected": result.expected.value,
        "as_expected": result.as_expected,
        "scope": verdict.scope,
        "reason": verdict.reason,
        "witness": _witness(verdict.witness),
        "evidence": [_evidence(evidence) for evidence in verdict.evidence],
        "mutants": {
            "killed": result.mutants.killed,
            "total": result.mutants.total,
            "survivors": list(result.mutants.survivors),
            "unexplained": list(result.mutants.unexplained),
        },
    }


def _evidence(evidence: Evidence) -> dict[str, Any]:
    return {
        "engine": evidence.engine,
        "answer": evidence.kind.value,
        "scope": evidence.scope,
        "lines": list(evidence.lines),
    }


def _witness(witness: Witness | None) -> dict[str, str] | None:
    return None if witness is None else {name: str(value) for name, value in witness.items()}


def as_junit(results: Sequence[DocumentResult]) -> str:
    """JUnit XML: a suite a document, a case a step; what is not as expected fails.

    A step that is not run, as expected, is skipped.
    """
    root = ElementTree.Element("testsuites")
    for result in results:
        suite = ElementTree.SubElement(
            root,
            "testsuite",
            name=result.document.id,
            tests=str(len(result.steps)),
            failures=str(sum(not step.as_expected for step in result.steps)),
            skipped=str(sum(map(_is_skipped, result.steps))),
        )
        for statement in result.statements:
            for step in statement.steps:
                classname = f"{result.document.id}.{statement.statement.id}"
                suite.append(_case(classname, step))
    ElementTree.indent(root)
    return ElementTree.tostring(root, encoding="unicode", xml_declaration=True) + "\n"


def _is_skipped(step: StepResult) -> bool:
    return step.as_expected and step.verdict.kind is Kind.NOT_RUN


def _case(classname: str, step: StepResult) -> ElementTree.Element:
    case = ElementTree.Element(
        "testcase", classname=classname, name=_plain(step.name), time=f"{step.seconds:.3f}"
    )
    if _is_skipped(step):
        ElementTree.SubElement(case, "skipped", message=_plain(step.verdict.reason))
    if not step.as_expected:
        message = _plain(step_words(step))
        failure = ElementTree.SubElement(case, "failure", message=message)
        lines = [line for found in step.verdict.evidence for line in evidence_lines(found)]
        failure.text = _plain("\n".join(lines))
    return case


def _plain(text: str) -> str:
    """The text without characters that XML has no way to write."""
    return re.sub(r"[^\t\n -\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]", "\ufffd", text)
