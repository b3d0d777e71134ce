"""Items that change after they were answered: which answers are to which state of an item.

Our part of a task's meta has `hash`, `steps_hash`, `total_steps` and `about` of its present state, and in `revisions`,
oldest first, those of earlier ones that were answered, each with the time of the last answer to it, by the server's
clock: ours may differ from it.
"""

from collections.abc import Mapping, Sequence
from typing import Any

from potato_bridge.converters.fingerprint import same_steps, with_steps_of
from potato_bridge.model import Flag
from potato_bridge.notices import Notices
from potato_bridge.sync.plan import Update
from potato_bridge.sync.times import instant, is_after

_NOTED = ("hash", "steps_hash", "total_steps", "about")


def revise(
    old: Mapping[str, Any], new: Mapping[str, Any], answered_at: Sequence[str], *, steps_changed: bool
) -> tuple[dict[str, Any], bool]:
    """Our meta of a task whose contents are replaced.

    Args:
        old: Our meta as it is on the server.
        new: As the item is now.
        answered_at: When each answer that is there was last changed.
        steps_changed: Whether the steps change, where the old meta does not say.

    Returns:
        The meta to write; and whether there are answers to what is replaced.
    """
    meta = dict(new)
    revisions = [entry for entry in old.get("revisions") or [] if isinstance(entry, dict)]
    replaced_at = max(answered_at, key=instant, default="")
    last = revisions[-1].get("replaced_at", "") if revisions else ""
    before = old.get("steps_hash")
    # Without our meta, the listing has compared the steps themselves.
    changed = not same_steps(before, new.get("steps_hash")) if "steps_hash" in old else steps_changed
    meta["steps_hash"] = with_steps_of(before, new.get("steps_hash"))
    answered = changed and is_after(replaced_at, last)
    if answered:
        revisions.append({**{key: old[key] for key in _NOTED if key in old}, "replaced_at": replaced_at})
    if revisions:
        meta["revisions"] = revisions
    return meta, answered


def earlier_revision(meta: Mapping[str, Any], updated_at: Any) -> Mapping[str, Any] | None:
    """The revision of the item that an answer was given to, where the steps have changed since; else None."""
    for revision in meta.get("revisions") or []:
        if not isinstance(revision, dict) or not isinstance(updated_at, str):
            continue
        replaced_at = revision.get("replaced_at")
        if isinstance(replaced_at, str) and not is_after(updated_at, replaced_at):
            same = same_steps(revision.get("steps_hash"), meta.get("steps_hash"))
            return None if same else revision
    return None


def changed_flag(revision: Mapping[str, Any]) -> Flag:
    """The flag of an answer to an earlier state."""
    total = revision.get("total_steps")
    steps = f"{total} steps" if isinstance(total, int) else "other steps"
    return Flag(code="item-changed", message=f"answered when the item had {steps}; it changed since")


def add_notice_of_change(notices: Notices, update: Update, answers: int) -> None:
    """Says that answers are for earlier steps."""
    notices.add(
        "item-changed-after-answer",
        "the steps of items changed after they were answered; pull flags the earlier answers",
        f"item {update.item_id} (task {update.task_id})",
        answers,
    )
