"""Checking a document: every step decided, statements' status computed from their steps."""

from __future__ import annotations

import importlib.util
import multiprocessing
import signal
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from concurrent.futures.process import BrokenProcessPool
from dataclasses import dataclass
from pathlib import Path
from time import perf_counter

from symsim.claims.claim import Claim, Formula, Induction, Partition
from symsim.claims.decide import all_engines, decide
from symsim.claims.library import load
from symsim.claims.mutation import MutantReport, mutate
from symsim.claims.statement import Document, Statement, Step
from symsim.claims.status import Standings, Status, is_printed, standings
from symsim.claims.verdict import Kind, Verdict
from symsim.simulation import ResourceError


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
    """A statement's checked steps and what they say: as printed, and after repair."""

    statement: Statement
    steps: tuple[StepResult, ...]
    standings: Standings

    @property
    def as_printed(self) -> Status:
        """The status as printed; after repair where no step is printed in the paper."""
        return self.standings.as_printed.status

    @property
    def after_repair(self) -> Status:
        """The status with refuted steps replaced by their repairs."""
        return self.standings.after_repair.status

    @property
    def is_printed(self) -> bool:
        """Whether the statement has steps of the paper's."""
        return is_printed(self.statement)


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


class MissingEngineError(RuntimeError):
    """A package that an engine needs is not installed."""


_ENGINES = ("cvc5", "flint", "sympy", "z3")
"""Modules of the engines' packages."""

Progress = Callable[[str], None]


def check(
    path: Path,
    only: Sequence[str] = (),
    *,
    jobs: int = 1,
    mutants: bool = True,
    progress: Progress | None = None,
) -> DocumentResult:
    """Decide the steps of a document (`only` those of the named statements or steps).

    A status that depends on steps not selected is PARTLY_CHECKED, or FAILS. jobs: worker
    processes. mutants: whether proved claims are mutated. progress: told every step's name.
    Raises ValueError for jobs < 1, MissingEngineError for a package that is not installed,
    ResourceError if a worker process dies.
    """
    if jobs < 1:
        raise ValueError(f"jobs is {jobs}, expected at least 1")
    for module in _ENGINES:
        if importlib.util.find_spec(module) is None:
            raise MissingEngineError(f"engine {module}: not installed, expected with symsim")
    document = load(path)
    results: dict[str, StepResult] = {}
    for result in _results(path, chosen(document, only), jobs, mutants):
        results[result.name] = result
        if progress:
            progress(result.name)
    return assemble(document, results)


def chosen(document: Document, only: Collection[str] = ()) -> tuple[Step, ...]:
    """The steps of the named statements, and the named steps; all without names."""
    return tuple(
        step
        for statement in document.statements
        for step in statement.steps
        if not only or statement.id in only or step.name in only
    )


def assemble(document: Document, results: Mapping[str, StepResult]) -> DocumentResult:
    """Results of steps, by name, as the result of their document."""
    stands = standings(document, {name: result.verdict for name, result in results.items()})
    found = []
    for statement in document.statements:
        steps = tuple(results[step.name] for step in statement.steps if step.name in results)
        if steps:
            found.append(StatementResult(statement, steps, stands[statement.id]))
    return DocumentResult(document, tuple(found))


def _results(path: Path, steps: Sequence[Step], jobs: int, mutants: bool) -> Iterator[StepResult]:
    if jobs == 1 or len(steps) < 2:
        for step in steps:
            yield result_of(step, mutants=mutants)
        return
    slow_first = sorted(steps, key=_is_fast)
    others = set(multiprocessing.active_children())
    pool = ProcessPoolExecutor(
        min(jobs, len(steps)),
        mp_context=multiprocessing.get_context("spawn"),
        initializer=_die_of_interrupts,
    )
    with pool:
        futures = [pool.submit(check_step, path, step.name, mutants=mutants) for step in slow_first]
        try:
            for future in as_completed(futures):
                yield future.result()
        except BaseException as error:
            pool.shutdown(wait=False, cancel_futures=True)
            for worker in set(multiprocessing.active_children()) - others:
                worker.terminate()
            if isinstance(error, BrokenProcessPool):
                raise ResourceError("a worker process died, perhaps for want of memory") from None
            raise


def _die_of_interrupts() -> None:
    """Ctrl-C goes to workers too: they end at once, and only the parent speaks."""
    signal.signal(signal.SIGINT, signal.SIG_DFL)


def _is_fast(step: Step) -> bool:
    """Whether a step takes a second: a long one that starts last would be waited for."""
    match step.claim:
        case Formula():
            return step.claim.relation.comparison == "="
        case Partition() | Induction():
            return False
        case _:
            return True


def check_step(path: Path, name: str, *, mutants: bool = True) -> StepResult:
    """The result of one step of the document at `path`."""
    steps = {step.name: step for step in load(path).steps}
    return result_of(steps[name], mutants=mutants)


def result_of(step: Step, *, mutants: bool = True) -> StepResult:
    """Decide a step's claim and its mutants.

    What breaks down, in a plan of the document for one, leaves the step undecided: it is no
    flaw of the claim.
    """
    start = perf_counter()
    report = MutantReport()
    try:
        verdict = decide(step.claim)
    except MemoryError:
        raise
    except Exception as error:
        verdict = Verdict(Kind.UNDECIDED, "", f"deciding it failed: {_named(error)}")
    try:
        if mutants:
            report = mutate(step.claim, verdict, step.survivors, decide_mutant)
    except MemoryError:
        raise
    except Exception as error:
        report = MutantReport(unexplained=(f"mutating it failed: {_named(error)}",))
    return StepResult(step.name, verdict, step.expect, report, perf_counter() - start)


def _named(error: Exception) -> str:
    return " ".join(f"{type(error).__name__}: {error}".split())


_SLOW = {"cvc5", "ball"}
"""Engines that are asked of a mutant only if the others do not settle it."""


def decide_mutant(claim: Claim) -> Verdict:
    """The verdict on a mutant: of fast engines if two of them prove it, or one refutes it."""
    if isinstance(claim, Formula):
        verdict = decide(claim, [e for e in all_engines() if e.name not in _SLOW])
        if verdict.kind is Kind.REFUTED or len(set(verdict.provers)) > 1:
            return verdict
    return decide(claim)
