"""Who may log in: the roster of a closed study, at the place where Potato looks for it."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from potato_bridge.converters.potato.config import read_project
from potato_bridge.converters.potato.write_output import WriteReport, write_annotation_output
from potato_bridge.notices import Notices
from tests.converters.potato_output.helpers import codes, first_error, record

CONFIG = """\
annotation_task_name: T
task_dir: .
output_annotation_dir: {output}
data_files: [items.json]
item_properties: {{id_key: id, text_key: task}}
annotation_schemes: [{{annotation_type: process_reward, name: rewards, steps_key: steps}}]
{more}
"""
CLOSED = "require_password: false\nuser_config: {allow_all_users: false, users: [bob]}"


def run(folder: Path, more: str, output: str = "annotation_output") -> tuple[WriteReport, Notices]:
    items = [{"id": "a", "task": "t", "steps": ["x", "y", "z"]}]
    (folder / "items.json").write_text(json.dumps(items), encoding="utf-8")
    (folder / "config.yaml").write_text(CONFIG.format(output=output, more=more), encoding="utf-8")
    project = read_project(folder / "config.yaml", Notices())
    notices = Notices()
    records = [record(first_error(1), annotator=name) for name in ("alice", "bob", "carol")]
    return write_annotation_output(project, records, project.output_dir, notices), notices


@pytest.mark.parametrize(
    ("output", "more", "place"),
    [
        ("annotation_output", "", "user_config.json"),
        ("annotation_output/", "", "annotation_output/user_config.json"),
        ("out/run 1", "", "out/user_config.json"),
        ("annotation_output", "authentication: {user_config_path: people/roster.json}", "people/roster.json"),
    ],
)
def test_a_closed_study(tmp_path: Path, output: str, more: str, place: str) -> None:
    roster = tmp_path / place
    roster.parent.mkdir(parents=True, exist_ok=True)
    # Lines of others stay, and no line is glued to one that has no end.
    roster.write_text('{"username": "carol", "password": "s$h"}\nnonsense', encoding="utf-8")
    report, notices = run(tmp_path, f"{CLOSED}\n{more}", output)
    expected = '{"username": "carol", "password": "s$h"}\nnonsense\n{"username":"alice"}\n'
    assert roster.read_text(encoding="utf-8") == expected
    assert roster.resolve() in [file.resolve() for file in report.files]
    assert codes(notices) == []
    assert roster.resolve() not in [file.resolve() for file in run(tmp_path, f"{CLOSED}\n{more}", output)[0].files]


@pytest.mark.parametrize("more", ["require_password: false", "require_password: false\nuser_config: {users: [x]}"])
def test_an_open_study_needs_none(tmp_path: Path, more: str) -> None:
    _, notices = run(tmp_path, more)
    assert codes(notices) == []
    assert not (tmp_path / "user_config.json").exists()


@pytest.mark.parametrize("more", ["", "user_config: {allow_all_users: false}", "require_password: true"])
def test_passwords_are_not_invented(tmp_path: Path, more: str) -> None:
    (tmp_path / "user_config.json").write_text('{"username": "bob", "password": "s$h"}\n', encoding="utf-8")
    _, notices = run(tmp_path, more)
    (notice,) = notices
    assert notice.code == "password-needed"
    assert "alice, carol" in notice.message and "bob" not in notice.message
    assert str(tmp_path / "user_config.json") in notice.message


def test_a_folder_that_this_config_does_not_read(tmp_path: Path) -> None:
    run(tmp_path, CLOSED)
    (tmp_path / "user_config.json").unlink()
    project = read_project(tmp_path / "config.yaml", Notices())
    notices = Notices()
    write_annotation_output(project, [record(first_error(1))], tmp_path / "elsewhere", notices)
    assert codes(notices) == ["other-output-folder"]
    assert not (tmp_path / "user_config.json").exists()
