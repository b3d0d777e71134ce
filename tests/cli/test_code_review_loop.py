"""A code review goes the whole way: push, a reviewer with mouse and keyboard, pull, Potato's folder, every export."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import datasets
import pytest
import unidiff
from playwright.sync_api import expect

from tests.browser import reviewing
from tests.browser.reviewing import comment, drag, line, rate, select
from tests.export.test_code_review_golden import is_review, is_sarif
from tests.servers.annotator import errors, open_task, submit, update

EXAMPLE = Path(__file__).parents[2] / "examples" / "code_review"
#: What annotators write is data: in the page, in records, in Markdown and in SARIF.
TRICKY = "added <b>&amp; & $5 {{idx}} 😀"
SUGGESTION = '    assert parse("") == []  # 😀\n    assert parse(",") == []\n'
PARSER, TESTS, NOTES = {"file": "src/parser.py"}, {"file": "tests/test_parser.py"}, {"file": "NOTES.md"}
RIGHT = {"side": "RIGHT"}
#: What the reviewer does, as the record has it. The lines are those of `git diff` between the two states of the files.
REVIEW: dict[str, Any] = {
    "verdict": "request_changes",
    "comments": [
        {"category": "bug", **PARSER, "line": 10, "text": TRICKY, **RIGHT},
        {"category": "logic", **PARSER, "line": 10, "text": "removed", "side": "LEFT"},
        {"category": "security", **PARSER, "line": 8, "text": "context", **RIGHT},
        {"category": "style", **PARSER, "line": 7, "text": "a blank context line", **RIGHT},
        {"category": "style", **PARSER, "line": 12, "text": "a blank added line", **RIGHT},
        {
            "category": "performance",
            **PARSER,
            "line": 13,
            "text": "several lines,\nin two lines",
            **RIGHT,
            "start_line": 10,
            "start_side": "RIGHT",
        },
        {"category": "question", **PARSER, "line": 10, "text": "the second one there", **RIGHT},
        {
            "category": "suggestion",
            **TESTS,
            "line": 9,
            "text": "test more",
            **RIGHT,
            "severity": "major",
            "suggestion": SUGGESTION,
        },
        {"category": "praise", **NOTES, "line": 1, "text": "nice", **RIGHT},
        {"category": "suggestion", **NOTES, "line": None, "text": "is this file needed?"},
    ],
    "file_ratings": {"src/parser.py": {"correctness": 3, "quality": 2}, "NOTES.md": {"correctness": 5}},
}
SUMMARY = "Needs work & <i>tests</i>"
#: Of the review as it is in the end, the lines of the change that each comment is about.
LINES = [
    "+    if not tokens:\n",
    "-    head = tokens[0]\n",
    " def parse(text):\n",
    " \n",
    "+\n",
    "+    if not tokens:\n+        return []\n+\n+    return [x.strip() for x in tokens]\n",
    "+    if not tokens:\n",
    '+    assert parse("") == []\n',
    None,
]


@pytest.fixture
def config(tmp_path: Path) -> Path:
    """A copy of the example under a name of its own: the server is shared."""
    folder = tmp_path / "study"
    shutil.copytree(EXAMPLE, folder)
    path, name = folder / "config.yaml", '"Coding Agent Code Review"'
    text = path.read_text()
    assert name in text
    path.write_text(text.replace(name, f'"Reviews {tmp_path.name}"'))
    return path


def lines(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


def review(page) -> None:
    """Makes the comments of REVIEW, its ratings and its verdict, and submits them."""
    comment(page, line(page, 0, 8), "1", TRICKY)
    reviewing.category(page, "2")
    line(page, 0, 3).dblclick(position={"x": 155, "y": 8})
    reviewing.write(page, "removed")
    comment(page, line(page, 0, 1), "3", "context")
    comment(page, line(page, 0, 0), "5", "a blank context line")
    comment(page, line(page, 0, 10), "5", "a blank added line")
    drag(page, line(page, 0, 8), line(page, 0, 11), "4", "several lines,\nin two lines")
    comment(page, line(page, 0, 8), "7", "the second one there")
    comment(page, line(page, 1, 6), "6", "test more")
    comment(page, line(page, 2, 0), "8", "nice")
    comment(page, reviewing.name(page, 2), "6", "is this file needed?")
    select(page, line(page, 1, 6))
    reviewing.severity(page, "Major")
    reviewing.suggest(page, SUGGESTION)
    rate(page, 0, 0, 3)
    rate(page, 0, 1, 2)
    rate(page, 2, 0, 5)
    # A review without a verdict is not taken.
    page.locator("[data-testid=bottombar-submit-button]").click()
    expect(page.get_by_text("Choose a verdict.")).to_be_visible()
    page.get_by_role("button", name="OK").click()
    reviewing.verdict(page, "Request changes")
    reviewing.summarize(page, SUMMARY)
    submit(page)


def test_push_review_pull_export(bridge, label_studio, annotator_page, config, tmp_path) -> None:
    server = {"LABEL_STUDIO_URL": label_studio.url, "LABEL_STUDIO_API_KEY": label_studio.api_key}
    pushed = bridge("push", config, "--json", **server)
    assert (pushed.code, pushed.json["created"]) == (0, 2), pushed.err
    number = pushed.json["project"]
    listed = label_studio.http.get(f"/api/tasks/?project={number}&include=id,data").raise_for_status().json()["tasks"]
    tasks = {task["data"]["potato_bridge_id"]: task["id"] for task in listed}

    ann = label_studio.add_user(f"ann-{tmp_path.name}@example.com".replace("_", "-"))
    page = annotator_page(ann, width=1440)
    open_task(page, number, tasks["trace_042"])
    reviewing.ready(page)
    review(page)

    states = config.parent / "output"
    records = states / "records.jsonl"
    pulled = bridge("pull", config, "--json", **server)
    assert (pulled.code, pulled.json["new"]) == (0, 1), pulled.err
    [record] = lines(records)
    assert (record["id"], record["annotator"], record["status"]) == ("trace_042", ann.email, "submitted")
    assert record["annotations"] == {"review": REVIEW, "summary": SUMMARY}
    assert "flags" not in record and record["source"]["task"] == tasks["trace_042"]

    # The same reviewer again: one comment is changed, one is deleted, all others stay.
    open_task(page, number, tasks["trace_042"])
    reviewing.ready(page)
    reviewing.newest_first(page)
    reviewing.reword(page, line(page, 1, 6), "test more", "test <more>")
    reviewing.delete(page, line(page, 2, 0))
    update(page)
    assert errors(page) == []
    final = json.loads(json.dumps(REVIEW))
    final["comments"][7]["text"] = "test <more>"
    del final["comments"][8]
    pulled = bridge("pull", config, "--potato", states, "--json", **server)
    assert (pulled.code, pulled.json["new"], pulled.json["changed"]) == (0, 0, 1), pulled.err
    [record] = lines(records)
    assert record["annotations"] == {"review": final, "summary": SUMMARY}
    assert "flags" not in record

    def export(target: str, out: str, *more: str) -> dict[str, Any]:
        done = bridge("export", "-c", config, "-f", target, "-o", out, *more, "--json")
        assert done.code == 0, done.err
        assert done.json["reasons"] == {}
        found: dict[str, Any] = done.json
        return found

    def data_set(out: str, target: str) -> list[dict[str, Any]]:
        cache = str(tmp_path / "cache")
        loaded = datasets.load_dataset(str(tmp_path / out), target, split="train", cache_dir=cache)
        found: list[dict[str, Any]] = loaded.to_list()
        return found

    # Whole reviews; those of Potato's own folder are the same.
    export("code_review", "reviews.jsonl")
    whole = {"instance_id": "trace_042", "annotator": ann.email, **final, "summary": SUMMARY}
    assert lines(tmp_path / "reviews.jsonl") == [whole]
    export("code_review", "potato.jsonl", "-i", str(states), "--from", "potato")
    assert lines(tmp_path / "potato.jsonl") == [whole]

    # Single comments, each with its lines.
    assert export("code_review_comments", "comments")["rows"] == len(LINES)
    rows = data_set("comments", "code_review_comments")
    assert [(row["place"], row["lines"]) for row in rows] == [("no-line" if at is None else "line", at) for at in LINES]

    # What GitHub gets is on lines that the change shows: it refuses a review as a whole otherwise.
    export("github", "github.jsonl")
    [posted] = lines(tmp_path / "github.jsonl")
    is_review(posted["review"])
    assert posted["review"]["event"] == "REQUEST_CHANGES" and SUMMARY.split(" &")[0] in posted["review"]["body"]
    assert posted["in_body"] == [{"comment": 8, "reason": "no-line"}]
    inline = posted["review"]["comments"]
    placed = [(made["path"], made["side"], made.get("start_line"), made["line"]) for made in inline]
    assert placed == [(c["file"], c["side"], c.get("start_line"), c["line"]) for c in final["comments"][:8]]
    assert f"```suggestion\n{SUGGESTION}```" in inline[7]["body"]
    export("code_review", "reviews")
    [row] = data_set("reviews", "code_review")
    visible = {
        (file.path, side, shown)
        for file in unidiff.PatchSet(row["patch"])
        for hunk in file
        for text in hunk
        for side, shown in (("LEFT", text.source_line_no), ("RIGHT", text.target_line_no))
        if shown is not None
    }
    ends = [(path, side, at) for path, side, first, last in placed for at in (first, last) if at is not None]
    assert set(ends) <= visible

    export("sarif", "reviews.sarif")
    log = json.loads((tmp_path / "reviews.sarif").read_text(encoding="utf-8"))
    is_sarif(log)
    [run] = log["runs"]
    found = [
        (
            result["ruleId"],
            result["locations"][0]["physicalLocation"]["artifactLocation"]["uri"],
            result["locations"][0]["physicalLocation"].get("region"),
        )
        for result in run["results"]
    ]
    spans = [(10, 10), None, (8, 8), (7, 7), (12, 12), (10, 13), (10, 10), (9, 9), None]
    assert [(rule, uri) for rule, uri, _ in found] == [(c["category"], c["file"]) for c in final["comments"]]
    assert [
        None if at is None else (at["startLine"], at.get("endLine", at["startLine"])) for _, _, at in found
    ] == spans
    # Braces are doubled in SARIF's texts.
    assert run["results"][0]["message"]["text"] == TRICKY.replace("{{idx}}", "{{{{idx}}}}")
