#!/usr/bin/env python3
"""How many random reads a random update of memory takes, by Ramulator 2: `node.dram.lone_write_percent`.

Needs Ramulator 2.1 (github.com/CMU-SAFARI/ramulator2) with its Python package on PYTHONPATH. A trace reads 64 bytes at
random, and in a second run also writes 64 bytes elsewhere after each read, as a cache does that writes lines back. One
line for each size of the two queues: cycles of a read and of a write alone, and updates in reads. The first queues are
Ramulator's default.
"""

import argparse
import random
import tempfile
from pathlib import Path

import ramulator  # type: ignore[import-not-found,import-untyped,unused-ignore]

# Name: class of the memory, its organisation, its timings, its controller.
MEMORIES = {
    "hbm3": ("HBM3", "HBM3_16Gb_8hi", "HBM3_6400Mbps", "HBM34"),
    "hbm2": ("HBM2", "HBM2_8Gb", "HBM2_2000Mbps", "HBM12"),
    "lpddr5": ("LPDDR5", "LPDDR5_8Gb_x16", "LPDDR5_6400", "LPDDR5"),
}
QUEUES = [(32, 32), (64, 32), (64, 64), (128, 64), (128, 128)]
ACCESSES = 20_000
# In bytes: more than a channel has, whose banks then see the same number of accesses.
FOOTPRINT = 1 << 34
LINE, TRANSFER = 64, 32


def trace(path: Path, *, reads: bool, writes: bool) -> None:
    """Writes accesses of whole lines at random."""
    rng = random.Random(1)  # noqa: S311 - a trace, not a secret
    kinds = ["LD"] * reads + ["ST"] * writes
    with path.open("w") as file:
        for _ in range(ACCESSES):
            for kind in kinds:
                line = rng.randrange(FOOTPRINT // LINE) * LINE
                file.writelines(f"{kind} {line + part}\n" for part in range(0, LINE, TRANSFER))


def cycles(memory: str, queues: tuple[int, int], path: Path) -> float:
    """Cycles of the controller for each access of the trace."""
    device, organisation, timings, controller = MEMORIES[memory]
    channel = getattr(ramulator.controller, controller)(
        dram=getattr(ramulator.dram, device)(org_preset=organisation, timing_preset=timings),
        read_buffer_size=queues[0],
        write_buffer_size=queues[1],
        scheduler=ramulator.scheduler.FRFCFSRowHit(),
        refresh_manager=ramulator.refresh_manager.NoRefresh(),
        row_policy=ramulator.row_policy.Open(),
        addr_mapper=ramulator.addr_mapper.ChRaBaRoCo(),
    )
    system = ramulator.memory_system.GenericDRAM(
        clock_ratio=4, controllers=[channel], channel_mapper=ramulator.channel_mapper.CacheLineInterleave()
    )
    run = ramulator.Simulation(ramulator.frontend.LoadStoreTrace(clock_ratio=4, path=str(path)), system)
    run.run()
    return float(run.stats["memory_system"]["controller"]["cycles"]) / ACCESSES


def main() -> None:
    """Prints a table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("memory", choices=MEMORIES)
    memory = parser.parse_args().memory
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "trace"
        for queues in QUEUES:
            found = []
            for reads, writes in ((True, False), (False, True), (True, True)):
                trace(path, reads=reads, writes=writes)
                found.append(cycles(memory, queues, path))
            read, write, update = found
            print(
                f"queues {queues}: read {read:.2f}, write {write:.2f} cycles, update {update / read:.2f} reads",
                flush=True,
            )


if __name__ == "__main__":
    main()
