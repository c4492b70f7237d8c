"""A checked document as a JSON record (schema `symsim.check`) and as JUnit XML."""

from __future__ import annotations

import json
import platform
from collections.abc import Sequence
from datetime import UTC, datetime
from importlib.resources import files
from typing import Any
from xml.etree import ElementTree

from symsim.claims.check import DocumentResult, StatementResult, StepResult
from symsim.claims.verdict import Evidence
from symsim.simulation.record import versions

SCHEMA = {"name": "symsim.check", "version": 1}


def schema() -> dict[str, Any]:
    """The JSON Schema of a record."""
    text = (files("symsim") / "schemas" / "check.schema.json").read_text(encoding="utf-8")
    loaded: dict[str, Any] = json.loads(text)
    return loaded


def record(results: Sequence[DocumentResult]) -> dict[str, Any]:
    """Documents, statements, steps, verdicts, engines and mutants; volatile fields apart."""
    return {
        "schema": SCHEMA,
        "as_expected": all(result.as_expected for result in results),
        "documents": [_document(result) for result in results],
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
        "as_printed": result.as_printed.value,
        "after_repair": result.after_repair.value,
        "steps": [
            {
                "name": found.name,
                "says": steps[found.name].says,
                "role": steps[found.name].role,
                "repairs": steps[found.name].repairs,
                "finding": steps[found.name].finding,
                "claim": str(steps[found.name].claim),
                **_step(found),
            }
            for found in result.steps
        ],
    }


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
        },
    }


def _evidence(evidence: Evidence) -> dict[str, Any]:
    return {
        "engine": evidence.engine,
        "answer": evidence.kind.value,
        "scope": evidence.scope,
        "lines": list(evidence.lines),
    }


def _witness(witness: Any) -> dict[str, str] | None:
    return None if witness is None else {name: str(value) for name, value in witness.items()}


def as_junit(results: Sequence[DocumentResult]) -> str:
    """JUnit XML: a suite a document, a case a step; what is not as expected fails."""
    root = ElementTree.Element("testsuites")
    for result in results:
        failures = sum(not step.as_expected for step in result.steps)
        suite = ElementTree.SubElement(
            root,
            "testsuite",
            name=result.document.id,
            tests=str(len(result.steps)),
            failures=str(failures),
        )
        for statement in result.statements:
            for step in statement.steps:
                case = ElementTree.SubElement(
                    suite,
                    "testcase",
                    classname=f"{result.document.id}.{statement.statement.id}",
                    name=step.name,
                    time=f"{step.seconds:.3f}",
                )
                if not step.as_expected:
                    verdict = step.verdict
                    ElementTree.SubElement(
                        case,
                        "failure",
                        message=f"{verdict.kind.value}, expected {step.expected.value}: "
                        f"{verdict.reason}",
                    )
    ElementTree.indent(root)
    return ElementTree.tostring(root, encoding="unicode", xml_declaration=True) + "\n"
