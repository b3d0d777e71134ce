"""Pre-labels on the whole way: a file or the config, annotators with a browser, and what the records say of them."""

import json
import shutil
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import expect

from tests.browser.test_per_step import choose as choose_label
from tests.browser.test_per_step import turn
from tests.cli.test_loop import STEPS, choose, first_error, server
from tests.servers.annotator import errors, open_stream, open_task, submit, update

__all__ = ["server"]

EXAMPLES = Path(__file__).parents[2] / "examples"
HOSTILE = '</script><img src=x onerror="window.__pwned=1"> $& {{idx}} \u202e <b>&amp;\' é😀'
CATEGORY = "Logic error"


def copied(example: str, folder: Path, more: str = "") -> Path:
    """An example under a name of its own."""
    shutil.copytree(EXAMPLES / example, folder / example)
    config = folder / example / "config.yaml"
    lines = config.read_text().splitlines()
    lines = [f'annotation_task_name: "{example} {folder.name}"' if "task_name" in line else line for line in lines]
    config.write_text("\n".join(lines) + "\n" + more)
    return config


def write(path: Path, *lines: dict[str, Any]) -> Path:
    path.write_text("".join(json.dumps(line) + "\n" for line in lines))
    return path


def task_ids(label_studio, number: int) -> dict[str, int]:
    listed = label_studio.http.get(f"/api/tasks/?project={number}&include=id,data").raise_for_status().json()["tasks"]
    return {task["data"]["potato_bridge_id"]: task["id"] for task in listed}


def predictions(label_studio, task: int) -> list[dict[str, Any]]:
    return label_studio.http.get("/api/predictions/", params={"task": task}).raise_for_status().json()


def begins_with(page, *names: str) -> None:
    """What is chosen when the task is shown."""
    page.wait_for_selector(".pb-steps .pb-card")
    expect(page.locator(".ant-radio-wrapper-checked")).to_have_count(len(names))
    for name in names:
        expect(page.locator(f".ant-radio-wrapper-checked input[name={name}]")).to_be_attached()


def records(path: Path) -> dict[tuple[str, str], dict[str, Any]]:
    lines = [json.loads(line) for line in path.read_text().splitlines()]
    return {(line["id"], line["annotator"].partition("-")[0]): line for line in lines}


def became(line: dict[str, Any]) -> tuple[str, str]:
    return line["source"]["prelabel"]["process_reward"], line["source"]["model_version"]


def test_first_errors_of_a_model(bridge, server, label_studio, annotator_page, tmp_path) -> None:
    config = copied("first_error", tmp_path)
    guesses = {"slugify-accents": 1, "empty-month": None, "log-level-option": 9, "remove-legacy-cache": 2}
    lines = [
        {"id": item, "process_reward": step, "model_version": "prm-1", "score": 0.75} for item, step in guesses.items()
    ]
    file = write(tmp_path / "guesses.jsonl", *lines)
    pushed = bridge("push", config, "--prelabels", file, "--json", **server)
    assert pushed.code == 0, pushed.err
    assert pushed.json["created"] == 4
    [bad] = [notice for notice in pushed.json["notices"] if notice["code"] == "bad-prelabel"]
    assert bad["where"] == f"{file}:3"
    assert bad["message"] == (
        "the pre-label of 'log-level-option' is dropped: 'process_reward': step 9 is not among the 5 steps (0 to 4); "
        "null: all are correct"
    )
    number = pushed.json["project"]
    tasks = task_ids(label_studio, number)
    assert {item: len(predictions(label_studio, task)) for item, task in tasks.items()} == {
        "slugify-accents": 1,
        "empty-month": 1,
        "log-level-option": 0,
        "remove-legacy-cache": 1,
    }

    ann = label_studio.add_user(f"ann-{tmp_path.name}@example.com".replace("_", "-"))
    page = annotator_page(ann)
    # The labeling stream begins with what the model said.
    first = open_stream(page, number)
    item = next(name for name, task in tasks.items() if task == first)
    assert item == "slugify-accents"
    begins_with(page, "step_1")
    page.keyboard.press("Escape")
    submit(page)
    open_task(page, number, tasks["empty-month"])
    begins_with(page, "all_correct")
    choose(page, "step_3")
    submit(page)
    open_task(page, number, tasks["log-level-option"])
    begins_with(page)
    choose(page, "step_0")
    submit(page)
    open_task(page, number, tasks["remove-legacy-cache"])
    choose(page, "step_0")
    choose(page, "step_2")
    submit(page)
    assert errors(page) == []

    # Another one begins empty, and says the same as the model; and changes an answer after it was submitted.
    ben = label_studio.add_user(f"ben-{tmp_path.name}@example.com".replace("_", "-"))
    other = annotator_page(ben)
    open_task(other, number, tasks["slugify-accents"])
    other.click("[aria-label='Create an annotation']")
    begins_with(other)
    choose(other, "step_1")
    submit(other)
    assert errors(other) == []
    open_task(page, number, tasks["remove-legacy-cache"])
    choose(page, "step_1")
    update(page)

    out = tmp_path / "records.jsonl"
    assert bridge("pull", config, "-o", out, **server).code == 0
    found = records(out)
    assert {key: became(line) for key, line in found.items() if "prelabel" in line["source"]} == {
        ("slugify-accents", "ann"): ("kept", "prm-1"),
        ("empty-month", "ann"): ("changed", "prm-1"),
        ("remove-legacy-cache", "ann"): ("changed", "prm-1"),
        ("slugify-accents", "ben"): ("manual", "prm-1"),
    }
    assert {key: line["annotations"] for key, line in found.items()} == {
        ("slugify-accents", "ann"): {"process_reward": first_error("slugify-accents", 1)},
        ("slugify-accents", "ben"): {"process_reward": first_error("slugify-accents", 1)},
        ("empty-month", "ann"): {"process_reward": first_error("empty-month", 3)},
        ("log-level-option", "ann"): {"process_reward": first_error("log-level-option", 0)},
        ("remove-legacy-cache", "ann"): {"process_reward": first_error("remove-legacy-cache", 1)},
    }

    # The model thinks again: its prediction is changed, and there is no second one. The records stay.
    assert "nothing to do" in bridge("push", config, "--prelabels", file, **server).out
    write(file, *[{**line, "process_reward": 0} for line in lines])
    again = bridge("push", config, "--prelabels", file, "--json", **server)
    assert (again.json["created"], again.json["updated"], again.json["prelabels"]) == (0, 0, 4)
    for task in tasks.values():
        [prediction] = predictions(label_studio, task)
        assert prediction["result"][0]["value"] == {"choices": ["step_0"]}
    pulled = bridge("pull", config, "-o", out, "--json", **server).json
    assert (pulled["new"], pulled["changed"]) == (0, 0)

    # What was pulled is a file of pre-labels for the next round.
    second = bridge("render", config, "-o", tmp_path / "second", "--prelabels", out, "--json")
    assert second.code == 0, second.err
    rendered = json.loads((tmp_path / "second" / "tasks.json").read_text())
    assert {
        task["data"]["potato_bridge_id"]: [made["model_version"].partition("-")[0] for made in task["predictions"]]
        for task in rendered
    } == {
        "slugify-accents": ["ann", "ben"],
        "empty-month": ["ann"],
        "log-level-option": ["ann"],
        "remove-legacy-cache": ["ann"],
    }
    assert set(STEPS) == set(tasks)


def test_rated_steps_of_an_earlier_round(bridge, server, label_studio, annotator_page, tmp_path) -> None:
    more = "pre_annotation: {enabled: true, predictions_file: data/round1.jsonl}\n"
    config = copied("per_step", tmp_path, more)
    items = [json.loads(line) for line in (config.parent / "data" / "traces.jsonl").read_text().splitlines()]
    names = [item["id"] for item in items]
    write(config.parent / "data" / "round1.jsonl")
    bare = tmp_path / "bare"
    assert bridge("render", config, "-o", bare).code == 0
    totals = {
        task["data"]["potato_bridge_id"]: task["meta"]["potato_bridge"]["total_steps"]
        for task in json.loads((bare / "tasks.json").read_text())
    }

    def value(name: str) -> dict[str, Any]:
        total = totals[name]
        details: dict[str, Any] = {str(step): {"label": "correct"} for step in range(total)}
        details["1"] = {"label": "incorrect", "error_category": CATEGORY, "notes": HOSTILE}
        return {
            "mode": "per_step",
            "total_steps": total,
            "labels": [1.0, -1.0, *[1.0] * (total - 2)],
            "step_details": details,
            "cumulative_score": total - 2.0,
        }

    one, two = names[:2]
    write(
        config.parent / "data" / "round1.jsonl",
        *(
            {"id": name, "annotator": "eve@example.com", "annotations": {"process_reward": value(name)}}
            for name in names
        ),
    )
    pushed = bridge("push", config, "--json", **server)
    assert pushed.code == 0, pushed.err
    assert [notice for notice in pushed.json["notices"] if "prelabel" in notice["code"]] == []
    number = pushed.json["project"]
    tasks = task_ids(label_studio, number)

    def look(page, name: str) -> None:
        """Opens a task, and turns to its second step."""
        open_task(page, number, tasks[name])
        page.wait_for_selector(".pb-page .pb-cards")
        turn(page, 2)
        expect(page.locator(".pb-rating .ant-radio-wrapper-checked input[name=incorrect]")).to_be_attached()
        expect(page.locator(".pb-rating textarea").first).to_have_value(HOSTILE)

    ann = label_studio.add_user(f"ann-{tmp_path.name}@example.com".replace("_", "-"))
    page = annotator_page(ann)
    look(page, one)
    submit(page)
    # A label without category takes the category away, and leaves no mark of it in the answer.
    look(page, two)
    page.locator(".pb-question").click()
    choose_label(page, "Unnecessary")
    submit(page)
    assert page.evaluate("window.__pwned") is None
    assert errors(page) == []

    ben = label_studio.add_user(f"ben-{tmp_path.name}@example.com".replace("_", "-"))
    other = annotator_page(ben)
    open_task(other, number, tasks[one])
    other.click("[aria-label='Create an annotation']")
    expect(other.locator(".pb-rating .ant-radio-wrapper-checked")).to_have_count(0)
    for step in range(1, totals[one] + 1):
        turn(other, step)
        choose_label(other, "Correct")
    submit(other)
    assert errors(other) == []

    out = tmp_path / "records.jsonl"
    assert bridge("pull", config, "-o", out, **server).code == 0
    found = records(out)
    assert {key: became(line) for key, line in found.items()} == {
        (one, "ann"): ("kept", "eve@example.com"),
        (two, "ann"): ("changed", "eve@example.com"),
        (one, "ben"): ("manual", "eve@example.com"),
    }
    assert found[one, "ann"]["annotations"]["process_reward"] == value(one)
    assert found[two, "ann"]["annotations"]["process_reward"]["step_details"]["1"] == {
        "label": "unnecessary",
        "notes": HOSTILE,
    }
    assert found[one, "ben"]["annotations"]["process_reward"]["labels"] == [1.0] * totals[one]
    assert not any("flags" in line for line in found.values())


@pytest.mark.parametrize("command", ["check", "render"])
def test_a_file_that_is_none_stops_before_anything_is_done(bridge, tmp_path, command) -> None:
    config = copied("first_error", tmp_path)
    file = tmp_path / "broken.jsonl"
    file.write_text('{"id": "empty-month", "process_reward": 1}\n{"id": "empty-month"\n')
    done = bridge(command, config, "--prelabels", file)
    assert done.code == 3
    assert f"{file}:2: not JSON" in done.err
