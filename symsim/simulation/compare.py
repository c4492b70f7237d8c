"""Comparison of a run with dense attention: equality, enclosures, measured errors."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Literal

import numpy as np
from flint import arb, fmpq

from symsim.arithmetic import Arithmetic, Array, Evidence, arithmetic
from symsim.arithmetic.objects import each
from symsim.model import Mask, dense_attention, dense_product

_REFERENCE_PRODUCTS = 2**25
"""Multiplications spent on the certified reference of a measured run; fewer rows beyond it."""

_GUARD_BITS = 64


@dataclass(frozen=True)
class Comparison:
    """A run against dense attention.

    kind: how the reference was had. equal: True (proved equal; for enclosures, all finite and
    overlapping), False (proved different), None (not decided, or only measured).
    max_relative_error: an upper bound on ‖Y_i − T_i‖₂/‖T_i‖₂ over the compared rows that are
    finite; infinity where no bound is known. rows_compared: how many rows the reference has.
    dense_error: the same bound for dense attention in the same arithmetic, where measured.
    """

    kind: Literal["exact", "enclosure", "measured"]
    equal: bool | None
    max_relative_error: float
    rows_compared: int
    non_finite_rows: int
    dense_error: float | None = None


@dataclass(frozen=True, eq=False)
class LargeHead:
    """The simulated head in numbers of one arithmetic: what dense references are made from.

    matrices: Q, K, V, or X with parameters W_Q, W_K, W_V.
    """

    matrices: Mapping[str, Array]
    parameters: Mapping[str, Array]
    mask: Mask

    def dense(self, numbers: Arithmetic, rows: Array | None = None) -> Array:
        """Dense attention in `numbers`, of the given rows or of all."""
        with numbers.working():
            if "X" in self.matrices:
                query, key, value = (
                    dense_product(numbers, self.matrices["X"], self.parameters[f"W_{side}"])
                    for side in "QKV"
                )
            else:
                query, key, value = (self.matrices[side] for side in "QKV")
            return dense_attention(numbers, query, key, value, self.mask, rows=rows)

    def as_balls(self, numbers: Arithmetic) -> LargeHead:
        """The same head with its exact values as balls."""
        return LargeHead(
            {name: _balls(numbers, matrix) for name, matrix in self.matrices.items()},
            {name: _balls(numbers, matrix) for name, matrix in self.parameters.items()},
            self.mask,
        )


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
            return _compare_enclosures(numbers, output, reference)
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
    if numbers.evidence is Evidence.EXACT:
        return [numbers.rational(y) for y in output.ravel()] == answers
    with numbers.working():
        radius = arb(0, slack)
        return all(
            bool(y.overlaps(_exact_ball(t) * (1 + radius)))
            for y, t in zip(output.ravel(), answers, strict=True)
        )


def _compare_exact(numbers: Arithmetic, output: Array, reference: Array) -> Comparison:
    with numbers.working():
        verdicts = [
            numbers.equal(y, t) for y, t in zip(output.ravel(), reference.ravel(), strict=True)
        ]
        undefined = int((~numbers.finite(output)).any(axis=1).sum())
    equal = False if False in verdicts else (None if None in verdicts else True)
    error = 0.0 if equal else math.inf
    return Comparison("exact", equal, error, len(output), undefined)


def _compare_enclosures(numbers: Arithmetic, output: Array, reference: Array) -> Comparison:
    with numbers.working():
        finite = numbers.finite(output).all(axis=1) & numbers.finite(reference).all(axis=1)
        pairs = zip(output.ravel(), reference.ravel(), strict=True)
        disjoint = any(numbers.equal(y, t) is False for y, t in pairs)
        error = _worst(output[finite], reference[finite])
    undecided = not finite.all()
    equal = False if disjoint else (None if undecided else True)
    error = math.inf if undecided else error
    return Comparison("enclosure", equal, error, len(output), int((~finite).sum()))


def _compare_measured(numbers: Arithmetic, output: Array, head: LargeHead) -> Comparison:
    rows = _reference_rows(len(output), sum(m.shape[1] for m in head.matrices.values()))
    certified = arithmetic(f"ball:{max(_bits(numbers), 64) + _GUARD_BITS}")
    dense = head.dense(numbers, rows)
    with numbers.working(), certified.working():
        finite = numbers.finite(output).all(axis=1)
        truth = head.as_balls(numbers).dense(certified, rows)
        errors = []
        for values in (output[rows], dense):
            defined = np.flatnonzero(numbers.finite(values).all(axis=1))
            errors.append(_worst(_balls(numbers, values[defined]), truth[defined]))
    return Comparison(
        "measured", None, errors[0], len(rows), int((~finite).sum()), dense_error=errors[1]
    )


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


def _worst(output: Array, reference: Array) -> float:
    """The largest upper bound on ‖y − t‖₂/‖t‖₂ over the rows; infinity for a row t = 0 ≠ y."""
    worst = 0.0
    for y, t in zip(output, reference, strict=True):
        difference = _norm([entry.abs_upper() for entry in y - t])
        if not difference.is_zero():
            worst = max(worst, _upper(difference / _norm([entry.abs_lower() for entry in t])))
    return worst


def _norm(magnitudes: list[arb]) -> arb:
    return sum((value * value for value in magnitudes), arb(0)).sqrt()


def _upper(ball: arb) -> float:
    """A float that is no smaller than anything in `ball`."""
    if not ball.is_finite():
        return math.inf
    return math.nextafter(float(ball.upper()), math.inf)
