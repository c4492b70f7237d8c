"""Lemma A.1: a block of ones from the input MLP and one row of ones.

φ(x_i) = (x_i, 1) for i <= a and (x_i, 0) otherwise; U is zero but for ones in its last row's
first b columns. Then φ(X) U has an a × b block of ones and zeros elsewhere. (The paper prints
U's blocks with shapes that do not fit; only the shapes are corrected here.)
"""

from __future__ import annotations

from symsim.model import Block
from symsim.model.weights import Ones
from symsim.terms import Term, Token


def indicator(token: Token, rows: int) -> Term:
    """φ's extra column: 1 in the first `rows` rows of a call, 0 in the others."""
    return token.in_range(0, rows)


def ones(source: str, width: int) -> Block:
    """The block U: `width` columns of ones wherever the indicator column `source` is 1."""
    return Block(source, Ones(width))
