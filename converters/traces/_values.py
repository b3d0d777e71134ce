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


def millis_of(seconds: Any, nanos: Any = 0) -> float | None:
    """A duration in milliseconds; None where the parts are no numbers, or none that a float holds."""
    if any(isinstance(part, bool) or not isinstance(part, int | float) for part in (seconds, nanos)):
        return None
    try:
        return float(seconds) * 1000.0 + float(nanos) / 1e6
    except OverflowError:
        return None


def dict_of(values: Mapping[str, Any], key: str) -> dict[str, Any]:
    """An object; an empty one where there is none."""
    value = values.get(key)
    return value if isinstance(value, dict) else {}
