"""Print, as Markdown, how the readouts of Lemma B.1 fare on the packaged real heads.

    python tests/benchmarks/readouts_on_real_heads.py

Each entry is the largest relative row error over the finite rows of a head, divided by that of
dense attention in the same format and order, and, where there are any, the rows (of 128) that
are not finite.
"""

from symsim.arithmetic import arithmetic
from symsim.simulation import Options, sample_heads, simulate

FORMATS = ("float64", "float32", "float16", "bfloat16", "float8_e5m2", "float8_e4m3fn")
CONSTRUCTIONS = {
    "repaired, dual": Options(readout="dual", tokens=32),
    "repaired, anchored": Options(readout="anchored", tokens=32),
    "repaired, r/(1−r)": Options(readout="printed", tokens=32),
    "printed": Options(variant="printed", tokens=32),
}


def entry(simulation):
    comparison = simulation.comparison
    broken = comparison.non_finite_rows
    if broken == simulation.head.length:
        return f"all {broken} rows"
    ratio = f"{comparison.max_relative_error / comparison.dense_error:.2g}×"
    rows = "row" if broken == 1 else "rows"
    return f"{ratio}, {broken} {rows}" if broken else ratio


def main():
    heads = sample_heads()
    print("| format | head | dense error | " + " | ".join(CONSTRUCTIONS) + " |")
    print("|---" * (3 + len(CONSTRUCTIONS)) + "|")
    for name in FORMATS:
        numbers = arithmetic(name)
        for head in heads:
            runs = [simulate(head, options, numbers) for options in CONSTRUCTIONS.values()]
            dense = runs[0].comparison.dense_error
            cells = " | ".join(entry(simulation) for simulation in runs)
            print(f"| {name} | {head.name} | {dense:.1e} | {cells} |", flush=True)


if __name__ == "__main__":
    main()
