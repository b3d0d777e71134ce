"""Corrections of trajectories go the whole way: push, an annotator with a browser, pull, Potato's folder, pairs."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import datasets
import pytest
from playwright.sync_api import expect

from tests.browser import correcting
from tests.browser.correcting import box, explain, write
from tests.servers.annotator import errors, open_task, submit, update

EXAMPLE = Path(__file__).parents[2] / "examples" / "trajectory_edit"
SEARCH, OPEN = "web_search(queyr='Lisbon weather now')", "open_url(results[0])"
ANSWER = "It is 19 °C in Lisbon.\nWith <b>light rain</b> & wind 😀."
ROOMS = '{"tool":"search_rooms","args":{"capacity":2,"time":"14:00"}}'
NOTHING = {"steps": [], "final_answer": None, "n_steps_edited": 0, "total_edit_distance": 0}
#: By hand: a swap of two letters is two characters and one word.
QUERY = {
    "step_index": 0,
    "field": "action",
    "original_text": SEARCH,
    "edited_text": "web_search(query='Lisbon weather now')",
    "edited": True,
    "edit_distance_chars": 2,
    "edit_distance_words": 1,
    "reason": "the argument's name",
}
CLEARED = {
    "step_index": 2,
    "field": "action",
    "original_text": "finish()",
    "edited_text": "",
    "edited": True,
    "edit_distance_chars": 8,
    "edit_distance_words": 1,
    "reason": "not needed",
}
#: In UTF-16 code units, of which the emoji is two; of the words, "It" and "is" stay.
FINAL = {
    "original_text": "It is sunny.",
    "edited_text": ANSWER,
    "edited": True,
    "edit_distance_chars": 46,
    "edit_distance_words": 10,
}
CAPACITY = {
    "step_index": 0,
    "field": "action",
    "original_text": ROOMS,
    "edited_text": ROOMS.replace("2", "3"),
    "edited": True,
    "edit_distance_chars": 1,
    "edit_distance_words": 1,
    "reason": "three people",
}


@pytest.fixture
def config(tmp_path: Path) -> Path:
    """A copy of the example that asks for reasons, under a name of its own: the server is shared."""
    folder = tmp_path / "study"
    shutil.copytree(EXAMPLE, folder)
    path = folder / "config.yaml"
    text = path.read_text(encoding="utf-8")
    for old, new in {
        '"Trajectory correction"': f'"Corrections {tmp_path.name}"',
        "require_reason_on_edit: false": "require_reason_on_edit: true",
    }.items():
        assert old in text
        text = text.replace(old, new)
    path.write_text(text, encoding="utf-8")
    return path


def lines(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


def assistant(*texts: str) -> list[dict[str, str]]:
    return [{"role": "assistant", "content": text} for text in texts]


def test_push_edit_pull_export(bridge, label_studio, annotator_page, config, tmp_path) -> None:
    server = {"LABEL_STUDIO_URL": label_studio.url, "LABEL_STUDIO_API_KEY": label_studio.api_key}
    pushed = bridge("push", config, "--json", **server)
    assert (pushed.code, pushed.json["created"]) == (0, 3), pushed.err
    number = pushed.json["project"]
    listed = label_studio.http.get(f"/api/tasks/?project={number}&include=id,data").raise_for_status().json()["tasks"]
    tasks = {task["data"]["potato_bridge_id"]: task["id"] for task in listed}

    ann = label_studio.add_user(f"ann-{tmp_path.name}@example.com".replace("_", "-"))
    page = annotator_page(ann)

    def opened(item: str) -> None:
        open_task(page, number, tasks[item])
        correcting.ready(page)

    # An edit, the original put back, a text that is cleared, the final answer, and why.
    opened("traj_101")
    write(page, 0, QUERY["edited_text"])
    explain(page, 0, QUERY["reason"])
    write(page, 1, "something else")
    write(page, 1, OPEN)
    write(page, 2, "")
    explain(page, 2, CLEARED["reason"])
    write(page, 3, ANSWER)
    submit(page)
    # An action that is no text is edited as JSON; the other texts are left alone.
    opened("traj_102")
    expect(box(page, 0)).to_have_value(ROOMS)
    write(page, 0, CAPACITY["edited_text"])
    explain(page, 0, CAPACITY["reason"])
    submit(page)
    opened("traj_103")
    submit(page)

    records = config.parent / "annotation_output" / "records.jsonl"
    pulled = bridge("pull", config, "--json", **server)
    assert (pulled.code, pulled.json["new"]) == (0, 3), pulled.err
    whole = {"steps": [QUERY, CLEARED], "final_answer": FINAL, "n_steps_edited": 3}
    whole["total_edit_distance"] = 2 + 8 + 46
    expected = {
        "traj_101": whole,
        "traj_102": {"steps": [CAPACITY], "final_answer": None, "n_steps_edited": 1, "total_edit_distance": 1},
        "traj_103": NOTHING,
    }
    found = lines(records)
    assert {line["id"]: line["annotations"] for line in found} == {
        item: {"corrected_trajectory": value} for item, value in expected.items()
    }
    assert all((line["annotator"], line["status"]) == (ann.email, "submitted") for line in found)
    assert all("flags" not in line and line["source"]["task"] == tasks[line["id"]] for line in found)

    # Opened again: the step that was cleared gets its original text back. What was said about it is kept.
    opened("traj_101")
    expect(box(page, 0)).to_have_value(QUERY["edited_text"])
    expect(box(page, 2)).to_have_value("")
    write(page, 2, "finish()")
    update(page)
    assert errors(page) == []
    restored = {"edited_text": "finish()", "edited": False, "edit_distance_chars": 0, "edit_distance_words": 0}
    whole["steps"], whole["n_steps_edited"] = [QUERY, {**CLEARED, **restored}], 2
    whole["total_edit_distance"] -= 8
    states = config.parent / "annotation_output"
    pulled = bridge("pull", config, "--potato", states, "--json", **server)
    assert (pulled.code, pulled.json["new"], pulled.json["changed"]) == (0, 0, 1), pulled.err
    found = {line["id"]: line["annotations"]["corrected_trajectory"] for line in lines(records)}
    assert found == expected

    # The pairs: what was corrected is chosen, the run as it was is rejected.
    done = bridge("export", "-c", config, "-f", "trajectory_correction", "-o", "pairs", "--json")
    assert done.code == 0, done.err
    assert (done.json["rows"], done.json["reasons"]) == (2, {"unedited": 1})
    cache = str(tmp_path / "cache")
    loaded = datasets.load_dataset(str(tmp_path / "pairs"), "trajectory_correction", split="train", cache_dir=cache)
    rows = {row["id"]: row for row in loaded}
    thoughts = ["I have to look the weather up.", "Open the first result.", "I have what I need."]
    stay = (f"{thoughts[1]}\n{OPEN}", f"{thoughts[2]}\nfinish()")
    question = "How warm is it in Lisbon right now? Answer in degrees Celsius."
    assert rows["traj_101"]["prompt"] == [{"role": "user", "content": question}]
    assert rows["traj_101"]["chosen"] == assistant(f"{thoughts[0]}\n{QUERY['edited_text']}", *stay, ANSWER)
    assert rows["traj_101"]["rejected"] == assistant(f"{thoughts[0]}\n{SEARCH}", *stay, "It is sunny.")
    corrected = json.loads(rows["traj_102"]["corrected_trace"])["steps"][0]["action"]
    assert corrected == {"tool": "search_rooms", "args": {"capacity": 3, "time": "14:00"}}

    # Potato's own folder gives the same documents.
    for name, more in (("records.json", ()), ("potato.json", ("-i", states, "--from", "potato"))):
        done = bridge("export", "-c", config, *more, "-f", "trajectory_correction", "-o", name, "--json")
        assert done.code == 0, done.err
    document, potato = (json.loads((tmp_path / name).read_text()) for name in ("records.json", "potato.json"))
    assert (document["n_total"], document["n_edited"], document["n_unedited"]) == (3, 2, 1)
    edits = {record["trace_id"]: record["edits"] for record in document["records"]}
    assert [(edit["step_index"], edit["edited_text"], edit["reason"]) for edit in edits["traj_101"]] == [
        (0, QUERY["edited_text"], QUERY["reason"]),
        (None, ANSWER, ""),
    ]
    by_id = lambda found: sorted(found["records"], key=lambda record: record["trace_id"])  # noqa: E731
    assert by_id(potato) == by_id(document)
