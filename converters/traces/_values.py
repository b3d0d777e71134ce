"""Values of records that other programs wrote: what is not of the kind that it should be counts as not there."""

from collections.abc import Mapping
from typing import Any


def string_of(values: Mapping[str, Any], key: str) -> str | None:
    """A text; None where there is none."""
    value = values.get(key)
    return value if isinstance(value, str) else None


def count_of(values: Mapping[str, Any], key: str, least: int = 0) -> int | None:
    """A whole number that is not less; None where there is none."""
    value = values.get(key)
    return value if isinstance(value, int) and not isinstance(value, bool) and value >= least else None


def dict_of(values: Mapping[str, Any], key: str) -> dict[str, Any]:
    """An object; an empty one where there is none."""
    value = values.get(key)
    return value if isinstance(value, dict) else {}
