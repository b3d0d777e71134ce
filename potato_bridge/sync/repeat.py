"""Writes that do no harm when they are carried out twice."""

from collections.abc import Callable
from typing import TypeVar

from potato_bridge.errors import OutcomeUnknownError

T = TypeVar("T")


def repeatable(write: Callable[[], T]) -> T:
    """Sends what does no harm when it is carried out twice; once more where its outcome is not known."""
    try:
        return write()
    except OutcomeUnknownError:
        return write()
