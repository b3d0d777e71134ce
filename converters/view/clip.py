"""How much of a text or a diff a page shows: all of it, folded; of a giant, its beginning and its end."""

from collections.abc import Iterable
from typing import Final

from potato_bridge.converters.view.parts import Clip, Diff, Row
from potato_bridge.model.trace import Edit

#: Characters and lines of one text that reach the page.
MAX_CHARS: Final = 60_000
MAX_LINES: Final = 2_000
#: Characters of all texts of a task: a page opens in about a second per megabyte, beside what its steps take.
MAX_TASK_CHARS: Final = 2_000_000
#: What a text may have where a task has more: the largest of these with which it fits, or the smallest.
_LIMITS: Final = (MAX_CHARS, 30_000, 15_000, 8_000, 4_000, 2_000)
#: Of a text that is cut, this share is its beginning.
_HEAD_SHARE: Final = 0.7
#: Rows of one diff that reach the page.
MAX_ROWS: Final = 1_500
#: A fold that hides fewer lines than this is not worth a click.
_MIN_FOLD: Final = 3


def text_limit(lengths: Iterable[int]) -> int:
    """How many characters of each text reach the page, given the lengths of all texts of a task."""
    known = list(lengths)
    fitting = (limit for limit in _LIMITS if sum(min(length, limit) for length in known) <= MAX_TASK_CHARS)
    return next(fitting, _LIMITS[-1])


def clip(text: str, fold_after: int | None, limit: int = MAX_CHARS) -> Clip:
    """Splits a text into what is seen at once, what unfolds, and what is cut.

    Args:
        text: The text.
        fold_after: Lines seen at once; None: all.
        limit: Characters that reach the page.
    """
    text = text.removesuffix("\n")
    kept, tail, cut_lines, cut_chars = _cut(text, limit)
    lines = kept.split("\n")
    if fold_after is None or len(lines) < fold_after + _MIN_FOLD:
        return Clip(kept, "", 0, cut_lines, cut_chars, tail)
    head, more = lines[:fold_after], lines[fold_after:]
    return Clip("\n".join(head), "\n".join(more), len(more), cut_lines, cut_chars, tail)


def _cut(text: str, limit: int) -> tuple[str, str, int, int]:
    lines = text.split("\n")
    if len(text) <= limit and len(lines) <= MAX_LINES:
        return text, "", 0, 0
    head = "\n".join(lines[: int(MAX_LINES * _HEAD_SHARE)])[: int(limit * _HEAD_SHARE)]
    rest = text[len(head) :]
    tail = "\n".join(rest.split("\n")[-int(MAX_LINES * (1 - _HEAD_SHARE)) :])[-int(limit * (1 - _HEAD_SHARE)) :]
    middle = rest[: len(rest) - len(tail)]
    # Between the ends of two lines there is one line less than there are line breaks.
    return head, tail, max(middle.count("\n") - 1, 0), len(middle)


def diff(edit: Edit, *, split: bool, fold_after: int | None) -> Diff:
    """The rows of a change to one file, numbered where the source gives line numbers."""
    rows: list[Row] = []
    numbered = any(hunk.old_start is not None or hunk.new_start is not None for hunk in edit.hunks)
    for position, hunk in enumerate(edit.hunks):
        if position or hunk.section:
            rows.append(Row("h", hunk.section or "⋯"))
        old, new = hunk.old_start, hunk.new_start
        for line in hunk.lines:
            sign, text = line[:1], line[1:].removesuffix("\n").removesuffix("\r")
            if sign == "+":
                rows.append(Row("a", text, None, new))
            elif sign == "-":
                rows.append(Row("d", text, old, None))
            elif sign == "\\":
                rows.append(Row("n", line.strip("\\ \n")))
                continue
            else:
                rows.append(Row("c", text, old, new))
            old = old + 1 if old is not None and sign != "+" else old
            new = new + 1 if new is not None and sign != "-" else new
    return as_diff(rows, numbered=numbered, split=split, fold_after=fold_after)


def diff_of_text(text: str, *, split: bool, fold_after: int | None) -> Diff:
    """The rows of a diff that came as text; lines that are none of a diff are notes."""
    rows: list[Row] = []
    lines = text.removesuffix("\n").split("\n")
    for position, line in enumerate(lines):
        before, after = (
            lines[position - 1] if position else "",
            lines[position + 1] if position + 1 < len(lines) else "",
        )
        # A deleted line "-- x" looks like the header "--- x": only the pair of both lines is one.
        header = (line.startswith("--- ") and after.startswith("+++ ")) or (
            line.startswith("+++ ") and before.startswith("--- ")
        )
        if header or line.startswith(("diff --git ", "index ")):
            rows.append(Row("n", line))
        elif line.startswith("@@"):
            rows.append(Row("h", line))
        elif line.startswith(("+", "-")):
            rows.append(Row("a" if line[0] == "+" else "d", line[1:]))
        else:
            rows.append(Row("c", line.removeprefix(" ")))
    return as_diff(rows, numbered=False, split=split, fold_after=fold_after)


def as_diff(rows: list[Row], *, numbered: bool, split: bool, fold_after: int | None) -> Diff:
    """Rows in one or two columns, within the limits."""
    cut = max(0, len(rows) - MAX_ROWS)
    rows = rows[:MAX_ROWS]
    # One empty column beside a new or a deleted file would only waste the width.
    split = split and {"a", "d"} <= {row.op for row in rows}
    pairs = _pairs(rows) if split else []
    shown = len(pairs) if split else len(rows)
    more_from = fold_after if fold_after is not None and shown >= fold_after + _MIN_FOLD else None
    return Diff([] if split else rows, pairs, numbered, more_from, cut)


def _pairs(rows: list[Row]) -> list[tuple[Row | None, Row | None]]:
    """Two columns: a run of deleted lines stands beside the run of added lines that follows it."""
    pairs: list[tuple[Row | None, Row | None]] = []
    deleted: list[Row] = []
    added: list[Row] = []

    def flush() -> None:
        for i in range(max(len(deleted), len(added))):
            pairs.append((deleted[i] if i < len(deleted) else None, added[i] if i < len(added) else None))
        deleted.clear()
        added.clear()

    for row in rows:
        if row.op == "d":
            if added:
                flush()
            deleted.append(row)
        elif row.op == "a":
            added.append(row)
        else:
            flush()
            pairs.append((row, row))
    flush()
    return pairs
