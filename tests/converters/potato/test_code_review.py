"""The `code_review` scheme of a config, in both dialects."""

from pathlib import Path

import pytest
import yaml

from potato_bridge.converters.potato.config import read_project
from potato_bridge.model.code_review import CodeReviewScheme, CommentCategory
from potato_bridge.notices import Notices
from tests.converters.potato.helpers import problems_of, read, write_project

ROOT = Path(__file__).resolve().parents[3]
HEAD = """\
annotation_task_name: Reviews
task_dir: .
data_files: [data/traces.jsonl]
item_properties: {id_key: id, text_key: task}
output_annotation_dir: out
instance_display: {fields: [{key: turns, type: coding_trace}]}
annotation_schemes:
  - annotation_type: code_review
    name: review
"""
CODE = ["bug", "style", "suggestion", "security", "question"]
DOCUMENTED = ["bug", "logic", "security", "performance", "style", "suggestion", "question", "praise"]


def scheme_of(folder: Path, text: str = "") -> tuple[CodeReviewScheme, Notices]:
    project, notices = read(folder, HEAD + text)
    (scheme,) = project.schemes
    assert isinstance(scheme, CodeReviewScheme)
    return scheme, notices


def test_the_example_is_the_documented_config() -> None:
    config = yaml.safe_load((ROOT / "examples" / "code_review" / "config.yaml").read_text(encoding="utf-8"))
    assert config["annotation_schemes"] == [
        {
            "annotation_type": "code_review",
            "name": "review",
            "description": "Review the agent's code changes",
            "comment_categories": DOCUMENTED,
            "file_rating_dimensions": ["correctness", "quality"],
            "verdict_options": ["approve", "request_changes", "comment_only"],
        },
        {"annotation_type": "text", "name": "summary", "description": "Summarize your review", "rows": 4},
    ]


def test_the_defaults_are_those_of_potatos_code(tmp_path: Path) -> None:
    scheme, notices = scheme_of(tmp_path)
    assert scheme == CodeReviewScheme(
        name="review",
        dialect="code",
        comment_categories=[CommentCategory(name=name) for name in CODE],
        verdict_options=["approve", "request_changes", "comment_only"],
        file_rating_dimensions=["correctness", "quality"],
        severity_levels=["info", "minor", "major", "critical"],
        allow_suggestions=True,
        line=8,
    )
    assert list(notices) == []


@pytest.mark.parametrize(
    "key", ["allow_suggestions: false", "severity_levels: [low, high]", "target: agentic_steps", "allow_summary: true"]
)
def test_a_documented_key_gives_the_documented_categories(tmp_path: Path, key: str) -> None:
    scheme, notices = scheme_of(tmp_path, f"    {key}\n")
    assert [category.name for category in scheme.comment_categories] == DOCUMENTED
    assert (scheme.dialect, list(notices)) == ("documented", [])


def test_everything(tmp_path: Path) -> None:
    scheme, notices = scheme_of(
        tmp_path,
        """\
    description: Look at it
    comment_categories: [bug, {name: nit, description: Not important}, 404]
    verdict_options: [yes, no]
    file_rating_dimensions: []
    severity_levels: []
    allow_suggestions: false
    allow_summary: true
    steps_key: turns
    required: false
""",
    )
    assert [(category.name, category.description) for category in scheme.comment_categories] == [
        ("bug", ""),
        ("nit", "Not important"),
        ("404", ""),
    ]
    assert scheme.verdict_options == ["yes", "no"]
    assert (scheme.file_rating_dimensions, scheme.severity_levels) == ([], [])
    assert (scheme.allow_suggestions, scheme.allow_summary, scheme.required) == (False, True, False)
    assert (scheme.dialect, scheme.steps_key) == ("both", "turns")
    assert list(notices) == []


@pytest.mark.parametrize(
    ("text", "place", "words"),
    [
        ("comment_categories: []", "comment_categories", "the list is empty"),
        ("comment_categories: bug", "comment_categories", "expected a list"),
        ("comment_categories: [bug, bug]", "comment_categories[1]", "stands in line 10 too"),
        ("comment_categories: [bug, {name: bug}]", "comment_categories[1]", "stands in line 10 too"),
        ("comment_categories: [{description: x}]", "comment_categories[0].name", "name is missing"),
        ("comment_categories: [[bug]]", "comment_categories[0]", "expected a word"),
        ("comment_categories: [null]", "comment_categories[0]", "found nothing"),
        ("verdict_options: []", "verdict_options", "the list is empty"),
        ("verdict_options: [approve]", "verdict_options", "only one entry"),
        ("verdict_options: [a, a]", "verdict_options[1]", "stands twice"),
        ("file_rating_dimensions: {a: 1}", "file_rating_dimensions", "expected a list"),
        ("severity_levels: [[x]]", "severity_levels[0]", "expected text"),
        ("allow_suggestions: maybe", "allow_suggestions", "expected true or false"),
    ],
)
def test_what_is_wrong_is_said_with_its_place(tmp_path: Path, text: str, place: str, words: str) -> None:
    path = write_project(tmp_path, f"{HEAD}    {text}\n")
    problems = problems_of(lambda: read_project(path, Notices()))
    assert [(problem.path, problem.line) for problem in problems] == [(f"annotation_schemes[0].{place}", 10)]
    assert words in problems[0].message


def test_unknown_keys_are_told(tmp_path: Path) -> None:
    _, notices = scheme_of(tmp_path, "    severity_level: [a]\n    comment_categories: [{name: a, desc: x}]\n")
    assert [(notice.code, notice.where.rsplit(" ", 1)[1]) for notice in notices] == [
        ("unknown-key", "annotation_schemes[0].comment_categories[0].desc"),
        ("unknown-key", "annotation_schemes[0].severity_level"),
    ]
