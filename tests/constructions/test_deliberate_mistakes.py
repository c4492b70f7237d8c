"""Deliberate mistakes in the construction, each of which must be caught, and by what is stated.

A mistake is a change of one place in the source of one construction. It is caught by

result  the symbolic result differs from dense attention, at an uneven size with T > M;
states  the symbolic block sums of a call differ from a double loop (a mistake that scales all
        states of a query alike cancels in the merge);
limits  the model of computation refuses the plan;

The unchanged construction passes all of these.
"""

import importlib
from dataclasses import dataclass

import pytest
from support import all_equal, block_sums, equals_dense, outputs, symbols

from symsim.claims.mistakes import Mistake, MistakeError, mistaken
from symsim.constructions import from_qkv, quadratic_calls
from symsim.model import ModelError

PACKAGE = "symsim.constructions"
UNEVEN = (7, 3)
"""N, M: blocks of 2, 2, 2 and 1 tokens, T = 4 > M = 3."""


@dataclass(frozen=True)
class Caught:
    """A mistake, what catches it, and in which readout."""

    mistake: Mistake
    by: str
    readout: str = "dual"


def wrong(what, file, right, wrong, by, readout="dual"):
    return Caught(Mistake(what, file, right, wrong), by, readout)


BLOCK = "b1_quadratic_calls"
MISTAKES = [
    wrong(
        "indicator of real keys one short", BLOCK,
        "indicator(token, keys)", "indicator(token, keys - 1)", "result",
    ),
    wrong(
        "indicator of real keys one long", BLOCK,
        "indicator(token, keys)", "indicator(token, keys + 1)", "result",
    ),
    wrong(
        "indicator of the synthetic token one short", BLOCK,
        "token.in_range(n - 1, n)", "token.in_range(n, n)", "result",
    ),
    wrong(
        "indicator of the synthetic token one long", BLOCK,
        "token.in_range(n - 1, n)", "token.in_range(n - 2, n)", "result",
    ),
    wrong(
        "both indicators swapped", BLOCK,
        '"r": flag("real"), "s": flag("synthetic")', '"r": flag("synthetic"), "s": flag("real")',
        "result",
    ),
    wrong(
        "value of the synthetic token 1 instead of 0", BLOCK,
        "            **kept,\n",
        '            **{**kept, "v": kept["v"] + token.in_range(n - 1, n)},\n', "result",
    ),
    wrong(
        "query and key sides exchanged", BLOCK,
        'query, key = {"logit": given.query}, {"logit": given.key}',
        'query, key = {"logit": given.key}, {"logit": given.query}', "result",
    ),
    wrong(
        "key block of the wrong index", BLOCK,
        "rows.pair(given, queries, keys, n)", "rows.pair(given, queries, parts[u - 1], n)",
        "result",
    ),
    wrong(
        "key block of the wrong index, same size", BLOCK,
        "            n_q, n_k = size(queries), size(keys)\n",
        "            keys = parts[1 - u] if u < 2 and t == 3 else keys\n"
        "            keys = parts[0] if u == 1 else keys\n"
        "            n_q, n_k = size(queries), size(keys)\n", "result",
    ),
    wrong(
        "last ragged block dropped", BLOCK,
        "for u, keys in enumerate(parts):", "for u, keys in enumerate(parts[:-1]):", "result",
    ),
    wrong(
        "last ragged block read twice", BLOCK,
        "for u, keys in enumerate(parts):", "for u, keys in enumerate([*parts, parts[-1]]):",
        "result",
    ),
    wrong(
        "a block of M real tokens", BLOCK,
        "parts = blocks(given.tokens, tokens - 1)", "parts = blocks(given.tokens, tokens)",
        "limits",
    ),
    wrong(
        "A.2's factor wrong when T > M", "a2_sum_of_tokens",
        "{name: tokens * summand", "{name: 4 * summand", "result",
    ),
    wrong(
        "inner tree node divides too early", "aggregation",
        "of=form.sums, then=form.state)",
        'of=form.sums, then=lambda token: {"A": token.A / token.A, "B": token.B / token.A})',
        "result",
    ),
    wrong(
        "a zero row replaced by a copied token", "head_input",
        "padding = [self._plan.zero(width).named(column)]", "padding = [taken[:1]]", "result",
    ),
    wrong(
        "r/(1 − r) with padding present", "normalization_recovery",
        "known_weight * token.r / (1 - token.r)", "token.r / (1 - token.r)", "result", "printed",
    ),
    wrong(
        "a stray constant in some logits", BLOCK,
        'query["anchor"], key["anchor"] = flag("anchor"), flag("synthetic")\n',
        "pass\n    if queries > keys:\n"
        '        query["stray"], key["stray"] = flag("real"), flag("real")\n', "result",
    ),
    wrong(
        "a stray constant in all logits", BLOCK,
        '{"y": given.value, "r": flag("real"), "s": flag("synthetic")}\n',
        '{"y": given.value, "r": flag("real"), "s": flag("synthetic")}\n'
        '    query["stray"], key["stray"] = flag("one"), flag("real")\n'
        '    shown = phi\n\n'
        '    def phi(token: Token) -> Mapping[str, Term]:\n'
        '        return {**shown(token), "one": token.in_range(0, n)}\n', "states",
    ),
]  # fmt: skip


def states_are_block_sums(numbers, plan, given, tokens):
    """Whether every block call's state is (A, B) of its blocks."""
    length, size = len(given["Q"]), tokens - 1
    parts = [slice(a, min(a + size, length)) for a in range(0, length, size)]
    states = outputs(numbers, plan, given)
    for t, queries in enumerate(parts):
        for u, keys in enumerate(parts):
            expected = block_sums(numbers, given, queries, keys)
            for name, values in states[f"block ({t}, {u})"].items():
                if all_equal(numbers, values, expected[name]) is not True:
                    return False
    return True


def caught_by(construct, readout):
    """What catches a construction first; None if nothing does."""
    length, tokens = UNEVEN
    numbers, given = symbols(length, 1)
    try:
        plan = construct(from_qkv(length, 1), tokens, readout=readout)
        if equals_dense(numbers, plan, given) is not True:
            return "result"
    except ModelError:
        return "limits"
    if not states_are_block_sums(numbers, plan, given, tokens):
        return "states"
    return None


@pytest.mark.parametrize("readout", ["dual", "printed"])
def test_the_construction_itself_passes(readout):
    assert caught_by(quadratic_calls, readout) is None


@pytest.mark.parametrize("caught", MISTAKES, ids=lambda caught: caught.mistake.what)
def test_mistake_is_caught(caught):
    with mistaken(caught.mistake):
        construct = importlib.import_module(f"{PACKAGE}.{BLOCK}").quadratic_calls
        assert caught_by(construct, caught.readout) == caught.by


def test_a_mistake_that_changes_nothing_is_refused():
    with (
        pytest.raises(MistakeError, match="stands 0 times"),
        mistaken(Mistake("nothing", BLOCK, "no such text", "")),
    ):
        pass
