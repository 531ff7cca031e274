"""Advice as `octavo advise` prints it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from octavo import plain
from octavo.advice import answer, verification, words

if TYPE_CHECKING:
    from octavo.advice.answer import Advice
    from octavo.advice.facts import Fact
    from octavo.advice.verification import Candidate
    from octavo.advice.words import Library
    from octavo.cli.sink import Sink

_SHOWN = 10
"""How many placements of an exhaustive search are shown; the folder has all of them."""
_KEY = "d device, m managed, f prefetched, p pinned, in the order of the buffers"


def show(sink: Sink, advice: Advice, library: Library, *, facts: bool) -> None:
    """Where each buffer should be, what simulations found, and which calls to write."""
    title = f"{advice.name} on {advice.constants.name}"
    sink.table(title, answer.COLUMNS, answer.rows(advice.plan))
    for note in advice.told:
        sink.tell(f"Note: {note}")
    if not advice.plan.exact:
        sink.tell("Note: there are too many buffers to be sure that no other choice fits the budget better")
    sink.tell(f"Predicted gain: {plain.seconds(advice.plan.gain.value)} ({answer.between(advice.plan.gain)})")
    _show_found(sink, advice)
    _show_by_line(sink, advice)
    _show_all(sink, advice)
    _show_actions(sink, advice, library)
    if facts:
        _show_facts(sink, advice)


def _show_by_line(sink: Sink, advice: Advice) -> None:
    """Facts of a joined profile about the allocations of each line of the program."""
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
        rows.append([buffer.name, plain.size(buffer.size), *counts, plain.size(round(told["returned"])), *shares])
    columns = ["allocated at", "size", "faults", "a page", "pages migrated", "came back", "sigma", "rho"]
    sink.table("What the profile tells by the line that allocated", columns, rows)


def _show_found(sink: Sink, advice: Advice) -> None:
    """Results of simulating whole programs."""
    found = advice.found
    if found is None:
        return
    rows = [
        [
            verification.label(each.placements),
            "–" if each.predicted is None else plain.seconds(each.predicted),
            _time(each.seconds),
            _over(found.present, each.seconds),
            " and ".join(_roles(advice, each)),
        ]
        for each in found.candidates
    ]
    title = f"Whole programs, simulated ({_KEY})"
    sink.table(title, ["placements", "predicted gain", "time", "speed-up", ""], rows)
    if found.gain is not None:
        sink.tell(f"Found: {plain.seconds(found.gain)} ({_over(found.present, found.advised)})")


def _roles(advice: Advice, candidate: Candidate) -> list[str]:
    roles = {"present": advice.plan.present, "advice": advice.placements}
    return [role for role, placements in roles.items() if placements == candidate.placements]


def _time(seconds: float | None) -> str:
    return "does not fit" if seconds is None else plain.seconds(seconds)


def _over(present: float | None, seconds: float | None) -> str:
    """A speed-up over the present placement."""
    return "–" if present is None or not seconds else f"{present / seconds:.2f}x"


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
            _time(row["seconds"]),
            "–" if row["regret"] is None else f"{row['regret']:.3f}",
            plain.size(row["device_bytes"]),
            " and ".join([name for name in ("advice", "present") if row[f"is_{name}"]]),
        ]
        for row in shown.to_dicts()
    ]
    title = f"{points.height} placements that device memory has room for ({_KEY})"
    sink.table(title, ["rank", "placements", "time", "regret", "device", ""], rows)
    too_large = points["seconds"].null_count()
    if too_large:
        sink.tell(f"Do not fit into memory: {too_large}")
    regret = advice.exhausted.regret
    sink.tell("The advice does not fit into memory" if regret is None else f"Regret of the advice: {regret:.1%}")


def _show_actions(sink: Sink, advice: Advice, library: Library) -> None:
    known = [None] * len(advice.plan.buffers) if advice.recording is None else advice.recording.moves
    pairs = zip(advice.plan.buffers, known, strict=True)
    changed = [(each, moves) for each, moves in pairs if each.placement != each.buffer.present]
    sink.say("What to write:" if changed else "Nothing needs to change.")
    for each, moves in changed:
        lines = words.actions(each.buffer, each.placement)[library.value]
        if moves is not None and library is words.Library.cuda and each.placement == "prefetched":
            lines = words.moving(lines, each.buffer, moves)
        for line in lines:
            sink.say(f"  {line}")
    if changed and advice.recording is not None:
        program = " ".join(advice.recording.program) or "PROGRAM"
        sink.say(f"Or leave the source as it is: add -o advice, then octavo apply advice -- {program}")


def _between(fact: Fact) -> str:
    return f"{fact.low:.4g} to {fact.high:.4g}" if fact.low != fact.high else "–"


def _show_facts(sink: Sink, advice: Advice) -> None:
    """Facts about the buffers and the machine, and where they come from."""
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
