"""Claims: what a step of a proof asserts, as data. A claim names no engine."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction

from symsim.arithmetic import Arithmetic, Array
from symsim.claims.domain import Domain, Relation, Variable, equal
from symsim.claims.mistakes import Mistake
from symsim.model import Plan
from symsim.terms import Number, Term, formula


@dataclass(frozen=True, eq=False)
class Formula:
    """A relation that holds for all values of the domain: an identity or an inequality.

    The relation is kept as written. It asserts also that every divisor in it (and in the
    hypotheses) is nonzero, and every logarithm's argument positive, on the whole domain.
    """

    relation: Relation
    domain: Domain

    def __post_init__(self) -> None:
        self.domain.check(self.relation, "the claim")

    @property
    def says_nothing(self) -> bool:
        """Whether it holds by being written down: A = A or A ≤ A, the same term twice."""
        same = self.relation.left is self.relation.right
        return same and self.relation.comparison in ("=", "<=")

    def __str__(self) -> str:
        return f"{self.relation}, for all {self.domain}"


def identity(left: Term | Number, right: Term | Number, on: Domain) -> Formula:
    """left = right on the whole domain."""
    return Formula(equal(left, right), on)


def inequality(relation: Relation, on: Domain) -> Formula:
    """A relation ≤ or < on the whole domain."""
    return Formula(relation, on)


@dataclass(frozen=True, eq=False)
class Partition:
    """Cells C_t, one for each t of a range, are disjoint and cover a set of integers.

    element: the integer x that is to lie in exactly one cell; whole: relations saying that x
    belongs to the set; index: t with its range as bounds; member: relations saying x ∈ C_t;
    parameters: the domain of all other symbols, any of which may occur above.
    choice: t as a term in x, the parameters and the symbols of `quotients`, which names the
    cell of x. quotients: integers q = ⌊n/m⌋ as (q, n, m), n and m terms, m >= 1.
    """

    parameters: Domain
    element: Variable
    whole: tuple[Relation, ...]
    index: Variable
    member: tuple[Relation, ...]
    choice: Term
    quotients: tuple[tuple[Term, Term, Term], ...] = ()

    def __str__(self) -> str:
        whole = "".join(f", {relation}" for relation in self.whole)
        member = " and ".join(map(str, self.member))
        return (
            f"each {self.element}{whole} lies in exactly one cell, where cell {self.index.name} "
            f"has {member}; {self.index}; for all {self.parameters}"
        )


@dataclass(frozen=True)
class Size:
    """One size of an execution, by the names of its parameters, such as N, M and d."""

    values: Mapping[str, int]

    def __str__(self) -> str:
        return ", ".join(f"{name} = {value}" for name, value in self.values.items())


def _at_sizes(sizes: Sequence[Size]) -> str:
    if len(sizes) == 1:
        return str(sizes[0])
    return f"{len(sizes)} sizes from ({sizes[0]}) to ({sizes[-1]})"


def sizes(names: str, *rows: Sequence[int]) -> tuple[Size, ...]:
    """Rows of numbers as sizes, with names separated by blanks: "N M d", (3, 3, 1), (7, 3, 1)."""
    return tuple(Size(dict(zip(names.split(), row, strict=True))) for row in rows)


@dataclass(frozen=True, eq=False)
class Execution:
    """A plan, run in the named arithmetics at the given sizes, returns what dense attention does.

    plan: makes the plan of a size; inputs: input names and shapes of a size, parameters
    W_Q, W_K, W_V included; reference: the right answer from the inputs in an arithmetic.
    Symbolic runs use fresh symbols as inputs; others small integers drawn from one root seed.
    mistakes: changes of a construction that the same execution must refute; `plan` has to
    import the construction when it is called.
    """

    what: str
    plan: Callable[[Size], Plan]
    inputs: Callable[[Size], Mapping[str, tuple[int, int]]]
    reference: Callable[[Arithmetic, Mapping[str, Array]], Array]
    sizes: tuple[Size, ...]
    arithmetics: tuple[str, ...] = ("symbolic", "exact")
    mistakes: tuple[Mistake, ...] = ()

    def __str__(self) -> str:
        return (
            f"{self.what} returns what its reference does, in {' and '.join(self.arithmetics)}, "
            f"at {_at_sizes(self.sizes)}"
        )


@dataclass(frozen=True, eq=False)
class Count:
    """A field of the ledger equals a closed form, on a grid of sizes.

    entry: reads the count from a plan; closed_form: a term in the parameters of a size and in
    ceiling quotients given as (name, numerator, denominator).
    """

    what: str
    plan: Callable[[Size], Plan]
    entry: Callable[[Plan], int]
    closed_form: Term
    sizes: tuple[Size, ...]
    ceilings: tuple[tuple[str, Term, Term], ...] = ()

    def __str__(self) -> str:
        ceilings = "".join(
            f", {name} = ⌈{formula(over / under)}⌉" for name, over, under in self.ceilings
        )
        return f"{self.what} = {formula(self.closed_form)}{ceilings}, at {_at_sizes(self.sizes)}"


@dataclass(frozen=True, eq=False)
class Acceptance:
    """The model of computation accepts a plan at the given sizes: no rule is broken."""

    what: str
    plan: Callable[[Size], Plan]
    sizes: tuple[Size, ...]

    def __str__(self) -> str:
        return f"the model accepts {self.what}, at {_at_sizes(self.sizes)}"


@dataclass(frozen=True, eq=False)
class Evaluation:
    """A term evaluated in an arithmetic gives this result; None says that it is not finite."""

    what: str
    term: Term
    values: Mapping[str, int]
    arithmetic: str
    result: Fraction | int | None

    def __str__(self) -> str:
        at = ", ".join(f"{name} = {value}" for name, value in self.values.items())
        result = "is not finite" if self.result is None else f"is {self.result}"
        return f"{self.what}: {formula(self.term)} {result} in {self.arithmetic} at {at}"


@dataclass(frozen=True, eq=False)
class Counterexample:
    """At these values the hypotheses hold and the relation of `refutes` does not."""

    refutes: Formula
    values: Mapping[str, Fraction | int]

    def __str__(self) -> str:
        at = ", ".join(f"{name} = {value}" for name, value in self.values.items())
        return f"not {self.refutes.relation} at {at}, a point of {self.refutes.domain}"


@dataclass(frozen=True, eq=False)
class Induction:
    """A statement for all integers of `variable` from its base on: base and step are claims."""

    variable: str
    base: Formula
    step: Formula

    def __str__(self) -> str:
        return f"by induction on {self.variable}: base {self.base}; step {self.step}"


@dataclass(frozen=True)
class Imported:
    """A result taken from elsewhere: its citation and exactly what is assumed."""

    citation: str
    assumes: str

    def __str__(self) -> str:
        return f"imported from {self.citation}: {self.assumes}"


@dataclass(frozen=True)
class Unproved:
    """A step that this document does not settle yet, and what would."""

    reason: str = field(default="")

    def __str__(self) -> str:
        return f"not settled here: {self.reason}"


Claim = (
    Formula
    | Partition
    | Execution
    | Count
    | Acceptance
    | Evaluation
    | Counterexample
    | Induction
    | Imported
    | Unproved
)
