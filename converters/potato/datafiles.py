"""Rows of data files, streamed: JSON arrays, JSON lines, CSV, TSV, Parquet. Memory stays flat whatever the size.

A JSON array is read in blocks and decoded one element at a time. `json` of the standard library decodes: it keeps
whole numbers of any size and says where an error is.
"""

import codecs
import csv
import importlib
import io
import json
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any, NoReturn

from potato_bridge.errors import InputError, Problem
from potato_bridge.model.project import DataFile

#: Problems after which reading stops: more of them say the same again.
MAX_PROBLEMS = 50
_BLOCK = 1 << 20
#: Rows of a Parquet file that are in memory at once.
_PARQUET_ROWS = 64
#: Error positions this near to the end of a block can come from the cut: an escaped surrogate pair has 12 characters.
_CUT = 16
_SPACE = re.compile(r"[ \t\r\n]*")


@dataclass
class Row:
    """One row: its fields, and where it stands (1-based; a Parquet row has no line but a number)."""

    data: dict[str, Any]
    line: int | None = None
    number: int | None = None


@dataclass
class Faults:
    """Collects problems of all files; raises when there are enough."""

    problems: list[Problem] = field(default_factory=list)

    def add(self, message: str, file: str, line: int | None = None, path: str = "", hint: str = "") -> None:
        """Notes one problem.

        Raises:
            InputError: It was the last of `MAX_PROBLEMS`.
        """
        self.problems.append(Problem(message, file, line, path, hint))
        if len(self.problems) >= MAX_PROBLEMS:
            self.settle()

    def settle(self) -> None:
        """Raises what was found.

        Raises:
            InputError: There is any problem.
        """
        if self.problems:
            count = len(self.problems)
            more = " (reading stopped there)" if count >= MAX_PROBLEMS else ""
            raise InputError(f"{count} problem(s) in the data files{more}", problems=self.problems)


def read_rows(file: DataFile, name: str, faults: Faults) -> Iterator[Row]:
    """The rows of one file in their order; an empty line is none. `name` stands for the file in problems."""
    if not file.path.is_file():
        faults.add("there is no such file", name, hint=f"It was looked for at {file.path}.")
        return
    if file.format == "parquet":
        yield from _parquet_rows(file, name, faults)
        return
    with file.path.open("rb") as raw:
        head = raw.read(4096)
        raw.seek(0)
        encoding = _encoding(file, head, name, faults)
        if encoding is None:
            return
        # Only '\n' ends a line: U+2028 and the like stand inside of JSON strings and cells.
        text = io.TextIOWrapper(raw, encoding=encoding, newline="" if file.format in ("csv", "tsv") else "\n")
        try:
            if file.format in ("csv", "tsv"):
                yield from _csv_rows(text, "\t" if file.format == "tsv" else ",", name, faults)
            elif file.format == "json" and _starts_array(text):
                yield from _array_rows(text, name, faults)
            else:
                yield from _json_lines(text, name, faults, file.format)
        except UnicodeDecodeError as error:
            _explain_decoding(file, name, faults, encoding, error)


def _encoding(file: DataFile, head: bytes, name: str, faults: Faults) -> str | None:
    if file.encoding is not None:
        # A byte order mark is no text, whether the config says utf-8 or utf-8-sig.
        return "utf-8-sig" if codecs.lookup(file.encoding).name == "utf-8" else file.encoding
    if head.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)) or b"\0" in head[:64]:
        hint = "Set it in the config: data_files: [{path: …, encoding: utf-16}]."
        faults.add("the file looks like UTF-16, and its config says no encoding", name, 1, hint=hint)
        return None
    return "utf-8-sig"


def _explain_decoding(file: DataFile, name: str, faults: Faults, encoding: str, error: UnicodeDecodeError) -> None:
    hint = "Save it as UTF-8, or set the encoding in the config: data_files: [{path: …, encoding: latin-1}]."
    line, offset = None, None
    if encoding == "utf-8-sig":
        # The position in the error is that in a block: look the byte up in the file.
        start = 0
        with file.path.open("rb") as raw:
            for number, data in enumerate(raw, 1):
                try:
                    data.decode("utf-8")
                except UnicodeDecodeError as found:
                    line, offset = number, start + found.start
                    break
                start += len(data)
    place = f"byte {offset} (0x{error.object[error.start]:02x})" if offset is not None else f"{error.reason}"
    shown = "UTF-8" if encoding == "utf-8-sig" else encoding
    faults.add(f"the file is not {shown}: {place}", name, line, hint=hint)


def _refuse_constant(name: str) -> NoReturn:
    raise ValueError(f"{name} is not JSON")


_DECODER = json.JSONDecoder(parse_constant=_refuse_constant)


def _json_lines(text: io.TextIOWrapper, name: str, faults: Faults, kind: str) -> Iterator[Row]:
    for number, line in enumerate(text, 1):
        if not line.strip():
            continue
        try:
            value, end = _DECODER.raw_decode(line, _skip_space(line, 0))
            if line[end:].strip():
                raise json.JSONDecodeError("Extra data", line, end)
        except json.JSONDecodeError as error:
            message, hint = f"not JSON: {error.msg} (column {error.pos + 1})", ""
            if not line.endswith("\n") and _is_cut(error, len(line.rstrip())):
                message, hint = "the file ends in the middle of this object: it was cut off", "Write it again."
            elif number == 1 and line.strip() in ("{", "["):
                what = "a JSON array, or one object a line" if kind == "json" else "one object a line"
                message, hint = f"this line is no JSON by itself; a .{kind} file holds {what}", ""
                faults.add(message, name, number, hint="Join each object into one line.")
                return
            faults.add(message, name, number, hint=hint)
            continue
        except (ValueError, RecursionError) as error:
            faults.add(_reason(error), name, number, hint=_hint(error))
            continue
        if isinstance(value, dict):
            yield Row(value, number)
        else:
            faults.add(f"expected a JSON object, found {_kind(value)}", name, number)


def _reason(error: Exception) -> str:
    return "values are nested too deeply" if isinstance(error, RecursionError) else f"not JSON: {error}"


def _hint(error: Exception) -> str:
    return "Use null, or leave the field out." if "is not JSON" in str(error) else ""


def _kind(value: Any) -> str:
    kinds = {list: "a list", str: "text", bool: "a boolean", type(None): "null"}
    return kinds.get(type(value), "a number")


def _is_cut(error: json.JSONDecodeError, length: int) -> bool:
    return error.msg.startswith("Unterminated string") or error.pos >= length - _CUT


def _skip_space(text: str, start: int) -> int:
    match = _SPACE.match(text, start)
    return match.end() if match else start


def _starts_array(text: io.TextIOWrapper) -> bool:
    found = False
    while block := text.read(_BLOCK):
        if block.strip():
            found = block.lstrip().startswith("[")
            break
    text.seek(0)
    return found


@dataclass
class _Buffer:
    """A window on a text: what is read and not yet used, and the line it starts in."""

    text: io.TextIOWrapper
    data: str = ""
    at: int = 0
    line: int = 1
    counted: int = 0
    ended: bool = False

    def more(self) -> None:
        """Drops what is used and reads on; the window doubles, so that a long element costs linear time."""
        self.line_at(self.at)
        wanted = max(_BLOCK, len(self.data) - self.at)
        block = self.text.read(wanted)
        self.ended = not block
        self.data, self.at, self.counted = self.data[self.at :] + block, 0, 0

    def line_at(self, position: int) -> int:
        """The line of a position; positions are asked in rising order."""
        self.line += self.data.count("\n", self.counted, position)
        self.counted = position
        return self.line

    def peek(self) -> str:
        """The next character that is no space; empty at the end."""
        while True:
            self.at = _skip_space(self.data, self.at)
            if self.at < len(self.data):
                return self.data[self.at]
            if self.ended:
                return ""
            self.more()


def _array_rows(text: io.TextIOWrapper, name: str, faults: Faults) -> Iterator[Row]:
    buffer = _Buffer(text)
    buffer.peek()
    buffer.at += 1
    if buffer.peek() == "]":
        buffer.at += 1
    else:
        while True:
            buffer.peek()
            line = buffer.line_at(buffer.at)
            found_value, value = _next_value(buffer, name, faults)
            if not found_value:
                return
            if isinstance(value, dict):
                yield Row(value, line)
            else:
                faults.add(f"expected a JSON object in the array, found {_kind(value)}", name, line)
            following = buffer.peek()
            line = buffer.line_at(buffer.at)
            buffer.at += 1
            if following == "]":
                break
            if following != ",":
                found = repr(following) if following else "the end of the file: it was cut off"
                faults.add(f"expected ',' or ']' after an element of the array, found {found}", name, line)
                return
    if rest := buffer.peek():
        faults.add(f"expected nothing after the array, found {rest!r}", name, buffer.line_at(buffer.at))


def _next_value(buffer: _Buffer, name: str, faults: Faults) -> tuple[bool, Any]:
    """Takes one whole value, reading on as needed; (False, None) with a problem where there is none."""
    while True:
        try:
            value, end = _DECODER.raw_decode(buffer.data, buffer.at)
            # A number at the end of a block may go on in the next.
            if end < len(buffer.data) or buffer.ended:
                buffer.at = end
                return True, value
        except json.JSONDecodeError as error:
            cut = _is_cut(error, len(buffer.data))
            if buffer.ended or not cut:
                line = buffer.line_at(max(error.pos, buffer.counted))
                message = "the file ends in the middle of this object: it was cut off" if cut else ""
                faults.add(message or f"not JSON: {error.msg}", name, line, hint="The rest of the file is not read.")
                return False, None
        except (ValueError, RecursionError) as error:
            faults.add(_reason(error), name, buffer.line_at(buffer.at), hint=_hint(error))
            return False, None
        buffer.more()


def _csv_rows(text: io.TextIOWrapper, delimiter: str, name: str, faults: Faults) -> Iterator[Row]:
    # A trace in one cell is far over the module's limit of 128 KiB, which exists once per process.
    csv.field_size_limit(max(csv.field_size_limit(), 1 << 30))
    reader = csv.reader(text, delimiter=delimiter, strict=True)
    header: list[str] | None = None
    while True:
        line = reader.line_num + 1
        try:
            cells = next(reader, None)
        except csv.Error as error:
            hint = "A quotation mark inside of a quoted cell is written twice; each that opens must close."
            faults.add(f"not {'TSV' if delimiter == chr(9) else 'CSV'}: {error}", name, line, hint=hint)
            return
        if cells is None:
            break
        if not cells:
            continue
        if header is None:
            header = cells
            if double := sorted({cell for cell in cells if cells.count(cell) > 1}):
                faults.add(f"the header has {double[0]!r} twice", name, line, hint="Rename one of the columns.")
                return
            continue
        if len(cells) != len(header):
            message = f"the row has {len(cells)} cells, and the header {len(header)}"
            faults.add(message, name, line, hint="A cell with a delimiter or a newline in it needs quotes.")
            continue
        yield Row(dict(zip(header, cells, strict=True)), line)
    if header is None:
        faults.add("the file is empty: it needs a header and a row for each item", name, 1)


def _parquet_rows(file: DataFile, name: str, faults: Faults) -> Iterator[Row]:
    # Heavy, and of no use to most projects. Its types depend on its version, so it is Any here.
    pyarrow: Any = importlib.import_module("pyarrow")
    reader: Any = importlib.import_module("pyarrow.parquet").ParquetFile
    try:
        with reader(file.path) as parquet:
            number = 0
            for batch in parquet.iter_batches(batch_size=_PARQUET_ROWS):
                for data in batch.to_pylist():
                    number += 1
                    yield Row(data, None, number)
    except (pyarrow.ArrowException, OSError) as error:
        # pyarrow explains over several lines; the first one says it.
        faults.add(f"not a Parquet file that can be read: {str(error).splitlines()[0]}", name)
