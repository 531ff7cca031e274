"""The standard output of a process of ours that answers another: nothing else may print there."""

from __future__ import annotations

import os
from typing import TextIO


def private_output() -> TextIO:
    """Standard output for answers alone: what policies print goes to standard error from now on."""
    answers = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)
    return answers
