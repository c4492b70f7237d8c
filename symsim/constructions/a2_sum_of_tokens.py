"""Lemma A.2: one call that returns the sum of its tokens in every row.

All queries and keys are equal (rows of ones), so every weight is 1/n for n tokens; the values
are n·x_i, so every row of the output is Σ_i x_i. (The paper prints "k_i = N·X[i,:]" for the
values, and a 1 × d result for what is every row of an n × d one.)
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

from symsim.model import Block, Head, Identity, Layer, Transformer
from symsim.terms import MLP, Columns, Term, Token, trace

Summands = Callable[[Token], Mapping[str, Term]]
"""What is to be summed: columns computed from the token alone."""


def sum_of_tokens(
    tokens: int, columns: Columns, *, of: Summands | None = None, then: MLP | None = None
) -> Transformer:
    """The oracle for a call of exactly `tokens` tokens with the given input columns.

    of: the summands, by default the columns themselves. then: the layer MLP applied to the
    sums, by default the identity.
    """
    summands: Summands = of or (lambda token: {name: token[name] for name in columns})

    def input_mlp(token: Token) -> Mapping[str, Term | int]:
        scaled = {name: tokens * summand for name, summand in summands(token).items()}
        return {**scaled, "one": 1}

    program = trace(input_mlp, columns)
    sums = {name: width for name, width in program.columns.items() if name != "one"}
    head = Head(
        query={"one": Block("one", Identity(1))},
        key={"one": Block("one", Identity(1))},
        value={name: Block(name, Identity(width)) for name, width in sums.items()},
    )
    return Transformer(program, (Layer((head,), trace(then, sums) if then else None),))
