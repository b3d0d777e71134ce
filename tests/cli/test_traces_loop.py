"""From session files of five programs to answers of annotators, on both servers: the real commands, a real browser."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.servers.annotator import errors, open_task
from tests.servers.annotator import submit as submit_task
from tests.servers.argilla_desk import open_panel
from tests.servers.argilla_pages import submit as submit_record

HOSTILE = "</script><img src=x onerror=alert(1)> $& {{7*7}}"
#: What each agent is asked, and what it does: three steps, of which the second changes a file.
TASK = f"Fix the adder {HOSTILE}"
SAID = ["I look.", f"I change it. {HOSTILE}", "Done."]


def text(said: str) -> dict[str, Any]:
    return {"type": "text", "text": said}


def claude_code() -> list[dict[str, Any]]:
    hunk = {"oldStart": 7, "oldLines": 1, "newStart": 7, "newLines": 1, "lines": ["-a - b", "+a + b"]}
    edit = {"file_path": "/repo/add.py", "old_string": "a - b", "new_string": "a + b"}
    came = {"filePath": "/repo/add.py", "oldString": "a - b", "newString": "a + b", "structuredPatch": [hunk]}
    contents: list[tuple[str, list[Any], dict[str, Any]]] = [
        ("user", [text(TASK)], {}),
        (
            "assistant",
            [text(SAID[0]), {"type": "tool_use", "id": "c1", "name": "Bash", "input": {"command": "ls"}}],
            {},
        ),
        ("user", [{"type": "tool_result", "tool_use_id": "c1", "content": f"add.py {HOSTILE}"}], {}),
        ("assistant", [text(SAID[1]), {"type": "tool_use", "id": "c2", "name": "Edit", "input": edit}], {}),
        ("user", [{"type": "tool_result", "tool_use_id": "c2", "content": "changed"}], {"toolUseResult": came}),
        ("assistant", [text(SAID[2])], {}),
    ]
    return [
        {
            "type": kind,
            "uuid": f"r{number}",
            "parentUuid": f"r{number - 1}" if number else None,
            "sessionId": "session-of-claude",
            "message": {"role": kind, "id": f"m{number}", "content": content},
            **more,
        }
        for number, (kind, content, more) in enumerate(contents)
    ]


def codex() -> list[dict[str, Any]]:
    patch = "*** Begin Patch\n*** Update File: add.py\n@@\n-a - b\n+a + b\n*** End Patch"

    def said(role: str, words: str) -> dict[str, Any]:
        part = "output_text" if role == "assistant" else "input_text"
        return {"type": "message", "role": role, "content": [{"type": part, "text": words}]}

    shell = json.dumps({"command": ["bash", "-lc", "ls"]})
    items = [
        said("user", TASK),
        said("assistant", SAID[0]),
        {"type": "function_call", "name": "shell", "call_id": "c1", "arguments": shell},
        {"type": "function_call_output", "call_id": "c1", "output": f"add.py {HOSTILE}"},
        said("assistant", SAID[1]),
        {"type": "custom_tool_call", "name": "apply_patch", "call_id": "c2", "input": patch},
        {"type": "custom_tool_call_output", "call_id": "c2", "output": "changed"},
        said("assistant", SAID[2]),
    ]
    rows = [("session_meta", {"id": "session-of-codex", "cwd": "/repo"}), *(("response_item", item) for item in items)]
    return [{"timestamp": "2026-01-01T00:00:00.000Z", "type": kind, "payload": payload} for kind, payload in rows]


def swe_agent() -> dict[str, Any]:
    did = [("ls", f"add.py {HOSTILE}"), ("sed -i s/-/+/ add.py", "changed"), ("submit", "")]
    history = [{"role": "system", "content": "You are"}, {"role": "user", "content": TASK}]
    steps = []
    for said, (action, observation) in zip(SAID, did, strict=True):
        steps.append(
            {"action": action, "observation": observation, "response": said, "thought": said, "state": {}, "query": []}
        )
        history += [{"role": "assistant", "content": said}, {"role": "user", "content": observation}]
    return {"trajectory": steps, "history": history, "info": {"exit_status": "submitted", "submission": ""}}


def openhands_v1() -> list[dict[str, Any]]:
    def call(name: str, call_id: str, said: str, **arguments: Any) -> dict[str, Any]:
        return {
            "source": "agent",
            "kind": "ActionEvent",
            "thought": [text(said)],
            "action": {"kind": "Action", **arguments},
            "tool_name": name,
            "tool_call_id": call_id,
            "tool_call": {"id": call_id, "name": name, "arguments": json.dumps(arguments)},
            "llm_response_id": f"response-{call_id}",
        }

    def seen(call_id: str, said: str) -> dict[str, Any]:
        came = {"kind": "Observation", "content": [text(said)]}
        return {"source": "environment", "kind": "ObservationEvent", "tool_call_id": call_id, "observation": came}

    edit = {"command": "str_replace", "path": "/repo/add.py", "old_str": "a - b", "new_str": "a + b"}
    events = [
        {"source": "user", "kind": "MessageEvent", "llm_message": {"role": "user", "content": [text(TASK)]}},
        call("terminal", "c1", SAID[0], command="ls"),
        seen("c1", f"add.py {HOSTILE}"),
        call("file_editor", "c2", SAID[1], **edit),
        seen("c2", "changed"),
        {"source": "agent", "kind": "MessageEvent", "llm_message": {"role": "assistant", "content": [text(SAID[2])]}},
    ]
    return [
        {"id": f"event-{number}", "timestamp": f"2026-01-01T00:00:0{number}", **one}
        for number, one in enumerate(events)
    ]


def atif() -> dict[str, Any]:
    calls = [
        [{"tool_call_id": "c1", "function_name": "bash", "arguments": {"command": "ls"}}],
        [{"tool_call_id": "c2", "function_name": "write", "arguments": {"path": "add.py", "content": "a + b"}}],
        [],
    ]
    came = [[{"source_call_id": "c1", "content": f"add.py {HOSTILE}"}], [{"source_call_id": "c2", "content": "x"}], []]
    steps: list[dict[str, Any]] = [{"step_id": 1, "source": "user", "message": TASK}]
    for number, said in enumerate(SAID):
        step = {"step_id": number + 2, "source": "agent", "message": said, "tool_calls": calls[number]}
        steps.append({**step, "observation": {"results": came[number]}})
    return {"schema_version": "ATIF-v1.8", "session_id": "session-of-atif", "agent": {"name": "x"}, "steps": steps}


#: Of each program's files: the name of one, its contents, and what of the agent's own call an annotator must see.
FILES: dict[str, tuple[str, Any, str]] = {
    "claude_code": ("claude.jsonl", claude_code(), "a + b"),
    "codex": ("rollout.jsonl", codex(), "a + b"),
    "swe_agent": ("run.traj", swe_agent(), "sed -i s/-/+/ add.py"),
    "openhands_v1": ("events.jsonl", openhands_v1(), "a + b"),
    "atif": ("trajectory.json", atif(), "a + b"),
}
#: What the annotator finds: of five traces, another first error each. None: all is right.
FOUND = (0, 1, 2, None, 1)


@pytest.fixture
def study(bridge, tmp_path: Path) -> dict[str, str]:
    """A project that `init --traces` made of the five files: of each format, the item's id."""
    (tmp_path / "runs").mkdir()
    for name, document, _ in FILES.values():
        rows = document if isinstance(document, list) else [document]
        (tmp_path / "runs" / name).write_text("".join(json.dumps(row) + "\n" for row in rows))
    items = {}
    for name, (file, _, _) in FILES.items():
        seen = bridge("inspect", f"runs/{file}", "--json").json
        [trace] = seen["traces"]
        assert (seen["format"], trace["rated_steps"]) == (name, 3)
        items[name] = trace["id"]
    # Titles of projects on the shared server must differ.
    made = bridge("init", "--traces", "runs", "-o", "study", "--name", f"Traces {tmp_path.name} {tmp_path.parent.name}")
    assert made.code == 0, made.err
    return items


def check(bridge, tmp_path: Path, found: dict[str, int | None], annotator: str) -> None:
    """What was pulled is what was answered; and the data set has what the agents did."""
    lines = [json.loads(line) for line in (tmp_path / "records.jsonl").read_text().splitlines()]
    answers = {line["id"]: line["annotations"]["process_reward"] for line in lines}
    expected = {}
    for item, first in found.items():
        right = 3 if first is None else first
        labels = [1] * right + [-1] * (3 - right)
        expected[item] = {"mode": "first_error", "first_error_step": first, "total_steps": 3, "labels": labels}
    assert answers == expected
    assert {(line["annotator"], line["status"]) for line in lines} == {(annotator, "submitted")}
    done = bridge("export", "-c", "study/config.yaml", "-i", "records.jsonl", "-f", "prm", "-o", "prm.jsonl")
    assert done.code == 0, done.err
    rows = {row["trace_id"]: row["steps"] for row in map(json.loads, (tmp_path / "prm.jsonl").read_text().splitlines())}
    assert rows.keys() == expected.keys()
    for item, steps in rows.items():
        assert [said in step["content"] for said, step in zip(SAID, steps, strict=True)] == [True] * 3
        assert [step["label"] for step in steps] == expected[item]["labels"]


def test_label_studio(bridge, label_studio, annotator_page, study, tmp_path: Path) -> None:
    server = {"LABEL_STUDIO_URL": label_studio.url, "LABEL_STUDIO_API_KEY": label_studio.api_key}
    pushed = bridge("push", "study/config.yaml", "--json", **server)
    assert (pushed.code, pushed.json["created"]) == (0, 5), pushed.err
    number = pushed.json["project"]
    listed = label_studio.http.get(f"/api/tasks/?project={number}&include=id,data").raise_for_status().json()["tasks"]
    tasks = {task["data"]["potato_bridge_id"]: task["id"] for task in listed}
    user = label_studio.add_user(f"traces-{tmp_path.name}@example.com".replace("_", "-"))
    page = annotator_page(user)
    found = dict(zip(study.values(), FOUND, strict=True))
    for name, item in study.items():
        open_task(page, number, tasks[item])
        cards = page.locator(".pb-steps .lsf-choice:has(.pb-card)")
        cards.first.wait_for()
        shown = page.locator(".pb").first.inner_text()
        assert TASK in shown, name
        assert all(part in shown for part in (*SAID, f"add.py {HOSTILE}", FILES[name][2])), name
        rated = cards.locator("input[name^=step_]")
        assert rated.count() == 3, name
        first = found[item]
        value = "all_correct" if first is None else f"step_{first}"
        page.locator(f".pb-steps .lsf-choice:has(input[name={value}]) .pb-head").first.click()
        page.wait_for_selector(f".ant-radio-wrapper-checked input[name={value}]", state="attached")
        submit_task(page)
    assert errors(page) == []
    pulled = bridge("pull", "study/config.yaml", "-o", "records.jsonl", "--json", **server)
    assert (pulled.code, pulled.json["new"]) == (0, 5), pulled.err
    check(bridge, tmp_path, found, user.email)


def test_argilla(bridge, argilla, argilla_page, study, tmp_path: Path) -> None:
    workspace = argilla.add_workspace("traces")
    server = {"ARGILLA_API_URL": argilla.url, "ARGILLA_API_KEY": argilla.api_key}
    pushed = bridge("push", "study/config.yaml", "--workspace", "traces", "--json", **server)
    assert (pushed.code, pushed.json["created"]) == (0, 5), pushed.err
    dataset, user = pushed.json["project"], argilla.add_user(workspace=workspace)
    listed = argilla.http.get(f"/api/v1/datasets/{dataset}/records").raise_for_status().json()["items"]
    formats = {record["id"]: name for record in listed for name, item in study.items() if record["external_id"] == item}
    page, found = argilla_page(user), {}
    # People get the records in an order of their own.
    for first in FOUND:
        frame = open_panel(page, dataset)
        shown, marks = frame.locator("body").inner_text(), frame.locator(".card.step .mark")
        assert marks.count() == 3
        (frame.locator("button.all") if first is None else marks.nth(first)).click()
        frame.locator("button.confirm").click()
        name = formats.pop(submit_record(page)["record_id"])
        assert all(part in shown for part in (TASK, *SAID, f"add.py {HOSTILE}", FILES[name][2])), name
        found[study[name]] = first
    assert errors(page) == [] and not formats
    pulled = bridge("pull", "study/config.yaml", "-o", "records.jsonl", "--json", **server)
    assert (pulled.code, pulled.json["new"]) == (0, 5), pulled.err
    check(bridge, tmp_path, found, user.username)
