"""The online softmax of FlashAttention: state, merge, identity, overflow.

Milakov & Gimelshein 2018 (arXiv 1805.02867); Dao, Fu, Ermon, Rudra & Ré 2022 (arXiv 2205.14135),
Algorithm 1. A block of keys with logits x_j and values v_j is kept as a state (m, l, o),

    l = Σ_j e^(x_j − m),   o = Σ_j e^(x_j − m) v_j,

with a reference m, in practice the largest logit; the output is o/l. Two states are merged by

    m = max(m₁, m₂),   l = e^(m₁ − m) l₁ + e^(m₂ − m) l₂,   o likewise.

Everything but overflow holds for any reference, so m stays free below.
"""

from symsim.claims import (
    Document,
    Evaluation,
    Kind,
    Statement,
    Step,
    at_most,
    domain,
    identity,
    inequality,
    positive,
    real,
    symbols,
)
from symsim.terms import exp, log

m, m1, m2, m3, m12, l1, l2, l3, o1, o2, o3, x, v, c, u = symbols(
    "m m1 m2 m3 m12 l1 l2 l3 o1 o2 o3 x v c u"
)

references = tuple(real(reference) for reference in (m, m1, m2, m3, m12))
weights = tuple(positive(weight) for weight in (l1, l2, l3))
values = tuple(real(value) for value in (o1, o2, o3))
states = domain(*references, *weights, *values)


def merged(m, first, second):
    """l (or o) of two states, each given as (its reference, its l or o), at reference m."""
    (m1, l1), (m2, l2) = first, second
    return exp(m1 - m) * l1 + exp(m2 - m) * l2


STATE = Statement(
    id="state",
    title="a state is a block",
    says="(m, l, o) stands for A = e^m l and B = e^m o, whatever the reference m.",
    steps=(
        Step(
            "state.one-key",
            "One key of logit x and value v: l = e^(x−m), o = e^(x−m) v give o/l = v.",
            identity(exp(x - m) * v / exp(x - m), v, domain(real(x), real(m), real(v))),
        ),
        Step(
            "state.reference",
            "Changing the reference from m₁ to m changes neither A nor the output.",
            identity(exp(m) * (exp(m1 - m) * l1), exp(m1) * l1, states),
        ),
        Step(
            "state.output",
            "The output o/l does not depend on the reference.",
            identity((exp(m1 - m) * o1) / (exp(m1 - m) * l1), o1 / l1, states),
        ),
    ),
)

MERGE = Statement(
    id="merge",
    title="merging is adding",
    says="The merge adds A and B; it is associative, commutative, and has an identity.",
    uses=("state",),
    steps=(
        Step(
            "merge.adds",
            "The merged l stands for A₁ + A₂.",
            identity(exp(m) * merged(m, (m1, l1), (m2, l2)), exp(m1) * l1 + exp(m2) * l2, states),
        ),
        Step(
            "merge.output",
            "The merged output is (A₁ o₁/l₁ + A₂ o₂/l₂)/(A₁ + A₂).",
            identity(
                merged(m, (m1, o1), (m2, o2)) / merged(m, (m1, l1), (m2, l2)),
                (exp(m1) * l1 * (o1 / l1) + exp(m2) * l2 * (o2 / l2))
                / (exp(m1) * l1 + exp(m2) * l2),
                states,
            ),
        ),
        Step(
            "merge.commutative",
            "The order of two blocks does not matter.",
            identity(merged(m, (m1, l1), (m2, l2)), merged(m, (m2, l2), (m1, l1)), states),
        ),
        Step(
            "merge.associative",
            "(1 with 2) with 3 is 1 with (2 with 3), for any references on the way.",
            identity(
                merged(m, (m12, merged(m12, (m1, l1), (m2, l2))), (m3, l3)),
                merged(m, (m1, l1), (m12, merged(m12, (m2, l2), (m3, l3)))),
                states,
            ),
        ),
        Step(
            "merge.identity",
            "A block without keys, l = o = 0 at any finite reference, changes nothing.",
            identity(exp(m) * merged(m, (m1, l1), (m2, 0 * l2)), exp(m1) * l1, states),
        ),
    ),
)

L1, L2 = m1 + log(l1), m2 + log(l2)

LOG_SUM_EXP = Statement(
    id="log-sum-exp",
    title="states by their log-sum-exp",
    says="With L = m + ln l, blocks merge by weights e^L, natural logarithms.",
    uses=("merge",),
    steps=(
        Step(
            "log-sum-exp.weights",
            "e^L = A.",
            identity(exp(L1), exp(m1) * l1, states),
        ),
        Step(
            "log-sum-exp.merge",
            "Outputs merge with weights e^L₁ and e^L₂.",
            identity(
                (exp(L1) * (o1 / l1) + exp(L2) * (o2 / l2)) / (exp(L1) + exp(L2)),
                merged(m, (m1, o1), (m2, o2)) / merged(m, (m1, l1), (m2, l2)),
                states,
            ),
        ),
        Step(
            "log-sum-exp.two-bases",
            "A base-2 log-sum-exp in the natural merge gives other weights.",
            identity(
                exp(x) / (exp(x) + exp(c)),
                exp(x / log(2)) / (exp(x / log(2)) + exp(c)),
                domain(real(x), real(c)),
            ),
            expect=Kind.REFUTED,
            role="lemma",
        ),
    ),
)

OVERFLOW = Statement(
    id="overflow",
    title="what its author needs to know about overflow",
    says="With m at least every logit no weight exceeds 1; without it weights overflow; with m "
    "far above every logit they vanish.",
    uses=("state",),
    steps=(
        Step(
            "overflow.bounded",
            "If m is u ≥ 0 above a logit, its weight e^(−u) is at most 1; so l is at most the "
            "number of keys.",
            inequality(at_most(exp(-u), 1), domain(real(u, at_least=0))),
        ),
        Step(
            "overflow.float32",
            "float32: e^x is not finite at x = 89.",
            Evaluation("e^x", exp(x), {"x": 89}, "float32", None),
        ),
        Step(
            "overflow.shifted",
            "float32: e^(x−m) at x = m = 89 is 1.",
            Evaluation("e^(x-m)", exp(x - m), {"x": 89, "m": 89}, "float32", 1),
        ),
        Step(
            "overflow.vanishing",
            "float32: with m = 104 above a block whose largest logit is 0, its weights are 0, "
            "and o/l is not a number: m must be the block's own largest logit.",
            Evaluation(
                "o/l", exp(x - m) * v / exp(x - m), {"x": 0, "m": 104, "v": 1}, "float32", None
            ),
        ),
        Step(
            "overflow.float16",
            "float16: that happens from m = 18 on.",
            Evaluation(
                "o/l", exp(x - m) * v / exp(x - m), {"x": 0, "m": 18, "v": 1}, "float16", None
            ),
        ),
    ),
)

DOCUMENT = Document(
    id="online_softmax",
    title="The online softmax of FlashAttention",
    statements=(STATE, MERGE, LOG_SUM_EXP, OVERFLOW),
)
