"""Heads in .npz files: Q, K, V of shape (heads, tokens, d), or X with W_Q, W_K, W_V.

Headers are read before anything is allocated, so that a small file which declares large
arrays is refused; nothing is unpickled.
"""

from __future__ import annotations

import io
import math
import zipfile
from collections.abc import Mapping
from importlib.resources import as_file, files
from pathlib import Path
from typing import IO, Any

import numpy as np

from symsim.arithmetic import Array
from symsim.model import Mask
from symsim.simulation.inputs import (
    HeadData,
    InputError,
    one_line,
    read_bytes,
    read_mask,
    read_name,
    reason,
)

LARGEST_HEADS = 2**28
"""Bytes of an .npz file, also after decompression."""

SAMPLE = "minilm_prose.npz"

_GIVEN = (("Q", "K", "V"), ("X", "W_Q", "W_K", "W_V"))
_FIELDS = (*_GIVEN[0], *_GIVEN[1], "names", "mask", "window", "sinks")

_HEADERS = {
    (1, 0): np.lib.format.read_array_header_1_0,
    (2, 0): np.lib.format.read_array_header_2_0,
}


def read_heads(path: Path) -> list[HeadData]:
    """The heads in an .npz file. Raises InputError.

    X is (heads, tokens, d), or (tokens, d) where all heads share it; W_Q, W_K and W_V are
    (heads, d, width). Optional: `names` (heads), `mask` with `window` and `sinks` (full).
    """
    arrays = _read_arrays(path)
    given = _which(path, arrays)
    for name in given:
        _check_entries(path, name, arrays.get(name))
    heads = _check_shapes(path, arrays, given)
    mask, names = _mask(path, arrays), _names(path, arrays, heads)
    weights = [name for name in given if name.startswith("W_")]
    return [
        HeadData(
            names[h],
            {name: _of_head(arrays[name], h) for name in given if name not in weights},
            {name: arrays[name][h] for name in weights},
            mask,
            file=one_line(str(path)),
        )
        for h in range(heads)
    ]


def sample_heads() -> list[HeadData]:
    """The packaged sample: eight heads of all-MiniLM-L6-v2 on 128 tokens of English prose."""
    with as_file(files("symsim") / "data" / SAMPLE) as path:
        return read_heads(path)


def _of_head(array: Array, head: int) -> Array:
    """The head's matrix, or the one that all heads share."""
    return array[head] if array.ndim == 3 else array


# -- reading ----------------------------------------------------------------------------------


def _read_arrays(path: Path) -> dict[str, Array]:
    """The known arrays of the file; others are not read."""
    content = read_bytes(path, LARGEST_HEADS)
    try:
        with zipfile.ZipFile(io.BytesIO(content)) as archive:
            members = {info.filename.removesuffix(".npy"): info for info in archive.infolist()}
            members = {name: members[name] for name in _FIELDS if name in members}
            size = sum(info.file_size for info in members.values())
            if size > LARGEST_HEADS:
                raise InputError(
                    path, "file", f"{size} bytes of arrays", f"at most {LARGEST_HEADS}"
                )
            return {name: _read(path, archive, info) for name, info in members.items()}
    except (zipfile.BadZipFile, OSError) as error:
        raise InputError(path, "file", reason(error), "an .npz file") from None


def _read(path: Path, archive: zipfile.ZipFile, info: zipfile.ZipInfo) -> Array:
    """One array. Raises InputError."""
    name = info.filename.removesuffix(".npy")
    try:
        with archive.open(info) as stream:
            dtype, size = _declared(stream)
            there = info.file_size - stream.tell()
        if not dtype.hasobject and size <= there:
            with archive.open(info) as stream:
                array: Array = np.lib.format.read_array(stream, allow_pickle=False)
            return array
    except Exception as error:  # a damaged archive makes its decoders raise whatever they like
        raise InputError(path, name, reason(error), "an array of numbers") from None
    if dtype.hasobject:
        raise InputError(path, name, "Python objects", "an array of numbers")
    raise InputError(path, name, f"{there} bytes", f"the {size} that its header declares")


def _declared(stream: IO[bytes]) -> tuple[np.dtype[Any], int]:
    """dtype and bytes of an array, as its header has them."""
    version = np.lib.format.read_magic(stream)
    if version not in _HEADERS:
        raise ValueError(f"format version {version}")
    shape, _, dtype = _HEADERS[version](stream)
    if any(length < 0 for length in shape):
        raise ValueError(f"shape {shape}")
    return dtype, math.prod(shape) * dtype.itemsize


# -- what is read -----------------------------------------------------------------------------


def _which(path: Path, arrays: Mapping[str, Array]) -> tuple[str, ...]:
    """The names that are given: Q, K, V or X, W_Q, W_K, W_V."""
    there = [[name for name in names if name in arrays] for names in _GIVEN]
    if all(there):
        found = " and ".join(names[0] for names in there)
        raise InputError(path, "arrays", found, "either Q, K, V or X, W_Q, W_K, W_V")
    return _GIVEN[1] if there[1] else _GIVEN[0]


def _check_entries(path: Path, name: str, array: Array | None) -> None:
    if array is None:
        raise InputError(path, name, "nothing", "an array")
    if array.dtype.kind not in "fiu" or array.dtype.itemsize > 8:
        raise InputError(path, name, f"dtype {array.dtype}", "integers or floats of up to 64 bits")
    expected = "(heads, d, width)" if name.startswith("W_") else "(heads, tokens, d)"
    if not (array.ndim == 3 or (array.ndim == 2 and name == "X")) or 0 in array.shape:
        raise InputError(path, name, f"shape {array.shape}", f"{expected}, none of them 0")
    if not np.isfinite(array).all():
        index = tuple(int(i) for i in np.argwhere(~np.isfinite(array))[0])
        place = f"{name}[{', '.join(map(str, index))}]"
        raise InputError(path, place, str(array[index]), "a finite number")


def _check_shapes(path: Path, arrays: Mapping[str, Array], given: tuple[str, ...]) -> int:
    """The number of heads."""
    first, second = arrays[given[0]], arrays[given[1]]
    heads = len(first) if first.ndim == 3 else len(second)
    tokens, width = first.shape[-2:]
    inner = "W_Q" if "X" in given else "Q"
    for name in given[1:]:
        rows = width if name.startswith("W_") else tokens
        columns = None if name in ("V", "W_V", "W_Q") else arrays[inner].shape[2]
        shape = arrays[name].shape
        if shape[:2] != (heads, rows) or columns not in (None, shape[2]):
            expected = f"({heads}, {rows}, {'…' if columns is None else columns})"
            raise InputError(path, name, f"shape {shape}", f"{expected}, to fit {given[0]}")
    return heads


def _mask(path: Path, arrays: Mapping[str, Array]) -> Mask:
    kind = arrays.get("mask", np.array("full"))
    if kind.size != 1 or kind.dtype.kind != "U":
        raise InputError(path, "mask", f"shape {kind.shape}, dtype {kind.dtype}", "one string")
    window, sinks = (_integer(path, name, arrays.get(name)) for name in ("window", "sinks"))
    return read_mask(path, str(kind.item()), window, sinks)


def _integer(path: Path, name: str, array: Array | None) -> int | None:
    if array is None:
        return None
    if array.size != 1 or array.dtype.kind not in "iu":
        raise InputError(path, name, f"shape {array.shape}, dtype {array.dtype}", "one integer")
    return int(array.item())


def _names(path: Path, arrays: Mapping[str, Array], heads: int) -> list[str]:
    if "names" not in arrays:
        return [f"head {h}" for h in range(heads)]
    names = arrays["names"]
    if names.shape != (heads,):
        raise InputError(path, "names", f"shape {names.shape}", f"shape ({heads},)")
    return [read_name(path, f"names[{h}]", name) for h, name in enumerate(names.tolist())]
