"""Stored entries of one scheme to its value in a record, and back, by the scheme's type and never by its looks.

Types whose answer is one plain thing get it; agents' schemes get the object in their JSON text; of all others, and of
answers that do not have the usual entries, the record holds what is stored: `{name: value}`.
"""

from typing import Any

import msgspec

from potato_bridge.converters.potato.general_stored import ROWS, read_general_value, write_general_value
from potato_bridge.converters.potato.reward_blobs import json_of
from potato_bridge.converters.potato.user_states import Entries
from potato_bridge.errors import InputError
from potato_bridge.model.project import Scheme

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


def read_value(scheme: Scheme, entries: Entries) -> Any:
    """The value of a scheme of a general type.

    Raises:
        InputError: A JSON text that is none.
    """
    if scheme.type in JSON_TYPES:
        return json_of(blob_of(entries, scheme.name))
    if scheme.type not in ROWS and entries.keys() == {"_data"}:
        return json_of(entries["_data"])
    return read_general_value(scheme, entries)


def write_value(scheme: Scheme, value: Any) -> Entries | None:
    """The entries for a value of a general type, the inverse of `read_value`; None: there is no such value."""
    kind = scheme.type
    if kind in JSON_TYPES:
        return _blob_entries(scheme.name, kind, value) if isinstance(value, dict | list) else None
    return write_general_value(scheme, value)


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
