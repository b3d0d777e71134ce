"""docs/schemes.md is what the code's table gives, and docs/configs.md names every key of the general types."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from potato_bridge.converters import schemes_page
from potato_bridge.converters.potato import general
from potato_bridge.converters.potato.schemes import READERS
from potato_bridge.converters.potato.section import Section
from tests.converters.label_studio.general_samples import CASES, project, scheme

DOCS = Path(__file__).parents[1] / "docs"
CONFIGS = (DOCS / "configs.md").read_text(encoding="utf-8")
#: What no case has.
MORE = [
    "text, labels: [a], multiline: true, rows: 2, placeholder: x, textarea: {on: true, rows: 2, cols: 3}",
    "radio, labels: [{name: a, displayed_label: b, text: b, label: b, tooltip: t, key_value: k, color: red}, b],"
    " horizontal: true, display_logic: {logic: all, show_when: [{schema: first, operator: equals, value: x,"
    " case_sensitive: true}]}, has_free_response: {instruction: x}",
    "likert, size: 3, min_label: a, max_label: b, bad_text_label: {label_content: x}, sequential_key_binding: true",
    "number, min: 0, max: 1, min_value: 0, max_value: 1, step: 1",
    "slider, min_value: 0, max_value: 1, step: 1, starting_value: 0",
    "pairwise, items_key: pair, mode: scale, scale: {min: -1, max: 1, step: 1, default: 0, labels: {min: a, max: b,"
    " center: c}}, labels: [a, b], allow_tie: true, tie_label: x",
    "pairwise, mode: multi_dimension, dimensions: [{name: a, description: b, allow_tie: true, tie_label: x}]",
    "confidence, scale_type: slider, min_value: 0, max_value: 1, step: 1, left_label: a, right_label: b",
    "confidence, scale_points: 4, labels: [a, b]",
    "span, labels: [a], target_field: text, bad_text_label: {label_content: x}",
    "extractive_qa, question_field: q, passage_field: p, allow_unanswerable: false, highlight_color: red",
    "triage, accept_label: a, reject_label: b, skip_label: c, accept_key: a, reject_key: b, skip_key: c",
]


@pytest.fixture
def taken(monkeypatch: pytest.MonkeyPatch) -> Iterator[set[str]]:
    """The keys that are asked for while the test runs."""
    found: set[str] = set()
    take = Section.take

    def record(self: Section, key: str) -> Any:
        found.add(key)
        return take(self, key)

    monkeypatch.setattr(Section, "take", record)
    yield found


def test_the_page_is_what_the_code_gives() -> None:
    assert (DOCS / "schemes.md").read_text(encoding="utf-8") == schemes_page.page(), "run `make schemes-page`"


def test_every_type_that_is_read_is_on_the_page() -> None:
    assert set(READERS) <= set(schemes_page.FACTS)


def test_every_key_that_is_read_is_documented(tmp_path: Path, taken: set[str]) -> None:
    first = scheme("radio, labels: [x, y]", "first")
    for text in [*(case[0] for case in CASES), *MORE]:
        project(tmp_path, first, scheme(text))
    assert len(taken) > 60
    assert sorted(key for key in taken if f"`{key}`" not in CONFIGS) == []


@pytest.mark.parametrize("kind", general.TYPES)
def test_every_key_that_gives_a_notice_or_none_is_documented(kind: str) -> None:
    row = general.TYPES[kind]
    assert sorted(key for key in row.unused | row.silent if f"`{key}`" not in CONFIGS) == []
