from __future__ import annotations

from pathlib import Path

import pytest

from potato_bridge.converters.label_studio.interface import build_interface
from potato_bridge.converters.label_studio.templates import PAGE
from potato_bridge.errors import InputError
from potato_bridge.notices import Notices
from tests.converters.label_studio import samples

PACKAGED = Path(__file__).resolve().parents[3] / "label_configs" / "label_studio" / PAGE
CHOICES = '<Choices name="{{ q.control }}" toName="task" choice="single-radio" value="$step_options" required="true"/>'
TASK = '<HyperText name="task" value="$task_html" valueType="text" inline="true"/>'


@pytest.fixture
def build(tmp_path):
    def make(text: str):
        path = tmp_path / "team.xml.j2"
        path.write_text(text, encoding="utf-8")
        return build_interface(samples.project(), Notices(), path)

    return make


def problems(caught):
    """What each problem says, with the name of the file in place of its path."""
    return [(Path(problem.file).name, problem.line, problem.message, problem.hint) for problem in caught.value.problems]


def test_a_copy_of_the_packaged_template_gives_the_same(build):
    ours = build_interface(samples.project(), Notices())
    assert build(PACKAGED.read_text(encoding="utf-8")) == ours


def test_a_team_adds_controls_of_its_own(build):
    own = (
        '<TextArea name="why" toName="task" rows="3"/>'
        '<Repeater on="$step_options" indexFlag="{{ "{{idx}}" }}">'
        '<Rating name="{{ "r_{{idx}}" }}" toName="task"/></Repeater>'
    )
    interface = build(f"<View>{TASK}{CHOICES}{own}</View>")
    assert interface.controls == {"process_reward", "why", "r_{{idx}}"}
    assert "r_12" in interface.controls
    assert "r_x" not in interface.controls


def test_text_of_variables_is_escaped(build):
    project = samples.project({"description": "<b> & 'x'"})
    assert "&lt;b&gt; &amp; &#39;x&#39;" in build_interface(project, Notices(), PACKAGED).label_config


@pytest.mark.parametrize(
    ("text", "line", "message", "hint"),
    [
        (
            "<View>\n{% if %}\n</View>",
            2,
            "not a Jinja template: Expected an expression, got 'end of statement block'",
            "",
        ),
        (
            "<View>\n\n{{ colour }}\n</View>",
            3,
            "the template fails: 'colour' is undefined",
            "The variables are: display, patterns, q, questions,",
        ),
        (
            "<View>\n{% include '/etc/passwd' %}</View>",
            2,
            "cannot include '/etc/passwd'",
            "cards.html.j2",
        ),
        ("<View>\n{% include '../x' %}</View>", 2, "cannot include '../x'", "and no others"),
        (
            "<View>\n{{ control.__class__.__mro__ }}</View>",
            2,
            "the template fails: access to attribute '__class__'",
            "",
        ),
        ("<View>\n{{ 1 // 0 }}</View>", 2, "the template fails: ZeroDivisionError", ""),
    ],
)
def test_templates_that_fail(build, text, line, message, hint):
    with pytest.raises(InputError, match="cannot be used") as caught:
        build(text)
    [(file, at, said, cure)] = problems(caught)
    assert (file, at) == ("team.xml.j2", line)
    assert said.startswith(message)
    assert hint in cure


def test_a_template_that_is_not_there(tmp_path):
    with pytest.raises(InputError, match=r"cannot read the template .*none.j2: No such file"):
        build_interface(samples.project(), Notices(), tmp_path / "none.j2")


def test_a_template_that_is_no_text(tmp_path):
    (tmp_path / "t.j2").write_bytes(b"<View>\xff</View>")
    with pytest.raises(InputError, match="not UTF-8 text"):
        build_interface(samples.project(), Notices(), tmp_path / "t.j2")


@pytest.mark.parametrize(
    ("text", "line", "message"),
    [
        (f"<View>\n{TASK}\n<View>\n{CHOICES}\n</View>", 5, "not well-formed XML: no element found (column 8)"),
        (
            f"<View>\n{TASK}\n<Header value='a & b'/>\n{CHOICES}</View>",
            3,
            "not well-formed XML: not well-formed (invalid token) (column 19)",
        ),
        (
            f"<!DOCTYPE x [<!ENTITY a 'b'>]>\n<View>{TASK}{CHOICES}</View>",
            1,
            "a document type (<!DOCTYPE …>) is not allowed here",
        ),
        ("", 1, "not well-formed XML: no element found (column 1)"),
    ],
)
def test_what_is_no_xml(build, text, line, message):
    with pytest.raises(InputError, match="not a label config") as caught:
        build(text)
    assert [(file, at, said) for file, at, said, _ in problems(caught)] == [("team.xml.j2", line, message)]


def test_lines_are_those_of_the_template_also_after_an_include(build):
    with pytest.raises(InputError) as caught:
        build(
            '<View><Style>\n{% include "first_error.css.j2" %}\n</Style>\n'
            '{# a\ncomment #}\n<Chioces name="x"/>\n</View>'
        )
    assert ("team.xml.j2", 6, "Label Studio has no tag <Chioces>", "Did you mean <Choices>?") in problems(caught)


def test_everything_wrong_is_said_at_once(build):
    text = f"""<View>
  <ReactCode name="r" toName="task"/>
  <Frobnicate/>
  {TASK}
  <TextArea name="task" toName="task"/>
  <TextArea name="why" toName="tsak"/>
  <Rating name="stars"/>
  <Rating toName="task"/>
  <Choices name="process_reward" toName="task" choice="multiple" value="$steps"/>
</View>"""
    with pytest.raises(InputError, match="could not show this label config") as caught:
        build(text)
    assert problems(caught) == [
        (
            "team.xml.j2",
            2,
            "Label Studio has no tag <ReactCode>",
            "Only Label Studio Enterprise and Starter Cloud have it.",
        ),
        ("team.xml.j2", 3, "Label Studio has no tag <Frobnicate>", "Leave it out, or use one of the documented tags."),
        ("team.xml.j2", 5, "the name 'task' is taken: line 4", "Choose another."),
        ("team.xml.j2", 8, "<Rating> has no name", 'Add name="…".'),
        ("team.xml.j2", 6, "toName='tsak' is the name of no object tag", "Did you mean 'task'?"),
        ("team.xml.j2", 7, "<Rating> has no toName", 'Add toName="task" for the whole task.'),
        (
            "team.xml.j2",
            9,
            "'process_reward' has choice='multiple'",
            'Write choice="single-radio": one step is the first error.',
        ),
        (
            "team.xml.j2",
            9,
            "'process_reward' has value='$steps'",
            'Write value="$step_options": the steps come from each task.',
        ),
        ("team.xml.j2", 9, "'process_reward' has no required", 'Write required="true": the scheme requires an answer.'),
    ]


def test_the_question_must_stay(build):
    with pytest.raises(InputError) as caught:
        build(f"<View>{TASK}</View>")
    assert problems(caught)[0][2] == "the control 'process_reward' of the scheme is missing"
    with pytest.raises(InputError) as caught:
        build(f'<View>{TASK}<Rating name="process_reward" toName="task"/></View>')
    assert problems(caught)[0][2] == "'process_reward' is a <Rating>, not <Choices>"
