"""Statements with their steps, findings, objections, and the document that holds them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal, get_args

from symsim.claims.claim import Claim
from symsim.claims.verdict import Kind

Role = Literal["printed", "repaired", "lemma"]


class DocumentError(ValueError):
    """A proof document refers to something it does not hold."""


@dataclass(frozen=True, eq=False)
class Step:
    """One step of a proof: what it says, the claim that it makes, and the verdict it expects.

    role: printed (as the paper has it), repaired (what replaces the printed step `repairs`),
    or lemma (a building block of ours). finding: the finding that this step establishes.
    A printed step known to fail expects REFUTED. survivors: mutants that are expected to stay
    alive, by description, with the reason. Raises DocumentError for an unknown role, and where
    a step repairs another without being a repaired one, or the other way round.
    """

    name: str
    says: str
    claim: Claim
    expect: Kind = Kind.PROVED
    role: Role = "printed"
    repairs: str | None = None
    finding: str | None = None
    survivors: Mapping[str, str] = field(default_factory=dict)

    def __post_init__(self) -> None:
        if self.role not in get_args(Role):
            roles = ", ".join(get_args(Role))
            raise DocumentError(f"{self.name}: role is {self.role!r}, expected one of {roles}")
        if (self.role == "repaired") != (self.repairs is not None):
            raise DocumentError(
                f"{self.name}: role is {self.role} and repairs is {self.repairs!r}; a repaired "
                "step, and no other, names the step that it repairs"
            )


@dataclass(frozen=True, eq=False)
class Statement:
    """A numbered statement of the paper: title, what it says, its steps, what it rests on."""

    id: str
    title: str
    says: str
    steps: tuple[Step, ...]
    uses: tuple[str, ...] = ()


@dataclass(frozen=True)
class Finding:
    """What fails, where, and how it is repaired: steps by name carry the evidence."""

    id: str
    where: str
    fails: str
    repair: str
    raised_by: str
    steps: tuple[str, ...]
    open_part: str = ""
    """What of the finding no step here settles."""


@dataclass(frozen=True)
class Objection:
    """A published objection, answered by steps; without steps it is open."""

    source: str
    says: str
    answer: str
    steps: tuple[str, ...] = ()


@dataclass(frozen=True, eq=False)
class Document:
    """A proof document: a paper's statements in its order, findings and objections.

    The id is a file name. Raises DocumentError for one that is not, for a repeated name, an
    unknown reference, or statements that rest on each other in a circle.
    """

    id: str
    title: str
    statements: tuple[Statement, ...]
    findings: tuple[Finding, ...] = ()
    objections: tuple[Objection, ...] = ()

    def __post_init__(self) -> None:
        if not self.id or {"/", "\\", "\0"} & set(self.id) or self.id.startswith("."):
            raise DocumentError(f"id is {self.id!r}, expected what can name a file")
        if not self.statements:
            raise DocumentError("no statements, expected at least one")
        _check_unique("statement", [statement.id for statement in self.statements])
        _check_unique("step", [step.name for step in self.steps])
        _check_unique("finding", [finding.id for finding in self.findings])
        self._check_references()
        self.order()

    @property
    def steps(self) -> tuple[Step, ...]:
        """All steps, statement by statement."""
        return tuple(step for statement in self.statements for step in statement.steps)

    def _check_references(self) -> None:
        steps = {step.name for step in self.steps}
        statements = {statement.id for statement in self.statements}
        findings = {finding.id for finding in self.findings}
        for statement in self.statements:
            if not statement.steps:
                raise DocumentError(f"{statement.id}: no steps, expected at least one")
            _check_known(statement.id, "uses", statement.uses, statements)
        for step in self.steps:
            _check_known(step.name, "repairs", [step.repairs] if step.repairs else [], steps)
            _check_known(step.name, "finding", [step.finding] if step.finding else [], findings)
        for finding in self.findings:
            _check_known(finding.id, "steps", finding.steps, steps)
        for objection in self.objections:
            _check_known(objection.source, "steps", objection.steps, steps)

    def repairs_of(self, step: Step) -> tuple[Step, ...]:
        """The steps that replace `step`, anywhere in the document; all of them are needed."""
        return tuple(other for other in self.steps if other.repairs == step.name)

    def rests_on(self, statement: Statement) -> tuple[str, ...]:
        """What the statement uses, and what statements use that repair steps of it."""
        repaired = {step.name for step in statement.steps}
        repairing = [
            other.uses
            for other in self.statements
            if other is not statement and any(step.repairs in repaired for step in other.steps)
        ]
        return tuple(dict.fromkeys(name for uses in (statement.uses, *repairing) for name in uses))

    def order(self) -> tuple[Statement, ...]:
        """The statements, each after those it rests on."""
        by_id = {statement.id: statement for statement in self.statements}
        done: dict[str, Statement] = {}

        def visit(statement: Statement, path: tuple[str, ...]) -> None:
            if statement.id in path:
                circle = " → ".join((*path[path.index(statement.id) :], statement.id))
                raise DocumentError(f"statements use each other in a circle: {circle}")
            if statement.id not in done:
                for used in self.rests_on(statement):
                    visit(by_id[used], (*path, statement.id))
                done[statement.id] = statement

        for statement in self.statements:
            visit(statement, ())
        return tuple(done.values())

    def orphans(self) -> tuple[str, ...]:
        """Statements that nothing uses and that use nothing."""
        used = {name for statement in self.statements for name in statement.uses}
        return tuple(s.id for s in self.statements if s.id not in used and not s.uses)


def _check_unique(what: str, names: list[str]) -> None:
    for name in names:
        if names.count(name) > 1:
            raise DocumentError(f"{what} {name} occurs {names.count(name)} times")


def _check_known(
    owner: str, field_name: str, names: tuple[str, ...] | list[str], known: set[str]
) -> None:
    for name in names:
        if name not in known:
            raise DocumentError(f"{owner}: {field_name} names {name!r}, which is not there")
