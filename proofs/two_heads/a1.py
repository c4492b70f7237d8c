"""Lemma A.1: a block of ones."""

from symsim.claims import Kind, Statement, Step, domain, identity, integer, real, symbols

x1, x2, d, b = symbols("x1 x2 d b")

token = domain(real(x1), real(x2))
shapes = domain(integer(d, at_least=1), integer(b, at_least=1, at_most=d))

A1 = Statement(
    id="A.1",
    title="block of ones",
    says="One call's MLP and one matrix U give an a × b block of ones, zeros elsewhere.",
    steps=(
        Step(
            "A.1.1",
            "φ(x_i) = (x_i, 1) for i ≤ a: times a column of U (zeros, then 1) it is 1.",
            identity(x1 * 0 + x2 * 0 + 1 * 1, 1, token),
        ),
        Step(
            "A.1.1′",
            "φ(x_i) = (x_i, 0) for i > a: times the same column it is 0.",
            identity(x1 * 0 + x2 * 0 + 0 * 1, 0, token),
        ),
        Step(
            "A.1.2",
            "Printed U = [0_{d×b} 0_{d×(d−b)}; 1_{1×b} 0_{d×(d−b)}]: the two blocks of its last "
            "row of blocks have 1 and d rows.",
            identity(1, d, shapes),
            expect=Kind.REFUTED,
            finding="G28",
        ),
        Step(
            "A.1.3",
            "With 0_{1×(d−b)} in the corner U has b + (d − b) = d columns in both rows of blocks.",
            identity(b + (d - b), d, shapes),
            role="repaired",
            repairs="A.1.2",
            finding="G28",
        ),
    ),
)
