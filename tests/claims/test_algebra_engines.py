"""What the flint, modular and sympy engines prove, and that they prove nothing false."""

import ast
from fractions import Fraction
from itertools import product
from pathlib import Path

import pytest
import sympy
from hypothesis import given, settings
from hypothesis import strategies as st

from symsim.arithmetic.symbolic import Symbolic
from symsim.claims.claim import Formula
from symsim.claims.domain import (
    Domain,
    Relation,
    Variable,
    at_most,
    differs,
    domain,
    equal,
    integer,
    less,
    positive,
    real,
    symbols,
)
from symsim.claims.engines import modular as modular_module
from symsim.claims.engines import sympy as sympy_module
from symsim.claims.engines.flint import FlintEngine
from symsim.claims.engines.modular import ModularEngine
from symsim.claims.engines.sympy import SymPyEngine
from symsim.claims.verdict import Kind
from symsim.terms import Kind as TermKind
from symsim.terms import as_term, column, dot, exp, log, maximum, postorder

FLINT, MODULAR, SYMPY = FlintEngine(), ModularEngine(), SymPyEngine()
ENGINES = {engine.name: engine for engine in (FLINT, MODULAR, SYMPY)}
FOUND = {Kind.PROVED, Kind.PROBABLE}

A, B, C, E, P, Z, e, x, y, z = symbols("A B C E P Z e x y z")
K, M, N, T, a, b, c = symbols("K M N T a b c")

POSITIVE = domain(*map(positive, (A, P, Z, e)), real(B), real(x), real(y), real(z))
REALS = domain(real(x), real(y), real(z))
SIZES = domain(integer(M, at_least=2), integer(N, at_least=M))
ROUNDS = domain(
    integer(M, at_least=2),
    integer(N, at_least=M),
    integer(T, at_least=1),
    at_most(T * (M - 1), N + M - 2),
)
MASSES = domain(positive(A), real(E, at_least=0), real(C, at_least=0))
MEAN = domain(
    real(x), real(y, at_least=x), real(a, at_least=0), real(b, at_least=0), equal(a + b, 1)
)


def proved(engine, claim):
    evidence = engine.decide(claim)
    return evidence is not None and evidence.kind in FOUND


def state(k):
    """A softmax state of one column: log-sum-exp and mean, as symbols."""
    return column(f"l{k}"), column(f"m{k}")


def merged(left, right):
    """The merge of two states."""
    (l1, m1), (l2, m2) = left, right
    weight = exp(l1) + exp(l2)
    return log(weight), (exp(l1) * m1 + exp(l2) * m2) / weight


S1, S2, S3 = state(1), state(2), state(3)
STATES = domain(*(real(part) for pair in (S1, S2, S3) for part in pair))
r = A / (A + P)

TRUE_IDENTITIES = {
    "common factor": Formula(equal(e * A / (e * A + e), A / (A + 1)), POSITIVE),
    "ratio readout": Formula(equal(P * r / (1 - r), A), POSITIVE),
    "sum over mass": Formula(equal((B / Z) / (1 / Z), B), POSITIVE),
    "mass as printed": Formula(equal(1 / (1 / Z) - 1, Z - 1), POSITIVE),
    "product of exp": Formula(equal(exp(x + y), exp(x) * exp(y)), REALS),
    "half exponents": Formula(equal(exp(x / 2) * exp(x / 2), exp(x)), REALS),
    "third of a half": Formula(equal(exp(x / 2 / 3) ** 6, exp(x)), REALS),
    "quotient of exp": Formula(equal(exp(x * y - z) * exp(z) / exp(x * y), 1), REALS),
    "square in the exponent": Formula(
        equal(exp((x + y) * (x + y)), exp(x * x) * exp(2 * x * y) * exp(y * y)), REALS
    ),
    "exp of exp": Formula(
        equal(exp(exp(x + y) + exp(x)), exp(exp(x) * exp(y)) * exp(exp(x))), REALS
    ),
    "exp of ln": Formula(equal(exp(log(A) + x), A * exp(x)), POSITIVE),
    "exp of minus ln": Formula(equal(exp(x - 2 * log(A)), exp(x) / (A * A)), POSITIVE),
    "shifted softmax": Formula(
        equal(exp(x - z) / (exp(x - z) + exp(y - z)), exp(x) / (exp(x) + exp(y))), REALS
    ),
    "sigmoid": Formula(equal(exp(x - y) / (exp(x - y) + 1), 1 / (1 + exp(y - x))), REALS),
    "merge commutes": Formula(equal(merged(S1, S2)[1], merged(S2, S1)[1]), STATES),
    "merge associates in the mean": Formula(
        equal(merged(merged(S1, S2), S3)[1], merged(S1, merged(S2, S3))[1]), STATES
    ),
    "merge associates in the mass": Formula(
        equal(exp(merged(merged(S1, S2), S3)[0]), exp(merged(S1, merged(S2, S3))[0])), STATES
    ),
    "difference of squares": Formula(equal((x - y) * (x + y), x * x - y * y), REALS),
    "partial fractions": Formula(equal(1 / A - 1 / (A + 1), 1 / (A * (A + 1))), POSITIVE),
    "nested": Formula(equal(1 / (1 + 1 / (1 + 1 / A)), (A + 1) / (2 * A + 1)), POSITIVE),
    "constants": Formula(equal(as_term(Fraction(1, 3)) + Fraction(1, 6), Fraction(1, 2)), REALS),
}

TRUE_RELATIONS = {
    "product of gaps": (Formula(at_most(0, (N - M) * (M - 2)), SIZES), {"flint"}),
    "rounds": (Formula(at_most(T * M, 2 * N), ROUNDS), {"flint"}),
    "mass bound": (
        Formula(at_most(2 * C * E / (A + E), 2 * C * E / A), MASSES),
        {"flint"},
    ),
    "positive sum": (Formula(less(0, A + exp(x)), POSITIVE), {"flint"}),
    "divisor": (Formula(differs(exp(x) + exp(y), 0), REALS), {"flint"}),
    "negative divisor": (Formula(differs(-exp(x) - A, 0), POSITIVE), {"flint"}),
    "square": (Formula(at_most(2 * x * y, x * x + y * y), REALS), {"flint"}),
    "square and more": (Formula(less(x * y, x * x + y * y + 1), REALS), {"flint"}),
    "even powers": (Formula(less(0, x * x + y * y * x * x + 1), REALS), {"flint"}),
    "exp by square": (
        Formula(at_most(2 * exp(x) * exp(y), exp(2 * x) + exp(2 * y)), REALS),
        {"flint"},
    ),
    "mean": (Formula(at_most(a * x + b * y, y), MEAN), {"flint"}),
    "weight": (Formula(at_most(a, 1), MEAN), {"flint"}),
    "ends": (
        Formula(at_most(x * x, x), domain(real(x, at_least=0, at_most=1))),
        {"flint", "sympy"},
    ),
    "square above one": (
        Formula(at_most(x, x * x), domain(real(x, at_least=1))),
        {"flint", "sympy"},
    ),
    "between integers": (
        Formula(less(0, (2 * M - 3) * (M - 1)), domain(integer(M, at_least=2))),
        {"flint", "sympy"},
    ),
    "strict between integers": (
        Formula(at_most(M + 1, N), domain(integer(M), integer(N), less(M, N))),
        {"flint"},
    ),
    "cubic": (
        Formula(less(0, x * x * x - 3 * x + 3), domain(real(x, at_least=-2))),
        {"sympy"},
    ),
    "rational": (Formula(less(x / (1 + x), 1), domain(positive(x))), {"flint", "sympy"}),
    "double root": (
        Formula(at_most(0, (x - 1) * (x - 1) * (x + 1)), domain(real(x, at_least=-1))),
        {"flint", "sympy"},
    ),
    "no root": (
        Formula(differs(x * x - 2, 0), domain(real(x, at_least=-1, at_most=1))),
        {"sympy"},
    ),
    "half-open": (
        Formula(
            less(0, 1 - x),
            domain(Variable(x, lower=as_term(0), upper=as_term(1), upper_open=True)),
        ),
        {"flint", "sympy"},
    ),
    "factor is a hypothesis": (
        Formula(
            less(5 * N * N, N * M * M),
            domain(integer(N, at_least=1), integer(M, at_least=2), less(5 * N, M * M)),
        ),
        {"flint"},
    ),
    "sum is one": (Formula(equal(a * x + b * x, x), MEAN), {"flint"}),
    "equal sides": (Formula(at_most(x * (y + z), x * y + x * z), REALS), {"flint"}),
}


@pytest.mark.parametrize("name", TRUE_IDENTITIES)
def test_true_identity_is_found_by_all_three(name):
    claim = TRUE_IDENTITIES[name]
    kinds = {engine.name: engine.decide(claim).kind for engine in ENGINES.values()}
    assert kinds == {"flint": Kind.PROVED, "modular": Kind.PROBABLE, "sympy": Kind.PROVED}


@pytest.mark.parametrize("name", TRUE_RELATIONS)
def test_true_relation_is_proved(name):
    claim, provers = TRUE_RELATIONS[name]
    assert {engine.name for engine in ENGINES.values() if proved(engine, claim)} >= provers


UNIT = domain(real(x, at_least=0, at_most=1))

FALSE = {
    "sign": Formula(equal(P * r / (1 + r), A), POSITIVE),
    "off by one": Formula(equal(e * A / (e * A + e), A / (A + 2)), POSITIVE),
    "sum of exp": Formula(equal(exp(x + y), exp(x) + exp(y)), REALS),
    "exp of a product": Formula(equal(exp(x * y), exp(x) * exp(y)), REALS),
    "exp is not its power": Formula(equal(exp(x) ** 2, exp(x * x)), REALS),
    "half exponent": Formula(equal(exp(x / 2), exp(x)), REALS),
    "only where A = 1": Formula(equal(A * x, x), POSITIVE),
    "only where a + b = 1": Formula(equal(a * x + b * x, x), domain(real(a), real(b), real(x))),
    "dropped term": Formula(
        equal(
            merged(merged(S1, S2), S3)[1],
            (exp(S1[0]) * S1[1] + exp(S2[0]) * S2[1]) / (exp(S1[0]) + exp(S2[0]) + exp(S3[0])),
        ),
        STATES,
    ),
    "small integers only": Formula(
        equal((M - 2) * (M - 3) * (M - 4), 0), domain(integer(M, at_least=2))
    ),
    "many integers only": Formula(
        less(0, M * M - 200 * M + 10001 - 2), domain(integer(M, at_least=0))
    ),
    "zero divided by zero": Formula(equal((x - x) / (y - y), x), REALS),
    "zero divisor twice": Formula(equal(1 / (x - x), 1 / (x - x)), REALS),
    "hidden zero divisor": Formula(
        equal(x / ((x + y) * (x + y) - x * x - 2 * x * y - y * y), 1), REALS
    ),
    "zero divisor in the exponent": Formula(equal(exp(1 / (x - x)), exp(1 / (x - x))), REALS),
    "zero divisor in order": Formula(at_most(1 / (x - x), 1 / (x - x)), REALS),
    "zero divisor unequal": Formula(differs(1 / (x - x), 0), REALS),
    "square on the reals": Formula(at_most(x, x * x), REALS),
    "true at integers only": Formula(at_most(x, x * x), domain(real(x))),
    "strict where it touches": Formula(less(x, x * x), domain(real(x, at_least=1))),
    "strict square": Formula(less(2 * x * y, x * x + y * y), REALS),
    "strict product of gaps": Formula(less(0, (N - M) * (M - 2)), SIZES),
    "strict at a closed upper end": Formula(less(x * x, x), UNIT),
    "strict at the upper end": Formula(less(x, 1), UNIT),
    "strict at the lower end": Formula(less(0, x), UNIT),
    "unequal at an end": Formula(differs(1 - x, 0), UNIT),
    "unequal inside": Formula(differs(2 * x, 1), UNIT),
    "rounds, off by one": Formula(at_most(T * M, 2 * N - 1), ROUNDS),
    "rounds without hypothesis": Formula(
        at_most(T * M, 2 * N),
        domain(integer(M, at_least=2), integer(N, at_least=M), integer(T, at_least=1)),
    ),
    "mass bound, tightened": Formula(at_most(2 * C * E / A, 2 * C * E / (A + E)), MASSES),
    "negative is positive": Formula(less(0, B), POSITIVE),
    "sum that vanishes": Formula(differs(x + exp(y), 0), REALS),
    "no upper bound": Formula(at_most(exp(x), 100), REALS),
    "mean, the other way": Formula(at_most(y, a * x + b * y), MEAN),
    "weight, strict": Formula(less(a, 1), MEAN),
    "changes sign at a pole": Formula(less(0, 1 / x), domain(real(x, at_least=-1))),
    "even pole": Formula(less(2, 1 / (x * x)), domain(real(x, at_least=1))),
    "odd multiplicity": Formula(
        at_most(0, (x - 1) * (x - 1) * (x - 1)), domain(real(x, at_least=0))
    ),
    "lower bound may be negative": Formula(less(0, x + 1), domain(real(y), real(x, at_least=y))),
    "coefficient of unknown sign": Formula(
        at_most(0, x), domain(real(y), real(x), at_most(0, x * y))
    ),
    "hypothesis with a coefficient that vanishes": Formula(
        at_most(x, 1), domain(real(y, at_least=0), real(x), at_most(x * y, y))
    ),
    "equality with a coefficient that vanishes": Formula(
        equal(x, 1), domain(real(y, at_least=0), real(x), equal(x * y, y))
    ),
    "hypothesis not linear": Formula(
        at_most(x, 1), domain(real(x), real(y, at_least=0), at_most(x * x * y, y))
    ),
    "hypothesis ≠ has no side": Formula(less(1, x), domain(real(x), differs(x, 1))),
    "hypothesis of the other sign": Formula(
        less(N * M * M, 5 * N * N),
        domain(integer(N, at_least=1), integer(M, at_least=2), less(5 * N, M * M)),
    ),
    "strict from a weak hypothesis": Formula(
        less(0, (x - y * y) * (1 + z * z)), domain(real(x), real(y), real(z), at_most(y * y, x))
    ),
    "odd power of a weak hypothesis": Formula(
        less(y * y * y, x * x * x), domain(real(x), real(y), at_most(y, x))
    ),
    "constants": Formula(less(2, 1), domain()),
    "constants equal": Formula(equal(1, 2), domain()),
}


@pytest.mark.parametrize("name", FALSE)
@pytest.mark.parametrize("engine", ENGINES)
def test_false_claim_is_not_proved(engine, name):
    evidence = ENGINES[engine].decide(FALSE[name])
    assert evidence is None or evidence.kind is Kind.UNDECIDED
    assert evidence is None or all(evidence.lines)


EMPTY = (
    domain(real(x, at_least=1, at_most=0)),
    domain(Variable(x, lower=as_term(0), lower_open=True, upper=as_term(0))),
    domain(
        Variable(
            x, integer=True, lower=as_term(0), lower_open=True, upper=Fraction(1, 2) + as_term(0)
        )
    ),
)


@pytest.mark.parametrize("on", EMPTY, ids=str)
@pytest.mark.parametrize("relation", [less(x, -5), less(5, x), equal(x, 7), differs(x * x, x)])
def test_an_empty_interval_proves_nothing(on, relation):
    assert not any(proved(engine, Formula(relation, on)) for engine in ENGINES.values())


@pytest.mark.parametrize(
    "claim",
    [
        Formula(equal(maximum(x, y), maximum(y, x)), REALS),
        Formula(equal(dot(x, y), x * y), REALS),
        Formula(equal(column("v", 2), column("v", 2)), domain(real(column("v", 2)))),
    ],
    ids=str,
)
def test_what_engines_do_not_express_is_left_to_others(claim):
    assert not any(proved(engine, claim) for engine in ENGINES.values())


# -- random claims --------------------------------------------------------------------------

W, V = symbols("W V")
RANDOM = domain(positive(W), positive(V), real(x), real(y))
constants = st.fractions(-2, 2, max_denominator=2)
linear = st.builds(lambda p, q, s: p * x + q * y + s, constants, constants, constants)
leaves = st.one_of(st.sampled_from([W, V, x, y]), st.builds(exp, linear), constants.map(as_term))
polynomials = st.recursive(
    leaves,
    lambda inner: st.one_of(
        st.builds(lambda p, q: p + q, inner, inner),
        st.builds(lambda p, q: p - q, inner, inner),
        st.builds(lambda p, q: p * q, inner, inner),
        inner.map(lambda p: -p),
    ),
    max_leaves=3,
)
divisors = st.builds(
    lambda p, q, k: p * p + k * exp(q), polynomials, linear, st.integers(1, 3)
)  # positive whatever p is
terms = st.one_of(polynomials, st.builds(lambda p, q: p / q, polynomials, divisors))


def expanded(p, q, s, t):
    return (p + q) * (s - t), p * s + q * s - p * t - q * t


def fractions_apart(p, q, s, t):
    return (p * t + s * q) / (q * t), p / q + s / t


def shifted(p, q, s, t):
    return p * exp(s) / (q * exp(s) + t * exp(s)), p / (q + t)


true_identities = st.one_of(
    st.builds(expanded, terms, polynomials, polynomials, terms),
    st.builds(fractions_apart, polynomials, divisors, polynomials, divisors),
    st.builds(shifted, polynomials, divisors, linear, divisors),
)


@settings(max_examples=25)
@given(true_identities)
def test_random_identity_is_found_by_all_three(sides):
    claim = Formula(equal(*sides), RANDOM)
    assert [engine.name for engine in ENGINES.values() if not proved(engine, claim)] == []


@settings(max_examples=25)
@given(true_identities, st.sampled_from([as_term(1), as_term(Fraction(-1, 7)), x, exp(y), 1 / W]))
def test_perturbed_identity_is_found_by_none(sides, extra):
    left, right = sides
    claim = Formula(equal(left, right + extra), RANDOM)
    assert [engine.name for engine in ENGINES.values() if proved(engine, claim)] == []


def value(term, point):
    """The exact value of a rational term, None where a divisor is zero."""
    values = {}
    for node in postorder((term,)):
        args = [values[arg] for arg in node.args]
        match node.kind:
            case TermKind.COLUMN:
                values[node] = Fraction(point[node.payload])
            case TermKind.CONSTANT:
                values[node] = node.payload
            case TermKind.ADD:
                values[node] = args[0] + args[1]
            case TermKind.SUB:
                values[node] = args[0] - args[1]
            case TermKind.MUL:
                values[node] = args[0] * args[1]
            case TermKind.DIV:
                if args[1] == 0:
                    return None
                values[node] = args[0] / args[1]
            case TermKind.NEG:
                values[node] = -args[0]
    return values[term]


COMPARE = {
    "<=": lambda p, q: p <= q,
    "<": lambda p, q: p < q,
    "=": lambda p, q: p == q,
    "!=": lambda p, q: p != q,
}


def holds(relation, point):
    left, right = value(relation.left, point), value(relation.right, point)
    return None if left is None or right is None else COMPARE[relation.comparison](left, right)


GRID = [Fraction(k, 2) for k in range(-5, 8)]
small = st.integers(-2, 2)
bounds = st.one_of(st.none(), st.integers(-2, 2).map(as_term))


@st.composite
def polynomial_in(draw, names, degree=2):
    """A small random polynomial."""
    total = as_term(draw(small))
    for powers in product(range(degree + 1), repeat=len(names)):
        if 0 < sum(powers) <= degree and (k := draw(small)):
            term = as_term(k)
            for name, power in zip(names, powers, strict=True):
                for _ in range(power):
                    term = term * column(name)
            total = total + term
    return total


@st.composite
def random_domains(draw):
    """Two variables between random bounds, the second's may use the first, and a hypothesis."""
    low, high = draw(bounds), draw(bounds)
    first = Variable(
        x,
        draw(st.booleans()),
        low,
        high,
        low is not None and draw(st.booleans()),
        high is not None and draw(st.booleans()),
    )
    low = draw(st.one_of(bounds, st.just(x), st.just(x * x - 1)))
    high = draw(st.one_of(bounds, st.just(x + 2)))
    second = Variable(
        y,
        draw(st.booleans()),
        low,
        high,
        low is not None and draw(st.booleans()),
        high is not None and draw(st.booleans()),
    )
    hypotheses = draw(
        st.lists(
            st.builds(
                Relation,
                polynomial_in("xy"),
                st.sampled_from(["<=", "<", "=", "!="]),
                polynomial_in("xy", degree=1),
            ),
            max_size=2,
        )
    )
    return Domain((first, second), tuple(hypotheses))


def points(on):
    """The points of a grid that belong to a domain."""
    whole = {variable.name for variable in on.variables if variable.integer}
    for values in product(GRID, repeat=len(on.variables)):
        point = dict(zip(on.names, values, strict=True))
        if all(point[name].denominator == 1 for name in whole) and all(
            holds(relation, point) for relation in on.relations
        ):
            yield point


@settings(max_examples=100)
@given(
    random_domains(),
    st.sampled_from(["<=", "<", "!=", "="]),
    polynomial_in("xy"),
    st.one_of(polynomial_in("xy", degree=1), st.just(as_term(1))),
)
def test_random_relation_that_is_proved_has_no_counterexample(on, comparison, above, below):
    claim = Formula(Relation(as_term(0), comparison, above / below), on)
    if proved(FLINT, claim):
        assert [point for point in points(on) if holds(claim.relation, point) is False] == []


@settings(max_examples=100)
@given(
    st.sampled_from(["<=", "<", "!="]),
    polynomial_in("x", degree=4),
    st.one_of(polynomial_in("x", degree=2), st.just(as_term(1))),
    bounds,
    bounds,
    st.tuples(st.booleans(), st.booleans(), st.booleans()),
)
def test_one_variable_relation_that_is_proved_has_no_counterexample(
    comparison, above, below, low, high, flags
):
    whole, low_open, high_open = flags
    variable = Variable(
        x, whole, low, high, low is not None and low_open, high is not None and high_open
    )
    claim = Formula(Relation(as_term(0), comparison, above / below), domain(variable))
    for engine in (FLINT, SYMPY):
        if proved(engine, claim):
            on = claim.domain
            assert [p for p in points(on) if holds(claim.relation, p) is False] == []


# -- what the engines say -------------------------------------------------------------------


def test_flint_shows_the_substitution_and_the_polynomial():
    lines = FLINT.decide(TRUE_RELATIONS["product of gaps"][0]).lines
    assert lines == ("M = M' + 2; N = M' + N' + 2; right - left = M'*N' ≥ 0 for M' ≥ 0, N' ≥ 0",)


def test_flint_says_what_differs():
    (line,) = FLINT.decide(FALSE["only where A = 1"]).lines
    assert line == (
        "different canonical forms: difference = A*x - x, nonzero somewhere in every open set"
    )
    (line,) = FLINT.decide(FALSE["small integers only"]).lines
    assert line.startswith("different canonical forms")
    assert "open set" not in line


def test_modular_states_the_probability_and_what_it_rests_on():
    evidence = MODULAR.decide(TRUE_IDENTITIES["partial fractions"])
    chance, *_, sizes, once = evidence.lines
    assert chance.startswith("if the sides differ, this has probability below 2^-11")
    # Written out: 1·(A+1) - 1·A over A(A+1) against 1 over A(A+1), degrees 1, 2, 0, 2; divisors
    # A, A + 1 and A(A + 1).
    assert "degree at most 3 " in sizes
    assert "divisors have degree at most 4 " in sizes
    assert once.startswith("a difference other than zero vanishes at one point")


def test_modular_difference_names_the_prime():
    (line,) = MODULAR.decide(FALSE["sign"]).lines
    prime = int(line.split()[2])
    assert line.startswith("differs modulo ")
    assert sympy.isprime(prime)
    assert prime > 2**60


def test_modular_gives_up_where_the_degree_is_no_bound():
    power = x
    for _ in range(64):
        power = power * power
    evidence = MODULAR.decide(Formula(equal(power, power), REALS))
    assert evidence.kind is Kind.UNDECIDED
    assert evidence.lines == ("the degree is too high",)


def test_modular_depends_on_its_seed_only():
    claim = TRUE_IDENTITIES["shifted softmax"]
    assert MODULAR.decide(claim) == ModularEngine().decide(claim)
    assert MODULAR.decide(claim) != ModularEngine(seed=1).decide(claim)


def test_sympy_derivation_reads_as_mathematics():
    claim = TRUE_IDENTITIES["sum over mass"]
    assert SYMPY.derivation(claim) == (
        ("B/Z/(1/Z) = B", "the claim, as written"),
        (
            "B/Z/(1/Z) = (B*Z)/Z = B",
            "division is multiplication by the inverse; Z cancelled, nonzero as a factor of "
            "divisors",
        ),
        ("B - (B) = 0", "difference over a common denominator, numerator multiplied out"),
    )
    expressions = [expression for expression, _ in SYMPY.derivation(claim, latex=True)]
    assert expressions[0] == r"\frac{\frac{B}{Z}}{\frac{1}{Z}} = B"
    assert expressions[1].endswith(r"\frac{B Z}{Z} = B")


def test_sympy_shows_exponentials_as_such():
    claim = TRUE_IDENTITIES["half exponents"]
    lines = SYMPY.decide(claim).lines
    assert "exp(x) = exp(x/2)**2   [functional equation of exp, exponent multiplied out]" in lines
    assert any(r"e^{\frac{x}{2}}" in tex for tex, _ in SYMPY.derivation(claim, latex=True))


# -- independence ---------------------------------------------------------------------------


@pytest.mark.parametrize("module", [modular_module, sympy_module], ids=lambda m: m.__name__)
def test_imports_nothing_of_the_symbolic_arithmetic(module):
    tree = ast.parse(Path(module.__file__).read_text())
    imported = {node.module for node in ast.walk(tree) if isinstance(node, ast.ImportFrom)}
    imported |= {
        alias.name
        for node in ast.walk(tree)
        if isinstance(node, ast.Import)
        for alias in node.names
    }
    forbidden = ("symsim.arithmetic", "symsim.model", "symsim.claims.engines", "flint")
    assert not [name for name in imported if name.startswith(forbidden)]


def refuse(*_, **__):
    raise AssertionError("another engine's machinery was used")


def test_each_engine_works_without_the_others_machinery(monkeypatch):
    claim = TRUE_IDENTITIES["merge associates in the mean"]
    with monkeypatch.context() as patch:
        patch.setattr(Symbolic, "__init__", refuse)
        assert proved(MODULAR, claim)
        assert proved(SYMPY, claim)
    for name in ("cancel", "together", "expand", "Symbol"):
        monkeypatch.setattr(sympy, name, refuse)
    assert proved(MODULAR, claim)
    assert proved(FLINT, claim)


def test_sympy_engine_never_simplifies_or_evaluates_numerically():
    tree = ast.parse(Path(sympy_module.__file__).read_text())
    used = {node.attr for node in ast.walk(tree) if isinstance(node, ast.Attribute)}
    assert not used & {"simplify", "nsimplify", "evalf", "n", "N", "lambdify", "equals"}
