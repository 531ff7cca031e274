"""What a program asked the allocator for, from its start on: blocks, their roles, and what each module added."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

PRODUCTS = {"mm", "bmm", "addmm", "baddbmm", "mv", "addmv", "dot", "linear", "_addmm_activation"}
"""Operators that cuBLAS executes, which takes a workspace for each thread that calls it."""
ORDER = ("parameter", "state", "gradient", "activation", "input")
"""Roles, those that win first."""


STEP = 512
"""PyTorch's caching allocator hands out multiples of this (`kMinBlockSize`)."""


@dataclass
class Span:
    """A call of a module: its name and class, where in the history it is, and what its operators did."""

    name: str
    kind: str
    begin: int
    end: int = 0
    work: tuple[int, int, int] = (0, 0, 0)


class History:
    """Blocks that were handed out and given back, in order."""

    def __init__(self) -> None:
        self.host: set[int] = set()
        """Tensors that are not on the GPU."""
        self.events: list[int] = []
        """A tensor's number where it is handed out; -1 minus the number where it is given back."""
        self.work = (0, 0, 0)
        """Floating-point operations, bytes read or written, and launches so far."""
        self.thread = 0
        """0 for the program's, 1 for the one that goes backward."""
        self.first_products: dict[int, int] = {}
        """Place in `events` where each thread called cuBLAS first."""
        self.marks: list[tuple[int, str]] = []
        """Places where the program began to go `backward`, where an `optimizer` began, and where its step was at the
        `end`."""
        self.spans: list[Span] = []
        """Calls of modules."""
        self.roles: dict[str, set[int]] = {role: set() for role in ORDER}
        self._live: set[int] = set()
        self._fed: set[int] = set()
        """Tensors that were made of nothing on the GPU."""
        self._made_since: set[int] = set()
        """Tensors that were made since the last step ended."""

    def allocate(self, number: int) -> None:
        """A tensor was made."""
        self.events.append(number)
        self._live.add(number)
        self._made_since.add(number)

    def free(self, number: int) -> None:
        """A tensor is gone."""
        self.events.append(-1 - number)
        self._live.discard(number)

    def run(self, name: str, flops: int, reads: dict[int, int], writes: dict[int, int], made: list[int]) -> None:
        """An operator ran."""
        if not reads:
            self._fed.update(made)
        if reads or writes:
            flow = sum(reads.values()) + sum(writes.values())
            done, moved, launches = self.work
            self.work = (done + flops, moved + flow, launches + 1)
        if name in PRODUCTS:
            self.first_products.setdefault(self.thread, len(self.events))

    def backward(self) -> None:
        """The program goes backward: what its step has made so far and still has are activations."""
        self.thread = 1
        self.marks.append((len(self.events), "backward"))
        made = self._live & self._made_since
        self.roles["input"] |= made & self._fed
        self.roles["activation"] |= made - self._fed

    def ended(self) -> None:
        """A step of an optimizer ended."""
        self.marks.append((len(self.events), "end"))
        self._made_since.clear()

    @property
    def steps(self) -> int:
        """How many steps have ended."""
        return sum(what == "end" for _, what in self.marks)

    def most(self, sizes: list[int], since: int, leave_out: set[int]) -> int:
        """The most bytes that all blocks have at once from a place in the history on, in whole steps."""
        now = most = 0
        for place, event in enumerate(self.events):
            if place == since:
                most = now
            number = event if event >= 0 else -1 - event
            if number in leave_out:
                continue
            size = -(-sizes[number] // STEP) * STEP
            now += size if event >= 0 else -size
            most = max(most, now)
        return now if since >= len(self.events) else most

    def enter(self, name: str, kind: str) -> Span:
        """A module is called."""
        span = Span(name, kind, len(self.events), work=self.work)
        self.spans.append(span)
        return span

    def leave(self, span: Span) -> None:
        """The module has returned."""
        span.end = len(self.events)
        span.work = tuple(now - then for now, then in zip(self.work, span.work))  # type: ignore[assignment] # noqa: B905

    def written(self, sizes: list[int], parameters: set[int], leave_out: set[int]) -> dict[str, Any]:
        """For the file: blocks in the order in which they were handed out, and what happened to them."""
        self.roles["parameter"] |= parameters
        place: dict[int, int] = {}
        events, before = [], [0]
        for event in self.events:
            number = event if event >= 0 else -1 - event
            if number not in leave_out and sizes[number]:
                if event >= 0:
                    place[number] = len(place)
                events.append(place[number] if event >= 0 else -1 - place[number])
            before.append(len(events))
        role = {number: next((one for one in ORDER if number in self.roles[one]), "temporary") for number in place}
        return {
            "blocks": [(role[number], sizes[number]) for number in place],
            "events": events,
            "products": [before[at] for _, at in sorted(self.first_products.items())],
            "marks": [(before[at], what) for at, what in self.marks],
            "modules": [
                {
                    "name": one.name,
                    "class": one.kind,
                    "events": [before[one.begin], before[one.end]],
                    "work": list(one.work),
                }
                for one in self._repeated()
            ],
        }

    def _repeated(self) -> list[Span]:
        """Calls of modules that stand side by side with others of their class."""
        whole = [span for span in self.spans if span.end and span.name]
        groups: dict[tuple[str, str], set[str]] = {}
        for span in whole:
            groups.setdefault(_group(span), set()).add(span.name)
        return [span for span in whole if len(groups[_group(span)]) > 1]


def _group(span: Span) -> tuple[str, str]:
    return span.name.rpartition(".")[0], span.kind
