"""Hostile text in every place of an item and of an answer, both layouts, also opened again: it runs nowhere.

First an unguarded field shows that one of the payloads does run in Argilla.
"""

from __future__ import annotations

import json

import pytest

from potato_bridge.converters.argilla.layouts import LAYOUTS
from potato_bridge.converters.argilla.plan import Stored
from potato_bridge.model import Record
from potato_bridge.model.trajectory_edit import StepEdit, TrajectoryEdits
from tests.servers.argilla_desk import Desk, ready
from tests.servers.argilla_pages import open_records

RUN = "parent.pwned=(parent.pwned||0)+1"
PAYLOADS = [
    f"</script><script>{RUN}</script>",
    f"</SCRIPT ><script>{RUN}</script>",
    f"<script>{RUN}</script>",
    f'<img src=x onerror="{RUN}">',
    f"<img src=x onerror={RUN}>",
    f"<svg onload={RUN}>",
    f"<svg><script>{RUN}</script></svg>",
    f'<iframe srcdoc="<script>{RUN}</script>"></iframe>',
    f'<iframe src="javascript:{RUN}"></iframe>',
    f"<details open ontoggle={RUN}>x</details>",
    f"<body onload={RUN}>",
    f"<input autofocus onfocus={RUN}>",
    f"<video><source onerror={RUN}></video>",
    f'<a href="javascript:{RUN}">click</a>',
    f"<math><mtext><style><img src=x onerror={RUN}></style></mtext></math>",
    f"<style>@import 'x';</style><img src=x onerror={RUN}>",
    f'<noscript><p title="</noscript><img src=x onerror={RUN}>">',
    f"<template><img src=x onerror={RUN}></template>",
    f"&lt;img src=x onerror={RUN}&gt;",
    f"&#60;script&#62;{RUN}&#60;/script&#62;",
    f"$`<script>{RUN}</script>",
    f"$'<script>{RUN}</script>",
    "$& $$ $1 $<name>",
    f'";{RUN};//',
    f"';{RUN};//",
    f"`${{{RUN}}}`",
    f"\u2028{RUN}\u2029",
    f"{{{{constructor.constructor('{RUN}')()}}}}",
    f"![x](javascript:{RUN}) [y](javascript:{RUN})",
    f"<!--<script>{RUN}</script>-->]]><script>{RUN}</script>",
]
EACH = len(PAYLOADS)
CONFIG = """
annotation_task_name: {name}
task_dir: .
data_files: [items.jsonl]
item_properties: {{id_key: id, text_key: task}}
max_annotations_per_item: 9
instance_display:
  fields:
    - {{key: task, type: text, label: Task}}
    - {{key: more, type: text, label: More}}
    - {{key: turns, type: coding_trace, label: Turns}}
annotation_schemes:
{schemes}
"""
STEPS = """
  - annotation_type: process_reward
    name: reward
    mode: per_step
    steps_key: turns
    description: {text}
    per_step:
      allow_notes: true
      labels:
        - {{value: good, display: {text}, color: green, score: 1}}
        - {{value: bad, display: Bad, color: red, score: -1}}
"""
OTHERS = """
  - annotation_type: code_review
    name: review
    description: {text}
    comment_categories: [bug, {text}]
    allow_summary: true
  - {{annotation_type: text, name: why, description: {text}}}
  - {{annotation_type: radio, name: mood, description: {text}, labels: [{text}, other]}}
  - {{annotation_type: trajectory_edit, name: edit, steps_key: steps, require_reason_on_edit: true}}
  - {{annotation_type: span, name: marks, target_field: more, labels: [{text}, b]}}
"""
SPAN = """
  - {{annotation_type: span, name: marks, target_field: more, labels: [b, c]}}
  - {{annotation_type: radio, name: mood, labels: [{text}, x]}}
"""
EDITS = """
  - {{annotation_type: trajectory_edit, name: edit, steps_key: steps, description: {text}}}
"""
REVIEW = """
  - annotation_type: code_review
    name: review
    description: {text}
    comment_categories: [bug, {text}]
    file_rating_dimensions: [{text}]
    verdict_options: [{text}, other]
    allow_summary: true
"""
WATCH = """() => [window.pwned, ...Array.from({ length: frames.length }, (_, n) => {
  try { return frames[n].pwned } catch { return null } })]"""


def write(folder, name, schemes, text):
    folder.mkdir(exist_ok=True)
    quoted = json.dumps(text)
    (folder / "config.yaml").write_text(CONFIG.format(name=name, schemes=schemes.format(text=quoted)), encoding="utf-8")
    call = {
        "tool": "Edit",
        "input": {"file_path": f"a{text[:40]}.py", "old_string": text, "new_string": f"{text}!"},
        "output": text,
    }
    shell = {"tool": "Bash", "input": {"command": text}, "output": text}
    items = [
        {
            "id": f"item {n} {one}",
            "task": one,
            "more": one,
            "turns": [
                {"role": "user", "content": one},
                {"role": "assistant", "content": one, "reasoning": one, "tool_calls": [call, shell]},
                {"role": "assistant", "content": f"{one}\n{text}"},
            ],
            "steps": [{"thought": one, "action": one}],
        }
        for n, one in enumerate(PAYLOADS)
    ]
    (folder / "items.jsonl").write_text("".join(json.dumps(item) + "\n" for item in items), encoding="utf-8")


@pytest.fixture
def look(argilla_page):
    """Goes through the records of a queue, tells what ran, and what was asked for outside of the server."""

    def walk(desk, user, status="pending", *, panel=True, count=EACH):
        page = argilla_page(user)
        asked = []
        page.on(
            "request",
            lambda request: asked.append(request.url) if not request.url.startswith(desk.argilla.url) else None,
        )
        page.on("dialog", lambda dialog: dialog.dismiss())
        ran = []
        open_records(page, desk.dataset, status=status)
        for n in range(count):
            if panel:
                ready(page)
            ran += [one for one in page.evaluate(WATCH) if one]
            if n + 1 < count:
                before = page.url
                page.locator(".pagination button, [class*=pagination] button").last.click()
                page.wait_for_function("before => location.href !== before", arg=before)
        known = (desk.argilla.url, "data:", "blob:", "https://fonts.g")
        outside = [url for url in asked if not url.startswith(known)]
        page.context.close()
        return ran, outside

    return walk


def test_an_unguarded_field_runs_a_payload(argilla, tmp_path, look):
    """Else the tests below would show nothing."""
    write(tmp_path, "unguarded", STEPS, "x")
    desk = Desk(argilla, tmp_path)
    http = argilla.http
    body = {"name": "unguarded", "workspace_id": desk.workspace}
    made = http.post("/api/v1/datasets", json=body).raise_for_status().json()["id"]
    field = {
        "name": "text",
        "title": "T",
        "required": True,
        "settings": {"type": "custom", "template": "<p>x</p>", "advanced_mode": True},
    }
    http.post(f"/api/v1/datasets/{made}/fields", json=field).raise_for_status()
    question = {"name": "q", "title": "Q", "required": True, "settings": {"type": "text"}}
    http.post(f"/api/v1/datasets/{made}/questions", json=question).raise_for_status()
    http.put(f"/api/v1/datasets/{made}/publish").raise_for_status()
    items = [{"fields": {"text": {"x": PAYLOADS[0]}}}]
    http.put(f"/api/v1/datasets/{made}/records/bulk", json={"items": items}).raise_for_status()
    desk.dataset = made
    ran, _ = look(desk, argilla.owner, panel=False, count=1)
    assert ran
    desk.close()


def answer(desk, user, annotations):
    """Answers all records with hostile text, as far as the layout has a place for it."""
    layout = LAYOUTS[desk.layout or "panel"]
    for item, record in desk.on_server().items():
        stored = Stored(record["external_id"], record["fields"], record["metadata"])
        said = {name: make(item) if callable(make) else make for name, make in annotations.items()}
        written = layout.write_answer(desk.project, Record(id="x", annotator="a", annotations=said), [stored])
        values = written.get(record["external_id"], {})
        body = {"status": "submitted", "values": {name: {"value": value} for name, value in values.items()}}
        desk.argilla.client(user).post(f"/api/v1/records/{record['id']}/responses", json=body).raise_for_status()


def test_the_panel_runs_nothing(argilla, tmp_path, look):
    text = PAYLOADS[0]
    write(tmp_path, "panel", STEPS + OTHERS, text)
    desk = Desk(argilla, tmp_path)
    assert desk.push().created == len(PAYLOADS)
    assert look(desk, argilla.owner) == ([], [])
    number = {f"item {n} {one}": one for n, one in enumerate(PAYLOADS)}
    ann = desk.annotator()
    label = {"label": "good", "notes": text}
    said = {
        "reward": lambda item: {
            "mode": "per_step",
            "total_steps": 2,
            "labels": [1.0, None],
            "step_details": {"0": {**label, "notes": number[item]}},
        },
        "review": lambda item: {
            "verdict": "approve",
            "comments": [
                {
                    "category": text,
                    "file": f"a{text[:40]}.py",
                    "line": None,
                    "text": number[item],
                    "suggestion": number[item],
                }
            ],
            "file_ratings": {},
            "summary": number[item],
        },
        "why": lambda item: number[item],
        "mood": text,
        "edit": lambda item: TrajectoryEdits(
            steps=[
                StepEdit(
                    step_index=0,
                    field="action",
                    original_text=number[item],
                    edited_text=f"{text} {number[item]}",
                    reason=number[item],
                )
            ]
        ).to_json(),
        "marks": lambda item: [{"start": 0, "end": 1, "label": text, "field": "more", "text": number[item][0]}],
    }
    answer(desk, ann, said)
    assert look(desk, ann, "submitted") == ([], [])
    desk.pull()
    found = {record.id: record.annotations for record in desk.records()}
    assert {item: answer["why"] for item, answer in found.items()} == number
    edited = {item: answer["edit"]["steps"][0] for item, answer in found.items()}
    assert {item: (edit["edited_text"], edit["reason"]) for item, edit in edited.items()} == {
        item: (f"{text} {one}", one) for item, one in number.items()
    }
    assert {answer["marks"][0]["label"] for answer in found.values()} == {text}
    desk.close()


@pytest.mark.parametrize("schemes", [STEPS, SPAN, EDITS], ids=["steps", "spans", "edits"])
def test_the_native_layout_runs_nothing(argilla, tmp_path, look, schemes):
    write(tmp_path, f"native {len(schemes)}", schemes, PAYLOADS[0])
    desk = Desk(argilla, tmp_path, layout="native")
    count = desk.push().created
    assert count == len(PAYLOADS) * (2 if schemes == STEPS else 1)
    assert look(desk, argilla.owner, panel=False, count=count) == ([], [])
    ann = desk.annotator()
    if schemes == STEPS:
        said = {
            "reward": {
                "mode": "per_step",
                "total_steps": 2,
                "labels": [1.0, 1.0],
                "step_details": {str(n): {"label": "good", "notes": PAYLOADS[n]} for n in range(2)},
            }
        }
        for record in desk.on_server().values():
            parts = [Stored(record["external_id"], record["fields"], record["metadata"])]
            written = LAYOUTS["native"].write_answer(
                desk.project, Record(id="x", annotator="a", annotations=said), parts
            )
            body = {
                "status": "submitted",
                "values": {k: {"value": v} for k, v in written[record["external_id"]].items()},
            }
            argilla.client(ann).post(f"/api/v1/records/{record['id']}/responses", json=body).raise_for_status()
    elif schemes == EDITS:
        for number, record in enumerate(desk.on_server().values()):
            body = {"status": "submitted", "values": {"edit": {"value": f"{PAYLOADS[number]} $& {PAYLOADS[0]}"}}}
            argilla.client(ann).post(f"/api/v1/records/{record['id']}/responses", json=body).raise_for_status()
    else:
        answer(
            desk,
            ann,
            {"mood": PAYLOADS[0], "marks": lambda item: [{"start": 0, "end": 1, "label": "b", "field": "more"}]},
        )
    assert look(desk, ann, "submitted", panel=False, count=count) == ([], [])
    desk.pull()
    assert len(desk.records()) == len(PAYLOADS)
    desk.close()


def test_the_native_review_runs_nothing(argilla, tmp_path, look):
    text = PAYLOADS[0]
    write(tmp_path, "native review", REVIEW, text)
    desk = Desk(argilla, tmp_path, layout="native")
    count = desk.push().created
    assert count == 2 * len(PAYLOADS)
    assert look(desk, argilla.owner, panel=False, count=count) == ([], [])
    ann = desk.annotator()
    number = {f"item {n} {one}": one for n, one in enumerate(PAYLOADS)}
    said = {
        item: {
            "verdict": text,
            "comments": [{"category": text, "file": f"a{text[:40]}.py", "line": None, "text": one.strip()}],
            "file_ratings": {f"a{text[:40]}.py": {text: 3}},
            "summary": one,
        }
        for item, one in number.items()
    }
    shown = desk.on_server()
    for item, review in said.items():
        of_item = [one for name, one in shown.items() if name.startswith(f"{item}/")]
        parts = [Stored(one["external_id"], one["fields"], one["metadata"]) for one in of_item]
        ids = {one["external_id"]: one["id"] for one in of_item}
        assert len(parts) == 2
        record = Record(id=item, annotator="a", annotations={"review": review})
        for name, values in LAYOUTS["native"].write_answer(desk.project, record, parts).items():
            body = {"status": "submitted", "values": {key: {"value": value} for key, value in values.items()}}
            argilla.client(ann).post(f"/api/v1/records/{ids[name]}/responses", json=body).raise_for_status()
    assert look(desk, ann, "submitted", panel=False, count=count) == ([], [])
    desk.pull()
    assert {record.id: record.annotations["review"] for record in desk.records()} == said
    desk.close()
