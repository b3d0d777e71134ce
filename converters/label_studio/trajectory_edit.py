"""Scheme trajectory_edit: the original of each editable field, and a copy of it that the annotator corrects.

Label Studio draws a Repeater the same way for each entry, and steps have different fields; so its entries are the
fields that have an editor, not the steps. What else belongs to a step stands above its first field.
"""

from collections.abc import Iterator
from typing import Any, Final

from potato_bridge.converters.label_studio import fields, templates
from potato_bridge.converters.label_studio.question import Must, Question
from potato_bridge.converters.label_studio.trajectory_answers import about, prefill, read, write
from potato_bridge.converters.label_studio.trajectory_fields import (
    EDIT,
    FINAL,
    ON_PAGE,
    ORIGINALS,
    PAGED,
    REASON,
    REST,
    SHOWN,
    control,
    place_of,
)
from potato_bridge.converters.view.edit_context import Context
from potato_bridge.converters.view.originals import originals, to_data
from potato_bridge.converters.view.subject import Subject
from potato_bridge.converters.view.text import storable
from potato_bridge.model.trajectory_scheme import TrajectoryEdit

#: So many fields to correct stand on one page; where there are more, each has a page of its own: on one, a hundred
#: take twice as long to open, and three times as long to submit.
ON_ONE_PAGE: Final = 40
#: Fields to correct with which a task opens in well under ten seconds.
MANY_FIELDS: Final = 200


def _variables(scheme: TrajectoryEdit) -> dict[str, Any]:
    return {
        "data": {part: fields.data_key(scheme, part) for part in (SHOWN, PAGED, FINAL, REST)},
        "on_page": ON_PAGE,
        "reasons": scheme.require_reason_on_edit,
        "final_answer": scheme.edit_final_answer,
    }


def _musts(scheme: TrajectoryEdit) -> list[Must]:
    target = {"toName": (fields.TASK_OBJECT, "results point to it")}
    asked = (EDIT, REASON) if scheme.require_reason_on_edit else (EDIT,)
    musts = [
        Must(control(scheme, part, f"{mark}{fields.INDEX}"), target, kind="TextArea")
        for part in asked
        for mark in ("", ON_PAGE)
    ]
    if scheme.edit_final_answer:
        musts.append(Must(control(scheme, FINAL, fields.INDEX), target, kind="TextArea"))
    return musts


def _notices(scheme: TrajectoryEdit) -> dict[str, tuple[bool, str]]:
    live = [name for name in ("show_diff", "show_edit_distance", "allow_reset") if getattr(scheme, name)]
    return {
        "no-live-diff": (
            bool(live),
            f"{', '.join(live)}: Label Studio's free edition runs no script: while an annotator writes there is no "
            "diff, no count and no button that brings the original back; the original stands beside the box, and "
            "records have the distances",
        ),
        "reason-not-enforced": (
            scheme.require_reason_on_edit,
            "require_reason_on_edit: Label Studio cannot ask for a reason only where something was changed; an edit "
            "without one is flagged when it is pulled",
        ),
    }


def _instruction(scheme: TrajectoryEdit) -> list[str]:
    lines = [
        "On the left is what the agent wrote, on the right a copy. Correct the copy where something is wrong; where "
        "nothing is, leave it as it is.",
        "An empty box says that nothing should stand there. To take a correction back, write what is on the left.",
    ]
    if scheme.require_reason_on_edit:
        lines.append("For each correction, say why in the box below it.")
    if scheme.edit_final_answer:
        lines.append("The final answer is at the bottom.")
    lines.append(
        "A long trace has a page for each box: turn it with the arrows below, or with <kbd>Alt</kbd>+<kbd>→</kbd> and "
        "<kbd>Alt</kbd>+<kbd>←</kbd> while you are in no box."
    )
    lines.append("<kbd>Tab</kbd> goes from box to box, <kbd>Ctrl</kbd>+<kbd>Enter</kbd> submits.")
    return lines


def _data(scheme: TrajectoryEdit, subject: Subject) -> dict[str, Any]:
    found = list(originals(scheme, subject.item.data))
    fields_of_steps = [original for original in found if original.place]
    if len(fields_of_steps) > MANY_FIELDS:
        subject.notices.add(
            "many-fields",
            f"an item has more than {MANY_FIELDS} fields to correct ({len(fields_of_steps):,}): its page opens slowly",
            subject.where,
        )
    context = Context(
        scheme,
        fields_of_steps,
        subject.trace,
        display=subject.display,
        draw=subject.pictures.draw,
        notices=subject.notices,
        where=subject.where,
    )
    macros: Any = templates.macros("trajectory_edit.html.j2")
    numbers = subject.display.show_step_numbers
    shown = [
        {
            "html": _html(macros.field(context.before(original), numbers, original.place[1])),
            "original": _html(macros.original(original.text, original.is_json)),
        }
        for original in fields_of_steps
        if original.place
    ]
    rest = _html(macros.rest(context.rest(), numbers))
    paged: list[dict[str, str]] = []
    if len(shown) > ON_ONE_PAGE:
        paged, shown = [{**entry, "after": ""} for entry in shown], []
        paged[-1]["after"], rest = rest, ""
    final = [{"original": _html(macros.original(o.text, o.is_json))} for o in found if o.place is None]
    return {
        fields.data_key(scheme, ORIGINALS): to_data(found),
        fields.data_key(scheme, SHOWN): shown,
        fields.data_key(scheme, PAGED): paged,
        fields.data_key(scheme, REST): rest,
        fields.data_key(scheme, FINAL): final,
    }


def _html(value: object) -> str:
    # For Markdown, HTML ends at a blank line: without line breaks no text of a trace is ever read as Markdown.
    return storable(str(value)).replace("\r", "&#13;").replace("\n", "&#10;")


def _owns(scheme: TrajectoryEdit, name: str) -> bool:
    return place_of(scheme, name) is not None


def _repeats(scheme: TrajectoryEdit) -> Iterator[str]:
    yield from (fields.data_key(scheme, SHOWN), fields.data_key(scheme, PAGED))
    if scheme.edit_final_answer:
        yield fields.data_key(scheme, FINAL)


QUESTION: Final = Question[TrajectoryEdit](
    template="trajectory_edit.xml.j2",
    style="trajectory_edit.css.j2",
    description="Correct the steps of the agent",
    variables=_variables,
    notices=_notices,
    instruction=_instruction,
    musts=_musts,
    repeats=lambda scheme: tuple(_repeats(scheme)),
    data=_data,
    subject=lambda scheme: (fields.data_key(scheme, ORIGINALS),),
    about=about,
    hides=lambda scheme: tuple(fields.data_key(scheme, part) for part in (ORIGINALS, SHOWN, PAGED, REST, FINAL)),
    shows_trace=lambda _: True,
    owns=_owns,
    read=read,
    write=write,
    prefill=prefill,
)
