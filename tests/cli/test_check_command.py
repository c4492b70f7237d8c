"""check, show, replay, findings, report: what they print, write and return, on small documents."""

import importlib.util
import json
import os
import pty
import re
import signal
import subprocess
import sys
import time
from pathlib import Path
from xml.etree import ElementTree

import jsonschema
import pytest

from symsim.claims.library import load, packaged
from symsim.cli.main import main
from symsim.report.record import schema

SCRIPT = Path(sys.executable).with_name("symsim")

TINY = """
from symsim.claims import *

x, y = symbols("x y")
line = domain(real(x), real(y))

def plan(size):
    raise ValueError("a \\x01 broken\\nplan")

DOCUMENT = Document(
    id="tiny",
    title="A tiny paper",
    statements=(
        Statement("T.1", "doubling", "x + x is 2x.", (
            Step("T.1.1", "Doubling.", identity(x + x, 2 * x, line)),
            Step("T.1.2", "Squaring & <doubling>.", identity(x * x, 2 * x, line),
                 expect=Kind.REFUTED, finding="F1"),
            Step("T.1.2′", "Squaring.", identity(x * x * y, x * (x * y), line),
                 role="repaired", repairs="T.1.2", finding="F1"),
        )),
        Statement("T.2", "the rest", "What is cited and open.", (
            Step("T.2.1", "Cited.", Imported("A. Author 2020, Theorem 3", "P ≠ NP"),
                 expect=Kind.IMPORTED),
            Step("T.2.2", "Open.", Unproved("nobody looked"), expect=Kind.NOT_RUN),
        ), uses=("T.1",)),
        Statement("T.3", "bounds", "Squares.", (
            Step("T.3.1", "x² ≥ 0.", inequality(at_most(0, x * x), line), role="lemma"),
        )),
    ),
    findings=(Finding("F1", "T.1", "x² is not 2x.", "x².", "new", ("T.1.2", "T.1.2′"), "x³"),),
    objections=(Objection("referee", "Why?", "Because.", ("T.1.2",)),),
)
"""


@pytest.fixture
def tiny(tmp_path):
    return written(tmp_path, TINY)


def written(folder, text, name="tiny.py"):
    path = folder / name
    path.write_text(text, encoding="utf-8")
    return path


def changed(folder, old, new):
    assert TINY.count(old) == 1, old
    return written(folder, TINY.replace(old, new))


def run(capsys, *arguments, code=0):
    assert main([str(argument) for argument in arguments]) == code
    out, err = capsys.readouterr()
    assert err == ""
    return out


def refused(capsys, *arguments, code=2):
    assert main([str(argument) for argument in arguments]) == code
    out, err = capsys.readouterr()
    assert out == ""
    assert err.startswith("symsim: ")
    assert err.count("\n") == 1
    return err


def record(capsys, *arguments, code=0):
    value = json.loads(run(capsys, "check", *arguments, "--json", "-", code=code))
    jsonschema.validate(value, schema())
    return value


def without_volatile(value):
    return {name: part for name, part in value.items() if name != "volatile"}


# -- check ------------------------------------------------------------------------------------


def test_check_prints_statements_steps_and_dependencies(capsys, tiny):
    out = run(capsys, "check", tiny)
    assert "T.1  doubling" in out
    assert "as printed: fails (T.1.2); after repair: holds after repair of T.1.2" in out
    assert "as printed: fails (T.1); after repair: open (T.2.2)" in out
    assert re.search(r"T\.1\.2  +refuted; x = -?\d+, y = 0", out)
    assert "no circles; used by none and using none: T.3." in out
    assert "6 steps: 3 proved, 1 refuted, 1 imported, 1 not run;" in out
    assert "all as expected" in out


def test_a_false_step_fails_the_run_and_is_named(capsys, tmp_path):
    out = run(capsys, "check", changed(tmp_path, "2 * x, line)),", "3 * x, line)),"), code=1)
    assert re.search(r"^! T\.1\.1 .*refuted \(expected proved\)", out, re.MULTILINE)
    assert "NOT as expected: T.1.1." in out


def test_a_wrong_expectation_fails_the_run_and_is_named(capsys, tmp_path):
    path = changed(tmp_path, "2 * x, line)),", "2 * x, line), expect=Kind.REFUTED),")
    assert "NOT as expected: T.1.1." in run(capsys, "check", path, code=1)


def test_a_step_that_is_not_run_and_was_expected_to_be_is_one(capsys, tmp_path):
    path = changed(tmp_path, ", expect=Kind.NOT_RUN", "")
    assert "NOT as expected: T.2.2." in run(capsys, "check", path, code=1)


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("identity(x + x, 2 * x, line)", "identity(x, x, line)"),
        ("identity(x + x, 2 * x, line)", 'Acceptance("it", plan, sizes("N", (1,)))'),
    ],
)
def test_what_is_merely_open_is_four(capsys, tmp_path, old, new):
    path = changed(tmp_path, old, new)
    junit = tmp_path / "junit.xml"
    assert "NOT as expected" in run(capsys, "check", path, "--junit", junit, code=4)
    ElementTree.parse(junit)


@pytest.mark.parametrize("name", ["T.1.2'", "T.1.2′"])
def test_part_of_a_document_by_path(capsys, tiny, name):
    out = run(capsys, "check", tiny, name)
    assert "1 step: 1 proved" in out
    assert "partly checked, without T.1.1" in out


def test_packaged_parts_by_name(capsys):
    out = run(capsys, "check", "A.1.1", "state.one-key", "A.1.1")
    assert out.count("1 step: 1 proved") == 2


def test_lines_fit_eighty_columns(capsys):
    out = run(capsys, "check", "A.1", "2.1", "B.1R.tokens", "B.1.2")
    assert all(len(line) <= 80 for line in out.splitlines()), out
    assert "…" not in run(capsys, "check", "2.1")


def test_an_installed_check_is_silent_on_a_pipe_and_shows_a_bar_on_a_terminal(tiny):
    piped = subprocess.run([SCRIPT, "check", tiny], capture_output=True, text=True, check=True)
    assert piped.stderr == ""
    assert "\x1b" not in piped.stdout
    ours, theirs = pty.openpty()
    command = [SCRIPT, "check", tiny]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=theirs, text=True) as process:
        assert process.stdout.read() == piped.stdout
    os.close(theirs)
    assert b"tiny" in os.read(ours, 10_000)
    os.close(ours)


# -- records ----------------------------------------------------------------------------------


def test_record_holds_everything(capsys, tiny):
    value = record(capsys, tiny)
    (document,) = value["documents"]
    one, two, three = document["statements"]
    assert (one["as_printed"], one["as_printed_because"]) == ("fails", ["T.1.2"])
    assert (two["after_repair"], two["uses"]) == ("open", ["T.1"])
    assert [one["in_paper"], three["in_paper"]] == [True, False]
    assert document["orphans"] == ["T.3"]
    refuted = one["steps"][1]
    at = int(refuted["witness"]["x"])
    assert at * at != 2 * at
    assert refuted["verdict"] == refuted["expected"] == "refuted"
    assert document["findings"][0]["open"] == "x³"


def test_record_keeps_all_sizes(capsys):
    (document,) = record(capsys, "B.1R.tokens")["documents"]
    (statement,) = document["statements"]
    (step,) = statement["steps"]
    assert len(step["sizes"]) == 120
    assert statement["complete"] is False
    assert statement["after_repair"] == "partly checked"


MIXED = ("A.1.2", "2.3.2", "A.2.3", "B.1.4", "Recovery.rounding-r", "Gating.simple", "B.1R.sharp")


def test_two_runs_are_equal_outside_volatile(capsys):
    first, second = record(capsys, *MIXED), record(capsys, *MIXED, "--jobs", "2")
    assert without_volatile(first) == without_volatile(second)
    assert set(first["volatile"]["seconds"]) == set(MIXED)


@pytest.mark.parametrize(
    "tamper",
    [
        lambda value: value.pop("seed"),
        lambda value: value.update(extra=1),
        lambda value: value["schema"].update(version=2),
        lambda value: value.update(documents=[]),
        lambda value: value["documents"][0].pop("orphans"),
        lambda value: value["documents"][0]["statements"][0].update(as_printed="true"),
        lambda value: value["documents"][0]["statements"][0].update(steps=[]),
        lambda value: value["documents"][0]["statements"][0]["steps"][0].update(verdict=True),
        lambda value: value["documents"][0]["statements"][0]["steps"][1]["witness"].update(x=1),
        lambda value: value["documents"][0]["statements"][0]["steps"][0]["mutants"].update(
            total=-1
        ),
        lambda value: value["documents"][0]["statements"][0]["steps"][0].update(role="other"),
    ],
)
def test_tampered_record_is_refused(tamper, capsys, tiny):
    value = record(capsys, tiny)
    tamper(value)
    with pytest.raises(jsonschema.ValidationError):
        jsonschema.validate(value, schema())


def test_junit_parses_and_counts(capsys, tmp_path):
    path = changed(tmp_path, "2 * x, line)),", "3 * x, line)),")
    junit = tmp_path / "junit.xml"
    run(capsys, "check", path, "--junit", junit, code=1)
    (suite,) = ElementTree.parse(junit).getroot()
    assert (suite.get("tests"), suite.get("failures"), suite.get("skipped")) == ("6", "1", "1")
    cases = {case.get("name"): case for case in suite}
    assert cases["T.1.1"].find("failure").get("message").startswith("refuted (expected proved)")
    assert [case.get("name") for case in suite if len(case)] == ["T.1.1", "T.2.2"]


# -- mistakes of the user ---------------------------------------------------------------------


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["check", "B.1.88"], ["'B.1.88'", "did you mean", "B.1.8"]),
        (["check", "recovery"], ["did you mean Recovery"]),
        (["check", "nonsense"], ["'nonsense'", "two_heads", "B.1"]),
        (["check", "G12"], ["is a finding", "symsim findings G12"]),
        (["check", "./nothing.py"], ["nothing.py", "found nothing"]),
        (["check", "/"], ["found a folder without __init__.py"]),
        (["check", "/etc/passwd"], ["found no Python file"]),
        (["check", "x" * 5000], ["no document"]),
        (["check", "/" + "x" * 5000], ["too long"]),
        (["check", "a\0b"], ["no document"]),
        (["check", "A.1.1", "--jobs", "0"], ["--jobs", "'0'", "1 or more"]),
        (["check", "A.1.1", "--jobs", "-1"], ["--jobs"]),
        (["check", "A.1.1", "--jobs", "two"], ["'two'"]),
        (["check", "A.1.1", "--jobs", "9" * 30], ["--jobs"]),
        (["check", "A.1.1", "--json", "/no/such/place.json"], ["--json", "no such directory"]),
        (["check", "A.1.1", "--json", "/"], ["--json", "a directory"]),
        (["check", "A.1.1", "--junit", "/no/such/place.xml"], ["--junit", "no such directory"]),
        (["check", "A.1.1", "--junit", "-"], ["--junit", "a file to write"]),
        (["report", "A.1.1", "--out", "/etc/passwd"], ["--out", "a folder"]),
        (["report", "A.1.1", "--out", "/etc/passwd/x"], ["--out", "a folder"]),
        (["findings", "G99"], ["'G99'", "G12"]),
        (["show", "B.1.88"], ["did you mean"]),
        (["replay", "B.1", "--step", "B.1.88"], ["--step", "did you mean", "B.1.8"]),
        (["replay", "A.1", "--step", "B.1.8"], ["--step", "no such step"]),
        (["replay"], ["required"]),
    ],
    ids=lambda value: " ".join(value)[:40] if isinstance(value, list) else "",
)
def test_mistake_gets_one_line(capsys, arguments, words):
    message = refused(capsys, *arguments)
    for word in words:
        assert word in message


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("DOCUMENT = 1", ["DOCUMENT is of type int"]),
        ("x = 1", ["no DOCUMENT"]),
        ("", ["no DOCUMENT"]),
        ("def f(:\n", ["SyntaxError", "line 1"]),
        ("\n\nraise ValueError('of mine\\nand more')", ["line 3", "ValueError: of mine and more"]),
        ("import sys; sys.exit(0)", ["ends the program"]),
        ("import no_such_module", ["line 1", "No module named 'no_such_module'"]),
        (TINY.replace('uses=("T.1",)', 'uses=("T.9",)'), ["T.2: uses names 'T.9'"]),
        (TINY.replace('uses=("T.1",)', 'uses=("T.2",)'), ["circle: T.2 → T.2"]),
        (TINY.replace('repairs="T.1.2"', 'repairs="T.9"'), ["repairs names 'T.9'"]),
        (TINY.replace('finding="F1")', 'finding="F9")', 1), ["finding names 'F9'"]),
        (TINY.replace('"tiny"', '"../tiny"'), ["'../tiny'"]),
        (TINY.replace("2 * x, line)),", "2 * z, line)),"), ["NameError", "'z'"]),
        (TINY.replace("real(y))", ")").replace("x * x * y", "y"), ["uses y"]),
    ],
)
def test_bad_document_gets_one_line(capsys, tmp_path, text, words):
    path = written(tmp_path, text)
    message = refused(capsys, "check", path)
    for word in ["tiny.py", *words]:
        assert word in message


def test_missing_engine_is_three(capsys, monkeypatch, tiny):
    find = importlib.util.find_spec
    monkeypatch.setattr(
        "symsim.claims.check.importlib.util.find_spec",
        lambda name: None if name == "cvc5" else find(name),
    )
    assert "engine cvc5: not installed" in refused(capsys, "check", tiny, code=3)


def test_worker_that_dies_is_four(capsys, tmp_path):
    slow = TINY.replace('raise ValueError("a \\x01 broken\\nplan")', "import os; os._exit(9)")
    accepted = 'Acceptance("it", plan, sizes("N", (1,)))'
    path = written(tmp_path, slow.replace("identity(x + x, 2 * x, line)", accepted))
    assert "worker process died" in refused(capsys, "check", path, "--jobs", "2", code=4)


def test_bytes_that_are_no_text(capsys, tmp_path):
    path = tmp_path / "tiny.py"
    path.write_bytes(b"\xff\xfe\x00")
    assert "tiny.py" in refused(capsys, "check", path)


def test_nothing_is_written_when_the_document_is_bad(capsys, tmp_path):
    path = written(tmp_path, "x = 1")
    refused(capsys, "check", path, "--json", tmp_path / "a.json", "--junit", tmp_path / "a.xml")
    refused(capsys, "report", path, "--out", tmp_path / "out")
    assert [p.name for p in tmp_path.iterdir()] == ["tiny.py"]


def test_what_a_document_prints_does_not_enter_the_record(capsys, tmp_path):
    path = written(tmp_path, "print('hello')\n" + TINY)
    assert main(["check", str(path), "--json", "-"]) == 0
    out, err = capsys.readouterr()
    json.loads(out)
    assert err == "hello\n"


def test_two_documents_of_one_file_name_are_two(capsys, tmp_path):
    for name, title in (("a", "First"), ("b", "Second")):
        folder = tmp_path / name / "paper"
        folder.mkdir(parents=True)
        written(folder, f"TITLE = '{title}'", "part.py")
        text = "from .part import TITLE\n" + TINY.replace('"A tiny paper"', "TITLE")
        written(folder, text, "__init__.py")
    paths = [tmp_path / name / "paper" for name in "ab"]
    out = run(capsys, "show", *paths)
    assert "First" in out
    assert "Second" in out
    message = refused(capsys, "report", *paths, "--out", tmp_path / "out")
    assert "2 documents of this id" in message


def test_interrupt_is_one_line(tmp_path):
    slow = TINY.replace('raise ValueError("a \\x01 broken\\nplan")', "import time; time.sleep(30)")
    accepted = 'Acceptance("it", plan, sizes("N", (1,)))'
    path = written(tmp_path, slow.replace("identity(x + x, 2 * x, line)", accepted))
    command = [SCRIPT, "check", path, "T.1", "T.3", "--jobs", "2"]
    with subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, start_new_session=True
    ) as process:
        try:
            time.sleep(4)
            os.killpg(process.pid, signal.SIGINT)
            out, err = process.communicate(timeout=15)
        finally:
            if process.poll() is None:
                os.killpg(process.pid, signal.SIGKILL)
    assert (process.returncode, out, err) == (130, "", "symsim: interrupted\n")


# -- show, replay, findings, list -------------------------------------------------------------


def test_show_states_without_deciding(capsys, tiny):
    out = run(capsys, "show", tiny, "T.1")
    assert "used by: T.2" in out
    assert "T.1.2 (printed; expected refuted; repaired by T.1.2′; finding F1)" in out
    assert "T.1.2′ (repaired; repairs T.1.2; finding F1)" in out
    assert "claim: x·x = 2·x, for all x real; y real" in out
    assert "proved;" not in out
    assert "T.3" not in out


def test_show_everything_reads_as_text(capsys):
    for path in packaged():
        out = run(capsys, "show", load(path).id)
        assert load(path).title in " ".join(out.split())
        assert not re.search(r"<function|Term\(|object at|Relation\(|Fraction\(", out)


def test_replay_shows_the_derivation_with_rules(capsys):
    out = run(capsys, "replay", "B.1.8")
    for part in ("the claim, as written", "sympy: proved", "z3: proved", "inhabited", "obligation"):
        assert part in out


def test_replay_of_a_step_of_ones_own_document(capsys, tiny):
    out = run(capsys, "replay", tiny, "--step", "T.1.1")
    assert "T.1.1 (printed)" in out
    assert "T.1.2 (" not in out


def test_replay_in_latex(capsys):
    out = run(capsys, "replay", "B.1.8", "--latex")
    assert r"\[ \frac{\frac{A}{A + 1}}{1 - \frac{A}{A + 1}} = A" in out
    assert "% common denominator" in out
    for line in out.splitlines():
        assert not line or line.startswith("% ") or (line[:3], line[-2:]) == (r"\[ ", r"\]"), line
        assert line.count("{") == line.count("}") or line.startswith("%")


@pytest.mark.parametrize("name", ["2.3.2", "1.1.2", "B.1R.sharp", "B.1.4", "B.1.2", "A.2.3"])
def test_replay_in_latex_of_other_kinds(capsys, name):
    out = run(capsys, "replay", name, "--latex")
    assert f"% {name} (" in out
    assert "% verdict: " in out


def test_findings_are_run_now(capsys):
    out = run(capsys, "findings", "G12")
    assert "raised by: new" in out
    assert "at N = 4, M = 2, d = 2 the ledger has 4, the closed form gives 2" in out
    assert "B.1.13′  proved" in out
    assert "G11" not in out


def test_list_names_statements_and_findings(capsys):
    out = run(capsys, "list")
    for document in map(load, packaged()):
        for thing in (*document.statements, *document.findings):
            assert re.search(rf"^ {re.escape(thing.id)} ", out, re.MULTILINE), thing.id


# -- report -----------------------------------------------------------------------------------


def test_report_writes_markdown_and_record(capsys, tiny, tmp_path):
    out = run(capsys, "report", tiny, "--out", tmp_path / "new" / "out")
    assert "6 steps" in out
    folder = tmp_path / "new" / "out"
    assert sorted(path.name for path in folder.iterdir()) == ["tiny.json", "tiny.md"]
    jsonschema.validate(json.loads((folder / "tiny.json").read_text()), schema())
    page = (folder / "tiny.md").read_text()
    assert page.startswith("# A tiny paper\n")
    assert "| T.1 | doubling | fails | holds after repair |" in page
    assert "| T.3 | bounds | not in the paper | holds |" in page
    assert r"Squaring & \<doubling\>." in page
    assert "### F1" in page
    assert "### referee: Why?" in page
