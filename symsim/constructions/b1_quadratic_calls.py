"""Lemma B.1 [3.1], repaired: one head by quadratically many calls of M tokens.

Findings G01, G02, G05, G09 and G12 are what is repaired: blocks of M − 1 real tokens leave room
for the synthetic one; one call a block pair returns A and B together; the merge is made of
oracle calls. Tokens of the call for queries S_t and keys S_t′, n = max(|S_t|, |S_t′|) + 1 rows:

    row p < n − 1:  [query p | key p | value p], zero past the end of a shorter block
    row n − 1:      the synthetic token, all zero

so that the synthetic token's logit, like that of any padding, is 0. φ adds two indicators,
ones on real keys and a one on the synthetic token, and the head returns (y, r, s) =
(B, A, 1)/Z, from which the readout's ψ gives the state of every query.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache

from symsim.constructions.a1_block_of_ones import indicator
from symsim.constructions.aggregation import (
    AGGREGATIONS,
    LINEAR,
    LOGARITHMIC,
    AggregationName,
    aggregate,
    aggregation_calls,
    aggregation_rounds,
)
from symsim.constructions.head_input import BlockRows, HeadInput, blocks
from symsim.constructions.normalization_recovery import READOUTS, ReadoutName
from symsim.model import Block, Head, Identity, Layer, Limits, Plan, Transformer, stack
from symsim.model.limits import ModelError
from symsim.terms import MLP, Term, Token, dot, trace


def quadratic_calls(
    given: HeadInput,
    tokens: int,
    *,
    readout: ReadoutName = "dual",
    aggregation: AggregationName | None = None,
) -> Plan:
    """The plan that simulates a head under the full mask by an oracle of `tokens` tokens.

    aggregation: "a", or "a:head" (the default for the anchored readout, whose states are
    logarithms). Result: the N output rows. Raises ModelError where M < 2, or where the
    anchored readout meets a head given by X (its anchor is ⟨q_i, k_i⟩, computed by φ).
    """
    if readout not in READOUTS:
        raise ModelError("known readouts", "repaired B.1", readout, ", ".join(READOUTS))
    if aggregation not in (None, *AGGREGATIONS):
        raise ModelError("known aggregations", "repaired B.1", aggregation, ", ".join(AGGREGATIONS))
    plan = Plan(Limits.of_paper(tokens=tokens, dimension=given.dimension))
    if readout == "anchored":
        given = with_own_key(given)
    rows = BlockRows(plan, given)
    parts = blocks(given.tokens, tokens - 1)

    @cache
    def oracle(queries: int, keys: int) -> Transformer:
        return block_oracle(given, queries, keys, readout, divides=len(parts) == 1)

    results = []
    for t, queries in enumerate(parts):
        states = []
        for u, keys in enumerate(parts):
            n_q, n_k = size(queries), size(keys)
            n = max(n_q, n_k) + 1
            call = rows.pair(given, queries, keys, n)
            output = plan.call("block", f"block ({t}, {u})", oracle(n_q, n_k), call)
            states.append(output[:n_q])
        if len(parts) == 1:
            results.append(states[0])
        else:
            form = LOGARITHMIC if readout == "anchored" else LINEAR
            root = aggregation or ("a:head" if readout == "anchored" else "a")
            results.append(aggregate(plan, states, form, root, f"block {t}"))
    plan.finish(stack(*results))
    return plan


def block_oracle(
    given: HeadInput, queries: int, keys: int, readout: ReadoutName, *, divides: bool
) -> Transformer:
    """The oracle of a call with `queries` queries and `keys` keys, n = max + 1 tokens.

    divides: whether its ψ returns y/r = B/A at once, as when there is a single block.
    """
    n = max(queries, keys) + 1
    is_anchored = readout == "anchored"
    columns = given.columns

    def phi(token: Token) -> Mapping[str, Term]:
        kept = {name: token[name] for name in columns if name != "own"}
        if is_anchored:
            kept["anchor"] = dot(token.q, token.own)
        return {
            **kept,
            "real": indicator(token, keys),
            "synthetic": token.in_range(n - 1, n),
        }

    query, key = {"logit": given.query}, {"logit": given.key}
    if is_anchored:
        query["anchor"], key["anchor"] = flag("anchor"), flag("synthetic")
    value = {"y": given.value, "r": flag("real"), "s": flag("synthetic")}
    psi: MLP = (lambda token: {"Y": token.y / token.r}) if divides else READOUTS[readout](n - keys)
    layer_mlp = trace(psi, {name: block.width for name, block in value.items()})
    input_mlp = trace(phi, columns, sees_position=True)
    return Transformer(input_mlp, (Layer((Head(query, key, value),), layer_mlp),))


def with_own_key(given: HeadInput) -> HeadInput:
    """The input with each query's own key beside it, from which φ computes the anchor."""
    if "k" not in given.key_side:
        raise ModelError(
            "the anchored readout needs keys as columns", "head input", "X", "Q, K and V"
        )
    own = {"own": given.key_side["k"]}
    return HeadInput(
        given.tokens,
        {**given.query_side, **own},
        given.key_side,
        given.query,
        given.key,
        given.value,
    )


def flag(name: str) -> Block:
    """A single column taken over unchanged."""
    return Block(name, Identity(1))


def size(block: slice) -> int:
    """The number of tokens of an index block."""
    return int(block.stop - block.start)


# -- closed forms -----------------------------------------------------------------------------


def block_count(length: int, tokens: int) -> int:
    """T = ⌈N/(M − 1)⌉."""
    return -(-length // (tokens - 1))


def block_calls(length: int, tokens: int) -> int:
    """T² calls."""
    return block_count(length, tokens) ** 2


def total_calls(length: int, tokens: int) -> int:
    """T² + N ⌈(T − 1)/(M − 1)⌉ calls."""
    states = block_count(length, tokens)
    return states**2 + aggregation_calls(length, states, tokens)


def rounds(length: int, tokens: int) -> int:
    """1 + ⌈log_M T⌉ rounds."""
    return 1 + aggregation_rounds(block_count(length, tokens), tokens)


def embedding(dimension: int) -> int:
    """3d + 2 columns: query, key, value and two indicators (dual readout, Q, K and V given)."""
    return 3 * dimension + 2
