"""Records: what is in them, and that the schema refuses what is not."""

import copy
import json

import jsonschema
import pytest
from support import CASES

import symsim
from symsim.arithmetic import arithmetic
from symsim.simulation import Options, as_json, random_head, read_case, record, simulate
from symsim.simulation.record import schema

CONTRACT = [
    "construction", "variant", "arithmetic", "base", "N", "M", "d", "window", "sinks", "calls",
    "rounds", "max_tokens", "max_embedding", "constants_padded", "waivers", "output", "reference",
    "schema", "versions", "seed",
]  # fmt: skip


def made(name="exact", options=Options(), case="full-m2", seed=0):  # noqa: B008
    simulation = simulate(read_case(CASES / f"{case}.json"), options, arithmetic(name))
    return json.loads(as_json([record(simulation, seed, 0.5)]))


VALIDATOR = jsonschema.Draft202012Validator(schema())


def validate(value):
    VALIDATOR.validate(value)


def test_the_schema_is_one():
    VALIDATOR.check_schema(schema())


@pytest.mark.parametrize(
    ("name", "options"),
    [
        ("exact", Options()),
        ("exact:pl2", Options(aggregation="a:head")),
        ("exact", Options(variant="printed", tokens=5)),
        ("symbolic", Options(tokens=6)),
        ("ball:4", Options()),
        ("ball:100:base2", Options(readout="anchored")),
        ("mp:80", Options(readout="printed")),
        ("float16", Options()),
        ("p:11:-14:15", Options()),
    ],
)
def test_records_fit_the_schema(name, options):
    case = "full-one-block" if options.variant == "printed" else "full-m2"
    if options.variant == "printed":
        head = read_case(CASES / "full-one-block.json")
        options = Options(variant="printed", tokens=head.length)
    found = made(name, options, case)
    validate(found)
    assert set(CONTRACT) <= set(found)
    assert found["requested_arithmetic"] == name
    assert all(isinstance(entry, str) for row in found["output"] for entry in row)


def test_a_record():
    found = made(case="full-ragged", seed=7)
    case = json.loads((CASES / "full-ragged.json").read_text())
    assert found["output"] == case["output_base2"]
    assert {name: found[name] for name in ("N", "M", "d", "window", "sinks", "mask")} == {
        name: case[name] for name in ("N", "M", "d", "window", "sinks", "mask")
    }
    # T = ⌈11/3⌉ = 4 blocks: 16 block calls and a merge of 4 states for each of 11 queries.
    assert found["calls"] == {"block": 16, "aggregation": 11, "mlp": 0, "total": 27}
    assert (found["rounds"], found["max_tokens"], found["max_embedding"]) == (2, 4, 11)
    assert found["waivers"] == {}
    assert found["reference"] == {
        "kind": "exact", "equal": True, "max_relative_error": 0.0,
        "dense_max_relative_error": None, "dense_non_finite_rows": None,
        "rows_compared": 11, "non_finite_rows": 0,
        "case_agrees": True,
    }  # fmt: skip
    assert found["seed"] == 7
    assert found["versions"]["symsim"] == symsim.__version__


def test_waivers_of_the_printed_construction():
    head = random_head(4, 1, 0, integers=True)
    simulation = simulate(head, Options(variant="printed", tokens=2), arithmetic("exact"))
    found = record(simulation, 0, 0.0)
    validate(found)
    assert set(found["waivers"]) == {"tokens+1", "outside-merge"}
    assert (found["max_tokens"], found["aggregation"]) == (3, None)


def test_no_bound_is_null():
    head = random_head(1, 1, 0, integers=True)
    for matrix in head.matrices.values():
        matrix[:] = 448
    found = record(simulate(head, Options(), arithmetic("float8_e4m3fn")), 0, 0.0)
    assert found["reference"]["max_relative_error"] in (None, 0.0)
    validate(json.loads(as_json([found])))


def test_numbers_beyond_2_53_are_strings():
    simulation = simulate(
        random_head(2, 1, 0, integers=True), Options(tokens=2**53 + 1), arithmetic("exact")
    )
    found = json.loads(as_json([record(simulation, 10**30, 0.0)]))
    validate(found)
    assert (found["M"], found["seed"]) == (str(2**53 + 1), str(10**30))


def test_several_records_are_a_list():
    one = made()
    assert isinstance(json.loads(as_json([one])), dict)
    both = json.loads(as_json([one, one]))
    assert both == [one, one]
    validate(both)
    with pytest.raises(jsonschema.ValidationError):
        validate([one])


def test_two_runs_are_equal_outside_volatile():
    first, second = made("float32"), made("float32")
    assert set(first.pop("volatile")) == set(second.pop("volatile"))
    assert first == second


def set_to(*path, to):
    def change(value):
        for key in path[:-1]:
            value = value[key]
        value[path[-1]] = to

    return change


def drop(*path):
    def change(value):
        for key in path[:-1]:
            value = value[key]
        del value[path[-1]]

    return change


TAMPERED = {
    "another schema": set_to("schema", "name", to="symsim.walk"),
    "another version": set_to("schema", "version", to=2),
    "unknown field": set_to("comment", to=""),
    "unknown construction": set_to("construction", to="half"),
    "unknown variant": set_to("variant", to="better"),
    "unknown base": set_to("base", to="10"),
    "N = 0": set_to("N", to=0),
    "M = 1": set_to("M", to=1),
    "N is text": set_to("N", to="3"),
    "N is true": set_to("N", to=True),
    "N beyond 2^53": set_to("N", to=2**53 + 1),
    "seed beyond 2^53": set_to("seed", to=2**53 + 1),
    "negative calls": set_to("calls", "block", to=-1),
    "fractional calls": set_to("calls", "total", to=1.5),
    "calls of another kind": set_to("calls", "free", to=0),
    "output of numbers": set_to("output", 0, 0, to=1.0),
    "output of a flat list": set_to("output", to=["1"]),
    "no output": set_to("output", to=[]),
    "waiver of another name": set_to("waivers", to={"speed": "limit"}),
    "waivers are a list": set_to("waivers", to=["tokens+1"]),
    "unknown reference": set_to("reference", "kind", to="guessed"),
    "equal is text": set_to("reference", "equal", to="true"),
    "measured and equal": set_to("reference", "kind", to="measured"),
    "equal with an error": set_to("reference", "max_relative_error", to=0.1),
    "negative error": set_to("reference", "max_relative_error", to=-1),
    "exact with a dense error": set_to("reference", "dense_max_relative_error", to=0.1),
    "exact with lost dense rows": set_to("reference", "dense_non_finite_rows", to=1),
    "volatile field outside": set_to("volatile", "seed", to=0),
    "window of a full mask": set_to("window", to=3),
    **{f"no {name}": drop(name) for name in [*CONTRACT, "volatile"]},
    **{f"no calls of {kind}": drop("calls", kind) for kind in ("block", "mlp", "total")},
    **{f"no reference {name}": drop("reference", name) for name in ("kind", "equal")},
}


@pytest.fixture(scope="module")
def good():
    return made()


@pytest.mark.parametrize("name", TAMPERED)
def test_the_schema_refuses(name, good):
    value = copy.deepcopy(good)
    validate(value)
    TAMPERED[name](value)
    with pytest.raises(jsonschema.ValidationError):
        validate(value)
