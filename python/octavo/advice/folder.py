"""The folder of advice."""

from __future__ import annotations

from typing import TYPE_CHECKING

from octavo import extras
from octavo.advice import placement_file
from octavo.files import disk

if TYPE_CHECKING:
    from pathlib import Path

    from octavo.advice.answer import Advice

ADVICE_FILE = "advice.json"
BUFFERS_FILE = "buffers.parquet"
POINTS_FILE = "points.parquet"
PICTURE_FILE = "roofline.png"


def save(root: Path, advice: Advice) -> None:
    """Write advice, table and picture into an open folder; what an earlier search found does not stay."""
    from octavo.files import parquet, shared  # noqa: PLC0415 - as it is written alone

    disk.write_json(root / ADVICE_FILE, advice.to_dict())
    disk.write_bytes(root / BUFFERS_FILE, parquet.encoded(advice.table()))
    if advice.exhausted is not None:
        disk.write_bytes(root / POINTS_FILE, parquet.encoded(advice.exhausted.points))
    else:
        shared.remove(root / POINTS_FILE)
    if advice.recording is not None:
        disk.write_json(root / placement_file.NAME, placement_file.document(advice))
    if extras.pictures():
        advice.plot().save(root / PICTURE_FILE)
