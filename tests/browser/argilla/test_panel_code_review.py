"""Places of comments in the panel's review, as the mouse gives them: sides, several lines, forms that are left open."""

from __future__ import annotations

import json

from playwright.sync_api import FrameLocator, Locator

from tests.servers.annotator import errors
from tests.servers.argilla_desk import Desk, is_changed, open_panel, submit_button
from tests.servers.argilla_pages import save_draft, submit

CONFIG = """
annotation_task_name: Review
task_dir: .
data_files: [items.jsonl]
item_properties: {id_key: id, text_key: task}
instance_display:
  fields: [{key: structured_turns, type: coding_trace, label: Changes}]
annotation_schemes:
  - {annotation_type: code_review, name: review, description: Review it, allow_summary: true}
"""
OLD = "def parse(tokens):\n    head = tokens[0]\n    return head\n"
NEW = "def parse(tokens):\n    if tokens:\n        return tokens[0]\n    return None\n"
READ = "\n".join(f"{n:6}→{line}" for n, line in enumerate(OLD.splitlines(), 1))
CALLS = [
    {"tool": "Read", "input": {"file_path": "src/parser.py"}, "output": READ},
    {
        "tool": "Edit",
        "input": {"file_path": "src/parser.py", "old_string": OLD, "new_string": NEW},
        "output": "The file was edited",
    },
    # Nobody read it before: its lines have no numbers.
    {
        "tool": "Edit",
        "input": {"file_path": "src/unread.py", "old_string": "a = 1\n", "new_string": "a = 2\nb = 3\n"},
        "output": "The file was edited",
    },
]
ITEM = {
    "id": "i",
    "task": "Mend it",
    "structured_turns": [{"role": "assistant", "content": "I mend it.", "tool_calls": CALLS}],
}


def number(frame: FrameLocator, row: int) -> Locator:
    """The new number of a row; row 0 is the header of the hunk."""
    return frame.locator("details.file").first.locator(f".lines .row[data-row='{row}'] i.number").nth(1)


def fill(frame: FrameLocator, category: str, text: str) -> None:
    form = frame.locator(".comment-form")
    form.locator(f"button.category[data-category={category}]").click()
    form.locator("textarea.words").fill(text)
    form.locator("button.save-comment").click()


def test_the_places_of_comments(argilla, tmp_path, argilla_page):
    (tmp_path / "items.jsonl").write_text(json.dumps(ITEM))
    (tmp_path / "config.yaml").write_text(CONFIG)
    desk = Desk(argilla, tmp_path)
    desk.push()
    ann = desk.annotator()
    page = argilla_page(ann)
    frame = open_panel(page, desk.dataset)
    rows = frame.locator("details.file").first.locator(".lines .row")
    kinds = [(rows.nth(n).get_attribute("class") or "").split()[-1] for n in range(rows.count())]
    removed, added = kinds.index("d"), kinds.index("a")
    last = len(kinds) - 1 - kinds[::-1].index("a")
    old = int(rows.nth(removed).locator("i").nth(0).inner_text())
    new = [int(number(frame, at).inner_text()) for at in (added, last)]
    forms, status = frame.locator(".comment-form"), frame.locator(".status")
    # Numbers stand at the right of their column, whatever other styles are called.
    styles = "number => { const style = getComputedStyle(number); return [style.display, style.textAlign] }"
    assert number(frame, added).evaluate(styles)[1] in ("right", "end")
    assert "flex" not in number(frame, added).evaluate(styles)[0]
    page.get_by_text("Approve").click()

    # A form that was opened and left as it is holds nobody up.
    number(frame, added).click()
    assert forms.count() == 1
    assert submit_button(page).is_enabled()

    # The old side.
    rows.nth(removed).locator("i.number").nth(0).click()
    assert forms.count() == 1
    fill(frame, "logic", "old side")

    # Several lines with Shift: one form, with what was begun at the first line.
    number(frame, added).click()
    forms.locator("textarea.words").fill("begun")
    assert "a comment is not saved yet" in status.inner_text()
    assert not submit_button(page).is_enabled()
    number(frame, last).click(modifiers=["Shift"])
    assert forms.count() == 1
    assert forms.locator("textarea.words").input_value() == "begun"
    assert f"lines {new[0]}–{new[1]}" in forms.inner_text()
    assert frame.locator(".row.picked").count() == last - added + 1
    forms.locator("button.suggest").click()
    texts = [rows.nth(at).locator("> span").inner_text()[1:] for at in range(added, last + 1)]
    assert forms.locator("textarea.code").input_value() == "\n".join(texts)
    forms.locator("textarea.code").fill("pass")
    forms.locator("button.severity[data-severity=major]").click()
    fill(frame, "bug", "several")

    # Several lines by a drag, upwards; from the new side to the old one.
    first, end = number(frame, last).bounding_box(), number(frame, removed).bounding_box()
    assert first and end
    page.mouse.move(first["x"] + 5, first["y"] + 5)
    page.mouse.down()
    page.mouse.move(end["x"] + 5, end["y"] + 5, steps=8)
    assert frame.locator(".row.picked").count() == last - removed + 1
    page.mouse.up()
    assert forms.count() == 1
    fill(frame, "style", "dragged")
    assert frame.locator(".row.picked").count() == 0
    # Without numbers: where it is in the diff.
    unread = frame.locator("details.file").nth(1).locator(".lines .row")
    unread.nth(1).locator("i.number").nth(1).click()
    unread.nth(3).locator("i.number").nth(1).click(modifiers=["Shift"])
    assert "lines 1–3 of the diff" in forms.inner_text()
    fill(frame, "praise", "no numbers")
    frame.locator("textarea.summary").fill("All in all </script> $&")

    several = {"file": "src/parser.py", "line": new[1], "side": "RIGHT"}
    comments = [
        {"category": "logic", "file": "src/parser.py", "line": old, "side": "LEFT", "text": "old side"},
        {
            **several,
            "category": "bug",
            "text": "several",
            "start_line": new[0],
            "start_side": "RIGHT",
            "severity": "major",
            "suggestion": "pass",
        },
        {**several, "category": "style", "text": "dragged", "start_line": old, "start_side": "LEFT"},
        {
            "category": "praise",
            "file": "src/unread.py",
            "line": None,
            "side": "RIGHT",
            "start_side": "LEFT",
            "position": 3,
            "start_position": 1,
            "text": "no numbers",
        },
    ]
    save_draft(page)
    said = desk.said("i", ann)
    assert said is not None
    assert said["answer"]["review"] == {"comments": comments, "file_ratings": {}, "summary": "All in all </script> $&"}

    # An edit that was begun counts as one; taken back, it does not.
    frame = open_panel(page, desk.dataset, status="draft")
    assert frame.locator(".comment").count() == 4
    assert frame.locator("textarea.summary").input_value() == "All in all </script> $&"
    frame.locator(".comment").filter(has_text="old side").locator("button.edit-comment").click()
    assert submit_button(page).is_enabled()
    frame.locator(".comment-form textarea.words").fill("other words")
    assert not submit_button(page).is_enabled()
    frame.locator(".comment-form textarea.words").press("Escape")
    assert frame.locator(".comment").filter(has_text="old side").count() == 1
    submit(page)
    open_panel(page, desk.dataset, status="submitted")
    assert not is_changed(page)
    desk.pull()
    [record] = desk.records()
    assert (record.flags, record.controls) == ([], {})
    review = record.annotations["review"]
    assert (review["verdict"], review["comments"]) == ("approve", comments)
    assert errors(page) == []
    desk.close()
