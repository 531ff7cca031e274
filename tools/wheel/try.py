"""Installs a package into an empty environment and uses it there: a wheel as somebody without Rust would.

python tools/wheel/try.py dist/octavo-….whl
python tools/wheel/try.py dist/octavo-….tar.gz
"""

import os
import subprocess
import sys
import tarfile
import tempfile
import venv
from pathlib import Path

_MIB = 1 << 20
DEMO = ("demo", "--no-open", "--scale", "1/256", "--quiet")
STUDIES = ("reproduce", "mosaic", "--help")


WITH_SOURCES = ("CITATION.cff", "CHANGELOG.md", "LICENSE-MIT", "LICENSE-APACHE", "Cargo.lock")
INSTALLED = (
    *("octavo/THIRD-PARTY.txt", "octavo/report/page/vega.js", "octavo/py.typed"),
    *("octavo/runs/totals.py", "octavo/scenarios/config.py"),
    "octavo_studies/mosaic/published.json",
)


def main(package: Path) -> None:
    """Install it, run the demo, and say how large everything is that was installed."""
    if package.suffix != ".whl":
        check_sources(package)
    with tempfile.TemporaryDirectory() as temporary:
        root = Path(temporary)
        venv.create(root / "venv", with_pip=True)
        scripts = root / "venv" / "bin"
        before = size(root / "venv")
        subprocess.run([scripts / "pip", "install", "--quiet", package.resolve()], check=True)
        installed = next((root / "venv").glob("lib/python*/site-packages"))
        for name in INSTALLED:
            if not (installed / name).is_file():
                sys.exit(f"{package}: it installs no {name}")
        print(
            f"Installed: {(size(root / 'venv') - before) / _MIB:,.0f} MiB, of which the package "
            f"{size(installed / 'octavo') / _MIB:,.0f} MiB"
        )
        # No compiler and nothing of a checkout can be found from here.
        clean = {"PATH": str(scripts), "HOME": str(root), "LANG": os.environ.get("LANG", "C.UTF-8")}
        subprocess.run([scripts / "octavo", *DEMO, "-o", root / "demo"], check=True, cwd=root, env=clean)
        subprocess.run([scripts / "octavo", *STUDIES], check=True, cwd=root, env=clean, stdout=subprocess.DEVNULL)
        report = root / "demo" / "report.html"
        if b"vegaEmbed" not in report.read_bytes():
            sys.exit(f"{report}: no charts library in the report")
        print(f"Demo: a report of {report.stat().st_size / _MIB:.1f} MiB")


def check_sources(package: Path) -> None:
    """End with a message if a source distribution lacks one of the files that go with the sources."""
    with tarfile.open(package) as archive:
        names = {name.partition("/")[2] for name in archive.getnames()}
    missing = [name for name in WITH_SOURCES if name not in names]
    if missing:
        sys.exit(f"{package}: it lacks {', '.join(missing)}")


def size(folder: Path) -> int:
    """Bytes of all files below a folder."""
    return sum(path.stat().st_size for path in folder.rglob("*") if path.is_file() and not path.is_symlink())


if __name__ == "__main__":
    main(Path(sys.argv[1]))
