"""float64 in BLAS order, N = 8192, M = 129, d = 16: simulated against numpy dense attention.

Ratios are measured side by side in one process, medians of alternating runs, after a warm-up.
Dense attention in row panels of 128, which stays in cache, is printed beside the usual one.
Memory is the peak of a fresh process that simulates, over one that only makes the inputs.
"""

import statistics
import subprocess
import sys
from pathlib import Path
from time import perf_counter

import numpy as np
import pytest

from symsim.arithmetic import arithmetic
from symsim.constructions import from_qkv, quadratic_calls
from symsim.model import run

N, M, D = 8192, 129, 16
RUN_AT_MOST = 2.0
MEMORY_AT_MOST = 2**30


def matrices():
    generator = np.random.default_rng(0)
    return {name: generator.standard_normal((N, D)) / D**0.25 for name in ("Q", "K", "V")}


def dense(given):
    logits = given["Q"] @ given["K"].T
    logits -= logits.max(axis=1, keepdims=True)
    weights = np.exp(logits)
    return weights @ given["V"] / weights.sum(axis=1, keepdims=True)


def panels(given):
    rows = [{**given, "Q": given["Q"][i : i + 128]} for i in range(0, N, 128)]
    return np.concatenate([dense(panel) for panel in rows])


def timed(function, *arguments):
    start = perf_counter()
    result = function(*arguments)
    return perf_counter() - start, result


@pytest.mark.benchmark
def test_run_and_recording_against_dense(capsys):
    given, numbers = matrices(), arithmetic("float64:blas")
    times = {"record": [], "run": [], "dense": [], "panels": []}
    for repetition in range(4):
        record_time, plan = timed(quadratic_calls, from_qkv(N, D), M)
        run_time, simulated = timed(run, plan, numbers, given)
        dense_time, reference = timed(dense, given)
        panel_time, _ = timed(panels, given)
        measured = (record_time, run_time, dense_time, panel_time)
        if repetition:
            for name, value in zip(times, measured, strict=True):
                times[name].append(value)
    assert np.abs(simulated - reference).max() < 1e-12 * np.abs(reference).max()
    medians = {name: statistics.median(values) for name, values in times.items()}
    with capsys.disabled():
        print(
            f"\nfloat64:blas, N={N}, M={M}, d={D}, threads as numpy sets them: "
            f"run/dense {medians['run'] / medians['dense']:.2f}, "
            f"run/(dense in row panels) {medians['run'] / medians['panels']:.2f}, "
            f"record/run {medians['record'] / medians['run']:.2f}, "
            f"{plan.ledger.total_calls} calls"
        )
    assert medians["run"] <= RUN_AT_MOST * medians["dense"]
    assert medians["record"] <= medians["run"]


def peak(mode):
    command = [sys.executable, __file__, mode]
    return int(subprocess.run(command, check=True, capture_output=True, text=True).stdout)


@pytest.mark.benchmark
@pytest.mark.skipif(not Path("/proc/self/status").exists(), reason="peak memory is read there")
def test_memory(capsys):
    inputs_only, whole = peak("inputs"), peak("run")
    with capsys.disabled():
        print(f"\nfloat64:blas, N={N}: {(whole - inputs_only) / 2**20:.0f} MiB over the inputs")
    assert 0 < whole - inputs_only < MEMORY_AT_MOST


if __name__ == "__main__":
    given = matrices()
    if sys.argv[1] == "run":
        run(quadratic_calls(from_qkv(N, D), M), arithmetic("float64:blas"), given)
    status = Path("/proc/self/status").read_text()  # VmHWM starts anew with the process
    print(int(status.split("VmHWM:")[1].split()[0]) * 1024)
