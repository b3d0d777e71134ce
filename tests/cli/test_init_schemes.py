"""`init --scheme`: every type that it writes is checked and pushed as it is; every other one is refused by name."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from potato_bridge.model import CodeReviewScheme
from potato_bridge.model.general import General
from potato_bridge.model.trajectory_scheme import TrajectoryEdit
from tests.cli.test_init import PLAIN, TEXTS, init, item, project_of, run, snapshot, write

CHANGE = [
    {"role": "user", "content": "Fix it"},
    {
        "role": "assistant",
        "content": "",
        "tool_calls": [{"tool": "Edit", "input": {"file_path": "a.py", "old_string": "1\n", "new_string": "2\n"}}],
    },
]
REVIEW = {"comment": "The soup was cold, & nobody said sorry", "stars": 2}
SCHEMES: dict[str, dict[str, Any]] = {
    "process_reward": item(0),
    "code_review": item(0, "structured_turns", CHANGE),
    "trajectory_edit": item(0, final_answer="It is done"),
    "radio": REVIEW,
    "multiselect": REVIEW,
    "likert": REVIEW,
    "text": REVIEW,
    "span": REVIEW,
    "pairwise": {**REVIEW, "replies": ["We are sorry", "Come again"]},
}


def items(path: Path, scheme: str, count: int = 2) -> Path:
    return write(path / "data.jsonl", *({**SCHEMES[scheme], "id": f"i{number}"} for number in range(count)))


def scheme_of(folder: Path) -> Any:
    return project_of(folder / "config.yaml").schemes[0]


@pytest.mark.parametrize("scheme", SCHEMES)
def test_what_is_written_is_pushed_as_it_is(scheme: str, tmp_path: Path, label_studio, bridge) -> None:
    written = bridge("init", "--items", items(tmp_path, scheme), "--scheme", scheme, "--name", f"Init {tmp_path.name}")
    assert written.code == 0, written.err
    checked = bridge("check", "--json")
    assert checked.code == 0, checked.err
    assert checked.json["items"] == 2
    names = [found["name"] for found in checked.json["schemes"]]
    assert checked.json["backends"]["label_studio"]["schemes"] == names
    assert checked.json["schemes"][0]["type"] == scheme
    server = {"LABEL_STUDIO_URL": label_studio.url, "LABEL_STUDIO_API_KEY": label_studio.api_key}
    pushed = bridge("push", "--json", **server)
    assert (pushed.code, pushed.json["created"]) == (0, 2), pushed.err


def test_a_code_review(tmp_path: Path) -> None:
    done = init("--items", items(tmp_path, "code_review"), "-o", tmp_path, "--scheme", "code_review")
    assert done.code == 0, done.err
    assert "2 of them change files" in done.out
    project = project_of(tmp_path / "config.yaml")
    review, summary = project.schemes
    assert isinstance(review, CodeReviewScheme) and isinstance(summary, General)
    # The documented defaults, and the summary as a scheme of its own, as the documentation has it.
    assert [category.name for category in review.comment_categories] == [
        *("bug", "logic", "security", "performance", "style", "suggestion", "question", "praise")
    ]
    assert review.verdict_options == ["approve", "request_changes", "comment_only"]
    assert review.severity_levels == ["info", "minor", "major", "critical"]
    assert (summary.name, summary.type, project.export_formats) == ("summary", "text", ["code_review"])
    assert project.name == "Code review: data"


def test_a_code_review_needs_a_change(tmp_path: Path) -> None:
    path = write(tmp_path / "t.jsonl", item(1), item(2))
    done = init("--items", path, "-o", tmp_path, "--scheme", "code_review")
    assert done.code == 3 and "no item changes a file" in done.err
    assert list(snapshot(tmp_path)) == ["t.jsonl"]


@pytest.mark.parametrize(
    ("steps", "more", "field", "final", "texts"),
    [
        (PLAIN, {"final_answer": "42 it is"}, "action", "final_answer", 3),
        (PLAIN, {}, "action", None, 2),
        (TEXTS, {"answer": "Nothing came of it"}, "action", "answer", 3),
        ([{"role": "user", "content": "a"}, {"role": "assistant", "content": "b"}], {}, "content", None, 2),
    ],
)
def test_corrections(tmp_path: Path, steps: Any, more: Any, field: str, final: str | None, texts: int) -> None:
    path = write(tmp_path / "t.jsonl", item(1, steps=steps, **more))
    done = init("--items", path, "-o", tmp_path, "--scheme", "trajectory_edit")
    assert done.code == 0, done.err
    assert f"{texts} texts to correct" in done.out
    scheme = scheme_of(tmp_path)
    assert isinstance(scheme, TrajectoryEdit)
    assert (scheme.steps_key, scheme.editable_fields) == ("steps", [field])
    assert (scheme.edit_final_answer, scheme.final_answer_key) == (final is not None, final or "final_answer")


@pytest.mark.parametrize("scheme", ["radio", "multiselect", "likert", "span"])
def test_labels_are_those_given(tmp_path: Path, scheme: str) -> None:
    path = items(tmp_path, scheme)
    done = init("--items", path, "-o", tmp_path, "--scheme", scheme, "--labels", "yes, so: so ,# no")
    assert done.code == 0, done.err
    assert [option.value for option in scheme_of(tmp_path).options] == ["yes", "so: so", "# no"]


def test_the_labels_of_a_text_are_its_boxes(tmp_path: Path) -> None:
    done = init("--items", items(tmp_path, "text"), "-o", tmp_path, "--scheme", "text", "--labels", "good,bad")
    assert done.code == 0, done.err
    assert [row.value for row in scheme_of(tmp_path).rows] == ["good", "bad"]


def test_a_short_text_is_a_text_too(tmp_path: Path) -> None:
    """Which of two fields is meant is asked, also where one holds a single word now and then."""
    rows = [
        {"id": f"r{n}", "place": "Old Mill", "remark": text} for n, text in enumerate(["Fine.", "So so", "Not bad"])
    ]
    done = init("--items", write(tmp_path / "t.jsonl", *rows), "-o", tmp_path, "--scheme", "radio")
    assert done.code == 2 and "--text-key: 2 fields could be the task's text" in done.err


def test_without_labels_the_config_says_where_they_go(tmp_path: Path) -> None:
    assert init("--items", items(tmp_path, "radio"), "-o", tmp_path, "--scheme", "radio").code == 0
    assert "yours: write the words that can be chosen" in (tmp_path / "config.yaml").read_text(encoding="utf-8")
    assert [option.value for option in scheme_of(tmp_path).options] == ["good", "bad"]


def test_the_text_and_the_trace_where_there_is_one(tmp_path: Path) -> None:
    """Steps are shown, but not needed, and a list of texts is not taken for steps."""
    done = init("--items", items(tmp_path, "process_reward"), "-o", tmp_path, "--scheme", "radio")
    assert done.code == 0, done.err
    fields = project_of(tmp_path / "config.yaml").fields
    assert [(field.key, field.type) for field in fields] == [("task", "text"), ("steps", "agent_trace")]
    (tmp_path / "config.yaml").unlink()
    path = write(tmp_path / "tags.jsonl", {"id": "a", **REVIEW, "tags": ["x", "y z"]}, {"id": "b", **REVIEW})
    assert init("--items", path, "-o", tmp_path, "--scheme", "span").code == 0
    project = project_of(tmp_path / "config.yaml")
    assert [(field.key, field.type) for field in project.fields] == [("comment", "text")]
    assert project.schemes[0].fields == ["comment"] and project.export_formats == []


def test_the_two_texts_of_a_comparison(tmp_path: Path) -> None:
    pair = ["We are sorry", "Come again"]
    rows = [{"id": name, **REVIEW, "first": pair, "second": pair} for name in "ab"]
    path = write(tmp_path / "t.jsonl", *rows)
    done = init("--items", path, "-o", tmp_path, "--scheme", "pairwise")
    assert done.code == 2 and "--pair-key: 2 fields could be the two texts to compare" in done.err
    done = init(
        *("--items", path, "-o", tmp_path, "--scheme", "pairwise", "--pair-key", "second", "--labels", "Left,Right")
    )
    assert done.code == 0, done.err
    scheme = scheme_of(tmp_path)
    assert scheme.field == "second"
    assert [option.shown for option in scheme.options] == ["Left", "Right", "No preference"]
    none = init("--items", items(tmp_path, "radio"), "-o", tmp_path / "no.yaml", "--scheme", "pairwise")
    assert none.code == 3 and "--pair-key: no field is a list of two texts" in none.err


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (["--scheme", "image_annotation"], "init does not write a scheme of type image_annotation"),
        (["--scheme", "proces_reward"], "Did you mean 'process_reward'?"),
        (["--scheme", "code-review"], "Did you mean 'code_review'?"),
        (["--scheme", "nonsense"], "init writes: process_reward, code_review, trajectory_edit, radio,"),
        (["--scheme", "code_review", "--mode", "per_step"], "a scheme of type code_review has no mode"),
        (["--scheme", "radio", "--pair-key", "task"], "a scheme of type radio compares nothing"),
        (["--labels", "good,bad"], "a scheme of type process_reward has no labels"),
        (["--scheme", "radio", "--labels", "good"], "there is only one, and radio takes 2 or more"),
        (["--scheme", "pairwise", "--labels", "a,b,c"], "there are 3, and pairwise takes 2"),
        (["--scheme", "radio", "--labels", "good,,bad"], "one of them is empty"),
        (["--scheme", "radio", "--labels", "good,bad, good"], "'good' stands twice"),
    ],
)
def test_what_makes_no_sense_is_refused_by_name(tmp_path: Path, options: list[str], words: str) -> None:
    path = write(tmp_path / "t.jsonl", item(1))
    done = init("--items", path, "-o", tmp_path, *options)
    assert done.code == 2 and words in done.err
    assert list(snapshot(tmp_path)) == ["t.jsonl"]


@pytest.mark.parametrize("scheme", SCHEMES)
def test_a_dry_run_says_what_is_written(tmp_path: Path, scheme: str) -> None:
    path = items(tmp_path, scheme)
    dry = init("--items", path, "-o", tmp_path, "--scheme", scheme, "--dry-run", "--json")
    assert dry.code == 0, dry.err
    document = json.loads(dry.out)
    assert (document["scheme"], document["mode"]) == (scheme, "first_error" if scheme == "process_reward" else None)
    assert init("--items", path, "-o", tmp_path, "--scheme", scheme).code == 0
    assert (tmp_path / "config.yaml").read_text(encoding="utf-8") == document["text"]
    assert run("check", tmp_path / "config.yaml", "--json").code == 0
