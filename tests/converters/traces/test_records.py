"""Records: every encoding and packing, and what is no JSON."""

import gzip
import io
import json
import zipfile
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

from potato_bridge.converters.traces.inputs import Source, expand, file_source
from potato_bridge.converters.traces.records import decode, form_of
from potato_bridge.errors import InputError
from tests.converters.traces.helpers import source_of

ROWS = [{"a": 1, "b": "ä"}, {"a": 2}]
LINES = "\n".join(json.dumps(row, ensure_ascii=False) for row in ROWS) + "\n"


def values(source: Source) -> list[Any]:
    return [raw.value for raw in source.records() if raw.bad is None]


@pytest.mark.parametrize(
    ("data", "form"),
    [
        (LINES.encode(), "lines"),
        (json.dumps(ROWS).encode(), "array"),
        (json.dumps(ROWS, indent=2).encode(), "array"),
        (json.dumps({"a": {}, "b": [{}]}, indent=2).encode(), "object"),
        (b'{"a": 1}', "object"),
        (b'{"a": 1}\n\n', "object"),
        (b'broken\n{"a": 1}\n{"a": 2}\n', "lines"),
        (b'[1]\n{"a": 1}\n', "lines"),
        (b'{"a": \n{"a": 1}\n', "lines"),
        (b"# a page\n\ntext\n", "text"),
        (b"", "text"),
    ],
)
def test_the_form_is_told_by_what_is_there(data: bytes, form: str) -> None:
    assert source_of(data).form == form


def test_a_first_line_longer_than_what_is_looked_at() -> None:
    assert form_of(b'{"a": "' + b"x" * 100, whole=False) == "lines"


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16"])
def test_encodings(encoding: str) -> None:
    assert values(source_of(LINES.encode(encoding))) == ROWS
    assert values(source_of(json.dumps(ROWS).encode(encoding))) == ROWS
    assert source_of(LINES.encode(encoding)).head == ROWS


def test_a_line_that_is_cut_off_is_bad_and_the_others_are_read() -> None:
    raws = list(source_of(LINES.encode()[:-4]).records())
    assert [raw.value for raw in raws] == [ROWS[0], None]
    assert raws[1].line == 2 and raws[1].bad is not None and raws[1].bad.startswith("the file ends in the middle")


@pytest.mark.parametrize(
    ("text", "value", "notes"),
    [
        ('{"a": NaN, "b": [Infinity, -Infinity]}', {"a": None, "b": [None, None]}, ("not-a-number",)),
        ('{"a": 1e999}', {"a": None}, ("not-a-number",)),
        ('{"a": "x\\ud800y"}', {"a": "x\ufffdy"}, ("lone-surrogate",)),
        ('{"a": "\\ud83d\\ude00"}', {"a": "😀"}, ()),
    ],
)
def test_what_other_programs_write(text: str, value: Any, notes: tuple[str, ...]) -> None:
    assert decode(text.encode()) == (value, notes, None)


@pytest.mark.parametrize(
    ("data", "why"),
    [
        (b"\xff{}", "not UTF-8: byte 0 (0xff)"),
        (b'{"a": }', "not JSON: Expecting value (column 7)"),
        (b"[" * 100_000, "values are nested too deeply"),
    ],
)
def test_what_is_no_json_says_why(data: bytes, why: str) -> None:
    assert decode(data) == (None, (), why)


def test_a_long_line() -> None:
    row = {"a": "x" * (20 << 20)}
    source = source_of(json.dumps(row).encode() + b"\n" + b'{"a": 2}\n')
    assert source.form == "lines"
    assert [len(str(value["a"])) for value in values(source)] == [20 << 20, 1]
    assert len(source.head) == 1


def test_packed_files(tmp_path: Path) -> None:
    (tmp_path / "a.jsonl.gz").write_bytes(gzip.compress(LINES.encode()))
    with pa.output_stream(str(tmp_path / "b.jsonl.zst"), compression="zstd") as file:
        file.write(LINES.encode())
    with zipfile.ZipFile(tmp_path / "c.zip", "w") as archive:
        archive.writestr("in/one.jsonl", LINES)
        archive.writestr("in/two.jsonl.gz", gzip.compress(b'{"a": 3}\n'))
    found = list(expand([str(tmp_path)], is_one=lambda source: False))
    assert [source.name.removeprefix(f"{tmp_path}/") for source in found] == [
        "a.jsonl.gz",
        "b.jsonl.zst",
        "c.zip!in/one.jsonl",
        "c.zip!in/two.jsonl.gz",
    ]
    assert [values(source) for source in found] == [ROWS, ROWS, ROWS, [{"a": 3}]]
    assert [source.stem for source in found] == ["a", "b", "one", "two"]
    beside = found[2].beside("two.jsonl.gz")
    assert beside is not None and values(beside) == [{"a": 3}]
    assert found[2].beside("../other") is None


def test_what_cannot_be_unpacked_is_named(tmp_path: Path) -> None:
    (tmp_path / "a.gz").write_bytes(b"no gzip")
    with pytest.raises(InputError, match=r"a\.gz: cannot be read"):
        _ = file_source(tmp_path / "a.gz").form


def test_folders_globs_and_each_file_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("b/one.jsonl", "b/.hidden.jsonl", "a.jsonl"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(LINES)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(b'{"a": 9}\n')))
    found = list(expand(["*.jsonl", "b", "a.jsonl", "-"], is_one=lambda source: False))
    assert [(source.name, source.found) for source in found] == [
        ("a.jsonl", False),
        ("b/one.jsonl", True),
        ("stdin", False),
    ]
    assert values(found[2]) == [{"a": 9}]
    with pytest.raises(InputError, match=r"nothing\*: there is no such file"):
        list(expand(["nothing*"], is_one=lambda source: False))


def test_a_folder_that_is_one_source(tmp_path: Path) -> None:
    (tmp_path / "run" / "events").mkdir(parents=True)
    (tmp_path / "run" / "events" / "2.json").write_text("{}")
    (tmp_path / "run" / "events" / "1.json").write_text("{}")
    [found] = expand([str(tmp_path)], is_one=lambda source: "events/1.json" in source.members)
    assert found.is_folder and list(found.members) == ["events/1.json", "events/2.json"]
    assert [one.stem for one in found.matching("events/*.json")] == ["1", "2"]
    assert list(found.records()) == []


def test_a_number_of_thousands_of_digits_does_not_cost_its_record() -> None:
    data = b'{"a": ' + b"9" * 5000 + b', "b": "kept", "c": ' + b"9" * 400 + b"}"
    value, notes, bad = decode(data)
    assert (value["a"], value["b"], value["c"]) == (None, "kept", int("9" * 400))
    assert (notes, bad) == (("not-a-number",), None)
