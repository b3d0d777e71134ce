"""What is done to a text before any form is read: decoding, and the colour codes of a terminal."""

import codecs
import re

from potato_bridge.converters.diffs.problems import problem
from potato_bridge.model.diff import Problem

#: Colour and "erase to the end of the line": what git and less write. Other sequences are content.
_COLOUR = re.compile(r"\x1b\[[0-9;]*[mK]")
#: A header in colour: only then are the codes of the terminal, and not of a file that has some.
_COLOURED_HEADER = re.compile(
    r"^(?:\x1b\[[0-9;]*[mK])+(?:diff -|index |--- |\+\+\+ |@@|\*\*\* |Index: |Submodule )", re.M
)


def decode(data: bytes | str) -> tuple[str, list[Problem]]:
    """The text. Bytes that are not UTF-8 become lone surrogates (`surrogateescape`), which can be turned back."""
    if isinstance(data, str):
        return data, []
    if data.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        return data.decode("utf-16", "replace"), [problem("utf-16")]
    try:
        return data.decode("utf-8"), []
    except UnicodeDecodeError as error:
        text = data.decode("utf-8", "surrogateescape")
        count = sum("\udc80" <= char <= "\udcff" for char in text)
        return text, [problem("not-utf8", data.count(b"\n", 0, error.start) + 1, count=count)]


def without_colour(text: str) -> tuple[str, list[Problem]]:
    """The text without the colour codes of a terminal, where its headers have some."""
    found = _COLOURED_HEADER.search(text) if "\x1b[" in text else None
    if found is None:
        return text, []
    return _COLOUR.sub("", text), [problem("ansi-colour", text.count("\n", 0, found.start()) + 1)]


def split_lines(text: str) -> list[str]:
    """The lines, without their line feeds. Only a line feed ends one: a form feed or a lone CR is content."""
    lines = text.split("\n")
    if not lines[-1]:
        lines.pop()
    return lines


def strip_returns(lines: list[str]) -> list[str]:
    """The lines with one carriage return less at each end that has one."""
    return [line[:-1] if line.endswith("\r") else line for line in lines]
