"""What a line-by-line reading finds, with the steps that establish it."""

from symsim.claims import Finding

FINDINGS = (
    Finding(
        "G01",
        "B.1 (also B.5, B.6)",
        "M real tokens and a synthetic one are M + 1 tokens for an oracle that takes M.",
        "Blocks of M − 1 real tokens: T = ⌈N/(M − 1)⌉, T² block calls, T² ≤ 4(N/M)².",
        "referee 3",
        (
            "B.1.0′", "B.1.4", "B.1R.tokens", "B.1R.equals", "B.1R.bound", "B.1R.squares",
            "B.1R.sharp",
        ),
        open_part="causal masks (B.5, B.6)",
    ),
    Finding(
        "G02",
        "B.1, aggregation",
        "No calls are specified; outside only padding and arranging is allowed.",
        "(a) Lemma A.2 over a query's states, in a tree when T > M; within O((N/M)²) for "
        "M = O(√N).",
        "referee 4; limits new",
        (
            "B.1.14", "B.1R.merge", "B.1R.merges", "B.1R.merge-bound", "B.1R.merge-limit",
            "B.1R.residual-bound",
        ),
        open_part="the constructions (b) hypercube kernel, (c) telescoping, (d) residual",
    ),
    Finding(
        "G05",
        "B.1, precision",
        "In p bits r rounds to 1 once A is about 2^p, and r/(1 − r) divides by zero.",
        "The dual readout r/s.",
        "new",
        (
            "B.1.8′",
            "Recovery.rounding",
            "Recovery.rounding-r",
            "Recovery.rounding-readout",
            "Recovery.rounding-dual",
            "Recovery.dual-A",
        ),
    ),
    Finding(
        "G09",
        "B.1, φ (also B.5, D.1)",
        "A token-wise MLP cannot append, reverse or shift tokens.",
        "Pad with O(d) stored constants and arrange before the call.",
        "new",
        ("B.1.4′", "B.1.4″"),
    ),
    Finding(
        "G11",
        "B.1, without loss of generality",
        "ψ by O(N/M) further calls needs tokens to come through attention unchanged.",
        "Hypercube kernel or telescoping.",
        "new",
        ("B.1.2",),
        open_part="the repair",
    ),
    Finding(
        "G12",
        "B.1, Step 2",
        '"N/M oracle calls": there is one a block pair.',
        "(N/M)² calls.",
        "new",
        ("B.1.13", "B.1.13′"),
    ),
    Finding(
        "G25",
        "§1, rounds",
        "O(L) rounds: aggregation (a) needs ⌈log_M T⌉ rounds a layer.",
        "1 + ⌈log_M T⌉ rounds a layer for (a).",
        "new",
        ("B.1R.rounds", "B.1R.not-constant"),
        open_part="constant rounds by (b) and (c)",
    ),
    Finding(
        "G28",
        "printing",
        "Layer formula with W^V for W^K; ψ_ℓ inside f_ℓ and again outside; S_t from (t−1)M in the "
        "proofs; shapes of A.1's U; "
        '"k_i" and "1 × d" in A.2; corner of W^Q″.',
        "A corrected statement beside each.",
        "referee minor 2 and 4; rest new",
        (
            "2.1.2", "2.1.3", "2.2.1", "2.2.2",
            "2.3.2", "2.3.3", "A.1.2", "A.1.3", "A.2.3", "A.2.4", "A.2.5",
            "A.2.6", "B.1.9", "B.1.9′",
        ),
        open_part="A.3, B.3, B.6, C.1",
    ),
    Finding(
        "G29",
        "§1.1",
        "Relative error Θ(2^−N) and numbers of O(log N) bits contradict each other.",
        "ε = 1/poly(N), or unlimited precision.",
        "new",
        ("1.1.1", "1.1.2", "1.1.3"),
    ),
)  # fmt: skip
