"""One head simulated in one arithmetic: plan, run and comparison with dense attention."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

import numpy as np

from symsim.arithmetic import Arithmetic, Array, ConversionError
from symsim.arithmetic.ball import Ball
from symsim.arithmetic.base import first_index
from symsim.arithmetic.objects import as_fraction
from symsim.arithmetic.symbolic import Symbolic
from symsim.constructions.aggregation import AGGREGATIONS, AggregationName
from symsim.constructions.b1_as_printed import quadratic_calls_as_printed
from symsim.constructions.b1_quadratic_calls import quadratic_calls
from symsim.constructions.head_input import HeadInput, from_qkv, from_x
from symsim.constructions.normalization_recovery import READOUTS, ReadoutName
from symsim.model import Plan, run
from symsim.simulation.compare import Comparison, LargeHead, case_agrees, compare
from symsim.simulation.inputs import HeadData

CONSTRUCTIONS: dict[str, str] = {
    "full": "Lemma B.1: one head, full mask, quadratically many calls",
}
"""Constructions that can be run, and what each simulates."""

VARIANTS = ("repaired", "printed")

DEFAULT_READOUTS: dict[str, ReadoutName] = {"repaired": "dual", "printed": "printed"}

DEFAULT_TOKENS = 32
"""M where neither the input nor the user names one."""

LARGEST_WEIGHTS = 2**32
"""Weights (query-key pairs) that a run may compute."""

_LARGEST_PRECISION = 2**14
"""Bits up to which an inconclusive ball run doubles its precision."""


class OptionError(ValueError):
    """Options that do not go together; the message names the legal ones."""


class ResourceError(RuntimeError):
    """A run would need more than the stated limits."""


@dataclass(frozen=True)
class Options:
    """What to run: construction, variant, readout, aggregation and the oracle's limit M.

    None stands for the default: repaired B.1 with dual readout and aggregation (a).
    """

    construction: str = "full"
    variant: str = "repaired"
    readout: ReadoutName | None = None
    aggregation: AggregationName | None = None
    tokens: int | None = None


@dataclass(frozen=True, eq=False)
class Simulation:
    """A finished run of one head: the plan, its numbers, and the comparison."""

    head: HeadData
    options: Options
    numbers: Arithmetic
    plan: Plan
    tokens: int
    large: LargeHead
    output: Array
    comparison: Comparison
    rounded_inputs: int
    case_agrees: bool | None

    @property
    def dimension(self) -> int:
        """d, the width of the large head's queries, or of its X."""
        return int(next(iter(self.large.matrices.values())).shape[1])

    @property
    def aggregation(self) -> AggregationName | None:
        """How states were merged by oracle calls; None where none were."""
        if not self.plan.ledger.calls["aggregation"]:
            return None
        return self.options.aggregation or (
            "a:head" if self.options.readout == "anchored" else "a"
        )

    @property
    def succeeded(self) -> bool | None:
        """Whether the simulation held; None where that was not decided.

        Equality decides where it was decided; a measured run holds if every row is finite.
        """
        if self.comparison.equal is False or self.case_agrees is False:
            return False
        if self.numbers.rounds:
            return self.comparison.non_finite_rows == 0
        return self.comparison.equal


Progress = Callable[[int, int], None]
"""Told after each batch: steps done, steps in all."""


def make_plan(head: HeadData, options: Options) -> tuple[Plan, int]:
    """The plan for a head of this shape, and M. Raises OptionError or ModelError."""
    tokens = options.tokens or head.tokens or DEFAULT_TOKENS
    if tokens < 2:
        raise OptionError(f"--tokens {tokens}: expected at least 2")
    if head.mask.kind != "full":
        raise OptionError(f"mask {head.mask}: construction full simulates mask full")
    if head.length**2 > LARGEST_WEIGHTS:
        raise ResourceError(
            f"N = {head.length}: {head.length**2} weights, at most {LARGEST_WEIGHTS} are computed"
        )
    given = head_input(head)
    if options.variant == "printed":
        if options.readout not in (None, "printed"):
            raise OptionError(f"readout {options.readout}: variant printed takes printed")
        if options.aggregation is not None:
            raise OptionError(
                f"aggregation {options.aggregation}: variant printed takes none, the paper "
                "leaves the merge outside the oracle"
            )
        return quadratic_calls_as_printed(given, tokens), tokens
    plan = quadratic_calls(
        given, tokens, readout=options.readout or "dual", aggregation=options.aggregation
    )
    return plan, tokens


def head_input(head: HeadData) -> HeadInput:
    """The shapes of what is given of a head."""
    if "X" in head.matrices:
        w_q, w_v = head.parameters["W_Q"], head.parameters["W_V"]
        return from_x(head.length, w_q.shape[0], w_q.shape[1], w_v.shape[1])
    return from_qkv(head.length, head.matrices["Q"].shape[1], head.matrices["V"].shape[1])


def check_options(options: Options, numbers: Arithmetic) -> None:
    """Raise OptionError for options that `numbers` cannot run, naming the legal ones."""
    if options.construction not in CONSTRUCTIONS:
        raise OptionError(
            f"construction {options.construction!r}: this version runs "
            f"{', '.join(CONSTRUCTIONS)}"
        )
    if options.variant not in VARIANTS:
        raise OptionError(f"variant {options.variant!r}: expected one of {', '.join(VARIANTS)}")
    if options.readout not in (None, *READOUTS):
        raise OptionError(f"readout {options.readout!r}: expected one of {', '.join(READOUTS)}")
    if options.aggregation not in (None, *AGGREGATIONS):
        raise OptionError(
            f"aggregation {options.aggregation!r}: construction full takes "
            f"{', '.join(AGGREGATIONS)} in this version"
        )
    takes_logarithms = options.readout == "anchored" or options.aggregation == "a:head"
    if numbers.name == "exact" and takes_logarithms:
        raise OptionError(
            "exact: readout anchored and aggregation a:head take logarithms, which are not "
            "rational; expected readout dual or printed with aggregation a"
        )
    if numbers.name == "exact:pl2" and options.readout == "anchored":
        raise OptionError(
            "exact:pl2: readout anchored needs w(x + y) = w(x)w(y), which this weight does not "
            "have; expected readout dual or printed"
        )


def simulate(
    head: HeadData,
    options: Options,
    numbers: Arithmetic,
    *,
    progress: Progress | None = None,
) -> Simulation:
    """Plan, run and compare one head.

    Inputs are converted without loss, or, in formats that round, rounded to the format and
    counted. A ball run whose enclosure is not finite is repeated with twice the precision.
    """
    check_options(options, numbers)
    plan, tokens = make_plan(head, options)
    while True:
        result = _simulate_once(head, options, numbers, plan, tokens, progress)
        if result.succeeded is not None or not isinstance(numbers, Ball):
            return result
        if 2 * numbers.bits > _LARGEST_PRECISION:
            return result
        numbers = Ball(2 * numbers.bits, numbers.base)


def _simulate_once(
    head: HeadData,
    options: Options,
    numbers: Arithmetic,
    plan: Plan,
    tokens: int,
    progress: Progress | None,
) -> Simulation:
    with numbers.working():
        large = LargeHead(
            {name: _as_numbers(numbers, name, m) for name, m in head.matrices.items()},
            {name: _as_numbers(numbers, name, m) for name, m in head.parameters.items()},
            head.mask,
        )
        rounded = _rounded_entries(numbers, head.matrices, large.matrices)
        rounded += _rounded_entries(numbers, head.parameters, large.parameters)
    # The reference first: it names a bad logit by its row and column in the large head.
    reference = None if numbers.rounds else large.dense(numbers)
    steps, done = len(plan.steps), 0

    def advance(count: int) -> None:
        nonlocal done
        done += count
        if progress:
            progress(done, steps)

    output = run(plan, numbers, large.matrices, large.parameters, progress=advance)
    comparison = compare(numbers, output, large, reference)
    agrees = case_agrees(numbers, output, head.expected)
    return Simulation(
        head, options, numbers, plan, tokens, large, output, comparison, rounded, agrees
    )


def _as_numbers(numbers: Arithmetic, name: str, matrix: Array) -> Array:
    if isinstance(numbers, Symbolic):
        return numbers.symbols(name, matrix.shape)
    if not numbers.rounds:
        return numbers.convert(matrix)
    values = numbers.rounded(matrix)
    if not (finite := numbers.finite(values)).all():
        index = first_index(~finite)
        place = ", ".join(map(str, index))
        raise ConversionError(f"{name}[{place}] = {matrix[index]} overflows {numbers.name}")
    return values


def _rounded_entries(
    numbers: Arithmetic, given: Mapping[str, Array], values: Mapping[str, Array]
) -> int:
    """How many entries the conversion to `numbers` changed."""
    if not numbers.rounds:
        return 0
    return sum(_changed(numbers, matrix, values[name]) for name, matrix in given.items())


def _changed(numbers: Arithmetic, given: Array, values: Array) -> int:
    if given.dtype.kind == "f" and values.dtype != object:  # both contained in float64
        return int((given.astype(np.float64) != values.astype(np.float64)).sum())
    pairs = zip(given.ravel(), values.ravel(), strict=True)
    return sum(numbers.rational(value) != as_fraction(entry) for entry, value in pairs)
