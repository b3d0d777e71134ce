"""Code review: the change in one text, comments as regions in it, ratings of files, a verdict."""

from collections.abc import Mapping
from typing import Any, Final

from markupsafe import Markup, escape

from potato_bridge.converters.diffs.of_trace import diff_of_trace
from potato_bridge.converters.label_studio import code_review_answers as answers
from potato_bridge.converters.label_studio import fields, templates
from potato_bridge.converters.label_studio.question import TO_TASK, Must, Question
from potato_bridge.converters.review import category_colors, shown_word, tell_change
from potato_bridge.converters.view.change import show
from potato_bridge.converters.view.subject import Subject
from potato_bridge.converters.view.text import storable
from potato_bridge.model.code_review import CodeReviewScheme

#: As many categories have a key.
_KEYS: Final = "123456789"


def _variables(scheme: CodeReviewScheme) -> dict[str, Any]:
    colors = category_colors(scheme)
    categories = [
        {
            "value": category.name,
            "hint": storable(category.description),
            "color": colors[n],
            "key": _KEYS[n] if n < len(_KEYS) else "",
        }
        for n, category in enumerate(scheme.comment_categories)
    ]
    return {
        "categories": categories,
        "severities": _choices(scheme.severity_levels),
        "verdicts": _choices(scheme.verdict_options),
        "dimensions": _choices(scheme.file_rating_dimensions),
        "data": {part: fields.data_key(scheme, part) for part in (answers.DIFF, answers.FILES)},
        "suggestions": scheme.allow_suggestions,
        "summary": scheme.allow_summary,
        "no_key": fields.no_key,
    }


def _choices(words: list[str]) -> list[dict[str, str]]:
    return [{"value": answers.token(word), "display": storable(shown_word(word))} for word in words]


def _musts(scheme: CodeReviewScheme) -> list[Must]:
    diff = {"toName": (fields.data_key(scheme, answers.DIFF), "comments are regions of the change")}
    region = {**diff, "perRegion": ("true", "each comment has its own")}
    musts = [
        Must(answers.name(scheme, answers.CATEGORY), diff, kind="HyperTextLabels"),
        Must(answers.name(scheme, answers.TEXT), region, kind="TextArea"),
        Must(answers.name(scheme, answers.VERDICT), TO_TASK, required=scheme.required),
    ]
    if scheme.severity_levels:
        musts.append(Must(answers.name(scheme, answers.SEVERITY), region))
    if scheme.allow_suggestions:
        musts.append(Must(answers.name(scheme, answers.SUGGESTION), region, kind="TextArea"))
    for dimension in scheme.file_rating_dimensions:
        part = f"{answers.RATING}_{answers.token(dimension)}_{fields.INDEX}"
        rating = {**TO_TASK, "maxRating": ("5", "ratings go from 1 to 5")}
        musts.append(Must(answers.name(scheme, part), rating, kind="Rating"))
    if scheme.allow_summary:
        musts.append(Must(answers.name(scheme, answers.SUMMARY), TO_TASK, kind="TextArea"))
    return musts


def _notices(scheme: CodeReviewScheme) -> dict[str, tuple[bool, str]]:
    return {
        "review-layout": (
            True,
            "Label Studio's free edition cannot open a form at a line or put a rating below a diff: a comment is made "
            "with a category and a click on the line's number, its text is written in the list of regions, the files "
            "are rated below all diffs",
        ),
        "no-scheme-target": (
            bool(scheme.target) and scheme.target != "agentic_steps",
            f"target: {scheme.target!r} is not known; the change that the run made is reviewed",
        ),
    }


def _instruction(scheme: CodeReviewScheme) -> list[str]:
    hints = [
        f"“{_html(category.name)}”: {_html(category.description)}"
        for category in scheme.comment_categories
        if category.description
    ]
    more = [
        word
        for word, is_asked in (
            ("a severity", bool(scheme.severity_levels)),
            ("code to stand in place of the lines", scheme.allow_suggestions),
        )
        if is_asked
    ]
    lines = [
        "To comment on a line, press the key of a <b>category</b> (or click it above the change), then click the "
        "<b>number of the line</b>, or double-click a word of it. For several lines, drag over their text. To comment "
        "on a file as a whole, click the sign in front of its name.",
        "Write the comment in its box in the list of regions, at the right; click “By Time” there and then “Order by "
        "Time” to have the newest first. Each comment needs a text. A line can have several.",
    ]
    if hints:
        lines.append(f"The categories: {'; '.join(hints)}.")
    if more:
        lines.append(
            f"Click the highlight of a comment to give it {' and '.join(more)}: both are optional."
            if len(more) > 1
            else f"Click the highlight of a comment to give it {more[0]}, which is optional."
        )
    lines.append(
        "Press <kbd>Esc</kbd> before the next comment: while one is selected, a category is given to that one. "
        "<kbd>Backspace</kbd> deletes the selected comment."
    )
    if scheme.file_rating_dimensions:
        words = " and ".join(_html(word) for word in scheme.file_rating_dimensions)
        lines.append(f"Below the change, rate each file from 1 (poor) to 5 (good): {words}.")
    verdicts = ", ".join(f"“{_html(shown_word(option))}”" for option in scheme.verdict_options)
    lines.append(f"At the end, give a verdict: {verdicts}. <kbd>Ctrl</kbd>+<kbd>Enter</kbd> submits.")
    return lines


def _data(scheme: CodeReviewScheme, subject: Subject) -> dict[str, Any]:
    view = show(diff_of_trace(subject.trace))
    tell_change(view, subject.notices, subject.where)
    if subject.display.diff_view == "split":
        message = (
            "diff_view: split: the change that is reviewed is shown in one column, where lines can be commented on"
        )
        subject.notices.add("no-split-review", message, subject.where)
    macros: Any = templates.macros("code_review.html.j2")
    control = fields.control_name(scheme)
    seen: dict[str, Any] = {}
    for entry, file in zip(view.index, view.files, strict=True):
        if entry[0]:
            seen.setdefault(entry[0], file)
    return {
        fields.data_key(scheme, answers.DIFF): storable(str(macros.change(view, control, answers.GUARD))),
        fields.data_key(scheme, answers.FILES): [{"html": _one_line(macros.rated(file))} for file in seen.values()],
        fields.data_key(scheme, answers.INDEX): view.index,
    }


def _one_line(text: object) -> str:
    # To Markdown, HTML ends at a blank line.
    return storable(str(text)).replace("\r", "&#13;").replace("\n", "&#10;")


def _about(scheme: CodeReviewScheme, data: Mapping[str, Any]) -> Any:
    return data.get(fields.data_key(scheme, answers.INDEX))


def _html(text: str) -> Markup:
    return escape(storable(text))


QUESTION: Final = Question[CodeReviewScheme](
    template="code_review.xml.j2",
    style="code_review.css.j2",
    description="Review the change",
    variables=_variables,
    notices=_notices,
    instruction=_instruction,
    musts=_musts,
    repeats=lambda scheme: (fields.data_key(scheme, answers.FILES),) if scheme.file_rating_dimensions else (),
    data=_data,
    # A page that looks otherwise is still about the same lines.
    subject=lambda scheme: (fields.data_key(scheme, answers.INDEX),),
    about=_about,
    hides=lambda scheme: [fields.data_key(scheme, key) for key in (answers.DIFF, answers.FILES, answers.INDEX)],
    owns=answers.owns,
    read=answers.read,
    write=answers.write,
)
