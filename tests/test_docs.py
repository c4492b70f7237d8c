"""The documentation is executed: code blocks run, and the trace is what the command prints."""

import re
from pathlib import Path

import pytest

from symsim.cli.main import main

DOCS = Path(__file__).parents[1] / "symsim" / "docs"
BLOCK = re.compile(r"```(\w+)\n(.*?)```", re.DOTALL)


def blocks(page, language):
    found = [text for kind, text in BLOCK.findall((DOCS / page).read_text()) if kind == language]
    assert found, f"{page} has no {language} block"
    return found


@pytest.mark.parametrize("code", blocks("api.md", "python"))
def test_code_runs(code, capsys):
    exec(compile(code, "api.md", "exec"), {})
    said = [line.split("#")[1].split() for line in code.splitlines() if "print(" in line]
    assert capsys.readouterr().out.split() == [word for words in said for word in words]


def test_the_trace_is_what_the_command_prints(capsys):
    (command,), (output,) = blocks("trace.md", "sh"), blocks("trace.md", "text")
    assert main(command.split()[1:]) == 0
    printed = capsys.readouterr().out
    assert [line.rstrip() for line in printed.splitlines()] == output.splitlines()
