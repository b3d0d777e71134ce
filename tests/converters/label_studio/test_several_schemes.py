"""Several schemes on one page: names and keys that would meet, and what each reads."""

from __future__ import annotations

import re
from pathlib import Path
from xml.etree import ElementTree as ET

import pytest

from potato_bridge.converters.fingerprint import same_steps, with_steps_of
from potato_bridge.converters.label_studio.interface import build_interface
from potato_bridge.errors import InputError
from potato_bridge.notices import Notices
from potato_bridge.sync.label_studio.build import label_studio_tasks
from tests.several_schemes import EDIT, FIRST_ERROR, PER_STEP, RADIO, REVIEW, SECOND, SPAN, item, project

EVERY = [
    PER_STEP.replace("name: reward", "name: my-reward"),
    REVIEW,
    SPAN,
    EDIT,
    "{annotation_type: ranking, name: my-rank, labels: [a, b]}",
    "{annotation_type: pairwise, name: my-pair, items_key: pair}",
    "{annotation_type: text_edit, name: my-text, source_field: text}",
]


def page(folder: Path, *schemes: str) -> ET.Element:
    return ET.fromstring(build_interface(project(folder, schemes, item()), Notices()).label_config)


def test_variables_of_names_with_hyphens_are_keys_of_the_data(tmp_path: Path) -> None:
    """Label Studio reads a variable up to a hyphen."""
    root = page(tmp_path, *EVERY)
    [task] = label_studio_tasks(project(tmp_path, EVERY, item()), Notices())
    named = [value for e in root.iter() for key in ("value", "on") if (value := e.get(key, "")).startswith("$")]
    variables = {re.match(r"\$([A-Za-z0-9_]+)", value)[1] for value in named}
    assert variables <= task["data"].keys()
    assert {"code__review_diff", "code__review_files", "my__marks_text", "my__rank_list", "my__pair_html"} <= variables


@pytest.mark.parametrize(
    ("one", "other", "both"),
    [
        ("radio, name: a, labels: [x], has_free_response: true", "text, name: a_free_response", "a_free_response"),
        ("process_reward, name: a, mode: per_step, steps_key: turns", "text, name: a_label_1", "a_label_1"),
        ("process_reward, name: a, mode: per_step, steps_key: turns", "text, name: a_notes, labels: [x]", "a_notes_1"),
        ("code_review, name: a", "radio, name: a_verdict, labels: [x]", "a_verdict"),
        ("code_review, name: a", "radio, name: a_diff, labels: [x]", "a_diff"),
        ("code_review, name: a", "text, name: a_rating_quality, labels: [x]", "a_rating_quality_1"),
        ("trajectory_edit, name: a, steps_key: steps", "text, name: a_edit_7", "a_edit_7"),
        ("trajectory_edit, name: a-b, steps_key: steps", "trajectory_edit, name: a__b, steps_key: steps", "a__b_"),
        ("span, name: a, labels: [x], target_field: text", "text, name: a_text", "a_text"),
        ("ranking, name: a, labels: [x, y]", "text, name: a_list", "a_list"),
        ("pairwise, name: a, items_key: pair", "text, name: a_html", "a_html"),
        ("text_edit, name: a, source_field: text", "text, name: a_source", "a_source"),
        ("radio, name: a b, labels: [x]", "text, name: a_b", "a_b"),
    ],
)
@pytest.mark.parametrize("turned", [False, True])
def test_no_control_of_one_scheme_is_that_of_another(
    tmp_path: Path, one: str, other: str, both: str, turned: bool
) -> None:
    schemes = [f"{{annotation_type: {scheme}}}" for scheme in (one, other)]
    with pytest.raises(InputError, match="cannot be shown on Label Studio") as caught:
        page(tmp_path, *(schemes[::-1] if turned else schemes))
    [problem] = caught.value.problems
    assert f"would both have {both!r}"[:-1] in problem.message
    assert problem.line in (11, 12)
    assert "Rename one of them." in problem.hint


def test_names_that_only_look_alike_are_no_problem(tmp_path: Path) -> None:
    review = "{annotation_type: code_review, name: a}"
    page(tmp_path, review, "{annotation_type: code_review, name: a_rating}", "{annotation_type: text, name: a_label}")


def keys(root: ET.Element) -> list[str]:
    """The keys that a keyboard has."""
    return [key for e in root.iter() if (key := e.get("hotkey", "")) and key.isascii()]


@pytest.mark.parametrize("turned", [False, True])
def test_a_key_is_one_schemes(tmp_path: Path, turned: bool) -> None:
    radio = RADIO.replace("required: true", "sequential_key_binding: true")
    schemes = [radio, REVIEW, SECOND]
    root = page(tmp_path, *(schemes[::-1] if turned else schemes))
    assert len(keys(root)) == len(set(keys(root)))
    assert {label.get("hotkey") for label in root.iter("Label")} >= set("12345")
    # Those of steps come with the tasks.
    schemes = [radio, REVIEW, FIRST_ERROR]
    assert keys(page(tmp_path, *(schemes[::-1] if turned else schemes))) == []


def test_a_page_of_steps_says_what_it_chose_where_a_box_is_filled(tmp_path: Path) -> None:
    """Else an annotation that begins with the filled box would ask for a label before the first step."""
    numbering = {"from_name": "reward_numbering", "choices": ["0"]}
    for schemes, expected in (([PER_STEP, EDIT], 1), ([PER_STEP, RADIO], 0)):
        [task] = label_studio_tasks(project(tmp_path, schemes, item()), Notices())
        results = [entry for found in task.get("predictions", []) for entry in found["result"]]
        chosen = [e for e in results if e["from_name"] == numbering["from_name"]]
        assert [e["value"]["choices"] for e in chosen] == [["0"]] * expected


def test_a_missing_verdict_is_named_where_there_are_several(tmp_path: Path) -> None:
    root = page(tmp_path, REVIEW, SECOND)
    said = [e.get("requiredMessage") for e in root.iter("Choices") if (e.get("name") or "").endswith("_verdict")]
    assert said == ["Choose a verdict for “First review”.", "Choose a verdict for “Second review”."]


def test_steps_are_the_same_where_all_that_both_states_have_is() -> None:
    assert same_steps("a:1 b:2", "b:2 a:1")
    assert same_steps("a:1", "a:1 b:2")
    assert same_steps("a:1 b:2", "b:2")
    assert same_steps("", "a:1")
    assert not same_steps("a:1 b:2", "a:1 b:3")
    assert not same_steps(None, "a:1")
    # A scheme that went and came back: answers to it are about what it showed then.
    assert not same_steps(with_steps_of("a:1 b:2", "a:1"), "a:1 b:3")
