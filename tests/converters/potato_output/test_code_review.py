"""Code reviews in Potato's states, both ways."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from potato_bridge.converters.potato.code_review_blobs import marks, read_review, write_review
from potato_bridge.model import Record
from potato_bridge.model.code_review import CodeReviewScheme
from tests.converters.potato_output.helpers import (
    codes,
    entry,
    make_project,
    plain,
    read_all,
    read_one,
    state_of,
    write,
    write_state,
)
from tests.strategies import DETERMINISTIC, json_values, texts

REVIEW = CodeReviewScheme(name="review", comment_categories=[], verdict_options=["approve"])
COMMENT = {"category": "bug", "file": "src/a.py", "line": None, "text": "Off by one?"}
FULL: dict[str, Any] = {
    "verdict": "request_changes",
    "comments": [
        COMMENT,
        {**COMMENT, "line": 12, "side": "LEFT", "start_line": 10, "severity": "major", "suggestion": "x\r\n😀"},
    ],
    "file_ratings": {"src/a.py": {"correctness": 4, "quality": 3}, "src/b.py": {"quality": 1}},
    "summary": "Needs work",
}


def stored(blob: Any) -> list[Any]:
    return entry("review", blob if isinstance(blob, str) else json.dumps(blob), "review")


def record(value: Any) -> Record:
    return Record(id="a", annotator="ann", annotations={"review": value})


@pytest.mark.parametrize(
    ("blob", "value"),
    [
        # Nobody chose a verdict.
        ({"verdict": "", "comments": [COMMENT]}, {"verdict": None, "comments": [COMMENT], "file_ratings": {}}),
        # Potato's simulator writes the text elsewhere, and names no line.
        (
            {"verdict": "approve", "comments": [{"category": "bug", "file": "src/a.py", "body": "Off by one?"}]},
            {"verdict": "approve", "comments": [COMMENT], "file_ratings": {}},
        ),
        # Only some dimensions, and files that nobody rated.
        (
            {"verdict": "approve", "comments": [], "file_ratings": {"a": {"quality": 2, "x": None}, "b": {}}},
            {"verdict": "approve", "comments": [], "file_ratings": {"a": {"quality": 2}}},
        ),
        # Keys that nobody knows stay where they are.
        (
            {"verdict": "approve", "comments": [{**COMMENT, "x": [1]}], "file_ratings": {}, "y": 2},
            {"verdict": "approve", "comments": [{**COMMENT, "x": [1]}], "file_ratings": {}, "y": 2},
        ),
    ],
)
def test_what_potato_stores(tmp_path: Path, blob: Any, value: Any) -> None:
    found = read_one(make_project(tmp_path, REVIEW), stored(blob))
    assert (found.annotations, found.flags) == ({"review": value}, [])


@pytest.mark.parametrize("blob", ["", {"verdict": "", "comments": [], "file_ratings": {}}])
def test_a_page_that_was_only_opened_is_no_answer(tmp_path: Path, blob: Any) -> None:
    project = make_project(tmp_path, REVIEW)
    write_state(project.output_dir, "ann", {"a": [stored(blob)]})
    assert read_all(project)[0] == []


@pytest.mark.parametrize(
    ("blob", "flag"),
    [
        ("{", "unreadable-answer"),
        ("[1]", "unreadable-answer"),
        ({"verdict": "approve", "comments": {"a": 1}}, "unreadable-answer"),
        ({"verdict": "approve", "comments": ["x"]}, "unreadable-answer"),
        ({"verdict": "approve", "file_ratings": {"a": {"quality": 9}}}, "unreadable-answer"),
        ({"verdict": "approve", "comments": [{**COMMENT, "text": ""}]}, "comment-without-text"),
    ],
)
def test_what_is_wrong_is_kept_and_flagged(tmp_path: Path, blob: Any, flag: str) -> None:
    found = read_one(make_project(tmp_path, REVIEW), stored(blob))
    assert [(flagged.code, flagged.scheme) for flagged in found.flags] == [(flag, "review")]
    if flag == "unreadable-answer":
        text = blob if isinstance(blob, str) else json.dumps(blob)
        assert found.annotations == {"review": {"review": text}}


def test_a_record_comes_back_equal(tmp_path: Path) -> None:
    project = make_project(tmp_path, REVIEW)
    report, notices = write(project, record(FULL))
    assert (report.written, codes(notices)) == (1, ["kept-beside-state"])
    labels = {
        label["name"]: json.loads(value)
        for label, value in state_of(project, "ann")["instance_id_to_label_to_value"]["a"]
    }
    # Under the name that the page reads, and the one that the exporters read.
    assert labels == {"review": FULL, "label": FULL}
    assert plain(read_all(project)[0]) == plain([record(FULL)])
    report, _ = write(project, record(FULL))
    assert (report.written, report.unchanged) == (0, 1)


def test_no_verdict_is_written_as_the_page_writes_it(tmp_path: Path) -> None:
    project, value = make_project(tmp_path, REVIEW), {**FULL, "verdict": None}
    write(project, record(value))
    [[_, blob], _] = state_of(project, "ann")["instance_id_to_label_to_value"]["a"]
    assert json.loads(blob)["verdict"] == ""
    assert plain(read_all(project)[0]) == plain([record(value)])


def test_what_the_page_changes_counts_and_what_it_cannot_hold_stays(tmp_path: Path) -> None:
    project = make_project(tmp_path, REVIEW)
    write(project, record(FULL))
    path = project.output_dir / "ann" / "user_state.json"
    state = json.loads(path.read_text(encoding="utf-8"))
    # The page drops keys of its own level that it does not know.
    saved = {key: FULL[key] for key in ("verdict", "comments", "file_ratings")}
    entries = state["instance_id_to_label_to_value"]["a"]
    entries[:] = [stored(saved)]
    path.write_text(json.dumps(state), encoding="utf-8")
    assert plain(read_all(project)[0]) == plain([record(FULL)])

    saved["comments"] = [{**FULL["comments"][1], "text": "changed"}]
    entries[:] = [stored(saved)]
    path.write_text(json.dumps(state), encoding="utf-8")
    (found,), notices = read_all(project)
    assert found.annotations["review"] == {**FULL, "comments": saved["comments"]}
    assert codes(notices) == ["page-changed-answer"]
    # The next pull leaves it alone.
    report, _ = write(project, record(FULL))
    assert report.kept == 1


def test_what_is_no_review_is_not_written(tmp_path: Path) -> None:
    report, notices = write(make_project(tmp_path, REVIEW), record({"verdict": "approve", "comments": [{}]}))
    assert (report.written, codes(notices)) == (0, ["value-not-written"])


comment = st.fixed_dictionaries(
    {
        "category": texts,
        "file": texts,
        "line": st.none() | st.integers(1, 10**6),
        "text": texts.filter(lambda text: text.strip()),
    },
    optional={"severity": texts, "suggestion": texts, "outdated": st.just(True), "x": json_values.filter(bool)},
)
ratings = st.dictionaries(texts, st.dictionaries(texts, st.integers(1, 5), min_size=1), max_size=3)


@given(
    st.fixed_dictionaries(
        {
            "verdict": st.sampled_from([None, "approve"]),
            "comments": st.lists(comment, max_size=3),
            "file_ratings": ratings,
        },
        optional={"summary": texts, "y": json_values},
    )
)
@DETERMINISTIC
def test_any_review_survives(value: Any) -> None:
    review, flags = read_review(json.loads(write_review(value)), REVIEW)
    assert (review.to_json(), flags) == (value, [])
    assert marks(review) == {key: value[key] for key in ("verdict", "comments", "file_ratings")}
