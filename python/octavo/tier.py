"""Memory of several GPUs and of the host behind addresses that stay; pieces move between launches.

`docs/tier.md` explains what a tier does and costs.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import octavo._core as _core
from octavo.errors import TierError, of_engine
from octavo.plain import size as plain_size
from octavo.quantities import bytes_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence
    from types import TracebackType
    from typing import TypeVar

    _T = TypeVar("_T")


class Tier:
    """Buffers that may be larger together than the memory of their device.

    Examples:
        >>> tier = Tier(devices=[0, 1], memory=["4MiB", "2MiB"], host="16MiB", stand_in=True)
        >>> weights, first, second = (tier.allocate("2MiB", name=name) for name in ("weights", "first", "second"))
        >>> tier.before_launch([weights, first])
        >>> tier.before_launch([weights, second])
        >>> tier.status()["buffers"][1]["pieces"]
        {'device 1': 1}
        >>> tier.yield_(device=1)
        2097152
        >>> tier.status()["buffers"][1]["pieces"]
        {'host': 1}
        >>> tier.close()

    """

    def __init__(
        self,
        devices: Sequence[int] = (0,),
        *,
        memory: str | int | Sequence[str | int],
        host: str | int,
        piece: str | int = "2MiB",
        mapped: bool = False,
        stand_in: bool = False,
    ) -> None:
        """Take memory of GPUs and of the host.

        Args:
            devices: numbers of GPUs, which must reach each other's memory.
            memory: what each of them gives (`"4GiB"`, or bytes): one size, or one for each.
            host: what the host gives. All that is allocated must fit there when devices yield.
            piece: bytes that move together: a power of two up to 32 MiB that the driver has pieces of, 2 MiB at least.
            mapped: whether pieces that have no room on their device are reached on the host, so that every launch finds
                all memory. No device keeps pieces for others then.
            stand_in: whether there are no GPUs, and a stand-in of their driver takes their place. Its clock moves by
                what calls took on a real GPU.

        Raises:
            TierError: something cannot be used, or the driver refuses.

        """
        sizes = [memory] if isinstance(memory, (str, int)) else memory
        words = {
            "devices": ",".join(str(int(device)) for device in devices),
            "memory": ",".join(f"{_bytes('memory', size)}B" for size in sizes),
            "host": f"{_bytes('host', host)}B",
            "piece": f"{_bytes('piece', piece)}B",
            "mapped": "yes" if mapped else "no",
            "stand-in": "yes" if stand_in else "no",
        }
        text = " ".join(f"{key}={value}" for key, value in words.items())
        self._handle = _answer(lambda: _core.TierHandle(text))
        self._first = int(devices[0])

    def allocate(self, size: str | int, device: int | None = None, name: str = "") -> Buffer:
        """Allocate a buffer that holds zeros, for a device: the first if none is named.

        Raises:
            TierError: it would not fit on the host when devices yield, or the driver refuses.

        """
        device = self._first if device is None else _device(device)
        count = _bytes("size", size)
        return Buffer(self, _answer(lambda: self._handle.allocate(count, device, name)), count, device)

    def before_launch(self, buffers: Iterable[Buffer], device: int | None = None) -> None:
        """Bring all that the next launch on a device uses to that device: the buffers' own if none is named.

        Nothing may be launched meanwhile that uses memory of the tier. What was launched before is waited for if it has
        to give pieces up.

        Raises:
            TierError: it does not fit, or the driver refuses. Contents are what they were.

        """
        used = list(buffers)
        if any(buffer._tier is not self for buffer in used):
            raise TierError(
                "buffers: expected buffers of this tier, found one of another", code="unexpected-value", key="buffers"
            )
        own = {buffer.device for buffer in used}
        if device is None and len(own) > 1:
            found = sorted(own)
            raise TierError(
                f"device: expected one for buffers of devices {found}, found none",
                code="unexpected-value",
                key="device",
                expected=found,
            )
        if used:
            place = own.pop() if device is None else _device(device)
            _answer(lambda: self._handle.before_launch(place, [buffer.number for buffer in used]))

    def yield_(self, device: int, keep: str | int = 0) -> int:
        """Give a device's memory back to the driver at once, but for `keep`; returns the bytes that went back.

        Raises:
            TierError: the driver refuses; what is left goes when this is called again.

        """
        count = _bytes("keep", keep)
        return _answer(lambda: self._handle.yield_memory(_device(device), count))

    def take(self, device: int, size: str | int) -> None:
        """Let a device hold this much again, or more than before.

        Raises:
            TierError: the driver has too little; the device holds what it did.

        """
        count = _bytes("size", size)
        _answer(lambda: self._handle.take_memory(_device(device), count))

    def allocator(self) -> tuple[str, str, str]:
        """Have the C interface of this library use this tier; returns what `CUDAPluggableAllocator` takes.

        The tier should be `mapped`: PyTorch does not say what its launches use.
        """
        self._handle.serve()
        malloc, free = _core.tier_allocator()
        return _core.__file__, malloc, free

    def status(self) -> dict[str, Any]:
        """Where all pieces are, and what moving them cost."""
        status: dict[str, Any] = json.loads(self._handle.status())
        return status

    def close(self) -> None:
        """Give everything back to the driver.

        Raises:
            TierError: the driver refuses; what is left goes when this is called again.

        """
        _answer(self._handle.close)

    def __enter__(self) -> Tier:
        return self

    def __exit__(
        self, _kind: type[BaseException] | None, _error: BaseException | None, _trace: TracebackType | None
    ) -> None:
        self.close()

    def __str__(self) -> str:
        """The status as tables."""
        return _tables(self.status())


class Buffer:
    """Memory of a tier."""

    def __init__(self, tier: Tier, number: int, size: int, device: int) -> None:
        self._tier = tier
        self.number = number
        """Its number in the tier."""
        self.size = size
        """Its bytes."""
        self.device = device
        """The device that it was allocated for."""

    def address(self, device: int | None = None) -> int:
        """Where kernels of a device find it: of its own if none is named. It stays, whatever moves."""
        place = self.device if device is None else _device(device)
        return _answer(lambda: self._tier._handle.address(self.number, place))

    @property
    def __cuda_array_interface__(self) -> dict[str, Any]:
        """Its bytes for CuPy, Numba and PyTorch, on its own device."""
        return {"shape": (self.size,), "typestr": "|u1", "data": (self.address(), False), "version": 3}

    def write(self, data: bytes | bytearray | memoryview, offset: int = 0) -> None:
        """Write bytes, piece by piece on its own device.

        Raises:
            TierError: they do not lie in the buffer, or the driver refuses.

        """
        _answer(lambda: self._tier._handle.write(self.number, _bytes("offset", offset), bytes(data)))

    def read(self, offset: int = 0, size: int | None = None) -> bytes:
        """Read bytes, wherever they are: all from `offset` on if no size is given.

        Raises:
            TierError: they do not lie in the buffer, or the driver refuses.

        """
        begin = _bytes("offset", offset)
        count = max(self.size - begin, 0) if size is None else _bytes("size", size)
        return _answer(lambda: self._tier._handle.read(self.number, begin, count))

    def free(self) -> None:
        """Free it; its addresses mean nothing any more.

        Raises:
            TierError: it is freed already.

        """
        _answer(lambda: self._tier._handle.free(self.number))


def _answer(call: Callable[[], _T]) -> _T:
    try:
        return call()
    except _core.GpuError as error:
        raise of_engine(error, TierError) from None


def _bytes(key: str, value: str | int) -> int:
    try:
        count = bytes_of(value) if isinstance(value, str) else value
    except ValueError:
        count = -1
    if not 0 <= count < 1 << 63:
        raise TierError(
            f"{key}: expected a size, such as 4GiB or a number of bytes, found {value}",
            code="unexpected-value",
            key=key,
            expected="a size",
            found=value,
        )
    return count


def _device(number: int) -> int:
    if number < 0:
        raise TierError(
            f"no device {number}: expected a number from 0 on", code="unknown-name", key="device", found=number
        )
    return number


def _tables(status: dict[str, Any]) -> str:
    """A status for readers."""
    memories = [(f"device {device['device']}", device["room"], device["held"]) for device in status["devices"]]
    memories.append(("host", status["host"]["owned"], status["host"]["held"]))
    lines = [f"pieces of {plain_size(status['piece'])}", "", f"{'memory':<24}{'room':>8}{'held':>8}"]
    lines += [f"{name:<24}{room:>8}{held:>8}" for name, room, held in memories]
    lines += ["", f"{'buffer':<24}{'device':>8}{'size':>12}  pieces"]
    lines += [_buffer_row(buffer) for buffer in status["buffers"]]
    lines += ["", f"{'calls of the driver':<24}{'count':>8}{'bytes':>12}{'total ms':>12}{'each µs':>10}"]
    lines += [_cost_row(kind, cost) for kind, cost in status["calls"].items()]
    return "\n".join(lines)


def _buffer_row(buffer: dict[str, Any]) -> str:
    where = ", ".join(f"{count} {place}" for place, count in sorted(buffer["pieces"].items()))
    return f"{buffer['name']:<24}{buffer['device']:>8}{plain_size(buffer['bytes']):>12}  {where}"


def _cost_row(kind: str, cost: dict[str, Any]) -> str:
    total, each = 1e3 * cost["seconds"], 1e6 * cost["seconds"] / cost["calls"]
    return f"{kind:<24}{cost['calls']:>8}{plain_size(cost['bytes']):>12}{total:>12.3f}{each:>10.1f}"
