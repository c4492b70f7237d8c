"""What a run is given: case files, real heads, random heads.

Every bad input is an InputError of one line: the file, the field, what was found and what was
expected.
"""

from __future__ import annotations

import json
import zipfile
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from importlib.resources import as_file, files
from pathlib import Path
from typing import Any

import numpy as np

from symsim.arithmetic import Array
from symsim.model import Mask, MaskError

LARGEST_FILE = 2**28
"""Bytes of an input file, after decompression."""

SAMPLE = "minilm_prose.npz"


class InputError(ValueError):
    """An input that cannot be used."""

    def __init__(self, source: object, place: str, found: object, expected: str) -> None:
        super().__init__(source, place, found, expected)
        self.source, self.place, self.found, self.expected = source, place, found, expected

    def __str__(self) -> str:
        return f"{self.source}: {self.place}: found {self.found}, expected {self.expected}"


@dataclass(frozen=True, eq=False)
class HeadData:
    """One head's matrices by name: Q, K, V (N × d), or X with parameters W_Q, W_K, W_V.

    tokens: the oracle's limit M where the input names one. expected: right answers, where a
    case file gives them (`output_base2`, `output_base_e`).
    """

    name: str
    matrices: Mapping[str, Array]
    parameters: Mapping[str, Array] = field(default_factory=dict)
    mask: Mask = field(default_factory=Mask)
    tokens: int | None = None
    expected: Mapping[str, Any] = field(default_factory=dict)

    @property
    def length(self) -> int:
        """N, the number of tokens."""
        return len(next(iter(self.matrices.values())))


# -- case files -------------------------------------------------------------------------------


def read_case(path: Path) -> HeadData:
    """The case in a JSON file. Raises InputError."""
    case = _read_json(path)
    if not isinstance(case, dict):
        raise InputError(path, "file", type(case).__name__, "a JSON object")
    length = _integer(path, case, "N", least=1)
    width = _integer(path, case, "d", least=1)
    matrices = {name: _rows(path, case, name, length, width) for name in ("Q", "K", "V")}
    try:
        mask = Mask(
            case.get("mask", "full"),
            window=_optional_integer(path, case, "window"),
            sinks=_optional_integer(path, case, "sinks"),
        )
    except MaskError as error:
        raise InputError(path, "mask", case.get("mask"), str(error)) from None
    return HeadData(
        str(case.get("id", path.stem)),
        matrices,
        mask=mask,
        tokens=_integer(path, case, "M", least=2),
        expected={
            name: _expected(path, case, name, length, width)
            for name in ("output_base2", "output_base_e")
            if name in case
        },
    )


def _read_json(path: Path) -> object:
    _check_size(path, _file_size(path))
    try:
        return json.loads(path.read_text(encoding="utf-8"))
    except UnicodeDecodeError:
        raise InputError(path, "file", "bytes that are not UTF-8", "JSON text") from None
    except json.JSONDecodeError as error:
        place = f"line {error.lineno}, column {error.colno}"
        raise InputError(path, place, error.msg, "valid JSON") from None
    except RecursionError:
        raise InputError(path, "file", "nesting without end", "valid JSON") from None


def _integer(path: Path, case: Mapping[str, Any], name: str, *, least: int) -> int:
    value = case.get(name)
    if isinstance(value, bool) or not isinstance(value, int) or value < least:
        found = repr(value) if name in case else "nothing"
        raise InputError(path, name, found, f"an integer of at least {least}")
    return value


def _optional_integer(path: Path, case: Mapping[str, Any], name: str) -> int | None:
    return None if case.get(name) is None else _integer(path, case, name, least=0)


def _rows(path: Path, case: Mapping[str, Any], name: str, length: int, width: int) -> Array:
    """The N × d matrix called `name`, entries as Fractions."""
    rows = case.get(name)
    if not isinstance(rows, list) or len(rows) != length:
        found = f"{len(rows)} rows" if isinstance(rows, list) else repr(rows)
        raise InputError(path, name, found, f"{length} rows (N)")
    matrix = np.empty((length, width), dtype=object)
    for i, row in enumerate(rows):
        if not isinstance(row, list) or len(row) != width:
            found = f"{len(row)} entries" if isinstance(row, list) else repr(row)
            raise InputError(path, f"{name}[{i}]", found, f"{width} entries (d)")
        matrix[i] = [_number(path, f"{name}[{i}][{c}]", entry) for c, entry in enumerate(row)]
    return matrix


def _number(path: Path, place: str, value: object) -> Fraction:
    expected = 'a finite number or a fraction "p/q"'
    if isinstance(value, bool) or not isinstance(value, (int, float, str)):
        raise InputError(path, place, repr(value), expected)
    try:
        return Fraction(value)
    except (ValueError, OverflowError, ZeroDivisionError):
        raise InputError(path, place, repr(value), expected) from None


def _expected(
    path: Path, case: Mapping[str, Any], name: str, length: int, width: int
) -> list[list[Fraction]]:
    matrix: list[list[Fraction]] = _rows(path, case, name, length, width).tolist()
    return matrix


# -- heads ------------------------------------------------------------------------------------


def read_heads(path: Path) -> Iterator[HeadData]:
    """The heads in an .npz file. Raises InputError before the first is yielded."""
    arrays = _read_arrays(path)
    given = ("X", "W_Q", "W_K", "W_V") if "X" in arrays else ("Q", "K", "V")
    for name in given:
        _check_array(path, name, arrays.get(name))
    heads = _check_shapes(path, arrays, given)
    _check_full(path, arrays)
    names = _names(path, arrays, heads)
    parameters = [name for name in given if name.startswith("W_")]
    return (
        HeadData(
            names[h],
            {name: arrays[name][h] for name in given if name not in parameters},
            {name: arrays[name][h] for name in parameters},
        )
        for h in range(heads)
    )


def sample_heads() -> list[HeadData]:
    """The packaged sample: eight heads of all-MiniLM-L6-v2 on 128 tokens of English prose."""
    with as_file(files("symsim") / "data" / SAMPLE) as path:
        return list(read_heads(path))


def _read_arrays(path: Path) -> dict[str, Array]:
    _file_size(path)
    try:
        with zipfile.ZipFile(path) as archive:
            _check_size(path, sum(entry.file_size for entry in archive.infolist()))
        with np.load(path, allow_pickle=False) as stored:
            return {name: stored[name] for name in stored.files}
    except (zipfile.BadZipFile, ValueError, EOFError, OSError, KeyError) as error:
        if isinstance(error, InputError):
            raise
        raise InputError(path, "file", str(error) or type(error).__name__, "an .npz file") from None


def _check_array(path: Path, name: str, array: Array | None) -> None:
    if array is None:
        raise InputError(path, name, "nothing", "an array")
    if array.dtype.kind not in "fiu" or array.dtype.itemsize > 8:
        raise InputError(path, name, f"dtype {array.dtype}", "integers or floats of up to 64 bits")
    if array.ndim != 3 or 0 in array.shape:
        expected = "(heads, d, width)" if name.startswith("W_") else "(heads, tokens, d)"
        raise InputError(path, name, f"shape {array.shape}", f"{expected}, none of them 0")
    if not np.isfinite(array).all():
        index = ", ".join(map(str, np.argwhere(~np.isfinite(array))[0]))
        raise InputError(path, f"{name}[{index}]", "NaN or infinity", "finite numbers")


def _check_shapes(path: Path, arrays: Mapping[str, Array], given: tuple[str, ...]) -> int:
    first = arrays[given[0]]
    heads, tokens, width = map(int, first.shape)
    for name in given[1:]:
        shape = arrays[name].shape
        if name.startswith("W_"):
            fits = shape[:2] == (heads, width)
            expected = f"({heads}, {width}, …)"
        else:
            fits = shape[:2] == (heads, tokens) and (name == "V" or shape[2] == width)
            expected = f"({heads}, {tokens}, {'…' if name == 'V' else width})"
        if not fits:
            raise InputError(path, name, f"shape {shape}", f"shape {expected} as in {given[0]}")
    if "X" in given and arrays["W_Q"].shape != arrays["W_K"].shape:
        shape = arrays["W_K"].shape
        raise InputError(path, "W_K", f"shape {shape}", f"shape {arrays['W_Q'].shape} as W_Q")
    return heads


def _check_full(path: Path, arrays: Mapping[str, Array]) -> None:
    mask = str(arrays.get("mask", "full"))
    if mask not in ("full", "causal"):
        raise InputError(path, "mask", repr(mask), "full or causal")


def _names(path: Path, arrays: Mapping[str, Array], heads: int) -> list[str]:
    if "names" not in arrays:
        return [f"head {h}" for h in range(heads)]
    if arrays["names"].shape != (heads,):
        raise InputError(path, "names", f"shape {arrays['names'].shape}", f"shape ({heads},)")
    return [str(name) for name in arrays["names"]]


# -- random -----------------------------------------------------------------------------------


def random_head(length: int, dimension: int, seed: int, *, integers: bool) -> HeadData:
    """A head with independent entries from one seed.

    integers: uniform in −3 … 3; otherwise standard normal, in float32, Q divided by √d.
    """
    generator = np.random.default_rng(seed)
    shape = (length, dimension)
    matrices = {}
    for name in ("Q", "K", "V"):
        if integers:
            matrices[name] = generator.integers(-3, 4, shape)
        else:
            scale = dimension**-0.5 if name == "Q" else 1.0
            matrices[name] = (generator.standard_normal(shape) * scale).astype(np.float32)
    return HeadData(f"random {length},{dimension} seed {seed}", matrices)


def _file_size(path: Path) -> int:
    if path.is_dir():
        raise InputError(path, "file", "a directory", "a file")
    try:
        return path.stat().st_size
    except OSError as error:
        raise InputError(path, "file", error.strerror, "a readable file") from None


def _check_size(path: Path, size: int) -> None:
    if size > LARGEST_FILE:
        raise InputError(path, "file", f"{size} bytes", f"at most {LARGEST_FILE} bytes")
