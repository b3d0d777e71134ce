"""Any patch text to a Diff."""

from potato_bridge.converters.diffs.formats import BESIDE, FORMATS, REMAINS, Format
from potato_bridge.converters.diffs.problems import problem
from potato_bridge.converters.diffs.source import decode, without_colour
from potato_bridge.converters.diffs.unified import read_unified
from potato_bridge.model.diff import Diff, FileChange, Problem


def read_diff(data: bytes | str) -> Diff:
    """What a patch says, in whatever form it is written. Never raises: what is wrong is a problem of the result.

    Args:
        data: The patch, or a text with one in it. Bytes are decoded as UTF-8; other bytes become lone surrogates.
    """
    text, problems = decode(data)
    # A byte order mark is no part of the first line.
    plain, found = without_colour(text.removeprefix("\ufeff"))
    problems += found
    if not text.strip():
        return Diff(text=text, problems=[*problems, problem("empty")])
    form = _form_of(plain)
    if form is None:
        return Diff(text=text, problems=[*problems, problem("no-patch")])
    files, more = _read(form, plain, coloured=bool(found))
    problems += more
    if form.name in BESIDE:
        problems += _beside(form, plain)
    if not files and not problems:
        problems.append(problem("no-patch"))
    return Diff(format=form.name, files=files, problems=problems, text=text)


def _form_of(text: str) -> Format | None:
    places = [(at, rank, form) for rank, form in enumerate(FORMATS) if (at := form.find(text)) is not None]
    if places:
        return min(places)[2]
    return REMAINS if REMAINS.find(text) is not None else None


def _read(form: Format, text: str, *, coloured: bool) -> tuple[list[FileChange], list[Problem]]:
    if form.name == "unified":
        return read_unified(text, coloured=coloured)
    return form.read(text)


def _beside(form: Format, text: str) -> list[Problem]:
    """A problem for each other form that the text has after the end of this one."""
    if form.name == "unified":
        rest = 0
    elif form.name == "apply_patch" and (end := text.rfind("*** End Patch")) >= 0:
        rest = end
    else:
        return []
    found = []
    for name, mark in BESIDE.items():
        if name != form.name and (there := mark.search(text, rest)) is not None:
            found.append(problem("other-form", text.count("\n", 0, there.start()) + 1, form=name))
    return found
