"""Renders the templates of label_configs/label_studio: ours, and one that a team changed.

A team's template is somebody else's code: it runs in Jinja's sandbox, and it can include our files and no others. Every
line of the result knows which line of which template it came from, so that an error names a place that can be edited.
"""

import re
import traceback
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any, Final

from jinja2 import Environment, StrictUndefined, TemplateError, TemplateNotFound, TemplateSyntaxError
from jinja2.environment import TemplateModule
from jinja2.ext import Extension
from jinja2.lexer import Token, TokenStream
from jinja2.loaders import BaseLoader, ChoiceLoader, DictLoader, PackageLoader
from jinja2.sandbox import SandboxedEnvironment

from potato_bridge.converters.view.text import attribute, css_colour, css_string, trace_text
from potato_bridge.errors import BridgeError, InputError, Problem

#: The templates of the package: the page, and the parts of the questions.
PAGE: Final = "page.xml.j2"
FIRST_ERROR: Final = "first_error.xml.j2"
PER_STEP: Final = "per_step.xml.j2"
_CARDS: Final = "cards.html.j2"
_FOLDER: Final = "label_configs/label_studio"

# Noncharacters: no text can hold them (`attribute` and `trace_text` take them out).
_MARK: Final = re.compile("\ufdd0([^\ufdd0\ufdd1]*):([0-9]+)\ufdd1")


@dataclass(frozen=True, slots=True)
class Rendered:
    """A rendered template; `origins` has the template's name and line for each line of `text`."""

    text: str
    origins: list[tuple[str, int]]

    def origin(self, line: int) -> tuple[str, int]:
        """The template and line that a line of the text (from 1) came from."""
        return self.origins[min(max(line, 1), len(self.origins)) - 1]


def _mark(template: str | None, line: int) -> str:
    return f"\ufdd0{template or ''}:{line}\ufdd1"


class _Origins(Extension):
    """Puts marks with template and line around the line breaks of literal text; the last one of a line counts."""

    def filter_stream(self, stream: TokenStream) -> Iterable[Token]:
        for token in stream:
            if token.type != "data":
                yield token
                continue
            text, *others = token.value.split("\n")
            for i, line in enumerate(others, token.lineno):
                text += f"{_mark(stream.name, i)}\n{_mark(stream.name, i + 1)}{line}"
            yield Token(token.lineno, "data", text)


@cache
def _packaged() -> BaseLoader:
    return PackageLoader("potato_bridge", _FOLDER)


def _environment(kind: type[Environment], loader: BaseLoader) -> Environment:
    environment = kind(
        loader=loader,
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )
    environment.filters.update(t=trace_text, attribute=attribute, css_string=css_string, css_colour=css_colour)
    return environment


@cache
def cards() -> TemplateModule:
    """The macros of `cards.html.j2`; what they give is HTML."""
    return macros(_CARDS)


@cache
def macros(name: str) -> TemplateModule:
    """The macros of a packaged template; what they give is HTML."""
    return _environment(Environment, _packaged()).get_template(name).module


@cache
def general() -> TemplateModule:
    """The macros of `general.html.j2`; what they give is HTML."""
    return _environment(Environment, _packaged()).get_template("general.html.j2").module


def render_label_config(packaged: str, template: Path | None, variables: Mapping[str, Any]) -> Rendered:
    """Renders a label config.

    Args:
        packaged: Name of the package's template.
        template: The team's own template; None: the package's.
        variables: What the template can use; the header of the packaged template lists it.

    Raises:
        InputError: The file cannot be read, or is no template, or the template fails; with file and line.
    """
    name = packaged if template is None else str(template)
    loader = _packaged()
    if template is not None:
        loader = ChoiceLoader([DictLoader({name: _read(template)}), loader])
    environment = _environment(SandboxedEnvironment, loader)
    environment.add_extension(_Origins)
    try:
        text = environment.get_template(name).render(variables)
    except BridgeError:
        raise
    except TemplateSyntaxError as error:
        raise _failure(name, error.name or name, error.lineno, f"not a Jinja template: {error.message}") from error
    except TemplateNotFound as error:
        hint = f"A template can include the files of the package ({', '.join(_included())}), and no others."
        raise _failure(name, name, _line(error, name), f"cannot include {error.message!r}", hint) from error
    except TemplateError as error:
        hint = f"The variables are: {', '.join(sorted(variables))}."
        raise _failure(name, name, _line(error, name), f"the template fails: {error.message}", hint) from error
    except Exception as error:  # A template can fail like any other code; its author wants the place.
        message = f"the template fails: {type(error).__name__}: {error}"
        raise _failure(name, name, _line(error, name), message) from error
    return _split(name, text)


def _included() -> list[str]:
    return [name for name in _packaged().list_templates() if name.endswith(".j2")]


def _read(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8-sig")
    except OSError as error:
        raise InputError(f"cannot read the template {path}: {error.strerror or error}") from error
    except UnicodeDecodeError as error:
        raise InputError(f"the template {path} is not UTF-8 text: {error.reason} at byte {error.start}") from error


def _line(error: BaseException, name: str) -> int | None:
    """The last line of the template in the traceback: Jinja puts the template's own lines there."""
    lines = [
        frame.lineno for frame in traceback.extract_tb(error.__traceback__) if frame.filename in ("<template>", name)
    ]
    return lines[-1] if lines else None


def _failure(template: str, file: str, line: int | None, message: str, hint: str = "") -> InputError:
    return InputError(f"the template {template} cannot be used", problems=[Problem(message, file, line, hint=hint)])


def _split(name: str, text: str) -> Rendered:
    """Takes the marks out; a line that has none is of the template line that the one before it is of."""
    lines, origins, last = [], [], (name, 1)
    for line in text.split("\n"):
        marks = _MARK.findall(line)
        if marks:
            last = (marks[-1][0] or name, int(marks[-1][1]))
        lines.append(_MARK.sub("", line))
        origins.append(last)
    return Rendered("\n".join(lines), origins)
