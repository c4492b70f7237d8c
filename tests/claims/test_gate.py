"""The gate: false and vacuous claims, none of which may come out proved, and true ones that do.

Each claim declares its verdict and how that is known independently of the engines. A witness
is evaluated again here, in Fractions or, with exp and log, in mpmath to 150 digits.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

import mpmath
import numpy as np
import pytest

from symsim.claims import (
    Acceptance,
    Count,
    Counterexample,
    Evaluation,
    Execution,
    Formula,
    Imported,
    Induction,
    Kind,
    Partition,
    Unproved,
    at_most,
    differs,
    domain,
    equal,
    identity,
    inequality,
    integer,
    less,
    positive,
    real,
    sizes,
    symbols,
)
from symsim.claims.decide import decide
from symsim.claims.domain import Variable
from symsim.constructions import from_qkv, sum_of_tokens
from symsim.constructions.b1_quadratic_calls import quadratic_calls
from symsim.model import Limits, Merge, Plan
from symsim.terms import Kind as TermKind
from symsim.terms import as_term, constant, exp, log, maximum, postorder, trace

A, A1, A2, B1, B2, R1, R2, m, m1, m2 = symbols("A A1 A2 B1 B2 R1 R2 m m1 m2")
N, M, T, n, p, q, i, j, r, t = symbols("N M T n p q i j r t")
x, y, z, S = symbols("x y z S")
ONE = constant(1)
HALF = Fraction(1, 2)
LONG = symbols("a" * 200)[0]

some_x, some_xy = domain(real(x)), domain(real(x), real(y))
positive_x, positive_xy = domain(positive(x)), domain(positive(x), positive(y))
two_blocks = domain(positive(A1), positive(A2), real(B1), real(B2))
counted = domain(integer(n, at_least=1))
unit = {"at_least": 0, "at_most": 1}
# T = ⌈N/(M − 1)⌉
ceiling = domain(
    integer(N, at_least=1),
    integer(M, at_least=2),
    integer(T, at_least=1),
    less((T - 1) * (M - 1), N),
    at_most(N, T * (M - 1)),
)
state = domain(real(m), real(m1), real(m2), positive(A1), positive(A2))
readout = A / (A + 1)


@dataclass(frozen=True)
class Case:
    """A claim, its verdict, how that is known, and what the reason must contain."""

    claim: object
    kind: Kind
    known: str
    reason: str = ""
    needs: object = None


def false(claim, known):
    return Case(claim, Kind.REFUTED, known)


def undefined(claim, needs, known):
    return Case(claim, Kind.REFUTED, known, f"it needs {needs}", needs)


def vacuous(claim, known, reason="no point of the domain was found"):
    return Case(claim, Kind.UNDECIDED, known, reason)


FALSE_FORMULAS = {
    # attention
    "readout with the wrong sign": false(
        identity(readout / (1 + readout), A, domain(positive(A))), "A = 1: (1/2)/(3/2) = 1/3"
    ),
    "two synthetic tokens, read as one": false(
        identity((A / (A + 2)) / (1 - A / (A + 2)), A, domain(positive(A))), "it is A/2"
    ),
    "readout reaches 1": false(inequality(at_most(1, readout), domain(positive(A))), "A < A + 1"),
    "readout below 1 - 1e-6": false(
        inequality(less(readout, 1 - Fraction(1, 10**6)), domain(positive(A))), "fails from 10^6"
    ),
    "merge of averages": false(
        identity((B1 + B2) / (A1 + A2), B1 / A1 + B2 / A2, two_blocks), "all 1: 1, not 2"
    ),
    "merge with weights exchanged": false(
        identity(
            (A2 * R1 + A1 * R2) / (A1 + A2),
            (A1 * R1 + A2 * R2) / (A1 + A2),
            domain(positive(A1), positive(A2), real(R1), real(R2)),
        ),
        "A = (1, 2), R = (1, 0): 2/3, not 1/3",
    ),
    "merge by the mean of two means": false(
        identity(
            (x / n + y / p) / 2,
            (x + y) / (n + p),
            domain(real(x), real(y), integer(n, at_least=1), integer(p, at_least=1)),
        ),
        "blocks of 1 and 2 tokens",
    ),
    "synthetic token in each of two blocks": false(
        identity((A1 + 1) + (A2 + 1), A1 + A2 + 1, two_blocks), "off by 1"
    ),
    "merge of states with the shift reversed": false(
        identity(
            exp(m) * (exp(m - m1) * A1 + exp(m2 - m) * A2), exp(m1) * A1 + exp(m2) * A2, state
        ),
        "the right shift is m1 - m",
    ),
    "half the weight at most": false(
        inequality(at_most(A1 / (A1 + A2), HALF), two_blocks), "A1 = 2, A2 = 1: 2/3"
    ),
    "window of r keys has r - 1": false(
        identity(i - (i - r + 1) + 1, r - 1, domain(integer(i), integer(r, at_least=1))),
        "the keys i-r+1 ... i are r",
    ),
    "blocks fill the tokens": false(identity(T * (M - 1), N, ceiling), "N = 1, M = 3, T = 1: 2"),
    "ceiling is at most the quotient": false(
        inequality(at_most(T * (M - 1), N), ceiling), "N = 1, M = 3, T = 1"
    ),
    "room left is below M - 2": false(
        inequality(less(T * (M - 1), N + M - 2), ceiling), "equal wherever M - 1 divides N - 1"
    ),
    "blocks of M tokens": false(inequality(at_most(N, (T - 1) * M), ceiling), "T = 1 gives 0"),
    # a corner, large values, one point
    "corner of a square": false(
        inequality(less(x + y, 2), domain(real(x, **unit), real(y, **unit))), "x = y = 1 only"
    ),
    "corner of a cube": false(
        inequality(less(x * y * z, 1), domain(real(x, **unit), real(y, **unit), real(z, **unit))),
        "x = y = z = 1 only",
    ),
    "only for large integers": false(
        inequality(less(n * n * n, 10**30), domain(integer(n, at_least=0))), "from 10^10 on"
    ),
    "only beyond 2^53": false(
        inequality(at_most(n, 2**53), domain(integer(n, at_least=0))), "n = 2^53 + 1"
    ),
    "exp only for large values": false(
        inequality(less(exp(x), 10**20), domain(real(x, at_least=0))), "x = 47 > 20 ln 10"
    ),
    "one interior point": false(
        inequality(differs(x, Fraction(355, 113)), domain(real(x, at_least=3, at_most=4))),
        "x = 355/113 only",
    ),
    "one integer": false(
        inequality(differs(n, 54321), domain(integer(n, at_least=0))), "n = 54321 only"
    ),
    # small integers only, integers only, positive numbers only
    "zero at 0 to 3": false(
        identity(n * (n - 1) * (n - 2) * (n - 3), 0, domain(integer(n, at_least=0))), "24 at 4"
    ),
    "2^n by a cubic": false(
        identity(
            n * n * n + 5 * n + 6,
            6 * p,
            domain(integer(n, at_least=4, at_most=4), integer(p, at_least=16, at_most=16)),
        ),
        "(n³ + 5n + 6)/6 is 2^n at 0 to 3 and 15 at 4",
    ),
    "squares dominate, on the reals": false(inequality(at_most(x, x * x), some_x), "x = 1/2"),
    "consecutive product, on the reals": false(
        inequality(at_most(0, x * (x - 1)), some_x), "x = 1/2: -1/4"
    ),
    "strictly above is one above, on the reals": false(
        inequality(at_most(x + 1, y), domain(real(x), real(y), less(x, y))), "0 and 1/2"
    ),
    "relu is the identity": false(identity(maximum(x, 0), x, some_x), "x = -1"),
    "absolute value is the identity": false(identity(maximum(x, -x), x, some_x), "x = -1"),
    "cancelled square": false(
        inequality(at_most(x, y), domain(real(x), real(y), at_most(x * x, y * y))), "x = 0, y = -1"
    ),
    "inverse reverses order": false(
        inequality(
            less(1 / y, 1 / x), domain(real(x), real(y), less(x, y), differs(x, 0), differs(y, 0))
        ),
        "x = -1, y = 1",
    ),
    # logarithms and exponentials
    "log of a sum": false(identity(log(x + y), log(x) + log(y), positive_xy), "x = y = 1: ln 2"),
    "log of a product, multiplied": false(
        identity(log(x * y), log(x) * log(y), positive_xy), "x = 1, y = e²: 2"
    ),
    "exp of a sum, added": false(identity(exp(x + y), exp(x) + exp(y), some_xy), "0: 1, not 2"),
    "exp of a product": false(identity(exp(x * y), exp(x) * exp(y), some_xy), "x = 1, y = 0"),
    "exp of a quotient": false(
        identity(exp(x) / exp(y), exp(x / y), positive_xy), "x = y = 1: 1, not e"
    ),
    "exp is odd": false(identity(exp(-x), -exp(x), some_x), "0: 1, not -1"),
    "exp of exp of a sum": false(
        identity(exp(exp(x + y)), exp(exp(x)) * exp(exp(y)), some_xy), "0: e, not e²"
    ),
    "exponents added wrongly": false(
        identity(exp(x / 2) * exp(x / 3), exp(x * Fraction(2, 3)), some_x), "5/6, not 2/3"
    ),
    "a million exponents, one too few": false(
        identity(exp(x * 10**6), exp(x) * exp(x * (10**6 - 2)), some_x), "e^x too small"
    ),
    "exp below its tangent": false(inequality(at_most(exp(x), 1 + x), some_x), "x = 1: e > 2"),
    "exp above its tangent, strictly": false(
        inequality(less(1 + x, exp(x)), domain(real(x, at_least=-1, at_most=1))), "equal at 0"
    ),
    "half the log of a square": false(
        identity(exp(log(x * x) / 2), x, domain(real(x), differs(x, 0))), "x = -1: 1"
    ),
    # strict
    "means, strictly": false(inequality(less(2 * x * y, x * x + y * y), some_xy), "x = y"),
    "square, strictly": false(inequality(less(n, n * n), counted), "n = 1"),
    "maximum, strictly": false(inequality(less(x, maximum(x, y)), some_xy), "y ≤ x"),
    # signs and constants
    "convexity reversed": false(
        inequality(at_most((x * x + y * y) / 2, ((x + y) / 2) * ((x + y) / 2)), some_xy), "0 and 1"
    ),
    "sum of inverses": false(identity(1 / (x + y), 1 / x + 1 / y, positive_xy), "1: 1/2, not 2"),
    "brackets dropped": false(
        identity(x - (y - z), x - y - z, domain(real(x), real(y), real(z))), "z = 1"
    ),
    "constant off by one beyond 2^53": false(
        identity(x * (2**53 + 1), x * 2**53 + 2 * x, some_x), "x = 1: equal as float64 only"
    ),
    "2^53 + 1 rounded": false(identity(ONE + 2**53, 2**53, domain()), "equal as float64 only"),
    "a third as a float64": false(
        identity(constant(Fraction(1, 3)) * 1, Fraction(6004799503160661, 2**54), domain()),
        "the denominator of 1/3 is no power of 2",
    ),
    "long divisors that read alike": false(
        identity(
            (LONG + x) / (LONG + x * y),
            (LONG + x) / (LONG + x * x * y * y),
            domain(real(LONG, at_least=1), real(x, at_least=1), real(y, at_least=1)),
        ),
        "1/3 and 1/5 at 1, 1, 2: z3 once took them for one unknown",
    ),
    # division by zero and logarithms, in the claim, a hypothesis, a bound
    "x/x": undefined(identity(x / x, 1, some_x), differs(x, 0), "0/0"),
    "cancelled factor": undefined(
        identity((x * x - 1) / (x - 1), x + 1, some_x), differs(x - 1, 0), "x = 1"
    ),
    "inverse of the inverse": undefined(identity(1 / (1 / x), x, some_x), differs(x, 0), "x = 0"),
    "divisor without symbols": undefined(
        identity(1 / (ONE - 1) * 0, 0, domain()), differs(ONE - 1, 0), "1 - 1 = 0"
    ),
    "divisor in a hypothesis": undefined(
        inequality(less(0, x), domain(real(x), less(0, 1 / x))), differs(x, 0), "x = 0"
    ),
    "divisor in a bound": undefined(
        inequality(at_most(1 / x, y), domain(real(x), real(y, at_least=1 / x))),
        differs(x, 0),
        "x = 0",
    ),
    "logarithm in a bound": undefined(
        inequality(at_most(log(x), y), domain(real(x), real(y, at_least=log(x)))),
        less(0, x),
        "x = 0",
    ),
    "readout on real numbers": undefined(
        identity(readout / (1 - readout), A, domain(real(A))), differs(A + 1, 0), "A = -1"
    ),
    "log law on real numbers": undefined(
        identity(log(x * y), log(x) + log(y), domain(real(x), real(y), less(0, x * y))),
        less(0, x),
        "x = y = -1",
    ),
    "log of a square": undefined(
        identity(log(x * x), 2 * log(x), domain(real(x), differs(x, 0))), less(0, x), "x = -1"
    ),
    "exp of a log": undefined(identity(exp(log(x)), x, some_x), less(0, x), "x = 0"),
}

UNDECIDED_FORMULAS = {
    "bounds contradict": vacuous(
        inequality(less(x, 0), domain(real(x, at_least=2, at_most=1))), "2 > 1"
    ),
    "open bounds leave nothing": vacuous(
        identity(x, 7, domain(Variable(x, lower=as_term(0), lower_open=True, upper=as_term(0)))),
        "0 < x ≤ 0",
    ),
    "no integer between the bounds": vacuous(
        identity(n, 7, domain(integer(n, at_least=Fraction(1, 3), at_most=Fraction(2, 3)))),
        "⌈1/3⌉ = 1 > 2/3",
    ),
    "hypotheses contradict": vacuous(
        inequality(less(x, y), domain(real(x), real(y), less(x, y), less(y, x))), "order"
    ),
    "bound of another contradicts": vacuous(
        identity(x, y, domain(real(x, at_least=1), real(y, at_least=x, at_most=x - 1))), "x > x - 1"
    ),
    "hypothesis never true": vacuous(identity(x, 7, domain(real(x), less(x, x))), "irreflexive"),
    "square is negative": vacuous(
        identity(x, 7, domain(real(x), less(x * x, 0))), "squares are not"
    ),
    "irrational points only": vacuous(
        inequality(less(x, 0), domain(positive(x), equal(x * x, 2))),
        "x = √2: false there, but the domain is not seen to be inhabited",
    ),
    "A = A": vacuous(
        identity(A1 / (A1 + A2), A1 / (A1 + A2), two_blocks), "one term", "both sides are the same"
    ),
    "A ≤ A": vacuous(inequality(at_most(x, x), some_x), "one term", "both sides are the same"),
    "A = A with a divisor that may vanish": vacuous(
        identity(1 / x, 1 / x, some_x), "one term", "both sides are the same"
    ),
    "below the last precision": vacuous(
        inequality(less(exp(constant(Fraction(1, 10**700))), 1 + Fraction(1, 10**700)), domain()),
        "exp(h) > 1 + h; the difference is 10^-1400, precision ends at 10^-520",
        "no certificate",
    ),
    "false at irrational points only": Case(
        inequality(less(0, (x * x - 2) * (x * x - 2)), some_x),
        Kind.SAMPLED,
        "zero at ±√2",
        "no counterexample among",
    ),
    "false on an irrational line only": Case(
        inequality(less(0, (x * x - 2 * y * y) * (x * x - 2 * y * y)), positive_xy),
        Kind.SAMPLED,
        "zero at x = √2·y",
        "no counterexample among",
    ),
}

GATE = FALSE_FORMULAS | UNDECIDED_FORMULAS


# -- values, computed here ------------------------------------------------------------------


def value(term, point):
    """A Fraction, or an mpf where exp or log occurs; None where it is not defined."""
    values = {}
    for node in postorder((term,)):
        args = [values[arg] for arg in node.args]
        if None in args:
            return None
        values[node] = node_value(node, args, point)
    return values[term]


def node_value(node, args, point):
    if any(isinstance(arg, mpmath.mpf) for arg in args):
        args = [as_mpf(arg) for arg in args]
    match node.kind:
        case TermKind.COLUMN:
            return Fraction(point[node.payload])
        case TermKind.CONSTANT:
            return node.payload
        case TermKind.ADD:
            return args[0] + args[1]
        case TermKind.SUB:
            return args[0] - args[1]
        case TermKind.MUL:
            return args[0] * args[1]
        case TermKind.DIV:
            return args[0] / args[1] if args[1] != 0 else None
        case TermKind.NEG:
            return -args[0]
        case TermKind.MAX:
            return max(args)
        case TermKind.EXP:
            return mpmath.exp(as_mpf(args[0]))
        case TermKind.LOG:
            return mpmath.log(as_mpf(args[0])) if args[0] > 0 else None
    raise AssertionError(node.kind)


def as_mpf(number):
    if isinstance(number, mpmath.mpf):
        return number
    return mpmath.mpf(number.numerator) / number.denominator


def holds(relation, point):
    """True, False, or None without a value; equality and order up to 10^-140 where not exact."""
    with mpmath.workdps(150):
        left, right = value(relation.left, point), value(relation.right, point)
        if left is None or right is None:
            return None
        if isinstance(left, mpmath.mpf) or isinstance(right, mpmath.mpf):
            left, right = as_mpf(left), as_mpf(right)
        gap = right - left
        if isinstance(gap, mpmath.mpf) and abs(gap) <= mpmath.mpf(10) ** -140 * (1 + abs(right)):
            gap = 0
        return {"=": gap == 0, "!=": gap != 0, "<=": gap >= 0, "<": gap > 0}[relation.comparison]


def in_domain(on, point):
    whole = all(point[v.name].denominator == 1 for v in on.variables if v.integer)
    return set(point) == set(on.names) and whole and all(holds(r, point) for r in on.relations)


# -- formulas -------------------------------------------------------------------------------


def test_the_gate_is_wide():
    assert len(GATE) + len(FALSE_CLAIMS) >= 60
    assert len(TRUE_FORMULAS) >= 25
    assert all(case.known for case in (*GATE.values(), *FALSE_CLAIMS.values()))


@pytest.mark.parametrize("name", GATE)
def test_a_false_or_vacuous_formula_is_not_proved(name):
    case = GATE[name]
    verdict = decide(case.claim)
    assert verdict.kind is case.kind, verdict.reason
    assert case.reason in verdict.reason
    if case.kind is not Kind.REFUTED:
        assert verdict.witness is None
        assert not verdict.provers
    elif case.needs is None:
        assert in_domain(case.claim.domain, verdict.witness)
        assert holds(case.claim.relation, verdict.witness) is False
    else:
        assert holds(case.needs, verdict.witness) is False


# -- other claims ---------------------------------------------------------------------------


def sum_plan(factor):
    """Plans of one call that returns the sum of N tokens, `factor(N)` in place of N."""

    def plan(size):
        count, width = size.values["N"], size.values["d"]
        made = Plan(Limits.of_paper(tokens=max(count, 2), dimension=width))
        oracle = sum_of_tokens(factor(count), {"x": width})
        made.finish(made.call("block", "sum", oracle, made.input("x", count, width)))
        return made

    return plan


def sum_inputs(size):
    return {"x": (size.values["N"], size.values["d"])}


def sums(_, given):
    total = given["x"][0]
    for row in given["x"][1:]:
        total = total + row
    return np.stack([total] * len(given["x"]))


def sum_claim(plan, *rows, arithmetics=("symbolic", "exact")):
    return Execution("sum", plan, sum_inputs, sums, sizes("N d", *rows), arithmetics)


def right_to_three(count):
    return min(count, 3)


def repaired(size):
    count, tokens, width = (size.values[name] for name in ("N", "M", "d"))
    return quadratic_calls(from_qkv(count, width), tokens)


def blocks(plan):
    return sum(call.kind == "block" for call in plan.calls)


def block_count(closed_form, numerator, denominator, *rows):
    ceilings = (("T", numerator, denominator),)
    return Count("block calls", repaired, blocks, closed_form, sizes("N M d", *rows), ceilings)


GRID = ((2, 3, 1), (4, 3, 1), (6, 4, 1), (7, 3, 1))


def too_many_tokens(size):
    """One call on N tokens of an oracle of 4."""
    plan = Plan(Limits.of_paper(tokens=4, dimension=1))
    oracle = sum_of_tokens(size.values["N"], {"x": 1})
    plan.finish(plan.call("block", "sum", oracle, plan.input("x", size.values["N"], 1)))
    return plan


def merging(*waivers):
    def plan(size):
        made = Plan(Limits.of_paper(tokens=size.values["N"], dimension=1))
        for waiver in waivers:
            made.waive(waiver)
        program = trace(lambda token: {"A": token.A}, {"A": 1})
        made.finish(made.merge_outside("merge", Merge(program, program), made.input("A", 2, 1)))
        return made

    return plan


def without_result(size):
    plan = Plan(Limits.of_paper(tokens=4, dimension=1))
    oracle = sum_of_tokens(size.values["N"], {"x": 1})
    plan.call("block", "sum", oracle, plan.input("x", size.values["N"], 1))
    return plan


def without_a_step(size):
    plan = Plan(Limits.of_paper(tokens=4, dimension=1))
    plan.finish(plan.input("x", size.values["N"], 1))
    return plan


def cut_in_blocks(low, high, choice, *, whole=(), element=None):
    """Blocks of M keys, key j from 1 to N, from `low` to `high` and cut at N."""
    return Partition(
        domain(
            integer(N, at_least=1),
            integer(M, at_least=2),
            integer(T, at_least=1),
            less((T - 1) * M, N),
            at_most(N, T * M),
        ),
        element or integer(j, at_least=1, at_most=N),
        whole,
        integer(t, at_least=1, at_most=T),
        (at_most(low, j), at_most(j, high), at_most(j, N)),
        choice,
        ((q, j - 1, M),),
    )


def gauss(base, step, *, first=1, low=1, hypothesis=None):
    """S(n) = n(n + 1)/2 by induction: base and step as given."""
    assumed = equal(S, n * (n + 1) / 2) if hypothesis is None else hypothesis
    return Induction(
        "n",
        identity(base, constant(first) * (constant(first) + 1) / 2, domain()),
        identity(
            step, (n + 1) * ((n + 1) + 1) / 2, domain(integer(n, at_least=low), real(S), assumed)
        ),
    )


def undecided(claim, known, reason):
    return Case(claim, Kind.UNDECIDED, known, reason)


squares = identity(x * x, x, some_x)

FALSE_CLAIMS = {
    "blocks that share a token": false(
        cut_in_blocks((t - 1) * M, t * M, q + 1), "token M lies in blocks 1 and 2"
    ),
    "blocks with a gap": false(
        cut_in_blocks((t - 1) * M + 2, t * M, q + 1), "token 1 lies in none"
    ),
    "blocks that reach outside": false(
        cut_in_blocks((t - 1) * M + 1, t * M, q + 1, element=integer(j, at_least=2, at_most=N)),
        "token 1 is in block 1, and not in the set",
    ),
    "blocks with the wrong choice": Case(
        cut_in_blocks((t - 1) * M + 1, t * M, q + 2),
        Kind.SAMPLED,
        "they are a partition, but the choice is q + 1",
        "lies in exactly one cell",
    ),
    "empty blocks of an empty set": undecided(
        cut_in_blocks(ONE, constant(0), q + 1, whole=(less(j, 1),)), "1 ≤ j < 1", "empty domain"
    ),
    "full blocks of an empty set": false(
        cut_in_blocks((t - 1) * M + 1, t * M, q + 1, whole=(less(j, 1),)), "1 is in block 1"
    ),
    "blocks of real numbers": undecided(
        cut_in_blocks((t - 1) * M + 1, t * M, q + 1, element=real(j, at_least=1, at_most=N)),
        "M + 1/2 lies in none",
        "j is no integer",
    ),
    "ceiling of N/M": false(
        block_count(T * T, N, M, *GRID),
        "N = 4, M = 3: ⌈4/2⌉² = 4 = ⌈4/3⌉², N = 6, M = 4: equal; N = 7, M = 3: 16, not 9",
    ),
    "ceiling off by one": false(
        block_count((T + 1) * (T + 1), N, M - 1, *GRID), "N = 2, M = 3: 1 call, not 4"
    ),
    "linear in T": false(block_count(T, N, M - 1, *GRID), "N = 4, M = 3: 4 calls, not 2"),
    "quotient instead of ceiling": false(
        block_count(N * N / ((M - 1) * (M - 1)), N, M - 1, *GRID), "right where M - 1 divides N"
    ),
    "ceiling by zero": undecided(
        block_count(T * T, N, M - M, *GRID), "no value", "ZeroDivisionError"
    ),
    "ceiling that hides a parameter": undecided(
        Count("blocks", repaired, blocks, M * M, sizes("N M d", *GRID), (("M", N, M - 1),)),
        "M cannot be two things",
        "has the name of a parameter",
    ),
    "count of no sizes": undecided(block_count(T, N, M - 1), "nothing is checked", "no sizes"),
    "right unless N > 3": false(
        sum_claim(sum_plan(right_to_three), (2, 1), (3, 2), (4, 1)), "3/4 of the sum at N = 4"
    ),
    "right unless N > 3, in numbers only": false(
        sum_claim(sum_plan(right_to_three), (3, 1), (5, 1), arithmetics=("exact",)), "3/5 at N = 5"
    ),
    "right in one column": false(
        Execution(
            "sum",
            sum_plan(int),
            sum_inputs,
            lambda _, given: np.concatenate([sums(_, given)[:, :1], given["x"][:, 1:]], axis=1),
            sizes("N d", (2, 1), (2, 2)),
        ),
        "the second column is not summed",
    ),
    "execution of no sizes": undecided(sum_claim(sum_plan(int)), "nothing is checked", "no sizes"),
    "execution of another shape": undecided(
        Execution("sum", sum_plan(int), sum_inputs, lambda _, g: g["x"].T, sizes("N d", (2, 1))),
        "the reference is a row",
        "has shape (2, 1), the reference (1, 2)",
    ),
    "execution in no arithmetic": undecided(
        sum_claim(sum_plan(int), (2, 1), arithmetics=()), "nothing is run", "no engine applies"
    ),
    "call of too many tokens": false(
        Acceptance("sum", too_many_tokens, sizes("N", (2,), (4,), (5,))), "5 > 4"
    ),
    "merge outside": false(Acceptance("merge", merging(), sizes("N", (2,))), "not allowed outside"),
    "merge outside, waived": false(
        Acceptance("merge", merging("outside-merge"), sizes("N", (2,))), "a waiver breaks the rule"
    ),
    "unknown waiver": false(
        Acceptance("merge", merging("everything"), sizes("N", (2,))), "no such waiver"
    ),
    "plan without a result": false(
        Acceptance("sum", without_result, sizes("N", (2,))), "finish is missing"
    ),
    "plan without a step": undecided(
        Acceptance("sum", without_a_step, sizes("N", (2,))), "nothing to refuse", "makes no step"
    ),
    "acceptance of no sizes": undecided(
        Acceptance("sum", too_many_tokens, ()), "nothing is checked", "no sizes"
    ),
    "counterexample outside the domain": false(
        Counterexample(identity(x, 1, positive_x), {"x": -1}), "-1 is not positive"
    ),
    "counterexample that does not fail": false(Counterexample(squares, {"x": 1}), "1·1 = 1"),
    "fraction as an integer": false(
        Counterexample(inequality(at_most(n, n * n), domain(integer(n))), {"n": HALF}), "1/2"
    ),
    "counterexample against a hypothesis": false(
        Counterexample(
            inequality(less(x, 0), domain(real(x), real(y), less(x, y))), {"x": 1, "y": 1}
        ),
        "not 1 < 1",
    ),
    "counterexample to a law of exp": undecided(
        Counterexample(identity(exp(x) * exp(y), exp(x + y), some_xy), {"x": 1, "y": 2}),
        "it is none, but balls overlap at every precision",
        "no precision decides",
    ),
    "induction with a false base": false(gauss(ONE + 1, S + (n + 1)), "1 = 1·2/2, not 2"),
    "induction with a false step": false(gauss(ONE, S + n), "n + 1 is added"),
    "induction that begins too late": undecided(
        gauss(ONE, S + (n + 1), low=2), "nothing leads from 1 to 2", "the base is at 1"
    ),
    "induction without hypothesis": undecided(
        Induction("n", inequality(less(0, 1), domain()), inequality(less(n, n + 1), counted)),
        "base and step have nothing in common",
        "no induction hypothesis",
    ),
    "induction on two statements": undecided(
        Induction(
            "n",
            inequality(less(1, 2), domain()),
            inequality(less(n + 1, 2 * p), domain(real(n, at_least=1), real(p), less(2 * n, p))),
        ),
        "the base is of n < p, the step of 2n < p",
        "is no case of",
    ),
    "induction that assumes more": undecided(
        Induction(
            "n",
            inequality(less(1, 2), domain()),
            inequality(
                less(n + 1, p),
                domain(integer(n, at_least=1), integer(p), less(n, p), differs(p, n + 1)),
            ),
        ),
        "p ≠ n + 1 is no part of the hypothesis n < p",
        "which no induction hypothesis gives",
    ),
    "value off by one": false(Evaluation("x + 1", x + 1, {"x": 2**53}, "exact", 2**53), "2^53 + 1"),
    "value lost by a machine": false(
        Evaluation("x + 1 - x", x + 1 - x, {"x": 2**53}, "float64", 1), "0: 2^53 + 1 is rounded"
    ),
    "value where there is none": false(Evaluation("1/x", 1 / x, {"x": 0}, "exact", 0), "undefined"),
    "no value where there is one": false(
        Evaluation("x", x + 0, {"x": 3}, "exact", None), "it is 3"
    ),
    "value outside the ball": false(
        Evaluation("1/x", 1 / x, {"x": 3}, "ball:53", HALF), "1/3 < 0.34"
    ),
    "midpoint of a ball": undecided(
        Evaluation("1/x", 1 / x, {"x": 3}, "ball:53", Fraction(6004799503160661, 2**54)),
        "1/3 is no binary fraction",
        "a ball with more than one number",
    ),
    "irrational in exact numbers": undecided(
        Evaluation("exp(x/2)", exp(x / 2), {"x": 3}, "exact", 3), "2^(3/2)", "NotRationalError"
    ),
    "imported": Case(Imported("Ax 1971", "independence"), Kind.IMPORTED, "a citation", "Ax 1971"),
    "not settled": Case(Unproved("later"), Kind.NOT_RUN, "nothing is claimed", "later"),
}

# What each witness must be: sizes and points at which the claim is known to fail.
WITNESSES = {
    "ceiling of N/M": {"N": 7, "M": 3, "d": 1},
    "ceiling off by one": {"N": 2, "M": 3, "d": 1},
    "linear in T": {"N": 4, "M": 3, "d": 1},
    "quotient instead of ceiling": {"N": 7, "M": 3, "d": 1},
    "right unless N > 3": {"N": 4, "d": 1},
    "right unless N > 3, in numbers only": {"N": 5, "d": 1},
    "right in one column": {"N": 2, "d": 2},
    "call of too many tokens": {"N": 5},
    "induction with a false base": {},
}


@pytest.mark.parametrize("name", FALSE_CLAIMS)
def test_a_false_or_vacuous_claim_is_not_proved(name):
    case = FALSE_CLAIMS[name]
    verdict = decide(case.claim)
    assert verdict.kind is case.kind, verdict.reason
    assert case.reason in verdict.reason
    if case.kind is Kind.REFUTED:
        assert verdict.witness is not None
        assert name not in WITNESSES or verdict.witness == WITNESSES[name]
    else:
        assert verdict.witness is None
    if isinstance(case.claim, Partition) and case.kind is Kind.REFUTED:
        assert cells_of(case.claim, verdict.witness)


def cells_of(claim, point):
    """Whether the witness shows a flaw: its element in no or two cells, or in one from outside."""
    member = (*claim.index.bounds, *claim.member)
    indices = range(-20, 21)
    cells = [k for k in indices if all(holds(rel, {**point, "t": Fraction(k)}) for rel in member)]
    inside = all(holds(rel, point) for rel in (*claim.element.bounds, *claim.whole))
    return len(cells) != 1 if inside else bool(cells)


def test_a_false_step_of_an_induction_fails_at_its_witness():
    claim = FALSE_CLAIMS["induction with a false step"].claim
    witness = decide(claim).witness
    assert in_domain(claim.step.domain, witness)
    assert holds(claim.step.relation, witness) is False


# -- true claims ----------------------------------------------------------------------------

TRUE_FORMULAS = {
    "readout": identity(readout / (1 - readout), A, domain(positive(A))),
    "readout of two synthetic tokens": identity(
        2 * (A / (A + 2)) / (1 - A / (A + 2)), A, domain(positive(A))
    ),
    "readout below 1": inequality(less(readout, 1), domain(positive(A))),
    "merge": identity(
        (A1 * (B1 / A1) + A2 * (B2 / A2)) / (A1 + A2), (B1 + B2) / (A1 + A2), two_blocks
    ),
    "merge of states": identity(
        exp(m) * (exp(m1 - m) * A1 + exp(m2 - m) * A2), exp(m1) * A1 + exp(m2) * A2, state
    ),
    "weight below 1": inequality(less(A1 / (A1 + A2), 1), two_blocks),
    "window": identity(i - (i - r + 1) + 1, r, domain(integer(i), integer(r, at_least=1))),
    "room left": inequality(at_most(T * (M - 1), N + M - 2), ceiling),
    "square": inequality(at_most(x + y, 2), domain(real(x, **unit), real(y, **unit))),
    "zero at 0 to 3": identity(
        n * (n - 1) * (n - 2) * (n - 3), 0, domain(integer(n, at_least=0, at_most=3))
    ),
    "squares dominate, on the integers": inequality(at_most(n, n * n), domain(integer(n))),
    "strictly above is one above": inequality(
        at_most(n + 1, p), domain(integer(n), integer(p), less(n, p))
    ),
    "relu": identity(maximum(x, 0), x, positive_x),
    "absolute value": inequality(at_most(x, maximum(x, -x)), some_x),
    "x/x away from 0": identity(x / x, 1, domain(real(x), differs(x, 0))),
    "cancelled factor": identity((x * x - 1) / (x - 1), x + 1, domain(real(x), less(1, x))),
    "divisor in a bound, nonzero by a hypothesis": inequality(
        at_most(1, x * y), domain(real(x), real(y, at_least=1 / x), less(0, x))
    ),
    "log law": identity(log(x * y), log(x) + log(y), positive_xy),
    "log of a square": identity(log(x * x), 2 * log(x), positive_x),
    "exp of a log": identity(exp(log(x)), x * 1, positive_x),
    "exp of a sum": identity(exp(x + y), exp(x) * exp(y), some_xy),
    "exp of a difference": identity(exp(x) / exp(y), exp(x - y), some_xy),
    "exponents added": identity(exp(x / 2) * exp(x / 3), exp(x * Fraction(5, 6)), some_x),
    "a million exponents": identity(exp(x * 10**6), exp(x) * exp(x * (10**6 - 1)), some_x),
    "half the log of a square": identity(
        exp(log(x * x) / 2), maximum(x, -x), domain(real(x), differs(x, 0))
    ),
    "means": inequality(at_most(2 * x * y, x * x + y * y), some_xy),
    "beyond 2^53": identity(x * (2**53 + 1), x * 2**53 + x, some_x),
    "nearly empty": identity(n, 1, domain(integer(n, at_least=HALF, at_most=Fraction(3, 2)))),
}


@pytest.mark.parametrize("name", TRUE_FORMULAS)
def test_a_true_formula_is_proved_by_two_engines(name):
    verdict = decide(TRUE_FORMULAS[name])
    assert verdict.kind is Kind.PROVED, verdict.reason
    assert len(set(verdict.provers)) >= 2
    assert isinstance(TRUE_FORMULAS[name], Formula)


TRUE_CLAIMS = {
    "blocks": cut_in_blocks((t - 1) * M + 1, t * M, q + 1),
    "ceiling of N/(M - 1)": block_count(T * T, N, M - 1, *GRID),
    "sum": sum_claim(sum_plan(int), (2, 1), (4, 1)),
    "acceptance": Acceptance("sum", too_many_tokens, sizes("N", (2,), (4,))),
    "counterexample": Counterexample(squares, {"x": 2}),
    "counterexample without a value": Counterexample(identity(x / x, 1, some_x), {"x": 0}),
    "induction": gauss(ONE, S + (n + 1)),
    "induction from 0": gauss(0, S + (n + 1), first=0, low=0),
    "induction with a parameter": Induction(
        "n",
        inequality(at_most(1 + constant(0) * x, 1), domain(real(x, at_least=-1))),
        inequality(
            at_most(1 + (n + 1) * x, p * (1 + x)),
            domain(integer(n, at_least=0), real(x, at_least=-1), real(p), at_most(1 + n * x, p)),
        ),
    ),
    "value": Evaluation("x + 1", x + 1, {"x": 2**53}, "exact", 2**53 + 1),
    "exact ball": Evaluation("x/2", x / 2, {"x": 3}, "ball:53", Fraction(3, 2)),
    "no value": Evaluation("1/x", 1 / x, {"x": 0}, "exact", None),
}


@pytest.mark.parametrize("name", TRUE_CLAIMS)
def test_a_true_claim_is_proved(name):
    verdict = decide(TRUE_CLAIMS[name])
    assert verdict.kind is Kind.PROVED, verdict.reason
    assert verdict.scope
