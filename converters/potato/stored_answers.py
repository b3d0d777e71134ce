"""Stored entries of one scheme to its value in a record, and back, by the scheme's type and never by its looks.

Types whose answer is one plain thing get it; agents' schemes get the object in their JSON text; of all others, and of
answers that do not have the usual entries, the record holds what is stored: `{name: value}`.
"""

from typing import Any

import msgspec

from potato_bridge.converters.potato.reward_blobs import json_of
from potato_bridge.converters.potato.user_states import Entries
from potato_bridge.errors import InputError
from potato_bridge.model.project import OtherScheme, Scheme

#: Types that store one JSON text under the scheme's own name; Potato's exporters look for it under `label`.
JSON_TYPES = frozenset(
    """process_reward code_review trajectory_edit trajectory_eval tool_call_review gui_trajectory multimodal_reasoning
    handoff_review failure_attribution agent_scorecard agent_interaction_graph emergent_behavior consensus_tracking
    context_attribution tool_contention voice_interaction speech_transcript temporal_grounding table_grid card_sort
    text_edit extractive_qa error_span bdm belief_elicitation price_list free_list triad_test ego_network
    geo_annotation listening_test interlinear_gloss viewer_selection""".split()
)
#: Those of them that Potato's exporters read.
EXPORTED_TYPES = frozenset(("process_reward", "code_review", "trajectory_edit", "trajectory_eval"))
#: Label name by which Potato's exporters look for a blob.
EXPORTER_LABEL = "label"

#: Types with one entry of a fixed name; an empty name stands for the scheme's own.
_ONE_ENTRY = {
    "text": "text_box",
    "select": "select-one",
    "slider": "slider",
    "number": "number",
    "vas": "",
    "triage": "decision",
}
_NUMBERS = frozenset(("slider", "number", "vas"))
#: Types with an entry for the chosen option, whose name and value are the option.
_ONE_OPTION = frozenset(("radio", "likert", "confidence"))
_SELECTED = ("true", "on", "yes", "checked", "selected", "1")


def blob_of(entries: Entries, scheme: str) -> Any:
    """The stored JSON text: under the scheme's name, else under `label`, else the only JSON object there is.

    Raises:
        InputError: There is none, or several that could be it.
    """
    for name in (scheme, EXPORTER_LABEL):
        if entries.get(name) not in (None, ""):
            return entries[name]
    blobs = [value for value in entries.values() if _is_object(value)]
    if len(blobs) != 1:
        raise InputError(f"expected one JSON text, found {len(blobs)} among the entries {', '.join(entries) or 'none'}")
    return blobs[0]


def read_value(scheme: OtherScheme, entries: Entries) -> Any:
    """The value of a scheme of a general type.

    Raises:
        InputError: A JSON text that is none.
    """
    if scheme.type in JSON_TYPES:
        return json_of(blob_of(entries, scheme.name))
    if scheme.type in _ONE_ENTRY:
        name = _ONE_ENTRY[scheme.type] or scheme.name
        if entries.keys() == {name} and isinstance(value := entries[name], str):
            return _number(value) if scheme.type in _NUMBERS else value
    elif scheme.type in _ONE_OPTION and len(entries) == 1:
        ((name, value),) = entries.items()
        if _is_selected(name, value):
            return _whole(name) if scheme.type == "likert" else name
    elif scheme.type == "multiselect" and all(_is_selected(name, value) for name, value in entries.items()):
        return list(entries)
    elif entries.keys() == {"_data"}:
        return json_of(entries["_data"])
    return entries


def write_value(scheme: Scheme, value: Any) -> Entries | None:
    """The entries for a value of a general type, the inverse of `read_value`; None: there is no such value."""
    kind = scheme.type
    if kind in JSON_TYPES:
        return _blob_entries(scheme.name, kind, value) if isinstance(value, dict | list) else None
    if isinstance(value, dict):
        return value
    if kind in _ONE_ENTRY and isinstance(value, str | int | float) and not isinstance(value, bool):
        return {_ONE_ENTRY[kind] or scheme.name: str(value)}
    if kind in _ONE_OPTION and isinstance(value, str | int) and not isinstance(value, bool):
        return {str(value): str(value)}
    if kind == "multiselect" and isinstance(value, list) and all(isinstance(option, str) for option in value):
        return {option: option for option in value}
    return None


def blob_entries(scheme: str, kind: str, blob: str) -> Entries:
    """A blob under the name that the page reads, and under the one that Potato's exporters read."""
    return {scheme: blob, EXPORTER_LABEL: blob} if kind in EXPORTED_TYPES else {scheme: blob}


def _blob_entries(scheme: str, kind: str, value: Any) -> Entries:
    return blob_entries(scheme, kind, msgspec.json.encode(value).decode())


def _is_object(value: Any) -> bool:
    try:
        return isinstance(json_of(value), dict)
    except InputError:
        return False


def _is_selected(name: str, value: Any) -> bool:
    return value == name or value is True or str(value).lower() in _SELECTED


def _number(text: str) -> Any:
    """A number, where it is written as one and as nothing else: what is read must be written back equal."""
    for kind in (int, float):
        try:
            value = kind(text)
        except ValueError:
            continue
        if str(value) == text and value - value == 0:
            return value
    return text


def _whole(text: str) -> Any:
    return int(text) if text.isascii() and text.isdigit() and str(int(text)) == text else text
