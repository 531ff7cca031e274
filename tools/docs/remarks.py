"""The page of remarks: what each publication says that can be checked, and what the studies find."""

from __future__ import annotations

from octavo_studies.engine.remarks import VERDICTS, Remarks, reason
from octavo_studies.grace_hopper.remarks import REMARKS as GRACE_HOPPER
from octavo_studies.grit.remarks import REMARKS as GRIT
from octavo_studies.harvest.remarks import REMARKS as HARVEST
from octavo_studies.memmap.remarks import REMARKS as MEMMAP
from octavo_studies.mosaic.remarks import REMARKS as MOSAIC

STUDIES = {
    "GRIT": GRIT,
    "Mosaic": MOSAIC,
    "Memory harvesting": HARVEST,
    "MemMap": MEMMAP,
    "Grace Hopper": GRACE_HOPPER,
}


def page() -> str:
    """Markdown: a table for each study, from its tracked verdicts and rows."""
    parts = [
        "# Remarks of the publications, one by one",
        "What the publications of the [studies](../studies-several-gpus.md) say that can be checked, in our words. "
        "Verdicts are those of the command in each title, made by the rows that it leaves; what no row can judge says "
        "why. `octavo reproduce STUDY` judges anew and writes `remarks.csv`.",
    ]
    for title, remarks in STUDIES.items():
        parts += [f"## {title}", *_study(remarks)]
    return "\n\n".join(parts) + "\n"


def _study(remarks: Remarks) -> list[str]:
    rows = {row["id"]: row for row in remarks.judged(remarks.tracked_rows)}
    told = {name: reason(rows[name]) if name in rows else said.get("why", "") for name, said in remarks.said.items()}
    counts = {word: sum(said["verdict"] == word for said in remarks.said.values()) for word in VERDICTS}
    lines = ["| | where | remark | verdict | found, and why |", "|---|---|---|---|---|"]
    lines += [
        f"| {name} | {said['where']} | {said['remark']} | {said['verdict']} | {told[name]} |".replace("\n", " ")
        for name, said in remarks.said.items()
    ]
    counted = ", ".join(f"{count} {word}" for word, count in counts.items())
    return [f"{remarks.made}: {counted}.", "\n".join(lines)]
