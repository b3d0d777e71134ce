"""Code review without a script: a record for each file, with comments as lines of text, and one for the verdict."""

import functools
import re
from collections.abc import Sequence
from typing import Any, Final

from msgspec import UNSET

from potato_bridge.converters.answer import Answer
from potato_bridge.converters.argilla.fields import question_name, safe
from potato_bridge.converters.argilla.native.question import Context, NativeQuestion, Piece, Told, keep, text_field
from potato_bridge.converters.argilla.panel.code_review import QUESTION as PANEL
from potato_bridge.converters.argilla.panel.code_review import VERDICT
from potato_bridge.converters.argilla.panel.question import Said, Seen
from potato_bridge.converters.argilla.plan import Extent, QuestionPlan
from potato_bridge.converters.diffs.of_trace import diff_of_trace
from potato_bridge.converters.review import shown_word, tell_change
from potato_bridge.converters.view.change import BLANK, FileView, show
from potato_bridge.converters.view.subject import Subject
from potato_bridge.converters.view.text import storable
from potato_bridge.errors import InputError
from potato_bridge.model.code_review import MAX_RATING, CodeReviewScheme

#: Name of the record that asks for the verdict.
REVIEW: Final = "review"
#: Option of the verdict on the record of a file.
NONE: Final = "none"
_SIGNS: Final = {"a": "+", "d": "-", "c": " "}


@functools.cache
def _line(categories: tuple[str, ...]) -> re.Pattern[str]:
    """A comment, for which a category of the scheme may have a colon or a slash in its name."""
    known = "".join(f"{re.escape(name)}|" for name in sorted(categories, key=len, reverse=True))
    return re.compile(
        r"\s*(?P<place>file|-?[0-9]{1,9}(?:\s*-\s*[0-9]{1,9})?)\s*:"
        rf"\s*(?P<category>{known}[^:/]+?)\s*(?:/\s*(?P<severity>[^:]+?)\s*)?:\s*(?P<text>.*)",
        re.DOTALL,
    )


def _names(scheme: CodeReviewScheme) -> tuple[str, str, str]:
    name = question_name(scheme)
    return f"{name}_comments", f"{name}_{VERDICT}", f"{name}_summary"


def _rating(scheme: CodeReviewScheme, number: int) -> str:
    return f"{question_name(scheme)}_rating_{number}"


def _questions(scheme: CodeReviewScheme, _: Extent) -> list[QuestionPlan]:
    comments, verdict, summary = _names(scheme)
    severity = "/severity" if scheme.severity_levels else ""
    words = ", ".join(category.name for category in scheme.comment_categories)
    levels = f" Severities: {', '.join(scheme.severity_levels)}." if scheme.severity_levels else ""
    note = (
        f"One comment a line: `NUMBER: category{severity}: text`. `-NUMBER` is a removed line, `3-7` several lines, "
        f"`file` is the file as a whole. Lines that begin with a space go on. Categories: {words}.{levels}"
    )
    asked = [QuestionPlan(comments, "Comments", {"type": "text", "use_markdown": False}, storable(note)[:1000])]
    points = [{"value": value} for value in range(1, MAX_RATING + 1)]
    for number, word in enumerate(scheme.file_rating_dimensions, 1):
        title = f"{storable(shown_word(word))} of this file, 1 (poor) to {MAX_RATING} (good)"
        asked.append(QuestionPlan(_rating(scheme, number), title, {"type": "rating", "options": points}))
    options = [{"value": safe(word), "text": storable(shown_word(word))} for word in scheme.verdict_options]
    options.append({"value": NONE, "text": "(a file: the verdict is asked for on the last record)"})
    settings = {"type": "label_selection", "options": options}
    asked.append(QuestionPlan(verdict, "Verdict", settings, "What becomes of this change?", required=True))
    if scheme.allow_summary:
        asked.append(QuestionPlan(summary, "Summary", {"type": "text", "use_markdown": False}))
    return asked


def _pieces(scheme: CodeReviewScheme, subject: Subject) -> list[Piece]:
    _, verdict, _ = _names(scheme)
    view = show(diff_of_trace(subject.trace))
    tell_change(view, subject.notices, subject.where)
    pieces = [
        Piece(f"file/{number:04d}", {"change": _change(file)}, {"index": entry}, {verdict: NONE})
        for number, (file, entry) in enumerate(zip(view.files, view.index, strict=True))
    ]
    lines = [f"{file.path}: {file.status}, +{file.added} −{file.removed}" for file in view.files]
    listed = "\n".join(["The change as a whole", "", *(lines or ["The run changed no file."])])
    return [*pieces, Piece(REVIEW, {"change": listed}, {"verdict": True})]


def _change(file: FileView) -> str:
    head = f"{file.old_path} → {file.path}" if file.old_path and file.old_path != file.path else file.path
    lines = [f"{head}: {file.status}, +{file.added} −{file.removed}", *file.notes]
    for hunk in file.hunks:
        lines += ["", hunk.head]
        lines += [
            f"{line.old:>6}{line.new:>6} {_SIGNS[line.kind]}{line.text.removesuffix(BLANK)}{line.end}"
            for line in hunk.lines
        ]
    return "\n".join(lines)


def _split(text: str) -> list[str]:
    """The comments of a box: a line that begins with a space belongs to the one above."""
    found: list[str] = []
    for line in text.replace("\r\n", "\n").split("\n"):
        if line[:1] in (" ", "\t") and found:
            found[-1] += f"\n{line[1:]}"
        elif line.strip():
            found.append(line)
    return found


def _comment(scheme: CodeReviewScheme, path: str, text: str) -> dict[str, Any] | None:
    match = _line(tuple(category.name for category in scheme.comment_categories)).fullmatch(text)
    if match is None:
        return None
    comment: dict[str, Any] = {
        "category": match["category"].strip(),
        "file": path,
        "line": None,
        "text": match["text"].strip(),
    }
    if match["severity"]:
        comment["severity"] = match["severity"].strip()
    place = match["place"]
    if place != "file":
        side = "LEFT" if place.startswith("-") else "RIGHT"
        numbers = [int(number) for number in re.findall("[0-9]+", place)]
        comment |= {"line": max(numbers), "side": side}
        if len(numbers) == 2 and numbers[0] != numbers[1]:
            comment |= {"start_line": min(numbers), "start_side": side}
    return comment


def _read(scheme: CodeReviewScheme, told: Sequence[Told], context: Context, answer: Answer, complete: bool) -> None:
    comments, verdict, summary = _names(scheme)
    panel: dict[str, Any] = {"comments": [], "file_ratings": {}}
    natives: dict[str, Any] = {}
    index: list[Any] = []
    for one in told:
        values, about = one.values or {}, one.about if isinstance(one.about, dict) else {}
        if about.get("verdict"):
            if (chosen := values.get(verdict)) not in (None, NONE):
                natives[VERDICT] = chosen
            if values.get(summary):
                panel["summary"] = values[summary]
            continue
        entry = about.get("index")
        path = entry[0] if isinstance(entry, list) and entry and isinstance(entry[0], str) else ""
        index.append(entry)
        box = values.get(comments)
        for text in _split(box) if isinstance(box, str) else [] if box is None else [str(box)]:
            found = _comment(scheme, path, text)
            if found is None:
                keep(
                    answer,
                    scheme,
                    {"file": path, "comment": text},
                    "bad-result",
                    f"{path}: no comment can be read in {text!r}",
                )
            else:
                panel["comments"].append(found)
        rated = {word: values.get(_rating(scheme, n)) for n, word in enumerate(scheme.file_rating_dimensions, 1)}
        if rated := {word: value for word, value in rated.items() if value is not None}:
            panel["file_ratings"].setdefault(path, {}).update(rated)
    said = Said(panel if any(panel.values()) else UNSET, natives)
    PANEL.read(scheme, Seen({"index": index}, context.total_steps), said, answer, complete)


def _write(scheme: CodeReviewScheme, told: Sequence[Told], context: Context, value: Any) -> dict[str, dict[str, Any]]:
    comments, verdict, summary = _names(scheme)
    files = [one for one in told if not one.about.get("verdict")]
    seen = Seen({"index": [one.about["index"] for one in files]}, context.total_steps)
    said = PANEL.write(scheme, seen, value)
    left = list(said.panel["comments"])
    written: dict[str, dict[str, Any]] = {}
    for one in files:
        path = one.about["index"][0]
        mine = [comment for comment in left if comment["file"] in (path, one.about["index"][1])]
        left = [comment for comment in left if comment not in mine]
        values: dict[str, Any] = {verdict: NONE}
        if mine:
            values[comments] = "\n".join(_written(comment) for comment in mine)
        for n, word in enumerate(scheme.file_rating_dimensions, 1):
            if (rating := said.panel["file_ratings"].get(path, {}).get(word)) is not None:
                values[_rating(scheme, n)] = rating
        written[one.name] = values
    last = next(one for one in told if one.about.get("verdict"))
    written[last.name] = {verdict: said.natives.get(VERDICT, NONE)}
    if "summary" in said.panel:
        written[last.name][summary] = said.panel["summary"]
    return written


def _written(comment: dict[str, Any]) -> str:
    if comment.get("suggestion"):
        raise InputError("a comment has a suggestion, and without the panel there is no place for it")
    if comment["line"] is None and comment.get("position") is not None:
        raise InputError("a comment is on a line without a number, which cannot be named without the panel")
    if comment.get("start_side") not in (None, comment.get("side")):
        raise InputError("a comment goes from one side to the other, which cannot be said without the panel")
    place = "file" if comment["line"] is None else str(comment["line"])
    if comment.get("start_line"):
        place = f"{comment['start_line']}-{place}"
    place = f"-{place}" if comment.get("side") == "LEFT" else place
    severity = f"/{comment['severity']}" if comment.get("severity") else ""
    text = "\n ".join(comment["text"].split("\n"))
    return f"{place}: {comment['category']}{severity}: {text}"


QUESTION: Final = NativeQuestion[CodeReviewScheme](
    description="Review the change",
    fields=lambda _: (text_field("change", "Change"),),
    questions=_questions,
    pieces=_pieces,
    guidelines=lambda _: (
        "Each record is one file of a change; the last one of a change asks for the verdict. On the others the verdict "
        "is filled in already.",
        "In front of each line stand its old and its new number. A comment names the new one, or with a minus the old "
        "one of a removed line.",
        "Open the address that `potato-bridge push` has printed: it goes through the files in their order.",
    ),
    notices=lambda scheme: {
        "no-suggestions": (
            scheme.allow_suggestions,
            "allow_suggestions: without the panel a comment has no place for suggested code",
        ),
    },
    read=_read,
    write=_write,
)
