"""The dense reference: attention and transformers straight from Definitions 2.1-2.5.

Nothing here is shared with plans and runs but the masks' definition and the numbers'
elementary operations. Rows are computed together, key by key: `allowed` selects before
anything is multiplied, so an entry that a row may not read never reaches it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from fractions import Fraction

import numpy as np

from symsim.arithmetic import Arithmetic, Array
from symsim.model.masks import FULL, Mask
from symsim.model.transformer import Layer, Transformer
from symsim.model.weights import Block, Identity, Ones
from symsim.terms import Kind, Program, Term


def dense_attention(
    arithmetic: Arithmetic,
    query: Array,
    key: Array,
    value: Array,
    mask: Mask = FULL,
    *,
    rows: Array | None = None,
) -> Array:
    """softmax(query keyᵀ) value under `mask`: query, key (N, m), value (N, w), result (N, w).

    Each row i is Σ_j a_ij v_j / Σ_j a_ij over the keys j that the mask allows, a_ij = base to
    the power ⟨q_i, k_j⟩ (times a common factor, where the arithmetic subtracts the row
    maximum), summed in the order of the keys. A BLAS arithmetic sums in the BLAS's order.
    rows: the indices of the rows to compute; all by default.
    """
    chosen = np.arange(len(query)) if rows is None else rows
    query, allowed = query[chosen], mask.matrix(len(key))[chosen]
    with arithmetic.working():
        if arithmetic.name.endswith(":blas"):
            return _blas_attention(query, key, value, allowed)
        weights = _weights(arithmetic, _logits(arithmetic, query, key), allowed)
        return _averages(arithmetic, weights, value, allowed)


def _logits(arithmetic: Arithmetic, query: Array, key: Array) -> Array:
    if query.shape[1] == 0:
        return arithmetic.integers(np.zeros((len(query), len(key)), dtype=np.int64))
    total = arithmetic.mul(query[:, None, 0], key[None, :, 0])
    for c in range(1, query.shape[1]):
        total = arithmetic.add(total, arithmetic.mul(query[:, None, c], key[None, :, c]))
    return total


def _weights(arithmetic: Arithmetic, logits: Array, allowed: Array) -> Array:
    """Weights (N, N), defined where `allowed`."""
    if arithmetic.subtracts_maximum:
        largest = logits[np.arange(len(logits)), allowed.argmax(axis=1)]
        for j in range(allowed.shape[1]):
            reads = allowed[:, j]
            largest[reads] = arithmetic.maximum(largest[reads], logits[reads, j])
        logits = arithmetic.sub(logits, largest[:, None])
    zero = arithmetic.integers(np.zeros((1, 1), dtype=np.int64))
    return arithmetic.exp(np.where(allowed, logits, zero))


def _averages(arithmetic: Arithmetic, weights: Array, value: Array, allowed: Array) -> Array:
    rows = len(weights)
    weighted = arithmetic.integers(np.zeros((rows, value.shape[1]), dtype=np.int64))
    total = arithmetic.integers(np.zeros((rows, 1), dtype=np.int64))
    for j in range(len(value)):
        reads = np.flatnonzero(allowed[:, j])
        weight = weights[reads, j : j + 1]
        product = arithmetic.mul(weight, value[j : j + 1])
        weighted[reads] = arithmetic.add(weighted[reads], product)
        total[reads] = arithmetic.add(total[reads], weight)
    return arithmetic.div(weighted, total)


def _blas_attention(query: Array, key: Array, value: Array, allowed: Array) -> Array:
    logits = np.where(allowed, query @ key.T, -np.inf)
    logits -= logits.max(axis=1, keepdims=True)
    weights = np.exp(logits, out=logits)
    total = weights.sum(axis=1, keepdims=True)
    # A masked value that is not finite must not meet its weight 0.
    product = weights @ np.where(np.isfinite(value), value, 0)
    for j in np.flatnonzero(~np.isfinite(value).all(axis=1)):
        rest = np.where(np.isfinite(value[j]), 0, value[j])
        product[allowed[:, j]] += weights[allowed[:, j], j : j + 1] * rest
    return np.asarray(product / total)


def dense_product(arithmetic: Arithmetic, left: Array, right: Array) -> Array:
    """The matrix product (N, m), summed in the order of the inner index."""
    total = arithmetic.mul(left[:, :1], right[:1])
    for k in range(1, len(right)):
        total = arithmetic.add(total, arithmetic.mul(left[:, k : k + 1], right[k : k + 1]))
    return total


def dense_transformer(
    arithmetic: Arithmetic,
    transformer: Transformer,
    tokens: Mapping[str, Array],
    parameters: Mapping[str, Array] | None = None,
) -> dict[str, Array]:
    """The transformer's output columns (N, width) for token columns (N, width) by name."""
    with arithmetic.working():
        columns = _tokenwise(arithmetic, transformer.input_mlp, tokens)
        for layer in transformer.layers:
            columns = _layer(arithmetic, transformer, layer, columns, parameters or {})
        return columns


def _layer(
    arithmetic: Arithmetic,
    transformer: Transformer,
    layer: Layer,
    columns: dict[str, Array],
    parameters: Mapping[str, Array],
) -> dict[str, Array]:
    result = dict(columns) if transformer.residual else {}
    for head in layer.heads:
        query, key, value = (
            _matrix_product(arithmetic, blocks, columns, parameters)
            for blocks in (head.query, head.key, head.value)
        )
        mixed = dense_attention(arithmetic, query, key, value, transformer.mask)
        start = 0
        for name, block in head.value.items():
            part = mixed[:, start : start + block.width]
            start += block.width
            result[name] = arithmetic.add(columns[name], part) if transformer.residual else part
    return _tokenwise(arithmetic, layer.mlp, result) if layer.mlp else result


def _matrix_product(
    arithmetic: Arithmetic,
    blocks: Mapping[str, Block],
    columns: Mapping[str, Array],
    parameters: Mapping[str, Array],
) -> Array:
    """X W for a W with the given nonzero blocks, entry by entry: (N, Σ widths)."""
    tokens = len(next(iter(columns.values())))
    out = np.empty((tokens, sum(block.width for block in blocks.values())), dtype=arithmetic.dtype)
    start = 0
    for block in blocks.values():
        source = columns[block.source]
        for c in range(block.width):
            match block.weight:
                case Identity():
                    out[:, start + c] = source[:, c]
                case Ones():
                    out[:, start + c] = source[:, 0]
                case weight:
                    column = parameters[weight.name][:, c : c + 1]
                    out[:, start + c] = dense_product(arithmetic, source, column)[:, 0]
        start += block.width
    return out


def _tokenwise(
    arithmetic: Arithmetic, program: Program, columns: Mapping[str, Array]
) -> dict[str, Array]:
    """The program's value on each token, by recursion on its terms, column by column."""
    tokens = len(next(iter(columns.values())))
    out = {}
    for name, term in program.outputs.items():
        values = [_on_token(arithmetic, term, columns, position) for position in range(tokens)]
        out[name] = np.stack([np.broadcast_to(value, (term.width,)) for value in values])
    return out


def _on_token(
    arithmetic: Arithmetic, term: Term, columns: Mapping[str, Array], position: int
) -> Array:
    """The value of `term` on the token at `position`: (width,) or a broadcastable (1,)."""
    args = [_on_token(arithmetic, arg, columns, position) for arg in term.args]
    match term.kind, term.payload:
        case Kind.COLUMN, str(name):
            return np.asarray(columns[name][position])
        case Kind.CONSTANT, Fraction() as value:
            return arithmetic.constant(value).reshape(1)
        case Kind.POSITION, _:
            return arithmetic.integers(np.array([position]))
        case Kind.IN_RANGE, (int(lo), int(hi)):
            return arithmetic.integers(np.array([int(position in range(lo, hi))]))
        case Kind.BIT, (int(k),):
            return arithmetic.integers(np.array([position // 2**k % 2]))
    operations: dict[Kind, Callable[..., Array]] = {
        Kind.ADD: arithmetic.add,
        Kind.SUB: arithmetic.sub,
        Kind.MUL: arithmetic.mul,
        Kind.DIV: arithmetic.div,
        Kind.NEG: arithmetic.neg,
        Kind.EXP: arithmetic.exp,
        Kind.LOG: arithmetic.log,
        Kind.MAX: arithmetic.maximum,
        Kind.DOT: arithmetic.dot,
    }
    return operations[term.kind](*args)
