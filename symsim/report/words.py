"""A checked document in words: lines for the terminal, the same for Markdown."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence

from symsim.claims.check import DocumentResult, StatementResult, StepResult
from symsim.claims.statement import Document, Finding, Objection, Statement, Step
from symsim.claims.status import Standing, Status
from symsim.claims.verdict import Evidence, Kind

LONGEST_LIST = 3
"""Entries of a list that are shown; of a longer one, the first and the last."""


def shortened(text: str) -> str:
    """A list with `;` between its entries, cut in the middle if it is long."""
    entries = text.split("; ")
    if len(entries) <= LONGEST_LIST:
        return text
    return f"{entries[0]}; … {len(entries) - 2} more …; {entries[-1]}"


def listed(names: Sequence[str]) -> str:
    """Names with commas between them, the first few."""
    if len(names) <= LONGEST_LIST + 1:
        return ", ".join(names)
    return f"{', '.join(names[:LONGEST_LIST])} and {len(names) - LONGEST_LIST} more"


def heading(statement: Statement) -> str:
    """The statement's name and title."""
    return f"{statement.id}  {statement.title}"


def standing_line(result: StatementResult) -> str:
    """What the steps say of a statement, and what makes it so."""
    printed, after = result.standings.as_printed, result.standings.after_repair
    if not result.is_printed:
        return f"not in the paper: {_standing(after)}"
    if printed == after:
        return f"as printed and after repair: {_standing(printed)}"
    return f"as printed: {_standing(printed)}; after repair: {_standing(after)}"


def status_word(status: Status) -> str:
    """The status where it is said of what it is the status: as printed, after repair, or ours."""
    return "holds" if status is Status.HOLDS_AS_PRINTED else status.value


def _standing(standing: Standing) -> str:
    status = status_word(standing.status)
    if not standing.because:
        return status
    match standing.status:
        case Status.CONDITIONAL:
            return f"{status} on {'; '.join(standing.because)}"
        case Status.PARTLY_CHECKED:
            return f"{status}, without {listed(standing.because)}"
        case Status.HOLDS_AFTER_REPAIR:
            return f"{status} of {listed(standing.because)}"
        case _:
            return f"{status} ({listed(standing.because)})"


def step_words(result: StepResult) -> str:
    """The step's verdict, scope, engines and mutants."""
    verdict = result.verdict
    kind = verdict.kind.value
    if verdict.kind is not result.expected:
        kind += f" (expected {result.expected.value})"
    reason = " ".join(verdict.reason.split())
    parts = [kind, *(part for part in (shortened(verdict.scope), reason) if part)]
    if result.mutants.total:
        parts.append(f"mutants {result.mutants.killed} of {result.mutants.total} killed")
    parts += [f"ALIVE: {mutant}" for mutant in result.mutants.unexplained]
    return "; ".join(parts)


def step_line(result: StepResult) -> str:
    """The step's name and what came out, on one line."""
    return f"{result.name}  {step_words(result)}"


def dependencies(document: Document) -> str:
    """That no statements use each other in a circle, and which stand alone."""
    orphans = document.orphans()
    alone = f"used by none and using none: {', '.join(orphans)}" if orphans else "none stands alone"
    return f"Dependencies of {len(document.statements)} statements: no circles; {alone}."


def summary(result: DocumentResult) -> str:
    """How many steps came out how, and whether all is as expected."""
    counts = Counter(step.verdict.kind.value for step in result.steps)
    kinds = ", ".join(f"{count} {kind}" for kind, count in counts.items())
    unexpected = [step.name for step in result.steps if not step.as_expected]
    mutants = sum(step.mutants.total for step in result.steps)
    killed = sum(step.mutants.killed for step in result.steps)
    end = "all as expected" if not unexpected else f"NOT as expected: {', '.join(unexpected)}"
    steps = "1 step" if len(result.steps) == 1 else f"{len(result.steps)} steps"
    return f"{steps}: {kinds}; {killed} of {mutants} mutants killed; {end}."


# -- statements and steps as they stand in the document -------------------------------------


def stated(document: Document, statement: Statement, steps: Sequence[Step]) -> Iterator[str]:
    """The statement and the given steps of it; nothing is decided."""
    yield heading(statement)
    yield f"  {statement.says}"
    if statement.uses:
        yield f"  uses: {', '.join(statement.uses)}"
    users = [other.id for other in document.statements if statement.id in other.uses]
    if users:
        yield f"  used by: {', '.join(users)}"
    for step in steps:
        yield ""
        yield f"  {titled(document, step)}"
        yield f"    {step.says}"
        yield f"    claim: {step.claim}"


def titled(document: Document, step: Step) -> str:
    """The step's name and role, what it repairs or what repairs it, and its finding."""
    parts: list[str] = [step.role]
    if step.repairs:
        parts.append(f"repairs {step.repairs}")
    if step.expect is not Kind.PROVED:
        parts.append(f"expected {step.expect.value}")
    repairs = [repair.name for repair in document.repairs_of(step)]
    if repairs:
        parts.append(f"repaired by {', '.join(repairs)}")
    if step.finding:
        parts.append(f"finding {step.finding}")
    return f"{step.name} ({'; '.join(parts)})"


# -- replay ---------------------------------------------------------------------------------


def replayed(document: Document, step: Step, result: StepResult) -> Iterator[str]:
    """The step as a mathematician follows it: claim, derivation, evidence, mutants."""
    yield titled(document, step)
    yield f"  {step.says}"
    yield f"  claim: {step.claim}"
    for evidence in result.verdict.evidence:
        yield from evidence_lines(evidence)
    yield f"  verdict: {step_words(result)}"
    yield from mutant_lines(result)


def evidence_lines(evidence: Evidence) -> Iterator[str]:
    """What an engine found, and the lines that show it."""
    answer = "" if evidence.kind is Kind.NOT_RUN else f": {evidence.kind.value}"
    scope = f" ({shortened(evidence.scope)})" if evidence.scope else ""
    yield f"  {evidence.engine}{answer}{scope}"
    yield from (f"    {line}" for line in evidence.lines)


def mutant_lines(result: StepResult) -> Iterator[str]:
    """The mutants that were not killed, and what they are."""
    if result.mutants.survivors:
        yield "  mutants not killed:"
    yield from (f"    {survivor}" for survivor in result.mutants.survivors)


# -- the register ---------------------------------------------------------------------------


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


def _steps(names: Sequence[str], result: DocumentResult) -> Iterator[str]:
    found = {step.name: step for step in result.steps}
    for name in names:
        if name in found:
            yield f"  {step_line(found[name])}"
            yield from (f"    {line}" for line in _failure(found[name].verdict.evidence))
        else:
            yield f"  {name}  not checked in this run"


def _failure(evidence: Sequence[Evidence]) -> tuple[str, ...]:
    """How the first engine that refutes shows it."""
    return next((found.lines for found in evidence if found.kind is Kind.REFUTED), ())
