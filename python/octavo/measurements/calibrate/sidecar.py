"""The file beside a probe's samples that says where they were taken, and vouches for them."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

from octavo.errors import CalibrationError
from octavo.files import digest

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

FORMAT = 1
AGAIN = "measure it again with --force"


@dataclass(frozen=True)
class Origin:
    """What decides whether samples can replace a new measurement; equal origins are the same measurement."""

    gpu: str
    """Name of the GPU, such as `NVIDIA H200`."""
    uuid: str
    driver: str
    effort: str
    """`quick` or `full`."""
    digest: str
    """Digest of the probe's sources."""
    gpus: int
    """GPUs in the machine."""

    def difference(self, other: Origin, but: str = "") -> str | None:
        """The first difference, in words; `but` may differ."""
        names = {"digest": "version of the probe", "uuid": "GPU", "gpus": "number of GPUs"}
        for key, mine in asdict(self).items():
            theirs = asdict(other)[key]
            if mine != theirs and key != but:
                return f"{names.get(key, key)} `{mine}`, not `{theirs}`"
        return None


def check(sidecar: Mapping[str, Any]) -> str:
    """The hash of everything in a sidecar except the hash itself."""
    return digest.of_text(json.dumps({key: value for key, value in sidecar.items() if key != "check"}, sort_keys=True))


_SIDECAR: dict[str, type | tuple[type, ...]] = {
    "format": int,
    "probe": str,
    "date": str,
    "origin": dict,
    "device": dict,
    "skipped": dict,
    "activity": (dict, type(None)),
}


_EXPECTED = {
    "format": "a number",
    "probe": "a name",
    "date": "a date",
    "origin": "an object",
    "device": "an object",
    "skipped": "an object",
    "activity": "an object or null",
}


def read(path: Path) -> dict[str, Any]:
    """What a sidecar says.

    Raises:
        CalibrationError: it is not there, damaged, or of another format.

    """
    sidecar = _loaded(path)
    _check_keys(path, sidecar)
    if not {"files", "check"}.isdisjoint(sidecar) and sidecar.get("check") != check(sidecar):
        expected = sidecar.get("check", "of its own")
        raise CalibrationError(
            f"{path} is damaged: expected contents with `check` {expected}, found others",
            AGAIN,
            code="damaged",
            file=path,
        )
    return sidecar


def _loaded(path: Path) -> dict[str, Any]:
    try:
        sidecar = json.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        raise CalibrationError(
            f"{path}: expected a finished probe, found no file", AGAIN, code="missing", file=path
        ) from None
    except (OSError, ValueError) as error:
        raise CalibrationError(
            f"{path} is damaged: expected JSON, found {error}", AGAIN, code="damaged", file=path, found=error
        ) from None
    if not isinstance(sidecar, dict):
        raise CalibrationError(
            f"{path} is damaged: expected an object, found {type(sidecar).__name__}", AGAIN, code="damaged", file=path
        )
    return sidecar


def _check_keys(path: Path, sidecar: dict[str, Any]) -> None:
    for key, kind in _SIDECAR.items():
        if key not in sidecar or not isinstance(sidecar[key], kind):
            found = type(sidecar[key]).__name__ if key in sidecar else "nothing"
            raise CalibrationError(
                f"{path}: key `{key}`: expected {_EXPECTED[key]}, found {found}",
                AGAIN,
                code="unexpected-value",
                file=path,
                key=key,
                expected=_EXPECTED[key],
                found=found,
            )
    if not isinstance(sidecar.get("host", {}), dict):
        raise CalibrationError(
            f"{path}: key `host`: expected an object, found {type(sidecar['host']).__name__}",
            AGAIN,
            code="unexpected-value",
            file=path,
            key="host",
        )
    if sidecar["format"] != FORMAT:
        raise CalibrationError(
            f"{path}: expected format {FORMAT}, found {sidecar['format']}",
            AGAIN,
            code="other-format",
            file=path,
            expected=FORMAT,
            found=sidecar["format"],
        )
    if set(sidecar["origin"]) != set(Origin.__dataclass_fields__):
        found = ", ".join(sidecar["origin"])
        expected = ", ".join(Origin.__dataclass_fields__)
        raise CalibrationError(
            f"{path}: key `origin`: expected {expected}, found {found}",
            AGAIN,
            code="unexpected-value",
            file=path,
            key="origin",
            expected=expected,
            found=found,
        )


def path_of(directory: Path, probe: str) -> Path:
    """The file of a probe's sidecar."""
    return directory / f"{probe}.json"
