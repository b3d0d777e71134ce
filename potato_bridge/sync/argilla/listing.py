"""What stands on the server, as the plan needs it: one row per record, without its contents."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from potato_bridge.converters.argilla.fields import META, STEP, TOTAL, TRACE, read_meta
from potato_bridge.converters.fingerprint import PRELABELS_HASH
from potato_bridge.remotes.argilla import Argilla
from potato_bridge.remotes.base import RemoteTask


@dataclass
class Listing:
    """What a push has to know of the records that are there beside the plan.

    Attributes:
        foreign: External ids of records that are not ours.
        special: External ids of records whose metadata has more than an item gives it: revisions, a team's own keys,
            the mark of pre-labels.
    """

    foreign: set[str] = field(default_factory=set)
    special: set[str] = field(default_factory=set)

    def read(self, remote: Argilla, dataset_id: str) -> Iterator[RemoteTask]:
        """All records, in one pass."""
        for record in remote.records(dataset_id):
            meta = read_meta(record.metadata)
            ours = record.external_id is not None and isinstance(meta.get("id"), str)
            if record.external_id is not None:
                if not ours:
                    self.foreign.add(record.external_id)
                elif "revisions" in meta or PRELABELS_HASH in meta or _team_keys(record.metadata):
                    self.special.add(record.external_id)
            yield RemoteTask(
                task_id=record.id,
                marker=record.external_id if ours else None,
                hash=_text(meta.get("hash")),
                steps_hash=_text(meta.get("steps_hash")),
                updated_at=record.updated_at,
                answers=sum(response.status != "draft" for response in record.responses or ()),
                prelabels_hash=_text(meta.get(PRELABELS_HASH)),
                item=meta["id"] if ours else None,
            )


def _team_keys(metadata: Mapping[str, Any] | None) -> bool:
    return bool((metadata or {}).keys() - {META, TRACE, STEP, TOTAL})


def _text(value: Any) -> str | None:
    return value if isinstance(value, str) else None
