"""Registers: stored matrices of which only the shape is known, and their arrangements.

While a plan is recorded, a row of a stored matrix is just an address. Arranging (taking rows
or columns, reversing, concatenating) moves addresses; no number exists yet.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from symsim.terms import Columns

Addresses = np.ndarray[Any, np.dtype[np.int64]]


class ArrangementError(ValueError):
    """Registers do not fit together as arranged."""


class Field(NamedTuple):
    """A column group of a register: its width and the address of each row.

    Addresses count the rows of the bank that stores all column groups of that width; they are
    read-only, as a step counted once must not come to read other rows later. level: that of
    all its rows (see `Bank`), or None if they differ.
    """

    width: int
    addresses: Addresses
    level: int | None


@dataclass(frozen=True, slots=True, eq=False)
class Register:
    """A matrix of `rows` rows whose column groups have names and widths.

    owner: identifies the plan whose storage the addresses count.
    """

    fields: Mapping[str, Field]
    rows: int
    owner: object

    @property
    def columns(self) -> Columns:
        """Widths of the column groups by name."""
        return {name: field.width for name, field in self.fields.items()}

    def __getitem__(self, rows: slice) -> Register:
        """The rows of a slice, `[::-1]` reverses; an arrangement, not an operation."""
        fields = {
            name: Field(width, addresses[rows], level)
            for name, (width, addresses, level) in self.fields.items()
        }
        return Register(fields, len(range(*rows.indices(self.rows))), self.owner)

    def select(self, *names: str) -> Register:
        """The named column groups, in the given order."""
        self._check_names(names, known=True)
        return Register({name: self.fields[name] for name in names}, self.rows, self.owner)

    def named(self, *names: str) -> Register:
        """The same matrix with its column groups called `names`."""
        self._check_names(names, known=False)
        fields = dict(zip(names, self.fields.values(), strict=True))
        return Register(fields, self.rows, self.owner)

    def _check_names(self, names: tuple[str, ...], *, known: bool) -> None:
        if len(set(names)) != len(names):
            raise ArrangementError(f"the column names {list(names)} repeat")
        if known and not self.fields.keys() >= set(names):
            raise ArrangementError(f"columns {list(names)}, the register has {list(self.fields)}")
        if not known and len(names) != len(self.fields):
            raise ArrangementError(f"{len(names)} names for {len(self.fields)} column groups")


def beside(*registers: Register) -> Register:
    """Concatenation by columns. Raises ArrangementError for unequal rows or a repeated name."""
    owner = _common_owner(registers)
    rows = registers[0].rows
    fields: dict[str, Field] = {}
    for register in registers:
        if register.rows != rows:
            raise ArrangementError(f"beside: {register.rows} rows, expected {rows}")
        if repeated := fields.keys() & register.fields.keys():
            raise ArrangementError(f"beside: the columns {sorted(repeated)} occur twice")
        fields.update(register.fields)
    return Register(fields, rows, owner)


def stack(*registers: Register) -> Register:
    """Concatenation by rows. Raises ArrangementError unless all have the same columns."""
    owner = _common_owner(registers)
    if len(registers) == 1:
        return registers[0]
    columns = registers[0].columns
    for register in registers:
        if register.columns != columns:
            raise ArrangementError(f"stack: columns {register.columns}, expected {columns}")
    fields = {name: _joined([register.fields[name] for register in registers]) for name in columns}
    return Register(fields, sum(register.rows for register in registers), owner)


def _joined(fields: Sequence[Field]) -> Field:
    addresses = np.concatenate([field.addresses for field in fields])
    addresses.setflags(write=False)
    levels = {field.level for field in fields}
    return Field(fields[0].width, addresses, levels.pop() if len(levels) == 1 else None)


def _common_owner(registers: tuple[Register, ...]) -> object:
    if not registers:
        raise ArrangementError("no register, expected at least one")
    if any(register.owner is not registers[0].owner for register in registers):
        raise ArrangementError("registers of different plans")
    return registers[0].owner
