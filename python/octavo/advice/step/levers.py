"""What can be done where a step needs too much memory: each thing as another history of the same program."""

from __future__ import annotations

from bisect import bisect_right
from collections import defaultdict
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal, TypeAlias

from octavo.advice.step.memory import Story, peak

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from octavo.advice.fit.costs import Costs
    from octavo.advice.model import System
    from octavo.advice.step.memory import Peak
    from octavo.advice.step.program import Module, Program, Role

Action: TypeAlias = Literal["keep", "recompute", "offload", "release", "fuse", "prefetch"]
_OPTIMIZER = "in the optimizer"


@dataclass(frozen=True)
class Machine:
    """What moving and computing costs."""

    system: System
    costs: Costs
    workspace: int


@dataclass(frozen=True)
class Lever:
    """Something to do with all memory of a role."""

    name: str
    role: Role
    action: Action
    apply: Callable[[Story], Story] = field(repr=False, compare=False)
    seconds: float
    """How much longer a step takes."""
    why: str
    code: tuple[str, ...]


@dataclass(frozen=True)
class Tried:
    """What a step needs and takes with some levers."""

    levers: tuple[Lever, ...]
    peak: Peak
    seconds: float


def levers(program: Program, batch: int, machine: Machine) -> list[Lever]:
    """All that may help a program, the cheapest first."""
    story = Story.of(program, batch, machine.workspace)
    found: list[Lever] = []
    group = _blocks_with_most(story)
    if group:
        found += [_recompute(group, program, batch, machine), _offload_activations(group, story, machine)]
    if _bytes(story, "state"):
        found.append(_offload_state(story, machine))
    if any(what == "optimizer" for _, what in program.marks):
        if _bytes(story, "gradient"):
            found.append(_release_gradients(program))
        if _temporaries_of_optimizer(story):
            found.append(_fuse_optimizer(program))
    return sorted(found, key=lambda lever: lever.seconds)


def tried(story: Story, chosen: Sequence[Lever], seconds: float, room: int | None = None) -> Tried:
    """A program with some levers."""
    for lever in chosen:
        story = lever.apply(story)
    return Tried(tuple(chosen), peak(story, room), seconds + sum(lever.seconds for lever in chosen))


# Activations ---------------------------------------------------------------------------------------------------------


def _blocks_with_most(story: Story) -> list[Module]:
    """Modules that stand side by side and keep most for the way back, in all steps."""
    groups: dict[tuple[str, str], list[Module]] = defaultdict(list)
    for module in story.program.modules:
        groups[module.group].append(module)
    kept = {group: sum(_kept_bytes(story, module) for module in found) for group, found in groups.items()}
    best = max(kept, key=lambda group: (kept[group], -len(group[0])), default=None)
    return groups[best] if best is not None and kept[best] else []


def _kept(story: Story, module: Module) -> list[int]:
    """Activations that a module leaves for the way back, without its result, which is handed out last."""
    live: list[int] = []
    for place, event in story.events:
        if not module.begin <= place < module.end:
            continue
        if event >= 0:
            live.append(event)
        elif -1 - event in live:
            live.remove(-1 - event)
    return [block for block in live[:-1] if story.roles[block] == "activation"]


def _kept_bytes(story: Story, module: Module) -> int:
    return sum(story.sizes[block] for block in _kept(story, module))


def _without_activations(group: Sequence[Module]) -> Callable[[Story], Story]:
    """What modules keep goes when they return, and is there again when the way back reaches them."""

    def apply(story: Story) -> Story:
        leaves: dict[int, list[int]] = defaultdict(list)
        comes: dict[int, list[int]] = defaultdict(list)
        frees = {-1 - event: at for at, (_, event) in enumerate(story.events) if event < 0}
        places = [place for place, _ in story.events]
        for module in group:
            kept = [block for block in _kept(story, module) if block in frees]
            if not kept:
                continue
            end = bisect_right(places, module.end - 1)
            first = min(frees[block] for block in kept)
            # Before the operator that uses the first of them: it has handed out its results already.
            while first > end and story.events[first - 1][1] >= 0:
                first -= 1
            if first > end:
                leaves[end] += kept
                comes[first] += kept
        events: list[tuple[int, int]] = []
        for at, (place, event) in enumerate(story.events):
            events += [(place, -1 - block) for block in leaves[at]]
            events += [(place, block) for block in comes[at]]
            events.append((place, event))
        return Story(story.program, story.sizes, story.roles, events)

    return apply


def _of_a_step(group: Sequence[Module]) -> list[Module]:
    """The calls of one step: the last of each module."""
    return list({module.name: module for module in group}.values())


def _recompute(group: Sequence[Module], program: Program, batch: int, machine: Machine) -> Lever:
    once = _of_a_step(group)
    kind, parent = once[0].kind, once[0].name.rpartition(".")[0] or "the model"
    seconds = sum(module.seconds(batch, machine.system) for module in once)
    return Lever(
        "checkpoint",
        "activation",
        "recompute",
        _without_activations(group),
        seconds,
        f"the {len(once)} {kind} of {parent} go forward once more",
        (
            "from torch.utils.checkpoint import checkpoint",
            "",
            "def checkpointed(module):",
            "    forward = module.forward",
            "    module.forward = lambda *given: checkpoint(forward, *given, use_reentrant=False)",
            "",
            f"for module in {program.model}.modules():",
            f'    if type(module).__name__ == "{kind}":',
            "        checkpointed(module)",
        ),
    )


def _offload_activations(group: Sequence[Module], story: Story, machine: Machine) -> Lever:
    once = _of_a_step(group)
    size = sum(_kept_bytes(story, module) for module in once)
    kind = once[0].kind
    return Lever(
        "activations to the host",
        "activation",
        "offload",
        _without_activations(group),
        size / machine.costs.stream_out + size / machine.costs.stream_in,
        "copied to pinned memory and back, while nothing else runs",
        (
            "def offloaded(module):",
            "    forward = module.forward",
            "    def on_host(*given):",
            "        with torch.autograd.graph.save_on_cpu(pin_memory=True):",
            "            return forward(*given)",
            "    module.forward = on_host",
            "",
            f"for module in {story.program.model}.modules():",
            f'    if type(module).__name__ == "{kind}":',
            "        offloaded(module)",
        ),
    )


# State and gradients -------------------------------------------------------------------------------------------------


def _bytes(story: Story, role: Role) -> int:
    return sum(size for size, one in zip(story.sizes, story.roles, strict=True) if one == role)


def _offload_state(story: Story, machine: Machine) -> Lever:
    size, name = _bytes(story, "state"), story.program.optimizer
    return Lever(
        "state to the host",
        "state",
        "offload",
        _state_in_the_optimizer,
        size / machine.costs.stream_out + size / machine.costs.stream_in,
        "it is needed in the optimizer alone: it comes before and leaves after",
        (
            "def move_state(optimizer, device):",
            "    for state in optimizer.state.values():",
            "        for name, value in state.items():",
            "            if torch.is_tensor(value) and value.dim():",
            '                pinned = device == "cpu"',
            "                there = torch.empty(value.shape, dtype=value.dtype, device=device, pin_memory=pinned)",
            "                state[name] = there.copy_(value, non_blocking=not pinned)",
            "",
            f'move_state({name}, "cuda")  # before {name}.step()',
            f'move_state({name}, "cpu")   # after it',
        ),
    )


def _state_in_the_optimizer(story: Story) -> Story:
    """State leaves at the end of each step, and comes when the next optimizer begins."""
    here: set[int] = set()
    away: set[int] = set()
    events: list[tuple[int, int]] = []
    marks = list(story.program.marks)

    def move(place: int) -> None:
        nonlocal here, away
        while marks and marks[0][0] <= place:
            at, what = marks.pop(0)
            if what == "end":
                events.extend((at, -1 - block) for block in sorted(here))
                here, away = set(), away | here
            elif what == "optimizer":
                events.extend((at, block) for block in sorted(away))
                here, away = here | away, set()

    for place, event in story.events:
        move(place)
        block = event if event >= 0 else -1 - event
        if story.roles[block] == "state":
            if event < 0 and block in away:
                away.discard(block)
                continue
            (here.add if event >= 0 else here.discard)(block)
        events.append((place, event))
    move(len(story.program.events))
    return Story(story.program, story.sizes, story.roles, events)


def _release_gradients(program: Program) -> Lever:
    return Lever(
        "optimizer on the way back",
        "gradient",
        "release",
        _gradients_at_once,
        0.0,
        "each is used and given back where it is made; not with gradients that are clipped or summed over batches",
        (
            "# with the learning rate and so on that yours has",
            f"optimizers = {{p: {program.optimizer_class}([p]) for p in {program.model}.parameters()}}",
            "",
            "def update(p):",
            "    optimizers[p].step()",
            "    optimizers[p].zero_grad()",
            "",
            f"for p in {program.model}.parameters():",
            f"    p.register_post_accumulate_grad_hook(update)  # and no {program.optimizer}.step() any more",
        ),
    )


def _gradients_at_once(story: Story) -> Story:
    """Gradients go with the next event after they were made, and the optimizer makes nothing that large."""
    temporaries = set(_temporaries_of_optimizer(story))
    events: list[tuple[int, int]] = []
    waiting: list[int] = []
    for place, event in story.events:
        block = event if event >= 0 else -1 - event
        gone = story.roles[block] == "gradient" and event < 0
        if gone or block in temporaries:
            continue
        events.append((place, event))
        events += [(place, -1 - each) for each in waiting]
        waiting = [block] if story.roles[block] == "gradient" else []
    return Story(story.program, story.sizes, story.roles, events)


def _temporaries_of_optimizer(story: Story) -> list[int]:
    return [
        event
        for place, event in story.events
        if event >= 0 and story.roles[event] == "temporary" and story.program.phase(place) == _OPTIMIZER
    ]


def _fuse_optimizer(program: Program) -> Lever:
    return Lever(
        "fused optimizer",
        "temporary",
        "fuse",
        _without_temporaries,
        0.0,
        "one kernel in place of several over all parameters, which need room for results in between",
        (
            "# with the learning rate and so on that yours has",
            f"{program.optimizer} = {program.optimizer_class}({program.model}.parameters(), fused=True)",
        ),
    )


def _without_temporaries(story: Story) -> Story:
    gone = set(_temporaries_of_optimizer(story))
    events = [(place, event) for place, event in story.events if (event if event >= 0 else -1 - event) not in gone]
    return Story(story.program, story.sizes, story.roles, events)
