"""General types: config → controls, results ↔ records, records ↔ what Potato stores."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from potato_bridge.converters.forms import FORMS, paths_of
from potato_bridge.converters.label_studio.interface import build_interface
from potato_bridge.converters.label_studio.results import read_answer, write_results
from potato_bridge.converters.label_studio.tasks import build_task
from potato_bridge.converters.label_studio.validate import elements
from potato_bridge.converters.potato.general import TYPES
from potato_bridge.converters.potato.general_spans import read_stored_spans, write_stored_spans
from potato_bridge.converters.potato.stored_answers import read_value, write_value
from potato_bridge.converters.potato.traces import to_trace
from potato_bridge.errors import InputError
from potato_bridge.model import General, Project, Record
from potato_bridge.model.trajectory_edit import FinalEdit
from potato_bridge.notices import Notices
from tests.converters.label_studio.general_samples import CASES, IDS, ITEM, entry, item, mark, project, scheme
from tests.strategies import DETERMINISTIC


def task_of(made: Project, notices: Notices | None = None) -> dict[str, Any]:
    found = notices if notices is not None else Notices()
    return build_task(made, item(), to_trace(item(), made, found), found)


def answer_to(made: Project, results: list[dict[str, Any]], **more: Any) -> Any:
    controls = build_interface(made, Notices()).controls
    return read_answer(made, task_of(made), {"result": results}, controls=controls, **more)


def record(value: Any, name: str = "s") -> Record:
    return Record(id="i1", annotator="a", annotations={name: value})


def only(made: Project) -> General:
    (found,) = made.schemes
    assert isinstance(found, General)
    return found


def without_ids(results: list[dict[str, Any]]) -> list[dict[str, Any]]:
    return [{key: value for key, value in result.items() if key != "id"} for result in results]


@pytest.mark.parametrize(("text", "results", "value", "stored"), CASES, ids=IDS)
def test_every_type_in_all_three_forms(
    tmp_path: Path, text: str, results: list[dict[str, Any]], value: Any, stored: dict[str, Any]
) -> None:
    notices = Notices()
    made = project(tmp_path, scheme(text), notices=notices)
    answer = answer_to(made, results)
    assert (answer.annotations, answer.flags, answer.controls) == ({"s": value}, [], {})
    assert without_ids(write_results(made, record(value), task_of(made))) == results
    if "_spans" in stored:
        assert write_stored_spans(only(made), value, {"text": str(ITEM["text"])}) == stored["_spans"]
        assert read_stored_spans(only(made), stored["_spans"], {"text": str(ITEM["text"])}) == (value, [])
    else:
        assert write_value(only(made), value) == stored
        assert read_value(only(made), stored) == value
    assert {notice.code for notice in notices} <= {"sum-not-enforced"}


@pytest.mark.parametrize("kind", TYPES)
def test_every_type_that_is_read_has_controls_and_a_case(kind: str) -> None:
    assert kind in FORMS or kind in ("span", "extractive_qa")
    assert kind in {case[0].split(",")[0] for case in CASES}


@pytest.mark.parametrize(("text", "results", "value", "stored"), CASES, ids=IDS)
def test_no_answer_is_never_a_value(tmp_path: Path, text: str, results: Any, value: Any, stored: Any) -> None:
    asked = project(tmp_path, scheme(text, label_requirement="{required: true}"))
    empty = [entry("s", "ranker", {"_": ["speed", "#1", "a, b"], "ranked": []}, "s_list")] if "ranking" in text else []
    answer = answer_to(asked, empty)
    assert (answer.annotations, [flag.code for flag in answer.flags]) == ({}, ["missing-required"])
    assert answer_to(asked, empty, complete=False).flags == []
    assert answer_to(project(tmp_path, scheme(text)), empty).flags == []


@pytest.mark.parametrize(("text", "results", "value", "stored"), CASES, ids=IDS)
@pytest.mark.parametrize(
    "bad", [None, [], {}, "x", 7, True, {"choices": ["nope"]}, {"labels": ["nope"]}, {"number": "3"}]
)
def test_a_result_that_is_no_answer_is_kept(
    tmp_path: Path, text: str, results: Any, value: Any, stored: Any, bad: Any
) -> None:
    made = project(tmp_path, scheme(text))
    wrong = {**results[0], "value": bad}
    answer = answer_to(made, [wrong])
    assert "s" not in answer.annotations
    if answer.flags:
        assert {flag.code for flag in answer.flags} <= {"bad-result", "unknown-label"}
        assert answer.controls == {wrong["from_name"]: [wrong]}
    else:
        # An emptied box, or a number that was never there.
        assert wrong["type"] in ("textarea", "number", "taxonomy") or (wrong["type"] == "choices" and made)


@pytest.mark.parametrize(("text", "results", "value", "stored"), CASES, ids=IDS)
@pytest.mark.parametrize("wrong", [None, True, 10**9, "nope", ["nope"], {"nope": 1}, [{"start": 0, "end": 99}]])
def test_a_value_of_another_kind_is_refused(
    tmp_path: Path, text: str, results: Any, value: Any, stored: Any, wrong: Any
) -> None:
    if text.startswith("text") and wrong == "nope" and "labels" not in text:
        return
    made = project(tmp_path, scheme(text))
    with pytest.raises(InputError, match=r"record i1, s: "):
        write_results(made, record(wrong), task_of(made))


def test_a_label_that_is_gone(tmp_path: Path) -> None:
    made = project(tmp_path, scheme("multiselect, labels: [a, b]"))
    answer = answer_to(made, [entry("s", "choices", ["a", "gone"])])
    assert answer.annotations == {}
    assert [(flag.code, flag.message) for flag in answer.flags] == [("unknown-label", "'gone' is none of the labels")]
    assert answer.controls == {"s": [entry("s", "choices", ["a", "gone"])]}


def test_options_look_as_the_config_says(tmp_path: Path) -> None:
    labels = "[{name: a, tooltip: 'Tip <i>', key_value: X, displayed_label: Yes}, {name: b, keybinding: '2'}, c]"
    config = build_interface(project(tmp_path, scheme(f"radio, labels: {labels}, horizontal: true")), Notices())
    found = [e.attributes for e in elements(config.label_config) if e.tag == "Choice"]
    assert [choice["value"] for choice in found] == ["a", "b", "c"]
    assert found[0]["hint"] == "Tip <i>" and "hint" not in found[1]
    assert "Yes" in found[0]["html"] and "<kbd" in found[0]["html"]
    # It is the only scheme: then Potato gives keys, to those that have none.
    assert [choice["hotkey"] for choice in found] == ["x", "2", "3"]
    (choices,) = [e.attributes for e in elements(config.label_config) if e.tag == "Choices"]
    assert (choices["choice"], choices["layout"], choices["required"]) == ("single-radio", "inline", "false")


def test_a_key_that_is_taken_is_given_up(tmp_path: Path) -> None:
    notices = Notices()
    keyed = "radio, labels: [a, b], sequential_key_binding: true"
    made = project(tmp_path, scheme(keyed), scheme(keyed, "t"), scheme("triage", "u"), notices=notices)
    assert [(notice.code, notice.message) for notice in notices] == [
        ("no-key", "t: '1', '2' are taken by 's': the labels have no key"),
        ("no-key", "u: '1', '2' are taken by 's': the labels have no key"),
    ]
    keys = [
        e.attributes["hotkey"] for e in elements(build_interface(made, Notices()).label_config) if e.tag == "Choice"
    ]
    assert keys[:2] == ["1", "2"] and keys[-1] == "3"
    # What has no key has one that no keyboard sends, or Label Studio would give it one.
    assert all(0xE000 <= ord(key) <= 0xF8FF for key in keys[2:-1])
    assert len(set(keys)) == len(keys)


def test_the_page_says_which_answer_is_missing(tmp_path: Path) -> None:
    text = scheme("multirate, options: [taste, price], labels: [low, high]", label_requirement="true")
    interface = build_interface(project(tmp_path, text.replace("Say", "'How is \"it\"?'")), Notices())
    messages = re.findall(r'requiredMessage="([^"]*)"', interface.label_config)
    assert messages == [f"“How is &#34;it&#34;?” has no answer yet: {row}." for row in ("taste", "price")]


# --- display_logic ---------------------------------------------------------------------------------------------------


def conditional(tmp_path: Path, logic: str, notices: Notices | None = None) -> Project:
    return project(
        tmp_path,
        scheme("radio, labels: [Yes, No, Maybe]", "first"),
        scheme("multiselect, labels: [a, b]", "many"),
        scheme("text, label_requirement: true", "s", display_logic=logic),
        notices=notices,
    )


@pytest.mark.parametrize(
    ("logic", "views"),
    [
        ("{show_when: [{schema: first, operator: equals, value: yes}]}", [("choice-selected", "first", "Yes")]),
        (
            "{show_when: [{schema: first, operator: equals, value: [Yes, Maybe]}]}",
            [("choice-selected", "first", "Yes,Maybe")],
        ),
        ("{show_when: [{schema: first, operator: not_equals, value: No}]}", [("choice-unselected", "first", "No")]),
        ("{show_when: [{schema: many, operator: contains, value: b}]}", [("choice-selected", "many", "b")]),
        ("{show_when: [{schema: many, operator: not_empty}]}", [("choice-selected", "many", None)]),
        (
            "{show_when: [{schema: first, value: Yes}, {schema: many, operator: contains, value: a}], logic: all}",
            [("choice-selected", "first", "Yes"), ("choice-selected", "many", "a")],
        ),
        (
            "{show_when: [{schema: first, value: Yes}, {schema: first, value: No}], logic: any}",
            [("choice-selected", "first", "Yes,No")],
        ),
    ],
)
def test_conditions_that_the_page_follows(tmp_path: Path, logic: str, views: list[Any]) -> None:
    notices = Notices()
    interface = build_interface(conditional(tmp_path, logic, notices), notices)
    found = [e.attributes for e in elements(interface.label_config) if "visibleWhen" in e.attributes]
    assert [(v["visibleWhen"], v["whenTagName"], v.get("whenChoiceValue")) for v in found] == views
    assert not notices


@pytest.mark.parametrize(
    ("logic", "why"),
    [
        ("{show_when: [{schema: first, operator: matches, value: Y}]}", "the operator 'matches' cannot be followed"),
        ("{show_when: [{any: [{schema: first, value: Yes}]}]}", "conditions in groups cannot be followed"),
        (
            "{show_when: [{schema: first, value: Yes}, {schema: many, operator: contains, value: a}], logic: any}",
            "one is enough only where all are about one scheme",
        ),
        ("{show_when: [{schema: first, value: Perhaps}]}", "'first' has no label 'Perhaps'"),
        ("{show_when: [{schema: many, operator: equals, value: a}]}", "'equals' does not fit the type 'multiselect'"),
    ],
)
def test_conditions_that_it_cannot_follow(tmp_path: Path, logic: str, why: str) -> None:
    notices = Notices()
    made = conditional(tmp_path, logic, notices)
    (notice,) = notices
    assert notice.code == "condition-not-kept" and why in notice.message
    assert "visibleWhen" not in build_interface(made, Notices()).label_config
    # It is always shown, also to those who need not answer.
    assert answer_to(made, []).flags == []


def test_a_condition_on_a_scheme_that_is_not_there(tmp_path: Path) -> None:
    with pytest.raises(InputError) as caught:
        conditional(tmp_path, "{show_when: [{schema: frist, value: Yes}]}")
    (problem,) = caught.value.problems
    assert "no other scheme 'frist'" in problem.message and "Did you mean 'first'?" in problem.hint


def test_a_hidden_question_is_not_missing(tmp_path: Path) -> None:
    made = conditional(tmp_path, "{show_when: [{schema: first, value: Yes}]}")
    assert answer_to(made, [entry("first", "choices", ["No"])]).flags == []
    assert answer_to(made, []).flags == []
    missing = answer_to(made, [entry("first", "choices", ["Yes"])]).flags
    assert [(flag.code, flag.scheme) for flag in missing] == [("missing-required", "s")]


# --- spans -----------------------------------------------------------------------------------------------------------


def test_offsets_in_code_units_are_understood(tmp_path: Path) -> None:
    made = project(tmp_path, scheme("span, labels: [thing]"))
    # One more for the emoji before it: as JavaScript counts.
    answer = answer_to(made, [mark(5, 16, "<b>soup</b>", "thing")])
    assert answer.annotations["s"][0]["start"] == 4 and answer.flags == []


@pytest.mark.parametrize("text", ["soup", "<b>soup</b>x", ""])
def test_a_mark_whose_text_is_another_is_flagged(tmp_path: Path, text: str) -> None:
    made = project(tmp_path, scheme("span, labels: [thing]"))
    good, bad = mark(0, 1, "A", "thing"), mark(4, 15, text, "thing")
    answer = answer_to(made, [good, bad])
    assert [flag.code for flag in answer.flags] == ["span-text-mismatch"]
    assert answer.annotations == {"s": [{"start": 0, "end": 1, "label": "thing", "text": "A", "field": "text"}]}
    assert answer.controls == {"s": [bad]}


def test_spans_in_several_texts(tmp_path: Path) -> None:
    made = project(tmp_path, scheme("span, labels: [thing]"))
    only(made).fields = ["text", "note", "none"]
    notices = Notices()
    task = task_of(made, notices)
    assert [task["data"][key] for key in ("s_text_2", "s_text_3")] == ["é", " "]
    assert [notice.code for notice in notices] == ["no-span-text"]
    value = [
        {"start": 0, "end": 1, "label": "thing", "text": "A", "field": "text"},
        {"start": 0, "end": 1, "label": "thing", "text": "é", "field": "note"},
    ]
    results = write_results(made, record(value), task)
    assert [(r["from_name"], r["to_name"]) for r in results] == [("s_1", "s_text_1"), ("s_2", "s_text_2")]
    assert answer_to(made, results).annotations == {"s": value}


def test_a_span_in_a_text_that_changed_is_refused(tmp_path: Path) -> None:
    made = project(tmp_path, scheme("span, labels: [thing]"))
    span = {"start": 0, "end": 1, "label": "thing", "text": "B", "field": "text"}
    with pytest.raises(InputError, match="does not hold 'B'"):
        write_results(made, record([span]), task_of(made))
    assert write_stored_spans(only(made), [span], {"text": str(ITEM["text"])}) is None
    stored = [{"name": "thing", "start": 0, "end": 999, "target_field": "text"}]
    value, flags = read_stored_spans(only(made), stored, {"text": str(ITEM["text"])})
    assert value == [{"start": 0, "end": 999, "label": "thing", "field": "text"}]
    assert [flag.code for flag in flags] == ["span-text-mismatch"]


# --- what else ------------------------------------------------------------------------------------------------------


def test_numbers_that_do_not_sum_are_flagged(tmp_path: Path) -> None:
    notices = Notices()
    made = project(tmp_path, scheme("constant_sum, labels: [a, b], total_points: 10"))
    build_interface(made, notices)
    assert [notice.code for notice in notices] == ["sum-not-enforced"]
    answer = answer_to(made, [entry("s_1", "number", 3), entry("s_2", "number", 6)])
    assert answer.annotations == {"s": {"a": 3, "b": 6}}
    assert [(flag.code, flag.message) for flag in answer.flags] == [("wrong-sum", "the numbers sum to 9, not to 10")]


def test_half_a_ranking_is_none(tmp_path: Path) -> None:
    made = project(tmp_path, scheme("ranking, labels: [a, b]"))
    answer = answer_to(made, [entry("s", "ranker", {"_": ["b"], "ranked": ["a"]}, "s_list")])
    assert (answer.annotations, [flag.code for flag in answer.flags]) == ({}, ["incomplete-answer"])


def test_the_two_texts_are_shown_once_and_escaped(tmp_path: Path) -> None:
    made = project(
        tmp_path,
        scheme("pairwise, items_key: pair", "s"),
        scheme("pairwise, items_key: pair, mode: scale", "t"),
        scheme("pairwise, items_key: missing", "u"),
    )
    notices = Notices()
    data = task_of(made, notices)["data"]
    assert "one &lt;b&gt;" in data["s_html"] and "t_html" not in data
    assert [notice.code for notice in notices] == ["no-pair"]
    assert build_interface(made, Notices()).label_config.count("<HyperText") == 3


def test_the_ends_and_the_middle_of_a_scale_are_named(tmp_path: Path) -> None:
    made = project(tmp_path, scheme("pairwise, items_key: pair, mode: scale, labels: [Old, New]"))
    found = elements(build_interface(made, Notices()).label_config)
    titles = [e.attributes["value"] for e in found if e.tag == "Header"]
    assert titles == ["Say", "Old is better", "New is better", "(in the middle: Equal)"]
    (number,) = [e.attributes for e in found if e.tag == "Number"]
    assert [number[key] for key in ("slider", "min", "max", "step")] == ["true", "-3", "3", "1"]


def test_a_text_to_edit_is_in_its_box(tmp_path: Path) -> None:
    made = project(tmp_path, scheme("text_edit"))
    (prediction,) = task_of(made)["predictions"]
    (result,) = prediction["result"]
    assert (result["from_name"], result["value"]) == ("s", {"text": [str(ITEM["text"]).replace("\r\n", "\n")]})
    # Left as it is, with the line breaks of a box: no edit.
    value = answer_to(made, [result]).annotations["s"]
    assert (value["edited_text"], value["edit_distance_chars"]) == (ITEM["text"], 0)
    other = record({**value, "original_text": "x"})
    with pytest.raises(InputError, match="the original is another text now"):
        write_results(made, other, task_of(made))


def test_names_that_would_meet_are_refused(tmp_path: Path) -> None:
    made = project(tmp_path, scheme("text, labels: [a, b]"), scheme("text", "s_2"))
    with pytest.raises(InputError) as caught:
        build_interface(made, Notices())
    assert [problem.message for problem in caught.value.problems] == [
        "the schemes 's' and 's_2' would both have 's_2' in Label Studio"
    ]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("radio, labels: [a, b, a]", "'a' stands twice in this list"),
        ("radio, labels: []", "the list is empty"),
        ("radio", "labels is missing"),
        ("radio, labels: [free_response], has_free_response: true", "no label can be named 'free_response'"),
        ("likert, min_label: a, max_label: b", "size is missing"),
        ("likert, size: 500, min_label: a, max_label: b", "a scale of 500 points"),
        ("number, min: 3, max: 1", "the least value 3 is not below the greatest 1"),
        ("slider, min_value: 0, max_value: 1, step: 0", "expected a step above 0"),
        ("pairwise, mode: multi_dimension", "dimensions is missing"),
        ("semantic_differential, pairs: [[a]]", "expected two words"),
        ("semantic_differential", "pairs is missing"),
        ("hierarchical_multiselect, taxonomy_preset: mast", "its tree is not part of the config"),
        ("hierarchical_multiselect, taxonomy: {A: [x], B: [x]}", "'x' stands twice in the taxonomy"),
        ("select, use_predefined_labels: country", "Potato's own lists are not part of the bridge"),
        ("radio, labels: [{name: a, key_value: 'a b'}]", "expected one key"),
    ],
)
def test_configs_that_are_wrong(tmp_path: Path, text: str, message: str) -> None:
    with pytest.raises(InputError) as caught:
        project(tmp_path, scheme(text))
    assert any(message in problem.message and problem.line for problem in caught.value.problems)


# --- any scheme, any answer -----------------------------------------------------------------------------------------

words = st.text(st.characters(exclude_categories=["C", "Z"]), min_size=1, max_size=8) | st.sampled_from(
    ["a b", "$5", "<b>&", 'q"q', "1", "a, b", ",", "😀", "{{x}}"]
)
labels = st.lists(words, min_size=2, max_size=5, unique=True)
free_texts = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"), min_size=1, max_size=12)


@st.composite
def schemes_and_values(draw: st.DrawFn) -> tuple[General, Any]:
    """A scheme of any type and an answer to it."""
    from potato_bridge.model.general import Branch, Option

    kind = draw(st.sampled_from([*FORMS, "span"]))
    options = [Option(value=word) for word in draw(labels)]
    names = [option.value for option in options]
    made = General(name="s", type=kind)
    one, numbers = st.sampled_from(names), st.integers(-50, 50) | st.floats(-50, 50).map(lambda x: round(x, 3) or 0)
    made.options = options
    if kind in ("radio", "multiselect"):
        value = draw(
            one if kind == "radio" else st.lists(one, min_size=1, unique=True).map(lambda v: sorted(v, key=names.index))
        )
        if draw(st.booleans()) and "free_response" not in names:
            made.free_response = "Else"
            value = {"option" if kind == "radio" else "options": value, "free_response": draw(free_texts)}
    elif kind in ("select", "triage"):
        value = draw(one)
    elif kind in ("likert", "confidence"):
        made.options = [Option(value=str(point)) for point in range(1, 8)]
        value = draw(st.integers(1, 7))
    elif kind in ("number", "slider"):
        made.options = []
        value = draw(numbers)
    elif kind == "text":
        made.options = []
        made.rows = options if draw(st.booleans()) else []
        value = {row: draw(free_texts) for row in names} if made.rows else draw(free_texts)
    elif kind == "text_edit":
        made.options, made.field = [], "other"
        edit = FinalEdit(original_text=str(ITEM["other"]), edited_text=draw(free_texts.filter(lambda t: "\r" not in t)))
        value = {key: one for key, one in edit.to_json().items() if key != "edited"}
        value = {
            key: value[key] for key in ("edited_text", "original_text", "edit_distance_chars", "edit_distance_words")
        }
    elif kind == "pairwise":
        made.options = [Option(value=side) for side in ("A", "B", "tie")]
        made.mode = draw(st.sampled_from(["binary", "scale", "multi_dimension"]))
        made.rows = options if made.mode == "multi_dimension" else []
        side = st.sampled_from(["A", "B", "tie"])
        value = {"binary": lambda: {"selection": draw(side)}, "scale": lambda: {"scale_value": draw(numbers)}}.get(
            made.mode, lambda: {row: draw(side) for row in names}
        )()
    elif kind in ("multirate", "semantic_differential"):
        made.rows = [Option(value=row, display=f"{row}\nx") for row in ("r 1", "r, 2")]
        if kind == "semantic_differential":
            made.options = [Option(value=str(point)) for point in range(1, 8)]
        rating = st.integers(1, 7) if kind == "semantic_differential" else one
        value = {row.value: draw(rating) for row in made.rows if draw(st.booleans())} or {"r 1": draw(rating)}
    elif kind in ("constant_sum", "soft_label"):
        made.rows, made.options = options, []
        value = {name: draw(numbers) for name in names}
        made.total = sum(value.values())
    elif kind == "ranking":
        value = draw(st.permutations(names))
    elif kind == "hierarchical_multiselect":
        made.options = []
        made.taxonomy = [Branch(name=names[0], children=[Branch(name=name) for name in names[1:]])]
        order = [path[-1] for path in paths_of(made.taxonomy)]
        value = draw(st.lists(one, min_size=1, unique=True).map(lambda v: sorted(v, key=order.index)))
    else:
        made.fields, made.in_display, text = ["text"], draw(st.booleans()), str(ITEM["text"]).replace("\r", " ")
        places = st.tuples(st.integers(0, len(text) - 1), st.integers(1, len(text))).filter(lambda p: p[0] < p[1])
        value = [
            {"start": a, "end": b, "label": draw(one), "text": text[a:b], "field": "text"}
            for a, b in sorted(draw(st.lists(places, min_size=1, max_size=3)))
        ]
    return made, value


@DETERMINISTIC
@given(schemes_and_values())
def test_any_answer_goes_out_and_comes_back(pair: tuple[General, Any]) -> None:
    made, value = pair
    whole = Project(
        name="p",
        config=Path("c.yaml"),
        task_dir=Path(),
        id_key="id",
        text_key="text",
        output_dir=Path(),
        schemes=[made],
    )
    task = task_of(whole)
    interface = build_interface(whole, Notices())
    results = write_results(whole, record(value), task)
    answer = read_answer(whole, task, {"result": results}, controls=interface.controls)
    assert (answer.annotations, answer.flags, answer.controls) == ({"s": value}, [], {})
    if made.type == "span":
        texts = {"text": str(ITEM["text"])}
        stored = write_stored_spans(made, value, texts)
        if any(span["text"] == "\n" and made.in_display for span in value):
            assert stored is None
            return
        back, flags = read_stored_spans(made, stored or [], texts)
        assert flags == []
        for ours, theirs in zip(value, back, strict=True):
            # Potato's page knows no line break at the ends of a span; the text has it as two characters.
            before = ours["text"].startswith("\n") if made.in_display else 0
            after = ours["text"].endswith("\n") if made.in_display else 0
            assert (theirs["start"], theirs["end"]) == (ours["start"] + before, ours["end"] - after)
            assert (theirs["label"], theirs["field"]) == (ours["label"], "text")
        return
    entries = write_value(made, value)
    assert entries is not None
    joined = made.type in ("ranking", "hierarchical_multiselect")
    if not (joined and any("," in name for name in map(str, value))):
        # Labels with commas are joined by commas: Potato's own form says less than the record.
        assert read_value(made, entries) == value
