"""Checks a label config before it goes to a server: Label Studio's own check lets through what its page cannot show."""

import difflib
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from xml.parsers import expat

from potato_bridge.converters.label_studio.fields import TASK_OBJECT
from potato_bridge.converters.label_studio.question import Must
from potato_bridge.converters.label_studio.tags import CONTROL, KNOWN, OBJECT, PAID
from potato_bridge.converters.label_studio.templates import Rendered
from potato_bridge.errors import InputError, Problem


@dataclass(frozen=True, slots=True)
class Element:
    """A start tag: its name, attributes and line (from 1)."""

    tag: str
    attributes: dict[str, str]
    line: int

    @property
    def kind(self) -> str:
        """The tag as the documentation spells it; as it is where it is unknown."""
        return KNOWN.get(self.tag.lower(), self.tag)


class _DoctypeError(Exception):
    pass


def elements(config: str) -> list[Element]:
    """The start tags of a label config, in their order.

    Raises:
        InputError: Not well-formed XML, or with a document type.
    """
    return _parse(Rendered(config, [("label config", n + 1) for n in range(config.count("\n") + 1)]))


class ControlNames(frozenset[str]):
    """Names of controls. One in a Repeater has an index flag, `why_{{idx}}`: `why_0`, `why_1`, … are in it too."""

    __slots__ = ()

    def __contains__(self, name: object) -> bool:
        """Whether a result of that name is of one of the controls."""
        if super().__contains__(name):
            return True
        repeated = (re.split(r"\{\{.*?\}\}", control) for control in self if "{{" in control)
        return isinstance(name, str) and any(re.fullmatch("[0-9]+".join(map(re.escape, p)), name) for p in repeated)


def control_names(config: str) -> ControlNames:
    """The names of the controls of a label config."""
    found = (e for e in elements(config) if e.kind in CONTROL)
    return ControlNames(e.attributes["name"] for e in found if "name" in e.attributes)


def check(rendered: Rendered, musts: Sequence[Must], repeats: Sequence[str] = ()) -> None:
    """Checks a rendered label config.

    Args:
        rendered: The label config.
        musts: The controls that the schemes need.
        repeats: Keys of the task data that a Repeater must run over.

    Raises:
        InputError: With all that was found, each with its file and line.
    """
    found = _parse(rendered)
    problems = [*_unknown(rendered, found), *_names(rendered, found)]
    for must in musts:
        problems += _reward(rendered, found, must)
    repeated = {e.attributes.get("on", "").removeprefix("$") for e in found if e.kind == "Repeater"}
    for key in (key for key in repeats if key not in repeated):
        hint = f'Keep <Repeater on="${key}" indexFlag="{{{{idx}}}}" mode="pagination">.'
        problems.append(_problem(rendered, 1, f"the Repeater over ${key} is missing", hint))
    if problems:
        raise InputError("Label Studio could not show this label config", problems=problems)


def _parse(rendered: Rendered) -> list[Element]:
    found: list[Element] = []
    parser = expat.ParserCreate()
    # A long text must not be handed over in pieces only to be thrown away.
    parser.buffer_text = True

    def start(tag: str, attributes: dict[str, str]) -> None:
        found.append(Element(tag, attributes, parser.CurrentLineNumber))

    def doctype(*_: object) -> None:
        raise _DoctypeError

    parser.StartElementHandler = start
    parser.StartDoctypeDeclHandler = doctype
    try:
        parser.Parse(rendered.text.encode("utf-8", "surrogatepass"), True)
    except _DoctypeError:
        problem = _problem(rendered, parser.CurrentLineNumber, "a document type (<!DOCTYPE …>) is not allowed here")
        raise InputError("not a label config", problems=[problem]) from None
    except expat.ExpatError as error:
        cause = expat.errors.messages.get(error.code, str(error))
        hint = (
            "Check this line and the one before it: every tag is closed, every attribute in quotes, and in texts & is "
            "written &amp; and < is written &lt;."
        )
        problem = _problem(rendered, error.lineno, f"not well-formed XML: {cause} (column {error.offset + 1})", hint)
        raise InputError("not a label config", problems=[problem]) from error
    return found


def _problem(rendered: Rendered, line: int, message: str, hint: str = "") -> Problem:
    file, at = rendered.origin(line)
    return Problem(message, file, at, hint=hint)


def _unknown(rendered: Rendered, found: list[Element]) -> Iterator[Problem]:
    for element in found:
        if element.tag.lower() in KNOWN:
            continue
        if element.tag.lower() in {name.lower() for name in PAID}:
            hint = "Only Label Studio Enterprise and Starter Cloud have it."
        else:
            near = difflib.get_close_matches(element.tag.lower(), KNOWN, 1, 0.6)
            hint = f"Did you mean <{KNOWN[near[0]]}>?" if near else "Leave it out, or use one of the documented tags."
        yield _problem(rendered, element.line, f"Label Studio has no tag <{element.tag}>", hint)


def _names(rendered: Rendered, found: list[Element]) -> Iterator[Problem]:
    first: dict[str, int] = {}
    for element in found:
        name = element.attributes.get("name")
        named = element.kind in OBJECT or element.kind in CONTROL
        if named and not name:
            yield _problem(rendered, element.line, f"<{element.tag}> has no name", 'Add name="…".')
        if name and named:
            if name in first:
                other = rendered.origin(first[name])[1]
                yield _problem(rendered, element.line, f"the name {name!r} is taken: line {other}", "Choose another.")
            first.setdefault(name, element.line)
    objects = {e.attributes.get("name", "") for e in found if e.kind in OBJECT}
    for element in found:
        if element.kind not in CONTROL:
            continue
        if not element.attributes.get("toName"):
            yield _problem(
                rendered,
                element.line,
                f"<{element.tag}> has no toName",
                f'Add toName="{TASK_OBJECT}" for the whole task.',
            )
            continue
        for target in element.attributes["toName"].split(","):
            if target not in objects:
                near = difflib.get_close_matches(target, objects, 1)
                hint = (
                    f"Did you mean {near[0]!r}?" if near else f"The names are: {', '.join(sorted(objects)) or 'none'}."
                )
                yield _problem(rendered, element.line, f"toName={target!r} is the name of no object tag", hint)


def _reward(rendered: Rendered, found: list[Element], must: Must) -> Iterator[Problem]:
    control = must.name
    named = [e for e in found if e.attributes.get("name") == control and e.kind in CONTROL]
    shown = "".join(f' {name}="{value}"' for name, (value, _) in must.attributes.items())
    example = f'<{must.kind} name="{control}"{shown}'
    if not named:
        asked = "" if must.required is None else f' required="{"true" if must.required else "false"}"'
        yield _problem(rendered, 1, f"the control {control!r} of the scheme is missing", f"Keep {example}{asked}/>.")
        return
    element = named[0]
    if element.kind != must.kind:
        message = f"{control!r} is a <{element.tag}>, not <{must.kind}>"
        yield _problem(rendered, element.line, message, f"Keep {example}.")
        return
    wanted = dict(must.attributes)
    if must.required:
        wanted["required"] = ("true", "the scheme requires an answer")
    for name, (value, why) in wanted.items():
        have = element.attributes.get(name)
        if have != value:
            shown = f"has {name}={have!r}" if have is not None else f"has no {name}"
            yield _problem(rendered, element.line, f"{control!r} {shown}", f'Write {name}="{value}": {why}.')
