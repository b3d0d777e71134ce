"""extractive_qa: one mark in a passage answers a question; or it cannot be answered."""

from collections.abc import Mapping
from typing import Any, Final

import msgspec

from potato_bridge.converters.answer import Answer
from potato_bridge.converters.forms import BadResultError, Part
from potato_bridge.converters.label_studio import fields, templates
from potato_bridge.converters.label_studio.general_parts import read_part, write_part
from potato_bridge.converters.label_studio.general_spans import read_spans, span_parts, write_spans
from potato_bridge.converters.label_studio.question import Entries, Task
from potato_bridge.converters.spans import shown, text_of
from potato_bridge.converters.view.clip import clip
from potato_bridge.converters.view.subject import Subject
from potato_bridge.converters.view.text import storable
from potato_bridge.errors import InputError
from potato_bridge.model.general import General

TYPE: Final = "extractive_qa"
_UNANSWERABLE: Final = "unanswerable"


def question_key(scheme: General) -> str:
    """Key of the task data with the question, as HTML."""
    return fields.data_key(scheme, "html")


def _marks(scheme: General) -> General:
    """The scheme as one of spans: of the fields that may hold the passage, the task has the one that does."""
    # Either of two controls is enough, which Label Studio cannot ask for.
    required = scheme.required and len(scheme.options) == 1
    return msgspec.structs.replace(scheme, fields=scheme.fields[:1], options=scheme.options[:1], required=required)


def parts(scheme: General) -> list[Part]:
    """The mark, and the choice that there is nothing to mark."""
    [mark] = span_parts(_marks(scheme))
    if len(scheme.options) == 1:
        return [mark]
    control = f"{fields.control_name(scheme)}_{_UNANSWERABLE}"
    choice: dict[str, Any] = {"kind": "choices", "options": scheme.options[1:], "many": True}
    return [mark, Part(key=_UNANSWERABLE, control=control, to=fields.TASK_OBJECT, **choice)]


def data(scheme: General, subject: Subject) -> dict[str, Any]:
    """The passage as it is shown, and the question."""
    [mark, *_] = parts(scheme)
    item = subject.item.data
    text = next((text for key in scheme.fields if (text := text_of(item, key))), "")
    if not text:
        names = " and ".join(repr(key) for key in scheme.fields)
        subject.notices.add("no-span-text", f"the item has no text in {names}: there is nothing to mark", subject.where)
    question = text_of(item, scheme.question)
    if not question:
        message = f"the item has no text in the field {scheme.question!r}: no question is shown"
        subject.notices.add("no-question", message, subject.where)
    macros: Any = templates.general()
    return {
        # An empty text is an error to Label Studio, and the page needs one that can be seen.
        mark.to: shown(text) or " ",
        question_key(scheme): storable(str(macros.question(clip(question, None) if question else None))),
    }


def subject_keys(scheme: General) -> list[str]:
    """What an answer is about."""
    return [parts(scheme)[0].to, question_key(scheme)]


def read(scheme: General, task: Task, entries: Entries, answer: Answer) -> None:
    """Reads the results; what is no answer stays in `controls`, with a flag."""
    [mark, *choice] = parts(scheme)
    found: dict[str, Entries] = {}
    for entry in entries:
        found.setdefault(str(entry["from_name"]), []).append(entry)
    unanswerable = False
    for part in choice:
        if part.control in found:
            try:
                unanswerable = bool(read_part(part, found[part.control]))
            except BadResultError as error:
                _keep(scheme, answer, part.control, found[part.control], error.code, str(error))
                return
    spans = read_spans(_marks(scheme), task.data, found, answer)
    if len(spans) > 1 or (spans and unanswerable):
        why = "it is marked as unanswerable, too" if unanswerable else f"{len(spans)} parts are marked, and one can be"
        _keep(scheme, answer, mark.control, found[mark.control], "bad-result", why)
        if unanswerable:
            answer.controls[choice[0].control] = found[choice[0].control]
    elif spans:
        [span] = spans
        text = {"answer_text": span["text"], "start": span["start"], "end": span["end"]}
        answer.annotations[scheme.name] = {**text, "unanswerable": False}
    elif unanswerable:
        answer.annotations[scheme.name] = {"answer_text": "", "start": -1, "end": -1, "unanswerable": True}


def _keep(scheme: General, answer: Answer, control: str, entries: Entries, code: str, message: str) -> None:
    answer.controls[control] = entries
    answer.flag(code, message, scheme)


def write(scheme: General, task: Mapping[str, Any], value: Any) -> Entries:
    """The inverse of `read`.

    Raises:
        InputError: It is no such value, or the passage has another text there.
    """
    if not isinstance(value, Mapping) or not isinstance(value.get("unanswerable", False), bool):
        raise InputError(f"expected {{answer_text, start, end, unanswerable}}, found {value!r}")
    [mark, *choice] = parts(scheme)
    if value.get("unanswerable"):
        if not choice:
            raise InputError("it is unanswerable, and the scheme does not allow that (allow_unanswerable: false)")
        return [write_part(choice[0], [choice[0].options[0].value])]
    span = {"start": value.get("start"), "end": value.get("end"), "label": mark.options[0].value, "field": mark.key}
    return write_spans(_marks(scheme), task, [{**span, "text": value.get("answer_text")}])
