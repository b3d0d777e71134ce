"""Chromium in the hands of an annotator on the shared Argilla."""

from __future__ import annotations

from typing import Any
from urllib.parse import urlsplit

from playwright.sync_api import Page, Response

from tests.servers.argilla import ArgillaUser


def sign_in(page: Page, user: ArgillaUser) -> None:
    page.goto(f"{page.server}/sign-in")
    page.locator("input[name=Username]").fill(user.username)
    page.locator("input[name=Password]").fill(user.password)
    page.locator("button[type=submit]").click()
    page.wait_for_url(lambda address: "/sign-in" not in address)
    page.get_by_text("Your datasets").wait_for()


def open_records(page: Page, dataset: str, *, status: str = "pending", sort: str = "") -> None:
    """Open the annotation page of a data set at its first record; returns when the search has answered.

    Args:
        page: A signed-in page.
        dataset: Its id.
        status: pending, draft, discarded or submitted: the queue.
        sort: `metadata.trace_id.asc~metadata.step_index.asc`; empty: in the person's own random order.
    """
    query = f"page=1&status={status}" + (f"&sort={sort}" if sort else "")
    with page.expect_response(lambda answer: urlsplit(answer.url).path.endswith("/records/search")) as found:
        page.goto(f"{page.server}/dataset/{dataset}/annotation-mode?{query}")
    assert found.value.ok, f"{found.value.status} {found.value.text()[:500]}"
    page.locator("form.questions-form, [class*=questions-form]").first.wait_for()


def submit(page: Page) -> dict[str, Any]:
    """Press Submit; returns the response as the server has saved it."""
    return _save(page, "submit")


def discard(page: Page) -> dict[str, Any]:
    """Press Discard; returns the response as the server has saved it."""
    return _save(page, "discard")


def _save(page: Page, button: str) -> dict[str, Any]:
    def is_save(answer: Response) -> bool:
        return answer.request.method in ("POST", "PUT") and "/responses" in urlsplit(answer.url).path

    with page.expect_response(is_save) as saved:
        page.locator(f"button.button--{button}").click()
    answer = saved.value
    assert answer.ok, f"{button}: {answer.status} {answer.text()[:500]}"
    found: dict[str, Any] = answer.json()
    return found


def save_draft(page: Page) -> dict[str, Any]:
    """Press Save as draft; returns the response as the server has saved it."""
    return _save(page, "draft")
