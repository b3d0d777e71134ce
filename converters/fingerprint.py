"""Hashes that tell whether what is on a server is what is here, and whether answers are still about it."""

import hashlib
from collections.abc import Iterable, Mapping
from typing import Any, Final

import msgspec

#: Key of our part of a task's meta: the hash of its predictions, where it has any.
PRELABELS_HASH: Final = "prelabels_hash"
#: That hash begins with it where the predictions only fill boxes: then they are nobody's pre-label.
ONLY_BOXES: Final = "boxes-"
#: Hexadecimal digits of the hash of one part of what answers are about.
_DIGITS: Final = 16


def canonical_hash(value: Any) -> str:
    """SHA-256, in hexadecimal, of a value as canonical JSON."""
    return hashlib.sha256(msgspec.json.encode(value, order="deterministic")).hexdigest()


def are_prelabels(prelabels_hash: str | None) -> bool:
    """Whether predictions say what somebody thinks; those that only fill boxes do not."""
    return prelabels_hash is not None and not prelabels_hash.startswith(ONLY_BOXES)


def hash_of_parts(data: Mapping[str, Any], keys: Iterable[str]) -> str | None:
    """What answers are about in a task's data: `key:hash` for each part, with spaces; None where a part is missing."""
    wanted = list(dict.fromkeys(keys))
    parts = [f"{key}:{canonical_hash(data[key])[:_DIGITS]}" for key in wanted if key in data]
    return " ".join(parts) if len(parts) == len(wanted) else None


def same_steps(one: str | None, other: str | None) -> bool:
    """Whether answers to one state are about the other, too: a scheme that only one of them has changes nothing."""
    if one is None or other is None:
        return False
    known, now = _parts(one), _parts(other)
    return all(now.get(key, found) == found for key, found in known.items())


def with_steps_of(old: str | None, new: str | None) -> str | None:
    """The parts of a state, and those that only an earlier one had: its scheme may come back."""
    if old is None or new is None:
        return new
    return " ".join(f"{key}:{found}" for key, found in (_parts(old) | _parts(new)).items())


def _parts(noted: str) -> dict[str, str]:
    return {key: found for key, _, found in (part.rpartition(":") for part in noted.split())}
