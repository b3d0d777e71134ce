"""What a push is going to send, on disk."""

from __future__ import annotations

import tempfile
from pathlib import Path

import pytest

from potato_bridge.errors import StateError
from potato_bridge.sync.outbox import Outbox
from potato_bridge.sync.plan import Create, Update


def test_tasks_come_back_in_their_order_and_nothing_stays(tmp_path: Path) -> None:
    first, second = Create("a"), Update("b", 7, 1, True)
    big = b'"' + b"x" * 3_000_000 + b'"'
    with Outbox[Create | Update](tmp_path) as outbox:
        outbox.add(first, big)
        outbox.add(second, '"é\\n\u2028"'.encode())
        assert list(outbox) == [(first, big), (second, '"é\\n\u2028"'.encode())]
    assert list(tmp_path.iterdir()) == []


def test_nothing_stays_after_an_error(tmp_path: Path) -> None:
    with pytest.raises(RuntimeError), Outbox[Create](tmp_path) as outbox:
        outbox.add(Create("a"), b"{}")
        raise RuntimeError
    assert list(tmp_path.iterdir()) == []


def test_a_folder_that_is_not_there(tmp_path: Path) -> None:
    with pytest.raises(StateError, match=r"cannot write a temporary file into .*gone.*; nothing was sent"):
        Outbox[Create](tmp_path / "gone")


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="Linux has a disk that is always full")
@pytest.mark.parametrize("size", [10, 1_000_000])
def test_a_full_disk(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, size: int) -> None:
    monkeypatch.setattr(tempfile, "TemporaryFile", lambda dir: open("/dev/full", "w+b"))
    with (
        pytest.raises(StateError, match="No space left on device; nothing was sent"),
        Outbox[Create](tmp_path) as outbox,
    ):
        outbox.add(Create("a"), b"x" * size)
        list(outbox)
