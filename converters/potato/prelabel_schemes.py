"""What a model or an earlier round says of an item in one scheme → the canonical value, by the scheme's type.

Taken are the canonical value, what Potato stores, and the short forms that models write. Whether the value fits what
is shown of the item is for the backend to say: it alone knows that.
"""

from collections.abc import Mapping
from typing import Any, Final, TypeAlias

from potato_bridge.converters.potato.code_review_blobs import is_empty, read_review
from potato_bridge.converters.potato.general_spans import read_stored_spans
from potato_bridge.converters.potato.general_stored import FREE, SPANS
from potato_bridge.converters.potato.prelabel_values import read_value
from potato_bridge.converters.potato.reward_blobs import json_of
from potato_bridge.converters.potato.section import show
from potato_bridge.converters.potato.step_lists import StepList, steps_key
from potato_bridge.converters.potato.stored_answers import EXPORTER_LABEL, JSON_TYPES
from potato_bridge.converters.potato.stored_answers import read_value as read_stored
from potato_bridge.converters.potato.turns import listing, read_turn
from potato_bridge.errors import InputError
from potato_bridge.model import CodeReviewScheme, General, Item, ProcessReward, Project
from potato_bridge.model.project import Scheme
from potato_bridge.model.trajectory_edit import editable, field_text, parse_trajectory_edit
from potato_bridge.model.trajectory_scheme import TrajectoryEdit

#: A value, and the parts of what was given that it has no place for.
Taken: TypeAlias = tuple[Any, list[str]]

_SPAN_KEYS: Final = ("start", "end", "label", "text", "field")
#: Mode of a comparison → the key of its answer.
_PAIR_KEYS: Final = {"binary": "selection", "scale": "scale_value"}


def read_prelabel(given: Any, scheme: Scheme, item: Item, project: Project) -> Taken:
    """The value that is meant.

    Args:
        given: What was given for the scheme.
        scheme: The scheme.
        item: The item that it is about.
        project: The project, for the item's steps.

    Raises:
        InputError: It is no answer to this scheme; the message says why.
    """
    if isinstance(scheme, ProcessReward):
        return read_value(given, scheme, _steps(item, scheme, project))
    if isinstance(scheme, CodeReviewScheme):
        return _review(_object(given, scheme), scheme)
    if isinstance(scheme, TrajectoryEdit):
        return _edits(_object(given, scheme), scheme, item)
    if isinstance(scheme, General):
        return _general(given, scheme, item)
    return (_object(given, scheme) if scheme.type in JSON_TYPES else given), []


def _object(given: Any, scheme: Scheme) -> Any:
    """A JSON text as what it holds; it may stand under the scheme's name, as Potato stores it."""
    if (
        isinstance(given, dict)
        and isinstance(given.get(scheme.name), str)
        and given.keys() <= {scheme.name, EXPORTER_LABEL}
    ):
        given = given[scheme.name]
    is_json = isinstance(given, str) and given.lstrip()[:1] in ("{", "[")
    return json_of(given) if is_json else given


def _steps(item: Item, scheme: ProcessReward, project: Project) -> StepList:
    key = steps_key(scheme, project)
    entries = item.data.get(key) if key is not None else None
    if key is None or not isinstance(entries, list):
        return StepList(0, ())
    kind = listing(project, key)
    rated = (position for position, entry in enumerate(entries) if read_turn(entry, kind).ratable)
    return StepList(len(entries), tuple(rated))


def _review(given: Any, scheme: CodeReviewScheme) -> Taken:
    review, _ = read_review({"comments": given} if isinstance(given, list) else given, scheme)
    lost, review.unknown = [f"the field {key!r}" for key in review.unknown], {}
    if is_empty(review):
        raise InputError("the review says nothing")
    return review.to_json(), lost


def _edits(given: Any, scheme: TrajectoryEdit, item: Item) -> Taken:
    if isinstance(given, dict) and isinstance(given.get("steps", []), list):
        given = _with_originals(given, scheme, item.data)
    edits = parse_trajectory_edit(given)
    lost, edits.unknown = [f"the field {key!r}" for key in edits.unknown], {}
    for edit in [*edits.steps, *([edits.final_answer] if edits.final_answer else [])]:
        lost += [f"the field {key!r} of a correction" for key in edit.unknown]
        edit.unknown = {}
    return edits.to_json(), list(dict.fromkeys(lost))


def _with_originals(given: dict[str, Any], scheme: TrajectoryEdit, data: Mapping[str, Any]) -> dict[str, Any]:
    """Corrections that say only what is right, with what stands in the item; a field where there is but one."""
    steps, final = data.get(scheme.steps_key), given.get("final_answer")
    originals = dict(editable(scheme, steps)) if isinstance(steps, list) else {}
    only = {"field": scheme.editable_fields[0]} if len(scheme.editable_fields) == 1 else {}
    entries = []
    for entry in given.get("steps", []):
        if isinstance(entry, dict) and "original_text" not in entry:
            entry = {**only, **entry}
            place = (entry.get("step_index"), entry.get("field"))
            known = [value for key, value in originals.items() if key == place]
            entry = {**entry, "original_text": field_text(known[0])} if known else entry
        entries.append(entry)
    if isinstance(final, str):
        final = {"edited_text": final}
    if isinstance(final, dict) and "original_text" not in final and data.get(scheme.final_answer_key) is not None:
        final = {**final, "original_text": field_text(data[scheme.final_answer_key])}
    return {**given, "steps": entries, "final_answer": final}


def _general(given: Any, scheme: General, item: Item) -> Taken:
    if scheme.type == "span":
        return _spans(given, scheme, item)
    if scheme.type == "text_edit":
        return _text_edit(given, scheme, item), []
    key = _PAIR_KEYS.get(scheme.mode) if scheme.type == "pairwise" else None
    if key and isinstance(given, str | int | float):
        return {key: given}, []
    if scheme.type in JSON_TYPES:
        return _object(given, scheme), []
    if not isinstance(given, dict) or _is_canonical(given, scheme):
        return given, []
    return read_stored(scheme, given), []


def _is_canonical(given: dict[str, Any], scheme: General) -> bool:
    """Whether an object of a type with a text beside its options is a value; else it is what Potato stores."""
    if scheme.type == "radio":
        return given.keys() == {"option", FREE}
    return scheme.type == "multiselect" and isinstance(given.get("options"), list)


def _text_edit(given: Any, scheme: General, item: Item) -> Any:
    found = _object(given, scheme) if isinstance(given, dict) or '"edited_text"' in str(given) else given
    if isinstance(found, dict) and "original_text" in found:
        return found
    text = found.get("edited_text") if isinstance(found, dict) else given
    return {"edited_text": text, "original_text": item.data.get(scheme.field)}


def _spans(given: Any, scheme: General, item: Item) -> Taken:
    spans = given.get(SPANS) if isinstance(given, dict) and given.keys() == {SPANS} else given
    if not isinstance(spans, list):
        raise InputError(f"expected a list of spans, found {show(given)}")
    texts = {key: text for key in scheme.fields if isinstance(text := item.data.get(key), str)}
    found, lost = [], []
    for span in spans:
        if not isinstance(span, dict):
            raise InputError(f"expected a list of spans, found {show(span)} in it")
        if "label" not in span and "name" in span:
            [span], flags = read_stored_spans(scheme, [span], texts)
            if flags:
                lost.append("a span that is no part of its text")
                continue
        first = {"field": scheme.fields[0]} if scheme.fields else {}
        lost += [f"the field {key!r} of a span" for key in span if key not in _SPAN_KEYS]
        found.append({**first, **{key: value for key, value in span.items() if key in _SPAN_KEYS}})
    if not found:
        raise InputError("nothing is marked")
    return found, list(dict.fromkeys(lost))
