"""The machines of a Ray cluster: which are admitted, and which runs which point.

A machine is admitted by its engine: processes there (`hand`) report their build before they get a point. Every process
belongs to a machine, so a point that a machine lost or refused goes to another machine.
"""

from __future__ import annotations

import time
from collections import Counter, deque
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from octavo.errors import OctavoError
from octavo.plain import shortened
from octavo.sweeps import hand as remote_hand

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

_LOOK_SECONDS = 2.0
"""Wall time between two looks at which machines there are; our choice."""
_PATIENCE_SECONDS = 5.0
"""Wall time after which a process that waits for a core no longer counts: others are requested elsewhere. Chosen."""
_SETTLE_SECONDS = 5.0
"""Wall time after the end of a process in which its machine may also turn out to be lost; our choice."""
_MOST_LOSSES = 3
"""How often processes may end under one point, or in a row on one machine, before it gets the blame; our choice."""
_MOST_SAID = 300
"""The most characters of messages of Ray or a machine that are quoted; our choice."""
_LOST = "was lost"


class NoMachineError(OctavoError):
    """None of the machines can be used at all."""

    code = "no-cluster"


class LostMachinesError(OctavoError):
    """No machine is left of those that were used."""

    code = "lost-machines"


@dataclass(eq=False)
class Task:
    """A point to run."""

    number: int
    scenario: str
    files: dict[str, str]
    limits: tuple[int | None, int | None]
    failed: dict[str, str] = field(default_factory=dict)
    """Why it has no result from a machine, by the machine's number in Ray."""
    losses: int = 0
    """How often its process ended, or its machine was lost."""
    lost: float = 0.0
    """The last time of that, on Python's monotonic clock."""


@dataclass(frozen=True)
class Outcome:
    """The outcome of a task."""

    task: Task
    found: dict[str, Any]
    """As `octavo.sweeps.remote.run` returns it."""
    machine: str | None = None
    """The machine that ran it, for people; None if no machine can."""


@dataclass
class _Machine:
    key: str
    name: str
    cores: int
    alive: bool = True
    problem: str | None = None
    """Why it is not used."""
    losses: int = 0
    """Processes that ended there in a row."""

    @property
    def usable(self) -> bool:
        return self.alive and self.cores > 0 and self.problem is None


@dataclass(eq=False)
class _Hand:
    actor: Any
    machine: _Machine
    awaited: Any
    """Its next answer; None if it is idle."""
    since: float
    admitted: bool = False
    task: Task | None = None


class Machines:
    """Runs tasks on the machines of a cluster that have the same engine as this process."""

    def __init__(self, ray: Any, most: int | None, folder: str, tell: Callable[[str], None]) -> None:
        """Nothing runs yet.

        Args:
            ray: the module, connected to the cluster.
            most: tasks at a time; as many as there are cores if left out.
            folder: where relative paths of tasks begin.
            tell: takes what a user should know of machines.

        """
        self._ray, self._most, self._folder, self._tell = ray, most, folder, tell
        self._engine = remote_hand.engine()
        self._machines: dict[str, _Machine] = {}
        self._hands: list[_Hand] = []
        self._waiting: deque[Task] = deque()
        self._looked = 0.0
        self._admitted = False
        ray.cloudpickle.register_pickle_by_value(remote_hand)
        self._actor = ray.remote(remote_hand.Hand)
        self._look()

    @property
    def engine(self) -> str:
        """The build of Octavo that all admitted machines have."""
        return self._engine

    @property
    def slots(self) -> int:
        """How many tasks can run at a time, on the machines that are there now."""
        cores = sum(machine.cores for machine in self._machines.values() if machine.usable)
        return max(1, cores if self._most is None else min(cores, self._most))

    @property
    def busy(self) -> bool:
        """Whether there is anything to wait for."""
        return bool(self._waiting) or any(hand.task is not None for hand in self._hands)

    def take(self, task: Task) -> None:
        """Run a task as soon as a process is free."""
        self._waiting.append(task)

    def step(self, seconds: float) -> list[Outcome]:
        """Continue for about that long; returns the tasks that are done.

        Raises:
            NoMachineError: no machine was ever admitted, and none is left that could be.
            LostMachinesError: none is left of those that were.
            Exception: the cluster is lost.

        """
        if time.monotonic() - self._looked > _LOOK_SECONDS:
            self._look()
        self._assign()
        self._hire()
        ended = list(self._hopeless())
        awaited = {hand.awaited: hand for hand in self._hands if hand.awaited is not None}
        if awaited:
            done, _ = self._ray.wait(list(awaited), num_returns=1, timeout=seconds)
            for reference in done:
                ended += self._hear(awaited[reference])
        return ended

    def close(self) -> None:
        """End every process."""
        for hand in list(self._hands):
            self._dismiss(hand)

    def _look(self) -> None:
        """Update the list of machines."""
        self._looked = time.monotonic()
        seen = {node["NodeID"]: node for node in self._ray.nodes() if node["Alive"]}
        for key, node in seen.items():
            if key not in self._machines:
                self._machines[key] = _Machine(key, _name(node), int(node["Resources"].get("CPU", 0)))
        for key, machine in self._machines.items():
            if machine.alive and key not in seen:
                machine.alive = False
                self._tell(f"{machine.name} {_LOST}; its points run elsewhere, if they can")

    def _hire(self) -> None:
        """Start processes until there are as many as there are tasks and cores."""
        wanted = min(self.slots, len(self._waiting) + sum(hand.task is not None for hand in self._hands))
        late = time.monotonic() - _PATIENCE_SECONDS
        while self._waiting and sum(hand.admitted or hand.since > late for hand in self._hands) < wanted:
            machine = self._roomiest()
            if machine is None:
                return
            self._start(machine)

    def _roomiest(self) -> _Machine | None:
        """The machine with the largest share of free cores on which some waiting task has not been yet."""
        taken = Counter(hand.machine.key for hand in self._hands)
        free = [
            machine
            for machine in self._machines.values()
            if machine.usable
            and taken[machine.key] < machine.cores
            and any(machine.key not in task.failed for task in self._waiting)
        ]
        return min(free, key=lambda machine: taken[machine.key] / machine.cores, default=None)

    def _start(self, machine: _Machine) -> None:
        from ray.util.scheduling_strategies import NodeAffinitySchedulingStrategy  # noqa: PLC0415 - an extra

        there = NodeAffinitySchedulingStrategy(machine.key, soft=False)
        actor = self._actor.options(num_cpus=1, max_restarts=0, scheduling_strategy=there).remote()
        self._hands.append(_Hand(actor, machine, actor.greet.remote(self._folder), time.monotonic()))

    def _assign(self) -> None:
        """Give waiting tasks to idle processes; processes that suit no waiting task make room for others."""
        idle = [hand for hand in self._hands if hand.admitted and hand.task is None]
        for hand in idle:
            task = next((each for each in self._waiting if hand.machine.key not in each.failed), None)
            if task is not None:
                self._waiting.remove(task)
                hand.task = task
                hand.awaited = hand.actor.run.remote(task.scenario, task.files, task.limits)
            elif self._waiting:
                self._dismiss(hand)

    def _hear(self, hand: _Hand) -> list[Outcome]:
        """Take an answer from a process, or notice that it has ended."""
        try:
            found = self._ray.get(hand.awaited)
        except self._ray.exceptions.RayTaskError as error:
            problem = said(error)
            found = {"unfit": problem} if hand.admitted else {"engine": None, "problem": problem}
        except self._ray.exceptions.RayError as error:
            self._lose(hand, error)
            return []
        hand.awaited = None
        if not hand.admitted:
            self._admit(hand, found)
            return []
        task, hand.task = hand.task, None
        assert task is not None  # noqa: S101 - for the type checker
        hand.machine.losses = 0
        if "unfit" in found:
            self._elsewhere(task, hand.machine, found["unfit"])
            return []
        return [Outcome(task, found, hand.machine.name)]

    def _admit(self, hand: _Hand, found: dict[str, Any]) -> None:
        if found["engine"] is None:
            self._refuse(hand.machine, f"Octavo cannot be loaded there: {shortened(found['problem'], _MOST_SAID)}")
        elif found["engine"] != self._engine:
            self._refuse(
                hand.machine,
                f"it has another build of Octavo: expected {self._engine}, as here, found {found['engine']}",
            )
        elif sum(other.admitted for other in self._hands) >= self.slots:
            self._dismiss(hand)  # It waited for a core, and others came first.
        else:
            hand.admitted = self._admitted = True

    def _refuse(self, machine: _Machine, problem: str) -> None:
        """Use a machine no more; its tasks run elsewhere."""
        if machine.problem is None:
            machine.problem = problem
            self._tell(f"{machine.name} is not used: {problem}")
        for hand in [each for each in self._hands if each.machine is machine]:
            if hand.task is not None:
                self._elsewhere(hand.task, machine, problem)
            self._dismiss(hand)

    def _lose(self, hand: _Hand, error: Exception) -> None:
        """A process has ended, perhaps with its machine."""
        self._dismiss(hand)
        self._look()
        machine, task = hand.machine, hand.task
        if task is not None:
            task.losses += 1
            task.lost = time.monotonic()
            if machine.alive:  # Else `_look` has said so; it may take a while to be known.
                self._tell(f"a process on {machine.name} ended; its point runs elsewhere, if it can: {said(error)}")
            self._elsewhere(task, machine, "its process ended" if machine.alive else "it was lost")
        machine.losses += 1
        others = any(other.usable for other in self._machines.values() if other is not machine)
        if machine.alive and others and machine.losses >= _MOST_LOSSES:
            self._refuse(machine, f"{machine.losses} processes in a row ended there; Ray says: {said(error)}")

    def _elsewhere(self, task: Task, machine: _Machine, reason: str) -> None:
        task.failed[machine.key] = reason
        self._waiting.appendleft(task)

    def _dismiss(self, hand: _Hand) -> None:
        self._hands.remove(hand)
        self._ray.kill(hand.actor)

    def _hopeless(self) -> Iterator[Outcome]:
        """Waiting tasks for which no machine is left, although there are some."""
        usable = {key for key, machine in self._machines.items() if machine.usable}
        if self._waiting and not usable:
            kind = LostMachinesError if self._admitted else NoMachineError
            raise kind(f"no machine of it can be used: {self._problems()}")
        settled = time.monotonic() - _SETTLE_SECONDS
        for task in [each for each in self._waiting if each.lost < settled]:
            if task.losses >= _MOST_LOSSES or usable <= task.failed.keys():
                self._waiting.remove(task)
                yield Outcome(task, {"error": self._why(task)})

    def _problems(self) -> str:
        """Why machines are not used, with their names."""
        found = [
            f"{machine.name} {_LOST}" if not machine.alive else f"{machine.name}: {machine.problem or 'it has no core'}"
            for machine in self._machines.values()
        ]
        return "; ".join(found) or "there is none"

    def _why(self, task: Task) -> str:
        """Why a task has no result. Without names of machines: this goes into tables."""
        tried = [f"on {count}, {reason}" for reason, count in Counter(task.failed.values()).items()]
        unused = sum(not machine.usable and machine.key not in task.failed for machine in self._machines.values())
        left = [f"{unused} cannot be used"] if unused else []
        return f"no machine of the cluster is left that can run it: {'; '.join(tried + left)}"


def said(error: BaseException) -> str:
    """Ray's message, without the traceback that it puts into it."""
    lines = [line.strip() for line in str(error).splitlines() if line.strip()] or [type(error).__name__]
    first = [] if "::" in lines[0] else lines[:1]  # Else the name of a process.
    return shortened(" ".join(dict.fromkeys([*first, lines[-1]])), _MOST_SAID)


def _name(node: dict[str, Any]) -> str:
    """The name of a machine: its host's name, and its address, as two hosts may have the same name."""
    host, address = node["NodeManagerHostname"], node["NodeManagerAddress"]
    return host if host == address else f"{host} ({address})"
