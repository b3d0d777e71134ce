"""Values of records that other programs wrote: what is not of the kind that it should be counts as not there."""

from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any


def string_of(values: Mapping[str, Any], key: str) -> str | None:
    """A text; None where there is none."""
    value = values.get(key)
    return value if isinstance(value, str) else None


def count_of(values: Mapping[str, Any], key: str, least: int = 0) -> int | None:
    """A whole number that is not less, nor of more than 63 bits; None where there is none."""
    value = values.get(key)
    return value if isinstance(value, int) and not isinstance(value, bool) and least <= value < 1 << 63 else None


def number_of(value: Any) -> float | None:
    """A number, such as a cost; None where it is none, or none that a float holds."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    try:
        return float(value)
    except OverflowError:
        return None


def millis_of(seconds: Any, nanos: Any = 0) -> float | None:
    """A duration in milliseconds; None where the parts are no numbers, or none that a float holds."""
    whole, rest = number_of(seconds), number_of(nanos)
    return None if whole is None or rest is None else whole * 1000.0 + rest / 1e6


def dict_of(values: Mapping[str, Any], key: str) -> dict[str, Any]:
    """An object; an empty one where there is none."""
    value = values.get(key)
    return value if isinstance(value, dict) else {}


def epoch_of(value: Any) -> str | None:
    """A time in milliseconds since 1970, as RFC 3339; None where it is none, or none of a calendar's."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    try:
        at = datetime.fromtimestamp(value / 1000, UTC)
    except (OverflowError, OSError, ValueError):
        return None
    return at.isoformat(timespec="milliseconds").replace("+00:00", "Z")
