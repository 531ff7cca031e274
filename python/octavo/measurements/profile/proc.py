"""The kernel's data about processes, from /proc; None if a process is gone or may not be read."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

PROC = Path("/proc")
_KIBIBYTE = 1024
_STATUS = {
    "VmRSS": "resident",
    "VmHWM": "most",
    "RssAnon": "anonymous",
    "RssFile": "file",
    "RssShmem": "shared",
    "VmSwap": "swap",
}
"""Lines of `status`, and their names here."""
_SMAPS = {
    b"Rss": "resident",
    b"Pss": "proportional",
    b"Anonymous": "anonymous",
    b"AnonHugePages": "huge",
    b"Swap": "swap",
}
"""Lines of `smaps`, and their names here."""


@dataclass(frozen=True)
class Stat:
    """A process, from `stat`."""

    pid: int
    name: str
    state: str
    parent: int
    session: int
    started: int
    """Clock ticks since the system started: together with the number, they identify a process."""
    minor: int
    """Page faults so far that needed no disk."""
    major: int
    """Page faults so far that needed the disk."""

    @property
    def alive(self) -> bool:
        """Whether it has not ended."""
        return self.state not in "ZX"


@dataclass(frozen=True)
class Status:
    """Memory of a process in bytes, from `status`."""

    resident: int = 0
    most: int = 0
    """The most that was ever resident."""
    anonymous: int = 0
    file: int = 0
    shared: int = 0
    swap: int = 0


@dataclass(frozen=True)
class Mapping:
    """A mapping of a process with its memory in bytes, from `smaps`."""

    name: str
    address: int
    bytes: int
    resident: int = 0
    proportional: int = 0
    """The resident part, where pages that several processes share are divided among them."""
    anonymous: int = 0
    huge: int = 0
    """The part in transparent huge pages."""
    swap: int = 0


def stat(pid: int, proc: Path = PROC) -> Stat | None:
    """The identity of a process, and its page faults."""
    content = _read(proc / str(pid) / "stat")
    if content is None:
        return None
    head, _, tail = content.decode(errors="replace").rpartition(")")
    fields = tail.split()
    return Stat(
        pid,
        name=head.partition("(")[2],
        state=fields[0],
        parent=int(fields[1]),
        session=int(fields[3]),
        started=int(fields[19]),
        minor=int(fields[7]),
        major=int(fields[9]),
    )


def status(pid: int, proc: Path = PROC) -> Status | None:
    """How much memory a process has; zero for one that has ended and that nobody has waited for."""
    content = _read(proc / str(pid) / "status")
    if content is None:
        return None
    lines = (line.partition(":") for line in content.decode(errors="replace").splitlines())
    return Status(**{_STATUS[name]: int(rest.split()[0]) * _KIBIBYTE for name, _, rest in lines if name in _STATUS})


def mappings(pid: int, proc: Path = PROC) -> list[Mapping] | None:
    """The mappings of a process; the kernel looks at each of its pages for that."""
    content = _read(proc / str(pid) / "smaps")
    if content is None:
        return None
    found: list[tuple[bytes, dict[str, int]]] = []
    for line in content.splitlines():
        if not line[:1].isupper():
            found.append((line, {}))
            continue
        name, _, rest = line.partition(b":")
        if name in _SMAPS:
            found[-1][1][_SMAPS[name]] = int(rest.split()[0]) * _KIBIBYTE
    return [_mapping(head, memory) for head, memory in found]


def _mapping(head: bytes, memory: dict[str, int]) -> Mapping:
    """Parse `start-end permissions offset device inode path`."""
    fields = head.decode(errors="replace").split(maxsplit=5)
    start, end = (int(edge, 16) for edge in fields[0].split("-"))
    path = fields[5] if len(fields) > 5 else ""
    return Mapping(path or "anonymous", start, end - start, **memory)


def pages_by_node(pid: int, proc: Path = PROC) -> dict[int, dict[int, int]] | None:
    """Resident bytes of each mapping on each NUMA node, by its first address."""
    content = _read(proc / str(pid) / "numa_maps")
    if content is None:
        return None
    found = {}
    for line in content.decode(errors="replace").splitlines():
        address, *words = line.split()
        counts = dict(word.split("=", 1) for word in words if "=" in word)
        page = int(counts.get("kernelpagesize_kB", 4)) * _KIBIBYTE
        found[int(address, 16)] = {
            int(name[1:]): int(count) * page for name, count in counts.items() if name[:1] == "N" and name[1:].isdigit()
        }
    return found


def children(pid: int, proc: Path = PROC) -> list[int]:
    """The children of all threads of a process."""
    try:
        threads = list((proc / str(pid) / "task").iterdir())
    except OSError:
        return []
    contents = (_read(thread / "children") for thread in threads)
    return [int(child) for content in contents for child in (content or b"").split()]


def lists_children(proc: Path = PROC) -> bool:
    """Whether the kernel was built to list children."""
    return any((thread / "children").exists() for thread in (proc / "self" / "task").iterdir())


def everyone(proc: Path = PROC) -> list[Stat]:
    """All processes there are."""
    found = (stat(int(path.name), proc) for path in proc.iterdir() if path.name.isdigit())
    return [one for one in found if one is not None]


def _read(path: Path) -> bytes | None:
    try:
        return path.read_bytes()
    except (FileNotFoundError, NotADirectoryError, ProcessLookupError, PermissionError):
        return None
