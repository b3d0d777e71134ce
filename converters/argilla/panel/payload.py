"""Cards and their parts as JSON for the panel: what is empty is left out, texts are what every backend can show."""

from collections.abc import Iterable
from dataclasses import fields, is_dataclass
from typing import Any

from potato_bridge.converters.view.text import storable


def to_plain(value: Any) -> Any:
    """A dataclass of `converters.view.parts` as JSON: its fields, and `kind` where it has one."""
    if isinstance(value, str):
        return storable(value)
    if isinstance(value, list | tuple):
        return [to_plain(one) for one in value]
    if not is_dataclass(value) or isinstance(value, type):
        return value
    plain: dict[str, Any] = {}
    if kind := getattr(value, "kind", None):
        plain["kind"] = kind
    for field in fields(value):
        found = getattr(value, field.name)
        # A number may be 0: step 0 is one.
        if found not in (None, "", False) and found != []:
            plain[field.name] = to_plain(found)
        elif found == 0 and type(found) is int:
            plain[field.name] = 0
    return plain


def plain_list(values: Iterable[Any]) -> list[Any]:
    """Several of them."""
    return [to_plain(value) for value in values]
