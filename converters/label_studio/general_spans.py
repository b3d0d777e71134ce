"""Spans: places in a text, in code points, and the text between compared.

Label Studio 1.23 counts code points itself. Others who write there count UTF-16 code units (its own editor did once):
where the text that was marked says so, these are understood too.
"""

from collections.abc import Mapping
from typing import Any

from potato_bridge.converters.answer import Answer, values_of
from potato_bridge.converters.forms import Part
from potato_bridge.converters.label_studio import fields
from potato_bridge.converters.label_studio.general_parts import stored
from potato_bridge.converters.label_studio.question import Entries
from potato_bridge.converters.spans import shown, text_of, units_before
from potato_bridge.converters.view.subject import Subject
from potato_bridge.errors import InputError
from potato_bridge.model.general import General


def span_parts(scheme: General) -> list[Part]:
    """A control for each text."""
    control, found = fields.control_name(scheme), []
    keys = scheme.fields
    for number, key in enumerate(keys, 1):
        suffix = f"_{number}" if len(keys) > 1 else ""
        found.append(
            Part(
                key=key,
                control=f"{control}{suffix}",
                kind="labels",
                title=key if len(keys) > 1 else "",
                options=scheme.options,
                # One of several texts is enough, which Label Studio cannot ask for.
                required=scheme.required and len(keys) == 1,
                message=f"“{scheme.description or scheme.name}” has no answer yet: mark a part of the text.",
                to=fields.data_key(scheme, f"text{suffix}"),
            )
        )
    return found


def span_data(scheme: General, subject: Subject) -> dict[str, Any]:
    """The texts, as they are shown."""
    data = {}
    for part in span_parts(scheme):
        text = text_of(subject.item.data, part.key)
        if not text:
            message = f"the item has no text in the field {part.key!r}: there is nothing to mark"
            subject.notices.add("no-span-text", message, subject.where)
        # An empty text is an error to Label Studio, and the page needs one that can be seen.
        data[part.to] = shown(text) or " "
    return data


def read_spans(scheme: General, data: Mapping[str, Any], found: Mapping[str, Entries], answer: Answer) -> list[Any]:
    """The spans of all texts; what is no span stays in `controls`, with a flag."""
    spans: list[dict[str, Any]] = []
    for part in span_parts(scheme):
        text = data.get(part.to)
        text = text if isinstance(text, str) else ""
        labels = {stored(option.value): option.value for option in part.options}
        own: list[dict[str, Any]] = []
        for entry in found.get(part.control, []):
            problem = _read_span(part, entry, text, labels, own)
            if problem:
                answer.controls.setdefault(part.control, []).append(entry)
                answer.flag(*problem, scheme)
        spans += sorted(own, key=lambda span: (span["start"], span["end"]))
    return spans


def _read_span(
    part: Part, entry: Mapping[str, Any], text: str, labels: Mapping[str, str], spans: list[dict[str, Any]]
) -> tuple[str, str] | None:
    chosen, value = values_of(entry, "labels"), entry.get("value")
    if not chosen or not isinstance(value, Mapping):
        return "bad-result", "a mark has no label"
    if unknown := [label for label in chosen if label not in labels]:
        return "unknown-label", f"{unknown[0]!r} is none of the labels"
    start, end, marked = value.get("start"), value.get("end"), value.get("text")
    if type(start) is not int or type(end) is not int or not 0 <= start < end:
        return "bad-result", f"{start!r} to {end!r} is no part of a text"
    place = _place(text, start, end, marked)
    if place is None:
        return "span-text-mismatch", f"{marked!r} was marked, and at {start} to {end} is {text[start:end]!r}"
    start, end = place
    for label in chosen:
        spans.append({"start": start, "end": end, "label": labels[label], "text": text[start:end], "field": part.key})
    return None


def _place(text: str, start: int, end: int, marked: Any) -> tuple[int, int] | None:
    """Where the marked text is: offsets in code points, or else in code units; None: at neither place."""
    places = [(start, end)]
    if not text.isascii():
        points = {unit: point for point, unit in enumerate(units_before(text))}
        places.append((points.get(start, -1), points.get(end, -1)))
    for first, last in places:
        fits = not isinstance(marked, str) or _plain(marked) == _plain(text[max(first, 0) : last])
        if 0 <= first < last <= len(text) and fits:
            return first, last
    return None


def _plain(text: str) -> str:
    # Label Studio writes a line break of a marked text as two characters.
    return "".join(text.replace("\\n", "\n").split())


def write_spans(scheme: General, data: Mapping[str, Any], value: Any) -> Entries:
    """The inverse of `read_spans`.

    Raises:
        InputError: A span that is none, or that is not in the text.
    """
    if not isinstance(value, list):
        raise InputError(f"expected a list of spans, found {value!r}")
    parts = {part.key: part for part in span_parts(scheme)}
    results: Entries = []
    for number, span in enumerate(value):
        start, end, part = _checked(scheme, span, parts)
        text = data.get(part.to)
        text = text if isinstance(text, str) else ""
        if not 0 <= start < end <= len(text) or (span.get("text") is not None and text[start:end] != span["text"]):
            raise InputError(
                f"the span {start} to {end} of {part.key} does not hold {span.get('text')!r}",
                hint="The item's text changed after it was annotated.",
            )
        results.append(
            {
                "id": f"{part.control}_{number}",
                "from_name": part.control,
                "to_name": part.to,
                "type": "labels",
                "value": {
                    "start": start,
                    "end": end,
                    "text": text[start:end],
                    "labels": [stored(span["label"])],
                },
            }
        )
    return results


def _checked(scheme: General, span: Any, parts: Mapping[str, Part]) -> tuple[int, int, Part]:
    if not isinstance(span, Mapping):
        raise InputError(f"{span!r} is no span")
    start, end, part = span.get("start"), span.get("end"), parts.get(span.get("field", ""))
    labels = {option.value for option in scheme.options}
    if type(start) is not int or type(end) is not int or part is None or span.get("label") not in labels:
        raise InputError(f"{dict(span)!r} is no span of {scheme.name}")
    return start, end, part
