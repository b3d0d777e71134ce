"""Answers that the real Argilla does not give on demand, by a transport that answers as told."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import httpx
import pytest
import stamina

from potato_bridge.errors import AuthError, RemoteError
from potato_bridge.remotes import argilla as module
from potato_bridge.remotes.argilla import Argilla
from potato_bridge.remotes.base import UnansweredError

KEY = "k7StKPJDh3HrEWEED0xpwhrt0gunnS1iMv5OAXuc9d4"
TIME = "2026-12-01T04:54:52.017511"
Handler = Callable[[httpx.Request], httpx.Response]


@pytest.fixture(autouse=True)
def no_pauses() -> Iterator[None]:
    with stamina.set_testing(True, attempts=4):
        yield


def server(handler: Handler) -> Argilla:
    return Argilla("https://argilla.example.org/team/", KEY, transport=httpx.MockTransport(handler))


def row(number: int) -> dict[str, Any]:
    return {"id": f"r{number}", "status": "pending", "fields": {}, "inserted_at": TIME, "updated_at": TIME}


def test_the_key_is_in_one_header_only() -> None:
    seen: list[httpx.Request] = []

    def handler(request: httpx.Request) -> httpx.Response:
        seen.append(request)
        return httpx.Response(200, json={"version": "2.8.0"}, headers={"set-cookie": "session=abc; Path=/"})

    with server(handler) as remote:
        assert (remote.version(), remote.version()) == ("2.8.0", "2.8.0")
    for request in seen:
        assert str(request.url) == "https://argilla.example.org/team/api/v1/version"
        assert request.headers["x-argilla-api-key"] == KEY
        assert "cookie" not in request.headers and "authorization" not in request.headers


@pytest.mark.parametrize(
    ("answer", "error", "words"),
    [
        (httpx.Response(504, text="<html>"), UnansweredError, "may have carried it out"),
        (
            httpx.Response(500, json={"detail": {"code": "argilla.api.errors::GenericServerError"}}),
            UnansweredError,
            "Gen",
        ),
        (httpx.Response(200, text="<html>"), UnansweredError, "makes no sense"),
        (httpx.Response(200, json={"items": []}), UnansweredError, "stores 0 of 1 records"),
        (httpx.Response(200, json={"items": [{"uuid": "x"}]}), UnansweredError, "does not know: .*`id`"),
        (httpx.Response(413, text="<html>"), RemoteError, "larger than the server(.|\n)*client_max_body_size"),
        (httpx.Response(422, json={"code": "c", "message": "No vector."}), RemoteError, "422 No vector."),
        (httpx.Response(422, json={"detail": {"unlike": "any"}}), RemoteError, "unlike"),
        (httpx.Response(404, json={"detail": "Dataset with id `d` not found"}), RemoteError, "not found"),
        (httpx.Response(401, json={"detail": {}}), AuthError, "API key(.|\n)*My settings"),
    ],
)
def test_what_an_answer_to_an_upsert_means(answer: httpx.Response, error: type[RemoteError], words: str) -> None:
    sent: list[httpx.Request] = []

    def handler(request: httpx.Request) -> httpx.Response:
        sent.append(request)
        return answer

    with server(handler) as remote, pytest.raises(RemoteError, match=words) as caught:
        remote.upsert_records("d", [b"{}"])
    assert type(caught.value) is error
    assert len(sent) == 1
    assert KEY not in str(caught.value)


def test_nothing_listens() -> None:
    def handler(request: httpx.Request) -> httpx.Response:
        raise httpx.ConnectError("refused")

    with server(handler) as remote, pytest.raises(RemoteError, match="cannot reach") as caught:
        remote.version()
    assert "ARGILLA_API_URL" in caught.value.hint


def test_a_page_instead_of_an_answer() -> None:
    """Argilla answers every address that it does not know with its start page and status 200."""
    page = httpx.Response(200, html="<title>Argilla</title>")
    with server(lambda request: page) as remote, pytest.raises(RemoteError, match="not JSON") as caught:
        remote.workspaces()
    assert "Argilla's own address" in caught.value.hint


@pytest.mark.parametrize(
    ("info", "engine"),
    [
        ({"name": "es01", "tagline": "You Know, for Search", "version": {"number": "8.17.0"}}, "Elasticsearch"),
        (
            {
                "name": "n",
                "tagline": "The OpenSearch Project",
                "version": {"number": "2.4", "distribution": "opensearch"},
            },
            "OpenSearch",
        ),
        ({}, "unknown"),
    ],
)
def test_engines_have_names(info: dict[str, Any], engine: str) -> None:
    status = httpx.Response(200, json={"version": "2.8.0", "search_engine": info, "memory": {}})
    with server(lambda request: status) as remote:
        assert remote.status().engine == engine


def test_datasets_of_a_server_that_does_not_heed_the_filter() -> None:
    def dataset(name: str, workspace: str) -> dict[str, Any]:
        times = dict.fromkeys(("inserted_at", "updated_at", "last_activity_at"), TIME)
        return {"id": f"{workspace}/{name}", "name": name, "workspace_id": workspace, "status": "ready", **times}

    answer = httpx.Response(200, json={"items": [dataset("a", "w"), dataset("b", "w"), dataset("a", "v")]})
    with server(lambda request: answer) as remote:
        assert [found.id for found in remote.datasets("w", "a")] == ["w/a"]


def paged(records: Callable[[int], list[dict[str, Any]]]) -> tuple[Handler, list[int]]:
    """A server whose list is `records(number of the request)`."""
    offsets: list[int] = []

    def handler(request: httpx.Request) -> httpx.Response:
        offset, limit = int(request.url.params["offset"]), int(request.url.params["limit"])
        there = records(len(offsets))
        offsets.append(offset)
        return httpx.Response(200, json={"items": there[offset : offset + limit], "total": len(there)})

    return handler, offsets


def test_equal_times_may_come_in_any_order(monkeypatch: pytest.MonkeyPatch) -> None:
    """The list is sorted by time alone: a database may change the order of equal times from page to page."""
    monkeypatch.setattr(module, "_PAGE_FIRST", 3)
    rows = [row(number) for number in range(9)]
    turned = [*rows[:2], rows[8], *rows[2:8]]
    handler, offsets = paged(lambda request: turned if request == 1 else rows)
    with server(handler) as remote:
        found = [record.id for record in remote.records("d")]
    assert sorted(found) == sorted(record["id"] for record in rows)
    assert offsets.count(0) == 2


def test_a_list_that_never_stands_still_is_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "_PAGE_FIRST", 3)
    rows = [row(number) for number in range(100)]
    handler, offsets = paged(lambda request: rows[request:])
    with server(handler) as remote, pytest.raises(RemoteError, match="changed while they were read"):
        list(remote.records("d"))
    assert offsets.count(0) == 3


def test_a_server_that_does_not_heed_the_offset() -> None:
    answer = httpx.Response(200, json={"items": [row(1), row(2)], "total": 9})
    with server(lambda request: answer) as remote, pytest.raises(RemoteError, match="changed while they were read"):
        list(remote.records("d"))


def test_pages_adapt_to_the_size_of_records() -> None:
    limits: list[int] = []

    def handler(request: httpx.Request) -> httpx.Response:
        offset, limit = int(request.url.params["offset"]), int(request.url.params["limit"])
        limits.append(limit)
        big = "x" * (400_000 if offset < 100 else 10)
        rows = [row(number) | {"fields": {"t": big}} for number in range(offset, min(offset + limit, 3000))]
        return httpx.Response(200, json={"items": rows, "total": 3000})

    with server(handler) as remote:
        assert [record.id for record in remote.records("d")] == [f"r{number}" for number in range(3000)]
    assert limits[0] == 50
    assert limits[1] <= 43
    # The server refuses to list more at once.
    assert max(limits) == 1000
