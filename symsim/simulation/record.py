"""A simulation as a JSON record (schema `symsim.run`, shipped with the package)."""

from __future__ import annotations

import json
import math
import platform
from collections.abc import Sequence
from datetime import UTC, datetime
from importlib.metadata import version
from importlib.resources import files
from typing import Any

import symsim
from symsim.simulation.simulate import DEFAULT_READOUTS, Simulation

SCHEMA = {"name": "symsim.run", "version": 1}

_ENGINES = ("gmpy2", "ml_dtypes", "mpmath", "numpy", "python-flint", "sympy")

_LARGEST_NUMBER = 2**53
"""Integers beyond this magnitude are written as strings: JSON readers round them."""


def schema() -> dict[str, Any]:
    """The JSON Schema of a record."""
    text = (files("symsim") / "schemas" / "run.schema.json").read_text(encoding="utf-8")
    loaded: dict[str, Any] = json.loads(text)
    return loaded


def versions(*more: str) -> dict[str, str]:
    """Versions of Python, of this package, of every engine and of `more` distributions."""
    engines = {name: version(name) for name in (*_ENGINES, *more)}
    return {"python": platform.python_version(), "symsim": symsim.__version__} | engines


def record(simulation: Simulation, seed: int, seconds: float) -> dict[str, Any]:
    """What was run, what it cost and how it compares; volatile fields stand apart.

    seed: the root of every random choice.
    """
    ledger, options = simulation.plan.ledger, simulation.options
    comparison, numbers, mask = simulation.comparison, simulation.numbers, simulation.head.mask
    return {
        "schema": SCHEMA,
        "head": simulation.head.name,
        "construction": options.construction,
        "variant": options.variant,
        "readout": options.readout or DEFAULT_READOUTS[options.variant],
        "aggregation": simulation.aggregation,
        "arithmetic": numbers.name,
        "requested_arithmetic": simulation.requested,
        "base": numbers.base,
        "establishes": numbers.evidence.value,
        "mask": mask.kind,
        "N": simulation.head.length,
        "M": _integer(simulation.tokens),
        "d": simulation.dimension,
        "window": mask.window,
        "sinks": mask.sinks,
        "seed": _integer(seed),
        "calls": {
            **{kind: ledger.calls[kind] for kind in ("block", "aggregation", "mlp")},
            "total": ledger.total_calls,
        },
        "rounds": ledger.rounds,
        "max_tokens": ledger.max_tokens,
        "max_embedding": ledger.max_embedding,
        "parameters": ledger.parameters,
        "constants_padded": ledger.constants_padded,
        "mlp_operations": ledger.mlp_operations,
        "outside_operations": ledger.outside_operations,
        "rows": {"returned": ledger.rows, "read": ledger.rows_read},
        "waivers": dict(ledger.waivers),
        "inputs_rounded": simulation.rounded_inputs,
        "output": [[numbers.text(entry) for entry in row] for row in simulation.output],
        "reference": {
            "kind": comparison.kind,
            "max_relative_error": _finite(comparison.max_relative_error),
            "dense_non_finite_rows": comparison.dense_non_finite_rows,
            "dense_max_relative_error": _finite(comparison.dense_error),
            "equal": comparison.equal,
            "rows_compared": comparison.rows_compared,
            "non_finite_rows": comparison.non_finite_rows,
            "case_agrees": simulation.case_agrees,
        },
        "versions": versions(),
        "volatile": {
            "finished": datetime.now(UTC).isoformat(timespec="seconds"),
            "seconds": round(seconds, 3),
            "platform": platform.platform(),
        },
    }


def as_json(records: Sequence[dict[str, Any]]) -> str:
    """One record, or a list of several, as JSON text."""
    value: Any = records[0] if len(records) == 1 else list(records)
    return json.dumps(value, indent=1, allow_nan=False) + "\n"


def _integer(value: int) -> int | str:
    return value if abs(value) <= _LARGEST_NUMBER else str(value)


def _finite(value: float | None) -> float | None:
    """The value; null for no bound, as JSON has no infinity."""
    return value if value is not None and math.isfinite(value) else None
