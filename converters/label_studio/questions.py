"""The schemes that Label Studio can ask for: a new one is a module and a row."""

from collections.abc import Callable
from typing import Any, Final

from potato_bridge.converters.label_studio import code_review, first_error, general, per_step, trajectory_edit
from potato_bridge.converters.label_studio.fields import control_name
from potato_bridge.converters.label_studio.question import Question
from potato_bridge.errors import InputError, Problem
from potato_bridge.model import CodeReviewScheme, General, OtherScheme, ProcessReward, Project
from potato_bridge.model.project import Scheme
from potato_bridge.model.trajectory_scheme import TrajectoryEdit

_MODES: Final[dict[str, Question[ProcessReward]]] = {"first_error": first_error.QUESTION, "per_step": per_step.QUESTION}

#: Class of a scheme → its question; None: there is none yet for this one.
_ROWS: Final[dict[type, Callable[[Any], Question[Any] | None]]] = {
    ProcessReward: lambda scheme: _MODES.get(scheme.mode),
    CodeReviewScheme: lambda _: code_review.QUESTION,
    TrajectoryEdit: lambda _: trajectory_edit.QUESTION,
    General: general.question_of,
}


def question_of(scheme: Scheme) -> Question[Any] | None:
    """The question that a scheme is; None: Label Studio cannot be asked for it yet."""
    row = _ROWS.get(type(scheme))
    return row(scheme) if row else None


def asked(project: Project) -> list[tuple[Scheme, Question[Any]]]:
    """The schemes that the page asks for, in the order of the config. Of step rewards there is one, the first.

    Raises:
        InputError: There is none; or two would have one control.
    """
    found: list[tuple[Scheme, Question[Any]]] = []
    for scheme in project.schemes:
        question = question_of(scheme)
        repeated = isinstance(scheme, ProcessReward) and scheme is not project.process_reward()
        if question is not None and not repeated:
            found.append((scheme, question))
    if not found:
        types = sorted({scheme.type for scheme in project.schemes if isinstance(scheme, OtherScheme)})
        have = f"it has: {', '.join(types)}" if types else "it has none at all"
        raise InputError(
            f"{project.config}: no annotation scheme that Label Studio can ask for ({have})",
            hint="Add one of a type that `docs/schemes.md` lists, e.g. process_reward.",
        )
    _check_names(project, [scheme for scheme, _ in found])
    return found


def hidden_data(project: Project) -> list[str]:
    """Keys of the data that the list of tasks does not show, beside those that every task has."""
    return [key for scheme, question in asked(project) for key in question.hides(scheme)]


def _check_names(project: Project, schemes: list[Scheme]) -> None:
    names: dict[str, Scheme] = {}
    problems = []
    for scheme in schemes:
        other = names.setdefault(control_name(scheme), scheme)
        if other is not scheme:
            message = (
                f"the schemes {other.name!r} and {scheme.name!r} would both be {control_name(scheme)!r} in Label Studio"
            )
            problems.append(Problem(message, str(project.config), scheme.line, hint="Rename one of them."))
    if problems:
        raise InputError(f"{project.config} cannot be shown on Label Studio", problems=problems)
