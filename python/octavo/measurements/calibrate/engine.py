"""The engine's probes, behind an interface that tests can replace."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Protocol

import octavo._core as _core
from octavo.errors import CalibrationError, of_engine
from octavo.measurements.calibrate import libraries, probe_process

if TYPE_CHECKING:
    from collections.abc import Callable


class Engine(Protocol):
    """What measuring needs."""

    def probes(self) -> list[dict[str, Any]]:
        """Every probe in the order of running: `name`, `title`, `about`, `source` (kernels), `digest`."""
        ...

    def describe(self) -> list[dict[str, Any]]:
        """Every GPU as its driver describes it."""
        ...

    def host(self, pci_bus_id: str) -> dict[str, Any]:
        """The host's description of itself, and of the GPU's place in it."""
        ...

    def measure(
        self, probe: str, gpu: int, *, quick: bool, progress: Callable[[int, int, str], None]
    ) -> dict[str, Any]:
        """Run a probe; return `columns`, `skipped` and `activity`."""
        ...


class Compiled:
    """The probes that Octavo was built with."""

    def probes(self) -> list[dict[str, Any]]:
        """Every probe in the order of running."""
        return _core.gpu_probes()

    def describe(self) -> list[dict[str, Any]]:
        """Every GPU as its driver describes it.

        Raises:
            CalibrationError: there is no driver or no GPU.

        """
        try:
            return _core.gpu_describe()
        except _core.GpuError as error:
            hint = "`octavo calibrate` needs an NVIDIA GPU; nothing was written"
            raise of_engine(error, CalibrationError, hint=hint) from None

    def host(self, pci_bus_id: str) -> dict[str, Any]:
        """What the host says about itself, and about the GPU's place in it."""
        return _core.gpu_host(pci_bus_id)

    def measure(
        self, probe: str, gpu: int, *, quick: bool, progress: Callable[[int, int, str], None]
    ) -> dict[str, Any]:
        """Run a probe, in a process of its own.

        Raises:
            CalibrationError: it failed.

        """
        return probe_process.measure(probe, gpu, quick=quick, progress=progress)


def compiled() -> Engine:
    """The engine of this installation, after loading NVIDIA's libraries if they are installed."""
    libraries.load()
    return Compiled()
