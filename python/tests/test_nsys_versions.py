"""Exports of Nsight Systems whose names nobody here knows: read with a note, or named in the refusal."""

from __future__ import annotations

import pytest
from nsys_exports import PAGE, A, Export

import octavo
from octavo.measurements.imports.nsys import import_nsys


@pytest.fixture
def export(tmp_path):
    return Export(tmp_path / "p.sqlite")


def test_kinds_of_copies_by_label_or_by_an_unknown_name(tmp_path, export):
    export.enum("ENUM_CUDA_MEMCPY_OPER", [(12, "CUDA_MEMCPY_KIND_NEW")])
    export.insert("ENUM_CUDA_MEMCPY_OPER", id=31, name="UM_1", label="Unified Host-to-Device")
    export.copy(10, 31, A, PAGE)
    export.copy(20, 12, A, PAGE)
    result = import_nsys(export.save(), tmp_path / "result")
    assert result.table("events").select("kind", "to").rows() == [("migration", 1), ("migration", 0)]
    (told,) = result.summary["notes"]
    assert "CUDA_MEMCPY_KIND_NEW" in told


def test_tables_of_unified_memory_that_nobody_knows_are_named(tmp_path, export):
    export.table("CUPTI_ACTIVITY_KIND_UNIFIED_MEMORY_COUNTER", "value INTEGER")
    export.copy(10, 1, None, PAGE, None)
    with pytest.raises(octavo.ProfileError) as error:
        import_nsys(export.save(), tmp_path / "result")
    assert "CUPTI_ACTIVITY_KIND_UNIFIED_MEMORY_COUNTER" in str(error.value)
