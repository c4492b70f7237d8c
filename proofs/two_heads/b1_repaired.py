"""Lemma B.1, repaired: blocks of M − 1 tokens, dual readout, merge by oracle calls.

T = ⌈N/(M − 1)⌉ blocks; T² block calls; N·⌈(T − 1)/(M − 1)⌉ calls to merge the T states of each
query, by a tree of fan-in M.
"""

from symsim.claims import (
    Count,
    Counterexample,
    Execution,
    Kind,
    Mistake,
    Partition,
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

N, M, T, R, a, b, d, n, p, q, t = symbols("N M T R a b d n p q t")


def least_power(length, tokens):
    """The least R with M^R ≥ T, T = ⌈N/(M − 1)⌉."""
    exponent, states = 0, -(-length // (tokens - 1))
    while tokens**exponent < states:
        exponent += 1
    return exponent


uneven = sizes("N M d", (1, 2, 1), (3, 2, 1), (4, 3, 2), (7, 3, 1), (8, 4, 2), (11, 3, 1))
doubling = sizes("N M d", (2, 2, 1), (4, 2, 1), (8, 2, 1), (16, 2, 1))
with_rounds = sizes(
    "N M d R", *((n, m, 1, least_power(n, m)) for n in range(1, 31) for m in range(2, 8))
)
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
# b = ⌈N/M⌉ gives bM ≤ N + M − 1; T as above gives (T − 1)(M − 1) ≤ N − 1.
paired = domain(
    real(M, at_least=2),
    real(N, at_least=M),
    real(T, at_least=1),
    real(b, at_least=0),
    at_most((T - 1) * (M - 1), N - 1),
    at_most(b * M, N + M - 1),
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
                mistakes=(
                    Mistake(
                        "value A_t in place of B_t/A_t",
                        "aggregation",
                        '"value": token.B / token.A}',
                        '"value": 0 * token.B + token.A}',
                    ),
                    Mistake(
                        "logit A_t in place of ln A_t",
                        "aggregation",
                        '"logit": log(token.A)',
                        '"logit": 1 * token.A',
                    ),
                ),
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
            "B.1R.rounds",
            "1 + ⌈log_M T⌉ rounds (R is the least number with M^R ≥ T).",
            Count("rounds", repaired(), lambda plan: plan.ledger.rounds, 1 + R, with_rounds),
            role="lemma",
            finding="G25",
        ),
        Step(
            "B.1R.not-constant",
            "O(L) rounds, with a constant of three for one layer: no call of aggregation (a) "
            "comes after the third round.",
            Count(
                "rounds after the third",
                repaired(),
                lambda plan: max(plan.ledger.rounds - 3, 0),
                0 * N,
                doubling,
            ),
            expect=Kind.REFUTED,
            role="lemma",
            finding="G25",
        ),
        Step(
            "B.1R.synthetic-row",
            "Rows 0, …, n − 1 of a call: the last is the synthetic token, the others are not.",
            Partition(
                domain(integer(n, at_least=2)),
                integer(p, at_least=0, at_most=n - 1),
                (),
                integer(t, at_least=0, at_most=1),
                (at_most((n - 1) * t, p), at_most(p, n - 2 + t)),
                q,
                ((q, p, n - 1),),
            ),
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
            "B.1R.squares",
            "T·M ≤ 2N gives T² ≤ 4(N/M)².",
            inequality(
                at_most(T * T, 4 * (N / M) * (N / M)),
                domain(
                    real(M, at_least=2),
                    real(N, at_least=M),
                    real(T, at_least=0),
                    at_most(T * M, 2 * N),
                ),
            ),
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
            "B.1R.residual-bound",
            "Aggregation (d), with residuals: ⌈N/M⌉(T − 1) calls are at most 4(N/M)², for all "
            "N ≥ M ≥ 2 (b = ⌈N/M⌉).",
            inequality(at_most(b * (T - 1) * M * M, 4 * N * N), paired),
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
