"""What an annotator's hands do on the page of trajectory edits."""

from __future__ import annotations

from playwright.sync_api import Locator, Page

DRAWN = "() => new Promise(done => requestAnimationFrame(() => requestAnimationFrame(() => done(true))))"


def ready(page: Page) -> None:
    """Waits until the texts can be edited."""
    page.wait_for_selector(".pb-edit textarea")
    page.evaluate(DRAWN)


def box(page: Page, number: int) -> Locator:
    """The box with the corrected text of a field, from 0; the final answer's is the last."""
    return page.locator(".pb-edit .pb-right textarea").nth(number)


def write(page: Page, number: int, text: str) -> None:
    box(page, number).fill(text)
    # What is in the box is stored when another place gets the focus, or with Submit.
    page.locator(".pb-question").first.click()


def explain(page: Page, number: int, text: str) -> None:
    """Writes the reason of an edit."""
    page.locator(".pb-why textarea").nth(number).fill(text)
