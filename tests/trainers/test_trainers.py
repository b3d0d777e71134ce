"""What is exported trains: TRL's trainers take two steps on it, and saw what it says. `make test-trainers`.

Texts and targets are written by hand, from the chat template of Qwen2.5 as TRL trains with it.
"""

from __future__ import annotations

import json
import os
import re
import subprocess
from pathlib import Path
from typing import Any

import pytest

from potato_bridge.export.dataset import export
from potato_bridge.export.options import ExportOptions
from potato_bridge.model import ProcessReward
from potato_bridge.model.trajectory_scheme import TrajectoryEdit
from potato_bridge.notices import Notices
from tests.export.helpers import first_error, make_project, record, write_lines

HERE = Path(__file__).resolve().parent
PYTHON = os.environ.get("POTATO_BRIDGE_TEST_TRAINERS", "")
#: What the template puts before a chat without a system's message.
SYSTEM = "<|im_start|>system\nYou are Qwen, created by Alibaba Cloud. You are a helpful assistant.<|im_end|>\n"


def turn(role: str, text: str) -> str:
    return f"<|im_start|>{role}\n{text}<|im_end|>\n"


def asked(text: str) -> str:
    """A prompt, up to where the assistant's answer begins."""
    return f"{SYSTEM}{turn('user', text)}<|im_start|>assistant\n"


@pytest.fixture(scope="module")
def seen(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    folder = tmp_path_factory.mktemp("trainers")
    call = {"call_id": "c1", "tool": "Bash", "input": {"command": "ls", "n": 1}, "output": "SECRET"}
    turns = [
        [{"role": "assistant", "content": "Look.", "tool_calls": [call]}, {"role": "assistant", "content": "Good."}],
        [{"role": "assistant", "content": "Guess."}, {"role": "assistant", "content": "Bad."}],
    ]
    items = [{"id": name, "task": "Fix it", "turns": one} for name, one in zip("ab", turns, strict=True)]
    project = make_project(folder, items, [ProcessReward(name="process_reward", steps_key="turns")])
    records = write_lines(
        folder / "records.jsonl", [record("a", "n", first_error(None, 2)), record("b", "n", first_error(1, 2))]
    )
    for target in ("sft", "dpo", "kto", "reward", "prm"):
        export(project, records, target, folder / target, ExportOptions(), Notices())
    steps = [{"action": "ls", "observation": "a.py"}, {"action": "rm"}]
    (folder / "edits").mkdir()
    fix = TrajectoryEdit(name="fix", steps_key="steps")
    edited = make_project(folder / "edits", [{"id": "e", "task": "Fix it", "steps": steps}], [fix])
    edit = {"step_index": 1, "field": "action", "original_text": "rm", "edited_text": "sed", "edited": True}
    answers = write_lines(
        folder / "edits" / "records.jsonl", [{"id": "e", "annotator": "n", "annotations": {"fix": {"steps": [edit]}}}]
    )
    export(edited, answers, "dpo", folder / "dpo_steps", ExportOptions(), Notices())
    done = subprocess.run([PYTHON, HERE / "run.py", folder], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr[-4000:]
    found: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    example = subprocess.run(
        [PYTHON, HERE.parents[1] / "examples" / "train_prm.py", folder / "prm", folder / "tiny", folder / "out", "2"],
        capture_output=True,
        text=True,
    )
    assert example.returncode == 0, example.stderr[-4000:]
    found["example"] = example.stdout
    return found


def test_sft_trains_what_the_assistant_says_and_nothing_else(seen: dict[str, Any]) -> None:
    [row] = seen["sft"]["rows"]
    called = 'Look.\n<tool_call>\n{"name": "Bash", "arguments": {"command": "ls", "n": 1}}\n</tool_call>'
    tool = "\n<tool_response>\nSECRET\n</tool_response>"
    assert row["input_ids"] == SYSTEM + turn("user", "Fix it") + turn("assistant", called) + turn(
        "user", tool.strip("\n")
    ) + turn("assistant", "Good.")
    assert [text.strip("\n") for text in row["trained"]] == [f"{called}<|im_end|>", "Good.<|im_end|>"]
    assert seen["sft"]["trains"]


def test_dpo_prefers_the_better_trace(seen: dict[str, Any]) -> None:
    call = 'Bash {"command": "ls", "n": 1}'
    assert seen["dpo"]["rows"] == [
        {
            "prompt_ids": asked("Fix it"),
            "chosen_ids": f"Look.\n{call}\n\nGood.<|im_end|>\n",
            "rejected_ids": "Guess.\n\nBad.<|im_end|>\n",
        }
    ]
    assert seen["dpo"]["trains"]


def test_dpo_of_one_step_follows_the_run(seen: dict[str, Any]) -> None:
    before = (
        SYSTEM + turn("user", "Fix it") + turn("assistant", "ls") + turn("user", "a.py") + "<|im_start|>assistant\n"
    )
    assert seen["dpo_steps"]["rows"] == [
        {"prompt_ids": before, "chosen_ids": "sed<|im_end|>\n", "rejected_ids": "rm<|im_end|>\n"}
    ]
    assert seen["dpo_steps"]["trains"]


def test_kto_knows_wanted_from_unwanted(seen: dict[str, Any]) -> None:
    rows = [(row["prompt_ids"], row["completion_ids"], row["label"]) for row in seen["kto"]["rows"]]
    assert rows == [
        (asked("Fix it"), 'Look.\nBash {"command": "ls", "n": 1}\n\nGood.<|im_end|>\n', True),
        (asked("Fix it"), "Guess.\n\nBad.<|im_end|>\n", False),
    ]
    assert seen["kto"]["trains"]


def test_reward_has_its_margin(seen: dict[str, Any]) -> None:
    [row] = seen["reward"]["rows"]
    # 1 + 1 against 1 - 1.
    assert row["margin"] == 2.0
    assert row["chosen_ids"] == asked("Fix it") + 'Look.\nBash {"command": "ls", "n": 1}\n\nGood.<|im_end|>\n'
    assert row["rejected_ids"] == asked("Fix it") + "Guess.\n\nBad.<|im_end|>\n"
    assert seen["reward"]["trains"]


def test_prm_labels_the_end_of_each_step(seen: dict[str, Any]) -> None:
    assert seen["prm"]["rows"] == [
        [['Fix it\nLook.\nBash {"command": "ls", "n": 1}\n', 1], ["Good.\n", 1]],
        [["Fix it\nGuess.\n", 1], ["Bad.\n", 0]],
    ]
    assert re.fullmatch(r"step 1: loss \d\.\d{4}\nstep 2: loss \d\.\d{4}\n", seen["example"])
