"""The general types: a question made of the controls of its form."""

import json
import zlib
from collections.abc import Mapping
from dataclasses import replace
from typing import Any, Final

from markupsafe import Markup, escape

from potato_bridge.converters.answer import Answer
from potato_bridge.converters.forms import FORMS, BadResultError, Form, Part, is_shown, wrong_sum
from potato_bridge.converters.label_studio import fields, general_edit, general_qa, templates
from potato_bridge.converters.label_studio.general_parts import (
    RANKED,
    TAGS,
    check_options,
    item_id,
    read_part,
    stored,
    write_part,
)
from potato_bridge.converters.label_studio.general_spans import read_spans, span_data, span_parts, write_spans
from potato_bridge.converters.label_studio.question import Entries, Must, Question, Task
from potato_bridge.converters.text_edit import text_of_edit, value_of_edit
from potato_bridge.converters.view.clip import clip
from potato_bridge.converters.view.subject import Subject
from potato_bridge.converters.view.text import storable
from potato_bridge.errors import InputError
from potato_bridge.model.general import Condition, General

#: Types whose texts are marked.
SPANS: Final = frozenset(("span",))
_TEMPLATE: Final = "general.xml.j2"
#: Of a ranking: part of the key of the data with its items.
LIST: Final = "list"


def form_of(scheme: General) -> Form | None:
    """The form of its type; None: it marks spans."""
    return FORMS.get(scheme.type)


def parts_of(scheme: General) -> list[Part]:
    """Its controls."""
    if scheme.type == general_qa.TYPE:
        return general_qa.parts(scheme)
    form = form_of(scheme)
    return _controls(form, scheme) if form else span_parts(scheme)


def _controls(form: Form, scheme: General) -> list[Part]:
    to = fields.data_key(scheme, LIST) if scheme.type == "ranking" else fields.TASK_OBJECT
    return [replace(part, to=to) for part in form.parts(scheme, fields.control_name(scheme))]


def _control_of(condition: Condition) -> str:
    return fields.control_name(General(name=condition.scheme, type=condition.type))


def _variables(scheme: General) -> dict[str, Any]:
    parts = parts_of(scheme)
    for part in parts:
        check_options(scheme, part)
    first = zlib.crc32(fields.control_name(scheme).encode())
    return {
        "type": scheme.type,
        "parts": parts,
        "stored": stored,
        "card": True,
        "description": scheme.description or scheme.name,
        "pair": _shown(scheme) if _shows(scheme) else "",
        "list": fields.data_key(scheme, LIST) if scheme.type == "ranking" else "",
        "ranked": RANKED,
        "no_key": lambda number: fields.no_key(first + number),
        "conditions": [
            {
                "when": "choice-unselected" if condition.negated else "choice-selected",
                "control": _control_of(condition),
                "chosen": ",".join(stored(value) for value in condition.values),
            }
            for condition in scheme.conditions
        ],
    }


def _shows(scheme: General) -> bool:
    return scheme.type == general_qa.TYPE or (scheme.type == "pairwise" and not scheme.shown_above)


def _shown(scheme: General) -> str:
    """Key of the data that holds the two texts of a comparison, or the question about a passage."""
    return fields.data_key(scheme, "html")


def _notices(scheme: General) -> dict[str, tuple[bool, str]]:
    # Of Ranker and Labels it does not look at `required`.
    unasked = scheme.type in ("ranking", general_qa.TYPE, *SPANS)
    return {
        "not-enforced": (
            scheme.required and unasked,
            f"{scheme.name}: Label Studio submits without an answer to it, although it is required; such an answer has "
            "the flag missing-required",
        ),
        "sum-not-enforced": (
            scheme.total is not None,
            f"{scheme.name}: Label Studio does not check that the numbers sum to {scheme.total or 0:g}; an answer "
            "whose numbers do not has the flag wrong-sum",
        ),
    }


def _instruction(scheme: General) -> list[str]:
    lines = []
    if scheme.type == general_qa.TYPE:
        lines.append("Click “Answer”, then mark the part of the text that answers the question, with the mouse.")
    if scheme.type in SPANS:
        lines.append("Click a label, then mark a part of the text with the mouse. A click on a mark selects it.")
    if scheme.type == "ranking":
        lines.append("Drag each label into the column “Ranked”, the best to the top.")
    if scheme.total is not None:
        lines.append(f"The numbers must sum to {scheme.total:g}.")
    keys = [(option.key, option.shown) for option in scheme.options if option.key]
    if keys:
        shown = ", ".join(f"<kbd>{_html(key)}</kbd> {_html(text)}" for key, text in keys)
        lines.append(f"Keys: {shown}.")
    return lines


def _musts(scheme: General) -> list[Must]:
    return [
        Must(
            part.control,
            {"toName": (part.to, "results point to it")},
            kind=TAGS[part.kind][0],
            required=None if part.kind == "ranker" else part.required,
        )
        for part in parts_of(scheme)
    ]


def _data(scheme: General, subject: Subject) -> dict[str, Any]:
    if scheme.type in SPANS:
        return span_data(scheme, subject)
    if scheme.type == "pairwise" and not scheme.shown_above:
        return {_shown(scheme): _pair(scheme, subject)}
    if scheme.type == general_edit.TYPE:
        return general_edit.data(scheme, subject)
    if scheme.type == "ranking":
        items = [{"id": item_id(option), "title": storable(option.shown)} for option in scheme.options]
        return {fields.data_key(scheme, LIST): items}
    return {}


def _pair(scheme: General, subject: Subject) -> str:
    value = subject.item.data.get(scheme.field)
    texts = value if isinstance(value, list) and len(value) >= 2 else []
    if not texts:
        message = f"the item has no list of two texts in the field {scheme.field!r}: there is nothing to compare"
        subject.notices.add("no-pair", message, subject.where)
    sides = [
        (option.shown, clip(text if isinstance(text, str) else json.dumps(text, ensure_ascii=False, indent=2), None))
        for option, text in zip(scheme.options, texts, strict=False)
    ]
    macros: Any = templates.general()
    return storable(str(macros.pair(sides)))


def _subject(scheme: General) -> list[str]:
    if scheme.type == "pairwise" and not scheme.shown_above:
        return [_shown(scheme)]
    if scheme.type == general_edit.TYPE:
        return [general_edit.source_key(scheme)]
    return [part.to for part in span_parts(scheme)] if scheme.type in SPANS else []


def _subject_and_list(scheme: General) -> list[str]:
    listed = [fields.data_key(scheme, LIST)] if scheme.type == "ranking" else []
    return [*_subject(scheme), *listed]


def _owns(scheme: General, control: str) -> bool:
    return any(part.control == control for part in parts_of(scheme))


def _read(scheme: General, task: Task, entries: Entries, answer: Answer, complete: bool) -> None:
    found: dict[str, Entries] = {}
    for entry in entries:
        found.setdefault(str(entry["from_name"]), []).append(entry)
    before, form = len(answer.flags), form_of(scheme)
    value: Any
    if form is None:
        value = read_spans(scheme, task.data, found, answer) or None
        missing = value is None
    else:
        values: dict[str, Any] = {}
        for part in _controls(form, scheme):
            if part.control not in found:
                continue
            try:
                one = read_part(part, found[part.control])
            except BadResultError as error:
                answer.controls[part.control] = found[part.control]
                answer.flag(error.code, f"{part.title}: {error}" if part.title else str(error), scheme)
                continue
            if one is not None:
                values[part.key] = one
        if wrong := wrong_sum(scheme, values):
            answer.flag("wrong-sum", wrong, scheme)
        value = form.join(scheme, values)
        if scheme.type == general_edit.TYPE and value is not None:
            value = value_of_edit(general_edit.source(scheme, task.data), value)
        missing = any(part.required and part.key not in values for part in _controls(form, scheme))
    if value is not None:
        answer.annotations[scheme.name] = value
    if complete and scheme.required and missing and len(answer.flags) == before and is_shown(scheme, answer):
        answer.flag("missing-required", "the required answer is missing", scheme)


def _write(scheme: General, data: Mapping[str, Any], value: Any) -> Entries:
    form = form_of(scheme)
    if form is None:
        return write_spans(scheme, data, value)
    if scheme.type == general_edit.TYPE:
        value = text_of_edit(general_edit.source(scheme, data), value)
    values = form.split(scheme, value)
    parts = {part.key: part for part in _controls(form, scheme)}
    unknown = values.keys() - parts.keys()
    if unknown:
        raise InputError(f"{scheme.name} has no {', '.join(sorted(map(str, unknown)))}")
    return [write_part(parts[key], one) for key, one in values.items()]


def _html(text: str) -> Markup:
    return escape(storable(text))


def _read_qa(scheme: General, task: Task, entries: Entries, answer: Answer, complete: bool) -> None:
    before = len(answer.flags)
    general_qa.read(scheme, task, entries, answer)
    missing = scheme.name not in answer.annotations and len(answer.flags) == before
    if complete and scheme.required and missing and is_shown(scheme, answer):
        answer.flag("missing-required", "the required answer is missing", scheme)


_QUESTION: Final = Question[General](
    template=_TEMPLATE,
    description="",
    variables=_variables,
    notices=_notices,
    instruction=_instruction,
    musts=_musts,
    data=_data,
    subject=_subject,
    hides=_subject_and_list,
    owns=_owns,
    read=_read,
    write=_write,
)

_QA: Final = replace(
    _QUESTION,
    data=general_qa.data,
    subject=general_qa.subject_keys,
    hides=general_qa.subject_keys,
    read=_read_qa,
    write=general_qa.write,
)
#: Its box has the text when it is opened.
_TEXT_EDIT: Final = replace(_QUESTION, prefill=general_edit.prefill)


def question_of(scheme: General) -> Question[General] | None:
    """Its question; None: its type has no controls."""
    if scheme.type == general_edit.TYPE:
        return _TEXT_EDIT
    if scheme.type == general_qa.TYPE:
        return _QA
    return _QUESTION if scheme.type in FORMS or scheme.type in SPANS else None
