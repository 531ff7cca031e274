"""Installs a wheel into an empty environment and uses it there, as somebody without Rust would.

python tools/wheel/try.py dist/octavo-….whl
"""

import os
import subprocess
import sys
import tempfile
import venv
from pathlib import Path

_MIB = 1 << 20
DEMO = ("demo", "--no-open", "--scale", "1/256", "--quiet")


def main(wheel: Path) -> None:
    """Install it, run the demo, and say how large everything is that was installed."""
    with tempfile.TemporaryDirectory() as temporary:
        root = Path(temporary)
        venv.create(root / "venv", with_pip=True)
        scripts = root / "venv" / "bin"
        before = size(root / "venv")
        subprocess.run([scripts / "pip", "install", "--quiet", wheel.resolve()], check=True)
        print(
            f"Installed: {(size(root / 'venv') - before) / _MIB:,.0f} MiB, of which the package "
            f"{size(next((root / 'venv').glob('lib/python*/site-packages/octavo'))) / _MIB:,.0f} MiB"
        )
        # No compiler and nothing of a checkout can be found from here.
        clean = {"PATH": str(scripts), "HOME": str(root), "LANG": os.environ.get("LANG", "C.UTF-8")}
        subprocess.run([scripts / "octavo", *DEMO, "-o", root / "demo"], check=True, cwd=root, env=clean)
        report = root / "demo" / "report.html"
        if b"vegaEmbed" not in report.read_bytes():
            sys.exit(f"{report}: no charts library in the report")
        print(f"Demo: a report of {report.stat().st_size / _MIB:.1f} MiB")


def size(folder: Path) -> int:
    """Bytes of all files below a folder."""
    return sum(path.stat().st_size for path in folder.rglob("*") if path.is_file() and not path.is_symlink())


if __name__ == "__main__":
    main(Path(sys.argv[1]))
