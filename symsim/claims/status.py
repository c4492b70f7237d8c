"""What the steps of a document say of its statements, computed from their verdicts.

As printed, a statement stands on its printed steps and on the statements it uses, as printed.
After repair, a refuted step is replaced by the steps that repair it, which stand on what their
own statements use; lemmas count, but for those that show that something fails. A statement
stands as its weakest part does.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import Enum

from symsim.claims.claim import Imported
from symsim.claims.statement import Document, Statement, Step
from symsim.claims.verdict import Kind, Verdict


class Status(Enum):
    """What the steps say of a statement."""

    HOLDS_AS_PRINTED = "holds as printed"
    HOLDS_AFTER_REPAIR = "holds after repair"
    CONDITIONAL = "conditional"  # on what is imported
    OPEN = "open"
    PARTLY_CHECKED = "partly checked"  # what was checked does not fail
    FAILS = "fails"


_FROM_WEAKEST = tuple(reversed(Status))


@dataclass(frozen=True)
class Standing:
    """A status and what makes it so.

    because: the failing, open or unchecked steps and statements; the steps that were repaired;
    or what is imported, by citation.
    """

    status: Status
    because: tuple[str, ...] = ()


HOLDS = Standing(Status.HOLDS_AS_PRINTED)


@dataclass(frozen=True)
class Standings:
    """A statement as printed and after repair."""

    as_printed: Standing
    after_repair: Standing


_STATUS = {
    Kind.PROVED: Status.HOLDS_AS_PRINTED,
    Kind.REFUTED: Status.FAILS,
    Kind.IMPORTED: Status.CONDITIONAL,
}


def standings(document: Document, verdicts: Mapping[str, Verdict]) -> Mapping[str, Standings]:
    """The standing of every statement, by id, from the verdicts of the steps that were checked."""
    found: dict[str, Standings] = {}
    for statement in document.order():
        own = list(_after_repair(document, statement, verdicts))
        after = weakest(
            own + [_used(name, found[name].after_repair) for name in document.rests_on(statement)]
        )
        printed = weakest(
            [_own(step, verdicts) for step in statement.steps if step.role == "printed"]
            + [_used(name, found[name].as_printed) for name in statement.uses]
        )
        found[statement.id] = Standings(printed if is_printed(statement) else after, after)
    return found


def is_printed(statement: Statement) -> bool:
    """Whether the statement has steps of the paper's; if not, it stands after repair only."""
    return any(step.role == "printed" for step in statement.steps)


def weakest(parts: Sequence[Standing]) -> Standing:
    """The weakest status of the parts, because of all that have it."""
    status = min((part.status for part in (HOLDS, *parts)), key=_FROM_WEAKEST.index)
    because = (reason for part in parts if part.status is status for reason in part.because)
    return Standing(status, tuple(dict.fromkeys(because)))


def _after_repair(
    document: Document, statement: Statement, verdicts: Mapping[str, Verdict]
) -> Iterator[Standing]:
    for step in statement.steps:
        if step.role == "lemma" and step.expect is Kind.REFUTED:
            continue  # it shows that something fails
        own = _own(step, verdicts)
        repairs = document.repairs_of(step)
        if own.status is Status.FAILS and repairs:
            yield weakest(
                [
                    Standing(Status.HOLDS_AFTER_REPAIR, (step.name,)),
                    *(_own(repair, verdicts) for repair in repairs),
                ]
            )
        else:
            yield own


def _own(step: Step, verdicts: Mapping[str, Verdict]) -> Standing:
    """What the verdict on a step says of it."""
    if step.name not in verdicts:
        return Standing(Status.PARTLY_CHECKED, (step.name,))
    status = _STATUS.get(verdicts[step.name].kind, Status.OPEN)
    if status is Status.HOLDS_AS_PRINTED:
        return HOLDS
    claim = step.claim
    return Standing(status, (claim.citation if isinstance(claim, Imported) else step.name,))


def _used(name: str, standing: Standing) -> Standing:
    """A used statement as a part: what it is conditional on, its user is conditional on."""
    if standing.status in (Status.HOLDS_AS_PRINTED, Status.CONDITIONAL):
        return standing
    return Standing(standing.status, (name,))
