"""The books of an export: what went in, what came out, and one ledger line for each record that did not."""

from collections import Counter
from collections.abc import Sequence
from typing import Any, BinaryIO

from potato_bridge.errors import BridgeError
from potato_bridge.export.options import SHOWN_LEFT_OUT, ExportReport
from potato_bridge.export.rows import Head, LeftOut
from potato_bridge.model import encode


class Tally:
    """Counts outcomes and writes the ledger.

    Args:
        ledgers: Open files; each gets every line.
    """

    def __init__(self, ledgers: Sequence[BinaryIO]) -> None:
        self._ledgers = ledgers
        self.records_in = 0
        self.rows = 0
        self.records_out = 0
        self.demo_rows = 0
        self.annotators: set[str] = set()
        self.reasons: Counter[str] = Counter()
        self.left_out: list[dict[str, Any]] = []

    def row(self, head: Head, rows: int = 1) -> None:
        """Counts a record that gave a row, or several."""
        self.records_in += 1
        self.records_out += 1
        self.rows += rows
        self.annotators.add(head.annotator)
        self.demo_rows += rows if head.demo else 0

    def leave_out(self, head: Head, left_out: LeftOut) -> None:
        """Counts a record that gave none, and writes its line."""
        self.records_in += 1
        self.reasons[str(left_out.reason)] += 1
        line = {
            "id": head.id,
            "annotator": head.annotator,
            "annotation": head.annotation,
            "reason": str(left_out.reason),
            "message": left_out.message,
        }
        for ledger in self._ledgers:
            ledger.write(encode(line) + b"\n")
        if len(self.left_out) < SHOWN_LEFT_OUT:
            self.left_out.append(line)

    def settle(self, records_in: int, rows: int, report: ExportReport) -> None:
        """Puts the counts into the report, once they add up.

        Args:
            records_in: How many records the file has.
            rows: How many rows were written.
            report: Gets the counts.

        Raises:
            BridgeError: They do not: a defect of ours. Nothing may be published on such an export.
        """
        left_out = sum(self.reasons.values())
        if not (records_in == self.records_in == self.records_out + left_out and rows == self.rows):
            raise BridgeError(
                f"the counts do not add up: {records_in} records, {self.records_in} seen, {rows} rows written of "
                f"{self.rows}, {left_out} left out",
                hint="This is a defect of potato-bridge; nothing was written. Please report it.",
            )
        report.records_in, report.rows, report.demo_rows = records_in, rows, self.demo_rows
        report.records_out = self.records_out
        report.annotators = len(self.annotators)
        report.reasons = dict(sorted(self.reasons.items()))
        report.left_out = self.left_out
