"""Fixtures of all tests. Servers and the browser are started here and nowhere else.

They start when the first test asks for them, and once per run.
"""

from __future__ import annotations

import signal
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING

import pytest

from tests.servers.argilla import Argilla, find_argilla, running_argilla
from tests.servers.label_studio import LabelStudio, find_label_studio, running_label_studio
from tests.servers.potato import Potato, find_potato, installed_potato

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page

    from potato_bridge.remotes.label_studio_server import LocalUser
    from tests.servers.argilla import ArgillaUser


def pytest_configure() -> None:
    # A run that is ended from outside must still stop its servers.
    signal.signal(signal.SIGTERM, signal.default_int_handler)


def pytest_report_header() -> list[str]:
    from tests.servers.annotator import HOW_TO_INSTALL, find_chromium

    return [
        f"label studio: {find_label_studio() or 'none; `make test` installs it'}",
        f"argilla: {find_argilla() or 'none; `make test` installs it'}",
        f"potato: {find_potato() or 'none; `make test` installs it'}",
        f"chromium: {find_chromium() or HOW_TO_INSTALL}",
    ]


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """What passed tests printed: figures, seeds and counts, which nobody would see otherwise."""
    printed = [report for report in terminalreporter.stats.get("passed", []) if report.capstdout.strip()]
    if printed:
        terminalreporter.section("figures")
        for report in printed:
            terminalreporter.line(f"{report.nodeid}\n{report.capstdout.strip()}")


@pytest.fixture(scope="session")
def label_studio(tmp_path_factory: pytest.TempPathFactory) -> Iterator[LabelStudio]:
    """A real Label Studio, shared by all tests: make projects, do not rely on an empty server."""
    with running_label_studio(tmp_path_factory.mktemp("label-studio")) as server:
        yield server


@pytest.fixture(scope="session")
def argilla(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Argilla]:
    """A real Argilla, shared by all tests: make a workspace of your own, do not rely on an empty server."""
    with running_argilla(tmp_path_factory.mktemp("argilla")) as server:
        yield server


@pytest.fixture(scope="session")
def potato(tmp_path_factory: pytest.TempPathFactory) -> Potato:
    """The real Potato, as a program. Each project of a test needs a task name of its own."""
    return installed_potato(tmp_path_factory.mktemp("potato"))


@pytest.fixture(scope="session")
def browser() -> Iterator[Browser]:
    from tests.servers.annotator import running_browser

    with running_browser() as chromium:
        yield chromium


@pytest.fixture
def annotator_page(browser: Browser, label_studio: LabelStudio) -> Iterator[Callable[..., Page]]:
    """Makes signed-in pages: `annotator_page()` as the admin, `annotator_page(user)` as others."""
    from tests.servers.annotator import new_page, sign_in

    contexts = []

    def make(user: LocalUser | None = None, *, width: int = 1280, height: int = 900) -> Page:
        context = browser.new_context(viewport={"width": width, "height": height})
        contexts.append(context)
        page = new_page(context, label_studio.url)
        sign_in(page, label_studio.url, user or label_studio.admin)
        return page

    yield make
    for context in contexts:
        context.close()


@pytest.fixture
def argilla_page(browser: Browser, argilla: Argilla) -> Iterator[Callable[..., Page]]:
    """Makes signed-in pages of Argilla: `argilla_page()` as the owner, `argilla_page(user)` as others."""
    from tests.servers.annotator import new_page
    from tests.servers.argilla_pages import sign_in

    contexts = []

    def make(user: ArgillaUser | None = None, *, width: int = 1280, height: int = 900) -> Page:
        context = browser.new_context(viewport={"width": width, "height": height})
        contexts.append(context)
        page = new_page(context, argilla.url)
        sign_in(page, user or argilla.owner)
        return page

    yield make
    for context in contexts:
        context.close()
