"""Lemma B.1 [3.1] as printed: 2(N/M)² calls of up to M + 1 tokens, merged outside.

Kept as the paper has it, so that what fails can be seen failing:

Step 1 appends a synthetic token to M real ones (waiver tokens+1; finding G01). Real tokens and
       the synthetic one carry an extra coordinate 1, so logits are ⟨q_i, k_j⟩ + 1 among real
       tokens and 1 in the last row and column. Values are a block of ones (Lemma A.1), so a
       real row returns r = A/(A + 1), d times, and ψ returns A = r/(1 − r) (finding G05).
Step 2 feeds the block pair without a synthetic token and returns B/A.
Merge  Σ_t (B/A)·A / Σ_t A, which the paper leaves outside the oracle (waiver outside-merge;
       finding G02).

Recovery from r/(1 − r) does not tolerate padding, so M must divide N.
"""

from __future__ import annotations

from collections.abc import Mapping

from symsim.constructions.a1_block_of_ones import indicator, ones
from symsim.constructions.head_input import BlockRows, HeadInput, blocks, within_block
from symsim.model import (
    Block,
    Head,
    Identity,
    Layer,
    Limits,
    Merge,
    ModelError,
    Plan,
    Register,
    Transformer,
    beside,
    stack,
)
from symsim.terms import Term, Token, trace


def quadratic_calls_as_printed(given: HeadInput, tokens: int) -> Plan:
    """The printed plan for a head under the full mask.

    Raises ModelError unless M divides N.
    """
    if given.tokens % tokens:
        raise ModelError(
            "printed B.1 does not tolerate padding, so M divides N",
            "B.1 as printed",
            f"N = {given.tokens}, M = {tokens}",
            "N a multiple of M",
        )
    plan = Plan(Limits.of_paper(tokens=tokens, dimension=given.dimension))
    plan.waive("tokens+1")
    plan.waive("outside-merge")
    rows = BlockRows(plan, given)
    parts = blocks(given.tokens, tokens)
    own, other = within_block(given), given
    recovers = {source: step_1_oracle(source, tokens) for source in (own, other)}
    averages = {source: step_2_oracle(source) for source in (own, other)}
    results = []
    for t, queries in enumerate(parts):
        states = []
        for u, keys in enumerate(parts):
            source = own if t == u else other
            real = rows.pair(source, queries, keys, tokens)
            with_synthetic = rows.pair(source, queries, keys, tokens + 1)
            recovered = plan.call("block", f"step 1 ({t}, {u})", recovers[source], with_synthetic)
            averaged = plan.call("block", f"step 2 ({t}, {u})", averages[source], real)
            states.append(beside(recovered[:tokens], averaged))
        results.extend(_merge(plan, states, given.value.width, f"block {t}"))
    plan.finish(stack(*results))
    return plan


def step_1_oracle(given: HeadInput, tokens: int) -> Transformer:
    """Normalization recovery on M real tokens and a synthetic one: A, once a value column."""
    columns = given.columns

    def phi(token: Token) -> Mapping[str, Term | int]:
        kept = {name: token[name] for name in columns}
        return {**kept, "extra": 1, "real": indicator(token, tokens)}

    head = Head(
        query={"logit": given.query, "extra": Block("extra", Identity(1))},
        key={"logit": given.key, "extra": Block("extra", Identity(1))},
        value={"r": ones("real", given.value.width)},
    )
    psi = trace(lambda token: {"A": token.r / (1 - token.r)}, {"r": given.value.width})
    return Transformer(trace(phi, columns, sees_position=True), (Layer((head,), psi),))


def step_2_oracle(given: HeadInput) -> Transformer:
    """Attention within the block pair, no synthetic token: R = B/A."""
    columns = given.columns
    head = Head({"logit": given.query}, {"logit": given.key}, {"R": given.value})
    phi = trace(lambda token: {name: token[name] for name in columns}, columns)
    return Transformer(phi, (Layer((head,)),))


def block_calls_as_printed(length: int, tokens: int) -> int:
    """2 ⌈N/M⌉² calls (the paper's Step 2 counts N/M of them; finding G12)."""
    return 2 * (-(-length // tokens)) ** 2


def _merge(plan: Plan, states: list[Register], width: int, label: str) -> list[Register]:
    """Σ_t R_t A_t / Σ_t A_t of every query, by arithmetic outside."""
    merge = Merge(
        per_row=trace(
            lambda token: {"A": token.A, "B": token.R * token.A}, {"A": width, "R": width}
        ),
        of_sum=trace(lambda token: {"Y": token.B / token.A}, {"A": width, "B": width}),
    )
    table, queries = stack(*states), states[0].rows
    return [
        plan.merge_outside(f"{label}, query {query}", merge, table[query::queries])
        for query in range(queries)
    ]
