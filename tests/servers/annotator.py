"""Chromium in the hands of an annotator on the shared Label Studio."""

from __future__ import annotations

import os
import shutil
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any
from urllib.parse import urlsplit

import pytest
from playwright.sync_api import Browser, BrowserContext, ConsoleMessage, Page, Route, sync_playwright

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
SAVE_MS = 60_000


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

    def refuse(route: Route) -> None:
        page.refused.append(route.request.url)
        route.abort()

    def elsewhere(address: str) -> bool:
        parts = urlsplit(address)
        return parts.scheme not in ("data", "blob") and parts[:2] != origin[:2]

    def note(message: ConsoleMessage) -> None:
        # The browser's own report of a refused address is our doing, not the page's.
        if not elsewhere(message.location.get("url") or url):
            page.logs.append((message.type, message.text))

    page.route(elsewhere, refuse)
    page.on("console", note)
    page.on("pageerror", lambda error: page.logs.append(("pageerror", str(error))))
    return page


def errors(page: Page) -> list[str]:
    """What went wrong in the page: console errors and uncaught exceptions."""
    return [text for kind, text in page.logs if kind in ("error", "pageerror")]
