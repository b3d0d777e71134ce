"""What Argilla 2.8 would answer 422 to is an error before anything is sent."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from potato_bridge.converters.argilla.limits import check_settings
from potato_bridge.converters.argilla.plan import QuestionPlan, Settings
from potato_bridge.errors import InputError
from potato_bridge.notices import Notices
from tests.several_schemes import RADIO, item, project


def options(count: int, **more: Any) -> list[dict[str, Any]]:
    return [{"value": f"o{n}", "text": f"Option {n}", **more} for n in range(count)]


def question(kind: str, found: list[dict[str, Any]], **more: Any) -> QuestionPlan:
    return QuestionPlan("q", "Title", {"type": kind, "options": found, **more})


@pytest.fixture
def made(tmp_path):
    return project(tmp_path, [RADIO], item(), Notices())


def check(made, asked: QuestionPlan) -> list[str]:
    try:
        check_settings(made, Settings("panel", [], [asked], []), {"q": 11})
    except InputError as error:
        assert all(problem.line == 11 and problem.file.endswith("config.yaml") for problem in error.problems)
        assert all(problem.hint for problem in error.problems)
        return [problem.message for problem in error.problems]
    return []


@pytest.mark.parametrize(
    ("kind", "least", "most"),
    [
        ("label_selection", 2, 500),
        ("multi_label_selection", 2, 500),
        ("ranking", 2, 50),
        ("span", 1, 500),
    ],
)
def test_how_many_options(made, kind, least, most):
    for count in (least, most):
        assert check(made, question(kind, options(count))) == []
    for count in (least - 1, most + 1):
        message = f"q: it has {count} options, and Argilla takes {least} to {most}"
        assert check(made, question(kind, options(count))) == [message]


@pytest.mark.parametrize(("values", "good"), [(range(11), True), ([0, 10], True), ([4, 5], True), ([3], False)])
def test_the_points_of_a_rating(made, values, good):
    assert (check(made, question("rating", [{"value": n} for n in values])) == []) is good


@pytest.mark.parametrize("value", [-1, 11, 0.5, "1", True])
def test_a_point_that_a_rating_cannot_have(made, value):
    [message] = check(made, question("rating", [{"value": value}, {"value": 5}]))
    assert message == f"q: {value!r} is no point of a rating: they are 0 to 10"


@pytest.mark.parametrize(
    ("option", "message"),
    [
        ({"value": "x" * 200, "text": "y" * 500}, None),
        ({"value": "x" * 201, "text": "y"}, "is longer than Argilla takes"),
        ({"value": "x", "text": "y" * 501}, "is longer than Argilla takes"),
        ({"value": "", "text": "y"}, "has no text"),
        ({"value": "x", "text": ""}, "has no text"),
        ({"value": "o0", "text": "y"}, "2 of its options are 'o0'"),
    ],
)
def test_an_option(made, option, message):
    found = check(made, question("label_selection", [*options(2), option]))
    assert (message is None and found == []) or (message is not None and message in found[0] and len(found) == 1)


@pytest.mark.parametrize(("shown", "good"), [(None, True), (3, True), (4, True), (2, False), (5, False)])
def test_how_many_options_are_shown(made, shown, good):
    assert (check(made, question("label_selection", options(4), visible_options=shown)) == []) is good


@pytest.mark.parametrize(("field", "most"), [("name", 200), ("title", 500), ("description", 1000)])
def test_the_texts_of_a_question(made, field, most):
    def settings(text: str) -> Settings:
        return Settings("panel", [], [replace(question("text", []), **{field: text})], [])

    check_settings(made, settings("x" * most))
    with pytest.raises(InputError) as caught:
        check_settings(made, settings("x" * (most + 1)))
    [problem] = caught.value.problems
    assert f"its {field} has {most + 1} characters, and Argilla takes {most}" in problem.message
    if field != "description":
        with pytest.raises(InputError, match=f"it has no {field}"):
            check_settings(made, settings(" "))


def test_all_problems_at_once(made):
    settings = Settings("panel", [], [question("ranking", options(51)), question("span", [])], [], min_submitted=0)
    with pytest.raises(InputError) as caught:
        check_settings(made, settings)
    assert len(caught.value.problems) == 3
