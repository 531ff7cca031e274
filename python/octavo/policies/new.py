"""Templates of policies, with the user's names."""

from __future__ import annotations

import re
from importlib.resources import files
from typing import TYPE_CHECKING

from octavo.errors import ScenarioError

if TYPE_CHECKING:
    from pathlib import Path


def template(kind: str, path: Path) -> str:
    """The text of a new policy in a file; the class takes the file's name, `my_policy.py` holds `MyPolicy`.

    Args:
        kind: `placement`, `prefetch`, `eviction`, `demotion`, `sharing` or `guard`.
        path: where it will be written; ends in `.py`.

    Raises:
        ScenarioError: the path does not end in `.py`, as that of a policy must.

    """
    if path.suffix != ".py":
        raise ScenarioError(
            f"{path} cannot hold a policy: expected a file that ends in .py", code="unexpected-value", file=path
        )
    text = (files("octavo.policies.templates") / f"{kind}.py").read_text(encoding="utf-8")
    return text.replace("MyPolicy", class_name(path.stem)).replace("my_policy.py", str(path))


def class_name(stem: str) -> str:
    """The name of the class in a file: `my_policy` holds `MyPolicy`."""
    words = re.findall(r"[A-Za-z0-9]+", stem)
    name = "".join(word[0].upper() + word[1:] for word in words)
    return name if name.isidentifier() else f"Policy{name}"
