"""From a part of the tape to a step that can follow itself."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from .marks import Part
    from .tape import Event, Tape


def step(tape: Tape, part: Part, leave_out: set[int]) -> dict[str, Any]:
    """Tensors with roles, and operators with what each makes and gives back, but for some tensors."""
    operators, freed = _operators(_without(part.events, leave_out))
    made = {number: index for index, one in enumerate(operators) for number in one["allocates"]}
    touched = {operand[0] for one in operators for operand in (*one["reads"], *one["writes"])} | set(made)
    written = {operand[0] for one in operators for operand in one["writes"]}
    same = _carried(tape, operators, part, made, freed, touched)
    kept = [number for number in sorted(touched) if number not in same]
    place = {number: index for index, number in enumerate(kept)}
    place |= {old: place[new] for old, new in same.items()}

    def role(number: int) -> str:
        if number in made:
            return "temporary"
        if number in tape.parameters:
            return "parameter"
        return "state" if number in written else "input"

    for one in operators:
        one["reads"] = [(place[number], *rest) for number, *rest in one["reads"]]
        one["writes"] = [(place[number], *rest) for number, *rest in one["writes"]]
        one["allocates"] = [place[number] for number in one["allocates"]]
        # Of what was there before, only what the step makes anew is given back.
        one["frees"] = [place[number] for number in one["frees"] if number in made or number in same]
    return {
        "parameters": sum(elements for number, elements in tape.parameters.items() if number in touched),
        "tensors": [(role(number), tape.sizes[number]) for number in kept],
        "operators": operators,
    }


def _without(events: list[Event], leave_out: set[int]) -> list[Event]:
    """Events without tensors, and without what touches no others."""
    if not leave_out:
        return events
    found: list[Event] = []
    for event in events:
        if event[0] == "free":
            found.extend([event] if event[1] not in leave_out else [])
            continue
        what, name, flops, reads, writes, made = event
        reads, writes = ([one for one in touched if one[0] not in leave_out] for touched in (reads, writes))
        made = [one for one in made if one not in leave_out]
        if reads or writes or made:
            found.append((what, name, flops, reads, writes, made))
    return found


def _operators(events: list[Event]) -> tuple[list[dict[str, Any]], dict[int, int]]:
    """Operators with what is given back before each, and before which each tensor is."""
    operators: list[dict[str, Any]] = []
    freed: dict[int, int] = {}
    frees: list[int] = []
    for event in events:
        if event[0] == "free":
            frees.append(event[1])
            continue
        _, name, flops, reads, writes, made = event
        freed |= dict.fromkeys(frees, len(operators))
        operators.append(
            {"name": name, "flops": flops, "reads": reads, "writes": writes, "allocates": made, "frees": frees}
        )
        frees = []
    return operators, freed


def _carried(
    tape: Tape,
    operators: list[dict[str, Any]],
    part: Part,
    made: dict[int, int],
    freed: dict[int, int],
    touched: set[int],
) -> dict[int, int]:
    """Tensors of the previous step, and tensors of this step that take their place in the next.

    A gradient, for example, is given back when the next step begins, and another of its size is made later.
    """
    left = [number for one in operators for number in one["allocates"] if number not in freed]
    same = {}
    for old in sorted(number for number in part.before & set(freed) if number in touched or tape.sizes[number]):
        fitting = (new for new in left if tape.sizes[new] == tape.sizes[old] and freed[old] <= made[new])
        new = next(fitting, None)
        if new is not None:
            same[old] = new
            left.remove(new)
    return same
