"""Pre-labels on the server: predictions of tasks that are there already, and what the project shows of them.

A new task brings its predictions along. Those of an old one are changed in place, which does no harm when it is
repeated; where one has to be added, what is there is looked at first, so that none comes twice. Only when that is done
does the task say, in its meta, that it has them: a push that was killed in between is made up for by the next one.
"""

import time
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import partial
from typing import Any

import msgspec

from potato_bridge.converters.fingerprint import PRELABELS_HASH, are_prelabels
from potato_bridge.converters.label_studio.fields import META
from potato_bridge.converters.label_studio.prefill import PREDICTIONS
from potato_bridge.converters.label_studio.prelabels import fingerprint
from potato_bridge.errors import OutcomeUnknownError, RemoteError
from potato_bridge.notices import Notices
from potato_bridge.remotes.base import RemoteProject, UnansweredError
from potato_bridge.remotes.http import to_json
from potato_bridge.remotes.label_studio import LabelStudio
from potato_bridge.sync.label_studio.listing import bridge_meta
from potato_bridge.sync.plan import LocalItem, Planner, ShowPrelabels, UpdatePrelabels
from potato_bridge.sync.repeat import repeatable

_FIRST_PAUSE, _LONGEST_PAUSE = 0.25, 5.0


@dataclass
class PrelabelTally:
    """What the items of a push have: who their pre-labels are by, and how many each.

    Attributes:
        versions: Model → how many items it has a pre-label for, in the order in which they came.
        kept: (item, its steps changed) where only the server has pre-labels.
        given: Whether items have pre-labels, and not only texts in boxes.
    """

    versions: Counter[str] = field(default_factory=Counter)
    kept: list[tuple[str, bool]] = field(default_factory=list)
    given: bool = False

    def take(self, unit: Any, planner: Planner, *, steps_changed: bool) -> None:
        """Counts a task that was built, a `TaskUnit`."""
        item: LocalItem = unit.item
        self.given |= are_prelabels(item.prelabels_hash)
        if planner.has_old_prelabels(item):
            self.kept.append((item.item_id, steps_changed))
        else:
            self.versions.update(prediction["model_version"] for prediction in unit.task.get(PREDICTIONS, ()))

    @property
    def shown(self) -> str:
        """The model that has most of them; empty: there are none. Label Studio shows those of one."""
        return self.versions.most_common(1)[0][0] if self.versions else ""

    def operation(self, there: RemoteProject | None) -> ShowPrelabels | None:
        """What has to change in a project that is there. A model that the team chose stays, if items have it."""
        if there is None or not self.versions:
            return None
        if there.shows_predictions and there.model_version in self.versions:
            return None
        if self.kept and not self.given:
            # A push without pre-labels leaves those on the server alone, and shown.
            return None
        return ShowPrelabels(there.project_id, self.shown)

    def report(self, there: RemoteProject | None, notices: Notices) -> None:
        """Says which pre-labels annotators do not see, and which are old."""
        chosen = there.model_version if there is not None and there.model_version in self.versions else self.shown
        if hidden := self.versions.total() - self.versions[chosen]:
            notices.add(
                "prelabels-not-shown",
                f"annotators start from the pre-labels of {chosen!r}; those of other models are beside them in the "
                "task, as Label Studio starts from one model (Settings > Annotation chooses another)",
                count=hidden,
            )
        for item_id, steps_changed in self.kept:
            if steps_changed:
                message = "the steps of items changed, and their pre-labels on the server are for the earlier ones"
                notices.add("prelabel-kept", f"{message}; push again with pre-labels", f"item {item_id}")
            elif self.given:
                notices.add(
                    "prelabel-kept", "items have no pre-label any more; those on the server stay", f"item {item_id}"
                )


def prelabels_body(task: Mapping[str, Any]) -> bytes:
    """What `send_prelabels` needs of a task, as JSON."""
    return to_json({PREDICTIONS: task[PREDICTIONS], PRELABELS_HASH: bridge_meta(task)[PRELABELS_HASH]})


def show_prelabels(remote: LabelStudio, operation: ShowPrelabels) -> None:
    """Shows them. The server knows a model only when it has predictions of it: call it when those are sent."""
    fields = {"show_collab_predictions": True, "model_version": operation.model_version}
    repeatable(lambda: remote.update_project(operation.project_id, fields))


def send_prelabels(remote: LabelStudio, update: UpdatePrelabels, body: bytes, patience: float) -> None:
    """Makes the predictions of a task those of the item. Predictions of others, and of models not named, stay.

    Args:
        remote: The server.
        update: The operation.
        body: What `prelabels_body` made of the item's task.
        patience: Seconds to wait for one whose answer was lost.

    Raises:
        RemoteError: The server refuses something, or the task is gone.
        OutcomeUnknownError: An answer was lost, and the prediction has not appeared.
    """
    task, wanted = int(update.task_id), msgspec.json.decode(body)
    there: dict[str, list[dict[str, Any]]] = {}
    for found in remote.predictions(task):
        if fingerprint(found) is not None:
            there.setdefault(str(found.get("model_version")), []).append(found)
    for prediction in wanted[PREDICTIONS]:
        mine = there.get(prediction["model_version"], [])
        if not mine:
            _create(remote, task, prediction, patience)
            continue
        if fingerprint(mine[0]) != fingerprint(prediction):
            repeatable(partial(remote.update_prediction, mine[0]["id"], {"score": None, **prediction}))
        for extra in mine[1:]:
            # Sent by a push that was killed, and carried out later than the next one looked.
            remote.delete_prediction(extra["id"])
    now = remote.task(task, ("meta",))
    if now is None:
        raise RemoteError(f"task {task} of item {update.item_id} was deleted meanwhile", hint="Push again.")
    team = now.get("meta")
    meta = {
        **(team if isinstance(team, dict) else {}),
        META: {**bridge_meta(now), PRELABELS_HASH: wanted[PRELABELS_HASH]},
    }
    repeatable(lambda: remote.update_meta(task, meta))


def _create(remote: LabelStudio, task: int, prediction: Mapping[str, Any], patience: float) -> None:
    try:
        remote.create_prediction(task, prediction)
    except OutcomeUnknownError as error:
        settled = isinstance(error, UnansweredError) and error.settled
        deadline, pause = time.monotonic() + (0 if settled else patience), _FIRST_PAUSE
        while fingerprint(prediction) not in {fingerprint(found) for found in remote.predictions(task)}:
            if time.monotonic() + pause > deadline:
                raise
            time.sleep(pause)
            pause = min(pause * 2, _LONGEST_PAUSE)
