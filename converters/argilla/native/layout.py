"""Settings, records and responses of the native layout."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Final

from potato_bridge.converters.answer import Answer
from potato_bridge.converters.argilla import fields
from potato_bridge.converters.argilla.guidelines import guidelines
from potato_bridge.converters.argilla.limits import check_settings
from potato_bridge.converters.argilla.native.code_review import REVIEW
from potato_bridge.converters.argilla.native.plain import marked, shown
from potato_bridge.converters.argilla.native.question import Context, Piece, Told, text_field
from potato_bridge.converters.argilla.native.questions import asked_schemes
from potato_bridge.converters.argilla.plan import (
    Extent,
    FieldPlan,
    Part,
    PropertyPlan,
    QuestionPlan,
    RecordPlan,
    Settings,
    Stored,
    SuggestionPlan,
)
from potato_bridge.converters.argilla.tell import tell
from potato_bridge.converters.fingerprint import canonical_hash, hash_of_parts
from potato_bridge.converters.view.page import texts_above, trace_display
from potato_bridge.converters.view.pictures import LoadImage, Pictures, files_under
from potato_bridge.converters.view.subject import Subject
from potato_bridge.converters.view.text import storable
from potato_bridge.errors import InputError, Problem
from potato_bridge.model import Item, Project, Record, Trace
from potato_bridge.notices import Notices

TASK: Final = "task"
#: The order of the records, as the address of a page takes it.
SORT: Final = f"metadata.{fields.TRACE}.asc~metadata.{fields.STEP}.asc"
_PROPERTIES: Final = (
    PropertyPlan(fields.TRACE, "Item", {"type": "terms"}),
    PropertyPlan(fields.STEP, "Part", {"type": "integer"}),
    PropertyPlan(fields.TOTAL, "Steps", {"type": "integer"}),
)
_CURE: Final = ": use the panel layout (leave out --layout native), or a config of its own for it"
#: Keys of our own part of a record's metadata: which part of the item it is, how many there are, what it is about.
_PART, _PARTS, _ABOUT = "part", "parts", "about"


def asked(project: Project) -> list[str]:
    """See `layouts.Converter`."""
    return [scheme.name for scheme, _ in asked_schemes(project)]


def build_settings(
    project: Project, notices: Notices, *, extent: Extent | None = None, template: Path | None = None
) -> Settings:
    """See `layouts.Converter`."""
    if template is not None:
        raise InputError("a changed panel has no effect in the native layout", hint="Leave out --template.")
    schemes = asked_schemes(project)
    tell(project, [(scheme, question.notices(scheme)) for scheme, question in schemes], notices, _CURE)
    shown_fields: list[FieldPlan] = [text_field(TASK, "Task", required=False)]
    questions: list[QuestionPlan] = []
    lines: dict[str, int | None] = {}
    problems = []
    for scheme, question in schemes:
        shown_fields += question.fields(scheme)
        for plan in question.questions(scheme, extent or Extent()):
            if plan.name in lines:
                message = f"the scheme {scheme.name!r} would have a question {plan.name!r}, which is there already"
                problems.append(Problem(message, str(project.config), scheme.line, hint="Rename one of them."))
            questions.append(plan)
            lines[plan.name] = scheme.line
    if problems:
        raise InputError(f"{project.config} cannot be shown on Argilla", problems=problems)
    if not any(question.required for question in questions):
        # Argilla publishes no data set without one.
        first = questions[0]
        questions[0] = QuestionPlan(first.name, first.title, first.settings, first.description, required=True)
        message = f"Argilla needs a question that must be answered: {first.name!r} is one in this layout"
        notices.add("question-made-required", message, f"{project.config.name} {first.name}")
    sections = [
        (storable(scheme.description or question.description or scheme.name), question.guidelines(scheme))
        for scheme, question in schemes
    ]
    settings = Settings(
        layout="native",
        fields=shown_fields,
        questions=questions,
        properties=_PROPERTIES,
        guidelines=guidelines(project, sections, notices),
        min_submitted=project.overlap,
        sort=SORT,
    )
    check_settings(project, settings, lines)
    return settings


def build_records(
    project: Project, item: Item, trace: Trace, notices: Notices, *, load_image: LoadImage | None = None
) -> list[RecordPlan]:
    """See `layouts.Converter`."""
    where, display = f"item {item.id}", trace_display(project)
    pictures = Pictures(load_image or files_under(project.task_dir), notices, where)
    subject = Subject(project, item, trace, display, pictures, notices, where)
    total = len(trace.ratable())
    label, others = texts_above(project, item, display)
    task = "\n\n".join(
        [
            *([f"{label}\n{trace.task.text}"] if trace.task.text else []),
            *(f"{name}\n{clip.head}{chr(10) + clip.more if clip.more else ''}{clip.tail}" for name, clip in others),
        ]
    )
    [(scheme, question), *rest] = asked_schemes(project)
    if question.pieces is not None:
        pieces = question.pieces(scheme, subject)
        if not pieces:
            notices.add("no-steps", "the item has nothing to answer in this layout, and no record", where)
        abouts: list[Any] = [piece.about for piece in pieces]
    else:
        whole = Piece("", {})
        about: dict[str, Any] = {}
        for other, asked_for in [(scheme, question), *rest]:
            assert asked_for.whole is not None
            piece = asked_for.whole(other, subject)
            whole = Piece("", {**whole.fields, **piece.fields}, None, {}, whole.spans | piece.spans)
            about[other.name] = piece.about
        pieces, abouts = [whole], [about]
    names = [piece.name for piece in pieces]
    return [
        _record(item, total, task, number, piece, about, names)
        for number, (piece, about) in enumerate(zip(pieces, abouts, strict=True))
    ]


def _record(
    item: Item, total: int, task: str, number: int, piece: Piece, about: Any, names: Sequence[str]
) -> RecordPlan:
    texts = {TASK: task, **piece.fields}
    values = {name: marked(text) if name in piece.spans else shown(text) for name, text in texts.items() if text}
    visible = {fields.TRACE: fields.safe(item.id), fields.STEP: number, fields.TOTAL: total}
    suggested = [SuggestionPlan(name, value) for name, value in piece.filled.items()]
    meta = {
        "id": item.id,
        "hash": canonical_hash([values, visible, dict(piece.filled), [*names]]),
        "steps_hash": hash_of_parts({_PART: [dict(piece.fields), about]}, [_PART]),
        "total_steps": total,
        "schema": fields.RECORD_SCHEMA,
        _PART: piece.name,
        _PARTS: canonical_hash([*names])[:16],
        _ABOUT: about,
    }
    external = f"{fields.safe(item.id)}/{piece.name}" if piece.name else fields.safe(item.id)
    return RecordPlan(external, values, {**visible, **fields.write_meta(meta)}, meta, suggested)


def read_answer(
    project: Project, parts: Sequence[Part], *, complete: bool = True, revision: Mapping[str, Any] | None = None
) -> Answer:
    """See `layouts.Converter`."""
    answer = Answer()
    told, context = _told(parts, revision)
    known: set[str] = set()
    for scheme, question in asked_schemes(project):
        known |= {plan.name for plan in question.questions(scheme, Extent())}
        question.read(scheme, told, context, answer, complete)
    for one in told:
        for name, value in (one.values or {}).items():
            if name not in known:
                answer.controls.setdefault(name, []).append({"raw": value})
                answer.flag("unknown-control", f"the data set asks for no {name!r}")
    return answer


def _told(parts: Sequence[Part], revision: Mapping[str, Any] | None) -> tuple[list[Told], Context]:
    told, total = [], 0
    for part in sorted(parts, key=lambda one: one.record.external_id):
        meta = fields.read_meta(part.record.metadata)
        found = meta.get("total_steps")
        total = max(total, found) if isinstance(found, int) else total
        values = None if part.values is None else {k: v for k, v in part.values.items() if v not in (None, [])}
        told.append(Told(str(meta.get(_PART, "")), meta.get(_ABOUT), values))
    if revision is not None and isinstance(revision.get("total_steps"), int):
        total = revision["total_steps"]
    return told, Context(total, revision is not None)


def write_answer(project: Project, record: Record, records: Sequence[Stored]) -> dict[str, dict[str, Any]]:
    """See `layouts.Converter`."""
    told, context = _told([Part(one, None) for one in records], None)
    external = {str(fields.read_meta(one.metadata).get(_PART, "")): one.external_id for one in records}
    written: dict[str, dict[str, Any]] = {}
    for scheme, question in asked_schemes(project):
        if scheme.name not in record.annotations:
            continue
        try:
            found = question.write(scheme, told, context, record.annotations[scheme.name])
        except InputError as error:
            raise InputError(f"record {record.id}, {scheme.name}: {error.message}", hint=error.hint) from error
        for name, values in found.items():
            written.setdefault(external[name], {}).update(values)
    return written


def present(records: Sequence[Stored]) -> list[bool]:
    """Which records of an item are parts of its present state: the others are left over from an earlier one."""
    metas = [fields.read_meta(record.metadata) for record in records]
    # The first one is always there, and of a review the last: a push brings it up to date.
    newest = next((meta for meta in metas if meta.get(_PART) == REVIEW), metas[0]).get(_PARTS)
    return [meta.get(_PARTS) == newest for meta in metas]
