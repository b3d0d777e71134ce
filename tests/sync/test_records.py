"""Records files: one line at a time in, all or nothing out."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from potato_bridge.errors import InputError, StateError
from potato_bridge.model import Record
from potato_bridge.sync.records import read_records, write_records


def record(item_id: str) -> Record:
    return Record(id=item_id, annotator="a@example.com", annotations={"q": "é😀\u2028"}, unknown={"later": 1})


def test_round_trip(tmp_path: Path) -> None:
    path = tmp_path / "new" / "records.jsonl"
    written = [record("a"), record('b"\n')]
    assert write_records(path, written) == 2
    assert list(read_records(path)) == written
    assert path.read_bytes().count(b"\n") == 2


def test_blank_lines_and_a_byte_order_mark(tmp_path: Path) -> None:
    path = tmp_path / "records.jsonl"
    path.write_bytes(b'\xef\xbb\xbf{"id":"a","annotator":"b","annotations":{}}\r\n\n  \n')
    assert [found.id for found in read_records(path)] == ["a"]


def test_reading_is_lazy(tmp_path: Path) -> None:
    path = tmp_path / "records.jsonl"
    write_records(path, [record("a")])
    path.write_bytes(path.read_bytes() + b"broken")
    assert next(read_records(path)).id == "a"


@pytest.mark.parametrize(
    ("line", "message"),
    [
        (b'{"id": "b", "annot', "not JSON"),
        (b"[]", "expected a JSON object"),
        (b'{"id": 5, "annotator": "x", "annotations": {}}', r"Expected `str`, got `int` - at `\$.id`"),
        (b'{"annotator": "x", "annotations": {}}', "missing required field `id`"),
        (b"\xff\xfe", "not JSON"),
    ],
)
def test_errors_name_the_line(tmp_path: Path, line: bytes, message: str) -> None:
    path = tmp_path / "records.jsonl"
    write_records(path, [record("a")])
    path.write_bytes(path.read_bytes() + line + b"\n")
    with pytest.raises(InputError, match=rf"records\.jsonl:2: .*{message}"):
        list(read_records(path))


def test_a_newer_schema_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "records.jsonl"
    path.write_bytes(b'{"id":"a","annotator":"b","annotations":{},"schema":2}\n')
    with pytest.raises(StateError, match=r"records\.jsonl:1: .*schema 2, here 1"):
        list(read_records(path))


def test_a_missing_file(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"cannot read .*records\.jsonl"):
        list(read_records(tmp_path / "records.jsonl"))


def test_a_failure_leaves_the_old_file(tmp_path: Path) -> None:
    path = tmp_path / "records.jsonl"
    write_records(path, [record("a")])
    before = path.read_bytes()

    def fails() -> Iterator[Record]:
        yield record("b")
        raise RuntimeError("in the middle")

    with pytest.raises(RuntimeError):
        write_records(path, fails())
    assert path.read_bytes() == before
    assert [found.name for found in tmp_path.iterdir()] == ["records.jsonl"]
