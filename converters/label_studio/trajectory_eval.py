"""Scheme trajectory_eval: a page for each step, with whether it is right, and what is wrong with it.

As in mode per_step, page 0 shows what came before the first step, so that the number of a page is that of its step.
"""

import json
from collections.abc import Mapping
from typing import Any, Final

from markupsafe import Markup, escape

from potato_bridge.converters.label_studio import fields, templates
from potato_bridge.converters.label_studio.general_parts import stored
from potato_bridge.converters.label_studio.question import TO_TASK, Must, Question
from potato_bridge.converters.label_studio.trajectory_eval_answers import (
    CORRECTNESS,
    ERROR,
    RATIONALE,
    SEVERITY,
    about,
    control,
    error_text,
    helpers,
    key,
    place_of,
    preset,
    read,
    write,
)
from potato_bridge.converters.view.clip import clip, text_limit
from potato_bridge.converters.view.parts import Card, Prose
from potato_bridge.converters.view.subject import Subject
from potato_bridge.converters.view.text import storable
from potato_bridge.errors import InputError
from potato_bridge.model.trajectory_eval import CORRECT, TrajectoryEval

#: Steps of a task with which its page opens in well under ten seconds.
MANY_STEPS: Final = 200

_INDEX: Final = "{{idx}}"
# Label Studio has about thirty hotkeys to give out.
_SPARE_KEYS: Final = 50
_COLORS: Final = {CORRECT: "#22c55e", "partially_correct": "#eab308"}
_WRONG: Final = "#ef4444"
#: Fields of a step that Potato's page takes for its text, after the one that the config names.
_TEXTS: Final = ("text", "content", "reasoning", "thought", "action_type")


def _shown(option: str) -> str:
    return option.replace("_", " ").title()


def _variables(scheme: TrajectoryEval) -> dict[str, Any]:
    errors = [error_text(*error) for error in scheme.errors]
    severities = [severity.name for severity in scheme.severities]
    for what, values in (("correctness options", scheme.correctness_options), ("errors", errors)):
        _check_options(scheme, what, values)
    _check_options(scheme, "severities", severities)
    _check_commas(scheme)
    return {
        "options": [
            {"value": option, "display": _shown(option), "color": _COLORS.get(option, _WRONG)}
            for option in scheme.correctness_options
        ],
        "wrong": ",".join(stored(option) for option in scheme.wrong),
        "errors": errors,
        "severities": [{"value": s.name, "weight": f"{s.weight:+d}"} for s in scheme.severities],
        "pages": key(scheme),
        "no_key": fields.no_key,
        "spare_keys": _SPARE_KEYS,
    }


def _check_options(scheme: TrajectoryEval, what: str, values: list[str]) -> None:
    seen: dict[str, str] = {}
    for value in values:
        other = seen.setdefault(stored(value), value)
        if other != value or values.count(value) > 1:
            raise InputError(
                f"{scheme.name}: of the {what}, {other!r} and {value!r} look the same in Label Studio",
                hint="Give one of them another name.",
            )


def _check_commas(scheme: TrajectoryEval) -> None:
    for option in scheme.wrong:
        if "," in option:
            raise InputError(
                f"{scheme.name}: Label Studio cannot ask what is wrong after {option!r}, which has a comma",
                hint="Take the comma out of the option.",
            )


def _musts(scheme: TrajectoryEval) -> list[Must]:
    single = {**TO_TASK, "choice": ("single-radio", "a step has one judgement")}
    musts = [Must(control(scheme, CORRECTNESS, _INDEX), single, required=scheme.required)]
    musts += [Must(name, TO_TASK) for name in helpers(scheme)]
    if scheme.wrong:
        if scheme.error_types:
            musts.append(Must(control(scheme, ERROR, _INDEX), TO_TASK))
        if scheme.severities:
            musts.append(Must(control(scheme, SEVERITY, _INDEX), TO_TASK, required=scheme.required))
        musts.append(Must(control(scheme, RATIONALE, _INDEX), TO_TASK, kind="TextArea"))
    return musts


def _notices(scheme: TrajectoryEval) -> dict[str, tuple[bool, str]]:
    return {
        "no-running-score": (
            scheme.show_score,
            "show_score: Label Studio's free edition runs no script that could add up; records hold the score",
        ),
    }


def _instruction(scheme: TrajectoryEval) -> list[str]:
    options = ", ".join(f"“{_html(_shown(option))}”" for option in scheme.correctness_options)
    lines = [
        f"Each step has a page. Read it and choose: {options}.",
        "The first page shows what was said before the first step; entries with a dashed border are not judged.",
    ]
    if scheme.wrong:
        lines.append("Where a step is not correct, say what is wrong with it, how bad that is, and why.")
    if scheme.required:
        lines.append("Every step needs a judgement: Submit names the first one that has none.")
    lines.append(
        "<kbd>Alt</kbd>+<kbd>→</kbd> and <kbd>Alt</kbd>+<kbd>←</kbd> turn the page, <kbd>Tab</kbd> goes from choice to "
        "choice, <kbd>Space</kbd> chooses, <kbd>Ctrl</kbd>+<kbd>Enter</kbd> submits."
    )
    return lines


def _data(scheme: TrajectoryEval, subject: Subject) -> dict[str, Any]:
    macros: Any = templates.cards()
    pages, positions = _pages(scheme, subject)
    if len(positions) > MANY_STEPS:
        subject.notices.add(
            "many-steps",
            f"an item has more than {MANY_STEPS} steps to judge ({len(positions):,}): its page opens slowly",
            subject.where,
        )
    if not positions:
        message = f"the item has no step to judge in the field {scheme.steps_key!r}"
        subject.notices.add("no-steps", message, subject.where)
    numbers = subject.display.show_step_numbers
    shown: list[dict[str, Any]] = [{"html": _page(macros.page(page, numbers))} for page in pages]
    for page, position in zip(shown[1:], positions, strict=True):
        page["step_index"] = position
    return {key(scheme): shown}


def _pages(scheme: TrajectoryEval, subject: Subject) -> tuple[list[list[Card]], list[int]]:
    """The cards of each page, the beginning first, and the position of the step of each page but that."""
    trace = subject.trace
    if trace.source.record_key != scheme.steps_key:
        # Of steps of another list it is not known which they belong to: all of them come first.
        texts = _own_texts(scheme, subject.item.data)
        limit = text_limit(len(text) for text in texts)
        own = [Card(number, "", parts=[Prose(clip(text, None, limit))]) for number, text in enumerate(texts)]
        before = [_unnumbered(card) for card in subject.cards]
        return [before, *([card] for card in own)], list(range(len(own)))
    pages: list[list[Card]] = [[]]
    for card in subject.cards:
        if card.number is not None:
            first = len(pages) == 1
            # What was said just before a step is read with it; what opens the run has the first page.
            said = [] if first else _after_step(pages[-1])
            pages.append([*said, card])
        else:
            pages[-1].append(card)
    return pages, [position for position, step in enumerate(trace.steps) if step.flags.ratable]


def _unnumbered(card: Card) -> Card:
    role = card.role or (f"Step {card.number + 1} of the trace" if card.number is not None else "")
    return Card(None, role, card.badges, card.parts, card.summary)


def _after_step(page: list[Card]) -> list[Card]:
    """Takes the entries after the step off a page."""
    step = next(position for position, card in enumerate(page) if card.number is not None)
    said = page[step + 1 :]
    del page[step + 1 :]
    return said


def _own_texts(scheme: TrajectoryEval, item: Mapping[str, Any]) -> list[str]:
    steps = item.get(scheme.steps_key)
    return [_text_of(step, scheme.step_text_key) for step in steps] if isinstance(steps, list) else []


def _text_of(step: Any, text_key: str) -> str:
    """The text of a step, by the rule of Potato's page."""
    if isinstance(step, Mapping):
        found = next((step[name] for name in (text_key, *_TEXTS) if step.get(name)), step)
    else:
        found = step
    return found if isinstance(found, str) else json.dumps(found, ensure_ascii=False, indent=2)


def _page(html_of_page: object) -> str:
    # For Markdown, HTML ends at a blank line: without line breaks no text of a trace is ever read as Markdown.
    return storable(str(html_of_page)).replace("\r", "&#13;").replace("\n", "&#10;")


def _owns(scheme: TrajectoryEval, name: str) -> bool:
    return name in helpers(scheme) or _asks(scheme, name)


def _asks(scheme: TrajectoryEval, name: str) -> bool:
    return place_of(scheme, name) is not None


def _html(text: str) -> Markup:
    return escape(storable(text))


QUESTION: Final = Question[TrajectoryEval](
    template="trajectory_eval.xml.j2",
    style="trajectory_eval.css.j2",
    description="Judge each step of the agent",
    variables=_variables,
    notices=_notices,
    instruction=_instruction,
    musts=_musts,
    repeats=lambda scheme: (key(scheme),),
    data=_data,
    subject=lambda scheme: (key(scheme),),
    about=about,
    hides=lambda scheme: (key(scheme),),
    shows_trace=lambda _: True,
    owns=_owns,
    asks=_asks,
    read=read,
    write=write,
    preset=preset,
)
