"""Pairs of two texts that an annotator compared."""

from typing import TYPE_CHECKING, Any

from potato_bridge.converters.tool_calls import as_text
from potato_bridge.errors import InputError
from potato_bridge.export.chat import said
from potato_bridge.export.options import ExportOptions
from potato_bridge.export.rows import Case, LeftOut, Reason, Row, answer, place_of
from potato_bridge.model import Item, Project, Record
from potato_bridge.model.general import General
from potato_bridge.notices import Notices

if TYPE_CHECKING:
    import pyarrow


class ChoicePairs:
    """Pairs of `pairwise` answers.

    Raises:
        InputError: The scheme asks which one is better in several respects, and not which one is.
    """

    def __init__(self, project: Project, scheme: General, options: ExportOptions, notices: Notices) -> None:
        if scheme.mode == "multi_dimension":
            respects = ", ".join(row.shown for row in scheme.rows)
            raise InputError(
                f"{scheme.name} compares in several respects ({respects}): none says which text is the better one",
                hint="Pairs come from the modes binary and scale; the answers stay in the records.",
            )
        self._project, self._scheme, self._notices = project, scheme, notices
        self.margin = "preference" if scheme.mode == "scale" else ""

    def case(self, item: Item) -> Case:
        """The item."""
        return Case(self._project, item, self._notices, None, observations=False)

    def row(self, case: Case | None, record: Record) -> Row | LeftOut:
        """The pair of one record, or why there is none."""
        value = answer(record, self._scheme.name)
        if isinstance(value, LeftOut):
            return value
        preferred = self._preferred(value)
        if isinstance(preferred, LeftOut):
            return preferred
        if case is None:
            return LeftOut(Reason.UNKNOWN_ITEM, "no item of this id in the project's data files")
        if case.prompt is None:
            return LeftOut(Reason.NO_PROMPT, "the item has no text at its text_key")
        texts = case.item.data.get(self._scheme.field)
        if not isinstance(texts, list) or len(texts) < 2:
            return LeftOut(Reason.NO_PAIR, f"the item has no list of two texts at {self._scheme.field!r}")
        first, second = (as_text(text) for text in texts[:2])
        if first == second:
            return LeftOut(Reason.SAME_TEXT, "both texts are the same")
        if not first or not second:
            return LeftOut(Reason.NO_COMPLETION, "one of the texts is empty")
        # Below 0 the first one is the better one.
        chosen, rejected = (first, second) if preferred < 0 else (second, first)
        return {
            "prompt": said("user", case.prompt),
            "chosen": said("assistant", chosen),
            "rejected": said("assistant", rejected),
            "preference": abs(preferred),
            "scheme": self._scheme.name,
            "id": record.id,
            "annotator": record.annotator,
            **place_of(record),
        }

    def _preferred(self, value: Any) -> float | LeftOut:
        """Below 0 for the first text, above 0 for the second, and by how much."""
        value = value if isinstance(value, dict) else {}
        if self._scheme.mode == "scale":
            scale = value.get("scale_value")
            if isinstance(scale, bool) or not isinstance(scale, int | float):
                return LeftOut(Reason.INVALID_VALUE, f"scale_value {scale!r} is no number")
            low, high = self._scheme.minimum or 0, self._scheme.maximum or 0
            preferred = scale - (low + high) / 2
        else:
            selection = value.get("selection")
            if selection not in ("A", "B", "tie"):
                return LeftOut(Reason.INVALID_VALUE, f"selection {selection!r} is none of A, B and tie")
            preferred = {"A": -1.0, "B": 1.0, "tie": 0.0}[selection]
        return preferred or LeftOut(Reason.TIE, "neither text is the better one")

    def columns(self) -> "dict[str, pyarrow.DataType]":
        """The columns beside prompt, chosen and rejected."""
        import pyarrow

        text = pyarrow.string()
        scale = {"preference": pyarrow.float64()} if self.margin else {}
        return scale | dict.fromkeys(("id", "annotator", "backend", "project", "task", "annotation"), text)

    def documented(self, row: Row) -> dict[str, Any]:
        """`{"prompt", "chosen", "rejected"}`, the first one a text."""
        return {"prompt": row["prompt"][0]["content"], "chosen": row["chosen"], "rejected": row["rejected"]}

    def explain(self) -> list[str]:
        """What a pair is, and what its columns mean."""
        scale = ["| `preference` | how far from the middle of the scale the answer is |"] if self.margin else []
        return [
            "One row is one annotator's comparison of two texts. Ties are left out.",
            "",
            "| column | what it holds |",
            "|---|---|",
            "| `prompt` | the item's text, verbatim, as a user's message |",
            "| `chosen`, `rejected` | the two texts, as an assistant's messages |",
            *scale,
            "| `id`, `annotator`, `scheme` | the item, who answered, and to what |",
            "| `backend`, `project`, `task`, `annotation` | where the answer can be found again |",
        ]
