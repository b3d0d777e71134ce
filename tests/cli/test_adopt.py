"""A project that a team made by hand from what `render` wrote, and has annotated, is taken over."""

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.cli.conftest import RUN

EXAMPLE = Path(__file__).parents[2] / "examples" / "first_error"
ITEMS = ["slugify-accents", "empty-month", "log-level-option", "remove-legacy-cache"]


@pytest.fixture
def server(label_studio) -> dict[str, str]:
    return {"LABEL_STUDIO_URL": label_studio.url, "LABEL_STUDIO_API_KEY": label_studio.api_key}


@pytest.fixture
def config(tmp_path: Path) -> Path:
    folder = tmp_path / "study"
    shutil.copytree(EXAMPLE, folder)
    found = folder / "config.yaml"
    found.write_text(found.read_text().replace('"First-error process rewards"', f'"Adopted {tmp_path.name}"'))
    return found


def by_hand(bridge, config: Path, label_studio, title: str, *, meta: bool) -> tuple[int, list[int]]:
    """Renders, makes a project, uploads the file of tasks as the web page does, answers one task and skips one."""
    out = config.parent / "rendered"
    assert bridge("render", config, "-o", out).code == 0
    tasks = json.loads((out / "tasks.json").read_bytes())
    if not meta:
        tasks = [{"data": task["data"]} for task in tasks]
    http = label_studio.http
    body = {"title": title, "label_config": (out / "label_config.xml").read_text()}
    project = http.post("/api/projects/", json=body).raise_for_status().json()["id"]
    file = {"file": ("tasks.json", json.dumps(tasks).encode(), "application/json")}
    http.post(f"/api/projects/{project}/import", files=file).raise_for_status()
    listed = http.get(f"/api/tasks/?project={project}&include=id,data").raise_for_status().json()["tasks"]
    numbers = {task["data"]["potato_bridge_id"]: task["id"] for task in listed}
    choice = {"from_name": "process_reward", "to_name": "task", "type": "choices", "value": {"choices": ["step_2"]}}
    for item, answer in ((ITEMS[0], {"result": [choice]}), (ITEMS[1], {"result": [], "was_cancelled": True})):
        http.post(f"/api/tasks/{numbers[item]}/annotations/", json=answer).raise_for_status()
    return project, [numbers[item] for item in ITEMS]


@pytest.mark.parametrize("meta", [True, False], ids=["meta", "no-meta"])
def test_answers_from_before_are_pulled(bridge, server, config, label_studio, meta) -> None:
    title = f"By hand, {'with' if meta else 'without'} meta"
    project, numbers = by_hand(bridge, config, label_studio, title, meta=meta)
    path = f"/api/projects/{project}/"
    before = label_studio.http.get(path).json()

    asked = bridge("push", config, "--project", title, **server)
    assert asked.code == 2, asked.err
    assert f"project {project}, '{title}', is not the project of config.yaml yet. A push would\n" in asked.err
    assert "--yes" in asked.err and "Traceback" not in asked.err
    planned = bridge("push", config, "--project", title, "--dry-run", **server)
    assert planned.code == 0 and "is not the project of config.yaml yet" in planned.err
    assert label_studio.http.get(path).json() == before
    assert bridge("push", config, "--dry-run", "--json", **server).json["project"] is None

    pushed = bridge("push", config, "--project", title, "--yes", "--json", **server)
    assert pushed.code == 0, pushed.err
    assert (pushed.json["project"], pushed.json["created"]) == (project, 0)
    adoption = pushed.json["adoption"]
    assert (adoption["replaces_interface"], adoption["used"], adoption["updates"]) == (False, 4, 0 if meta else 4)
    # The steps are those that were answered: nothing is said of earlier ones.
    assert "item-changed-after-answer" not in {notice["code"] for notice in pushed.json["notices"]}
    assert bridge("push", config, "--json", **server).json["plan"] == {"operations": [], "unchanged": 4}

    pulled = bridge("pull", config, "--json", **server)
    assert (pulled.code, pulled.json["new"]) == (0, 2), pulled.err
    file = config.parent / "annotation_output" / "records.jsonl"
    lines = [json.loads(line) for line in file.read_text().splitlines()]
    assert [(line["id"], line["status"], line["source"]["task"], "flags" in line) for line in lines] == [
        (ITEMS[0], "submitted", numbers[0], False),
        (ITEMS[1], "skipped", numbers[1], False),
    ]
    assert lines[0]["annotations"]["process_reward"]["first_error_step"] == 2


def test_the_settings_name_the_project(bridge, server, config, label_studio, tmp_path) -> None:
    project, _ = by_hand(bridge, config, label_studio, "Of the settings", meta=True)
    settings = tmp_path / "potato-bridge.yaml"
    for named in ("of the settings", str(project)):
        settings.write_text(f"config: study/config.yaml\nlabel_studio:\n  project: {named}\n")
        asked = bridge("push", **server)
        assert asked.code == 2 and f"project {project}, 'Of the settings'" in asked.err, asked.err
        assert bridge("status", "--json", **server).json["project_id"] == project
        assert bridge("pull", "--json", "-o", tmp_path / f"{named}.jsonl", **server).json["new"] == 2
    settings.write_text("config: study/config.yaml\nlabel_studio:\n  project: no such one\n")
    missing = bridge("push", "--yes", **server)
    assert missing.code == 4 and "no project 'no such one'" in missing.err
    assert bridge("push", "--yes", "--project", project, **server).code == 0


@pytest.mark.skipif(sys.platform == "win32", reason="no terminals of this kind")
def test_a_terminal_is_asked(bridge, server, config, label_studio) -> None:
    project, _ = by_hand(bridge, config, label_studio, "Asked for", meta=True)
    command = [*RUN, "push", str(config), "--project", str(project)]
    for said, code in ((b"n\n", 2), (b"\n", 2), (b"\x04", 2), (b"y\n", 0)):
        ours, theirs = os.openpty()
        os.write(ours, said)
        done = subprocess.run(command, env={**os.environ, **server}, stdin=theirs, capture_output=True, timeout=120)
        os.close(ours)
        os.close(theirs)
        assert done.returncode == code, done.stderr
        assert b"Go on? [y/N]" in done.stderr
        assert (f"project {project} was left as it is".encode() in done.stderr) == (code == 2)
        found = bridge("push", config, "--dry-run", "--json", **server).json["project"]
        assert found == (None if code else project)
