"""A checked document as a Markdown page."""

from __future__ import annotations

import re
from collections.abc import Iterator

from symsim.claims.check import DocumentResult, StepResult
from symsim.claims.statement import Document, Step
from symsim.report.words import (
    dependencies,
    evidence_lines,
    finding_lines,
    mutant_lines,
    objection_lines,
    standing_line,
    status_word,
    step_words,
    summary,
    titled,
)
from symsim.simulation.record import versions


def page(result: DocumentResult) -> str:
    """Status of every statement, every step with its evidence, findings, objections, versions."""
    return "\n".join(_lines(result)) + "\n"


def _lines(result: DocumentResult) -> Iterator[str]:
    document = result.document
    yield f"# {_text(document.title)}"
    yield ""
    yield _text(summary(result))
    yield ""
    yield _text(dependencies(document))
    yield ""
    yield "| statement | title | as printed | after repair |"
    yield "|---|---|---|---|"
    for found in result.statements:
        statement = found.statement
        printed = status_word(found.as_printed) if found.is_printed else "not in the paper"
        cells = (statement.id, statement.title, printed, status_word(found.after_repair))
        yield f"| {' | '.join(map(_text, cells))} |"
    for found in result.statements:
        yield ""
        yield f"## {_text(found.statement.id)}: {_text(found.statement.title)}"
        yield ""
        yield _text(found.statement.says)
        yield ""
        yield f"*{_text(standing_line(found))}*"
        if found.statement.uses:
            yield ""
            yield f"Uses {_text(', '.join(found.statement.uses))}."
        steps = {step.name: step for step in found.statement.steps}
        for step in found.steps:
            yield from _step(document, steps[step.name], step)
    if document.findings:
        yield ""
        yield "## Findings"
        for finding in document.findings:
            yield from _register(finding_lines(finding, result))
    if document.objections:
        yield ""
        yield "## Objections of the published review"
        for objection in document.objections:
            yield from _register(objection_lines(objection, result))
    yield ""
    yield "## Versions"
    yield ""
    yield ", ".join(f"{name} {version}" for name, version in versions("z3-solver", "cvc5").items())


def _step(document: Document, step: Step, result: StepResult) -> Iterator[str]:
    yield ""
    yield f"### {_text(titled(document, step))}"
    yield ""
    yield _text(step.says)
    yield ""
    yield f"- claim: {_code(str(step.claim))}"
    yield f"- verdict: {'' if result.as_expected else '**NOT as expected** '}" + _text(
        step_words(result)
    )
    shown = [line for found in result.verdict.evidence for line in evidence_lines(found)]
    shown += mutant_lines(result)
    if shown:
        yield ""
        yield "```text"
        yield from (line.removeprefix("  ") for line in shown)
        yield "```"


def _register(lines: Iterator[str]) -> Iterator[str]:
    """An entry of a register: its first line as a heading, the others as a list."""
    first, *rest = lines
    yield ""
    yield f"### {_text(first)}"
    yield ""
    for line in rest:
        indent = len(line) - len(line.lstrip()) - 2
        yield f"{' ' * indent}- {_text(line.strip())}"


def _text(text: str) -> str:
    """Text without what Markdown takes for markup."""
    return re.sub(r"([\\`*_<>|\[\]])", r"\\\1", text)


def _code(text: str) -> str:
    """Text as it is."""
    fence = "``" if "`" in text else "`"
    return f"{fence}{text}{fence}"
