"""A `user_state.json` to change: all that the bridge does not touch is written back as it was read."""

import json
from pathlib import Path
from typing import Any

import msgspec

from potato_bridge.converters.potato.general_stored import SPANS
from potato_bridge.converters.potato.user_states import STATE, Entries, loads, read_entries, read_spans
from potato_bridge.errors import InputError
from potato_bridge.files import replacing

_LABELS = "instance_id_to_label_to_value"
_SPANS = "instance_id_to_span_to_value"
_ORDERING = "instance_id_ordering"


def _minimal(user: str) -> dict[str, Any]:
    """The keys without which some version of Potato does not start, or sends the user round in circles."""
    return {
        "user_id": user,
        "max_assignments": -1,
        _ORDERING: [],
        "current_instance_index": 0,
        "current_phase_and_page": ["annotation", None],
        "completed_phase_and_pages": [],
        _LABELS: {},
        _SPANS: {},
        "phase_to_page_to_label_to_value": {},
        "phase_to_page_to_span_to_value": {},
    }


class StateDocument:
    """The state of one user, the file's or a new one.

    Args:
        folder: The user's folder; its name is the user's.

    Raises:
        InputError: The file is corrupt.
    """

    def __init__(self, folder: Path) -> None:
        self._path = folder / STATE
        self.changed = False
        #: Whether the file has what JSON forbids and Python writes (NaN): then Python reads and writes it whole.
        self._loose = False
        self._values: dict[str, Any] = self._read() if self._path.exists() else {}
        # States of other origin may lack keys that Potato needs.
        for key, value in _minimal(folder.name).items():
            self._values.setdefault(key, value)
        self._labels = self._plain(_LABELS, dict)
        self._spans = self._plain(_SPANS, dict)
        self._ordering = self._plain(_ORDERING, list)
        self._assigned = set(self._ordering)

    def _read(self) -> dict[str, Any]:
        try:
            raw = self._path.read_bytes()
        except OSError as error:
            raise InputError(f"cannot be read: {error.strerror or error}") from error
        try:
            # Only the labels are looked into; the rest, most of the file, stays as it is, byte for byte.
            values: dict[str, Any] = msgspec.json.decode(raw, type=dict[str, msgspec.Raw])
            for key in (_LABELS, _SPANS, _ORDERING):
                if key in values:
                    values[key] = msgspec.json.decode(values[key])
        except (msgspec.DecodeError, UnicodeDecodeError):
            self._loose = True
            values = loads(raw)
        return values

    def _plain(self, key: str, kind: type) -> Any:
        value = self._values[key]
        if not isinstance(value, kind):
            raise InputError(f"not a Potato state: {key} is a {type(value).__name__}, expected a {kind.__name__}")
        return value

    def entries(self, item: str, scheme: str) -> Entries:
        """What is stored for a scheme of an item; empty where nothing is. Spans stand under `SPANS`."""
        entries = read_entries(self._labels.get(item, []))[0].get(scheme, {})
        spans = [span for span in read_spans(self._spans.get(item, []))[0] if span["schema"] == scheme]
        if not spans:
            return entries
        return {**entries, SPANS: [{key: one for key, one in span.items() if key != "schema"} for span in spans]}

    def replace(self, item: str, scheme: str, entries: Entries) -> None:
        """Puts entries in the place of all that a scheme has; empty ones take its answer away."""
        if self.entries(item, scheme) == entries:
            return
        self.changed = True
        if SPANS in entries or SPANS in self.entries(item, scheme):
            self._replace_spans(item, scheme, entries.get(SPANS, []))
            entries = {name: value for name, value in entries.items() if name != SPANS}
        stored = self._labels.get(item, [])
        if isinstance(stored, dict):
            # The older form; it is written in today's.
            stored = [
                [{"schema": name, "name": label}, value]
                for name, values in read_entries(stored)[0].items()
                for label, value in values.items()
            ]
        elif not isinstance(stored, list):
            stored = [stored]
        at = next((i for i, entry in enumerate(stored) if _scheme_of(entry) == scheme), len(stored))
        kept = [entry for entry in stored if _scheme_of(entry) != scheme]
        kept[at:at] = [[{"schema": scheme, "name": name}, value] for name, value in entries.items()]
        if kept:
            self._labels[item] = kept
        else:
            self._labels.pop(item, None)

    def _replace_spans(self, item: str, scheme: str, spans: list[dict[str, Any]]) -> None:
        others = [span for span in read_spans(self._spans.get(item, []))[0] if span["schema"] != scheme]
        # Potato's own form: each span with a 1.
        made = [[span, 1] for span in [*others, *({"schema": scheme, **span} for span in spans)]]
        if made:
            self._spans[item] = made
        else:
            self._spans.pop(item, None)

    def assign(self, item: str) -> None:
        """Adds an item to those that the user has, behind the others."""
        if item not in self._assigned:
            self._assigned.add(item)
            self._ordering.append(item)
            self.changed = True

    def write(self) -> None:
        """Replaces the file, at once; the folder is made if it is missing."""
        if self._loose:
            data = json.dumps(self._values, separators=(",", ":")).encode()
        else:
            data = msgspec.json.encode(self._values)
        self._path.parent.mkdir(parents=True, exist_ok=True)
        with replacing(self._path) as file:
            file.write(data)
        self.changed = False


def _scheme_of(entry: Any) -> Any:
    return entry[0].get("schema") if isinstance(entry, list) and entry and isinstance(entry[0], dict) else None
