"""The guidelines of a data set, in Markdown."""

import re
from collections.abc import Iterable, Sequence
from typing import Final

from potato_bridge.converters.argilla.limits import GUIDELINES
from potato_bridge.converters.view.text import storable
from potato_bridge.model import Project
from potato_bridge.notices import Notices

#: What Markdown or HTML would take for its own in a text of the config.
_SPECIAL: Final = re.compile(r"([\\<>\[\]#|*_`&~])")


def plain(text: str) -> str:
    """A text of the config, as Markdown that shows it, on one line."""
    return _SPECIAL.sub(r"\\\1", " ".join(storable(text).split()))


def guidelines(project: Project, sections: Iterable[tuple[str, Sequence[str]]], notices: Notices) -> str:
    """Title and lines of each scheme, within Argilla's limit."""
    text = "\n\n".join(
        "\n".join([f"### {plain(title)}", *(f"- {line}" for line in lines)]) for title, lines in sections
    )
    if len(text) > GUIDELINES:
        notices.add("guidelines-cut", f"the guidelines are cut at {GUIDELINES:,} characters", str(project.config.name))
        text = f"{text[: GUIDELINES - 1]}…"
    return text
