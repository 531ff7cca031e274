"""Writes the notices of what is linked into the package, or bundled with it: most licences ask that they go with it.

Run before a package is built, like `vega.py`. The texts are those in the sources of each crate.
"""

import json
import subprocess
from collections import defaultdict
from pathlib import Path

ROOT = Path(__file__).parents[2]
NOTICES = ROOT / "python" / "octavo" / "THIRD-PARTY.txt"
NAMES = ("LICENSE", "LICENCE", "COPYING", "COPYRIGHT", "NOTICE", "UNLICENSE")
CHARTS = """\
The charts library of reports (octavo/report/page/vega.js)
----------------------------------------------------------
Vega, Vega-Lite, Vega-Embed and their parts: Copyright (c) 2015-2026 University of Washington Interactive Data Lab and
contributors, BSD-3-Clause. D3: Copyright 2010-2026 Mike Bostock, ISC. topojson-client: Copyright 2012-2019 Michael
Bostock, ISC. delaunator: Copyright (c) 2021, Mapbox, ISC. node-semver: Copyright (c) Isaac Z. Schlueter and
Contributors, ISC. fast-json-patch: Copyright (c) 2013-2026 Joachim Wester and others, MIT (its text stands below).
Bundled by vl-convert: Copyright (c) 2022 Jon Mease, BSD-3-Clause.

BSD-3-Clause: Redistribution and use in source and binary forms, with or without modification, are permitted provided
that the following conditions are met: 1. Redistributions of source code must retain the above copyright notice, this
list of conditions and the following disclaimer. 2. Redistributions in binary form must reproduce the above copyright
notice, this list of conditions and the following disclaimer in the documentation and/or other materials provided with
the distribution. 3. Neither the name of the copyright holder nor the names of its contributors may be used to endorse
or promote products derived from this software without specific prior written permission. THIS SOFTWARE IS PROVIDED BY
THE COPYRIGHT HOLDERS AND CONTRIBUTORS "AS IS" AND ANY EXPRESS OR IMPLIED WARRANTIES, INCLUDING, BUT NOT LIMITED TO, THE
IMPLIED WARRANTIES OF MERCHANTABILITY AND FITNESS FOR A PARTICULAR PURPOSE ARE DISCLAIMED. IN NO EVENT SHALL THE
COPYRIGHT HOLDER OR CONTRIBUTORS BE LIABLE FOR ANY DIRECT, INDIRECT, INCIDENTAL, SPECIAL, EXEMPLARY, OR CONSEQUENTIAL
DAMAGES (INCLUDING, BUT NOT LIMITED TO, PROCUREMENT OF SUBSTITUTE GOODS OR SERVICES; LOSS OF USE, DATA, OR PROFITS; OR
BUSINESS INTERRUPTION) HOWEVER CAUSED AND ON ANY THEORY OF LIABILITY, WHETHER IN CONTRACT, STRICT LIABILITY, OR TORT
(INCLUDING NEGLIGENCE OR OTHERWISE) ARISING IN ANY WAY OUT OF THE USE OF THIS SOFTWARE, EVEN IF ADVISED OF THE
POSSIBILITY OF SUCH DAMAGE.

ISC: Permission to use, copy, modify, and/or distribute this software for any purpose with or without fee is hereby
granted, provided that the above copyright notice and this permission notice appear in all copies. THE SOFTWARE IS
PROVIDED "AS IS" AND THE AUTHOR DISCLAIMS ALL WARRANTIES WITH REGARD TO THIS SOFTWARE INCLUDING ALL IMPLIED WARRANTIES
OF MERCHANTABILITY AND FITNESS. IN NO EVENT SHALL THE AUTHOR BE LIABLE FOR ANY SPECIAL, DIRECT, INDIRECT, OR
CONSEQUENTIAL DAMAGES OR ANY DAMAGES WHATSOEVER RESULTING FROM LOSS OF USE, DATA OR PROFITS, WHETHER IN AN ACTION OF
CONTRACT, NEGLIGENCE OR OTHER TORTIOUS ACTION, ARISING OUT OF OR IN CONNECTION WITH THE USE OR PERFORMANCE OF THIS
SOFTWARE.
"""


def main() -> None:
    """Every crate that is linked, by name and version, with its licence; each text once, below those that have it."""
    sharing: dict[str, list[str]] = defaultdict(list)
    listed = []
    for crate in linked():
        name = f"{crate['name']} {crate['version']}"
        listed.append(f"{name}: {crate['license']}\n")
        for text in texts(Path(crate["manifest_path"]).parent):
            if name not in sharing[text]:
                sharing[text].append(name)
    rust = "Rust's standard library: MIT OR Apache-2.0\n"
    parts = ["The extension module of Octavo contains these crates:\n\n", *listed, rust, "\n", CHARTS]
    parts += [f"\n{'=' * 80}\n{', '.join(names)}:\n\n{text}\n" for text, names in sharing.items()]
    NOTICES.write_text("".join(parts), encoding="utf-8")


def linked() -> list[dict[str, str]]:
    """The crates of others in the extension module, as cargo describes them, by name."""
    named = cargo("tree", "--package=octavo-python", "--edges=normal,no-proc-macro", "--prefix=none", "--format={p}")
    wanted = {tuple(line.split()[:2]) for line in named.splitlines()}
    packages = json.loads(cargo("metadata", "--format-version=1"))["packages"]
    found = [each for each in packages if each["source"] and (each["name"], f"v{each['version']}") in wanted]
    return sorted(found, key=lambda each: (each["name"], each["version"]))


def texts(crate: Path) -> list[str]:
    """The licences in the sources of a crate, including C libraries inside."""
    files = sorted(path for path in crate.rglob("*") if path.is_file() and path.name.upper().startswith(NAMES))
    # zstd can be had under BSD-3-Clause (LICENSE) or GPL-2 (COPYING); Octavo has it under the former.
    files = [path for path in files if path.suffix != ".rs" and not (path.name == "COPYING" and licensed(path.parent))]
    return [path.read_text(encoding="utf-8", errors="replace").strip() for path in files]


def licensed(folder: Path) -> bool:
    """Whether a folder has a licence beside its `COPYING`."""
    return any(path.name.upper().startswith("LICENSE") for path in folder.iterdir())


def cargo(*words: str) -> str:
    """What cargo prints about this workspace."""
    done = subprocess.run(["cargo", *words, "--locked"], cwd=ROOT, stdout=subprocess.PIPE, text=True, check=True)
    return done.stdout


if __name__ == "__main__":
    main()
