"""What Argilla cannot do of what a config asks."""

from collections.abc import Iterable, Mapping

from potato_bridge.converters.view.page import is_text_field, steps_field
from potato_bridge.model import OtherScheme, Project
from potato_bridge.model.project import Scheme
from potato_bridge.notices import Notices


def tell(
    project: Project, asked: Iterable[tuple[Scheme, Mapping[str, tuple[bool, str]]]], notices: Notices, cure: str = ""
) -> None:
    """Says it, with the place in the config.

    Args:
        project: The project.
        asked: The schemes that are asked for, each with its notices: code → (whether it applies, what cannot be done).
        notices: Gets them.
        cure: What to do about a scheme that is not asked for.
    """
    names = set()
    for scheme, found in asked:
        names.add(scheme.name)
        for code, (is_wanted, message) in found.items():
            if is_wanted:
                notices.add(code, message, _place(project, scheme.line, scheme.name))
    for other in project.schemes:
        # Of a type that has no interface at all, the reader of the config has said so already.
        if other.name not in names and not isinstance(other, OtherScheme):
            message = f"the scheme {other.name!r} ({other.type}) is not asked for on Argilla in this layout{cure}"
            notices.add("scheme-not-asked", message, _place(project, other.line, other.name))
    shown = steps_field(project)
    for field in project.fields:
        if field is not shown and not is_text_field(field, project):
            message = f"the display field {field.key!r} ({field.type}) is not shown: only texts and one trace are"
            notices.add("field-not-shown", message, _place(project, field.line, field.key))


def _place(project: Project, line: int | None, what: str) -> str:
    return f"{project.config.name}{f':{line}' if line else ''} {what}"
