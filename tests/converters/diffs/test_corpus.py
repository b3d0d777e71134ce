"""Patches of agents and tools (../shared/corpus/diffs beside the repository), against counts by hand and against git.

Where there is no corpus these tests are skipped.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from potato_bridge.converters.diffs.read import read_diff
from potato_bridge.converters.diffs.write import write_diff
from tests.converters.diffs.git import applied_counts

CORPUS = Path(__file__).resolve().parents[3].parent / "shared" / "corpus" / "diffs"
FILES = sorted(path.name for path in CORPUS.glob("*") if path.name != "MANIFEST.md")

pytestmark = pytest.mark.skipif(not CORPUS.is_dir(), reason="there is no corpus beside the repository")

#: Name: files, added, removed, binary files, codes of all problems. By hand, from the patches and reference/diffs.md.
EXPECTED: dict[str, tuple[int, int, int, int, set[str]]] = {
    "agent_openhands_git_patch_1.diff": (2, 48, 2, 0, {"crlf"}),
    "agent_openhands_multiswe_1.diff": (1, 1, 0, 0, set()),
    "agent_openhands_multiswe_2.diff": (1, 2, 0, 0, set()),
    "agent_sweagent_v07_submission.diff": (1, 3, 2, 0, set()),
    "agent_sweagent_v1_crlf_submission.diff": (1, 2, 1, 0, {"crlf"}),
    "binary_differ_line.diff": (2, 1, 1, 1, set()),
    "binary_literal_add.diff": (2, 1, 0, 1, set()),
    "break_rewrite.diff": (2, 70, 30, 0, set()),
    "claude_structuredPatch.json": (1, 19, 0, 0, set()),
    "combined_c_UKGovernmentBEIS+inspect_ai.diff": (5, 1264, 146, 0, {"combined-diff"}),
    "combined_cc_Aider-AI+aider.diff": (1, 27, 0, 0, {"combined-diff"}),
    "combined_cc_RooCodeInc+Roo-Code.diff": (11, 78, 0, 0, {"combined-diff"}),
    "combined_cc_SWE-agent+SWE-agent.diff": (1, 6, 2, 0, {"combined-diff"}),
    "copy_detected.diff": (2, 1, 0, 0, set()),
    "dashes_U0.diff": (3, 5, 6, 0, set()),
    "dashes_inside_hunks.diff": (3, 5, 6, 0, set()),
    "diff_no_index.diff": (1, 1, 2, 0, set()),
    "difflib_no_filenames.diff": (1, 1, 1, 0, {"no-path"}),
    "empty.diff": (0, 0, 0, 0, {"empty"}),
    "empty_add_delete.diff": (3, 0, 0, 0, set()),
    "empty_file_add.diff": (8, 1391, 0, 0, set()),
    "empty_rename.diff": (2, 0, 0, 0, set()),
    "format_patch_series.mbox": (4, 2, 2, 1, set()),
    "git_show_stat.diff": (2, 1, 2, 1, set()),
    "gnu_context.diff": (1, 0, 0, 0, {"context-diff"}),
    "gnu_recursive_only_in.diff": (2, 1, 1, 1, {"only-in"}),
    "gnu_unified_timestamps.diff": (1, 2, 1, 0, set()),
    "ignore_ws_ctx0.diff": (1, 1, 1, 0, set()),
    "latin1_bytes.diff": (2, 1, 1, 1, {"not-utf8"}),
    "lf_patch_converted_to_crlf.diff": (1, 2, 2, 0, {"crlf"}),
    "llm_at_context.diff": (1, 3, 1, 0, {"no-line-numbers"}),
    "llm_blank_context_no_space.diff": (1, 3, 1, 0, set()),
    "llm_context_only_hunk.diff": (1, 0, 0, 0, {"unchanged-hunk"}),
    "llm_counts_wrong_two_files.diff": (2, 6, 2, 0, {"recounted"}),
    "llm_markdown_fenced.md": (2, 6, 2, 0, set()),
    "llm_missing_context_space.diff": (1, 3, 1, 0, {"missing-space"}),
    "llm_no_final_newline.diff": (1, 3, 1, 0, set()),
    "llm_overlapping_unsorted_hunks.diff": (1, 2, 2, 0, {"hunks-out-of-order"}),
    "llm_prose_around.diff": (1, 3, 1, 0, set()),
    "llm_timestamps_spaces.diff": (1, 1, 1, 0, set()),
    "llm_trailing_ws_stripped_all.diff": (1, 3, 1, 0, set()),
    "llm_truncated_mid_hunk.diff": (1, 2, 1, 0, {"truncated"}),
    "mode_only_All-Hands-AI+OpenHands.diff": (1, 0, 0, 0, set()),
    "no_newline_both_sides.diff": (4, 5, 4, 0, set()),
    "paths_quoted.diff": (9, 9, 9, 0, set()),
    "paths_unquoted_quotepath_false.diff": (9, 9, 9, 0, set()),
    "submodule_bump_UKGovernmentBEIS+inspect_ai.diff": (9, 90, 14, 0, {"truncated"}),
    "submodule_log.diff": (1, 0, 0, 0, {"submodule-log"}),
    "vcs_binary.diff": (1, 0, 0, 1, set()),
    "vcs_sample8.diff": (5, 0, 0, 3, set()),
    "word_diff.diff": (1, 0, 0, 0, {"word-diff"}),
    "wtp_git-bin.patch": (4, 1, 1, 3, set()),
    "wtp_mozilla-252983.diff": (1, 0, 0, 0, {"context-diff"}),
    "wtp_svn-context.patch": (3, 0, 0, 0, {"context-diff"}),
    "wtp_svn-default.patch": (3, 0, 0, 0, {"normal-diff"}),
    "wtp_svn-git.patch": (3, 9, 6, 0, set()),
    "wtp_svn-mixed_line_ends.patch": (1, 71, 35, 0, set()),
}
#: git takes these, and counts less: it does not know `Binary files` without its own header, nor hunks without numbers.
GIT_COUNTS_LESS = {"gnu_recursive_only_in.diff", "llm_at_context.diff"}
PATHS = [
    "-dash.txt",
    "a/a/b/b.txt",
    "back\\slash.txt",
    "dir b/x b/y.txt",
    "emoji😀.py",
    'quote"name.txt',
    "tab\tname.txt",
    "with space.txt",
    "ünïcode/файл.txt",
]


def test_the_table_is_of_this_corpus() -> None:
    assert set(FILES) == set(EXPECTED)


@pytest.mark.parametrize("name", EXPECTED)
def test_counts_and_problems(name: str) -> None:
    diff = read_diff((CORPUS / name).read_bytes())
    codes = {found.code for found in diff.problems} | {found.code for file in diff.files for found in file.problems}
    found = (
        len(diff.files),
        sum(file.added for file in diff.files),
        sum(file.removed for file in diff.files),
        sum(file.binary for file in diff.files),
        codes,
    )
    assert found == EXPECTED[name]
    assert all(file.path for file in diff.files) or "no-path" in codes


@pytest.mark.parametrize("name", EXPECTED)
def test_counts_are_those_of_git_wherever_it_takes_the_patch(name: str, tmp_path: Path) -> None:
    data = (CORPUS / name).read_bytes()
    expected = applied_counts(tmp_path, data)
    if expected is None or name in GIT_COUNTS_LESS:
        return
    found = [(f.path, *((None, None) if f.binary else (f.added, f.removed))) for f in read_diff(data).files]
    assert [row[1:] for row in found] == [row[1:] for row in expected]
    # -p1 takes a folder off names that have no prefix.
    assert all(ours[0].endswith(theirs[0]) for ours, theirs in zip(found, expected, strict=True))


@pytest.mark.parametrize("name", EXPECTED)
def test_what_is_written_reads_the_same_and_git_takes_it(name: str, tmp_path: Path) -> None:
    diff = read_diff((CORPUS / name).read_bytes())
    written = write_diff(diff)
    again = read_diff(written)
    for before, after in zip(diff.files, again.files, strict=True):
        assert (after.path, after.old_path, after.status) == (before.path, before.old_path, before.status)
        assert after.hunks == before.hunks
    if all(f.hunks and f.path and not f.binary and f.hunks[0].old_start is not None for f in diff.files) and diff.files:
        counted = applied_counts(tmp_path, written.encode("utf-8", "surrogateescape"))
        if counted is None:
            # git takes no hunk that changes nothing.
            unchanged = [
                hunk for f in diff.files for hunk in f.hunks if {line.kind for line in hunk.lines} == {"context"}
            ]
            assert unchanged, name
        else:
            assert sorted(counted) == sorted((f.path, f.added, f.removed) for f in diff.files)


@pytest.mark.parametrize("name", ["paths_quoted.diff", "paths_unquoted_quotepath_false.diff"])
def test_paths_are_what_git_was_given(name: str) -> None:
    assert [file.path for file in read_diff((CORPUS / name).read_bytes()).files] == PATHS


def test_line_numbers_and_places_of_problems() -> None:
    diff = read_diff((CORPUS / "llm_counts_wrong_two_files.diff").read_bytes())
    [found] = diff.files[0].problems
    assert (found.code, found.line) == ("recounted", 5)
    assert "6 old and 7 new lines; there are 4 and 6" in found.message
    numbers = [(line.old, line.new, line.kind[0]) for line in diff.files[1].hunks[0].lines]
    assert numbers == [
        (1, 1, "c"),
        (2, None, "r"),
        (None, 2, "a"),
        (None, 3, "a"),
        (None, 4, "a"),
        (3, 5, "c"),
        (4, 6, "c"),
    ]


def test_a_patch_given_cr_lf_loses_them_and_a_file_that_has_them_keeps_them() -> None:
    converted = read_diff((CORPUS / "agent_sweagent_v1_crlf_submission.diff").read_bytes())
    assert not any(line.text.endswith("\r") for file in converted.files for h in file.hunks for line in h.lines)
    assert not any("\r" in file.path for file in converted.files)
    mixed = read_diff((CORPUS / "wtp_svn-mixed_line_ends.patch").read_bytes())
    ends = {line.text.endswith("\r") for file in mixed.files for hunk in file.hunks for line in hunk.lines}
    # Only svn's own lines end so here.
    assert ends == {False}
