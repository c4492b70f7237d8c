"""The engines z3 and cvc5: true and false formulas, certified witnesses, limits, fuzzing."""

from __future__ import annotations

from fractions import Fraction

import mpmath
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from symsim.claims.claim import Formula, identity, inequality
from symsim.claims.domain import (
    Domain,
    Relation,
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
from symsim.claims.engines import smt_sessions
from symsim.claims.engines.rational import ExactRelation, belongs
from symsim.claims.engines.smt import Cvc5Engine, Z3Engine, refutes
from symsim.claims.verdict import Evidence, Kind
from symsim.terms import Kind as TermKind
from symsim.terms import Term, column, constant, dot, exp, log, maximum, postorder, relu

Z3, CVC5 = Z3Engine(), Cvc5Engine()
ENGINES = (Z3, CVC5)

A, B, P, C, E, c, f, h, w, x, y, z = symbols("A B P C E c f h w x y z")
A1, A2, B1, B2 = symbols("A1 A2 B1 B2")
i, k, m, n, N, M, T = symbols("i k m n N M T")

reals = domain(real(x), real(y), real(z))
integers = domain(integer(n), integer(k))
naturals = domain(integer(n, at_least=1), integer(k, at_least=1))
block = domain(positive(A), real(B), real(P, at_least=0))
anchored = domain(positive(A), real(B), real(P, at_least=0), real(c))
two = domain(positive(A1), positive(A2), real(B1), real(B2))
gated = domain(
    positive(A),
    real(E, at_least=0),
    real(C, at_least=0),
    real(x, at_least=-C, at_most=C),
    real(f, at_least=-C, at_most=C),
)
Z = A + 1 + P
Z_c = A + exp(c) + P
average = (A1 * (B1 / A1) + A2 * (B2 / A2)) / (A1 + A2)
e1, e2 = exp(log(A1)), exp(log(A2))
mixed = domain(integer(n), real(x))

TRUE: dict[str, Formula] = {
    "dual readout of A": identity((A / Z) / (1 / Z), A, block),
    "dual readout of B": identity((B / Z) / (1 / Z), B, block),
    "anchored readout": identity(exp(c) * ((A / Z_c) / (exp(c) / Z_c)), A, anchored),
    "anchored logarithms": identity(c + log(A / Z_c) - log(exp(c) / Z_c), log(A), anchored),
    "merge of sums": identity(average, (B1 + B2) / (A1 + A2), two),
    "merge by a head": identity((e1 * (B1 / A1) + e2 * (B2 / A2)) / (e1 + e2), average, two),
    "merge with an anchor": identity(
        (A1 / exp(c) * (B1 / A1) + A2 / exp(c) * (B2 / A2)) / (A1 / exp(c) + A2 / exp(c)),
        average,
        domain(*two.variables, real(c)),
    ),
    "gated": inequality(at_most(A * x / (A + E) + E * f / (A + E) - x, 2 * C * E / (A + E)), gated),
    "a bound with a quotient": inequality(
        less(1 - A / (A + 1), h), domain(positive(h), real(A, at_least=1 / h))
    ),
    "n <= n^2, integers": inequality(at_most(n, n * n), integers),
    "x < x + 1": inequality(less(x, x + 1), reals),
    "squares": inequality(at_most(2 * x * y, x * x + y * y), reals),
    "Motzkin": inequality(at_most(3 * x**2 * y**2, x**4 * y**2 + x**2 * y**4 + 1), reals),
    "difference of squares": identity((x - y) * (x + y), x * x - y * y, reals),
    "2n is not odd": inequality(differs(2 * n, 2 * k + 1), integers),
    "2 is no square of an integer": inequality(differs(n * n, 2), integers),
    "n < k is n + 1 <= k": inequality(at_most(n + 1, k), domain(*integers.variables, less(n, k))),
    "closed corner": inequality(at_most(x, 1), domain(real(x, at_least=0, at_most=1))),
    "max is symmetric": identity(maximum(x, y), maximum(y, x), reals),
    "relu": identity(relu(x) - relu(-x), x, reals),
    "exponents add": identity(exp(x + y) * exp(-x), exp(y), reals),
    "roots": identity(exp(x / 2) * exp(x / 2), exp(x), reals),
    "third and half": identity(exp(x / 2) ** 2 * exp(x / 3) ** 3, exp(2 * x), reals),
    "exponent multiplied out": identity(
        exp((x + y) ** 2), exp(x * x) * exp(y * (2 * x + y)), reals
    ),
    "exponent with a quotient": identity(
        exp((x + 1) / A), exp(x / A) * exp(1 / A), domain(real(x), positive(A))
    ),
    "exponent of 0": identity(exp(x - x), 1, reals),
    "exp is positive": inequality(less(0, exp(x) + exp(y)), reals),
    "exp from 0 on": inequality(at_most(1, exp(x * y)), domain(real(x, at_least=0), positive(y))),
    "exp of a square": inequality(at_most(exp(-(x * x)), 1), reals),
    "exp(1) > 1": inequality(less(1, exp(1)), reals),
    "log of a power": identity(log(A * A * A), 3 * log(A), block),
    "half a logarithm": identity(exp(log(A) / 2) ** 2, A, block),
    "log increases": inequality(less(log(x), log(y)), domain(positive(x), positive(y), less(x, y))),
    "log-sum-exp shifts": identity(
        c + log(exp(x - c) + exp(y - c)), log(exp(x) + exp(y)), domain(real(x), real(y), real(c))
    ),
    "softmax shifts": identity(
        exp(x + c) / (exp(x + c) + exp(y + c)),
        exp(x) / (exp(x) + exp(y)),
        domain(real(x), real(y), real(c)),
    ),
    "hypothesis": identity(x, 1 - y, domain(real(x), real(y), equal(x + y, 1))),
    "integer between": identity(n, 0, domain(integer(n), less(-1, n), less(n, 1))),
    "integers as reals": inequality(at_most(n * x, n * n + x * x), mixed),
    "integer quotients are real": identity(n / 2 + n / 2, n, integers),
    "no symbols": identity(constant(1) / 3, constant(2) / 6, Domain()),
    "last block": inequality(
        at_most(N - (T - 1) * M, M),
        domain(integer(N, at_least=1), integer(M, at_least=1), integer(T), at_most(N, T * M)),
    ),
}
"""Formulas that hold, of inhabited domains, all of them defined everywhere."""

CVC5_GIVES_UP = {"anchored logarithms", "Motzkin", "squares"}
"""What cvc5 does not decide: its wheel has no cylindrical coverings."""


FALSE: dict[str, Formula] = {
    "padding not counted": identity((A / Z) / (1 - A / Z), A, block),
    "x <= x^2, reals": inequality(at_most(x, x * x), reals),
    "strict square": inequality(less(2 * x * y, x * x + y * y), reals),
    "n < n^2, integers": inequality(less(n, n * n), integers),
    "off by one": inequality(at_most(n + 2, k), domain(*integers.variables, less(n, k))),
    "n + 1 <= k for reals": inequality(at_most(x + 1, y), domain(real(x), real(y), less(x, y))),
    "open corner": inequality(less(x, 1), domain(real(x, at_least=0, at_most=1))),
    "positive is at least 1": inequality(at_most(1, A), domain(positive(A))),
    "integer is positive": inequality(less(0, n), domain(integer(n, at_least=0))),
    "max is the first": identity(maximum(x, y), x, reals),
    "relu is odd": identity(relu(-x), -relu(x), reals),
    "sign": identity((x - y) * (x + y), x * x + y * y, reals),
    "constant": identity((x + 1) ** 2, x * x + 2 * x + 2, reals),
    "dropped term": identity((x + y) ** 2, x * x + y * y, reals),
    "hypothesis dropped": identity(x, 1 - y, reals),
    "hypothesis weakened": inequality(at_most(x, y), domain(real(x), real(y), at_most(x, y + 1))),
    "integers: n/2 is never 1/2": inequality(differs(n / 2, Fraction(1, 2)), integers),
    "gated, tightened": inequality(
        at_most(A * x / (A + E) + E * f / (A + E) - x, C * E / (A + E)), gated
    ),
    "square root of 2": inequality(differs(x * x, 2), reals),
    "hidden division by zero": identity(x / x, 1, reals),
    "hidden division in the sum": identity(x * (1 / x), 1, reals),
    "a divisor in a bound": inequality(differs(h, 0), domain(real(h), real(x, at_least=1 / h))),
    "a divisor in a hypothesis": inequality(
        differs(x, 0), domain(real(x), real(y), equal(x * y, 1 / x))
    ),
    "division by 0": identity(x / 0, x / 0 + 1, reals),
    "exponents multiply": identity(exp(x) * exp(y), exp(x * y), reals),
    "exponent off by one": identity(exp(x) * exp(-x), exp(1), reals),
    "exp below 1": inequality(at_most(exp(x), 1), reals),
    "exp from 0 on, strict": inequality(less(1, exp(x)), domain(real(x, at_least=0))),
    "exp from -1 on": inequality(at_most(1, exp(x)), domain(real(x, at_least=-1))),
    "exp of a cube": inequality(at_most(1, exp(x**3)), reals),
    "exp of an inverse": inequality(at_most(1, exp(1 / x)), domain(real(x), differs(x, 0))),
    "exp increases, reversed": inequality(
        at_most(exp(y), exp(x)), domain(real(x), real(y), less(x, y))
    ),
    "log of a sum": identity(log(A + 1), log(A), block),
    "log of a square": identity(log(x * x), 2 * log(x), reals),
    "log of anything": identity(exp(log(x)), x, reals),
    "log is positive": inequality(less(0, log(A)), block),
    "log increases, reversed": inequality(
        less(log(y), log(x)), domain(positive(x), positive(y), less(x, y))
    ),
    "half a logarithm": identity(exp(log(A) / 2), A, block),
    "last block, off by one": inequality(
        less(N - (T - 1) * M, M),
        domain(integer(N, at_least=1), integer(M, at_least=1), integer(T), at_most(N, T * M)),
    ),
    "no symbols": identity(constant(1) / 3, constant(3) / 10, Domain()),
}
"""Formulas that fail somewhere, or are undefined somewhere."""

NO_WITNESS = {name for name in FALSE if any(word in name for word in ("exp", "log", "division"))}
NO_WITNESS |= {"square root of 2", "a divisor in a bound", "a divisor in a hypothesis"}
"""Where no rational point can be certified: exponentials, irrational or undefined points."""

CVC5_FINDS_NO_MODEL = {"padding not counted", "gated, tightened"}


@pytest.mark.parametrize("name", TRUE)
def test_true_formulas_are_proved(name: str) -> None:
    evidence = Z3.decide(TRUE[name])
    assert evidence is not None
    assert (evidence.kind, evidence.scope, evidence.engine) == (Kind.PROVED, "all sizes", "z3")


@pytest.mark.parametrize("name", TRUE)
def test_cvc5_proves_or_gives_up(name: str) -> None:
    evidence = _quick_cvc5(name)
    assert evidence.kind is (Kind.UNDECIDED if name in CVC5_GIVES_UP else Kind.PROVED)


def _quick_cvc5(name: str) -> Evidence:
    with pytest.MonkeyPatch.context() as patch:
        if name in CVC5_GIVES_UP:
            patch.setattr(smt_sessions, "CVC5_RESOURCES", 20_000)
            patch.setattr(smt_sessions, "TIME_LIMIT", 1.0)
        evidence = CVC5.decide(TRUE[name])
    assert evidence is not None
    return evidence


@pytest.mark.parametrize("name", FALSE)
@pytest.mark.parametrize("engine", ENGINES, ids=lambda engine: engine.name)
def test_false_formulas_are_refuted_with_a_witness_or_undecided(
    engine: Z3Engine | Cvc5Engine, name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(smt_sessions, "TIME_LIMIT", 2.0)
    monkeypatch.setattr(smt_sessions, "CVC5_RESOURCES", 50_000)
    claim = FALSE[name]
    evidence = engine.decide(claim)
    assert evidence is not None
    if name in NO_WITNESS or (engine is CVC5 and name in CVC5_FINDS_NO_MODEL):
        assert evidence.kind is Kind.UNDECIDED
        assert evidence.witness is None
        assert evidence.lines
    else:
        assert evidence.kind is Kind.REFUTED
        _certify(claim, evidence)


def _certify(claim: Formula, evidence: Evidence) -> None:
    """The witness, evaluated with the terms of the claim and nothing of the engines."""
    assert evidence.witness is not None
    point = dict(evidence.witness)
    assert all(isinstance(value, Fraction) for value in point.values())
    assert set(point) == set(claim.domain.names)
    for variable in claim.domain.variables:
        assert not variable.integer or point[variable.name].denominator == 1
    assert all(_holds(relation, point) for relation in claim.domain.relations)
    assert not _holds(claim.relation, point)


def _holds(relation: Relation, point: dict[str, Fraction]) -> bool:
    left, right = _value(relation.left, point), _value(relation.right, point)
    return {"=": left == right, "!=": left != right, "<=": left <= right, "<": left < right}[
        relation.comparison
    ]


def _value(term: Term, point: dict[str, Fraction]) -> Fraction:
    """A recursive evaluation, independent of `rational`; a zero divisor raises."""
    if term.kind is TermKind.COLUMN:
        return point[str(term.payload)]
    if term.kind is TermKind.CONSTANT:
        assert isinstance(term.payload, Fraction)
        return term.payload
    args = [_value(arg, point) for arg in term.args]
    match term.kind:
        case TermKind.ADD:
            return args[0] + args[1]
        case TermKind.SUB:
            return args[0] - args[1]
        case TermKind.MUL:
            return args[0] * args[1]
        case TermKind.DIV:
            return args[0] / args[1]
        case TermKind.NEG:
            return -args[0]
        case TermKind.MAX:
            return max(args)
    raise AssertionError(term)


@pytest.mark.parametrize("engine", ENGINES, ids=lambda engine: engine.name)
def test_two_runs_are_the_same(engine: Z3Engine | Cvc5Engine) -> None:
    names = ["x <= x^2, reals", "off by one", "sign", "last block, off by one"]
    first = [engine.decide(FALSE[name]) for name in names]
    second = [engine.decide(FALSE[name]) for name in reversed(names)]
    assert first == second[::-1]


FERMAT = inequality(
    differs(x**3 + y**3, z**3), domain(*(integer(symbol, at_least=1) for symbol in (x, y, z)))
)


@pytest.mark.parametrize("engine", ENGINES, ids=lambda engine: engine.name)
def test_a_limit_leaves_a_formula_undecided(
    engine: Z3Engine | Cvc5Engine, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(smt_sessions, "Z3_RESOURCES", 100_000)
    monkeypatch.setattr(smt_sessions, "CVC5_RESOURCES", 5_000)
    evidence = engine.decide(FERMAT)
    assert evidence is not None
    assert (evidence.kind, evidence.witness) == (Kind.UNDECIDED, None)
    assert evidence.lines[0].startswith(f"{engine.name} gave up: ")
    assert engine.decide(FERMAT) == evidence


@pytest.mark.parametrize("engine", ENGINES, ids=lambda engine: engine.name)
def test_no_time_leaves_a_formula_undecided(
    engine: Z3Engine | Cvc5Engine, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(smt_sessions, "TIME_LIMIT", 0.1)
    evidence = engine.decide(FERMAT)
    assert evidence is not None
    assert evidence.kind is Kind.UNDECIDED


@pytest.mark.parametrize("engine", ENGINES, ids=lambda engine: engine.name)
def test_not_applicable(engine: Z3Engine | Cvc5Engine) -> None:
    wide = column("q", 2)
    wide_domain = domain(real(wide))
    assert engine.decide(Formula(equal(dot(wide, wide), 0), wide_domain)) is None
    assert engine.decide(Formula(equal(wide, wide), wide_domain)) is None
    assert engine.decide(Formula(equal(x, x), domain(real(x), real(wide)))) is None
    assert engine.decide(Formula(equal(exp(column("x", 2)), exp(column("x", 2))), reals)) is None
    position = Term(TermKind.POSITION)
    assert engine.decide(Formula(equal(position, position), Domain())) is None
    power = exp(x)
    assert engine.decide(identity(exp(1000 * x) * power, exp(1001 * x), reals)) is None
    long = exp((x + y + z + x * y + y * z + 1) ** 6)
    assert engine.decide(identity(long, long, reals)) is None


@pytest.mark.parametrize("engine", ENGINES, ids=lambda engine: engine.name)
def test_large_multiples_of_one_exponent_are_no_large_powers(
    engine: Z3Engine | Cvc5Engine,
) -> None:
    evidence = engine.decide(identity(exp(1000 * x) * exp(1000 * x), exp(2000 * x), reals))
    assert evidence is not None
    assert evidence.kind is Kind.PROVED


@pytest.mark.parametrize("engine", ENGINES, ids=lambda engine: engine.name)
def test_an_empty_domain_proves_anything(engine: Z3Engine | Cvc5Engine) -> None:
    """Whether the domain is inhabited is decided before the engines are asked."""
    evidence = engine.decide(identity(x, x + 1, domain(real(x), less(x, 0), less(0, x))))
    assert evidence is not None
    assert evidence.kind is Kind.PROVED


# -- the translation against exact evaluation -------------------------------------------------

constants = st.fractions(min_value=-3, max_value=3, max_denominator=3)
leaves = st.one_of(st.sampled_from([n, k, x, y]), constants.map(constant))
terms = st.recursive(
    leaves,
    lambda inner: st.one_of(
        st.tuples(inner, inner).map(lambda pair: pair[0] + pair[1]),
        st.tuples(inner, inner).map(lambda pair: pair[0] - pair[1]),
        st.tuples(inner, inner).map(lambda pair: pair[0] * pair[1]),
        st.tuples(inner, inner).map(lambda pair: pair[0] / pair[1]),
        st.tuples(inner, inner).map(lambda pair: maximum(pair[0], pair[1])),
        inner.map(lambda term: -term),
    ),
    max_leaves=8,
)
comparisons = st.sampled_from([equal, differs, at_most, less])
relations = st.builds(lambda make, left, right: make(left, right), comparisons, terms, terms)


@settings(max_examples=60)
@given(relations, *[st.integers(-3, 3)] * 2, *[constants] * 2)
def test_at_one_point_solvers_agree_with_exact_evaluation(
    relation: Relation, at_n: int, at_k: int, at_x: Fraction, at_y: Fraction
) -> None:
    point = {"n": at_n, "k": at_k, "x": at_x, "y": at_y}
    pinned = [equal(column(name), value) for name, value in point.items()]
    claim = Formula(relation, domain(integer(n), integer(k), real(x), real(y), *pinned))
    truth = ExactRelation(relation)(point)
    for engine in ENGINES:
        evidence = engine.decide(claim)
        assert evidence is not None
        if truth is not None:
            assert evidence.kind is (Kind.PROVED if truth else Kind.REFUTED)
        else:
            assert evidence.kind is not Kind.REFUTED


@settings(max_examples=60)
@given(relations, st.lists(st.tuples(*[st.integers(-3, 3)] * 2, *[constants] * 2), min_size=20))
def test_proofs_and_witnesses_of_random_formulas(
    relation: Relation, points: list[tuple[int, int, Fraction, Fraction]]
) -> None:
    claim = Formula(relation, domain(integer(n), integer(k), real(x), positive(y)))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(smt_sessions, "Z3_RESOURCES", 200_000)
        patch.setattr(smt_sessions, "CVC5_RESOURCES", 10_000)
        patch.setattr(smt_sessions, "TIME_LIMIT", 1.0)
        found = [engine.decide(claim) for engine in ENGINES]
    kinds = {evidence.kind for evidence in found if evidence is not None}
    assert not {Kind.PROVED, Kind.REFUTED} <= kinds
    for evidence in found:
        assert evidence is not None
        if evidence.kind is Kind.REFUTED:
            _certify(claim, evidence)
    if Kind.PROVED in kinds:
        for values in points:
            point = dict(zip("nkxy", map(Fraction, values), strict=True))
            assert not refutes(point, claim)


exponentials = st.recursive(
    st.one_of(st.sampled_from([x, y, n]), constants.map(constant)),
    lambda inner: st.one_of(
        st.tuples(inner, inner).map(lambda pair: pair[0] + pair[1]),
        st.tuples(inner, inner).map(lambda pair: pair[0] * pair[1]),
        inner.map(lambda term: -term),
        inner.map(exp),
        inner.map(lambda term: exp(term / 2)),
        inner.map(lambda term: log(exp(term))),
        inner.map(lambda term: log(relu(term) + 1)),
        inner.map(lambda term: 1 / (exp(term) + 1)),
    ),
    max_leaves=5,
)
_MARGIN = mpmath.mpf(10) ** -30


@settings(max_examples=50)
@given(comparisons, exponentials, exponentials, st.lists(st.tuples(*[constants] * 3), min_size=10))
def test_proofs_with_exponentials_hold_numerically(
    make: type[Relation],
    left: Term,
    right: Term,
    points: list[tuple[Fraction, Fraction, Fraction]],
) -> None:
    claim = Formula(make(left, right), domain(real(x), positive(y), integer(n, at_least=0)))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(smt_sessions, "Z3_RESOURCES", 200_000)
        patch.setattr(smt_sessions, "CVC5_RESOURCES", 10_000)
        patch.setattr(smt_sessions, "TIME_LIMIT", 1.0)
        found = [engine.decide(claim) for engine in ENGINES]
    for evidence in found:
        if evidence is not None and evidence.kind is Kind.PROVED:
            for at_x, at_y, at_n in points:
                point = {"x": at_x, "y": abs(at_y) + 1, "n": Fraction(abs(int(at_n)))}
                assert not _violates(claim.relation, point), (claim, point)


def _violates(relation: Relation, point: dict[str, Fraction]) -> bool:
    with mpmath.workdps(60):
        try:
            difference = _number(relation.left, point) - _number(relation.right, point)
        except OverflowError:
            return False
        if not mpmath.isfinite(difference):
            return False
        match relation.comparison:
            case "=":
                return bool(abs(difference) > _MARGIN * (1 + abs(_number(relation.left, point))))
            case "<=" | "<":
                return bool(difference > _MARGIN * (1 + abs(_number(relation.left, point))))
            case _:
                return False


def _number(term: Term, point: dict[str, Fraction]) -> mpmath.mpf:
    values: dict[Term, mpmath.mpf] = {}
    for node in postorder((term,)):
        args = [values[arg] for arg in node.args]
        match node.kind:
            case TermKind.COLUMN:
                rational = point[str(node.payload)]
                values[node] = mpmath.mpf(rational.numerator) / rational.denominator
            case TermKind.CONSTANT:
                assert isinstance(node.payload, Fraction)
                values[node] = mpmath.mpf(node.payload.numerator) / node.payload.denominator
            case TermKind.ADD:
                values[node] = args[0] + args[1]
            case TermKind.SUB:
                values[node] = args[0] - args[1]
            case TermKind.MUL:
                values[node] = args[0] * args[1]
            case TermKind.DIV:
                values[node] = args[0] / args[1]
            case TermKind.NEG:
                values[node] = -args[0]
            case TermKind.MAX:
                values[node] = max(args)
            case TermKind.EXP:
                if abs(args[0]) > 10**6:
                    raise OverflowError
                values[node] = mpmath.exp(args[0])
            case _:
                values[node] = mpmath.log(args[0])
    return values[term]


def test_a_point_outside_the_domain_refutes_nothing() -> None:
    claim = inequality(at_most(x, x * x), domain(real(x, at_least=1)))
    half = {"x": Fraction(1, 2)}
    assert not belongs(half, claim.domain)
    assert not refutes(half, claim)
    whole = domain(integer(n))
    assert not belongs({"n": Fraction(1, 2)}, whole)
    assert not belongs({}, whole)
