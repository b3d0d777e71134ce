"""The plug-in door: readers by name, recognition, and what is refused by name."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from importlib.metadata import EntryPoint
from pathlib import Path
from typing import Any

import pytest

from potato_bridge.cli.convert import LOSSES
from potato_bridge.converters.traces import reader as module
from potato_bridge.converters.traces.inputs import Source
from potato_bridge.converters.traces.reader import Report, UnrecognisedError, detect, names, reader_named, readers
from potato_bridge.errors import InputError, UsageError
from potato_bridge.model.trace import Trace
from tests.converters.traces.helpers import calls_of, lines, read_one, source_of

ROOT = Path(__file__).parents[3]


@dataclass
class Made:
    """A reader of another package."""

    name: str
    sure: int
    title: str = "Made"

    def score(self, source: Source) -> int:
        return self.sure

    def read(self, source: Source, report: Report) -> Iterator[Trace]:
        yield Trace(trace_id=self.name)


OTHER = Made("other", 99)


def test_the_one_that_is_surest_is_taken() -> None:
    source = source_of(b'{"a": 1, "b": 2}')
    assert detect(source, [Made("x", 40), Made("y", 60), Made("z", 0)]).name == "y"


def test_a_tie_says_who_and_what_to_do() -> None:
    with pytest.raises(InputError, match=r"made\.jsonl: looks like x and y alike\n.*--from x"):
        detect(source_of(b"{}"), [Made("y", 60), Made("z", 50), Made("x", 60)])


@pytest.mark.parametrize(
    ("data", "what"),
    [
        (b'{"a": 1}\n{"b": 2}\n', "JSON Lines with a, b"),
        (b'[{"a": 1}, 3]', "a JSON array with a, int"),
        (b'{"a": 1}', "a JSON object with a"),
        (b"words", "no JSON"),
    ],
)
def test_what_nobody_knows_is_described(data: bytes, what: str) -> None:
    with pytest.raises(UnrecognisedError, match=f"no format of a trace is recognised: {what}"):
        detect(source_of(data))


def test_a_third_party_s_reader_is_found_by_name(monkeypatch: pytest.MonkeyPatch) -> None:
    real = module.entry_points
    point = EntryPoint("other", f"{__name__}:OTHER", module.GROUP)
    monkeypatch.setattr(module, "entry_points", lambda group: [*real(group=group), point])
    assert "other" in names() and "claude_code" in names()
    assert reader_named("other").title == "Made"
    assert detect(source_of(b'{"whatever": 1}')).name == "other"


def test_every_reader_bears_the_name_of_its_entry() -> None:
    assert [reader.name for reader in readers()] == names()
    assert all(reader.title and reader.score(source_of(b"words")) == 0 for reader in readers())


def test_a_format_that_is_not_read_is_refused_by_name() -> None:
    with pytest.raises(UsageError, match="Aider is not read by this version"):
        list(reader_named("aider").read(source_of(b""), Report()))
    with pytest.raises(UsageError, match=re.escape("there is no format 'nope'")):
        reader_named("nope")


def test_no_format_is_both_read_and_refused() -> None:
    assert set(names()) & set(module._REFUSED) == set()


def test_the_example_of_the_docs_reads() -> None:
    page = (ROOT / "docs" / "add-a-format.md").read_text()
    [code] = re.findall(r"```python\n(.*?)```", page, re.S)
    made: dict[str, Any] = {}
    exec(code, made)
    rows = [
        {"kind": "user", "text": "Fix it", "my_agent_version": 1},
        {"kind": "model", "id": "m1", "text": "I look.", "calls": [{"id": "c", "name": "ls", "arguments": {}}]},
        {"kind": "result", "call_id": "c", "text": "a.py", "failed": False},
        {"kind": "novel"},
    ]
    assert made["READER"].score(source_of(lines(rows))) == 90
    trace = read_one(made["READER"], lines(rows))
    assert [(step.kind, step.text()) for step in trace.steps] == [("user", "Fix it"), ("agent", "I look.")]
    assert calls_of(trace.steps[1]) == [("ls", "a.py")]


def test_the_page_has_every_format() -> None:
    page = (ROOT / "docs" / "traces.md").read_text()
    assert set(re.findall(r"^\| `([a-z0-9_]+)` \|", page, re.M)) == set(names())


def test_every_loss_is_explained() -> None:
    files = sorted((ROOT / "converters" / "traces").rglob("*.py"))
    found = {code for file in files for code in re.findall(r'\.loss\(\s*"([a-z-]+)"', file.read_text())}
    assert len(found) > 8
    notes = {"not-a-number", "lone-surrogate"}
    assert found | notes == set(LOSSES)
    page = (ROOT / "docs" / "notices.md").read_text()
    assert [code for code in LOSSES if f"| `{code}` |" not in page] == []
