"""How much faster the flint and modular engines are than `sympy.simplify(left - right) == 0`."""

from __future__ import annotations

import operator
import statistics
import time
from functools import reduce

import pytest
import sympy

from symsim.claims.claim import Formula, identity
from symsim.claims.domain import domain, free_symbols, real
from symsim.claims.engines.flint import FlintEngine
from symsim.claims.engines.modular import ModularEngine
from symsim.claims.verdict import Kind
from symsim.terms import Kind as TermKind
from symsim.terms import column, exp, postorder

RUNS = 5
LEAST_RATIO = {"flint": 100, "modular": 100}


def claim(left, right) -> Formula:
    """left = right for all real values of the symbols."""
    names = free_symbols(left, right)
    return identity(left, right, domain(*(real(column(name)) for name in names)))


def total(terms):
    return reduce(operator.add, terms)


def states(count, width):
    """Softmax states: a positive mass exp(l) and a mean vector."""
    return [
        (exp(column(f"l{k}")), [column(f"m{k}_{c}") for c in range(width)]) for k in range(count)
    ]


def merged(left, right):
    """The mean moves towards the new one by the share of its mass, as online softmax has it."""
    (v, m), (w, n) = left, right
    share = w / (v + w)
    return v + w, [a + share * (b - a) for a, b in zip(m, n, strict=True)]


def merge_associates(count, width):
    """Merging from the left and from the right gives the same mean vector."""
    parts = states(count, width)
    left = reduce(merged, parts)[1]
    right = reduce(lambda later, earlier: merged(earlier, later), reversed(parts))[1]
    return [claim(a, b) for a, b in zip(left, right, strict=True)]


def readouts(keys):
    """B.1: block sums A and B from calls with a padding token of mass P, by the ratio readout."""
    q, padding = column("q"), exp(column("p"))
    weights = [exp(q * column(f"k{j}")) for j in range(keys)]
    values = [column(f"v{j}") for j in range(keys)]
    mass = total(weights)
    weighted = total(w * v for w, v in zip(weights, values, strict=True))
    r, y = mass / (mass + padding), weighted / (mass + padding)
    return [
        claim(padding * r / (1 - r), mass),
        claim(padding * y / (1 - r), weighted),
    ]


def shifted_softmax(keys):
    """A softmax does not change when all logits are shifted."""
    logits = [column(f"x{j}") for j in range(keys)]
    shift = column("c")
    shifted = [exp(x - shift) for x in logits]
    plain = [exp(x) for x in logits]
    return [claim(shifted[0] / total(shifted), plain[0] / total(plain))]


IDENTITIES = [*merge_associates(4, 2), *readouts(4), *shifted_softmax(6)]


def in_sympy(term):
    """The term as SymPy makes it when it is typed."""
    values = {}
    for node in postorder((term,)):
        args = [values[arg] for arg in node.args]
        match node.kind:
            case TermKind.COLUMN:
                values[node] = sympy.Symbol(node.payload, real=True)
            case TermKind.CONSTANT:
                values[node] = sympy.Rational(node.payload.numerator, node.payload.denominator)
            case TermKind.EXP:
                values[node] = sympy.exp(*args)
            case kind:
                values[node] = getattr(operator, OPERATORS[kind])(*args)
    return values[term]


OPERATORS = {
    TermKind.ADD: "add",
    TermKind.SUB: "sub",
    TermKind.MUL: "mul",
    TermKind.DIV: "truediv",
    TermKind.NEG: "neg",
}


def by_simplify(formula) -> bool:
    sides = formula.relation
    return sympy.simplify(in_sympy(sides.left) - in_sympy(sides.right)) == 0


def by_engine(engine):
    kinds = (Kind.PROVED, Kind.PROBABLE)
    return lambda formula: engine.decide(formula).kind in kinds


def seconds(decide) -> float:
    """Time in which all identities are decided, each one found true."""
    sympy.core.cache.clear_cache()
    start = time.perf_counter()
    found = [decide(formula) for formula in IDENTITIES]
    elapsed = time.perf_counter() - start
    assert all(found)
    return elapsed


@pytest.mark.benchmark
def test_engines_are_many_times_faster_than_simplify(capsys):
    engines = {"flint": by_engine(FlintEngine()), "modular": by_engine(ModularEngine())}
    slow = statistics.median(seconds(by_simplify) for _ in range(2))
    ratios = {
        name: slow / statistics.median(seconds(decide) for _ in range(RUNS))
        for name, decide in engines.items()
    }
    with capsys.disabled():
        print(
            f"\nsympy.simplify takes {slow:.1f} s for {len(IDENTITIES)} identities: "
            + ", ".join(f"{ratio:.0f} times {name}" for name, ratio in ratios.items())
        )
    assert {name for name, ratio in ratios.items() if ratio < LEAST_RATIO[name]} == set()
