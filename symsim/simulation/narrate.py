"""What runs have established, in words."""

from __future__ import annotations

from collections.abc import Sequence

from symsim.arithmetic import Evidence
from symsim.arithmetic.symbolic import Symbolic
from symsim.simulation.simulate import Simulation


def conclusion(simulations: Sequence[Simulation]) -> str:
    """What the runs of one arithmetic established, in a sentence or two.

    A run that differs, or that was not decided, is named with its head.
    """
    first = simulations[0]
    sentences = [_sentence(first, kind, group) for kind, group in _by_outcome(simulations)]
    return f"{_arithmetics(simulations)}: {'; '.join(sentences)}."


def _by_outcome(simulations: Sequence[Simulation]) -> list[tuple[str, list[Simulation]]]:
    """Outcomes, the bad ones first, each with the simulations that had it."""
    groups: dict[str, list[Simulation]] = {}
    for simulation in simulations:
        groups.setdefault(_outcome(simulation), []).append(simulation)
    return [(kind, groups[kind]) for kind in _OUTCOMES if kind in groups]


_OUTCOMES = ("differs", "contradicts", "undecided", "measured", "holds")


def _outcome(simulation: Simulation) -> str:
    if simulation.comparison.equal is False:
        return "differs"
    if simulation.case_agrees is False:
        return "contradicts"
    if simulation.numbers.rounds:
        return "measured"
    return "undecided" if simulation.succeeded is None else "holds"


def _arithmetics(simulations: Sequence[Simulation]) -> str:
    """The arithmetic, and the one asked for where the precision was doubled."""
    first = simulations[0]
    if first.requested == first.numbers.name:
        return first.numbers.name
    return f"{first.numbers.name} (doubled from {first.requested}, which told too little)"


def _sentence(first: Simulation, kind: str, group: Sequence[Simulation]) -> str:
    """What came of a group, and whether the case file's answer was looked at."""
    unread = any(s.head.expected and s.case_agrees is None for s in group)
    ignored = " (the case file's answer was not compared)" if unread else ""
    return _finding(first, kind, group) + ignored


def _finding(first: Simulation, kind: str, group: Sequence[Simulation]) -> str:
    names = ", ".join(simulation.head.name for simulation in group)
    match kind:
        case "differs":
            return f"the simulation is NOT equal to dense attention on {names}"
        case "contradicts":
            return f"the simulation does NOT agree with the case file's answer on {names}"
        case "undecided":
            return f"undecided on {names}: {_why_undecided(first)}"
        case "measured":
            return _measured(group)
        case _:
            return _established(group)


def _why_undecided(first: Simulation) -> str:
    if first.numbers.evidence is Evidence.ENCLOSURE:
        return "the enclosures are too wide to tell anything"
    return "equality could not be decided"


def _heads(group: Sequence[Simulation]) -> str:
    """The heads that a sentence is about."""
    return group[0].head.name if len(group) == 1 else f"each of {len(group)} heads"


def _established(group: Sequence[Simulation]) -> str:
    first, heads = group[0], _heads(group)
    worst = max(simulation.comparison.max_relative_error for simulation in group)
    answer = ", and so does the case file's answer" if first.case_agrees else ""
    match first.numbers.evidence:
        case Evidence.IDENTITY:
            return (
                f"proved for all real inputs{_where_defined(first)} with "
                f"N = {first.head.length}, M = {first.tokens}, {_widths(first)}: "
                "the simulation equals dense attention"
            )
        case Evidence.EXACT:
            weight = "2^logit" if first.numbers.name == "exact" else "the weight pl2 of the logit"
            also = " and the case file's answer" if first.case_agrees else ""
            return (
                f"for {heads}, with {weight} for exp, the simulation equals dense "
                f"attention{also} exactly (ε = 0)"
            )
        case _:
            return (
                f"certified for {heads}: in every entry the enclosures of the simulation and of "
                f"dense attention overlap{answer}; {_bound(worst)}"
            )


def _where_defined(simulation: Simulation) -> str:
    """A restriction where a divisor was met that is not manifestly of one sign."""
    assert isinstance(simulation.numbers, Symbolic)
    divisor = simulation.numbers.divisor_of_unknown_sign
    return "" if divisor is None else f" at which no divisor is zero (such as {divisor})"


def _widths(simulation: Simulation) -> str:
    """d, and the widths of other matrices that differ from it."""
    matrices = {**simulation.head.matrices, **simulation.head.parameters}
    dimension = simulation.dimension
    others = [
        f"{name} of {matrix.shape[1]} columns"
        for name, matrix in matrices.items()
        if matrix.shape[1] != dimension
    ]
    return ", ".join([f"d = {dimension}", *others])


def _bound(worst: float) -> str:
    if worst == float("inf"):
        return (
            "the relative error of some row has no bound, as dense attention there is zero or "
            "its enclosure contains zero"
        )
    return f"no row differs by more than {worst:.1e}, relative to its norm"


def _measured(group: Sequence[Simulation]) -> str:
    heads = _heads(group)
    broken = sum(simulation.comparison.non_finite_rows for simulation in group)
    rows = sum(simulation.head.length for simulation in group)
    compared = sum(simulation.comparison.rows_compared for simulation in group)
    finite = (
        f"{broken} of the {rows} rows of {_together(group)} {_are(broken)} NOT finite"
        if broken
        else f"every row of {heads} is finite"
    )
    dense_broken = sum(s.comparison.dense_non_finite_rows or 0 for s in group)
    if dense_broken:
        finite += f" (nor {_are(dense_broken)} {dense_broken} of dense attention)"
    if broken == rows:
        return f"measured: {finite}"
    group = [s for s in group if s.comparison.non_finite_rows < s.head.length]
    scope = " finite" if broken else ""
    spread = f" among {compared} evenly spread of {rows} rows" if compared < rows else ""
    worst = max(simulation.comparison.max_relative_error for simulation in group)
    dense = max(simulation.comparison.dense_error or 0.0 for simulation in group)
    return (
        f"measured: {finite}; the largest relative error of a{scope} row{spread} is "
        f"{_size(worst)}, that of dense attention in the same numbers {_size(dense)}"
    )


def _together(group: Sequence[Simulation]) -> str:
    return group[0].head.name if len(group) == 1 else f"{len(group)} heads together"


def _are(count: int) -> str:
    return "is" if count == 1 else "are"


def _size(error: float) -> str:
    return "without bound" if error == float("inf") else f"at most {error:.1e}"
