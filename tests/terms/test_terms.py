"""Terms: one object an expression, nothing simplified, no branch and no float gets through."""

from __future__ import annotations

import copy
import gc
import math
import pickle
import sys
import threading
import weakref
from decimal import Decimal
from fractions import Fraction
from itertools import pairwise
from operator import neg

import gmpy2
import mpmath
import numpy as np
import pytest

from symsim.terms import (
    BranchingError,
    FloatConstantError,
    Kind,
    Term,
    TermError,
    WidthError,
    column,
    constant,
    dot,
    exp,
    formula,
    log,
    maximum,
    postorder,
    relu,
)

A, B, Z = column("A"), column("B"), column("Z")
WIDE = column("wide", 3)
DEEP = 10_000


def nested(depth: int) -> Term:
    term = A
    for _ in range(depth):
        term = (term + B) / Z
    return term


# -- one object an expression ------------------------------------------------------------------

DISTINCT = {
    "A": lambda: column("A"),
    "A wide": lambda: column("A", 2),
    "1": lambda: constant(1),
    "1/2": lambda: constant(Fraction(1, 2)),
    "A + B": lambda: column("A") + column("B"),
    "B + A": lambda: column("B") + column("A"),
    "A - B": lambda: column("A") - column("B"),
    "A·B": lambda: column("A") * column("B"),
    "A/B": lambda: column("A") / column("B"),
    "-A": lambda: -column("A"),
    "exp": lambda: exp(column("A")),
    "log": lambda: log(column("A")),
    "max": lambda: maximum(column("A"), column("B")),
    "relu": lambda: relu(column("A")),
    "dot": lambda: dot(column("A", 2), column("B", 2)),
    "power": lambda: column("A") ** 3,
}


@pytest.mark.parametrize("build", DISTINCT.values(), ids=DISTINCT)
def test_the_same_expression_is_the_same_object(build):
    assert build() is build()


def test_different_expressions_are_different_objects():
    terms = [build() for build in DISTINCT.values()]
    assert len({id(term) for term in terms}) == len(DISTINCT)


def test_one_and_its_equals_are_one_constant():
    for one in (Fraction(1), Fraction(2, 2), np.int64(1), gmpy2.mpz(1), gmpy2.mpq(3, 3)):
        assert constant(one) is constant(1)
        assert type(constant(one).payload) is Fraction


def test_terms_nobody_holds_are_forgotten():
    term = column("forgotten") + 1
    reference = weakref.ref(term)
    del term
    gc.collect()
    assert reference() is None


def test_reused_addresses_never_bring_back_another_term():
    for i in range(2000):
        left, right = column(f"l{i}"), column(f"r{i}")
        difference = left - right
        assert difference.args[0] is left
        assert difference.args[1] is right


def test_threads_get_the_same_objects():
    start, results = threading.Barrier(8), []

    def build():
        start.wait()
        results.append([exp(column(f"t{i}") * i) / (i + 1) for i in range(300)])

    threads = [threading.Thread(target=build) for _ in range(8)]
    interval = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    try:
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    finally:
        sys.setswitchinterval(interval)
    assert len(results) == 8
    for ours, theirs in pairwise(results):
        assert all(one is other for one, other in zip(ours, theirs, strict=True))


class Finalized:
    """A cycle whose finalizer builds a term."""

    def __init__(self):
        self.itself = self

    def __del__(self):
        column("finalized")


def test_a_finalizer_may_build_a_term_while_one_is_built():
    def build():
        # Collections at every distance from the finalizable object, inside the lock too.
        for threshold in range(1, 60):
            gc.set_threshold(threshold)
            for i in range(20):
                Finalized()
                column(f"f{i}")

    thresholds = gc.get_threshold()
    try:
        thread = threading.Thread(target=build, daemon=True)
        thread.start()
        thread.join(timeout=30)
    finally:
        gc.set_threshold(*thresholds)
    assert not thread.is_alive()


@pytest.mark.parametrize("protocol", range(pickle.HIGHEST_PROTOCOL + 1))
def test_pickling_gives_back_the_object(protocol):
    term = exp(WIDE * Fraction(1, 2)) + dot(WIDE, WIDE) - maximum(A, -3)
    assert pickle.loads(pickle.dumps(term, protocol)) is term


def test_pickles_outlive_their_term():
    stored = pickle.dumps(column("brief") / (column("brief") + 1))
    gc.collect()
    assert formula(pickle.loads(stored)) == "brief/(brief + 1)"


def test_copies_are_the_object():
    term = A / (B + 1)
    assert copy.copy(term) is term
    assert copy.deepcopy([term])[0] is term


def test_depth_is_no_limit():
    term = nested(DEEP)
    assert len(postorder((term,))) == 2 * DEEP + 3
    assert pickle.loads(pickle.dumps(term)) is term
    assert copy.deepcopy(term) is term


# -- nothing is simplified ---------------------------------------------------------------------


def test_a_quotient_of_quotients_stays_one():
    term = (A / Z) / (1 / Z)
    assert term is not A
    assert term.kind is Kind.DIV
    numerator, denominator = term.args
    assert (numerator.kind, denominator.kind) == (Kind.DIV, Kind.DIV)
    assert numerator.args[0] is A
    assert numerator.args[1] is Z
    assert denominator.args[0] is constant(1)
    assert denominator.args[1] is Z


@pytest.mark.parametrize(
    ("term", "kind"),
    [
        (A + 0, Kind.ADD),
        (A - A, Kind.SUB),
        (A * 1, Kind.MUL),
        (A / A, Kind.DIV),
        (neg(-A), Kind.NEG),
        (log(exp(A)), Kind.LOG),
        (constant(1) + 1, Kind.ADD),
        (0 * A, Kind.MUL),
        (maximum(A, A), Kind.MAX),
    ],
    ids=lambda value: value.name if isinstance(value, Kind) else "",
)
def test_trivial_operations_stay(term, kind):
    assert term.kind is kind


@pytest.mark.parametrize(
    ("term", "left", "right"),
    [(2 + A, 2, A), (A + 2, A, 2), (2 - A, 2, A), (2 * A, 2, A), (2 / A, 2, A), (A / 2, A, 2)],
)
def test_operands_keep_their_sides(term, left, right):
    expected = [value if isinstance(value, Term) else constant(value) for value in (left, right)]
    assert term.args[0] is expected[0]
    assert term.args[1] is expected[1]


def test_numpy_integers_are_constants_on_both_sides():
    assert np.int64(2) * A is 2 * A
    assert A - np.int8(2) is A - 2


def test_powers_are_products_from_left_to_right():
    assert A**1 is A
    assert A**3 is (A * A) * A
    assert A ** np.int64(2) is A * A


@pytest.mark.parametrize("exponent", [0, -1, True, 0.5, 2.0, Fraction(2), A])
def test_other_powers_are_refused(exponent):
    with pytest.raises(TermError, match=r"power .*: expected a whole number of at least 1"):
        A**exponent


# -- widths ------------------------------------------------------------------------------------


def test_width_one_broadcasts():
    for term in (WIDE + A, A - WIDE, WIDE * 2, 1 / WIDE, maximum(WIDE, A), -WIDE, exp(WIDE)):
        assert term.width == 3
    assert dot(WIDE, WIDE).width == 1
    assert dot(2, A).width == 1


def test_unequal_widths_are_refused():
    pair = column("pair", 2)
    with pytest.raises(WidthError, match=r"add: Term\(wide\) has 3 columns, Term\(pair\) has 2"):
        WIDE + pair
    with pytest.raises(WidthError, match=r"dot: Term\(A\) has 1 columns, Term\(wide\) has 3"):
        dot(A, WIDE)


@pytest.mark.parametrize("width", [0, -1, True, 2.0, "2", None, A])
def test_widths_are_whole_and_positive(width):
    with pytest.raises(TermError, match=r"column 'x', width .*whole number of at least 1"):
        column("x", width)


@pytest.mark.parametrize("name", ["", "a b", "2a", "_a", "a+b", "a.b", 3, None])
def test_column_names_are_identifiers(name):
    with pytest.raises(TermError, match="expected an identifier starting with a letter"):
        column(name)


@pytest.mark.parametrize("name", ["position", "in_range", "bit"])
def test_names_of_position_primitives_are_no_column_names(name):
    with pytest.raises(TermError, match=f"column name '{name}'"):
        column(name)


# -- no branches, no floats --------------------------------------------------------------------

BRANCHES = {
    "==": lambda t: t == A,
    "== itself": lambda t: t == t,
    "!=": lambda t: t != 0,
    "<": lambda t: t < 0,
    "<=": lambda t: t <= 0,
    ">": lambda t: t > 0,
    "0 >=": lambda t: 0 >= t,  # noqa: SIM300
    "in list": lambda t: t in [0],
    "bool": bool,
    "not": lambda t: not t,
    "and": lambda t: t and A,
    "int": int,
    "float": float,
    "complex": complex,
    "index": lambda t: [1, 2][t],
    "range": range,
    "floor": math.floor,
    "sqrt": math.sqrt,
    "min": lambda t: min(t, 0),
    "max": lambda t: max(0, t),
    "sorted": lambda t: sorted([t, 0]),
    "array ==": lambda t: np.array([1, 2]) == t,
    "array <": lambda t: np.array([1, 2]) < t,
    "np.where": lambda t: np.where(t, 1, 2),
    "np.asarray": lambda t: np.asarray([t], dtype=float),
}


@pytest.mark.parametrize("branch", BRANCHES.values(), ids=BRANCHES)
def test_branching_is_refused(branch):
    with pytest.raises(BranchingError, match=r"Term\(B\).*cannot branch on data; use maximum"):
        branch(B)


NO_OPERATIONS = {
    "iteration": list,
    "unpacking": lambda t: [*t],
    "len": len,
    "in": lambda t: 0 in t,
    "item": lambda t: t[0],
    "abs": abs,
    "round": round,
    "trunc": math.trunc,
    "%": lambda t: t % 2,
    "//": lambda t: t // 2,
    "2 //": lambda t: 2 // t,
    "divmod": lambda t: divmod(t, 2),
    "2 **": lambda t: 2**t,
    "~": lambda t: ~t,
    "&": lambda t: t & 1,
    "@": lambda t: t @ t,
    "array @": lambda t: np.array([1, 2]) @ t,
    "np.exp": np.exp,
    "np.abs": np.abs,
    "np.maximum": lambda t: np.maximum(t, 0),
    "format": lambda t: f"{t:.3f}",
}


@pytest.mark.parametrize("operation", NO_OPERATIONS.values(), ids=NO_OPERATIONS)
def test_what_terms_cannot_do_is_a_type_error(operation):
    with pytest.raises(TypeError):
        operation(B)


INEXACT = [
    0.5,
    1.0,
    math.inf,
    math.nan,
    1j,
    True,
    np.float64(0.5),
    np.float32(1),
    np.True_,
    np.array([1, 2]),
    np.array([0.5]),
    np.array(2),
    Decimal("0.5"),
    mpmath.mpf(2),
    "2",
    [1],
    None,
]
SIDES = {
    "+": lambda t, x: t + x,
    "r+": lambda t, x: x + t,
    "-": lambda t, x: t - x,
    "r-": lambda t, x: x - t,
    "*": lambda t, x: t * x,
    "r*": lambda t, x: x * t,
    "/": lambda t, x: t / x,
    "r/": lambda t, x: x / t,
    "max": maximum,
    "rmax": lambda t, x: maximum(x, t),
    "dot": dot,
    "exp": lambda t, x: exp(x),
    "log": lambda t, x: log(x),
    "constant": lambda t, x: constant(x),
}


@pytest.mark.parametrize("side", SIDES.values(), ids=SIDES)
@pytest.mark.parametrize("value", INEXACT, ids=lambda value: f"{type(value).__name__} {value}")
def test_only_rationals_are_constants(side, value):
    with pytest.raises(FloatConstantError, match="expected an int or a Fraction"):
        side(A, value)


def test_arrays_do_not_take_terms_in():
    values = np.array([1.0, 2.0])
    with pytest.raises(TypeError):
        values *= A


def test_exact_neighbours_of_inexact_values_pass():
    # The other half of the refusals above: the operators themselves are fine.
    for side in SIDES.values():
        assert isinstance(side(A, Fraction(1, 2)), Term)
