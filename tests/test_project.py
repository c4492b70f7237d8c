"""The whole tree: style, types, import layers, packaging."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
SCRIPTS = Path(sys.executable).parent


@pytest.mark.parametrize(
    "command",
    [
        ["ruff", "check", "."],
        ["ruff", "format", "--check", "."],
        ["mypy"],
        ["lint-imports"],
    ],
    ids=" ".join,
)
def test_checker_finds_nothing(command):
    result = subprocess.run(
        [SCRIPTS / command[0], *command[1:]],
        check=False,
        cwd=ROOT,
        capture_output=True,
        text=True,
        env={**os.environ, "PYTHONWARNINGS": "default"},
    )
    assert result.returncode == 0, result.stdout + result.stderr


def test_ci_runs_the_readme_test_command():
    lines = (ROOT / "README.md").read_text().splitlines()
    commands = [line for line in lines if line.startswith("python3 -m venv")]
    assert len(commands) == 2
    assert (ROOT / ".ci/run").read_text().splitlines()[-1] == commands[1]
    assert commands[1].endswith("pytest")


def test_readme_commands_are_on_the_first_screen():
    first_screen = "\n".join((ROOT / "README.md").read_text().splitlines()[:24])
    assert first_screen.count("python3 -m venv") == 2
