"""A probe on the stand-in, in a process of its own: `python -m gpu_stand_in.run PROBE GPU` prints what it measured."""

from __future__ import annotations

import json
import sys

import octavo._core as _core


def main() -> None:
    probe, gpu = sys.argv[1], int(sys.argv[2])
    steps: list[tuple[int, int, str]] = []
    try:
        measured = _core.gpu_probe(probe, gpu, quick=True, progress=lambda *step: steps.append(step))
    except _core.GpuError as error:
        print(json.dumps({"error": error.args[0], "steps": steps}))
        return
    if measured["activity"] is not None:
        measured["activity"]["records"] = measured["activity"]["records"].hex()
    print(json.dumps({**measured, "steps": steps}))


if __name__ == "__main__":
    main()
