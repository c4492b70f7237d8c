"""Limits on what a run may need, checked before anything is allocated."""

from __future__ import annotations

from symsim.arithmetic import Arithmetic, Evidence
from symsim.constructions.b1_as_printed import block_calls_as_printed
from symsim.constructions.b1_quadratic_calls import total_calls

LARGEST_PLAN = 2**19
"""Oracle calls of a plan: about 3 KB and 0.2 ms each."""

LARGEST_BITS = 100_000
"""Bits of a significand or a ball."""


class ResourceError(RuntimeError):
    """A run would need more than the stated limits."""


def check_resources(
    numbers: Arithmetic, length: int, width: int, tokens: int, variant: str
) -> None:
    """Raise ResourceError if N = `length`, d = `width`, M = `tokens` is more than can be run.

    Machine numbers are 1 to 8 bytes; others are Python objects of about 100 bytes at up to 256
    bits, and symbolic ones polynomials that grow with N.
    """
    if numbers.evidence is Evidence.IDENTITY:
        entries, call_weights, weights = 2**12, 2**12, 2**12
    elif numbers.dtype == object:
        longer = max(1, getattr(numbers, "bits", 1) // 256)
        entries, call_weights, weights = (2**k // longer for k in (21, 22, 24))
    else:
        entries, call_weights, weights = 2**25, 2**26, 2**32
    reads = min(length, tokens)
    calls = _calls(length, tokens, variant)
    for what, found, allowed in (
        ("weights", length**2, weights),
        ("weights in one call", reads**2, call_weights),
        ("entries of a matrix", length * width, entries),
        ("oracle calls", calls, LARGEST_PLAN),
    ):
        if found > allowed:
            raise ResourceError(
                f"N = {length}, d = {width}, M = {tokens}: {found} {what}, expected at most "
                f"{allowed} in {numbers.name}"
            )


def _calls(length: int, tokens: int, variant: str) -> int:
    if variant == "printed":
        return block_calls_as_printed(length, tokens)
    return total_calls(length, tokens)
