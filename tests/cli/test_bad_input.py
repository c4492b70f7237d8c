"""Every bad input has its one line, its exit code, and leaves nothing behind."""

import io
import json
import os
import shutil
import subprocess
import sys
import zipfile

import numpy as np
import pytest
from support import CASES

from symsim.cli import run as run_command
from symsim.cli.main import main

USAGE, UNDECIDED = 2, 4


def case(**changes):
    """A small case as JSON text, with fields changed; a field set to ... is left out."""
    fields = {
        "mask": "full", "N": 2, "M": 2, "d": 1, "window": None, "sinks": None,
        "Q": [[1], [0]], "K": [[1], [2]], "V": [[3], [4]],
    }  # fmt: skip
    fields |= changes
    return json.dumps({name: value for name, value in fields.items() if value is not ...})


def npz(**arrays):
    stream = io.BytesIO()
    np.savez(stream, **arrays)
    return stream.getvalue()


def heads(**changes):
    """One small head as .npz, with arrays changed; an array set to None is left out."""
    arrays = {name: np.ones((1, 2, 1)) for name in "QKV"} | changes
    return npz(**{name: value for name, value in arrays.items() if value is not None})


def by_x(**changes):
    arrays = {"X": np.ones((1, 2, 3))} | {f"W_{side}": np.ones((1, 3, 2)) for side in "QKV"}
    return npz(**(arrays | changes))


def raw_npz(content, name="Q.npy"):
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr(name, content)
    return stream.getvalue()


def npy_header(shape, descr="<f8"):
    stream = io.BytesIO()
    np.lib.format.write_array_header_1_0(
        stream, {"descr": descr, "fortran_order": False, "shape": shape}
    )
    return stream.getvalue()


def spoilt(value):
    array = np.ones((1, 2, 1))
    array[0, 1, 0] = value
    return array


def lying_size():
    """An archive whose directory declares 2^40 bytes."""
    content = bytearray(raw_npz(npy_header((2**37,))))
    place = content.rindex(b"PK\x01\x02") + 24
    content[place : place + 4] = (2**31).to_bytes(4, "little")
    return bytes(content)


# Each: what is in the file, then what the message says: field, found, expected.
CASE_FILES = {
    "empty": ("", "file: found no content"),
    "not JSON": ("{", "line 1, column 2: found 'Expecting property name"),
    "a list": ("[]", "file: found a JSON list, expected a JSON object"),
    "a number": ("3", "file: found a JSON int"),
    "not UTF-8": (b"\xff\xfe{}", "file: found bytes that are not UTF-8"),
    "nested": ("[" * 100_000, "file: found nesting without end"),
    "nested object": ('{"a":' * 100_000, "file: found nesting without end"),
    "field twice": ('{"N": 2, "N": 3}', "'N': found 2 times, expected each field once"),
    "no fields": ("{}", "N: found nothing, expected an integer of at least 1"),
    "N = 0": (case(N=0, Q=[], K=[], V=[]), "N: found 0, expected an integer of at least 1"),
    "N is true": (case(N=True), "N: found True, expected an integer"),
    "N is a float": (case(N=2.0), "N: found '2.0', expected an integer"),
    "N is text": (case(N="2"), "N: found '2', expected an integer"),
    "N is not the rows": (case(N=3), "Q: found 2 rows, expected 3 rows (N)"),
    "N is huge": (case(N=10**4000), "Q: found 2 rows, expected an integer of 13288 bits rows (N)"),
    "d = 0": (case(d=0), "d: found 0, expected an integer of at least 1"),
    "d is not the width": (case(d=2), "Q[0]: found 1 entries, expected 2 entries (d)"),
    "M = 1": (case(M=1), "M: found 1, expected an integer of at least 2"),
    "M missing": (case(M=...), "M: found nothing, expected an integer of at least 2"),
    "M negative": (case(M=-4), "M: found -4, expected an integer of at least 2"),
    "Q missing": (case(Q=...), "Q: found nothing, expected 2 rows (N)"),
    "Q is null": (case(Q=None), "Q: found None, expected 2 rows (N)"),
    "ragged": (case(K=[[1], [2, 3]]), "K[1]: found 2 entries, expected 1 entries (d)"),
    "a row is a number": (case(K=[[1], 2]), "K[1]: found 2, expected 1 entries (d)"),
    "an entry is true": (case(V=[[1], [True]]), "V[1][0]: found True, expected a finite number"),
    "an entry is null": (case(V=[[1], [None]]), "V[1][0]: found None, expected a finite number"),
    "an entry is a list": (case(V=[[1], [[1]]]), "V[1][0]: found [1], expected a finite number"),
    "NaN": (case(V=[[1], [float("nan")]]), "V[1][0]: found 'NaN', expected a finite number"),
    "infinity": (case(V=[[1], [float("inf")]]), "V[1][0]: found 'Infinity', expected a finite"),
    "text NaN": (case(V=[["nan"], [1]]), "V[0][0]: found 'nan', expected a finite number"),
    "text": (case(V=[["one"], [1]]), "V[0][0]: found 'one', expected a finite number"),
    "text with underscores": (case(V=[["1_0"], [1]]), "V[0][0]: found '1_0'"),
    "1/0": (case(V=[["1/0"], [1]]), "V[0][0]: found '1/0', expected a denominator other than 0"),
    "exponent bomb": (case(V=[["1e999999999"], [1]]), "V[0][0]: found '1e999999999', expected at"),
    "exponent bomb, bare": (
        case(V=[["?"], [1]]).replace('"?"', "1e999999999"),
        "V[0][0]: found '1e999999999', expected at most 4300 digits",
    ),
    "small exponent bomb": (case(V=[["1e-999999999"], [1]]), "V[0][0]: found '1e-999999999'"),
    "long exponent": (case(V=[["1e" + "9" * 5000], [1]]), "V[0][0]: found"),
    "more digits than Python reads": (
        case(V=[["?"], [1]]).replace('"?"', "7" * 5000),
        "V[0][0]: found '77777777777777777777777777777… (5002 characters), expected at most",
    ),
    "unknown mask": (case(mask="alibi"), "mask: found 'alibi', expected full, causal, window"),
    "mask is a list": (case(mask=["full"]), "mask: found ['full'], expected full, causal"),
    "window of a full mask": (case(window=5), "window: found 5, expected none (mask full)"),
    "sinks of a full mask": (case(sinks=0), "sinks: found 0, expected none (mask full)"),
    "no window": (case(mask="window"), "window: found nothing, expected an integer of at least 1"),
    "window of 0": (case(mask="window", window=0), "window: found 0, expected an integer"),
    "no sinks": (case(mask="sink", window=1), "sinks: found nothing, expected an integer"),
    "window is text": (case(mask="window", window="2"), "window: found '2', expected an integer"),
    "causal": (case(mask="causal"), "mask: found causal, expected full (construction full)"),
    "windowed": (case(mask="window", window=9), "mask: found window(9), expected full"),
    "id of two lines": (case(id="a\nb"), "id: found 'a\\nb', expected printable text"),
    "id is a number": (case(id=3), "id: found 3, expected printable text"),
    "answers of another shape": (case(output_base2=[["1"]]), "output_base2: found 1 rows"),
    "fractional logit": (
        case(Q=[["1/2"], [0]]),
        "logit at row 0, column 0: found 1/2, expected an integer (weights are 2^logit in exact; "
        "exact:pl2 takes fractions)",
    ),
}  # fmt: skip

HEAD_FILES = {
    "empty": (b"", "file: found no content, expected a file that is not empty"),
    "text": (b"Q, K, V", "file: found file is not a zip file, expected an .npz file"),
    "truncated": (heads()[:-40], "file: found"),
    "damaged": (heads().replace(b"\x93NUMPY", b"\x93NUMBY"), "Q: found"),
    "checksum": (heads().replace(b"\xf0\x3f", b"\xf1\x3f"), "Q: found bad CRC-32"),
    "no arrays": (npz(), "Q: found nothing, expected an array"),
    "no array called K": (heads(K=None), "K: found nothing, expected an array"),
    "pickled objects": (
        heads(Q=np.array([[[None], [1]]], dtype=object)),
        "Q: found Python objects, expected an array of numbers",
    ),
    "no .npy inside": (raw_npz(b"hello"), "Q: found"),
    "header only": (raw_npz(npy_header((1, 2, 1))), "Q: found 0 bytes, expected the 16 that"),
    "a size that is a bomb": (
        raw_npz(npy_header((2**40,))),
        "Q: found 0 bytes, expected the 8796093022208 that its header declares",
    ),
    "negative size": (raw_npz(npy_header((-1, 2, 1))), "Q: found shape (-1, 2, 1)"),
    "directory declares a bomb": (lying_size(), "file: found 2147483648 bytes of arrays"),
    "a bomb": (
        raw_npz(npy_header((2**26 + 1,), "<f4") + bytes(2**28 + 4)),
        "file: found 268435588 bytes of arrays, expected at most 268435456",
    ),
    "complex": (heads(Q=np.ones((1, 2, 1), complex)), "Q: found dtype complex128, expected"),
    "bool": (heads(Q=np.ones((1, 2, 1), bool)), "Q: found dtype bool, expected integers or floats"),
    "strings": (heads(Q=np.full((1, 2, 1), "1")), "Q: found dtype <U1, expected integers"),
    "long double": (heads(Q=np.ones((1, 2, 1), np.longdouble)), "Q: found dtype float128"),
    "times": (heads(Q=np.zeros((1, 2, 1), "M8[s]")), "Q: found dtype datetime64[s]"),
    "two axes": (heads(Q=np.ones((2, 1))), "Q: found shape (2, 1), expected (heads, tokens, d)"),
    "N = 0": (
        npz(**{name: np.ones((1, 0, 1)) for name in "QKV"}),
        "Q: found shape (1, 0, 1), expected (heads, tokens, d), none of them 0",
    ),
    "NaN": (heads(V=spoilt(np.nan)), "V[0, 1, 0]: found nan, expected a finite number"),
    "infinity": (heads(K=spoilt(-np.inf)), "K[0, 1, 0]: found -inf, expected a finite number"),
    "another N": (heads(K=np.ones((1, 3, 1))), "K: found shape (1, 3, 1), expected (1, 2, 1)"),
    "another d": (heads(K=np.ones((1, 2, 4))), "K: found shape (1, 2, 4), expected (1, 2, 1)"),
    "other heads": (heads(V=np.ones((2, 2, 1))), "V: found shape (2, 2, 1), expected (1, 2, …)"),
    "Q and X": (heads(X=np.ones((1, 2, 1))), "arrays: found Q and X, expected either Q, K, V or"),
    "X of other width": (by_x(X=np.ones((1, 2, 4))), "W_Q: found shape (1, 3, 2), expected (1, 4"),
    "W_Q not W_K": (by_x(W_K=np.ones((1, 3, 1))), "W_K: found shape (1, 3, 1), expected (1, 3, 2)"),
    "X shared, other heads": (
        by_x(X=np.ones((2, 3)), W_V=np.ones((2, 3, 2))),
        "W_V: found shape (2, 3, 2), expected (1, 3, …), to fit X",
    ),
    "causal": (heads(mask=np.array("causal")), "head 0: mask: found causal, expected full"),
    "windowed": (
        heads(mask=np.array("window"), window=np.array(4)),
        "head 0: mask: found window(4), expected full (construction full)",
    ),
    "unknown mask": (heads(mask=np.array("alibi")), "mask: found 'alibi', expected full, causal"),
    "mask of numbers": (heads(mask=np.ones(3)), "mask: found shape (3,), dtype float64, expected"),
    "mask without window": (heads(mask=np.array("window")), "window: found nothing, expected"),
    "window of a full mask": (heads(window=np.array(4)), "window: found 4, expected none"),
    "window of text": (heads(window=np.array("4")), "window: found shape (), dtype <U1, expected"),
    "names of other heads": (heads(names=np.array(["a", "b"])), "names: found shape (2,)"),
    "name of two lines": (heads(names=np.array(["a\nb"])), "names[0]: found 'a\\nb', expected"),
    "names are numbers": (heads(names=np.array([1])), "names[0]: found 1, expected printable"),
}  # fmt: skip

OPTIONS = {
    "no command": ([], USAGE, "the following arguments are required: COMMAND"),
    "unknown command": (["walk"], USAGE, "invalid choice: 'walk'"),
    "no construction": (["run"], USAGE, "the following arguments are required: CONSTRUCTION"),
    "unknown construction": (["run", "half"], USAGE, "construction half: expected full"),
    "later construction": (["run", "causal"], USAGE, "construction causal: expected full"),
    "unknown option": (["run", "full", "--fast"], USAGE, "unrecognized arguments: --fast"),
    "abbreviation": (["run", "full", "--rand", "3,1"], USAGE, "unrecognized arguments: --rand"),
    "two inputs": (
        ["run", "full", "--random", "3,1", "--case", "x"], USAGE, "not allowed with argument"
    ),
    "--tokens 1": (["--tokens", "1"], USAGE, "--tokens 1: expected an integer of at least 2 (M)"),
    "--tokens 0": (["--tokens", "0"], USAGE, "--tokens 0: expected an integer of at least 2 (M)"),
    "--tokens -3": (["--tokens", "-3"], USAGE, "--tokens -3: expected an integer of at least 2"),
    "--tokens x": (["--tokens", "x"], USAGE, "argument --tokens: invalid int value: 'x'"),
    "--seed -1": (["--seed", "-1"], USAGE, "--seed -1: expected an integer of at least 0"),
    "--seed x": (["--seed", "x"], USAGE, "argument --seed: invalid int value: 'x'"),
    "--mask causal": (["--mask", "causal"], USAGE, "argument --mask: invalid choice: 'causal'"),
    "--variant": (["--variant", "better"], USAGE, "--variant better: expected repaired, printed"),
    "--readout": (["--readout", "x"], USAGE, "--readout x: expected printed, dual, anchored"),
    "--aggregation": (["--aggregation", "b"], USAGE, "--aggregation b: expected a, a:head"),
    "--oracle-layers": (["--oracle-layers", "2"], USAGE, "--oracle-layers 2: expected 1"),
    "--oracle-heads": (["--oracle-heads", "0"], USAGE, "--oracle-heads 0: expected 1"),
    "printed with dual": (
        ["--variant", "printed", "--readout", "dual"], USAGE, "variant printed takes printed"
    ),
    "printed with aggregation": (
        ["--variant", "printed", "--aggregation", "a"], USAGE, "variant printed takes none"
    ),
    "printed with padding": (
        ["--variant", "printed", "--tokens", "2"], USAGE, "allowed N a multiple of M"
    ),
    "anchored in exact": (
        ["--arith", "exact", "--readout", "anchored"], USAGE, "expected readout dual or printed"
    ),
    "a:head in exact": (
        ["--arith", "exact", "--aggregation", "a:head"], USAGE, "with aggregation a"
    ),
    "anchored in pl2": (
        ["--arith", "exact:pl2", "--readout", "anchored"], USAGE, "expected readout dual or"
    ),
    "unknown arithmetic": (["--arith", "float7"], USAGE, "arithmetic 'float7': expected one of"),
    "empty arithmetic": (["--arith", ""], USAGE, "arithmetic '': expected one of symbolic, exact"),
    "ball:0": (["--arith", "ball:0"], USAGE, "ball:0"),
    "ball of too many bits": (["--arith", "ball:99999999999"], USAGE, "expected"),
    "bits beyond counting": (["--arith", "ball:" + "9" * 5000], USAGE, "(5005 characters)"),
    "mp:0": (["--arith", "mp:0"], USAGE, "mp:0"),
    "mp of too many bits": (["--arith", "mp:99999999999"], USAGE, "expected"),
    "p:1": (["--arith", "p:1"], USAGE, "p:1: found 1 bits, expected 2 to"),
    "exponents reversed": (["--arith", "p:11:5:1"], USAGE, "p:11:5:1: found exponents 5 to 1"),
    "--random 0,1": (["--random", "0,1"], USAGE, "--random 0,1: expected N,d, two integers"),
    "--random 1,0": (["--random", "1,0"], USAGE, "--random 1,0: expected N,d, two integers"),
    "--random x": (["--random", "x"], USAGE, "--random x: expected N,d, two integers"),
    "--random empty": (["--random", ""], USAGE, "expected N,d, two integers"),
    "--random 1,2,3": (["--random", "1,2,3"], USAGE, "--random 1,2,3: expected N,d"),
    "--random -1,2": (["--random=-1,2"], USAGE, "--random -1,2: expected N,d"),
    "--random 1e3,2": (["--random", "1e3,2"], USAGE, "--random 1e3,2: expected N,d"),
    "--random long": (["--random", "9" * 5000 + ",1"], USAGE, "expected N,d, two integers"),
    "too many weights": (
        ["--random", "100000000,1"], UNDECIDED, "10000000000000000 weights, expected at most"
    ),
    "too many weights for machine numbers": (
        ["--random", "70000,1", "--arith", "float32"], UNDECIDED, "4900000000 weights, expected"
    ),
    "too many symbols": (["--random", "70,1", "--arith", "symbolic"], UNDECIDED, "4900 weights"),
    "too many calls": (["--random", "1000,1", "--tokens", "2"], UNDECIDED, "oracle calls"),
    "call too large": (
        ["--random", "9000,1", "--tokens", "9000", "--arith", "float32"],
        UNDECIDED,
        "81000000 weights in one call",
    ),
    "too wide": (["--random", "2,10000000"], UNDECIDED, "entries of a matrix, expected at most"),
}  # fmt: skip


def check_refused(capsys, arguments, code, *parts):
    """The command line is refused with one line on standard error, which has the parts."""
    assert main(arguments) == code
    out, err = capsys.readouterr()
    assert out == ""
    assert err.startswith("symsim: ")
    assert err.endswith("\n")
    assert err.count("\n") == 1
    assert len(err) < 700
    for part in parts:
        assert part in err


@pytest.mark.parametrize("name", CASE_FILES)
def test_case_file(name, tmp_path, capsys):
    content, message = CASE_FILES[name]
    path = tmp_path / "bad.json"
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    arguments = ["run", "full", "--case", str(path), "--json", str(tmp_path / "out.json")]
    check_refused(capsys, arguments, USAGE, "bad", message)
    assert os.listdir(tmp_path) == ["bad.json"]


@pytest.mark.parametrize("name", HEAD_FILES)
def test_head_file(name, tmp_path, capsys):
    content, message = HEAD_FILES[name]
    path = tmp_path / "bad.npz"
    path.write_bytes(content)
    arguments = ["run", "full", "--heads", str(path), "--json", str(tmp_path / "out.json")]
    check_refused(capsys, arguments, USAGE, message)
    assert os.listdir(tmp_path) == ["bad.npz"]


@pytest.mark.parametrize("name", OPTIONS)
def test_options(name, tmp_path, capsys):
    arguments, code, message = OPTIONS[name]
    if arguments[:1] and arguments[0].startswith("--"):
        is_random = arguments[0].startswith("--random")
        arguments = ["run", "full", *([] if is_random else ["--random", "3,1"]), *arguments]
    check_refused(capsys, arguments, code, message)


@pytest.mark.parametrize("option", ["--case", "--heads"])
class TestNoFile:
    def test_missing(self, option, tmp_path, capsys):
        path = tmp_path / "none"
        check_refused(
            capsys,
            ["run", "full", option, str(path)],
            USAGE,
            f"{path}: file: found no such file or directory, expected a readable file",
        )

    def test_directory(self, option, tmp_path, capsys):
        arguments = ["run", "full", option, str(tmp_path)]
        check_refused(capsys, arguments, USAGE, f"{tmp_path}: file: found is a directory")

    def test_empty_name(self, option, capsys):
        check_refused(capsys, ["run", "full", option, ""], USAGE, "file: found")

    def test_nul_in_the_name(self, option, capsys):
        check_refused(capsys, ["run", "full", option, "a\0b"], USAGE, "embedded null byte")

    def test_name_of_two_lines(self, option, tmp_path, capsys):
        check_refused(capsys, ["run", "full", option, "a\nb\x1b[1m"], USAGE, r"a b\x1b[1m: file")

    def test_huge(self, option, tmp_path, capsys):
        path = tmp_path / "huge"
        with path.open("wb") as stream:
            stream.truncate(2**40)
        arguments = ["run", "full", option, str(path)]
        check_refused(capsys, arguments, USAGE, "found 1099511627776 bytes, expected at most")

    def test_endless(self, option, capsys, monkeypatch):
        monkeypatch.setattr("symsim.simulation.case_file.LARGEST_CASE", 2**20)
        monkeypatch.setattr("symsim.simulation.heads_file.LARGEST_HEADS", 2**20)
        arguments = ["run", "full", option, "/dev/zero"]
        check_refused(capsys, arguments, USAGE, "/dev/zero: file: found more bytes")


@pytest.mark.skipif(os.geteuid() == 0, reason="root reads everything")
def test_unreadable(tmp_path, capsys):
    path = tmp_path / "secret.json"
    path.write_text(case())
    path.chmod(0)
    check_refused(capsys, ["run", "full", "--case", str(path)], USAGE, "permission denied")


def test_tokens_of_the_command_line_count_before_the_file(tmp_path, capsys):
    path = tmp_path / "case.json"
    path.write_text(case())
    arguments = ["run", "full", "--case", str(path), "--tokens", "0"]
    check_refused(capsys, arguments, USAGE, "--tokens 0: expected an integer of at least 2")


def test_overflow_of_a_format(tmp_path, capsys):
    path = tmp_path / "case.json"
    path.write_text(case(Q=[[1], ["1e400"]]))
    arguments = ["run", "full", "--case", str(path), "--arith", "float32"]
    check_refused(capsys, arguments, USAGE, "Q[1, 0]: found 1000", "in the range of float32")


@pytest.mark.parametrize("arith", ["exact", "exact:pl2"])
@pytest.mark.parametrize("logit", ["1e9", "3e4000", "-1e9"])
def test_weights_too_large_to_write_out(arith, logit, tmp_path, capsys):
    path = tmp_path / "case.json"
    path.write_text(case(Q=[[0], [logit]]))
    arguments = ["run", "full", "--case", str(path), "--arith", arith]
    check_refused(capsys, arguments, UNDECIDED, "logit at row 1, column 0: found", "2^logit")


# -- outputs that cannot be written -----------------------------------------------------------


def write_to(destination):
    return ["run", "full", "--case", str(CASES / "full-m2.json"), "--json", str(destination)]


def test_json_into_a_missing_directory(tmp_path, capsys):
    path = tmp_path / "none" / "out.json"
    check_refused(capsys, write_to(path), USAGE, f"{path}: --json: found no such directory")


def test_json_onto_a_directory(tmp_path, capsys):
    message = f"{tmp_path}: --json: found a directory, expected a file to write"
    check_refused(capsys, write_to(tmp_path), USAGE, message)


def test_json_with_an_empty_name(capsys):
    check_refused(capsys, write_to(""), USAGE, "--json: found a directory")


def test_json_below_a_file(tmp_path, capsys):
    (tmp_path / "file").write_text("")
    check_refused(capsys, write_to(tmp_path / "file" / "x"), USAGE, "found no such directory")


def failing_write(capsys, destination):
    """The run is shown; only its record cannot be written."""
    code = main(write_to(destination))
    out, err = capsys.readouterr()
    assert "equals dense attention" in out
    assert err.count("\n") == 1
    return code, err


def test_json_into_a_place_that_takes_no_files(capsys):
    code, err = failing_write(capsys, "/proc/symsim.json")
    assert code == USAGE
    assert "/proc/symsim.json: --json: found" in err


def test_json_onto_a_full_device(capsys):
    code, err = failing_write(capsys, "/dev/full")
    assert (code, err) == (3, "symsim: /dev/full: --json: no space left on device\n")
    assert os.path.exists("/dev/full")
    assert not os.path.isfile("/dev/full")


def test_nothing_is_left_where_writing_fails(tmp_path, capsys, monkeypatch):
    path = tmp_path / "out.json"
    path.write_text("before")

    def replace(*_):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "replace", replace)
    code, _ = failing_write(capsys, path)
    assert code == 3
    assert os.listdir(tmp_path) == ["out.json"]
    assert path.read_text() == "before"


@pytest.mark.parametrize("during", ["simulate", "write"])
def test_interrupt(during, tmp_path, capsys, monkeypatch):
    def interrupt(*_, **__):
        raise KeyboardInterrupt

    monkeypatch.setattr(*((run_command, "simulate") if during == "simulate" else (os, "replace")),
                        interrupt)  # fmt: skip
    assert main(write_to(tmp_path / "out.json")) == 130
    assert capsys.readouterr().err == "symsim: interrupted\n"
    assert os.listdir(tmp_path) == []


def test_out_of_memory(tmp_path, capsys, monkeypatch):
    def exhaust(*_, **__):
        raise MemoryError

    monkeypatch.setattr(run_command, "simulate", exhaust)
    check_refused(capsys, write_to(tmp_path / "out.json"), UNDECIDED, "out of memory")


# -- as a process -----------------------------------------------------------------------------


def process(*arguments, **options):
    return subprocess.run(
        [sys.executable, "-m", "symsim", *arguments],
        stderr=subprocess.PIPE,
        text=True,
        timeout=60,
        check=False,
        **options,
    )


def test_closed_pipe():
    reader, writer = os.pipe()
    os.close(reader)
    with open(writer, "w") as closed:
        result = process("run", "full", "--random", "2,1", stdout=closed)
    assert (result.returncode, result.stderr) == (141, "")


def test_closed_pipe_of_json():
    reader, writer = os.pipe()
    os.close(reader)
    with open(writer, "w") as closed:
        result = process("run", "full", "--random", "2,1", "--json", "-", stdout=closed)
    assert (result.returncode, result.stderr) == (141, "")


def test_full_disk_on_standard_output():
    with open("/dev/full", "w") as full:
        result = process("run", "full", "--random", "2,1", "--json", "-", stdout=full)
    assert result.returncode == 3
    assert result.stderr == "symsim: standard output: No space left on device\n"


def test_bad_input_of_a_process(tmp_path):
    path = tmp_path / "bad.json"
    path.write_text("{")
    result = process("run", "full", "--case", path, stdout=subprocess.PIPE)
    assert (result.returncode, result.stdout) == (USAGE, "")
    assert result.stderr.startswith(f"symsim: {path}: line 1, column 2: found")
    assert result.stderr.count("\n") == 1


@pytest.mark.skipif(shutil.which("bash") is None, reason="needs a shell")
def test_interrupted_process(tmp_path):
    """SIGINT in the middle of a run: 130, one line, no file."""
    script = (
        "import os, signal, threading, sys\n"
        "from symsim.cli.main import main\n"
        "import symsim.cli.command_line\n"
        "threading.Timer(0.5, lambda: os.kill(os.getpid(), signal.SIGINT)).start()\n"
        f"sys.exit(main(['run', 'full', '--random', '900,4', '--json', {str(tmp_path / 'o')!r}]))"
    )
    result = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, timeout=60, check=False
    )
    assert (result.returncode, result.stderr) == (130, "symsim: interrupted\n")
    assert os.listdir(tmp_path) == []
