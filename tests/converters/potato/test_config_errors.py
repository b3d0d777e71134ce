"""What is wrong with a config: each case names the line, the key path and words of the cure."""

from pathlib import Path

import pytest

from potato_bridge.converters.potato.config import read_project
from potato_bridge.notices import Notices
from tests.converters.potato.helpers import problems_of, write_project

#: Line 1 is the name; the cases replace pieces of it.
BASE = """\
annotation_task_name: Review
task_dir: .
data_files:
  - data/traces.jsonl
item_properties:
  id_key: id
  text_key: task
instance_display:
  fields:
    - key: task
      type: text
    - key: turns
      type: coding_trace
      display_options:
        diff_view: unified
annotation_schemes:
  - annotation_type: process_reward
    name: reward
    description: Click the first wrong step
    mode: first_error
    first_error:
      correct_color: "#22c55e"
      allow_no_error: true
      labels:
        correct: "+1"
    per_step:
      labels:
        - {value: good, display: Good, color: green, score: 1}
        - {value: bad, display: Bad, color: red, score: -1}
      error_categories:
        enabled: true
        categories: [Logic]
    keyboard_shortcuts:
      correct: "1"
"""
R = "annotation_schemes[0]"
OPTIONS = "instance_display.fields[1].display_options"

#: What is replaced, by what, the line of the problem, its key path, words of message and hint.
CASES: dict[str, tuple[str, str, int, str, list[str]]] = {
    # --- required keys, and their types
    "no name": ("annotation_task_name: Review\n", "", 1, "annotation_task_name", ["missing", "Add it"]),
    "name misspelt": ("annotation_task_name:", "anotation_task_name:", 1, "annotation_task_name", ["Did you mean"]),
    "name empty": (": Review", ":", 1, "annotation_task_name", ["is empty"]),
    "name blank": (": Review", ': "  "', 1, "annotation_task_name", ["expected text", "empty"]),
    "name a list": (": Review", ": [a]", 1, "annotation_task_name", ["expected text", "a list"]),
    "name a boolean": (": Review", ": true", 1, "annotation_task_name", ["boolean true", "quotes"]),
    "no items": ("item_properties:\n  id_key: id\n  text_key: task\n", "", 1, "item_properties", ["id_key", "Add it"]),
    "items a list": ("item_properties:\n  id_key: id\n  text_key: task\n", "item_properties: [id]\n", 5,
                     "item_properties", ["expected a mapping", "a list"]),
    "no id key": ("  id_key: id\n", "", 5, "item_properties.id_key", ["missing", "unique id"]),
    "id key misspelt": ("id_key:", "id_kye:", 5, "item_properties.id_key", ["Did you mean 'id_key'", "line 6"]),
    "no text key": ("  text_key: task\n", "", 5, "item_properties.text_key", ["missing"]),
    "no schemes": ("annotation_schemes:", "annotation_schema:", 1, "annotation_schemes", ["Did you mean", "line 16"]),
    # --- paths
    "no folder": ("task_dir: .", "task_dir: examples/x", 2, "task_dir", ["no folder 'examples/x'", "`task_dir: .`"]),
    "output outside": ("task_dir: .", "task_dir: .\noutput_annotation_dir: ../out", 3, "output_annotation_dir",
                       ["outside of task_dir"]),
    # --- data files
    "no data": ("data_files:\n  - data/traces.jsonl\n", "", 1, "data_files", ["missing", "a list of paths"]),
    "data a text": ("data_files:\n  - data/traces.jsonl", "data_files: data/traces.jsonl", 3, "data_files",
                    ["expected a list", "'- '"]),
    "data empty": ("data_files:\n  - data/traces.jsonl", "data_files: []", 3, "data_files", ["list is empty"]),
    "data null": ("- data/traces.jsonl", "-", 4, "data_files[0]", ["expected a path"]),
    "data no path": ("- data/traces.jsonl", "- format: jsonl", 4, "data_files[0].path", ["missing"]),
    "data gone": ("traces.jsonl", "trace.jsonl", 4, "data_files[0]", ["no file data/trace.jsonl", "relative to"]),
    "data a folder": ("- data/traces.jsonl", "- {path: data, format: json}", 4, "data_files[0].path", ["a folder"]),
    "data outside": ("- data/traces.jsonl", "- ../x.jsonl", 4, "data_files[0]", ["outside of task_dir"]),
    "data elsewhere": ("- data/traces.jsonl", "- /etc/hosts.json", 4, "data_files[0]", ["outside of task_dir"]),
    "data extension": ("- data/traces.jsonl", "- data/traces.jsonl\n  - data/a.xlsx", 5, "data_files[1]",
                       [".json, .jsonl, .csv, .tsv, .parquet", "'.xlsx'"]),
    "data bare name": ("- data/traces.jsonl", "- data/traces.jsonl\n  - data/a", 5, "data_files[1]",
                       ["without extension", "`format`"]),
    "data near extension": ("- data/traces.jsonl", "- data/traces.jsonl\n  - data/a.jsonlz", 5, "data_files[1]",
                            ["Did you mean 'jsonl'"]),
    "data format": ("- data/traces.jsonl", "- {path: data/traces.jsonl, format: cvs}", 4, "data_files[0].format",
                    ["json, jsonl, csv, tsv, parquet", "Did you mean 'csv'"]),
    "data twice": ("- data/traces.jsonl", "- data/traces.jsonl\n  - data/../data/traces.jsonl", 5, "data_files[1]",
                   ["stands twice"]),
    "encoding": ("- data/traces.jsonl", "- {path: data/traces.jsonl, encoding: utf9}", 4, "data_files[0].encoding",
                 ["'utf9' is no text encoding", "latin-1"]),
    "encoding no text": ("- data/traces.jsonl", "- {path: data/traces.jsonl, encoding: base64}", 4,
                         "data_files[0].encoding", ["no text encoding"]),
    "data_directory": ("data_files:\n  - data/traces.jsonl", "data_directory: data", 3, "data_directory",
                       ["reads a folder", "data_files"]),
    "data_sources": ("data_files:", "data_sources: [{type: s3}]\ndata_files:", 3, "data_sources",
                     ["remote data", "data_files"]),
    # --- display
    "display a list": ("instance_display:\n  fields:", "instance_display:\n", 8, "instance_display",
                       ["expected a mapping"]),
    "field no key": ("- key: turns\n      type", "- type", 12, "instance_display.fields[1].key", ["missing"]),
    "field no type": ("- key: task\n      type: text", "- key: task", 10, "instance_display.fields[0].type",
                      ["missing", "coding_trace"]),
    "field a text": ("- key: task\n      type: text", "- task", 10, "instance_display.fields[0]",
                     ["expected a mapping", "'task'"]),
    "diff view": ("diff_view: unified", "diff_view: sideways", 15, f"{OPTIONS}.diff_view", ["unified, split"]),
    "diff view near": ("diff_view: unified", "diff_view: unifed", 15, f"{OPTIONS}.diff_view", ["mean 'unified'"]),
    "theme": ("diff_view: unified", "terminal_theme: blue", 15, f"{OPTIONS}.terminal_theme", ["dark, light"]),
    "lines zero": ("diff_view: unified", "max_output_lines: 0", 15, f"{OPTIONS}.max_output_lines", ["at least 1"]),
    "lines text": ("diff_view: unified", 'max_output_lines: "50"', 15, f"{OPTIONS}.max_output_lines",
                   ["whole number", "'50'"]),
    "lines boolean": ("diff_view: unified", "max_output_lines: true", 15, f"{OPTIONS}.max_output_lines",
                      ["whole number", "true"]),
    "collapse": ("diff_view: unified", "collapse_long_outputs: 1", 15, f"{OPTIONS}.collapse_long_outputs",
                 ["true or false", "found 1"]),
    "tree": ("diff_view: unified", "show_file_tree: maybe", 15, f"{OPTIONS}.show_file_tree", ["true or false"]),
    "numbers": ("diff_view: unified", "show_step_numbers: []", 15, f"{OPTIONS}.show_step_numbers", ["a list"]),
    "flat option": ("      display_options:\n        diff_view: unified", "      show_reasoning: 'no'", 14,
                    "instance_display.fields[1].show_reasoning", ["true or false", "'no'"]),
    "no fields": ("  fields:\n    - key: task\n      type: text\n    - key: turns\n      type: coding_trace\n"
                  "      display_options:\n        diff_view: unified\n", "  layout: {}\n", 8,
                  "instance_display.fields", ["missing"]),
    # --- schemes
    "schemes a mapping": ("annotation_schemes:\n  - annotation_type: process_reward",
                          "annotation_schemes:\n    annotation_type: process_reward", 16, "annotation_schemes",
                          ["expected a list", "'- '"]),
    "scheme a text": ("annotation_schemes:\n", "annotation_schemes:\n  - radio\n", 17, R,
                      ["expected a mapping", "'radio'"]),
    "scheme no name": ("    name: reward\n", "", 17, f"{R}.name", ["missing"]),
    "scheme name a mapping": ("name: reward", "name: {a: 1}", 18, f"{R}.name", ["expected text", "a mapping"]),
    "scheme no type": ("- annotation_type: process_reward\n    name", "- name", 17, f"{R}.annotation_type",
                       ["missing", "process_reward"]),
    "scheme name taken": ("annotation_schemes:\n",
                          "annotation_schemes:\n  - {annotation_type: text, name: reward, description: x}\n", 19,
                          "annotation_schemes[1].name", ["taken by the scheme in line 17"]),
    "no steps": ("type: coding_trace", "type: text", 17, R, ["where the steps are", "steps_key", "web_agent_trace"]),
    "mode": ("mode: first_error", "mode: first-error", 20, f"{R}.mode", ["first_error, per_step", "Did you mean"]),
    "mode a list": ("mode: first_error", "mode: [first_error]", 20, f"{R}.mode", ["a list"]),
    "steps_key": ("mode: first_error", "steps_key: [a]", 20, f"{R}.steps_key", ["expected text"]),
    "requirement": ("mode: first_error", "label_requirement: sometimes", 20, f"{R}.label_requirement",
                    ["true, false or {required: …}"]),
    "requirement inner": ("mode: first_error", "label_requirement: {required: 1}", 20,
                          f"{R}.label_requirement.required", ["true or false"]),
    "neutral": ("mode: first_error", "allow_neutral: 'yes'", 20, f"{R}.allow_neutral", ["true or false"]),
    "reward labels": ("mode: first_error", "reward_labels: [a, b]", 20, f"{R}.reward_labels", ["a mapping"]),
    # --- first_error
    "block a text": ("    description: Click the first wrong step\n    mode: first_error\n    first_error:\n"
                     '      correct_color: "#22c55e"\n      allow_no_error: true\n      labels:\n'
                     '        correct: "+1"\n', "    first_error: true\n", 19, f"{R}.first_error",
                     ["expected a mapping", "found true"]),
    "color a comment": ('correct_color: "#22c55e"', "correct_color: #22c55e", 22, f"{R}.first_error.correct_color",
                        ["comment", "quotes"]),
    "color without hash": ('correct_color: "#22c55e"', "error_color: ef4444", 22, f"{R}.first_error.error_color",
                           ['Did you mean "#ef4444"']),
    "color a number": ('correct_color: "#22c55e"', "error_color: 112233", 22, f"{R}.first_error.error_color",
                       ['Did you mean "#112233"']),
    "color digits": ('correct_color: "#22c55e"', 'downstream_color: "#12345"', 22,
                     f"{R}.first_error.downstream_color", ["3, 4, 6 or 8 hex digits", "'#12345'"]),
    "color name": ('correct_color: "#22c55e"', "unmarked_color: grren", 22, f"{R}.first_error.unmarked_color",
                   ["Did you mean 'green'"]),
    "color injected": ('correct_color: "#22c55e"', 'correct_color: "red;} body{display:none"', 22,
                       f"{R}.first_error.correct_color", ["a CSS colour"]),
    "color function": ('correct_color: "#22c55e"', 'correct_color: "rgb(1,2,3)"', 22,
                       f"{R}.first_error.correct_color", ["a CSS colour"]),
    "no error": ("allow_no_error: true", "allow_no_error: 3", 23, f"{R}.first_error.allow_no_error", ["found 3"]),
    "confirmation": ("allow_no_error: true", "require_confirmation: always", 23,
                     f"{R}.first_error.require_confirmation", ["true or false", "'always'"]),
    "labels a list": ('labels:\n        correct: "+1"', "labels: [a]", 24, f"{R}.first_error.labels", ["a mapping"]),
    "label text": ('correct: "+1"', "correct: [x]", 25, f"{R}.first_error.labels.correct", ["expected text"]),
    # --- per_step
    "score missing": ("color: green, score: 1", "color: green", 28, f"{R}.per_step.labels[0].score", ["e.g. 1.0"]),
    "score text": ("score: 1}", "score: high}", 28, f"{R}.per_step.labels[0].score", ["a number", "'high'"]),
    "score infinite": ("score: 1}", "score: .inf}", 28, f"{R}.per_step.labels[0].score", ["a number", "'.inf'"]),
    "value missing": ("value: bad, ", "", 29, f"{R}.per_step.labels[1].value", ["missing"]),
    "value twice": ("value: bad", "value: good", 29, f"{R}.per_step.labels[1].value", ["'good'", "line 28"]),
    "display twice": ("display: Bad", "display: Good", 29, f"{R}.per_step.labels[1].display", ["line 28"]),
    "label color": ("color: red", "color: reed", 29, f"{R}.per_step.labels[1].color", ["Did you mean 'red'"]),
    "label category": ("score: -1}", "score: -1, error_category: x}", 29,
                       f"{R}.per_step.labels[1].error_category", ["true or false"]),
    "label a text": ("- {value: bad, display: Bad, color: red, score: -1}", "- bad", 29, f"{R}.per_step.labels[1]",
                     ["expected a mapping", "'bad'"]),
    "categories a list": ("error_categories:\n        enabled: true\n        categories: [Logic]",
                          "error_categories: [Logic]", 30, f"{R}.per_step.error_categories", ["a mapping"]),
    "categories none": ("        categories: [Logic]\n", "", 30, f"{R}.per_step.error_categories.categories",
                        ["enabled, but there are none"]),
    "category twice": ("[Logic]", "[Logic, Logic]", 32, f"{R}.per_step.error_categories.categories[1]",
                       ["stands twice"]),
    "category null": ("[Logic]", "[Logic, null]", 32, f"{R}.per_step.error_categories.categories[1]",
                      ["found nothing"]),
    "labels empty": ("labels:\n        - {value: good, display: Good, color: green, score: 1}\n"
                     "        - {value: bad, display: Bad, color: red, score: -1}\n", "labels: []\n", 27,
                     f"{R}.per_step.labels", ["list is empty"]),
    "label alone": ("        - {value: bad, display: Bad, color: red, score: -1}\n", "", 27, f"{R}.per_step.labels",
                    ["only one label"]),
    # --- shortcuts
    "shortcut twice": ('correct: "1"\n', 'correct: "1"\n      incorrect: "1"\n', 35,
                       f"{R}.keyboard_shortcuts.incorrect", ["'1' is that of 'correct'"]),
    "shortcut a sentence": ('correct: "1"\n', 'correct: "press one"\n', 34, f"{R}.keyboard_shortcuts.correct",
                            ["expected one key"]),
    # --- YAML
    "key twice": ("task_dir: .", "task_dir: .\ntask_dir: data", 3, "task_dir", ["stands twice", "line 2", "one of"]),
    "python tag": (": Review", ": !!python/object/apply:os.system [id]", 1, "annotation_task_name",
                   ["python/object/apply:os.system", "refused"]),
    "own tag": (": Review", ": !secret x", 1, "annotation_task_name", ["the tag !secret is refused"]),
    "merge of a text": ("task_dir: .", "task_dir: .\n<<: x", 1, "", ["'<<' takes a mapping"]),
    "no number": (": Review", ": !!int x", 1, "annotation_task_name", ["'x' is not a valid int"]),
    "odd key": ("task_dir: .", "task_dir: .\n'a b': 1\n'a b': 2", 4, "['a b']", ["stands twice"]),
    "key a list": ("task_dir: .", "task_dir: .\n? [a]\n: b", 1, "", ["used as a key"]),
}  # fmt: skip


@pytest.mark.parametrize("case", CASES, ids=CASES.keys())
def test_config_error(case: str, tmp_path: Path) -> None:
    old, new, line, path, words = CASES[case]
    assert BASE.count(old) == 1, "the case must replace one place"
    config = write_project(tmp_path, BASE.replace(old, new))
    problems = problems_of(lambda: read_project(config, Notices()))
    found = [problem for problem in problems if problem.path == path]
    assert found, f"no problem at {path!r} in {problems}"
    assert {(problem.file, problem.line) for problem in found} == {(str(config), line)}
    text = " ".join(f"{problem.message} {problem.hint}" for problem in found)
    assert [word for word in words if word not in text] == []


def test_the_base_is_right(tmp_path: Path) -> None:
    notices = Notices()
    read_project(write_project(tmp_path, BASE), notices)
    assert list(notices) == []


def test_all_problems_come_at_once_in_the_order_of_the_file(tmp_path: Path) -> None:
    text = BASE.replace("task_dir: .", "task_dir: nowhere").replace("unified", "sideways").replace("score: 1}", "}")
    problems = problems_of(lambda: read_project(write_project(tmp_path, text), Notices()))
    # The folder that is not there takes the data file along.
    assert [(p.line, p.path) for p in problems] == [
        (2, "task_dir"),
        (4, "data_files[0]"),
        (15, f"{OPTIONS}.diff_view"),
        (28, f"{R}.per_step.labels[0].score"),
    ]


#: Content of the file, line, words: nothing of such a file can be read, so there is one problem.
UNREADABLE: dict[str, tuple[bytes, int | None, list[str]]] = {
    "empty": (b"", 1, ["empty"]),
    "comments only": (b"# nothing\n", 1, ["empty"]),
    "a list": (b"- a\n- b\n", 1, ["expected a mapping at the top", "a list", "`key: value`"]),
    "a text": (b"hello\n", 1, ["expected a mapping at the top", "'hello'"]),
    "binary": (b"PK\x03\x04\0\0\0", None, ["binary", "config.yaml"]),
    "utf-16": ("a: b\n".encode("utf-16"), 1, ["UTF-16", "Save it as UTF-8"]),
    "latin-1": (b"a: b\nb: caf\xe9\n", 2, ["not UTF-8", "byte 11"]),
    "tab": (b"a:\n\tb: c\n", 2, ["a tab", "Indent with spaces"]),
    "colon": (b"a: 1\nb: c: d\n", 2, ["':' stands inside", "quotes"]),
    "quote": (b"a: 1\nb: 'c\nd: e\n", 2, ["never closed"]),
    "at sign": (b"a: @b\n", 1, ["'@'", "quotes"]),
    "indentation": (b"a: 1\n b: 2\n", 2, ["':' stands inside"]),
    "list and key": (b"- a\nb: 1\n", 2, ["is not YAML", "indentation"]),
    "two documents": (b"a: 1\n---\nb: 2\n", 2, ["second document"]),
    "undefined alias": (b"a: *x\n", 1, ["anchor"]),
    "control character": (b"a: 1\nb: \x07\n", 2, ["control character (0x07)"]),
    "alias in itself": (b"a: &x [*x]\n", 1, ["alias", "stands in"]),
    "merge of itself": (b"a: &x\n  <<: *x\n", 1, ["alias", "stands in"]),
    "alias bomb": (
        b"a: &a [x,x,x,x,x,x,x,x,x,x]\n"
        + b"".join(b"%c: &%c [%s]\n" % (c, c, b",".join([b"*%c" % (c - 1)] * 10)) for c in range(98, 106)),
        None,
        ["aliases expand to more than 100000 values"],
    ),
    "deep": (b"a: " + b"[" * 3000 + b"]" * 3000, None, ["nested"]),
    "huge": (b"a: b\n" * 900_000, None, ["larger than 4 MB"]),
}


@pytest.mark.parametrize("case", UNREADABLE, ids=UNREADABLE.keys())
def test_unreadable_config(case: str, tmp_path: Path) -> None:
    data, line, words = UNREADABLE[case]
    config = tmp_path / "c.yaml"
    config.write_bytes(data)
    (problem,) = problems_of(lambda: read_project(config, Notices()))
    assert problem.file == str(config)
    if line is not None:
        assert problem.line == line
    text = f"{problem.message} {problem.hint}"
    assert [word for word in words if word not in text] == []


@pytest.mark.parametrize("name", ["gone.yaml", "."])
def test_config_that_cannot_be_opened(name: str, tmp_path: Path) -> None:
    (problem,) = problems_of(lambda: read_project(tmp_path / name, Notices()))
    assert "cannot be opened" in problem.message


def test_a_python_tag_runs_nothing(tmp_path: Path) -> None:
    mark = tmp_path / "ran"
    config = write_project(tmp_path, f"a: !!python/object/apply:pathlib.Path.touch [{mark}]\n")
    problems_of(lambda: read_project(config, Notices()))
    assert not mark.exists()


def test_data_may_not_leave_task_dir_by_a_link(tmp_path: Path) -> None:
    folder = tmp_path / "project"
    folder.mkdir()
    secret = tmp_path / "secret.jsonl"
    secret.touch()
    config = write_project(folder, BASE)
    (folder / "data" / "traces.jsonl").unlink()
    (folder / "data" / "traces.jsonl").symlink_to(secret)
    (problem,) = problems_of(lambda: read_project(config, Notices()))
    assert "outside of task_dir" in problem.message
