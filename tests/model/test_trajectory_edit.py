"""The canonical value of trajectory edits: it counts as Potato's page does, and contradicts itself nowhere."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from potato_bridge.converters.potato.annotation_output import records_from_potato
from potato_bridge.converters.potato.config import read_project
from potato_bridge.errors import InputError
from potato_bridge.model.trajectory_edit import FinalEdit, StepEdit, TrajectoryEdits, parse_trajectory_edit
from potato_bridge.notices import Notices

CORPUS = Path(__file__).resolve().parents[3] / "shared" / "corpus" / "potato" / "trajectory_edit"
TEXT = st.text(st.characters(exclude_categories=["Cs"]), max_size=20)

#: As Potato 2.12.1 stored it: two fields edited.
STORED: dict[str, Any] = {
    "steps": [
        {
            "step_index": 0,
            "field": "action",
            "original_text": "web_search(queyr='SF weather')",
            "edited_text": "web_search(query='SF weather')",
            "edited": True,
            "edit_distance_chars": 2,
            "edit_distance_words": 1,
            "reason": "",
        }
    ],
    "final_answer": {
        "original_text": "It is sunny.",
        "edited_text": "It is 18C and sunny in San Francisco.",
        "edited": True,
        "edit_distance_chars": 25,
        "edit_distance_words": 6,
    },
    "n_steps_edited": 2,
    "total_edit_distance": 27,
}


def test_potatos_blob_is_read_and_written_as_it_is() -> None:
    assert parse_trajectory_edit(STORED).to_json() == STORED


@pytest.mark.skipif(not CORPUS.is_dir(), reason="there is no corpus beside the repository")
def test_what_potatos_page_stored_agrees_with_itself() -> None:
    project = read_project(CORPUS / "config.yaml", Notices())
    values = [
        r.annotations["corrected_trajectory"] for r in records_from_potato(project, project.output_dir, Notices())
    ]
    assert len(values) == 3
    for value in values:
        assert parse_trajectory_edit(value).to_json() == value


@pytest.mark.parametrize(
    ("original", "edited", "chars", "words"),
    [
        ("", "", 0, 0),
        ("", "a b", 3, 2),
        ("  a  b  ", "a b", 5, 0),
        # Code units of UTF-16: an emoji is two, of which these two share one.
        ("😀", "a", 2, 1),
        ("😀", "😁", 1, 1),
        ("a\r\nb", "a\nb", 1, 0),
        # White space for JavaScript, and not for Python; and the other way round.
        ("a\ufeffb", "a b", 1, 0),
        ("a\x1cb", "a b", 1, 2),
        ("a\x85b", "a b", 1, 2),
        ("kitten", "sitting", 3, 1),
    ],
)
def test_distances_are_those_of_javascript(original: str, edited: str, chars: int, words: int) -> None:
    edit = FinalEdit(original_text=original, edited_text=edited)
    assert (edit.chars, edit.words, edit.edited) == (chars, words, original != edited)


def changed(**more: Any) -> dict[str, Any]:
    return {**STORED, "steps": [{**STORED["steps"][0], **more}]}


@pytest.mark.parametrize(
    ("value", "message"),
    [
        ([], "expected an object"),
        ({}, "steps must be a list"),
        ({"steps": [1]}, r"steps\[0\]: expected an object"),
        (changed(edited=False), "edited is false, and the texts differ"),
        (changed(edited="yes"), "edited must be true or false"),
        (changed(edit_distance_chars=3), "edit_distance_chars is 3, and the texts give 2"),
        (changed(edit_distance_words=True), "edit_distance_words is True"),
        (changed(step_index="0"), "step_index must be a whole number"),
        (changed(field=""), "field must be a name"),
        (changed(edited_text=None), "edited_text must be text"),
        (changed(reason=1), "reason must be text"),
        ({**STORED, "steps": STORED["steps"] * 2}, "is there twice"),
        ({**STORED, "n_steps_edited": 1}, "n_steps_edited is 1, and the texts give 2"),
        ({**STORED, "total_edit_distance": 2}, "total_edit_distance is 2, and the texts give 27"),
        ({**STORED, "final_answer": {"original_text": "x"}}, "final_answer: edited_text must be text"),
    ],
)
def test_a_value_that_contradicts_itself_is_refused(value: Any, message: str) -> None:
    with pytest.raises(InputError, match=message):
        parse_trajectory_edit(value)


def test_an_edit_that_changes_nothing_is_none() -> None:
    same = {"edited_text": STORED["steps"][0]["original_text"], "edit_distance_chars": 0, "edit_distance_words": 0}
    value = {**changed(**same), "final_answer": None, "n_steps_edited": 1, "total_edit_distance": 0}
    parsed = parse_trajectory_edit(value)
    assert parsed.edits == []
    assert parsed.to_json()["steps"][0]["edited"] is False
    assert parsed.to_json()["n_steps_edited"] == 0


def test_counts_may_be_missing_and_unknown_fields_stay() -> None:
    step = {"step_index": 0, "field": "action", "original_text": "a", "edited_text": "b", "seen": 1}
    value = parse_trajectory_edit({"steps": [step], "by": "hand"}).to_json()
    assert (value["n_steps_edited"], value["total_edit_distance"]) == (1, 1)
    assert (value["by"], value["steps"][0]["seen"]) == ("hand", 1)


@given(
    st.dictionaries(st.tuples(st.integers(0, 3), st.sampled_from(["action", "thought"])), st.tuples(TEXT, TEXT, TEXT)),
    st.none() | st.tuples(TEXT, TEXT),
)
def test_any_value_reads_back_equal(
    edits: dict[tuple[int, str], tuple[str, str, str]], final: tuple[str, str] | None
) -> None:
    value = TrajectoryEdits(
        steps=[
            StepEdit(step_index=index, field=field, original_text=before, edited_text=after, reason=reason)
            for (index, field), (before, after, reason) in sorted(edits.items())
        ],
        final_answer=FinalEdit(original_text=final[0], edited_text=final[1]) if final else None,
    )
    assert parse_trajectory_edit(value.to_json()) == value
