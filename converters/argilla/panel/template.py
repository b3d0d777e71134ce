"""The template of the panel's field: the stylesheet, the script, and what the config says, as one text."""

import re
from importlib.resources import files
from pathlib import Path
from typing import Any, Final

from potato_bridge.converters.argilla.fields import to_base64
from potato_bridge.errors import InputError, Problem

SCRIPT: Final = "panel.js"
STYLE: Final = "panel.css"
#: Stands in the script for the config.
CONFIG: Final = "#CONFIG#"
#: What Argilla's page would take for its own when it puts the template into a script and a document.
_FORBIDDEN: Final = (
    (re.compile(r"\$[&`'$<0-9]"), "a dollar sign before that character inserts other text"),
    (re.compile(r"</(?:script|style)", re.IGNORECASE), "it would end the script or the style too early"),
    (re.compile("<!--"), "in a script it can hide where the script ends"),
    (re.compile("#(?:RECORD_OBJECT|TEMPLATE)#"), "Argilla puts other text in its place"),
    (
        re.compile(r"\b(?:innerHTML|outerHTML|insertAdjacentHTML|document\.write)\b"),
        "text of a trace could run as a script",
    ),
)


def template(config: dict[str, Any], folder: Path | None = None) -> str:
    """The template.

    Args:
        config: What the config says, JSON.
        folder: A folder with a changed script or stylesheet; what it lacks is the package's.

    Raises:
        InputError: A changed file cannot be read, or would break the page.
    """
    script, style = _read(SCRIPT, folder), _read(STYLE, folder)
    if script.count(CONFIG) != 1:
        raise InputError(f"{_place(SCRIPT, folder)}: {CONFIG} must be there once", hint="It is what the config says.")
    script = script.replace(CONFIG, to_base64(config))
    return f'<style>{style}</style><main id="potato-bridge"></main><script>{script}</script>'


def _read(name: str, folder: Path | None) -> str:
    path = folder / name if folder is not None else None
    if path is None or not path.is_file():
        if folder is not None and not folder.is_dir():
            raise InputError(f"{folder}: no such folder", hint=f"Name a folder with a changed {SCRIPT} or {STYLE}.")
        return files("potato_bridge").joinpath("label_configs", "argilla", name).read_text(encoding="utf-8")
    try:
        text = path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise InputError(f"cannot read {path}: {error}") from error
    problems = []
    for number, line in enumerate(text.split("\n"), 1):
        for pattern, why in _FORBIDDEN:
            if found := pattern.search(line):
                problems.append(Problem(f"{found[0]!r} cannot stand in it: {why}", str(path), number))
    if problems:
        raise InputError(f"{path} cannot be used", problems=problems)
    return text


def _place(name: str, folder: Path | None) -> str:
    return str(folder / name) if folder is not None else name
