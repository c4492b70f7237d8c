"""The plans, inputs and references that executions in this document name. No claims here."""

from collections.abc import Mapping

import numpy as np

from symsim.arithmetic import Arithmetic, Array
from symsim.claims import Size
from symsim.constructions import (
    from_qkv,
    sum_of_tokens,
)
from symsim.constructions.b1_as_printed import step_1_oracle
from symsim.constructions.head_input import BlockRows
from symsim.model import (
    Block,
    Head,
    Identity,
    Layer,
    Limits,
    Merge,
    Parameter,
    Plan,
    Transformer,
    dense_attention,
    dense_product,
    stack,
)
from symsim.terms import trace

Shapes = Mapping[str, tuple[int, int]]

# -- one attention layer ------------------------------------------------------------------------


def attention_layer(key_matrix: str):
    """Plans of one call on X whose keys are X times the named matrix."""

    def plan(size: Size) -> Plan:
        n, d = size.values["N"], size.values["d"]
        blocks = {name: Block("x", Parameter(name, (d, d))) for name in ("W_Q", "W_K", "W_V")}
        head = Head({"l": blocks["W_Q"]}, {"l": blocks[key_matrix]}, {"y": blocks["W_V"]})
        identity_mlp = trace(lambda token: {"x": token.x}, {"x": d})
        plan = Plan(Limits.of_paper(tokens=max(n, 2), dimension=d))
        oracle = Transformer(identity_mlp, (Layer((head,)),))
        tokens = plan.input("X", n, d).named("x")
        plan.finish(plan.call("block", "layer", oracle, tokens))
        return plan

    return plan


def layer_inputs(size: Size) -> Shapes:
    """X and the three matrices."""
    n, d = size.values["N"], size.values["d"]
    return {"X": (n, d), "W_Q": (d, d), "W_K": (d, d), "W_V": (d, d)}


def dense_layer(numbers: Arithmetic, given: Mapping[str, Array]) -> Array:
    """softmax(XW^Q (XW^K)ᵀ) XW^V."""
    sides = (dense_product(numbers, given["X"], given[f"W_{side}"]) for side in "QKV")
    return dense_attention(numbers, *sides)


# -- A.2 ----------------------------------------------------------------------------------------


def sum_by_values(size: Size) -> Plan:
    """A.2 with values N·X_i."""
    # Imported now, as a deliberate mistake replaces the constructions.
    from symsim.constructions.a2_sum_of_tokens import sum_of_tokens  # noqa: PLC0415

    return _one_call(size, sum_of_tokens(size.values["N"], {"x": size.values["d"]}))


def sum_by_keys(size: Size) -> Plan:
    """A.2 as its line reads, N·X_i as keys: queries of ones, values X_i."""
    n, d = size.values["N"], size.values["d"]
    phi = trace(lambda token: {"x": token.x, "k": n * token.x, "one": 0 * token.x + 1}, {"x": d})
    head = Head(
        {"l": Block("one", Identity(d))},
        {"l": Block("k", Identity(d))},
        {"x": Block("x", Identity(d))},
    )
    return _one_call(size, Transformer(phi, (Layer((head,)),)))


def token_inputs(size: Size) -> Shapes:
    """The tokens."""
    return {"x": (size.values["N"], size.values["d"])}


def every_row_is_the_sum(_: Arithmetic, given: Mapping[str, Array]) -> Array:
    """N rows, each Σ_i X_i."""
    rows = list(given["x"])
    total = rows[0]
    for row in rows[1:]:
        total = total + row
    return np.stack([total] * len(rows))


def _one_call(size: Size, oracle: Transformer) -> Plan:
    n, d = size.values["N"], size.values["d"]
    plan = Plan(Limits.of_paper(tokens=max(n, 2), dimension=d))
    plan.finish(plan.call("block", "A.2", oracle, plan.input("x", n, d)))
    return plan


# -- B.1 ----------------------------------------------------------------------------------------


def head_inputs(size: Size) -> Shapes:
    """Q, K and V."""
    shape = (size.values["N"], size.values["d"])
    return {"Q": shape, "K": shape, "V": shape}


def dense_head(numbers: Arithmetic, given: Mapping[str, Array]) -> Array:
    """softmax(QKᵀ)V."""
    return dense_attention(numbers, given["Q"], given["K"], given["V"])


def printed_plan(size: Size) -> Plan:
    """B.1 as printed, under its waivers."""
    from symsim.constructions.b1_as_printed import (  # noqa: PLC0415
        quadratic_calls_as_printed,
    )

    n, m, d = (size.values[name] for name in ("N", "M", "d"))
    return quadratic_calls_as_printed(from_qkv(n, d), m)


def step_two_calls(plan: Plan) -> int:
    """The calls of step 2."""
    return sum(call.label.startswith("step 2") for call in plan.calls)


def without_waiver_for_tokens(size: Size) -> Plan:
    """One call of step 1, with nothing waived."""
    n, m, d = (size.values[name] for name in ("N", "M", "d"))
    given = from_qkv(n, d)
    plan = Plan(Limits.of_paper(tokens=m, dimension=d))
    first = slice(0, m)
    tokens = BlockRows(plan, given).pair(given, first, first, m + 1)
    plan.finish(plan.call("block", "step 1 (0, 0)", step_1_oracle(given, m), tokens))
    return plan


def arranged_rows(size: Size) -> Plan:
    """A call of A.2 on the N rows of a matrix, reversed, and the stored zero row."""
    n, d = size.values["N"], size.values["d"]
    plan = Plan(Limits.of_paper(tokens=n + 1, dimension=d))
    tokens = stack(plan.input("x", n, d)[::-1], plan.zero(d).named("x"))
    output = plan.call("block", "arranged", sum_of_tokens(n + 1, {"x": d}), tokens)
    plan.finish(output[:n])
    return plan


def merged_outside(size: Size) -> Plan:
    """A merge of two stored rows by arithmetic, with nothing waived."""
    plan = Plan(Limits.of_paper(tokens=size.values["M"], dimension=size.values["d"]))
    per_row = trace(lambda token: {"A": token.A}, {"A": 1})
    states = plan.input("A", 2, 1)
    plan.finish(plan.merge_outside("merge of query 0", Merge(per_row, per_row), states))
    return plan


def repaired(**options: str):
    """Plans of repaired B.1 with the given readout and aggregation."""

    def plan(size: Size) -> Plan:
        # Imported now, as a deliberate mistake replaces the constructions.
        from symsim.constructions.b1_quadratic_calls import quadratic_calls  # noqa: PLC0415

        n, m, d = (size.values[name] for name in ("N", "M", "d"))
        return quadratic_calls(from_qkv(n, d), m, **options)

    return plan
