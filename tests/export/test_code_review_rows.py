"""Places of comments, what GitHub and SARIF get of them, and the files that they are written to."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any
from urllib.parse import unquote, urlsplit

import pytest
from hypothesis import given
from hypothesis import strategies as st

from potato_bridge.converters.diffs.read import read_diff
from potato_bridge.errors import InputError, UsageError
from potato_bridge.export.code_review_places import Change, Place
from potato_bridge.export.dataset import export
from potato_bridge.export.github import Github
from potato_bridge.export.github_markdown import code, fenced, quoted
from potato_bridge.export.options import Dialect, ExportOptions
from potato_bridge.export.paths import file_name, relative_path, uri
from potato_bridge.export.sarif import Sarif
from potato_bridge.model import CodeReviewScheme, Project
from potato_bridge.model.code_review import Comment, CommentCategory
from potato_bridge.model.project import DisplayField, TraceDisplay
from potato_bridge.notices import Notices
from tests.export.helpers import make_project, read_lines, write_lines
from tests.export.test_code_review_golden import is_review, is_sarif

#: Ten lines of context on both sides of one change, as `git diff -U10` writes it.
WIDE = "--- a/w.py\n+++ b/w.py\n@@ -1,7 +1,7 @@\n c1\n c2\n c3\n c4\n c5\n-old\n+new\n c7\n"
DELETED = "diff --git a/d.py b/d.py\ndeleted file mode 100644\n--- a/d.py\n+++ /dev/null\n@@ -1,2 +0,0 @@\n-one\n-two\n"
RENAMED = "diff --git a/o.py b/n.py\nsimilarity index 90%\nrename from o.py\nrename to n.py\n" + (
    "--- a/o.py\n+++ b/n.py\n@@ -1 +1,2 @@\n one\n+two\n\\ No newline at end of file\n"
)


def comment(file: str, line: int | None, **fields: Any) -> Comment:
    return Comment(category="bug", file=file, line=line, text="text", **fields)


def project(folder: Path, items: list[dict[str, Any]]) -> Project:
    scheme = CodeReviewScheme(name="review", comment_categories=[CommentCategory(name="bug")])
    made = make_project(folder, items, [scheme])
    made.fields = [DisplayField(key="turns", type="coding_trace", trace=TraceDisplay())]
    return made


def item(item_id: str, path: str = "a.py", content: str = "one\ntwo\n") -> dict[str, Any]:
    call = {"tool": "Write", "input": {"file_path": path, "content": content}, "output": "ok"}
    return {"id": item_id, "task": "Do it", "turns": [{"role": "assistant", "content": "Done", "tool_calls": [call]}]}


def answer(
    item_id: str, annotator: str = "ann", verdict: str | None = "comment_only", *comments: Any, **more: Any
) -> Any:
    value = {"verdict": verdict, "comments": list(comments), "file_ratings": {}, **more}
    return {"id": item_id, "annotator": annotator, "annotations": {"review": value}}


def one(tmp_path: Path, target: str, record: Any, **options: Any) -> Any:
    """The one document of a small project with item t1, which adds the two lines of a.py."""
    data = item(record["id"], options.pop("path", "a.py"))
    source = write_lines(tmp_path / "records.jsonl", [record])
    out = tmp_path / ("out.sarif" if target == "sarif" else "out.jsonl")
    export(project(tmp_path, [data]), source, target, out, ExportOptions(**options))
    if target == "sarif":
        log = json.loads(out.read_text(encoding="utf-8"))
        is_sarif(log)
        return log["runs"][0]
    document = read_lines(out)[0]
    if target == "github":
        is_review(document["review"])
    return document


def said(line: int | None = 1, text: str = "text", **fields: Any) -> dict[str, Any]:
    return {"category": "bug", "file": "a.py", "line": line, "text": text, **fields}


def test_a_deleted_file_has_lines_on_the_left() -> None:
    spot = Change(read_diff(DELETED)).place(comment("d.py", 2))
    assert (spot.place, spot.lines(comment("d.py", 2))) == (Place.LINE, "-two\n")
    assert Change(read_diff(DELETED)).place(comment("d.py", 2, side="RIGHT")).place is Place.NOT_IN_DIFF


def test_a_renamed_file_is_found_by_either_name() -> None:
    change = Change(read_diff(RENAMED))
    for name in ("o.py", "n.py"):
        spot = change.place(comment(name, 2))
        assert (spot.place, spot.lines(comment(name, 2))) == (Place.LINE, "+two\n")
        assert spot.hunk == "@@ -1 +1,2 @@\n one\n+two\n\\ No newline at end of file\n"


def test_a_range_that_is_half_in_the_change_is_not_in_it() -> None:
    change = Change(read_diff(RENAMED))
    assert change.place(comment("n.py", 2, start_line=1)).place is Place.LINE
    assert change.place(comment("n.py", 9, start_line=1)).place is Place.NOT_IN_DIFF


def test_the_lines_of_a_side() -> None:
    change = Change(read_diff(WIDE))
    right = comment("w.py", 7, side="RIGHT", start_line=5, start_side="RIGHT")
    left = comment("w.py", 7, side="LEFT", start_line=5, start_side="LEFT")
    both = comment("w.py", 6, side="RIGHT", start_line=6, start_side="LEFT")
    assert change.place(right).lines(right) == " c5\n+new\n c7\n"
    assert change.place(left).lines(left) == " c5\n-old\n c7\n"
    assert change.place(both).lines(both) == "-old\n+new\n"


def test_what_github_shows() -> None:
    rows = Change(read_diff(WIDE)).files[0]
    assert rows.shown == [False, False, False, True, True, True, True, True, True]


@pytest.mark.parametrize(
    ("verdict", "event", "body"),
    [
        ("approve", "APPROVE", None),
        ("Approve", "APPROVE", None),
        ("request_changes", "REQUEST_CHANGES", "Changes requested: 0 comments."),
        ("Request changes", "REQUEST_CHANGES", "Changes requested: 0 comments."),
        ("comment_only", "COMMENT", "0 comments."),
        ("looks *odd*", "COMMENT", "Verdict: **looks \\*odd\\***"),
        (None, "COMMENT", "0 comments."),
    ],
)
def test_verdicts(tmp_path: Path, verdict: str | None, event: str, body: str | None) -> None:
    review = one(tmp_path, "github", answer("t1", "ann", verdict))["review"]
    assert (review["event"], review.get("body")) == (event, body)


def test_github_names_unchanged_lines_by_the_new_file(tmp_path: Path) -> None:
    """A line of context has two numbers, and GitHub's is that of the new file."""
    turns = [
        {
            "role": "assistant",
            "tool_calls": [{"tool": "Read", "input": {"file_path": "a.py"}, "output": "  1\tx\n  2\ty\n"}],
        },
        {
            "role": "assistant",
            "tool_calls": [
                {
                    "tool": "Edit",
                    "input": {"file_path": "a.py", "old_string": "x", "new_string": "w\nx"},
                    "output": "ok",
                }
            ],
        },
    ]
    source = write_lines(tmp_path / "r.jsonl", [answer("t1", "ann", "approve", said(2, side="LEFT", suggestion="z"))])
    notices = Notices()
    made = project(tmp_path, [{"id": "t1", "task": "Do it", "turns": turns}])
    export(made, source, "github", tmp_path / "out.jsonl", notices=notices)
    (inline,) = read_lines(tmp_path / "out.jsonl")[0]["review"]["comments"]
    assert (inline["line"], inline["side"]) == (3, "RIGHT")
    assert "```suggestion" not in inline["body"] and "z" in inline["body"]
    assert [notice.code for notice in notices] == ["suggestion-not-applicable"]


def test_absolute_paths_need_the_root(tmp_path: Path) -> None:
    record = answer("t1", "ann", "approve", {**said(), "file": "/home/dev/repo/src/a.py"})
    document = one(tmp_path, "github", record, path="/home/dev/repo/src/a.py")
    assert (document["review"]["comments"], document["in_body"]) == ([], [{"comment": 0, "reason": "not-relative"}])
    document = one(tmp_path, "github", record, path="/home/dev/repo/src/a.py", root="/home/dev/repo/")
    assert [inline["path"] for inline in document["review"]["comments"]] == ["src/a.py"]
    results = one(tmp_path, "sarif", record, path="/home/dev/repo/src/a.py", root="/home/dev/repo")["results"]
    assert results[0]["locations"][0]["physicalLocation"]["artifactLocation"] == {
        "uri": "src/a.py",
        "uriBaseId": "%SRCROOT%",
    }


@pytest.mark.parametrize(
    ("path", "root", "relative"),
    [
        ("src/a.py", None, "src/a.py"),
        ("./src/a.py", None, "src/a.py"),
        ("/repo/a.py", "/repo", "a.py"),
        ("/repository/a.py", "/repo", None),
        ("C:\\repo\\src\\a.py", "C:\\repo", "src/a.py"),
        ("C:/repo/a.py", None, None),
        ("a/../../b", None, None),
        ("", None, None),
        ("back\\slash.py", None, "back\\slash.py"),
    ],
)
def test_relative_paths(path: str, root: str | None, relative: str | None) -> None:
    assert relative_path(path, root) == relative


@given(st.text(st.characters(exclude_categories=["Cs"]), min_size=1))
def test_uris_hold_any_path(path: str) -> None:
    made = uri(path)
    assert re.fullmatch(r"[A-Za-z0-9_.~%/:-]*", made) and not re.search(r"%(?![0-9A-F]{2})", made)
    if not re.match(r"/|[A-Za-z]:[\\/]", path):
        assert not urlsplit(made).scheme and unquote(made) == path


def test_uris_of_absolute_paths() -> None:
    made = [uri(path) for path in ("/a b/c", "//a", "C:\\a b\\c", "a:b")]
    assert made == ["file:///a%20b/c", "file:///a", "file:///C:/a%20b/c", "a%3Ab"]


@given(st.text(), st.text(), st.text())
def test_file_names_are_safe_and_different(one_id: str, other_id: str, annotator: str) -> None:
    names = {file_name([item_id, annotator, "1"], ".json") for item_id in (one_id, other_id)}
    assert len(names) == len({one_id, other_id})
    for name in names:
        assert re.fullmatch(r"[A-Za-z0-9@_-]+(\.[A-Za-z0-9@_-]+)*", name) and len(name) < 200 and name[0] != "-"


@given(st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\r\x0b\x0c\x1c\x1d\x1e\x85\u2028\u2029")))
def test_a_fence_is_longer_than_what_it_holds(text: str) -> None:
    lines = fenced(text, "suggestion").split("\n")
    fence = lines[0].removesuffix("suggestion")
    assert lines[-1] == fence and re.fullmatch("`{3,}", fence)
    assert not any(line.strip().startswith(fence) for line in lines[1:-1])
    assert "".join(f"{line}\n" for line in lines[1:-1]) == (text if not text or text.endswith("\n") else f"{text}\n")


def test_markdown_of_others_stays_apart() -> None:
    assert code("a`b``c") == "```a`b``c```" and code("`") == "`` ` ``" and code("a|b", in_table=True) == "`a\\|b`"
    assert quoted("one\n\n```\nopen") == "> one\n>\n> ```\n> open"
    assert quoted("<!-- never closed") == "> \\<!-- never closed"
    assert quoted("<!-- closed -->") == "> <!-- closed -->"


def test_nothing_said_is_still_a_comment(tmp_path: Path) -> None:
    document = one(tmp_path, "github", answer("t1", "ann", "approve", said(text="", **{"category": ""})))
    assert document["review"]["comments"][0]["body"] == "(no text)"


def test_levels(tmp_path: Path) -> None:
    words = ["info", "minor", "major", "critical", "Odd", None]
    run = one(tmp_path, "sarif", answer("t1", "ann", None, *(said(severity=word) for word in words)))
    assert [result.get("level") for result in run["results"]] == ["note", "note", "warning", "error", None, None]
    assert [result["properties"]["comment"].get("severity") for result in run["results"]] == words


def test_a_category_of_no_scheme_is_a_rule_too(tmp_path: Path) -> None:
    run = one(tmp_path, "sarif", answer("t1", "ann", None, {**said(), "category": "other thing"}))
    assert [rule["id"] for rule in run["tool"]["driver"]["rules"]] == ["bug", "other thing"]
    assert (run["results"][0]["ruleId"], run["results"][0]["ruleIndex"]) == ("other thing", 1)


def test_hostile_ids_stay_in_the_folder(tmp_path: Path) -> None:
    ids = ["../../etc/passwd", "a/b", "a_b", "A_B", "..", "-rf", "con", "x" * 300, "naïve 🥔\u202e"]
    records = write_lines(tmp_path / "records.jsonl", [answer(item_id, "../ann") for item_id in ids])
    made = project(tmp_path, [item(item_id) for item_id in ids])
    for target, suffix in (("github", ".json"), ("sarif", ".sarif")):
        out = tmp_path / "deep" / target
        export(made, records, target, out)
        lines = read_lines(out / "index.jsonl")
        assert [line["instance_id"] for line in lines] == ids
        assert len({line["file"].lower() for line in lines}) == len(ids)
        assert {path.name for path in out.iterdir()} == {
            "README.md", "index.jsonl", "ledger.jsonl", *(line["file"] for line in lines)
        }  # fmt: skip
        assert all(line["file"].endswith(suffix) for line in lines)
    assert sorted(path.name for path in (tmp_path / "deep").iterdir()) == ["github", "sarif"]


def test_a_folder_is_replaced_only_if_it_is_ours(tmp_path: Path) -> None:
    made = project(tmp_path, [item("t1"), item("t2")])
    out = tmp_path / "out"
    export(made, write_lines(tmp_path / "two.jsonl", [answer("t1"), answer("t2")]), "github", out)
    source = write_lines(tmp_path / "one.jsonl", [answer("t2")])
    export(made, source, "github", out)
    assert len(list(out.glob("*.json"))) == 1
    (out / "mine.txt").write_text("keep")
    with pytest.raises(UsageError, match=r"did not write: mine\.txt"):
        export(made, source, "github", out)
    with pytest.raises(UsageError, match="was not written by"):
        export(made, source, "sarif", tmp_path)
    assert (out / "mine.txt").read_text() == "keep"


def test_outputs_that_cannot_be(tmp_path: Path) -> None:
    made, source = project(tmp_path, [item("t1")]), write_lines(tmp_path / "r.jsonl", [answer("t1")])
    for target, name, options in [
        ("github", "x.sarif", {}),
        ("sarif", "x.jsonl", {}),
        ("github", "x", {"dialect": Dialect.POTATO}),
        ("github", "x.jsonl", {"dialect": Dialect.NATIVE}),
        ("github", "items.jsonl", {}),
        ("github", "x", {"ledger": tmp_path / "x" / "l.jsonl"}),
    ]:
        before = sorted(tmp_path.iterdir())
        with pytest.raises(UsageError):
            export(made, source, target, tmp_path / name, ExportOptions(**options))
        assert sorted(tmp_path.iterdir()) == before


def test_without_reviews_the_output_says_so(tmp_path: Path) -> None:
    made = project(tmp_path, [item("t1")])
    source = write_lines(tmp_path / "r.jsonl", [{**answer("t1"), "status": "draft"}])
    notices = Notices()
    report = export(made, source, "sarif", tmp_path / "log.sarif", notices=notices)
    log = json.loads((tmp_path / "log.sarif").read_text())
    assert log["runs"] == [] and (report.rows, report.reasons) == (0, {"status-draft": 1})
    is_sarif(log)
    assert [notice.code for notice in notices] == ["no-rows"]


def test_a_change_of_items_leaves_the_old_output(tmp_path: Path) -> None:
    made, source = project(tmp_path, [item("t1")]), write_lines(tmp_path / "r.jsonl", [answer("t1")])
    export(made, source, "github", tmp_path / "out")
    before = {path.name: path.read_bytes() for path in (tmp_path / "out").iterdir()}
    (tmp_path / "items.jsonl").write_text('{"id": "t1"}\n')
    with pytest.raises(InputError):
        export(made, source, "github", tmp_path / "out")
    assert {path.name: path.read_bytes() for path in (tmp_path / "out").iterdir()} == before
    assert not [path for path in tmp_path.iterdir() if path.name.endswith(".tmp")]


def test_fields_of_later_versions_are_told_of(tmp_path: Path) -> None:
    made = project(tmp_path, [item("t1")])
    source = write_lines(tmp_path / "r.jsonl", [answer("t1", "ann", None, said(reaction="heart"))])
    notices = Notices()
    export(made, source, "code_review", tmp_path / "out.jsonl", notices=notices)
    assert [(notice.code, notice.count) for notice in notices] == [("unknown-fields", 1)]


@pytest.mark.parametrize("make", [Github, Sarif])
def test_which_scheme(tmp_path: Path, make: Any) -> None:
    made = project(tmp_path, [item("t1")])
    with pytest.raises(UsageError, match="no code_review scheme is named 'other'"):
        make(made, ExportOptions(scheme="other"), Notices())
    made.schemes = []
    with pytest.raises(InputError, match=f"nothing for {make.name} to export"):
        make(made, ExportOptions(), Notices())
