"""The data set on the server: what of it has to change, and the change.

Argilla adds no question and no field to a published data set and removes none: where that is wanted, a new version is
made beside it.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, ClassVar

from potato_bridge.converters.argilla.plan import Layout, Settings
from potato_bridge.errors import OutcomeUnknownError, RemoteError
from potato_bridge.model import Project
from potato_bridge.remotes.argilla import Argilla
from potato_bridge.remotes.argilla_values import Dataset, Field, Question, Workspace
from potato_bridge.sync.argilla.dataset import RemoteDataset, mark, read_mark
from potato_bridge.sync.plan import Operation
from potato_bridge.sync.repeat import repeatable


@dataclass(frozen=True, slots=True)
class CreateDataset(Operation):
    """There is no data set yet, or only one whose making was interrupted."""

    kind: ClassVar[str] = "create-dataset"
    title: str

    def describe(self) -> str:
        """One line for people."""
        return f"create the data set {self.title!r}"


@dataclass(frozen=True, slots=True)
class NewVersion(Operation):
    """The config asks for what the data set cannot become."""

    kind: ClassVar[str] = "new-version"
    title: str
    replaces: str
    why: str

    def describe(self) -> str:
        """One line for people."""
        return f"create the data set {self.title!r} in place of {self.replaces!r}, with its answers: {self.why}"


@dataclass(frozen=True, slots=True)
class UpdateSettings(Operation):
    """Something of the data set that can change is not as the config gives it: `what` says which."""

    kind: ClassVar[str] = "update-settings"
    project_id: str
    what: str

    def describe(self) -> str:
        """One line for people."""
        return f"change {self.what}"


@dataclass(frozen=True, slots=True)
class Change:
    """Something of a data set that has to change: what it is called, and how it is done."""

    what: str
    carry_out: Callable[[], object]


def incompatible(settings: Settings, fields: Sequence[Field], questions: Sequence[Question]) -> str:
    """Why a published data set cannot become one with these settings; empty: it can."""
    pairs = (
        ("field", {f.name: f for f in settings.fields}, {f.name: f for f in fields}),
        ("question", {q.name: q for q in settings.questions}, {q.name: q for q in questions}),
    )
    for what, wanted, there in pairs:
        if missing := sorted(wanted.keys() - there.keys()):
            return f"the {what} {missing[0]!r} is new"
        if extra := sorted(there.keys() - wanted.keys()):
            return f"the {what} {extra[0]!r} is gone"
        for name, one in wanted.items():
            other = there[name]
            if one.settings.get("type") != other.settings.get("type"):
                return f"the {what} {name!r} is of another type"
            if one.required != other.required:
                return f"the {what} {name!r} is {'' if one.required else 'not '}required now"
            if what == "question" and _values(one.settings) != _values(other.settings):
                return f"the options of the question {name!r} are others"
    order = [q.name for q in settings.questions]
    return "" if order == [q.name for q in questions] else "the questions have another order"


def _values(settings: Mapping[str, Any]) -> Any:
    options = settings.get("options")
    values = [option.get("value") for option in options] if isinstance(options, list) else []
    fixed = {key: settings.get(key) for key in ("field", "allow_overlapping") if settings.get("type") == "span"}
    return (sorted(map(str, values)), fixed)


class DatasetSetup:
    """One data set against its settings.

    Args:
        remote: The server.
        settings: What it is to be.
    """

    def __init__(self, remote: Argilla, settings: Settings) -> None:
        self._remote, self._settings = remote, settings

    def changes(self, there: RemoteDataset) -> tuple[str, list[Change]]:
        """Why it has to be a new one (empty: it need not), and what has to change of it."""
        remote, settings, dataset = self._remote, self._settings, there.dataset
        fields, questions = remote.fields(dataset.id), remote.questions(dataset.id)
        if why := incompatible(settings, fields, questions):
            return why, []
        found: list[Change] = []
        if (dataset.guidelines or "").strip() != settings.guidelines.strip():
            found.append(
                Change("the guidelines", partial(remote.update_dataset, dataset.id, guidelines=settings.guidelines))
            )
        if dataset.min_submitted != settings.min_submitted:
            what = f"how many answers complete a record: {settings.min_submitted}"
            found.append(Change(what, partial(remote.update_dataset, dataset.id, min_submitted=settings.min_submitted)))
        stored_fields = {field.name: field for field in fields}
        for field in settings.fields:
            body = _differences(field.to_json(), stored_fields[field.name], ("title", "settings"))
            if body:
                found.append(
                    Change(
                        f"the field {field.name!r}", partial(remote.update_field, stored_fields[field.name].id, body)
                    )
                )
        stored_questions = {question.name: question for question in questions}
        for question in settings.questions:
            stored = stored_questions[question.name]
            body = _differences(question.to_json(), stored, ("title", "description", "settings"))
            if body:
                found.append(
                    Change(f"the question {question.name!r}", partial(remote.update_question, stored.id, body))
                )
        known = {prop.name for prop in remote.metadata_properties(dataset.id)}
        for prop in settings.properties:
            if prop.name not in known:
                found.append(
                    Change(
                        f"the metadata {prop.name!r}",
                        partial(remote.create_metadata_property, dataset.id, prop.to_json()),
                    )
                )
        return "", found

    def create(
        self, project: Project, workspace: Workspace, name: str, layout: Layout, version: int, previous: tuple[str, ...]
    ) -> RemoteDataset:
        """Makes and publishes it; what a killed push has begun is thrown away: a draft has no records.

        Raises:
            RemoteError: The name is taken, or Argilla refuses something.
            OutcomeUnknownError: An answer was lost; the next push looks again.
        """
        remote, settings = self._remote, self._settings
        marked = mark(project, layout, version, previous)
        for dataset in remote.datasets(workspace.id):
            ours = read_mark(project, dataset)
            if ours and ours.is_draft and (ours.layout, ours.version) == (layout, version):
                remote.delete_dataset(dataset.id)
            elif dataset.name == name:
                raise RemoteError(
                    f"{remote.url} has a data set {name!r} already, which is not that of {project.config.name}",
                    hint="Give another name with --dataset.",
                )
        try:
            made = remote.create_dataset(
                workspace.id,
                name,
                guidelines=settings.guidelines,
                min_submitted=settings.min_submitted,
                metadata=marked,
            )
        except OutcomeUnknownError:
            there = [dataset for dataset in remote.datasets(workspace.id, name) if dataset.metadata == marked]
            if not there:
                raise
            made = there[0]
        for plans, listed, create in (
            (settings.fields, remote.fields, remote.create_field),
            (settings.questions, remote.questions, remote.create_question),
            (settings.properties, remote.metadata_properties, remote.create_metadata_property),
        ):
            for plan in plans:
                _once(partial(listed, made.id), partial(create, made.id, plan.to_json()), plan.name)
        found = read_mark(project, self._published(made))
        assert found is not None
        return found

    def _published(self, made: Dataset) -> Dataset:
        try:
            return self._remote.publish(made.id)
        except OutcomeUnknownError:
            now = self._remote.dataset(made.id)
            if now is None or now.status != "ready":
                raise
            return now


def carry_out(changes: Sequence[Change]) -> None:
    """Carries out changes, each harmless to repeat."""
    for change in changes:
        repeatable(change.carry_out)


def _once(listed: Callable[[], Sequence[Any]], create: Callable[[], object], name: str) -> None:
    """Makes a part of a draft; where the answer is lost, it is looked whether it is there."""
    try:
        create()
    except OutcomeUnknownError:
        if name not in {part.name for part in listed()}:
            create()


def _differences(wanted: Mapping[str, Any], stored: Field | Question, keys: Sequence[str]) -> dict[str, Any]:
    """What of `keys` the server has otherwise; of settings it adds its defaults to what was sent."""
    body = {}
    for key in keys:
        now = getattr(stored, key)
        if not (_within(wanted[key], now) if key == "settings" else (wanted[key] or None) == (now or None)):
            body[key] = wanted[key]
    return body


def _within(wanted: Any, stored: Any) -> bool:
    """Whether everything that is wanted is so in what is stored."""
    if isinstance(wanted, Mapping) and isinstance(stored, Mapping):
        return all(_within(value, stored.get(key)) for key, value in wanted.items())
    if isinstance(wanted, list) and isinstance(stored, list):
        return len(wanted) == len(stored) and all(
            _within(one, other) for one, other in zip(wanted, stored, strict=True)
        )
    return bool(wanted == stored)
