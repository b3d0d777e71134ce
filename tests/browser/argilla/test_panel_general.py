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


ALL = """
annotation_task_name: Forms
task_dir: .
data_files: [items.jsonl]
item_properties: {id_key: id, text_key: task}
annotation_schemes:
  - {annotation_type: pairwise, name: pair, description: Which, items_key: pair}
  - annotation_type: radio
    name: why
    description: Why A
    labels: [short, clear]
    has_free_response: true
    display_logic: {show_when: [{schema: pair, operator: equals, value: A}]}
  - annotation_type: ranking
    name: order
    description: Order
    labels: [speed, style, cost]
    display_logic: {show_when: [{schema: pair, operator: equals, value: A}]}
  - {annotation_type: text, name: notes, description: Notes, labels: [first, second]}
  - {annotation_type: number, name: count, description: How many, min: 0, max: 9}
  - {annotation_type: confidence, name: sure, description: Sure, scale_type: slider}
  - {annotation_type: multirate, name: rate, description: Rate, options: [taste, price], labels: ['1', '2', '3']}
  - {annotation_type: semantic_differential, name: feel, description: Feel, pairs: [[bad, good], [slow, fast]]}
  - {annotation_type: soft_label, name: soft, description: Soft, labels: [a, b]}
  - {annotation_type: pairwise, name: sides, description: Sides, items_key: pair, mode: multi_dimension,
     dimensions: [{name: style}, {name: facts}]}
  - {annotation_type: pairwise, name: scale, description: Scale, items_key: pair, mode: scale}
  - {annotation_type: hierarchical_multiselect, name: tree, description: Tree,
     taxonomy: {Bug: [Crash, Slow], Other: {}}}
  - {annotation_type: extractive_qa, name: qa, description: Find, question_field: task, passage_field: text}
  - {annotation_type: multiselect, name: many, description: Many, labels: [x, y, z]}
  - {annotation_type: likert, name: points, description: Points, size: 5, min_label: Poor, max_label: Good}
  - {annotation_type: select, name: language, description: Language, labels: [python, js]}
  - {annotation_type: triage, name: keep, description: Keep}
"""


def test_every_form(argilla, tmp_path, argilla_page):
    item = {"id": "i", "task": "Which animal?", "text": TEXT, "pair": ["first <i>", "second"]}
    (tmp_path / "items.jsonl").write_text(json.dumps(item))
    (tmp_path / "config.yaml").write_text(ALL)
    desk = Desk(argilla, tmp_path)
    desk.push()
    ann = desk.annotator()
    page = argilla_page(ann)
    frame = open_panel(page, desk.dataset)

    def part(scheme, key=""):
        return frame.locator(f"[data-scheme={scheme}] .part[data-part='{key}']")

    def choose(scheme, value, key=""):
        part(scheme, key).locator(f"input[value='{value}']").click()

    # What depends on a comparison, which is a question of Argilla, comes with its answer.
    assert not part("why").is_visible()
    page.locator("label[for^=pair]").filter(has_text="A").first.click()
    part("why").wait_for()
    choose("why", "clear")
    part("why", "free_response").locator("textarea").fill("it <b>says</b> so")
    order = part("order")
    for label in ("style", "cost"):
        order.locator(f"button[data-in={label}]").click()
    # What would be a fault when it is read is said while it can be mended.
    assert "2 of 3 are ranked" in frame.locator(".status").inner_text()
    order.locator("button[data-in=speed]").click()
    order.locator("button[data-up='2']").click()
    part("notes", "second").locator("textarea").fill("two\nlines 😀")
    part("count").locator("input").fill("99")
    assert "from 0 to 9" in frame.locator(".status").inner_text()
    assert not submit_button(page).is_enabled()
    part("count").locator("input").fill("2.5")
    part("sure").locator("input").fill("61")
    choose("rate", "2", "taste")
    choose("feel", "6", "bad__good")
    choose("feel", "1", "slow__fast")
    part("soft", "a").locator("input").fill("60")
    part("soft", "b").locator("input").fill("40")
    # Only a slider that nobody moved is pale.
    assert part("soft", "b").locator("input").evaluate("box => getComputedStyle(box).opacity") == "1"
    choose("sides", "A", "style")
    choose("sides", "B", "facts")
    part("scale").locator("input").fill("-2")
    choose("tree", "Slow")
    choose("tree", "Other")
    # The mouse is pressed at the fox and let go far behind the text.
    passage = frame.locator("[data-scheme=qa] pre.marked")
    passage.scroll_into_view_if_needed()
    at = passage.evaluate(
        """pre => { const node = pre.firstChild, at = node.data.indexOf("fox"), range = document.createRange();
        range.setStart(node, at); range.setEnd(node, at + 3);
        const box = range.getBoundingClientRect(); return [box.left + 1, box.top + box.height / 2]; }"""
    )
    outer = page.locator("iframe").bounding_box()
    mine = passage.bounding_box()
    assert outer and mine
    page.mouse.move(outer["x"] + at[0], outer["y"] + at[1])
    page.mouse.down()
    page.mouse.move(mine["x"] + mine["width"] - 20, mine["y"] + mine["height"] + 12, steps=8)
    page.mouse.up()
    assert passage.locator("mark").inner_text() == "fox."
    for scheme, word in (("many", "x"), ("many", "z"), ("points", "4"), ("language", "js"), ("keep", "Discard")):
        page.locator(f"label[for^={scheme}]").filter(has_text=word).first.click()
    submit(page)
    open_panel(page, desk.dataset, status="submitted")
    assert not is_changed(page)
    desk.pull()
    [record] = desk.records()
    start = TEXT.replace("\r\n", " \n").index("fox.")
    assert (record.flags, record.controls) == ([], {})
    assert record.annotations == {
        "pair": {"selection": "A"},
        "why": {"option": "clear", "free_response": "it <b>says</b> so"},
        "order": ["style", "speed", "cost"],
        "notes": {"second": "two\nlines 😀"},
        "count": 2.5,
        "sure": 61,
        "rate": {"taste": "2"},
        "feel": {"bad__good": 6, "slow__fast": 1},
        "soft": {"a": 60, "b": 40},
        "sides": {"style": "A", "facts": "B"},
        "scale": {"scale_value": -2},
        "tree": ["Slow", "Other"],
        "qa": {"answer_text": "fox.", "start": start, "end": start + 4, "unanswerable": False},
        "many": ["x", "z"],
        "points": 4,
        "language": "js",
        "keep": "reject",
    }
    assert errors(page) == []
    desk.close()
