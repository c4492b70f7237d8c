"""Text for people: lines wrapped to the width of the terminal, 80 columns in a pipe."""

from __future__ import annotations

import re
import textwrap
from collections.abc import Iterable

from rich.console import Console

from symsim.cli.output import print_line

_HANG = 2
_VALUE = re.compile(r"\b(\w+) = (-?[\w/]+)(?=[,;:)]|$)")
_NO_BREAK = "\N{NO-BREAK SPACE}"


def print_wrapped(out: Console, lines: Iterable[str], hang: int | None = None) -> None:
    """Lines broken at blanks, but not within `N = 2`.

    What is broken off goes to the column `hang`, or a little further in than its line. What has
    no blanks, such as a long formula, stays whole.
    """
    for line in lines:
        indent = len(line) - len(line.lstrip()) + _HANG if hang is None else hang
        wrapped = textwrap.wrap(
            _VALUE.sub(rf"\1{_NO_BREAK}={_NO_BREAK}\2", line),
            out.width,
            subsequent_indent=" " * indent,
            break_long_words=False,
            break_on_hyphens=False,
        )
        print_line(out, "\n".join(wrapped).replace(_NO_BREAK, " "))
