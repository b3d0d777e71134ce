"""The general types in the panel: which are questions of Argilla, and any answer to any of them reads back equal."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from potato_bridge.converters.argilla.layouts import LAYOUTS
from potato_bridge.converters.argilla.panel.general import question_of
from potato_bridge.converters.argilla.plan import Part, RecordPlan, Stored
from potato_bridge.converters.potato.traces import to_trace
from potato_bridge.converters.text_edit import value_of_edit
from potato_bridge.model import Project, Record
from potato_bridge.model.general import General
from potato_bridge.notices import Notices
from tests.converters.label_studio import general_samples as samples
from tests.strategies import DETERMINISTIC, json_values, texts

PANEL = LAYOUTS["panel"]
#: The item's text as it is marked: as long as the original, with one line break of two characters shown as two.
SHOWN = str(samples.ITEM["text"]).replace("\r\n", " \n")
#: A text box makes every line break a newline, and one that is empty is no answer.
typed = texts.map(lambda text: text.replace("\r\n", "\n").replace("\r", "\n")).filter(bool)
numbers = st.integers(0, 10) | st.floats(0, 10).filter(lambda number: not number.is_integer())


def some(*words: str) -> st.SearchStrategy[list[str]]:
    """Several of them, in their order."""
    chosen = st.sets(st.sampled_from(words), min_size=1)
    return chosen.map(lambda found: sorted(found, key=words.index))


def rows(values: st.SearchStrategy[Any], *keys: str) -> st.SearchStrategy[dict[str, Any]]:
    """An answer with some of its rows, in their order."""
    return some(*keys).flatmap(lambda found: st.fixed_dictionaries(dict.fromkeys(found, values)))


@st.composite
def marks(draw: st.DrawFn) -> list[dict[str, Any]]:
    found = set()
    for _ in range(draw(st.integers(1, 3))):
        start = draw(st.integers(0, len(SHOWN) - 1))
        found.add((start, draw(st.integers(start + 1, len(SHOWN)))))
    labels = st.sampled_from(["thing", "name"])
    return [
        {"start": start, "end": end, "label": draw(labels), "text": SHOWN[start:end], "field": "text"}
        for start, end in sorted(found)
    ]


@st.composite
def passages(draw: st.DrawFn) -> dict[str, Any]:
    if draw(st.booleans()):
        return {"answer_text": "", "start": -1, "end": -1, "unanswerable": True}
    start = draw(st.integers(0, len(SHOWN) - 1))
    end = draw(st.integers(start + 1, len(SHOWN)))
    return {"answer_text": SHOWN[start:end], "start": start, "end": end, "unanswerable": False}


def shares(total: int, *keys: str) -> st.SearchStrategy[dict[str, int]]:
    cuts = st.lists(st.integers(0, total), min_size=len(keys) - 1, max_size=len(keys) - 1).map(sorted)
    return cuts.map(
        lambda found: {key: end - start for key, start, end in zip(keys, [0, *found], [*found, total], strict=True)}
    )


def free(key: str, chosen: st.SearchStrategy[Any], nothing: Any) -> st.SearchStrategy[Any]:
    both = st.fixed_dictionaries({key: chosen | st.just(nothing), "free_response": typed})
    return chosen | both


WORDS = ["good", "poor", "$5 </script>", "100%", "a, b", "😀"]
QUOTED = json.dumps(WORDS, ensure_ascii=False)
#: Scheme, the types of its questions of Argilla ("": it is a form of the panel), its answers.
CASES: list[tuple[str, str, st.SearchStrategy[Any]]] = [
    (f"radio, labels: {QUOTED}", "label_selection", st.sampled_from(WORDS)),
    ("radio, labels: [one]", "", st.just("one")),
    ("radio, labels: [a, b], has_free_response: true", "", free("option", st.sampled_from("ab"), None)),
    (f"multiselect, labels: {QUOTED}", "multi_label_selection", some(*WORDS)),
    ("multiselect, labels: [a, b], has_free_response: true", "", free("options", some("a", "b"), [])),
    (f"select, labels: {QUOTED}", "label_selection", st.sampled_from(WORDS)),
    ("likert, size: 5, min_label: Poor, max_label: Good", "rating", st.integers(1, 5)),
    ("likert, size: 20, min_label: Poor, max_label: Good", "label_selection", st.integers(1, 20)),
    ("likert, labels: [disagree, agree]", "label_selection", st.sampled_from(["disagree", "agree"])),
    ("text_edit, source_field: other", "", typed.map(lambda text: value_of_edit(str(samples.ITEM["other"]), text))),
    ("triage", "label_selection", st.sampled_from(["accept", "reject", "skip"])),
    ("confidence", "rating", st.integers(1, 5)),
    ("confidence, scale_type: slider", "", st.integers(0, 100)),
    ("text", "", typed),
    ("text, labels: [first, second]", "", rows(typed, "first", "second")),
    ("number, min: 0, max: 10", "", numbers),
    ("slider, min_value: 0, max_value: 10, starting_value: 5", "", numbers),
    ("span, labels: [thing, name]", "", marks()),
    ("extractive_qa, question_field: note, passage_field: text", "", passages()),
    (
        "pairwise, items_key: pair, allow_tie: true",
        "label_selection",
        st.sampled_from(["A", "B", "tie"]).map(lambda word: {"selection": word}),
    ),
    ("pairwise, items_key: pair, mode: scale", "", st.integers(-3, 3).map(lambda number: {"scale_value": number})),
    (
        "pairwise, items_key: pair, mode: multi_dimension, dimensions: [{name: style}, {name: facts}]",
        "",
        rows(st.sampled_from("AB"), "style", "facts"),
    ),
    (
        "multirate, options: [taste, price], labels: ['1', '2', '3']",
        "",
        rows(st.sampled_from("123"), "taste", "price"),
    ),
    (
        "semantic_differential, pairs: [[bad, good], [slow, fast]]",
        "",
        rows(st.integers(1, 7), "bad__good", "slow__fast"),
    ),
    ("constant_sum, labels: [a, b, c], total_points: 10", "", shares(10, "a", "b", "c")),
    ("soft_label, labels: [a, b]", "", shares(100, "a", "b")),
    ("ranking, labels: [speed, '1', 'a, b']", "ranking", st.permutations(["speed", "1", "a, b"])),
    (
        "hierarchical_multiselect, taxonomy: {Bug: [Crash, Slow], Other: {}}",
        "",
        some("Bug", "Crash", "Slow", "Other"),
    ),
]
IDS = [f"{n}-{case[0].split(',')[0]}" for n, case in enumerate(CASES)]


def record_of(made: Project) -> RecordPlan:
    [plan] = PANEL.build_records(made, samples.item(), to_trace(samples.item(), made, Notices()), Notices())
    return plan


def stored(plan: RecordPlan) -> Stored:
    return Stored(plan.external_id, plan.fields, plan.metadata)


@pytest.fixture(scope="module", params=CASES, ids=IDS)
def case(request, tmp_path_factory):
    text, kind, values = request.param
    made = samples.project(tmp_path_factory.mktemp("case"), samples.scheme(text))
    return made, record_of(made), kind, values


def test_what_is_a_question_of_argilla(case):
    made, _, kind, _ = case
    _, *natives = PANEL.build_settings(made, Notices()).questions
    assert [question.settings["type"] for question in natives] == ([kind] if kind else [])
    [scheme] = made.schemes
    assert isinstance(scheme, General)
    found = question_of(scheme)
    assert found is not None
    # What annotators choose is in one place only.
    assert (found.widget in ("", "pair")) == bool(kind)


@DETERMINISTIC
@given(st.data())
def test_any_answer_reads_back_equal(case, data):
    made, plan, _, values = case
    value = data.draw(values)
    record = Record(id="i1", annotator="a", annotations={"s": value})
    [written] = PANEL.write_answer(made, record, [stored(plan)]).values()
    # Nothing that could break Argilla's page stands in a response.
    assert not set("<>&$\u2028\u2029") & set(json.dumps(written, ensure_ascii=False))
    answer = PANEL.read_answer(made, [Part(stored(plan), written)])
    assert (answer.annotations, answer.flags, answer.controls) == ({"s": value}, [], {})


@DETERMINISTIC
@given(json_values, json_values)
def test_no_answer_stops_a_pull(case, raw, native):
    made, plan, _, _ = case
    for one in (raw, {"values": raw}, {"spans": raw}, {"values": {"": raw}}, {"spans": [raw]}):
        said = {"answer": json.dumps({"v": 1, "schemes": {"s": one}}), "s": native}
        answer = PANEL.read_answer(made, [Part(stored(plan), said)])
        # What is left beside the record is said.
        assert bool(answer.flags) >= bool(answer.controls)


def test_what_depends_on_another_answer_is_a_form(tmp_path):
    when = "{show_when: [{schema: first, operator: equals, value: A}]}"
    made = samples.project(
        tmp_path,
        samples.scheme("pairwise, items_key: pair", name="first"),
        samples.scheme("radio, labels: [x, y]", display_logic=when, label_requirement="{required: true}"),
    )
    settings = PANEL.build_settings(made, Notices())
    assert [question.name for question in settings.questions] == ["answer", "first"]
    plan = record_of(made)
    # It is missing where it was shown, and nowhere else.
    for word, codes in (("A", ["missing-required"]), ("B", [])):
        said = {"answer": '{"v":1,"complete":true,"schemes":{}}', "first": word}
        answer = PANEL.read_answer(made, [Part(stored(plan), said)])
        assert (answer.annotations, [flag.code for flag in answer.flags]) == ({"first": {"selection": word}}, codes)
