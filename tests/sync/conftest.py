from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
import stamina

from tests.servers.label_studio import LabelStudio as Server
from tests.sync.world import World


@pytest.fixture(autouse=True)
def no_pauses() -> Iterator[None]:
    """Retries as often as ever, but without waiting in between."""
    with stamina.set_testing(True, attempts=4):
        yield


@pytest.fixture
def world(label_studio: Server, tmp_path: Path, request: pytest.FixtureRequest) -> Iterator[World]:
    """A project of ten items, the real server, and what a user has on disk."""
    world = World(label_studio, tmp_path, name=request.node.name)
    yield world
    world.close()
