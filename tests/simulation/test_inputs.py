"""Inputs that are good: what each reader makes of them."""

import json
from fractions import Fraction
from importlib.resources import files

import numpy as np
import pytest
from support import CASES

from symsim.simulation import random_head, read_case, read_heads, sample_heads


@pytest.mark.parametrize("path", sorted(CASES.glob("*.json")), ids=lambda path: path.stem)
def test_case_files(path):
    case, head = json.loads(path.read_text()), read_case(path)
    assert head.name == case["id"]
    assert (head.length, head.dimension, head.tokens) == (case["N"], case["d"], case["M"])
    assert (head.mask.kind, head.mask.window, head.mask.sinks) == (
        case["mask"], case["window"], case["sinks"],
    )  # fmt: skip
    assert {name: matrix.tolist() for name, matrix in head.matrices.items()} == {
        name: case[name] for name in "QKV"
    }
    answers = [[Fraction(entry) for entry in row] for row in case["output_base2"]]
    assert head.expected["output_base2"] == answers


def written(tmp_path, text, encoding="utf-8"):
    path = tmp_path / "case.json"
    path.write_text(text, encoding=encoding)
    return path


@pytest.mark.parametrize(
    ("entry", "value"),
    [
        ("7", 7),
        ("-7", -7),
        ('"7"', 7),
        ('"-1/3"', Fraction(-1, 3)),
        ("0.1", Fraction(1, 10)),
        ("1e3", 1000),
        ("-25E-2", Fraction(-1, 4)),
        ('"+1.50"', Fraction(3, 2)),
        (str(10**400), 10**400),
        ('"1e4000"', 10**4000),
        ("-0.0", 0),
    ],
)
def test_entries_are_read_without_loss(entry, value, tmp_path):
    """A decimal is the number that is written, not the nearest double."""
    text = f'{{"N": 1, "M": 2, "d": 1, "Q": [[{entry}]], "K": [[1]], "V": [[1]]}}'
    (found,) = read_case(written(tmp_path, text)).matrices["Q"].ravel()
    assert found == value
    assert isinstance(found, Fraction)


def test_defaults_of_a_case(tmp_path):
    text = '{"N": 1, "M": 2, "d": 1, "Q": [[1]], "K": [[1]], "V": [[1]], "note": {"any": 1}}'
    head = read_case(written(tmp_path, text, encoding="utf-8-sig"))  # a byte order mark is fine
    assert (head.name, head.mask.kind, head.expected) == ("case", "full", {})


def stored(tmp_path, **arrays):
    path = tmp_path / "heads.npz"
    np.savez(path, **arrays)
    return path


@pytest.mark.parametrize("dtype", ["f2", "f4", "f8", ">f8", "i1", "u8", "i8"])
def test_heads_of_every_dtype(dtype, tmp_path):
    q, k = (np.arange(12).reshape(2, 3, 2).astype(dtype) for _ in range(2))
    v = np.arange(24).reshape(2, 3, 4).astype(dtype)
    heads = read_heads(stored(tmp_path, Q=q, K=k, V=v))
    assert [head.name for head in heads] == ["head 0", "head 1"]
    for h, head in enumerate(heads):
        assert np.array_equal(head.matrices["Q"], q[h])
        assert np.array_equal(head.matrices["V"], v[h])
        assert (head.length, head.dimension, head.mask.kind) == (3, 2, "full")


def test_fortran_order_and_compression(tmp_path):
    q = np.asfortranarray(np.arange(12.0).reshape(2, 3, 2))
    path = tmp_path / "heads.npz"
    np.savez_compressed(path, Q=q, K=q, V=q, names=np.array(["a", "ä"]), mask=np.array("full"))
    first, second = read_heads(path)
    assert np.array_equal(second.matrices["K"], q[1])
    assert (first.name, second.name) == ("a", "ä")


@pytest.mark.parametrize("shared", [False, True])
def test_heads_given_by_x(shared, tmp_path):
    rng = np.random.default_rng(1)
    x = rng.standard_normal((3, 2) if shared else (4, 3, 2))
    weights = {"W_Q": (4, 2, 5), "W_K": (4, 2, 5), "W_V": (4, 2, 3)}
    arrays = {name: rng.standard_normal(shape) for name, shape in weights.items()}
    heads = read_heads(stored(tmp_path, X=x, **arrays))
    assert len(heads) == 4
    for h, head in enumerate(heads):
        assert np.array_equal(head.matrices["X"], x if shared else x[h])
        assert {name: w.shape for name, w in head.parameters.items()} == {
            name: shape[1:] for name, shape in weights.items()
        }
        assert np.array_equal(head.parameters["W_V"], arrays["W_V"][h])


def test_arrays_that_are_not_asked_for_are_not_read(tmp_path):
    one = np.ones((1, 1, 1))
    path = stored(tmp_path, Q=one, K=one, V=one, notes=np.array([None], dtype=object))
    assert len(read_heads(path)) == 1


def test_sample():
    heads = sample_heads()
    assert len(heads) == 8
    assert {(head.length, head.dimension, head.mask.kind) for head in heads} == {(128, 32, "full")}
    assert (files("symsim") / "data" / "README.md").is_file()


@pytest.mark.parametrize("integers", [False, True])
def test_random_heads_come_from_the_seed(integers):
    def entries(seed):
        head = random_head(4, 3, seed, integers=integers)
        return np.stack(list(head.matrices.values()))

    assert np.array_equal(entries(1), entries(1))
    assert not np.array_equal(entries(1), entries(2))
    assert entries(1).shape == (3, 4, 3)
    if integers:
        assert set(random_head(40, 9, 0, integers=True).matrices["Q"].ravel()) == set(range(-3, 4))
