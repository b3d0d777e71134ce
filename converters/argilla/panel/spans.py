"""span and extractive_qa in the panel: parts of a text are marked with the mouse."""

from collections.abc import Mapping, Sequence
from typing import Any, Final

from msgspec import UNSET

from potato_bridge.converters.answer import Answer
from potato_bridge.converters.argilla.panel.conditions import conditions
from potato_bridge.converters.argilla.panel.payload import to_plain
from potato_bridge.converters.argilla.panel.question import PanelQuestion, Said, Seen
from potato_bridge.converters.forms import is_shown
from potato_bridge.converters.spans import shown, text_of
from potato_bridge.converters.view.clip import clip
from potato_bridge.converters.view.subject import Subject
from potato_bridge.converters.view.text import css_colour, storable
from potato_bridge.errors import InputError
from potato_bridge.model.general import General

_QA: Final = "extractive_qa"
_SPANS, _TEXTS, _UNANSWERABLE = "spans", "texts", "unanswerable"
_COLORS: Final = ("#0969da", "#1a7f37", "#9a6700", "#8250df", "#bf3989", "#bc4c00", "#0550ae", "#57606a")


def _labels(scheme: General) -> list[str]:
    return [option.value for option in (scheme.options[:1] if scheme.type == _QA else scheme.options)]


def _settings(scheme: General) -> dict[str, Any]:
    options = scheme.options[:1] if scheme.type == _QA else scheme.options
    found: dict[str, Any] = {
        "labels": [
            {
                "value": storable(option.value),
                "display": storable(option.shown),
                "color": str(css_colour(option.color)) if option.color else _COLORS[n % len(_COLORS)],
                **({"tooltip": storable(option.tooltip)} if option.tooltip else {}),
            }
            for n, option in enumerate(options)
        ],
        "conditions": conditions(scheme),
    }
    if scheme.type == _QA:
        found["single"] = True
        if len(scheme.options) > 1:
            found[_UNANSWERABLE] = storable(scheme.options[1].shown)
    return found


def _data(scheme: General, subject: Subject) -> dict[str, Any]:
    item = subject.item.data
    keys = scheme.fields
    if scheme.type == _QA:
        # Of the fields that may hold the passage, the first that has a text; it is named by the first.
        text = next((text for key in keys if (text := text_of(item, key))), "")
        found = {keys[0]: text}
    else:
        found = {key: text_of(item, key) for key in keys}
    for key, text in found.items():
        if not text:
            message = f"the item has no text in the field {key!r}: there is nothing to mark"
            subject.notices.add("no-span-text", message, subject.where)
    data: dict[str, Any] = {_TEXTS: [{"field": key, "text": shown(text)} for key, text in found.items()]}
    if scheme.type == _QA:
        question = text_of(item, scheme.question)
        if not question:
            message = f"the item has no text in the field {scheme.question!r}: no question is shown"
            subject.notices.add("no-question", message, subject.where)
        data["question"] = to_plain(clip(question, None)) if question else None
    return data


def _texts(seen: Seen) -> dict[str, str]:
    rows = seen.data.get(_TEXTS)
    return {str(row["field"]): str(row["text"]) for row in rows} if isinstance(rows, list) else {}


def _guidelines(scheme: General) -> Sequence[str]:
    if scheme.type == _QA:
        return ["Mark the part of the text that answers the question, with the mouse."]
    return ["Choose a label, then mark a part of the text with the mouse. A click on a mark removes it."]


def _read(scheme: General, seen: Seen, said: Said, answer: Answer, complete: bool) -> None:
    before = len(answer.flags)
    if said.panel is not UNSET:
        _take(scheme, _texts(seen), said.panel, answer)
    missing = scheme.name not in answer.annotations and len(answer.flags) == before
    if complete and scheme.required and missing and is_shown(scheme, answer):
        answer.flag("missing-required", "the required answer is missing", scheme)


def _take(scheme: General, texts: Mapping[str, str], raw: Any, answer: Answer) -> None:
    rows = raw.get(_SPANS, []) if isinstance(raw, Mapping) else None
    if not isinstance(raw, Mapping) or not isinstance(rows, list):
        _keep(scheme, answer, raw, "bad-result", "marks were expected")
        return
    spans: list[dict[str, Any]] = []
    for row in rows:
        if problem := _span(scheme, texts, row, spans):
            _keep(scheme, answer, row, *problem)
    order = list(texts)
    spans.sort(key=lambda span: (order.index(span["field"]), span["start"], span["end"]))
    if scheme.type != _QA:
        if spans:
            answer.annotations[scheme.name] = spans
        return
    unanswerable = raw.get(_UNANSWERABLE) is True and len(scheme.options) > 1
    if len(spans) > 1 or (spans and unanswerable):
        why = "it is marked as unanswerable, too" if unanswerable else f"{len(spans)} parts are marked, and one can be"
        _keep(scheme, answer, raw, "bad-result", why)
    elif spans:
        text = {"answer_text": spans[0]["text"], "start": spans[0]["start"], "end": spans[0]["end"]}
        answer.annotations[scheme.name] = {**text, "unanswerable": False}
    elif unanswerable:
        answer.annotations[scheme.name] = {"answer_text": "", "start": -1, "end": -1, "unanswerable": True}


def _span(scheme: General, texts: Mapping[str, str], row: Any, spans: list[dict[str, Any]]) -> tuple[str, str] | None:
    found = row if isinstance(row, Mapping) else {}
    start, end, field, label = (found.get(key) for key in ("start", "end", "field", "label"))
    labels = {storable(value): value for value in _labels(scheme)}
    if not isinstance(label, str) or label not in labels:
        return "unknown-label", f"{label!r} is none of the labels"
    text = texts.get(field, "") if isinstance(field, str) else ""
    if type(start) is not int or type(end) is not int or not 0 <= start < end <= len(text):
        return "bad-result", f"{start!r} to {end!r} is no part of a text"
    marked = found.get("text")
    if isinstance(marked, str) and marked != text[start:end]:
        return "span-text-mismatch", f"{marked!r} was marked, and at {start} to {end} is {text[start:end]!r}"
    spans.append({"start": start, "end": end, "label": labels[label], "text": text[start:end], "field": field})
    return None


def _keep(scheme: General, answer: Answer, raw: Any, code: str, message: str) -> None:
    answer.controls.setdefault(scheme.name, []).append({"raw": raw})
    answer.flag(code, message[:500], scheme)


def _write(scheme: General, seen: Seen, value: Any) -> Said:
    texts, rows = _texts(seen), value
    if scheme.type == _QA:
        if not isinstance(value, Mapping) or not isinstance(value.get(_UNANSWERABLE, False), bool):
            raise InputError(f"expected {{answer_text, start, end, unanswerable}}, found {value!r}")
        if value.get(_UNANSWERABLE):
            if len(scheme.options) < 2:
                raise InputError("it is unanswerable, and the scheme does not allow that (allow_unanswerable: false)")
            return Said({_SPANS: [], _UNANSWERABLE: True})
        span = {"start": value.get("start"), "end": value.get("end"), "text": value.get("answer_text")}
        rows = [{**span, "label": scheme.options[0].value, "field": next(iter(texts), "")}]
    if not isinstance(rows, list):
        raise InputError(f"expected a list of spans, found {value!r}")
    written: list[dict[str, Any]] = []
    for row in rows:
        given = {**row, "label": storable(str(row.get("label")))} if isinstance(row, Mapping) else row
        if problem := _span(scheme, texts, given, written):
            raise InputError(problem[1], hint="The item's text changed after it was annotated.")
    for span in written:
        span["label"] = storable(span["label"])
    return Said({_SPANS: written})


def _subject(scheme: General, data: Mapping[str, Any]) -> Any:
    return [data.get(_TEXTS), data.get("question")]


_QUESTION: Final = PanelQuestion[General](
    widget="spans",
    description="",
    settings=_settings,
    data=_data,
    subject=_subject,
    guidelines=_guidelines,
    keys=frozenset({_SPANS, _UNANSWERABLE}),
    read=_read,
    write=_write,
)
#: Type → its question.
SPANS: Final = {"span": _QUESTION, _QA: _QUESTION}
