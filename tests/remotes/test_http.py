"""Failures of a server that the real one does not show on demand, by a transport that answers as told."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import httpx
import pytest
import stamina

from potato_bridge.errors import AuthError, OutcomeUnknownError, RemoteError, UsageError
from potato_bridge.remotes.base import UnansweredError
from potato_bridge.remotes.http import normal_url
from potato_bridge.remotes.label_studio import LabelStudio

KEY = "0123456789abcdef0123456789abcdef01234567"
Handler = Callable[[httpx.Request], httpx.Response]


@pytest.fixture(autouse=True)
def no_pauses() -> Iterator[None]:
    with stamina.set_testing(True, attempts=4):
        yield


def server(handler: Handler, url: str = "https://ls.example.org/ls/") -> LabelStudio:
    return LabelStudio(url, KEY, transport=httpx.MockTransport(handler))


@pytest.mark.parametrize(
    ("given", "normal"),
    [
        ("http://localhost:8080/", "http://localhost:8080"),
        (" HTTPS://Host.Example/LS// ", "https://host.example/LS"),
        ("http://[::1]:8080", "http://[::1]:8080"),
        ("https://host/ls/?a=b#c", "https://host/ls"),
    ],
)
def test_addresses(given: str, normal: str) -> None:
    assert normal_url(given) == normal


@pytest.mark.parametrize("given", ["", "localhost:8080", "ftp://host", "http://", "http://host:x", "http://u:p@host"])
def test_what_is_no_address(given: str) -> None:
    with pytest.raises(UsageError) as caught:
        normal_url(given)
    assert "u:p" not in str(caught.value)


@pytest.mark.parametrize(
    "target", ["https://evil.example.org/api/version", "http://ls.example.org/ls/api/version", "/user/login/?next=/api"]
)
def test_redirects_are_not_followed(target: str) -> None:
    seen: list[httpx.Request] = []

    def handler(request: httpx.Request) -> httpx.Response:
        seen.append(request)
        return httpx.Response(302, headers={"location": target})

    with server(handler) as remote, pytest.raises(RemoteError, match="leads") as caught:
        remote.version()
    assert [str(request.url) for request in seen] == ["https://ls.example.org/ls/api/version"]
    assert KEY not in str(caught.value)


def test_the_token_is_in_one_header_only() -> None:
    seen: list[httpx.Request] = []

    def handler(request: httpx.Request) -> httpx.Response:
        seen.append(request)
        return httpx.Response(200, json={"release": "2.0"}, headers={"set-cookie": "sessionid=abc; Path=/"})

    with server(handler) as remote:
        assert (remote.version(), remote.version()) == ("2.0", "2.0")
    for request in seen:
        assert request.headers["authorization"] == f"Token {KEY}"
        assert KEY not in str(request.url)
        assert "cookie" not in request.headers


@pytest.mark.parametrize(
    ("answer", "error", "words"),
    [
        (httpx.Response(504, text="<html>"), UnansweredError, "may have carried it out"),
        (httpx.Response(502), UnansweredError, "may have carried it out"),
        (httpx.Response(500, json={"detail": "database is locked"}), UnansweredError, "database is locked"),
        (httpx.Response(408), UnansweredError, "may have carried it out"),
        (httpx.Response(200, text="<html>"), UnansweredError, "makes no sense"),
        (httpx.Response(201, json={"import": 7}), UnansweredError, "in the background"),
        (httpx.Response(201, json={"task_ids": [1]}), UnansweredError, "does not say which"),
        (httpx.Response(413, text="<html>"), RemoteError, "larger than the server"),
        (
            httpx.Response(500, json={"detail": "You cannot access body after reading from request's data stream"}),
            RemoteError,
            "larger than the server",
        ),
        (httpx.Response(400, json={"validation_errors": {"title": ["Too short."]}}), RemoteError, "title: Too short."),
        (httpx.Response(403, json={"detail": "No."}), AuthError, "the account may not do this: No."),
    ],
)
def test_what_an_answer_to_a_write_means(answer: httpx.Response, error: type[RemoteError], words: str) -> None:
    sent: list[httpx.Request] = []

    def handler(request: httpx.Request) -> httpx.Response:
        sent.append(request)
        return answer

    with server(handler) as remote, pytest.raises(RemoteError, match=words) as caught:
        remote.import_tasks(1, [b"{}", b"{}"])
    assert type(caught.value) is error
    assert len(sent) == 1


@pytest.mark.parametrize(
    ("fault", "unknown", "sent"),
    [
        (httpx.ConnectError("refused"), False, 1),
        (httpx.ConnectTimeout("slow"), False, 1),
        (httpx.ReadTimeout("slow"), True, 1),
        (httpx.RemoteProtocolError("cut"), True, 1),
        (httpx.WriteError("cut"), True, 1),
    ],
)
def test_a_write_without_an_answer(fault: httpx.HTTPError, unknown: bool, sent: int) -> None:
    seen: list[httpx.Request] = []

    def handler(request: httpx.Request) -> httpx.Response:
        seen.append(request)
        raise fault

    with server(handler) as remote, pytest.raises(RemoteError) as caught:
        remote.import_tasks(1, [b"{}"])
    assert isinstance(caught.value, OutcomeUnknownError) is unknown
    assert len(seen) == sent


def test_a_server_that_restarts_is_waited_for() -> None:
    answers = iter([httpx.Response(200, json={"release": "1"}), None, None, httpx.Response(200, json={"release": "2"})])

    def handler(request: httpx.Request) -> httpx.Response:
        answer = next(answers)
        if answer is None:
            raise httpx.ConnectError("refused")
        return answer

    with server(handler) as remote:
        assert (remote.version(), remote.version()) == ("1", "2")


@pytest.mark.parametrize("body", [b"", b'{"release": "2'])
def test_an_answer_that_is_cut_off_is_asked_for_again(body: bytes) -> None:
    """A real Label Studio gave such an export on a busy machine, after a pull that was killed during its own."""
    cut = httpx.Response(200, content=body, headers={"content-type": "application/.json"})
    answers = [cut, cut, httpx.Response(200, json={"release": "2.0"})]
    with server(lambda request: answers.pop(0)) as remote:
        assert remote.version() == "2.0"
    assert answers == []
    with server(lambda request: cut) as remote, pytest.raises(RemoteError, match="is cut off"):
        remote.version()


def test_refused_for_now_is_tried_again() -> None:
    answers = iter([httpx.Response(429, headers={"retry-after": "0"}), httpx.Response(201, json={"task_ids": [5]})])
    with server(lambda request: next(answers)) as remote:
        assert remote.import_tasks(1, [b"{}"]) == [5]


def test_a_listing_that_does_not_heed_its_filter() -> None:
    same = httpx.Response(200, json={"tasks": [{"id": 1}], "total": 5})
    with server(lambda request: same) as remote, pytest.raises(RemoteError, match="does not heed the filter"):
        list(remote.tasks(1, ["meta"]))


def test_a_listing_that_ends_too_early() -> None:
    empty = httpx.Response(200, json={"tasks": [], "total": 5})
    with server(lambda request: empty) as remote, pytest.raises(RemoteError, match="counts 5 more"):
        list(remote.tasks(1, ["meta"]))
    short = {"count": 3, "next": None, "results": [{"id": 1}]}
    with server(lambda request: httpx.Response(200, json=short)) as remote, pytest.raises(RemoteError, match="lists 1"):
        list(remote.projects())


def test_projects_are_read_to_the_end() -> None:
    def handler(request: httpx.Request) -> httpx.Response:
        page = int(request.url.params["page"])
        more = "https://elsewhere.example.org/?page=2" if page < 3 else None
        return httpx.Response(200, json={"count": 3, "next": more, "results": [{"id": page, "title": f"p{page}"}]})

    with server(handler) as remote:
        assert [project.title for project in remote.projects()] == ["p1", "p2", "p3"]


def test_portions_of_an_export_adapt_to_their_size() -> None:
    sizes: list[int] = []

    def handler(request: httpx.Request) -> httpx.Response:
        ids = [int(number) for number in request.url.params.get_list("ids[]")]
        sizes.append(len(ids))
        assert len(str(request.url)) < 8000
        big = "x" * (400_000 if ids[0] < 100 else 10)
        return httpx.Response(200, json=[{"id": number, "data": big} for number in ids])

    with server(handler) as remote:
        assert [row["id"] for row in remote.export(1, range(1, 1001))] == list(range(1, 1001))
    assert sizes[0] == 50
    assert max(sizes[1:3]) <= 42
    assert max(sizes) == 300
