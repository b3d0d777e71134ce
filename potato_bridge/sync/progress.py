"""How long runs tell how far they are."""

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from typing import TypeAlias

#: Takes how many more are done.
Advance: TypeAlias = Callable[[int], object]
#: Opens one stage: what is done, and of how many (None: unknown).
Progress: TypeAlias = Callable[[str, int | None], AbstractContextManager[Advance]]


@contextmanager
def silent(what: str, total: int | None = None) -> Iterator[Advance]:
    """Tells nothing."""
    yield lambda advance: None
