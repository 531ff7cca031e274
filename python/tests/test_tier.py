"""The tier: on its own stand-in, and by a driver's library that is not there, through Python, C and an allocator."""

from __future__ import annotations

import ctypes
import json
import os
import subprocess
import sys
from collections import Counter
from typing import TYPE_CHECKING

import pytest
from conftest import refused

from octavo import _core
from octavo.errors import TierError
from octavo.tier import Tier

if TYPE_CHECKING:
    from pathlib import Path

    from conftest import Environment

MIB = 1 << 20


def content(seed: int, size: int) -> bytes:
    return bytes((seed * 37 + at * at) % 251 for at in range(4096)) * (size // 4096)


def tier(**settings: object) -> Tier:
    return Tier(**{"devices": [0, 1], "memory": ["8MiB", "4MiB"], "host": "64MiB", "stand_in": True, **settings})


def test_contents_stay_while_pieces_go_to_a_neighbour_to_the_host_and_back():
    with tier() as made:
        buffers = [made.allocate("4MiB", name=name) for name in ("a", "b", "c", "d")]
        for buffer in buffers:
            buffer.write(content(buffer.number, 4 * MIB))
        for pair in (buffers[:2], buffers[1:3], buffers[2:], [buffers[3], buffers[0]]):
            made.before_launch(pair)
            for buffer in pair:
                # The stand-in's addresses can be touched where a kernel could.
                assert ctypes.string_at(buffer.address(), 4 * MIB) == content(buffer.number, 4 * MIB)
        status = made.status()
        assert status["counts"]["to_neighbour"] > 0
        assert sum(made.yield_(device) for device in (0, 1)) == 12 * MIB
        assert [buffer.read() for buffer in buffers] == [content(buffer.number, 4 * MIB) for buffer in buffers]
        assert {tuple(buffer["pieces"]) for buffer in made.status()["buffers"]} == {("host",)}
        made.take(0, "4MiB")
        made.before_launch(buffers[:1])
        assert buffers[0].read(1, 7) == content(0, 4096)[1:8]
        buffers[0].free()
        with refused("unknown-name", TierError, key="buffer"):
            buffers[0].read()


@pytest.mark.parametrize("piece", ["2MiB", "4MiB", "32MiB"])
def test_pieces_of_every_size_cost_what_was_measured(piece):
    with tier(devices=[0], memory=["64MiB"], host="128MiB", piece=piece) as made:
        first, second = made.allocate("64MiB"), made.allocate("64MiB")
        made.before_launch([first])
        made.before_launch([second])
        calls = made.status()["calls"]
        size = made.status()["piece"]
        assert calls["copy to host"]["calls"] == 64 * MIB // size
        # 42 GB/s of real-gpu.md.
        assert calls["copy to host"]["seconds"] == pytest.approx(64 * MIB / 42e9, rel=1e-3)
        assert calls["unmap"]["calls"] * size == 64 * MIB


def test_what_does_not_fit_is_refused_by_name_before_the_launch():
    with tier() as made:
        buffers = [made.allocate("6MiB", name="large"), made.allocate("4MiB", name="small")]
        with refused("no-room", TierError, key="memory", found="5", names=["large", "small"]):
            made.before_launch(buffers)
        with refused("no-room", TierError, key="host", names=["more"]):
            made.allocate("60MiB", name="more")
        other = made.allocate("2MiB", device=1)
        with refused("unexpected-value", TierError, key="device"):
            made.before_launch([buffers[0], other])
        with tier() as second, refused("unexpected-value", TierError, key="buffers"):
            second.before_launch([other])
        with refused("unexpected-value", TierError, key="offset"):
            other.write(b"12", 2 * MIB - 1)
        with refused("unknown-name", TierError, key="device", found="7"):
            made.yield_(7)
        with refused("unknown-name", TierError, key="device", found=-1):
            made.take(-1, "2MiB")
    with refused("unknown-name", TierError, key="tier"):
        made.allocate("2MiB")


@pytest.mark.parametrize(
    ("key", "settings"),
    [
        ("memory", {"memory": "lots"}),
        ("memory", {"memory": -1}),
        ("memory", {"memory": ["1MiB", "4MiB"]}),
        ("memory", {"memory": ["4MiB"] * 3}),
        ("host", {"host": 0}),
        ("piece", {"piece": "1MiB"}),
        ("piece", {"piece": "64MiB"}),
        ("piece", {"piece": "6MiB"}),
        ("devices", {"devices": [0, 0]}),
    ],
)
def test_settings_that_cannot_be_used_are_named(key, settings):
    with refused("unexpected-value", TierError, key=key):
        tier(**settings)


def test_a_status_is_text_and_json():
    with tier() as made:
        made.before_launch([made.allocate("3MiB", name="weights")])
        text = str(made)
        assert "weights" in text
        assert "set access" in text
        json.dumps(made.status())


def library() -> ctypes.CDLL:
    """This package's library, as PyTorch opens it."""
    found = ctypes.CDLL(_core.__file__)
    found.octavo_tier_malloc.restype = ctypes.c_void_p
    found.octavo_tier_malloc.argtypes = [ctypes.c_ssize_t, ctypes.c_int, ctypes.c_void_p]
    found.octavo_tier_free.restype = None
    found.octavo_tier_free.argtypes = [ctypes.c_void_p, ctypes.c_ssize_t, ctypes.c_int, ctypes.c_void_p]
    found.octavo_tier_error.restype = ctypes.c_char_p
    return found


def test_an_allocator_has_more_than_its_device_and_every_address_can_be_touched_at_any_time():
    with tier(devices=[0], memory="4MiB", mapped=True) as made:
        path, malloc, free = made.allocator()
        assert (path, malloc, free) == (_core.__file__, "octavo_tier_malloc", "octavo_tier_free")
        found = library()
        # As CUDAPluggableAllocator calls them: size, device, stream.
        pointers = [found.octavo_tier_malloc(3 * MIB, 0, None) for _ in range(4)]
        for seed, pointer in enumerate(pointers):
            ctypes.memmove(pointer, content(seed, 3 * MIB), 3 * MIB)
        made.yield_(0, "2MiB")
        for seed, pointer in enumerate(pointers):
            assert ctypes.string_at(pointer, 3 * MIB) == content(seed, 3 * MIB)
        assert made.status()["devices"][0]["held"] <= 1
        assert found.octavo_tier_malloc(80 * MIB, 0, None) is None
        assert found.octavo_tier_error()
        assert found.octavo_tier_malloc(MIB, 5, None) is None
        for pointer in pointers:
            found.octavo_tier_free(pointer, 3 * MIB, 0, None)
        assert made.status()["buffers"] == []
        found.octavo_tier_close()


# On the driver's library: what a program does, and what it must find.
PROGRAM = f"""
import ctypes, sys
from octavo.tier import Tier
from octavo import TierError
size = 4 * {MIB}
try:
    tier = Tier(devices=[0, 1], memory=["8MiB", "4MiB"], host="32MiB")
except TierError as error:
    sys.exit(f"{{error.code}} {{error.key}}")
buffers = [tier.allocate(size) for _ in range(4)]
said = set()
def tried(call):
    try:
        return call()
    except TierError as error:
        said.add(f"{{error.code}} {{error.key or error}}")
for buffer in buffers:
    tried(lambda: buffer.write(bytes([buffer.number + 1]) * size))
for first in (0, 1, 2, 3, 0):
    pair = [buffers[first], buffers[first - 1]]
    if tried(lambda: tier.before_launch(pair) or True):
        for buffer in pair:
            assert ctypes.string_at(buffer.address(), size) in (bytes([buffer.number + 1]) * size, bytes(size))
tried(lambda: tier.yield_(1))
tried(lambda: tier.yield_(0, "2MiB"))
print(*sorted(said))
tried(tier.close)
"""


def on_the_library(stand_in: Environment, tmp_path: Path, **settings: str) -> tuple[str, str, Counter[str]]:
    names = {f"OCTAVO_STAND_IN_{name.upper()}": value for name, value in settings.items()}
    log = tmp_path / "log"
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM],
        env={**os.environ, **stand_in, "OCTAVO_STAND_IN_LOG": str(log), "OCTAVO_STAND_IN_GPUS": "2", **names},
        capture_output=True,
        text=True,
        check=False,
        timeout=300,
    )
    assert "Traceback" not in done.stderr, done.stderr
    lines = log.read_text().splitlines() if log.exists() else []
    return done.stdout.strip(), done.stderr, Counter(lines)


def test_the_drivers_calls_are_made_as_it_takes_them_and_all_comes_back(stand_in, tmp_path):
    said, refusals, calls = on_the_library(stand_in, tmp_path)
    assert (said, refusals) == ("", "")
    assert calls["create"] == calls["release"] == 6
    assert calls["create on host"] == calls["release on host"] == 16
    assert calls["map"] == calls["unmap"] > 22
    assert calls["reserve"] == calls["free"] == 22 + 8


@pytest.mark.parametrize("call", ["cuMemCreate", "cuMemAddressReserve", "cuMemMap", "cuMemSetAccess"])
def test_a_tier_that_cannot_be_made_names_the_call(stand_in, tmp_path, call):
    said, refusals, _ = on_the_library(stand_in, tmp_path, fail=call)
    assert said == ""
    assert f"refused-call {call}" in refusals


@pytest.mark.parametrize("call", ["cuMemUnmap", "cuMemcpyAsync"])
def test_a_call_that_always_fails_is_named(stand_in, tmp_path, call):
    said, _, _ = on_the_library(stand_in, tmp_path, fail=call)
    assert call in said
    assert "refused-call" in said


def test_more_memory_than_a_gpu_has_is_refused_by_the_driver(stand_in, tmp_path):
    _, refusals, calls = on_the_library(stand_in, tmp_path, memory=str(4 * MIB))
    assert "refused-call cuMemCreate" in refusals
    assert calls["create"] == calls["release"] == 2
