"""Responses ↔ answers. Reading never raises: what cannot be understood is kept as it is, and flagged."""

from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property
from typing import Any, Final

from msgspec import UNSET

from potato_bridge.converters.answer import Answer
from potato_bridge.converters.argilla import fields
from potato_bridge.converters.argilla.panel.question import PanelQuestion, Said, Seen
from potato_bridge.converters.argilla.panel.questions import asked_schemes, native_name
from potato_bridge.converters.argilla.panel.records import payload_of
from potato_bridge.converters.argilla.plan import Part, Stored
from potato_bridge.errors import InputError
from potato_bridge.model import Project, Record
from potato_bridge.model.project import Scheme

_VERSION: Final = 1


def asked(project: Project) -> list[str]:
    """See `layouts.Converter`."""
    return [scheme.name for scheme, _ in asked_schemes(project)]


def read_answer(
    project: Project,
    parts: Sequence[Part],
    *,
    complete: bool = True,
    revision: Mapping[str, Any] | None = None,
) -> Answer:
    """See `layouts.Converter`."""
    answer = Answer()
    part = parts[0]
    values = dict(part.values or {})
    panel = _panel(values.pop(fields.ANSWER, None), answer)
    meta = fields.read_meta(part.record.metadata)
    schemes = asked_schemes(project)
    for scheme, question in schemes:
        said = Said(panel.pop(scheme.name, UNSET))
        for suffix in question.natives(scheme):
            name = native_name(scheme, suffix)
            if name in values:
                said.natives[suffix] = values.pop(name)
        # A draft may have a question that was cleared.
        said.natives = {suffix: value for suffix, value in said.natives.items() if value not in (None, [])}
        question.read(scheme, _seen(scheme, part.record, meta, revision), said, answer, complete)
        _keep_unknown(scheme, question, said.panel, answer)
    for name, value in (*panel.items(), *values.items()):
        answer.controls.setdefault(name, []).append({"raw": value})
        answer.flag("unknown-control", f"the data set asks for no {name!r}")
    return answer


def _panel(text: Any, answer: Answer) -> dict[str, Any]:
    """What the panel wrote, by scheme."""
    if text is None or text == "":
        return {}
    try:
        found = fields.read_json(text) if isinstance(text, str) else None
    except ValueError:
        found = None
    schemes = found.get("schemes") if isinstance(found, dict) else None
    if not isinstance(found, dict) or not isinstance(schemes, dict):
        _unreadable(answer, text, "the answer is not what the panel writes")
        return {}
    if found.get("v") != _VERSION:
        _unreadable(
            answer, text, f"the answer is of version {found.get('v')!r} of the panel, and this one knows {_VERSION}"
        )
        return {}
    return dict(schemes)


def _keep_unknown(scheme: Scheme, question: PanelQuestion[Any], raw: Any, answer: Answer) -> None:
    """Keeps what nobody reads, where the reader has not kept all of it."""
    if raw is UNSET or {"raw": raw} in answer.controls.get(scheme.name, ()):
        return
    if not question.keys:
        _keep(scheme, answer, raw, "the panel writes nothing for it: it has a question of its own")
    elif isinstance(raw, Mapping) and (unknown := raw.keys() - question.keys):
        names = ", ".join(sorted(unknown))[:200]
        _keep(scheme, answer, {key: raw[key] for key in unknown}, f"the panel writes no {names}")


def _keep(scheme: Scheme, answer: Answer, raw: Any, message: str) -> None:
    answer.controls.setdefault(scheme.name, []).append({"raw": raw})
    answer.flag("bad-result", message, scheme)


def _unreadable(answer: Answer, text: Any, message: str) -> None:
    answer.controls.setdefault(fields.ANSWER, []).append({"raw": text})
    answer.flag("bad-result", message)


class _Data(Mapping[str, Any]):
    """A scheme's part of the payload of a record: most answers are read without it, and it is most of a record."""

    def __init__(self, record: Stored, name: str) -> None:
        self._record, self._name = record, name

    @cached_property
    def _found(self) -> Mapping[str, Any]:
        schemes = payload_of(self._record.fields).get("schemes")
        own = schemes.get(self._name) if isinstance(schemes, Mapping) else None
        return own if isinstance(own, Mapping) else {}

    def __getitem__(self, key: str) -> Any:
        return self._found[key]

    def __iter__(self) -> Iterator[str]:
        return iter(self._found)

    def __len__(self) -> int:
        return len(self._found)


def _seen(scheme: Scheme, record: Stored, meta: Mapping[str, Any], revision: Mapping[str, Any] | None) -> Seen:
    total = (revision if revision is not None and "total_steps" in revision else meta).get("total_steps")
    about: Any = UNSET
    if revision is not None:
        noted = revision.get("about")
        # A scheme that the earlier state did not have is read with what there is now.
        about = noted.get(scheme.name, UNSET) if isinstance(noted, Mapping) else UNSET
    return Seen(_Data(record, scheme.name), total if isinstance(total, int) else 0, about)


def write_answer(project: Project, record: Record, records: Sequence[Stored]) -> dict[str, dict[str, Any]]:
    """See `layouts.Converter`."""
    stored = records[0]
    meta = fields.read_meta(stored.metadata)
    values: dict[str, Any] = {}
    panel: dict[str, Any] = {}
    for scheme, question in asked_schemes(project):
        if scheme.name not in record.annotations:
            continue
        try:
            said = question.write(scheme, _seen(scheme, stored, meta, None), record.annotations[scheme.name])
        except InputError as error:
            raise InputError(f"record {record.id}, {scheme.name}: {error.message}", hint=error.hint) from error
        if said.panel is not UNSET:
            panel[scheme.name] = said.panel
        for suffix, value in said.natives.items():
            values[native_name(scheme, suffix)] = value
    answer = fields.escaped_json({"v": _VERSION, "complete": True, "schemes": panel})
    return {stored.external_id: {fields.ANSWER: answer, **values}}
