"""The trajectory_edit scheme of a config, and the list that it needs in each item."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from potato_bridge.converters.potato.config import read_project
from potato_bridge.converters.potato.items import read_items
from potato_bridge.model.trajectory_scheme import TrajectoryEdit
from potato_bridge.notices import Notices
from tests.converters.potato.helpers import lines, problems_of, read, write_project

HEAD = """\
annotation_task_name: Corrections
data_files: [data/traces.jsonl]
item_properties: {id_key: id, text_key: task}
"""
SCHEME = """\
annotation_schemes:
  - annotation_type: trajectory_edit
    name: fix
"""


def scheme_of(folder: Path, text: str) -> TrajectoryEdit:
    project, notices = read(folder, HEAD + SCHEME + text)
    assert list(notices) == []
    [scheme] = project.schemes
    assert isinstance(scheme, TrajectoryEdit)
    return scheme


def test_the_defaults_are_potatos(tmp_path: Path) -> None:
    assert scheme_of(tmp_path, "") == TrajectoryEdit(
        name="fix",
        description="",
        steps_key="steps",
        step_text_key="action",
        editable_fields=["action"],
        show_diff=True,
        show_edit_distance=True,
        allow_reset=True,
        require_reason_on_edit=False,
        edit_final_answer=False,
        final_answer_key="final_answer",
        required=False,
        line=5,
    )
    assert scheme_of(tmp_path, "    step_text_key: content\n").editable_fields == ["content"]


def test_all_keys(tmp_path: Path) -> None:
    text = """\
    description: Fix it
    steps_key: turns
    step_text_key: content
    editable_fields: [content, thought]
    show_diff: false
    show_edit_distance: false
    allow_reset: false
    require_reason_on_edit: true
    edit_final_answer: true
    final_answer_key: answer
    label_requirement: {required: true}
"""
    scheme = scheme_of(tmp_path, text)
    assert scheme.editable_fields == ["content", "thought"]
    assert (scheme.steps_key, scheme.final_answer_key, scheme.required) == ("turns", "answer", True)
    assert (scheme.show_diff, scheme.require_reason_on_edit, scheme.edit_final_answer) == (False, True, True)


@pytest.mark.parametrize(
    ("text", "path", "message"),
    [
        ("editable_fields: action", "editable_fields", "expected a list"),
        ("editable_fields: []", "editable_fields", "the list is empty"),
        ("editable_fields: [a, a]", "editable_fields[1]", "'a' stands twice"),
        ("editable_fields: [{}]", "editable_fields[0]", "expected text"),
        ("show_diff: maybe", "show_diff", "expected true or false"),
        ("steps_key: []", "steps_key", "expected text"),
        ("label_requirement: 3", "label_requirement", "expected true, false or"),
    ],
)
def test_problems_have_their_place(tmp_path: Path, text: str, path: str, message: str) -> None:
    config = write_project(tmp_path, f"{HEAD}{SCHEME}    {text}\n")
    [problem] = problems_of(lambda: read_project(config, Notices()))
    assert problem.message.startswith(message)
    assert (problem.line, problem.path) == (7, f"annotation_schemes[0].{path}")


def test_an_unknown_key_is_a_notice(tmp_path: Path) -> None:
    _, notices = read(tmp_path, f"{HEAD}{SCHEME}    edit_final_anser: true\n    tooltip: x\n")
    assert [(notice.code, "edit_final_answer" in notice.message) for notice in notices] == [
        ("unknown-key", True),
        ("unused-key", False),
    ]


def items_of(folder: Path, schemes: str, *items: Any, display: str = "") -> list[str]:
    """Ids of the items; or, where some are not as they must be, what is wrong with them."""
    config = write_project(folder, f"{HEAD}{display}annotation_schemes:\n{schemes}")
    (folder / "data" / "traces.jsonl").write_text(lines(*items), encoding="utf-8")
    project = read_project(config, Notices())
    try:
        return [item.id for item in read_items(project, Notices())]
    except Exception as error:
        return [f"{problem.path}: {problem.message}" for problem in getattr(error, "problems", [])]


def test_items_need_the_list_that_is_corrected(tmp_path: Path) -> None:
    fix = "  - {annotation_type: trajectory_edit, name: fix, steps_key: plan}\n"
    item = {"id": "a", "task": "x", "plan": [{"action": "one"}], "turns": [{"role": "assistant", "content": "y"}]}
    assert items_of(tmp_path, fix, item) == ["a"]
    assert items_of(tmp_path, fix, {**item, "plan": []}) == ["plan: the list of steps is empty"]
    bare = {key: value for key, value in item.items() if key != "plan"}
    assert items_of(tmp_path, fix, bare) == ["plan: the item has no field 'plan'"]
    # Beside a trace that is shown and rated.
    display = "instance_display: {fields: [{key: turns, type: coding_trace}]}\n"
    both = "  - {annotation_type: process_reward, name: rewards}\n" + fix
    assert items_of(tmp_path, both, item, display=display) == ["a"]
    assert items_of(tmp_path, both, bare, display=display) == ["plan: the item has no field 'plan'"]
    # Only what is rated needs an agent's turn.
    user = {**item, "plan": [{"role": "user", "content": "z"}]}
    assert items_of(tmp_path, both, user, display=display) == ["a"]


@pytest.mark.parametrize(
    ("schemes", "display", "key"),
    [
        ("[{annotation_type: trajectory_edit, name: fix, steps_key: plan}]", "", "plan"),
        (
            "[{annotation_type: trajectory_edit, name: fix, steps_key: plan}]",
            "instance_display: {fields: [{key: turns, type: coding_trace}]}\n",
            "turns",
        ),
        (
            "[{annotation_type: trajectory_edit, name: fix, steps_key: plan}, "
            "{annotation_type: process_reward, name: r, steps_key: steps}]",
            "instance_display: {fields: [{key: turns, type: coding_trace}]}\n",
            "steps",
        ),
    ],
)
def test_whose_steps_key_counts(tmp_path: Path, schemes: str, display: str, key: str) -> None:
    project, _ = read(tmp_path, f"{HEAD}{display}annotation_schemes: {schemes}\n")
    assert project.steps_key() == key
