"""The execution engine: plans run in arithmetics, ledgers read, models that refuse."""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction
from math import ceil

import numpy as np

from symsim.arithmetic import Arithmetic, Array, arithmetic
from symsim.arithmetic.base import Evidence as Established
from symsim.arithmetic.symbolic import Symbolic
from symsim.claims.claim import Acceptance, Count, Evaluation, Execution, Size
from symsim.claims.search import certified
from symsim.claims.verdict import Evidence, Kind
from symsim.model import ModelError, Plan, run
from symsim.terms import Term, evaluate, formula

_ENGINE = "execution"
_SEED = 20250613
_DRAWS = 20
"""Integer inputs tried, smallest first, when a symbolic run differs and a witness is sought."""


def execute(claim: Execution) -> tuple[Evidence, ...]:
    """Evidence of each arithmetic: all sizes run and compared with the reference."""
    return tuple(_in_arithmetic(claim, name) for name in claim.arithmetics)


def _in_arithmetic(claim: Execution, name: str) -> Evidence:
    """What the runs in one arithmetic show; that a run breaks down is said of the run."""
    engine = f"{_ENGINE} in {name}"
    if not claim.sizes:
        return _nothing(engine)
    try:
        return _runs(claim, name)
    except Exception as error:
        return failed(engine, error)


def _nothing(engine: str) -> Evidence:
    """An empty selection is not a success."""
    return Evidence(engine, Kind.UNDECIDED, "", ("no sizes are given: nothing was checked",))


def failed(engine: str, error: Exception) -> Evidence:
    """An engine or a claim's own functions broke down: not a flaw of the paper."""
    line = f"the engine failed: {type(error).__name__}: {error}"
    return Evidence(engine, Kind.UNDECIDED, "", (line,))


def _runs(claim: Execution, name: str) -> Evidence:
    scope = f"sizes {_sizes(claim.sizes)}"
    engine = f"{_ENGINE} in {name}"
    symbolic = name == "symbolic"
    lines = []
    for size in claim.sizes:
        for draw in range(1 if symbolic else _DRAWS):
            numbers = arithmetic(name)
            given = _inputs(claim, size, numbers, draw)
            verdict = _equals_reference(claim, size, numbers, given)
            if verdict is None:
                return Evidence(engine, Kind.UNDECIDED, scope, (f"not decided at {size}",))
            if not verdict:
                return _refuted(claim, size, numbers, given, engine)
            if isinstance(numbers, Symbolic) and (divisor := numbers.divisor_of_unknown_sign):
                line = f"equal at {size} only where no divisor is zero, such as {divisor}"
                return Evidence(engine, Kind.UNDECIDED, scope, (line,))
        lines.append(f"{size}: equal")
    if symbolic:
        scope = f"all real inputs of {scope}"
        return Evidence(engine, Kind.PROVED, scope, tuple(lines))
    lines.append(f"{_DRAWS} integer inputs a size, seed {_SEED}")
    return Evidence(engine, Kind.SAMPLED, scope, tuple(lines))


def _equals_reference(
    claim: Execution, size: Size, numbers: Arithmetic, given: Mapping[str, Array]
) -> bool | None:
    parameters = {name: matrix for name, matrix in given.items() if name.startswith("W_")}
    output = run(claim.plan(size), numbers, given, parameters)
    with numbers.working():
        reference = claim.reference(numbers, given)
        if output.shape != reference.shape:
            raise ValueError(
                f"{claim.what}: the result at {size} has shape {output.shape}, the reference "
                f"{reference.shape}"
            )
        verdicts = {
            numbers.equal(y, t) for y, t in zip(output.ravel(), reference.ravel(), strict=True)
        }
    if not verdicts:
        raise ValueError(f"{claim.what}: the result at {size} has no entries")
    return False if False in verdicts else (None if None in verdicts else True)


def _refuted(
    claim: Execution, size: Size, numbers: Arithmetic, given: Mapping[str, Array], engine: str
) -> Evidence:
    """A refutation shows an input in exact numbers at which the result differs."""
    if isinstance(numbers, Symbolic):
        exact = arithmetic("exact")
        for draw in range(_DRAWS):
            given = _inputs(claim, size, exact, draw)
            if _equals_reference(claim, size, exact, given) is False:
                return _refuted(claim, size, exact, given, engine)
        line = f"canonical forms differ at {size}, no integer input among {_DRAWS} shows it"
        return Evidence(engine, Kind.UNDECIDED, str(size), (line,))
    shown = "; ".join(
        f"{name} = [{', '.join(_row(numbers, row) for row in matrix)}]"
        for name, matrix in given.items()
    )
    witness = {name: Fraction(value) for name, value in size.values.items()}
    return Evidence(engine, Kind.REFUTED, str(size), (f"differs at {size}, {shown}",), witness)


def _row(numbers: Arithmetic, row: Array) -> str:
    return f"[{', '.join(map(numbers.text, row))}]"


def _inputs(claim: Execution, size: Size, numbers: Arithmetic, draw: int) -> dict[str, Array]:
    """Fresh symbols, or small integers: draw k is uniform in −⌈k/4⌉ … ⌈k/4⌉, at least ±1."""
    shapes = claim.inputs(size)
    if isinstance(numbers, Symbolic):
        return {name: numbers.symbols(name, shape) for name, shape in shapes.items()}
    generator = np.random.default_rng((_SEED, draw))
    largest = max(1, ceil(draw / 4))
    with numbers.working():
        return {
            name: numbers.integers(generator.integers(-largest, largest + 1, shape))
            for name, shape in shapes.items()
        }


def evaluation(claim: Evaluation) -> Evidence:
    """The term in the named arithmetic, compared exactly; a ball may exclude the result."""
    try:
        return _evaluated(claim)
    except Exception as error:
        return failed(f"{_ENGINE} in {claim.arithmetic}", error)


def _evaluated(claim: Evaluation) -> Evidence:
    numbers = arithmetic(claim.arithmetic)
    engine = f"{_ENGINE} in {numbers.name}"
    with numbers.working():
        columns = {
            name: numbers.convert(np.array([[value]], dtype=object))
            for name, value in claim.values.items()
        }
        (values,) = evaluate((claim.term,), columns, numbers)
        value = values.ravel()[0]
        finite = bool(numbers.finite(values).all())
        agrees: bool | None
        if not finite:
            agrees = claim.result is None
        elif claim.result is None:
            agrees = False
        elif numbers.evidence is Established.ENCLOSURE:
            (expected,) = numbers.constant(Fraction(claim.result)).ravel()
            agrees = numbers.equal(value, expected)
        else:
            agrees = numbers.rational(value) == claim.result
        line = f"{formula(claim.term)} = {numbers.text(value)}"
    if agrees is None:
        return Evidence(engine, Kind.UNDECIDED, "", (f"{line}: a ball with more than one number",))
    witness = {name: Fraction(number) for name, number in claim.values.items()}
    kind = Kind.PROVED if agrees else Kind.REFUTED
    scope = ", ".join(f"{name} = {number}" for name, number in claim.values.items())
    return Evidence(engine, kind, scope, (line,), None if agrees else witness)


def count(claim: Count) -> Evidence:
    """The ledger against the closed form at every size."""
    try:
        return _counted(claim) if claim.sizes else _nothing(_ENGINE)
    except Exception as error:
        return failed(_ENGINE, error)


def _counted(claim: Count) -> Evidence:
    for size in claim.sizes:
        found, expected = claim.entry(claim.plan(size)), _closed_form(claim, size)
        if found != expected:
            witness = {name: Fraction(value) for name, value in size.values.items()}
            line = f"at {size} the ledger has {found}, the closed form gives {expected}"
            return Evidence(_ENGINE, Kind.REFUTED, str(size), (line,), witness)
    scope = f"{len(claim.sizes)} sizes, {_range(claim.sizes)}"
    return Evidence(_ENGINE, Kind.PROVED, scope, (f"equal at {scope}",))


def acceptance(claim: Acceptance) -> Evidence:
    """Recording the plan of every size; a rule that is broken or waived refutes, and is shown."""
    if not claim.sizes:
        return _nothing(_ENGINE)
    for size in claim.sizes:
        try:
            broken = _broken(claim.plan(size))
        except ModelError as error:
            broken = str(error)
        except Exception as error:
            return failed(_ENGINE, error)
        if broken is not None:
            witness = {name: Fraction(value) for name, value in size.values.items()}
            line = f"at {size} the model refuses: {broken}"
            return Evidence(_ENGINE, Kind.REFUTED, str(size), (line,), witness)
    return Evidence(_ENGINE, Kind.PROVED, f"sizes {_sizes(claim.sizes)}", ("no rule is broken",))


def _broken(plan: Plan) -> str | None:
    """What a recorded plan breaks all the same: a waived rule. A result it must have."""
    if not plan.output.rows or not plan.steps:
        raise ValueError("the plan makes no step: there is nothing that a rule could refuse")
    waived = [f"{name} ({rule})" for name, rule in plan.ledger.waivers.items()]
    return f"a plan under the waiver {', '.join(waived)}" if waived else None


def _closed_form(claim: Count, size: Size) -> Fraction:
    values = {name: Fraction(value) for name, value in size.values.items()}
    for name, numerator, denominator in claim.ceilings:
        if name in values:
            raise ValueError(f"{claim.what}: the ceiling {name} has the name of a parameter")
        values[name] = Fraction(ceil(_rational(numerator, values) / _rational(denominator, values)))
    return _rational(claim.closed_form, values)


def _rational(term: Term, values: Mapping[str, Fraction]) -> Fraction:
    """A closed form in rational numbers. Raises ValueError where it has no rational value."""
    found = certified.value(term, values)
    if not isinstance(found, Fraction):
        raise ValueError(f"the closed form {formula(term)} has no rational value at {dict(values)}")
    return found


def _sizes(sizes: tuple[Size, ...]) -> str:
    return "; ".join(map(str, sizes))


def _range(sizes: tuple[Size, ...]) -> str:
    names = sizes[0].values
    ranges = {name: [size.values[name] for size in sizes] for name in names}
    return ", ".join(f"{name} from {min(v)} to {max(v)}" for name, v in ranges.items())
