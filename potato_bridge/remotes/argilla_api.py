"""Argilla's API as typed values: what it sends is checked against what this version knows of it.

Times come without a zone and are UTC. An address outside the API is answered with a page and status 200, so that an
answer that is not JSON is an error.
"""

from collections.abc import Mapping
from typing import Any, Self, TypeVar

import httpx
import msgspec

from potato_bridge.errors import RemoteError
from potato_bridge.remotes.base import UnansweredError
from potato_bridge.remotes.failures import ARGILLA
from potato_bridge.remotes.http import Http, to_json

API = "/api/v1"
_TIMES = ("inserted_at", "updated_at", "last_activity_at")

T = TypeVar("T")


class ArgillaApi:
    """A connection to one Argilla server; `Argilla` says what can be done with it."""

    def __init__(self, url: str, api_key: str, *, transport: httpx.BaseTransport | None = None) -> None:
        self._http = Http(url, api_key, product=ARGILLA, transport=transport)
        self.url = self._http.url

    def __repr__(self) -> str:
        """Without the key."""
        return f"Argilla({self.url!r})"

    def __enter__(self) -> Self:
        """Nothing is sent yet."""
        return self

    def __exit__(self, *_: object) -> None:
        """Closes the connections."""
        self.close()

    def close(self) -> None:
        """Closes the connections."""
        self._http.close()

    def _one(self, path: str, kind: type[T]) -> T:
        value, _ = self._http.read(path)
        return self._convert(path, value, kind)

    def _many(self, path: str, kind: type[T], params: Any = None) -> list[T]:
        value, _ = self._http.read(path, params)
        return self._items(path, value, kind)

    def _items(self, path: str, value: Any, kind: type[T], *, key: str = "items", written: bool = False) -> list[T]:
        rows = value.get(key) if isinstance(value, dict) else None
        return self._convert(path, rows, list[kind], written=written)  # type: ignore[valid-type]

    def _made(self, method: str, path: str, fields: Mapping[str, Any] | None, kind: type[T]) -> T:
        value = self._http.write(method, path, b"" if fields is None else to_json(fields))
        return self._convert(path, value, kind, written=True)

    def _convert(self, path: str, value: Any, kind: type[T], *, written: bool = False) -> T:
        try:
            return msgspec.convert(_with_zones(value), kind)
        except msgspec.ValidationError as error:
            text = f"{self.url} {path}: an answer that this version does not know: {error}"
            raise (UnansweredError(text, settled=True) if written else RemoteError(text)) from error


def _with_zones(value: Any) -> Any:
    """The server's times say no zone and are UTC; also those of the answers inside a record."""
    for row in value if isinstance(value, list) else [value]:
        if isinstance(row, dict):
            for name in _TIMES:
                if isinstance(time := row.get(name), str) and not time.endswith("Z") and "+" not in time:
                    row[name] = f"{time}Z"
            _with_zones(row.get("responses"))
    return value
