"""The change of a run: its final patch, or its edits put together in their order."""

from __future__ import annotations

import difflib
import itertools
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from potato_bridge.converters.diffs.of_trace import diff_of_trace
from potato_bridge.converters.tool_edits import read_edits
from potato_bridge.model.diff import Diff
from potato_bridge.model.trace import Edit, Hunk, Patch, Result, Step, ToolCall, Trace
from tests.converters.diffs.helpers import codes, hunks, summary
from tests.strategies import DETERMINISTIC

TEN = [f"line {n}" for n in range(1, 11)]


def trace_of(*calls: ToolCall) -> Trace:
    return Trace(trace_id="t", steps=[Step(step_id=str(n), index=n, tool_calls=[call]) for n, call in enumerate(calls)])


def call(name: str, failed: bool | None = None, **arguments: Any) -> ToolCall:
    """A call of an editing tool, with its edits as the reader of Potato's traces makes them."""
    return ToolCall(
        call_id="c", name=name, family="edit", arguments=arguments, edits=read_edits(name, arguments, None, failed)
    )


def edit(path: str, old: str, new: str, failed: bool | None = None) -> ToolCall:
    return call("Edit", failed, file_path=path, old_string=old, new_string=new)


def read(path: str, lines: list[str], first: int = 1) -> ToolCall:
    text = "\n".join(f"{number:6}\t{line}" for number, line in enumerate(lines, first))
    return ToolCall(call_id="r", name="Read", family="read", arguments={"file_path": path}, result=Result(text=text))


def numbered(path: str, *changes: Hunk) -> ToolCall:
    return ToolCall(call_id="n", name="Edit", edits=[Edit(path=path, op="modify", hunks=list(changes))])


def diff_of(*calls: ToolCall) -> Diff:
    return diff_of_trace(trace_of(*calls))


def test_the_final_patch_is_taken_where_there_is_one() -> None:
    trace = trace_of(edit("x", "a", "b"))
    trace.final_patch = Patch(text="--- a/y\n+++ b/y\n@@ -1 +1 @@\n-a\n+b\n")
    diff = diff_of_trace(trace)
    assert (diff.format, summary(diff)) == ("unified", [("modified", "y", 1, 1)])


def test_no_edits_are_no_change() -> None:
    assert diff_of(read("x", TEN)).files == []


def test_an_edit_without_numbers() -> None:
    diff = diff_of(edit("x.py", "a\n", "b\n"))
    assert (diff.format, hunks(diff.files[0]), codes(diff)) == ("edits", ["?|-a|+b"], ["no-line-numbers"])


def test_a_file_that_was_made_is_one_addition() -> None:
    diff = diff_of(
        call("Write", file_path="x.py", content="a\nb\nc\n"), edit("x.py", "b", "B\nB2"), edit("x.py", "c", "C")
    )
    assert (summary(diff), hunks(diff.files[0])) == ([("added", "x.py", 4, 0)], ["0,0 1,4|+a|+B|+B2|+C"])
    assert codes(diff) == []


def test_an_edit_of_what_an_edit_wrote_is_made_there() -> None:
    diff = diff_of(edit("x", "a\nb", "a\nB\nc"), edit("x", "c", "C"))
    assert hunks(diff.files[0]) == ["?| a|-b|+B|+C"]
    # And where the later one shows more of the file.
    wider = diff_of(edit("x", "b", "B"), edit("x", "a\nB\nc", "A\nB\nc"))
    assert hunks(wider.files[0]) == ["?|-a|-b|+A|+B| c"]
    assert codes(wider) == ["no-line-numbers"]


def test_edits_that_take_each_other_back_change_nothing() -> None:
    diff = diff_of(edit("x", "a", "b"), edit("x", "b", "a"))
    assert (diff.files[0].hunks, codes(diff)) == ([], ["header-only"])


def test_edits_that_may_overlap_are_told() -> None:
    apart = diff_of(edit("x", "a", "A"), edit("x", "z", "Z"))
    assert (hunks(apart.files[0]), codes(apart)) == (["?|-a|+A", "?|-z|+Z"], ["no-line-numbers"])
    overlapping = diff_of(edit("x", "a\nb", "a\nB"), edit("x", "B\nc", "B2\nc"))
    assert hunks(overlapping.files[0]) == ["?| a|-b|+B", "?|-B|+B2| c"]
    assert codes(overlapping) == ["no-line-numbers", "not-composed"]


def test_a_file_that_was_shown_gives_line_numbers() -> None:
    diff = diff_of(read("x", TEN), edit("x", "line 5", "five"), edit("x", "line 9\nline 10", "nine\nten"))
    assert hunks(diff.files[0]) == [
        "2,9 2,9| line 2| line 3| line 4|-line 5|+five| line 6| line 7| line 8|-line 9|-line 10|+nine|+ten"
    ]
    assert codes(diff) == []
    part = diff_of(read("x", TEN, 101), edit("x", "line 5", "five"))
    assert hunks(part.files[0])[0].startswith("102,7 102,7|")


def test_numbers_are_counted_back_to_the_file_before_the_run() -> None:
    first = Hunk(lines=["+new 1", "+new 2"], old_start=0, old_len=0, new_start=1, new_len=2)
    second = Hunk(lines=["-line 9", "+nine"], old_start=11, old_len=1, new_start=11, new_len=1)
    diff = diff_of(numbered("x", first), numbered("x", second))
    assert hunks(diff.files[0]) == ["0,0 1,2|+new 1|+new 2", "9,1 11,1|-line 9|+nine"]
    # An edit of what the first one wrote.
    third = Hunk(lines=["-new 2", "+new two", " line 1"], old_start=2, old_len=2, new_start=2, new_len=2)
    again = diff_of(numbered("x", first), numbered("x", third))
    assert hunks(again.files[0]) == ["1,1 1,3|+new 1|+new two| line 1"]


def test_failed_edits_are_left_out_and_counted() -> None:
    diff = diff_of(
        edit("x", "a", "b", failed=True), edit("y", "a", "b", failed=False), edit("z", "a", "b", failed=None)
    )
    assert [file.path for file in diff.files] == ["y", "z"]
    assert (diff.problems[0].code, diff.problems[0].message[:9]) == ("failed-edits", "1 edit(s)")


def test_files_written_whole_moved_and_deleted() -> None:
    patch = "*** Begin Patch\n*** Update File: a\n*** Move to: b\n@@\n-x\n+y\n*** Delete File: c\n*** End Patch"
    diff = diff_of(
        call("apply_patch", input=patch),
        edit("b", "y", "z"),
        call("Write", file_path="tmp.py", content="x\n"),
        call("delete_file", path="tmp.py"),
        read("w", ["old"]),
        call("Write", file_path="w", content="new\n"),
        edit("known", "a", "b"),
        call("Write", file_path="known", content="c\n"),
    )
    found = [(file.status, file.old_path, file.path, hunks(file)) for file in diff.files]
    assert found == [
        ("renamed", "a", "b", ["?|-x|+z"]),
        ("modified", None, "w", ["1,1 1,1|-old|+new"]),
        ("modified", None, "known", ["?|+c"]),
        ("deleted", None, "c", []),
    ]
    assert codes(diff) == ["undone", "no-line-numbers", "whole-file", "whole-file", "no-line-numbers", "text-unknown"]


def test_sub_agents_edit_where_they_were_called() -> None:
    child = trace_of(edit("x", "b", "c"))
    child.trace_id = "child"
    task = ToolCall(call_id="task", name="Task", family="agent", child_trace_id="child")
    trace = trace_of(edit("x", "a", "b"), task, edit("x", "c", "d"))
    trace.children = [child]
    assert hunks(diff_of_trace(trace).files[0]) == ["?|-a|+d"]


def test_hostile_edits_are_data() -> None:
    diff = diff_of(edit("../<script>\x00\ud800", "$&", "\u202e"), edit("../<script>\x00\ud800", "\u202e", "\r"))
    assert (diff.files[0].path, hunks(diff.files[0])) == ("../<script>\x00\ud800", ["?|-$&|+\r"])


line = st.sampled_from(["a", "b", "c", "", "  d", "\r", "\\", "-", "+"])
texts = st.lists(line, max_size=12).map(lambda rows: "".join(f"{row}\n" for row in rows))


@given(st.lists(texts, min_size=2, max_size=5))
@DETERMINISTIC
def test_numbered_edits_in_a_row_are_one_edit_from_the_first_text_to_the_last(versions: list[str]) -> None:
    calls = []
    for before, after in itertools.pairwise(versions):
        rows = [text.split("\n")[:-1] for text in (before, after)]
        changes = []
        for row in list(difflib.unified_diff(*rows, lineterm="", n=1))[2:]:
            if row.startswith("@@ "):
                start = int(row.split()[1][1:].split(",")[0])
                changes.append(Hunk(lines=[], old_start=start, new_start=1))
            else:
                changes[-1].lines.append(row)
        calls.append(numbered("x", *changes))
    diff = diff_of(*calls)
    rows = versions[0].split("\n")[:-1]
    out: list[str] = []
    at = 0
    for hunk in (hunk for file in diff.files for hunk in file.hunks):
        assert hunk.old_start is not None
        start = hunk.old_start - 1 if hunk.old_count else hunk.old_start
        out += rows[at:start]
        assert rows[start : start + hunk.old_count] == [line.text for line in hunk.lines if line.kind != "added"]
        assert hunk.new_start == len(out) + (hunk.new_count > 0)
        out += [line.text for line in hunk.lines if line.kind != "removed"]
        at = start + hunk.old_count
    assert "".join(f"{row}\n" for row in out + rows[at:]) == versions[-1]
