"""Lemma B.1, repaired: blocks of M − 1 tokens, dual readout, merge by oracle calls.

T = ⌈N/(M − 1)⌉ blocks; T² block calls; N·⌈(T − 1)/(M − 1)⌉ calls to merge the T states of each
query, by a tree of fan-in M.
"""

from symsim.claims import (
    Count,
    Counterexample,
    Execution,
    Mistake,
    Statement,
    Step,
    at_most,
    domain,
    inequality,
    integer,
    less,
    real,
    sizes,
    symbols,
)

from .plans import dense_head, head_inputs, repaired

N, M, T, a, d = symbols("N M T a d")

uneven = sizes("N M d", (1, 2, 1), (3, 2, 1), (4, 3, 2), (7, 3, 1), (8, 4, 2), (11, 3, 1))
grid = sizes("N M d", *((n, m, 1 + n % 3) for n in range(1, 21) for m in range(2, 8)))
blocks = ("T", N, M - 1)
merges = ("a", T - 1, M - 1)

# T = ⌈N/(M − 1)⌉ gives (T − 1)(M − 1) ≤ N − 1, that is T(M − 1) ≤ N + M − 2.
cut = domain(
    real(M, at_least=2), real(N, at_least=M), real(T, at_least=1), at_most(T * (M - 1), N + M - 2)
)
# a = ⌈(T − 1)/(M − 1)⌉ gives a(M − 1) ≤ T + M − 3.
merged = domain(
    real(M, at_least=2),
    real(N, at_least=M * M),
    real(T, at_least=1),
    real(a, at_least=0),
    at_most(T * (M - 1), N + M - 2),
    at_most(a * (M - 1), T + M - 3),
)
bound_on_blocks = inequality(at_most(T * M, 2 * N), cut)

mistakes = (
    Mistake(
        "indicator of real keys one long",
        "b1_quadratic_calls",
        "indicator(token, keys)",
        "indicator(token, keys + 1)",
    ),
    Mistake(
        "indicator of the synthetic token one long",
        "b1_quadratic_calls",
        "token.in_range(n - 1, n)",
        "token.in_range(n - 2, n)",
    ),
    Mistake(
        "query and key sides exchanged",
        "b1_quadratic_calls",
        'query, key = {"logit": given.query}, {"logit": given.key}',
        'query, key = {"logit": given.key}, {"logit": given.query}',
    ),
    Mistake(
        "last block dropped",
        "b1_quadratic_calls",
        "for u, keys in enumerate(parts):",
        "for u, keys in enumerate(parts[:-1] or parts):",
    ),
    Mistake(
        "A.2's factor one too large for states",
        "a2_sum_of_tokens",
        "{name: tokens * summand",
        "{name: (tokens + (tokens == 2)) * summand",
    ),
)

B1_REPAIRED = Statement(
    id="B.1-repaired",
    title="one head by quadratically many calls, repaired",
    says="T² + N⌈(T − 1)/(M − 1)⌉ calls of at most M tokens, 1 + ⌈log_M T⌉ rounds, "
    "embedding 3d + 2, T = ⌈N/(M − 1)⌉; no waivers.",
    uses=("2.3", "A.1", "A.2", "Recovery", "Merge"),
    steps=(
        Step(
            "B.1R.tokens",
            "A call holds at most M tokens.",
            Count(
                "calls of more than M tokens",
                repaired(),
                lambda plan: sum(call.input.rows > plan.limits.tokens for call in plan.calls),
                0 * N,
                grid,
            ),
            role="repaired",
            repairs="B.1.0′",
            finding="G01",
        ),
        Step(
            "B.1R.equals",
            "The simulation is dense attention: dual readout, merge by A.2.",
            Execution(
                "repaired B.1", repaired(), head_inputs, dense_head, uneven, mistakes=mistakes
            ),
            role="repaired",
            repairs="B.1.4",
            finding="G01",
        ),
        Step(
            "B.1R.merge",
            "The merge by one head with logits ln A_t and values B_t/A_t at the root.",
            Execution(
                "repaired B.1, aggregation a:head",
                repaired(aggregation="a:head"),
                head_inputs,
                dense_head,
                uneven,
                ("symbolic", "exact:pl2"),
            ),
            role="repaired",
            repairs="B.1.14",
            finding="G02",
        ),
        Step(
            "B.1R.blocks",
            "T² block calls.",
            Count(
                "block calls",
                repaired(),
                lambda plan: plan.ledger.calls["block"],
                T * T,
                grid,
                (blocks,),
            ),
            role="lemma",
        ),
        Step(
            "B.1R.merges",
            "N⌈(T − 1)/(M − 1)⌉ calls merge the states.",
            Count(
                "aggregation calls",
                repaired(),
                lambda plan: plan.ledger.calls["aggregation"],
                N * a,
                grid,
                (blocks, merges),
            ),
            role="lemma",
        ),
        Step(
            "B.1R.embedding",
            "Embedding 3d + 2.",
            Count("embedding", repaired(), lambda plan: plan.ledger.max_embedding, 3 * d + 2, grid),
            role="lemma",
        ),
        Step(
            "B.1R.bound",
            "T·M ≤ 2N, so T² ≤ 4(N/M)², for N ≥ M ≥ 2.",
            bound_on_blocks,
            role="lemma",
            finding="G01",
        ),
        Step(
            "B.1R.sharp",
            "Sharp: at N = M = 2, T = 2, not T·M < 2N.",
            Counterexample(inequality(less(T * M, 2 * N), cut), {"M": 2, "N": 2, "T": 2}),
            role="lemma",
            finding="G01",
        ),
        Step(
            "B.1R.merge-bound",
            "Aggregation (a) is within 5(N/M)² calls where M² ≤ N: a·M² ≤ 5N.",
            inequality(at_most(a * M * M, 5 * N), merged),
            role="lemma",
            finding="G02",
        ),
        Step(
            "B.1R.merge-limit",
            "Beyond M² = 5N it is not: one call a query is more than 5(N/M)².",
            inequality(
                less(5 * N * N, N * M * M),
                domain(integer(N, at_least=1), integer(M, at_least=2), less(5 * N, M * M)),
            ),
            role="lemma",
            finding="G02",
        ),
    ),
)
