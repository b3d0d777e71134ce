"""The schemes that Label Studio can ask for: a new one is a module and a row."""

from collections.abc import Callable
from itertools import permutations
from typing import Any, Final

from potato_bridge.converters.label_studio import (
    code_review,
    first_error,
    general,
    per_step,
    trajectory_edit,
    trajectory_eval,
)
from potato_bridge.converters.label_studio.fields import INDEX, control_name, data_key
from potato_bridge.converters.label_studio.question import Question
from potato_bridge.errors import InputError, Problem
from potato_bridge.model import CodeReviewScheme, General, OtherScheme, ProcessReward, Project
from potato_bridge.model.project import Scheme
from potato_bridge.model.trajectory_eval import TrajectoryEval
from potato_bridge.model.trajectory_scheme import TrajectoryEdit

_MODES: Final[dict[str, Question[ProcessReward]]] = {"first_error": first_error.QUESTION, "per_step": per_step.QUESTION}

#: Class of a scheme → its question; None: there is none yet for this one.
_ROWS: Final[dict[type, Callable[[Any], Question[Any] | None]]] = {
    ProcessReward: lambda scheme: _MODES.get(scheme.mode),
    CodeReviewScheme: lambda _: code_review.QUESTION,
    TrajectoryEdit: lambda _: trajectory_edit.QUESTION,
    TrajectoryEval: lambda _: trajectory_eval.QUESTION,
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
    _check_names(project, found)
    return found


def hidden_data(project: Project) -> list[str]:
    """Keys of the data that the list of tasks does not show, beside those that every task has."""
    return [key for scheme, question in asked(project) for key in question.hides(scheme)]


def _check_names(project: Project, found: list[tuple[Scheme, Question[Any]]]) -> None:
    problems: dict[frozenset[str], Problem] = {}
    # All names of a scheme begin with that of its control: nearly always that is all that there is to compare.
    begins = [data_key(scheme, "") for scheme, _ in found]
    for one, two in permutations(range(len(found)), 2):
        if not begins[two].startswith(begins[one]):
            continue
        (scheme, question), (other, others) = found[one], found[two]
        mine = {control_name(scheme), *_names(scheme, question)}
        both = [name for name in _names(other, others) if name in mine or question.owns(scheme, name)]
        if both:
            message = f"the schemes {scheme.name!r} and {other.name!r} would both have {both[0]!r} in Label Studio"
            problem = Problem(message, str(project.config), other.line, hint="Rename one of them.")
            problems.setdefault(frozenset((scheme.name, other.name)), problem)
    if problems:
        raise InputError(f"{project.config} cannot be shown on Label Studio", problems=list(problems.values()))


def _names(scheme: Scheme, question: Question[Any]) -> list[str]:
    """Its controls, of those in a Repeater the second, and its keys of the data."""
    controls = [must.name.replace(INDEX, "1") for must in question.musts(scheme)]
    return [*controls, *question.subject(scheme), *question.hides(scheme)]
