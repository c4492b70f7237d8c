"""The installed command: what it prints, records and returns."""

import json
import os
import pty
import re
import shutil
import subprocess
import sys
import threading
from pathlib import Path

import jsonschema
import numpy as np
import pytest
from support import CASES

import symsim
from symsim.arithmetic import ARITHMETICS
from symsim.cli.main import main
from symsim.simulation.record import schema

RAGGED = str(CASES / "full-ragged.json")
SCRIPT = Path(sys.executable).with_name("symsim")


def process(*command, **environment):
    return subprocess.run(
        command,
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
        stdin=subprocess.DEVNULL,
        env={**os.environ, **environment},
    )


def run_full(capsys, *arguments, code=0):
    assert main(["run", "full", *arguments]) == code
    out, err = capsys.readouterr()
    assert err == ""
    return out


def run_json(capsys, *arguments, code=0):
    value = json.loads(run_full(capsys, *arguments, "--json", "-", code=code))
    jsonschema.validate(value, schema())
    return value


# -- the installed script ---------------------------------------------------------------------


def test_version():
    result = process(SCRIPT, "--version")
    assert (result.returncode, result.stderr) == (0, "")
    assert result.stdout == f"symsim {symsim.__version__}\n"


def test_list():
    result = process(SCRIPT, "list")
    assert (result.returncode, result.stderr) == (0, "")
    assert "Lemma B.1" in result.stdout
    for name in ARITHMETICS:
        assert name in result.stdout


@pytest.mark.parametrize("command", [[], ["run"], ["list"]])
def test_help(command):
    result = process(SCRIPT, *command, "--help")
    assert (result.returncode, result.stderr) == (0, "")
    assert result.stdout.startswith("usage: symsim")


def test_module_runs_a_case():
    result = process(sys.executable, "-m", "symsim", "run", "full", "--case", RAGGED)
    assert (result.returncode, result.stderr) == (0, "")
    assert result.stdout.endswith(
        "exact: for full-ragged, with 2^logit for exp, the simulation equals dense attention and "
        "the case file's answer exactly (ε = 0).\n"
    )


def test_outside_a_checkout(tmp_path):
    result = subprocess.run(
        [SCRIPT, "run", "full", "--random", "3,1", "--json", "out.json"],
        cwd=tmp_path, capture_output=True, text=True, timeout=60, check=True,
    )  # fmt: skip
    assert result.stderr == ""
    assert os.listdir(tmp_path) == ["out.json"]
    jsonschema.validate(json.loads((tmp_path / "out.json").read_text()), schema())


def test_start_up_does_not_import_sympy():
    code = "import sys, symsim.cli.command_line; sys.exit('sympy' in sys.modules)"
    assert process(sys.executable, "-c", code).returncode == 0


def test_a_locale_without_greek():
    """Python then cannot print ≤ and ε: they are escaped, nothing fails."""
    command = (SCRIPT, "run", "full", "--case", RAGGED, "--trace")
    result = process(*command, PYTHONIOENCODING="ascii", PYTHONUTF8="0")
    assert (result.returncode, result.stderr) == (0, "")
    assert r"(\u03b5 = 0)" in result.stdout


# -- output for people ------------------------------------------------------------------------


def test_sample(capsys):
    lines = run_full(capsys).splitlines()
    for name in ("float32", "bfloat16", "ball:128"):
        assert sum(line.startswith(f"{name} (base e)") for line in lines) == 1
    assert sum(line.startswith("layer") for line in lines) == 3 * 8
    assert all("153" in line and "0 of 128" in line for line in lines if line.startswith("layer"))
    assert lines[-3].startswith("float32: measured: every row of each of 8 heads is finite")
    assert lines[-2].startswith("bfloat16: measured: every row of each of 8 heads is finite")
    assert lines[-1].startswith("ball:128: certified for each of 8 heads: in every entry")


def test_rows_of_the_table(capsys):
    out = run_full(capsys, "--case", RAGGED, "--arith", "exact", "--arith", "float32")
    exact, measured = re.findall(r"^full-ragged +(.*?) *$", out, re.MULTILINE)
    # calls, rounds, tokens, embedding, error, not finite
    assert exact.split() == ["27", "2", "4", "11", "0", "0", "of", "11"]
    assert measured.split()[:4] == ["27", "2", "4", "11"]
    assert measured.split()[-3:] == ["0", "of", "11"]


@pytest.mark.parametrize("columns", ["20", "80", "200"])
def test_nothing_is_cut(columns, capsys, monkeypatch, tmp_path):
    monkeypatch.setenv("COLUMNS", columns)
    path = tmp_path / "heads.npz"
    one, name = np.ones((1, 40, 2)), "a_head_of_a_long_name_without_any_break_in_it"
    np.savez(path, Q=one, K=one, V=one, names=np.array([name]))
    out = run_full(capsys, "--heads", str(path), "--tokens", "3", "--arith", "bfloat16")
    assert "…" not in out
    assert name in "".join(line.split(" ")[0] for line in out.splitlines())
    assert "not finite" in out
    assert "0 of 40" in out


def test_runs_that_break_return_1(capsys):
    arguments = ("--readout", "printed", "--arith", "float16")
    out = run_full(capsys, *arguments, code=1)
    assert "rows of 8 heads together are NOT finite" in out.splitlines()[-1]


def test_tampered_case_returns_1(capsys, tmp_path):
    case = json.loads(Path(RAGGED).read_text())
    case["output_base2"][3][1] = "1/3"
    path = tmp_path / "tampered.json"
    path.write_text(json.dumps(case))
    out = run_full(capsys, "--case", str(path), code=1)
    assert "does NOT agree with the case file's answer on full-ragged" in out
    value = run_json(capsys, "--case", str(path), code=1)
    assert (value["reference"]["equal"], value["reference"]["case_agrees"]) == (True, False)


def test_undecided_returns_4(capsys, monkeypatch):
    monkeypatch.setattr(sys.modules["symsim.simulation.simulate"], "LARGEST_PRECISION", 0)
    large = str(CASES / "full-large-logits.json")
    out = run_full(capsys, "--case", large, "--arith", "ball:4", code=4)
    assert "ball:4: undecided on full-large-logits: the enclosures are too wide" in out
    value = run_json(capsys, "--case", large, "--arith", "ball:4", code=4)
    assert value["reference"]["equal"] is None


# -- JSON -------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["even", "large-logits", "m2", "one-block", "one-token", "ragged"])
def test_json_of_cases(name, capsys):
    path = CASES / f"full-{name}.json"
    value = run_json(capsys, "--case", str(path))
    assert value["output"] == json.loads(path.read_text())["output_base2"]
    assert value["reference"]["equal"] is True
    assert value["reference"]["max_relative_error"] == 0


def test_json_of_several_heads_is_a_list(capsys):
    values = run_json(capsys, "--arith", "float32")
    assert len(values) == 8
    assert {value["reference"]["equal"] for value in values} == {None}
    assert len({value["head"] for value in values}) == 8


def test_two_runs_are_equal_outside_volatile(capsys):
    first, second = (run_json(capsys, "--random", "5,2", "--seed", "3") for _ in range(2))
    del first["volatile"], second["volatile"]
    assert first == second
    third = run_json(capsys, "--random", "5,2", "--seed", "4")
    assert third["output"] != first["output"]


def test_one_random_head_for_all_arithmetics(capsys):
    """Integers, if one of them is exact: its value lies in the balls."""
    exact, ball = run_json(
        capsys, "--random", "4,2", "--arith", "exact", "--arith", "ball:99:base2"
    )
    assert (exact["arithmetic"], ball["arithmetic"]) == ("exact", "ball:99:base2")
    p, q = map(int, exact["output"][0][0].split("/"))
    middle = float(ball["output"][0][0].strip("[").split(" ")[0])
    assert middle == pytest.approx(p / q, rel=1e-12)


def test_json_file_and_table(capsys, tmp_path):
    path = tmp_path / "out.json"
    path.write_text("before")
    out = run_full(capsys, "--case", RAGGED, "--json", str(path))
    assert "exactly (ε = 0)" in out
    assert json.loads(path.read_text())["head"] == "full-ragged"
    assert os.listdir(tmp_path) == ["out.json"]


def test_json_file_has_the_permissions_of_new_files(capsys, tmp_path):
    old = os.umask(0o027)
    try:
        run_full(capsys, "--random", "2,1", "--json", str(tmp_path / "out.json"))
    finally:
        os.umask(old)
    assert (tmp_path / "out.json").stat().st_mode & 0o777 == 0o640


def test_json_through_a_link(capsys, tmp_path):
    (tmp_path / "link").symlink_to("target")
    run_full(capsys, "--random", "2,1", "--json", str(tmp_path / "link"))
    assert (tmp_path / "link").is_symlink()
    assert json.loads((tmp_path / "target").read_text())["N"] == 2


def test_json_to_a_device(capsys):
    run_full(capsys, "--random", "2,1", "--json", "/dev/null")
    assert Path("/dev/null").is_char_device()


def test_json_to_the_name_of_standard_output(tmp_path):
    """A pipe is written to, not replaced."""
    result = process(SCRIPT, "run", "full", "--random", "2,1", "--json", "/dev/stdout")
    assert (result.returncode, result.stderr) == (0, "")
    assert result.stdout.startswith("{")
    assert "ball:128: certified for random 2,1" in result.stdout


def test_json_is_written_even_if_nobody_reads_the_table(tmp_path):
    reader, writer = os.pipe()
    os.close(reader)
    command = [SCRIPT, "run", "full", "--random", "2,1", "--json", tmp_path / "out.json"]
    with open(writer, "w") as closed:
        subprocess.run(command, stdout=closed, timeout=60, check=False)
    assert json.loads((tmp_path / "out.json").read_text())["N"] == 2


def test_json_and_trace_to_standard_output(capsys):
    """Standard output is JSON alone; the trace goes to standard error."""
    assert main(["run", "full", "--random", "2,1", "--json", "-", "--trace"]) == 0
    out, err = capsys.readouterr()
    assert json.loads(out)["N"] == 2
    assert err.startswith(
        "random 2,1 #0 in ball:128\nround 1, call of 3 tokens: block (0, 0) (1 of 1)\n"
    )


def test_heads_given_by_a_shared_x(capsys, tmp_path):
    rng = np.random.default_rng(0)
    path = tmp_path / "heads.npz"
    weights = {f"W_{side}": rng.standard_normal((2, 3, 2)) for side in "QKV"}
    np.savez(path, X=rng.standard_normal((5, 3)), **weights)
    values = run_json(capsys, "--heads", str(path), "--arith", "ball:80", "--tokens", "3")
    assert [value["reference"]["equal"] for value in values] == [True, True]
    assert [value["d"] for value in values] == [3, 3]


# -- terminals --------------------------------------------------------------------------------


def on_terminal(*arguments, **environment):
    """What the script writes to a terminal that is its standard output and error."""
    controller, terminal = pty.openpty()
    child = subprocess.Popen(
        [SCRIPT, *arguments],
        stdin=subprocess.DEVNULL,
        stdout=terminal,
        stderr=terminal,
        env={**os.environ, "TERM": "xterm", "COLUMNS": "80", **environment},
    )
    os.close(terminal)
    killer = threading.Timer(60, child.kill)
    killer.start()
    written = b""
    try:
        while part := os.read(controller, 4096):
            written += part
    except OSError:  # the other end has closed
        pass
    finally:
        killer.cancel()
        os.close(controller)
    assert child.wait() == 0
    return written.decode()


def test_progress_shows_on_a_terminal_only():
    arguments = ("run", "full", "--random", "100,2", "--tokens", "5", "--arith", "float32")
    assert "float32  random 100,2" in on_terminal(*arguments)
    result = process(SCRIPT, *arguments)
    assert (result.returncode, result.stderr) == (0, "")
    assert "\x1b" not in result.stdout


def test_no_color():
    arguments = ("run", "full", "--random", "3,1")
    assert "\x1b[1m" in on_terminal(*arguments)
    assert not re.search(r"\x1b\[[0-9;]*m", on_terminal(*arguments, NO_COLOR="1"))


@pytest.mark.skipif(shutil.which("bash") is None, reason="needs a shell")
def test_head_of_the_output():
    command = f"set -o pipefail; {SCRIPT} run full --random 60,1 --tokens 6 --trace | head -1"
    result = process("bash", "-c", command)
    assert result.stderr == ""
    assert result.stdout.count("\n") == 1
