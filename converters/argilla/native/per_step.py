"""process_reward, per_step, without a script: a record for each step."""

from collections.abc import Sequence
from typing import Any, Final

from potato_bridge.converters.answer import Answer
from potato_bridge.converters.argilla.fields import question_name, safe, unsafe
from potato_bridge.converters.argilla.native.plain import card_text, cards_text, shortened
from potato_bridge.converters.argilla.native.question import Context, NativeQuestion, Piece, Told, keep, text_field
from potato_bridge.converters.argilla.panel.per_step import QUESTION as PANEL
from potato_bridge.converters.argilla.panel.question import Said, Seen
from potato_bridge.converters.argilla.panel.rewards import reward_notices
from potato_bridge.converters.argilla.plan import Extent, QuestionPlan
from potato_bridge.converters.rewards import asks_category
from potato_bridge.converters.view.subject import Subject
from potato_bridge.converters.view.text import storable
from potato_bridge.model import ProcessReward

_ERROR, _NOTES = "error_category", "notes"


def _names(scheme: ProcessReward) -> tuple[str, str, str]:
    name = question_name(scheme)
    return name, f"{name}_{_ERROR}", f"{name}_{_NOTES}"


def _questions(scheme: ProcessReward, _: Extent) -> list[QuestionPlan]:
    name, error, notes = _names(scheme)
    labels = [{"value": safe(label.value), "text": storable(label.display)} for label in scheme.per_step.labels]
    asked = [
        QuestionPlan(
            name,
            storable(scheme.description or "Rate this step"),
            {"type": "label_selection", "options": labels},
            "The step that is shown; the ones before it are there to read.",
            required=True,
        )
    ]
    if wanted := asks_category(scheme):
        options = [{"value": safe(word), "text": storable(word)} for word in scheme.per_step.error_categories]
        words = " or ".join(f"“{label.display}”" for label in wanted)
        if len(options) > 1:
            asked.append(
                QuestionPlan(
                    error,
                    "Kind of error",
                    {"type": "label_selection", "options": options},
                    storable(f"Only for {words}."),
                )
            )
    if scheme.per_step.allow_notes:
        asked.append(QuestionPlan(notes, "Notes", {"type": "text", "use_markdown": False}))
    return asked


def _pieces(scheme: ProcessReward, subject: Subject) -> list[Piece]:
    pieces: list[Piece] = []
    before: list[Any] = []
    for card in subject.cards:
        if card.number is not None:
            context = shortened(cards_text(before))
            fields = {
                "step": f"Step {card.number + 1}\n\n{card_text(card)}",
                **({"before": context} if context else {}),
            }
            pieces.append(Piece(f"step/{card.number:04d}", fields, {"step": card.number}))
            before = []
        before.append(card)
    return pieces


def _read(scheme: ProcessReward, told: Sequence[Told], context: Context, answer: Answer, complete: bool) -> None:
    name, error, notes = _names(scheme)
    steps: dict[str, dict[str, Any]] = {}
    for one in told:
        step = one.about.get("step") if isinstance(one.about, dict) else None
        values = one.values or {}
        found: dict[str, Any] = {}
        for key, question in (("label", name), (_ERROR, error)):
            if (value := values.get(question)) is not None:
                found[key] = unsafe(value) if isinstance(value, str) else value
        if values.get(notes):
            found[_NOTES] = values[notes]
        if found and isinstance(step, int):
            if step < context.total_steps:
                steps[str(step)] = found
            else:
                keep(answer, scheme, {str(step): found}, "step-out-of-range", f"step {step + 1} is gone")
    said = Said({"steps": steps}) if steps else Said()
    PANEL.read(scheme, Seen({}, context.total_steps), said, answer, complete)


def _write(scheme: ProcessReward, told: Sequence[Told], context: Context, value: Any) -> dict[str, dict[str, Any]]:
    name, error, notes = _names(scheme)
    said = PANEL.write(scheme, Seen({}, context.total_steps), value)
    steps = said.panel["steps"] if said.panel else {}
    written = {}
    for one in told:
        found = steps.get(str(one.about["step"]))
        if found:
            values = {name: safe(found["label"])} if "label" in found else {}
            values |= {error: safe(found[_ERROR])} if _ERROR in found else {}
            written[one.name] = values | ({notes: found[_NOTES]} if _NOTES in found else {})
    return written


QUESTION: Final = NativeQuestion[ProcessReward](
    description="Rate each step independently",
    fields=lambda _: (text_field("before", "Before", required=False), text_field("step", "Step")),
    questions=_questions,
    pieces=_pieces,
    guidelines=lambda _: (
        "Each record is one step of a run. Open the address that `potato-bridge push` has printed: it goes through the "
        "steps in their order.",
        "Every step of a run has to be answered before the run counts.",
    ),
    notices=lambda scheme: {
        **reward_notices(scheme),
        "no-running-score": (
            scheme.per_step.show_running_score,
            "show_running_score: without the panel there is no place for a sum; records hold it",
        ),
    },
    read=_read,
    write=_write,
)
