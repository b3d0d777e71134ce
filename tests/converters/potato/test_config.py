"""What a config is read as: both dialects, defaults, notices."""

from pathlib import Path

import pytest

from potato_bridge.converters.potato.schemes import READERS
from potato_bridge.converters.potato.vocabulary import SCHEME_TYPES
from potato_bridge.errors import InputError
from potato_bridge.model.project import (
    FirstErrorOptions,
    FirstErrorTexts,
    OtherScheme,
    ProcessReward,
    Project,
    Shortcuts,
    TraceDisplay,
)
from potato_bridge.notices import Notices
from tests.converters.potato.helpers import read

HEAD = """\
annotation_task_name: Review
task_dir: .
data_files: [data/traces.jsonl]
item_properties: {id_key: id, text_key: task}
"""
DISPLAY = """\
instance_display:
  fields:
    - {key: turns, type: coding_trace}
"""


def read_scheme(folder: Path, scheme: str, display: str = DISPLAY) -> tuple[ProcessReward, Notices]:
    indented = "".join(f"    {line}\n" for line in scheme.splitlines())
    text = f"{HEAD}{display}annotation_schemes:\n  - annotation_type: process_reward\n    name: reward\n{indented}"
    project, notices = read(folder, text)
    scheme_read = project.process_reward()
    assert scheme_read is not None
    return scheme_read, notices


def seen(notices: Notices) -> list[tuple[str, str]]:
    """Code and place of each notice, the place without the folder."""
    return [(notice.code, notice.where.rpartition("/")[2]) for notice in notices]


# --- the documented first_error config, word for word ----------------------------------------------------------------

DOCUMENTED = """\
mode: first_error
description: "Click the first step where the agent made a mistake"

first_error:
  # Visual styling
  correct_color: "#22c55e"     # green for steps before the error
  error_color: "#ef4444"       # red for the first error step
  downstream_color: "#f97316"  # orange for steps after the error
  unmarked_color: "#6b7280"    # gray for steps not yet reviewed

  # Behavior
  require_confirmation: true   # ask "Are you sure?" before marking
  allow_no_error: true         # allow annotator to mark all steps correct
  show_step_content: true      # show step content in the annotation panel

  # Labels applied automatically
  labels:
    correct: "+1"
    first_error: "-1 (first error)"
    downstream: "-1 (downstream)"
    all_correct: "+1 (all correct)"
"""


def test_documented_first_error(tmp_path: Path) -> None:
    scheme, notices = read_scheme(tmp_path, DOCUMENTED)
    assert list(notices) == []
    assert scheme.description == "Click the first step where the agent made a mistake"
    assert (scheme.mode, scheme.dialect, scheme.steps_key, scheme.line) == ("first_error", "documented", None, 9)
    # The hub's defaults are the documented example's.
    assert scheme.first_error == FirstErrorOptions()
    assert scheme.required


def test_first_error_in_other_words(tmp_path: Path) -> None:
    scheme, notices = read_scheme(
        tmp_path,
        """\
first_error:
  correct_color: Green
  error_color: "#F00"
  downstream_color: "#ff00ff80"
  unmarked_color: rebeccapurple
  require_confirmation: no
  allow_no_error: off
  show_step_content: false
  labels:
    correct: +1
    first_error: no
    downstream: -1
    all_correct: fine
""",
    )
    assert list(notices) == []
    assert scheme.first_error == FirstErrorOptions(
        correct_color="Green",
        error_color="#F00",
        downstream_color="#ff00ff80",
        unmarked_color="rebeccapurple",
        require_confirmation=False,
        allow_no_error=False,
        show_step_content=False,
        # Unquoted words and numbers are texts here, as they were written.
        labels=FirstErrorTexts(correct="+1", first_error="no", downstream="-1", all_correct="fine"),
    )


PER_STEP = """\
mode: per_step
per_step:
  labels:
    - {value: "correct", display: "Correct", color: "#22c55e", score: 1.0}
    - {value: "partially_correct", display: "Partially Correct", color: "#eab308", score: 0.5}
    - {value: "incorrect", display: "Incorrect", color: "#ef4444", score: -1.0}
    - {value: "unnecessary", display: "Unnecessary", color: "#f97316", score: -0.5}
    - {value: "recovery", display: "Recovery from Error", color: "#3b82f6", score: 0.25}
  error_categories:
    enabled: true
    categories: ["Wrong tool selected", "Other"]
  require_all_steps: true
  allow_notes: true
  show_running_score: true
"""


def test_documented_per_step(tmp_path: Path) -> None:
    scheme, notices = read_scheme(tmp_path, PER_STEP)
    assert list(notices) == []
    options = scheme.per_step
    assert [(label.value, label.score, label.error_category) for label in options.labels] == [
        ("correct", 1.0, False),
        ("partially_correct", 0.5, True),
        ("incorrect", -1.0, True),
        ("unnecessary", -0.5, False),
        ("recovery", 0.25, False),
    ]
    assert options.labels[4].display == "Recovery from Error" and options.labels[4].color == "#3b82f6"
    assert options.error_categories == ["Wrong tool selected", "Other"]
    assert (options.require_all_steps, options.allow_notes, options.show_running_score) == (True, True, True)
    # Documented keys hold without being named; none is documented for recovery.
    assert scheme.shortcuts == Shortcuts(
        labels={"correct": "1", "incorrect": "2", "partially_correct": "3", "unnecessary": "4"},
        next_step="j",
        prev_step="k",
    )


@pytest.mark.parametrize(
    ("labels", "asked"),
    [
        # An own set: the labels that say so …
        ("[{value: ok, score: 1}, {value: slip, score: -1}, {value: odd, score: 0, error_category: true}]", ["odd"]),
        # … else those with a negative score.
        ("[{value: ok, score: 1}, {value: slip, score: -1}, {value: odd, score: 0}]", ["slip"]),
        # The documented set: by name, whatever the score.
        ("[{value: correct, score: 1}, {value: partially_correct, score: 1}]", ["partially_correct"]),
    ],
)
def test_which_labels_ask_for_an_error_category(labels: str, asked: list[str], tmp_path: Path) -> None:
    scheme, _ = read_scheme(tmp_path, f"mode: per_step\nper_step: {{labels: {labels}}}")
    assert [label.value for label in scheme.per_step.labels if label.error_category] == asked


def test_per_step_defaults_are_those_of_the_reference(tmp_path: Path) -> None:
    scheme, _ = read_scheme(tmp_path, "mode: per_step\nper_step: {}\ntarget: agentic_steps")
    options = scheme.per_step
    assert [(label.value, label.display, label.color, label.score) for label in options.labels] == [
        ("correct", "Correct", "#22c55e", 1.0),
        ("incorrect", "Incorrect", "#ef4444", -1.0),
    ]
    assert (options.error_categories, options.require_all_steps, options.allow_notes) == ([], True, False)
    assert scheme.target == "agentic_steps"


@pytest.mark.parametrize(
    ("block", "categories"),
    [
        ("{enabled: false, categories: [A]}", []),
        ("{categories: [A, B]}", ["A", "B"]),
        ("{enabled: false, categories: []}", []),
    ],
)
def test_error_categories(block: str, categories: list[str], tmp_path: Path) -> None:
    scheme, _ = read_scheme(tmp_path, f"mode: per_step\nper_step: {{error_categories: {block}}}")
    assert scheme.per_step.error_categories == categories


# --- the dialect of the code -----------------------------------------------------------------------------------------


def test_code_dialect(tmp_path: Path) -> None:
    scheme, notices = read_scheme(
        tmp_path,
        """\
description: d
steps_key: steps
step_text_key: content
inline_with_trace: true
ai_prelabel: true
require_verification: true
reward_labels: {correct: Valid, incorrect: Flawed}
label_requirement: {required: false}
""",
        display="",
    )
    assert list(notices) == []
    assert (scheme.dialect, scheme.mode, scheme.steps_key, scheme.step_text_key) == (
        "code",
        "first_error",
        "steps",
        "content",
    )
    assert scheme.inline_with_trace and scheme.ai_prelabel and scheme.require_verification
    assert scheme.reward_labels == {"correct": "Valid", "incorrect": "Flawed"}
    texts = scheme.first_error.labels
    assert (texts.correct, texts.first_error, texts.downstream) == ("Valid", "Flawed", "Flawed")
    # Potato's page of this dialect asks nothing, demands nothing and has no keys.
    assert not scheme.first_error.require_confirmation
    assert not scheme.per_step.require_all_steps
    assert scheme.shortcuts == Shortcuts()
    assert not scheme.required


def test_code_dialect_with_neutral(tmp_path: Path) -> None:
    scheme, notices = read_scheme(
        tmp_path, "mode: per_step\nsteps_key: turns\nallow_neutral: true\nreward_labels: {neutral: Meh}"
    )
    assert list(notices) == []
    assert scheme.allow_neutral
    assert [(label.value, label.display, label.score) for label in scheme.per_step.labels] == [
        ("correct", "Correct", 1.0),
        ("neutral", "Meh", 0.0),
        ("incorrect", "Incorrect", -1.0),
    ]


def test_both_dialects_have_the_documented_defaults(tmp_path: Path) -> None:
    scheme, _ = read_scheme(
        tmp_path,
        "steps_key: turns\nreward_labels: {correct: Valid, incorrect: Flawed}\n"
        "first_error: {labels: {downstream: after it}}",
    )
    assert scheme.dialect == "both"
    assert scheme.first_error.require_confirmation
    texts = scheme.first_error.labels
    assert (texts.correct, texts.first_error, texts.downstream) == ("Valid", "Flawed", "after it")


@pytest.mark.parametrize(
    ("lines", "dialect"),
    [
        ("mode: first_error", "documented"),
        ("steps_key: turns", "code"),
        ("target: agentic_steps", "documented"),
        ("keyboard_shortcuts: {enabled: false}\nallow_neutral: false", "both"),
    ],
)
def test_dialect_is_told_by_the_keys(lines: str, dialect: str, tmp_path: Path) -> None:
    scheme, _ = read_scheme(tmp_path, lines)
    assert scheme.dialect == dialect


def test_neutral_means_nothing_in_first_error(tmp_path: Path) -> None:
    scheme, notices = read_scheme(tmp_path, "allow_neutral: true")
    assert not scheme.allow_neutral
    assert seen(notices) == [("unused-key", "config.yaml:11 annotation_schemes[0].allow_neutral")]


def test_a_per_step_block_without_mode_is_said(tmp_path: Path) -> None:
    scheme, notices = read_scheme(tmp_path, "per_step: {allow_notes: true}")
    assert scheme.mode == "first_error" and scheme.per_step.allow_notes
    assert [notice.code for notice in notices] == ["mode-assumed"]


@pytest.mark.parametrize(
    ("lines", "required"),
    [
        ("label_requirement: false", False),
        ("label_requirement: true", True),
        ("label_requirement: {required: true}", True),
        ("required: false", False),
        ("label_requirement: true\nrequired: false", False),
    ],
)
def test_required(lines: str, required: bool, tmp_path: Path) -> None:
    scheme, notices = read_scheme(tmp_path, lines)
    assert scheme.required is required
    assert list(notices) == []


def test_shortcuts_that_are_named_win(tmp_path: Path) -> None:
    scheme, notices = read_scheme(
        tmp_path, "keyboard_shortcuts: {correct: j, incorrect: 0, next_step: n, unnecessary: 9}"
    )
    assert list(notices) == []
    # `j` is given to correct; k stays what it is.
    assert scheme.shortcuts == Shortcuts(
        labels={"correct": "j", "incorrect": "0", "unnecessary": "9"}, next_step="n", prev_step="k"
    )


# --- display ---------------------------------------------------------------------------------------------------------


def read_fields(folder: Path, fields: str) -> tuple[Project, Notices]:
    schemes = "annotation_schemes: [{annotation_type: process_reward, name: r, steps_key: steps}]\n"
    return read(folder, f"{HEAD}instance_display:\n  fields:\n{fields}{schemes}")


def test_display_options_nested_flat_and_by_other_names(tmp_path: Path) -> None:
    project, notices = read_fields(
        tmp_path,
        """\
    - key: a
      type: coding_trace
      label: Session
      span_target: true
      display_options: {diff_view: side-by-side, terminal_theme: light, max_output_lines: 7, show_file_tree: false}
    - {key: b, type: coding_trace, diff_view: side_by_side, show_step_numbers: false, collapse_long_outputs: false}
    - {key: c, type: web_agent_trace, display_options: {show_thought: false}}
    - {key: d, type: eval_trace, max_output_lines: 3, display_options: {max_output_lines: 4}}
    - {key: e, type: eval_trace}
    - {key: f, type: text, collapsible: true}
""",
    )
    assert list(notices) == []
    assert [field.trace for field in project.fields] == [
        TraceDisplay(diff_view="split", terminal_theme="light", max_output_lines=7, show_file_tree=False),
        TraceDisplay(diff_view="split", show_step_numbers=False, collapse_long_outputs=False),
        TraceDisplay(show_reasoning=False),
        # Potato takes the nested value where an option stands twice.
        TraceDisplay(max_output_lines=4),
        # This display has a default of its own.
        TraceDisplay(max_output_lines=20),
        None,
    ]
    assert project.fields[0].label == "Session" and project.fields[0].line == 7
    assert project.fields[0].options["span_target"] is True
    assert project.fields[5].options == {"collapsible": True}


@pytest.mark.parametrize("kind", ["coding_trace", "cot_trace", "eval_trace", "agent_trace", "web_agent_trace"])
def test_a_trace_display_wins_over_a_dialogue(kind: str, tmp_path: Path) -> None:
    project, _ = read_fields(tmp_path, f"    - {{key: chat, type: dialogue}}\n    - {{key: t, type: {kind}}}\n")
    assert [field.trace is not None for field in project.fields] == [False, True]


@pytest.mark.parametrize("kind", ["dialogue", "multi_agent_discussion", "interactive_chat"])
def test_a_dialogue_alone_is_the_trace(kind: str, tmp_path: Path) -> None:
    text = f"{HEAD}instance_display: {{fields: [{{key: chat, type: {kind}}}]}}\n"
    project, notices = read(tmp_path, text + "annotation_schemes: [{annotation_type: process_reward, name: r}]\n")
    assert project.steps_key() == "chat"
    assert list(notices) == []


def test_display_notices(tmp_path: Path) -> None:
    _, notices = read_fields(
        tmp_path,
        "    - {key: a, type: coding_trce}\n"
        "    - {key: b, type: coding_trace, show_tool_badges: true, difview: unified, zzz: 1}\n",
    )
    assert [(notice.code, notice.message) for notice in notices] == [
        ("unknown-display-type", "unknown display type 'coding_trce' is shown as text. Did you mean 'coding_trace'?"),
        ("unused-key", "'show_tool_badges' of a coding_trace display is Potato's; the bridge does not use it"),
        ("unknown-key", "unknown key 'difview' of a coding_trace display is ignored. Did you mean 'diff_view'?"),
        ("unknown-key", "unknown key 'zzz' of a coding_trace display is ignored."),
    ]


def test_two_traces_and_no_steps_key(tmp_path: Path) -> None:
    display = "instance_display: {fields: [{key: a, type: coding_trace}, {key: b, type: agent_trace}]}\n"
    project, notices = read(
        tmp_path, HEAD + display + "annotation_schemes: [{annotation_type: process_reward, name: r}]\n"
    )
    assert project.steps_key() == "a"
    (notice,) = notices
    assert notice.code == "several-traces" and "'a'" in notice.message and "b" in notice.message


@pytest.mark.parametrize(("layout", "codes"), [("{direction: vertical, gap: 16px}", []),
                                               ("{direction: horizontal}", ["unused-key"])])  # fmt: skip
def test_layout(layout: str, codes: list[str], tmp_path: Path) -> None:
    display = f"instance_display: {{layout: {layout}, fields: [{{key: turns, type: coding_trace}}]}}\n"
    _, notices = read_scheme(tmp_path, "description: d", display=display)
    assert [notice.code for notice in notices] == codes


# --- the task --------------------------------------------------------------------------------------------------------


def test_paths(tmp_path: Path) -> None:
    (tmp_path / "study" / "data").mkdir(parents=True)
    (tmp_path / "study" / "data" / "a.csv").touch()
    (tmp_path / "study" / "data" / "b.txt").touch()
    project, notices = read(
        tmp_path,
        """\
annotation_task_name: 2024
task_dir: study
data_files:
  - data/a.csv
  - {path: data/b.txt, type: jsonl, id_key: uid, text_key: title, encoding: latin-1}
item_properties: {id_key: id, text_key: task, category_key: c}
output_annotation_dir: out/
export_annotation_format: [prm, dpo]
annotation_schemes: [{annotation_type: process_reward, name: r, steps_key: s}]
""",
    )
    assert list(notices) == []
    study = (tmp_path / "study").resolve()
    assert project.name == "2024"
    assert (project.config, project.task_dir, project.output_dir) == (tmp_path / "config.yaml", study, study / "out")
    first, second = project.data_files
    assert (first.path, first.format, first.line, first.encoding) == (study / "data" / "a.csv", "csv", 4, None)
    assert (second.format, second.id_key, second.text_key, second.encoding) == ("jsonl", "uid", "title", "latin-1")
    assert project.export_formats == ["prm", "dpo"]


SCHEME = "annotation_schemes: [{annotation_type: process_reward, name: r, steps_key: s}]\n"


def test_defaults_of_the_task(tmp_path: Path) -> None:
    project, notices = read(tmp_path, HEAD.replace("task_dir: .\n", "") + SCHEME)
    assert list(notices) == []
    assert project.task_dir == tmp_path.resolve()
    assert project.output_dir == tmp_path.resolve() / "annotation_output"
    assert (project.export_formats, project.fields) == ([], [])


@pytest.mark.parametrize(
    ("line", "formats"),
    [
        ("output_annotation_format: json", ["jsonl"]),
        ("output_annotation_format: csv", ["csv"]),
        ("output_annotation_format: json\nexport_annotation_format: prm", ["prm"]),
    ],
)
def test_the_old_format_key(line: str, formats: list[str], tmp_path: Path) -> None:
    project, notices = read(tmp_path, f"{HEAD}{line}\n{SCHEME}")
    assert project.export_formats == formats
    assert seen(notices) == [("deprecated-key", "config.yaml:5 output_annotation_format")]


def test_keys_that_are_not_used(tmp_path: Path) -> None:
    _, notices = read(
        tmp_path,
        HEAD
        + "require_password: false\nuser_config: {allow_all_users: true}\nport: 8000\nverbose: true\n"
        + "phases: {order: []}\nmax_annotations_per_user: 3\nanotation_schemes: []\nzzz: 1\n"
        + "annotation_schemes:\n  - {annotation_type: process_reward, name: r, steps_key: s, step_key: x,"
        + " display_logic: {}, humanize_labels: false}\n",
    )
    # Accounts, ports and logs of Potato's server are silent; what changes the annotators' work is not.
    assert [(notice.code, notice.where.rpartition("/")[2]) for notice in notices] == [
        ("unknown-key", "config.yaml:14 annotation_schemes[0].step_key"),
        ("unused-key", "config.yaml:14 annotation_schemes[0].display_logic"),
        ("unused-key", "config.yaml:9 phases"),
        ("unused-key", "config.yaml:10 max_annotations_per_user"),
        ("unknown-key", "config.yaml:11 anotation_schemes"),
        ("unknown-key", "config.yaml:12 zzz"),
    ]
    messages = [notice.message for notice in notices]
    assert "Did you mean 'steps_key'?" in messages[0]
    assert "Did you mean 'annotation_schemes'?" in messages[4]
    assert "Did you mean" not in messages[5]


@pytest.mark.parametrize(("value", "overlap"), [("3", 3), ("1", 1), ("-1", 1), ("null", 1)])
def test_how_many_answers_complete_an_item(value: str, overlap: int, tmp_path: Path) -> None:
    project, notices = read(tmp_path, f"{HEAD}max_annotations_per_item: {value}\n{SCHEME}")
    assert (project.overlap, seen(notices)) == (overlap, [])


@pytest.mark.parametrize("value", ["0", "-2", "1.5", "true", "'3'", "[3]"])
def test_a_number_of_answers_that_is_none(value: str, tmp_path: Path) -> None:
    with pytest.raises(InputError) as caught:
        read(tmp_path, f"{HEAD}max_annotations_per_item: {value}\n{SCHEME}")
    [problem] = caught.value.problems
    assert (problem.line, problem.path) == (5, "max_annotations_per_item")


# --- other schemes ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", sorted(SCHEME_TYPES - READERS.keys()))
def test_every_other_type_is_kept_and_reported(kind: str, tmp_path: Path) -> None:
    project, notices = read(
        tmp_path,
        f"{HEAD}annotation_schemes:\n  - annotation_type: {kind}\n    name: s\n    description: d\n"
        "    labels: [yes, {name: b, tooltip: t}]\n    size: 5\n    since: 2024-01-02\n",
    )
    assert project.schemes == [
        OtherScheme(
            name="s",
            type=kind,
            description="d",
            options={"labels": [True, {"name": "b", "tooltip": "t"}], "size": 5, "since": "2024-01-02"},
            line=6,
        )
    ]
    (notice,) = notices
    assert notice.code == "scheme-not-supported" and "'s'" in notice.message and repr(kind) in notice.message


def test_an_unknown_type_is_kept_too(tmp_path: Path) -> None:
    project, notices = read(tmp_path, f"{HEAD}annotation_schemes: [{{annotation_type: radoi, name: s, a: 1}}]\n")
    assert project.schemes == [OtherScheme(name="s", type="radoi", options={"a": 1}, line=5)]
    (notice,) = notices
    assert notice.code == "unknown-scheme-type" and "Did you mean 'radio'?" in notice.message


# --- YAML ------------------------------------------------------------------------------------------------------------


def test_yaml_1_1_words_are_text_where_text_is_meant(tmp_path: Path) -> None:
    project, _ = read(
        tmp_path,
        HEAD.replace("Review", "on").replace("id_key: id", "id_key: no")
        + "annotation_schemes: [{annotation_type: vas, name: yes, labels: {yes: 1, no: 2, 3: x}}]\n",
    )
    assert (project.name, project.id_key, project.schemes[0].name) == ("on", "no", "yes")
    scheme = project.schemes[0]
    assert isinstance(scheme, OtherScheme) and scheme.options == {"labels": {"yes": 1, "no": 2, "3": "x"}}


def test_anchors_and_merge_keys(tmp_path: Path) -> None:
    scheme, notices = read_scheme(
        tmp_path,
        """\
first_error: &base
  error_color: red
  correct_color: &c lime
per_step:
  labels:
    - &ok {value: ok, color: *c, score: 1}
    - {<<: *ok, value: bad, score: -1}
    - {<<: [{value: odd, score: 0}, *ok]}
""",
    )
    assert scheme.first_error.error_color == "red"
    assert [(label.value, label.color, label.score) for label in scheme.per_step.labels] == [
        ("ok", "lime", 1.0),
        ("bad", "lime", -1.0),
        ("odd", "lime", 0.0),
    ]
    assert [notice.code for notice in notices] == []


def test_utf8_with_a_byte_order_mark_and_windows_newlines(tmp_path: Path) -> None:
    text = (HEAD + SCHEME).replace("Review", "Größe 😀").replace("\n", "\r\n")
    project, _ = read(tmp_path, "\ufeff" + text)
    assert project.name == "Größe 😀"


# --- corners ---------------------------------------------------------------------------------------------------------


def test_data_file_keys_that_are_not_used(tmp_path: Path) -> None:
    _, notices = read(
        tmp_path,
        HEAD.replace(
            "[data/traces.jsonl]", "[{path: data/traces.jsonl, filter_by_prior_annotation: x, encodng: utf-8}]"
        )
        + SCHEME,
    )
    assert [notice.code for notice in notices] == ["unused-key", "unknown-key"]
    assert "Did you mean 'encoding'?" in list(notices)[1].message


def test_neutral_joins_own_labels_that_have_none(tmp_path: Path) -> None:
    labels = "per_step: {labels: [{value: ok, score: 1}, {value: bad, score: -1}]}"
    scheme, _ = read_scheme(tmp_path, f"mode: per_step\nallow_neutral: true\n{labels}")
    assert [(label.value, label.score) for label in scheme.per_step.labels] == [
        ("ok", 1.0),
        ("bad", -1.0),
        ("neutral", 0.0),
    ]


def test_several_process_rewards_are_all_read(tmp_path: Path) -> None:
    project, _ = read(
        tmp_path,
        HEAD
        + DISPLAY
        + "annotation_schemes:\n  - {annotation_type: process_reward, name: a}\n"
        + "  - {annotation_type: process_reward, name: b, mode: per_step}\n",
    )
    assert [scheme.name for scheme in project.schemes] == ["a", "b"]
    assert project.process_reward() is project.schemes[0]
