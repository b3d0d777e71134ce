"""Target `trajectory_correction`: what the agent did and what it should have done, one row per annotator and item.

`prompt`, `chosen` and `rejected` are lists of messages, as preference trainers take them: one assistant message for
each step, the final answer last. `prompt` and `chosen` alone are a pair for supervised fine-tuning.
"""

import json
from collections.abc import Mapping
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

import msgspec

from potato_bridge.converters.potato.text import step_text
from potato_bridge.converters.potato.traces import to_trace
from potato_bridge.errors import InputError
from potato_bridge.export.options import ExportOptions
from potato_bridge.export.rows import Case, LeftOut, Reason, Row, answer, place_of
from potato_bridge.export.schemes import choose_scheme
from potato_bridge.export.trajectory_apply import Corrected, apply
from potato_bridge.export.trajectory_files import TrajectoryFiles
from potato_bridge.model import Item, Project, Record
from potato_bridge.model.trajectory_edit import FinalEdit, StepEdit, field_text, parse_trajectory_edit
from potato_bridge.model.trajectory_scheme import TrajectoryEdit
from potato_bridge.notices import Notices

if TYPE_CHECKING:
    import pyarrow

Messages = list[dict[str, str]]


class TrajectoryCase(Case):
    """One item, with the messages of its run as it was, or as somebody corrected it."""

    def __init__(
        self, project: Project, item: Item, notices: Notices, scheme: TrajectoryEdit, observations: bool
    ) -> None:
        super().__init__(project, item, notices, None, observations)
        self._project, self._scheme, self._observations = project, scheme, observations

    def messages(self, data: Mapping[str, Any]) -> Messages:
        """The run that an item's fields hold; a step without any text gives no message."""
        item = msgspec.structs.replace(self.item, data=dict(data))
        trace = to_trace(item, self._project, Notices())
        texts = [step_text(step, None, self._observations) for step in trace.ratable()]
        final = data.get(self._scheme.final_answer_key)
        texts += [field_text(final)] if final is not None else []
        return [{"role": "assistant", "content": text} for text in texts if text]

    @cached_property
    def original_messages(self) -> Messages:
        """The run as it was."""
        return self.messages(self.item.data)

    def trace(self, data: Mapping[str, Any]) -> dict[str, Any]:
        """The documented form of a trace: task, steps, and the final answer where there is one."""
        trace = {"task": self.prompt or "", "steps": data.get(self._scheme.steps_key) or []}
        final = data.get(self._scheme.final_answer_key)
        return trace if final is None else {**trace, "final_answer": final}


class TrajectoryCorrection:
    """Rows of `trajectory_edit` answers.

    Raises:
        InputError: The project has no trajectory_edit scheme.
        UsageError: The scheme asked for is not among its trajectory_edit schemes.
    """

    name: ClassVar[str] = "trajectory_correction"
    documented_file: ClassVar[str] = TrajectoryFiles.CORRECTIONS
    tags: ClassVar[tuple[str, ...]] = ("trajectory-correction", "preference", "dpo", "sft")
    task_categories: ClassVar[tuple[str, ...]] = ("text-generation",)

    def __init__(self, project: Project, options: ExportOptions, notices: Notices) -> None:
        self._options = options
        self._notices = notices
        self._scheme = choose_scheme(project, TrajectoryEdit, options.scheme, self.name, notices)
        self.scheme = self._scheme.name
        # The steps of this scheme, whatever the project shows otherwise.
        key = self._scheme.steps_key
        shown = [field for field in project.fields if field.key == key or field.trace is None]
        self._project = msgspec.structs.replace(project, schemes=[self._scheme], fields=shown)

    def case(self, item: Item) -> TrajectoryCase:
        """The item, with the steps at the scheme's `steps_key`."""
        return TrajectoryCase(self._project, item, self._notices, self._scheme, self._options.observations)

    def row(self, case: Case | None, record: Record) -> Row | LeftOut:
        """The row of one record, or why there is none; no case: the item is not in the data files."""
        value = answer(record, self.scheme)
        if isinstance(value, LeftOut):
            return value
        try:
            edits = parse_trajectory_edit(value)
        except InputError as error:
            return LeftOut(Reason.INVALID_VALUE, error.message)
        if not isinstance(case, TrajectoryCase):
            return LeftOut(Reason.UNKNOWN_ITEM, "no item of this id in the project's data files")
        if case.prompt is None:
            return LeftOut(Reason.NO_PROMPT, "the item has no text at its text_key")
        corrected = apply(self._scheme, case.item.data, edits)
        if isinstance(corrected, LeftOut):
            return corrected
        document = self._document(case, record, corrected)
        if not corrected.edits:
            return LeftOut(Reason.UNEDITED, "nothing was corrected", document)
        chosen, rejected = case.messages(corrected.data), case.original_messages
        if chosen == rejected:
            message = "no step's text, nor the final answer, is another after the edits"
            return LeftOut(Reason.EDIT_NOT_IN_TEXT, message, document)
        if not chosen or not rejected:
            message = f"the {'corrected' if rejected else 'original'} trace has no text at all"
            return LeftOut(Reason.NO_COMPLETION, message, document)
        return {
            "prompt": [{"role": "user", "content": case.prompt}],
            "chosen": chosen,
            "rejected": rejected,
            "id": record.id,
            "annotator": record.annotator,
            "scheme": self.scheme,
            "edits": document["edits"],
            "n_edits": document["n_edits"],
            "total_edit_distance": document["total_edit_distance"],
            # Steps have any fields, of any kind: as JSON they come back as they were.
            "original_trace": _json(document["original_trace"]),
            "corrected_trace": _json(document["corrected_trace"]),
            **place_of(record),
        }

    @staticmethod
    def _document(case: TrajectoryCase, record: Record, corrected: Corrected) -> dict[str, Any]:
        edits = [_edit(edit) for edit in corrected.edits]
        return {
            "trace_id": record.id,
            "annotator": record.annotator,
            "task": case.prompt,
            "original_trace": case.trace(case.item.data),
            "corrected_trace": case.trace(corrected.data),
            "edits": edits,
            "n_edits": len(edits),
            "total_edit_distance": sum(edit["edit_distance_chars"] for edit in edits),
        }

    def documented(self, row: Row) -> dict[str, Any]:
        """A record of `trajectory_corrections.json`, as Potato's documentation has it."""
        original, corrected = json.loads(row["original_trace"]), json.loads(row["corrected_trace"])
        return {
            "trace_id": row["id"],
            "annotator": row["annotator"],
            "task": original["task"],
            "original_trace": original,
            "corrected_trace": corrected,
            **{key: row[key] for key in ("edits", "n_edits", "total_edit_distance")},
        }

    def files(self, path: Path, alone: bool) -> TrajectoryFiles:
        """The documented files: all three beside `path`, or the one that it names."""
        return TrajectoryFiles(path, alone, self.documented)

    def schema(self) -> "pyarrow.Schema":
        """The columns and their types."""
        import pyarrow

        text, whole = pyarrow.string(), pyarrow.int64()
        messages = pyarrow.list_(pyarrow.struct([("role", text), ("content", text)]))
        edit = [
            ("step_index", whole),
            ("field", text),
            ("original_text", text),
            ("edited_text", text),
            ("edit_distance_chars", whole),
            ("edit_distance_words", whole),
            ("reason", text),
        ]
        types = {
            "prompt": messages,
            "chosen": messages,
            "rejected": messages,
            "id": text,
            "annotator": text,
            "scheme": text,
            "edits": pyarrow.list_(pyarrow.struct(edit)),
            "n_edits": whole,
            "total_edit_distance": whole,
            "original_trace": text,
            "corrected_trace": text,
            "backend": text,
            "project": text,
            "task": text,
            "annotation": text,
        }
        return pyarrow.schema(list(types.items()))

    def check(self, batch: "pyarrow.RecordBatch | pyarrow.Table") -> str:
        """What a preference trainer would refuse in written rows; empty where all is well."""
        columns = [batch.column(name).to_pylist() for name in ("prompt", "chosen", "rejected")]
        for prompt, chosen, rejected in zip(*columns, strict=True):
            for messages in (prompt, chosen, rejected):
                if not messages or any(not message["role"] or not message["content"] for message in messages):
                    return "a prompt, chosen or rejected has no messages, or one without text"
            if chosen == rejected:
                return "chosen and rejected are the same"
        return ""

    def explain(self) -> list[str]:
        """What the columns mean."""
        observations = "with" if self._options.observations else "without"
        return [
            "One row is one annotator's correction of one trace.",
            "",
            "| column | what it holds |",
            "|---|---|",
            "| `prompt` | the task, verbatim, as a user message |",
            f"| `chosen` | the corrected trace: one assistant message a step, {observations} what was observed |",
            "| `rejected` | the trace as the agent left it, in the same form |",
            "| `edits` | what was changed: step from 0 (null: the final answer), field, texts, distances, reason |",
            "| `n_edits`, `total_edit_distance` | how many fields, and how many characters |",
            "| `original_trace`, `corrected_trace` | both traces whole, as JSON |",
            "| `id`, `annotator`, `scheme` | the trace, who answered, and to what |",
            "| `backend`, `project`, `task`, `annotation` | where the answer can be found again |",
            "",
            "For supervised fine-tuning take `prompt` and `chosen`: "
            '`rows.select_columns(["prompt", "chosen"]).rename_column("chosen", "completion")`.',
            "",
            "What was observed after a corrected action was recorded after the original one. Messages of several steps",
            "follow each other: chat templates that want turns to alternate need them merged.",
        ]


def _edit(edit: FinalEdit) -> dict[str, Any]:
    step = edit if isinstance(edit, StepEdit) else None
    return {
        "step_index": step.step_index if step else None,
        "field": step.field if step else "final_answer",
        "original_text": edit.original_text,
        "edited_text": edit.edited_text,
        "edit_distance_chars": edit.chars,
        "edit_distance_words": edit.words,
        "reason": step.reason if step else "",
    }


def _json(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))
