"""trajectory_edit without a script: a record for each field that can be corrected, with its text in a box."""

from collections.abc import Sequence
from typing import Any, Final

from potato_bridge.converters.answer import Answer
from potato_bridge.converters.argilla.fields import question_name
from potato_bridge.converters.argilla.native.plain import cards_text, shortened
from potato_bridge.converters.argilla.native.question import Context, NativeQuestion, Piece, Told, keep, text_field
from potato_bridge.converters.argilla.panel.question import Said, Seen
from potato_bridge.converters.argilla.panel.trajectory_edit import QUESTION as PANEL
from potato_bridge.converters.argilla.plan import Extent, QuestionPlan
from potato_bridge.converters.edits import edits_to_write
from potato_bridge.converters.view.edit_context import Context as Between
from potato_bridge.converters.view.originals import Original, from_data, originals, to_data
from potato_bridge.converters.view.subject import Subject
from potato_bridge.model.trajectory_edit import plain_breaks
from potato_bridge.model.trajectory_scheme import TrajectoryEdit


def _names(scheme: TrajectoryEdit) -> tuple[str, str]:
    name = question_name(scheme)
    return name, f"{name}_reason"


def _questions(scheme: TrajectoryEdit, _: Extent) -> list[QuestionPlan]:
    name, reason = _names(scheme)
    note = "Correct the text where something is wrong; where nothing is, submit it as it is."
    asked = [QuestionPlan(name, "Corrected text", {"type": "text", "use_markdown": False}, note, required=True)]
    if scheme.require_reason_on_edit:
        asked.append(
            QuestionPlan(reason, "Reason", {"type": "text", "use_markdown": False}, "Why, where it was changed.")
        )
    return asked


def _pieces(scheme: TrajectoryEdit, subject: Subject) -> list[Piece]:
    name, _ = _names(scheme)
    found = list(originals(scheme, subject.item.data))
    # Argilla takes no empty text: where nothing stands, there is nothing to correct without the panel.
    asked = [original for original in found if original.text.strip()]
    between = Between(
        scheme,
        [original for original in asked if original.place],
        subject.trace,
        display=subject.display,
        draw=subject.pictures.draw,
        notices=subject.notices,
        where=subject.where,
    )
    pieces = []
    for number, original in enumerate(asked):
        before = shortened(cards_text(between.before(original)) if original.place else "")
        fields = {"original": f"{original.label}\n\n{original.text}", **({"before": before} if before else {})}
        kind = "edit" if original.place else "final"
        filled = {name: plain_breaks(original.text)}
        pieces.append(Piece(f"{kind}/{number:04d}", fields, to_data([original])[0], filled))
    return pieces


def _originals(told: Sequence[Told]) -> list[Original]:
    return from_data([one.about for one in told])


def _read(scheme: TrajectoryEdit, told: Sequence[Told], context: Context, answer: Answer, complete: bool) -> None:
    name, reason = _names(scheme)
    edits: list[dict[str, Any]] = []
    final: str | None = None
    answered = False
    for one in told:
        values = one.values or {}
        text, why = values.get(name), values.get(reason)
        if text is None and why is None:
            continue
        if not isinstance(text, str) or not isinstance(one.about, dict):
            keep(answer, scheme, values, "bad-result", "one text was expected")
            continue
        answered = True
        if one.about.get("step") is None:
            final = text
        else:
            edit = {"step": one.about["step"], "field": one.about.get("field"), "text": text}
            edits.append({**edit, **({"reason": why} if isinstance(why, str) and why else {})})
    said = Said({"edits": edits, **({"final_answer": final} if final is not None else {})}) if answered else Said()
    seen = Seen({"originals": to_data(_originals(told))}, context.total_steps)
    PANEL.read(scheme, seen, said, answer, complete)


def _write(scheme: TrajectoryEdit, told: Sequence[Told], context: Context, value: Any) -> dict[str, dict[str, Any]]:
    name, reason = _names(scheme)
    found = _originals(told)
    texts, reasons = edits_to_write(value, found)
    written = {}
    for one, original in zip(told, found, strict=True):
        values = {name: plain_breaks(texts.get(original.place, original.text))}
        if original.place in reasons:
            values[reason] = reasons[original.place]
        written[one.name] = values
    return written


QUESTION: Final = NativeQuestion[TrajectoryEdit](
    description="Correct the steps of the agent",
    fields=lambda _: (text_field("before", "Before", required=False), text_field("original", "Original")),
    questions=_questions,
    pieces=_pieces,
    guidelines=lambda _: (
        "Each record is one text of a run, with a copy of it in a box. Correct the copy where something is wrong, and "
        "submit it; where nothing is, submit it as it is.",
        "Open the address that `potato-bridge push` has printed: it goes through the texts in their order.",
    ),
    notices=lambda scheme: {
        "no-live-diff": (
            scheme.show_diff or scheme.show_edit_distance or scheme.allow_reset,
            "show_diff, show_edit_distance, allow_reset: without the panel there is no live diff, no count and no "
            "button that brings the original back; it stands beside the box, and records have the distances",
        ),
        "reason-not-enforced": (
            scheme.require_reason_on_edit,
            "require_reason_on_edit: Argilla cannot ask for a reason only where something was changed; an edit without "
            "one is flagged when it is pulled",
        ),
    },
    read=_read,
    write=_write,
)
