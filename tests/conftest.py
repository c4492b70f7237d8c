"""Hypothesis profiles: HYPOTHESIS_PROFILE names one; otherwise `ci` where CI is set."""

from __future__ import annotations

import os
from pathlib import Path

from hypothesis import Phase, Verbosity, settings
from hypothesis.database import DirectoryBasedExampleDatabase, ExampleDatabase

EXAMPLES = Path(__file__).parents[1] / ".hypothesis" / "examples"


def register(
    name: str, *, max_examples: int, steps: int, database: ExampleDatabase | None, derandomize: bool
) -> None:
    """A profile in which nothing is left to a default of hypothesis."""
    settings.register_profile(
        name,
        max_examples=max_examples,
        stateful_step_count=steps,
        database=database,
        derandomize=derandomize,
        deadline=None,
        phases=tuple(Phase),
        suppress_health_check=(),
        verbosity=Verbosity.normal,
        print_blob=True,
        report_multiple_bugs=True,
        backend="hypothesis",
    )


examples = DirectoryBasedExampleDatabase(EXAMPLES)
register("default", max_examples=100, steps=30, database=examples, derandomize=False)
register("ci", max_examples=200, steps=50, database=None, derandomize=True)
register("thorough", max_examples=5000, steps=100, database=examples, derandomize=False)

settings.load_profile(
    os.environ.get("HYPOTHESIS_PROFILE") or ("ci" if os.environ.get("CI") else "default")
)
