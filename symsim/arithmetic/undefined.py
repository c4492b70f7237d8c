"""UNDEFINED: the absorbing result of dividing by zero where numbers are exact."""

from __future__ import annotations

from typing import Any, Final


class Undefined:
    """The one value UNDEFINED: every operation on it gives it back; it equals nothing.

    Exact arithmetics have no NaN. MLPs run on every row of a call, also on rows that nobody
    reads, so a division by zero must not stop the run; it must also never look like a number.
    """

    _only: Undefined | None = None

    def __new__(cls) -> Undefined:
        if cls._only is None:
            cls._only = super().__new__(cls)
        return cls._only

    def _absorb(self, *_: Any) -> Undefined:
        return self

    __add__ = __radd__ = __sub__ = __rsub__ = __mul__ = __rmul__ = _absorb
    __truediv__ = __rtruediv__ = __pow__ = __rpow__ = __neg__ = __pos__ = __abs__ = _absorb

    def __eq__(self, other: object) -> bool:
        return False

    def __ne__(self, other: object) -> bool:
        return True

    __hash__ = object.__hash__

    def __repr__(self) -> str:
        return "UNDEFINED"

    def __reduce__(self) -> str:
        return "UNDEFINED"


UNDEFINED: Final = Undefined()
