"""Yu & Alman, Two Heads Are Better than One (arXiv 2506.12220): the proof document.

One file a statement, in the order of the paper; `findings` and `objections` gather what a
line-by-line reading found and what the published review asked.
"""

from symsim.claims import Document

from . import a1, a2, b1, b1_repaired, findings, model, objections, recovery

DOCUMENT = Document(
    id="two_heads",
    title="Two Heads Are Better than One: Simulating Large Transformers with Small Ones",
    statements=(
        model.BLOCKS,
        model.LAYER,
        model.TRANSFORMER,
        model.MASKS,
        model.NUMBERS,
        a1.A1,
        a2.A2,
        recovery.RECOVERY,
        recovery.MERGE,
        recovery.GATING,
        b1.B1,
        b1_repaired.B1_REPAIRED,
    ),
    findings=findings.FINDINGS,
    objections=objections.OBJECTIONS,
)
