"""Argilla's responses → records."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

from potato_bridge.converters.argilla.fields import read_meta
from potato_bridge.converters.argilla.layouts import LAYOUTS
from potato_bridge.converters.argilla.plan import Layout, Part, Stored
from potato_bridge.converters.argilla.prelabels import became_of
from potato_bridge.model import Flag, Project, Source
from potato_bridge.model import Record as OurRecord
from potato_bridge.model.record import Status
from potato_bridge.notices import Notices
from potato_bridge.remotes.argilla_values import Record, Response
from potato_bridge.sync.merge import DRAFT
from potato_bridge.sync.revisions import changed_flag, earlier_revision

BACKEND: Final = "argilla"
_STATUS: Final[dict[str, Status]] = {"submitted": "submitted", "discarded": "skipped"}


@dataclass(frozen=True, slots=True)
class Group:
    """All records of one item, in their order."""

    item_id: str
    records: Sequence[Record]

    @property
    def key(self) -> str:
        """What the sync calls it: the id of its first record."""
        return self.records[0].id

    @property
    def state(self) -> str:
        """Changes with every answer to it and with its contents."""
        responses = [response for record in self.records for response in record.responses or ()]
        newest = max((response.updated_at for response in responses), default="")
        changed = max(record.updated_at for record in self.records)
        return f"{newest} {len(responses)} {changed} {len(self.records)}"

    def by_user(self) -> dict[str, dict[str, Response]]:
        """User id → record id → answer, in the order of the records."""
        found: dict[str, dict[str, Response]] = {}
        for record in self.records:
            for response in record.responses or ():
                found.setdefault(response.user_id, {})[record.id] = response
        return found


@dataclass
class Reader:
    """Makes records of one data set's answers.

    Attributes:
        project: The config: which schemes there are.
        dataset_id: The data set.
        layout: Its layout.
        users: Gives the usernames by user id; asked when first needed, and again for an id that it lacked.
        notices: Gets `unknown-annotator`, `flagged-answer` and `answer-in-part`.
        mark: Fields that every record gets beside its own, such as `{"demo": true}`.
        questions: Question id → name, of suggestions.
    """

    project: Project
    dataset_id: str
    layout: Layout
    users: Callable[[], Mapping[str, str]]
    notices: Notices
    mark: Mapping[str, Any] = field(default_factory=dict)
    questions: Mapping[str, str] = field(default_factory=dict)
    _known: dict[str, str] = field(default_factory=dict)

    def records(self, group: Group, known: Callable[[str], bool], *, drafts: bool) -> Iterator[OurRecord]:
        """One record for each person who has answered.

        Args:
            group: The item.
            known: Whether an answer of this name was pulled as a whole one before: then it is not taken back because
                the item has got more parts since.
            drafts: Whether those that are not submitted yet, or only in part, are wanted.
        """
        for user_id, responses in group.by_user().items():
            whole = len(responses) == len(group.records) and all(r.status != "draft" for r in responses.values())
            ref = self._ref(group, user_id, responses)
            if not whole and (len(group.records) == 1 or not known(ref)):
                if len(group.records) > 1:
                    self.notices.add(
                        "answer-in-part",
                        "items were answered in part; they are pulled when every record of the item is answered "
                        "(--drafts takes them now)",
                        f"item {group.item_id}, {self._annotator(user_id)}: {len(responses)} of {len(group.records)}",
                    )
                if not drafts:
                    continue
                yield self._record(group, user_id, responses, f"{DRAFT}{ref}", "draft")
                continue
            statuses = {response.status for response in responses.values()}
            yield self._record(
                group, user_id, responses, ref, _STATUS[statuses.pop()] if len(statuses) == 1 else "submitted"
            )

    def live_drafts(self, group: Group) -> Iterator[str]:
        """The drafts that there are, by their names in records."""
        for user_id, responses in group.by_user().items():
            if len(responses) < len(group.records) or any(r.status == "draft" for r in responses.values()):
                yield f"{DRAFT}{self._ref(group, user_id, responses)}"

    def _ref(self, group: Group, user_id: str, responses: Mapping[str, Response]) -> str:
        # Several answers have one record: it is named by what does not change when another one comes.
        return next(iter(responses.values())).id if len(group.records) == 1 else f"{group.key}/{user_id}"

    def _record(
        self, group: Group, user_id: str, responses: Mapping[str, Response], ref: str, status: Status
    ) -> OurRecord:
        parts, suggested, revision = [], [], None
        for record in group.records:
            response = responses.get(record.id)
            stored = Stored(record.external_id or "", record.fields, record.metadata or {})
            parts.append(Part(stored, _values(response)))
            suggested.append(
                Part(stored, {self.questions.get(s.question_id, ""): s.value for s in record.suggestions or ()})
            )
            if response is not None:
                revision = revision or earlier_revision(read_meta(record.metadata), response.updated_at)
        complete = status == "submitted"
        converter = LAYOUTS[self.layout]
        read = converter.read_answer(self.project, parts, complete=complete, revision=revision)
        has_prelabels = complete and not revision and any(record.suggestions for record in group.records)
        became = became_of(self.project, self.layout, read, suggested) if has_prelabels else {}
        agent = next((s.agent for r in group.records for s in r.suggestions or () if s.agent), None) if became else None
        flags = list(read.flags)
        if revision is not None:
            flags.append(changed_flag(revision))
        annotator = self._annotator(user_id)
        self._tell(group.item_id, annotator, flags if status != "draft" else [])
        return OurRecord(
            id=group.item_id,
            annotator=annotator,
            annotations=read.annotations,
            status=status,
            created_at=min(response.inserted_at for response in responses.values()),
            updated_at=max(response.updated_at for response in responses.values()),
            source=Source(
                backend=BACKEND,
                project=self.dataset_id,
                task=group.key,
                annotation=ref,
                prelabel=became,
                model_version=agent,
            ),
            controls=read.controls,
            flags=flags,
            unknown=dict(self.mark),
        )

    def _tell(self, item_id: str, annotator: str, flags: Sequence[Flag]) -> None:
        for flag in flags:
            self.notices.add(
                "flagged-answer",
                f"answers are kept with the flag {flag.code} and not exported",
                f"item {item_id}, {annotator}: {flag.message}",
            )

    def _annotator(self, user_id: str) -> str:
        if user_id not in self._known:
            # Asked once for each id; "" where even then nobody knows it.
            self._known = {user_id: "", **self._known, **self.users()}
        if self._known[user_id]:
            return self._known[user_id]
        name = f"argilla_user_{user_id}"
        self.notices.add(
            "unknown-annotator", f"answers of an account that the server does not name are kept under {name}"
        )
        return name


def _values(response: Response | None) -> dict[str, Any] | None:
    if response is None or response.values is None:
        return None
    # An answer may hold anything: reading it says what is wrong.
    return {
        name: value.get("value") if isinstance(value, Mapping) else value for name, value in response.values.items()
    }
