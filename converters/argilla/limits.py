"""What Argilla 2.8 takes, checked before anything is sent (argilla-server's own schemas say it)."""

from collections import Counter
from collections.abc import Iterator, Sequence
from typing import Any, Final

from potato_bridge.converters.argilla.plan import QuestionPlan, Settings
from potato_bridge.errors import InputError, Problem
from potato_bridge.model import Project

NAME: Final = 200
TITLE: Final = 500
DESCRIPTION: Final = 1000
GUIDELINES: Final = 10_000
#: Options of a question, and characters of an option.
OPTIONS: Final = (2, 500)
RANKED: Final = (2, 50)
SPANS: Final = (1, 500)
VALUE: Final = 200
TEXT: Final = 500
#: Options that a choice shows without a click, at least.
VISIBLE: Final = 3
#: Points of a rating: whole numbers between these, so many of them.
POINTS: Final = (0, 10)
RATED: Final = (2, 11)

_COUNTS: Final = {
    "label_selection": OPTIONS,
    "multi_label_selection": OPTIONS,
    "ranking": RANKED,
    "span": SPANS,
    "rating": RATED,
}


def check_settings(project: Project, settings: Settings, lines: dict[str, int | None] | None = None) -> None:
    """Refuses a data set that Argilla would refuse.

    Args:
        project: The config.
        settings: The data set.
        lines: Question name → line of its scheme in the config.

    Raises:
        InputError: With all that is beyond the limits.
    """
    problems = [
        Problem(f"{question.name}: {message}", str(project.config), (lines or {}).get(question.name), hint=hint)
        for question in settings.questions
        for message, hint in _of_question(question)
    ]
    if not 1 <= settings.min_submitted:
        problems.append(Problem(f"{settings.min_submitted} answers cannot complete a record", str(project.config)))
    if problems:
        raise InputError(f"{project.config} cannot be asked on Argilla", problems=problems)


def _of_question(question: QuestionPlan) -> Iterator[tuple[str, str]]:
    for what, text, most in (
        ("name", question.name, NAME),
        ("title", question.title, TITLE),
        ("description", question.description, DESCRIPTION),
    ):
        if not text.strip() and what != "description":
            yield f"it has no {what}", "Give it one."
        if len(text) > most:
            yield f"its {what} has {len(text)} characters, and Argilla takes {most}", "Shorten it."
    if question.settings.get("type") in _COUNTS:
        yield from _of_options(question)


def _of_options(question: QuestionPlan) -> Iterator[tuple[str, str]]:
    kind = question.settings["type"]
    options: Sequence[Any] = question.settings.get("options") or ()
    least, most = _COUNTS[kind]
    if not least <= len(options) <= most:
        yield f"it has {len(options)} options, and Argilla takes {least} to {most}", "Use another type."
    values = [option.get("value") for option in options]
    for value, count in Counter(values).items():
        if count > 1:
            yield f"{count} of its options are {value!r} to Argilla", "Make them differ."
    if (shown := question.settings.get("visible_options")) is not None and not VISIBLE <= shown <= len(options):
        yield f"it shows {shown} of {len(options)} options, and Argilla shows at least {VISIBLE}", "Show all of them."
    for value, option in zip(values, options, strict=True):
        if kind == "rating":
            if type(value) is not int or not POINTS[0] <= value <= POINTS[1]:
                points = f"they are {POINTS[0]} to {POINTS[1]}"
                yield f"{value!r} is no point of a rating: {points}", "Use a choice of words."
        elif not value or not option.get("text"):
            yield f"the option {str(value or '')[:40]!r} has no text", "Give it one."
        elif len(str(value)) > VALUE or len(str(option["text"])) > TEXT:
            named = f"{str(option['text'])[:40]!r}"
            yield f"the option {named} is longer than Argilla takes ({VALUE} characters, shown {TEXT})", "Shorten it."


def fits_label(count: int) -> bool:
    """Whether a choice of so many options can be a question of Argilla."""
    return OPTIONS[0] <= count <= OPTIONS[1]


def fits_rating(values: Sequence[str]) -> bool:
    """Whether these words are points of a rating."""
    numbers = [int(value) for value in values if value.isascii() and value.isdigit() and str(int(value)) == value]
    return (
        len(numbers) == len(values)
        and RATED[0] <= len(numbers) <= RATED[1]
        and all(POINTS[0] <= number <= POINTS[1] for number in numbers)
        and len(set(numbers)) == len(numbers)
    )
