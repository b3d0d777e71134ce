from __future__ import annotations

import json
import xml.etree.ElementTree as ET
from pathlib import Path

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from potato_bridge.converters.label_studio.interface import build_interface
from potato_bridge.converters.label_studio.per_step import MANY_STEPS, token
from potato_bridge.converters.label_studio.results import read_answer, write_results
from potato_bridge.converters.label_studio.tasks import build_task
from potato_bridge.converters.label_studio.templates import PER_STEP
from potato_bridge.converters.potato.config import read_project
from potato_bridge.errors import InputError
from potato_bridge.model import Record
from potato_bridge.model.process_reward import PerStep, StepDetail
from potato_bridge.model.project import PerStepOptions, Shortcuts, StepLabel
from potato_bridge.notices import Notices
from tests.converters.label_studio import samples
from tests.converters.label_studio.html_reading import read as read_html
from tests.strategies import DETERMINISTIC, json_objects, texts

ROOT = Path(__file__).resolve().parents[3]
PACKAGED = ROOT / "label_configs" / "label_studio" / PER_STEP
PAGE = PACKAGED.with_name("page.xml.j2")
HOSTILE = '</View> <b>"it\'s" & $5 {{ 1 }} ]]>\n\u202ex'


def documented(**options):
    """The documented scheme of the example, with other options."""
    project = read_project(ROOT / "examples" / "per_step" / "config.yaml", Notices())
    scheme = project.process_reward()
    for key, value in options.items():
        setattr(scheme if hasattr(scheme, key) else scheme.per_step, key, value)
    return project


PROJECT = documented()


def test_the_scheme_of_the_example_is_the_documented_one():
    text = (ROOT / "examples" / "per_step" / "config.yaml").read_text(encoding="utf-8")
    [scheme] = yaml.safe_load(text)["annotation_schemes"]
    labels = [
        (label["value"], label["display"], label["color"], label["score"]) for label in scheme["per_step"]["labels"]
    ]
    assert labels == [
        ("correct", "Correct", "#22c55e", 1.0),
        ("partially_correct", "Partially Correct", "#eab308", 0.5),
        ("incorrect", "Incorrect", "#ef4444", -1.0),
        ("unnecessary", "Unnecessary", "#f97316", -0.5),
        ("recovery", "Recovery from Error", "#3b82f6", 0.25),
    ]
    assert {key: value for key, value in scheme["per_step"].items() if key != "labels"} == {
        "error_categories": {
            "enabled": True,
            "categories": [
                "Wrong tool selected",
                "Correct tool, wrong arguments",
                "Hallucinated information",
                "Repeated previous step",
                "Logic error",
                "Syntax error",
                "Missed edge case",
                "Unnecessary step",
                "Other",
            ],
        },
        "require_all_steps": True,
        "allow_notes": True,
        "show_running_score": True,
    }


def task(steps: int):
    return {"data": {"step_pages": [{"html": ""}] * (steps + 1)}}


def entry(part: str, number: int, text: object):
    kind = "text" if part == "notes" else "choices"
    return {
        "from_name": f"process_reward_{part}_{number}",
        "to_name": "task",
        "type": "textarea" if part == "notes" else "choices",
        "value": {kind: [text]},
    }


def read(result, steps: int = 3, project=PROJECT, **more):
    return read_answer(project, task(steps), {"result": result}, **more)


def codes(answer):
    return [(flag.code, flag.scheme) for flag in answer.flags]


ALL = [entry("label", 1, "correct"), entry("label", 2, "incorrect"), entry("label", 3, "recovery")]


def test_the_documented_value():
    numbering = {"from_name": "process_reward_numbering", "type": "choices", "value": {"choices": ["0"]}}
    details = [entry("error", 2, "Wrong tool selected"), entry("notes", 2, "é 😀\n<b>&")]
    # By name, not by order: entries come in the order of the clicks.
    answer = read([*reversed(details), numbering, *reversed(ALL)])
    assert answer.annotations == {
        "process_reward": {
            "mode": "per_step",
            "total_steps": 3,
            "labels": [1.0, -1.0, 0.25],
            "step_details": {
                "0": {"label": "correct"},
                "1": {"label": "incorrect", "error_category": "Wrong tool selected", "notes": "é 😀\n<b>&"},
                "2": {"label": "recovery"},
            },
            "cumulative_score": 0.25,
        }
    }
    assert (answer.controls, answer.flags) == ({}, [])


@pytest.mark.parametrize(
    ("bad", "code", "message"),
    [
        (entry("label", 4, "correct"), "step-out-of-range", "step 4 is not among the 3 steps of the task"),
        (entry("label", 0, "correct"), "step-out-of-range", "step 0 is not among the 3 steps of the task"),
        (entry("error", 1, "Other"), "bad-result", "step 1: an error category, and its label 'correct' has none"),
        (entry("error", 2, "Nonsense"), "unknown-label", "step 2: 'Nonsense' is none of the error categories"),
        (entry("notes", 2, 7), "bad-result", "step 2: one notes was expected, and 1 are there in 1 entries"),
        ({**entry("notes", 2, ""), "value": None}, "bad-result", "step 2: one notes was expected, and 0 are"),
    ],
)
def test_what_is_no_answer_is_kept_and_flagged(bad, code, message):
    answer = read([*ALL, bad])
    assert answer.annotations["process_reward"]["labels"] == [1.0, -1.0, 0.25]
    assert answer.controls == {bad["from_name"]: [bad]}
    assert codes(answer) == [(code, "process_reward")]
    assert answer.flags[0].message.startswith(message)


def test_the_hidden_controls_are_no_answers():
    spare = {"from_name": "process_reward_spare", "type": "choices", "value": {"choices": ["7"]}}
    answer = read([*ALL, spare])
    assert (answer.controls, answer.flags) == ({}, [])


def test_a_label_that_is_none_leaves_its_step_unrated():
    bad = entry("label", 2, "wrong")
    answer = read([ALL[0], bad, ALL[2]])
    assert answer.annotations["process_reward"]["labels"] == [1.0, None, 0.25]
    assert codes(answer) == [("unknown-label", "process_reward")]
    twice = read([*ALL, ALL[0]])
    assert twice.controls == {"process_reward_label_1": [ALL[0], ALL[0]]}
    assert codes(twice) == [("bad-result", "process_reward")]


def test_missing_steps_are_named_as_on_the_page():
    answer = read([ALL[1]])
    assert answer.annotations["process_reward"]["labels"] == [None, -1.0, None]
    assert [(flag.code, flag.message) for flag in answer.flags] == [
        ("missing-required", "steps 1, 3 are not rated"),
    ]
    assert read([ALL[1]], complete=False).flags == []
    assert codes(read([])) == [("missing-required", "process_reward")]
    assert read([]).annotations == {}
    assert read_answer(PROJECT, task(3), {"result": [], "was_cancelled": True}).flags == []
    assert read([ALL[1]], project=documented(require_all_steps=False)).flags == []
    assert codes(read([], project=documented(require_all_steps=False))) == [("missing-required", "process_reward")]


def test_a_cleared_note_is_none():
    assert "notes" not in read([*ALL, entry("notes", 1, "")]).annotations["process_reward"]["step_details"]["0"]


def test_a_task_without_pages_has_no_steps():
    answer = read_answer(PROJECT, {"data": {"step_pages": None}}, {"result": [entry("label", 1, "correct")]})
    assert [flag.code for flag in answer.flags] == ["step-out-of-range"]


def test_an_answer_to_fewer_steps_than_the_task_has_now():
    answer = read_answer(PROJECT, task(3), {"result": [ALL[0]]}, revision={"total_steps": 1})
    assert answer.annotations["process_reward"]["total_steps"] == 1 and answer.flags == []


def test_results_that_cannot_be_written_say_why():
    def write(labels, **details):
        value = PerStep(labels=labels, step_details={0: StepDetail(**details)}).to_json()
        return write_results(PROJECT, Record(id="x", annotator="a", annotations={"process_reward": value}), task(1))

    with pytest.raises(InputError, match=r"step 1: process_reward has no label with the score 0.75"):
        write([0.75])
    with pytest.raises(InputError, match=r"has no label 'correct' with the score -1.0"):
        write([-1.0], label="correct")
    with pytest.raises(InputError, match=r"step 1: the error category 'Other' cannot be given there"):
        write([1.0], label="correct", error_category="Other")
    with pytest.raises(InputError, match="counts 2 steps, and the task has 1"):
        write([1.0, 1.0], label="correct")
    # A score alone, as Potato's page stores it, is that of a label.
    assert [found["value"] for found in write([0.5])][1:] == [{"choices": ["partially_correct"]}]


def build(project):
    notices = Notices()
    return build_interface(project, notices), [notice.code for notice in notices]


def test_the_interface_asks_what_the_config_says():
    interface, codes = build(PROJECT)
    root = ET.fromstring(interface.label_config)
    [label] = [e for e in root.iter("Choices") if e.get("name") == "process_reward_label_{{idx}}"]
    assert [choice.get("value") for choice in label] == [
        *("correct", "partially_correct", "incorrect", "unnecessary", "recovery")
    ]
    assert (label.get("required"), label.get("requiredMessage").split(".")[0]) == (
        "true",
        "Step {{idx}} is not rated yet",
    )
    [error] = [e for e in root.iter("Choices") if e.get("name") == "process_reward_error_{{idx}}"]
    assert error.get("whenChoiceValue") == "partially_correct,incorrect"
    assert len(list(error)) == 9
    assert [e.get("name") for e in root.iter("TextArea")] == ["process_reward_notes_{{idx}}"]
    assert codes == ["no-shortcuts", "no-running-score"]
    assert "process_reward_label_12" in interface.controls
    for word in ("Partially Correct", "<kbd>Alt</kbd>+<kbd>1</kbd> Correct", "Every step needs a label"):
        assert word in interface.instruction


def test_switches():
    quiet = documented(
        allow_notes=False,
        show_running_score=False,
        error_categories=[],
        require_all_steps=False,
        shortcuts=Shortcuts(enabled=False),
    )
    interface, codes = build(quiet)
    root = ET.fromstring(interface.label_config)
    assert [e.get("name") for e in root.iter("Choices")] == [
        *("process_reward_numbering", "process_reward_spare", "process_reward_label_{{idx}}")
    ]
    assert list(root.iter("TextArea")) == []
    assert {e.get("required") for e in root.iter("Choices")} == {None, "false"}
    assert "accesskey" not in interface.label_config
    assert codes == []


def test_the_dialect_of_potatos_code():
    labels = [
        StepLabel(value="correct", display="Good", color="green", score=1.0, error_category=False),
        StepLabel(value="neutral", display="Neutral", color="#eab308", score=0.0, error_category=False),
        StepLabel(value="incorrect", display="Bad", color="red", score=-1.0, error_category=True),
    ]
    options = PerStepOptions(labels=labels, require_all_steps=False)
    scheme = {"mode": "per_step", "dialect": "code", "allow_neutral": True, "reward_labels": {"correct": "Good"}}
    project = samples.project({**scheme, "per_step": options})
    assert build(project)[1] == []
    answer = read([entry("label", 1, "neutral"), entry("label", 3, "incorrect")], project=project)
    assert answer.annotations["process_reward"]["labels"] == [0.0, None, -1.0]
    assert answer.flags == []


def test_hostile_texts_of_a_config_are_data():
    labels = [
        StepLabel(value=HOSTILE, display=HOSTILE, color="#123456", score=1.0, error_category=True),
        StepLabel(value="a,b", display="{{idx}} $steps", color="teal", score=-1.0, error_category=False),
    ]
    options = PerStepOptions(labels=labels, error_categories=[HOSTILE, "b"], allow_notes=True)
    project = samples.project({"mode": "per_step", "description": HOSTILE, "per_step": options})
    interface, _ = build(project)
    root = ET.fromstring(interface.label_config)
    allowed = {
        "View",
        "Style",
        "HyperText",
        "Header",
        "Choices",
        "Choice",
        "Repeater",
        "Markdown",
        "TextArea",
        "Number",
    }
    assert {e.tag for e in root.iter()} == allowed
    assert not set("<>&$") & set(root.find("Style").text)
    [label] = [e for e in root.iter("Choices") if e.get("name") == "process_reward_label_{{idx}}"]
    assert [e.tag for e in ET.fromstring(label[0].get("html").replace("&nbsp;", " ")).iter()] == ["span"] * 3
    # What Label Studio stores is what the config holds.
    [error] = [e for e in root.iter("Choices") if e.get("name") == "process_reward_error_{{idx}}"]
    result = [entry("label", 1, label[0].get("value")), entry("error", 1, error[0].get("value"))]
    answer = read([*result, entry("label", 2, token("a,b"))], 2, project)
    assert answer.flags == []
    assert answer.annotations["process_reward"]["step_details"] == {
        "0": {"label": HOSTILE, "error_category": HOSTILE},
        "1": {"label": "a,b"},
    }


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        (
            'name="{{ q.control }}_numbering"',
            'name="x"',
            "the control 'process_reward_numbering' of the scheme is missing",
        ),
        ('choice="single-radio"', 'choice="multiple"', "has choice='multiple'"),
        ("'true' if q.required_steps else", "'false' if q.required_steps else", "has required='false'"),
        ('on="$step_pages"', 'on="$step_page"', "the Repeater over $step_pages is missing"),
        (
            "{{ q.control }}_notes_{{ idx }}",
            "notes_{{ idx }}",
            "'process_reward_notes_{{idx}}' of the scheme is missing",
        ),
    ],
)
def test_a_changed_template_keeps_what_the_reward_needs(tmp_path, old, new, message):
    template = tmp_path / "team.xml.j2"
    text = PAGE.read_text(encoding="utf-8").replace("{% include q.template %}", PACKAGED.read_text(encoding="utf-8"))
    assert old in text
    template.write_text(text.replace(old, new), encoding="utf-8")
    with pytest.raises(InputError) as caught:
        build_interface(PROJECT, Notices(), template)
    assert any(message in problem.message for problem in caught.value.problems)


def pages(trace):
    notices = Notices()
    made = build_task(PROJECT, samples.item(trace), trace, notices, load_image=lambda _: None)
    return made, [notice.code for notice in notices]


def test_a_page_has_a_step_and_what_was_said_before_it():
    made, _ = pages(samples.coding_trace())
    read_pages = [read_html(page["html"]) for page in made["data"]["step_pages"]]
    names = [
        [text for text in page.texts if text.startswith("Step ") or text in ("System", "User")] for page in read_pages
    ]
    assert names == [
        ["System", "User"],
        *([f"Step {n}"] for n in (1, 2, 3)),
        ["User", "Step 4"],
        *([f"Step {n}"] for n in (5, 6, 7)),
    ]
    assert "The steps follow" in read_pages[0].text
    assert made["meta"]["potato_bridge"]["total_steps"] == 7 == len(made["data"]["step_pages"]) - 1


def test_what_is_said_after_the_last_step_is_on_its_page():
    last = samples.trace([samples.agent(text="done"), samples.turn("user", "thanks")])
    made, codes = pages(last)
    assert "thanks" in made["data"]["step_pages"][1]["html"]
    assert codes == []
    none, codes = pages(samples.trace([samples.turn("user", "hello")]))
    assert (len(none["data"]["step_pages"]), codes) == (1, ["no-steps"])


def test_no_text_of_a_trace_is_read_as_markdown():
    """To Markdown, HTML that starts with a div ends at a blank line: there is no line break at all."""
    for trace in (samples.hostile_trace(), samples.coding_trace()):
        for page in pages(trace)[0]["data"]["step_pages"]:
            assert page["html"].startswith('<div class="pb-cards">')
            assert not set("\n\r\x0b\x0c\u2028\x85") & set(page["html"])
            read_html(page["html"])


def test_many_steps_are_announced():
    assert pages(samples.trace([samples.agent(text="x")] * 3))[1] == []
    many = samples.trace([samples.agent(text="x") for _ in range(MANY_STEPS + 1)])
    assert pages(many)[1] == ["many-steps"]


@st.composite
def answers(draw):
    """A scheme of any labels, and an answer that its page can give."""
    words = st.text(st.characters(exclude_categories=["Cs", "Cc"]), min_size=1, max_size=12)
    values = draw(st.lists(words, min_size=2, max_size=6, unique_by=token))
    scores = st.floats(-10, 10).map(lambda score: round(score, 3))
    labels = [
        StepLabel(value=v, display=v, color="#123456", score=draw(scores), error_category=draw(st.booleans()))
        for v in values
    ]
    # Two categories that differ in hidden characters only look the same, and are the same to Label Studio.
    categories = draw(st.lists(st.text("ab $<&\"'{}é😀", min_size=1, max_size=8), max_size=4, unique=True))
    options = PerStepOptions(labels=labels, error_categories=categories, allow_notes=True)
    project = samples.project(
        {"mode": "per_step", "name": draw(st.sampled_from(["r", "Step rewards"])), "per_step": options}
    )
    steps = draw(st.integers(1, 12))
    value = PerStep(labels=[None] * steps, step_details={})
    for step in range(steps):
        detail, label = StepDetail(), draw(st.none() | st.sampled_from(labels))
        if label is not None:
            value.labels[step], detail.label = label.score, label.value
            if label.error_category and categories:
                detail.error_category = draw(st.none() | st.sampled_from(categories))
        detail.notes = draw(st.none() | texts.filter(bool))
        if detail != StepDetail():
            value.step_details[step] = detail
    return project, value


@DETERMINISTIC
@given(answers())
def test_answer_to_results_to_record_is_the_identity(made):
    project, value = made
    name = project.process_reward().name
    annotations = {name: value.to_json()} if value.step_details else {}
    record = Record(id="x", annotator="a", annotations=annotations)
    results = json.loads(json.dumps(write_results(project, record, task(value.total_steps))))
    answer = read_answer(project, task(value.total_steps), {"result": results[::-1]})
    assert answer.annotations == annotations
    assert answer.controls == {}
    assert {flag.code for flag in answer.flags} <= {"missing-required"}
    assert bool(answer.flags) == (None in value.labels)


@DETERMINISTIC
@given(json_objects, st.lists(json_objects | st.none() | st.integers(), max_size=4))
def test_reading_never_raises(odd, entries):
    for result in (entries, odd, [{**ALL[0], **odd}], [{**ALL[0], "value": odd}], [{**entry("error", 1, odd)}]):
        read_answer(PROJECT, {"data": odd}, {"result": result})
        read(result)
