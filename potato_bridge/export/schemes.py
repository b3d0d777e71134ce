"""Which scheme of a project an export is about."""

from typing import TypeVar

from potato_bridge.errors import InputError, UsageError
from potato_bridge.model import Project
from potato_bridge.model.project import Scheme
from potato_bridge.notices import Notices

S = TypeVar("S", bound=Scheme)


def choose_scheme(project: Project, kind: type[S], asked: str | None, target: str, notices: Notices) -> S:
    """The scheme of a type that is asked for; where none is, the first of that type.

    Args:
        project: The project.
        kind: The class of the scheme.
        asked: Its name; None: nobody asks for one.
        target: The export, for messages.
        notices: Gets `several-schemes` where there are others that nobody asked for.

    Raises:
        InputError: The project has none of the type.
        UsageError: None of them has the name.
    """
    schemes = [scheme for scheme in project.schemes if isinstance(scheme, kind)]
    names = ", ".join(scheme.name for scheme in schemes)
    if not schemes:
        raise InputError(f"{project.config} has no scheme of type {kind.type}: there is nothing for {target} to export")
    if asked is None:
        if len(schemes) > 1:
            notices.add("several-schemes", f"{names}: only {schemes[0].name} is exported", str(project.config))
        return schemes[0]
    for scheme in schemes:
        if scheme.name == asked:
            return scheme
    raise UsageError(f"no {kind.type} scheme is named {asked!r}", hint=f"There is: {names}.")
