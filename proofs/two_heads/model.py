"""The model of computation (§1.1, §2): blocks, layers, numbers."""

from symsim.claims import (
    Execution,
    Induction,
    Kind,
    Partition,
    Statement,
    Step,
    at_most,
    domain,
    identity,
    inequality,
    integer,
    less,
    real,
    sizes,
    symbols,
)
from symsim.terms import exp, maximum

from .plans import attention_layer, dense_layer, layer_inputs

j, t, q, N, M, T = symbols("j t q N M T")

# T = ⌈N/M⌉ as an integer with (T − 1)M < N ≤ TM.
blocked = domain(
    integer(N, at_least=1),
    integer(M, at_least=1),
    integer(T, at_least=1),
    less((T - 1) * M, N),
    at_most(N, T * M),
)
key = integer(j, at_least=1, at_most=N)
block = integer(t, at_least=1, at_most=T)
block_of_j = ((q, j - 1, M),)

BLOCKS = Statement(
    id="2.3",
    title="blocks of tokens",
    says="The tokens 1, …, N are cut into blocks S_1, …, S_T.",
    steps=(
        Step(
            "2.3.1",
            "§2.3 (set braces read as a range): S_t = {(t−1)M+1, …, tM}, the last one cut at N.",
            Partition(
                blocked,
                key,
                (),
                block,
                (at_most((t - 1) * M + 1, j), at_most(j, t * M), at_most(j, N)),
                q + 1,
                block_of_j,
            ),
        ),
        Step(
            "2.3.2",
            "In the proofs: S_t = {(t−1)M, …, tM}. Neighbouring blocks share a token.",
            Partition(
                blocked,
                key,
                (),
                block,
                (at_most((t - 1) * M, j), at_most(j, t * M), at_most(j, N)),
                q + 1,
                block_of_j,
            ),
            expect=Kind.REFUTED,
            finding="G28",
        ),
        Step(
            "2.3.3",
            "Repaired: blocks of M − 1 real tokens, {(t−1)(M−1)+1, …, t(M−1)}, cut at N.",
            Partition(
                domain(
                    integer(N, at_least=1),
                    integer(M, at_least=2),
                    integer(T, at_least=1),
                    less((T - 1) * (M - 1), N),
                    at_most(N, T * (M - 1)),
                ),
                key,
                (),
                block,
                (
                    at_most((t - 1) * (M - 1) + 1, j),
                    at_most(j, t * (M - 1)),
                    at_most(j, N),
                ),
                q + 1,
                ((q, j - 1, M - 1),),
            ),
            role="repaired",
            repairs="2.3.2",
            finding="G28",
        ),
    ),
)

small = sizes("N d", (1, 1), (2, 1), (3, 2))

LAYER = Statement(
    id="2.1",
    title="attention layer",
    says="A layer computes softmax(QKᵀ)V with Q = XW^Q, K = XW^K, V = XW^V.",
    steps=(
        Step(
            "2.1.1",
            "Definition 2.1: keys from W^K.",
            Execution("the layer", attention_layer("W_K"), layer_inputs, dense_layer, small),
        ),
        Step(
            "2.1.2",
            "Definition 2.1′ as printed: keys from W^V.",
            Execution("the layer", attention_layer("W_V"), layer_inputs, dense_layer, small),
            expect=Kind.REFUTED,
            finding="G28",
        ),
        Step(
            "2.1.3",
            "Definition 2.1′ with keys from W^K.",
            Execution("the layer", attention_layer("W_K"), layer_inputs, dense_layer, small),
            role="repaired",
            repairs="2.1.2",
            finding="G28",
        ),
    ),
)

# -- transformers and masks ----------------------------------------------------------------------

i, r, s, u, x = symbols("i r s u x")

TRANSFORMER = Statement(
    id="2.2",
    title="transformer",
    says="φ, then L attention layers, each followed by its token-wise ψ.",
    steps=(
        Step(
            "2.2.1",
            "Printed: f(X) := ψ(…) in the layer and X^(ℓ) = ψ_ℓ(f_ℓ(X^(ℓ−1))), which applies ψ "
            "twice: not the same already for ψ(x) = x + 1.",
            identity(x + 1 + 1, x + 1, domain(real(x))),
            expect=Kind.REFUTED,
            finding="G28",
        ),
        Step(
            "2.2.2",
            "With the heads' output y in place of f, ψ is applied once: on a single token of "
            "logit u, y = e^u x/e^u and ψ(y) = y + 1 is x + 1.",
            identity(exp(u) * x / exp(u) + 1, x + 1, domain(real(x), real(u))),
            role="repaired",
            repairs="2.2.1",
            finding="G28",
        ),
    ),
)

row = domain(
    integer(i, at_least=1), integer(r, at_least=1, at_most=i), integer(s, at_least=0, at_most=i)
)

MASKS = Statement(
    id="2.3–2.5",
    title="masks",
    says="Causal: j ≤ i. Window r: i − r < j ≤ i. Sinks s: those, and j ≤ s, each key once.",
    steps=(
        Step(
            "2.4.1",
            "A window keeps the keys i − r + 1, …, i, which are r.",
            identity(i - (i - r + 1) + 1, r, row),
        ),
        Step(
            "2.5.1",
            "With sinks, a key j ≤ i is kept in exactly one of two cells: t = 1, the window, or "
            "t = 0, the sinks before it (q is 1 from i − r + 1 on).",
            Partition(
                domain(
                    integer(i, at_least=1),
                    integer(r, at_least=1, at_most=i - 1),
                    integer(s, at_least=0, at_most=i),
                ),
                integer(j, at_least=1, at_most=i),
                (at_most(0, maximum(s - j, j - (i - r + 1))),),
                integer(t, at_least=0, at_most=1),
                (
                    at_most((i - r + 1) * t, j),
                    at_most(j, (i - r) * (1 - t) + i * t),
                    at_most((j - s) * (1 - t), 0),
                    at_most(1, j),
                ),
                q,
                ((q, j + r - 1, i),),
            ),
        ),
    ),
)

# -- numbers ----------------------------------------------------------------------------------

n, power = symbols("n power")

NUMBERS = Statement(
    id="1.1",
    title="precision",
    says="Numbers have O(log N) bits; the simulation has relative error ε = Θ(2^−N).",
    steps=(
        Step(
            "1.1.1",
            "Floats of log₂ N significand bits, of relative spacing about 1/N, resolve a relative "
            "error of 2^−N: 1/N ≤ 2^−N (power is 2^N, more than N).",
            inequality(
                at_most(1 / n, 1 / power),
                domain(integer(n, at_least=1), real(power), less(n, power)),
            ),
            expect=Kind.REFUTED,
            finding="G29",
        ),
        Step(
            "1.1.2",
            "N < 2^N for all N ≥ 1, so the spacing 1/N is more than 2^−N at every N.",
            Induction(
                "N",
                base=inequality(less(1, 2), domain()),
                step=inequality(
                    less(n + 1, 2 * power), domain(real(n, at_least=1), real(power), less(n, power))
                ),
            ),
            role="lemma",
            finding="G29",
        ),
        Step(
            "1.1.3",
            "With ε = 1/N, half the spacing suffices.",
            inequality(at_most(1 / (2 * n), 1 / n), domain(integer(n, at_least=1))),
            role="repaired",
            repairs="1.1.1",
            finding="G29",
        ),
    ),
)
