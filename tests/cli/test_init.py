"""`init`: a config that works, for items of every shape; what is open is asked, and nothing is overwritten."""

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
import yaml
from typer.testing import CliRunner

from potato_bridge.cli.app import app
from potato_bridge.cli.settings import read_settings
from potato_bridge.converters.potato.config import read_project
from potato_bridge.errors import BridgeError
from potato_bridge.model.project import FirstErrorOptions, Project, TraceDisplay
from potato_bridge.notices import Notices

EXAMPLE = Path(__file__).parents[2] / "examples" / "first_error" / "data" / "traces.jsonl"

CODING = [{"role": "user", "content": "Fix it"}, {"role": "assistant", "content": "", "tool_calls": [{"tool": "Bash"}]}]
OPENAI = [{"role": "assistant", "tool_calls": [{"function": {"name": "bash", "arguments": "{}"}}]}]
BLOCKS = [{"role": "assistant", "content": [{"type": "tool_use", "name": "Read", "input": {}}]}]
PLAIN = [{"thought": "look", "action": "ls", "observation": "a.py"}, {"thought": "stop", "action": "finish"}]
WEB = [{"action_type": "click", "element": "Buy", "screenshot": "https://example.com/1.png"}]
CHAT = [{"role": "user", "content": "Hello"}, {"role": "assistant", "content": "Good day"}]
SPOKEN = ["User: hello", "Agent: good day"]
AGENTS = [{"agent": "planner", "content": "first"}, {"agent": "coder", "content": "done"}]
TEXTS = ["look at the file", "change it"]


@dataclass
class Done:
    code: int
    out: str
    err: str


def run(*arguments: object) -> Done:
    """Runs a command; an error for people counts with its exit code and its text."""
    result = CliRunner().invoke(app, [str(argument) for argument in arguments])
    if isinstance(result.exception, BridgeError):
        return Done(result.exception.exit_code, result.stdout, str(result.exception))
    if result.exception is not None and not isinstance(result.exception, SystemExit):
        raise result.exception
    return Done(result.exit_code, result.stdout, result.stderr)


def init(*arguments: object) -> Done:
    return run("init", *arguments)


def item(number: int, key: str = "steps", steps: Any = PLAIN, **more: Any) -> dict[str, Any]:
    return {"id": f"t{number}", "task": f"Fix the bug number {number}", key: steps, **more}


def write(path: Path, *items: Any) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("".join(json.dumps(one) + "\n" for one in items), encoding="utf-8")
    return path


def project_of(config: Path) -> Project:
    notices = Notices()
    project = read_project(config, notices)
    assert list(notices) == []
    return project


# --- it works --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("key", "steps", "display", "rated", "shown"),
    [
        ("structured_turns", CODING, "coding_trace", 1, 1),
        ("messages", OPENAI, "coding_trace", 1, 0),
        ("messages", BLOCKS, "coding_trace", 1, 0),
        ("steps", PLAIN, "agent_trace", 2, 0),
        ("trajectory", WEB, "web_agent_trace", 1, 0),
        ("conversation", CHAT, "dialogue", 1, 1),
        ("conversation", SPOKEN, "dialogue", 1, 1),
        ("log", AGENTS, "multi_agent_discussion", 2, 0),
        ("steps", TEXTS, "agent_trace", 2, 0),
    ],
)
def test_every_shape_of_steps_gives_a_config_that_checks(
    tmp_path: Path, key: str, steps: list[Any], display: str, rated: int, shown: int
) -> None:
    items = write(tmp_path / "data" / "traces.jsonl", item(1, key, steps), item(2, key, steps))
    done = init("--items", items, "-o", tmp_path, "--json")
    assert done.code == 0, done.err
    document = json.loads(done.out)
    assert {name: chosen["value"] for name, chosen in document["chosen"].items()} == {
        "id_key": "id",
        "text_key": "task",
        "steps_key": key,
        "display": display,
    }
    assert (document["items"], document["steps"], document["not_rated"]) == (2, 2 * rated, 2 * shown)
    project = project_of(tmp_path / "config.yaml")
    assert [(field.key, field.type) for field in project.fields] == [("task", "text"), (key, display)]
    assert [file.path for file in project.data_files] == [items.resolve()]
    checked = run("check", tmp_path / "config.yaml", "--json")
    assert checked.code == 0, checked.err
    assert json.loads(checked.out)["steps"] == 2 * rated


def write_table(path: Path, items: list[dict[str, Any]]) -> None:
    if path.suffix == ".json":
        path.write_text(json.dumps(items, indent=2), encoding="utf-8")
    elif path.suffix == ".parquet":
        import pyarrow
        import pyarrow.parquet

        pyarrow.parquet.write_table(pyarrow.Table.from_pylist(items), path)
    else:
        import csv

        with path.open("w", newline="", encoding="utf-8") as file:
            writer = csv.writer(file, delimiter="\t" if path.suffix == ".tsv" else ",")
            writer.writerow(items[0])
            writer.writerows([json.dumps(v) if isinstance(v, list) else v for v in one.values()] for one in items)


@pytest.mark.parametrize("suffix", ["json", "jsonl", "csv", "tsv", "parquet"])
def test_every_format(tmp_path: Path, suffix: str) -> None:
    path = tmp_path / f"traces.{suffix}"
    if suffix == "jsonl":
        write(path, item(1), item(2))
    else:
        write_table(path, [item(1), item(2)])
    done = init("--items", path, "-o", tmp_path)
    assert done.code == 0, done.err
    assert "agent_trace: steps with action, observation, thought" in done.out
    assert run("check", tmp_path / "config.yaml").code == 0


def test_the_example_and_the_folder_that_one_is_in(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "traces.jsonl").write_bytes(EXAMPLE.read_bytes())
    done = init("--items", "traces.jsonl")
    assert (done.code, done.err) == (0, "")
    assert "config.yaml: written" in done.out
    assert "next: potato-bridge check config.yaml" in done.out
    # The settings beside it name it from now on.
    assert read_settings(tmp_path / "potato-bridge.yaml").config == tmp_path / "config.yaml"
    assert run("check").code == 0


def test_the_defaults_are_the_documented_ones(tmp_path: Path) -> None:
    items = write(tmp_path / "traces.jsonl", item(1))
    assert init("--items", items, "-o", tmp_path).code == 0
    project = project_of(tmp_path / "config.yaml")
    scheme = project.process_reward()
    assert scheme is not None
    assert scheme.first_error == FirstErrorOptions()
    assert project.fields[1].trace == TraceDisplay()
    assert (project.name, project.export_formats) == ("Step rewards: traces", ["prm"])
    assert project.output_dir == (tmp_path / "annotation_output").resolve()


def test_per_step_is_what_the_mode_alone_would_be(tmp_path: Path) -> None:
    items = write(tmp_path / "traces.jsonl", item(1))
    assert init("--items", items, "-o", tmp_path / "full.yaml", "--mode", "per_step", "--name", "Zwölf").code == 0
    document = yaml.safe_load((tmp_path / "full.yaml").read_text(encoding="utf-8"))
    (scheme,) = document["annotation_schemes"]
    del scheme["per_step"], scheme["keyboard_shortcuts"]
    # Any key of the documented dialect, so that its defaults hold.
    scheme["target"] = "agentic_steps"
    (tmp_path / "short.yaml").write_text(yaml.safe_dump(document), encoding="utf-8")
    full, short = (project_of(tmp_path / f"{name}.yaml") for name in ("full", "short"))
    left, right = full.process_reward(), short.process_reward()
    assert left is not None and right is not None
    assert (left.per_step, left.shortcuts) == (right.per_step, right.shortcuts)
    assert (left.mode, full.name) == ("per_step", "Zwölf")


@pytest.mark.parametrize("key", ["yes", "null", "a: b", "# no", "ключ", 'q"uote', "1"])
def test_fields_may_have_any_name(tmp_path: Path, key: str) -> None:
    rows = [{"id": "a", key: "Fix it", f"{key} steps": PLAIN}, {"id": "b", key: "Fix that", f"{key} steps": PLAIN}]
    items = write(tmp_path / "it's #1.jsonl", *rows)
    done = init("--items", items, "-o", tmp_path, "--text-key", key)
    assert done.code == 0, done.err
    project = project_of(tmp_path / "config.yaml")
    assert (project.text_key, project.steps_key()) == (key, f"{key} steps")


def test_an_id_is_different_in_every_item(tmp_path: Path) -> None:
    rows = [
        {"run": number, "session_id": "s", "instance_id": f"django-{number}", "task": "Fix it now", "steps": PLAIN}
        for number in range(3)
    ]
    done = init("--items", write(tmp_path / "t.jsonl", *rows), "-o", tmp_path, "--json")
    assert json.loads(done.out)["chosen"]["id_key"]["value"] == "instance_id"


def test_shapes_help_where_names_do_not(tmp_path: Path) -> None:
    rows = [{"ref": f"r{n}", "bug": "It does not start", "model": "m 1", "acts": PLAIN, "tags": ["x"]} for n in (1, 2)]
    done = init("--items", write(tmp_path / "t.jsonl", *rows), "-o", tmp_path, "--json")
    chosen = {key: value["value"] for key, value in json.loads(done.out)["chosen"].items()}
    assert chosen == {"id_key": "ref", "text_key": "bug", "steps_key": "acts", "display": "agent_trace"}


# --- what is open is asked -------------------------------------------------------------------------------------------


def test_everything_that_is_ambiguous_is_asked_at_once(tmp_path: Path) -> None:
    rows = [
        {"trace_id": f"a{n}", "sample_id": f"b{n}", "task": "Do it", "prompt": "Say it", "steps": PLAIN, "turns": CHAT}
        for n in (1, 2)
    ]
    items = write(tmp_path / "t.jsonl", *rows)
    done = init("--items", items, "-o", tmp_path)
    assert done.code == 2
    for part in (
        "--id-key: 2 fields could be the id",
        "--id-key trace_id: 'a1'",
        "--id-key sample_id: 'b1'",
        "--text-key task: 'Do it'",
        "--text-key prompt: 'Say it'",
        "--steps-key steps: 2 entries with action, observation, thought",
        "--steps-key turns: 2 entries with role",
        "--id-key trace_id --text-key task --steps-key steps",
    ):
        assert part in done.err
    answers = ("--id-key", "sample_id", "--text-key", "prompt", "--steps-key", "turns")
    done = init("--items", items, "-o", tmp_path, *answers, "--json")
    chosen = json.loads(done.out)["chosen"]
    assert [chosen[key]["value"] for key in ("id_key", "text_key", "steps_key", "display")] == [
        *("sample_id", "prompt", "turns", "dialogue")
    ]
    assert chosen["id_key"]["why"] == "as you said"


def test_a_raw_log_is_no_list_of_items(tmp_path: Path) -> None:
    kinds = ("user", "assistant", "user")
    items = write(tmp_path / "session.jsonl", *({"type": kind, "n": {}} for kind in kinds))
    done = init("--items", items, "-o", tmp_path)
    assert done.code == 3
    for part in ("--id-key: no field holds an id", "--steps-key: no field", "raw agent logs", "Fields found: type, n."):
        assert part in done.err
    assert [path.name for path in tmp_path.iterdir()] == ["session.jsonl"]


def test_a_key_that_no_item_has(tmp_path: Path) -> None:
    done = init(
        "--items", write(tmp_path / "t.jsonl", item(1)), "-o", tmp_path, "--steps-key", "step", "--id-key", "qq"
    )
    assert done.code == 2
    assert "--steps-key: no item has the field 'step'. Did you mean 'steps'?" in done.err
    assert "--id-key: no item has the field 'qq'. The fields are: id, task, steps." in done.err


# --- nothing is overwritten ------------------------------------------------------------------------------------------


def snapshot(folder: Path) -> dict[str, bytes]:
    return {str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def test_a_config_that_is_there_stays(tmp_path: Path) -> None:
    items = write(tmp_path / "t.jsonl", item(1))
    (tmp_path / "config.yaml").write_text("mine: true\n")
    before = snapshot(tmp_path)
    done = init("--items", items, "-o", tmp_path)
    assert done.code == 2
    assert f"{tmp_path / 'config.yaml'} is there already" in done.err and "Name another with -o" in done.err
    assert snapshot(tmp_path) == before


def test_settings_that_are_there_stay(tmp_path: Path) -> None:
    (tmp_path / "potato-bridge.yaml").write_text("config: other.yaml\n")
    done = init("--items", write(tmp_path / "t.jsonl", item(1)), "-o", tmp_path / "rewards.yml", "--json")
    assert json.loads(done.out)["settings"] is None
    assert (tmp_path / "potato-bridge.yaml").read_text() == "config: other.yaml\n"
    assert project_of(tmp_path / "rewards.yml").id_key == "id"


def test_items_outside_of_the_folder(tmp_path: Path) -> None:
    items = write(tmp_path / "raw" / "t.jsonl", item(1))
    folder = tmp_path / "annotation"
    done = init("--items", items, "-o", folder)
    assert done.code == 2
    for part in ("lies outside of", "--copy", str(folder / "data" / "t.jsonl"), f"-o {items.parent}"):
        assert part in done.err
    assert not folder.exists()
    done = init("--items", items, "-o", folder, "--copy", "--json")
    assert done.code == 0, done.err
    assert json.loads(done.out)["copied"] is True
    assert (folder / "data" / "t.jsonl").read_bytes() == items.read_bytes()
    assert [file.path for file in project_of(folder / "config.yaml").data_files] == [folder / "data" / "t.jsonl"]
    # The same file again is taken as it is; another one of that name is in the way.
    assert init("--items", items, "-o", folder / "two.yaml", "--copy").code == 0
    write(items, item(1), item(2))
    done = init("--items", items, "-o", folder / "three.yaml", "--copy")
    assert done.code == 2 and "another content" in done.err
    assert not (folder / "three.yaml").exists()


def test_a_dry_run_prints_the_config_and_writes_nothing(tmp_path: Path) -> None:
    items = write(tmp_path / "raw" / "t.jsonl", item(1))
    before = snapshot(tmp_path)
    dry = init("--items", items, "-o", tmp_path / "new", "--copy", "--dry-run")
    assert dry.code == 0 and snapshot(tmp_path) == before and not (tmp_path / "new").exists()
    assert "would be written" in dry.err and "id_key" in dry.err
    assert init("--items", items, "-o", tmp_path / "new", "--copy").code == 0
    assert dry.out == (tmp_path / "new" / "config.yaml").read_text(encoding="utf-8")


def test_a_folder_that_is_a_file(tmp_path: Path) -> None:
    items = write(tmp_path / "t.jsonl", item(1))
    (tmp_path / "file").write_text("mine")
    done = init("--items", items, "-o", tmp_path / "file", "--copy")
    assert done.code == 2 and "cannot be written to" in done.err
    assert (tmp_path / "file").read_text() == "mine"


# --- the items are checked -------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("rows", "words"),
    [
        ([item(1), item(2), item(1)], "t.jsonl:3 id: the id 't1' was used before, at t.jsonl:1"),
        ([*(item(n) for n in range(30)), {"id": "x", "task": "y"}], "t.jsonl:31 steps: the item has no field 'steps'"),
        ([item(1, "turns", [CHAT[0]])], "t.jsonl:1 turns: there is no step to rate"),
    ],
)
def test_wrong_items_leave_nothing_behind(tmp_path: Path, rows: list[Any], words: str) -> None:
    done = init("--items", write(tmp_path / "t.jsonl", *rows), "-o", tmp_path)
    assert done.code == 3 and words in done.err
    assert [path.name for path in tmp_path.iterdir()] == ["t.jsonl"]


@pytest.mark.parametrize(
    ("name", "content", "words"),
    [
        ("t.jsonl", b"", "there is no item in the file"),
        ("t.jsonl", b'{"id": 1,\n', "t.jsonl:1"),
        ("t.traj", b"{}", "ends in .traj"),
        ("t", b"{}", "has no extension"),
    ],
)
def test_files_that_hold_no_items(tmp_path: Path, name: str, content: bytes, words: str) -> None:
    (tmp_path / name).write_bytes(content)
    done = init("--items", tmp_path / name, "-o", tmp_path)
    assert done.code == 3 and words in done.err


def test_files_that_are_not_there(tmp_path: Path) -> None:
    assert "there is no such file" in init("--items", tmp_path / "t.jsonl", "-o", tmp_path).err
    assert "is a folder" in init("--items", tmp_path, "-o", tmp_path).err
    done = init("-o", tmp_path)
    assert done.code == 2 and "--items traces.jsonl" in done.err


def test_another_encoding(tmp_path: Path) -> None:
    path = tmp_path / "t.jsonl"
    path.write_bytes(json.dumps(item(1, note="é"), ensure_ascii=False).encode("utf-16"))
    done = init("--items", path, "-o", tmp_path)
    assert done.code == 3 and "--encoding" in done.err
    assert init("--items", path, "-o", tmp_path, "--encoding", "rot13").code == 2
    done = init("--items", path, "-o", tmp_path, "--encoding", "utf-16")
    assert done.code == 0, done.err
    assert project_of(tmp_path / "config.yaml").data_files[0].encoding == "utf-16"
    assert run("check", tmp_path / "config.yaml").code == 0
