"""first_error and per_step in the panel, on the real Argilla, by mouse and keys."""

from __future__ import annotations

import pytest

from tests.servers.annotator import errors
from tests.servers.argilla_desk import Desk, open_panel, ready, submit_button
from tests.servers.argilla_pages import discard, save_draft, submit


@pytest.fixture
def per_step(argilla, tmp_path):
    desk = Desk(argilla, tmp_path, "per_step")
    desk.push()
    yield desk
    desk.close()


@pytest.fixture
def first_error(argilla, tmp_path):
    desk = Desk(argilla, tmp_path, "first_error")
    desk.push()
    yield desk
    desk.close()


def test_steps_are_rated(per_step, argilla_page):
    desk = per_step
    item = sorted(desk.on_server())[0]
    desk.keep_only(item)
    ann, bob = desk.annotator(), desk.annotator()
    page = argilla_page(ann)
    frame = open_panel(page, desk.dataset)
    page.screenshot(path="/tmp/per_step.png", full_page=True)
    steps = frame.locator(".card.step")
    total = steps.count()
    assert total >= 3
    assert not submit_button(page).is_enabled()
    steps.nth(0).locator("button.label").nth(0).click()
    assert frame.locator(".status").inner_text().startswith(f"1 of {total} steps rated")
    assert not submit_button(page).is_enabled()
    assert errors(page) == []
