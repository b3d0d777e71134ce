"""Results of a code review ↔ its canonical value.

A comment is a region: its category, text, severity and suggestion are entries of their own, with one id. What a region
cannot say (lines that the change no longer has, the old side of an unchanged line, fields of a later version) is in its
meta, which Label Studio keeps, next to the place that it belongs to.
"""

import hashlib
import html
import re
from collections.abc import Mapping
from html.parser import HTMLParser
from typing import Any, Final

from potato_bridge.converters.answer import Answer, values_of
from potato_bridge.converters.label_studio import fields
from potato_bridge.converters.label_studio.question import Entries, Task
from potato_bridge.converters.review import check_words, where_of
from potato_bridge.converters.view.change_index import Pages, outdated, path_of, same_place
from potato_bridge.converters.view.text import attribute, storable
from potato_bridge.errors import InputError
from potato_bridge.model import to_builtins
from potato_bridge.model.code_review import MAX_RATING, CodeReview, CodeReviewScheme, Comment, parse_code_review

CATEGORY, TEXT, SEVERITY, SUGGESTION = "category", "comment", "severity", "suggestion"
VERDICT, SUMMARY, RATING = "verdict", "summary", "rating"
DIFF, FILES, INDEX = "diff", "files", "index"

#: Control of a comment → where its entries have their values, and their type.
_PARTS: Final = {
    CATEGORY: ("hypertextlabels", "hypertextlabels"),
    TEXT: ("text", "textarea"),
    SEVERITY: ("choices", "choices"),
    SUGGESTION: ("text", "textarea"),
}
_META: Final = "potato_bridge"
#: Stands at the number of each row. In the change itself it is shown by its name, so that in what a reviewer wrote it
#: can only come from a row that was copied.
GUARD: Final = "\u2063"
_NUMBER: Final = re.compile(r"(0|[1-9][0-9]{0,8})", re.ASCII)
_TOKEN: Final = re.compile(r"[A-Za-z_][A-Za-z0-9_-]{0,63}", re.ASCII)
_SAID: Final = ("category", "text", "severity", "suggestion")


def token(word: str) -> str:
    """A word of the config as values and names hold it: itself, or a name made from it that does not change."""
    if _TOKEN.fullmatch(word):
        return word
    return f"w_{hashlib.sha256(word.encode('utf-8', 'surrogatepass')).hexdigest()[:12]}"


def label(category: str) -> str:
    """A category as it comes back: its text, as an attribute of the label config can hold it."""
    return html.unescape(str(attribute(category)))


def name(scheme: CodeReviewScheme, part: str) -> str:
    """The name of a control."""
    return f"{fields.control_name(scheme)}_{part}"


def owns(scheme: CodeReviewScheme, control: str) -> bool:
    """Whether a control is the scheme's."""
    parts = (*_PARTS, VERDICT, SUMMARY)
    return control in {name(scheme, part) for part in parts} or _rating(scheme, control) is not None


def _rating(scheme: CodeReviewScheme, control: str) -> tuple[str, int] | None:
    """Token of the dimension, and number of the file; None: it is no rating of this scheme."""
    prefix = name(scheme, f"{RATING}_")
    word, _, number = control.removeprefix(prefix).rpartition("_")
    known = {token(dimension) for dimension in scheme.file_rating_dimensions}
    if not control.startswith(prefix) or word not in known or not _NUMBER.fullmatch(number):
        return None
    return word, int(number)


def read(scheme: CodeReviewScheme, task: Task, entries: Entries, answer: Answer, complete: bool) -> None:
    """See `Question.read`."""
    now = Pages(task.data.get(fields.data_key(scheme, INDEX)))
    about = task.revision.get("about") if task.revision is not None else None
    then = Pages(about.get(scheme.name)) if isinstance(about, Mapping) and scheme.name in about else None
    reader = _Reader(scheme, then or now, answer)
    for entry in entries:
        reader.take(entry)
    review = reader.review()
    if then is not None:
        for comment in review.comments:
            comment.outdated = comment.outdated or outdated(comment, then, now)
    if review.verdict is not None or review.comments or review.file_ratings or review.summary:
        answer.annotations[scheme.name] = review.to_json()
    if complete and scheme.required and review.verdict is None and not reader.bad_verdict:
        answer.flag("missing-required", "the verdict is missing", scheme)


class _Reader:
    """Reads the entries of one annotation; what is no answer stays in `controls`, with a flag."""

    def __init__(self, scheme: CodeReviewScheme, pages: Pages, answer: Answer) -> None:
        self.bad_verdict = False
        self._scheme, self._pages, self._answer = scheme, pages, answer
        self._regions: dict[str, Entries] = {}
        self._value = CodeReview(verdict=None, comments=[], file_ratings={})
        self._parts = {name(scheme, part): part for part in _PARTS}
        self._categories = {label(category.name): category.name for category in scheme.comment_categories}
        self._severities = {token(level): level for level in scheme.severity_levels}
        self._verdicts = {token(option): option for option in scheme.verdict_options}
        self._dimensions = {token(dimension): dimension for dimension in scheme.file_rating_dimensions}

    def take(self, entry: dict[str, Any]) -> None:
        """Takes an entry of one of the scheme's controls."""
        control = str(entry["from_name"])
        if control in self._parts:
            region = entry.get("id")
            if isinstance(region, str) and region:
                self._regions.setdefault(region, []).append(entry)
            else:
                self._keep(entry, "bad-result", f"{control}: the entry names no region")
        elif control == name(self._scheme, VERDICT):
            self._verdict(entry)
        elif control == name(self._scheme, SUMMARY):
            self._summary(entry)
        else:
            self._rate(entry)

    def review(self) -> CodeReview:
        """What was said, when everything was taken."""
        for entries in self._regions.values():
            self._comment(entries)
        return self._value

    def _keep(self, entry: dict[str, Any], code: str, message: str) -> None:
        self._answer.controls.setdefault(str(entry["from_name"]), []).append(entry)
        self._answer.flag(code, message, self._scheme)

    def _verdict(self, entry: dict[str, Any]) -> None:
        choices = values_of(entry, "choices")
        option = self._verdicts.get(choices[0]) if len(choices) == 1 and isinstance(choices[0], str) else None
        if option is None or self._value.verdict is not None:
            self.bad_verdict = True
            unknown = len(choices) == 1 and self._value.verdict is None
            message = f"{choices[0]!r} is no verdict of the scheme" if unknown else "one verdict was expected"
            self._keep(entry, "unknown-label" if unknown else "bad-result", message)
        else:
            self._value.verdict = option

    def _summary(self, entry: dict[str, Any]) -> None:
        texts = values_of(entry, "text")
        if not all(isinstance(text, str) for text in texts) or self._value.summary is not None:
            self._keep(entry, "bad-result", "one text was expected as the summary")
        else:
            # A box that was cleared comes back empty.
            self._value.summary = "\n".join(texts) or None

    def _rate(self, entry: dict[str, Any]) -> None:
        word, number = _rating(self._scheme, str(entry["from_name"])) or ("", 0)
        value = entry.get("value")
        rating = value.get("rating") if isinstance(value, Mapping) else None
        files = self._pages.rated
        if number >= len(files):
            message = f"file {number + 1} is rated, and the change has {len(files)}"
            self._keep(entry, "file-out-of-range", message)
            return
        ratings = self._value.file_ratings.setdefault(files[number], {})
        dimension = self._dimensions[word]
        if type(rating) is int and 1 <= rating <= MAX_RATING and dimension not in ratings:
            ratings[dimension] = rating
        else:
            self._keep(entry, "bad-result", f"{files[number]}, {dimension}: one rating from 1 to 5 was expected")
        if not ratings:
            del self._value.file_ratings[files[number]]

    def _comment(self, entries: Entries) -> None:
        said: dict[str, list[Any]] = {}
        for entry in entries:
            part = self._parts[entry["from_name"]]
            said.setdefault(part, []).extend(values_of(entry, _PARTS[part][0]))
        first = entries[0].get("value")
        place = self._place(entries, first if isinstance(first, Mapping) else {})
        if place is None:
            for entry in entries:
                self._answer.controls.setdefault(str(entry["from_name"]), []).append(entry)
            message = "a comment stands at no place of the change, or goes from one file into another"
            self._answer.flag("comment-not-placed", message, self._scheme)
            return
        categories, severities = _texts(said, CATEGORY), _texts(said, SEVERITY)
        place.text, place.suggestion = "\n".join(_texts(said, TEXT)), "\n".join(_texts(said, SUGGESTION)) or None
        place.category = self._word(place, categories, self._categories, "category") or ""
        place.severity = self._word(place, severities, self._severities, "severity")
        if not place.category:
            self._answer.flag(
                "comment-without-category", f"{where_of(place)}: the comment has no category", self._scheme
            )
        if not place.text.strip():
            self._answer.flag("comment-without-text", f"{where_of(place)}: the comment has no text", self._scheme)
        self._value.comments.append(place)

    def _word(self, place: Comment, found: list[str], known: Mapping[str, str], what: str) -> str | None:
        """The word of the config that was chosen; one that it does not have is kept, with a flag."""
        if len(found) > 1:
            self._answer.flag("bad-result", f"{where_of(place)}: one {what} was expected, not {found}", self._scheme)
        if not found:
            return None
        if found[0] not in known:
            self._answer.flag(
                "unknown-label", f"{where_of(place)}: {found[0]!r} is no {what} of the scheme", self._scheme
            )
        return known.get(found[0], found[0])

    def _place(self, entries: Entries, value: Mapping[str, Any]) -> Comment | None:
        place = self._pages.comment(value)
        meta: Mapping[str, Any] = next(
            (entry["meta"] for entry in entries if isinstance(entry.get("meta"), Mapping)), {}
        )
        ours = meta.get(_META)
        if place is None or not isinstance(ours, Mapping) or not self._pages.same_rows(ours.get("at"), value):
            return place
        try:
            noted = {**ours["comment"], "category": "", "text": ""}
            [comment] = parse_code_review({"verdict": None, "comments": [noted]}).comments
        except (InputError, KeyError, TypeError):
            return place
        return comment


def _texts(said: Mapping[str, list[Any]], part: str) -> list[str]:
    return [text.replace(GUARD, "") for text in said.get(part, []) if isinstance(text, str)]


def write(scheme: CodeReviewScheme, data: Mapping[str, Any], value: Any) -> Entries:
    """See `Question.write`."""
    review = parse_code_review(value)
    writer = _Writer(scheme, data)
    entries: Entries = []
    for number, comment in enumerate(review.comments):
        entries += writer.comment(number, comment)
    entries += writer.ratings(review.file_ratings)
    if review.verdict is not None:
        if review.verdict not in scheme.verdict_options:
            raise InputError(f"{review.verdict!r} is no verdict of the scheme")
        entries.append(_entry(scheme, VERDICT, "choices", {"choices": [token(review.verdict)]}))
    if review.summary:
        if not scheme.allow_summary:
            raise InputError("it has a summary, and the scheme asks for none", hint="Set allow_summary: true.")
        entries.append(_entry(scheme, SUMMARY, "textarea", {"text": [storable(review.summary)]}))
    return entries


def _entry(scheme: CodeReviewScheme, part: str, kind: str, value: dict[str, Any]) -> dict[str, Any]:
    return {"from_name": name(scheme, part), "to_name": fields.TASK_OBJECT, "type": kind, "value": value}


class _Writer:
    """Writes the parts of a review as results of one task."""

    def __init__(self, scheme: CodeReviewScheme, data: Mapping[str, Any]) -> None:
        self._scheme = scheme
        self._pages = Pages(data.get(fields.data_key(scheme, INDEX)))
        page = data.get(fields.data_key(scheme, DIFF))
        self._rows = _Rows()
        self._rows.feed(page if isinstance(page, str) else "")

    def comment(self, number: int, comment: Comment) -> Entries:
        place = self._pages.place(comment)
        if place is None:
            raise InputError(f"comments[{number}]: the change has no file {comment.file!r}")
        check_words(self._scheme, number, comment)
        where = self._where(*place)
        said = {
            CATEGORY: [label(comment.category)] if comment.category else [],
            TEXT: [storable(comment.text)] if comment.text or not comment.category else [],
            SEVERITY: [token(comment.severity)] if comment.severity is not None else [],
            SUGGESTION: [storable(comment.suggestion)] if comment.suggestion else [],
        }
        entries: Entries = []
        for part, values in said.items():
            if values:
                key, kind = _PARTS[part]
                entries.append(
                    {
                        "id": f"{fields.control_name(self._scheme)}-{number}",
                        "from_name": name(self._scheme, part),
                        "to_name": fields.data_key(self._scheme, DIFF),
                        "type": kind,
                        "value": {**where, key: values},
                    }
                )
        read_back = self._pages.comment(where)
        if read_back is None or not same_place(read_back, comment):
            noted = {key: item for key, item in to_builtins(comment).items() if key not in _SAID}
            entries[0]["meta"] = {_META: {"at": [where["start"], where["end"]], "comment": noted}}
        return entries

    def _where(self, file: int, first: int, last: int) -> dict[str, Any]:
        # Label Studio counts in UTF-16, from the beginning of the last row.
        end = len(self._rows.text(file, last).encode("utf-16-le", "surrogatepass")) // 2
        return {"start": path_of(file, first), "end": path_of(file, last), "startOffset": 0, "endOffset": end}

    def ratings(self, file_ratings: Mapping[str, Mapping[str, int]]) -> Entries:
        files, entries = self._pages.rated, Entries()
        for file, ratings in file_ratings.items():
            if ratings and file not in files:
                raise InputError(f"file_ratings: the change has no file {file!r}")
            for dimension, rating in ratings.items():
                if dimension not in self._scheme.file_rating_dimensions:
                    raise InputError(f"file_ratings[{file!r}]: {dimension!r} is no dimension of the scheme")
                part = f"{RATING}_{token(dimension)}_{files.index(file)}"
                entries.append(_entry(self._scheme, part, "rating", {"rating": rating}))
        return entries


class _Rows(HTMLParser):
    """The first text of each row of a page: what a region around it goes over."""

    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self._files: list[list[str]] = []
        self._open = False

    def text(self, file: int, row: int) -> str:
        """The text of a row; row -1 is the file's header."""
        rows = self._files[file] if file < len(self._files) else []
        return rows[row + 1] if row + 1 < len(rows) else ""

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self._open = False
        if tag == "section":
            self._files.append([])
        elif tag == "div" and self._files:
            self._files[-1].append("")

    def handle_data(self, data: str) -> None:
        if self._open:
            self._files[-1][-1] += data

    def handle_endtag(self, tag: str) -> None:
        # The text of a row is what follows its number.
        self._open = tag == "b" and bool(self._files)
