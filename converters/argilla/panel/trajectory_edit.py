"""Scheme trajectory_edit in the panel: a box beside each field, with a live diff."""

from collections.abc import Mapping
from typing import Any, Final

from msgspec import UNSET

from potato_bridge.converters.answer import Answer
from potato_bridge.converters.argilla.panel.payload import plain_list
from potato_bridge.converters.argilla.panel.question import PanelQuestion, Said, Seen
from potato_bridge.converters.edits import EditReader, about_originals, edits_to_write
from potato_bridge.converters.view.edit_context import Context
from potato_bridge.converters.view.originals import Original, from_data, originals, to_data
from potato_bridge.converters.view.subject import Subject
from potato_bridge.model.trajectory_scheme import TrajectoryEdit

_EDITS, _FINAL, _ORIGINALS = "edits", "final_answer", "originals"
#: Keys of an edit.
_EDIT: Final = frozenset({"step", "field", "text", "reason"})


def _settings(scheme: TrajectoryEdit) -> dict[str, Any]:
    return {
        "show_diff": scheme.show_diff,
        "show_edit_distance": scheme.show_edit_distance,
        "allow_reset": scheme.allow_reset,
        "require_reason_on_edit": scheme.require_reason_on_edit,
        "edit_final_answer": scheme.edit_final_answer,
    }


def _data(scheme: TrajectoryEdit, subject: Subject) -> dict[str, Any]:
    found = list(originals(scheme, subject.item.data))
    context = Context(
        scheme,
        [original for original in found if original.place],
        subject.trace,
        display=subject.display,
        draw=subject.pictures.draw,
        notices=subject.notices,
        where=subject.where,
    )
    before = [plain_list(context.before(original)) if original.place else [] for original in found]
    return {_ORIGINALS: to_data(found), "before": before, "rest": plain_list(context.rest())}


def _guidelines(scheme: TrajectoryEdit) -> list[str]:
    lines = [
        "Each text that the agent wrote stands in a box. Correct it where something is wrong; where nothing is, leave "
        "it as it is. An empty box says that nothing should stand there.",
    ]
    if scheme.require_reason_on_edit:
        lines.append("For each correction, say why in the box below it.")
    if scheme.edit_final_answer:
        lines.append("The final answer is at the bottom.")
    return lines


def _read(scheme: TrajectoryEdit, seen: Seen, said: Said, answer: Answer, complete: bool) -> None:
    if said.panel is UNSET:
        if scheme.required and complete:
            answer.flag("missing-required", "the required answer is missing", scheme)
        return
    about = None if seen.about is UNSET else seen.about
    reader = EditReader(scheme, from_data(seen.data.get(_ORIGINALS)), about, answer)
    raw = said.panel
    edits = raw.get(_EDITS, []) if isinstance(raw, Mapping) else None
    if not isinstance(raw, Mapping) or not isinstance(edits, list):
        _keep(scheme, answer, raw, "bad-result", "edits were expected")
        return
    positions = {place: at for at, place in enumerate(reader.places)}
    reasons: list[tuple[int, Any]] = []
    taken: set[int] = set()
    for edit in edits:
        problem: tuple[str, str] | None
        found = edit if isinstance(edit, Mapping) else {}
        step, field, text = found.get("step"), found.get("field"), found.get("text")
        at = positions.get((step, field)) if type(step) is int and isinstance(field, str) else None
        if at is None:
            problem = "step-out-of-range", f"the item has no field {field!r} of step {step!r} to correct"
        elif at in taken:
            problem = "bad-result", f"{reader.label(at)}: it is edited twice"
        elif unknown := sorted(found.keys() - _EDIT):
            problem = "bad-result", f"{reader.label(at)}: the panel writes no {', '.join(unknown)[:200]}"
        elif not isinstance(text, str) or not isinstance(found.get("reason", ""), str):
            problem = "bad-result", f"{reader.label(at)}: one text was expected"
        else:
            taken.add(at)
            problem = reader.edit(at, text)
            reasons.append((at, edit))
        if problem:
            _keep(scheme, answer, edit, *problem)
    for at, edit in reasons:
        if edit.get("reason") and (problem := reader.reason(at, edit["reason"])):
            _keep(scheme, answer, edit, *problem)
    if (final := raw.get(_FINAL)) is not None:
        last = positions.get(None)
        if last is None or not isinstance(final, str):
            code = "step-out-of-range" if last is None else "bad-result"
            _keep(scheme, answer, final, code, "no final answer was asked for" if last is None else "it is no text")
        elif problem := reader.edit(last, final):
            _keep(scheme, answer, final, *problem)
    answer.annotations[scheme.name] = reader.value().to_json()
    if complete and scheme.require_reason_on_edit:
        reader.miss_reasons()


def _keep(scheme: TrajectoryEdit, answer: Answer, raw: Any, code: str, message: str) -> None:
    answer.controls.setdefault(scheme.name, []).append({"raw": raw})
    answer.flag(code, message[:500], scheme)


def _write(scheme: TrajectoryEdit, seen: Seen, value: Any) -> Said:
    found = from_data(seen.data.get(_ORIGINALS))
    texts, reasons = edits_to_write(value, found)
    by_place: dict[Any, Original] = {original.place: original for original in found}
    places = [
        original.place for original in found if original.place and original.place in texts.keys() | reasons.keys()
    ]
    edits = [
        {
            "step": place[0],
            "field": place[1],
            "text": texts.get(place, by_place[place].text),
            **({"reason": reasons[place]} if reasons.get(place) else {}),
        }
        for place in places
        if place
    ]
    return Said({_EDITS: edits, **({_FINAL: texts[None]} if None in texts else {})})


QUESTION: Final = PanelQuestion[TrajectoryEdit](
    widget="trajectory_edit",
    description="Correct the steps of the agent",
    settings=_settings,
    data=_data,
    subject=lambda _, data: data.get(_ORIGINALS),
    about=lambda _, data: about_originals(from_data(data.get(_ORIGINALS))),
    guidelines=_guidelines,
    shows_steps=lambda _: True,
    keys=frozenset({_EDITS, _FINAL}),
    read=_read,
    write=_write,
)
