"""Code review in the panel: the diff with comments at its lines, ratings under each file; the verdict is a question."""

from collections.abc import Mapping
from typing import Any, Final

from msgspec import UNSET

from potato_bridge.converters.answer import Answer
from potato_bridge.converters.argilla.fields import safe, unsafe
from potato_bridge.converters.argilla.guidelines import plain
from potato_bridge.converters.argilla.panel.payload import to_plain
from potato_bridge.converters.argilla.panel.question import PanelQuestion, Said, Seen
from potato_bridge.converters.argilla.plan import QuestionPlan
from potato_bridge.converters.diffs.of_trace import diff_of_trace
from potato_bridge.converters.review import category_colors, check_comment, check_words, shown_word, tell_change
from potato_bridge.converters.view.change import BLANK, show
from potato_bridge.converters.view.change_index import Pages, outdated
from potato_bridge.converters.view.subject import Subject
from potato_bridge.converters.view.text import storable
from potato_bridge.errors import InputError
from potato_bridge.model import to_builtins
from potato_bridge.model.code_review import MAX_RATING, CodeReview, CodeReviewScheme, Comment, parse_code_review

VERDICT: Final = "verdict"
_INDEX, _COMMENTS, _RATINGS, _SUMMARY = "index", "comments", "file_ratings", "summary"


def _settings(scheme: CodeReviewScheme) -> dict[str, Any]:
    colors = category_colors(scheme)
    return {
        "categories": [
            {
                "value": category.name,
                "display": storable(shown_word(category.name)),
                "hint": storable(category.description),
                "color": color,
            }
            for category, color in zip(scheme.comment_categories, colors, strict=True)
        ],
        "severities": [{"value": level, "display": storable(shown_word(level))} for level in scheme.severity_levels],
        "dimensions": [
            {"value": word, "display": storable(shown_word(word))} for word in scheme.file_rating_dimensions
        ],
        "suggestions": scheme.allow_suggestions,
        "summary": scheme.allow_summary,
    }


def _natives(scheme: CodeReviewScheme) -> dict[str, QuestionPlan]:
    options = [{"value": safe(word), "text": storable(shown_word(word))} for word in scheme.verdict_options]
    settings = {"type": "label_selection", "options": options, "visible_options": None}
    return {
        VERDICT: QuestionPlan(VERDICT, "Verdict", settings, "What becomes of this change?", required=scheme.required)
    }


def _data(scheme: CodeReviewScheme, subject: Subject) -> dict[str, Any]:
    view = show(diff_of_trace(subject.trace))
    tell_change(view, subject.notices, subject.where)
    return {
        "files": [_file(file) for file in view.files],
        "notes": [storable(note) for note in view.notes],
        _INDEX: view.index,
    }


def _file(file: Any) -> dict[str, Any]:
    """A file with its lines as columns: a thousand objects with five keys each would be most of the page."""
    made: dict[str, Any] = to_plain(file)
    made["hunks"] = [
        {
            "head": storable(hunk.head),
            "kinds": "".join(line.kind for line in hunk.lines),
            "old": [line.old for line in hunk.lines],
            "new": [line.new for line in hunk.lines],
            "text": [storable(line.text.removesuffix(BLANK)) for line in hunk.lines],
            "end": {str(n): line.end for n, line in enumerate(hunk.lines) if line.end},
        }
        for hunk in file.hunks
    ]
    return made


def _guidelines(scheme: CodeReviewScheme) -> list[str]:
    lines = [
        "To comment on a line, click its **number** (or the **+** beside it); for several lines, click the first "
        "number, then the last one with Shift held. To comment on a file as a whole, click “Comment on file” at its "
        "name."
    ]
    hints = [
        f"“{plain(shown_word(c.name))}”: {plain(c.description)}" for c in scheme.comment_categories if c.description
    ]
    if hints:
        lines.append(f"The categories: {'; '.join(hints)}.")
    if scheme.file_rating_dimensions:
        words = " and ".join(plain(shown_word(word).lower()) for word in scheme.file_rating_dimensions)
        lines.append(f"Below each file, rate it from 1 (poor) to {MAX_RATING} (good): {words}.")
    lines.append("At the end, give a verdict at the right, and submit.")
    return lines


def _read(scheme: CodeReviewScheme, seen: Seen, said: Said, answer: Answer, complete: bool) -> None:
    now = Pages(seen.data.get(_INDEX))
    then = None if seen.about is UNSET else Pages(seen.about)
    reader = _Reader(scheme, then or now, answer)
    if said.panel is not UNSET:
        reader.take(said.panel)
    review, bad_verdict = reader.value, False
    if VERDICT in said.natives:
        option = unsafe(said.natives[VERDICT]) if isinstance(said.natives[VERDICT], str) else None
        if option in scheme.verdict_options:
            review.verdict = option
        else:
            bad_verdict = True
            reader.keep(
                said.natives[VERDICT], "unknown-label", f"{said.natives[VERDICT]!r} is no verdict of the scheme"
            )
    if then is not None:
        for comment in review.comments:
            comment.outdated = comment.outdated or outdated(comment, then, now)
    if review.verdict is not None or review.comments or review.file_ratings or review.summary:
        answer.annotations[scheme.name] = review.to_json()
    if complete and scheme.required and review.verdict is None and not bad_verdict:
        answer.flag("missing-required", "the verdict is missing", scheme)


class _Reader:
    """Reads what the widget wrote; what is no answer stays in `controls`, with a flag."""

    def __init__(self, scheme: CodeReviewScheme, pages: Pages, answer: Answer) -> None:
        self.value = CodeReview(verdict=None, comments=[], file_ratings={})
        self._scheme, self._pages, self._answer = scheme, pages, answer

    def take(self, raw: Any) -> None:
        found = raw if isinstance(raw, Mapping) else None
        comments, ratings = (found or {}).get(_COMMENTS, []), (found or {}).get(_RATINGS, {})
        if found is None or not isinstance(comments, list) or not isinstance(ratings, Mapping):
            self.keep(raw, "bad-result", "comments and ratings of files were expected")
            return
        for comment in comments:
            self._comment(comment)
        for file, rated in ratings.items():
            self._rate(file, rated)
        summary = found.get(_SUMMARY)
        if isinstance(summary, str):
            self.value.summary = summary or None
        elif summary is not None:
            self.keep({_SUMMARY: summary}, "bad-result", "one text was expected as the summary")

    def keep(self, raw: Any, code: str, message: str) -> None:
        self._answer.controls.setdefault(self._scheme.name, []).append({"raw": raw})
        self._answer.flag(code, message[:500], self._scheme)

    def _comment(self, raw: Any) -> None:
        try:
            [comment] = parse_code_review({"verdict": None, "comments": [raw]}).comments
        except (InputError, TypeError, ValueError, RecursionError) as error:
            self.keep(raw, "bad-result", f"it is no comment: {getattr(error, 'message', error)}")
            return
        place = self._pages.place(comment)
        lineless = comment.line is None and comment.position is None
        if place is None or (place[1] == -1 and not lineless):
            message = "a comment stands at no place of the change, or goes from one file into another"
            self.keep(raw, "comment-not-placed", message)
            return
        comment.outdated = False
        self.value.comments.append(comment)
        check_comment(self._scheme, comment, self._answer)

    def _rate(self, file: Any, rated: Any) -> None:
        if file not in self._pages.rated:
            self.keep({file: rated}, "file-out-of-range", f"{file!r} is rated, and the change has no such file")
            return
        kept = {}
        for dimension, rating in rated.items() if isinstance(rated, Mapping) else [("", rated)]:
            good = type(rating) is int and 1 <= rating <= MAX_RATING
            if good and dimension in self._scheme.file_rating_dimensions:
                kept[dimension] = rating
            else:
                message = f"{file}, {dimension}: one rating from 1 to {MAX_RATING} was expected"
                self.keep({file: {dimension: rating}}, "bad-result", message)
        if kept:
            self.value.file_ratings[file] = kept


def _write(scheme: CodeReviewScheme, seen: Seen, value: Any) -> Said:
    review = parse_code_review(value)
    pages = Pages(seen.data.get(_INDEX))
    comments = []
    for number, comment in enumerate(review.comments):
        _check_writable(scheme, pages, number, comment)
        comments.append({key: item for key, item in to_builtins(comment).items() if key != "outdated"})
    for file, ratings in review.file_ratings.items():
        if ratings and file not in pages.rated:
            raise InputError(f"file_ratings: the change has no file {file!r}")
        for dimension in ratings:
            if dimension not in scheme.file_rating_dimensions:
                raise InputError(f"file_ratings[{file!r}]: {dimension!r} is no dimension of the scheme")
    if review.verdict is not None and review.verdict not in scheme.verdict_options:
        raise InputError(f"{review.verdict!r} is no verdict of the scheme")
    if review.summary and not scheme.allow_summary:
        raise InputError("it has a summary, and the scheme asks for none", hint="Set allow_summary: true.")
    panel: dict[str, Any] = {_COMMENTS: comments, _RATINGS: {f: dict(r) for f, r in review.file_ratings.items() if r}}
    if review.summary:
        panel[_SUMMARY] = storable(review.summary)
    natives = {} if review.verdict is None else {VERDICT: safe(review.verdict)}
    return Said(panel, natives)


def _check_writable(scheme: CodeReviewScheme, pages: Pages, number: int, comment: Comment) -> None:
    place = pages.place(comment)
    if place is None or (place[1] == -1 and not (comment.line is None and comment.position is None)):
        raise InputError(f"comments[{number}]: the change has no such line of {comment.file!r}")
    check_words(scheme, number, comment)


QUESTION: Final = PanelQuestion[CodeReviewScheme](
    widget="code_review",
    description="Review the change",
    settings=_settings,
    natives=_natives,
    data=_data,
    # A page that looks otherwise is still about the same lines.
    subject=lambda _, data: data.get(_INDEX),
    about=lambda _, data: data.get(_INDEX),
    notices=lambda scheme: {
        "no-scheme-target": (
            bool(scheme.target) and scheme.target != "agentic_steps",
            f"target: {scheme.target!r} is not known; the change that the run made is reviewed",
        )
    },
    guidelines=_guidelines,
    keys=frozenset({_COMMENTS, _RATINGS, _SUMMARY}),
    read=_read,
    write=_write,
)
