"""A question about a passage: results, records, and the places that Potato's page counts."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from potato_bridge.converters.label_studio.interface import build_interface
from potato_bridge.converters.label_studio.results import read_answer, write_results
from potato_bridge.converters.label_studio.tasks import build_task
from potato_bridge.converters.label_studio.validate import elements
from potato_bridge.converters.potato.general_qa import read_stored_answer, write_stored_answer
from potato_bridge.converters.potato.traces import to_trace
from potato_bridge.errors import InputError
from potato_bridge.model import General, Item, Project, Record
from potato_bridge.notices import Notices
from tests.converters.label_studio.general_samples import entry, mark, project, scheme
from tests.strategies import DETERMINISTIC

PASSAGE = "The 😀 cat\r\nsat <b>on</b> it."
UNANSWERABLE = {"answer_text": "", "start": -1, "end": -1, "unanswerable": True}
CAT = {"answer_text": "cat", "start": 6, "end": 9, "unanswerable": False}


def made(folder: Path, **more: str) -> Project:
    return project(folder, scheme("extractive_qa", **more))


def task_of(whole: Project, notices: Notices | None = None, **data: Any) -> dict[str, Any]:
    fields = {"id": "i1", "text": "The text.", "question": "Who <b>?", "passage": PASSAGE, **data}
    item = Item(id="i1", data={key: one for key, one in fields.items() if one is not None}, file="x.jsonl")
    found = notices if notices is not None else Notices()
    return build_task(whole, item, to_trace(item, whole, found), found)


def answer_to(whole: Project, *results: dict[str, Any]) -> Any:
    controls = build_interface(whole, Notices()).controls
    return read_answer(whole, task_of(whole), {"result": list(results)}, controls=controls)


def written(whole: Project, value: Any) -> list[dict[str, Any]]:
    found = write_results(whole, Record(id="i1", annotator="a", annotations={"s": value}), task_of(whole))
    return [{key: one for key, one in result.items() if key != "id"} for result in found]


def test_an_answer(tmp_path: Path) -> None:
    whole = made(tmp_path)
    results = [mark(6, 9, "cat", "answer")]
    assert (answer_to(whole, *results).annotations, written(whole, CAT)) == ({"s": CAT}, results)
    choice = entry("s_unanswerable", "choices", ["unanswerable"])
    assert (answer_to(whole, choice).annotations, written(whole, UNANSWERABLE)) == ({"s": UNANSWERABLE}, [choice])
    # Unticked again.
    assert answer_to(whole, entry("s_unanswerable", "choices", [])).annotations == {}


def test_the_page_shows_question_and_passage(tmp_path: Path) -> None:
    whole, notices = made(tmp_path), Notices()
    data = task_of(whole, notices)["data"]
    assert (data["s_text"], "Who &lt;b&gt;?" in data["s_html"]) == (PASSAGE.replace("\r\n", " \n"), True)
    assert not notices
    # Without a passage, the item's text is one.
    assert task_of(whole, notices, passage=None)["data"]["s_text"] == "The text."
    assert task_of(whole, notices, passage="", text="", question=None)["data"]["s_text"] == " "
    assert [notice.code for notice in notices] == ["no-span-text", "no-question"]


def test_two_answers_are_none(tmp_path: Path) -> None:
    whole = made(tmp_path)
    marks = [mark(6, 9, "cat", "answer"), mark(0, 3, "The", "answer")]
    choice = entry("s_unanswerable", "choices", ["unanswerable"])
    for results, kept in ((marks, {"s": marks}), ([marks[0], choice], {"s": [marks[0]], "s_unanswerable": [choice]})):
        answer = answer_to(whole, *results)
        assert (answer.annotations, answer.controls) == ({}, kept)
        assert [flag.code for flag in answer.flags] == ["bad-result"]


def test_an_answer_that_is_required(tmp_path: Path) -> None:
    notices = Notices()
    whole = made(tmp_path, label_requirement="true")
    found = elements(build_interface(whole, notices).label_config)
    assert [notice.code for notice in notices] == ["not-enforced"]
    assert {e.attributes["required"] for e in found if e.tag in ("Labels", "Choices")} == {"false"}
    assert [flag.code for flag in answer_to(whole).flags] == ["missing-required"]
    assert answer_to(whole, entry("s_unanswerable", "choices", ["unanswerable"])).flags == []

    notices = Notices()
    only = made(tmp_path, label_requirement="true", allow_unanswerable="false")
    found = elements(build_interface(only, notices).label_config)
    assert [e.attributes["required"] for e in found if e.tag in ("Labels", "Choices")] == ["true"]
    # Of Labels it does not look at that.
    assert [notice.code for notice in notices] == ["not-enforced"]
    with pytest.raises(InputError, match="the scheme does not allow that"):
        written(only, UNANSWERABLE)


@pytest.mark.parametrize("value", [None, 7, {}, {"unanswerable": 1}, {**CAT, "answer_text": "dog"}, {**CAT, "end": 99}])
def test_a_value_that_does_not_fit_is_refused(tmp_path: Path, value: Any) -> None:
    with pytest.raises(InputError, match="record i1, s: "):
        written(made(tmp_path), value)


# --- Potato ----------------------------------------------------------------------------------------------------------

QA = General(name="s", type="extractive_qa", fields=["passage", "text"])
TEXTS = {"passage": PASSAGE, "text": "The text."}


def stored(start: Any, end: Any, text: Any) -> dict[str, Any]:
    return {"answer_text": text, "start": start, "end": end, "unanswerable": False}


@pytest.mark.parametrize(
    ("blob", "start", "end"),
    [
        # Code units: the emoji has two.
        (stored(7, 10, "cat"), 6, 9),
        # The page trims the text and not its place, and knows one kind of line breaks.
        (stored(6, 9, "cat"), 6, 9),
        (stored(10, 15, "sat"), 11, 14),
        (stored(7, 14, "cat\nsat"), 6, 14),
        (stored(12, 25, "sat <b>on</b>"), 11, 24),
    ],
)
def test_places_of_the_page(blob: Any, start: int, end: int) -> None:
    value = {"answer_text": PASSAGE[start:end], "start": start, "end": end, "unanswerable": False}
    assert read_stored_answer(QA, blob, TEXTS) == (value, [])


@pytest.mark.parametrize(
    "blob", [stored(0, 3, "cat"), stored(5, 6, "cat"), stored(99, 102, "cat"), stored(7, 7, ""), stored("7", 10, "cat")]
)
def test_what_is_not_in_the_passage_is_kept_and_flagged(blob: Any) -> None:
    value, flags = read_stored_answer(QA, blob, TEXTS)
    assert (value, [flag.code for flag in flags]) == (blob, ["span-text-mismatch"])


def test_an_item_that_is_gone() -> None:
    assert read_stored_answer(QA, stored(7, 10, "cat"), None) == (stored(7, 10, "cat"), [])
    assert write_stored_answer(QA, CAT, None) is None
    with pytest.raises(InputError):
        read_stored_answer(QA, [], TEXTS)


@DETERMINISTIC
@given(st.data())
def test_any_answer_goes_out_and_comes_back(data: st.DataObject) -> None:
    alphabet = st.characters(exclude_categories=["Cs"], exclude_characters="\0\r")
    passage = data.draw(st.text(alphabet, min_size=1, max_size=20).filter(str.strip))
    start = data.draw(st.integers(0, len(passage) - 1))
    end = data.draw(st.integers(start + 1, len(passage)))
    value = {"answer_text": passage[start:end], "start": start, "end": end, "unanswerable": False}
    blob = json.loads(write_stored_answer(QA, value, {"passage": passage}) or "null")
    if not passage[start:end].strip():
        assert blob is None
        return
    units = len(passage[:start].encode("utf-16-le")) // 2
    assert (blob["start"], blob["answer_text"]) == (units, passage[start:end])
    assert read_stored_answer(QA, blob, {"passage": passage}) == (value, [])
