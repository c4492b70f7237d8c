"""Lemma B.1 [3.1]: one head, one layer, by O((N/M)²) calls. The printed steps, in order.

Of one query i and one block of keys S_t: A = Σ a_ij, B = Σ a_ij v_j (one coordinate).
"""

from symsim.claims import (
    Acceptance,
    Count,
    Evaluation,
    Execution,
    Kind,
    Mistake,
    Statement,
    Step,
    Unproved,
    domain,
    equal,
    identity,
    integer,
    positive,
    real,
    sizes,
    symbols,
)
from symsim.terms import constant, exp

from .plans import (
    arranged_rows,
    dense_head,
    every_row_is_the_sum,
    head_inputs,
    merged_outside,
    printed_plan,
    step_two_calls,
    token_inputs,
    without_waiver_for_tokens,
)

A, A1, A2, B, B1_, B2_, a, q, k, N, M, d, xi, xj, x1, x2, y1, y2 = symbols(
    "A A1 A2 B B1 B2 a q k N M d xi xj x1 x2 y1 y2"
)

block = domain(positive(A), real(B))
two_blocks = domain(positive(A1), positive(A2), real(B1_), real(B2_))
zero_at_minus_one = {
    "0 < A dropped": "the divisor e·A + e is zero at A = −1 only, which no ball can certify"
}
divisible = sizes("N M d", (2, 2, 1), (4, 2, 2), (6, 3, 1))

B1 = Statement(
    id="B.1",
    title="one head by quadratically many calls",
    says="A head on N tokens is simulated by O((N/M)²) calls of M tokens, embedding O(d).",
    uses=("2.3", "2.1", "A.1", "A.2"),
    steps=(
        Step(
            "B.1.0",
            "The synthetic token has a known weight a: A = a·r/(1 − r), r = A/(A + a).",
            identity(a * (A / (A + a)) / (1 - A / (A + a)), A, domain(positive(A), positive(a))),
        ),
        Step(
            "B.1.0′",
            "The sequences of the calls hold at most M tokens.",
            Count(
                "tokens of a call",
                printed_plan,
                lambda plan: plan.ledger.max_tokens,
                M,
                divisible,
            ),
            expect=Kind.REFUTED,
            finding="G01",
        ),
        Step(
            "B.1.1",
            "Without loss of generality φ is the identity: it is composed with the oracle's φ.",
            Unproved("a statement on MLPs as a class; later, with B.2"),
            expect=Kind.NOT_RUN,
        ),
        Step(
            "B.1.2",
            "Without loss of generality ψ is the identity: O(N/M) further calls apply ψ.",
            Unproved(
                "tokens must come through attention unchanged; the hypercube kernel does it "
                "(finding G11), which is not in this document yet"
            ),
            expect=Kind.NOT_RUN,
            finding="G11",
        ),
        Step(
            "B.1.3",
            "The goal: over two blocks, Σ_t B_t/Σ_t A_t is the average over their union.",
            identity(
                (A1 * (B1_ / A1) + A2 * (B2_ / A2)) / (A1 + A2),
                (B1_ + B2_) / (A1 + A2),
                two_blocks,
            ),
        ),
        Step(
            "B.1.4",
            "Step 1, i ∈ S_t: a synthetic token is appended to M real ones.",
            Acceptance(
                "a call of M real tokens and a synthetic one", without_waiver_for_tokens, divisible
            ),
            expect=Kind.REFUTED,
            finding="G01",
        ),
        Step(
            "B.1.4′",
            "φ appends the token, as the paper has it: a token-wise map decides what follows. "
            "But what must follow x₁ is x₂ (or a synthetic token), and two inputs with the same x₁ "
            "need not have the same x₂.",
            identity(x2, y2, domain(real(x1), real(y1), real(x2), real(y2), equal(x1, y1))),
            expect=Kind.REFUTED,
            finding="G09",
        ),
        Step(
            "B.1.4″",
            "Appending, shifting and reversing are arrangements outside, with one stored zero row.",
            Execution(
                "a call of A.2 on reversed rows and the zero row",
                arranged_rows,
                token_inputs,
                every_row_is_the_sum,
                sizes("N d", (1, 1), (3, 2)),
            ),
            role="repaired",
            repairs="B.1.4′",
            finding="G09",
        ),
        Step(
            "B.1.5",
            "Logits: ⟨(q, 1), (k, 1)⟩ = ⟨q, k⟩ + 1 among real tokens (one coordinate).",
            identity(q * k + constant(1) * 1, q * k + 1, domain(real(q), real(k))),
        ),
        Step(
            "B.1.5′",
            "Logits in the last row and column: ⟨(0, 1), (k, 1)⟩ = 1.",
            identity(0 * k + constant(1) * 1, 1, domain(real(k))),
        ),
        Step(
            "B.1.6",
            "V′ by Lemma A.1 is 1 on real tokens, 0 on the synthetic one: the head returns "
            "r = Σ e^{⟨q,k⟩+1} / (Σ e^{⟨q,k⟩+1} + e).",
            identity(
                (exp(1) * A * 1 + exp(1) * 0) / (exp(1) * A + exp(1)),
                exp(1) * A / (exp(1) * A + exp(1)),
                block,
            ),
            survivors=zero_at_minus_one,
        ),
        Step(
            "B.1.7",
            "r = A/(A + 1).",
            identity(exp(1) * A / (exp(1) * A + exp(1)), A / (A + 1), block),
            survivors=zero_at_minus_one,
        ),
        Step(
            "B.1.8",
            "ψ: A = r/(1 − r).",
            identity(A / (A + 1) / (1 - A / (A + 1)), A, block),
        ),
        Step(
            "B.1.8′",
            "ψ in numbers of O(log N) bits: float64, A = 2⁵⁴, r/(1 − r) = A.",
            Evaluation(
                "r/(1 - r)", A / (A + 1) / (1 - A / (A + 1)), {"A": 2**54}, "float64", 2**54
            ),
            expect=Kind.REFUTED,
            finding="G05",
        ),
        Step(
            "B.1.9",
            "Step 1, i ∈ S_t′: the printed corner of W^Q″ is 1_{1×d}; its block column has one "
            "column.",
            identity(d, 1, domain(integer(d, at_least=1))),
            expect=Kind.REFUTED,
            finding="G28",
        ),
        Step(
            "B.1.9′",
            "With the corner 1: ⟨(x_j, x_i, 1)W^Q″, (x_j, x_i, 1)W^K″⟩ = ⟨q_i, k_j⟩ + 1.",
            identity(
                (0 * xj + q * 1) * (k * 1 + 0 * xi) + 1 * 1,
                q * k + 1,
                domain(real(q), real(k), real(xi), real(xj)),
            ),
            role="repaired",
            repairs="B.1.9",
            finding="G28",
        ),
        Step(
            "B.1.10",
            "Step 1 takes (N/M)² calls.",
            Count(
                "calls of step 1",
                printed_plan,
                lambda plan: sum(call.label.startswith("step 1") for call in plan.calls),
                N / M * (N / M),
                divisible,
            ),
        ),
        Step(
            "B.1.11",
            "Step 2: feeding the block pair gives B/A.",
            identity((B / A) * A, B, block),
        ),
        Step(
            "B.1.12",
            "Both steps and the merge return what dense attention does, where M divides N.",
            Execution(
                "B.1 as printed, under its waivers",
                printed_plan,
                head_inputs,
                dense_head,
                divisible,
                mistakes=(
                    Mistake(
                        "a one in the synthetic row of V′",
                        "b1_as_printed",
                        "indicator(token, tokens)",
                        "indicator(token, tokens + 1)",
                    ),
                    Mistake(
                        "ψ returns r",
                        "b1_as_printed",
                        "token.r / (1 - token.r)",
                        "token.r",
                    ),
                    Mistake(
                        "the merge weighs blocks equally",
                        "b1_as_printed",
                        '"B": token.R * token.A',
                        '"B": token.R',
                    ),
                ),
            ),
        ),
        Step(
            "B.1.13",
            '"In total we need N/M oracle calls in step 2."',
            Count(
                "calls of step 2",
                printed_plan,
                step_two_calls,
                N / M,
                divisible,
            ),
            expect=Kind.REFUTED,
            finding="G12",
        ),
        Step(
            "B.1.13′",
            "Step 2 takes (N/M)² calls.",
            Count("calls of step 2", printed_plan, step_two_calls, N / M * (N / M), divisible),
            role="repaired",
            repairs="B.1.13",
            finding="G12",
        ),
        Step(
            "B.1.14",
            "Merge: Σ_t (B_t/A_t)·A_t / Σ_t A_t, trivially, outside the oracle.",
            Acceptance("a merge by arithmetic outside", merged_outside, divisible),
            expect=Kind.REFUTED,
            finding="G02",
        ),
    ),
)
