"""Records are looked up by item; a file that is not what it must be is refused with file and line."""

from __future__ import annotations

from pathlib import Path

import pytest

from potato_bridge.errors import InputError, StateError
from potato_bridge.export.index import open_index
from tests.export.helpers import first_error, record, write_lines


def test_records_of_an_item_in_file_order(tmp_path: Path) -> None:
    lines = [record(item_id, f"ann{n}", first_error(0)) for n, item_id in enumerate("abacab")]
    with open_index(write_lines(tmp_path / "r.jsonl", lines)) as index:
        assert len(index) == 6
        assert [found.annotator for found in index.take("b")] == ["ann1", "ann5"]
        assert [found.annotator for found in index.take("nobody")] == []
        assert [found.annotator for found in index.rest()] == ["ann0", "ann2", "ann3", "ann4"]
        assert index.take("a") == []


def test_bom_crlf_blank_lines_and_no_last_newline(tmp_path: Path) -> None:
    path = tmp_path / "r.jsonl"
    line = b'{"id":"\xc3\xa9","annotator":"ann","annotations":{}}'
    path.write_bytes(b"\xef\xbb\xbf" + line + b"\r\n\r\n  \n" + line)
    with open_index(path) as index:
        assert len(index) == 2
        assert len(index.take("é")) == 2


def test_every_bad_line_is_named(tmp_path: Path) -> None:
    path = tmp_path / "r.jsonl"
    good = '{"id":"a","annotator":"ann","annotations":{}}\n'
    path.write_text(good + '{"id":"a"\n' + good + '{"id":7,"annotator":"ann","annotations":{}}\n[]\n{"id":"a","ann')
    with pytest.raises(InputError) as error, open_index(path):
        pass
    assert [(problem.file, problem.line) for problem in error.value.problems] == [(str(path), n) for n in (2, 4, 5, 6)]
    assert f"{path}:2: not a record: " in str(error.value)


def test_wrong_fields_are_named_with_their_line(tmp_path: Path) -> None:
    path = write_lines(tmp_path / "r.jsonl", [record("a", "ann", None), record("a", "ann", None, lead_time="long")])
    with open_index(path) as index, pytest.raises(InputError, match=r"r\.jsonl:2: .*lead_time"):
        index.take("a")


def test_not_text_at_all(tmp_path: Path) -> None:
    path = tmp_path / "r.jsonl"
    path.write_bytes('{"id":"a","annotator":"ann","annotations":{}}\n'.encode("utf-16"))
    with pytest.raises(InputError, match="lines that are not records"), open_index(path):
        pass


def test_a_later_schema(tmp_path: Path) -> None:
    path = write_lines(tmp_path / "r.jsonl", [record("a", "ann", None, schema=2)])
    with pytest.raises(StateError, match=r"r\.jsonl:1: record schema 2 is newer") as error, open_index(path):
        pass
    assert error.value.hint == "Update potato-bridge."


def test_no_such_file_and_a_folder(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="No such file"), open_index(tmp_path / "none.jsonl"):
        pass
    with pytest.raises(InputError, match="is a folder"), open_index(tmp_path):
        pass


def test_a_file_that_changes_under_the_reader(tmp_path: Path) -> None:
    path = write_lines(tmp_path / "r.jsonl", [record("a", "ann", None), record("b", "ann", None)])
    with open_index(path) as index:
        write_lines(path, [record("b", "ann", None), record("a", "ann", None)])
        with pytest.raises(InputError, match="changed while it was read"):
            index.take("a")
