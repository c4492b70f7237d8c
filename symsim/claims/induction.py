"""Whether the two parts of an induction speak of one statement, for the same values.

The step shows P(n) → P(n + 1): one of its hypotheses is P, read as a pattern in its symbols. The
base must be P with n a whole number b and the step's relation P with n + 1 for n; other symbols
may stand for other terms, a quantity with a recursion (2^n, a sum up to n) or a parameter that
keeps its values. Of n the step may assume n ≥ b, of parameters what the base assumes too, and of
quantities that change nothing but P.
"""

from __future__ import annotations

from fractions import Fraction

from symsim.claims.claim import Induction
from symsim.claims.domain import Domain, Relation, Variable, free_symbols
from symsim.terms import Kind, Term, formula

_Bindings = dict[str, Term]


def mismatch(claim: Induction) -> str | None:
    """Why base and step do not make an induction; None where they do."""
    reasons = [_with(claim, hypothesis) for hypothesis in claim.step.domain.hypotheses]
    if not reasons:
        return "the step has no induction hypothesis"
    return None if None in reasons else reasons[0]


def _with(claim: Induction, hypothesis: Relation) -> str | None:
    """What is wrong with `hypothesis` as the statement that base and step speak of."""
    base = _matched(hypothesis, claim.base.relation)
    step = _matched(hypothesis, claim.step.relation)
    if base is None or step is None:
        part, relation = (
            ("base", claim.base.relation) if base is None else ("step", claim.step.relation)
        )
        return f"the {part}, {relation}, is no case of {hypothesis}"
    variables = {variable.name: variable for variable in claim.step.domain.variables}
    counted = [name for name, term in step.items() if _is_successor(variables[name], term)]
    if claim.variable in step:
        counted = [name for name in counted if name == claim.variable]
    if len(counted) != 1:
        return f"no one symbol n of {hypothesis} is n + 1 in {claim.step.relation}"
    (n,) = counted
    first = base[n].payload
    if not isinstance(first, Fraction) or first.denominator != 1:
        return f"in the base {n} is {formula(base[n])}, expected a whole number"
    return _range(variables[n], first) or _assumptions(claim, hypothesis, n, base, step)


def _range(variable: Variable, first: Fraction) -> str | None:
    """Whether the step speaks of every integer from the base on."""
    low = variable.lower
    if low is not None and not (isinstance(low.payload, Fraction) and low.payload <= first):
        return f"the step has {variable}, the base is at {first}"
    if variable.lower_open and low is not None and low.payload == first:
        return f"the step has {variable}, the base is at {first}"
    return None if variable.upper is None else f"the step has {variable}: it ends"


def _assumptions(
    claim: Induction, hypothesis: Relation, n: str, base: _Bindings, step: _Bindings
) -> str | None:
    """Whether the step assumes, besides P, only what the base assumes of fixed parameters."""
    on = claim.step.domain
    fixed = {
        variable.name
        for variable in on.variables
        if variable.name not in step
        or (step[variable.name] is variable.symbol and base[variable.name] is variable.symbol)
    }
    own = [bound for v in on.variables if v.name != n for bound in v.bounds]
    own += [given for given in on.hypotheses if given is not hypothesis]
    for assumed in own:
        used = set(free_symbols(assumed.left, assumed.right))
        if not used <= fixed:
            return f"the step assumes {assumed}, which no induction hypothesis gives"
        if not _assumes(claim.base.domain, assumed, used):
            return f"the step assumes {assumed}, the base does not"
    integers = {v.name for v in on.variables if v.integer} - {n}
    if integers - fixed:
        return f"the step takes {', '.join(sorted(integers - fixed))} for integers"
    return None


def _assumes(on: Domain, relation: Relation, names: set[str]) -> bool:
    return names <= set(on.names) and any(
        given.left is relation.left
        and given.right is relation.right
        and given.comparison == relation.comparison
        for given in on.relations
    )


def _is_successor(variable: Variable, term: Term) -> bool:
    """Whether `term` is n + 1 for the symbol n."""
    if term.kind is not Kind.ADD:
        return False
    one, n = sorted(term.args, key=lambda arg: arg is variable.symbol)
    return n is variable.symbol and one.payload == Fraction(1)


def _matched(pattern: Relation, relation: Relation) -> _Bindings | None:
    """Terms for the symbols of `pattern` that make it `relation`."""
    if pattern.comparison != relation.comparison:
        return None
    bindings: _Bindings = {}
    pairs = [(pattern.left, relation.left), (pattern.right, relation.right)]
    while pairs:
        part, term = pairs.pop()
        if part.kind is Kind.COLUMN:
            if bindings.setdefault(str(part.payload), term) is not term:
                return None
        elif not _alike(part, term):
            return None
        else:
            pairs += zip(part.args, term.args, strict=True)
    return bindings


def _alike(part: Term, term: Term) -> bool:
    """Whether two nodes do the same with as many arguments."""
    same = part.kind is term.kind and len(part.args) == len(term.args)
    return same and part.payload == term.payload
