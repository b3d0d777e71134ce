"""The general types in the panel: fixed choices are questions of Argilla, everything else is a form of the panel."""

import json
from collections.abc import Mapping, Sequence
from typing import Any, Final

from msgspec import UNSET

from potato_bridge.converters.answer import Answer
from potato_bridge.converters.argilla.choices import is_native, question, read_choice, write_choice
from potato_bridge.converters.argilla.fields import question_name
from potato_bridge.converters.argilla.panel.conditions import conditions
from potato_bridge.converters.argilla.panel.form_values import read_form, write_form
from potato_bridge.converters.argilla.panel.payload import to_plain
from potato_bridge.converters.argilla.panel.question import PanelQuestion, Said, Seen
from potato_bridge.converters.argilla.panel.spans import SPANS
from potato_bridge.converters.argilla.plan import QuestionPlan
from potato_bridge.converters.forms import FORMS, ONE, BadResultError, Part, is_shown, wrong_sum
from potato_bridge.converters.text_edit import source_of, text_of_edit, value_of_edit
from potato_bridge.converters.view.clip import clip
from potato_bridge.converters.view.subject import Subject
from potato_bridge.converters.view.text import storable
from potato_bridge.errors import InputError
from potato_bridge.model.general import General, Option

_VALUES: Final = "values"
_TEXT_EDIT: Final = "text_edit"


def _parts(scheme: General) -> list[Part]:
    return FORMS[scheme.type].parts(scheme, question_name(scheme))


def _native(scheme: General) -> Part | None:
    """The one question of Argilla that the scheme is; None: it is a form."""
    parts = _parts(scheme)
    # Argilla hides no question where another one is answered so and so.
    return parts[0] if len(parts) == 1 and is_native(parts[0]) and not scheme.conditions else None


def _natives(scheme: General) -> dict[str, QuestionPlan]:
    part = _native(scheme)
    return {"": question(part, scheme.description or scheme.name)} if part else {}


def _settings(scheme: General) -> dict[str, Any]:
    return {
        "parts": [_part(part) for part in _parts(scheme)],
        "conditions": conditions(scheme),
        "total": scheme.total,
        "source": scheme.type == _TEXT_EDIT,
    }


def _part(part: Part) -> dict[str, Any]:
    found: dict[str, Any] = {"key": part.key, "kind": part.kind, "required": part.required}
    texts = {
        "title": part.title,
        "tooltip": part.tooltip,
        "layout": part.layout,
        "low": part.low,
        "middle": part.middle,
        "high": part.high,
        "placeholder": part.placeholder,
    }
    found |= {key: storable(text) for key, text in texts.items() if text}
    numbers = {"minimum": part.minimum, "maximum": part.maximum, "step": part.step}
    found |= {key: number for key, number in numbers.items() if number is not None}
    if part.kind == "text":
        found["lines"] = part.lines
    if part.options:
        found["options"] = [_option(option) for option in part.options]
    if part.taxonomy:
        found["taxonomy"] = [_branch(branch) for branch in part.taxonomy]
    flags = {"many": part.many, "slider": part.slider, "whole": part.whole}
    return found | {key: True for key, is_set in flags.items() if is_set}


def _option(option: Option) -> dict[str, Any]:
    tooltip = {"tooltip": storable(option.tooltip)} if option.tooltip else {}
    return {"value": storable(option.value), "display": storable(option.shown), **tooltip}


def _branch(branch: Any) -> dict[str, Any]:
    return {"name": storable(branch.name), "children": [_branch(child) for child in branch.children]}


def _data(scheme: General, subject: Subject) -> dict[str, Any]:
    if scheme.type == "pairwise" and not scheme.shown_above:
        return {"pair": _pair(scheme, subject)}
    if scheme.type == _TEXT_EDIT:
        text = subject.item.data.get(scheme.field)
        if not isinstance(text, str) or not text:
            message = f"the item has no text in the field {scheme.field!r}: there is nothing to edit"
            subject.notices.add("no-source-text", message, subject.where)
        return {"source": source_of(subject.item.data, scheme.field)}
    return {}


def _pair(scheme: General, subject: Subject) -> list[dict[str, Any]]:
    value = subject.item.data.get(scheme.field)
    texts = value if isinstance(value, list) and len(value) >= 2 else []
    if not texts:
        message = f"the item has no list of two texts in the field {scheme.field!r}: there is nothing to compare"
        subject.notices.add("no-pair", message, subject.where)
    shown = [text if isinstance(text, str) else json.dumps(text, ensure_ascii=False, indent=2) for text in texts]
    return [
        {"label": storable(option.shown), "text": to_plain(clip(text, None))}
        for option, text in zip(scheme.options, shown, strict=False)
    ]


def _subject(scheme: General, data: Mapping[str, Any]) -> Any:
    # A choice among words of the config is about no part of the item.
    return data.get("pair", data.get("source", ""))


def _guidelines(scheme: General) -> Sequence[str]:
    lines = []
    if scheme.type == "ranking":
        lines.append("Drag the labels into the places at the right, the best first.")
    if scheme.total is not None:
        lines.append(f"The numbers must sum to {scheme.total:g}.")
    return lines


def _read(scheme: General, seen: Seen, said: Said, answer: Answer, complete: bool) -> None:
    before, parts, form = len(answer.flags), _parts(scheme), FORMS[scheme.type]
    native = _native(scheme)
    values: dict[str, Any] = {}
    raw: Mapping[str, Any] = {}
    if native is not None:
        raw = {ONE: said.natives[""]} if said.natives.get("") is not None else {}
    elif said.panel is not UNSET:
        found = said.panel.get(_VALUES) if isinstance(said.panel, Mapping) else None
        if isinstance(found, Mapping):
            raw = found
        else:
            _keep(scheme, answer, said.panel, "bad-result", "the values of a form were expected")
    for part in parts:
        if part.key not in raw:
            continue
        try:
            one = read_choice(part, raw[part.key]) if native is not None else read_form(part, raw[part.key])
        except BadResultError as error:
            message = f"{part.title}: {error}" if part.title else str(error)
            _keep(scheme, answer, {part.key: raw[part.key]}, error.code, message)
            continue
        if one is not None:
            values[part.key] = one
    if unknown := raw.keys() - {part.key for part in parts}:
        _keep(scheme, answer, {key: raw[key] for key in unknown}, "bad-result", "values of no control are there")
    if wrong := wrong_sum(scheme, values):
        answer.flag("wrong-sum", wrong, scheme)
    value = form.join(scheme, values)
    if scheme.type == _TEXT_EDIT and value is not None:
        value = value_of_edit(str(seen.data.get("source") or ""), value)
    if value is not None:
        answer.annotations[scheme.name] = value
    missing = any(part.required and part.key not in values for part in parts)
    if complete and scheme.required and missing and len(answer.flags) == before and is_shown(scheme, answer):
        answer.flag("missing-required", "the required answer is missing", scheme)


def _keep(scheme: General, answer: Answer, raw: Any, code: str, message: str) -> None:
    answer.controls.setdefault(scheme.name, []).append({"raw": raw})
    answer.flag(code, message[:500], scheme)


def _write(scheme: General, seen: Seen, value: Any) -> Said:
    if scheme.type == _TEXT_EDIT:
        value = text_of_edit(str(seen.data.get("source") or ""), value)
    values = FORMS[scheme.type].split(scheme, value)
    parts = {part.key: part for part in _parts(scheme)}
    if unknown := values.keys() - parts.keys():
        raise InputError(f"{scheme.name} has no {', '.join(sorted(map(str, unknown)))}")
    native = _native(scheme)
    if native is not None:
        return Said(natives={"": write_choice(native, values[ONE])}) if ONE in values else Said()
    return Said({_VALUES: {key: write_form(parts[key], one) for key, one in values.items()}})


_FORM: Final = PanelQuestion[General](
    widget="form",
    description="",
    settings=_settings,
    data=_data,
    subject=_subject,
    guidelines=_guidelines,
    keys=frozenset({_VALUES}),
    read=_read,
    write=_write,
)
_NATIVE: Final = PanelQuestion[General](
    # It shows what is compared.
    widget="pair",
    description="",
    natives=_natives,
    data=_data,
    subject=_subject,
    guidelines=_guidelines,
    read=_read,
    write=_write,
)
_PLAIN: Final = PanelQuestion[General](
    description="",
    natives=_natives,
    subject=_subject,
    guidelines=_guidelines,
    read=_read,
    write=_write,
)


def question_of(scheme: General) -> PanelQuestion[General] | None:
    """Its question; None: its type has none."""
    if scheme.type in SPANS:
        return SPANS[scheme.type]
    if scheme.type not in FORMS:
        return None
    if _native(scheme) is None:
        return _FORM
    return _NATIVE if scheme.type == "pairwise" and not scheme.shown_above else _PLAIN
