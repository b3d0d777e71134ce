"""What makes one JSON value of another: small where they are alike, itself JSON, and told by type (1 is not true)."""

from typing import Any


class MisfitError(Exception):
    """A difference was not made for the value that it is applied to."""


def difference(old: Any, new: Any) -> dict[str, Any]:
    """What makes `new` of `old`; empty where they are equal.

    Keys: `is` (another value); of objects `set`, `in` (differences of values) and `drop`; of lists `in` (by position),
    `cut` (the new length) and `add` (at the end).
    """
    if old is new:
        return {}
    if isinstance(old, dict) and isinstance(new, dict):
        return _of_objects(old, new)
    if isinstance(old, list) and isinstance(new, list):
        return _of_lists(old, new)
    return {} if type(old) is type(new) and old == new else {"is": new}


def _of_objects(old: dict[str, Any], new: dict[str, Any]) -> dict[str, Any]:
    given: dict[str, Any] = {}
    inner: dict[str, Any] = {}
    for key, value in new.items():
        if key not in old:
            given[key] = value
        elif found := difference(old[key], value):
            if "is" in found:
                given[key] = value
            else:
                inner[key] = found
    parts = {"set": given, "in": inner, "drop": [key for key in old if key not in new]}
    return {key: part for key, part in parts.items() if part}


def _of_lists(old: list[Any], new: list[Any]) -> dict[str, Any]:
    inner: dict[str, Any] = {}
    for position, (before, after) in enumerate(zip(old, new, strict=False)):
        if found := difference(before, after):
            inner[str(position)] = found
    made: dict[str, Any] = {"in": inner} if inner else {}
    if len(new) < len(old):
        made["cut"] = len(new)
    elif len(new) > len(old):
        made["add"] = new[len(old) :]
    return made


def patched(old: Any, change: Any) -> Any:
    """The value that `difference` was made for; `old` stays as it is.

    Raises:
        MisfitError: It does not fit.
    """
    if not isinstance(change, dict):
        raise MisfitError("a difference is an object")
    if "is" in change:
        return change["is"]
    if not change:
        return old
    inner = change.get("in", {})
    if not isinstance(inner, dict):
        raise MisfitError("`in` is an object")
    if isinstance(old, dict):
        given, dropped = change.get("set", {}), change.get("drop", [])
        if not isinstance(given, dict) or not isinstance(dropped, list):
            raise MisfitError("`set` is an object, `drop` a list")
        made = {key: value for key, value in old.items() if key not in dropped}
        for key, one in inner.items():
            if key not in made:
                raise MisfitError(f"there is no {key!r}")
            made[key] = patched(made[key], one)
        return made | given
    if isinstance(old, list):
        length, added = change.get("cut", len(old)), change.get("add", [])
        if not isinstance(length, int) or not isinstance(added, list):
            raise MisfitError("`cut` is a number, `add` a list")
        entries = old[: max(length, 0)]
        for key, one in inner.items():
            if not (key.isascii() and key.isdecimal()) or len(key) > 9 or int(key) >= len(entries):
                raise MisfitError(f"there is no entry {key!r}")
            entries[int(key)] = patched(entries[int(key)], one)
        return entries + added
    raise MisfitError("there is neither an object nor a list")
