"""Aggregation of block states (finding G02 (a); Lemma B.1, the merge after Step 2).

The states of one query, one a block of keys, are merged by Lemma A.2: a call over T <= M
states returns their sums, and its layer MLP divides. When T > M a tree of such calls first
reduces the number of states to a power of M, which makes the number of calls,
⌈(T − 1)/(M − 1)⌉ a query, and the number of rounds, ⌈log_M T⌉, least at the same time. Inner
nodes return states; only the root divides.

The root may instead be one attention head with logit ln A_t and value B_t/A_t (form a:head).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Literal

from symsim.constructions.a2_sum_of_tokens import Summands, sum_of_tokens
from symsim.model import Block, Head, Identity, Layer, Plan, Register, Transformer, stack
from symsim.terms import MLP, Columns, exp, log, trace

AggregationName = Literal["a", "a:head"]
AGGREGATIONS: tuple[AggregationName, ...] = ("a", "a:head")


@dataclass(frozen=True)
class StateForm:
    """How block sums are stored: the functions that aggregation asks of a state.

    sums: the state's (A, B). state: (A, B) as a state, None where it is one already.
    head: the state as a logit and a value.
    """

    sums: Summands
    state: MLP | None
    head: Summands


LINEAR = StateForm(
    sums=lambda token: {"A": token.A, "B": token.B},
    state=None,
    head=lambda token: {"logit": log(token.A), "value": token.B / token.A},
)
"""States (A, B)."""

LOGARITHMIC = StateForm(
    sums=lambda token: {"A": exp(token.L), "B": exp(token.L) * token.R},
    state=lambda token: {"L": log(token.A), "R": token.B / token.A},
    head=lambda token: {"logit": token.L, "value": token.R},
)
"""States (L, R) with A = exp L and B = A·R."""


def fan_in(states: int, tokens: int) -> list[list[int]]:
    """For T states and M tokens a call, the group sizes of each round; the last is the root's.

    States beyond the groups of a round pass to the next. T = 1 needs no round.
    """
    rounds = []
    while states > 1:
        target = 1
        while target * tokens < states:
            target *= tokens
        full, rest = divmod(states - target, tokens - 1)
        rounds.append([tokens] * full + [rest + 1] * (rest > 0))
        states = target
    return rounds


def aggregation_calls(queries: int, states: int, tokens: int) -> int:
    """N ⌈(T − 1)/(M − 1)⌉ calls."""
    return queries * -(-(states - 1) // (tokens - 1))


def aggregation_rounds(states: int, tokens: int) -> int:
    """⌈log_M T⌉ rounds."""
    rounds, reach = 0, 1
    while reach < states:
        rounds, reach = rounds + 1, reach * tokens
    return rounds


def aggregate(
    plan: Plan,
    states: Sequence[Register],
    form: StateForm,
    root: AggregationName,
    label: str,
) -> Register:
    """Record the merge of `states`, one register a block of keys, a row a query.

    Returns a register with a row a query and the single column group Y.
    """
    queries, columns = states[0].rows, states[0].columns
    table = stack(*states)
    rounds = fan_in(len(states), plan.limits.tokens)
    nodes = _Nodes(columns, form, root)
    merged = []
    for query in range(queries):
        rows = table[query::queries]
        for number, groups in enumerate(rounds, start=1):
            make = nodes.root if number == len(rounds) else nodes.inner
            rows = _round(plan, rows, groups, make, f"{label}, query {query}")
        merged.append(rows)
    return stack(*merged)


def _round(
    plan: Plan,
    rows: Register,
    groups: Sequence[int],
    node: Callable[[int], Transformer],
    label: str,
) -> Register:
    """One round of a query's tree: a call for each group, the other states pass."""
    merged, start = [], 0
    for size in groups:
        output = plan.call("aggregation", label, node(size), rows[start : start + size])
        merged.append(output[:1])
        start += size
    return stack(*merged, rows[start:]) if start < rows.rows else stack(*merged)


class _Nodes:
    """The oracles of a tree's nodes by number of tokens, each made once."""

    def __init__(self, columns: Columns, form: StateForm, root: AggregationName) -> None:
        self._columns, self._form, self._root = columns, form, root
        self._made: dict[tuple[bool, int], Transformer] = {}

    def inner(self, tokens: int) -> Transformer:
        """Sums `tokens` states into one."""
        return self._once(False, tokens)

    def root(self, tokens: int) -> Transformer:
        """Merges the last `tokens` states and divides."""
        return self._once(True, tokens)

    def _once(self, root: bool, tokens: int) -> Transformer:
        if (root, tokens) not in self._made:
            self._made[root, tokens] = self._make(root, tokens)
        return self._made[root, tokens]

    def _make(self, root: bool, tokens: int) -> Transformer:
        form, columns = self._form, self._columns
        if not root:
            return sum_of_tokens(tokens, columns, of=form.sums, then=form.state)
        if self._root == "a:head":
            return head_over_states(columns, form)
        return sum_of_tokens(
            tokens, columns, of=form.sums, then=lambda token: {"Y": token.B / token.A}
        )


def head_over_states(columns: Columns, form: StateForm) -> Transformer:
    """One head with logit ln A_t and value B_t/A_t: every row is Σ B_t / Σ A_t."""
    program = trace(lambda token: {**form.head(token), "one": 1}, columns)
    value = Block("value", Identity(program.columns["value"]))
    head = Head(
        query={"one": Block("one", Identity(1))},
        key={"one": Block("logit", Identity(1))},
        value={"Y": value},
    )
    return Transformer(program, (Layer((head,)),))
