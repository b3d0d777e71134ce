"""No test of this folder may reach for the network."""

from __future__ import annotations

import socket

import pytest


@pytest.fixture(autouse=True)
def no_network(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*args: object) -> None:
        raise AssertionError("an export reached for the network")

    monkeypatch.setattr(socket.socket, "connect", refuse)
