"""The schemes that can be asked for without a script."""

from typing import Any

from potato_bridge.converters.argilla.native import code_review, first_error, general, per_step, trajectory_edit
from potato_bridge.converters.argilla.native.question import NativeQuestion
from potato_bridge.errors import InputError
from potato_bridge.model import CodeReviewScheme, General, ProcessReward, Project
from potato_bridge.model.project import Scheme
from potato_bridge.model.trajectory_scheme import TrajectoryEdit


def question_of(scheme: Scheme) -> NativeQuestion[Any] | None:
    """The question that a scheme is; None: there is none in this layout."""
    match scheme:
        case ProcessReward(mode="first_error"):
            return first_error.QUESTION
        case ProcessReward():
            return per_step.QUESTION
        case CodeReviewScheme():
            return code_review.QUESTION
        case TrajectoryEdit():
            return trajectory_edit.QUESTION
        case General():
            return general.question_of(scheme)
    return None


def asked_schemes(project: Project) -> list[tuple[Scheme, NativeQuestion[Any]]]:
    """The schemes that are asked for: one that makes several records of an item alone; else all that make one.

    Raises:
        InputError: There is none.
    """
    found: list[tuple[Scheme, NativeQuestion[Any]]] = []
    for scheme in project.schemes:
        repeated = isinstance(scheme, ProcessReward) and scheme is not project.process_reward()
        if not repeated and (question := question_of(scheme)) is not None:
            found.append((scheme, question))
    if not found:
        raise InputError(
            f"{project.config}: no annotation scheme that Argilla can ask for without the panel",
            hint="Leave out --layout native.",
        )
    splitting = [pair for pair in found if pair[1].pieces is not None]
    return splitting[:1] or found
