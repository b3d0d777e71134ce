"""Random edits of random texts: read, written, applied. And any text at all: read without an exception."""

from __future__ import annotations

import codecs
import difflib

from hypothesis import given
from hypothesis import strategies as st

from potato_bridge.converters.diffs.hunks import RawHunk, read_hunks
from potato_bridge.converters.diffs.problems import MESSAGES
from potato_bridge.converters.diffs.read import read_diff
from potato_bridge.converters.diffs.texts import diff_texts, replacement
from potato_bridge.converters.diffs.write import write_diff
from potato_bridge.model.diff import Diff, FileChange, Problem
from tests.strategies import DETERMINISTIC

#: Lines that look like something else; never with a line feed, which ends a line.
ODD = (
    "|a|b|}|-- x|++ y|--- a/f|+++ b/f|@@ -1 +1 @@|diff --git a/f b/f|\\ No newline|<script>|$&|```|*** End Patch".split(
        "|"
    )
)
lines = st.sampled_from(
    [*ODD, "\r", "x\r", "\x00", "\u202e", "\ud800", "\udce9", "\x1b[31mred\x1b[m", "a\x0cb"]
) | st.text(st.characters(exclude_characters="\n"), max_size=6)
texts = st.builds(
    lambda rows, end: "\n".join(rows) + ("\n" if end and rows else ""), st.lists(lines, max_size=30), st.booleans()
)
#: Whatever a file may be called; git has no empty names, and none that begin or end with a slash.
names = (
    st.lists(
        st.text(st.characters(exclude_characters="/"), min_size=1, max_size=8)
        | st.sampled_from(
            ["..", "with space", "a", "b", "<script>", "$&", '"', "\\", "\t", "\n", " b", "e\udce9", "🥔"]
        ),
        min_size=1,
        max_size=3,
    )
    .map("/".join)
    .filter(lambda name: name != "dev/null")
)


def new_text(old: str, diff: Diff) -> str:
    """What the only file of a diff becomes: the lines of its hunks at their numbers, the rest as it is."""
    rows = old.split("\n")
    before = [f"{row}\n" for row in rows[:-1]] + ([rows[-1]] if rows[-1] else [])
    out: list[str] = []
    at = 0
    for hunk in diff.files[0].hunks if diff.files else []:
        assert hunk.old_start is not None
        start = hunk.old_start - 1 if hunk.old_count else hunk.old_start
        out += before[at:start]
        shown = [line.text + ("\n" if line.newline else "") for line in hunk.lines if line.kind != "added"]
        assert before[start : start + hunk.old_count] == shown
        for number, line in enumerate((line for line in hunk.lines if line.kind != "removed"), len(out) + 1):
            assert line.new == number
            out.append(line.text + ("\n" if line.newline else ""))
        at = start + hunk.old_count
    return "".join(out + before[at:])


def unified(old: str, new: str, context: int) -> str:
    """The patch of difflib, with the mark for a missing newline that it leaves out."""
    sides = [
        [f"{row}\n" for row in text.split("\n")[:-1]] + ([text.split("\n")[-1]] if text.split("\n")[-1] else [])
        for text in (old, new)
    ]
    rows = difflib.unified_diff(*sides, "a/f", "b/f", n=context)
    return "".join(row if row.endswith("\n") else f"{row}\n\\ No newline at end of file\n" for row in rows)


@given(texts, texts, st.integers(0, 4))
@DETERMINISTIC
def test_a_patch_of_difflib_gives_the_new_text(old: str, new: str, context: int) -> None:
    patch = unified(old, new, context)
    diff = read_diff(patch)
    assert diff.text == patch
    assert new_text(old, diff) == new
    assert not any(file.problems for file in diff.files)
    assert read_diff(write_diff(diff)).files == diff.files


@given(texts, texts)
@DETERMINISTIC
def test_our_own_hunks_give_the_new_text(old: str, new: str) -> None:
    problems: list[Problem] = []
    diff = Diff(files=[FileChange(path="f", hunks=diff_texts(old, new, problems))])
    assert not problems
    assert new_text(old, diff) == new


@given(texts, lines, lines)
@DETERMINISTIC
def test_a_replacement_in_a_known_text_has_its_numbers(before: str, old: str, new: str) -> None:
    text = f"{before}<{old}>{before}"
    change = replacement("f", f"<{old}>", f"<{new}>", text=text)
    if text.count(f"<{old}>") == 1:
        assert new_text(text, Diff(files=[change])) == text.replace(f"<{old}>", f"<{new}>")
    else:
        assert all(hunk.old_start is None for hunk in change.hunks)


modes = st.sampled_from(["100644", "100755"])
marked = st.lists(st.tuples(st.sampled_from(" +-"), lines), min_size=1, max_size=12)


@st.composite
def changes(draw: st.DrawFn) -> FileChange:
    """A file as a patch may tell of it."""
    path = draw(names)
    status = draw(st.sampled_from(["added", "modified", "deleted", "renamed", "copied", "mode"]))
    mode = draw(modes)
    change = FileChange(path=path, status=status)
    if status in ("renamed", "copied"):
        change.old_path, change.similarity = draw(names.filter(lambda name: name != path)), draw(st.integers(0, 100))
    elif status == "added":
        change.new_mode = mode
    elif status == "deleted":
        change.old_mode = mode
    elif status == "mode":
        change.old_mode, change.new_mode = mode, "120000"
    raw: list[RawHunk] = []
    start = 1
    for rows in draw(st.lists(marked, max_size=3)) if status != "mode" else []:
        allowed = {"added": "+", "deleted": "-"}.get(status)
        body = [(allowed or mark) + text for mark, text in rows]
        if not any(row[0] in "+-" for row in body):
            body.append("+added")
        hunk = RawHunk(body, section=draw(st.sampled_from([None, "def f():", "@@ x @@", "  deep"])))
        old, new = hunk.counts()
        hunk.old_start, hunk.new_start = start if old else 0 if status == "added" else start, start if new else 0
        start += 100
        raw.append(hunk)
        if status in ("added", "deleted"):
            break
    if status == "modified" and not raw:
        raw = [RawHunk(["+x"], 0, 1)]
    change.hunks = read_hunks(raw, change.problems)
    return change


@given(st.lists(changes(), max_size=4))
@DETERMINISTIC
def test_what_is_written_reads_the_same(files: list[FileChange]) -> None:
    diff = Diff(files=files)
    again = read_diff(write_diff(diff))
    assert again.files == files
    assert {found.code for found in again.problems} <= {"empty"}


#: Lines of all forms, from which broken patches are made.
PIECES = [
    f"{line}\n"
    for line in r"""
diff --git a/x b/x
diff --git
index 1234..2345 100644
new file mode 100644
rename from x
rename to y
--- a/x
+++ b/x
--- /dev/null
+++ /dev/null
@@ -1,2 +1,3 @@
@@ -1 +1 @@ def f():
@@ ... @@
@@
@@@ -1,2 -1,2 +1,3 @@@
@@ -99999999999999999999 +1 @@
@@ -1,99999999999999999999 +1 @@
 context
+added
-removed
  both
++both
- first
\ No newline at end of file
Index: x
=======
Binary files a/x and b/x differ
GIT binary patch
literal 5
McmZQzU|;|M00aO5
Submodule s 1234567..89abcde:
Only in d: x
* Unmerged path x
From 0123456789abcdef0123456789abcdef01234567 Mon Sep 17 00:00:00 2001
Content-Transfer-Encoding: base64
---
2.39.5
```diff
```
   ```diff
   ```
*** Begin Patch
*** Update File: x
*** Add File: y
*** Delete File: z
*** Move to: w
*** End of File
*** End Patch
<<<<<<< SEARCH
>>>>>>> REPLACE
------- SEARCH
+++++++ REPLACE
:start_line:3
*** x
***************
*** 1,2 ****
1,2c3
< a
> b
12a
.
{"structuredPatch":[]}
{"file_path":"x","old_string":"a","new_string":"b"}
diff --cc x
mode 100644,100644..100755
prose
../../etc/passwd
<path>x</path>
[-removed-]{+added+}
~
""".split("\n")
]
PIECES += ["\r\n", "-- \n", "\x00", "\ud800", '[{"oldStart":1,"lines":["+x"]}]', "\x1b[1mdiff --git a/x b/x\x1b[m\n"]


@given(st.lists(st.sampled_from(PIECES) | lines, max_size=25).map("".join))
@DETERMINISTIC
def test_no_text_raises_and_none_reads_as_nothing_at_all(text: str) -> None:
    diff = read_diff(text)
    write_diff(diff)
    assert diff.text == text
    assert diff.files or diff.problems
    last = text.count("\n") + 1
    for found in [*diff.problems, *(found for file in diff.files for found in file.problems)]:
        assert found.code in MESSAGES
        assert found.line is None or 1 <= found.line <= last
    for hunk in (hunk for file in diff.files for hunk in file.hunks):
        assert sum(line.kind != "added" for line in hunk.lines) == hunk.old_count
        assert sum(line.kind != "removed" for line in hunk.lines) == hunk.new_count


@given(
    st.binary(max_size=60)
    | st.lists(st.sampled_from(PIECES), max_size=12).map(lambda p: "".join(p).encode("utf-8", "surrogatepass"))
)
@DETERMINISTIC
def test_no_bytes_raise(data: bytes) -> None:
    diff = read_diff(data)
    if not data.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        assert diff.text.encode("utf-8", "surrogateescape") == data
