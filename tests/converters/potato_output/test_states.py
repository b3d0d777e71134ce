"""State files: both forms, both versions, what is missing, and what is broken."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from potato_bridge.converters.potato.annotation_output import records_from_potato
from potato_bridge.errors import InputError, StateError
from potato_bridge.model import Record
from potato_bridge.notices import Notices
from tests.converters.potato_output.helpers import (
    blob,
    codes,
    entry,
    first_error,
    make_project,
    other,
    plain,
    read_all,
    read_one,
    scheme,
    write_state,
)

GOOD = [entry("rewards", blob(1, 1, 1, -1, -1))]


def test_a_record(tmp_path: Path) -> None:
    project = make_project(tmp_path)
    sessions = {
        "a": {
            "instance_id": "a",
            "session_start": 1796076662.6227949,
            "session_end": 1796076665.034,
            "total_time_ms": 4306,
            "interactions": [{"huge": True}],
        }
    }
    write_state(project.output_dir, "ann", {"a": GOOD}, instance_id_to_behavioral_data=sessions)
    (record,), notices = read_all(project)
    assert plain([record]) == [
        {
            "id": "a",
            "annotator": "ann",
            "annotations": {"rewards": first_error(2)},
            "status": "submitted",
            "created_at": "2026-11-30T22:11:02.622Z",
            "updated_at": "2026-11-30T22:11:05.034Z",
            "lead_time": 4.306,
            "source": {"backend": "potato"},
            "schema": 1,
        }
    ]
    assert not notices


@pytest.mark.parametrize(
    ("session", "times"),
    [
        ({}, (None, None, None)),
        (
            {"session_start": 1796076662, "session_end": None, "total_time_ms": 0},
            ("2026-11-30T22:11:02.000Z", None, None),
        ),
        # Two clocks: the browser's is behind.
        ({"session_start": 1796076662, "session_end": 1796076660.5}, ("2026-11-30T22:11:02.000Z", None, None)),
        # Milliseconds, or never: not guessed at.
        ({"session_start": 0, "session_end": 1796076662000}, (None, None, None)),
    ],
)
def test_times(tmp_path: Path, session: dict[str, Any], times: tuple[Any, ...]) -> None:
    project = make_project(tmp_path)
    write_state(project.output_dir, "ann", {"a": GOOD}, instance_id_to_behavioral_data={"a": session})
    (record,), _ = read_all(project)
    assert (record.created_at, record.updated_at, record.lead_time) == times


def test_the_older_form(tmp_path: Path) -> None:
    project = make_project(tmp_path, scheme(), other("radio", "ok"), other("span", "ner"))
    spans = {"a": {"s1": {"schema": "ner", "name": "bug", "title": "bug", "start": 0, "end": 4, "id": "s1"}}}
    labels = {"a": {"rewards": {"rewards": blob(1, 1, 1, -1, -1)}, "ok": {"yes": "true"}}}
    write_state(project.output_dir, "ann", labels, instance_id_to_span_to_value=spans)
    (record,), notices = read_all(project)
    span = {"name": "bug", "title": "bug", "start": 0, "end": 4, "id": "s1"}
    assert record.annotations == {"rewards": first_error(2), "ok": "yes", "ner": [span]}
    assert not notices


def test_spans(tmp_path: Path) -> None:
    project = make_project(tmp_path, other("span", "ner"))
    span = {"schema": "ner", "name": "bug", "title": "bug", "start": 8, "end": 22, "id": "x", "target_field": "task"}
    write_state(project.output_dir, "ann", {}, instance_id_to_span_to_value={"a": [[span, 1]]})
    (record,), _ = read_all(project)
    del span["schema"]
    assert record.annotations == {"ner": [span]}


@pytest.mark.parametrize(
    ("kind", "entries", "value"),
    [
        ("radio", {"good": "good"}, "good"),
        ("radio", {"good": True}, "good"),
        ("radio", {"good": "good", "free_response": "because"}, {"option": "good", "free_response": "because"}),
        ("radio", {"free_response": "because"}, {"option": None, "free_response": "because"}),
        ("radio", {"good": "good", "poor": "poor"}, {"good": "good", "poor": "poor"}),
        ("multiselect", {"a": "a", "b": "on"}, ["a", "b"]),
        ("multiselect", {"a": "a", "free_response": "x y"}, {"options": ["a"], "free_response": "x y"}),
        ("likert", {"4": "4"}, 4),
        ("likert", {"agree": "agree"}, "agree"),
        ("likert", {"04": "04"}, "04"),
        ("confidence", {"4": "4"}, 4),
        ("slider", {"slider": "73"}, 73),
        ("number", {"number": "2.5"}, 2.5),
        ("number", {"number": "2.50"}, "2.50"),
        ("number", {"number": "nan"}, "nan"),
        ("vas", {"other": "61.5"}, 61.5),
        ("text", {"text_box": "Fine: 1\n2"}, "Fine: 1\n2"),
        ("text", {"why": "x", "how": "y"}, {"why": "x", "how": "y"}),
        ("select", {"select-one": "js"}, "js"),
        ("triage", {"decision": "accept"}, "accept"),
        ("pairwise", {"selection": "A"}, {"selection": "A"}),
        ("ranking", {"rank_order": "a,b"}, {"rank_order": "a,b"}),
        ("code_review", {"other": '{"verdict":"approve","comments":[]}'}, {"verdict": "approve", "comments": []}),
        ("trajectory_eval", {"label": '{"steps":[]}'}, {"steps": []}),
        ("image_annotation", {"_data": "[1,2]"}, [1, 2]),
        ("something_new", {"x": "1"}, {"x": "1"}),
    ],
)
def test_general_types(tmp_path: Path, kind: str, entries: dict[str, Any], value: Any) -> None:
    project = make_project(tmp_path, other(kind))
    record = read_one(project, *(entry(name, stored, "other") for name, stored in entries.items()))
    assert record.annotations == {"other": value}
    assert record.flags == []


def test_a_broken_json_text_is_kept(tmp_path: Path) -> None:
    record = read_one(make_project(tmp_path, other("code_review")), entry("other", "{", "other"))
    assert record.annotations == {"other": {"other": "{"}}
    assert [flag.code for flag in record.flags] == ["unreadable-answer"]


def test_an_answer_to_a_scheme_that_is_gone(tmp_path: Path) -> None:
    project = make_project(tmp_path)
    write_state(project.output_dir, "ann", {"a": [entry("yes", "yes", "gone")]})
    (record,), notices = read_all(project)
    assert record.annotations == {"gone": {"yes": "yes"}}
    assert codes(notices) == ["scheme-not-in-config"]


def test_an_answer_to_an_item_that_is_gone(tmp_path: Path) -> None:
    project = make_project(tmp_path, scheme(), other("radio", "ok"))
    write_state(project.output_dir, "ann", {"zz": GOOD, "yy": [entry("yes", "yes", "ok")]})
    records, _ = read_all(project)
    assert [(record.id, [(flag.code, flag.scheme) for flag in record.flags]) for record in records] == [
        ("zz", [("unknown-item", "rewards")]),
        ("yy", [("unknown-item", None)]),
    ]
    assert records[0].annotations["rewards"] == json.loads(blob(1, 1, 1, -1, -1))


def test_an_item_without_a_list_of_steps(tmp_path: Path) -> None:
    second = scheme()
    second.name, second.steps_key = "second", "elsewhere"
    record = read_one(make_project(tmp_path, scheme(), second), entry("second", blob(1, 1), "second"))
    assert [(flag.code, flag.scheme) for flag in record.flags] == [("no-steps", "second")]


def test_two_schemes_over_two_lists(tmp_path: Path) -> None:
    plain_steps = scheme()
    plain_steps.name, plain_steps.steps_key = "plain", "steps"
    project = make_project(tmp_path, scheme(), plain_steps)
    data = project.data_files[0].path
    item = json.loads(data.read_text().splitlines()[0])
    data.write_text(json.dumps(item | {"steps": ["one", "two"]}) + "\n")
    record = read_one(project, *GOOD, entry("plain", blob(1, -1), "plain"))
    assert record.annotations == {"rewards": first_error(2), "plain": first_error(1, 2)}


def test_users_come_by_name_and_a_machine_is_named(tmp_path: Path) -> None:
    project = make_project(tmp_path)
    write_state(project.output_dir, "zoe", {"b": GOOD, "a": GOOD})
    write_state(project.output_dir, "bot", {"a": GOOD}, origin={"kind": "machine", "model": "m"})
    records, notices = read_all(project)
    assert [(record.annotator, record.id) for record in records] == [("bot", "a"), ("zoe", "b"), ("zoe", "a")]
    assert codes(notices) == ["machine-annotator"]
    assert plain(records)[0]["origin"] == {"kind": "machine", "model": "m"}


def test_nothing_answered_is_no_record(tmp_path: Path) -> None:
    project = make_project(tmp_path)
    write_state(project.output_dir, "ann", {"a": [], "b": {}, "c": [entry("rewards", "")]})
    records, _ = read_all(project)
    assert records == []


def test_entries_without_shape_are_counted(tmp_path: Path) -> None:
    project = make_project(tmp_path)
    write_state(project.output_dir, "ann", {"a": [*GOOD, ["x"], 7], "b": 3})
    (record,), notices = read_all(project)
    assert record.annotations == {"rewards": first_error(2)}
    assert [(notice.code, notice.count) for notice in notices] == [("unreadable-entry", 3)]


def test_links_are_not_lost_in_silence(tmp_path: Path) -> None:
    project = make_project(tmp_path)
    write_state(project.output_dir, "ann", {"a": GOOD}, instance_id_to_link_to_value={"a": {"l": {}}})
    assert codes(read_all(project)[1]) == ["links-not-read"]


@pytest.mark.parametrize("text", ["", "{", '{"user_id": "x"', "[]", '{"instance_id_to_label_to_value": []}', "\0"])
def test_a_corrupt_state_stops_nobody_else(tmp_path: Path, text: str) -> None:
    project = make_project(tmp_path)
    write_state(project.output_dir, "ann", {"a": GOOD})
    write_state(project.output_dir, "bad", {}).write_text(text, encoding="utf-8")
    write_state(project.output_dir, "eve", {"a": GOOD})
    read: list[Record] = []
    with pytest.raises(InputError, match="1 of 3 users") as caught:
        read.extend(records_from_potato(project, project.output_dir, Notices()))
    (problem,) = caught.value.problems
    assert problem.file == str(project.output_dir / "bad" / "user_state.json")
    assert "not a Potato state" in problem.message and "move the folder away" in problem.hint

    assert [record.annotator for record in read] == ["ann", "eve"]
    records, notices = read_all(project, skip_corrupt=True)
    assert [record.annotator for record in records] == ["ann", "eve"]
    assert codes(notices) == ["corrupt-state"]


def test_what_python_writes_and_json_forbids(tmp_path: Path) -> None:
    project = make_project(tmp_path, scheme(), other("text", "note"))
    sessions = {"a": {"session_start": float("nan"), "total_time_ms": 5}, "b": 7}
    labels = {"a": [*GOOD, entry("text_box", "x\ud800y", "note")]}
    write_state(project.output_dir, "ann", labels, instance_id_to_behavioral_data=sessions)
    (record,), notices = read_all(project)
    assert record.annotations == {"rewards": first_error(2), "note": "x\ufffdy"}
    assert record.created_at is None
    assert codes(notices) == ["replaced-characters"]


def test_a_folder_that_is_no_annotation_output(tmp_path: Path) -> None:
    project = make_project(tmp_path)
    with pytest.raises(InputError, match=r"no <user>/user_state\.json there"):
        read_all(project)


def test_a_sidecar_of_a_later_version(tmp_path: Path) -> None:
    project = make_project(tmp_path)
    write_state(project.output_dir, "ann", {"a": GOOD})
    (project.output_dir / "ann" / "potato_bridge.json").write_text('{"annotator": "ann", "schema": 2}')
    with pytest.raises(StateError, match="newer version"):
        read_all(project)


def test_a_damaged_sidecar_costs_no_answer(tmp_path: Path) -> None:
    project = make_project(tmp_path)
    write_state(project.output_dir, "ann", {"a": GOOD})
    (project.output_dir / "ann" / "potato_bridge.json").write_text("{")
    (record,), notices = read_all(project)
    assert record.annotations == {"rewards": first_error(2)}
    assert codes(notices) == ["corrupt-sidecar"]
