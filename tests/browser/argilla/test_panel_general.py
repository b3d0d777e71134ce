"""The general types on one page of the panel: forms, marks, and questions of Argilla beside it."""

from __future__ import annotations

import json

from tests.servers.annotator import errors
from tests.servers.argilla_desk import Desk, is_changed, open_panel, submit_button
from tests.servers.argilla_pages import save_draft, submit

CONFIG = """
annotation_task_name: General
task_dir: .
data_files: [items.jsonl]
item_properties: {id_key: id, text_key: task}
annotation_schemes:
  - annotation_type: radio
    name: "Good or bad?"
    description: Is it good
    labels: [good, bad]
    label_requirement: {required: true}
  - annotation_type: text
    name: why
    description: Why is it bad
    label_requirement: {required: true}
    display_logic: {show_when: [{schema: "Good or bad?", operator: equals, value: bad}]}
  - {annotation_type: number, name: count, description: How many, min: 0, max: 9}
  - {annotation_type: slider, name: sure, description: How sure, min_value: 0, max_value: 100}
  - {annotation_type: constant_sum, name: share, description: Shares, labels: [a, b], total_points: 10}
  - {annotation_type: text_edit, name: fix, description: Fix it, source_field: text}
  - {annotation_type: span, name: marks, description: Mark, target_field: text, labels: [thing, place]}
  - {annotation_type: pairwise, name: pair, description: Which, items_key: pair}
"""
TEXT = "é😀 <b>bold</b> &amp;\r\n  a fox."


def test_all_of_them(argilla, tmp_path, argilla_page):
    item = {"id": "i", "task": "Look", "text": TEXT, "pair": ["first <i>", "second"]}
    (tmp_path / "items.jsonl").write_text(json.dumps(item))
    (tmp_path / "config.yaml").write_text(CONFIG)
    desk = Desk(argilla, tmp_path)
    desk.push()
    ann = desk.annotator()
    page = argilla_page(ann)
    frame = open_panel(page, desk.dataset)
    # A question that depends on another one of Argilla's comes when that one is answered so.
    why = frame.locator("[data-scheme=why]")
    assert not why.is_visible()
    page.locator("label").filter(has_text="bad").first.click()
    why.wait_for()
    assert not submit_button(page).is_enabled()
    why.locator("textarea").fill("because </script>\n$&")
    frame.locator("[data-scheme=count] input").fill("3")
    frame.locator("[data-scheme=sure] input").fill("70")
    shares = frame.locator("[data-scheme=share] input")
    shares.nth(0).fill("3")
    shares.nth(1).fill("6")
    assert "sum to 10" in frame.locator(".status").inner_text()
    assert not submit_button(page).is_enabled()
    save_draft(page)
    frame = open_panel(page, desk.dataset, status="draft")
    assert frame.locator("[data-scheme=why] textarea").input_value() == "because </script>\n$&"
    frame.locator("[data-scheme=share] input").nth(1).fill("7")
    fix = frame.locator("[data-scheme=fix] textarea")
    fix.fill(fix.input_value().replace("fox", "dog"))
    # The fox is marked with the mouse: behind a character of two code units, tags and a line break.
    frame.locator(".span-label[data-label=place]").click()
    frame.locator("pre.marked").evaluate(
        """pre => { const node = pre.firstChild, at = node.data.indexOf("fox"), range = document.createRange();
        range.setStart(node, at); range.setEnd(node, at + 3);
        getSelection().removeAllRanges(); getSelection().addRange(range);
        pre.dispatchEvent(new MouseEvent("mouseup", { bubbles: true })); }"""
    )
    assert frame.locator("pre.marked mark").inner_text() == "fox"
    assert "first <i>" in frame.locator(".two").inner_text()
    page.locator("label[for^=pair]").filter(has_text="A").first.click()
    submit(page)
    open_panel(page, desk.dataset, status="submitted")
    assert not is_changed(page)
    desk.pull()
    [record] = desk.records()
    shown = TEXT.replace("\r\n", " \n")
    start = shown.index("fox")
    assert record.flags == []
    fixed = record.annotations.pop("fix")
    assert (fixed["original_text"], fixed["edited_text"]) == (TEXT, TEXT.replace("fox", "dog"))
    assert record.annotations == {
        "Good or bad?": "bad",
        "why": "because </script>\n$&",
        "count": 3,
        "sure": 70,
        "share": {"a": 3, "b": 7},
        "marks": [{"start": start, "end": start + 3, "label": "place", "text": "fox", "field": "text"}],
        "pair": {"selection": "A"},
    }
    assert errors(page) == []
    desk.close()
