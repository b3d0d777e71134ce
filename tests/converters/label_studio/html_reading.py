"""Reads the HTML of a task as a browser does, for tests: which elements and attributes are there, and what is read."""

from __future__ import annotations

from html.parser import HTMLParser

#: Everything that our templates write. Whatever a trace holds, nothing else may be there.
TAGS = {"div", "span", "details", "summary", "table", "tbody", "tr", "td", "svg", "image", "img", "kbd"}
ATTRIBUTES = {
    *("class", "title", "open", "colspan", "role", "aria-label", "viewbox", "style", "width", "height", "xlink:href"),
    *("src", "alt", "loading", "referrerpolicy", "data-o", "data-n"),
}


class Reading(HTMLParser):
    """`text` is what a person reads; `elements` are (tag, attributes)."""

    def __init__(self, html: str) -> None:
        super().__init__(convert_charrefs=True)
        self.elements: list[tuple[str, dict[str, str | None]]] = []
        self.open: list[str] = []
        self.texts: list[str] = []
        self.others: list[str] = []
        self.feed(html)
        self.close()

    def handle_starttag(self, tag, attrs):
        self.elements.append((tag, dict(attrs)))
        if tag not in ("img", "image"):
            self.open.append(tag)

    def handle_startendtag(self, tag, attrs):
        self.elements.append((tag, dict(attrs)))

    def handle_endtag(self, tag):
        assert self.open and self.open.pop() == tag, f"</{tag}> closes nothing"

    def handle_data(self, data):
        self.texts.append(data)

    def handle_comment(self, data):
        self.others.append(data)

    def handle_decl(self, decl):
        self.others.append(decl)

    def handle_pi(self, data):
        self.others.append(data)

    def unknown_decl(self, data):
        self.others.append(data)

    @property
    def text(self) -> str:
        return "".join(self.texts)

    def classes(self) -> set[str]:
        return {name for _, attrs in self.elements for name in (attrs.get("class") or "").split()}


def read(html: str) -> Reading:
    """Reads HTML and asserts that it holds our own elements only, all of them closed."""
    reading = Reading(html)
    assert reading.open == []
    assert reading.others == []
    assert {tag for tag, _ in reading.elements} <= TAGS
    for tag, attrs in reading.elements:
        assert set(attrs) <= ATTRIBUTES, tag
        assert not (attrs.get("src") or "").startswith(("javascript:", "data:"))
        if "style" in attrs:
            assert (attrs["style"] or "").removeprefix("width:").removesuffix("px").isdigit()
    return reading
