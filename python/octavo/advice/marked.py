"""JSON documents that say by a key of their own what they are."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from octavo.errors import AdviceError
from octavo.files.text import read_bytes

if TYPE_CHECKING:
    from pathlib import Path

_MOST_BYTES = 1 << 30
"""Chosen: a recording of a long program has a hundredth of it."""


def read(path: Path, key: str, what: str, hint: str | None = None) -> dict[str, Any]:
    """A document with a key; `what` names it in messages, and `hint` says how to get one.

    Raises:
        AdviceError: it cannot be read, is no JSON, or has no such key.

    """
    try:
        found = json.loads(read_bytes(path, what, _MOST_BYTES))
    except OSError as error:
        raise AdviceError(f"cannot read {path}: {error.strerror}") from None
    except (ValueError, RecursionError) as error:
        raise AdviceError(f"{path}: expected {what}, found no JSON ({error})") from None
    if not isinstance(found, dict) or key not in found:
        raise AdviceError(f"{path}: expected {what}, found no key `{key}`", hint)
    return found
