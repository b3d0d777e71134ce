"""The three files of Potato's `trajectory_correction`: the audit trail, and what trains of it.

The audit trail has every answer whose edits could be carried out, those without edits included; the other two have what
was corrected only. Rows carry their annotator, which Potato's do not.
"""

import re
from collections.abc import Callable
from contextlib import ExitStack
from pathlib import Path
from types import TracebackType
from typing import Any, BinaryIO, ClassVar, Self

from potato_bridge.export.rows import LeftOut, Row
from potato_bridge.files import replacing
from potato_bridge.model import encode


class TrajectoryFiles:
    """Writes documents into their files, which appear when the block ends well; use it as a context manager.

    Args:
        path: The audit trail; the other files stand beside it. With `alone`, the only file: its name says which one
            (`sft` or `dpo` as a word in it); else `.json` is the audit trail, `.jsonl` its records line by line.
        document: The audit trail's record of a row.
    """

    CORRECTIONS: ClassVar[str] = "trajectory_corrections.json"
    SFT: ClassVar[str] = "trajectory_sft.jsonl"
    DPO: ClassVar[str] = "trajectory_dpo.jsonl"

    def __init__(self, path: Path, alone: bool, document: Callable[[Row], dict[str, Any]]) -> None:
        self._document = document
        self._paths = (
            {_kind(path): path}
            if alone
            else {
                "corrections": path,
                "sft": path.with_name(self.SFT),
                "dpo": path.with_name(self.DPO),
            }
        )
        self._stack = ExitStack()
        self._open: dict[str, BinaryIO] = {}
        self._edited = self._unedited = 0

    @property
    def paths(self) -> list[Path]:
        """The files."""
        return list(self._paths.values())

    @property
    def rows(self) -> int:
        """How many corrected traces were written."""
        return self._edited

    def __enter__(self) -> Self:
        """The writer itself, with its files open."""
        for kind, path in self._paths.items():
            path.parent.mkdir(parents=True, exist_ok=True)
            self._open[kind] = self._stack.enter_context(replacing(path))
        if "corrections" in self._open:
            self._open["corrections"].write(b'{"records":[')
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        """Ends the files and puts them in their places; after an error there are none."""
        if kind is None and "corrections" in self._open:
            counts = {
                "n_total": self._edited + self._unedited,
                "n_edited": self._edited,
                "n_unedited": self._unedited,
            }
            self._open["corrections"].write(b"\n]," + encode(counts)[1:] + b"\n")
        self._stack.__exit__(kind, error, traceback)

    def add(self, row: Row) -> None:
        """Writes a corrected trace into each file."""
        document = self._document(row)
        self._audit(document)
        self._edited += 1
        head = {"prompt": document["task"]}
        tail = {"trace_id": document["trace_id"], "annotator": document["annotator"]}
        corrected, original = document["corrected_trace"], document["original_trace"]
        self._line("sft", {**head, "completion": corrected, **tail})
        self._line("dpo", {**head, "chosen": corrected, "rejected": original, **tail})

    def leave_out(self, left_out: LeftOut) -> None:
        """Writes what belongs into the audit trail although it trains nothing."""
        if left_out.document is not None:
            self._audit(left_out.document)
            self._unedited += 1

    def _audit(self, document: dict[str, Any]) -> None:
        if "corrections" in self._open:
            first = not self._edited + self._unedited
            self._open["corrections"].write((b"\n" if first else b",\n") + encode(document))
        self._line("lines", document)

    def _line(self, kind: str, document: dict[str, Any]) -> None:
        if kind in self._open:
            self._open[kind].write(encode(document) + b"\n")


def _kind(path: Path) -> str:
    words = re.split(r"[^a-z0-9]+", path.stem.lower())
    for word in ("sft", "dpo"):
        if word in words:
            return word
    return "corrections" if path.suffix.lower() == ".json" else "lines"
