"""Times as servers write them: RFC 3339, with and without a fraction of a second, which do not sort as text."""

from datetime import UTC, datetime, timedelta

#: Label Studio's filters take this form only.
_FILTER_FORM = "%Y-%m-%dT%H:%M:%S.%fZ"


def instant(text: str) -> datetime:
    """The moment that a time names; one without an offset is UTC.

    Raises:
        ValueError: Not a time.
    """
    moment = datetime.fromisoformat(text)
    return moment.astimezone(UTC) if moment.tzinfo else moment.replace(tzinfo=UTC)


def is_after(text: str, other: str) -> bool:
    """Whether a time is later than another one; any time is later than none ("")."""
    return bool(text) and (not other or instant(text) > instant(other))


def for_filter(text: str, earlier: float = 0.0) -> str:
    """The time some seconds earlier, as a filter takes it."""
    return (instant(text) - timedelta(seconds=earlier)).strftime(_FILTER_FORM)
