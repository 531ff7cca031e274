"""A program that is sampled from outside and recorded from inside at once: its memory, and its allocations in CUDA."""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Any

from octavo.advice.recording import FOLDER_FILE
from octavo.measurements.interposer.programs import recording_to, recordings
from octavo.measurements.profile import profile

if TYPE_CHECKING:
    from collections.abc import Sequence

    from octavo.runs.result import RunResult


def profile_with_buffers(command: Sequence[str], folder: str | Path, **options: Any) -> RunResult:
    """Like `octavo.measurements.profile.profile`, with recordings of its processes in the folder, for `octavo advise`.

    Raises:
        ProfileError: the library is not there; or as for `profile`.
        OutputError: as for `profile`.

    """
    with tempfile.TemporaryDirectory(prefix="octavo-") as place:
        file = Path(place) / FOLDER_FILE
        environment = recording_to(file, command)
        return profile(
            command,
            folder,
            environment=environment,
            beside=lambda: {each.name: each.read_bytes() for each in recordings(file)},
            **options,
        )
