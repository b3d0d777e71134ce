"""Spans as Potato stores them ↔ spans in a record. Both count code points; Potato stores no text.

In a field of the display (a span with a `target_field`) Potato's page turns line breaks into tags, and leaves them out
of its count: measured with 2.12.1, of what is marked there and of what is shown. So a span begins behind the line
breaks before it, and ends before those behind it. Without a display it counts all of the text, tags excepted.
"""

from collections.abc import Mapping
from typing import Any, Final

from potato_bridge.model import Flag
from potato_bridge.model.general import General

#: Key of a span in a record → key in Potato's state.
_KEYS: Final = {"start": "start", "end": "end", "label": "name", "field": "target_field"}


def span_id(scheme: str, span: Mapping[str, Any]) -> str:
    """The id that Potato gives a span."""
    return f"{scheme}_{span.get('name')}_{span.get('start')}_{span.get('end')}"


def read_stored_spans(
    scheme: General, spans: list[dict[str, Any]], texts: Mapping[str, str] | None
) -> tuple[list[dict[str, Any]], list[Flag]]:
    """Spans of one scheme with the texts that they mark.

    Args:
        scheme: The scheme.
        spans: As stored.
        texts: Item field → its text; None: the item is not known.
    """
    found, flags = [], []
    for stored in spans:
        more = {key: value for key, value in stored.items() if key not in (*_KEYS.values(), "schema", "title", "id")}
        if stored.get("title") not in (None, stored.get("name")):
            more["title"] = stored["title"]
        if stored.get("id") not in (None, span_id(scheme.name, stored)):
            more["id"] = stored["id"]
        span = {key: stored.get(name) for key, name in _KEYS.items()}
        span["field"] = span["field"] or (scheme.fields[0] if scheme.fields else "")
        inside = not stored.get("target_field") or _from_page(span, texts)
        text = _text(span, texts) if inside else None
        if text is None and texts is not None:
            message = f"{span['start']!r} to {span['end']!r} is no part of the text of {span['field']!r}"
            flags.append(Flag(code="span-text-mismatch", message=message, scheme=scheme.name))
        head = {key: span[key] for key in ("start", "end", "label")}
        found.append({**head, **({} if text is None else {"text": text}), "field": span["field"], **more})
    return found, flags


def write_stored_spans(scheme: General, value: Any, texts: Mapping[str, str] | None) -> list[dict[str, Any]] | None:
    """The inverse; None: it is no list of spans, or one marks another text than the item has."""
    if not isinstance(value, list) or not value:
        return None
    made = []
    for span in value:
        if not isinstance(span, Mapping) or any(span.get(key) is None for key in ("start", "end", "label")):
            return None
        there = _text(span, texts)
        if texts is not None and (there is None or _plain(there) != _plain(str(span.get("text", there)))):
            return None
        places = [span["start"], span["end"]]
        if scheme.in_display and there is not None and texts is not None:
            text = texts[str(span["field"])]
            places = [place - text.count("\n", 0, place) for place in places]
            if places[0] >= places[1]:
                # Nothing but line breaks.
                return None
        stored = {"name": span["label"], "title": span["label"], "start": places[0], "end": places[1]}
        stored["id"] = span_id(scheme.name, stored)
        stored |= {key: one for key, one in span.items() if key not in (*_KEYS, "text")}
        if scheme.in_display and span.get("field"):
            stored["target_field"] = span["field"]
        made.append(stored)
    return made


def _from_page(span: dict[str, Any], texts: Mapping[str, str] | None) -> bool:
    """Puts the line breaks back into the places of a span, where its text is known; False: it is beyond that."""
    text = (texts or {}).get(str(span["field"]))
    start, end = span["start"], span["end"]
    if text is None or type(start) is not int or type(end) is not int:
        return True
    kept = [place for place, char in enumerate(text) if char != "\n"]
    if not 0 <= start < end <= len(kept):
        return False
    span["start"], span["end"] = kept[start], kept[end - 1] + 1
    return True


def _text(span: Mapping[str, Any], texts: Mapping[str, str] | None) -> str | None:
    start, end, field = span.get("start"), span.get("end"), span.get("field")
    text = texts.get(field) if texts is not None and isinstance(field, str) else None
    if text is None or type(start) is not int or type(end) is not int or not 0 <= start < end <= len(text):
        return None
    return text[start:end]


def _plain(text: str) -> str:
    # A server may have changed line breaks.
    return "".join(text.split())
