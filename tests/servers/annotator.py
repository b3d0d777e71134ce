"""Chromium in the hands of an annotator on the shared Label Studio."""

from __future__ import annotations

import contextlib
import os
import re
import shutil
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any
from urllib.parse import urlsplit

import pytest
from httpx import Client
from playwright.sync_api import (
    Browser,
    BrowserContext,
    ConsoleMessage,
    Page,
    Response,
    Route,
    TimeoutError,
    sync_playwright,
)

from potato_bridge.converters.label_studio.questions import hidden_data
from potato_bridge.converters.label_studio.task_list import task_list_view
from potato_bridge.model import Project
from potato_bridge.remotes.label_studio_server import LocalUser

CHROMIUM_VARIABLE = "CHROMIUM"
CHROMIUM_NAMES = ("chromium", "chromium-browser", "google-chrome")
CHROMIUM_ARGS = (
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
)
HOW_TO_INSTALL = (
    f"no Chromium: install it (Debian, Ubuntu: apt-get install chromium) or set "
    f"{CHROMIUM_VARIABLE} to a Chromium or Chrome, then run `make test` again"
)
VIEW_MS = 120_000
SAVE_MS = 30_000

# Label Studio's "saved" messages lie over the Skip button for four seconds.
CLICK_THROUGH_MESSAGES = """
addEventListener("DOMContentLoaded", () => {
  const style = document.createElement("style");
  style.textContent = "[class*=toast-viewport] * { pointer-events: none !important }";
  document.head.append(style);
});
"""
# Refusals that belong to Label Studio itself: its advertisements, which it fetches from its
# maker, and the end of the labeling stream.
EXPECTED_REFUSALS = ("/heidi-tips", "id=next_task")
# The view can still show the task before: what counts is the one in the editor's store.
VIEW_READY = """task => {
  const editor = window.Htx;
  return editor?.task && (task === null || Number(editor.task.id) === task)
    && editor.annotationStore?.selected
    && document.querySelector(".lsf-main-view__annotation")?.offsetParent !== null;
}"""


def find_chromium() -> str | None:
    names = [os.environ.get(CHROMIUM_VARIABLE), *CHROMIUM_NAMES]
    return next((found for name in names if name and (found := shutil.which(name))), None)


@contextmanager
def running_browser() -> Iterator[Browser]:
    executable = find_chromium()
    if executable is None:
        pytest.fail(HOW_TO_INSTALL, pytrace=False)
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=executable, args=list(CHROMIUM_ARGS))
        try:
            yield browser
        finally:
            browser.close()


def sign_in(page: Page, url: str, user: LocalUser) -> None:
    page.goto(f"{url}/user/login/")
    page.fill("[name=email]", user.email)
    page.fill("[name=password]", user.password)
    page.click("button[type=submit]")
    page.wait_for_url(lambda address: "/user/login" not in address)


def new_page(context: BrowserContext, url: str) -> Page:
    """A page that reaches the server and nothing else, and writes down its errors.

    `page.logs` holds (kind, text) of console messages and uncaught errors, `page.refused` the
    addresses of other hosts that were asked for, `page.server` the address of the server.
    """
    origin = urlsplit(url)
    page: Any = context.new_page()
    page.set_default_timeout(20_000)
    page.server, page.logs, page.refused = url, [], []
    page.add_init_script(CLICK_THROUGH_MESSAGES)

    def refuse(route: Route) -> None:
        page.refused.append(route.request.url)
        route.abort()

    def elsewhere(address: str) -> bool:
        parts = urlsplit(address)
        return parts.scheme not in ("data", "blob") and parts[:2] != origin[:2]

    def note(message: ConsoleMessage) -> None:
        # The browser's own report of a refused address is our doing, not the page's.
        place = message.location.get("url") or url
        if not elsewhere(place) and not any(part in place for part in EXPECTED_REFUSALS):
            page.logs.append((message.type, f"{message.text} ({place})"))

    page.route(elsewhere, refuse)
    page.on("console", note)
    page.on("pageerror", lambda error: page.logs.append(("pageerror", str(error))))
    return page


def errors(page: Page) -> list[str]:
    """What went wrong in the page: console errors and uncaught exceptions."""
    return [text for kind, text in page.logs if kind in ("error", "pageerror")]


def add_view(http: Client, number: int, project: Project) -> None:
    """Make the view that `push` makes: without it the list comes late and takes an open task's pre-label away."""
    view = {"project": number, "data": task_list_view(hides=hidden_data(project))}
    http.post("/api/dm/views/", json=view).raise_for_status()


def open_task(page: Page, project: int, task: int) -> float:
    """Open one task from the list of the project's tasks: Submit and Update, but no Skip.

    Returns:
        Seconds until the task is shown and can be worked on.
    """
    start = time.perf_counter()
    # The view is drawn from the list's row and, when the whole task has come, once more: after that it asks for labels.
    with page.expect_response(lambda answer: "/api/label_links" in answer.url, timeout=VIEW_MS):
        page.goto(f"{page.server}/projects/{project}/data?task={task}")
    page.wait_for_function(VIEW_READY, arg=task, timeout=VIEW_MS)
    return time.perf_counter() - start


def open_stream(page: Page, project: int) -> int:
    """Open the labeling stream, as "Label All Tasks" does: Submit and Skip, then the next task.

    Returns:
        The task that is shown.
    """
    with page.expect_response(_is_next, timeout=VIEW_MS) as answer:
        page.goto(f"{page.server}/projects/{project}/data?labeling=1")
    assert answer.value.ok, f"no task to label in project {project}"
    return _shown(page, answer.value)


def press(page: Page, key: str, effect: str) -> None:
    """Press a key, again if need be, until its effect (a selector) is there: a page is shown before it takes keys."""
    for _ in range(20):
        page.keyboard.press(key)
        with contextlib.suppress(TimeoutError):
            page.wait_for_selector(effect, timeout=500)
            return
    raise AssertionError(f"{key} had no effect: there is no {effect}")


def submit(page: Page) -> dict[str, Any]:
    """Press Submit; returns the annotation as the server has saved it."""
    return _save(page, "submit", "POST", r"/api/tasks/\d+/annotations/?")


def update(page: Page) -> dict[str, Any]:
    """Press Update, which is possible once something was changed; returns the annotation."""
    return _save(page, "update", "PATCH", r"/api/annotations/\d+/?")


def skip(page: Page) -> dict[str, Any]:
    """Press Skip, which only the labeling stream has; returns the cancelled annotation."""
    return _save(page, "skip", "POST", r"/api/tasks/\d+/annotations/?")


def shown_task(page: Page) -> int:
    """The task in the editor."""
    return int(page.evaluate("Number(window.Htx.task.id)"))


def _save(page: Page, button: str, method: str, path: str) -> dict[str, Any]:
    def is_save(response: Response) -> bool:
        # The whole path: drafts are saved at longer ones.
        where = urlsplit(response.url).path
        return response.request.method == method and re.fullmatch(path, where) is not None

    press = page.locator(f"[data-testid=bottombar-{button}-button]").click
    streaming = "labeling=1" in page.url
    with contextlib.ExitStack() as waits:
        following = waits.enter_context(page.expect_response(_is_next)) if streaming else None
        try:
            with page.expect_response(is_save, timeout=SAVE_MS) as saved:
                press()
        except TimeoutError as error:
            said = page.locator("[role=dialog], .ant-modal-content").all_inner_texts()
            raise AssertionError(f"{button}: nothing was sent; the page says {said}") from error
    answer = saved.value
    assert answer.ok, f"{button}: {answer.status} {answer.text()[:500]}"
    if following is None:
        # Submitted, the annotation is loaded again, under its number.
        page.locator("[data-testid=bottombar-update-button]").wait_for()
    elif following.value.ok:
        _shown(page, following.value)
    saved_annotation: dict[str, Any] = answer.json()
    return saved_annotation


def _is_next(response: Response) -> bool:
    parts = urlsplit(response.url)
    return parts.path == "/api/dm/actions" and "id=next_task" in parts.query


def _shown(page: Page, following: Response) -> int:
    task = int(following.json()["id"])
    page.wait_for_function(VIEW_READY, arg=task, timeout=VIEW_MS)
    return task
