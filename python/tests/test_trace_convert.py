"""Foreign traces, converted by the engine."""

import json
from pathlib import Path

import pytest

import octavo._core as _core

DATA = Path(__file__).parents[2] / "crates" / "octavo-trace" / "tests" / "data"


@pytest.mark.parametrize(
    ("form", "name", "rows"),
    [("accel-sim", "accel-sim", 20), ("nvbit-mem-trace", "mem-trace/numbered.txt.xz", 13)],
)
def test_formats_are_told_from_the_input(tmp_path: Path, form: str, name: str, rows: int) -> None:
    assert form in [known for known, _, _ in _core.trace_formats()]
    summary = json.loads(_core.trace_convert(str(DATA / name), str(tmp_path / "a.trace")))
    assert (summary["format"], summary["rows"]) == (form, rows)
    files = sorted(path.name for path in (tmp_path / "a.trace").iterdir())
    assert files == ["allocations.parquet", "instructions.parquet", "launches.parquet"]


def test_what_is_wrong_is_said(tmp_path: Path) -> None:
    (tmp_path / "kernelslist.g").write_text("MemcpyHtoD,1,2\nkernel-7.traceg\n")
    with pytest.raises(_core.TraceError) as raised:
        _core.trace_convert(str(tmp_path), str(tmp_path / "a.trace"))
    assert all(name in str(raised.value) for name in ("kernelslist.g, line 2", "kernel-7.traceg"))
    with pytest.raises(_core.TraceError) as raised:
        _core.trace_convert(str(tmp_path), str(tmp_path / "a.trace"), format="vcd")
    assert all(name in str(raised.value) for name in ("vcd", "accel-sim"))
    assert not (tmp_path / "a.trace").exists()
