"""The panel's code review, word for word and by properties: every place of a change, what is refused, what is kept."""

from __future__ import annotations

import base64
import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from potato_bridge.converters.argilla.layouts import LAYOUTS
from potato_bridge.converters.argilla.plan import Part, RecordPlan, Stored
from potato_bridge.errors import InputError
from potato_bridge.model import Item, Project, Record
from potato_bridge.notices import Notices
from tests.converters.label_studio import reviews
from tests.several_schemes import item, project
from tests.strategies import DETERMINISTIC, json_values, texts

PANEL = LAYOUTS["panel"]
REVIEW = "{annotation_type: code_review, name: review, description: Review it, allow_summary: true}"
#: Rows of a.py: 0 the header, 1 context (1, 1), 2 removed (2), 3 added (2), 4 added (3), 5 context (3, 4).
PATCH = """\
--- a/a.py
+++ b/a.py
@@ -1,3 +1,4 @@ def f():
 one
-two
+TWO
+and
 three
--- a/old.txt
+++ b/new.txt
@@ @@
-x
+y
"""
#: (side, line) of each row that has a number; a context line has both.
PLACES = [("LEFT", 1), ("RIGHT", 1), ("LEFT", 2), ("RIGHT", 2), ("RIGHT", 3), ("LEFT", 3), ("RIGHT", 4)]


def built(folder: Path, patch: str = PATCH, scheme: str = REVIEW) -> tuple[Project, RecordPlan]:
    made = project(folder, [scheme], item())
    trace = reviews.changed(patch, "t1")
    [plan] = PANEL.build_records(made, Item(id="t1", data=item(), file="items.jsonl", line=1), trace, Notices())
    return made, plan


def stored(plan: RecordPlan) -> Stored:
    return Stored(plan.external_id, plan.fields, plan.metadata)


@pytest.fixture(scope="module")
def whole(tmp_path_factory):
    return built(tmp_path_factory.mktemp("review"))


def read(made: Project, plan: RecordPlan, raw: Any, **more: Any) -> Any:
    text = json.dumps({"v": 1, "complete": True, "schemes": {"review": raw}})
    return PANEL.read_answer(made, [Part(stored(plan), {"answer": text, "review_verdict": "approve"})], **more)


def write(made: Project, plan: RecordPlan, value: Any) -> dict[str, Any]:
    record = Record(id="t1", annotator="a", annotations={"review": value})
    [values] = PANEL.write_answer(made, record, [stored(plan)]).values()
    return values


def test_the_data_of_a_change(whole):
    _, plan = whole
    payload = json.loads(base64.b64decode(plan.fields["panel"]["b64"]))
    first, second = payload["schemes"]["review"]["files"]
    assert (first["path"], first["status"], first["added"], first["removed"]) == ("a.py", "modified", 2, 1)
    assert first["hunks"] == [
        {
            "head": "@@ -1,3 +1,4 @@ def f():",
            "kinds": "cdaac",
            "old": ["1", "2", "", "", "3"],
            "new": ["1", "", "2", "3", "4"],
            "text": ["one", "two", "TWO", "and", "three"],
            "end": {},
        }
    ]
    assert (second["path"], second["hunks"][0]["old"]) == ("new.txt", ["", ""])


def test_a_whole_answer(whole):
    """As the panel writes it, and as a record has it: the same keys and values as from Label Studio."""
    made, plan = whole
    comments = [
        {"category": "bug", "file": "a.py", "line": 3, "text": "b", "side": "RIGHT", "severity": "minor"},
        {
            "category": "logic",
            "file": "a.py",
            "line": 2,
            "text": "t",
            "side": "RIGHT",
            "start_line": 2,
            "start_side": "LEFT",
            "suggestion": "  TWO\n",
        },
        {"category": "style", "file": "new.txt", "line": None, "text": "u", "side": "LEFT", "position": 1},
        {"category": "praise", "file": "a.py", "line": None, "text": "w"},
    ]
    raw = {"comments": comments, "file_ratings": {"a.py": {"quality": 5}}, "summary": "All in all"}
    answer = read(made, plan, raw)
    assert (answer.flags, answer.controls) == ([], {})
    assert answer.annotations == {
        "review": {
            "verdict": "approve",
            "comments": comments,
            "file_ratings": {"a.py": {"quality": 5}},
            "summary": "All in all",
        }
    }
    values = write(made, plan, answer.annotations["review"])
    assert json.loads(values["answer"])["schemes"] == {"review": raw}
    assert values["review_verdict"] == "approve"


@pytest.mark.parametrize(
    ("comment", "codes"),
    [
        ({"category": "bug", "file": "a.py", "line": 99, "text": "x"}, ["comment-not-placed"]),
        ({"category": "bug", "file": "a.py", "line": 4, "side": "LEFT", "text": "x"}, ["comment-not-placed"]),
        ({"category": "bug", "file": "b.py", "line": None, "text": "x"}, ["comment-not-placed"]),
        ({"category": "bug", "file": "new.txt", "line": None, "position": 9, "text": "x"}, ["comment-not-placed"]),
        ({"category": "bug", "file": "new.txt", "line": None, "position": 0, "text": "x"}, ["bad-result"]),
        ({"category": "", "file": "a.py", "line": 1, "text": "x"}, ["comment-without-category"]),
        ({"category": "bug", "file": "a.py", "line": 1, "text": " \n"}, ["comment-without-text"]),
        ({"category": "bug", "file": "a.py", "line": 1, "text": "x", "severity": "?"}, ["unknown-label"]),
        ({"category": "?", "file": "a.py", "line": 1, "text": ""}, ["unknown-label", "comment-without-text"]),
        ({"category": "bug", "file": "a.py", "line": "1", "text": "x"}, ["bad-result"]),
        (7, ["bad-result"]),
    ],
)
def test_what_is_wrong_with_a_comment(whole, comment, codes):
    made, plan = whole
    answer = read(made, plan, {"comments": [comment]})
    assert [flag.code for flag in answer.flags] == codes
    kept = answer.annotations["review"]["comments"]
    # A comment with wrong words is one; what is at no place, or none at all, is left as it is beside the record.
    if codes[0] in ("comment-not-placed", "bad-result"):
        assert (kept, answer.controls) == ([], {"review": [{"raw": comment}]})
    else:
        assert (len(kept), kept[0]["text"], answer.controls) == (1, comment["text"], {})


@pytest.mark.parametrize(
    ("part", "message"),
    [
        ({"comments": [{"category": "bug", "file": "a.py", "line": 99, "text": "x"}]}, "no such line"),
        ({"comments": [{"category": "?", "file": "a.py", "line": 1, "text": "x"}]}, "no category"),
        ({"comments": [{"category": "bug", "file": "a.py", "line": 1, "text": "x", "severity": "?"}]}, "no severity"),
        ({"file_ratings": {"b.py": {"quality": 1}}}, "no file"),
        ({"file_ratings": {"a.py": {"beauty": 1}}}, "no dimension"),
        ({"verdict": "maybe"}, "no verdict"),
    ],
)
def test_what_does_not_fit_is_not_written(whole, part, message):
    made, plan = whole
    with pytest.raises(InputError, match=message):
        write(made, plan, {"verdict": "approve", "comments": [], "file_ratings": {}, **part})


def test_suggestions_and_summaries_that_nobody_asked_for(tmp_path):
    made, plan = built(tmp_path, scheme="{annotation_type: code_review, name: review, allow_suggestions: false}")
    comment = {"category": "bug", "file": "a.py", "line": 1, "text": "x", "suggestion": "y"}
    for part in ({"comments": [comment]}, {"summary": "s"}):
        with pytest.raises(InputError):
            write(made, plan, {"verdict": "approve", "comments": [], "file_ratings": {}, **part})


def test_comments_on_a_change_that_is_another_one_now(tmp_path):
    (tmp_path / "then").mkdir()
    (tmp_path / "now").mkdir()
    _, then = built(tmp_path / "then")
    made, now = built(tmp_path / "now", PATCH.replace("+and\n", "+or\n"))
    lines = [{"category": "bug", "file": "a.py", "line": n, "text": "x", "side": "RIGHT"} for n in (2, 3)]
    answer = read(made, now, {"comments": lines}, revision=then.meta)
    assert answer.annotations["review"]["comments"] == [lines[0], {**lines[1], "outdated": True}]


@st.composite
def answers(draw: st.DrawFn) -> dict[str, Any]:
    comments = []
    for _ in range(draw(st.integers(0, 4))):
        comment: dict[str, Any] = {"category": draw(st.sampled_from(["bug", "style", "praise"]))}
        where = draw(st.sampled_from(["line", "lines", "position", "positions", "file"]))
        comment["file"] = "new.txt" if where.startswith("position") else "a.py"
        comment |= {"line": None, "text": draw(texts.filter(str.strip))}
        if where.startswith("line"):
            comment["side"], comment["line"] = draw(st.sampled_from(PLACES))
        if where == "lines":
            # On one side, a comment begins above its last line.
            starts = [place for place in PLACES if place[0] != comment["side"] or place[1] < comment["line"]]
            comment["start_side"], comment["start_line"] = draw(st.sampled_from(starts))
        if where == "position":
            comment |= {"side": "RIGHT", "position": 2}
        if where == "positions":
            comment |= {"side": "RIGHT", "position": 2, "start_side": "LEFT", "start_position": 1}
        if draw(st.booleans()):
            comment["severity"] = draw(st.sampled_from(["info", "minor", "major", "critical"]))
        if draw(st.booleans()):
            comment["suggestion"] = draw(texts.filter(bool))
        comments.append(comment)
    dimensions = st.dictionaries(st.sampled_from(["correctness", "quality"]), st.integers(1, 5), min_size=1)
    ratings = draw(st.dictionaries(st.sampled_from(["a.py", "new.txt"]), dimensions))
    value = {"verdict": draw(st.sampled_from(["approve", "request_changes", "comment_only"]))}
    more = {"summary": draw(texts.filter(bool))} if draw(st.booleans()) else {}
    return {**value, "comments": comments, "file_ratings": ratings, **more}


@DETERMINISTIC
@given(answers())
def test_every_review_reads_back_equal(whole, value):
    made, plan = whole
    answer = PANEL.read_answer(made, [Part(stored(plan), write(made, plan, value))])
    assert (answer.annotations, answer.flags, answer.controls) == ({"review": value}, [], {})


@DETERMINISTIC
@given(
    st.fixed_dictionaries(
        {},
        optional={
            "comments": json_values | st.lists(json_values),
            "file_ratings": json_values | st.dictionaries(st.just("a.py"), json_values),
            "summary": json_values,
        },
    )
    | json_values
)
def test_no_answer_stops_a_pull(whole, raw):
    made, plan = whole
    answer = read(made, plan, raw)
    assert answer.annotations["review"]["verdict"] == "approve"
