"""Advice as `octavo advise` prints it."""

from __future__ import annotations

from enum import Enum
from typing import TYPE_CHECKING, Any

from octavo.advice import actions, shown, words

if TYPE_CHECKING:
    from octavo.advice.answer import Advice
    from octavo.advice.facts import Fact
    from octavo.cli.sink import Sink

_SHOWN = 10
"""Placements that are shown of an exhaustive search; all are in the folder."""


class Library(Enum):
    """For what actions are written."""

    cuda = "cuda"
    rmm = "rmm"
    pytorch = "pytorch"


def show(sink: Sink, advice: Advice, library: Library, *, facts: bool) -> None:
    """Where each buffer should lie, what was found by runs, and what to write."""
    title = f"{advice.name} on {advice.constants.name}"
    sink.table(title, shown.COLUMNS, shown.rows(advice.plan))
    for note in advice.notes:
        sink.tell(f"Note: {note}")
    if not advice.plan.exact:
        sink.tell("Note: there are too many buffers to be sure that no other choice fits the budget better")
    sink.tell(f"Predicted gain: {words.seconds(advice.plan.gain.value)} ({shown.between(advice.plan.gain)})")
    if advice.found is not None:
        found = advice.found
        times = f"{words.seconds(found.present)} now, {words.seconds(found.advised)} as advised"
        sink.tell(
            f"Found by simulating both: {words.seconds(found.gain)} ({times}, {found.present / found.advised:.2f}x)"
        )
    _show_by_line(sink, advice)
    _show_phases(sink, advice)
    _show_all(sink, advice)
    _show_actions(sink, advice, library)
    if facts:
        _show_facts(sink, advice)


def _show_by_line(sink: Sink, advice: Advice) -> None:
    """What a joined profile tells of the allocations of each line of the program."""
    known = [each.buffer for each in advice.plan.buffers if each.buffer.facts["sigma"].certainty == "recorded"]
    if advice.recording is None or not known:
        return
    page = advice.constants.system.page
    rows = []
    for buffer in known:
        told = {name: fact.value for name, fact in buffer.facts.items()}
        pages = -(-buffer.size // page)
        counts = f"{told['faults']:,.0f}", f"{told['faults'] / pages:.2f}", f"{told.get('migrations', 0.0):,.0f}"
        shares = f"{told['sigma']:.2f}", f"{told['rho']:.2f}"
        rows.append([buffer.name, words.size(buffer.size), *counts, words.size(round(told["returned"])), *shares])
    columns = ["allocated at", "size", "faults", "a page", "pages migrated", "came back", "sigma", "rho"]
    sink.table("What the profile tells by the line that allocated", columns, rows)


def _show_phases(sink: Sink, advice: Advice) -> None:
    found = advice.by_phase
    if found is None:
        return
    rows = [
        [str(move.phase), move.before, move.buffer, move.to, words.seconds(move.gain.value), shown.between(move.gain)]
        for move in found.moves
    ]
    sink.table(
        f"Prefetches of managed memory, before {len(found.phases)} phases of kernels and of the host",
        ["phase", "before", "buffer", "to", "gain", "between"],
        rows,
    )
    changed = [name for name, place in found.placements.items() if place != advice.placements[name]]
    if changed:
        sink.tell(f"With them, managed memory is the better place of {', '.join(changed)}")
    if advice.found is not None and advice.found_by_phase is not None:
        gain = words.seconds(advice.found.advised - advice.found_by_phase)
        sink.tell(f"Found by simulating them: {words.seconds(advice.found_by_phase)}, {gain} less than as advised")
    for move in found.moves:
        sink.say(f"  {move.action}")


def _show_all(sink: Sink, advice: Advice) -> None:
    if advice.exhausted is None:
        return
    points = advice.exhausted.points
    shown = points.with_row_index("rank", 1)
    shown = shown.filter((shown["rank"] <= _SHOWN) | shown["is_advice"] | shown["is_present"])
    rows = [
        [
            str(row["rank"]),
            row["placements"],
            _time(row),
            "–" if row["regret"] is None else f"{row['regret']:.3f}",
            words.size(row["device_bytes"]),
            " and ".join([name for name in ("advice", "present") if row[f"is_{name}"]]),
        ]
        for row in shown.to_dicts()
    ]
    title = f"{points.height} placements that fit (d device, m managed, p pinned, in the order of the buffers)"
    sink.table(title, ["rank", "placements", "time", "regret", "device", ""], rows)
    given_up = points["seconds"].null_count()
    if given_up:
        sink.tell(f"Given up, as they take longer than the fastest: {given_up}")
    sink.tell(f"Regret of the advice: {advice.exhausted.regret:.1%}")


def _time(row: dict[str, Any]) -> str:
    """Seconds, or more than what is known of a run that was given up."""
    return f"> {words.seconds(row['at_least'])}" if row["seconds"] is None else words.seconds(row["seconds"])


def _show_actions(sink: Sink, advice: Advice, library: Library) -> None:
    changed = [each for each in advice.plan.buffers if each.placement != each.buffer.present]
    sink.say("What to write:" if changed else "Nothing needs to change.")
    for each in changed:
        for line in actions.of(each.buffer, each.placement)[library.value]:
            sink.say(f"  {line}")


def _between(fact: Fact) -> str:
    return f"{fact.low:.4g} to {fact.high:.4g}" if fact.low != fact.high else "–"


def _show_facts(sink: Sink, advice: Advice) -> None:
    """What is known of the buffers and the machine, from where."""
    rows = [
        [each.buffer.name, name, f"{fact.value:.4g}", _between(fact), fact.certainty, fact.where]
        for each in advice.plan.buffers
        for name, fact in each.buffer.facts.items()
    ]
    sink.table("What is known of the buffers", ["buffer", "fact", "value", "between", "how", "from"], rows)
    system, origins = advice.constants.system, advice.constants.origins
    constants = [
        [name, f"{value:.4g}", origins[constant].certainty, origins[constant].where]
        for constant, name, value in system.told()
    ]
    sink.table("What is known of the machine", ["constant", "value", "how", "from"], constants)
