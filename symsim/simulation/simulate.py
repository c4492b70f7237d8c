"""One head simulated in one arithmetic: plan, run and comparison with dense attention."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import lru_cache

from symsim.arithmetic import Arithmetic, Array, Evidence
from symsim.arithmetic.ball import Ball
from symsim.constructions.aggregation import AGGREGATIONS, AggregationName
from symsim.constructions.b1_as_printed import quadratic_calls_as_printed
from symsim.constructions.b1_quadratic_calls import quadratic_calls
from symsim.constructions.head_input import from_qkv, from_x
from symsim.constructions.normalization_recovery import READOUTS, ReadoutName
from symsim.model import Plan, run
from symsim.simulation.compare import Comparison, case_agrees, compare
from symsim.simulation.inputs import HeadData, excerpt
from symsim.simulation.large_head import LargeHead, check_exact_logits, convert, rounded_entries
from symsim.simulation.resources import LARGEST_BITS, check_resources

CONSTRUCTIONS: dict[str, str] = {
    "full": "Lemma B.1: one head, full mask, quadratically many calls",
}
"""Constructions that can be run, and what each simulates."""

VARIANTS = ("repaired", "printed")

DEFAULT_READOUTS: dict[str, ReadoutName] = {"repaired": "dual", "printed": "printed"}

DEFAULT_TOKENS = 32
"""M where neither the input nor the user names one."""

LARGEST_PRECISION = 2**14
"""Bits up to which an inconclusive ball run doubles its precision."""


class OptionError(ValueError):
    """Options that do not go together; the message names the legal ones."""


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
    """A finished run of one head: the plan, its numbers, and the comparison.

    requested: the arithmetic asked for; `numbers` may be balls of a higher precision.
    """

    head: HeadData
    options: Options
    numbers: Arithmetic
    requested: str
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
        return self.head.dimension

    @property
    def aggregation(self) -> AggregationName | None:
        """How states were merged by oracle calls; None where none were."""
        if not self.plan.ledger.calls["aggregation"]:
            return None
        return self.options.aggregation or ("a:head" if self.options.readout == "anchored" else "a")

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


def oracle_tokens(head: HeadData, options: Options) -> int:
    """M: what the user asks for, else the input, else DEFAULT_TOKENS. Raises OptionError."""
    asked = (options.tokens, head.tokens, DEFAULT_TOKENS)
    tokens = next(tokens for tokens in asked if tokens is not None)
    if tokens < 2:
        raise OptionError(f"--tokens {tokens}: expected an integer of at least 2 (M)")
    return tokens


def make_plan(head: HeadData, options: Options) -> Plan:
    """The plan for a head of this shape. Raises OptionError or ModelError."""
    if head.mask.kind != "full":
        raise OptionError(
            f"{head.place}: mask: found {head.mask}, expected full (construction full)"
        )
    return _plan(_shape(head), options, oracle_tokens(head, options))


@lru_cache(maxsize=1)
def _plan(shape: tuple[int, ...], options: Options, tokens: int) -> Plan:
    """The plan for a shape: heads and arithmetics share it, as it holds no numbers."""
    given = from_x(*shape) if len(shape) == 4 else from_qkv(*shape)
    if options.variant == "printed":
        return quadratic_calls_as_printed(given, tokens)
    return quadratic_calls(
        given, tokens, readout=options.readout or "dual", aggregation=options.aggregation
    )


def _shape(head: HeadData) -> tuple[int, ...]:
    """N, d and the width of V, or, where X is given, N, d and the widths of W_Q and W_V."""
    if "X" in head.matrices:
        weights = (head.parameters["W_Q"], head.parameters["W_V"])
        return (head.length, head.dimension, *(int(w.shape[1]) for w in weights))
    return (head.length, head.dimension, int(head.matrices["V"].shape[1]))


def check_options(options: Options, numbers: Arithmetic) -> None:
    """Raise OptionError for options that `numbers` cannot run, naming the legal ones."""
    for name, value, legal in (
        ("construction", options.construction, CONSTRUCTIONS),
        ("--variant", options.variant, VARIANTS),
        ("--readout", options.readout, (None, *READOUTS)),
        ("--aggregation", options.aggregation, (None, *AGGREGATIONS)),
    ):
        if value not in legal:
            names = ", ".join(filter(None, legal))
            raise OptionError(
                f"{name} {excerpt(str(value))}: expected {names} (construction full, this version)"
            )
    if options.tokens is not None and options.tokens < 2:
        raise OptionError(f"--tokens {options.tokens}: expected an integer of at least 2 (M)")
    if options.variant == "printed":
        _check_printed(options)
    if getattr(numbers, "bits", 0) > LARGEST_BITS:
        raise OptionError(f"{excerpt(numbers.name)}: expected at most {LARGEST_BITS} bits")
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


def _check_printed(options: Options) -> None:
    """Raise OptionError for what the paper's own version does not have."""
    if options.readout not in (None, "printed"):
        raise OptionError(f"--readout {options.readout}: variant printed takes printed")
    if options.aggregation is not None:
        raise OptionError(
            f"--aggregation {options.aggregation}: variant printed takes none, as the paper "
            "leaves the merge outside the oracle"
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
    counted. A ball run whose enclosures say nothing is repeated with twice the precision, up to
    LARGEST_PRECISION bits. Raises OptionError, ModelError, ResourceError or NumberError.
    """
    check_options(options, numbers)
    tokens = oracle_tokens(head, options)
    check_resources(numbers, head.length, head.dimension, tokens, options.variant)
    task = _Task(head, options, make_plan(head, options), tokens, numbers.name, progress)
    result = task.run(numbers)
    while result.succeeded is None and (doubled := _doubled(result.numbers)):
        check_resources(doubled, head.length, head.dimension, tokens, options.variant)
        result = task.run(doubled)
    return result


def _doubled(numbers: Arithmetic) -> Ball | None:
    """Balls of twice the precision, up to the limit."""
    if isinstance(numbers, Ball) and 2 * numbers.bits <= LARGEST_PRECISION:
        return Ball(2 * numbers.bits, numbers.base)
    return None


@dataclass
class _Task:
    """What stays the same when a run is repeated with more precision."""

    head: HeadData
    options: Options
    plan: Plan
    tokens: int
    requested: str
    progress: Progress | None

    def run(self, numbers: Arithmetic) -> Simulation:
        """One run in `numbers`, compared."""
        head, plan = self.head, self.plan
        large = convert(head, numbers)
        if numbers.evidence is Evidence.EXACT:
            check_exact_logits(head.place, large, numbers)
        reference = None if numbers.rounds else large.dense(numbers)
        output = run(
            plan, numbers, large.matrices, large.parameters, progress=_Counter(self).advance
        )
        return Simulation(
            head,
            self.options,
            numbers,
            self.requested,
            plan,
            self.tokens,
            large,
            output,
            compare(numbers, output, large, reference),
            rounded_entries(head, large, numbers),
            case_agrees(numbers, output, head.expected),
        )


@dataclass
class _Counter:
    """Adds up the steps done, for a progress bar."""

    task: _Task
    done: int = field(default=0)

    def advance(self, steps: int) -> None:
        """`steps` more are done."""
        self.done += steps
        if self.task.progress:
            self.task.progress(self.done, len(self.task.plan.steps))
