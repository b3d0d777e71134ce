"""What can be wrong with a patch: every code, with its message. The table of docs/diffs.md has the same ones."""

from potato_bridge.model.diff import Problem

MESSAGES = {
    # The text as a whole.
    "empty": "there is no text, so no change is known",
    "no-patch": "no patch of a known form was found",
    "not-utf8": "{count} byte(s) are not UTF-8; they are kept, and shown as replacement characters",
    "utf-16": "the text is UTF-16, which PowerShell makes of a patch; what was not UTF-8 in it is lost",
    "ansi-colour": "the colour codes of a terminal were removed",
    "crlf": "the patch itself has CR LF at the end of its lines; one CR a line was left out",
    "encoded-mail": "the mail is in {encoding}, which is not decoded; save the patch itself",
    "other-form": "there is a change in another form ({form}) too, which was not read; give it alone",
    "only-in": "{name} is on one side only; its text is not in the patch",
    "unmerged": "{name} is not merged; the patch does not have its change",
    # A form that is recognised and not read.
    "context-diff": "this is a context diff, which is not read; make it with `diff -u`",
    "normal-diff": "this is a diff without context, which is not read; make it with `diff -u`",
    "ed-script": "this is an ed script, which is not read; make it with `diff -u`",
    "word-diff": "this is a word diff, which has no whole lines; make it without --word-diff or --color-words",
    # One file.
    "no-path": "the patch does not say which file this is",
    "header-only": "there is a header and no change below it",
    "combined-diff": "the diff of a merge of {parents} parents, read as the change of the first; lines that only others"
    " had are left out, and so is what equals one of them",
    "submodule-log": "only the log of the submodule's commits is in the patch",
    "no-line-numbers": "the hunks have no line numbers",
    "whole-file": "the file is written whole; what is not known of its text before is shown as added",
    "text-unknown": "the text of the file is not known, so no line is shown",
    "not-composed": "edits of this file may overlap; they are shown one after the other",
    # One hunk.
    "recounted": "the hunk's header says {old} old and {new} new lines; there are {found_old} and {found_new}",
    "truncated": "the text ends inside of a hunk: its header says {old} old and {new} new lines; there are {found_old}"
    " and {found_new}",
    "cut-off": "the text ends before the end of this block",
    "missing-space": "a line lacks the mark in front; it is taken as it is",
    "unchanged-hunk": "the hunk changes nothing",
    "hunks-out-of-order": "the hunk stands before the one above it, or overlaps it",
    "bad-numbers": "the numbers of the hunk's header cannot be used",
    "unread-hunk": "the hunk could not be read: {reason}",
    "stray-line": "what looks like a changed line stands outside of every hunk; it was left out",
    "not-a-hunk": "an entry is no hunk; it was left out",
    # The edits of a trace.
    "failed-edits": "{count} edit(s) failed, and are left out",
    "undone": "{name} was made and deleted again; it is left out",
}


def problem(code: str, line: int | None = None, **values: object) -> Problem:
    """A problem of this code; `values` fill its message."""
    return Problem(code=code, message=MESSAGES[code].format(**values), line=line)
