"""Sizes as people write them."""

from __future__ import annotations

import re

from octavo.errors import AdviceError

_MULTIPLES: dict[str, int] = {"": 1}
for _power, _prefix in enumerate("KMGT", 1):
    _MULTIPLES |= {_prefix: 10 ** (3 * _power), f"{_prefix}i": 1 << (10 * _power)}


_LARGEST = 1 << 63
"""Bytes that no size reaches."""


def size_of(text: str) -> int:
    """Bytes of a size such as `40GB` or `1.5MiB`.

    Raises:
        AdviceError: it is none, or beyond what can be counted.

    """
    match = re.fullmatch(r"\s*([0-9]+(?:_[0-9]+)*(?:\.[0-9]+)?)\s*([KMGT]?i?)B\s*", text)
    if match is None or match[2] not in _MULTIPLES:
        raise AdviceError(f"--budget: expected a size such as 40GB or 512MiB, found {text}")
    size = float(match[1]) * _MULTIPLES[match[2]]
    if size >= _LARGEST:
        raise AdviceError(f"--budget: expected less than 2^63 B, found {text}")
    return round(size)
