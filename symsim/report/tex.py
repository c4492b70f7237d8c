"""Claims and derivations as LaTeX, to be pasted into a paper."""

from __future__ import annotations

from collections.abc import Iterator

from symsim.claims.check import StepResult
from symsim.claims.claim import Claim, Counterexample, Formula, Induction, Partition
from symsim.claims.domain import Domain, Relation, Variable
from symsim.claims.statement import Document, Step
from symsim.report.words import step_words, titled
from symsim.terms import latex

_AND = r",\; "
_SIGN = {"=": "=", "!=": r"\ne", "<=": r"\le", "<": "<"}


def derivation(document: Document, step: Step, result: StepResult) -> Iterator[str]:
    """A step's claim and SymPy's derivation as displayed formulas, the rest as comments."""
    from symsim.claims.engines.sympy import SymPyEngine  # noqa: PLC0415 (slow to import)

    yield f"% {titled(document, step)}"
    yield f"% {step.says}"
    formulas = claimed(step.claim)
    if not formulas:
        yield f"% claim: {step.claim}"
    for what, formula in formulas:
        yield f"% {what}"
        yield from _display(f"{relation(formula.relation)}{everywhere(formula.domain)}")
        if not isinstance(step.claim, Counterexample):
            for line, rule in SymPyEngine().derivation(formula, latex=True):
                yield f"% {rule}"
                yield from _display(line)
    if isinstance(step.claim, Partition):
        yield from _display(partition(step.claim))
    yield f"% verdict: {step_words(result)}"


def _display(text: str) -> Iterator[str]:
    yield rf"\[ {text} \]"


def claimed(claim: Claim) -> tuple[tuple[str, Formula], ...]:
    """The formulas that a claim is about, by name."""
    match claim:
        case Formula():
            return (("claim", claim),)
        case Induction():
            return (("base", claim.base), ("step", claim.step))
        case Counterexample():
            at = ", ".join(f"{name} = {value}" for name, value in claim.values.items())
            return ((f"this fails at {at}", claim.refutes),)
        case _:
            return ()


def relation(compared: Relation) -> str:
    """A relation as LaTeX mathematics."""
    return f"{latex(compared.left)} {_SIGN[compared.comparison]} {latex(compared.right)}"


def everywhere(domain: Domain) -> str:
    """A domain as `for all …`, in LaTeX mathematics."""
    parts = [_sort(variable) for variable in domain.variables]
    parts += [relation(compared) for compared in domain.relations]
    return rf" \quad \text{{for all }} {_AND.join(parts)}" if parts else ""


def _sort(variable: Variable) -> str:
    return rf"{latex(variable.symbol)} \in \mathbb{{{'Z' if variable.integer else 'R'}}}"


def partition(claim: Partition) -> str:
    """A partition claim in LaTeX mathematics."""
    element = latex(claim.element.symbol)
    whole = _AND.join(map(relation, (*claim.element.bounds, *claim.whole)))
    cell = _AND.join(map(relation, claim.member))
    indices = _AND.join(map(relation, claim.index.bounds))
    return (
        rf"\{{{element} \in \mathbb{{Z}} : {whole}\}} = \bigsqcup_{{{indices}}} "
        rf"\{{{element} \in \mathbb{{Z}} : {cell}\}}{everywhere(claim.parameters)}"
    )
