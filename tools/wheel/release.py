"""Checks what a release says of itself, and sums up its files; publishes nothing.

python tools/wheel/release.py          the version, the changelog and the checkout agree
python tools/wheel/release.py dist     the same, and dist/SHA256SUMS of the packages of that version
"""

import hashlib
import re
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[2]
SUMS = "SHA256SUMS"


def main(folder: str | None = None) -> None:
    """Check, and write the sums of a folder."""
    found = version((ROOT / "Cargo.toml").read_text(encoding="utf-8"))
    check_changelog(found, (ROOT / "CHANGELOG.md").read_text(encoding="utf-8"))
    changed = subprocess.run(["git", "status", "--porcelain"], cwd=ROOT, capture_output=True, text=True, check=True)
    if changed.stdout:
        sys.exit(f"a release is what is committed, found changes:\n{changed.stdout}")
    if folder is None:
        return
    files = packages(Path(folder), found)
    sums = "".join(f"{hashlib.sha256(file.read_bytes()).hexdigest()}  {file.name}\n" for file in files)
    (Path(folder) / SUMS).write_text(sums, encoding="utf-8")
    sys.stdout.write(f"Octavo {found}, published nowhere:\n{sums}")


def version(manifest: str) -> str:
    """Return the version of all crates, which is the package's."""
    found = re.search(r'^\[workspace\.package\][^\[]*?^version = "(\d+\.\d+\.\d+)"', manifest, re.MULTILINE)
    if found is None:
        sys.exit("Cargo.toml: workspace.package.version: expected a version such as 0.1.0, found none")
    return found[1]


def check_changelog(version: str, changelog: str) -> None:
    """End with a message unless the first section is that of the version, with its date."""
    titles = re.findall(r"^## (.+)$", changelog, re.MULTILINE)
    if not titles or not re.fullmatch(rf"{re.escape(version)} – \d{{4}}-\d\d-\d\d", titles[0]):
        first = f"`{titles[0]}`" if titles else "none"
        sys.exit(f"CHANGELOG.md: expected `{version} – YYYY-MM-DD` as its first section, found {first}")


def packages(folder: Path, version: str) -> list[Path]:
    """Return the wheels and the source distribution of a version, of which both must be there."""
    wheels, sources = sorted(folder.glob(f"octavo-{version}-*.whl")), folder / f"octavo-{version}.tar.gz"
    if not wheels or not sources.is_file():
        sys.exit(f"{folder}: expected a wheel and the source distribution of {version}: make release")
    return [*wheels, sources]


if __name__ == "__main__":
    main(*sys.argv[1:2])
