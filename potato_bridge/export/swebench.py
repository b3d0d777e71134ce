"""Target `swebench`: the patches of runs, and what annotators say of each: resolved, not, or unknown.

`resolved` of SWE-bench's own reports means that tests passed. Nothing here looks like such a report, and predictions
(JSON Lines, for its harness) have no verdict in them.
"""

import re
from collections import Counter
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, ClassVar

from potato_bridge.export.approval import Approval
from potato_bridge.export.options import ExportOptions
from potato_bridge.export.rows import Case, Head, Held, LeftOut, Reason, Row, answer
from potato_bridge.export.spool import Spool
from potato_bridge.model import Item, Project, Record
from potato_bridge.notices import Notices

if TYPE_CHECKING:
    import pyarrow

_INSTANCE = re.compile(r"[\w.-]+__[\w.-]+-\d+")
_MODELS = ("model_name_or_path", "agent_model", "model", "agent_name")
#: Never `patch`: in SWE-bench's own rows that is the solution.
_PATCHES = ("model_patch", "final_patch")


class Swebench:
    """Rows of items, one each, with the verdicts of those who answered.

    Raises:
        UsageError: See `Approval`.
    """

    name: ClassVar[str] = "swebench"
    documented_file: ClassVar[str] = "swebench_results.json"
    tags: ClassVar[tuple[str, ...]] = ("swe-bench", "agent-traces")
    task_categories: ClassVar[tuple[str, ...]] = ("text-generation",)

    def __init__(self, project: Project, options: ExportOptions, notices: Notices) -> None:
        self._project, self._notices = project, notices
        words = options.resolved
        self._judge = None if words is None else Approval(project, words.scheme, words)
        # The card names a scheme: without a verdict, any that was answered counts.
        self.scheme = words.scheme if words is not None else (project.schemes[0].name if project.schemes else "")
        self._spool = Spool()
        self._case: Case | None = None
        self._item: LeftOut | int = 0
        self._rows: dict[int, Counter[bool | None]] = {}
        self._heads: list[tuple[Head, int]] = []

    def case(self, item: Item) -> Case:
        """The item."""
        return Case(self._project, item, self._notices, None, observations=False)

    def row(self, case: Case | None, record: Record) -> LeftOut | Held:
        """Takes one verdict; the row of its item is made when all are known."""
        verdict: bool | None = None
        if self._judge is not None:
            said = self._judge.of(record)
            if not isinstance(said, LeftOut):
                verdict = said
            elif said.reason is not Reason.UNDECIDED:
                return said
        elif isinstance(given := answer(record, self.scheme), LeftOut) and given.reason is not Reason.NO_ANSWER:
            return given
        if case is None:
            return LeftOut(Reason.UNKNOWN_ITEM, "no item of this id in the project's data files")
        if case is not self._case:
            self._case, self._item = case, self._take(case.item)
        if isinstance(self._item, LeftOut):
            return self._item
        self._rows.setdefault(self._item, Counter())[verdict] += 1
        self._heads.append((Head.of(record), self._item))
        return Held()

    def _take(self, item: Item) -> int | LeftOut:
        def text(*names: str) -> str | None:
            return next((value for name in names if isinstance(value := item.data.get(name), str)), None)

        instance = text("instance_id") or (item.id if _INSTANCE.fullmatch(item.id) else None)
        if instance is None:
            return LeftOut(Reason.NO_INSTANCE, "the item has no instance_id, and its id is none of SWE-bench's")
        model, patch = text(*_MODELS), text(*_PATCHES)
        if not model:
            return LeftOut(Reason.NO_MODEL, f"the item has none of {', '.join(_MODELS)}")
        if patch is None:
            return LeftOut(Reason.NO_PATCH, f"the item has none of {', '.join(_PATCHES)}")
        return self._spool.add(
            {"instance_id": instance, "model_name_or_path": model, "model_patch": patch, "id": item.id}
        )

    def rows(self) -> Iterator[Row]:
        """One row for each item: resolved by the majority; where there is none, null."""
        for place, votes in self._rows.items():
            yes, no = votes[True], votes[False]
            yield {
                **self._spool.get(place),
                "human_resolved": None if yes == no else yes > no,
                "votes_resolved": yes,
                "votes_unresolved": no,
                "scheme": self.scheme if self._judge is not None else None,
            }

    def fates(self) -> Iterator[tuple[Head, int | LeftOut]]:
        """Each record: its item's row is counted at the item's first."""
        seen: set[int] = set()
        for head, place in self._heads:
            yield head, int(place not in seen)
            seen.add(place)

    def close(self) -> None:
        """Lets go of the patches."""
        self._spool.close()

    def documented(self, row: Row) -> dict[str, Any]:
        """`{"instance_id", "model_name_or_path", "model_patch", "resolved"}`."""
        return {**self.line(row), "resolved": row["human_resolved"]}

    def line(self, row: Row) -> dict[str, Any]:
        """A prediction, as the harness takes it: no verdict."""
        return {name: row[name] for name in ("instance_id", "model_name_or_path", "model_patch")}

    def schema(self) -> "pyarrow.Schema":
        """The columns and their types."""
        import pyarrow

        text, whole = pyarrow.string(), pyarrow.int64()
        types = dict.fromkeys(("instance_id", "model_name_or_path", "model_patch"), text)
        votes = {"human_resolved": pyarrow.bool_(), "votes_resolved": whole, "votes_unresolved": whole}
        return pyarrow.schema(list((types | votes | {"id": text, "scheme": text}).items()))

    def check(self, batch: "pyarrow.RecordBatch | pyarrow.Table") -> str:
        """What the harness would refuse in written rows; empty where all is well."""
        for name in ("instance_id", "model_name_or_path", "model_patch"):
            if batch.column(name).null_count:
                return f"a {name} is null"
        return ""

    def explain(self) -> list[str]:
        """What the columns mean."""
        rule = "Nobody was asked whether the tasks are resolved: `human_resolved` is null."
        if self._judge is not None:
            rule = f"A task counts as resolved where {self._judge.explain()}, by the majority; a tie is null."
        return [
            f"One row is one run. {rule} No test was run for it.",
            "",
            "| column | what it holds |",
            "|---|---|",
            "| `instance_id`, `model_name_or_path`, `model_patch` | the prediction |",
            "| `human_resolved` | what the annotators say; null: unknown |",
            "| `votes_resolved`, `votes_unresolved` | how many say so |",
            "| `id` | the item |",
            "| `scheme` | what was asked |",
        ]
