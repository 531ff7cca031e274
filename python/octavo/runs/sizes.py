"""Sizes as scenarios write them."""

from __future__ import annotations

import re

from octavo.errors import OutputError

_UNITS = {"": 1, "B": 1, "KiB": 1 << 10, "MiB": 1 << 20, "GiB": 1 << 30, "KB": 1000, "MB": 10**6, "GB": 10**9}


def size(text: str) -> int:
    """Bytes of a quantity as scenarios write it, such as `64KiB`."""
    match = re.fullmatch(r"(\d+)\s*([A-Za-z]*)", text)
    if match is None or match[2] not in _UNITS:
        raise OutputError(f"expected a size with its unit such as `4KiB`, found `{text}`")
    return int(match[1]) * _UNITS[match[2]]
