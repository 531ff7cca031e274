"""The six programs of the study, on its inputs."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Program:
    """A program, and what the study says about it."""

    workload: str
    initialised_by: str
    """The processor that writes its data first: `CPU` or `GPU`."""
    only_gpu: tuple[str, ...] = ()
    """Buffers that the GPU alone uses: they stay `cudaMalloc` under every kind, as published."""
    studied: bool = True
    """Whether the study's input is an option of the workload; otherwise it is the default input."""
    share: float = 1.0
    """Its scale over the study's: a program with many launches is taken smaller."""

    def overrides(self, scale: float) -> tuple[str, ...]:
        """The program on the study's input at a scale."""
        study = ("workload.input=grace-hopper",) if self.studied else ()
        return (f"workload.name={self.workload}", *study, f"workload.scale={scale * self.share}")

    def only_gpu_overrides(self) -> tuple[str, ...]:
        """Device memory for what only the GPU uses."""
        return tuple(f"program.buffers.{name}.kind=device" for name in self.only_gpu)


PROGRAMS = {
    "hotspot": Program("hs", "CPU", ("MatrixTemp1",)),
    "srad": Program("srad", "GPU", ("C", "E_C", "W_C", "S_C", "N_C")),
    "needle": Program("nw", "CPU", ("output_itemsets",)),
    "pathfinder": Program("pathfinder", "CPU", ("gpuResult1",)),
    "bfs": Program("bfs-rodinia", "CPU"),
    "quantum-volume": Program("quantum-volume", "GPU", studied=False, share=1 / 4),
}
"""By the study's names; hotspot and SRAD first. Each gate of quantum volume is a launch over all amplitudes, so that it
takes a quarter of the scale: two qubits less."""
