"""Arithmetics by name, as the command line takes them."""

from __future__ import annotations

import re
from collections.abc import Callable

from symsim.arithmetic.ball import Ball
from symsim.arithmetic.base import Arithmetic, UnknownArithmeticError
from symsim.arithmetic.custom import Custom
from symsim.arithmetic.exact import Exact, PiecewiseLinear2
from symsim.arithmetic.hardware import Hardware
from symsim.arithmetic.highprecision import HighPrecision
from symsim.arithmetic.symbolic import Symbolic

ARITHMETICS: dict[str, str] = {
    "symbolic": "exponential polynomials over ℚ: an identity for all real inputs of the size",
    "exact": "ℚ with weights 2^logit and integer logits: exactness on the input",
    "exact:pl2": "ℚ with the piecewise linear weight that equals 2^x at integers",
    "mp:BITS": "mpmath: a high-precision value, not certified",
    "ball:BITS": "Arb balls: a certified enclosure of the true value",
    "ball:BITS:base2": "Arb balls with weights 2^logit, to compare with exact",
    "float64": "IEEE binary64, every operation rounded in the stated order",
    "float64:blas": "IEEE binary64, sums in the order of the BLAS",
    "float32": "IEEE binary32, every operation rounded in the stated order",
    "float32:blas": "IEEE binary32, sums in the order of the BLAS",
    "float16": "IEEE binary16, every operation rounded in the stated order",
    "bfloat16": "bfloat16, every operation rounded in the stated order",
    "float8_e4m3fn": "8-bit float with 4 exponent bits and no infinity",
    "float8_e5m2": "8-bit float with 5 exponent bits",
    "p:BITS": "correctly rounded floats of BITS bits of significand (MPFR)",
    "p:BITS:EMIN:EMAX": "the same with an exponent range; p:11:-14:15 is float16",
}
"""Every arithmetic's name and what a run in it establishes."""

_PATTERNS: tuple[tuple[str, Callable[..., Arithmetic]], ...] = (
    (r"symbolic", Symbolic),
    (r"exact", Exact),
    (r"exact:pl2", PiecewiseLinear2),
    (r"mp:(\d+)", lambda bits: HighPrecision(int(bits))),
    (r"ball:(\d+)", lambda bits: Ball(int(bits))),
    (r"ball:(\d+):base2", lambda bits: Ball(int(bits), base="2")),
    (r"(float64|float32):blas", lambda name: Hardware(name, order="blas")),
    (r"(float64|float32|float16|bfloat16|float8_e4m3fn|float8_e5m2)", Hardware),
    (r"p:(\d+)", lambda bits: Custom(int(bits))),
    (r"p:(\d+):(-?\d+):(-?\d+)", lambda *fields: Custom(*map(int, fields))),
)


def arithmetic(name: str) -> Arithmetic:
    """The arithmetic called `name`.

    Raises UnknownArithmeticError listing the known ones, NumberError for parameters out of
    range.
    """
    for pattern, make in _PATTERNS:
        if match := re.fullmatch(pattern, name):
            return make(*match.groups())
    raise UnknownArithmeticError(f"arithmetic {name!r}: expected one of {', '.join(ARITHMETICS)}")
