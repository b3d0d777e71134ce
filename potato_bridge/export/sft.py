"""Target `sft`: runs to learn from, as messages with tool calls: approved ones, or as they were corrected."""

from typing import TYPE_CHECKING, Any, ClassVar

import msgspec

from potato_bridge.converters.potato.traces import to_trace
from potato_bridge.converters.tool_calls import as_json
from potato_bridge.errors import InputError
from potato_bridge.export import tool_chat
from potato_bridge.export.approval import RULES, Approval, choose
from potato_bridge.export.options import ExportOptions
from potato_bridge.export.rows import Case, LeftOut, Reason, Row, answer, place_of
from potato_bridge.export.trajectory_apply import apply
from potato_bridge.model import Item, Project, Record
from potato_bridge.model.trace import Trace
from potato_bridge.model.trajectory_edit import field_text, parse_trajectory_edit
from potato_bridge.model.trajectory_scheme import TrajectoryEdit
from potato_bridge.notices import Notices

if TYPE_CHECKING:
    import pyarrow


class Sft:
    """Rows of approved or corrected runs.

    Raises:
        InputError: No scheme says which runs are good, and none corrects them.
        UsageError: See `Approval`.
    """

    name: ClassVar[str] = "sft"
    documented_file: ClassVar[str] = "sft.jsonl"
    tags: ClassVar[tuple[str, ...]] = ("sft", "tool-use", "agent-traces")
    task_categories: ClassVar[tuple[str, ...]] = ("text-generation",)

    def __init__(self, project: Project, options: ExportOptions, notices: Notices) -> None:
        self._project, self._notices = project, notices
        self._judge: Approval | None = None
        self._edits = self._corrections(project, options, notices)
        if self._edits is None:
            self._judge = choose(project, options.scheme, options.approved, self.name, notices)
            self.scheme = self._judge.scheme.name
            return
        self.scheme = self._edits.name
        shown = [field for field in project.fields if field.key == self._edits.steps_key or field.trace is None]
        self._project = msgspec.structs.replace(project, schemes=[self._edits], fields=shown)

    @staticmethod
    def _corrections(project: Project, options: ExportOptions, notices: Notices) -> TrajectoryEdit | None:
        """The scheme of corrections, where the runs come from one."""
        if options.approved is not None:
            return None
        able = [one for one in project.schemes if isinstance(one, (TrajectoryEdit, *RULES))]
        named = [one for one in able if options.scheme in (None, one.name)]
        if not named or not isinstance(named[0], TrajectoryEdit):
            return None
        if options.scheme is None and len(able) > 1:
            names = ", ".join(one.name for one in able)
            notices.add("several-schemes", f"{names}: only {named[0].name} is exported", str(project.config))
        return named[0]

    def case(self, item: Item) -> Case:
        """The item."""
        return Case(self._project, item, self._notices, None, observations=False)

    def row(self, case: Case | None, record: Record) -> Row | LeftOut:
        """The row of one record, or why there is none."""
        if self._judge is not None:
            approved = self._judge.of(record)
            if isinstance(approved, LeftOut):
                return approved
            if not approved:
                return LeftOut(Reason.NOT_APPROVED, "the annotator did not approve it")
        else:
            value = answer(record, self.scheme)
            if isinstance(value, LeftOut):
                return value
        if case is None:
            return LeftOut(Reason.UNKNOWN_ITEM, "no item of this id in the project's data files")
        if case.prompt is None:
            return LeftOut(Reason.NO_PROMPT, "the item has no text at its text_key")
        item = case.item if self._edits is None else self._corrected(case.item, self._edits, value)
        if isinstance(item, LeftOut):
            return item
        trace = to_trace(item, self._project, self._notices if self._edits is None else Notices())
        messages = tool_chat.tool_messages(trace, case.prompt)
        if isinstance(messages, LeftOut):
            return messages
        if self._edits is not None and (final := item.data.get(self._edits.final_answer_key)) is not None:
            tool_chat.add_answer(messages, field_text(final))
        return {
            "messages": messages,
            "tools": _tools(item, trace),
            "id": record.id,
            "annotator": record.annotator,
            "scheme": self.scheme,
            **place_of(record),
        }

    @staticmethod
    def _corrected(item: Item, scheme: TrajectoryEdit, value: Any) -> Item | LeftOut:
        try:
            edits = parse_trajectory_edit(value)
        except InputError as error:
            return LeftOut(Reason.INVALID_VALUE, error.message)
        corrected = apply(scheme, item.data, edits)
        if isinstance(corrected, LeftOut):
            return corrected
        if not corrected.edits:
            return LeftOut(Reason.UNEDITED, "nothing was corrected")
        return msgspec.structs.replace(item, data=corrected.data)

    def documented(self, row: Row) -> dict[str, Any]:
        """`{"messages", "tools"}` with calls as objects; `tools` only where there are any."""
        messages = []
        for message in row["messages"]:
            calls = message.get("tool_calls")
            messages.append({**message, "tool_calls": list(map(msgspec.json.decode, calls))} if calls else message)
        tools = row["tools"]
        return {"messages": messages} | ({"tools": list(map(msgspec.json.decode, tools))} if tools else {})

    def schema(self) -> "pyarrow.Schema":
        """The columns and their types."""
        import pyarrow

        text = pyarrow.string()
        about = dict.fromkeys(("id", "annotator", "scheme", "backend", "project", "task", "annotation"), text)
        return pyarrow.schema(list((tool_chat.columns() | about).items()))

    def check(self, batch: "pyarrow.RecordBatch | pyarrow.Table") -> str:
        """What a chat template would refuse in written rows; empty where all is well."""
        return tool_chat.check(batch)

    def explain(self) -> list[str]:
        """What the columns mean."""
        if self._judge is not None:
            rule = f"One row is one annotator's approval of one run: {self._judge.explain()}."
        else:
            rule = "One row is one run as one annotator corrected it."
        lines = [
            rule,
            "",
            "| column | what it holds |",
            "|---|---|",
            "| `messages` | the run: `role`, `content`, `tool_calls`, `tool_call_id`; calls as objects |",
            "| `tools` | the definitions of the tools, where the item has them; else null |",
            "| `id`, `annotator`, `scheme` | the trace, who answered, and to what |",
            "| `backend`, `project`, `task`, `annotation` | where the answer can be found again |",
            "",
            "Train with `assistant_only_loss=True`: what tools returned, and what users said, is no target.",
        ]
        if self._edits is not None:
            lines += ["", "What was observed after a corrected action was recorded after the original one."]
        return lines


def _tools(item: Item, trace: Trace) -> list[str] | None:
    """The definitions of the tools, as JSON."""
    tools = item.data.get("tools", trace.agent.tool_definitions)
    if not isinstance(tools, list) or not tools or not all(isinstance(tool, dict) for tool in tools):
        return None
    return [as_json(tool) for tool in tools]
