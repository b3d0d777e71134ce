"""The general types without a script: choices, rankings, texts and spans are Argilla's own questions."""

from collections.abc import Mapping, Sequence
from typing import Any

from potato_bridge.converters.answer import Answer
from potato_bridge.converters.argilla.choices import is_native, question, read_choice, write_choice
from potato_bridge.converters.argilla.fields import question_name, safe, unsafe
from potato_bridge.converters.argilla.native.question import Context, NativeQuestion, Piece, Told, keep, text_field
from potato_bridge.converters.argilla.plan import Extent, FieldPlan, QuestionPlan
from potato_bridge.converters.forms import FORMS, BadResultError, Part, is_shown
from potato_bridge.converters.spans import shown, text_of, units_before
from potato_bridge.converters.view.subject import Subject
from potato_bridge.converters.view.text import storable
from potato_bridge.errors import InputError
from potato_bridge.model.general import General

_SPAN = "span"


def _parts(scheme: General) -> list[Part]:
    return FORMS[scheme.type].parts(scheme, question_name(scheme))


def _questions(scheme: General, _: Extent) -> list[QuestionPlan]:
    asked = []
    for part in _parts(scheme):
        title = " – ".join(word for word in (scheme.description or scheme.name, part.title) if word)
        if part.kind == "text":
            settings = {"type": "text", "use_markdown": False}
            asked.append(QuestionPlan(part.control, storable(title)[:500], settings, "", part.required))
        else:
            asked.append(question(part, title))
    return asked


def _read(scheme: General, told: Sequence[Told], context: Context, answer: Answer, complete: bool) -> None:
    before, values = len(answer.flags), {}
    raw = (told[0].values or {}) if told else {}
    for part in _parts(scheme):
        if (value := raw.get(part.control)) in (None, ""):
            continue
        try:
            if part.kind == "text":
                if not isinstance(value, str):
                    raise BadResultError("bad-result", f"one text was expected, and it is {value!r}")
                values[part.key] = value
            elif (one := read_choice(part, value)) is not None:
                values[part.key] = one
        except BadResultError as error:
            keep(answer, scheme, {part.control: value}, error.code, str(error))
    value = FORMS[scheme.type].join(scheme, values)
    if value is not None:
        answer.annotations[scheme.name] = value
    missing = any(part.required and part.key not in values for part in _parts(scheme))
    if complete and scheme.required and missing and len(answer.flags) == before and is_shown(scheme, answer):
        answer.flag("missing-required", "the required answer is missing", scheme)


def _write(scheme: General, told: Sequence[Told], context: Context, value: Any) -> dict[str, dict[str, Any]]:
    values = FORMS[scheme.type].split(scheme, value)
    parts = {part.key: part for part in _parts(scheme)}
    if unknown := values.keys() - parts.keys():
        raise InputError(f"{scheme.name} has no {', '.join(sorted(map(str, unknown)))}")
    written = {}
    for key, one in values.items():
        part = parts[key]
        if part.kind == "text" and not isinstance(one, str):
            raise InputError(f"expected a text, found {one!r}")
        written[part.control] = storable(one) if part.kind == "text" else write_choice(part, one)
    return {told[0].name: written}


_CHOICES = NativeQuestion[General](
    description="",
    fields=lambda _: (),
    questions=_questions,
    whole=lambda *_: Piece("", {}),
    read=_read,
    write=_write,
)


# --- spans ------------------------------------------------------------------------------------------------------------


def _field(scheme: General, number: int) -> str:
    return f"{question_name(scheme)}_text_{number}"


def _marks(scheme: General, number: int) -> str:
    return question_name(scheme) if len(scheme.fields) == 1 else f"{question_name(scheme)}_{number}"


def _span_fields(scheme: General) -> list[FieldPlan]:
    return [text_field(_field(scheme, n), storable(key)) for n, key in enumerate(scheme.fields, 1)]


def _span_questions(scheme: General, _: Extent) -> list[QuestionPlan]:
    options = [{"value": safe(storable(option.value)), "text": storable(option.shown)} for option in scheme.options]
    return [
        QuestionPlan(
            _marks(scheme, n),
            storable(scheme.description or scheme.name)[:500],
            {"type": _SPAN, "field": _field(scheme, n), "options": options, "allow_overlapping": True},
            "Choose a label, then mark a part of the text.",
            scheme.required and len(scheme.fields) == 1,
        )
        for n in range(1, len(scheme.fields) + 1)
    ]


def _span_piece(scheme: General, subject: Subject) -> Piece:
    texts = {}
    for n, key in enumerate(scheme.fields, 1):
        text = text_of(subject.item.data, key)
        if not text:
            message = f"the item has no text in the field {key!r}: there is nothing to mark"
            subject.notices.add("no-span-text", message, subject.where)
        texts[_field(scheme, n)] = shown(text) or " "
    return Piece("", texts, {"texts": list(texts.values())}, spans=frozenset(texts))


def _texts(told: Sequence[Told], scheme: General) -> list[str]:
    about = told[0].about if told and isinstance(told[0].about, Mapping) else {}
    own = about.get(scheme.name)
    texts = own.get("texts") if isinstance(own, Mapping) else None
    return [str(text) for text in texts] if isinstance(texts, list) else []


def _read_spans(scheme: General, told: Sequence[Told], context: Context, answer: Answer, complete: bool) -> None:
    raw, before = (told[0].values or {}) if told else {}, len(answer.flags)
    labels = {storable(option.value): option.value for option in scheme.options}
    spans: list[dict[str, Any]] = []
    for n, (key, text) in enumerate(zip(scheme.fields, _texts(told, scheme), strict=False), 1):
        # Argilla counts code units, of the text as the page has it.
        points = {unit: point for point, unit in enumerate(units_before(text))}
        rows, own = raw.get(_marks(scheme, n)), []
        for row in rows if isinstance(rows, list) else [] if rows is None else [rows]:
            found = row if isinstance(row, Mapping) else {}
            label = found.get("label")
            start, end = (
                points.get(unit, -1) if type(unit) is int else -1 for unit in (found.get("start"), found.get("end"))
            )
            word = unsafe(label) if isinstance(label, str) else None
            if word not in labels:
                keep(answer, scheme, row, "unknown-label", f"{label!r} is none of the labels")
            elif not 0 <= start < end:
                keep(
                    answer,
                    scheme,
                    row,
                    "bad-result",
                    f"{found.get('start')!r} to {found.get('end')!r} is no part of a text",
                )
            else:
                span = {"start": start, "end": end, "label": labels[word], "text": text[start:end], "field": key}
                own.append(span)
        spans += sorted(own, key=lambda span: (span["start"], span["end"]))
    if spans:
        answer.annotations[scheme.name] = spans
    if complete and scheme.required and not spans and len(answer.flags) == before and is_shown(scheme, answer):
        answer.flag("missing-required", "the required answer is missing", scheme)


def _write_spans(scheme: General, told: Sequence[Told], context: Context, value: Any) -> dict[str, dict[str, Any]]:
    if not isinstance(value, list):
        raise InputError(f"expected a list of spans, found {value!r}")
    texts, labels = _texts(told, scheme), {option.value for option in scheme.options}
    written: dict[str, Any] = {}
    for span in value:
        found = span if isinstance(span, Mapping) else {}
        start, end, key = found.get("start"), found.get("end"), found.get("field", "")
        if (
            key not in scheme.fields
            or found.get("label") not in labels
            or type(start) is not int
            or type(end) is not int
        ):
            raise InputError(f"{span!r} is no span of {scheme.name}")
        n = scheme.fields.index(key) + 1
        text = texts[n - 1] if n <= len(texts) else ""
        if not 0 <= start < end <= len(text) or found.get("text", text[start:end]) != text[start:end]:
            raise InputError(f"the span {start} to {end} of {key} does not hold {found.get('text')!r}")
        units = units_before(text)
        row = {"start": units[start], "end": units[end], "label": safe(storable(found["label"]))}
        written.setdefault(_marks(scheme, n), []).append(row)
    return {told[0].name: written}


_SPANS = NativeQuestion[General](
    description="",
    fields=_span_fields,
    questions=_span_questions,
    whole=_span_piece,
    guidelines=lambda _: ("Choose a label, then mark a part of the text with the mouse.",),
    read=_read_spans,
    write=_write_spans,
)


def question_of(scheme: General) -> NativeQuestion[General] | None:
    """Its question; None: without the panel there is none."""
    # Argilla hides no question where another one is answered so and so.
    if scheme.conditions or scheme.type in ("text_edit", "pairwise"):
        return None
    if scheme.type == _SPAN:
        return _SPANS if scheme.fields and 1 <= len(scheme.options) <= 500 else None
    if scheme.type not in FORMS:
        return None
    return _CHOICES if all(part.kind == "text" or is_native(part) for part in _parts(scheme)) else None
