"""Unified diffs as tools and models write them, one oddity a test."""

from __future__ import annotations

import pytest

from potato_bridge.converters.diffs.read import read_diff
from potato_bridge.model.diff import Diff
from tests.converters.diffs.helpers import codes, hunks, summary

GOOD = "--- a/ok.py\n+++ b/ok.py\n@@ -1 +1 @@\n-a\n+b\n"
GOOD_ROW = ("modified", "ok.py", 1, 1)


def git(header: str, body: str = "") -> Diff:
    return read_diff(f"diff --git {header}\n{body}")


# --- names ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("header", "path", "old_path"),
    [
        ("a/x.py b/x.py", "x.py", None),
        ("a/dir b/x b/y.txt b/dir b/x b/y.txt", "dir b/x b/y.txt", None),
        ("x y.txt x y.txt", "x y.txt", None),
        ("i/x y w/x y", "x y", None),
        ('"a/\\303\\274n\\t\\"q\\".txt" "b/\\303\\274n\\t\\"q\\".txt"', 'ün\t"q".txt', None),
        ('a/plain "b/pl\\303\\244in"', "pläin", "plain"),
        ("old/long name new/long name", "long name", None),
        ("before/long name after/long name", "long name", None),
        ("a/a/a/b b/a/a/b", "a/a/b", None),
        ("a/../../etc/passwd b/../../etc/passwd", "../../etc/passwd", None),
        ("a/<script>alert(1)</script> b/<script>alert(1)</script>", "<script>alert(1)</script>", None),
        ('"a/latin\\351" "b/latin\\351"', "latin\udce9", None),
    ],
)
def test_names_on_the_line_of_git(header: str, path: str, old_path: str | None) -> None:
    [file] = git(header, "old mode 100644\nnew mode 100755\n").files
    assert (file.path, file.old_path, file.status) == (path, old_path, "mode")


@pytest.mark.parametrize(
    ("old", "new", "path", "old_path", "status"),
    [
        ("a/x", "b/x", "x", None, "modified"),
        ("a/x", "a/x", "a/x", None, "modified"),
        ("x y\t2024-01-02 10:00:00", "x y\t2024-01-02 10:00:01", "x y", None, "modified"),
        ("a/x 2024-01-02 10:00:00.123456789 +0100", "b/x 2024-01-02 10:00:00", "x", None, "modified"),
        ("src/x (revision 7)", "src/x (working copy)", "src/x", None, "modified"),
        ("d1/sub/x", "d2/sub/x", "sub/x", None, "modified"),
        ("x.orig", "x", "x", "x.orig", "modified"),
        ("/testbed/x", "/testbed/x", "/testbed/x", None, "modified"),
        ("/dev/null", "b/x", "x", None, "added"),
        ("a/x", "/dev/null", "x", None, "deleted"),
        ("x\tOriginal", "x\tWritten", "x", None, "modified"),
        ('"a/\\tq"', '"b/\\tq"', "\tq", None, "modified"),
    ],
)
def test_names_without_the_line_of_git(old: str, new: str, path: str, old_path: str | None, status: str) -> None:
    diff = read_diff(f"--- {old}\n+++ {new}\n@@ -1 +1 @@\n-a\n+b\n")
    [file] = diff.files
    assert (file.path, file.old_path, file.status, codes(diff)) == (path, old_path, status, [])


def test_the_lines_of_the_names_are_trusted_more_than_the_line_of_git() -> None:
    diff = git("a/x b/x", "--- test1\n+++ test1\n@@ -1 +1 @@\n-a\n+b\n")
    assert summary(diff) == [("modified", "test1", 1, 1)]


def test_no_prefix_with_an_added_file_in_a_folder_b() -> None:
    diff = git("b/x.py b/x.py", "new file mode 100644\n--- /dev/null\n+++ b/x.py\n@@ -0,0 +1 @@\n+a\n")
    assert summary(diff) == [("added", "b/x.py", 1, 0)]


def test_a_file_that_gnu_diff_made_has_no_time() -> None:
    head = "--- x\t1970-01-01 01:00:00.000000000 +0100\n+++ x\t2026-01-01 00:00:00.0 +0100\n"
    assert read_diff(head + "@@ -0,0 +1 @@\n+a\n").files[0].status == "added"
    assert read_diff("--- x\t(nonexistent)\n+++ x\t(working copy)\n@@ -0,0 +1 @@\n+a\n").files[0].status == "added"


# --- what git says of files -----------------------------------------------------------------------------------------


def test_rename_copy_mode_and_their_facts() -> None:
    diff = read_diff(
        "diff --git a/old name b/new name\nold mode 100644\nnew mode 100755\nsimilarity index 90%\n"
        "rename from old name\nrename to new name\nindex 1111111..2222222\n"
        "--- a/old name\t\n+++ b/new name\t\n@@ -1 +1 @@\n-a\n+b\n"
        "diff --git a/x b/y\nsimilarity index 100%\ncopy from x\ncopy to y\n"
        "diff --git a/run.sh b/run.sh\nold mode 100644\nnew mode 100755\n"
    )
    first, second, third = diff.files
    assert (first.status, first.old_path, first.path, first.similarity) == ("renamed", "old name", "new name", 90)
    assert (first.old_mode, first.new_mode, first.old_id, first.new_id) == ("100644", "100755", "1111111", "2222222")
    assert (second.status, second.old_path, second.path, second.hunks) == ("copied", "x", "y", [])
    assert (third.status, third.old_mode, third.new_mode) == ("mode", "100644", "100755")
    assert codes(diff) == []


def test_empty_files_submodules_symlinks_and_changes_of_type() -> None:
    diff = read_diff(
        "diff --git a/e b/e\nnew file mode 100644\nindex 0000000..e69de29\n"
        "diff --git a/gone b/gone\ndeleted file mode 100644\nindex e69de29..0000000\n"
        "diff --git a/lib b/lib\nindex 1234567..89abcde 160000\n--- a/lib\n+++ b/lib\n@@ -1 +1 @@\n"
        "-Subproject commit 1234567\n+Subproject commit 89abcde\n"
        "diff --git a/t b/t\ndeleted file mode 100644\n--- a/t\n+++ /dev/null\n@@ -1 +0,0 @@\n-x\n"
        "diff --git a/t b/t\nnew file mode 120000\n--- /dev/null\n+++ b/t\n@@ -0,0 +1 @@\n+x\n"
        "\\ No newline at end of file\n"
    )
    assert [row[:2] for row in summary(diff)] == [
        ("added", "e"),
        ("deleted", "gone"),
        ("submodule", "lib"),
        ("deleted", "t"),
        ("added", "t"),
    ]
    assert hunks(diff.files[4]) == ["0,0 1,1|+x~"]
    assert codes(diff) == []


def test_binaries() -> None:
    payload = "literal 5\nMcmZQzU|;|M00aO5\n\nliteral 0\nHcmV?d00001\n\n"
    diff = read_diff(
        f"diff --git a/p b/p\nindex 1111..2222 100644\nGIT binary patch\n{payload}"
        "diff --git a/q b/q\nnew file mode 100644\nindex 0000..1111\nBinary files /dev/null and b/q differ\n"
        "Binary files d1/x and y and d2/x and y differ\n"
        "Index: s.png\n===================================================================\n"
        "Cannot display: file marked as a binary type.\nsvn:mime-type = application/octet-stream\n" + GOOD
    )
    found = [(file.status, file.path, file.binary) for file in diff.files]
    assert found == [
        ("binary", "p", True),
        ("added", "q", True),
        ("binary", "x and y", True),
        ("binary", "s.png", True),
        ("modified", "ok.py", False),
    ]
    assert diff.files[0].binary_patch == payload


def test_submodule_logs() -> None:
    diff = read_diff(
        "Submodule vendor/a 1234567..89abcde:\n  > one\n  < two\nSubmodule b 0000000...1234567 (new submodule)\n"
        "Submodule c 1234567...0000000 (submodule deleted)\nSubmodule d contains modified content\n" + GOOD
    )
    found = [(file.status, file.path, file.new_id) for file in diff.files[:4]]
    assert found == [
        ("submodule", "vendor/a", "89abcde"),
        ("added", "b", "1234567"),
        ("deleted", "c", "0000000"),
        ("submodule", "d", None),
    ]
    assert all(file.unread for file in diff.files[:4])
    assert codes(diff) == ["submodule-log"] * 4


# --- hunks whose headers are wrong ----------------------------------------------------------------------------------


def test_counts_that_are_too_small_lose_no_line() -> None:
    diff = read_diff("--- a/x\n+++ b/x\n@@ -1,2 +1,2 @@\n a\n-b\n+B\n+C\n d\n" + GOOD)
    assert hunks(diff.files[0]) == ["1,3 1,4| a|-b|+B|+C| d"]
    assert summary(diff)[1] == GOOD_ROW
    assert codes(diff) == ["recounted"]


def test_counts_that_are_too_large_take_nothing_of_the_next_file() -> None:
    # Too large by one each: the header of the next file would just fit.
    diff = read_diff("--- a/x\n+++ b/x\n@@ -1,2 +1,2 @@\n-a\n+b\n" + GOOD)
    assert summary(diff) == [("modified", "x", 1, 1), GOOD_ROW]
    assert codes(diff) == ["recounted"]


def test_lines_that_look_like_headers_are_lines_where_the_counts_say_so() -> None:
    diff = git("a/x b/x", "--- a/x\n+++ b/x\n@@ -1,2 +1,2 @@\n a\n--- q\n+++ r\n@@ -9 +9 @@\n-i\n+j\n")
    assert hunks(diff.files[0]) == ["1,2 1,2| a|--- q|+++ r", "9,1 9,1|-i|+j"]
    assert codes(diff) == []


@pytest.mark.parametrize(
    ("header", "section"),
    [("@@ ... @@", None), ("@@", None), ("@@ … @@", None), ("@@ def f(a): @@", "def f(a):"), ("@@ class A", "class A")],
)
def test_hunks_without_numbers(header: str, section: str | None) -> None:
    diff = read_diff(f"--- a/x\n+++ b/x\n{header}\n a\n-b\n+c\n{header}\n-d\n")
    [file] = diff.files
    assert [hunk.section for hunk in file.hunks] == [section, section]
    assert [(line.old, line.new) for hunk in file.hunks for line in hunk.lines] == [(None, None)] * 4
    assert (file.added, file.removed, codes(diff)) == (1, 2, ["no-line-numbers"])


def test_numbers_that_no_file_has() -> None:
    diff = read_diff(f"--- a/x\n+++ b/x\n@@ -{'9' * 5000},1 +1 @@\n-a\n+b\n@@ -0,0 +1,2 @@\n a\n+b\n")
    assert hunks(diff.files[0]) == ["?|-a|+b", "?| a|+b"]
    assert codes(diff) == ["bad-numbers", "recounted", "bad-numbers", "no-line-numbers"]


def test_one_bad_file_leaves_the_others_alone() -> None:
    diff = read_diff(GOOD + "--- a/bad\n+++ b/bad\n@@ -1,9 +1,9 @@\n-only\nprose\n" + GOOD.replace("ok", "ok2"))
    assert summary(diff) == [GOOD_ROW, ("modified", "bad", 0, 1), ("modified", "ok2.py", 1, 1)]
    assert [file.path for file in diff.files if file.problems] == ["bad"]


def test_a_text_that_ends_inside_of_a_hunk() -> None:
    diff = read_diff("--- a/x\n+++ b/x\n@@ -1,4 +1,5 @@\n a\n+    cut of")
    assert hunks(diff.files[0]) == ["1,1 1,2| a|+    cut of"]
    assert codes(diff) == ["truncated"]


def test_what_stands_after_the_end_of_a_hunk_is_told() -> None:
    diff = read_diff(GOOD + "\n+ lost?\n")
    assert (summary(diff), codes(diff)) == ([GOOD_ROW], ["stray-line"])
    assert diff.files[0].problems[0].line == 7


def test_hunks_without_a_file() -> None:
    diff = read_diff("@@ -1 +1 @@\n-a\n+b\n")
    assert (summary(diff), codes(diff)) == ([("modified", "", 1, 1)], ["no-path"])


def test_a_header_and_nothing_else_is_no_empty_change() -> None:
    diff = read_diff("diff --git a/x b/x\nindex 1111..2222 100644\n")
    assert (diff.files[0].unread, codes(diff)) == (True, ["header-only"])


# --- line ends, bytes, colour ---------------------------------------------------------------------------------------


def test_cr_lf_of_the_patch_and_of_the_file() -> None:
    patch = "diff --git a/x b/x\n--- a/x\n+++ b/x\n@@ -1,2 +1,2 @@\n a\n-b\n+c\n\\ No newline at end of file\n"
    converted = read_diff(patch.replace("\n", "\r\n"))
    assert hunks(converted.files[0]) == ["1,2 1,2| a|-b|+c~"]
    assert (converted.files[0].path, codes(converted)) == ("x", ["crlf"])
    own = read_diff(patch.replace(" a\n-b\n", " a\r\n-b\r\n"))
    assert hunks(own.files[0]) == ["1,2 1,2| a\r|-b\r|+c~"]
    assert codes(own) == []
    # svn ends its own lines so on Windows, and those of the file as the file has them.
    svn = read_diff("--- x\t(revision 1)\r\n+++ x\t(working copy)\r\n@@ -1,2 +1,2 @@\r\n a\n-b\r\n+c\r\n")
    assert (hunks(svn.files[0]), codes(svn)) == (["1,2 1,2| a|-b\r|+c\r"], [])
    # A file with CR LF in a patch that was given them, too: each line ends in CR CR LF, and loses one.
    both = read_diff(patch.replace(" a\n-b\n", " a\r\n-b\r\n").replace("\n", "\r\n"))
    assert hunks(both.files[0]) == ["1,2 1,2| a\r|-b\r|+c~"]


def test_bytes_that_are_not_utf8_are_kept_and_told() -> None:
    data = b"--- a/x\n+++ b/x\n@@ -1 +1 @@\n-caf\xe9\n+caf\xc3\xa9\n"
    diff = read_diff(data)
    assert hunks(diff.files[0]) == ["1,1 1,1|-caf\udce9|+café"]
    assert diff.text.encode("utf-8", "surrogateescape") == data
    assert [(found.code, found.line) for found in diff.problems] == [("not-utf8", 4)]


def test_what_windows_puts_around_a_patch() -> None:
    assert summary(read_diff("\ufeff" + GOOD)) == [GOOD_ROW]
    diff = read_diff(GOOD.replace("\n", "\r\n").encode("utf-16"))
    assert (summary(diff), codes(diff)) == ([GOOD_ROW], ["utf-16", "crlf"])


def test_colour_is_removed_only_where_the_headers_have_it() -> None:
    coloured = (
        "\x1b[1mdiff --git a/x b/x\x1b[m\n\x1b[1m--- a/x\x1b[m\n\x1b[1m+++ b/x\x1b[m\n\x1b[36m@@ -1 +1 @@\x1b[m\n"
        "\x1b[31m-a\x1b[m\n\x1b[32m+\x1b[m\x1b[32mb\x1b[m\n"
    )
    diff = read_diff(coloured)
    assert (hunks(diff.files[0]), codes(diff), diff.text) == (["1,1 1,1|-a|+b"], ["ansi-colour"], coloured)
    plain = read_diff("--- a/x\n+++ b/x\n@@ -1 +1 @@\n-\x1b[31mred\x1b[m\n+b\n")
    assert hunks(plain.files[0]) == ["1,1 1,1|-\x1b[31mred\x1b[m|+b"]


@pytest.mark.parametrize(
    "text", ["\x00", "\u202e", "\ud800", "</script>", "$& {{ x }}", "a\rb", "\u2028", "x" * 300_000]
)
def test_hostile_lines_are_data(text: str) -> None:
    diff = read_diff(f"--- a/x\n+++ b/x\n@@ -1 +1 @@\n-a\n+{text}\n")
    assert [line.text for line in diff.files[0].hunks[0].lines] == ["a", text]
    assert codes(diff) == []


# --- what stands around ---------------------------------------------------------------------------------------------


def test_fences_also_of_a_list_and_prose() -> None:
    diff = read_diff(
        f"1. First:\n\n   ```diff\n{GOOD.replace('ok', 'one').replace(chr(10), chr(10) + '   ').join(['   ', ''])}```\n"
        f"   Then this:\n\n```patch\n{GOOD.replace('ok', 'two')}```\nDone.\n- a point\n+ another\n"
    )
    assert [row[1:] for row in summary(diff)] == [("one.py", 1, 1), ("two.py", 1, 1)]
    assert codes(diff) == []


def test_a_fence_that_is_content_stays() -> None:
    body = "@@ -1,3 +1,3 @@\n ```diff\n-a\n+b\n ```\n"
    diff = read_diff(f"--- a/README.md\n+++ b/README.md\n{body}")
    assert hunks(diff.files[0]) == ["1,3 1,3| ```diff|-a|+b| ```"]


def test_mails_with_bodies_that_look_like_patches() -> None:
    mail = f"From {'0123456789' * 4} Mon Sep 17 00:00:00 2001\nSubject: x\n\n--- a\n+++ b\n@@ -1 +1 @@\n"
    diff = read_diff(f"{mail}---\n ok.py | 2 +-\n\n{GOOD}-- \n2.39.5\n\n{mail}\n---\n\n{GOOD}-- \n2.39.5\n")
    assert (summary(diff), codes(diff)) == ([GOOD_ROW, GOOD_ROW], [])
    encoded = read_diff(mail.replace("Subject: x", "Content-Transfer-Encoding: base64") + "---\n\nZGlmZg==\n")
    assert codes(encoded) == ["encoded-mail"]


def test_svn_cvs_hg_and_bzr_headers() -> None:
    rule = "=" * 67
    diff = read_diff(
        f"Index: s.py\n{rule}\n--- s.py\t(revision 1)\n+++ s.py\t(working copy)\n@@ -1 +1 @@\n-a\n+b\n\n"
        f"Property changes on: s.py\n{'_' * 67}\nAdded: svn:executable\n## -0,0 +1 ##\n+*\n"
        f"Index: c.py\n{rule}\nRCS file: /cvs/c.py,v\nretrieving revision 1.1\ndiff -u -r1.1 c.py\n"
        "--- c.py\t1 Jan 2026 00:00:00 -0000\t1.1\n+++ c.py\t2 Jan 2026 00:00:00 -0000\n@@ -1 +1 @@\n-a\n+b\n"
        "diff -r 0123 -r 4567 h.py\n--- a/h.py\tThu Jan 01 00:00:00 2026 +0000\n"
        "+++ b/h.py\tFri Jan 02 00:00:00 2026 +0000\n"
        "@@ -1 +1 @@\n-a\n+b\n=== modified file 'z.py'\n--- z.py\t2026-01-01 00:00:00 +0000\n"
        "+++ z.py\t2026-01-02 00:00:00 +0000\n@@ -1 +1 @@\n-a\n+b\n"
        f"Index: both.py\n{rule}\ndiff --git a/both.py b/both.py\n--- a/both.py\t(revision 1)\n"
        "+++ b/both.py\t(working copy)\n@@ -1 +1 @@\n-a\n+b\n"
        f"Index: empty.py\n{rule}\n"
    )
    assert [(file.path, file.added, file.removed) for file in diff.files] == [
        ("s.py", 1, 1),
        ("c.py", 1, 1),
        ("h.py", 1, 1),
        ("z.py", 1, 1),
        ("both.py", 1, 1),
        ("empty.py", 0, 0),
    ]
    assert codes(diff) == ["header-only"]


def test_only_in_and_unmerged_are_told() -> None:
    diff = read_diff(f"Only in d2/sub: new.py\n{GOOD}* Unmerged path x y\n")
    assert codes(diff) == ["only-in", "unmerged"]
    assert "d2/sub/new.py" in diff.problems[0].message
    assert codes(read_diff("Only in d2: new.py\n")) == ["only-in"]


# --- merges and words -----------------------------------------------------------------------------------------------


def test_a_merge_is_read_as_the_change_of_its_first_parent() -> None:
    diff = read_diff(
        "diff --cc dir b/x\nindex 1111,2222..3333\nmode 100644,100644..100755\n--- a/dir b/x\t\n+++ b/dir b/x\t\n"
        "@@@ -1,4 -1,3 +1,4 @@@ def f():\n  same\n- first\n -second\n++both\n +from second\n  end\n"
    )
    [file] = diff.files
    assert hunks(file) == ["1,4 1,4 def f():| same|-first|+both| from second| end"]
    assert (file.path, file.status, file.old_id, file.new_mode) == ("dir b/x", "modified", "1111", "100755")
    assert codes(diff) == ["combined-diff"]
    assert "2 parents" in file.problems[0].message


@pytest.mark.parametrize(
    "body",
    [
        "hello [-big-]{+small+} world\nsecond\n",
        "    return [-1-]{+2+}\n    # same\n",
        "-    old\n~\n+    new\n~\n",
    ],
)
def test_word_diffs_are_refused_and_not_read_as_unchanged(body: str) -> None:
    diff = read_diff(f"diff --git a/x b/x\n--- a/x\n+++ b/x\n@@ -1,2 +1,2 @@\n{body}{GOOD}")
    assert [(file.path, file.unread, file.hunks == []) for file in diff.files] == [
        ("x", True, True),
        ("ok.py", False, False),
    ]
    assert codes(diff) == ["word-diff"]


def test_marks_of_words_are_content_of_a_hunk_with_wrong_counts() -> None:
    diff = read_diff("--- a/x\n+++ b/x\n@@ -1,9 +1,9 @@\n [-a-z-] {+ x +}\n-a\n+b\n")
    assert (hunks(diff.files[0]), codes(diff)) == (["1,2 1,2| [-a-z-] {+ x +}|-a|+b"], ["truncated"])


def test_colour_words_are_a_word_diff_too() -> None:
    diff = read_diff(
        "\x1b[1mdiff --git a/x b/x\x1b[m\n\x1b[36m@@ -1 +1 @@\x1b[m\n a \x1b[31mold\x1b[m\x1b[32mnew\x1b[m\n"
    )
    assert codes(diff) == ["ansi-colour", "word-diff"]
