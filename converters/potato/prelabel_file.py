"""A file of pre-labels: JSON Lines, each with the id of an item. Found by id; only the places are kept in memory."""

import codecs
import json
from collections import Counter
from pathlib import Path
from typing import Any, Self

from potato_bridge.converters.potato.datafiles import Faults
from potato_bridge.converters.potato.section import show
from potato_bridge.errors import InputError
from potato_bridge.model.prelabel import DEFAULT_VERSION

_ID_KEYS = ("id", "instance_id")
_HINT = 'A line is {"id": …, "<scheme>": …}, or a record of an earlier pull.'


def id_of(line: dict[str, Any]) -> str | None:
    """The item that a line is about; a whole number is the text of it, as in data files."""
    found = next((line[key] for key in _ID_KEYS if line.get(key) is not None), None)
    if isinstance(found, int) and not isinstance(found, bool):
        return str(found)
    return found if isinstance(found, str) and found.strip() else None


def version_of(line: dict[str, Any]) -> str | None:
    """The model of a line, else its annotator, else our own name; None: what stands there is no name."""
    found = next((line[key] for key in ("model_version", "annotator") if line.get(key) is not None), DEFAULT_VERSION)
    return found if isinstance(found, str) and found.strip() else None


class PrelabelFile:
    """Reads a file once for the places of its lines, and each line again when its item comes.

    Args:
        path: The file; UTF-8.
        name: Stands for it in messages.

    Raises:
        InputError: It cannot be read, or lines are no JSON objects with an id; with all of them (at most 50).
    """

    def __init__(self, path: Path, name: str) -> None:
        self.name = name
        #: Who the submitted lines are by, and how many each.
        self.versions: Counter[str] = Counter()
        #: Item → line number and offset of each of its lines.
        self._places: dict[str, list[tuple[int, int]]] = {}
        try:
            self._file = path.open("rb")
        except OSError as error:
            raise InputError(f"cannot read {name}: {error.strerror or error}") from error
        try:
            self._index()
        except BaseException:
            self._file.close()
            raise

    def __enter__(self) -> Self:
        """It is open already."""
        return self

    def __exit__(self, *_: object) -> None:
        """Closes the file."""
        self._file.close()

    def ids(self) -> dict[str, int]:
        """The items that it names, in file order, with the first line of each."""
        return {item_id: places[0][0] for item_id, places in self._places.items()}

    def lines(self, item_id: str) -> list[tuple[int, dict[str, Any]]]:
        """The lines about an item, with their numbers.

        Raises:
            InputError: The file changed meanwhile.
        """
        found = []
        for number, offset in self._places.get(item_id, ()):
            self._file.seek(offset)
            try:
                line = _decode(self._file.readline())
            except (ValueError, RecursionError):
                line = None
            if not isinstance(line, dict) or id_of(line) != item_id:
                raise InputError(f"{self.name}:{number}: the file changed while it was read", hint="Try again.")
            found.append((number, line))
        return found

    def _index(self) -> None:
        faults, offset = Faults(), 0
        for number, raw in enumerate(self._file, 1):
            start, offset = offset, offset + len(raw)
            if number == 1:
                if raw.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)) or b"\0" in raw[:64]:
                    faults.add("the file looks like UTF-16", self.name, 1, hint="Save it as UTF-8.")
                    break
                start += 3 * raw.startswith(codecs.BOM_UTF8)
                raw = raw.removeprefix(codecs.BOM_UTF8)
            if not raw.strip():
                continue
            try:
                line = _decode(raw)
            except UnicodeDecodeError as error:
                byte = f"byte {error.start} of the line (0x{raw[error.start]:02x})"
                faults.add(f"the file is not UTF-8: {byte}", self.name, number, hint="Save it as UTF-8.")
            except json.JSONDecodeError as error:
                hint = "One object a line: join each object into one line." if raw.strip() in (b"{", b"[") else ""
                faults.add(f"not JSON: {error.msg} (column {error.pos + 1})", self.name, number, hint=hint)
            except (ValueError, RecursionError) as error:
                faults.add(f"not JSON that can be read: {error}", self.name, number)
            else:
                if not isinstance(line, dict):
                    faults.add(f"expected a JSON object, found {show(line)}", self.name, number, hint=_HINT)
                elif (item_id := id_of(line)) is None:
                    faults.add("there is no id, which is text or a whole number", self.name, number, hint=_HINT)
                else:
                    self._places.setdefault(item_id, []).append((number, start))
                    if line.get("status", "submitted") == "submitted" and (version := version_of(line)):
                        self.versions[version] += 1
        if faults.problems:
            raise InputError(f"{self.name} is not a file of pre-labels", problems=faults.problems)


def _decode(raw: bytes) -> Any:
    # NaN, which models write, is no fault of the file: it is a bad score of one pre-label.
    return json.loads(raw.decode("utf-8"))
