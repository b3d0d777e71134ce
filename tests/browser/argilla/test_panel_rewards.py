"""first_error and per_step in the panel, on the real Argilla, by mouse and keys."""

from __future__ import annotations

import json
import time

import pytest

from potato_bridge.converters.argilla.fields import to_base64
from potato_bridge.converters.argilla.panel.records import payload_of
from tests.servers.annotator import errors
from tests.servers.argilla_desk import Desk, is_changed, open_panel, shot, submit_button
from tests.servers.argilla_pages import discard, save_draft, submit


@pytest.fixture
def per_step(argilla, tmp_path):
    desk = Desk(argilla, tmp_path, "per_step")
    desk.push()
    yield desk
    desk.close()


@pytest.fixture
def first_error(argilla, tmp_path):
    desk = Desk(argilla, tmp_path, "first_error")
    desk.push()
    yield desk
    desk.close()


def test_steps_are_rated(per_step, argilla_page):
    desk = per_step
    item = sorted(desk.on_server())[0]
    desk.keep_only(item)
    ann, bob = desk.annotator(), desk.annotator()
    page = argilla_page(ann)
    frame = open_panel(page, desk.dataset)
    steps = frame.locator(".card.step")
    total = steps.count()
    assert total == 5

    def button(step, label):
        return steps.nth(step).locator(f"button.label[data-label={label}]")

    # Partial work cannot be submitted, and is kept as a draft.
    button(0, "correct").click()
    button(2, "incorrect").click()
    steps.nth(2).locator("select").select_option("Logic error")
    steps.nth(2).locator("textarea").fill("The test is changed, not the code.")
    shot(page, "argilla-per-step", steps.nth(2))
    steps.nth(2).locator("textarea").fill("a </script> & $& tail")
    assert "not rated: step 2, 4, 5" in frame.locator(".status").inner_text()
    assert not submit_button(page).is_enabled()
    save_draft(page)
    partial = {
        "0": {"label": "correct"},
        "2": {"label": "incorrect", "error_category": "Logic error", "notes": "a </script> & $& tail"},
    }
    assert desk.said(item, ann) == {"status": "draft", "answer": {"process_reward": {"steps": partial}}}
    desk.pull()
    assert not desk.records_file.exists() or desk.records() == []
    desk.pull(drafts=True)
    assert [(one.status, one.annotator) for one in desk.records()] == [("draft", ann.username)]

    # It is there when the draft is opened again, and still not enough; keys go on, without a click before.
    frame = open_panel(page, desk.dataset, status="draft")
    steps = frame.locator(".card.step")
    assert steps.nth(2).locator("textarea").input_value() == "a </script> & $& tail"
    assert not submit_button(page).is_enabled()
    assert not is_changed(page)
    assert not page.locator("[contenteditable]").is_visible()
    for key in ("j", "j", "3", "j", "j", "1", "j", "5"):
        page.keyboard.press(key)
    assert frame.locator(".status").inner_text() == "5 of 5 steps rated, score 1.75"
    assert submit_button(page).is_enabled()
    submit(page)
    whole = {**partial, "1": {"label": "partially_correct"}, "3": {"label": "correct"}, "4": {"label": "recovery"}}
    assert desk.said(item, ann) == {"status": "submitted", "answer": {"process_reward": {"steps": whole}}}

    # Submitted, opened again: nothing is changed by that; then an edit.
    frame = open_panel(page, desk.dataset, status="submitted")
    steps = frame.locator(".card.step")
    assert frame.locator(".status").inner_text() == "5 of 5 steps rated, score 1.75"
    assert not is_changed(page)
    button(2, "unnecessary").click()
    assert steps.nth(2).locator("select").count() == 0
    submit(page)

    # Another person, from the beginning; a discard keeps what was said so far out of the data.
    other = argilla_page(bob)
    frame = open_panel(other, desk.dataset)
    assert frame.locator("button.label.chosen").count() == 0
    discard(other)
    report = desk.pull()
    assert (report.submitted, report.skipped, report.difference) == (1, 1, 0)
    mine, theirs = sorted(desk.records(), key=lambda record: record.status == "skipped")
    assert (mine.id, mine.annotator, mine.status) == (item, ann.username, "submitted")
    assert mine.annotations == {
        "process_reward": {
            "mode": "per_step",
            "total_steps": 5,
            "labels": [1.0, 0.5, -0.5, 1.0, 0.25],
            "step_details": {
                "0": {"label": "correct"},
                "1": {"label": "partially_correct"},
                "2": {"label": "unnecessary", "notes": "a </script> & $& tail"},
                "3": {"label": "correct"},
                "4": {"label": "recovery"},
            },
            "cumulative_score": 2.25,
        }
    }
    assert (theirs.annotator, theirs.status, theirs.annotations, theirs.flags) == (bob.username, "skipped", {}, [])
    assert desk.pull().describe().startswith("nothing new")
    assert errors(page) == errors(other) == []


def test_the_first_error_is_chosen_and_confirmed(first_error, argilla_page):
    desk = first_error
    item = sorted(desk.on_server())[0]
    desk.keep_only(item)
    ann = desk.annotator()
    page = argilla_page(ann)
    frame = open_panel(page, desk.dataset)
    marks = frame.locator(".mark")
    total = marks.count()
    marks.nth(1).click()
    assert frame.locator(".ask").inner_text().startswith("The first error is step 2?")
    assert not submit_button(page).is_enabled()
    frame.locator("button.confirm").click()
    assert [marks.nth(n).inner_text() for n in range(total)] == ["+1", "-1 (first error)"] + ["-1 (downstream)"] * (
        total - 2
    )
    color = marks.nth(1).evaluate("mark => getComputedStyle(mark).backgroundColor")
    assert color == "rgb(239, 68, 68)"
    shot(page, "argilla-first-error", marks.nth(0))
    save_draft(page)
    assert desk.said(item, ann) == {"status": "draft", "answer": {"process_reward": {"first_error_step": 1}}}
    frame = open_panel(page, desk.dataset, status="draft")
    assert frame.locator(".mark[data-kind=error]").get_attribute("data-mark") == "1"
    # All is right after all, by keys; then it is not.
    frame.locator(".card.step header").first.click()
    page.keyboard.press("0")
    page.keyboard.press("Enter")
    submit(page)
    assert desk.said(item, ann) == {"status": "submitted", "answer": {"process_reward": {"first_error_step": None}}}
    frame = open_panel(page, desk.dataset, status="submitted")
    assert frame.locator("button.all.chosen").count() == 1
    assert not is_changed(page)
    frame.locator(".card.step header").last.click()
    assert not submit_button(page).is_enabled()
    frame.locator("button.confirm").click()
    submit(page)
    # Somebody else finds nothing of it, and discards.
    bob = desk.annotator()
    other = argilla_page(bob)
    assert open_panel(other, desk.dataset).locator(".mark[data-kind=error]").count() == 0
    discard(other)
    desk.pull()
    record, theirs = sorted(desk.records(), key=lambda one: one.annotator == bob.username)
    assert record.annotations["process_reward"] == {
        "mode": "first_error",
        "first_error_step": total - 1,
        "total_steps": total,
        "labels": [1] * (total - 1) + [-1],
    }
    assert (theirs.status, theirs.annotations) == ("skipped", {})
    assert errors(page) == errors(other) == []


def test_what_was_suggested_or_typed_is_looked_at_first(first_error, argilla_page):
    desk = first_error
    item = sorted(desk.on_server())[0]
    desk.keep_only(item)
    ann = desk.annotator()
    suggested = '{"v":1,"complete":true,"schemes":{"process_reward":{"first_error_step":1}}}'
    _suggest(desk, item, suggested)
    page = argilla_page(ann)
    frame = open_panel(page, desk.dataset)
    status = frame.locator(".status")
    assert "first error: step 2" in status.inner_text()
    assert "the choice is not confirmed" in status.inner_text()
    assert not submit_button(page).is_enabled()
    # That it was not confirmed is not forgotten with a draft.
    save_draft(page)
    frame = open_panel(page, desk.dataset, status="draft")
    assert "the choice is not confirmed" in status.inner_text()
    # Argilla's keys work from within the panel; they do not submit what is not ready.
    page.keyboard.press("Control+Enter")
    page.keyboard.press("Enter")
    assert status.inner_text() == "first error: step 2"
    with page.expect_response(lambda answer: "/responses" in answer.url and answer.request.method == "PUT") as saved:
        page.keyboard.press("Control+Enter")
    assert saved.value.ok
    assert desk.said(item, ann) == {"status": "submitted", "answer": {"process_reward": {"first_error_step": 1}}}

    # What the panel cannot read is shown, and stays until something is changed.
    [response] = desk.on_server()[item]["responses"]
    typed = {"status": "submitted", "values": {"answer": {"value": "step 2, I think"}}}
    desk.argilla.client(ann).put(f"/api/v1/responses/{response['id']}", json=typed).raise_for_status()
    frame = open_panel(page, desk.dataset, status="submitted")
    frame.locator(".unread summary").click()
    assert frame.locator(".unread pre").inner_text() == "step 2, I think"
    assert not is_changed(page)
    assert not submit_button(page).is_enabled()
    assert errors(page) == []


def test_each_record_gets_its_own_answer(first_error, argilla_page):
    desk = first_error
    ann = desk.annotator()
    page = argilla_page(ann)
    frame = open_panel(page, desk.dataset)
    task = frame.locator(".task pre").first
    tasks = {payload_of(record["fields"])["task"]["text"]["head"]: name for name, record in desk.on_server().items()}
    assert len(tasks) >= 2
    chosen = {}

    def choose(step):
        chosen[tasks[task.text_content()]] = step
        frame.locator(".mark").nth(step).click()
        frame.locator("button.confirm").click()

    def leave(go):
        before = task.text_content()
        go()
        frame.locator(".task").filter(has_not_text=before).first.wait_for()
        frame.locator("body[data-bridge=ready]").wait_for()

    choose(0)
    # Argilla keeps what is not saved when one looks at the next record; so does the panel, and that it was confirmed.
    forth, back = page.locator(".pagination__button").nth(1), page.locator(".pagination__button").nth(0)
    leave(forth.click)
    assert frame.locator(".status").inner_text() == "no step is chosen"
    leave(back.click)
    assert frame.locator(".status").inner_text() == "first error: step 1"
    leave(lambda: submit(page))
    choose(1)
    submit(page)
    said = {name: desk.said(name, ann) for name in chosen}
    assert said == {
        name: {"status": "submitted", "answer": {"process_reward": {"first_error_step": step}}}
        for name, step in chosen.items()
    }
    assert len(chosen) == 2
    assert errors(page) == []


def test_the_list_of_records_takes_no_answer(per_step, argilla_page):
    desk = per_step
    page = argilla_page(desk.annotator())
    open_panel(page, desk.dataset)
    page.locator("[data-title='Bulk view']").click()
    frame = page.frame_locator("iframe >> nth=0")
    frame.locator(".status .missing").get_by_text("This list gives all records one answer").wait_for()
    assert frame.locator(".asked").get_attribute("inert") is not None
    assert errors(page) == []


def test_the_steps_of_a_sub_agent_are_not_rated(per_step, argilla_page):
    desk = per_step
    item = sorted(desk.on_server())[0]
    desk.keep_only(item)
    ann = desk.annotator()
    # As a trace with the run of another agent in it is written.
    record = desk.on_server()[item]
    payload = payload_of(record["fields"])
    inside = {"number": 0, "role": "Agent", "parts": [{"kind": "prose", "text": {"head": "inside"}}]}
    payload["cards"][2]["parts"].append({"kind": "subagent", "title": "Helper: 1 steps", "cards": [inside]})
    changed = {
        "external_id": record["external_id"],
        "fields": {"panel": {"b64": to_base64(payload)}},
        "metadata": record["metadata"],
    }
    answer = desk.argilla.http.put(f"/api/v1/datasets/{desk.dataset}/records/bulk", json={"items": [changed]})
    answer.raise_for_status()
    page = argilla_page(ann)
    frame = open_panel(page, desk.dataset)
    frame.get_by_text("Helper: 1 steps").click()
    frame.locator(".sub .card").get_by_text("inside").click()
    page.keyboard.press("1")
    assert frame.locator(".sub .card header").inner_text() == "Agent"
    save_draft(page)
    number = payload["cards"][2]["number"]
    said = {"process_reward": {"steps": {str(number): {"label": "correct"}}}}
    assert number != 0
    assert desk.said(item, ann) == {"status": "draft", "answer": said}
    assert errors(page) == []


def _suggest(desk: Desk, item: str, answer: str) -> None:
    http = desk.argilla.http
    questions = http.get(f"/api/v1/datasets/{desk.dataset}/questions").raise_for_status().json()["items"]
    [question] = [one["id"] for one in questions if one["name"] == "answer"]
    body = {"question_id": question, "value": answer, "agent": "a model"}
    http.put(f"/api/v1/records/{desk.on_server()[item]['id']}/suggestions", json=body).raise_for_status()


def test_without_the_bridge_the_answer_can_be_pasted(first_error, argilla_page):
    desk = first_error
    item = sorted(desk.on_server())[0]
    desk.keep_only(item)
    ann = desk.annotator()
    page = argilla_page(ann)
    # As in a version of Argilla whose elements do not tell their components.
    page.add_init_script(
        "Object.defineProperty(HTMLElement.prototype, '__vue__', { get: () => undefined, set: () => {} })"
    )
    open_records = open_panel(page, desk.dataset)
    assert open_records.locator(".lost").is_visible()
    open_records.locator(".mark").nth(0).click()
    open_records.locator("button.confirm").click()
    answer = open_records.locator(".lost textarea").input_value()
    page.locator("[contenteditable]").first.click()
    page.keyboard.insert_text(answer)
    submit(page)
    desk.pull()
    [record] = desk.records()
    assert record.annotations["process_reward"]["first_error_step"] == 0


def test_the_panel_comes_in_time(argilla, tmp_path, argilla_page):
    desk = Desk(argilla, tmp_path, "per_step")
    turns = [{"role": "assistant", "content": f"I do part {n}.", "tool_calls": []} for n in range(300)]
    (tmp_path / "data" / "traces.jsonl").write_text(
        json.dumps({"id": "long", "task_description": "A long run", "structured_turns": turns})
    )
    desk.push()
    page = argilla_page(desk.annotator())
    began = time.monotonic()
    frame = open_panel(page, desk.dataset)
    opened = time.monotonic() - began
    button = frame.locator(".card.step").nth(150).locator("button.label").nth(1)
    button.scroll_into_view_if_needed()
    # From the click to the next frame that is drawn, as the page measures it.
    taken = button.evaluate(
        """button => new Promise(done => { const began = performance.now(); button.click();
        requestAnimationFrame(() => setTimeout(() => done(performance.now() - began))); })"""
    )
    print(f"300 steps in Argilla's panel: open {opened:.1f} s, a click {taken:.0f} ms")
    assert frame.locator(".status").inner_text().startswith("1 of 300 steps rated")
    desk.close()
