"""Label Studio's annotations and drafts → records."""

from collections.abc import Callable, Container, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from potato_bridge.converters.label_studio.prelabels import became_of
from potato_bridge.converters.label_studio.results import read_answer
from potato_bridge.model import Project, Record, Source
from potato_bridge.model.record import Status
from potato_bridge.notices import Notices
from potato_bridge.sync.label_studio.listing import bridge_meta, marker_of
from potato_bridge.sync.merge import DRAFT
from potato_bridge.sync.revisions import changed_flag, earlier_revision

BACKEND = "label_studio"


def current_marker(task: Mapping[str, Any]) -> str | None:
    """The item of a whole task; None for a foreign one."""
    return marker_of(task) if isinstance(task.get("data"), dict) else None


def drafts_of(task: Mapping[str, Any]) -> list[dict[str, Any]]:
    """The drafts of an exported task."""
    return [draft for draft in task.get("drafts") or [] if isinstance(draft, dict)]


@dataclass
class Reader:
    """Makes records of one project's answers.

    Attributes:
        project: The config: which schemes there are.
        project_id: The project on the server.
        users: Gives the e-mail addresses by user id; asked when first needed, and again for an id that it lacked.
        controls: Names of the controls of the label config there; None: any name may be one.
        mark: Fields that every record gets beside its own, such as `{"demo": true}`.
        notices: Gets `unknown-annotator` and `flagged-answer`.
    """

    project: Project
    project_id: int
    users: Callable[[], Mapping[int, str]]
    notices: Notices
    controls: Container[str] | None = None
    mark: Mapping[str, Any] = field(default_factory=dict)
    _known: dict[int, str] = field(default_factory=dict)

    def records(self, task: Mapping[str, Any], item_id: str, *, drafts: bool) -> Iterator[Record]:
        """The records of one exported task: every annotation, then every draft if they are wanted."""
        for annotation in task.get("annotations") or []:
            yield self._record(task, item_id, annotation)
        for draft in drafts_of(task) if drafts else []:
            yield self._record(task, item_id, draft, draft=True)

    def _record(
        self, task: Mapping[str, Any], item_id: str, answer: Mapping[str, Any], *, draft: bool = False
    ) -> Record:
        revision = earlier_revision(bridge_meta(task), answer.get("updated_at"))
        read = read_answer(self.project, task, answer, controls=self.controls, complete=not draft, revision=revision)
        prelabel, version = ({}, None) if draft else became_of(self.project, task, answer, read, revision)
        flags = list(read.flags)
        if revision is not None:
            flags.append(changed_flag(revision))
        annotator = self._annotator(answer.get("user") if draft else answer.get("completed_by"))
        for flag in flags if not draft else ():
            self.notices.add(
                "flagged-answer",
                f"answers are kept with the flag {flag.code} and not exported",
                f"item {item_id}, {annotator}: {flag.message}",
            )
        number = f"{DRAFT}{answer['id']}" if draft else answer["id"]
        status: Status = "draft" if draft else "skipped" if answer.get("was_cancelled") else "submitted"
        return Record(
            id=item_id,
            annotator=annotator,
            annotations=read.annotations,
            status=status,
            created_at=answer.get("created_at"),
            updated_at=answer.get("updated_at"),
            lead_time=answer.get("lead_time"),
            source=Source(
                backend=BACKEND,
                project=self.project_id,
                task=task["id"],
                annotation=number,
                prelabel=prelabel,
                model_version=version,
            ),
            controls=read.controls,
            flags=flags,
            unknown=dict(self.mark),
        )

    def _annotator(self, user: Any) -> str:
        # An id in annotations, the address itself in drafts, an object in some versions; null once deleted.
        if isinstance(user, Mapping):
            user = user.get("email") or user.get("id")
        if isinstance(user, str) and user:
            return user
        if isinstance(user, int):
            if user not in self._known:
                # Asked once for each id; "" where even then nobody knows it.
                self._known = {user: "", **self._known, **self.users()}
            if self._known[user]:
                return self._known[user]
        name = f"label_studio_user_{user if isinstance(user, int) else 'unknown'}"
        self.notices.add(
            "unknown-annotator", f"answers of an account that the server does not name any more are kept under {name}"
        )
        return name
