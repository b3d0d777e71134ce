from __future__ import annotations

import json
import re
import xml.etree.ElementTree as ET
from html.parser import HTMLParser

import pytest
from hypothesis import given
from hypothesis import strategies as st

from potato_bridge.converters.label_studio.interface import build_interface
from potato_bridge.converters.label_studio.results import read_answer, write_results
from potato_bridge.converters.label_studio.tasks import build_task
from potato_bridge.converters.view.change import MAX_CHARS, MAX_FILE_LINES
from potato_bridge.errors import InputError
from potato_bridge.model import CodeReviewScheme, ProcessReward, Record, Trace
from potato_bridge.model.code_review import CommentCategory, parse_code_review
from potato_bridge.notices import Notices
from tests.converters.label_studio import reviews, samples
from tests.strategies import DETERMINISTIC, json_values, texts

PROJECT = reviews.project()
PATCH = reviews.PARSER + reviews.TESTS + reviews.OTHERS
TASK = reviews.task(PATCH)
HOSTILE = '</View> <b>"it\'s" & $5 {{ 1 }} ]]>\n\u202ex'


class Page(HTMLParser):
    """The rows of a page, as Label Studio names them: path → (class, old number, new number, text)."""

    def __init__(self, html: str) -> None:
        super().__init__()
        self.rows: dict[str, list[str]] = {}
        self.tags: set[str] = set()
        self.section = self.row = 0
        self.feed(html)

    def handle_starttag(self, tag, attrs):
        self.tags.add(tag)
        given = {key: value or "" for key, value in attrs}
        if tag == "section":
            self.section, self.row = self.section + 1, 0
        elif tag == "div" and self.section:
            self.row += 1
            self.rows[self.path] = [given["class"].rsplit("-", 1)[1], "", "", ""]
        elif tag == "b" and "data-o" in given:
            self.rows[self.path][1:3] = given["data-o"], given["data-n"]

    def handle_data(self, data):
        if self.section and self.row:
            self.rows[self.path][3] += data

    @property
    def path(self) -> str:
        return f"/div[1]/section[{self.section}]/div[{self.row}]"


def region(number, start, end=None, said=(), **more):
    """The results of one comment as Label Studio gives them."""
    place = {"start": f"{start}/b[1]/text()[1]", "end": f"{end or start}/text()[1]", "startOffset": 0, "endOffset": 3}
    kinds = {"category": "hypertextlabels", "comment": "text", "severity": "choices", "suggestion": "text"}
    types = {"category": "hypertextlabels", "severity": "choices"}
    return [
        {
            "id": f"r{number}",
            "from_name": f"review_{part}",
            "to_name": "review_diff",
            "type": types.get(part, "textarea"),
            "value": {**place, kinds[part]: [text], **more},
        }
        for part, text in said
    ]


def at(file, row):
    return f"/div[1]/section[{file}]/div[{row}]"


def answer(part, kind, value):
    return {"id": part, "from_name": f"review_{part}", "to_name": "task", "type": kind, "value": value}


VERDICT = answer("verdict", "choices", {"choices": ["request_changes"]})
SAID = (("category", "bug"), ("comment", "x"))


def read(result, task=TASK, project=PROJECT, **more):
    return read_answer(project, task, {"result": result}, **more)


def codes(found):
    return [(flag.code, flag.scheme) for flag in found.flags]


def test_the_documented_value():
    result = [
        *region(1, at(1, 5), said=(("category", "bug"), ("comment", "This will throw IndexError when … is empty"))),
        *region(2, at(2, 4), said=(("comment", "Good edge case coverage"), ("category", "praise"))),
        answer("rating_quality_0", "rating", {"rating": 2}),
        answer("rating_correctness_0", "rating", {"rating": 3}),
        answer("rating_correctness_1", "rating", {"rating": 5}),
        VERDICT,
    ]
    found = read(result)
    assert (found.flags, found.controls) == ([], {})
    assert found.annotations == {
        "review": {
            "verdict": "request_changes",
            "comments": [
                {
                    "category": "bug",
                    "file": "src/parser.py",
                    "line": 42,
                    "text": "This will throw IndexError when … is empty",
                    "side": "LEFT",
                },
                {
                    "category": "praise",
                    "file": "tests/test_parser.py",
                    "line": 2,
                    "text": "Good edge case coverage",
                    "side": "RIGHT",
                },
            ],
            "file_ratings": {
                "src/parser.py": {"quality": 2, "correctness": 3},
                "tests/test_parser.py": {"correctness": 5},
            },
        }
    }


def test_each_row_of_the_page_is_the_line_that_it_shows():
    page, seen = Page(TASK["data"]["review_diff"]), 0
    assert len([path for path in page.rows if path.endswith("/div[1]")]) == 6
    for path, (kind, old, new, text) in page.rows.items():
        [comment] = read(region(1, path, said=SAID)).annotations["review"]["comments"]
        if kind == "fn":
            assert (comment["line"], "side" in comment) == (None, False)
            assert comment["file"] in text
        elif kind != "h":
            seen += 1
            number, side = (old, "LEFT") if kind == "ld" else (new, "RIGHT")
            assert (comment["side"], comment["line"]) == (side, int(number))
            assert text.strip("\u2063")
    assert seen == 14


@pytest.mark.parametrize(
    ("start", "end", "place"),
    [
        # From one side to the other, over a blank line.
        (at(1, 4), at(1, 10), {"line": 45, "side": "RIGHT", "start_line": 41, "start_side": "LEFT"}),
        # A drag upwards is the same.
        (at(1, 10), at(1, 4), {"line": 45, "side": "RIGHT", "start_line": 41, "start_side": "LEFT"}),
        # Headers are no lines: neither the file's, nor those of hunks.
        (at(1, 1), at(1, 4), {"line": 41, "side": "LEFT", "start_line": 40, "start_side": "RIGHT"}),
        (at(1, 10), at(1, 11), {"line": 45, "side": "RIGHT"}),
        (at(1, 11), at(1, 11), {"line": 91, "side": "RIGHT"}),
        (at(1, 1), at(1, 1), {"line": None}),
        # A remark below the name is of the file as a whole.
        ("/div[1]/section[3]/p[1]", "/div[1]/section[3]/p[1]", {"line": None}),
    ],
)
def test_a_range(start, end, place):
    [comment] = read(region(1, start, end, SAID)).annotations["review"]["comments"]
    assert {key: comment[key] for key in comment if key not in ("category", "text", "file")} == place


def test_a_selection_that_ends_in_front_of_a_line_is_not_about_it():
    [comment] = read(region(1, at(1, 4), at(1, 5), SAID, endOffset=0)).annotations["review"]["comments"]
    assert (comment["line"], "start_line" in comment) == (41, False)


@pytest.mark.parametrize(
    ("start", "end"),
    [
        (at(1, 3), at(2, 3)),
        (at(9, 1), at(9, 1)),
        (at(1, 99), at(1, 99)),
        ("/div[1]/nav[1]/p[1]", "/div[1]/nav[1]/p[1]"),
        (None, None),
    ],
)
def test_what_has_no_place_is_kept(start, end):
    result = region(1, start, end, SAID)
    for entry in result:
        entry["value"] |= {"start": start, "end": end}
    found = read([*result, VERDICT])
    assert codes(found) == [("comment-not-placed", "review")]
    assert found.annotations["review"]["comments"] == []
    assert found.controls == {"review_category": [result[0]], "review_comment": [result[1]]}


@pytest.mark.parametrize(
    ("result", "flags"),
    [
        (region(1, at(1, 3), said=(("category", "bug"),)), ["comment-without-text"]),
        (region(1, at(1, 3), said=(("category", "bug"), ("comment", " "))), ["comment-without-text"]),
        (region(1, at(1, 3), said=(("comment", "x"),)), ["comment-without-category"]),
        (region(1, at(1, 3), said=(("comment", "x"), ("category", "rant"))), ["unknown-label"]),
        (region(1, at(1, 3), said=(*SAID, ("severity", "fatal"))), ["unknown-label"]),
    ],
)
def test_a_comment_that_lacks_something_is_kept_and_flagged(result, flags):
    found = read([*result, VERDICT])
    assert codes(found) == [(flag, "review") for flag in flags]
    assert len(found.annotations["review"]["comments"]) == 1


@pytest.mark.parametrize(
    ("entry", "flag"),
    [
        (answer("verdict", "choices", {"choices": ["lgtm"]}), "unknown-label"),
        (answer("verdict", "choices", {"choices": []}), "bad-result"),
        (answer("verdict", "choices", None), "bad-result"),
        (answer("rating_quality_99", "rating", {"rating": 3}), "file-out-of-range"),
        (answer("rating_quality_0", "rating", {"rating": 6}), "bad-result"),
        (answer("rating_quality_0", "rating", {"rating": True}), "bad-result"),
        ({**region(1, at(1, 3), said=SAID)[0], "id": None}, "bad-result"),
    ],
)
def test_what_is_no_answer_is_kept(entry, flag):
    found = read([entry], complete=False)
    assert codes(found) == [(flag, "review")]
    assert found.controls == {entry["from_name"]: [entry]}
    assert found.annotations == {}


@given(st.lists(json_values | st.builds(lambda v: {"from_name": "review_comment", "id": "a", "value": v}, json_values)))
@DETERMINISTIC
def test_reading_never_raises(result):
    read(result)


def test_a_missing_verdict_is_a_fault_of_what_was_submitted():
    assert codes(read([])) == [("missing-required", "review")]
    assert read([], complete=False).flags == []
    assert read([answer("rating_quality_0", "rating", {"rating": 4})]).annotations["review"]["verdict"] is None


def test_a_copied_row_leaves_nothing_of_ours_in_a_suggestion():
    said = (*SAID, ("suggestion", "\u2063    x = 1\n\u2063    y = 2"))
    [comment] = read(region(1, at(1, 3), said=said)).annotations["review"]["comments"]
    assert comment["suggestion"] == "    x = 1\n    y = 2"


def lines_of(task):
    """(file, side, line) of all lines of a change."""
    found = []
    for path, _, hunks in task["data"]["review_index"]:
        for old, new, marks, _ in hunks:
            for mark in marks:
                found += [(path, "LEFT", old)] if mark in " -" else []
                found += [(path, "RIGHT", new)] if mark in " +" else []
                old, new = old + (mark != "+"), new + (mark != "-")
    return found


FILES = ["src/parser.py", "tests/test_parser.py", "new/name.py", "run.sh", "logo.png", "gone.txt"]
said = texts.filter(lambda text: "\u2063" not in text)
words = {
    "category": st.sampled_from(["bug", "style", "praise"]),
    "text": said.filter(lambda text: text.strip()),
}
more = {
    "severity": st.sampled_from(["info", "critical"]),
    "suggestion": said.filter(bool),
    "outdated": st.just(True),
    "x": json_values,
}


@st.composite
def comments(draw):
    file, side, line = draw(st.sampled_from(lines_of(TASK)))
    places = [
        {"file": file, "line": line, "side": side},
        {"file": file, "line": line},
        {"file": file, "line": None},
        {"file": draw(st.sampled_from(FILES)), "line": draw(st.integers(1, 200)), "side": side},
        {"file": file, "line": line, "side": side, "start_line": max(1, line - draw(st.integers(0, 5)))},
        {"file": file, "line": line, "side": side, "start_line": max(1, line - 2), "start_side": side},
    ]
    return draw(st.fixed_dictionaries(words, optional=more)) | draw(st.sampled_from(places))


ratings = st.dictionaries(
    st.sampled_from(FILES),
    st.dictionaries(st.sampled_from(["correctness", "quality"]), st.integers(1, 5), min_size=1),
)


@given(
    st.fixed_dictionaries(
        {
            "verdict": st.sampled_from(["approve", "request_changes", "comment_only"]),
            "comments": st.lists(comments(), max_size=4),
            "file_ratings": ratings,
        }
    )
)
@DETERMINISTIC
def test_any_review_survives(value):
    value = parse_code_review(value).to_json()
    results = write_results(PROJECT, Record(id="x", annotator="a", annotations={"review": value}), TASK)
    found = read(json.loads(json.dumps(results)))
    assert (found.annotations, found.flags, found.controls) == ({"review": value}, [], {})


def test_regions_go_over_the_whole_line_in_utf16():
    value = {"verdict": None, "comments": [{"category": "bug", "file": "src/parser.py", "line": 40, "text": "x"}]}
    [label, text] = write_results(PROJECT, Record(id="x", annotator="a", annotations={"review": value}), TASK)
    path = at(1, 3) + "/text()[1]"
    shown = "def parse(tokens):  # é 😀"
    where = {"start": path, "end": path, "startOffset": 0, "endOffset": len(shown) + 1}
    assert label["value"] == {**where, "hypertextlabels": ["bug"]}
    assert (text["value"], text["id"]) == ({**where, "text": ["x"]}, label["id"])


def test_a_path_that_label_studio_writes_anew_is_still_the_same_row():
    """The page cannot say that a context line is meant on its old side: that is noted, until the region is moved."""
    comment = {"category": "bug", "file": "src/parser.py", "line": 40, "text": "x", "side": "LEFT"}
    value = {"verdict": None, "comments": [comment], "file_ratings": {}}
    results = write_results(PROJECT, Record(id="x", annotator="a", annotations={"review": value}), TASK)
    for entry in results:
        entry["value"]["end"] = at(1, 3) + "/b[1]/text()[1]"
    assert read(results).annotations == {"review": value}
    for entry in results:
        entry["value"]["start"] = entry["value"]["end"] = at(1, 8) + "/text()[1]"
    [moved] = read(results).annotations["review"]["comments"]
    assert (moved["line"], moved["side"]) == (43, "RIGHT")


@pytest.mark.parametrize(
    "change",
    [
        {"comments": [{"category": "bug", "file": "other.py", "line": 1, "text": "x"}]},
        {"comments": [{"category": "rant", "file": "run.sh", "line": None, "text": "x"}]},
        {"comments": [{"category": "bug", "file": "run.sh", "line": None, "text": "x", "severity": "fatal"}]},
        {"file_ratings": {"other.py": {"quality": 1}}},
        {"file_ratings": {"run.sh": {"speed": 1}}},
        {"verdict": "lgtm"},
        {"summary": "x"},
    ],
)
def test_what_the_page_cannot_hold_is_refused(change):
    value = {"verdict": "approve", "comments": [], "file_ratings": {}, **change}
    with pytest.raises(InputError, match="record x, review"):
        write_results(PROJECT, Record(id="x", annotator="a", annotations={"review": value}), TASK)


def test_a_comment_whose_line_is_gone_is_outdated():
    """The answer was given to the first change, and is read when the task has the second."""
    revision = {"about": json.loads(json.dumps(TASK["meta"]["potato_bridge"]["about"]))}
    now = reviews.task(
        reviews.PARSER.replace("head = tokens[0]", "head = tokens[1]").replace("@@ -90,3 +91,2", "@@ -80,3 +81,2")
    )
    assert now["meta"]["potato_bridge"]["steps_hash"] != TASK["meta"]["potato_bridge"]["steps_hash"]
    result = [
        *region(1, at(1, 3), said=SAID),
        *region(2, at(1, 4), said=SAID),
        *region(3, at(1, 13), said=SAID),
        *region(4, at(2, 3), said=SAID),
        *region(5, at(1, 1), said=SAID),
        answer("rating_quality_1", "rating", {"rating": 4}),
        VERDICT,
    ]
    found = read(result, now, revision=revision)
    assert found.flags == []
    review = found.annotations["review"]
    assert [(c["file"], c["line"], c.get("outdated", False)) for c in review["comments"]] == [
        ("src/parser.py", 40, False),
        # Another text in that line.
        ("src/parser.py", 41, True),
        # There is no such line any more.
        ("src/parser.py", 91, True),
        # Nor such a file.
        ("tests/test_parser.py", 1, True),
        ("src/parser.py", None, False),
    ]
    assert review["file_ratings"] == {"tests/test_parser.py": {"quality": 4}}


def test_a_look_is_no_change_of_what_answers_are_about():
    longer = reviews.task(PATCH.replace("class Parser:", "class Other:"))
    hashes = [task["meta"]["potato_bridge"]["steps_hash"] for task in (TASK, longer)]
    assert hashes[0] == hashes[1]


def test_lines_without_numbers_are_told_by_their_position():
    call = samples.edit_call("a.py", ["-x", "+y", " z"], start=None)
    trace = samples.trace([samples.agent(call)])
    task = build(trace)
    assert "no line numbers" in task["data"]["review_diff"]
    [comment] = read(region(1, at(1, 4), said=SAID), task).annotations["review"]["comments"]
    assert comment == {"category": "bug", "file": "a.py", "line": None, "text": "x", "side": "RIGHT", "position": 2}
    value = {"verdict": None, "comments": [comment], "file_ratings": {}}
    results = write_results(PROJECT, Record(id="x", annotator="a", annotations={"review": value}), task)
    assert all("meta" not in entry for entry in results)
    assert read(results, task, complete=False).annotations["review"] == value


def build(trace: Trace, notices: Notices | None = None):
    notices = Notices() if notices is None else notices
    return build_task(PROJECT, samples.item(trace), trace, notices, load_image=lambda _: None)


def test_the_change_is_the_final_patch_or_else_the_edits():
    trace = samples.coding_trace()
    assert [entry[0] for entry in build(trace)["data"]["review_index"]] == [
        "src/parser.py",
        "tests/test_parser.py",
        "NOTES.md",
        "src/old_parser.py",
    ]
    trace.final_patch = reviews.changed(reviews.TESTS).final_patch
    assert [entry[0] for entry in build(trace)["data"]["review_index"]] == ["tests/test_parser.py"]
    notices = Notices()
    build(samples.trace([samples.agent(text="Nothing to do.")]), notices)
    assert [notice.code for notice in notices] == ["no-change"]


def test_what_is_shown_of_files_without_lines():
    html = TASK["data"]["review_diff"]
    for words in (
        "old/name.py → new/name.py",
        "100 % the same",
        "mode 100644 → 100755",
        "a binary file",
        "no newline at the end",
    ):
        assert words in html
    assert [re.sub("<[^>]+>", "", file["html"]) for file in TASK["data"]["review_files"]] == [
        "~src/parser.py+3−3",
        "+tests/test_parser.py+2",
        "→new/name.py",
        "~run.sh",
        "~logo.png",
        "−gone.txt−1",
    ]


def test_giants_are_cut_and_said_to_be():
    long = f"--- a/x\n+++ b/x\n@@ -1 +1 @@\n-a\n+{'y' * 300_000}\n"
    notices = Notices()
    task = reviews.task(long + reviews.long_patch(MAX_FILE_LINES + 500), notices=notices)
    assert [notice.code for notice in notices] == ["change-cut", "line-clipped"]
    html = task["data"]["review_diff"]
    assert f"{300_000 - MAX_CHARS:,} more characters" in html
    assert "500 more lines of this file are not shown" in html
    assert html.count('class="pb-l ') == MAX_FILE_LINES + 2
    assert len(html) < 3_000_000


def test_hostile_names_and_texts_are_data():
    hostile = samples.HOSTILE.replace("\x00", "").replace("\ud83d", "").replace("\r", "")
    task = reviews.task(f"--- a/../{hostile}\n+++ b/../{hostile}\n@@ -1 +1 @@ {hostile}\n-{hostile}\n+a\x00\u202eb\n")
    page = Page(task["data"]["review_diff"])
    assert page.tags <= {"div", "nav", "p", "label", "span", "i", "section", "button", "b"}
    assert "⟨NUL⟩⟨U+202E⟩b" in task["data"]["review_diff"]
    assert json.loads(json.dumps(task)) == task


# --- the label config ---------------------------------------------------------------------------------------------


def controls(project):
    root = ET.fromstring(build_interface(project, Notices()).label_config)
    return {element.attrib["name"]: element for element in root.iter() if element.attrib.get("name")}


def test_the_controls():
    found = controls(PROJECT)
    labels = [(label.attrib["value"], label.attrib["hotkey"]) for label in found["review_category"]]
    names = "bug logic security performance style suggestion question praise".split()
    assert labels == [(name, str(n)) for n, name in enumerate(names, 1)]
    assert [choice.attrib["value"] for choice in found["review_severity"]] == ["info", "minor", "major", "critical"]
    assert [choice.attrib["html"] for choice in found["review_verdict"]] == [
        "Approve",
        "Request changes",
        "Comment only",
    ]
    assert {"review_suggestion", "review_rating_correctness_{{idx}}", "review_rating_quality_{{idx}}"} <= found.keys()
    assert "review_summary" not in found


def test_what_is_not_asked_has_no_control():
    made = reviews.project(severity_levels=[], allow_suggestions=False, file_rating_dimensions=[], allow_summary=True)
    found = controls(made)
    assert [name for name in found if name.startswith("review")] == [
        "review_category",
        "review_diff",
        "review_comment",
        "review_verdict",
        "review_summary",
    ]
    value = {"verdict": "approve", "comments": [], "file_ratings": {}, "summary": "Good 😀\n<b>"}
    task = reviews.task(PATCH, made)
    results = write_results(made, Record(id="x", annotator="a", annotations={"review": value}), task)
    assert read(results, task, made).annotations["review"] == value


def test_any_words_can_be_categories_and_verdicts():
    made = reviews.project(
        comment_categories=[
            CommentCategory(name=HOSTILE, description=HOSTILE),
            *reviews.categories(*map(str, range(12))),
        ],
        verdict_options=[HOSTILE, "no"],
        severity_levels=[HOSTILE],
        file_rating_dimensions=[HOSTILE, "b c"],
    )
    task = reviews.task(PATCH, made)
    value = {
        "verdict": HOSTILE,
        "comments": [
            {"category": HOSTILE, "file": "run.sh", "line": None, "text": "x", "severity": HOSTILE},
            {"category": "11", "file": "run.sh", "line": None, "text": "x"},
        ],
        "file_ratings": {"run.sh": {HOSTILE: 1, "b c": 5}},
    }
    results = write_results(made, Record(id="x", annotator="a", annotations={"review": value}), task)
    found = controls(made)
    labels = {label.attrib["value"] for label in found["review_category"]}
    assert {entry["value"]["hypertextlabels"][0] for entry in results if "hypertextlabels" in entry["value"]} <= labels
    assert read(results, task, made).annotations["review"] == value


def test_keys_of_steps_are_theirs():
    """Keys 1 to 9 choose steps where the page asks for the first wrong one."""
    made = reviews.project()
    made.schemes.insert(0, ProcessReward(name="reward"))
    made.schemes.append(CodeReviewScheme(name="second", comment_categories=reviews.categories("bug")))
    found = controls(made)
    labels = [*found["review_category"], *found["second_category"]]
    assert {len(label.attrib["hotkey"]) for label in labels} == {1}
    assert not {label.attrib["hotkey"] for label in labels} & set("123456789abcdefghijklmnopqrstuvwxyz")


def test_what_label_studio_cannot_do_is_told():
    notices = Notices()
    build_interface(PROJECT, notices)
    assert [notice.code for notice in notices] == ["review-layout"]
    split = reviews.project()
    split.trace_field().trace.diff_view = "split"
    notices = Notices()
    reviews.task(PATCH, split, notices)
    assert [notice.code for notice in notices] == ["no-split-review"]
