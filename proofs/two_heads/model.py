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
    inequality,
    integer,
    less,
    real,
    sizes,
    symbols,
)

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

# -- numbers ----------------------------------------------------------------------------------

n, power, k, h, x = symbols("n power k h x")

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
