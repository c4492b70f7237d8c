"""Building blocks of the repairs: normalization recovery, merging of states, gating.

A = Σ a_j and B = Σ a_j v_j over the real keys of a call (B one coordinate of the sum), P the
weight of padding, Z the sum of all weights. A head returns y = B/Z, r = A/Z and, for a
synthetic token of weight w, s = w/Z.
"""

from symsim.claims import (
    Evaluation,
    Kind,
    Statement,
    Step,
    at_most,
    domain,
    identity,
    inequality,
    less,
    positive,
    real,
    symbols,
)
from symsim.terms import exp, log

A, A1, A2, A3, B, B1, B2, B3, P, W, c, w, h = symbols("A A1 A2 A3 B B1 B2 B3 P W c w h")

block = domain(positive(A), real(B), real(P, at_least=0))
Z = A + 1 + P

around = domain(real(A1, at_least=0), real(A2, at_least=0), real(P, at_least=0))
Z_around = A1 + 1 + A2 + P

weighted = domain(positive(A), real(B), positive(w))
Z_weighted = A + w

anchor = domain(positive(A), real(B), real(P, at_least=0), real(c))
Z_anchor = A + exp(c) + P

RECOVERY = Statement(
    id="Recovery",
    title="normalization recovery",
    says="The sums A and B of a block can be read from one softmax output.",
    steps=(
        Step(
            "Recovery.dual-A",
            "Dual readout: r/s = A, whatever the padding P.",
            identity((A / Z) / (1 / Z), A, block),
            role="lemma",
        ),
        Step(
            "Recovery.dual-B",
            "Dual readout: y/s = B, whatever the padding P.",
            identity((B / Z) / (1 / Z), B, block),
            role="lemma",
        ),
        Step(
            "Recovery.position",
            "The synthetic token may stand anywhere: real keys A₁ before it and A₂ after it.",
            identity(((A1 + A2) / Z_around) / (1 / Z_around), A1 + A2, around),
            role="lemma",
        ),
        Step(
            "Recovery.weight-A",
            "A synthetic token of any known weight w: w·r/(1 − r) = A.",
            identity(w * (A / Z_weighted) / (1 - A / Z_weighted), A, weighted),
            role="lemma",
        ),
        Step(
            "Recovery.weight-B",
            "A synthetic token of any known weight w: A·(y/r) = B.",
            identity(A * ((B / Z_weighted) / (A / Z_weighted)), B, weighted),
            role="lemma",
        ),
        Step(
            "Recovery.anchor-A",
            "Anchored readout: with a synthetic logit c, e^c·r/s = A.",
            identity(exp(c) * ((A / Z_anchor) / (exp(c) / Z_anchor)), A, anchor),
            role="lemma",
        ),
        Step(
            "Recovery.anchor-L",
            "Anchored readout in logarithms: c + ln r − ln s = ln A, for any sum of weights W.",
            identity(
                c + log(A / W) - log(exp(c) / W), log(A), domain(positive(A), positive(W), real(c))
            ),
            role="lemma",
        ),
        Step(
            "Recovery.unknown-padding",
            "r/(1 − r) is not A where padding of weight P is present and not counted.",
            identity((A / Z) / (1 - A / Z), A, block),
            expect=Kind.REFUTED,
            role="lemma",
        ),
        Step(
            "Recovery.rounding",
            "In a format whose spacing below 1 is 2h, r rounds to 1 once A ≥ 1/h.",
            inequality(less(1 - A / (A + 1), h), domain(positive(h), real(A, at_least=1 / h))),
            role="lemma",
            finding="G05",
        ),
        Step(
            "Recovery.rounding-r",
            "float64, h = 2⁻⁵⁴, A = 2⁵⁴: r is 1.",
            Evaluation("r", A / (A + 1), {"A": 2**54}, "float64", 1),
            role="lemma",
            finding="G05",
        ),
        Step(
            "Recovery.rounding-readout",
            "float64, A = 2⁵⁴: r/(1 − r) is not finite.",
            Evaluation("r/(1 - r)", A / (A + 1) / (1 - A / (A + 1)), {"A": 2**54}, "float64", None),
            role="lemma",
            finding="G05",
        ),
        Step(
            "Recovery.rounding-dual",
            "float64, A = 2⁵⁴: the dual readout r/s returns A.",
            Evaluation("r/s", (A / (A + 1)) / (1 / (A + 1)), {"A": 2**54}, "float64", 2**54),
            role="repaired",
            repairs="B.1.8′",
            finding="G05",
        ),
    ),
)

# -- merging states -----------------------------------------------------------------------------

three = domain(
    *(positive(x) for x in (A1, A2, A3)),
    *(real(x) for x in (B1, B2, B3)),
)


def average(*states):
    """The average value of merged states (A, R): Σ A R / Σ A."""
    return sum_of(a * r for a, r in states) / sum_of(a for a, _ in states)


def sum_of(terms):
    """Their sum, without a leading 0."""
    first, *rest = terms
    for term in rest:
        first = first + term
    return first


R1, R2, R3 = B1 / A1, B2 / A2, B3 / A3

MERGE = Statement(
    id="Merge",
    title="merging the states of a query",
    says="States (A, R), a weight and an average value, merge to (Σ A, Σ A R / Σ A).",
    steps=(
        Step(
            "Merge.commutative",
            "The merge does not depend on the order.",
            identity(average((A1, R1), (A2, R2)), average((A2, R2), (A1, R1)), three),
            role="lemma",
        ),
        Step(
            "Merge.associative",
            "Merging two, then the third, is merging the last two first.",
            identity(
                average((A1 + A2, average((A1, R1), (A2, R2))), (A3, R3)),
                average((A1, R1), (A2 + A3, average((A2, R2), (A3, R3)))),
                three,
            ),
            role="lemma",
        ),
        Step(
            "Merge.identity",
            "The state of no keys, sums 0 and 0, changes nothing.",
            identity((B1 + 0) / (A1 + 0), R1, three),
            role="lemma",
        ),
        Step(
            "Merge.sums",
            "Two blocks: their merge is the average over the union.",
            identity(average((A1, R1), (A2, R2)), (B1 + B2) / (A1 + A2), three),
            role="lemma",
        ),
        Step(
            "Merge.head",
            "One head with logits ln A_t and values R_t merges the states.",
            identity(
                (exp(log(A1)) * R1 + exp(log(A2)) * R2) / (exp(log(A1)) + exp(log(A2))),
                average((A1, R1), (A2, R2)),
                three,
            ),
            role="lemma",
        ),
        Step(
            "Merge.anchor",
            "An anchor c, the same for all blocks, cancels in the merge.",
            identity(
                (A1 / exp(c) * R1 + A2 / exp(c) * R2) / (A1 / exp(c) + A2 / exp(c)),
                average((A1, R1), (A2, R2)),
                domain(positive(A1), positive(A2), real(B1), real(B2), real(c)),
            ),
            role="lemma",
        ),
    ),
)

# -- gating ---------------------------------------------------------------------------------------

E, C, x, f = symbols("E C x f")
gated = domain(
    positive(A),
    real(E, at_least=0),
    real(C, at_least=0),
    real(x, at_least=-C, at_most=C),
    real(f, at_least=-C, at_most=C),
)
mixed = (A * x + E * f) / (A + E)

GATING = Statement(
    id="Gating",
    title="the error of foreign weight",
    says="A head with own weight A, own average x, foreign weight E and foreign average f, all "
    "values at most C in size, errs by at most 2CE/(A + E).",
    steps=(
        Step(
            "Gating.above",
            "x − mixed ≤ 2CE/(A + E).",
            inequality(at_most(x - mixed, 2 * C * E / (A + E)), gated),
            role="lemma",
        ),
        Step(
            "Gating.below",
            "mixed − x ≤ 2CE/(A + E).",
            inequality(at_most(mixed - x, 2 * C * E / (A + E)), gated),
            role="lemma",
        ),
        Step(
            "Gating.attained",
            "The bound is attained at x = C, f = −C.",
            identity(
                C - (A * C + E * -C) / (A + E),
                2 * C * E / (A + E),
                domain(positive(A), real(E, at_least=0), real(C, at_least=0)),
            ),
            role="lemma",
        ),
        Step(
            "Gating.simple",
            "2CE/(A + E) ≤ 2CE/A.",
            inequality(
                at_most(2 * C * E / (A + E), 2 * C * E / A),
                domain(positive(A), real(E, at_least=0), real(C, at_least=0)),
            ),
            role="lemma",
        ),
    ),
)
