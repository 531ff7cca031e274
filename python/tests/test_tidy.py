"""Imports run downwards; functions, files, blobs and pages stay small: what is not so yet is listed, and shrinks."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from tidy import floors, graph, python_imports, rust_imports, sizes

from octavo.files.toml import read_toml

ROOT = Path(__file__).parents[2]
LIST = Path(__file__).parent / "tidy" / "exceptions.toml"
PACKAGES = {"octavo": floors.FLOORS, "octavo_studies": floors.STUDIES}
MOST_BYTES = 15_000_000
"""Of all files: what a command makes again is not tracked."""
MEASURES = {
    "functions": sizes.functions,
    "files": sizes.files,
    "blobs": sizes.blobs,
    "pages": sizes.pages,
    "sentences": sizes.sentences,
}


@pytest.fixture(scope="module")
def tracked():
    found = sizes.tracked(ROOT)
    if not found:
        pytest.skip("what is tracked is known in a checkout only")
    return found


def exceptions():
    return read_toml(LIST)


@pytest.mark.parametrize("package", PACKAGES)
def test_files_of_python_import_each_other_in_no_circle(package):
    assert graph.circles(python_imports.graph(ROOT / "python" / package)) == []


@pytest.mark.parametrize("package", PACKAGES)
def test_files_of_python_import_from_their_floor_and_below(package):
    assert floors.upwards(python_imports.graph(ROOT / "python" / package), PACKAGES[package]) == []


def test_nothing_general_imports_a_study():
    assert python_imports.imports_of(ROOT / "python" / "octavo", "octavo_studies") == []


def test_no_study_imports_another():
    studies = python_imports.graph(ROOT / "python" / "octavo_studies")
    assert floors.across(studies, dict(floors.STUDIES)["studies"]) == []


@pytest.mark.parametrize("crate", sorted((ROOT / "crates").iterdir()), ids=lambda crate: crate.name)
def test_files_of_a_crate_import_each_other_in_no_circle(crate):
    found = graph.circles(rust_imports.graph(crate))
    assert found == [], "move the name that ties it into a file below, or hand it in as an argument"


def test_what_is_tracked_stays_small(tracked):
    assert sum(path.stat().st_size for path in tracked) < MOST_BYTES


@pytest.mark.parametrize("kind", MEASURES)
def test_nothing_grows_out_of_sight(kind, tracked):
    found, listed = MEASURES[kind](ROOT, tracked), exceptions().get(kind, {})
    if os.environ.get("OCTAVO_WRITE_TIDY"):
        shrink(kind, found)
        listed = exceptions().get(kind, {})
    assert {name: size for name, size in found.items() if size > listed.get(name, 0)} == {}, (
        f"too large: split it (sentences: {sizes.sentences.__doc__})"
    )
    smaller = {name: size for name, size in listed.items() if found.get(name, 0) < size}
    assert smaller == {}, "smaller by now, and so is the list: OCTAVO_WRITE_TIDY=1 writes it"


def shrink(kind, found):
    """Write the list again, each size as small as it is by now; what is new does not enter it."""
    values = exceptions()
    listed = values.get(kind, {})
    values[kind] = {name: min(size, found[name]) for name, size in listed.items() if name in found}
    parts = ((name, [f'"{key}" = {size}' for key, size in entries.items()]) for name, entries in values.items())
    LIST.write_text("\n".join("\n".join([f"[{name}]", *lines, ""]) for name, lines in parts))


def test_a_circle_is_found_through_lazy_and_type_only_imports(tmp_path):
    package = tmp_path / "house"
    package.mkdir()
    (package / "__init__.py").write_text("from house.low import thing\n")
    (package / "low.py").write_text("def thing():\n    from house import high\n    return high\n")
    (package / "high.py").write_text("from typing import TYPE_CHECKING\nif TYPE_CHECKING:\n    from . import thing\n")
    found = graph.circles(python_imports.graph(package))
    assert found == [{"house/low.py", "house/high.py"}]


def test_an_import_of_a_study_is_found_wherever_it_stands(tmp_path):
    package = tmp_path / "house"
    package.mkdir()
    (package / "__init__.py").write_text("def shed():\n    from garden.beds import roses\n    import gardening\n")
    assert python_imports.imports_of(package, "garden") == ["house/__init__.py -> garden.beds"]
    found = {"garden/beds/roses.py": {"garden/trees/oak.py", "garden/tools.py"}, "garden/trees/oak.py": set()}
    assert floors.across(found, "beds trees") == ["garden/beds/roses.py -> garden/trees/oak.py"]


def test_a_circle_of_rust_files_is_found_through_names_handed_on(tmp_path):
    source = tmp_path / "house" / "src"
    (source / "attic").mkdir(parents=True)
    (source / "lib.rs").write_text("mod attic;\nmod cellar;\npub use attic::{Box, roof::Tile};\n")
    (source / "attic" / "mod.rs").write_text("mod roof;\npub struct Box;\nfn f() { crate::cellar::dig(); }\n")
    (source / "attic" / "roof.rs").write_text(
        'pub struct Tile; // crate::cellar\nconst NAME: &str = "crate::cellar";\n'
    )
    (source / "cellar.rs").write_text(
        "use crate::{Box as Chest};\npub fn dig() {}\n#[cfg(test)]\nmod tests { use crate::Tile; }\n"
    )
    found = rust_imports.graph(tmp_path / "house")
    assert found["house/src/attic/roof.rs"] == set()
    assert found["house/src/cellar.rs"] == {"house/src/attic/mod.rs"}
    assert graph.circles(found) == [{"house/src/attic/mod.rs", "house/src/cellar.rs"}]
