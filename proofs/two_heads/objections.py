"""The published review's objections, answered by steps; those without steps are open."""

from symsim.claims import Objection

OBJECTIONS = (
    Objection(
        "referee 1",
        "Are division and look-ups realizable by an MLP of O(d²) parameters?",
        "Open: see the realizability study.",
    ),
    Objection(
        "referee 2",
        "Without residual connections the untouched parts do not pass through a layer.",
        "Open: Appendix B.3.",
    ),
    Objection(
        "referee 3",
        "Sequences of length M + 1 are fed to an oracle of length M.",
        "True of the printed calls. Blocks of M − 1 real tokens repair it; the count becomes "
        "T² ≤ 4(N/M)², sharp at N = M and at M = 2.",
        ("B.1.0′", "B.1.4", "B.1R.tokens", "B.1R.equals", "B.1R.bound", "B.1R.sharp"),
    ),
    Objection(
        "referee 4",
        "The final aggregation needs arithmetic that is not allowed outside the oracle.",
        "True: the model refuses it. Lemma A.2 merges the states by oracle calls; that stays "
        "within O((N/M)²) for M = O(√N) and not beyond.",
        ("B.1.14", "B.1R.merge", "B.1R.merges", "B.1R.merge-bound", "B.1R.merge-limit"),
    ),
    Objection(
        "referee minor 1", "Average case means deterministic boundedness.", "Open: Appendix C."
    ),
    Objection(
        "referee minor 2",
        "S_t is defined as {(t−1)M, …, tM} in the proof, from (t−1)M + 1 in the notation.",
        "True: as in the proof, neighbouring blocks share a token; the notation's blocks "
        "partition the tokens.",
        ("2.3.1", "2.3.2", "2.3.3"),
    ),
    Objection("referee minor 3", "The upper limit in Claim B.6.", "Open: Appendix B.6."),
    Objection(
        "referee minor 4",
        "Lemma A.2 states a 1 × d sum, the output is N × d.",
        "True: every row of the N × d output is the sum.",
        ("A.2.5", "A.2.6"),
    ),
    Objection("referee minor 5", "T names two things in §1.2.", "Open: §1.2."),
    Objection(
        "desk editor",
        "The aggregation step is dismissed as trivial; later chunks of windows are not shown; "
        "sampling without replacement is used as if it were independent.",
        "The aggregation: see referee 4. The rest is open: Appendices C and D.",
        ("B.1.14", "B.1R.merge"),
    ),
    Objection(
        "skeptic",
        "Is r/(1 − r) computable to 1/(2N) by a ReLU network of width O(d²)?",
        "Open: see the realizability study.",
    ),
)
