"""Which part of a program is its step.

In this order:

- the last that the program marked with `with torch.profiler.record_function("octavo-step"):`;
- the last from the end of one `optimizer.step()` to the end of the next; the first begins with the model's first call;
- the last call of a model.
"""

from __future__ import annotations

import functools
import types
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import torch

if TYPE_CHECKING:
    from collections.abc import Callable

    from .tape import Event, Tape

MARK = "octavo-step"


class EnoughError(BaseException):
    """Enough steps are recorded: the program may end. Programs that catch `Exception` do not catch it."""


@dataclass
class Part:
    """A part of the tape, and what was there when it began."""

    events: list[Event]
    before: set[int]


class Marks:
    """Watches where steps begin and end."""

    def __init__(self, tape: Tape, most_steps: int | None = None) -> None:
        self._tape = tape
        self._most_steps = most_steps
        self._names: dict[int, str] = {}
        """Names of modules within the model that was called last."""
        self.model: Any = None
        """The model that was called last."""
        self.optimizer: Any = None
        """The optimizer that stepped last."""
        self._found: dict[str, Part] = {}
        self._begun: dict[str, tuple[int, set[int]]] = {}
        self._depth = 0
        self._watch_marks()
        self._watch_optimizers()
        self._watch_models()

    def step(self) -> Part | None:
        """The step, if there was one."""
        return next((self._found[how] for how in ("marked", "training", "call") if how in self._found), None)

    def _begin(self, how: str) -> None:
        before = self._tape.alive()
        if not self._begun:
            # Nothing that was is part of a step any more.
            self._tape.events.clear()
        self._begun[how] = (len(self._tape.events), before)

    def _end(self, how: str) -> None:
        start, before = self._begun.pop(how)
        # The last one counts; what dies with the end of a step, the next event would tell.
        self._found[how] = Part(self._tape.events[start:], before)

    def _watch_marks(self) -> None:
        record = torch.autograd.profiler.record_function
        prepare, enter, leave = record.__init__, record.__enter__, record.__exit__

        def prepared(this: Any, *args: Any, **kwargs: Any) -> None:
            # Some versions make a tensor for each range.
            self._tape.quiet = True
            prepare(this, *args, **kwargs)
            self._tape.quiet = False

        def entered(this: Any) -> Any:
            if this.name == MARK:
                self._begin("marked")
            return enter(this)

        def left(this: Any, *args: Any) -> Any:
            if this.name == MARK and "marked" in self._begun:
                self._end("marked")
            return leave(this, *args)

        record.__init__, record.__enter__, record.__exit__ = prepared, entered, left

    def _watch_optimizers(self) -> None:
        prepare = torch.optim.Optimizer.__init__

        @functools.wraps(prepare)
        def prepared(optimizer: Any, *args: Any, **kwargs: Any) -> None:
            prepare(optimizer, *args, **kwargs)
            optimizer.step = types.MethodType(self._stepping(optimizer.step), optimizer)

        torch.optim.Optimizer.__init__ = prepared

    def _stepping(self, step: Callable[..., Any]) -> Callable[..., Any]:
        # Schedulers look at the names of what they wrap.
        @functools.wraps(step)
        def stepped(optimizer: Any, *args: Any, **kwargs: Any) -> Any:
            if "training" not in self._begun:
                self._begin("training")
            self.optimizer = optimizer
            self._tape.note_gradients(optimizer)
            result = step(*args, **kwargs)
            self._tape.note_state(optimizer)
            self._end("training")
            self._begin("training")
            if self._most_steps is not None and self._tape.history.steps >= self._most_steps:
                raise EnoughError
            return result

        return stepped

    def _watch_models(self) -> None:
        call = torch.nn.Module.__call__

        def called(module: Any, *args: Any, **kwargs: Any) -> Any:
            if self._tape.history.thread:
                return call(module, *args, **kwargs)  # recomputed on the way back
            if self._depth == 0:
                self._begin("call")
                if "training" not in self._begun:
                    self._begin("training")
                self.model = module
                self._names = {id(one): name for name, one in module.named_modules()}
            self._depth += 1
            span = self._tape.history.enter(self._names.get(id(module), ""), type(module).__name__)
            try:
                return call(module, *args, **kwargs)
            finally:
                self._tape.history.leave(span)
                self._depth -= 1
                if self._depth == 0:
                    self._end("call")

        torch.nn.Module.__call__ = called
