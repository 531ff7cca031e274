"""The programs that are run, built from the released module of MGPUSim."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent
REPOSITORY = HERE.parent.parent
VERSION = "v4.2.0"

# The samples are tools of the module in this folder, the program that notes launches is one of its packages.
LAUNCHES = "launches"


def build(folder: Path) -> None:
    """Build all samples and the program that notes launches."""
    folder.mkdir(parents=True, exist_ok=True)
    print(f"building the samples of MGPUSim {VERSION} into {folder}", flush=True)
    subprocess.run(["go", "build", "-o", f"{folder}{os.sep}", "tool", f"./{LAUNCHES}"], cwd=HERE, check=True)


def build_recorder(folder: Path) -> Path:
    """Build the recorder of traces."""
    recorder = folder / "mgpusim-trace"
    print(f"building the recorder into {folder}", flush=True)
    folder.mkdir(parents=True, exist_ok=True)
    subprocess.run(["go", "build", "-o", str(recorder), "."], cwd=REPOSITORY / "tools" / "mgpusim-trace", check=True)
    return recorder


def ready(folder: Path, names: set[str], *, again: bool) -> None:
    """Build what is missing, and make sure that these programs are what they should be."""
    if again or any(not (folder / name).exists() for name in names):
        build(folder)
    for name in sorted(names):
        check_version(folder / name)


def check_version(binary: Path) -> None:
    """The binary must be the released module's, with fixed random inputs."""
    command = ["go", "version", "-m", str(binary)]
    information = subprocess.run(command, check=True, text=True, capture_output=True).stdout
    for needle in (f"github.com/sarchlab/mgpusim/v4\t{VERSION}", "randautoseed=0", "randseednop=0"):
        if needle not in information:
            sys.exit(f"{binary}: not built by this module ({needle!r} is missing); use --build")
