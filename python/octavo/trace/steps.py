"""Steps of PyTorch programs: recorded by another Python, made to fit any batch, written."""

from __future__ import annotations

import gzip
import json
import shlex
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Any

from octavo.errors import TraceError
from octavo.files.atomic import write_bytes
from octavo.files.disk import check_file

if TYPE_CHECKING:
    from collections.abc import Sequence

BATCH = "{batch}"
"""What stands for the batch size in the arguments of a script."""
TRIED = (2, 3, 5)
"""Batch sizes that a step is recorded with, where it should fit any: two define a line, the third checks it."""
ROLES = ("parameter", "state", "input", "temporary")
"""Role of a tensor in the program, as files name it."""
_STANDARD_ERROR = 2
"""Where what the script prints goes: a file descriptor."""
_START = "import sys; sys.path.insert(1, sys.argv[1]); from octavo_recorder.main import main; main()"


def record_torch(
    script: str | Path,
    output: str | Path,
    arguments: Sequence[str] = (),
    *,
    batch: int | None = None,
    python: str | None = None,
) -> dict[str, Any]:
    """Record a step of a PyTorch program and write it to `output`; `docs/own-workload.md` explains what is recorded.

    Args:
        script: the program. It runs on the CPU or the meta device; no GPU is needed.
        output: the file to write, `NAME.step` by convention.
        arguments: the arguments of the script. If they contain `{batch}`, the step is recorded with three batch sizes,
            and replays can choose theirs.
        batch: the default batch size of replays; needs `{batch}`.
        python: an interpreter with PyTorch; by default this one.

    Returns:
        What was recorded: the file's contents.

    Raises:
        OutputError: the file cannot be written.
        TraceError: there is no PyTorch, the script fails, or no step was found; or steps with different batch sizes
            differ in more than sizes.

    """
    script, output = Path(script), Path(output)
    by_batch = any(BATCH in argument for argument in arguments)
    if by_batch != (batch is not None):
        raise TraceError(
            f"`{BATCH}` among the script's arguments goes with --batch",
            f"`octavo trace torch {script.name} {BATCH} --batch 64` has it, and 64 where nothing else is said",
            code="conflict",
            key="batch",
        )
    if not script.is_file():
        raise TraceError(f"there is no script {script}", code="missing")
    check_file(output)
    if output.exists() and output.samefile(script):
        raise TraceError(
            f"cannot write {output}: it is the script",
            "name another file with -o, such as step.step",
            code="unwritable",
            file=output,
        )
    python = python or sys.executable
    recorded = [_record(python, script, arguments, size) for size in (TRIED if by_batch else (None,))]
    command = shlex.join([script.name, *arguments])
    step = {"octavo_step": 1, "command": command, "batch": batch, **(_fit(recorded))}
    text = json.dumps(step, separators=(",", ":")).encode()
    write_bytes(output, gzip.compress(text, mtime=0))
    return step


def facts(step: dict[str, Any]) -> dict[str, int | str]:
    """What a recorded step is, in numbers, with its own batch size."""
    batch = step["batch"] or 0

    def total(lines: list[Any]) -> int:
        return sum(fixed + each * batch for fixed, each in lines)

    tensors = {role: [size for one, size in step["tensors"] if one == role] for role in ROLES}
    return {
        "recorded_by": str(step["source"]),
        "batch": step["batch"] or "as recorded",
        "operators": sum("reads" in one or "writes" in one for one in step["operators"]),
        "parameters": int(step["parameters"]),
        **{f"{role}_bytes": total(sizes) for role, sizes in tensors.items()},
        "operations": total([one.get("flops", (0, 0)) for one in step["operators"]]),
    }


def _record(python: str, script: Path, arguments: Sequence[str], batch: int | None) -> dict[str, Any]:
    given = arguments if batch is None else [argument.replace(BATCH, str(batch)) for argument in arguments]
    folder = str(Path(__file__).parent)
    with tempfile.TemporaryDirectory() as place:
        result = Path(place) / "step.json"
        command = [python, "-c", _START, folder, str(result), str(script), *given]
        try:
            ended = subprocess.run(command, check=False, stderr=subprocess.PIPE, stdout=_STANDARD_ERROR)  # noqa: S603
        except OSError as error:
            raise TraceError(f"{python} cannot be run: {error.strerror}") from None
        if ended.returncode:
            raise _failed(python, script, ended.stderr.decode(errors="replace").strip())
        sys.stderr.write(ended.stderr.decode(errors="replace"))
        if not result.exists():
            raise TraceError(f"{script} ended before its step was written", file=script, code="missing")
        found: dict[str, Any] = json.loads(result.read_text(encoding="utf-8"))
        return found


def _failed(python: str, script: Path, said: str) -> TraceError:
    last = said.splitlines()[-1] if said else "it said nothing"
    if "No module named 'torch'" in last:
        return TraceError(
            f"{python} has no PyTorch", "name one that has with --python, such as --python /usr/bin/python3"
        )
    error = TraceError(f"{script} could not be recorded: {last}", file=script)
    error.details = said
    return error


def _fit(recorded: list[dict[str, Any]]) -> dict[str, Any]:
    """One step with counts as lines of the batch size, [fixed, for each sample]."""
    first = recorded[0]
    shapes = [[(one["name"], *_names(one)) for one in step["operators"]] for step in recorded]
    for other in shapes[1:]:
        differs = next((pair for pair in zip(shapes[0], other, strict=False) if pair[0] != pair[1]), None)
        if differs or len(other) != len(shapes[0]) or len({len(step["tensors"]) for step in recorded}) > 1:
            where = differs[0][0] if differs else "their number"
            raise TraceError(
                f"operators differ with the batch size, first in {where}",
                "record it with one batch size",
                code="unexpected-value",
                key="operators",
            )
    tensors = [
        (role, _line([step["tensors"][index][1] for step in recorded], f"bytes of tensor {index}"))
        for index, (role, _) in enumerate(first["tensors"])
    ]
    operators = [_operator([step["operators"][index] for step in recorded], tensors) for index in range(len(shapes[0]))]
    return {"source": first["source"], "parameters": first["parameters"], "tensors": tensors, "operators": operators}


def _names(operator: dict[str, Any]) -> tuple[Any, ...]:
    """Which tensors an operator names."""
    touched = ([operand[0] for operand in operator[key]] for key in ("reads", "writes"))
    return (*touched, operator["allocates"], operator["frees"])


def _operator(same: list[dict[str, Any]], tensors: list[Any]) -> dict[str, Any]:
    first = same[0]
    operator = {"name": first["name"], "flops": _line([one["flops"] for one in same], f"operations of {first['name']}")}
    for key in ("reads", "writes"):
        operator[key] = []
        for index, (tensor, *_) in enumerate(first[key]):
            offset, size = (
                _line([one[key][index][part] for one in same], f"operands of {first['name']}") for part in (1, 2)
            )
            whole = offset == (0, 0) and size == tensors[tensor][1]
            operator[key].append(tensor if whole else (tensor, offset, size))
    operator |= {key: first[key] for key in ("allocates", "frees")}
    return {key: value for key, value in operator.items() if value not in ([], (0, 0))}


def _line(counts: list[int], what: str) -> tuple[int, int]:
    """A count as a line of the batch size."""
    if len(counts) == 1:
        return counts[0], 0
    each, rest = divmod(counts[1] - counts[0], TRIED[1] - TRIED[0])
    fixed = counts[0] - each * TRIED[0]
    if rest or any(fixed + each * size != count for size, count in zip(TRIED, counts, strict=True)):
        found = ", ".join(map(str, counts))
        tried = ", ".join(map(str, TRIED))
        raise TraceError(
            f"{what}: {found} with {tried} samples, expected a fixed count and one for each sample",
            "record it with one batch size",
            code="unexpected-value",
            key="bytes",
            found=found,
        )
    return fixed, each
