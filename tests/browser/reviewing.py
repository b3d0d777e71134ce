"""What a reviewer's hands do on the code-review page: comments, their details, ratings, the verdict."""

from __future__ import annotations

from playwright.sync_api import Locator, Page, expect

from tests.servers.annotator import press

DRAWN = "() => new Promise(done => requestAnimationFrame(() => requestAnimationFrame(() => done(true))))"


def ready(page: Page) -> None:
    """Waits until the change can be worked with."""
    page.wait_for_selector(".pb-changed .pb-fn")
    page.evaluate(DRAWN)


def line(page: Page, file: int, number: int) -> Locator:
    """A line of the change, from 0, headers of hunks not counted."""
    return page.locator(".pb-changed").nth(file).locator(".pb-l").nth(number)


def name(page: Page, file: int) -> Locator:
    """The name of a file above its change: the place of comments on the whole file."""
    return page.locator(".pb-fn").nth(file)


def boxes(page: Page) -> Locator:
    return page.locator("textarea[placeholder=Comment]:visible")


def category(page: Page, key: str) -> None:
    """Chooses a category with its key; what is selected is left before."""
    chosen = page.locator(".pb-categories .lsf-label_selected")
    page.evaluate("document.activeElement.blur()")
    page.keyboard.press("Escape")
    # A comment that is selected shows its category as chosen: until it is not, a key would change it.
    expect(chosen).to_have_count(0)
    # A page is shown before it takes keys.
    press(page, key, f".pb-categories .lsf-label_selected:has-text('{key}')")


def write(page: Page, text: str) -> None:
    expect(boxes(page)).to_have_count(1)
    boxes(page).fill(text)
    boxes(page).blur()
    # What was written stays an open box as long as its comment is selected.
    page.keyboard.press("Escape")
    expect(boxes(page)).to_have_count(0)


def comment(page: Page, place: Locator, key: str, text: str) -> None:
    """A comment, by a click on the line's number, or on the sign beside the file's name."""
    category(page, key)
    number = place.locator("b")
    number.scroll_into_view_if_needed()
    box = number.bounding_box()
    assert box is not None
    # Two quick clicks at one place of the window are a double click to Label Studio, with the first one's category.
    number.click(position={"x": box["width"] * int(key) / 10, "y": box["height"] / 2})
    write(page, text)


def drag(page: Page, first: Locator, last: Locator, key: str, text: str) -> None:
    """A comment on several lines, by a drag over their texts."""
    category(page, key)
    first.scroll_into_view_if_needed()
    a, b = first.bounding_box(), last.bounding_box()
    assert a is not None and b is not None
    page.mouse.move(a["x"] + 150, a["y"] + 8)
    page.mouse.down()
    page.mouse.move(b["x"] + 170, b["y"] + 8, steps=6)
    page.mouse.up()
    write(page, text)


def select(page: Page, place: Locator) -> None:
    """Selects the last comment on a line."""
    page.keyboard.press("Escape")
    place.locator(".htx-highlight").last.click()
    expect(page.locator(".pb-selected")).to_be_visible()


def severity(page: Page, text: str) -> None:
    """Of the comment that is selected."""
    page.locator(".pb-selected").get_by_text(text, exact=True).click()


def suggest(page: Page, code: str) -> None:
    """Code in place of the lines of the comment that is selected."""
    page.locator(".pb-selected textarea").fill(code)
    page.locator(".pb-selected textarea").blur()
    page.keyboard.press("Escape")


def reword(page: Page, place: Locator, old: str, new: str) -> None:
    """Another text for the last comment on a line."""
    select(page, place)
    page.get_by_text(old, exact=True).last.click()
    page.locator("textarea:focus").fill(new)
    page.locator("textarea:focus").blur()
    page.keyboard.press("Escape")


def delete(page: Page, place: Locator) -> None:
    """Deletes the only comment on a line."""
    select(page, place)
    page.keyboard.press("Backspace")
    expect(place.locator(".htx-highlight")).to_have_count(0)


def newest_first(page: Page) -> None:
    """Turns the list of regions round: it makes elements only for what is in sight."""
    page.get_by_text("By Time").click()
    page.get_by_role("menuitem").or_(page.locator(".lsf-menu__item")).filter(has_text="Order by Time").first.click()


def rate(page: Page, file: int, dimension: int, stars: int) -> None:
    page.locator(".pb-rated").nth(file).locator(".ant-rate").nth(dimension).locator("li").nth(stars - 1).click()


def verdict(page: Page, text: str) -> None:
    page.locator(".pb-verdict").get_by_text(text, exact=True).click()


def summarize(page: Page, text: str) -> None:
    """Writes into the text question below the review."""
    page.locator("textarea[name=summary], .pb-scheme:last-child textarea").last.fill(text)
