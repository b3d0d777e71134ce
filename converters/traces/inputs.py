"""Where traces come from: files, folders, globs, standard input, and what packs them (.gz, .zst, .zip).

A source is one thing that a reader takes whole: a file, a member of a zip, or a folder that is itself one trace.
"""

import fnmatch
import glob
import gzip
import importlib
import io
import sys
import zipfile
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path, PurePosixPath
from typing import Any, BinaryIO, cast

from potato_bridge.converters.traces.records import Form, Raw, form_of, is_utf16, read_lines, read_whole, utf8
from potato_bridge.errors import InputError

#: Bytes by which a source is recognised.
_HEAD = 512 * 1024
#: Records of them.
_HEAD_RECORDS = 60
#: Of one packed file, unpacked: more is taken for a bomb.
MAX_UNPACKED = 16 << 30
_PACKED = (".gz", ".zst")
_ZIPS = (".zip", ".eval")
_SUFFIXES = frozenset((".json", ".jsonl", ".ndjson", ".traj", ".txt", ".log", *_PACKED, *_ZIPS))


@dataclass
class Source:
    """One source.

    Attributes:
        name: For people: the path, as given; `a.zip!member` inside of a zip; `stdin`.
        opened: Opens its bytes, unpacked, each time from the start.
        path: The file; None for a member of a zip and for standard input.
        beside_opened: Gives what lies beside it, by a relative name; see `beside`.
        members: Of a folder or a zip that is one source: its files by their relative names; else empty.
        found: Whether it was found in a folder or a zip that was named, and not named itself.
    """

    name: str
    opened: Callable[[], BinaryIO]
    path: Path | None = None
    beside_opened: "Callable[[str], Source | None]" = lambda relative: None
    members: "dict[str, Source]" = field(default_factory=dict)
    found: bool = False

    @property
    def stem(self) -> str:
        """The file's name without folders and suffixes that say a form: of `runs/v1.2.traj.json` `v1.2`."""
        name = PurePosixPath(self.name.rpartition("!")[2].replace("\\", "/")).name
        while (suffix := PurePosixPath(name).suffix) in _SUFFIXES:
            name = name.removesuffix(suffix)
        return name

    @property
    def is_folder(self) -> bool:
        """Whether it is a folder (or a zip) of files that belong together."""
        return bool(self.members)

    @cached_property
    def _head_bytes(self) -> tuple[bytes, bool]:
        if self.is_folder:
            return b"", True
        with self.open() as file:
            data = file.read(_HEAD)
            return utf8(data), not file.read(1)

    @cached_property
    def form(self) -> Form:
        """What it holds; of a folder, `text`."""
        head, whole = self._head_bytes
        return form_of(head, whole=whole)

    @contextmanager
    def open(self) -> Iterator[BinaryIO]:
        """Its bytes, unpacked.

        Raises:
            InputError: It cannot be read or unpacked.
        """
        try:
            with self.opened() as file:
                yield file
        except (EOFError, gzip.BadGzipFile, zipfile.BadZipFile, OSError) as error:
            reason = getattr(error, "strerror", None) or str(error) or type(error).__name__
            raise InputError(f"{self.name}: cannot be read: {reason}") from error

    def read(self) -> bytes:
        """All of its bytes, unpacked, as UTF-8."""
        with self.open() as file:
            return utf8(file.read())

    def text(self) -> str:
        """All of it as text; what is not UTF-8 becomes U+FFFD."""
        return self.read().decode("utf-8", "replace")

    def records(self) -> Iterator[Raw]:
        """Its records, from the first on; bad ones among them. Those of JSON Lines are read one at a time."""
        form = self.form
        if self.is_folder or form == "text":
            return
        if form != "lines":
            yield from read_whole(self.read(), form)
            return
        with self.open() as file:
            start = file.read(2)
            if is_utf16(start):
                yield from read_lines(io.BytesIO(utf8(start + file.read())))
                return
        with self.open() as file:
            yield from read_lines(file)

    @cached_property
    def head(self) -> list[Any]:
        """The values of its first good records, by which a reader recognises it; those of an object are one."""
        if self.form != "lines":
            return [raw.value for raw in self.records() if raw.bad is None][:_HEAD_RECORDS]
        data, whole = self._head_bytes
        lines = data.split(b"\n")
        if not whole and len(lines) > 1:
            lines.pop()
        elif not whole:
            # The first line is longer than what was looked at.
            first = next((raw.value for raw in self.records() if raw.bad is None), None)
            return [] if first is None else [first]
        found = read_lines(io.BytesIO(b"\n".join(lines[: 2 * _HEAD_RECORDS])))
        return [raw.value for raw in found if raw.bad is None][:_HEAD_RECORDS]

    def beside(self, relative: str) -> "Source | None":
        """A file by its name relative to the folder that this source stands in; None where there is none."""
        return self.beside_opened(relative)

    def matching(self, pattern: str) -> "list[Source]":
        """Of a folder: the members whose relative names match a glob, sorted by name."""
        return [self.members[name] for name in sorted(self.members) if fnmatch.fnmatchcase(name, pattern)]


def file_source(path: Path, name: str | None = None) -> Source:
    """A file, unpacked where it is packed."""

    def beside(relative: str) -> Source | None:
        other = path.parent / relative
        return file_source(other) if other.is_file() else None

    return Source(name or str(path), lambda: _opened(path), path, beside)


def folder_source(path: Path) -> Source:
    """A folder whose files belong together."""
    files = {file.relative_to(path).as_posix(): file_source(file) for file in _walk(path)}
    return Source(str(path), lambda: io.BytesIO(b""), path, members=files)


def stdin_source() -> Source:
    """Standard input, read once."""
    data = sys.stdin.buffer.read()
    return Source("stdin", lambda: io.BytesIO(data))


def zip_source(path: Path, name: str | None = None) -> Source:
    """A zip as one source: its members stand for files of a folder.

    Raises:
        InputError: It is no zip, or it would unpack to more than `MAX_UNPACKED`.
    """
    shown = name or str(path)
    try:
        with zipfile.ZipFile(path) as archive:
            found = [info for info in archive.infolist() if not info.is_dir()]
    except (zipfile.BadZipFile, OSError) as error:
        raise InputError(f"{shown}: cannot be read: {error}") from error
    if sum(info.file_size for info in found) > MAX_UNPACKED:
        raise InputError(f"{shown}: would unpack to more than {MAX_UNPACKED >> 30} GiB")
    members: dict[str, Source] = {}
    for info in found:
        here = PurePosixPath(info.filename).parent

        def beside(relative: str, here: PurePosixPath = here) -> Source | None:
            return members.get(str(here / relative))

        member = info.filename
        members[member] = Source(f"{shown}!{member}", lambda m=member: _member(path, m), None, beside)  # type: ignore[misc]
    return Source(shown, lambda: io.BytesIO(b""), path, members=members)


def paths_of(given: str) -> list[Path]:
    """The files and folders that an input names: itself, or what matches it as a glob.

    Raises:
        InputError: There is nothing by such a name.
    """
    if Path(given).exists():
        return [Path(given)]
    if found := sorted(glob.glob(given, recursive=True)):
        return [Path(one) for one in found]
    raise InputError(f"{given}: there is no such file or folder", hint="Name files, folders or globs.")


def expand(inputs: Sequence[str], *, is_one: Callable[[Source], bool]) -> Iterator[Source]:
    """The sources that are meant, in their order, each file once.

    Args:
        inputs: Paths of files and folders, globs, or `-`.
        is_one: Whether a folder or a zip is one source, and not several.

    Raises:
        InputError: There is nothing by such a name.
    """
    seen: set[Path] = set()
    for given in inputs:
        if given == "-":
            yield stdin_source()
            continue
        for path in paths_of(given):
            yield from _expand(path, seen, is_one)


def _expand(path: Path, seen: set[Path], is_one: Callable[[Source], bool]) -> Iterator[Source]:
    real = path.resolve()
    if real in seen:
        return
    seen.add(real)
    if path.is_dir():
        yield from _folder(path, seen, is_one)
    elif path.suffix in _ZIPS and zipfile.is_zipfile(path):
        archive = zip_source(path)
        if is_one(archive):
            yield archive
            return
        for member in archive.members.values():
            member.found = True
            yield member
    else:
        yield file_source(path)


def _folder(path: Path, seen: set[Path], is_one: Callable[[Source], bool]) -> Iterator[Source]:
    whole = folder_source(path)
    if whole.members and is_one(whole):
        yield whole
        return
    del whole
    for entry in sorted(path.iterdir()):
        # What is hidden was not meant, except where it was named.
        if not entry.name.startswith("."):
            for source in _expand(entry, seen, is_one):
                source.found = True
                yield source


def _walk(path: Path) -> Iterable[Path]:
    return (file for file in sorted(path.rglob("*")) if file.is_file() and not file.name.startswith("."))


def _opened(path: Path) -> BinaryIO:
    if path.suffix == ".gz":
        return cast(BinaryIO, gzip.open(path, "rb"))
    if path.suffix == ".zst":
        # Arrow brings zstandard; there is no other reason to have a library for it.
        arrow: Any = importlib.import_module("pyarrow")
        return cast(BinaryIO, io.BufferedReader(arrow.input_stream(str(path), compression="zstd")))
    return open(path, "rb")


def _member(path: Path, name: str) -> BinaryIO:
    archive = zipfile.ZipFile(path)
    file = archive.open(name)
    opened = cast(BinaryIO, gzip.open(file, "rb") if name.endswith(".gz") else file)
    archive.close()
    return opened
