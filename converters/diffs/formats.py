"""The forms of a change, a row each: how it is recognised, and what reads it."""

import re
from collections.abc import Callable
from dataclasses import dataclass

from potato_bridge.converters.diffs.apply_patch import find_apply_patch, read_apply_patch
from potato_bridge.converters.diffs.refused import (
    find_context,
    find_ed,
    find_normal,
    read_context,
    read_ed,
    read_normal,
)
from potato_bridge.converters.diffs.search_replace import find_search_replace, read_search_replace
from potato_bridge.converters.diffs.structured import find_structured, read_structured
from potato_bridge.converters.diffs.unified import find_remains, find_unified, read_unified
from potato_bridge.model.diff import FileChange, Problem


@dataclass(frozen=True)
class Format:
    """One form.

    Attributes:
        name: Its stable name.
        find: Where in a text it begins (a 0-based offset), or None.
        read: The files, and the problems that concern none of them. Takes any text.
    """

    name: str
    find: Callable[[str], int | None]
    read: Callable[[str], tuple[list[FileChange], list[Problem]]]


#: Where several are found, the one that begins first; of those that begin together, the upper one.
FORMATS = (
    Format("structured", find_structured, read_structured),
    Format("apply_patch", find_apply_patch, read_apply_patch),
    Format("search_replace", find_search_replace, read_search_replace),
    Format("context", find_context, read_context),
    Format("unified", find_unified, read_unified),
    Format("normal", find_normal, read_normal),
    Format("ed", find_ed, read_ed),
)
#: Asked where no other form is found: lines that say that files differ, and how is not shown.
REMAINS = Format("unified", find_remains, read_unified)
#: Forms that may stand beside another one in one answer of a model: their first line, as no line of a hunk begins.
BESIDE = {
    "apply_patch": re.compile(r"^\*\*\* Begin Patch", re.M),
    "search_replace": re.compile(r"^<{5,9} SEARCH>?[ \t\r]*$", re.M),
    "unified": re.compile(r"^(?:diff --git |--- [^\n]*\n\+\+\+ )", re.M),
}
