"""Comparison of a run with dense attention: equality, enclosures, measured errors."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Literal

import numpy as np
from flint import arb, fmpq

from symsim.arithmetic import Arithmetic, Array, Evidence, arithmetic
from symsim.arithmetic.objects import each
from symsim.simulation.large_head import LargeHead

_REFERENCE_PRODUCTS = 2**25
"""Multiplications spent on the certified reference of a measured run; fewer rows beyond it."""

RESOLUTION = arb(2) ** -32
"""How closely enclosures must agree, as a share of the largest value, to tell anything."""

_GUARD_BITS = 64

_LARGEST_REFERENCE = 2**14
"""Bits up to which the certified reference of a measured run doubles its precision."""


@dataclass(frozen=True)
class Comparison:
    """A run against dense attention.

    kind: how the reference was had. equal: True (proved equal; for enclosures, all say something
    and overlap), False (proved different), None (not decided, or only measured).
    max_relative_error: an upper bound on ‖Y_i − T_i‖₂/‖T_i‖₂ over the compared rows that are
    finite; infinity where no bound is known, as for T_i = 0 ≠ Y_i. rows_compared: how many rows
    the reference has. dense_error, dense_non_finite_rows: the same of dense attention in the
    same arithmetic at those rows, where measured.
    """

    kind: Literal["exact", "enclosure", "measured"]
    equal: bool | None
    max_relative_error: float
    rows_compared: int
    non_finite_rows: int
    dense_error: float | None = None
    dense_non_finite_rows: int | None = None


def compare(
    numbers: Arithmetic, output: Array, head: LargeHead, reference: Array | None
) -> Comparison:
    """`output` of a run in `numbers` against dense attention, as its kind of evidence allows.

    reference: dense attention in `numbers`, needed unless the evidence is measured.
    """
    match numbers.evidence:
        case Evidence.EXACT | Evidence.IDENTITY:
            assert reference is not None
            return _compare_exact(numbers, output, reference)
        case Evidence.ENCLOSURE:
            assert reference is not None
            return _compare_enclosures(numbers, output, head, reference)
        case Evidence.MEASURED | Evidence.VALUE:
            return _compare_measured(numbers, output, head)


def case_agrees(
    numbers: Arithmetic, output: Array, expected: Mapping[str, list[list[Fraction]]]
) -> bool | None:
    """Whether an exact or certified output agrees with a case file's; None if not comparable.

    `output_base2` is exact; of `output_base_e` the last of 60 significant digits is rounded.
    """
    name, slack = ("output_base2", "0") if numbers.base == "2" else ("output_base_e", "1e-59")
    if name not in expected or numbers.evidence not in (Evidence.EXACT, Evidence.ENCLOSURE):
        return None
    answers = [entry for row in expected[name] for entry in row]
    with numbers.working():
        finite = numbers.finite(output).ravel()
        if numbers.evidence is Evidence.EXACT:
            return bool(finite.all()) and list(map(numbers.rational, output.ravel())) == answers
        tolerance = 1 + arb(0, slack)
        overlaps = [
            bool(y.overlaps(_exact_ball(t) * tolerance))
            for y, t in zip(output.ravel(), answers, strict=True)
        ]
    if not all(overlaps):
        return False
    return True if finite.all() else None


def _compare_exact(numbers: Arithmetic, output: Array, reference: Array) -> Comparison:
    with numbers.working():
        verdicts = [
            numbers.equal(y, t) for y, t in zip(output.ravel(), reference.ravel(), strict=True)
        ]
        finite = numbers.finite(output).all(axis=1)
    equal = False if False in verdicts else (None if None in verdicts else True)
    error = 0.0 if equal else math.inf
    if equal is False and numbers.evidence is Evidence.EXACT and finite.any():
        with numbers.working(), arithmetic(f"ball:{_GUARD_BITS}").working():
            difference = numbers.sub(output[finite], reference[finite])
            error = _worst(_balls(numbers, difference), _balls(numbers, reference[finite]))
    return Comparison("exact", equal, error, len(output), int((~finite).sum()))


def _compare_enclosures(
    numbers: Arithmetic, output: Array, head: LargeHead, reference: Array
) -> Comparison:
    _, _, value = head.query_key_value(numbers)
    with numbers.working():
        finite = numbers.finite(output).all(axis=1) & numbers.finite(reference).all(axis=1)
        pairs = zip(output.ravel(), reference.ravel(), strict=True)
        disjoint = any(not y.overlaps(t) for y, t in pairs)
        error = _worst(output[finite] - reference[finite], reference[finite])
        tells = finite.all() and _says_something(output, reference, value)
    equal = False if disjoint else (True if tells else None)
    error = error if finite.all() else math.inf
    return Comparison("enclosure", equal, error, len(output), int((~finite).sum()))


def _says_something(output: Array, reference: Array, value: Array) -> bool:
    """Whether the enclosures locate every entry to within RESOLUTION of the largest |V|.

    Outputs are averages of the column of V: wide enclosures would overlap whatever the run had
    returned.
    """
    return all(
        _largest(difference) <= RESOLUTION * _largest(averaged)
        for difference, averaged in zip((output - reference).T, value.T, strict=True)
    )


def _largest(column: Array) -> arb:
    largest: arb = max(entry.abs_upper() for entry in column)
    return largest


def _compare_measured(numbers: Arithmetic, output: Array, head: LargeHead) -> Comparison:
    given = (*head.matrices.values(), *head.parameters.values())
    rows = _reference_rows(len(output), sum(matrix.shape[1] for matrix in given))
    dense = head.dense(numbers, rows)
    with numbers.working():
        finite = numbers.finite(output).all(axis=1)
        dense_broken = int((~numbers.finite(dense).all(axis=1)).sum())
    bits = max(_bits(numbers), 64) + _GUARD_BITS
    errors = _certified_errors(numbers, (output[rows], dense), head, rows, bits)
    while errors is None and bits < _LARGEST_REFERENCE:
        bits *= 2
        errors = _certified_errors(numbers, (output[rows], dense), head, rows, bits)
    error, dense_error = errors or (math.inf, math.inf)
    broken = int((~finite).sum())
    return Comparison("measured", None, error, len(rows), broken, dense_error, dense_broken)


def _certified_errors(
    numbers: Arithmetic, outputs: Sequence[Array], head: LargeHead, rows: Array, bits: int
) -> list[float] | None:
    """Bounds on the errors of `outputs` at the given rows; None if balls of `bits` do not tell."""
    certified = arithmetic(f"ball:{bits}")
    with numbers.working(), certified.working():
        truth = head.map(lambda matrix: _balls(numbers, matrix)).dense(certified, rows)
        if not certified.finite(truth).all():
            return None
        return [_error_where_finite(numbers, values, truth) for values in outputs]


def _error_where_finite(numbers: Arithmetic, values: Array, truth: Array) -> float:
    """The bound over the rows of `values` that are finite; infinity if none is."""
    defined = np.flatnonzero(numbers.finite(values).all(axis=1))
    if not len(defined):
        return math.inf
    return _worst(_balls(numbers, values[defined]) - truth[defined], truth[defined])


def _bits(numbers: Arithmetic) -> int:
    """Bits that a measured arithmetic resolves; its name says so."""
    return int(getattr(numbers, "bits", 64))


def _reference_rows(length: int, width: int) -> Array:
    """All rows, or as many evenly spread ones as the reference's budget allows."""
    count = min(length, max(1, _REFERENCE_PRODUCTS // (length * width)))
    return np.unique(np.linspace(0, length - 1, count).round().astype(np.int64))


def _balls(numbers: Arithmetic, values: Array) -> Array:
    """The exact values of finite numbers, as balls of the precision entered."""
    if values.dtype != object:  # every hardware format is contained in float64
        return each(arb, values.astype(np.float64))
    return each(lambda value: _exact_ball(numbers.rational(value)), values)


def _exact_ball(value: Fraction) -> arb:
    return arb(fmpq(value.numerator, value.denominator))


def _worst(difference: Array, reference: Array) -> float:
    """The largest upper bound on ‖y − t‖₂/‖t‖₂ over the rows; infinity for a row t = 0 ≠ y."""
    return max(map(_row_error, difference, reference), default=0.0)


def _row_error(difference: Array, reference: Array) -> float:
    norm = _norm([entry.abs_upper() for entry in difference])
    if norm.is_zero():
        return 0.0
    return _upper(norm / _norm([entry.abs_lower() for entry in reference]))


def _norm(magnitudes: list[arb]) -> arb:
    return sum((value * value for value in magnitudes), arb(0)).sqrt()


def _upper(ball: arb) -> float:
    """A float that is no smaller than anything in `ball`."""
    if not ball.is_finite():
        return math.inf
    return math.nextafter(float(ball.upper()), math.inf)
