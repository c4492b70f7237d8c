"""Masks against Definitions 2.3-2.5, written here with the paper's indices, which start at 1."""

from __future__ import annotations

import re

import numpy as np
import pytest

from symsim.model import CAUSAL, FULL, Mask, MaskError

LENGTHS = range(1, 11)
WINDOWS = range(1, 11)
SINKS = range(4)


def dropped_by_full(i: int, j: int) -> bool:
    return False


def dropped_by_causal(i: int, j: int) -> bool:
    return j > i


def dropped_by_window(i: int, j: int, r: int) -> bool:
    return j > i or j <= i - r


def dropped_by_sink(i: int, j: int, r: int, s: int) -> bool:
    return j > i or s < j <= i - r


DEFINITIONS = {
    "full": dropped_by_full,
    "causal": dropped_by_causal,
    "window": dropped_by_window,
    "sink": dropped_by_sink,
}
ALL_MASKS = [
    FULL,
    CAUSAL,
    *(Mask("window", r) for r in WINDOWS),
    *(Mask("sink", r, s) for r in WINDOWS for s in SINKS),
]


def parameters(mask: Mask) -> list[int]:
    return [p for p in (mask.window, mask.sinks) if p is not None]


def keys_kept(mask: Mask, length: int) -> list[set[int]]:
    """For every query i = 1, ..., N the set of keys j that the paper keeps, from 1."""
    dropped = DEFINITIONS[mask.kind]
    everything = range(1, length + 1)
    return [{j for j in everything if not dropped(i, j, *parameters(mask))} for i in everything]


@pytest.mark.parametrize("mask", ALL_MASKS, ids=str)
def test_index_sets_are_those_of_the_paper(mask):
    for length in LENGTHS:
        matrix = mask.matrix(length)
        assert matrix.shape == (length, length)
        assert matrix.dtype == bool
        by_matrix = [{int(j) + 1 for j in np.flatnonzero(row)} for row in matrix]
        by_allows = [
            {j + 1 for j in range(length) if mask.allows(i, j) is True} for i in range(length)
        ]
        assert by_matrix == by_allows == keys_kept(mask, length)


@pytest.mark.parametrize("window", WINDOWS)
def test_a_window_keeps_exactly_r_keys_once_there_are_r(window):
    counts = Mask("window", window).matrix(10).sum(axis=1)
    assert counts.tolist() == [min(i, window) for i in range(1, 11)]


@pytest.mark.parametrize("sinks", SINKS)
@pytest.mark.parametrize("window", WINDOWS)
def test_a_sink_inside_the_window_counts_once(window, sinks):
    counts = Mask("sink", window, sinks).matrix(10).sum(axis=1)
    in_window = [min(i, window) for i in range(1, 11)]
    before_it = [min(sinks, max(i - window, 0)) for i in range(1, 11)]
    assert counts.tolist() == [a + b for a, b in zip(in_window, before_it, strict=True)]


@pytest.mark.parametrize("mask", ALL_MASKS, ids=str)
def test_every_row_keeps_its_own_key(mask):
    assert mask.matrix(10).diagonal().all()


def test_a_mask_depends_on_absolute_indices_alone():
    for mask in ALL_MASKS:
        np.testing.assert_array_equal(mask.matrix(10)[:7, :7], mask.matrix(7))


@pytest.mark.parametrize(
    ("mask", "text"),
    [
        (FULL, "full"),
        (CAUSAL, "causal"),
        (Mask("window", 4), "window(4)"),
        (Mask("sink", 4, 0), "sink(4, 0)"),
        (Mask("sink", 10, 2), "sink(10, 2)"),
    ],
)
def test_text(mask, text):
    assert str(mask) == text


@pytest.mark.parametrize(
    ("kind", "window", "sinks", "message"),
    [
        ("diagonal", None, None, "mask 'diagonal': expected full, causal, window or sink"),
        ("", None, None, "mask ''"),
        ("full", 3, None, "full mask: window is 3, expected none"),
        ("full", None, 2, "full mask: sinks is 2, expected none"),
        ("causal", 3, None, "causal mask: window is 3, expected none"),
        ("causal", None, 0, "causal mask: sinks is 0, expected none"),
        ("window", None, None, "window is None, expected an integer of at least 1"),
        ("window", 0, None, "window is 0, expected an integer of at least 1"),
        ("window", -1, None, "window is -1, expected an integer of at least 1"),
        ("window", 2.5, None, "window is 2.5, expected an integer of at least 1"),
        ("window", 2.0, None, "window is 2.0, expected an integer of at least 1"),
        ("window", "2", None, "window is '2', expected an integer of at least 1"),
        ("window", True, None, "window is True, expected an integer of at least 1"),
        ("window", 2, 1, "window mask: sinks is 1, expected none"),
        ("sink", 2, None, "sinks is None, expected an integer of at least 0"),
        ("sink", 2, -1, "sinks is -1, expected an integer of at least 0"),
        ("sink", 2, 0.5, "sinks is 0.5, expected an integer of at least 0"),
        ("sink", None, 1, "sink mask: window is None"),
        ("sink", 0, 1, "sink mask: window is 0"),
    ],
)
def test_bad_parameters_are_refused_with_their_value(kind, window, sinks, message):
    with pytest.raises(MaskError, match=re.escape(message)):
        Mask(kind, window, sinks)
