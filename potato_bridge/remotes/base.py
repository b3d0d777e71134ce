"""What the sync engine knows about a server: neutral values, and nothing of how they are asked for."""

from dataclasses import dataclass
from typing import TypeAlias

from potato_bridge.errors import OutcomeUnknownError

#: A server's own id of something: a number on Label Studio, a UUID on Argilla.
Ref: TypeAlias = int | str


class UnansweredError(OutcomeUnknownError):
    """`OutcomeUnknownError`, and whether it makes sense to wait for the outcome.

    Args:
        message: One sentence for the user.
        hint: What to do about it.
        settled: The server itself has answered: what it was going to do, it has done. Otherwise it may be at work
            still (a proxy gave up, the connection broke), and may finish minutes later.
    """

    def __init__(self, message: str, *, hint: str = "", settled: bool = False) -> None:
        super().__init__(message, hint=hint)
        self.settled = settled


@dataclass(frozen=True, slots=True)
class RemoteUser:
    """An account on the server."""

    user_id: int
    email: str


@dataclass(frozen=True, slots=True)
class RemoteProject:
    """A project on the server, as far as the bridge has to do with it.

    Attributes:
        tasks: How many tasks it has, whoever made them.
        submitted: How many answers, without the skipped ones.
        skipped: How many skips.
        model_version: Whose predictions annotators start from; empty: nobody's.
        shows_predictions: Whether they see predictions at all.
    """

    project_id: int
    title: str
    description: str = ""
    label_config: str = ""
    instruction: str = ""
    tasks: int = 0
    submitted: int = 0
    skipped: int = 0
    model_version: str = ""
    shows_predictions: bool = True


@dataclass(frozen=True, slots=True)
class RemoteTask:
    """A task on the server, without its data.

    Attributes:
        marker: The id of our item that the task shows; None: the task is not ours.
        hash: Of the data that was last sent; None where the task does not say.
        steps_hash: Of the steps alone, likewise.
        updated_at: RFC 3339; the server's clock. Changes with the task and with its answers.
        answers: How many answers it has, skips among them.
        item: The id of our item, where the marker is that of a part of it; None: the marker is the item's id.
        prelabels_hash: Of the predictions that were last sent; None where there are none, or no more.
    """

    task_id: Ref
    marker: str | None
    hash: str | None
    steps_hash: str | None
    updated_at: str
    answers: int
    prelabels_hash: str | None = None
    item: str | None = None
