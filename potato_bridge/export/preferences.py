"""Targets `dpo` and `reward`: one answer that is preferred to another, by whichever scheme the config has.

Rewards of steps give pairs of whole traces of the same task; corrections give pairs of one step each; comparisons give
their two texts. The columns `prompt`, `chosen` and `rejected` are messages: a prompt that is a text beside answers that
are messages is what TRL refuses on one day and takes on another.
"""

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, ClassVar, Protocol

from potato_bridge.errors import InputError, UsageError
from potato_bridge.export.chat import check_pairs, messages_type
from potato_bridge.export.options import ExportOptions
from potato_bridge.export.preferences_choice import ChoicePairs
from potato_bridge.export.preferences_edit import EditPairs
from potato_bridge.export.preferences_gap import GapPairs
from potato_bridge.export.rows import Case, Fate, Head, Late, LeftOut, Row
from potato_bridge.model import Item, ProcessReward, Project, Record
from potato_bridge.model.general import General
from potato_bridge.model.project import Scheme
from potato_bridge.model.trajectory_scheme import TrajectoryEdit
from potato_bridge.notices import Notices

if TYPE_CHECKING:
    import pyarrow


class Source(Protocol):
    """Where pairs come from: one kind of scheme. Made for one export.

    Attributes:
        margin: Column of the row that says by how much the chosen one is better, never null; empty: nothing says so.
    """

    margin: str

    def case(self, item: Item) -> Case:
        """The item, with its texts."""

    def row(self, case: Case | None, record: Record) -> Fate:
        """What becomes of one record."""

    def columns(self) -> "dict[str, pyarrow.DataType]":
        """The columns beside prompt, chosen and rejected."""

    def documented(self, row: Row) -> dict[str, Any]:
        """The row in the form that Potato's documentation shows."""

    def explain(self) -> list[str]:
        """Lines of Markdown: what a pair is, and what its columns mean."""


def _source(project: Project, options: ExportOptions, target: str, notices: Notices) -> tuple[str, Source]:
    """The scheme that pairs come from, and how: the one asked for, else the first that can give any."""
    able = [scheme for scheme in project.schemes if _is_able(scheme)]
    names = ", ".join(scheme.name for scheme in able)
    if not able:
        raise InputError(
            f"{project.config} has no scheme that prefers one answer to another",
            hint=f"{target} takes process_reward, trajectory_edit and pairwise.",
        )
    chosen = able[0]
    if options.scheme is not None:
        found = [scheme for scheme in able if scheme.name == options.scheme]
        if not found:
            raise UsageError(f"{target} cannot be made of {options.scheme!r}", hint=f"There is: {names}.")
        chosen = found[0]
    elif len(able) > 1:
        notices.add("several-schemes", f"{names}: only {chosen.name} is exported", str(project.config))
    if isinstance(chosen, ProcessReward):
        return chosen.name, GapPairs(project, chosen, options, notices)
    if isinstance(chosen, TrajectoryEdit):
        return chosen.name, EditPairs(project, chosen, options, notices)
    assert isinstance(chosen, General)
    return chosen.name, ChoicePairs(project, chosen, options, notices)


def _is_able(scheme: Scheme) -> bool:
    return isinstance(scheme, ProcessReward | TrajectoryEdit) or (
        isinstance(scheme, General) and scheme.type == "pairwise"
    )


class Dpo:
    """Pairs for preference trainers: `prompt`, `chosen`, `rejected`.

    Raises:
        InputError: The project has no scheme that gives pairs.
        UsageError: The scheme asked for gives none.
    """

    name: ClassVar[str] = "dpo"
    documented_file: ClassVar[str] = "dpo_pairs.jsonl"
    tags: ClassVar[tuple[str, ...]] = ("dpo", "preference", "rlhf")
    task_categories: ClassVar[tuple[str, ...]] = ("text-generation",)
    #: Whether the column that says by how much is called `margin`, as a reward trainer reads it.
    _with_margin: ClassVar[bool] = False

    def __init__(self, project: Project, options: ExportOptions, notices: Notices) -> None:
        self.scheme, self._source = _source(project, options, self.name, notices)

    def case(self, item: Item) -> Case:
        """The item, with its texts."""
        return self._source.case(item)

    def row(self, case: Case | None, record: Record) -> Fate:
        """The pairs of one record, or why there are none; pairs of several records are made at the end."""
        fate = self._source.row(case, record)
        if isinstance(fate, list):
            return [self._named(row) for row in fate]
        return self._named(fate) if isinstance(fate, dict) else fate

    def rows(self) -> Iterator[Row]:
        """The pairs of several records."""
        if isinstance(self._source, Late):
            yield from map(self._named, self._source.rows())

    def fates(self) -> Iterator[tuple[Head, int | LeftOut]]:
        """The records that were held."""
        if isinstance(self._source, Late):
            yield from self._source.fates()

    def close(self) -> None:
        """Lets go of what was kept for pairs of several records."""
        if isinstance(self._source, Late):
            self._source.close()

    def _named(self, row: Row) -> Row:
        margin = self._source.margin
        return {**row, "margin": row[margin]} if self._with_margin and margin else row

    def documented(self, row: Row) -> dict[str, Any]:
        """`{"prompt", "chosen", "rejected"}`, as Potato's documentation has it: one message for each step."""
        return self._source.documented(row)

    def schema(self) -> "pyarrow.Schema":
        """The columns and their types."""
        import pyarrow

        messages = messages_type()
        types = {"prompt": messages, "chosen": messages, "rejected": messages}
        if self._with_margin and self._source.margin:
            types["margin"] = pyarrow.float64()
        return pyarrow.schema(list((types | {"scheme": pyarrow.string()} | self._source.columns()).items()))

    def check(self, batch: "pyarrow.RecordBatch | pyarrow.Table") -> str:
        """What a preference trainer would refuse in written rows; empty where all is well."""
        if "margin" in batch.schema.names and batch.column("margin").null_count:
            return "a margin is null"
        return check_pairs(batch)

    def explain(self) -> list[str]:
        """What the columns mean."""
        return self._source.explain()


class Reward(Dpo):
    """The same pairs for trainers of reward models; `margin` says by how much, where the scheme tells."""

    name: ClassVar[str] = "reward"
    documented_file: ClassVar[str] = "reward_pairs.jsonl"
    tags: ClassVar[tuple[str, ...]] = ("reward-model", "preference", "rlhf")
    _with_margin: ClassVar[bool] = True

    def explain(self) -> list[str]:
        """What the columns mean."""
        if not self._source.margin:
            return self._source.explain()
        return [*self._source.explain(), "", f"`margin` is `{self._source.margin}`, for trainers of reward models."]
