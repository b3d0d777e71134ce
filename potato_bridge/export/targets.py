"""The targets: what `export -f` takes."""

from collections.abc import Callable
from difflib import get_close_matches
from typing import TypeAlias

from potato_bridge.errors import UsageError
from potato_bridge.export.code_review import CodeReviews
from potato_bridge.export.code_review_comments import CodeReviewComments
from potato_bridge.export.documents import DocumentTarget
from potato_bridge.export.github import Github
from potato_bridge.export.kto import Kto
from potato_bridge.export.options import ExportOptions
from potato_bridge.export.preferences import Dpo, Reward
from potato_bridge.export.prm import Prm
from potato_bridge.export.rows import Target
from potato_bridge.export.sarif import Sarif
from potato_bridge.export.sft import Sft
from potato_bridge.export.swebench import Swebench
from potato_bridge.export.trajectory_correction import TrajectoryCorrection
from potato_bridge.model import Project
from potato_bridge.notices import Notices

Make: TypeAlias = Callable[[Project, ExportOptions, Notices], Target]

#: Name to what makes the target for one export.
TARGETS: dict[str, Make] = {
    "prm": Prm,
    "dpo": Dpo,
    "reward": Reward,
    "kto": Kto,
    "sft": Sft,
    "code_review": CodeReviews,
    "code_review_comments": CodeReviewComments,
    "trajectory_correction": TrajectoryCorrection,
    "swebench": Swebench,
}

#: Those that write no data set but documents that other tools take.
DOCUMENTS: dict[str, Callable[[Project, ExportOptions, Notices], DocumentTarget]] = {
    "github": Github,
    "sarif": Sarif,
}

#: Names that Potato's documentation or its trainers know, and that have no module here yet.
NOT_YET = (
    "coding_eval",
    "csv",
    "jsonl",
    "parquet",
)


def find_target(name: str) -> Make:
    """What makes the target of this name.

    Raises:
        UsageError: There is none; the message says whether the name is known, or which one was meant.
    """
    if name in TARGETS:
        return TARGETS[name]
    supported = f"Supported: {', '.join([*TARGETS, *DOCUMENTS])}."
    if name in NOT_YET:
        raise UsageError(f"export format {name} is not supported yet", hint=supported)
    close = get_close_matches(name, [*TARGETS, *DOCUMENTS, *NOT_YET], n=1)
    meant = f" Did you mean {close[0]}?" if close else ""
    raise UsageError(f"unknown export format {name!r}", hint=f"{supported}{meant}")
