"""What a run is given: one head's matrices, from a case file, an .npz file or a seed.

Every bad input is an InputError of one line: the file, the field, what was found and what was
expected.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from pathlib import Path
from typing import Any, cast

import numpy as np

from symsim.arithmetic import Array
from symsim.model import Mask
from symsim.model.masks import MaskKind

_MASKS = ("full", "causal", "window", "sink")

_LONGEST = 60
"""Characters of a value that an error message quotes."""


class InputError(ValueError):
    """An input that cannot be used."""

    def __init__(self, source: object, place: str, found: object, expected: str) -> None:
        super().__init__(source, place, found, expected)
        self.source, self.place, self.found, self.expected = source, place, found, expected

    def __str__(self) -> str:
        source, place = one_line(str(self.source)), one_line(self.place)
        return f"{source}: {place}: found {one_line(str(self.found))}, expected {self.expected}"


@dataclass(frozen=True, eq=False)
class HeadData:
    """One head's matrices by name: Q, K, V (N × d), or X with parameters W_Q, W_K, W_V.

    tokens: the oracle's limit M where the input names one. expected: right answers, where a
    case file gives them (`output_base2`, `output_base_e`). file: where it was read from.
    """

    name: str
    matrices: Mapping[str, Array]
    parameters: Mapping[str, Array] = field(default_factory=dict)
    mask: Mask = field(default_factory=Mask)
    tokens: int | None = None
    expected: Mapping[str, list[list[Fraction]]] = field(default_factory=dict)
    file: str = ""

    @property
    def length(self) -> int:
        """N, the number of tokens."""
        return len(next(iter(self.matrices.values())))

    @property
    def place(self) -> str:
        """The head as an error message names it."""
        return f"{self.file}: {self.name}" if self.file else self.name

    @property
    def dimension(self) -> int:
        """d, the width of Q, or of X."""
        return int(next(iter(self.matrices.values())).shape[1])


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
    return HeadData(f"random {length},{dimension} #{seed}", matrices)


# -- what the readers of files share ----------------------------------------------------------


def read_bytes(path: Path, limit: int) -> bytes:
    """The file's content. Raises InputError if it is not readable, empty or beyond `limit`."""
    try:
        with open(path, "rb") as stream:
            status = os.fstat(stream.fileno())
            size = status.st_size if stat.S_ISREG(status.st_mode) else 0
            content = stream.read(limit + 1) if size <= limit else b""
    except (OSError, ValueError) as error:  # ValueError: a path with a NUL
        raise InputError(path, "file", reason(error), "a readable file") from None
    if max(size, len(content)) > limit:
        found = f"{size} bytes" if size else "more bytes"
        raise InputError(path, "file", found, f"at most {limit} bytes")
    if not content:
        raise InputError(path, "file", "no content", "a file that is not empty")
    return content


def reason(error: Exception) -> str:
    """Why the operating system refused, in words."""
    text = getattr(error, "strerror", None) or str(error) or type(error).__name__
    return f"{text[0].lower()}{text[1:]}" if text[1:2].islower() else text


def read_mask(path: Path, kind: object, window: int | None, sinks: int | None) -> Mask:
    """A mask from the fields of a file. Raises InputError naming the field that is wrong."""
    if kind not in _MASKS:
        raise InputError(path, "mask", quoted(kind), ", ".join(_MASKS))
    takes = {"window": kind in ("window", "sink"), "sinks": kind == "sink"}
    for name, value, least in (("window", window, 1), ("sinks", sinks, 0)):
        if takes[name] and (value is None or value < least):
            found = "nothing" if value is None else value
            raise InputError(path, name, found, f"an integer of at least {least} (mask {kind})")
        if not takes[name] and value is not None:
            raise InputError(path, name, value, f"none (mask {kind})")
    return Mask(cast("MaskKind", kind), window, sinks)


def quoted(value: object) -> str:
    """A value as a message quotes it: one line, cut if it is long."""
    if isinstance(value, int) and not isinstance(value, bool) and value.bit_length() > 4096:
        return f"an integer of {value.bit_length()} bits"  # Python refuses to print longest ones
    return excerpt(repr(value))


def excerpt(text: str) -> str:
    """The text, or its beginning and its length."""
    text = one_line(text)
    if len(text) <= _LONGEST:
        return text
    return f"{text[: _LONGEST // 2]}… ({len(text)} characters)"


def one_line(text: str) -> str:
    """The text on one line, with what a terminal cannot print escaped."""
    joined = " ".join(text.split())
    return "".join(c if c.isprintable() else ascii(c)[1:-1] for c in joined)


def read_name(path: Path, place: str, value: Any) -> str:
    """A head's name. Raises InputError unless it is one line of printable text."""
    if not isinstance(value, str) or not value.isprintable() or not 0 < len(value) <= 200:
        raise InputError(path, place, quoted(value), "printable text of up to 200 characters")
    return value
