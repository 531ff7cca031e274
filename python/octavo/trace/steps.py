"""Steps of PyTorch programs: recorded by another Python, made to fit any batch, written."""

from __future__ import annotations

import gzip
import json
import shlex
import shutil
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from octavo.errors import TraceError
from octavo.files.atomic import write_bytes
from octavo.files.disk import check_file
from octavo.trace.octavo_recorder import vary as vary_

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
SHOWN_GPU = {"memory": 80 << 30, "capability": [9, 0]}
"""The GPU that scripts see, if they ask: an H100. What they need does not depend on it, unless they do."""
NAMES_OF_BATCH = ("batch_size", "batch", "BATCH_SIZE", "BATCH", "bs", "batchsize")
"""Variables that are taken for the batch size if a script has one of them."""
MOST_STEPS = 4
"""Optimizer steps after which a script is ended, unless another number is given: gradients and state are there."""
_VALUES_NEEDED = 3
"""The recorder's exit status where a script needs values of tensors; it runs on the CPU then."""
_START = "import sys; sys.path.insert(1, sys.argv[1]); from octavo_recorder.main import main; main()"


def record_torch(
    script: str | Path,
    output: str | Path,
    arguments: Sequence[str] = (),
    *,
    batch: int | None = None,
    python: str | None = None,
    steps: int | None = MOST_STEPS,
    on: Literal["meta", "cpu"] | None = None,
    vary: str | None = None,
) -> dict[str, Any]:
    """Record a step of a PyTorch program and write it to `output`; `docs/pytorch.md` explains what is recorded.

    Args:
        script: the program. No GPU is needed: it sees one, whose tensors have no values.
        output: the file to write, `NAME.step` by convention.
        arguments: the arguments of the script. If they contain `{batch}`, the step is recorded with three batch sizes,
            and replays can choose theirs.
        batch: the default batch size of replays; needs `{batch}`, or a variable that holds it.
        python: an interpreter with PyTorch; by default this one or the first on the path that has it.
        steps: optimizer steps after which the script is ended; None for as many as it has.
        on: `meta` for tensors without values, `cpu` to compute them; by default the CPU where a script needs them.
        vary: the script's variable with the batch size, such as `batch_size`; found by its name if left out.

    Returns:
        What was recorded: the file's contents.

    Raises:
        OutputError: the file cannot be written.
        TraceError: there is no PyTorch, the script fails, or no step was found; or steps with different batch sizes
            differ in more than sizes.

    """
    script, output = Path(script), Path(output)
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
    variable = _variable(script, arguments, batch, vary)
    way = _Way(python or _python_with_torch(), script, tuple(arguments), steps, on)
    usual, fitted = _recorded(way, batch, variable, sure=vary is not None or batch is not None)
    command = shlex.join([script.name, *arguments])
    step = {"octavo_step": 1, "command": command, "batch": usual, **fitted}
    text = json.dumps(step, separators=(",", ":")).encode()
    write_bytes(output, gzip.compress(text, mtime=0))
    return step


@dataclass
class _Way:
    """How a script is recorded."""

    python: str
    script: Path
    arguments: tuple[str, ...]
    steps: int | None
    on: Literal["meta", "cpu"] | None
    why: str = ""
    """What needs values, if the script did not run without."""

    def record(self, batch: int | None, variable: str | None) -> dict[str, Any]:
        """What it does, with a batch size.

        Raises:
            TraceError: it cannot be recorded.

        """
        given = [argument if batch is None else argument.replace(BATCH, str(batch)) for argument in self.arguments]
        vary = {} if batch is None or variable is None else {variable: batch}
        how = {"steps": self.steps, "vary": vary, **SHOWN_GPU}
        found = _record(self.python, self.script, given, {**how, "on": self.on or "meta"}, again=self.on is None)
        if isinstance(found, str):
            self.on, self.why = "cpu", found
            found = _record(self.python, self.script, given, {**how, "on": "cpu"}, again=False)
        if isinstance(found, str):
            raise _failed(self.python, self.script, found)
        if self.why:
            found["memory"]["assumed"].insert(0, f"the CPU stands in for the GPU: {self.why}")
        return found


def _variable(script: Path, arguments: Sequence[str], batch: int | None, vary: str | None) -> tuple[str, int] | None:
    """The variable with the batch size, and its value; none if the size is an argument, or not known.

    Raises:
        TraceError: what is said of the batch size does not go together.

    """
    by_argument = any(BATCH in argument for argument in arguments)
    try:
        known = vary_.numbers(script)
    except (SyntaxError, UnicodeDecodeError, ValueError, RecursionError):
        known = {}
    if vary is not None:
        if by_argument or vary not in known:
            raise TraceError(
                f"--vary {vary}: expected a variable to which {script.name} gives a whole number once, at its top"
                + (f", and no `{BATCH}` beside it" if by_argument else ""),
                f"there are {', '.join(known)}" if known else None,
                code="unexpected-value",
                key="vary",
            )
        return vary, known[vary][0]
    candidates = [] if by_argument else [name for name in NAMES_OF_BATCH if name in known]
    if by_argument != (batch is not None) and not (batch is not None and candidates):
        raise TraceError(
            f"`{BATCH}` among the script's arguments goes with --batch",
            f"`octavo trace torch {script.name} {BATCH} --batch 64` has it, and 64 where nothing else is said",
            code="conflict",
            key="batch",
        )
    return (candidates[0], known[candidates[0]][0]) if len(candidates) == 1 else None


def _recorded(
    way: _Way, batch: int | None, variable: tuple[str, int] | None, *, sure: bool
) -> tuple[int | None, dict[str, Any]]:
    """The usual batch size, if it can be chosen, and the step.

    Raises:
        TraceError: it cannot be recorded.

    """
    if variable is None:
        return batch, _fit([way.record(size, None) for size in (TRIED if batch is not None else (None,))])
    name, own = variable
    try:
        fitted = _fit([way.record(size, name) for size in TRIED])
    except TraceError as error:
        if sure:
            raise
        fitted = _fit([way.record(None, None)])
        fitted["memory"]["assumed"].append(f"the batch size is as it is: with others in `{name}`, {error.message}")
        return None, fitted
    fitted["memory"]["assumed"].append(f"`{name}` is the batch size, {own} in the script")
    return batch or own, fitted


def _python_with_torch() -> str:
    """An interpreter that has PyTorch: Octavo's own, or one on the path; Octavo's own if there is none."""
    for name in (sys.executable, "python3", "python", "/usr/bin/python3"):
        found = shutil.which(name)
        asked = [found or name, "-c", "import importlib.util as u, sys; sys.exit(u.find_spec('torch') is None)"]
        if found and subprocess.run(asked, check=False, capture_output=True).returncode == 0:  # noqa: S603
            return found
    return sys.executable


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


def _record(
    python: str, script: Path, given: Sequence[str], how: dict[str, Any], *, again: bool
) -> dict[str, Any] | str:
    """What a script does; or why it needs values that it does not have, if it may be run `again`.

    Raises:
        TraceError: it cannot be recorded.

    """
    folder = str(Path(__file__).parent)
    with tempfile.TemporaryDirectory() as place:
        result = Path(place) / "step.json"
        command = [python, "-c", _START, folder, str(result), json.dumps(how), str(script), *given]
        try:
            ended = subprocess.run(command, check=False, stderr=subprocess.PIPE, stdout=_STANDARD_ERROR)  # noqa: S603
        except OSError as error:
            raise TraceError(f"{python} cannot be run: {error.strerror}") from None
        if ended.returncode == _VALUES_NEEDED and again:
            return (ended.stderr.decode(errors="replace").strip().splitlines() or ["it needs values"])[-1]
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
    return {
        "source": first["source"],
        "parameters": first["parameters"],
        "tensors": tensors,
        "operators": operators,
        "memory": _fit_memory([step["memory"] for step in recorded]),
    }


def _fit_memory(recorded: list[dict[str, Any]]) -> dict[str, Any]:
    """The history of a program's memory with sizes as lines of the batch size."""
    first = recorded[0]
    for other in recorded[1:]:
        for key in ("events", "products", "marks"):
            if other[key] != first[key]:
                raise TraceError(
                    f"{key} of memory differ with the batch size",
                    "record it with one batch size",
                    code="unexpected-value",
                    key=key,
                )
    modules = [
        {
            **one,
            "work": [_line([each["modules"][index]["work"][part] for each in recorded], "work") for part in range(3)],
        }
        for index, one in enumerate(first["modules"])
    ]
    blocks = [
        (role, _line([each["blocks"][index][1] for each in recorded], f"bytes of block {index}"))
        for index, (role, _) in enumerate(first["blocks"])
    ]
    return {**first, "blocks": blocks, "modules": modules}


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
