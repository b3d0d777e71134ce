"""What ATIF has no field for, in `extra.potato_bridge` of a trajectory and of each of its steps.

There stands how the trace (or the step) differs from what a plain reading of the rest gives, so that nothing is said
twice. A digest of the rest tells whether another program has changed it since: then a plain reading says more.
"""

import hashlib
import json
from collections.abc import Mapping
from typing import Any, TypeVar

from potato_bridge.converters.traces._difference import MisfitError, difference, patched
from potato_bridge.errors import InputError
from potato_bridge.model.node import Node, from_builtins, to_builtins

KEY = "potato_bridge"
N = TypeVar("N", bound=Node)

#: What another program may change without harm: notes and extras of its own. Steps and sub-agents have digests.
_APART = ("steps", "subagent_trajectories", "extra", "notes")
#: Where a null is a value, and not a field that is not there.
_VERBATIM = ("arguments", "extra")


def extra_of(value: Mapping[str, Any]) -> dict[str, Any] | None:
    """The bridge's part of the `extra` of a document or a step; None where there is none."""
    extra = value.get("extra")
    found = extra.get(KEY) if isinstance(extra, dict) else None
    return found if isinstance(found, dict) else None


def without(value: Mapping[str, Any]) -> dict[str, Any]:
    """A document or a step without it."""
    extra = value.get("extra")
    if not isinstance(extra, dict) or KEY not in extra:
        return dict(value)
    rest = {key: one for key, one in extra.items() if key != KEY}
    made = {key: one for key, one in value.items() if key != "extra"}
    return made | {"extra": rest} if rest else made


def keep(value: dict[str, Any], plain: Node, real: dict[str, Any], **more: Any) -> None:
    """Puts into a document or a step how the real node differs from the plain one.

    Args:
        value: The document or the step, which gets it.
        plain: What a plain reading of it gives.
        real: The real node, as JSON values.
        more: What else is kept with it.
    """
    own: dict[str, Any] = {"differs": difference(_builtins(plain), {"extra": {}} | real), **more}
    value["extra"] = {**value.get("extra", {}), KEY: own}
    own["digest"] = _digest(value, own)


def restored(value: Mapping[str, Any], kept: Mapping[str, Any], plain: N) -> N | None:
    """The real node; None where the rest has changed since, or what is kept does not fit.

    Args:
        value: The document or the step.
        kept: The bridge's part of its extra.
        plain: What a plain reading of it gives.
    """
    try:
        if kept.get("digest") != _digest(value, kept):
            return None
        return from_builtins(type(plain), patched(_builtins(plain), kept.get("differs")))
    except (MisfitError, InputError, RecursionError, ValueError):
        return None


def _builtins(node: Node) -> dict[str, Any]:
    # With an extra also where it is empty, so that what another program adds to it since is not covered.
    made: dict[str, Any] = {"extra": {}} | to_builtins(node)
    return made


def _digest(value: Mapping[str, Any], kept: Mapping[str, Any]) -> str:
    rest = {key: one for key, one in value.items() if key not in _APART}
    own = {key: one for key, one in kept.items() if key != "digest"}
    # Other programs order keys anew, and write null for what is not there.
    text = json.dumps([_present(rest), own], sort_keys=True, ensure_ascii=True)
    return hashlib.sha256(text.encode()).hexdigest()[:16]


def _present(value: Any) -> Any:
    if isinstance(value, list):
        return [_present(one) for one in value]
    if isinstance(value, dict):
        return {key: one if key in _VERBATIM else _present(one) for key, one in value.items() if one is not None}
    return value
