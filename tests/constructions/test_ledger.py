"""Ledgers of B.1 against closed forms worked out here."""

from math import ceil

import pytest
from hypothesis import given
from hypothesis import strategies as st

from symsim.constructions import (
    aggregation,
    b1_as_printed,
    b1_quadratic_calls,
    from_qkv,
    from_x,
    quadratic_calls,
    quadratic_calls_as_printed,
)
from symsim.model import ModelError

SIZES = [(n, m) for n in range(1, 41) for m in range(2, 12)]


def rounds_of_a_tree(states, tokens):
    """The least R with M^R >= T."""
    rounds = 0
    while tokens**rounds < states:
        rounds += 1
    return rounds


@pytest.mark.parametrize("dimension", [1, 3])
def test_repaired(dimension):
    for n, m in SIZES:
        ledger = quadratic_calls(from_qkv(n, dimension), m).ledger
        states = ceil(n / (m - 1))
        assert ledger.calls["block"] == states**2
        assert ledger.calls["aggregation"] == n * ceil((states - 1) / (m - 1))
        assert ledger.rounds == 1 + rounds_of_a_tree(states, m)
        assert ledger.max_tokens <= m
        assert ledger.max_tokens == max(min(n, m - 1) + 1, min(states, m) if states > 1 else 0)
        assert ledger.max_embedding == 3 * dimension + 2
        assert ledger.constants_padded == dimension
        assert not ledger.waivers


def test_closed_forms_in_the_library():
    for n, m in SIZES:
        ledger = quadratic_calls(from_qkv(n, 2), m).ledger
        assert b1_quadratic_calls.block_calls(n, m) == ledger.calls["block"]
        assert b1_quadratic_calls.total_calls(n, m) == ledger.total_calls
        assert b1_quadratic_calls.rounds(n, m) == ledger.rounds
        assert b1_quadratic_calls.embedding(2) == ledger.max_embedding


def test_printed():
    for n, m in SIZES:
        if n % m:
            with pytest.raises(ModelError, match=f"N = {n}, M = {m}"):
                quadratic_calls_as_printed(from_qkv(n, 1), m)
            continue
        ledger = quadratic_calls_as_printed(from_qkv(n, 1), m).ledger
        assert ledger.calls == {"block": 2 * (n // m) ** 2}
        assert b1_as_printed.block_calls_as_printed(n, m) == ledger.total_calls
        assert ledger.rounds == 1
        assert ledger.max_tokens == m + 1
        assert set(ledger.waivers) == {"tokens+1", "outside-merge"}


def test_embedding_of_other_layouts():
    assert quadratic_calls(from_qkv(5, 4), 3, readout="anchored").ledger.max_embedding == 16
    assert quadratic_calls(from_x(5, 4, 2, 3), 3).ledger.max_embedding == 2 * 4 + 2
    assert quadratic_calls_as_printed(from_x(6, 4, 2, 3), 3).ledger.max_embedding == 2 * 4 + 2


@given(st.integers(1, 10**6), st.integers(2, 1000))
def test_trees_are_minimal_in_calls_and_rounds(states, tokens):
    rounds = aggregation.fan_in(states, tokens)
    left = states
    for groups in rounds:
        assert all(2 <= size <= tokens for size in groups)
        assert sum(groups) <= left
        left -= sum(size - 1 for size in groups)
    assert left == 1
    # Each call merges at most M states, so it removes at most M − 1.
    assert sum(map(len, rounds)) == ceil((states - 1) / (tokens - 1))
    assert len(rounds) == rounds_of_a_tree(states, tokens)
    assert aggregation.aggregation_calls(3, states, tokens) == 3 * sum(map(len, rounds))
    assert aggregation.aggregation_rounds(states, tokens) == len(rounds)
