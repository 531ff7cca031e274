"""Sizes as people write them."""

from __future__ import annotations

import re

from octavo.errors import AdviceError

_MULTIPLES: dict[str, int] = {"": 1}
for _power, _prefix in enumerate("KMGT", 1):
    _MULTIPLES |= {_prefix: 10 ** (3 * _power), f"{_prefix}i": 1 << (10 * _power)}


def size_of(text: str) -> int:
    """Bytes of a size such as `40GB` or `1.5MiB`.

    Raises:
        AdviceError: it is none.

    """
    match = re.fullmatch(r"\s*([0-9_]+(?:\.[0-9]+)?)\s*([KMGT]?i?)B\s*", text)
    if match is None or match[2] not in _MULTIPLES:
        raise AdviceError(f"--budget: expected a size such as 40GB or 512MiB, found {text}")
    return round(float(match[1]) * _MULTIPLES[match[2]])
