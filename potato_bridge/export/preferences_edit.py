"""Pairs of one step each, from corrections: the run up to the step, and what the agent said there or should have said.

Whole corrected runs mix a new action with what was observed after the old one, and no preference trainer masks what
tools returned. So each corrected step is a pair of its own, after the run as it really went.
"""

from typing import TYPE_CHECKING, Any

import msgspec

from potato_bridge.converters.potato.text import step_text
from potato_bridge.converters.potato.traces import to_trace
from potato_bridge.errors import InputError
from potato_bridge.export.chat import GAP, Messages, add, said
from potato_bridge.export.options import ExportOptions
from potato_bridge.export.rows import Case, LeftOut, Reason, Row, answer, place_of
from potato_bridge.export.trajectory_apply import apply
from potato_bridge.model import Item, Project, Record
from potato_bridge.model.trace import Step
from potato_bridge.model.trajectory_edit import field_text, parse_trajectory_edit
from potato_bridge.model.trajectory_scheme import TrajectoryEdit
from potato_bridge.notices import Notices

if TYPE_CHECKING:
    import pyarrow


class EditPairs:
    """See the module."""

    #: A correction says that it is better, and not by how much.
    margin = ""

    def __init__(self, project: Project, scheme: TrajectoryEdit, options: ExportOptions, notices: Notices) -> None:
        self._scheme, self._notices = scheme, notices
        # The steps of this scheme, whatever the project shows otherwise.
        shown = [field for field in project.fields if field.key == scheme.steps_key or field.trace is None]
        self._project = msgspec.structs.replace(project, schemes=[scheme], fields=shown)

    def case(self, item: Item) -> Case:
        """The item, with the steps at the scheme's `steps_key`."""
        return Case(self._project, item, self._notices, None, observations=False)

    def row(self, case: Case | None, record: Record) -> list[Row] | LeftOut:
        """The pairs of one record: one for each step whose text was corrected, and for the final answer."""
        value = answer(record, self._scheme.name)
        if isinstance(value, LeftOut):
            return value
        try:
            edits = parse_trajectory_edit(value)
        except InputError as error:
            return LeftOut(Reason.INVALID_VALUE, error.message)
        if case is None:
            return LeftOut(Reason.UNKNOWN_ITEM, "no item of this id in the project's data files")
        if case.prompt is None:
            return LeftOut(Reason.NO_PROMPT, "the item has no text at its text_key")
        item = case.item
        corrected = apply(self._scheme, item.data, edits)
        if isinstance(corrected, LeftOut):
            return corrected
        if not corrected.edits:
            return LeftOut(Reason.UNEDITED, "nothing was corrected")
        before = self._steps(item)
        after = self._steps(msgspec.structs.replace(item, data=corrected.data))
        pairs = list(self._pairs(case.prompt, before, after))
        final = self._scheme.final_answer_key
        if item.data.get(final) != corrected.data.get(final):
            texts = (field_text(data[final]) for data in (corrected.data, item.data))
            pairs.append((None, self._prefix(case.prompt, before), *texts))
        rows = []
        for number, prefix, better, worse in pairs:
            if not better or not worse:
                self._notices.add("emptied-step", "a text was emptied: there is nothing to prefer", f"item {item.id}")
                continue
            rows.append(_row(prefix, better, worse) | {"step_index": number, **self._about(record)})
        if rows:
            return rows
        if pairs:
            return LeftOut(Reason.NO_COMPLETION, "what was corrected, or its original, has no text at all")
        return LeftOut(Reason.EDIT_NOT_IN_TEXT, "no step's text, nor the final answer, is another after the edits")

    def _steps(self, item: Item) -> list[Step]:
        return to_trace(item, self._project, Notices()).steps

    def _pairs(self, prompt: str, before: list[Step], after: list[Step]) -> Any:
        for number, (old, new) in enumerate(zip(before, after, strict=True)):
            worse, better = step_text(old, None), step_text(new, None)
            if worse != better and old.flags.ratable:
                yield number, self._prefix(prompt, before[:number]), better, worse

    @staticmethod
    def _prefix(prompt: str, steps: list[Step]) -> Messages:
        """The run up to a step as it really went; what was observed is the user's, as models see it."""
        messages = said("user", prompt)
        for step in steps:
            text = step_text(step, None)
            if step.flags.ratable:
                add(messages, "assistant", text)
            elif text != prompt:
                add(messages, "user", text)
            results = [call.result for call in step.tool_calls if call.result is not None]
            for seen in (*results, *step.observations):
                add(messages, "user", seen.text or "")
        return messages

    def _about(self, record: Record) -> Row:
        return {"id": record.id, "annotator": record.annotator, "scheme": self._scheme.name, **place_of(record)}

    def columns(self) -> "dict[str, pyarrow.DataType]":
        """The columns beside prompt, chosen and rejected."""
        import pyarrow

        text = pyarrow.string()
        return {
            "step_index": pyarrow.int64(),
            **dict.fromkeys(("id", "annotator", "backend", "project", "task", "annotation"), text),
        }

    def documented(self, row: Row) -> dict[str, Any]:
        """The three columns: the documented form has a text as its prompt, and a run before a step is none."""
        return {name: row[name] for name in ("prompt", "chosen", "rejected")}

    def explain(self) -> list[str]:
        """What a pair is, and what its columns mean."""
        return [
            "One row is one corrected step of one answer.",
            "",
            "| column | what it holds |",
            "|---|---|",
            "| `prompt` | the task, and the run up to the step as it really went; what tools returned is the user's |",
            "| `chosen`, `rejected` | the step as corrected, and as the agent wrote it: one assistant's message |",
            "| `step_index` | which step, from 0; null: the final answer |",
            "| `id`, `annotator`, `scheme` | the trace, who answered, and to what |",
            "| `backend`, `project`, `task`, `annotation` | where the answer can be found again |",
            "",
            "A step before which nothing was observed goes on with the assistant's turn, which begins both texts.",
        ]


def _row(prefix: Messages, better: str, worse: str) -> Row:
    """A pair; where the run so far ends with the assistant's turn, both go on with it."""
    begun = ""
    if prefix[-1]["role"] == "assistant":
        begun = prefix[-1]["content"] + GAP
        prefix = prefix[:-1]
    return {"prompt": prefix, "chosen": said("assistant", begun + better), "rejected": said("assistant", begun + worse)}
