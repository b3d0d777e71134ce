"""Target `kto`: runs with a label each, wanted or not, as KTOTrainer takes them: a true bool, never -1 or 0.5."""

from typing import TYPE_CHECKING, Any, ClassVar

from potato_bridge.export.approval import choose
from potato_bridge.export.chat import joined, messages_type, said
from potato_bridge.export.options import ExportOptions
from potato_bridge.export.rows import Case, LeftOut, Reason, Row, place_of
from potato_bridge.model import Item, ProcessReward, Project, Record
from potato_bridge.notices import Notices

if TYPE_CHECKING:
    import pyarrow


class Kto:
    """Rows of answers that judge whole runs.

    Raises:
        InputError: No scheme says which runs are good.
        UsageError: See `Approval`.
    """

    name: ClassVar[str] = "kto"
    documented_file: ClassVar[str] = "kto.jsonl"
    tags: ClassVar[tuple[str, ...]] = ("kto", "preference")
    task_categories: ClassVar[tuple[str, ...]] = ("text-generation",)

    def __init__(self, project: Project, options: ExportOptions, notices: Notices) -> None:
        self._project, self._options, self._notices = project, options, notices
        self._judge = choose(project, options.scheme, options.approved, self.name, notices)
        self.scheme = self._judge.scheme.name
        self._labels = {True: 0, False: 0}

    def case(self, item: Item) -> Case:
        """The item, with step texts by the scheme's `step_text_key`."""
        scheme = self._judge.scheme
        key = scheme.step_text_key if isinstance(scheme, ProcessReward) else None
        return Case(self._project, item, self._notices, key, self._options.observations)

    def row(self, case: Case | None, record: Record) -> Row | LeftOut:
        """The row of one record, or why there is none."""
        wanted = self._judge.of(record)
        if isinstance(wanted, LeftOut):
            return wanted
        if case is None:
            return LeftOut(Reason.UNKNOWN_ITEM, "no item of this id in the project's data files")
        if case.prompt is None:
            return LeftOut(Reason.NO_PROMPT, "the item has no text at its text_key")
        text = joined(case.texts)
        if not text:
            return LeftOut(Reason.NO_COMPLETION, "no step of the trace has a text")
        self._labels[wanted] += 1
        return {
            "prompt": said("user", case.prompt),
            "completion": said("assistant", text),
            "label": wanted,
            "id": record.id,
            "annotator": record.annotator,
            "scheme": self.scheme,
            **place_of(record),
        }

    def documented(self, row: Row) -> dict[str, Any]:
        """`{"prompt", "completion", "label"}`."""
        return {name: row[name] for name in ("prompt", "completion", "label")}

    def schema(self) -> "pyarrow.Schema":
        """The columns and their types."""
        import pyarrow

        text, messages = pyarrow.string(), messages_type()
        about = dict.fromkeys(("id", "annotator", "scheme", "backend", "project", "task", "annotation"), text)
        types = {"prompt": messages, "completion": messages, "label": pyarrow.bool_()}
        return pyarrow.schema(list((types | about).items()))

    def check(self, batch: "pyarrow.RecordBatch | pyarrow.Table") -> str:
        """What a trainer would refuse in written rows; empty where all is well."""
        if batch.column("label").null_count:
            return "a label is null"
        for name in ("prompt", "completion"):
            for messages in batch.column(name).to_pylist():
                if not messages or not all(message["content"] for message in messages):
                    return f"a {name} has no messages, or one without text"
        return ""

    def explain(self) -> list[str]:
        """What the columns mean, and how many of each label there are."""
        lines = [
            f"One row is one annotator's judgement of one run. It is wanted where {self._judge.explain()}.",
            "",
            "| column | what it holds |",
            "|---|---|",
            "| `prompt` | the task, verbatim, as a user's message |",
            "| `completion` | the texts of all steps to rate, as one assistant's message |",
            "| `label` | whether it is wanted |",
            "| `id`, `annotator`, `scheme` | the trace, who answered, and to what |",
            "| `backend`, `project`, `task`, `annotation` | where the answer can be found again |",
            "",
            f"**Balance.** {self._labels[True]} rows are wanted, {self._labels[False]} are not.",
        ]
        if not all(self._labels.values()):
            lines += [
                "",
                "One of the two is missing: a trainer takes such a set without a word and learns nothing of it.",
            ]
        return lines
