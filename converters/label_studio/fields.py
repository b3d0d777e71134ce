"""Names that the label config, the tasks and the results share, and the limits of what a page can show.

Everything that two modules must spell alike stands here. The steps are numbered from 0 in values and records, and from
1 on the page ("Step 1"), as Potato does.
"""

import hashlib
import re
from typing import Final

from potato_bridge.model.project import Scheme

#: Top-level key of the task data that holds the item's id: how a task is found again.
MARKER: Final = "potato_bridge_id"
#: Key of the task's meta that holds what push compares.
META: Final = "potato_bridge"
#: Version of the task data and meta that this code writes.
TASK_SCHEMA: Final = 1

#: Keys of the task data.
TASK_TEXT: Final = "task"
TASK_HTML: Final = "task_html"
FILES_HTML: Final = "files_html"
TRACE_HTML: Final = "trace_html"
OPTIONS: Final = "step_options"
PAGES: Final = "step_pages"

#: What a Repeater puts the number of an entry in place of.
INDEX: Final = "{{idx}}"
#: Name of the object tag that every answer of ours points to.
TASK_OBJECT: Final = "task"
#: Names that a control cannot have: they are object tags or data keys, and JSON_MIN exports would mix them up.
RESERVED: Final = frozenset(
    {TASK_TEXT, TASK_HTML, FILES_HTML, TRACE_HTML, OPTIONS, PAGES, MARKER, META, "files", "trace"}
)

#: Values of the options.
ALL_CORRECT: Final = "all_correct"
_STEP: Final = re.compile(r"step_(0|[1-9][0-9]{0,8})", re.ASCII)

#: Keys: the first steps have their number as shown, and "all steps correct" a letter that Label Studio leaves free.
STEP_KEYS: Final = "123456789"
ALL_CORRECT_KEY: Final = "a"
# Label Studio gives 1, 2, … q, w, e … to options without a key, also to those that cannot be chosen, and a stray key
# press would answer. A private-use character is a key that no keyboard sends.
_NO_KEY_FIRST: Final = 0xE000
_NO_KEY_COUNT: Final = 0x1900

_CONTROL_NAME: Final = re.compile(r"[A-Za-z_][A-Za-z0-9_-]{0,63}", re.ASCII)


def step_value(number: int) -> str:
    """The option's value for a ratable step, numbered from 0."""
    return f"step_{number}"


def parse_step(value: object) -> int | None:
    """The step of an option's value, from 0; None if the value names no step."""
    match = _STEP.fullmatch(value) if isinstance(value, str) else None
    return int(match[1]) if match else None


def turn_value(position: int) -> str:
    """The value of an entry that is shown and not rated; `position` is its place in the trace, from 0."""
    return f"turn_{position}"


def no_key(position: int) -> str:
    """A hotkey that cannot be pressed, a different one for each position."""
    return chr(_NO_KEY_FIRST + position % _NO_KEY_COUNT)


def control_name(scheme: Scheme) -> str:
    """The name of the scheme's control: the scheme's own where Label Studio takes it, else one made from it."""
    if _CONTROL_NAME.fullmatch(scheme.name) and scheme.name not in RESERVED:
        return scheme.name
    slug = re.sub(r"[^A-Za-z0-9_-]+", "_", scheme.name).strip("_")[:48]
    if not slug:
        return f"s_{hashlib.sha256(scheme.name.encode('utf-8', 'surrogatepass')).hexdigest()[:8]}"
    if slug in RESERVED:
        return f"{slug}_answer"
    return slug if _CONTROL_NAME.fullmatch(slug) else f"s_{slug}"


def data_key(scheme: Scheme, part: str) -> str:
    """The key of a part of the task's data. Label Studio reads no hyphen in the name of a variable."""
    return f"{control_name(scheme).replace('-', '__')}_{part}"
