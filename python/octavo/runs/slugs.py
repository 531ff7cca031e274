"""Labels as file names."""

from __future__ import annotations

import re
from collections import Counter
from typing import TYPE_CHECKING

from octavo.files.digest import of_text

if TYPE_CHECKING:
    from collections.abc import Iterable


def slug(label: str) -> str:
    """A label as a file name that is neither hidden nor `.` or `..`."""
    return re.sub(r"[^\w.+-]+", "-", label).strip("-").lstrip(".-") or _mark(label)


def slugs(labels: Iterable[str]) -> dict[str, str]:
    """File names of labels, by label; names that would be equal end in a hash of their labels."""
    found = {label: slug(label) for label in labels}
    count = Counter(found.values())
    return {label: name if count[name] == 1 else f"{name}-{_mark(label)}" for label, name in found.items()}


def _mark(label: str) -> str:
    return of_text(label)[:8]
