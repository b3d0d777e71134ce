"""Writing back: what Potato's page and exporters find, what stays as it was, and who wins."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from potato_bridge.converters.potato import user_writer
from potato_bridge.errors import InputError
from potato_bridge.model import Record
from tests.converters.potato_output.helpers import (
    blob,
    codes,
    entry,
    first_error,
    make_project,
    other,
    per_step,
    plain,
    read_all,
    record,
    scheme,
    state_of,
    write,
    write_state,
)

MINIMAL = {
    "user_id": "ann",
    "max_assignments": -1,
    "instance_id_ordering": ["a"],
    "current_instance_index": 0,
    "current_phase_and_page": ["annotation", None],
    "completed_phase_and_pages": [],
    "instance_id_to_span_to_value": {},
    "phase_to_page_to_label_to_value": {},
    "phase_to_page_to_span_to_value": {},
}


def step(index: int, reward: int | None, human: bool) -> dict[str, Any]:
    return {
        "index": index,
        "reward": reward,
        "source": "human" if human else None,
        "verified": human,
        "ai_reward": None,
        "ai_reasoning": "",
        "confidence": None,
    }


def stored(project: Any, user: str = "ann", item: str = "a", name: str = "rewards") -> Any:
    entries = state_of(project, user)["instance_id_to_label_to_value"][item]
    (value,) = [value for label, value in entries if (label["schema"], label["name"]) == ("rewards", name)]
    return json.loads(value)


def click(project: Any, position: int, reward: int, user: str = "ann", item: str = "a") -> None:
    """What a click on Potato's page does to the state: the entry under the scheme's name, and no other."""
    path = project.output_dir / user / "user_state.json"
    state = json.loads(path.read_text())
    for label, value in (entries := state["instance_id_to_label_to_value"][item]):
        if label == {"schema": "rewards", "name": "rewards"}:
            blob = json.loads(value)
            blob["steps"][position] |= step(position, reward, True)
            entries[entries.index([label, value])][1] = json.dumps(blob)
    path.write_text(json.dumps(state))


def test_a_new_user(tmp_path: Path) -> None:
    project = make_project(tmp_path)
    report, notices = write(project, record(first_error(1)))
    state = state_of(project, "ann")
    entries = state.pop("instance_id_to_label_to_value")["a"]
    assert state == MINIMAL
    assert [label for label, _ in entries] == [
        {"schema": "rewards", "name": "rewards"},
        {"schema": "rewards", "name": "label"},
    ]
    steps = [step(0, 0, False), step(1, 1, True), step(2, -1, True), step(3, -1, True), step(4, 0, False)]
    assert [json.loads(value) for _, value in entries] == [{"steps": steps, "mode": "first_error"}] * 2
    assert (report.records_in, report.written, report.users) == (1, 1, ["ann"])
    assert sorted(file.name for file in report.files) == ["potato_bridge.json", "user_state.json"]
    assert not notices


def test_each_score_by_its_sign(tmp_path: Path) -> None:
    project = make_project(tmp_path, scheme("per_step"))
    details = {"0": {"label": "recovery", "notes": "hm\n😀 <b>&"}, "2": {"label": "incorrect", "error_category": "x"}}
    value = per_step(0.25, None, -1.0, details=details)
    _, notices = write(project, record(value))
    steps = [step(0, 0, False), step(1, 1, True), step(2, 0, False), step(3, -1, True), step(4, 0, False)]
    assert stored(project) == stored(project, name="label") == {"steps": steps, "mode": "per_step"}
    assert [(notice.code, notice.count) for notice in notices] == [("kept-beside-state", 2)]
    assert plain(read_all(project)[0]) == plain([record(value)])


@pytest.mark.parametrize(
    ("neutral", "rewards", "code"),
    [
        (True, [(None, False), (0, True), (None, False), (1, True), (None, False)], []),
        (False, [(0, False), (0, False), (0, False), (1, True), (0, False)], ["neutral-not-shown"]),
    ],
)
def test_neutral(tmp_path: Path, neutral: bool, rewards: list[Any], code: list[str]) -> None:
    project = make_project(tmp_path, scheme("per_step", allow_neutral=neutral))
    value = per_step(0.0, None, 1.0)
    _, notices = write(project, record(value))
    assert stored(project)["steps"] == [step(index, *reward) for index, reward in enumerate(rewards)]
    assert codes(notices) == code
    assert plain(read_all(project)[0]) == plain([record(value)])


def test_all_else_in_the_state_stays(tmp_path: Path) -> None:
    project = make_project(tmp_path, scheme(), other("radio", "ok"))
    others = [entry("yes", "yes", "ok"), entry("text_box", "x", "gone")]
    path = write_state(
        project.output_dir,
        "ann",
        {"b": [entry("rewards", blob(1, 1, 1, 1, 1))], "a": others},
        instance_id_to_behavioral_data={"b": {"x": 1.10, "y": [1e3]}},
        current_phase_and_page=["done", None],
        instance_id_ordering=["c", "b"],
        of_a_later_version={"z": 1},
    )
    eve = write_state(project.output_dir, "eve", {"a": others})
    before, untouched = json.loads(path.read_text()), eve.read_bytes()
    write(project, record(first_error(1)))
    after = state_of(project, "ann")

    new = after["instance_id_to_label_to_value"].pop("a")
    assert new[:2] == others and len(new) == 4
    del before["instance_id_to_label_to_value"]["a"]
    assert after["instance_id_ordering"] == ["c", "b", "a"]
    del before["instance_id_ordering"], after["instance_id_ordering"]
    assert {key: after[key] for key in before} == before
    # Byte for byte: numbers are not written in another way.
    assert b'"x": 1.1,\n' in path.read_bytes()
    # Keys without which Potato does not start were missing.
    assert set(after) - set(before) == set(MINIMAL) - set(before) - {"instance_id_ordering"}
    assert eve.read_bytes() == untouched


def test_a_state_with_nan_and_lone_surrogates(tmp_path: Path) -> None:
    project = make_project(tmp_path)
    labels = {"b": [entry("text_box", "\ud800", "note")]}
    write_state(project.output_dir, "ann", labels, instance_id_to_behavioral_data={"b": {"x": float("nan")}})
    write(project, record(first_error(1)))
    state = state_of(project, "ann")
    assert state["instance_id_to_label_to_value"]["b"] == labels["b"]
    assert str(state["instance_id_to_behavioral_data"]["b"]["x"]) == "nan"
    assert read_all(project)[0][1].annotations["rewards"] == first_error(1)


def test_the_older_form_of_a_state(tmp_path: Path) -> None:
    project = make_project(tmp_path, scheme(), other("radio", "ok"))
    write_state(project.output_dir, "ann", {"a": {"ok": {"yes": "yes"}}})
    write(project, record(first_error(1)))
    assert state_of(project, "ann")["instance_id_to_label_to_value"]["a"][0] == entry("yes", "yes", "ok")


def test_again_changes_nothing(tmp_path: Path) -> None:
    project = make_project(tmp_path)
    records = [record(first_error(1)), record(first_error(None), "b", "eve")]
    write(project, *records)
    times = {path: path.stat().st_mtime_ns for path in project.output_dir.rglob("*") if path.is_file()}
    report, _ = write(project, *records)
    assert (report.written, report.unchanged, report.files) == (0, 2, [])
    assert {path: path.stat().st_mtime_ns for path in project.output_dir.rglob("*") if path.is_file()} == times


def test_an_answer_that_nobody_touched_is_replaced(tmp_path: Path) -> None:
    project = make_project(tmp_path)
    write(project, record(first_error(1)))
    report, notices = write(project, record(first_error(2)))
    assert [entry["reward"] for entry in stored(project)["steps"]] == [0, 1, 1, -1, 0]
    assert stored(project) == stored(project, name="label")
    assert (report.written, len(notices)) == (1, 0)


def test_the_page_wins_and_says_so(tmp_path: Path) -> None:
    project = make_project(tmp_path, scheme("per_step"))
    details = {str(n): {"label": "recovery", "notes": str(n)} for n in range(3)}
    source = {"backend": "label_studio", "project": 1, "task": 2, "annotation": 3}
    old = record(per_step(0.25, 0.25, 0.25, details=details), source=source, updated_at="2026-01-01T00:00:00Z")
    write(project, old)
    click(project, 2, -1)

    (read,), notices = read_all(project)
    details["1"] = {"label": "incorrect"}
    assert read.annotations["rewards"] == per_step(0.25, -1.0, 0.25, details=details)
    # It is not what annotation 3 says any more.
    assert plain([read])[0]["source"] == {"backend": "potato"}
    assert sorted(codes(notices)) == ["page-changed-answer", "stale-copy"]

    state = state_of(project, "ann")
    report, notices = write(project, record(per_step(1.0, 1.0, 1.0), source=source))
    assert (report.kept, report.written) == (1, 0)
    assert codes(notices) == ["page-answer-kept"]
    assert state_of(project, "ann") == state
    assert read_all(project)[0][0].annotations == read.annotations


def test_a_click_that_changes_nothing_costs_nothing(tmp_path: Path) -> None:
    """The page stores all positions anew, and marks turns of the user where it marks the steps after them."""
    project = make_project(tmp_path)
    written = record(first_error(1), lead_time=3.5)
    write(project, written)
    click(project, 4, -1)
    click(project, 0, 1)
    records, notices = read_all(project)
    assert plain(records) == plain([written])
    assert not notices
    # The copy for Potato's exporters follows what the page stored.
    assert write(project, written)[0].files == [project.output_dir / "ann" / "user_state.json"]
    assert stored(project) == stored(project, name="label")
    assert write(project, written)[0].unchanged == 1


def test_first_error_changed_on_the_page(tmp_path: Path) -> None:
    project = make_project(tmp_path)
    write(project, record(first_error(1)))
    click(project, 2, 1)
    (read,), notices = read_all(project)
    assert read.annotations["rewards"] == first_error(2)
    assert "page-changed-answer" in codes(notices)


def test_an_answer_of_the_page_is_not_overwritten(tmp_path: Path) -> None:
    project = make_project(tmp_path)
    path = write_state(project.output_dir, "ann", {"a": [entry("rewards", blob(1, 1, 1, 1, 1))]})
    before = path.read_bytes()
    report, notices = write(project, record(first_error(1)))
    assert (report.kept, codes(notices)) == (1, ["page-answer-kept"])
    assert path.read_bytes() == before
    assert not (project.output_dir / "ann" / "potato_bridge.json").exists()


@pytest.mark.parametrize("there", [blob(0, 0, 0, 0, 0), "", blob(1, 1, -1, -1, -1)])
def test_an_empty_or_equal_answer_of_the_page_is_taken_over(tmp_path: Path, there: str) -> None:
    project = make_project(tmp_path)
    write_state(project.output_dir, "ann", {"a": [entry("rewards", there)]})
    written = record(first_error(1), lead_time=1.5)
    assert write(project, written)[0].written == 1
    assert stored(project) == stored(project, name="label")
    assert plain(read_all(project)[0]) == plain([written])


def test_what_the_page_says_beyond_our_answer_stays(tmp_path: Path) -> None:
    project = make_project(tmp_path)
    there = blob(1, 1, -1, -1, -1, ai_reward=1, confidence=0.4)
    write_state(project.output_dir, "ann", {"a": [entry("rewards", there)]})
    write(project, record(first_error(1)))
    assert stored(project) == stored(project, name="label") == json.loads(there)


def test_what_the_page_cleared_stays_cleared_until_there_is_news(tmp_path: Path) -> None:
    project = make_project(tmp_path)
    written = record(first_error(1))
    write(project, written)
    for position in range(5):
        click(project, position, 0)
    assert write(project, written)[0].kept == 1
    (read,), notices = read_all(project)
    assert read.annotations == {}
    assert "page-changed-answer" in codes(notices)
    assert write(project, record(first_error(2)))[0].written == 1
    assert read_all(project)[0][0].annotations["rewards"] == first_error(2)


def test_other_answers_on_the_page_join_the_record(tmp_path: Path) -> None:
    project = make_project(tmp_path, scheme(), other("radio", "ok"))
    source = {"backend": "label_studio", "annotation": 3}
    write(project, record(first_error(1), source=source))
    path = project.output_dir / "ann" / "user_state.json"
    state = json.loads(path.read_text())
    state["instance_id_to_label_to_value"]["a"].append(entry("yes", "yes", "ok"))
    path.write_text(json.dumps(state))
    (read,), notices = read_all(project)
    assert read.annotations == {"rewards": first_error(1), "ok": "yes"}
    assert plain([read])[0]["source"] == source
    assert not notices


def test_what_is_not_written_is_counted(tmp_path: Path) -> None:
    project = make_project(tmp_path)
    report, notices = write(
        project,
        record(first_error(1), status="skipped"),
        record(first_error(1), status="draft"),
        record(first_error(1), "b", status="withdrawn"),
        record(None),
        record(first_error(1), "zz"),
        record(first_error(1, total=4)),
        record({"mode": "first_error"}, "b"),
        record("x", "c", "eve"),
        record(first_error(1), "c"),
    )
    assert report.to_json() == {
        "folder": str(project.output_dir),
        "records_in": 9,
        "written": 1,
        "unchanged": 0,
        "kept": 0,
        "removed": 0,
        "left_out": {
            "no-answer": 1,
            "not-writable": 3,
            "status-draft": 1,
            "status-skipped": 1,
            "status-withdrawn": 1,
            "unknown-item": 1,
        },
        "flagged": 0,
        "users": ["ann"],
        "files": [str(file) for file in report.files],
    }
    assert set(codes(notices)) == {"unknown-item", "value-not-written"}
    assert not (project.output_dir / "eve").exists()


def test_flags_stay_with_the_record(tmp_path: Path) -> None:
    project = make_project(tmp_path)
    flagged = record(first_error(1), flags=[{"code": "missing-required", "message": "m", "scheme": "rewards"}])
    report, _ = write(project, flagged)
    assert (report.written, report.flagged) == (1, 1)
    assert plain(read_all(project)[0]) == plain([flagged])


def test_of_two_answers_the_later_one(tmp_path: Path) -> None:
    project = make_project(tmp_path)
    later = record(first_error(2), updated_at="2026-01-01T00:00:10.5Z", source={"annotation": 1})
    earlier = record(first_error(1), updated_at="2026-01-01T00:00:10Z", source={"annotation": 2})
    report, notices = write(project, later, earlier)
    assert (report.written, dict(report.left_out)) == (1, {"second-answer": 1})
    assert codes(notices) == ["second-answer"]
    assert plain(read_all(project)[0]) == plain([later])


def test_withdrawn(tmp_path: Path) -> None:
    project = make_project(tmp_path, scheme(), other("radio", "ok"))
    write_state(project.output_dir, "ann", {"a": [entry("yes", "yes", "ok")]})
    source = {"backend": "label_studio", "annotation": 3}
    write(project, record(first_error(1), source=source), record(first_error(1), "b", source=source))
    click(project, 1, -1, item="b")
    report, notices = write(
        project,
        record(first_error(1), status="withdrawn", source=source),
        record(first_error(1), "b", status="withdrawn", source=source),
        record(first_error(1), "c", status="withdrawn", source=source),
    )
    assert (report.removed, report.kept, dict(report.left_out)) == (1, 1, {"status-withdrawn": 1})
    assert codes(notices) == ["page-answer-kept"]
    assert state_of(project, "ann")["instance_id_to_label_to_value"]["a"] == [entry("yes", "yes", "ok")]
    assert [read.id for read in read_all(project)[0]] == ["a", "b"]


def test_another_answer_than_the_withdrawn_one(tmp_path: Path) -> None:
    project = make_project(tmp_path)
    write(project, record(first_error(1), source={"annotation": 4}))
    report, _ = write(project, record(first_error(1), status="withdrawn", source={"annotation": 3}))
    assert dict(report.left_out) == {"status-withdrawn": 1}
    assert len(read_all(project)[0]) == 1


@pytest.mark.parametrize("step", ["sidecar", "state", "settled"])
def test_killed_between_two_files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, step: str) -> None:
    """Whatever was written last, the next run brings it to an end, and takes nothing for an edit of the page."""
    project = make_project(tmp_path)
    write(project, record(first_error(1)))
    order = iter(["sidecar", "state", "settled"])

    def killed_after(call: Any) -> Any:
        def inner(*args: Any) -> Any:
            result = call(*args)
            if next(order) == step:
                raise KeyboardInterrupt
            return result

        return inner

    with monkeypatch.context() as patch:
        patch.setattr(user_writer, "write_sidecar", killed_after(user_writer.write_sidecar))
        patch.setattr(user_writer.StateDocument, "write", killed_after(user_writer.StateDocument.write))
        with pytest.raises(KeyboardInterrupt):
            write(project, record(first_error(2)))

    new = plain([record(first_error(2))])
    records, notices = read_all(project)
    assert (plain(records), len(notices)) == (new, 0)
    report, notices = write(project, record(first_error(2)))
    assert (report.kept, len(notices)) == (0, 0)
    assert plain(read_all(project)[0]) == new
    (written,) = json.loads((project.output_dir / "ann" / "potato_bridge.json").read_text())["written"]
    assert written["marks"] == {"rewards": [[1, 1, -1]]}
    # From here on the page's own return to the earlier answer is an edit again.
    click(project, 2, -1)
    assert read_all(project)[0][0].annotations["rewards"] == first_error(1)


def test_a_corrupt_state_stops_its_user_only(tmp_path: Path) -> None:
    project = make_project(tmp_path)
    path = write_state(project.output_dir, "bad", {})
    path.write_text("{", encoding="utf-8")
    with pytest.raises(InputError, match="1 user") as caught:
        write(project, record(first_error(1), annotator="bad"), record(first_error(1), annotator="eve"))
    assert "move the folder away" in str(caught.value)
    assert path.read_text() == "{"
    assert stored(project, "eve")


NAMES = {
    "reviewer@example.com": "reviewer@example.com",
    "Ann Österle": "Ann_sterle",
    "../../etc": "etc",
    "a/b": "a_b",
    "...": "annotator",
    "日本": "annotator_2",
    "x" * 300: "x" * 100,
}


def test_names_of_folders(tmp_path: Path) -> None:
    project = make_project(tmp_path)
    records = [record(first_error(1), annotator=name) for name in NAMES]
    report, notices = write(project, *records)
    assert sorted(report.users) == sorted(NAMES.values())
    assert set(codes(notices)) == {"user-renamed"}
    assert {path.name for path in tmp_path.iterdir()} == {"items.jsonl", "annotation_output"}
    # The names come back, and the same folders are found again.
    read = read_all(project)[0]
    assert sorted(plain(read), key=str) == sorted(plain(records), key=str)
    assert write(project, *reversed(records))[0].unchanged == len(NAMES)


def test_nobody_gets_the_folder_of_another(tmp_path: Path) -> None:
    project = make_project(tmp_path)
    write_state(project.output_dir, "a_b", {})
    write_state(project.output_dir, "Zoe", {})
    report, _ = write(project, record(first_error(1), annotator="a b"), record(first_error(1), annotator="zoe"))
    assert sorted(report.users) == ["a_b_2", "zoe_2"]


def test_general_types_go_back_as_they_came(tmp_path: Path) -> None:
    kinds = {
        "radio": "good",
        "multiselect": ["a", "b"],
        "likert": 4,
        "slider": 73,
        "number": 2.5,
        "text": "x",
        "select": "js",
        "pairwise": {"selection": "A"},
        "code_review": {"verdict": "approve", "comments": [], "file_ratings": {}},
        "trajectory_edit": {"steps": [{"step_index": 0, "field": "action", "edited_text": "y", "edited": True}]},
    }
    project = make_project(tmp_path, *(other(kind, f"s_{kind}") for kind in kinds))
    annotations = {f"s_{kind}": value for kind, value in kinds.items()}
    written = Record(id="a", annotator="ann", annotations=annotations)
    report, notices = write(project, written)
    assert (report.written, len(notices)) == (1, 0)
    entries = state_of(project, "ann")["instance_id_to_label_to_value"]["a"]
    assert entry("good", "good", "s_radio") in entries and entry("slider", "73", "s_slider") in entries
    assert {label["name"] for label, _ in entries if label["schema"] == "s_code_review"} == {"s_code_review", "label"}
    assert plain(read_all(project)[0]) == plain([written])
    # Without the sidecar, from the entries alone.
    (project.output_dir / "ann" / "potato_bridge.json").unlink()
    assert read_all(project)[0][0].annotations == annotations


def test_to_look_at_an_edited_trace_is_no_edit(tmp_path: Path) -> None:
    """The page stores a trajectory_edit anew when it is opened, with entries for the fields that nobody edited."""
    project = make_project(tmp_path, other("trajectory_edit", "fix"))
    edit = {"step_index": 0, "field": "action", "edited_text": "y", "edited": True, "reason": ""}
    written = Record(id="a", annotator="ann", annotations={"fix": {"steps": [edit], "final_answer": None}})
    write(project, written)
    path = project.output_dir / "ann" / "user_state.json"
    state = json.loads(path.read_text())
    opened = {"steps": [edit, {**edit, "step_index": 1, "edited": False}], "n_steps_edited": 1}
    state["instance_id_to_label_to_value"]["a"][0][1] = json.dumps(opened)
    path.write_text(json.dumps(state))
    assert plain(read_all(project)[0]) == plain([written])


def test_a_scheme_that_the_config_lacks(tmp_path: Path) -> None:
    project = make_project(tmp_path)
    written = Record(id="a", annotator="ann", annotations={"rewards": first_error(1), "gone": {"x": 1}})
    _, notices = write(project, written)
    assert codes(notices) == ["scheme-not-in-config"]
    assert plain(read_all(project)[0]) == plain([written])


def test_an_item_that_changed_is_no_edit(tmp_path: Path) -> None:
    project = make_project(tmp_path)
    written = record(first_error(1))
    write(project, written)
    longer = {"id": "a", "task": "t", "turns": [{"role": "assistant", "content": "x"}] * 9}
    project.data_files[0].path.write_text(json.dumps(longer) + "\n")
    records, notices = read_all(project)
    assert (plain(records), len(notices)) == (plain([written]), 0)


def test_page_that_would_show_no_steps(tmp_path: Path) -> None:
    from potato_bridge.model.project import DisplayField, TraceDisplay

    kind = scheme()
    kind.steps_key = None
    project = make_project(tmp_path, kind)
    project.fields = [DisplayField(key="turns", type="coding_trace", trace=TraceDisplay())]
    _, notices = write(project, record(first_error(1)))
    assert codes(notices) == ["page-without-steps"]


def test_a_damaged_sidecar_stops_the_write_before_it_begins(tmp_path: Path) -> None:
    """Without it an answer of ours and one of the page look the same."""
    project = make_project(tmp_path)
    write(project, record(first_error(1)))
    (project.output_dir / "ann" / "potato_bridge.json").write_text("{")
    before = state_of(project, "ann")
    with pytest.raises(InputError, match=r"potato_bridge\.json") as caught:
        write(project, record(first_error(2)), record(first_error(2), annotator="eve"))
    assert "remove it" in str(caught.value)
    assert state_of(project, "ann") == before
    assert not (project.output_dir / "eve").exists()
