"""The whole way on Argilla through the real commands: check, render, push, annotate, status, pull, export."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest

from potato_bridge.converters.argilla.layouts import LAYOUTS
from potato_bridge.converters.argilla.plan import Stored
from potato_bridge.converters.potato.config import read_project
from potato_bridge.model import Record
from potato_bridge.model.process_reward import FirstError
from potato_bridge.notices import Notices

ROOT = Path(__file__).resolve().parents[2]


@pytest.mark.parametrize("layout", ["panel", "native"])
def test_the_whole_way(bridge, argilla, tmp_path, layout):
    shutil.copytree(ROOT / "examples" / "first_error", tmp_path, dirs_exist_ok=True)
    name = f"loop-{layout}"
    workspace = argilla.add_workspace(name)
    server = {"ARGILLA_API_URL": argilla.url, "ARGILLA_API_KEY": argilla.api_key}
    options = ("--workspace", name, "--layout", layout, "--json")
    checked = bridge("check", "config.yaml", "--backend", "argilla", "--layout", layout, "--json")
    assert (checked.code, checked.json["checked"]) == (0, "argilla"), checked.err
    assert checked.json["backends"]["argilla"]["layouts"][layout]["schemes"] == ["process_reward"]
    rendered = bridge("render", "config.yaml", "--backend", "argilla", "--layout", layout, "-o", "out")
    assert rendered.code == 0, rendered.err
    settings = json.loads((tmp_path / "out" / "settings.json").read_text())
    assert settings["layout"] == layout and (tmp_path / "out" / "guidelines.md").read_text()
    lines = (tmp_path / "out" / "records.jsonl").read_text().splitlines()
    planned = bridge("push", "config.yaml", "--dry-run", *options, **server)
    assert planned.json["plan"]["operations"][0]["op"] == "create-dataset", planned.err
    pushed = bridge("push", "config.yaml", *options, **server)
    assert pushed.code == 0, pushed.err
    assert (pushed.json["created"], pushed.json["found"]) == (len(lines), "created")
    assert argilla.api_key not in pushed.out + pushed.err
    assert ("sort=metadata.trace_id.asc" in pushed.json["project_url"]) == (layout == "native")
    again = bridge("push", "config.yaml", *options, **server)
    assert again.json["plan"]["operations"] == []

    user = argilla.add_user(workspace=workspace)
    project = read_project(tmp_path / "config.yaml", Notices())
    listed = argilla.http.get(f"/api/v1/datasets/{pushed.json['project']}/records").json()["items"]
    record = listed[0]
    total = record["metadata"]["total_steps"]
    said = Record(
        id="x",
        annotator="",
        annotations={"process_reward": FirstError(first_error_step=1, total_steps=total).to_json()},
    )
    stored = Stored(record["external_id"], record["fields"], record["metadata"])
    [values] = LAYOUTS[layout].write_answer(project, said, [stored]).values()
    body = {"status": "submitted", "values": {key: {"value": value} for key, value in values.items()}}
    argilla.client(user).post(f"/api/v1/records/{record['id']}/responses", json=body).raise_for_status()

    status = bridge("status", "config.yaml", *options, **server)
    assert [status.json[key] for key in ("pushed", "annotated", "submitted", "skipped")] == [len(lines), 1, 1, 0]
    # Where it was pushed with a layout, a pull needs not be told.
    pulled = bridge("pull", "config.yaml", "-o", "records.jsonl", "--json", **server)
    assert pulled.code == 0, pulled.err
    assert [pulled.json[key] for key in ("new", "submitted", "difference")] == [1, 1, 0]
    exported = bridge("export", "-c", "config.yaml", "-i", "records.jsonl", "-f", "prm", "-o", "prm.jsonl", "--json")
    assert exported.code == 0, exported.err
    [row] = [json.loads(line) for line in (tmp_path / "prm.jsonl").read_text().splitlines()]
    assert [step["label"] for step in row["steps"]] == [1] + [-1] * (total - 1)
