"""process_reward, first_error, without a script: the steps as text, and their numbers as options."""

from collections.abc import Sequence
from typing import Any, Final

from potato_bridge.converters.answer import Answer
from potato_bridge.converters.argilla.fields import question_name
from potato_bridge.converters.argilla.limits import OPTIONS
from potato_bridge.converters.argilla.native.plain import cards_text
from potato_bridge.converters.argilla.native.question import Context, NativeQuestion, Piece, Told, keep, text_field
from potato_bridge.converters.argilla.panel.first_error import QUESTION as PANEL
from potato_bridge.converters.argilla.panel.question import Said, Seen
from potato_bridge.converters.argilla.panel.rewards import reward_notices
from potato_bridge.converters.argilla.plan import Extent, QuestionPlan
from potato_bridge.converters.view.subject import Subject
from potato_bridge.converters.view.text import storable
from potato_bridge.errors import InputError
from potato_bridge.model import ProcessReward

ALL_CORRECT: Final = "all_correct"
#: Options cannot be added later: so many more than are needed, at most.
_SPARE: Final = 50


def _questions(scheme: ProcessReward, extent: Extent) -> list[QuestionPlan]:
    texts, all_correct = scheme.first_error.labels, scheme.first_error.allow_no_error
    most = OPTIONS[1] - all_correct
    if extent.steps > most:
        raise InputError(
            f"{scheme.name}: an item has {extent.steps} steps, and a question of Argilla {most} options for them",
            hint="Use the panel layout (leave out --layout native).",
        )
    count = min(-(-max(extent.steps, 2) // _SPARE) * _SPARE, most)
    options = (
        [{"value": ALL_CORRECT, "text": f"All steps correct: {storable(texts.all_correct)}"}] if all_correct else []
    )
    options += [{"value": str(n), "text": f"Step {n + 1}"} for n in range(count)]
    settings = {"type": "label_selection", "options": options, "visible_options": min(20, len(options))}
    title = storable(scheme.description or "Choose the first step where the agent made a mistake")
    note = "A number that the item does not have is no answer."
    return [QuestionPlan(question_name(scheme), title, settings, note, required=scheme.required)]


def _whole(scheme: ProcessReward, subject: Subject) -> Piece:
    return Piece("", {"steps": cards_text(subject.cards)})


def _read(scheme: ProcessReward, told: Sequence[Told], context: Context, answer: Answer, complete: bool) -> None:
    value = (told[0].values or {}).get(question_name(scheme)) if told else None
    said = Said()
    if value == ALL_CORRECT:
        said.panel = {"first_error_step": None}
    elif isinstance(value, str) and value.isascii() and value.isdigit() and len(value) < 8:
        said.panel = {"first_error_step": int(value)}
    elif value is not None:
        keep(answer, scheme, value, "unknown-label", f"{value!r} is no step that can be chosen")
        complete = False
    PANEL.read(scheme, Seen({}, context.total_steps), said, answer, complete)


def _write(scheme: ProcessReward, told: Sequence[Told], context: Context, value: Any) -> dict[str, dict[str, Any]]:
    step = PANEL.write(scheme, Seen({}, context.total_steps), value).panel["first_error_step"]
    return {told[0].name: {question_name(scheme): ALL_CORRECT if step is None else str(step)}}


QUESTION: Final = NativeQuestion[ProcessReward](
    description="Choose the first step where the agent made a mistake",
    fields=lambda _: (text_field("steps", "Steps", required=False),),
    questions=_questions,
    whole=_whole,
    guidelines=lambda scheme: (
        f"Read the steps from the first to the last and choose the **first wrong one**. The steps before it count as "
        f"“{scheme.first_error.labels.correct}”, it counts as “{scheme.first_error.labels.first_error}”, and the steps "
        f"after it as “{scheme.first_error.labels.downstream}”.",
    ),
    notices=lambda scheme: {
        **reward_notices(scheme),
        "no-confirmation": (
            scheme.dialect != "code" and scheme.first_error.require_confirmation,
            "require_confirmation: without the panel nothing asks “Are you sure?”; Submit confirms",
        ),
    },
    read=_read,
    write=_write,
)
