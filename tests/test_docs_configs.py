"""docs/configs.md names every key that the readers ask for, with the defaults that they have.

The keys are not listed here: reading configs that have everything is recorded, so that a new key fails these tests
until it stands in the page, and in `EVERYTHING` where it opens a section of its own.
"""

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import msgspec
import pytest

from potato_bridge.cli import settings
from potato_bridge.converters.potato import code_review, display, process_reward, turns, vocabulary
from potato_bridge.converters.potato.section import Section
from potato_bridge.model.project import FirstErrorOptions, FirstErrorTexts, PerStepOptions, TraceDisplay
from potato_bridge.model.trajectory_eval import TrajectoryEval
from potato_bridge.model.trajectory_scheme import TrajectoryEdit
from tests.converters.potato.helpers import read

PAGE = (Path(__file__).parents[1] / "docs" / "configs.md").read_text(encoding="utf-8")

EVERYTHING = """\
annotation_task_name: Everything
task_dir: .
data_files:
  - path: data/traces.jsonl
    format: jsonl
    type: jsonl
    id_key: id
    text_key: task
    encoding: utf-8
    filter_by_prior_annotation: {}
item_properties: {id_key: id, text_key: task, kwargs: {}, category_key: kind}
instance_display:
  layout: {direction: horizontal, gap: 1px}
  resizable: true
  fields:
    - key: turns
      type: coding_trace
      label: Session
      span_target: true
      display_options: {}
output_annotation_dir: out
max_annotations_per_item: 2
pre_annotation:
  enabled: true
  field: guesses
  predictions_file: data/traces.jsonl
  allow_modification: true
export_annotation_format: prm
output_annotation_format: json
annotation_schemes:
  - annotation_type: process_reward
    name: all
    description: All
    mode: per_step
    required: true
    label_requirement: {required: true, required_label: x}
    target: agentic_steps
    steps_key: turns
    step_text_key: content
    allow_neutral: true
    inline_with_trace: true
    ai_prelabel: true
    require_verification: true
    reward_labels: {correct: A, neutral: B, incorrect: C}
    first_error:
      correct_color: red
      error_color: red
      downstream_color: red
      unmarked_color: red
      require_confirmation: true
      allow_no_error: true
      show_step_content: true
      labels: {correct: a, first_error: b, downstream: c, all_correct: d}
    per_step:
      labels:
        - {value: correct, display: A, color: red, score: 1, error_category: false, tooltip: t}
        - {value: incorrect, display: B, color: red, score: -1, error_category: true}
        - {value: partially_correct, display: C, color: red, score: 0.5}
        - {value: unnecessary, display: D, color: red, score: 0}
      error_categories: {enabled: true, categories: [x]}
      require_all_steps: true
      allow_notes: true
      show_running_score: true
    keyboard_shortcuts:
      {enabled: true, correct: a, incorrect: b, partially_correct: c, unnecessary: d, next_step: e, prev_step: f}
  - annotation_type: code_review
    name: review
    description: Review
    required: true
    label_requirement: {required: true}
    comment_categories: [{name: bug, description: A fault}]
    verdict_options: [approve, reject]
    file_rating_dimensions: [quality]
    allow_suggestions: true
    severity_levels: [major]
    allow_summary: true
    steps_key: turns
    target: agentic_steps
  - annotation_type: trajectory_edit
    name: fix
    description: Fix
    required: true
    label_requirement: {required: true}
    steps_key: turns
    step_text_key: content
    editable_fields: [content]
    show_diff: true
    show_edit_distance: true
    allow_reset: true
    require_reason_on_edit: true
    edit_final_answer: true
    final_answer_key: final
  - annotation_type: trajectory_eval
    name: judge
    description: Judge
    required: true
    label_requirement: {required: true}
    steps_key: turns
    step_text_key: content
    correctness_options: [correct, wrong]
    error_types: [a, {name: b, label: c, subtypes: [d]}]
    severities: [{name: bad, weight: -1}]
    show_score: true
    max_score: 10
"""


@pytest.fixture
def taken(monkeypatch: pytest.MonkeyPatch) -> Iterator[set[tuple[tuple[str, ...], str]]]:
    """The keys that are asked for while the test runs: section (without positions in lists) and key."""
    found: set[tuple[tuple[str, ...], str]] = set()
    take = Section.take

    def record(self: Section, key: str) -> Any:
        found.add((tuple(part for part in self.path if isinstance(part, str)), key))
        return take(self, key)

    monkeypatch.setattr(Section, "take", record)
    yield found


def named(key: str, text: str = PAGE) -> bool:
    return re.search(rf"`{re.escape(key)}`", text) is not None


def test_every_key_that_is_read_is_documented(tmp_path: Path, taken: set[tuple[tuple[str, ...], str]]) -> None:
    _, notices = read(tmp_path, EVERYTHING)
    assert [str(notice) for notice in notices if notice.code == "unknown-key"] == []
    # The recording works, and reaches the deepest sections.
    for section in ("data_files", "item_properties", "instance_display", "annotation_schemes"):
        assert section in {path[0] for path, _ in taken if path}
    deep = ("annotation_schemes", "per_step", "error_categories")
    assert (deep, "categories") in taken
    assert sorted({key for _, key in taken if not named(key)}) == []


def test_the_config_above_has_every_key(tmp_path: Path, taken: set[tuple[tuple[str, ...], str]]) -> None:
    """A section that it lacks would hide the keys below."""
    read(tmp_path, EVERYTHING)
    # Other names of options that stand at the field of a display.
    options = {*display._OPTIONS, *display._ALIASES}
    assert sorted({key for _, key in taken if key not in options and f"{key}:" not in EVERYTHING}) == []


@pytest.mark.parametrize(
    "table",
    [
        display._OPTIONS,
        display._ALIASES,
        display._DIFF_VIEWS,
        display._THEMES,
        display._FIELD_KEYS,
        code_review._DOCUMENTED_KEYS,
        code_review._CODE_CATEGORIES,
        code_review._DOCUMENTED_CATEGORIES,
        code_review._VERDICTS,
        code_review._DIMENSIONS,
        code_review._SEVERITIES,
        process_reward._DOCUMENTED_KEYS,
        process_reward._CODE_KEYS,
        process_reward._MODES,
        process_reward._DOCUMENTED_VALUES,
        process_reward._DEFAULT_KEYS,
        process_reward._TURN_KEYS,
        turns.ROLE_KEYS,
        turns._OTHERS,
        turns._STEP_TYPES,
        vocabulary.USED_KEYS,
        vocabulary.UNUSED_KEYS,
        vocabulary.SERVER_KEYS,
        vocabulary.SCHEME_UNUSED_KEYS,
        vocabulary.SCHEME_SILENT_KEYS,
        vocabulary.TRACE_TYPES,
        vocabulary.TURN_TYPES,
        vocabulary.TRACE_UNUSED_OPTIONS,
    ],
)
def test_every_word_of_the_readers_tables_is_documented(table: Any) -> None:
    assert sorted(word for word in table if not named(word)) == []


def chapter(start: str) -> str:
    """What stands from a line of the page to the next heading."""
    return re.split(r"^#", PAGE.split(f"\n{start}\n", 1)[1], maxsplit=1, flags=re.M)[0]


@pytest.mark.parametrize(
    ("options", "start"),
    [
        (TraceDisplay(), "## Display"),
        (FirstErrorOptions(), "### `first_error`"),
        (FirstErrorTexts(), "### `first_error`"),
        (PerStepOptions(), "### `per_step`"),
    ],
)
def test_the_defaults_are_those_of_the_model(options: msgspec.Struct, start: str) -> None:
    for field in msgspec.structs.fields(options):
        value = getattr(options, field.name)
        if isinstance(value, bool | int | str):
            shown = str(value).lower() if isinstance(value, bool) else str(value)
            assert re.search(rf'^\| `{field.name}` \| `"?{re.escape(shown)}"?`', chapter(start), re.M), field.name


def test_the_defaults_of_trajectory_edits() -> None:
    scheme, text = TrajectoryEdit(name="x"), chapter("## Trajectory edits")
    for name in ("steps_key", "step_text_key", "edit_final_answer", "final_answer_key", "require_reason_on_edit"):
        assert f"| `{name}` | `{str(getattr(scheme, name)).replace('False', 'false')}` |" in text
    for name in ("show_diff", "show_edit_distance", "allow_reset"):
        assert getattr(scheme, name) and f"| `{name}` | `true` |" in text


def test_the_defaults_of_trajectory_evaluations() -> None:
    scheme, text = TrajectoryEval(name="x"), chapter("## Trajectory evaluations")
    for name in ("steps_key", "step_text_key", "max_score", "show_score"):
        assert f"| `{name}` | `{str(getattr(scheme, name)).replace('True', 'true')}` |" in text
    options = ", ".join(f"`{option}`" for option in scheme.correctness_options)
    severities = ", ".join(f"`{severity.name}` {severity.weight}" for severity in scheme.severities)
    assert f"| {options} |" in text and f"| {severities} |" in text


def test_default_keys_are_documented() -> None:
    table = chapter("### `keyboard_shortcuts`")
    for label, key in process_reward._DEFAULT_KEYS.items():
        assert f"`{label}` `{key}`" in table
    assert [key for key in process_reward._TURN_KEYS.values() if not named(key, table)] == []


def test_every_setting_is_documented(tmp_path: Path, taken: set[tuple[tuple[str, ...], str]]) -> None:
    text = chapter("## potato-bridge.yaml")
    (example,) = re.findall(r"```yaml\n(.*?)```", text, re.S)
    path = tmp_path / settings.NAME
    path.write_text(example, encoding="utf-8")
    found = settings.read_settings(path)
    # The example sets all there is.
    assert None not in (found.config, found.records, found.template, found.notices)
    assert None not in (found.label_studio_url, found.argilla_url)
    for section, key in taken:
        full = ".".join((*section, key))
        assert key in ("argilla", "label_studio") or f"| `{full}` |" in text


def test_the_examples_of_the_page_can_be_read(tmp_path: Path) -> None:
    """Each YAML of the page that is a part of a config, put together with the rest of one."""
    for name in ("old.csv", "traces.jsonl"):
        (tmp_path / "data").mkdir(exist_ok=True)
        (tmp_path / "data" / name).touch()
    blocks = re.findall(r"```yaml\n(.*?)```", PAGE.split("\n## potato-bridge.yaml\n")[0], re.S)
    head = "annotation_task_name: Page\nitem_properties: {id_key: id, text_key: task_description}\n"
    project, notices = read(tmp_path, head + "".join(blocks))
    assert list(notices) == []
    assert [file.path.name for file in project.data_files] == ["traces.jsonl", "old.csv"]
    assert project.steps_key() == "structured_turns"
