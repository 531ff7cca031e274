"""Search for the best point instead of trying all: Optuna's tree-structured Parzen estimator.

Trials are requested in generations of a fixed size and reported in order. So the trials depend only on the seed, never
on where they ran or how many ran side by side. A search that was stopped requests the same trials again and finds their
results in its folder, so Optuna's state need not be stored.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from octavo.errors import OctavoError, ScenarioError
from octavo.plain import meant
from octavo.sweeps.axes import Axis, Range, Values

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

GENERATION = 8
"""Trials in a generation: as many as can run side by side without changing the later ones."""

DIRECTIONS = ("minimize", "maximize")
DEFAULT_TRIALS = 32


@dataclass(frozen=True)
class Goal:
    """What is searched for."""

    metric: str
    """A measure of the table."""
    trials: int
    direction: str = "minimize"

    def described(self) -> dict[str, Any]:
        """What distinguishes one search from another; more trials only extend it."""
        return {"metric": self.metric, "direction": self.direction, "optuna": _imported().__version__}


def search(axes: Sequence[Axis], goal: Goal, seed: int, run: Callable[[list[Values]], list[float | None]]) -> None:
    """Request trials and report the results of `run`: the metric of each, or None for a failed one."""
    optuna = _imported()
    optuna.logging.set_verbosity(optuna.logging.WARNING)
    study = optuna.create_study(direction=goal.direction, sampler=optuna.samplers.TPESampler(seed=seed))
    asked = 0
    while asked < goal.trials:
        trials = [study.ask() for _ in range(min(GENERATION, goal.trials - asked))]
        asked += len(trials)
        found = run([_values(axes, trial) for trial in trials])
        for trial, value in zip(trials, found, strict=True):
            failed = optuna.trial.TrialState.FAIL
            study.tell(trial, value, state=failed if value is None else None)


def _values(axes: Sequence[Axis], trial: Any) -> Values:
    values: Values = {}
    for axis in axes:
        values |= _suggested(axis, trial)
    return values


def _suggested(axis: Axis, trial: Any) -> Values:
    if not isinstance(axis, Range):
        return axis.values(trial.suggest_categorical(" ".join(axis.keys), range(len(axis.steps))))
    if axis.whole:
        return axis.value(trial.suggest_int(axis.key, axis.low, axis.high, log=axis.log))
    return axis.value(trial.suggest_float(axis.key, axis.low, axis.high, log=axis.log))


def _imported() -> Any:
    try:
        import optuna  # noqa: PLC0415 - an extra
    except ImportError:
        raise SearchError(
            "Optuna is not installed",
            "install it with `pip install 'octavo[search]'`",
            code="not-installed",
            key="Optuna",
        ) from None
    return optuna


class SearchError(OctavoError):
    """A search that cannot be made."""

    exit_code = 2


def check(goal: Goal, known: Sequence[str]) -> None:
    """Refuse sweeps that cannot be searched.

    Raises:
        ScenarioError: the metric or the direction is unknown.

    """
    asked = (("best", "measure", goal.metric, known), ("direction", "direction", goal.direction, DIRECTIONS))
    for option, kind, found, names in asked:
        if found not in names:
            raise ScenarioError(f"--{option}: unknown {kind} `{found}`", meant(found, names), key=option)
