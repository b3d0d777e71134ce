"""`convert`, `inspect` of traces, and `init --traces`."""

import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.cli.conftest import Done

Bridge = Callable[..., Done]


def session(name: str, steps: int = 2, text: str = "Fix it", **last: Any) -> list[dict[str, Any]]:
    """The rows of a session of Claude Code."""
    rows: list[dict[str, Any]] = [{"type": "user", "message": {"role": "user", "content": text}}]
    for number in range(steps):
        message = {"role": "assistant", "id": f"m{number}", "model": "c", "content": [{"type": "text", "text": "x"}]}
        rows.append({"type": "assistant", "message": message})
    for number, row in enumerate(rows):
        row |= {"uuid": f"{name}-{number}", "parentUuid": None, "sessionId": name}
    return rows


def write(path: Path, rows: list[dict[str, Any]], tail: str = "") -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("".join(json.dumps(row) + "\n" for row in rows) + tail)


def items(text: str) -> list[dict[str, Any]]:
    return [json.loads(line) for line in text.splitlines()]


def test_sessions_become_items(bridge: Bridge, tmp_path: Path) -> None:
    write(tmp_path / "runs" / "a.jsonl", session("a"))
    write(tmp_path / "runs" / "b.jsonl", session("b", 3))
    (tmp_path / "runs" / "README.md").write_text("about")
    done = bridge("convert", "runs", "-o", "items.jsonl")
    assert (done.code, done.err) == (0, "")
    assert done.out == ("items.jsonl: 2 traces of 3 sources\n  claude_code            2\n  left out  1  no trace\n")
    made = items((tmp_path / "items.jsonl").read_text())
    assert [(one["id"], len(one["structured_turns"]), one["task_description"]) for one in made] == [
        ("a", 3, "Fix it"),
        ("b", 4, "Fix it"),
    ]
    # The same sources give the same bytes.
    assert bridge("convert", "runs").out == (tmp_path / "items.jsonl").read_text()


def test_forms(bridge: Bridge, tmp_path: Path) -> None:
    write(tmp_path / "a.jsonl", session("a", 1))
    [steps] = items(bridge("convert", "a.jsonl", "--shape", "steps").out)
    assert steps["steps"] == [{"role": "user", "thought": "Fix it", "action": ""}, {"thought": "x", "action": ""}]
    [trace] = items(bridge("convert", "a.jsonl", "--to", "trace").out)
    assert trace["trace_id"] == "a" and trace["source"]["records"]["read"] == 2 and trace["schema"] == 1


def test_atif(bridge: Bridge, tmp_path: Path) -> None:
    write(tmp_path / "runs" / "a.jsonl", session("a", text="Fix <b>$&</b>"))
    write(tmp_path / "runs" / "b.jsonl", session("b", 3))
    traces = bridge("convert", "runs", "--to", "trace").out
    # One a line, as all else.
    made = items(bridge("convert", "runs", "--to", "atif").out)
    assert [(one["trajectory_id"], len(one["steps"])) for one in made] == [("a", 3), ("b", 4)]
    assert bridge("convert", "runs", "--to", "atif", "-o", "all.jsonl").code == 0
    assert items((tmp_path / "all.jsonl").read_text()) == made
    # One alone, as trials have it.
    assert bridge("convert", "runs/a.jsonl", "--to", "atif", "-o", "trajectory.json").code == 0
    assert json.loads((tmp_path / "trajectory.json").read_text()) == made[0]
    done = bridge("convert", "runs", "--to", "atif", "-o", "trajectory.json")
    assert done.code == 2 and "it holds one trace, and there are several" in done.err
    assert json.loads((tmp_path / "trajectory.json").read_text()) == made[0]
    # A folder, which may have other files.
    done = bridge("convert", "runs", "--to", "atif", "-o", "out", "--json")
    assert done.code == 0 and json.loads(done.out)["traces"] == 2
    (tmp_path / "out" / "README").write_text("about")
    (tmp_path / "out" / "b.json").write_text("old")
    assert bridge("convert", "runs", "--to", "atif", "-o", "out").code == 0
    assert sorted(path.name for path in (tmp_path / "out").iterdir()) == ["README", "a.json", "b.json"]
    assert [json.loads((tmp_path / "out" / f"{name}.json").read_text()) for name in "ab"] == made
    # From each of them come the same traces.
    for given in ("out", "all.jsonl"):
        assert bridge("convert", given, "--to", "trace").out == traces
    assert bridge("convert", "runs", "out", "--to", "trace").out == traces


def test_sessions_for_the_hub(bridge: Bridge, tmp_path: Path) -> None:
    write(tmp_path / "runs" / "a.jsonl", session("a"))
    write(tmp_path / "runs" / "b/c.jsonl", session("b/c", 1))
    assert bridge("convert", "runs", "--to", "sts", "-o", "out").code == 0
    [first, second] = sorted((tmp_path / "out").iterdir())
    assert first.name == "a.jsonl" and second.name.startswith("b_c-") and second.suffix == ".jsonl"
    lines = items(first.read_text())
    assert lines[0] == {"type": "session", "harness": "claude_code", "id": "a", "name": "Fix it", "model": "c"}
    assert [line["message"]["role"] for line in lines[1:]] == ["user", "assistant", "assistant"]
    # A file, and the output, hold one session.
    assert bridge("convert", "runs/a.jsonl", "--to", "sts").out == first.read_text()
    assert bridge("convert", "runs/a.jsonl", "--to", "sts", "-o", "one.jsonl").code == 0
    assert (tmp_path / "one.jsonl").read_text() == first.read_text()
    for place in ([], ["-o", "one.jsonl"]):
        done = bridge("convert", "runs", "--to", "sts", *place)
        assert (done.code, done.out) == (2, "") and "it holds one trace, and there are several" in done.err
    assert (tmp_path / "one.jsonl").read_text() == first.read_text()
    assert bridge("convert", "runs", "--to", "sts", "-o", "x.json").code == 2


def test_a_folder_is_filled_whole_or_not_at_all(bridge: Bridge, tmp_path: Path) -> None:
    write(tmp_path / "runs" / "a.jsonl", session("a"))
    write(tmp_path / "runs" / "b.jsonl", session("b"), '{"type": "user", "mess\n')
    (tmp_path / "runs" / "z.zip").write_bytes(b"PK")
    (tmp_path / "zz.jsonl").write_text("no trace")
    for folder in ("new", "old"):
        if folder == "old":
            (tmp_path / "old").mkdir()
            (tmp_path / "old" / "a.json").write_text("old")
        done = bridge("convert", "runs", "zz.jsonl", "--to", "atif", "-o", folder)
        assert done.code == 3 and "zz.jsonl" in done.err
    assert not (tmp_path / "new").exists()
    assert [path.name for path in (tmp_path / "old").iterdir()] == ["a.json"]
    assert (tmp_path / "old" / "a.json").read_text() == "old"


def test_names_of_files(bridge: Bridge, tmp_path: Path) -> None:
    names = ["a/b", "a:b", "a_b", "A_B", "..", "ü", "x" * 300, "x" * 299, "plain.1-2"]
    for number, name in enumerate(names):
        write(tmp_path / "in" / f"{number}.jsonl", session(name))
    assert bridge("convert", "in", "--to", "atif", "-o", "out").code == 0
    found = {path.name: json.loads(path.read_text())["trajectory_id"] for path in (tmp_path / "out").iterdir()}
    assert sorted(found.values()) == sorted(names)
    assert len({name.lower() for name in found}) == len(names)
    assert all(re.fullmatch(r"[A-Za-z0-9_-][A-Za-z0-9._-]{0,130}\.json", name) for name in found)
    assert found["plain.1-2.json"] == "plain.1-2" and found["a_b.json"] == "a_b"


def test_choosing(bridge: Bridge, tmp_path: Path) -> None:
    for number in range(8):
        write(tmp_path / "runs" / f"{number}.jsonl", session(str(number), number + 1))

    def ids(*options: object) -> list[str]:
        done = bridge("convert", "runs", *options)
        assert done.code == 0, done.err
        return [one["id"] for one in items(done.out)]

    assert ids("--limit", 2) == ["0", "1"]
    assert ids("--min-steps", 3, "--max-steps", 4) == ["2", "3"]
    drawn = ids("--sample", 3, "--seed", 1)
    assert len(drawn) == 3 and drawn == sorted(drawn) == ids("--sample", 3, "--seed", 1)
    assert len({tuple(ids("--sample", 3, "--seed", seed)) for seed in range(6)}) > 1
    assert bridge("convert", "runs", "--sample", 3, "--limit", 1).code == 2
    assert bridge("convert", "runs", "--min-steps", 3, "--max-steps", 1).code == 2
    nothing = bridge("convert", "runs", "--min-steps", 99, "-o", "no.jsonl")
    assert nothing.code == 3 and "no trace is left" in nothing.err and not (tmp_path / "no.jsonl").exists()


def test_sub_agents(bridge: Bridge, tmp_path: Path) -> None:
    main = session("main", 1)
    main[1]["message"]["content"] = [{"type": "tool_use", "id": "t", "name": "Task", "input": {"prompt": "Look"}}]
    came = {"type": "tool_result", "tool_use_id": "t", "content": "seen"}
    main.append({**main[0], "uuid": "r", "message": {"content": [came]}, "toolUseResult": {"agentId": "x"}})
    side = [{**row, "isSidechain": True, "agentId": "x", "uuid": f"s{row['uuid']}"} for row in session("main", 2)]
    write(tmp_path / "runs" / "main.jsonl", main)
    write(tmp_path / "runs" / "main" / "subagents" / "agent-x.jsonl", side)
    # The file of the sub-agent is read with its session, and not once more.
    assert [one["id"] for one in items(bridge("convert", "runs").out)] == ["main"]
    both = items(bridge("convert", "runs", "--include-subagents").out)
    assert [one["id"] for one in both] == ["main", "main:x"]
    assert [one["id"] for one in items(bridge("convert", "runs/main").out)] == ["main:x"]


def test_what_cannot_be_read_stops_it_and_leaves_the_old_file(bridge: Bridge, tmp_path: Path) -> None:
    write(tmp_path / "a.jsonl", session("a"))
    (tmp_path / "b.json").write_text('{"novel": 1}')
    write(tmp_path / "c.jsonl", session("c", 0))
    (tmp_path / "out.jsonl").write_text("old")
    done = bridge("convert", "a.jsonl", "b.json", "c.jsonl", "-o", "out.jsonl")
    assert done.code == 3 and done.out == ""
    assert "b.json: no format of a trace is recognised: a JSON object with novel" in done.err
    assert "c.jsonl: read as claude_code, it has no step of an agent" in done.err
    assert "--skip-bad" in done.err and "Traceback" not in done.err
    assert (tmp_path / "out.jsonl").read_text() == "old"
    assert sorted(path.name for path in tmp_path.iterdir()) == ["a.jsonl", "b.json", "c.jsonl", "out.jsonl"]
    done = bridge("convert", "a.jsonl", "b.json", "c.jsonl", "-o", "out.jsonl", "--skip-bad")
    assert done.code == 0 and done.err.count("[unreadable-source") == 2
    assert [one["id"] for one in items((tmp_path / "out.jsonl").read_text())] == ["a"]


def test_losses_are_notices(bridge: Bridge, tmp_path: Path) -> None:
    write(tmp_path / "a.jsonl", session("a"), '{"cut')
    done = bridge("convert", "a.jsonl", "-o", "o.jsonl", "--json")
    assert done.json["traces"] == 1 and done.json["formats"] == {"claude_code": 1}
    assert [(one["code"], one["where"]) for one in done.json["notices"]] == [("bad-record", "a line 4")]
    assert bridge("convert", "a.jsonl", "-o", "p.jsonl", "--notices", "raise").code == 6


def test_one_id_twice(bridge: Bridge, tmp_path: Path) -> None:
    write(tmp_path / "1.jsonl", session("a"))
    write(tmp_path / "2.jsonl", session("a"))
    done = bridge("convert", "1.jsonl", "2.jsonl", "-o", "o.jsonl")
    assert done.code == 0 and "left out  1  the same trace twice" in done.out
    write(tmp_path / "2.jsonl", session("a", 5))
    done = bridge("convert", "1.jsonl", "2.jsonl", "-o", "o.jsonl")
    assert done.code == 3 and "2.jsonl: two traces have the id 'a' and differ" in done.err


@pytest.mark.parametrize(
    ("arguments", "code", "says"),
    [
        (["gone.jsonl"], 3, "gone.jsonl: there is no such file or folder"),
        (["a.jsonl", "--from", "nope"], 2, "there is no format 'nope'"),
        (["a.jsonl", "--from", "aider"], 2, "Aider is not read by this version"),
        (["a.jsonl", "-o", "o.csv"], 2, "the output is JSON Lines"),
        (["a.jsonl", "-o", "o.json"], 2, "the output is JSON Lines"),
        (["a.jsonl", "-o", "."], 2, "the output is JSON Lines"),
        (["a.jsonl", "-o", "o.csv", "--to", "atif"], 2, "of atif there are files .json or .jsonl, and folders"),
        (["a.jsonl", "-o", "no/o.jsonl"], 2, "there is no folder no"),
        (["a.jsonl", "--json"], 2, "Add -o FILE"),
    ],
)
def test_usage(bridge: Bridge, tmp_path: Path, arguments: list[str], code: int, says: str) -> None:
    write(tmp_path / "a.jsonl", session("a"))
    done = bridge("convert", *arguments)
    assert (done.code, done.out) == (code, "") and says in done.err and "Traceback" not in done.err


def test_inspect(bridge: Bridge, tmp_path: Path) -> None:
    rows = session("a", 2, text="Fix \x1b[31m<b>it</b>")
    rows[1]["message"]["content"].append({"type": "tool_use", "id": "t", "name": "Bash", "input": {"command": "ls"}})
    write(tmp_path / "a.jsonl", rows)
    done = bridge("inspect", "a.jsonl")
    assert done.code == 0
    assert done.out == (
        "a.jsonl: claude_code, 1 trace\n"
        "  a: 3 steps (2 rated), 1 call (0 with results), 0 edits\n"
        "      user        Fix \\u001b[31m<b>it</b>\n"
        "    0 agent       x\n"
        "        Bash command=ls\n"
        "          (no result recorded)\n"
        "    1 agent       x\n"
    )
    assert bridge("inspect", "a.jsonl", "--json").json == {
        "format": "claude_code",
        "traces": [
            {
                "id": "a",
                "steps": 3,
                "rated_steps": 2,
                "tool_calls": 1,
                "results": 0,
                "edits": 0,
                "children": 0,
                "final_patch": None,
                "outcome": None,
                "losses": [],
            }
        ],
        "skipped": {},
        "notices": [],
    }
    assert bridge("inspect", "a.jsonl", "--from", "patch").out.startswith("a.jsonl: unknown, 0 files")


def test_from_session_files_to_a_project_that_checks(bridge: Bridge, tmp_path: Path) -> None:
    write(tmp_path / "runs" / "a.jsonl", session("a"))
    write(tmp_path / "runs" / "b.jsonl", session("b"))
    done = bridge("init", "--traces", "runs/*.jsonl", "-o", "project", "--dry-run")
    assert done.code == 0 and not (tmp_path / "project").exists(), done.err
    (tmp_path / "project").mkdir()
    done = bridge("init", "--traces", "runs/a.jsonl", "--traces", "runs/b.jsonl", "-o", "project")
    assert done.code == 0, done.err
    assert "2 in project/data/items.jsonl, 4 steps to rate" in done.out
    checked = bridge("check", "project/config.yaml")
    assert checked.code == 0 and "items   2, 4 steps to rate" in checked.out
    both = bridge("init", "--traces", "runs/a.jsonl", "--items", "x.jsonl", "-o", "other")
    assert both.code == 2 and "do not go together" in both.err


def test_edits_make_the_final_patch(bridge: Bridge, tmp_path: Path) -> None:
    hunk = {"oldStart": 2, "oldLines": 1, "newStart": 2, "newLines": 1, "lines": ["-b", "+B"]}
    rows = session("a", 1)
    use = {
        "type": "tool_use",
        "id": "c",
        "name": "Edit",
        "input": {"file_path": "/r/a.py", "old_string": "b", "new_string": "B"},
    }
    rows[1]["message"]["content"] = [use]
    came = {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "c", "content": "changed"}]}
    edit = {"filePath": "/r/a.py", "oldString": "b", "newString": "B", "structuredPatch": [hunk]}
    rows.append({**rows[0], "uuid": "a-9", "parentUuid": "a-1", "message": came, "toolUseResult": edit})
    write(tmp_path / "a.jsonl", [{**row, "cwd": "/r"} for row in rows])
    [item] = items(bridge("convert", "a.jsonl").out)
    assert item["final_patch"] == "diff --git a/a.py b/a.py\n--- a/a.py\n+++ b/a.py\n@@ -2 +2 @@\n-b\n+B\n"
    assert item["bridge"]["final_patch"] == "replayed"
    [item] = items(bridge("convert", "a.jsonl", "--no-replay").out)
    assert "final_patch" not in item and "final_patch" not in item["bridge"]
    assert bridge("inspect", "a.jsonl", "--json").json["traces"][0]["final_patch"] == 1
