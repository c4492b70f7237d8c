"""Lemma A.2: the sum of tokens."""

from symsim.claims import (
    Execution,
    Kind,
    Mistake,
    Statement,
    Step,
    domain,
    identity,
    integer,
    real,
    sizes,
    symbols,
)
from symsim.terms import exp

from .plans import (
    every_row_is_the_sum,
    sum_by_keys,
    sum_by_values,
    token_inputs,
)

n, x, a, u = symbols("n x a u")

call = domain(integer(n, at_least=1), real(x), real(u))
tokens = sizes("N d", (1, 1), (2, 1), (3, 2), (5, 1))

A2 = Statement(
    id="A.2",
    title="sum of tokens",
    says="One call returns Σ_i X_i.",
    steps=(
        Step(
            "A.2.1",
            "All queries and keys equal: all logits are one number u, all weights 1/N.",
            identity(exp(u) / (n * exp(u)), 1 / n, call),
        ),
        Step(
            "A.2.2",
            "Values N·X_i: each token adds (1/N)(N x) = x to every row.",
            identity(1 / n * (n * x), x, call),
        ),
        Step(
            "A.2.3",
            'Printed: "k_i = N·X[i,:]". With keys N·X_i the weights are not equal.',
            Execution(
                "A.2 with N·X_i as keys", sum_by_keys, token_inputs, every_row_is_the_sum, tokens
            ),
            expect=Kind.REFUTED,
            finding="G28",
        ),
        Step(
            "A.2.4",
            "With v_i = N·X[i,:], every row is the sum.",
            Execution(
                "A.2",
                sum_by_values,
                token_inputs,
                every_row_is_the_sum,
                tokens,
                mistakes=(
                    Mistake(
                        "factor N + 1",
                        "a2_sum_of_tokens",
                        "{name: tokens * summand",
                        "{name: (tokens + 1) * summand",
                    ),
                    Mistake(
                        "keys of the tokens instead of ones",
                        "a2_sum_of_tokens",
                        'key={"one": Block("one", Identity(1))}',
                        'key={"one": Block(next(iter(sums)), Identity(1))}',
                    ),
                ),
            ),
            role="repaired",
            repairs="A.2.3",
            finding="G28",
        ),
        Step(
            "A.2.5",
            "Printed: the result is in R^{1×d}. The output has N rows.",
            identity(n, 1, domain(integer(n, at_least=1))),
            expect=Kind.REFUTED,
            finding="G28",
        ),
        Step(
            "A.2.6",
            "The output is in R^{N×d}, every row the sum (executed at each size of A.2.4).",
            Execution("A.2", sum_by_values, token_inputs, every_row_is_the_sum, tokens),
            role="repaired",
            repairs="A.2.5",
            finding="G28",
        ),
    ),
)
