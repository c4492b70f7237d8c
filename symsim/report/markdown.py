"""A checked document as a Markdown page."""

from __future__ import annotations

from collections.abc import Iterator

from symsim.claims.check import DocumentResult
from symsim.report.words import finding_lines, heading, objection_lines, replayed, summary
from symsim.simulation.record import versions


def page(result: DocumentResult) -> str:
    """Status of every statement, every step with its evidence, findings, objections, versions."""
    return "\n".join(_lines(result)) + "\n"


def _lines(result: DocumentResult) -> Iterator[str]:
    document = result.document
    yield f"# {document.title}"
    yield ""
    yield summary(result)
    yield ""
    yield "| statement | title | as printed | after repair |"
    yield "|---|---|---|---|"
    for found in result.statements:
        statement = found.statement
        yield (
            f"| {statement.id} | {statement.title} | {found.as_printed.value} | "
            f"{found.after_repair.value} |"
        )
    for found in result.statements:
        yield ""
        yield f"## {heading(found)}"
        yield ""
        yield found.statement.says
        steps = {step.name: step for step in found.statement.steps}
        for step in found.steps:
            yield from _block(replayed(steps[step.name], step))
    if document.findings:
        yield ""
        yield "## Findings"
        for finding in document.findings:
            yield from _block(finding_lines(finding, result))
    if document.objections:
        yield ""
        yield "## Objections of the published review"
        for objection in document.objections:
            yield from _block(objection_lines(objection, result))
    yield ""
    yield "## Versions"
    yield ""
    yield ", ".join(f"{name} {version}" for name, version in versions("z3-solver", "cvc5").items())


def _block(lines: Iterator[str]) -> Iterator[str]:
    """Lines kept as they are: the first as a heading, the rest as preformatted text."""
    first, *rest = lines
    yield ""
    yield f"### {first}"
    yield "```text"
    yield from (line.removeprefix("  ") for line in rest)
    yield "```"
