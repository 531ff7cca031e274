"""The engine, as far as traces need it."""

from __future__ import annotations

from typing import Any

import octavo._core as _core
from octavo.errors import InterruptedRun, TraceError, of_engine


def call(function: Any, *arguments: Any) -> Any:
    """Call the engine; what it refuses is a `TraceError`."""
    try:
        return function(*arguments)
    except _core.TraceError as error:
        raise of_engine(error, TraceError) from None
    except _core.Interrupted as error:
        raise InterruptedRun(error.args[0]) from None
    except (OverflowError, TypeError) as error:
        raise TraceError(f"a value does not fit its column: {error}") from None
