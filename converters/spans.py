"""Spans of an item's text, in code points, whoever asked for them."""

from collections.abc import Mapping
from itertools import accumulate
from typing import Any

from potato_bridge.converters.view.text import storable


def text_of(item: Mapping[str, Any], key: str) -> str:
    """The text of a field; empty where it is none."""
    value = item.get(key)
    return value if isinstance(value, str) else ""


def shown(text: str) -> str:
    """A text as annotators see it, of the same length: what cannot be stored is replaced, one for one."""
    return storable(text).replace("\r\n", " \n").replace("\r", "\n")


def units_before(text: str) -> list[int]:
    """Code units before each code point, and before the end."""
    return list(accumulate((2 if ord(char) > 0xFFFF else 1 for char in text), initial=0))
