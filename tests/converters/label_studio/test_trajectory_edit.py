"""Trajectory edits between records and Label Studio's results, without a server."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from potato_bridge.converters.label_studio.interface import build_interface
from potato_bridge.converters.label_studio.prefill import MODEL_VERSION
from potato_bridge.converters.label_studio.results import Answer, read_answer, write_results
from potato_bridge.converters.label_studio.tasks import build_task
from potato_bridge.converters.label_studio.trajectory_edit import MANY_FIELDS, ON_ONE_PAGE
from potato_bridge.converters.potato.traces import to_trace
from potato_bridge.errors import InputError
from potato_bridge.model import Item, Project, Record
from potato_bridge.model.project import DisplayField, TraceDisplay
from potato_bridge.model.trajectory_edit import FinalEdit, StepEdit, TrajectoryEdits, plain_breaks
from potato_bridge.model.trajectory_scheme import TrajectoryEdit
from potato_bridge.notices import Notices
from tests.converters.label_studio.samples import HOSTILE

NOTHING = {"steps": [], "final_answer": None, "n_steps_edited": 0, "total_edit_distance": 0}
STEPS: list[Any] = [
    {"thought": "Look.", "action": "look(x)", "observation": "seen it"},
    {"action": {"tool": "go", "args": {"n": 1}}},
    "bare\r\ntext  ",
    {"thought": "Nothing to correct here."},
    {"action": None},
    {"action": ""},
]


def make(steps: list[Any] | None = None, final: Any = "It is so.", **scheme: Any) -> tuple[Project, dict[str, Any]]:
    """A project with the scheme `fix`, and the task of its one item."""
    options = {"name": "fix", "edit_final_answer": True, **scheme}
    project = Project(
        name="Fixes",
        config=Path("/project/config.yaml"),
        task_dir=Path("/project"),
        id_key="id",
        text_key="task",
        output_dir=Path("/project/output"),
        fields=[DisplayField(key="steps", type="agent_trace", trace=TraceDisplay())],
        schemes=[TrajectoryEdit(**options)],
    )
    return project, task_of(project, STEPS if steps is None else steps, final)


def task_of(project: Project, steps: list[Any], final: Any = "It is so.") -> dict[str, Any]:
    data = {"id": "a", "task": "Do it", "steps": steps, **({} if final is None else {"final_answer": final})}
    item = Item(id="a", data=data, file="items.jsonl")
    return build_task(project, item, to_trace(item, project, Notices()), Notices())


def filled(task: dict[str, Any], **texts: Any) -> dict[str, Any]:
    """An annotation of a task whose boxes have these texts, all others what the prediction put there."""
    [prediction] = task["predictions"]
    entries = [{**entry, "origin": "prediction"} for entry in prediction["result"]]
    for entry in entries:
        if entry["from_name"] in texts:
            entry["value"] = {"text": [texts.pop(entry["from_name"])]}
    extra = [
        {"from_name": name, "to_name": "task", "type": "textarea", "value": {"text": [text]}}
        for name, text in texts.items()
    ]
    return {"result": [*entries, *extra]}


def read(project: Project, task: dict[str, Any], annotation: dict[str, Any], **more: Any) -> Answer:
    return read_answer(project, task, annotation, controls=build_interface(project, Notices()).controls, **more)


def test_the_boxes_are_filled_by_a_prediction_and_untouched_they_are_no_edit() -> None:
    project, task = make()
    [prediction] = task["predictions"]
    assert prediction["model_version"] == MODEL_VERSION
    texts = {entry["from_name"]: entry["value"]["text"] for entry in prediction["result"]}
    assert texts == {
        "fix_edit_0": ["look(x)"],
        "fix_edit_1": ['{"tool":"go","args":{"n":1}}'],
        "fix_edit_2": ["bare\r\ntext  "],
        "fix_edit_3": [""],
        "fix_final_0": ["It is so."],
    }
    assert len({entry["id"] for entry in prediction["result"]}) == 5
    answer = read(project, task, filled(task))
    assert (answer.annotations, answer.flags, answer.controls) == ({"fix": NOTHING}, [], {})
    # A box that was opened: its line breaks are newlines now.
    answer = read(project, task, filled(task, fix_edit_2="bare\ntext  "))
    assert answer.annotations == {"fix": NOTHING}


def test_a_task_without_boxes_to_fill_has_no_prediction() -> None:
    _, task = make([{"note": "x"}], final=None)
    assert "predictions" not in task


def test_edits() -> None:
    project, task = make(require_reason_on_edit=True)
    annotation = filled(
        task,
        fix_edit_0="",
        fix_reason_0="why not",
        fix_edit_2="bare\nText  ",
        fix_reason_2="case",
        fix_reason_3="kept although nothing was changed",
        fix_final_0="It is not so. 😀",
    )
    answer = read(project, task, annotation)
    assert (answer.flags, answer.controls) == ([], {})
    assert (
        answer.annotations["fix"]
        == TrajectoryEdits(
            steps=[
                StepEdit(step_index=0, field="action", original_text="look(x)", edited_text="", reason="why not"),
                StepEdit(
                    step_index=2,
                    field="action",
                    original_text="bare\r\ntext  ",
                    edited_text="bare\r\nText  ",
                    reason="case",
                ),
                StepEdit(
                    step_index=5,
                    field="action",
                    original_text="",
                    edited_text="",
                    reason="kept although nothing was changed",
                ),
            ],
            final_answer=FinalEdit(original_text="It is so.", edited_text="It is not so. 😀"),
        ).to_json()
    )


def test_no_entry_is_no_answer() -> None:
    project, task = make()
    assert read(project, task, {"result": []}).annotations == {}
    assert read(project, task, {"result": []}).flags == []
    project, task = make(required=True)
    assert [flag.code for flag in read(project, task, {"result": []}).flags] == ["missing-required"]
    assert read(project, task, {"result": [], "was_cancelled": True}).flags == []
    # Begun empty: what was not written is not edited.
    entry = {"from_name": "fix_edit_0", "to_name": "task", "type": "textarea", "value": {"text": ["look(y)"]}}
    assert read(project, task, {"result": [entry]}).annotations["fix"]["n_steps_edited"] == 1


@pytest.mark.parametrize(
    ("scheme", "texts", "code"),
    [
        ({}, {"fix_edit_9": "x"}, "step-out-of-range"),
        ({}, {"fix_edit_4": "x"}, "step-out-of-range"),
        ({}, {"fix_final_1": "x"}, "step-out-of-range"),
        ({}, {"fix_edit_0": 7}, "bad-result"),
        ({"require_reason_on_edit": True}, {"fix_edit_0": "x", "fix_reason_0": " "}, "missing-required"),
        ({}, {"fix_edit_1": "{"}, "invalid-json"),
    ],
)
def test_what_is_no_answer_is_kept_with_a_flag(scheme: dict[str, Any], texts: dict[str, Any], code: str) -> None:
    project, task = make(**scheme)
    answer = read(project, task, filled(task, **texts))
    assert [flag.code for flag in answer.flags] == [code]
    if code in ("step-out-of-range", "bad-result"):
        assert list(answer.controls) == list(texts)
    else:
        assert answer.annotations["fix"]["n_steps_edited"] == 1


def test_an_answer_to_an_earlier_state_of_the_item() -> None:
    project, before = make()
    steps = [{"action": "new(x)"}, STEPS[1], STEPS[2], {"action": "added"}, *STEPS[3:]]
    after = task_of(project, steps, "It is otherwise.")
    revision = before["meta"]["potato_bridge"]
    # Only originals that changed are not known any more; whether they were edited is.
    answer = read(project, after, filled(before, fix_edit_1="{}"), revision=revision)
    assert (answer.flags, answer.controls) == ([], {})
    [edit] = answer.annotations["fix"]["steps"]
    assert (edit["step_index"], edit["original_text"], edit["edited_text"]) == (1, '{"tool":"go","args":{"n":1}}', "{}")

    answer = read(project, after, filled(before, fix_edit_0="lost", fix_final_0="lost, too"), revision=revision)
    assert [flag.code for flag in answer.flags] == ["original-changed"] * 2
    assert sorted(answer.controls) == ["fix_edit_0", "fix_final_0"]
    assert answer.annotations == {"fix": NOTHING}
    assert before["meta"]["potato_bridge"]["steps_hash"] != after["meta"]["potato_bridge"]["steps_hash"]


def test_what_does_not_fit_the_task_is_not_written() -> None:
    project, task = make()

    def refuse(edit: dict[str, Any], message: str) -> None:
        value = {"steps": [{"step_index": 0, "field": "action", "original_text": "look(x)", **edit}]}
        with pytest.raises(InputError, match=message):
            write_results(project, Record(id="a", annotator="x", annotations={"fix": value}), task)

    refuse({"edited_text": "y", "original_text": "other"}, "the original is another now")
    refuse({"edited_text": "y", "field": "note"}, "the task has no such field")
    refuse({"edited_text": "y", "step_index": 9}, "the task has no such field")
    refuse({"step_index": 2, "original_text": "bare\r\ntext  ", "edited_text": "bare\ntext  "}, "only line breaks")


# What can stand in a trace, and come out of a text box. A lone carriage return is a line break, too.
PARTS = [*"ab \t{}\"$<&'", "\n", "\r\n", "\r", "é", "😀", "\u200b", "\ufeff"]
TEXT = st.lists(st.sampled_from(PARTS), max_size=12).map("".join)


@settings(deadline=None)
@given(
    originals=st.lists(TEXT, min_size=1, max_size=4),
    edits=st.lists(st.none() | TEXT, min_size=4, max_size=4),
    reasons=st.lists(TEXT, min_size=4, max_size=4),
    final=TEXT,
    edited_final=st.none() | TEXT,
    many=st.booleans(),
)
def test_any_edits_read_back_equal(
    originals: list[str],
    edits: list[str | None],
    reasons: list[str],
    final: str,
    edited_final: str | None,
    many: bool,
) -> None:
    more = [{"action": "x"}] * (ON_ONE_PAGE if many else 0)
    project, task = make([*({"action": text} for text in originals), *more], final, require_reason_on_edit=True)

    def after(original: str, text: str | None) -> str:
        # As a box gives it back: one kind of line break, that of the original where it has one kind.
        if text is None or plain_breaks(text) == plain_breaks(original):
            return original
        kinds = set(re.findall("\r\n|\r|\n", original))
        return plain_breaks(text).replace("\n", kinds.pop()) if len(kinds) == 1 else plain_breaks(text)

    steps = [
        StepEdit(step_index=n, field="action", original_text=text, edited_text=after(text, edit), reason=reason)
        for n, (text, edit, reason) in enumerate(zip(originals, edits, reasons, strict=False))
    ]
    last = FinalEdit(original_text=final, edited_text=after(final, edited_final))
    value = TrajectoryEdits(
        steps=[edit for edit in steps if edit.edited or edit.reason], final_answer=last if last.edited else None
    ).to_json()
    results = write_results(project, Record(id="a", annotator="x", annotations={"fix": value}), task)
    answer = read(project, task, {"result": results}, complete=False)
    assert (answer.annotations, answer.flags, answer.controls) == ({"fix": value}, [], {})
    names = {entry["from_name"] for entry in results}
    assert (f"fix_edit_{'p' if many else ''}0" in names) and names >= {
        e["from_name"] for e in task["predictions"][0]["result"]
    }


def test_what_is_shown() -> None:
    project, task = make(editable_fields=["thought", "action"])
    data = task["data"]
    shown = data["fix_shown"]
    assert [entry["html"].count("pb-fieldname") for entry in shown] == [1] * 6
    # Steps without a field are read before the next one; what was observed after its step; nothing stands there twice.
    assert "seen it" not in shown[0]["html"] + shown[1]["html"] and "seen it" in shown[2]["html"]
    assert all("look(x)" not in entry["html"] for entry in shown)
    assert "Original (JSON)" in shown[2]["original"] and "Original (JSON)" not in shown[1]["original"]
    assert data["fix_final"][0]["original"].count("It is so.") == 1
    assert task_of(project, [{"note": "only shown"}])["data"]["fix_rest"].count("only shown") == 1


def test_steps_of_another_list_than_the_trace_come_after_it() -> None:
    project, _ = make(steps_key="plan")
    data = {"id": "a", "task": "Do it", "steps": [{"thought": "seen"}], "plan": [{"action": "one"}, {"action": "two"}]}
    item = Item(id="a", data=data, file="items.jsonl")
    task = build_task(project, item, to_trace(item, project, Notices()), Notices())
    first, second = task["data"]["fix_shown"]
    assert "seen" in first["html"] and "seen" not in second["html"]
    assert [original["text"] for original in task["data"]["fix_originals"]] == ["one", "two"]


def test_hostile_texts_are_text() -> None:
    _, task = make([{"thought": HOSTILE, "action": HOSTILE}], HOSTILE)
    data = task["data"]
    for html in (data["fix_shown"][0]["html"], data["fix_shown"][0]["original"], data["fix_final"][0]["original"]):
        assert "&lt;script&gt;" in html and "<script" not in html and "<img" not in html
        # Markdown would take over at a blank line.
        assert "\n" not in html
    assert "\x00" not in data["fix_originals"][0]["text"]


def test_many_fields() -> None:
    project, _ = make()
    notices = Notices()
    steps = [{"action": str(n)} for n in range(MANY_FIELDS + 1)]
    item = Item(id="a", data={"id": "a", "task": "x", "steps": steps}, file="items.jsonl")
    data = build_task(project, item, to_trace(item, project, Notices()), notices)["data"]
    assert [notice.code for notice in notices] == ["many-fields"]
    assert (data["fix_shown"], len(data["fix_paged"])) == ([], MANY_FIELDS + 1)


def test_notices_and_controls() -> None:
    notices = Notices()
    project, _ = make(name="fix me", require_reason_on_edit=True)
    interface = build_interface(project, notices)
    assert [notice.code for notice in notices] == ["no-live-diff", "reason-not-enforced", "control-renamed"]
    names = interface.controls
    assert all(name in names for name in ("fix_me_edit_0", "fix_me_edit_p12", "fix_me_reason_p3", "fix_me_final_0"))
    assert "value=" not in "".join(line for line in interface.label_config.splitlines() if "TextArea" in line)
    quiet, _ = make(show_diff=False, show_edit_distance=False, allow_reset=False, edit_final_answer=False)
    notices = Notices()
    assert "fix_final_0" not in build_interface(quiet, notices).controls
    assert list(notices) == []
