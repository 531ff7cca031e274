"""What publications say, a file for each study: beside ours when results are shown, and never an input of a run."""

from __future__ import annotations

import json
from functools import cache
from importlib.resources import files
from typing import Any


@cache
def published(study: str) -> Any:
    """Return what `octavo_studies/STUDY/published.json` holds: `source`, what each key is (`about`), and the keys."""
    return json.loads(files("octavo_studies").joinpath(study, "published.json").read_text(encoding="utf-8"))
