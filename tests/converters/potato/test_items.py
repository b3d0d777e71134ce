"""Items of data files: what is read, and what is wrong with them (file, line, field, cure)."""

import decimal
import json
import tracemalloc
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pyarrow
import pyarrow.parquet
import pytest

from potato_bridge.converters.potato import datafiles
from potato_bridge.converters.potato.items import check_items, read_items
from potato_bridge.errors import InputError
from potato_bridge.model.project import DataFile, Item
from potato_bridge.notices import Notices
from tests.converters.potato.helpers import all_items, lines, make_project, problems_of, write_items

A = {"id": "a", "task": "first", "steps": [{"action": "look"}]}
B = {"id": "b", "task": "zweitens – 二", "steps": ["go", {"thought": "hm"}], "more": {"z": 1, "a": [None, 1.5]}}


def write_parquet(table: pyarrow.Table, path: Path) -> None:
    pyarrow.parquet.write_table(table, path)  # type: ignore[no-untyped-call]


# --- formats ---------------------------------------------------------------------------------------------------------

ONE_PER_LINE = lines(A) + "\n   \n" + lines(B)
SHAPES: dict[str, tuple[str, str, list[int]]] = {
    "jsonl": ("x.jsonl", ONE_PER_LINE, [1, 4]),
    "lines in .json": ("x.json", ONE_PER_LINE, [1, 4]),
    "no last newline": ("x.jsonl", ONE_PER_LINE.rstrip("\n"), [1, 4]),
    "windows newlines": ("x.jsonl", ONE_PER_LINE.replace("\n", "\r\n"), [1, 4]),
    "byte order mark": ("x.jsonl", "\ufeff" + ONE_PER_LINE, [1, 4]),
    "array in one line": ("x.json", json.dumps([A, B]), [1, 1]),
    "array over lines": ("x.json", json.dumps([A, B], indent=2), [2, 11]),
    "array after spaces": ("x.json", "\ufeff \n\n [\n" + json.dumps(A) + "\n,\n" + json.dumps(B) + "]\n\n", [4, 6]),
}


@pytest.mark.parametrize("shape", SHAPES, ids=SHAPES.keys())
@pytest.mark.parametrize("block", [1, 7, 1 << 20])
def test_json(shape: str, block: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(datafiles, "_BLOCK", block)
    name, text, where = SHAPES[shape]
    items, notices = all_items(write_items(tmp_path, name, text))
    assert [item.data for item in items] == [A, B]
    assert items == [
        Item(id="a", data=A, file=name, line=where[0]),
        Item(id="b", data=B, file=name, line=where[1]),
    ]
    assert list(notices) == []


def test_json_keeps_big_numbers_and_key_order(tmp_path: Path) -> None:
    text = '{"z": 123456789012345678901234567890, "steps": ["x"], "task": "t", "id": 7, "a": 1.0}\n'
    (item,), _ = all_items(write_items(tmp_path, "x.jsonl", text))
    assert item.id == "7"
    assert json.dumps(item.data) + "\n" == text


@pytest.mark.parametrize(("name", "delimiter"), [("x.csv", ","), ("x.tsv", "\t")])
def test_tables(name: str, delimiter: str, tmp_path: Path) -> None:
    rows = [
        ["id", "task", "steps", "n"],
        ["1", '"two\nlines"', '"[""go"", {""action"": ""x""}]"', "05"],
        [""] * 0,
        ["2", "t", '"[""é""]"', ""],
    ]
    items, notices = all_items(write_items(tmp_path, name, "\n".join(delimiter.join(row) for row in rows) + "\n"))
    assert [(item.id, item.line) for item in items] == [("1", 2), ("2", 5)]
    # All cells are text, but the steps.
    assert items[0].data == {"id": "1", "task": "two\nlines", "steps": ["go", {"action": "x"}], "n": "05"}
    (notice,) = notices
    assert (notice.code, notice.count, notice.where) == ("steps-from-cell", 2, f"{name}:2")


def test_a_cell_may_be_large(tmp_path: Path) -> None:
    cell = json.dumps(["x" * 300_000]).replace('"', '""')
    (item,), _ = all_items(write_items(tmp_path, "x.csv", f'id,task,steps\n1,t,"{cell}"\n'))
    assert len(item.data["steps"][0]) == 300_000


def test_parquet(tmp_path: Path) -> None:
    table = pyarrow.table(
        {
            "id": [1, 2],
            "task": ["t", "u"],
            "steps": [[{"thought": "a", "action": None}], [{"thought": "b", "action": "c"}]],
            "score": [0.5, float("nan")],
            "when": pyarrow.array([0, 1], pyarrow.timestamp("s")),
            "raw": [b"\x00\xff", None],
            "price": pyarrow.array([None, decimal.Decimal("1.50")], pyarrow.decimal128(5, 2)),
            "pairs": pyarrow.array([None, [("k", 1)]], pyarrow.map_(pyarrow.string(), pyarrow.int64())),
        }
    )
    write_parquet(table, tmp_path / "x.parquet")
    project = make_project(tmp_path, files=[DataFile(path=tmp_path / "x.parquet", format="parquet")])
    items, notices = all_items(project)
    assert [(item.id, item.line) for item in items] == [("1", None), ("2", None)]
    assert items[0].data == {
        "id": 1,
        "task": "t",
        "steps": [{"thought": "a", "action": None}],
        "score": 0.5,
        "when": "1970-01-01T00:00:00",
        "raw": "AP8=",
        "price": None,
        "pairs": None,
    }
    assert items[1].data["score"] is None
    assert (items[1].data["price"], items[1].data["pairs"]) == ("1.50", [["k", 1]])
    assert [(notice.code, notice.where) for notice in notices] == [
        ("converted-values", "x.parquet row 1 when"),
        ("converted-values", "x.parquet row 1 raw"),
        ("converted-values", "x.parquet row 2 score"),
        ("converted-values", "x.parquet row 2 price"),
        ("converted-values", "x.parquet row 2 pairs[0]"),
    ]


def test_parquet_steps_as_json_text(tmp_path: Path) -> None:
    table = pyarrow.table({"id": ["a"], "task": ["t"], "steps": ['[{"action": "x"}]']})
    write_parquet(table, tmp_path / "x.parquet")
    project = make_project(tmp_path, files=[DataFile(path=tmp_path / "x.parquet", format="parquet")])
    (item,), notices = all_items(project)
    assert item.data["steps"] == [{"action": "x"}]
    assert [notice.code for notice in notices] == ["steps-from-cell"]


@pytest.mark.parametrize("encoding", ["latin-1", "utf-16", "utf-16-le", "utf-8", "UTF8", "utf-8-sig", "shift_jis"])
@pytest.mark.parametrize("name", ["x.jsonl", "x.json", "x.csv"])
def test_encoding(encoding: str, name: str, tmp_path: Path) -> None:
    word = "テスト" if encoding == "shift_jis" else "é"
    text = lines({"id": "a", "task": word, "steps": ["x"]})
    if name == "x.json":
        text = f"[{text}]"
    elif name == "x.csv":
        text = f'id,task,steps\na,{word},"[""x""]"\n'
    (item,), _ = all_items(write_items(tmp_path, name, text.encode(encoding), encoding=encoding))
    assert item.data["task"] == word


def test_several_files_with_keys_of_their_own(tmp_path: Path) -> None:
    (tmp_path / "d").mkdir()
    (tmp_path / "d" / "a.jsonl").write_text(lines({"uid": 1, "title": "t", "steps": ["x"]}))
    (tmp_path / "b.jsonl").write_text(lines(A))
    files = [
        DataFile(path=tmp_path / "d" / "a.jsonl", format="jsonl", id_key="uid", text_key="title"),
        DataFile(path=tmp_path / "b.jsonl", format="jsonl"),
    ]
    items, _ = all_items(make_project(tmp_path, files=files))
    assert [(item.id, item.file) for item in items] == [("1", "d/a.jsonl"), ("a", "b.jsonl")]


def test_without_a_trace_items_need_no_steps(tmp_path: Path) -> None:
    (tmp_path / "x.jsonl").write_text(lines({"id": "a", "task": "t"}))
    project = make_project(tmp_path, steps_key=None, files=[DataFile(path=tmp_path / "x.jsonl", format="jsonl")])
    assert check_items(project, Notices()) == 1


def test_bad_characters_are_replaced_and_counted(tmp_path: Path) -> None:
    text = (
        lines(A)
        + '{"id": "b\\u0000", "task": "x\\ud800y\\u0000", "steps": [{"a": ["\\udc00 \\ud83d\\ude00"]}], "\\ud800": 1}\n'
    )
    items, notices = all_items(write_items(tmp_path, "x.jsonl", text))
    assert items[1].id == "b\ufffd"
    assert items[1].data == {"id": "b\ufffd", "task": "x\ufffdy\ufffd", "steps": [{"a": ["\ufffd 😀"]}], "\ufffd": 1}
    (notice,) = notices
    assert (notice.code, notice.count, notice.where) == ("replaced-characters", 5, "x.jsonl:2 id")


def test_memory_is_flat(tmp_path: Path) -> None:
    step = {"thought": "t" * 1000, "observation": ["o"] * 100}
    for name, start, between, end in (("x.json", "[", ",\n", "]"), ("x.jsonl", "", "\n", "\n")):
        with (tmp_path / name).open("w") as file:
            file.write(start)
            for i in range(8000):
                file.write((between if i else "") + json.dumps({"id": i, "task": "t", "steps": [step] * 2}))
            file.write(end)
        project = make_project(
            tmp_path, files=[DataFile(path=tmp_path / name, format="jsonl" if not start else "json")]
        )
        tracemalloc.start()
        assert check_items(project, Notices()) == 8000
        _, peak = tracemalloc.get_traced_memory()
        tracemalloc.stop()
        # The file has 24 MB.
        assert peak < 8_000_000, f"{name}: {peak}"


# --- what is wrong ---------------------------------------------------------------------------------------------------

OK = lines(A)
#: Name, content, and of each problem: line, path, words of message and hint.
ERRORS: dict[str, tuple[str, str | bytes, list[tuple[int | None, str, list[str]]]]] = {
    "empty": ("x.jsonl", "", [(None, "", ["no item"])]),
    "empty array": ("x.json", "[]", [(None, "", ["no item"])]),
    "no id": ("x.jsonl", OK + lines({"ID": "b", "task": "t", "steps": ["x"]}),
              [(2, "id", ["no field 'id'", "Did you mean 'ID'"])]),
    "no id near": ("x.jsonl", lines({"key": "b", "task": "t", "steps": ["x"]}),
                   [(1, "id", ["item_properties.id_key", "key, task, steps"])]),
    "id null": ("x.jsonl", lines({**A, "id": None}), [(1, "id", ["text or a whole number", "nothing"])]),
    "id true": ("x.jsonl", lines({**A, "id": True}), [(1, "id", ["found true"])]),
    "id empty": ("x.jsonl", lines({**A, "id": " "}), [(1, "id", ["an empty text"])]),
    "id float": ("x.jsonl", lines({**A, "id": 1.0}), [(1, "id", ["found 1.0", "Write ids as text"])]),
    "id list": ("x.jsonl", lines({**A, "id": ["a"]}), [(1, "id", ["a list"])]),
    "id twice": ("x.jsonl", OK + lines(B) + OK, [(3, "id", ["'a' was used before, at x.jsonl:1"])]),
    "id twice as number": ("x.jsonl", lines({**A, "id": 1}, {**A, "id": "1"}), [(2, "id", ["at x.jsonl:1"])]),
    "no text": ("x.jsonl", lines({"id": "b", "steps": ["x"]}), [(1, "task", ["no field 'task'", "text_key"])]),
    "text a list": ("x.jsonl", lines({**A, "task": ["t"]}), [(1, "task", ["expected text", "text_key"])]),
    "text null": ("x.jsonl", lines({**A, "task": None}), [(1, "task", ["expected text, found nothing"])]),
    "no steps": ("x.jsonl", lines({"id": "b", "task": "t", "stps": ["x"]}),
                 [(1, "steps", ["no field 'steps'", "Did you mean 'stps'"])]),
    "no steps at all": ("x.jsonl", lines({"id": "b", "task": "t"}), [(1, "steps", ["steps_key"])]),
    "steps text": ("x.jsonl", lines({**A, "steps": "[]"}), [(1, "steps", ["a list of steps", "'[]'", "steps_key"])]),
    "steps object": ("x.jsonl", lines({**A, "steps": {"turns": []}}), [(1, "steps", ["a mapping"])]),
    "steps null": ("x.jsonl", lines({**A, "steps": None}), [(1, "steps", ["found nothing"])]),
    "zero steps": ("x.jsonl", lines({**A, "steps": []}), [(1, "steps", ["is empty"])]),
    "a step null": ("x.jsonl", lines({**A, "steps": ["x", None]}), [(1, "steps[1]", ["an object or text"])]),
    "a step a list": ("x.jsonl", lines({**A, "steps": [["x"]]}), [(1, "steps[0]", ["found a list"])]),
    "nothing to rate": ("x.jsonl", lines({**A, "steps": [{"role": "user", "content": "x"}]}),
                        [(1, "steps", ["no step to rate", "agent's turns"])]),
    "not an object": ("x.jsonl", OK + "[1]\n3\nnull\n", [(2, "", ["a JSON object, found a list"]),
                                                       (3, "", ["found a number"]), (4, "", ["found null"])]),
    "array of others": ("x.json", '[\n"a",\n{"id":"b","task":"t","steps":["x"]}, 4]',
                        [(2, "", ["found text"]), (3, "", ["found a number"])]),
    "not JSON": ("x.jsonl", OK + "{'id': 1}\n" + lines(B), [(2, "", ["not JSON", "column 2"])]),
    "two in a line": ("x.jsonl", OK.strip() + OK, [(1, "", ["not JSON: Extra data"])]),
    "cut off": ("x.jsonl", OK + lines(B)[:40], [(2, "", ["cut off"])]),
    "array cut off": ("x.json", "[" + OK + "," + lines(B)[:40], [(2, "", ["cut off"])]),
    "array cut off after an element": ("x.json", "[\n" + OK + ",\n", [(4, "", ["cut off"])]),
    "array without end": ("x.json", "[\n" + OK, [(3, "", ["',' or ']'", "cut off"])]),
    "array without comma": ("x.json", "[\n" + OK + OK + "]", [(3, "", ["expected ',' or ']'", "'{'"])]),
    "array and more": ("x.json", "[\n" + OK + "]\n" + OK, [(4, "", ["nothing after the array"])]),
    "array not JSON": ("x.json", "[\n" + OK + ",\n{'a': 1}]" + " " * 50, [(4, "", ["not JSON", "not read"])]),
    "pretty printed": ("x.jsonl", json.dumps(A, indent=1), [(1, "", ["no JSON by itself", "into one line"])]),
    "pretty printed json": ("x.json", json.dumps({"data": [A]}, indent=1), [(1, "", ["a JSON array, or one"])]),
    "array in jsonl": ("x.jsonl", "[\n" + OK + "]", [(1, "", ["one object a line"])]),
    "NaN": ("x.jsonl", OK + '{"id": "b", "task": "t", "steps": ["x"], "n": NaN}\n', [(2, "", ["NaN", "Use null"])]),
    "NaN in an array": ("x.json", "[\n" + OK + ',{"n": -Infinity}]', [(3, "", ["-Infinity is not JSON"])]),
    "infinite": ("x.jsonl", '{"id": "b", "task": "t", "steps": [{"n": 1e999}]}\n',
                 [(1, "steps[0].n", ["inf is no JSON number"])]),
    "control character": ("x.jsonl", '{"id": "a\tb"}\n', [(1, "", ["not JSON: Invalid control character"])]),
    "nested": ("x.jsonl", "[" * 100_000 + "\n", [(1, "", ["nested too deeply"])]),
    "nested in an item": ("x.jsonl", '{"id": "a", "task": "t\\u0000", "n": ' + "[" * 400 + "]" * 400 + "}",
                          [(1, "", ["nested more than 150 deep"])]),
    "nested in a cell": ("x.csv", "id,task,steps\n1,t," + "[" * 400 + "]" * 400, [(2, "steps", ["nested more than"])]),
    "not UTF-8": ("x.jsonl", OK.encode() + b'{"id": "caf\xe9"}\n',
                  [(2, "", [f"not UTF-8: byte {len(OK) + 11} (0xe9)", "encoding: latin-1"])]),
    "array not UTF-8": ("x.json", b'[\n{"id": "caf\xe9"}]', [(2, "", ["byte 13"])]),
    "csv not UTF-8": ("x.csv", b"id,task,steps\n1,\xe9,x\n", [(2, "", ["byte 16"])]),
    "UTF-16": ("x.jsonl", OK.encode("utf-16"), [(1, "", ["UTF-16", "encoding: utf-16"])]),
    "UTF-16 without mark": ("x.jsonl", OK.encode("utf-16-be"), [(1, "", ["UTF-16"])]),
    "csv empty": ("x.csv", "", [(1, "", ["needs a header"])]),
    "csv header only": ("x.csv", "id,task,steps\n", [(None, "", ["no item"])]),
    "csv no header": ("x.csv", "1,t,[]\n2,u,[]\n", [(1, "id", ["no column 'id'", "1, t, []"]),
                                                 (1, "task", ["first row"]), (1, "steps", ["no column"])]),
    "csv column near": ("x.csv", "ids,task,steps\n1,t,[]\n", [(1, "id", ["Did you mean 'ids'"])]),
    "csv column twice": ("x.csv", "id,task,steps,task\n1,t,[],u\n", [(1, "", ["'task' twice", "Rename"])]),
    "csv long row": ("x.csv", 'id,task,steps\n1,a,"[""x""]"\n2,b,c,d\n', [(3, "", ["4 cells", "3", "needs quotes"])]),
    "csv short row": ("x.csv", "id,task,steps\n2,b\n", [(2, "", ["2 cells"])]),
    "csv open quote": ("x.csv", 'id,task,steps\n1,"a,[]\n2,b,[]\n', [(2, "", ["not CSV", "must close"])]),
    "csv steps no JSON": ("x.csv", "id,task,steps\n1,a,\"['x']\"\n", [(2, "steps", ["JSON list", "double quotes"])]),
    "csv steps no list": ("x.csv", 'id,task,steps\n1,a,"{}"\n', [(2, "steps", ["JSON list"])]),
    "csv zero steps": ("x.csv", "id,task,steps\n1,a,[]\n", [(2, "steps", ["is empty"])]),
    "csv empty id": ("x.csv", 'id,task,steps\n,a,"[""x""]"\n', [(2, "id", ["an empty text"])]),
    "no parquet": ("x.parquet", b"PAR1 no", [(None, "", ["not a Parquet file"])]),
}  # fmt: skip


@pytest.mark.parametrize("case", ERRORS, ids=ERRORS.keys())
def test_item_error(case: str, tmp_path: Path) -> None:
    name, content, expected = ERRORS[case]
    project = write_items(tmp_path, name, content)
    problems = problems_of(lambda: check_items(project, Notices()))
    assert [(problem.file, problem.line, problem.path) for problem in problems] == [
        (name, line, path) for line, path, _ in expected
    ]
    for problem, (_, _, words) in zip(problems, expected, strict=True):
        text = f"{problem.message} {problem.hint}"
        assert [word for word in words if word not in text] == []


def test_parquet_problems_name_the_row(tmp_path: Path) -> None:
    table = pyarrow.table({"id": ["a", "a"], "task": ["t", None], "steps": [["x"], ["y"]]})
    write_parquet(table, tmp_path / "x.parquet")
    project = make_project(tmp_path, files=[DataFile(path=tmp_path / "x.parquet", format="parquet")])
    problems = problems_of(lambda: check_items(project, Notices()))
    assert [(problem.line, problem.path) for problem in problems] == [(None, "id"), (None, "task")]
    assert all("(row 2)" in problem.message for problem in problems)


def test_a_string_of_a_coding_trace_is_a_users(tmp_path: Path) -> None:
    (tmp_path / "x.jsonl").write_text(lines({"id": "a", "task": "t", "steps": ["x"]}))
    files = [DataFile(path=tmp_path / "x.jsonl", format="jsonl")]
    project = make_project(tmp_path, display="coding_trace", files=files)
    (problem,) = problems_of(lambda: check_items(project, Notices()))
    assert "no step to rate" in problem.message


def test_segmentation_is_explained(tmp_path: Path) -> None:
    (tmp_path / "x.jsonl").write_text(lines({"id": "a", "task": "t"}))
    files = [DataFile(path=tmp_path / "x.jsonl", format="jsonl")]
    project = make_project(tmp_path, display="cot_trace", files=files)
    (problem,) = problems_of(lambda: check_items(project, Notices()))
    assert "cot_segmentation" in problem.hint


def test_files_that_are_gone_or_outside(tmp_path: Path) -> None:
    folder = tmp_path / "project"
    folder.mkdir()
    (tmp_path / "x.jsonl").write_text(OK)
    files = [DataFile(path=folder / "no.jsonl", format="jsonl"), DataFile(path=tmp_path / "x.jsonl", format="jsonl")]
    problems = problems_of(lambda: check_items(make_project(folder, files=files), Notices()))
    assert [problem.message.partition(" (")[0] for problem in problems] == [
        "there is no such file",
        "the file lies outside of task_dir",
    ]


def test_ids_are_unique_over_all_files(tmp_path: Path) -> None:
    for name in ("x.jsonl", "y.jsonl"):
        (tmp_path / name).write_text(OK)
    files = [DataFile(path=tmp_path / name, format="jsonl") for name in ("x.jsonl", "y.jsonl")]
    (problem,) = problems_of(lambda: check_items(make_project(tmp_path, files=files), Notices()))
    assert (problem.file, problem.line) == ("y.jsonl", 1)
    assert "at x.jsonl:1" in problem.message


def test_valid_items_come_before_the_error(tmp_path: Path) -> None:
    project = write_items(tmp_path, "x.jsonl", OK + "nonsense\n" + lines(B))
    reader: Iterator[Item] = read_items(project, Notices())
    assert [next(reader).id, next(reader).id] == ["a", "b"]
    with pytest.raises(InputError, match="1 problem"):
        next(reader)


def test_reading_stops_at_fifty_problems(tmp_path: Path) -> None:
    broken: list[Any] = [{"id": i} for i in range(500)]
    project = write_items(tmp_path, "x.jsonl", lines(*broken))
    with pytest.raises(InputError, match="reading stopped") as caught:
        check_items(project, Notices())
    assert len(caught.value.problems) == 50
    # Two problems an item: no text, no steps.
    assert caught.value.problems[-1].line == 25
