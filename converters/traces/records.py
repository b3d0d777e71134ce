"""The records of a source: JSON values, each with its place; what cannot be decoded is a bad record, never an end.

A source is decoded whatever its encoding (UTF-8 with or without a mark, UTF-16) and whatever packs it (`inputs`).
"""

import codecs
import hashlib
import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, BinaryIO, Literal

import msgspec

#: `lines`: one JSON value a line. `array`: one JSON array. `object`: one JSON object. `text`: no JSON.
Form = Literal["lines", "array", "object", "text"]

#: Lines by which the form is told.
_LOOKED_AT = 40
_SURROGATE = re.compile("[\ud800-\udfff]")
_MARKS = (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)


@dataclass(slots=True)
class Raw:
    """One record.

    Attributes:
        value: The JSON value; None of a bad record.
        ordinal: 0-based position among the records of its source.
        line: 1-based line, of JSON Lines.
        data: Its bytes, of JSON Lines and of an object; those of the whole source for the elements of an array.
        element: Whether it is one element of an array.
        bad: Why it is no JSON; None where it is.
        notes: What was changed while it was decoded, as codes of losses: `not-a-number`, `lone-surrogate`.
    """

    value: Any
    ordinal: int
    line: int | None = None
    data: bytes = b""
    bad: str | None = None
    notes: tuple[str, ...] = ()
    element: bool = False

    def digest(self) -> str:
        """SHA-256 of the record, in hexadecimal: of its bytes, or of what an element of an array says."""
        return hashlib.sha256(_encoded(self.value)).hexdigest() if self.element else self.array_digest()

    def array_digest(self) -> str:
        """SHA-256 of its bytes, which of an element are those of the whole array."""
        return hashlib.sha256(self.data).hexdigest()


def _encoded(value: Any) -> bytes:
    try:
        return msgspec.json.encode(value)
    except OverflowError:
        # An integer of more than 64 bits.
        return json.dumps(value).encode("utf-8", "surrogatepass")


def form_of(head: bytes, *, whole: bool) -> Form:
    """What a source is, by its first bytes.

    Args:
        head: The first bytes, decoded by `utf8`.
        whole: Whether that is all there is.
    """
    text = head.strip()
    lines = [line for line in text.split(b"\n")[:_LOOKED_AT] if line.strip()]
    if text[:1] == b"[" and (len(lines) == 1 or decode(lines[0])[2] is not None):
        return "array"
    # A line that is an object by itself is one of several, also where the first one is broken; one that is indented
    # is a part of a larger one.
    if len(lines) > 1 and any(line[:1] == b"{" and isinstance(decode(line)[0], dict) for line in lines):
        return "lines"
    if len(lines) > 1 and all(line[:1] == b"[" for line in lines) and isinstance(decode(lines[0])[0], list):
        return "lines"
    if text[:1] != b"{":
        return "text"
    # The first of JSON Lines may be longer than what was looked at; `{` alone begins an object over several lines.
    return "lines" if len(lines) == 1 and not whole else "object"


def utf8(data: bytes) -> bytes:
    """The bytes as UTF-8 without a mark, where a mark says that they are something else."""
    if data.startswith(codecs.BOM_UTF8):
        return data[len(codecs.BOM_UTF8) :]
    if data.startswith(_MARKS):
        return data.decode("utf-16", "replace").encode("utf-8", "replace")
    return data


def is_utf16(data: bytes) -> bool:
    """Whether the bytes begin with a mark of UTF-16."""
    return data.startswith(_MARKS)


def decode(data: bytes) -> tuple[Any, tuple[str, ...], str | None]:
    """One JSON value: it, the codes of what was changed, and why it is none."""
    try:
        return msgspec.json.decode(data), (), None
    except RecursionError:
        return None, (), "values are nested too deeply"
    except msgspec.DecodeError:
        pass
    # Python's own reads what other programs write: NaN, half a surrogate pair, numbers of any size.
    notes: set[str] = set()

    def constant(name: str) -> None:
        notes.add("not-a-number")

    def integer(digits: str) -> int | None:
        try:
            return int(digits)
        except ValueError:
            # Python takes no number of thousands of digits; the rest of the record is worth more than it.
            notes.add("not-a-number")
            return None

    try:
        value = json.loads(data.decode("utf-8"), parse_constant=constant, parse_int=integer)
    except UnicodeDecodeError as error:
        return None, (), f"not UTF-8: byte {error.start} (0x{error.object[error.start]:02x})"
    except json.JSONDecodeError as error:
        return None, (), f"not JSON: {error.msg} (column {error.colno})"
    except RecursionError:
        return None, (), "values are nested too deeply"
    return _cleaned(value, notes), tuple(sorted(notes)), None


def _cleaned(value: Any, notes: set[str]) -> Any:
    """Values that a file can hold: no half of a surrogate pair, no number that is infinite."""
    if isinstance(value, str):
        if _SURROGATE.search(value) is None:
            return value
        notes.add("lone-surrogate")
        return _SURROGATE.sub("\ufffd", value)
    if isinstance(value, float) and value in (float("inf"), float("-inf")):
        notes.add("not-a-number")
        return None
    if isinstance(value, list):
        return [_cleaned(one, notes) for one in value]
    if isinstance(value, dict):
        return {_cleaned(key, notes): _cleaned(one, notes) for key, one in value.items()}
    return value


def read_lines(file: BinaryIO) -> Iterator[Raw]:
    """The records of JSON Lines; an empty line is none. Only a line feed ends a line."""
    ordinal = 0
    for number, line in enumerate(file, 1):
        data = line.strip()
        if number == 1:
            data = utf8(data)
        if not data:
            continue
        value, notes, bad = decode(data)
        if bad is not None and not line.endswith(b"\n"):
            bad = f"the file ends in the middle of this line: it was cut off ({bad})"
        yield Raw(value, ordinal, number, data, bad, notes)
        ordinal += 1


def read_whole(data: bytes, form: Form) -> Iterator[Raw]:
    """The elements of an array, or one object."""
    value, notes, bad = decode(data)
    if bad is None and form == "array" and isinstance(value, list):
        for ordinal, one in enumerate(value):
            yield Raw(one, ordinal, None, data, None, notes if ordinal == 0 else (), element=True)
        return
    yield Raw(value, 0, 1 if bad else None, data, bad, notes)
