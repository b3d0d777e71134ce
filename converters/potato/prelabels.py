"""Pre-labels of items, from a field or a file: each is checked with its item, a bad one is dropped with its reason."""

import math
from collections import Counter
from contextlib import ExitStack
from pathlib import Path
from typing import Any, Final, Self

from potato_bridge.converters.potato.prelabel_file import PrelabelFile, version_of
from potato_bridge.converters.potato.prelabel_schemes import read_prelabel
from potato_bridge.converters.potato.reward_blobs import json_of
from potato_bridge.converters.potato.section import did_you_mean, show
from potato_bridge.errors import InputError
from potato_bridge.model import Item, OtherScheme, Prelabel, ProcessReward, Project
from potato_bridge.notices import Notices

#: Bad pre-labels that are named one by one; the others are counted.
SHOWN: Final = 50
#: Keys of a line that are no schemes: those of a record, and a prediction's own.
_RECORD_KEYS: Final = frozenset(
    "id instance_id annotator status created_at updated_at lead_time source controls flags schema".split()
)
_OWN_KEYS: Final = frozenset({"model_version", "score"})


class Prelabels:
    """The pre-labels of a project's items, for one pass over them.

    Args:
        project: The project; its `pre_annotation` says where they are.
        file: A file that comes before those places; an item that it does not name has what the config says.
        notices: Gets `bad-prelabel`, `prelabel-part-dropped`, `prelabel-not-submitted` and `prelabel-not-asked`.

    Raises:
        InputError: A file cannot be read, or a line of it is no JSON object with an id.
    """

    def __init__(self, project: Project, file: Path | None, notices: Notices) -> None:
        self._project, self._notices = project, notices
        options = project.pre_annotation
        self._field = options.field if options is not None else None
        self._dropped = self._parts = 0
        self._used: set[str] = set()
        self._stack = ExitStack()
        with ExitStack() as stack:
            self._first = self._open(stack, file)
            self._last = self._open(stack, options.predictions_file if options is not None else None)
            self._stack = stack.pop_all()

    def __enter__(self) -> Self:
        """The files are open already."""
        return self

    def __exit__(self, *_: object) -> None:
        """Closes the files."""
        self._stack.close()

    def of(self, item: Item) -> list[Prelabel]:
        """The good pre-labels of an item, each of another model or annotator, in their order.

        `--prelabels` comes first, then the item's own field, then the config's file, as in Potato.
        """
        self._used.add(item.id)
        lines = _lines(self._first, item.id)
        if not lines and self._field is not None and item.data.get(self._field) is not None:
            place = f"{item.file}{f':{item.line}' if item.line else ''} {self._field}"
            return self._read(item, [(place, item.data[self._field])], own_field=True)
        return self._read(item, lines or _lines(self._last, item.id))

    def drop(self, place: str, item_id: str, reason: str) -> None:
        """Says that a pre-label is dropped, and why."""
        self._dropped += 1
        if self._dropped > SHOWN:
            self._notices.add("bad-prelabel", f"more than {SHOWN} pre-labels are dropped; the others are counted")
        else:
            self._notices.add("bad-prelabel", f"the pre-label of {show(item_id)} is dropped: {reason}", place)

    def drop_part(self, place: str, item_id: str, reason: str) -> None:
        """Says that a part of a pre-label is dropped, and why; the rest of it is shown."""
        self._parts += 1
        if self._parts > SHOWN:
            message = f"more than {SHOWN} parts of pre-labels are dropped; the others are counted"
        else:
            message = f"a part of the pre-label of {show(item_id)} is dropped: {reason}"
        self._notices.add("prelabel-part-dropped", message, place)

    def not_asked(self, place: str, name: str) -> None:
        """Says that a pre-label is not shown because nobody is asked for its scheme."""
        message = f"pre-labels of the scheme {show(name)} are not used: annotators are not asked for it"
        self._notices.add("prelabel-not-asked", message, place)

    def versions(self) -> Counter[str]:
        """Who the lines of the files are by, and how many each: also of those that turn out to be bad."""
        return sum((file.versions for file in (self._first, self._last) if file), Counter())

    def finish(self) -> None:
        """Says which lines of the files are about no item; call it when all items were asked for."""
        for file in (self._first, self._last):
            for item_id, number in file.ids().items() if file else ():
                if item_id not in self._used:
                    self.drop(f"{file.name}:{number}" if file else "", item_id, "no item has that id")

    def _open(self, stack: ExitStack, path: Path | None) -> PrelabelFile | None:
        if path is None:
            return None
        try:
            name = path.resolve().relative_to(self._project.task_dir.resolve()).as_posix()
        except ValueError:
            name = str(path)
        return stack.enter_context(PrelabelFile(path, name))

    def _read(self, item: Item, found: list[tuple[str, Any]], *, own_field: bool = False) -> list[Prelabel]:
        taken: dict[str, Prelabel] = {}
        for place, given in found:
            try:
                prelabel = self._prelabel(item, place, given, own_field)
                if prelabel is not None and prelabel.model_version in taken:
                    first = taken[prelabel.model_version].place
                    raise InputError(f"{show(prelabel.model_version)} has one already, at {first}")
            except InputError as error:
                self.drop(place, item.id, error.message)
                continue
            if prelabel is not None:
                taken[prelabel.model_version] = prelabel
        return list(taken.values())

    def _prelabel(self, item: Item, place: str, given: Any, own_field: bool) -> Prelabel | None:
        if own_field and isinstance(given, str) and given.lstrip().startswith("{"):
            given = json_of(given)  # The cell of a table.
        if not isinstance(given, dict):
            raise InputError(f"expected an object of scheme names and values, found {show(given)}")
        status = given.get("status", "submitted")
        if not own_field and status != "submitted":
            message = f"lines of status {show(status)} are no answers and give no pre-label"
            self._notices.add("prelabel-not-submitted", message, place)
            return None
        values = self._values(given, place, own_field)
        if not values:
            raise InputError("it has no value")
        annotations: dict[str, Any] = {}
        for name, value in values.items():
            try:
                annotations |= self._annotation(item, place, name, value)
            except InputError as error:
                self.drop(place, item.id, f"{show(name)}: {error.message}")
        if not annotations:
            return None
        if own_field:
            return Prelabel(item=item.id, annotations=annotations, place=place)
        version = version_of(given)
        if version is None:
            named = next(given[key] for key in ("model_version", "annotator") if given.get(key) is not None)
            raise InputError(f"model_version: expected a name, found {show(named)}")
        return Prelabel(item=item.id, annotations=annotations, model_version=version, score=_score(given), place=place)

    def _values(self, given: dict[str, Any], place: str, own_field: bool) -> dict[str, Any]:
        """Scheme name → value, however the line holds them."""
        if own_field:
            return given
        holders = dict.fromkeys(("annotations", self._field or "predictions", "predictions"))
        holder = next((key for key in holders if key in given), None)
        if holder is None:
            return {key: value for key, value in given.items() if key not in _RECORD_KEYS | _OWN_KEYS}
        if not isinstance(given[holder], dict):
            raise InputError(f"{holder}: expected an object of scheme names and values, found {show(given[holder])}")
        others = [key for key in given if key not in _RECORD_KEYS | _OWN_KEYS | {holder}]
        if given.get("controls"):
            others.append("controls")
        for key in others:
            self._notices.add("prelabel-part-dropped", f"{show(key)} of pre-labels is not used", place)
        return dict(given[holder])

    def _annotation(self, item: Item, place: str, name: str, value: Any) -> dict[str, Any]:
        project = self._project
        scheme = next((scheme for scheme in project.schemes if scheme.name == name), None)
        if scheme is None:
            near = did_you_mean(name, [scheme.name for scheme in project.schemes])
            raise InputError(f"the config has no scheme of that name{f'. {near}' if near else ''}")
        repeated = isinstance(scheme, ProcessReward) and scheme is not project.process_reward()
        if repeated or isinstance(scheme, OtherScheme):
            self.not_asked(place, name)
            return {}
        try:
            read, lost = read_prelabel(value, scheme, item, project)
        except (ValueError, RecursionError) as error:
            # A number of thousands of digits, or nested too deeply: no value of ours.
            raise InputError(f"it cannot be read: {error}") from error
        for part in lost:
            self._notices.add("prelabel-part-dropped", f"{part} of pre-labels is not used", place)
        return {scheme.name: read}


def _lines(file: PrelabelFile | None, item_id: str) -> list[tuple[str, Any]]:
    return [(f"{file.name}:{number}", line) for number, line in file.lines(item_id)] if file else []


def _score(line: dict[str, Any]) -> float | None:
    score = line.get("score")
    if score is None:
        return None
    if isinstance(score, bool) or not isinstance(score, int | float) or not abs(score) < math.inf:
        raise InputError(f"score: expected a number, found {show(score)}")
    return float(score)
