"""Partition claims: blocks of keys, causal rows, windows; overlaps, gaps and strays refuted."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from fractions import Fraction

import pytest

from symsim.claims.claim import Partition
from symsim.claims.domain import (
    Domain,
    DomainError,
    Relation,
    at_most,
    domain,
    integer,
    less,
    real,
    symbols,
)
from symsim.claims.engines import partition, smt_sessions
from symsim.claims.engines.partition import decide_partition
from symsim.claims.verdict import Evidence, Kind, combine
from symsim.terms import Term, exp, maximum

N, M, T, m, t, x, q, i, r, s = symbols("N M T m t x q i r s")

# T = ⌈N/m⌉ blocks of at most m keys.
blocks_of_keys = domain(
    integer(N, at_least=1),
    integer(m, at_least=1),
    integer(T),
    less((T - 1) * m, N),
    at_most(N, T * m),
)


def blocks(
    *member: Relation,
    parameters: Domain = blocks_of_keys,
    last: Term = N,
    choice: Term = q + 1,
) -> Partition:
    """Cells t in 1..T of {1..last}; key x is thought to lie in ⌊(x − 1)/m⌋ + 1."""
    return Partition(
        parameters=parameters,
        element=integer(x),
        whole=(at_most(1, x), at_most(x, last)),
        index=integer(t, at_least=1, at_most=T),
        member=member,
        choice=choice,
        quotients=((q, x - 1, m),),
    )


after, up_to = less((t - 1) * m, x), at_most(x, t * m)
BLOCKS = blocks(after, up_to, at_most(x, N))

# The keys j <= i of row i: whole blocks strictly before its own, and its own up to i.
rows = domain(
    integer(m, at_least=1),
    integer(i, at_least=1),
    integer(T),
    less((T - 1) * m, i),
    at_most(i, T * m),
)
CAUSAL = blocks(after, up_to, at_most(x, i), parameters=rows, last=i)

# The keys i − r < j <= i of a window.
windows = Domain((*rows.variables, integer(r, at_least=1)), rows.hypotheses)
in_window = less(i - r, x)
WINDOW = replace(
    blocks(after, up_to, at_most(x, i), in_window, parameters=windows, last=i),
    whole=(at_most(1, x), at_most(x, i), in_window),
)

# The keys j <= s (sinks, t = 1) and those of the window that are no sinks (t = 2).
no_sink_again = at_most((t - 1) * (s + 1), x)
SINKS = Partition(
    domain(integer(i, at_least=1), integer(r, at_least=1), integer(s, at_least=0)),
    integer(x),
    (at_most(1, x), at_most(x, i), less(0, maximum(s + 1 - x, x - i + r))),
    integer(t, at_least=1, at_most=2),
    (
        at_most(1, x),
        at_most(x, i),
        at_most(x, s + (t - 1) * i),
        less((t - 1) * (i - r), x),
        no_sink_again,
    ),
    -maximum(-2, -maximum(1, x - s + 1)),
)

TRUE: dict[str, Partition] = {
    "blocks": BLOCKS,
    "blocks, min written as max": blocks(after, at_most(x, -maximum(-t * m, -N))),
    "blocks from 0": Partition(
        blocks_of_keys,
        integer(x),
        (at_most(0, x), less(x, N)),
        integer(t, at_least=0, at_most=T - 1),
        (at_most(t * m, x), less(x, (t + 1) * m), less(x, N)),
        q,
        ((q, x, m),),
    ),
    "bounds as the element's": Partition(
        blocks_of_keys,
        integer(x, at_least=1, at_most=N),
        (),
        integer(t, at_least=1, at_most=T),
        (after, up_to, at_most(x, N)),
        q + 1,
        ((q, x - 1, m),),
    ),
    "causal rows": CAUSAL,
    "windows": WINDOW,
    "single keys": Partition(
        domain(integer(N, at_least=1)),
        integer(x, at_least=1, at_most=N),
        (),
        integer(t, at_least=1, at_most=N),
        (at_most(t, x), at_most(x, t)),
        x,
    ),
    "blocks of 2 keys": Partition(
        domain(integer(N, at_least=1)),
        integer(x, at_least=1, at_most=2 * N),
        (),
        integer(t, at_least=1, at_most=N),
        (less(2 * (t - 1), x), at_most(x, 2 * t)),
        q + 1,
        ((q, x - 1, 2 + 0 * x),),
    ),
    "sinks and window": SINKS,
}
"""Cells that are partitions."""

FALSE: dict[str, tuple[Partition, Mapping[str, int]]] = {
    "as printed: (t − 1)m to tm": (
        blocks(at_most((t - 1) * m, x), up_to),
        {"N": 1, "m": 1, "T": 1, "x": 0},
    ),
    "as printed, cut to the set": (
        blocks(at_most((t - 1) * m, x), up_to, at_most(x, N), at_most(1, x)),
        {"N": 2, "m": 1, "T": 2, "x": 1},
    ),
    "upper end one too large": (
        blocks(after, at_most(x, t * m + 1), at_most(x, N)),
        {"N": 2, "m": 1, "T": 2, "x": 2},
    ),
    "upper end one too small": (
        blocks(after, less(x, t * m), at_most(x, N)),
        {"N": 1, "m": 1, "T": 1, "x": 1},
    ),
    "lower end one too large": (
        blocks(less((t - 1) * m + 1, x), up_to, at_most(x, N)),
        {"N": 1, "m": 1, "T": 1, "x": 1},
    ),
    "last block not cut": (blocks(after, up_to), {"N": 1, "m": 2, "T": 1, "x": 2}),
    "last block dropped": (
        replace(BLOCKS, index=integer(t, at_least=1, at_most=T - 1)),
        {"N": 1, "m": 1, "T": 1, "x": 1},
    ),
    "first block dropped": (
        replace(BLOCKS, index=integer(t, at_least=2, at_most=T)),
        {"N": 1, "m": 1, "T": 1, "x": 1},
    ),
    "one block too few, rounded down": (
        blocks(
            after,
            up_to,
            at_most(x, N),
            parameters=domain(
                integer(N, at_least=1),
                integer(m, at_least=1),
                integer(T),
                at_most(T * m, N),
                less(N, (T + 1) * m),
            ),
        ),
        {"N": 1, "m": 2, "T": 0, "x": 1},
    ),
    "causal, own key missed": (
        blocks(after, up_to, less(x, i), parameters=rows, last=i),
        {"m": 1, "i": 1, "T": 1, "x": 1},
    ),
    "causal, own block whole": (
        blocks(after, up_to, parameters=rows, last=i),
        {"m": 2, "i": 1, "T": 1, "x": 2},
    ),
    "window of r + 1 keys": (
        replace(WINDOW, member=(after, up_to, at_most(x, i), at_most(i - r, x))),
        {"m": 1, "i": 2, "T": 2, "r": 1, "x": 1},
    ),
    "window of r − 1 keys": (
        replace(WINDOW, member=(after, up_to, at_most(x, i), less(i - r + 1, x))),
        {"m": 1, "i": 1, "T": 1, "r": 1, "x": 1},
    ),
    "sinks met again in the window": (
        replace(SINKS, member=tuple(part for part in SINKS.member if part is not no_sink_again)),
        {"i": 1, "r": 1, "s": 1, "x": 1},
    ),
}
"""Cells that are none, and the smallest witness of it."""


@pytest.mark.parametrize("name", TRUE)
def test_partitions_are_proved_by_both_solvers(name: str) -> None:
    evidence = decide_partition(TRUE[name])
    assert [e.engine for e in evidence] == ["enumeration", "z3", "cvc5"]
    assert [e.kind for e in evidence] == [Kind.SAMPLED, Kind.PROVED, Kind.PROVED]
    assert [e.scope for e in evidence[1:]] == ["all sizes", "all sizes"]
    verdict = combine(evidence)
    assert (verdict.kind, verdict.scope) == (Kind.PROVED, "all sizes")
    for solved in evidence[1:]:
        names = [line.split(":")[0].split()[0] for line in solved.lines]
        assert [part for part in names if part != "quotient"] == ["covering", "disjoint", "inside"]


@pytest.mark.parametrize("name", FALSE)
def test_false_partitions_are_refuted_with_the_smallest_witness(name: str) -> None:
    claim, smallest = FALSE[name]
    evidence = decide_partition(claim)
    enumerated = evidence[0]
    assert enumerated.kind is Kind.REFUTED
    assert enumerated.witness == smallest
    assert combine(evidence).kind is Kind.REFUTED
    assert combine(evidence).witness == smallest
    for e in evidence:
        assert e.kind in (Kind.REFUTED, Kind.UNDECIDED)
        if e.kind is Kind.REFUTED:
            _certify(claim, e)


def _certify(claim: Partition, evidence: Evidence) -> None:
    """The cells that hold x, counted from the definition alone."""
    assert evidence.witness is not None
    point = dict(evidence.witness)
    assert all(_value(r.left, point) <= _value(r.right, point) for r in claim.parameters.relations)
    assert all(_holds(relation, point) for relation in claim.parameters.relations)
    in_set = all(_holds(relation, point) for relation in (*claim.element.bounds, *claim.whole))
    assert claim.index.lower is not None
    assert claim.index.upper is not None
    lower, upper = _value(claim.index.lower, point), _value(claim.index.upper, point)
    cells = sum(
        all(_holds(relation, {**point, claim.index.name: Fraction(k)}) for relation in claim.member)
        for k in range(int(lower), int(upper) + 1)
    )
    assert cells != int(in_set)


def _holds(relation: Relation, point: Mapping[str, Fraction]) -> bool:
    left, right = _value(relation.left, point), _value(relation.right, point)
    return left <= right if relation.comparison == "<=" else left < right


def _value(term: Term, point: Mapping[str, Fraction]) -> Fraction:
    args = [_value(arg, point) for arg in term.args]
    match term.kind.value:
        case "column":
            return point[str(term.payload)]
        case "constant":
            assert isinstance(term.payload, Fraction)
            return term.payload
        case "add":
            return args[0] + args[1]
        case "sub":
            return args[0] - args[1]
        case "mul":
            return args[0] * args[1]
        case "neg":
            return -args[0]
        case "max":
            return max(args)
    raise AssertionError(term)


def test_two_runs_are_the_same() -> None:
    claim, _ = FALSE["upper end one too large"]
    assert decide_partition(claim) == decide_partition(claim)
    assert decide_partition(CAUSAL) == decide_partition(CAUSAL)


def test_a_wrong_choice_proves_nothing_and_refutes_nothing() -> None:
    evidence = decide_partition(replace(BLOCKS, choice=q))
    assert [e.kind for e in evidence] == [Kind.SAMPLED, Kind.UNDECIDED, Kind.UNDECIDED]
    assert all(e.lines[0].startswith("covering: ") for e in evidence[1:])


def test_a_choice_between_integers_is_no_choice() -> None:
    halves = Partition(
        domain(integer(N, at_least=1)),
        integer(x, at_least=1, at_most=N),
        (),
        integer(t, at_least=0, at_most=N),
        (at_most(2 * t, x), at_most(x, 2 * t)),  # odd x lie in no cell
        x / 2,
    )
    (evidence,) = decide_partition(halves)
    assert evidence.kind is Kind.UNDECIDED
    assert "the choice is not made of integers" in evidence.lines[0]


def test_a_quotient_by_0_proves_nothing() -> None:
    """Where m may be 0 no integer q has q·m ≤ x − 1 < (q + 1)·m: anything would follow."""
    may_vanish = domain(
        integer(N, at_least=1), integer(m, at_least=0), integer(T), at_most(N, T), at_most(T, N)
    )
    claim = blocks(after, up_to, at_most(x, N), parameters=may_vanish)
    evidence = decide_partition(claim)
    assert Kind.PROVED not in {e.kind for e in evidence}
    only_zero = domain(integer(N, at_least=1), integer(m, at_least=0, at_most=0), integer(T))
    claim = blocks(after, up_to, parameters=only_zero)
    assert Kind.PROVED not in {e.kind for e in decide_partition(claim)}


def test_an_empty_domain_is_undecided() -> None:
    nowhere = Domain(blocks_of_keys.variables, (*blocks_of_keys.hypotheses, less(N, 1)))
    (evidence,) = decide_partition(replace(BLOCKS, parameters=nowhere))
    assert evidence.kind is Kind.UNDECIDED
    assert evidence.lines[0].startswith("empty domain")
    never = (less(x, 1), less(1, x))
    (evidence,) = decide_partition(replace(BLOCKS, whole=never, member=never))
    assert evidence.lines[0].startswith("empty domain")
    strays, *_ = decide_partition(replace(BLOCKS, whole=never))
    assert strays.kind is Kind.REFUTED


def test_only_integers_and_their_arithmetic() -> None:
    (evidence,) = decide_partition(replace(BLOCKS, element=real(x)))
    assert (evidence.kind, evidence.lines) == (Kind.UNDECIDED, ("x is no integer",))
    (evidence,) = decide_partition(replace(BLOCKS, member=(at_most(exp(t), x),)))
    assert evidence.kind is Kind.UNDECIDED
    (evidence,) = decide_partition(replace(BLOCKS, member=(at_most(t / m, x),)))
    assert evidence.kind is Kind.UNDECIDED


def test_undeclared_symbols_are_an_error() -> None:
    with pytest.raises(DomainError, match="M"):
        decide_partition(replace(BLOCKS, member=(at_most(M, x),)))
    with pytest.raises(DomainError, match="declared twice"):
        decide_partition(replace(BLOCKS, quotients=((N, x - 1, m),)))


def test_without_bounds_on_the_index_cells_are_not_listed() -> None:
    evidence = decide_partition(replace(BLOCKS, index=integer(t)))
    assert Kind.REFUTED not in {e.kind for e in evidence}


def test_limits_leave_a_partition_undecided(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(smt_sessions, "Z3_RESOURCES", 100)
    monkeypatch.setattr(smt_sessions, "CVC5_RESOURCES", 10)
    evidence = decide_partition(BLOCKS)
    assert [e.kind for e in evidence] == [Kind.SAMPLED, Kind.UNDECIDED, Kind.UNDECIDED]
    monkeypatch.setattr(partition, "EVALUATIONS", 10)
    assert {e.kind for e in decide_partition(BLOCKS)} == {Kind.UNDECIDED}


def test_the_second_index_has_a_name_of_its_own() -> None:
    (t_2,) = symbols("t_2")
    more = Domain((*blocks_of_keys.variables, integer(t_2)), blocks_of_keys.hypotheses)
    evidence = decide_partition(replace(BLOCKS, parameters=more))
    assert combine(evidence).kind is Kind.PROVED
