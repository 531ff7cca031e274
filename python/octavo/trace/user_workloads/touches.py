"""What kernels do with the buffers of a user's workload, against what it says of its host."""

from __future__ import annotations

from typing import TYPE_CHECKING

from octavo.plain import visible

if TYPE_CHECKING:
    from octavo.generators.parts import Launch
    from octavo.trace.user_workloads.user_code import Own


class Touched:
    """Which buffers kernels load and store, and which they load before anything wrote to them."""

    def __init__(self, own: Own) -> None:
        self._own = own
        self._touched: set[str] = set()
        self._stored: set[str] = set()
        self._unwritten: dict[str, str] = {}
        self._written_by_host = {buffer.name for buffer in own.buffers if buffer.input}

    def see(self, kind: str, buffer: str, number: int, launch: Launch) -> None:
        """An instruction of a launch touches a buffer."""
        self._touched.add(buffer)
        if kind != "store" and buffer not in self._stored and not self._by_host(buffer, number):
            self._unwritten.setdefault(buffer, f"launch {number} (`{visible(launch.kernel)}`)")
        if kind in ("store", "atomic"):
            self._stored.add(buffer)

    def _by_host(self, buffer: str, number: int) -> bool:
        """Whether the host wrote to a buffer before a launch."""
        between = (each for each in self._own.exchanges if each.writes and each.before <= number)
        return buffer in self._written_by_host or any(each.buffer == buffer for each in between)

    def notes(self) -> list[str]:
        """What may be a mistake, in sentences."""
        found = [
            f"{self._own.shown}: {launch} loads `{buffer}`, which nothing wrote before: is it an input?"
            for buffer, launch in self._unwritten.items()
        ]
        idle = [buffer.name for buffer in self._own.buffers if buffer.name not in self._touched]
        found += [f"{self._own.shown}: no kernel touches `{name}`" for name in idle]
        read = {each.buffer for each in self._own.exchanges if not each.writes}
        read |= {buffer.name for buffer in self._own.buffers if buffer.output}
        if self._own.generator.host_is_known and self._stored and not self._stored & read:
            found.append(f"{self._own.shown}: the host reads nothing that kernels store: which buffer is an output?")
        return found
