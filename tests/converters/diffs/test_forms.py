"""The other forms in which agents write a change: apply_patch, SEARCH/REPLACE, JSON; and those that are refused."""

from __future__ import annotations

import json
from typing import Any

import pytest

from potato_bridge.converters.diffs.formats import FORMATS
from potato_bridge.converters.diffs.read import read_diff
from potato_bridge.converters.diffs.texts import replacement
from potato_bridge.model.diff import Diff
from tests.converters.diffs.helpers import codes, hunks, summary

APPLY_PATCH = """\
*** Begin Patch
*** Update File: src/app.py
*** Move to: src/main.py
@@ class App:
@@     def run(self):
     x = 1
-    return x
+    return x + 1

     # end
@@
-a
+b
*** End of File
*** Add File: docs/new file.md
+# Title
+
+--- text
*** Delete File: old.py
*** End Patch
"""


def test_apply_patch() -> None:
    diff = read_diff(f"bash -lc \"apply_patch <<'PATCH'\n{APPLY_PATCH}PATCH\n\"")
    assert diff.format == "apply_patch"
    assert summary(diff) == [
        ("renamed", "src/main.py", 2, 2),
        ("added", "docs/new file.md", 3, 0),
        ("deleted", "old.py", 0, 0),
    ]
    assert diff.files[0].old_path == "src/app.py"
    assert hunks(diff.files[0]) == [
        "? class App: def run(self):|     x = 1|-    return x|+    return x + 1| |     # end",
        "?|-a|+b",
    ]
    assert hunks(diff.files[1]) == ["0,0 1,3|+# Title|+|+--- text"]
    assert codes(diff) == ["no-line-numbers", "text-unknown"]
    assert diff.files[2].unread


def test_apply_patch_with_the_faults_of_models() -> None:
    crlf = read_diff(APPLY_PATCH.replace("\n", "\r\n"))
    assert crlf.files == read_diff(APPLY_PATCH).files or codes(crlf)[0] == "crlf"
    assert hunks(crlf.files[1]) == ["0,0 1,3|+# Title|+|+--- text"]
    cut = read_diff("*** Begin Patch\n*** Update File: x\n@@ -3,2 +3,2 @@\n a\n-b\nno mark\n+c")
    assert hunks(cut.files[0]) == ["3,3 3,3| a|-b| no mark|+c"]
    assert codes(cut) == ["cut-off", "missing-space"]
    bare = read_diff("*** Add File: y\n+a\nb\n*** Update File: z\n*** End Patch\n")
    assert hunks(bare.files[0]) == ["0,0 1,2|+a|+b"]
    assert codes(bare) == ["missing-space", "header-only"]


def test_search_replace_of_aider() -> None:
    diff = read_diff(
        "Here is the change:\n\nsrc/app.py\n```python\n<<<<<<< SEARCH\ndef f():\n    return 1\n=======\n"
        "def f():\n    return 2\n>>>>>>> REPLACE\n```\n\nand a second one:\n\n"
        "```\nsrc/new.py\n<<<<<<< SEARCH\n=======\nx = 1\n>>>>>>> REPLACE\n```\n"
        "```\n**`src/app.py`**\n<<<<<<< SEARCH\na\n=======\nb\n>>>>>>> REPLACE\n```\n"
    )
    assert diff.format == "search_replace"
    assert summary(diff) == [("modified", "src/app.py", 2, 2), ("added", "src/new.py", 1, 0)]
    assert hunks(diff.files[0]) == ["?| def f():|-    return 1|+    return 2", "?|-a|+b"]
    assert hunks(diff.files[1]) == ["0,0 1,1|+x = 1"]
    assert codes(diff) == ["no-line-numbers"]


def test_search_replace_of_cline_and_roo() -> None:
    cline = (
        "<replace_in_file>\n<path>src/a b.ts</path>\n<diff>\n"
        "------- SEARCH\nold\n=======\nnew\n+++++++ REPLACE\n</diff>\n"
    )
    diff = read_diff(cline)
    assert (summary(diff), hunks(diff.files[0])) == ([("modified", "src/a b.ts", 1, 1)], ["?|-old|+new"])
    roo = cline.replace("------- SEARCH\n", "<<<<<<< SEARCH\n:start_line:7\n-------\n").replace("+++++++", ">>>>>>>")
    assert hunks(read_diff(roo).files[0]) == ["7,1 7,1|-old|+new"]
    assert codes(read_diff(roo)) == []


def test_search_replace_with_faults() -> None:
    block = "<<<<<<< SEARCH\na\n=======\nb\n>>>>>>> REPLACE\n"
    assert summary(read_diff(f"x.py\n{block}This one, too:\n{block}")) == [("modified", "x.py", 2, 2)]
    diff = read_diff("<<<<<<< SEARCH\na\n=======\nb\n<<<<<<< SEARCH\nsame\n=======\nsame\n>>>>>>> REPLACE\n")
    assert hunks(diff.files[0]) == ["?|-a|+b"]
    assert codes(diff) == ["no-path", "cut-off", "unchanged-hunk", "no-line-numbers"]


HUNK: dict[str, Any] = {"oldStart": 4, "oldLines": 2, "newStart": 4, "newLines": 2, "lines": [" a", "-b", "+c"]}


def test_structured_patches() -> None:
    alone = read_diff(json.dumps([HUNK]))
    assert (alone.format, hunks(alone.files[0]), codes(alone)) == ("structured", ["4,2 4,2| a|-b|+c"], ["no-path"])
    result = {"filePath": "/w/x.py", "structuredPatch": [HUNK], "originalFile": None}
    log = "\n".join(json.dumps({"type": "user", "toolUseResult": result}) for _ in range(2))
    assert summary(read_diff(log)) == [("modified", "/w/x.py", 1, 1)] * 2
    made = read_diff(json.dumps({"type": "create", "filePath": "x", "content": "a\nb", "structuredPatch": []}))
    assert (summary(made), hunks(made.files[0])) == ([("added", "x", 2, 0)], ["0,0 1,2|+a|+b~"])


def test_structured_patches_with_faults() -> None:
    bad = {
        "filePath": "x",
        "structuredPatch": [{**HUNK, "oldLines": 9}, "no", {"oldStart": 1, "lines": [1]}, {**HUNK, "oldStart": -1}],
    }
    diff = read_diff(json.dumps(bad))
    assert hunks(diff.files[0]) == ["4,2 4,2| a|-b|+c", "?| a|-b|+c"]
    assert codes(diff) == ["not-a-hunk", "not-a-hunk", "recounted", "no-line-numbers"]
    assert codes(read_diff('{"filePath": "x", "structuredPatch": []}')) == ["header-only"]
    assert codes(read_diff('{"a": [1, 2]}')) == ["no-patch"]


def test_old_and_new_texts() -> None:
    edit = {"file_path": "x.py", "old_string": "b\n", "new_string": "B\n"}
    assert hunks(read_diff(json.dumps(edit)).files[0]) == ["?|-b|+B"]
    known = read_diff(json.dumps({**edit, "originalFile": "a\nb\nc"}))
    assert (hunks(known.files[0]), codes(known)) == (["1,3 1,3| a|-b|+B| c~"], [])
    several = {
        "file_path": "x",
        "edits": [{"old_string": "a", "new_string": "b"}, {"old_string": "c", "new_string": "d"}],
    }
    assert hunks(read_diff(json.dumps(several)).files[0]) == ["?|-a|+b", "?|-c|+d"]


def test_a_replacement() -> None:
    text = "".join(f"{n}\n" for n in range(1, 11))
    assert hunks(replacement("x", "5", "five", text=text)) == ["2,7 2,7| 2| 3| 4|-5|+five| 6| 7| 8"]
    # Two places: which is meant is not told.
    assert hunks(replacement("x", "1", "one", text=text)) == ["?|-1|+one"]
    assert hunks(replacement("x", "1", "one", text=text, every=True)) == [
        "1,4 1,4|-1|+one| 2| 3| 4",
        "7,4 7,4| 7| 8| 9|-10|+one0",
    ]
    made = replacement("x", "", "a\n")
    assert (made.status, hunks(made)) == ("added", ["0,0 1,1|+a"])
    assert replacement("x", "a", "a").problems[0].code == "header-only"


# --- forms that are refused, by name --------------------------------------------------------------------------------

CONTEXT = "*** a/x.py\tThu Jan  1\n--- b/x.py\tFri Jan  2\n***************\n*** 1,2 ****\n! a\n--- 1,2 ----\n! b\n"


@pytest.mark.parametrize(
    ("text", "form", "code", "paths"),
    [
        (CONTEXT, "context", "context-diff", ["x.py"]),
        (f"Index: x.py\n{'=' * 67}\n{CONTEXT}", "context", "context-diff", ["x.py"]),
        ("Index: x.py\n====\n1,2c3\n< a\n< b\n---\n> c\n", "normal", "normal-diff", ["x.py"]),
        ("diff -r d1/x.py d2/x.py\n1c1\n< a\n---\n> b\n", "normal", "normal-diff", ["d2/x.py"]),
        ("3d2\n< a\n", "normal", "normal-diff", []),
        ("4,5c\nnew\n.\n2d\n", "ed", "ed-script", []),
    ],
)
def test_refused_forms_are_named(text: str, form: str, code: str, paths: list[str]) -> None:
    diff = read_diff(text)
    assert (diff.format, [file.path for file in diff.files], set(codes(diff))) == (form, paths, {code})
    assert all(file.unread for file in diff.files)


@pytest.mark.parametrize(
    ("text", "code"), [("", "empty"), (" \n\n", "empty"), ("All done, nothing to change.", "no-patch")]
)
def test_no_patch_is_not_an_empty_patch(text: str, code: str) -> None:
    assert (read_diff(text).files, codes(read_diff(text))) == ([], [code])


def test_a_second_form_in_one_answer_is_told() -> None:
    unified = "--- a/x\n+++ b/x\n@@ -1 +1 @@\n-a\n+b\n"
    assert codes(read_diff(f"{unified}\nand\n{APPLY_PATCH}")) == ["other-form"]
    assert "other-form" in codes(read_diff(f"{APPLY_PATCH}and\n{unified}"))
    assert read_diff(f"{unified}\nand\n{APPLY_PATCH}").problems[0].line == 8


def test_names_of_formats_are_unique() -> None:
    names = [form.name for form in FORMATS]
    assert len(set(names)) == len(names)
    assert Diff().format not in names
