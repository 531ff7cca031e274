"""Facts about the buffers of a scenario's workload: counted from its accesses and from its host side."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from math import sqrt
from typing import TYPE_CHECKING, Any

from octavo import api
from octavo.advice.facts import Buffer, Fact, ahead, swept
from octavo.errors import AdviceError
from octavo.measurements.calibrate import quantities
from octavo.scenarios.scenario import LAUNCHES

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from octavo.advice.facts import Placement
    from octavo.advice.model import System
    from octavo.scenarios.scenario import Scenario

_LANES = 64
"""Lanes of a wavefront; each does an operation for each vector instruction."""
_NEAR = 2
"""Stores of the host between launches from which host and device count as writing in turns; our choice."""
_KINDS: Mapping[str, Placement] = {
    "explicit": "device",
    "device": "device",
    "managed": "managed",
    "system": "managed",
    "pinned": "pinned",
    LAUNCHES: "managed",
}
"""Kinds of programs and buffers, as placements; system memory comes on demand, too."""
_INSPECTED = "every access of the workload"
_LOWERED = "the host's side of the workload"
_GUARD = "stores of the host between launches beyond the guard's threshold, a nap each"

_ON_HOST = "@host"
"""How names of host memory beside a device buffer end in programs."""


def check(scenario: Scenario) -> None:
    """Make sure that there is one program to advise.

    Raises:
        AdviceError: there is not.

    """
    if scenario.jobs:
        names = ", ".join(job["name"] for job in scenario.jobs)
        raise AdviceError(
            f"expected one program, found the jobs {names}",
            "advise each of them by itself",
            code="unexpected-value",
            found=names,
        )


def buffers(scenario: Scenario, system: System) -> list[Buffer]:
    """The buffers of a scenario's program, with what is known without running it.

    Raises:
        ScenarioError: the workload cannot be built.

    """
    counted = api.inspect_workload(scenario)
    program = _Program.of(scenario, counted)
    return [_buffer(each, program, system) for each in counted["buffers"]]


@dataclass(frozen=True)
class _Naps:
    """How a guard against thrashing holds up faults."""

    after: int = 0
    """Transfers of a page."""
    seconds: float = 0.0


@dataclass(frozen=True)
class _Program:
    """Facts that all buffers share."""

    operations: float
    touched: int
    launches: int
    groups: int
    """Work-groups; each has a line in its L1 cache once it has loaded it."""
    wavefronts: float
    """Wavefronts of a launch, on average."""
    present: Mapping[str, Placement]
    copies: Mapping[str, Copies]
    read_again: Mapping[str, int]
    """Ranges of each buffer that the host reads between launches without a copy, if all lie in device memory."""
    first_level: int
    """Bytes of an L1 cache."""
    tree: int | None
    """The per cent at which the driver's tree prefetches, if it does."""
    naps: _Naps

    @classmethod
    def of(cls, scenario: Scenario, counted: Mapping[str, Any]) -> _Program:
        launches = max(counted["launches"], 1)
        values = scenario.values
        prefetch = values["memory"]["prefetch"]
        names = [each["name"] for each in counted["buffers"]]
        actions = api.workload_program(scenario, "explicit")["actions"]
        return cls(
            operations=float(counted["instructions"]["compute"] * _LANES),
            touched=counted["total"]["touched_bytes"],
            launches=launches,
            groups=counted["work_groups"],
            wavefronts=counted["wavefronts"] / launches,
            present=_present(scenario, names),
            copies=copies_of(actions, names),
            read_again=read_again(actions, names),
            first_level=round(quantities.number(values["node"]["l1"]["size"], "B")),
            tree=prefetch["threshold"] if prefetch["name"] == "tree" else None,
            naps=_naps(values["memory"].get("guard") or {}),
        )

    def kernel_seconds(self, system: System) -> float:
        """Seconds that its kernels and their launches take on the device, by the canonical roofline."""
        return max(self.operations / system.peak, self.touched / system.device) + self.launches * system.launch


def _naps(guard: Mapping[str, Any]) -> _Naps:
    if "nap" not in guard:
        return _Naps()
    return _Naps(int(guard["threshold"]), quantities.number(guard["nap"], "s"))


def _present(scenario: Scenario, names: Sequence[str]) -> dict[str, Placement]:
    kind = scenario.kind
    if kind == "recorded":
        listed = {each["name"]: each["kind"] for each in api.workload_program(scenario, "recorded")["buffers"]}
        return {name: _KINDS.get(listed.get(name, "managed"), "managed") for name in names}
    own = scenario.values.get("program", {}).get("buffers", {})
    return {name: _placement(own.get(name, {}), kind) for name in names}


def _placement(own: Mapping[str, Any], kind: str) -> Placement:
    """The placement of a buffer in a program of a kind, unless the buffer has one of its own."""
    found = _KINDS[own.get("kind") or kind]
    return "prefetched" if found == "managed" and own.get("prefetch", "").startswith("gpu") else found


def _buffer(counted: Mapping[str, Any], program: _Program, system: System) -> Buffer:
    copies = program.copies[counted["name"]]
    pages = -(-counted["bytes"] // system.page)
    touched_pages = counted["private"]["pages"] + counted["shared"]["pages"]
    sigma = touched_pages / pages
    rho = _remigration(copies, touched_pages, system.page)
    arriving = max(touched_pages * rho.value, 1.0)
    intensity = program.operations / max(counted["accesses"] * system.line, 1)
    occupancy = min(program.wavefronts / (system.multiprocessors * system.warps), 1.0)
    write_shared = copies.writes_between >= _NEAR and counted["stores"] > 0
    facts = {
        "used": Fact.exact(min(counted["touched_bytes"] / counted["bytes"], 1.0), "counted", _INSPECTED),
        "sigma": Fact.exact(sigma, "counted", _INSPECTED),
        "rho": rho,
        "alpha": Fact.exact(intensity, "counted", f"{_INSPECTED}; all operations over the lines accessed here"),
        "occupancy": Fact.exact(occupancy, "estimated", "wavefronts of a launch, on average, over those that fit"),
        "kernels": Fact.exact(program.kernel_seconds(system), "estimated", "the canonical roofline, and launches"),
        "lines": _lines(counted, program, system),
        "concurrency": _concurrency(touched_pages, program, system),
        "faults": Fact.between(1.0, arriving, arriving, "estimated", "every page that comes, without a prefetcher"),
        "copied_in": Fact.exact(copies.into, "counted", _LOWERED),
        "copied_out": Fact.exact(copies.out, "counted", _LOWERED),
        "copies": Fact.exact(copies.calls, "counted", _LOWERED),
        "prefetches": Fact.exact(0.0, "estimated", "every page that comes faults by itself"),
        "stale_faults": Fact.exact(0.0, "assumed", "no run tells how many pages come while a fault waits"),
        "fault_runs": Fact.between(1.0, arriving, arriving, "estimated", "every page that comes, by itself"),
        "host_faults": _host_faults(pages, program),
        **_returned(counted["name"], pages, sigma, program, system),
        "thrashing": Fact.exact(_held(copies, program), "estimated", _GUARD),
        **_ahead(counted["name"], pages, program, system),
    }
    return Buffer(
        name=counted["name"],
        size=counted["bytes"],
        present=program.present[counted["name"]],
        first="host" if copies.first_by_host else "device",
        write_shared=write_shared,
        can_pin=True,
        exchanged=_exchanged(counted["name"], program),
        facts=facts,
    )


def _remigration(copies: Copies, touched_pages: int, page: int) -> Fact:
    """Pages that the host touches between launches go back and come again, if the device touches them all again."""
    again = sum(-(-size // page) for size in copies.round_trips.values())
    rho = 1.0 + again / max(touched_pages, 1)
    return Fact.between(1.0, rho, rho, "estimated" if again else "counted", _LOWERED)


def _lines(counted: Mapping[str, Any], program: _Program, system: System) -> Fact:
    """Bytes that cross the link if it is pinned: at least each line once, at most once for each access and work-group.

    A buffer that fits into an L1 cache comes once for each multiprocessor and launch; for others, the geometric mean of
    the two bounds is taken.
    """
    low = counted["touched_bytes"]
    high = max(min(counted["accesses"] * system.line, low * program.groups), low)
    if low <= program.first_level:
        value = float(min(low * system.multiprocessors * program.launches, high))
        return Fact.between(
            low, value, high, "estimated", "once for each multiprocessor and launch: it fits their caches"
        )
    where = "geometric mean of lines touched and line accesses"
    return Fact.between(low, sqrt(low * high), high, "estimated", where)


def _concurrency(touched_pages: int, program: _Program, system: System) -> Fact:
    """Pages that the resident wavefronts touch with a word for each lane, side by side."""
    resident = min(program.wavefronts, float(system.multiprocessors * system.warps))
    most = float(max(min(touched_pages, system.most_faults), 1))
    where = "pages that resident wavefronts span, a word a lane"
    return Fact.between(1.0, resident * _LANES * 4 / system.page, most, "estimated", where)


def _host_faults(pages: int, program: _Program) -> Fact:
    """Faults of the host that goes through a buffer in order while the driver's tree fetches ahead."""
    if program.tree is None:
        return Fact.exact(pages, "counted", "a fault a page")
    return Fact.exact(swept(pages, program.tree), "estimated", "the driver's tree under a sweep of the host")


def _returned(name: str, pages: int, sigma: float, program: _Program, system: System) -> dict[str, Fact]:
    """Bytes that come back to the host: results in order, and a page at least for each input range it rereads."""
    results = program.copies[name].out / system.page * sigma
    again = float(min(program.read_again[name], pages))
    faults = _host_faults(pages, program).value * results / pages
    where = f"{_LOWERED}; a page for each range that the host reads again, up to all of them"
    most = results + (pages * sigma if again else 0.0)
    return {
        "returned": Fact.between(
            results * system.page, (results + again) * system.page, most * system.page, "estimated", where
        ),
        "return_faults": Fact.between(faults, faults + again, faults + again, "estimated", where),
        "return_prefetches": Fact.exact(faults if program.tree is not None else 0.0, "estimated", "the driver's tree"),
    }


def _exchanged(name: str, program: _Program) -> bool:
    """Whether the host touches it between launches."""
    copies = program.copies[name]
    return bool(copies.round_trips) or copies.writes_between > 0 or program.read_again[name] > 0


def _ahead(name: str, pages: int, program: _Program, system: System) -> dict[str, Fact]:
    """Prefetches first bring all that the host has written, and later what it has touched since."""
    copies = program.copies[name]
    again = sum(-(-size // system.page) for size in copies.round_trips.values())
    brought = Fact.exact(((pages if copies.first_by_host else 0) + again) * system.page, "counted", _LOWERED)
    calls = program.launches if _exchanged(name, program) else 1
    return ahead(pages * system.page, brought, calls, 1 + len(copies.round_trips))


def _held(copies: Copies, program: _Program) -> float:
    """Seconds that its faults are held up if one of its pages goes back and forth."""
    return max(copies.writes_between - program.naps.after, 0) * program.naps.seconds


@dataclass
class Copies:
    """Bytes that one buffer copies if it is in device memory."""

    into: int = 0
    out: int = 0
    calls: int = 0
    first_by_host: bool = False
    writes_between: int = 0
    round_trips: Counter[int] = field(default_factory=Counter)
    """Bytes that the host reads or writes between launches, by the launch that comes next: the larger of the two."""


def copies_of(actions: Sequence[Mapping[str, Any]], names: Sequence[str]) -> dict[str, Copies]:
    """Bytes that the program copies to and from each buffer if all are in device memory."""
    found = {name: Copies() for name in names}
    launches = 0
    between: dict[str, Counter[int]] = {name: Counter() for name in names}
    ends = sum(action["action"] == "launch" for action in actions)
    for action in actions:
        launches += action["action"] == "launch"
        if action["action"] != "copy":
            continue
        source, target = action["buffers"]
        inwards = source.endswith(_ON_HOST) and target in found
        name = target if inwards else source
        copies = found[name]
        copies.calls += 1
        copies.into += action["bytes"] if inwards else 0
        copies.out += 0 if inwards else action["bytes"]
        if inwards and launches == 0:
            copies.first_by_host = True
        elif launches < ends or inwards:
            copies.writes_between += inwards
            between[name][launches] = max(between[name][launches], action["bytes"])
    for name, trips in between.items():
        found[name].round_trips = trips
    return found


def read_again(actions: Sequence[Mapping[str, Any]], names: Sequence[str]) -> dict[str, int]:
    """Ranges that the host reads in its own copy since nothing was copied back: their pages were on the device."""
    found = dict.fromkeys(names, 0)
    copied: set[str] = set()
    launched = False
    for action in actions:
        launched |= action["action"] == "launch"
        if action["action"] == "copy":
            copied.add(action["buffers"][0])
        elif action["action"] == "launch":
            copied.clear()
        elif action["action"] == "host" and launched and "reads" in action["what"]:
            for each in action["buffers"]:
                name = each.removesuffix(_ON_HOST)
                if each.endswith(_ON_HOST) and name in found and name not in copied:
                    found[name] += 1
    return found
