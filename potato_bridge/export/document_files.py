"""The files of targets that write documents: one SARIF log, or a folder with an index of its files."""

from contextlib import ExitStack
from pathlib import Path
from types import TracebackType
from typing import Any, BinaryIO, Final, Protocol, Self

from potato_bridge.export.paths import file_name
from potato_bridge.export.place import INDEX
from potato_bridge.export.rows import Row
from potato_bridge.export.sarif import SCHEMA, VERSION
from potato_bridge.model import encode

_HEAD: Final = encode({"$schema": SCHEMA, "version": VERSION}).removesuffix(b"}") + b',"runs":['


class Sink(Protocol):
    """Where documents go."""

    def add(self, document: dict[str, Any]) -> None:
        """Writes one."""


class SarifFile:
    """Writes runs to an open file as one log; use it as a context manager."""

    def __init__(self, file: BinaryIO) -> None:
        self._file = file
        self._written = 0

    def __enter__(self) -> Self:
        """The writer itself."""
        self._file.write(_HEAD)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        """Ends the log; after an error there is no file to end."""
        if kind is None:
            self._file.write(b"\n]}\n" if self._written else b"]}\n")

    def add(self, document: dict[str, Any]) -> None:
        """Writes one run, on a line of its own."""
        self._file.write((b",\n" if self._written else b"\n") + encode(document))
        self._written += 1


class _Folder:
    """A folder with an index of its files; use it as a context manager."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._stack = ExitStack()

    def __enter__(self) -> Self:
        """The writer itself, with its index open."""
        self._index = self._stack.enter_context(open(self._folder / INDEX, "wb"))
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        """Closes what is open."""
        self._stack.__exit__(kind, error, traceback)

    def _name(self, ids: list[str | None], suffix: str, facts: Row) -> Path:
        """The path of a new file, which the index then names."""
        name = file_name(ids, suffix)
        self._index.write(encode({"file": name, **facts}) + b"\n")
        return self._folder / name


class GithubFolder(_Folder):
    """A file for each review, which is a request's body."""

    def add(self, document: dict[str, Any]) -> None:
        """Writes one review."""
        facts = {name: value for name, value in document.items() if name != "review"}
        ids = [document["instance_id"], document["annotator"], document["annotation"]]
        # Mode x: a name that is taken is a defect, never a review less.
        with open(self._name(ids, ".json", facts), "xb") as file:
            file.write(encode(document["review"]) + b"\n")


class SarifFolder(_Folder):
    """A log for each item; its runs come one after the other."""

    def __init__(self, folder: Path) -> None:
        super().__init__(folder)
        self._item: str | None = None
        self._open = ExitStack()
        self._log: SarifFile | None = None

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        """Ends the last log and closes what is open."""
        self._open.__exit__(kind, error, traceback)
        super().__exit__(kind, error, traceback)

    def add(self, document: dict[str, Any]) -> None:
        """Writes one run into the log of its item."""
        item = document["properties"]["instance_id"]
        if self._log is None or item != self._item:
            self._open.close()
            path = self._name([item], ".sarif", {"instance_id": item})
            self._log = self._open.enter_context(SarifFile(self._open.enter_context(open(path, "xb"))))
            self._item = item
        self._log.add(document)
