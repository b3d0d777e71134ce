"""The schemes that the panel can ask for: a new one is a module and a row."""

from collections.abc import Callable
from typing import Any, Final

from potato_bridge.converters.argilla.fields import ANSWER, question_name
from potato_bridge.converters.argilla.panel import code_review, first_error, general, per_step, trajectory_edit
from potato_bridge.converters.argilla.panel.question import PanelQuestion
from potato_bridge.errors import InputError, Problem
from potato_bridge.model import CodeReviewScheme, General, OtherScheme, ProcessReward, Project
from potato_bridge.model.project import Scheme
from potato_bridge.model.trajectory_scheme import TrajectoryEdit

_MODES: Final[dict[str, PanelQuestion[ProcessReward]]] = {
    "first_error": first_error.QUESTION,
    "per_step": per_step.QUESTION,
}
#: Class of a scheme → its question; None: there is none yet for this one.
_ROWS: Final[dict[type, Callable[[Any], PanelQuestion[Any] | None]]] = {
    ProcessReward: lambda scheme: _MODES.get(scheme.mode),
    CodeReviewScheme: lambda _: code_review.QUESTION,
    TrajectoryEdit: lambda _: trajectory_edit.QUESTION,
    General: general.question_of,
}


def question_of(scheme: Scheme) -> PanelQuestion[Any] | None:
    """The question that a scheme is; None: the panel cannot ask for it yet."""
    row = _ROWS.get(type(scheme))
    return row(scheme) if row else None


def asked_schemes(project: Project) -> list[tuple[Scheme, PanelQuestion[Any]]]:
    """The schemes that are asked for, in the order of the config. Of step rewards there is one, the first.

    Raises:
        InputError: There is none; or two would have one question.
    """
    found: list[tuple[Scheme, PanelQuestion[Any]]] = []
    for scheme in project.schemes:
        repeated = isinstance(scheme, ProcessReward) and scheme is not project.process_reward()
        question = None if repeated else question_of(scheme)
        if question is not None:
            found.append((scheme, question))
    if not found:
        types = sorted({scheme.type for scheme in project.schemes if isinstance(scheme, OtherScheme)})
        have = f"it has: {', '.join(types)}" if types else "it has none that has an interface there"
        raise InputError(
            f"{project.config}: no annotation scheme that Argilla can ask for ({have})",
            hint="Add one of a type that `docs/backends.md` lists, e.g. process_reward.",
        )
    _check_names(project, found)
    return found


def native_name(scheme: Scheme, suffix: str) -> str:
    """The name of a native question of a scheme."""
    return f"{question_name(scheme)}_{suffix}" if suffix else question_name(scheme)


def _check_names(project: Project, found: list[tuple[Scheme, PanelQuestion[Any]]]) -> None:
    problems, owners = [], {ANSWER: ""}
    for scheme, question in found:
        for suffix in question.natives(scheme):
            name = native_name(scheme, suffix)
            if name in owners:
                message = f"the schemes {owners[name]!r} and {scheme.name!r} would both have {name!r} in Argilla"
                problems.append(Problem(message, str(project.config), scheme.line, hint="Rename one of them."))
            owners[name] = scheme.name
    if problems:
        raise InputError(f"{project.config} cannot be shown on Argilla", problems=problems)
