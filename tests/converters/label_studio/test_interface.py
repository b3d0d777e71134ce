from __future__ import annotations

import xml.etree.ElementTree as ET
from pathlib import Path

import pytest

from potato_bridge.converters.label_studio import fields
from potato_bridge.converters.label_studio.interface import build_interface
from potato_bridge.errors import InputError
from potato_bridge.model import OtherScheme, ProcessReward
from potato_bridge.model.project import DisplayField, FirstErrorTexts, Shortcuts
from potato_bridge.notices import Notices
from tests.converters.label_studio import samples

HOSTILE = '</View> <b>"it\'s" & $5 $word {{ 1 }} ]]> \u202ex'


def build(project, template=None):
    notices = Notices()
    return build_interface(project, notices, template), [(n.code, n.where) for n in notices]


def tree(project):
    return ET.fromstring(build(project)[0].label_config)


def style(project):
    return tree(project).find("Style").text


def test_one_question_over_the_steps_of_each_task():
    interface, _ = build(samples.project())
    root = ET.fromstring(interface.label_config)
    assert [(e.tag, dict(e.attrib)) for e in root.iter() if e.tag in ("Choices", "HyperText", "Header")] == [
        ("HyperText", {"name": "task", "value": "$task_html", "valueType": "text", "inline": "true"}),
        ("HyperText", {"name": "files", "value": "$files_html", "valueType": "text", "inline": "true"}),
        ("Header", {"value": "Click the first step where the agent made a mistake", "size": "4"}),
        (
            "Choices",
            {
                "name": "process_reward",
                "toName": "task",
                "choice": "single-radio",
                "value": "$step_options",
                "required": "true",
                "requiredMessage": "Choose the first wrong step or “All steps correct”.",
            },
        ),
    ]
    assert interface.control == "process_reward"
    assert interface.controls == {"process_reward"}


def test_the_server_and_the_page_see_the_same_config():
    """Label Studio strips what it stores: nothing may stand before the first tag or after the last."""
    config = build(samples.project())[0].label_config
    assert config.startswith("<View ")
    assert config.strip() == config.rstrip("\n")


def test_switches():
    hidden = samples.project({"first_error": {"show_step_content": False}}, {"show_file_tree": False})
    assert [e.get("name") for e in tree(hidden).iter("HyperText")] == ["task", "trace"]
    optional = samples.project({"required": False, "first_error": {"allow_no_error": False}})
    choices = tree(optional).find(".//Choices")
    assert choices.get("required") == "false"
    assert choices.get("requiredMessage") == "Choose the first wrong step."
    assert "last-child" not in style(optional)
    assert "background: #f6f8fa" in style(samples.project(display={"terminal_theme": "light"}))
    assert "background: #1c2128" in style(samples.project())


def test_colours_and_texts_of_the_config():
    colours = {
        "correct_color": "#010203",
        "error_color": "#040506",
        "downstream_color": "teal",
        "unmarked_color": "#789",
    }
    texts = FirstErrorTexts(correct="good", first_error="wrong", downstream="after", all_correct="fine")
    css = style(samples.project({"first_error": {**colours, "labels": texts}}))
    for value in (*colours.values(), '"good"', '"wrong"', '"after"', '"fine"'):
        assert value in css


def test_the_style_has_nothing_that_label_studio_breaks():
    css = style(samples.project({"first_error": {"labels": FirstErrorTexts(correct="a > b & c </style>")}}))
    assert not set("<>&") & set(css)
    assert "$" not in css


def test_hostile_texts_of_a_config_are_data():
    texts = FirstErrorTexts(correct=HOSTILE, first_error=HOSTILE, downstream=HOSTILE, all_correct=HOSTILE)
    project = samples.project({"description": HOSTILE, "first_error": {"labels": texts}})
    root = tree(project)
    assert {e.tag for e in root.iter()} == {"View", "Style", "HyperText", "Header", "Choices"}
    assert root.find(".//Header").get("value") == ('</View> <b>"it\'s" & $\u20605 $\u2060word {{ 1 }} ]]> \ufffdx')
    instruction = build(project)[0].instruction
    assert "<b>&#34;" not in instruction
    assert "&lt;b&gt;" in instruction


def test_a_colour_that_is_none():
    with pytest.raises(InputError, match="is not a colour"):
        build(samples.project({"first_error": {"error_color": "red} body{display:none"}}))


@pytest.mark.parametrize(
    ("name", "control"),
    [
        ("process_reward", "process_reward"),
        ("step-rewards_2", "step-rewards_2"),
        ("Step rewards: v2", "Step_rewards_v2"),
        ("2nd", "s_2nd"),
        ("task", "task_answer"),
        ("報酬", "s_b4f65423"),
        ("x" * 80, "x" * 48),
    ],
)
def test_names_of_controls(name, control):
    interface, notices = build(samples.project({"name": name, "first_error": {"require_confirmation": False}}))
    assert interface.control == control
    assert ("control-renamed" in [code for code, _ in notices]) == (name != control)


def test_what_label_studio_cannot_do_is_said():
    scheme = {
        "target": "final_answer",
        "ai_prelabel": True,
        "require_verification": True,
        "shortcuts": Shortcuts(labels={"correct": "1"}, next_step="j", prev_step="k"),
        "line": 12,
    }
    _, notices = build(samples.project(scheme))
    assert notices == [
        (code, "config.yaml:12 process_reward")
        for code in (
            "no-scheme-target",
            "no-prelabel",
            "no-verification",
            "no-confirmation",
            "no-shortcuts",
        )
    ]


def test_nothing_is_said_that_nobody_asked_for():
    quiet = samples.project({"first_error": {"require_confirmation": False}})
    assert build(quiet)[1] == []
    # The wording of Potato's buttons is the wording of the states here.
    assert build(samples.project({"dialect": "code", "reward_labels": {"correct": "Valid"}}))[1] == []
    # The code of Potato has no confirmation: its configs do not ask for one.
    assert build(samples.project({"dialect": "code"}))[1] == []
    off = Shortcuts(enabled=False, labels={"correct": "1"}, next_step="j")
    assert build(samples.project({"dialect": "code", "shortcuts": off}))[1] == []


def test_schemes_and_fields_that_are_not_shown():
    project = samples.project({"dialect": "code"})
    project.schemes += [OtherScheme(name="style", type="radio", line=40), ProcessReward(name="second", mode="per_step")]
    project.fields += [
        DisplayField(key="task_description"),
        DisplayField(key="notes"),
        DisplayField(key="clip", type="audio"),
    ]
    _, notices = build(project)
    assert notices == [
        ("scheme-not-asked", "config.yaml second"),
        ("field-not-shown", "config.yaml clip"),
    ]


def test_a_number_of_answers_that_nobody_keeps_to():
    project = samples.project({"dialect": "code"})
    project.overlap = 2
    assert build(project)[1] == [("unused-key", "config.yaml")]


def test_refusals_name_what_is_missing():
    project = samples.project()
    project.schemes = [OtherScheme(name="clip", type="audio_annotation")]
    with pytest.raises(InputError, match=r"scheme that Label Studio can ask for \(it has: audio_annotation\)"):
        build(project)


def test_two_schemes_with_one_control_are_refused():
    project = samples.project({"name": "step rewards"})
    project.schemes.append(ProcessReward(name="step_rewards", line=9))
    # Of step rewards one is asked, so these two do not meet.
    assert build(project)[0].control == "step_rewards"


def test_the_instruction_says_how(tmp_path: Path):
    instruction = build(samples.project())[0].instruction
    for words in ("first wrong one", "+1", "-1 (first error)", "-1 (downstream)", "+1 (all correct)", "<kbd>a</kbd>"):
        assert words in instruction
    silent = build(samples.project({"shortcuts": Shortcuts(enabled=False), "first_error": {"allow_no_error": False}}))
    assert "All steps correct" not in silent[0].instruction
    assert "<kbd>1</kbd>" not in silent[0].instruction


def test_no_key_is_different_for_each_option():
    assert len({fields.no_key(n) for n in range(3000)}) == 3000
