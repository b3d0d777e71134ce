"""What a caller of `export` can choose, and what it gets back. No heavy imports: the CLI reads its options here."""

from dataclasses import dataclass, field
from decimal import Decimal
from enum import StrEnum
from pathlib import Path
from typing import Any

#: Bytes of a Parquet shard before the next one begins; what `datasets` uses too.
SHARD_BYTES = 500_000_000

#: How many records that were left out a report shows; the ledger has all of them.
SHOWN_LEFT_OUT = 20


class Dialect(StrEnum):
    """How the files look.

    `native`: a folder of Parquet and a card for `load_dataset`. `potato`: the file that Potato's documentation shows.
    """

    NATIVE = "native"
    POTATO = "potato"


class Neutral(StrEnum):
    """What a neutral step (score 0) becomes: a wrong one, a right one, or no step of the row at all."""

    FALSE = "false"
    TRUE = "true"
    DROP = "drop"


class Unrated(StrEnum):
    """What an unrated step does to its row: `cut` ends the row before it, `drop-row` leaves the whole record out."""

    CUT = "cut"
    DROP_ROW = "drop-row"


class TraceScore(StrEnum):
    """What a whole trace's score is: the sum of its rated steps, or their mean, which does not favour long traces."""

    SUM = "sum"
    MEAN = "mean"


@dataclass(frozen=True, slots=True)
class Words:
    """A scheme, and those of its values that mean yes: `outcome=success,partial`."""

    scheme: str
    values: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class ExportOptions:
    """Choices of one export; the defaults are those of the documentation.

    Attributes:
        dialect: None: `potato` where the output is named `*.json` or `*.jsonl`, else `native`.
        scheme: Name of the scheme to export; None: the first one that the target can use.
        observations: Whether step texts have what was observed after the step.
        min_score_gap: How much better the chosen trace of a pair must be, that much included; equal scores never pair.
        trace_score: See `TraceScore`.
        group_by: Field of the item that says which task it is; None: `task_id`, else `instance_id`, else its text.
        max_pairs: Most pairs of one task, those with the largest gaps; None: all.
        approved: The scheme whose answers approve a trace, and which of its values do; None: the rule of its type.
        resolved: The scheme whose answers say whether a task is resolved, and which of its values say that it is.
        root: Folder of the repository in the paths of the agent's files, where these are absolute; `github` and `sarif`
            name files from there.
        ledger: A file that gets one JSON line for each record left out; a data set folder has its own besides.
        shard_bytes: Size at which a Parquet shard ends.
    """

    dialect: Dialect | None = None
    scheme: str | None = None
    neutral: Neutral = Neutral.FALSE
    unrated: Unrated = Unrated.CUT
    observations: bool = False
    min_score_gap: Decimal = Decimal(0)
    trace_score: TraceScore = TraceScore.SUM
    group_by: str | None = None
    max_pairs: int | None = None
    approved: Words | None = None
    resolved: Words | None = None
    root: str | None = None
    ledger: Path | None = None
    shard_bytes: int = SHARD_BYTES


@dataclass(slots=True)
class ExportReport:
    """What an export did. `records_in` is always `records_out` and all counts in `reasons` together.

    Attributes:
        records_out: How many records gave rows: one each, but for targets with a row per comment.
        out: The file or folder, as the caller named it.
        files: The files written, the ledgers among them.
        reasons: Reason code to number of records left out; sorted by code.
        left_out: The first few ledger lines, for a person to look at.
        annotators: How many different annotators the rows are of.
        demo_rows: How many rows come from demo answers, which no person gave.
    """

    target: str
    dialect: Dialect
    out: Path
    records_in: int = 0
    records_out: int = 0
    rows: int = 0
    reasons: dict[str, int] = field(default_factory=dict)
    annotators: int = 0
    demo_rows: int = 0
    files: list[Path] = field(default_factory=list)
    left_out: list[dict[str, Any]] = field(default_factory=list)

    def to_json(self) -> dict[str, Any]:
        """Plain JSON values, for `--json`."""
        return {
            "target": self.target,
            "dialect": str(self.dialect),
            "out": str(self.out),
            "records_in": self.records_in,
            "records_out": self.records_out,
            "rows": self.rows,
            "reasons": self.reasons,
            "annotators": self.annotators,
            "demo_rows": self.demo_rows,
            "files": [str(file) for file in self.files],
            "left_out": self.left_out,
        }
