"""A checked document in words: lines for the terminal, the same for Markdown."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from symsim.claims.check import DocumentResult, StatementResult, StepResult
from symsim.claims.statement import Finding, Objection, Step
from symsim.claims.verdict import Evidence, Kind


def heading(result: StatementResult) -> str:
    """The statement with its computed status."""
    statement = result.statement
    status = f"as printed: {result.as_printed.value}; after repair: {result.after_repair.value}"
    return f"{statement.id}  {statement.title}  [{status}]"


def step_line(result: StepResult) -> str:
    """The step's verdict, scope, engines and mutants on one line."""
    verdict = result.verdict
    kind = verdict.kind.value
    if verdict.kind is not result.expected:
        kind += f" (expected {result.expected.value})"
    parts = [kind, *(part for part in (verdict.scope, verdict.reason) if part)]
    if result.mutants.total:
        parts.append(f"mutants {result.mutants.killed} of {result.mutants.total} killed")
    parts += [f"ALIVE: {mutant}" for mutant in result.mutants.unexplained]
    return f"{result.name}  {'; '.join(parts)}"


def summary(result: DocumentResult) -> str:
    """How many steps came out how, and whether all is as expected."""
    counts = Counter(step.verdict.kind.value for step in result.steps)
    kinds = ", ".join(f"{count} {kind}" for kind, count in counts.items())
    unexpected = [step.name for step in result.steps if not step.as_expected]
    mutants = sum(step.mutants.total for step in result.steps)
    killed = sum(step.mutants.killed for step in result.steps)
    end = "all as expected" if not unexpected else f"NOT as expected: {', '.join(unexpected)}"
    return f"{len(result.steps)} steps: {kinds}; {killed} of {mutants} mutants killed; {end}."


def replayed(step: Step, result: StepResult) -> Iterator[str]:
    """The step as a mathematician follows it: claim, derivation, evidence, mutants."""
    yield f"{step.name} ({step.role})"
    yield f"  {step.says}"
    if step.repairs:
        yield f"  repairs {step.repairs}"
    yield f"  claim: {step.claim}"
    for evidence in result.verdict.evidence:
        yield from _evidence(evidence)
    yield f"  verdict: {step_line(result).removeprefix(step.name).strip()}"
    if result.verdict.witness:
        yield f"  at {point(result.verdict.witness)}"
    for survivor in result.mutants.survivors:
        yield f"  mutant {survivor}"


def _evidence(evidence: Evidence) -> Iterator[str]:
    answer = "" if evidence.kind is Kind.NOT_RUN else f": {evidence.kind.value}"
    scope = f" ({evidence.scope})" if evidence.scope else ""
    yield f"  {evidence.engine}{answer}{scope}"
    yield from (f"    {line}" for line in evidence.lines)


def point(witness: object) -> str:
    """A point as `A = 1, B = 1/2`."""
    assert isinstance(witness, dict)
    return ", ".join(f"{name} = {value}" for name, value in witness.items())


def finding_lines(finding: Finding, result: DocumentResult) -> Iterator[str]:
    """A finding with the verdicts of its steps, as they came out now."""
    yield f"{finding.id}  {finding.where}  (raised by: {finding.raised_by})"
    yield f"  what fails: {finding.fails}"
    yield f"  repair: {finding.repair}"
    yield from _steps(finding.steps, result)
    if finding.open_part:
        yield f"  not settled here: {finding.open_part}"


def objection_lines(objection: Objection, result: DocumentResult) -> Iterator[str]:
    """An objection of the published review, answered or open."""
    yield f"{objection.source}: {objection.says}"
    yield f"  {objection.answer}"
    yield from _steps(objection.steps, result)


def _steps(names: tuple[str, ...], result: DocumentResult) -> Iterator[str]:
    found = {step.name: step for step in result.steps}
    for name in names:
        if name in found:
            yield f"  {step_line(found[name])}"
            witness = [e.lines for e in found[name].verdict.evidence if e.kind is Kind.REFUTED]
            yield from (f"    {line}" for lines in witness[:1] for line in lines)
