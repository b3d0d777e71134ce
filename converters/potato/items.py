"""Items of a Potato project, streamed from its data files and checked.

`read_items` is a generator: valid items are yielded as they are read, and the problems of all files are raised after
the last one, or at once where there are too many. Who must not act on half of the data calls `check_items` first.
"""

import base64
import datetime
import decimal
import json
import math
import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from potato_bridge.converters.potato.datafiles import Faults, Row, read_rows
from potato_bridge.converters.potato.section import did_you_mean, show
from potato_bridge.converters.potato.turns import listing, read_turn
from potato_bridge.model.project import DataFile, Item, Project
from potato_bridge.model.trajectory_eval import TrajectoryEval
from potato_bridge.model.trajectory_scheme import TrajectoryEdit
from potato_bridge.notices import Notices

_BAD = re.compile("[\0\ud800-\udfff]")
#: Everything that handles an item later recurses into it.
_MAX_DEPTH = 150
_REPLACEMENT = "\ufffd"


def check_items(project: Project, notices: Notices) -> int:
    """Reads all items and counts them.

    Raises:
        InputError: See `read_items`.
    """
    return sum(1 for _ in read_items(project, notices))


def read_items(project: Project, notices: Notices) -> Iterator[Item]:
    """The items of all data files, in their order. `Item.file` is relative to `task_dir`.

    Raises:
        InputError: After the last valid item, with the problems of all files (at most 50, then reading stops).
    """
    faults = Faults()
    reader = _Reader(project, notices, faults)
    for number, file in enumerate(project.data_files):
        name = _name(project, file)
        if not file.path.resolve().is_relative_to(project.task_dir.resolve()):
            faults.add(f"the file lies outside of task_dir ({project.task_dir})", name, hint="Copy it into the folder.")
            continue
        columns_checked = file.format not in ("csv", "tsv")
        count = 0
        for row in read_rows(file, name, faults):
            count += 1
            if not columns_checked:
                # Once for the header, not for each row.
                columns_checked = True
                if not reader.check_header(row, file, name):
                    break
            item = reader.item(row, file, name, number)
            if item is not None:
                yield item
        if count == 0 and not any(problem.file == name for problem in faults.problems):
            faults.add("there is no item in the file", name)
    faults.settle()


def _name(project: Project, file: DataFile) -> str:
    try:
        return file.path.relative_to(project.task_dir).as_posix()
    except ValueError:
        return str(file.path)


@dataclass
class _Place:
    """Where a row stands, for problems and notices."""

    file: str
    line: int | None
    number: int | None

    def __str__(self) -> str:
        return self.file + (f":{self.line}" if self.line is not None else f" row {self.number}")


class _Reader:
    """Makes items of rows; knows the ids so far."""

    def __init__(self, project: Project, notices: Notices, faults: Faults) -> None:
        self.project = project
        self.notices = notices
        self.faults = faults
        self.steps_key = project.steps_key()
        self.kind = listing(project, self.steps_key) if self.steps_key is not None else "steps"
        with_own_list = [s for s in project.schemes if isinstance(s, TrajectoryEdit | TrajectoryEval)]
        edited = [scheme.steps_key for scheme in with_own_list]
        judged = [s.steps_key for s in with_own_list if isinstance(s, TrajectoryEval)]
        #: Whether there must be a step of the agent in the list that is shown.
        self.rated = project.process_reward() is not None or self.steps_key in judged
        #: All fields that hold a list of steps: the one that is shown and rated, and those that are edited or judged.
        self.lists = list(dict.fromkeys([*([self.steps_key] if self.steps_key is not None else []), *edited]))
        self.names = [_name(project, file) for file in project.data_files]
        #: Id to (number of the file, line or row), in one number each: there may be millions.
        self.seen: dict[str, int] = {}

    def problem(self, place: _Place, key: str, message: str, hint: str = "") -> None:
        row = f" (row {place.number})" if place.number is not None else ""
        self.faults.add(message + row, place.file, place.line, key, hint)

    def check_header(self, row: Row, file: DataFile, name: str) -> bool:
        needed = [file.id_key or self.project.id_key, file.text_key or self.project.text_key]
        needed += self.lists
        missing = [key for key in dict.fromkeys(needed) if key not in row.data]
        for key in missing:
            columns = ", ".join(row.data)
            hint = did_you_mean(key, row.data) or "The first row of the file is its header."
            self.faults.add(f"there is no column {key!r}; the header has {columns}", name, 1, key, hint)
        return not missing

    def item(self, row: Row, file: DataFile, name: str, number: int) -> Item | None:
        place = _Place(name, row.line, row.number)
        before = len(self.faults.problems)
        try:
            data = row.data if _is_clean(row.data) else _Cleaner(self, place).clean_fields(row.data)
        except RecursionError:
            self.problem(place, "", f"values are nested more than {_MAX_DEPTH} deep", "Flatten them.")
            return None
        item_id = self._id(data, file.id_key or self.project.id_key, place, number)
        self._text(data, file.text_key or self.project.text_key, place)
        for key in self.lists:
            self._steps(data, key, file, place)
        if len(self.faults.problems) > before or item_id is None:
            return None
        return Item(id=item_id, data=data, file=name, line=row.line)

    def _missing(self, data: dict[str, Any], key: str, place: _Place, named_by: str, extra: str = "") -> None:
        near = did_you_mean(key, data)
        fields = ", ".join(list(data)[:12])
        hint = extra or near or f"{named_by} says which field it is; the item has: {fields}."
        self.problem(place, key, f"the item has no field {key!r}", hint)

    def _id(self, data: dict[str, Any], key: str, place: _Place, number: int) -> str | None:
        if key not in data:
            self._missing(data, key, place, "item_properties.id_key")
            return None
        value = data[key]
        if isinstance(value, int) and not isinstance(value, bool):
            value = str(value)
        if not isinstance(value, str) or not value.strip():
            found = "an empty text" if isinstance(value, str) else show(value)
            hint = "Write ids as text." if isinstance(value, float) else ""
            self.problem(place, key, f"an id is text or a whole number, found {found}", hint)
            return None
        if (old := self.seen.get(value)) is not None:
            first = self.names[old >> 40] + f":{old & ((1 << 40) - 1)}"
            self.problem(place, key, f"the id {show(value)} was used before, at {first}", "Ids are unique.")
            return None
        self.seen[value] = (number << 40) | (place.line or place.number or 0)
        return value

    def _text(self, data: dict[str, Any], key: str, place: _Place) -> None:
        if key not in data:
            self._missing(data, key, place, "item_properties.text_key")
        elif not isinstance(data[key], str):
            hint = "Set item_properties.text_key to a field that holds the task's text."
            self.problem(place, key, f"expected text, found {show(data[key])}", hint)

    def _steps(self, data: dict[str, Any], key: str, file: DataFile, place: _Place) -> None:
        if key not in data:
            shown = {field.type for field in self.project.fields if field.key == key}
            extra = ""
            if "cot_trace" in shown:
                extra = "Potato's cot_segmentation keeps its steps in memory only: write the list into the data."
            self._missing(data, key, place, "steps_key, or the trace display,", extra)
            return
        steps = data[key]
        if isinstance(steps, str) and file.format in ("csv", "tsv", "parquet"):
            steps = self._parse_cell(steps, key, place)
            if steps is None:
                return
            data[key] = steps
        if not isinstance(steps, list):
            hint = "Give a list of objects or texts, or set steps_key to the field that holds it."
            self.problem(place, key, f"expected a list of steps, found {show(steps)}", hint)
            return
        if not steps:
            self.problem(place, key, "the list of steps is empty", "Remove the item, or give it steps.")
            return
        for i, step in enumerate(steps):
            if not isinstance(step, dict | str):
                self.problem(place, f"{key}[{i}]", f"a step is an object or text, found {show(step)}")
                return
        rated = key == self.steps_key and self.rated
        if rated and not any(read_turn(step, self.kind).ratable for step in steps):
            hint = "Only the agent's turns are rated; user, system and tool turns (and bare texts of a coding trace)"
            self.problem(place, key, "there is no step to rate", f"{hint} are shown.")

    def _parse_cell(self, cell: str, key: str, place: _Place) -> list[Any] | None:
        try:
            value = json.loads(cell)
        except (ValueError, RecursionError):
            value = None
        if not isinstance(value, list):
            hint = "Write the list of steps into the cell as JSON, with double quotes."
            self.problem(place, key, f"expected a JSON list in the cell, found {show(cell)}", hint)
            return None
        message = f"the cells of column {key!r} are JSON and are read as lists; Potato shows them as text"
        self.notices.add("steps-from-cell", message, str(place))
        try:
            if not _is_clean(value):
                _Cleaner(self, place).clean(value, key)
        except RecursionError:
            self.problem(place, key, f"values are nested more than {_MAX_DEPTH} deep", "Flatten them.")
            return None
        return value


def _is_clean(value: Any, depth: int = 0) -> bool:
    """Whether a value can stay as it is; nearly every item can, so this pass builds nothing.

    Raises:
        RecursionError: It is nested more than `_MAX_DEPTH` deep.
    """
    if isinstance(value, str):
        # The search is slow, and ASCII text needs none.
        return "\0" not in value and (value.isascii() or _BAD.search(value) is None)
    if isinstance(value, dict | list):
        if depth > _MAX_DEPTH:
            raise RecursionError
        # Not all(): where one value is to be replaced, the depth of the others still counts.
        clean = True
        for entry in (*value, *value.values()) if isinstance(value, dict) else value:
            clean = _is_clean(entry, depth + 1) and clean
        return clean
    if isinstance(value, float):
        return math.isfinite(value)
    return value is None or isinstance(value, bool | int)


class _Cleaner:
    """Replaces what no tool accepts. Lists and objects are changed in place."""

    def __init__(self, reader: _Reader, place: _Place) -> None:
        self.reader = reader
        self.place = place

    def clean_fields(self, data: dict[str, Any]) -> dict[str, Any]:
        return {self.text(key, key): self.clean(value, key) for key, value in data.items()}

    def text(self, value: str, path: str) -> str:
        # An unpaired surrogate cannot be written as UTF-8, and neither server stores a NUL.
        found = _BAD.findall(value)
        if not found:
            return value
        message = "NUL characters and unpaired surrogates are replaced by U+FFFD"
        self.reader.notices.add("replaced-characters", message, f"{self.place} {path}", len(found))
        return _BAD.sub(_REPLACEMENT, value)

    def clean(self, value: Any, path: str) -> Any:
        if isinstance(value, str):
            return self.text(value, path)
        if isinstance(value, dict):
            for key in list(value):
                value[key] = self.clean(value[key], f"{path}.{key}")
            if any(_BAD.search(key) for key in value):
                return {self.text(key, path): entry for key, entry in value.items()}
            return value
        if isinstance(value, list):
            for i, entry in enumerate(value):
                value[i] = self.clean(entry, f"{path}[{i}]")
            return value
        if isinstance(value, float) and not math.isfinite(value):
            return self._not_finite(value, path)
        if value is None or isinstance(value, bool | int | float):
            return value
        return self._convert(value, path)

    def _not_finite(self, value: float, path: str) -> Any:
        if self.place.number is None:
            self.reader.problem(self.place, path, f"{value} is no JSON number", "Use null, or a number in range.")
            return None
        # In Parquet a missing number is often NaN.
        message = "numbers that are not finite are read as null"
        self.reader.notices.add("converted-values", message, f"{self.place} {path}")
        return None

    def _convert(self, value: Any, path: str) -> Any:
        """Values of Parquet that JSON does not have."""
        converted: Any
        if isinstance(value, datetime.date | datetime.time):
            converted = value.isoformat()
        elif isinstance(value, bytes):
            converted = base64.b64encode(value).decode("ascii")
        elif isinstance(value, tuple):
            converted = [self.clean(entry, path) for entry in value]
        elif isinstance(value, decimal.Decimal):
            converted = str(value)
        else:
            converted = self.text(str(value), path)
        message = f"values of type {type(value).__name__} are read as JSON values"
        self.reader.notices.add("converted-values", message, f"{self.place} {path}")
        return converted
