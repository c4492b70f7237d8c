"""Case files: one head as JSON, with the right answers where they are known."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from fractions import Fraction
from pathlib import Path
from typing import Any, NoReturn

import numpy as np

from symsim.arithmetic import Array
from symsim.model import Mask
from symsim.simulation.inputs import (
    HeadData,
    InputError,
    one_line,
    quoted,
    read_bytes,
    read_mask,
    read_name,
)

LARGEST_CASE = 2**26
"""Bytes of a case file."""

LARGEST_DIGITS = 4300
"""Digits of a number written out: Python's own limit."""

_NUMBER = re.compile(
    r"[+-]?(?P<whole>[0-9]+)(?:/[0-9]+|(?:\.(?P<part>[0-9]+))?(?:[eE](?P<exponent>[+-]?[0-9]+))?)"
)

_ANSWERS = ("output_base2", "output_base_e")


def read_case(path: Path) -> HeadData:
    """The case in a JSON file. Raises InputError."""
    case = _read_json(path)
    if not isinstance(case, dict):
        raise InputError(path, "file", f"a JSON {type(case).__name__}", "a JSON object")
    length = _integer(path, case, "N", least=1)
    width = _integer(path, case, "d", least=1)
    return HeadData(
        read_name(path, "id", case.get("id", one_line(path.stem))),
        {name: _matrix(path, case, name, length, width) for name in ("Q", "K", "V")},
        mask=_mask(path, case),
        tokens=_integer(path, case, "M", least=2),
        expected={
            name: _matrix(path, case, name, length, width).tolist()
            for name in _ANSWERS
            if case.get(name) is not None
        },
        file=one_line(str(path)),
    )


def _read_json(path: Path) -> object:
    """The file's value; floats and integers of many digits stay text, so that nothing is lost."""
    content = read_bytes(path, LARGEST_CASE)
    try:
        return json.loads(
            content.decode("utf-8-sig"),
            parse_float=str,
            parse_int=lambda text: int(text) if len(text) <= LARGEST_DIGITS else text,
            parse_constant=str,
            object_pairs_hook=lambda pairs: _object(path, pairs),
        )
    except UnicodeDecodeError:
        raise InputError(path, "file", "bytes that are not UTF-8", "JSON text") from None
    except json.JSONDecodeError as error:
        place = f"line {error.lineno}, column {error.colno}"
        raise InputError(path, place, f"{error.msg!r}", "valid JSON") from None
    except RecursionError:
        raise InputError(path, "file", "nesting without end", "a JSON object") from None


def _object(path: Path, pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    value = dict(pairs)
    if len(value) < len(pairs):
        names = [name for name, _ in pairs]
        twice = next(name for name in names if names.count(name) > 1)
        raise InputError(path, quoted(twice), f"{names.count(twice)} times", "each field once")
    return value


def _integer(path: Path, case: Mapping[str, Any], name: str, *, least: int) -> int:
    value = case.get(name)
    if isinstance(value, bool) or not isinstance(value, int) or value < least:
        found = quoted(value) if name in case else "nothing"
        raise InputError(path, name, found, f"an integer of at least {least}")
    return value


def _mask(path: Path, case: Mapping[str, Any]) -> Mask:
    window, sinks = (
        None if case.get(name) is None else _integer(path, case, name, least=0)
        for name in ("window", "sinks")
    )
    return read_mask(path, case.get("mask", "full"), window, sinks)


def _matrix(path: Path, case: Mapping[str, Any], name: str, length: int, width: int) -> Array:
    """The N × d matrix called `name`, entries as Fractions."""
    rows = case.get(name)
    if not isinstance(rows, list) or len(rows) != length:
        found = quoted(rows) if name in case else "nothing"
        if isinstance(rows, list):
            found = f"{len(rows)} rows"
        raise InputError(path, name, found, f"{quoted(length)} rows (N)")
    entries = []
    for i, row in enumerate(rows):
        if not isinstance(row, list) or len(row) != width:
            found = f"{len(row)} entries" if isinstance(row, list) else quoted(row)
            raise InputError(path, f"{name}[{i}]", found, f"{quoted(width)} entries (d)")
        entries.append([_number(path, f"{name}[{i}][{c}]", entry) for c, entry in enumerate(row)])
    matrix = np.empty((length, width), dtype=object)
    matrix[:] = entries
    return matrix


def _number(path: Path, place: str, value: object) -> Fraction:
    if isinstance(value, int) and not isinstance(value, bool):
        return Fraction(value)
    match = _NUMBER.fullmatch(value) if isinstance(value, str) else None
    if match is None:
        _refuse(path, place, value, 'a finite number or a fraction "p/q"')
    digits = len(match[0]) + abs(int((match["exponent"] or "0")[:9]))
    if digits > LARGEST_DIGITS:
        _refuse(path, place, value, f"at most {LARGEST_DIGITS} digits")
    try:
        return Fraction(match[0])
    except ZeroDivisionError:
        _refuse(path, place, value, "a denominator other than 0")


def _refuse(path: Path, place: str, value: object, expected: str) -> NoReturn:
    raise InputError(path, place, quoted(value), expected)
