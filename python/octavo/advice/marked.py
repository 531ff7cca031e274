"""JSON documents that say by a key of their own what they are."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from octavo.errors import AdviceError

if TYPE_CHECKING:
    from pathlib import Path


def read(path: Path, key: str, what: str, hint: str | None = None) -> dict[str, Any]:
    """A document with a key; `what` names it in messages, and `hint` says how to get one.

    Raises:
        AdviceError: it cannot be read, is no JSON, or has no such key.

    """
    try:
        found = json.loads(path.read_text())
    except (OSError, ValueError, RecursionError) as error:
        raise AdviceError(f"{path}: expected {what}, found no JSON ({error})") from None
    if not isinstance(found, dict) or key not in found:
        raise AdviceError(f"{path}: expected {what}, found no key `{key}`", hint)
    return found
