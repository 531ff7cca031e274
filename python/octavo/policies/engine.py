"""Calls from the engine into this package: resolving the choice of a policy, and building it for a run."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, cast

from octavo._core import OptionError
from octavo.policies import options
from octavo.policies.description import described
from octavo.policies.find import find

if TYPE_CHECKING:
    from collections.abc import Mapping

    from octavo._core import Node
    from octavo.policies.base import Policy
    from octavo.policies.find import Found
    from octavo.policies.options import Configurable


def resolve(kind: str, name: str, given: str) -> tuple[str, str]:
    """The full name of a policy, and its options with the digest of its source, as JSON in and out.

    A choice with a digest is resolved already: it stays unchanged, wherever its source has gone.

    Raises:
        OptionError: the policy cannot be found or used, or an option cannot.

    """
    values, digest = read(given)
    if digest is not None:
        return name, given
    found = described(kind, name)
    return found.name, json.dumps({**options.settled(found.options, values), "digest": found.digest})


def build(kind: str, name: str, given: str, node: Node) -> Policy:
    """A new policy with its options and its node set; `start` is not called yet.

    Raises:
        OptionError: as `resolve`, or its source is not what the digest is of.

    """
    values, digest = read(given)
    policy = cast("Policy", made(find(kind, name, digest), values))
    policy.node = node
    return policy


def made(found: Found, values: Mapping[str, object]) -> Configurable:
    """A new object of a class, with its options set.

    Raises:
        OptionError: an option cannot be used, or there can be no object.

    """
    settled = options.settled(options.declared(found.policy), values)
    try:
        own = found.policy()
    except Exception as error:
        raise OptionError("name", f"{found.name}: __init__ raised {type(error).__name__}: {error}") from error
    for key, value in settled.items():
        setattr(own, key, value)
    return own


def read(given: str) -> tuple[dict[str, Any], str | None]:
    """Options by name, and the digest beside them."""
    values: dict[str, Any] = json.loads(given)
    digest = values.pop("digest", None)
    if digest is not None and not isinstance(digest, str):
        raise OptionError("digest", f"expected text, found {digest}")
    return values, digest
