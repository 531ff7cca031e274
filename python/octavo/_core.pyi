"""Octavo's engine. Use the package `octavo` instead: this module's functions may change at any time."""

from collections.abc import Callable, Iterable
from os import PathLike
from typing import Any, Final, Literal, final

__all__ = [
    "VERSION", "AccessCount", "CounterNotification", "Decision", "Fault", "GpuError", "Hint", "Interrupted",
    "JobMemory", "Memory", "Move", "Needs", "Node", "Occupancy", "OptionError", "OutOfMemory", "OverTime", "Page",
    "PolicyError", "Residency", "ScenarioError", "Service", "Shortage", "SimulationError", "TierHandle", "TraceError",
    "TraceWriter", "UnknownGpuProbe", "Unsubscribe", "Yield", "budget_choice", "caching_allocator", "event_kinds",
    "gpu_compile", "gpu_describe", "gpu_host", "gpu_memory", "gpu_probe", "gpu_probes", "graph_sparsity",
    "host_access_penalty", "inspect_workload", "listing", "memory_around", "memory_needed", "memory_resident",
    "page_order", "penalty_readings", "prefetch_replay", "quantity", "quantum_volume", "read_notes", "resolve",
    "result_schema", "roofline_ceilings", "roofline_crossing", "roofline_zone_end", "run", "schema",
    "schema_spelled_out", "table_bytes", "table_flaw", "tier_allocator", "toml_flaw", "toml_line", "trace_convert",
    "trace_formats", "trace_head", "trace_info", "trace_record", "trace_validate",
    "workload_program", "workload_result"]  # fmt: skip

VERSION: Final[str]

_Progress = Callable[[float, int], bool] | None
_Column = tuple[str, str, bytes | list[str], list[str]]

class ScenarioError(Exception):
    """A scenario that cannot be used; arguments: message, hint or None."""

class SimulationError(Exception):
    """A scenario that cannot be simulated; argument: message."""

class OutOfMemory(SimulationError):  # noqa: N818 - named after what happened, as Rust does
    """A memory is full, and nothing can leave it; argument: message."""

class PolicyError(SimulationError):
    """A policy that raised or answered nonsense; arguments: message, traceback (empty for nonsense)."""

class OptionError(Exception):
    """A choice that cannot be used; arguments: key, message."""

class TraceError(Exception):
    """A trace that cannot be read or written; argument: message."""

class GpuError(Exception):
    """Something about a real GPU, or the lack of one; argument: message."""

class UnknownGpuProbe(GpuError):  # noqa: N818 - named after what happened, as Rust does
    """No probe of that name; argument: message."""

class Interrupted(Exception):  # noqa: N818 - named after what happened, as Rust does
    """The run was stopped by its progress callback."""

class OverTime(Exception):  # noqa: N818 - named after what happened, as Rust does
    """The run is not over after the time that it was given; argument: message."""

def resolve(
    text: str, name: str, overrides: list[str], read: Callable[[str, str | None], tuple[str, str]] | None = None
) -> tuple[str, str]:
    """A scenario file with overrides as TOML and JSON; `read(place, named_by)` reads nodes' files: name and text."""

def quantity(text: str) -> tuple[Literal["ps", "B", "B/s", "Hz", "cycles", "op/s"], int]:
    """The base unit of a quantity and how many of these it is; `ValueError` if it is none."""

def table_bytes(columns: list[_Column]) -> bytes:
    """A table of columns as `run` returns them, as a Parquet file. The list is empty afterwards."""

def table_flaw(path: str | PathLike[str]) -> str | None:
    """What keeps a Parquet table, of a trace or any other, from being decoded, if anything does."""

def toml_flaw(text: str) -> str | None:
    """What makes a text no TOML, if anything: also keys, lists or tables that nest without end."""

def toml_line(text: str, key: str) -> int | None:
    """The line of a dotted key in a text that is TOML, or else of the nearest table around it."""

def schema() -> str:
    """JSON schema of scenario files."""

def schema_spelled_out() -> str:
    """The same schema without references: every part in its place."""

def result_schema() -> str:
    """What results hold, as JSON: `tables`, and the JSON schemas of `summary` and `instant_summary`."""

def listing() -> str:
    """Everything a scenario can name, as JSON."""

def event_kinds() -> list[str]:
    """Names of the kinds of rows in a run's `events` table, by code."""

def inspect_workload(resolved: str) -> str:
    """What the workload of a resolved scenario touches and shares, as JSON."""

def workload_program(resolved: str, kind: str, spread: str, threads: int) -> str:
    """The workload of a resolved scenario as a whole program of that kind, as JSON."""

def read_notes() -> list[str]:
    """What readers of files assumed or did not use since the last call."""

def workload_result(resolved: str) -> str:
    """What the workload of a resolved scenario computes, and what from, as JSON; ScenarioError if that is nothing."""

def quantum_volume(qubits: int, depth: int, seed: int) -> str:
    """The circuit that the workload `quantum-volume` simulates with that seed, and its amplitudes, as JSON."""

def gpu_probes() -> list[dict[str, Any]]: ...
def gpu_describe() -> list[dict[str, Any]]: ...
def gpu_host(pci_bus_id: str) -> dict[str, Any]: ...
def gpu_probe(name: str, gpu: int, quick: bool, progress: Callable[[int, int, str], object]) -> dict[str, Any]: ...
def gpu_compile(name: str, architecture: str) -> bytes: ...
def run(
    resolved: str,
    progress: _Progress = None,
    timeline: str | PathLike[str] | None = None,
    memory_limit: int | None = None,
    time_limit: int | None = None,
    lines: tuple[str | PathLike[str], bool, str] | None = None,
) -> tuple[str, list[tuple[str, list[_Column]]]]:
    """Run a resolved scenario with limits of bytes and picoseconds; returns the summary as JSON, and the tables."""

def memory_around() -> int: ...
def memory_resident() -> int | None: ...
def memory_needed(resolved: str) -> tuple[int, int, int, int]: ...
def gpu_memory(resolved: str) -> int | None: ...
def page_order(resolved: str, turn: int = 1) -> tuple[str, list[_Column]]:
    """The pages that a scenario's only workload accesses without time, in order; `turn` instructions of a wavefront."""

def roofline_ceilings(
    machine: tuple[float, int, int, int], alpha: list[float], sigma: list[float], rho: list[float]
) -> tuple[list[float], list[float], list[float], list[float]]: ...
def roofline_crossing(machine: tuple[float, int, int, int], sigma: float, rho: float) -> float | None: ...
def roofline_zone_end(machine: tuple[float, int, int, int], rho: float) -> float | None: ...
def host_access_penalty(question: str) -> str:
    """The penalty of a question (`system`, `structure`, `host`, `readings`) in JSON, term by term, as JSON."""

def penalty_readings(name: str) -> str:
    """The readings `published` or `sound` spelled out, as JSON."""

def prefetch_replay(
    name: str, touches: list[int], pages: tuple[int, int], page_bytes: int, threshold: int
) -> tuple[int, int, int, list[int]]:
    """Faults, prefetched pages, those touched later, pages of each fault; under `none`, `doubling` or `tree`."""

def graph_sparsity(
    offsets: list[int], targets: list[int], element: int, page: int, source: int | None = None
) -> tuple[float, float, float]:
    """Vertices that a traversal reaches, and σ of arrays with an element for each vertex and each edge."""

def budget_choice(candidates: list[tuple[int, float]], budget: int) -> tuple[list[bool], float, bool]:
    """Which candidates (bytes, gain) get a budget, what they gain together, and whether nothing gains more."""

def caching_allocator(blocks: list[int], events: list[int], room: int | None = None) -> tuple[list[int], list[int]]:
    """Bytes of PyTorch's blocks, and of its segments, after each event."""

def trace_formats() -> list[tuple[str, str, str]]:
    """Every foreign trace format that can be converted: name, summary, source."""

def trace_convert(
    input: str, output: str, format: str | None = None, replace: bool = False, progress: _Progress = None
) -> str:
    """Convert a foreign trace into a trace folder; returns the summary as JSON."""

def trace_info(path: str) -> str:
    """A trace in numbers, as JSON."""

def trace_record(resolved: str, path: str, command: str) -> None:
    """Write the workload of a resolved scenario as a trace: the whole program, unless launches alone run."""

def trace_validate(path: str) -> int:
    """Check every rule of the format; returns how many rows there are."""

def trace_head(
    path: str, count: int, launch: int | None = None, group: int | None = None, wavefront: int | None = None
) -> str:
    """The first rows that match, as JSON."""

@final
class TraceWriter:
    """Writes a trace chunk by chunk."""

    def __new__(cls, path: str, lanes: int, source: str, command: str, replace: bool) -> TraceWriter: ...
    def push(
        self,
        columns: list[bytes],
        values: bytes,
        ends: bytes,
        are_addresses: bool,
        code: bytes,
        code_ends: bytes,
        partial: tuple[bytes, bytes] | None,
    ) -> None:
        """Append rows, given as columns of little-endian numbers."""

    def finish(self, allocations: list[tuple[str, int, int, int]], launches: list[tuple[Any, ...]]) -> None:
        """Write the tables, check everything, and let the folder appear."""

    def finish_program(
        self,
        allocations: list[tuple[str, int, int, int]],
        memories: list[tuple[str, str]],
        launches: list[tuple[Any, ...]],
        actions: list[tuple[Any, ...]],
    ) -> None:
        """As `finish`, with the whole program around the launches; `memories`: kind and spread of each allocation."""

    def abandon(self) -> None:
        """Give up; nothing is left behind."""

@final
class Node:
    """Sizes of the node."""

    @property
    def gpus(self) -> int:
        """GPUs, numbered from 0."""

    @property
    def page_bytes(self) -> int:
        """Bytes of a page."""

    @property
    def block_pages(self) -> int:
        """Pages of a block of 2 MiB, the span that prefetchers and block evictors work on."""

    @property
    def counter_group_pages(self) -> int:
        """Pages that share an access counter: 64 KiB of them, at least one."""

@final
class Fault:
    """An access that a processor's page table could not serve."""

    @property
    def processor(self) -> int:
        """Who touched the page: a GPU from 0, or HOST."""

    @property
    def page(self) -> int:
        """Number of the page: its address divided by the page size."""

    @property
    def address(self) -> int:
        """First address of the page, in bytes."""

    @property
    def write(self) -> bool:
        """Whether it was a store or an atomic, or a load."""

@final
class Page:
    """Where a page is and who can reach it, when the policy was asked; nothing can change it."""

    @property
    def number(self) -> int:
        """Its address divided by the page size."""

    @property
    def address(self) -> int:
        """Its first address, in bytes."""

    @property
    def owner(self) -> int:
        """Who has the copy that remote mappings point at and that is written back on eviction."""

    @property
    def resident(self) -> frozenset[int]:
        """Whose memories hold a copy."""

    @property
    def mapped(self) -> frozenset[int]:
        """Who can access it without a far fault."""

    @property
    def writable(self) -> frozenset[int]:
        """Who can write it without a protection fault."""

    @property
    def populated(self) -> bool:
        """Whether a memory holds it: not if it has not been touched since it was allocated."""

    @property
    def replicated(self) -> bool:
        """Whether more than one memory holds a copy."""

    @property
    def busy(self) -> bool:
        """Whether an unfinished plan names it."""

    @property
    def touched(self) -> bool:
        """Whether a GPU ever faulted on it since it was allocated, this fault not counted."""

    @property
    def mode(self) -> Literal["plain", "broadcast", "everywhere", "spare"]:
        """How its copies relate.

        `plain`: one copy that anyone may map, or identical ones mapped read-only; `broadcast`: copies that stores keep
        alike; `everywhere`: mapped on every GPU as if local.
        """

    @property
    def scheme(self) -> Literal["on_touch", "access_counter", "duplication"] | None:
        """The scheme that a placement wrote into its entry, if any."""

@final
class CounterNotification:
    """An access counter that reached its threshold: one GPU's remote lines of one group of pages."""

    @property
    def processor(self) -> int:
        """Which GPU accessed remotely."""

    @property
    def page(self) -> int:
        """Number of the page whose access made the counter reach the threshold."""

    @property
    def group(self) -> range:
        """Numbers of the pages that share the counter, that one among them."""

@final
class AccessCount:
    """Accesses of one GPU to one page since the last report."""

    @property
    def processor(self) -> int:
        """Whose accesses."""

    @property
    def page(self) -> int:
        """Number of the page."""

    @property
    def lines(self) -> int:
        """Lines of 64 bytes that left the first-level cache."""

@final
class Service:
    """Pages of one 2 MiB block that migrate to one processor because of faults."""

    @property
    def destination(self) -> int:
        """To whom: a GPU from 0, or HOST."""

    @property
    def block(self) -> range:
        """Numbers of the pages of the 2 MiB block."""

    @property
    def extent(self) -> range:
        """The pages among them that belong to the faulting pages' allocation."""

    @property
    def faulted(self) -> list[int]:
        """Demanded pages that migrate, ascending."""

    @property
    def was_full(self) -> bool:
        """Whether anything had left the destination to make room before these faults were served."""

    @property
    def resident(self) -> frozenset[int]:
        """Pages that are at the destination, those among them."""

    @property
    def contested(self) -> frozenset[int]:
        """Pages that processors fight over, in the guard's eyes: they do not come along."""

@final
class Decision:
    """What to do about a fault. Mechanisms carry it out for a page in any state."""

    MIGRATE: Final[Decision]
    """The page moves to the faulting processor, which becomes its only holder and can write it."""
    MAP_REMOTE: Final[Decision]
    """The faulting processor maps the page where it is, for reading and writing; others' read-only replicas go."""
    DUPLICATE: Final[Decision]
    """A load gives a replica and takes everyone's right to write; a store leaves one holder. On the host, it moves."""
    DUPLICATE_AND_DRAIN: Final[Decision]
    """The same, and processors that lose the right to write, or their mapping, are drained first."""
    SUBSCRIBE: Final[Decision]
    """The faulting processor gets a replica that it can write; stores go to all holders. A page on the host moves."""
    EVERYWHERE: Final[Decision]
    """The page moves to the faulting GPU and is mapped on every GPU as if it were local: a bound, no policy."""

    @staticmethod
    def at(processor: int) -> Decision:
        """The page is at home on a processor from its allocation on; the faulting processor maps it there."""

    def __eq__(self, other: object, /) -> bool: ...
    def __ne__(self, other: object, /) -> bool: ...
    def __hash__(self) -> int: ...

@final
class Hint:
    """What a guard does about a fault; None passes it on to advice and the placement."""

    @staticmethod
    def throttle(until: int) -> Hint:
        """The fault waits until a time in picoseconds, later than now; then the guard decides about it again."""

    @staticmethod
    def pin(at: int, *, mappers: Iterable[int] | None = None) -> Hint:
        """The page comes to lie with a processor; the faulting one maps it there, and `mappers` as far as they can."""

@final
class Move:
    """A page that a policy moves without a fault."""

    def __new__(cls, page: int, to: int) -> Move: ...
    @property
    def page(self) -> int:
        """Number of the page."""

    @property
    def to(self) -> int:
        """Where it goes: a GPU from 0, or HOST."""

@final
class Unsubscribe:
    """Replicas of a page in broadcast mode that a policy gives up; the owner's stays."""

    def __new__(cls, page: int, processors: Iterable[int]) -> Unsubscribe: ...
    @property
    def page(self) -> int:
        """Number of the page."""

    @property
    def processors(self) -> list[int]:
        """Whose replicas."""

@final
class Needs:
    """What a placement wants the node to count, report or forgive."""

    def __new__(
        cls,
        *,
        counter_threshold: int | None = None,
        report_cycles: int | None = None,
        report_entry_bytes: int = 8,
        free_faults: bool = False,
        free_store_faults: bool = False,
    ) -> Needs:
        """Ask for something; nothing unless said.

        Args:
            counter_threshold: remote lines of a GPU to a 64 KiB group after which `on_counter` is called, 1 to 65535.
            report_cycles: GPU clock cycles between calls of `on_report`, at least 1.
            report_entry_bytes: bytes that each entry of a report costs on the link to the host; 8 as in Griffin.
            free_faults: faults cost no more than the walk that finds the page unmapped, for explicit allocation.
            free_store_faults: faults by stores cost nothing, for bounds.

        """

@final
class Memory:
    """The node's pages as a placement or a guard sees them, while a method of it is called."""

    def __new__(cls) -> Memory: ...
    @property
    def now(self) -> int:
        """When the present call happens, in picoseconds since the run began."""

    def can_map(self, processor: int, memory: int) -> bool:
        """Whether a processor can map another's memory; its own it always can."""

    def is_fast(self, processor: int, memory: int) -> bool:
        """Whether it can, by a fast link: one that carries more than theirs to the host, or any of a coherent node."""

    def page(self, number: int) -> Page:
        """Everything known about a page; ValueError if it is not part of an allocation."""

    def allocated(self, number: int) -> bool:
        """Whether a page is part of an allocation."""

    def allocations(self) -> list[range]:
        """Numbers of the pages of each allocation, ascending."""

    def used(self, processor: int) -> int:
        """Pages of memory in use on a processor, those that unfinished plans will fill among them."""

    def set_scheme(self, number: int, scheme: Literal["on_touch", "access_counter", "duplication"]) -> None:
        """Write a scheme into a page's entry, where summaries count it. No copy and no mapping changes."""

    def charge(self, metadata: int, *, overlapped: int = 0) -> None:
        """The decision needs accesses to metadata in host memory: before anything else, or beside the host's walk."""

@final
class Occupancy:
    """How full the GPUs' memories are, as a demotion policy sees it, while `destination` is called."""

    def __new__(cls) -> Occupancy: ...
    def spare(self, gpu: int) -> int:
        """Pages that a GPU's memory has room for now, beside those that unfinished plans will bring or take away."""

    def removable(self, gpu: int) -> int:
        """Pages of 2 MiB blocks, but the one that seeks room, that a GPU keeps for others and the host has, too."""

    def awaiting(self, gpu: int) -> int:
        """2 MiB blocks that a GPU keeps for others and that the host has yet to get a copy of."""

    def capacity(self, gpu: int) -> int:
        """Pages that a GPU's memory has room for in all."""

@final
class Shortage:
    """A GPU's memory has to give up pages."""

    @property
    def gpu(self) -> int:
        """Whose memory it is."""

    @property
    def wanted(self) -> int:
        """How many pages have to leave."""

    @property
    def asking(self) -> int | None:
        """Number of the job that needs room; None if the memory shrinks, is taken up, or some of it is to be free."""

    @property
    def room(self) -> int:
        """Pages that the memory has room for, except for pages that cannot be made to leave."""

    @property
    def jobs(self) -> list[JobMemory]:
        """The jobs that were ever seen, in order of their numbers."""

@final
class TierHandle:
    """A tier, for `octavo.tier`, which explains what these do; its errors are `GpuError`."""

    def __new__(cls, settings: str) -> TierHandle: ...
    def allocate(self, bytes: int, device: int, name: str) -> int: ...
    def address(self, buffer: int, device: int) -> int: ...
    def free(self, buffer: int) -> None: ...
    def before_launch(self, device: int, buffers: list[int]) -> None: ...
    def yield_memory(self, device: int, keep: int) -> int: ...
    def take_memory(self, device: int, bytes: int) -> None: ...
    def write(self, buffer: int, offset: int, bytes: bytes) -> None: ...
    def read(self, buffer: int, offset: int, count: int) -> bytes: ...
    def status(self) -> str: ...
    def serve(self) -> None: ...
    def close(self) -> None: ...

def tier_allocator() -> list[str]:
    """The names of the C interface's allocator and of its counterpart."""

@final
class JobMemory:
    """What one job has of a memory."""

    @property
    def number(self) -> int:
        """Which job, from 0."""

    @property
    def name(self) -> str:
        """What it is called; empty for a program alone."""

    @property
    def held(self) -> int:
        """Pages that it has there and that can be made to leave."""

    @property
    def at_home(self) -> bool:
        """Whether it has memory now and runs on that GPU."""

@final
class Yield:
    """A job that gives up pages: so many at most, or any number of them."""

    def __new__(cls, job: int, pages: int | None = None) -> Yield: ...
    @property
    def job(self) -> int:
        """Number of the job."""

    @property
    def pages(self) -> int | None:
        """So many pages at most; None for any."""

    def __eq__(self, other: object, /) -> bool: ...
    def __ne__(self, other: object, /) -> bool: ...
    def __hash__(self) -> int: ...

@final
class Residency:
    """Which pages are where, as an eviction policy sees it, while a method of it is called."""

    def __new__(cls) -> Residency: ...
    def page(self, number: int) -> Page:
        """Everything known about a page; ValueError if it is not part of an allocation."""

    def holds(self, processor: int, page: int) -> bool:
        """Whether a page takes up memory of a processor."""

    def evictable(self, processor: int, page: int) -> bool:
        """Whether a page takes up memory of a processor and is in no unfinished plan, as every victim must."""

    def may_return(self, processor: int, page: int) -> bool:
        """Whether a page takes up memory of a processor, or could again because a plan that holds it may fail."""

    def block(self, page: int) -> range:
        """Numbers of the pages of the 2 MiB block that contains a page."""

    def resident_in_block(self, processor: int, page: int) -> list[int]:
        """Pages of that block that take up memory of a processor, ascending."""
