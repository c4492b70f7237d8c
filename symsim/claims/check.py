"""Checking a document: every step decided, statements' status computed from their steps."""

from __future__ import annotations

import multiprocessing
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from dataclasses import dataclass
from enum import Enum
from pathlib import Path
from time import perf_counter

from symsim.claims.decide import decide
from symsim.claims.library import load
from symsim.claims.mutation import MutantReport, mutate
from symsim.claims.statement import Document, Statement, Step
from symsim.claims.verdict import Kind, Verdict


class Status(Enum):
    """What the steps say of a statement."""

    HOLDS_AS_PRINTED = "holds as printed"
    HOLDS_AFTER_REPAIR = "holds after repair"
    CONDITIONAL = "conditional"  # on what is imported
    FAILS = "fails"
    OPEN = "open"


@dataclass(frozen=True)
class StepResult:
    """A step's verdict, whether it is the expected one, and its mutants."""

    name: str
    verdict: Verdict
    expected: Kind
    mutants: MutantReport
    seconds: float

    @property
    def as_expected(self) -> bool:
        """The verdict is the expected one, and no mutant is alive without explanation."""
        return self.verdict.kind is self.expected and not self.mutants.unexplained


@dataclass(frozen=True, eq=False)
class StatementResult:
    """A statement's steps and what they say: as printed, and after repair."""

    statement: Statement
    steps: tuple[StepResult, ...]
    as_printed: Status
    after_repair: Status


@dataclass(frozen=True, eq=False)
class DocumentResult:
    """A checked document, or the selected part of one."""

    document: Document
    statements: tuple[StatementResult, ...]

    @property
    def steps(self) -> tuple[StepResult, ...]:
        """All checked steps in order."""
        return tuple(step for statement in self.statements for step in statement.steps)

    @property
    def as_expected(self) -> bool:
        """Every step came out as expected, and there was at least one."""
        return bool(self.steps) and all(step.as_expected for step in self.steps)


Progress = Callable[[str], None]


def check(
    path: Path,
    only: Sequence[str] = (),
    *,
    jobs: int = 1,
    progress: Progress | None = None,
) -> DocumentResult:
    """Decide the steps of a document (`only` those of the named statements or steps).

    Steps repaired or used elsewhere count for a status only where they are checked too, so a
    status is computed from the whole document's selection. jobs: worker processes.
    """
    document = load(path)
    chosen = [
        step.name
        for statement in document.statements
        for step in statement.steps
        if not only or statement.id in only or step.name in only
    ]
    results: dict[str, StepResult] = {}
    for result in _results(path, chosen, jobs):
        results[result.name] = result
        if progress:
            progress(result.name)
    return DocumentResult(document, _statements(document, results))


def _results(path: Path, chosen: Sequence[str], jobs: int) -> Iterator[StepResult]:
    if jobs == 1 or len(chosen) < 2:
        for name in chosen:
            yield check_step(path, name)
        return
    context = multiprocessing.get_context("spawn")
    with ProcessPoolExecutor(jobs, mp_context=context) as pool:
        futures = [pool.submit(check_step, path, name) for name in chosen]
        for future in as_completed(futures):
            yield future.result()


def check_step(path: Path, name: str) -> StepResult:
    """The result of one step of the document at `path`."""
    steps = {step.name: step for s in load(path).statements for step in s.steps}
    return result_of(steps[name])


def result_of(step: Step) -> StepResult:
    """Decide a step's claim and its mutants."""
    start = perf_counter()
    verdict = decide(step.claim)
    mutants = mutate(step.claim, verdict, step.survivors, decide)
    return StepResult(step.name, verdict, step.expect, mutants, perf_counter() - start)


def _statements(
    document: Document, results: Mapping[str, StepResult]
) -> tuple[StatementResult, ...]:
    by_id: dict[str, StatementResult] = {}
    for statement in document.order():
        found = tuple(results[s.name] for s in statement.steps if s.name in results)
        if found:
            used = [by_id[name] for name in statement.uses if name in by_id]
            own = _own_status(document, statement, results)
            after = (own[1], *(result.after_repair for result in used))
            printed = (own[0], *(result.as_printed for result in used))
            if all(step.role != "printed" for step in statement.steps):
                printed = after  # not a statement of the paper's
            by_id[statement.id] = StatementResult(
                statement, found, _weakest(printed), _weakest(after)
            )
    return tuple(by_id[s.id] for s in document.statements if s.id in by_id)


def _own_status(
    document: Document, statement: Statement, results: Mapping[str, StepResult]
) -> tuple[Status, Status]:
    """(as printed, after repair) from the statement's own steps."""
    repairs = {
        step.repairs: step.name for s in document.statements for step in s.steps if step.repairs
    }
    printed, after = [Status.HOLDS_AS_PRINTED], [Status.HOLDS_AS_PRINTED]
    for step in statement.steps:
        if step.name not in results:
            continue
        status = _STATUS.get(results[step.name].verdict.kind, Status.OPEN)
        if step.role == "printed":
            printed.append(status)
        elif step.role == "lemma" and step.expect is not Kind.PROVED:
            continue  # a lemma may show that something fails
        repair = repairs.get(step.name)
        if status is Status.FAILS and repair is not None and repair in results:
            mended = results[repair].verdict.kind is Kind.PROVED
            status = Status.HOLDS_AFTER_REPAIR if mended else Status.OPEN
        after.append(status)
    return _weakest(printed), _weakest(after)


_STATUS = {
    Kind.PROVED: Status.HOLDS_AS_PRINTED,
    Kind.REFUTED: Status.FAILS,
    Kind.IMPORTED: Status.CONDITIONAL,
}

_FROM_WEAKEST = (
    Status.FAILS,
    Status.OPEN,
    Status.CONDITIONAL,
    Status.HOLDS_AFTER_REPAIR,
    Status.HOLDS_AS_PRINTED,
)


def _weakest(statuses: Sequence[Status]) -> Status:
    return min(statuses, key=_FROM_WEAKEST.index)
