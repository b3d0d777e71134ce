from __future__ import annotations

import hashlib
import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from potato_bridge.converters.label_studio import fields
from potato_bridge.converters.label_studio.tasks import build_task
from potato_bridge.errors import InputError
from potato_bridge.model import Item, Trace
from potato_bridge.model.project import DisplayField, Shortcuts
from potato_bridge.model.trace import DocumentBlock, Edit, Hunk, RedactedReasoningBlock, Result, ToolCall, UnknownBlock
from potato_bridge.notices import Notices
from tests.converters.label_studio import samples
from tests.converters.label_studio.html_reading import Reading, read
from tests.strategies import DETERMINISTIC


def build(trace: Trace, scheme=None, display=None, item=None, project=None):
    notices = Notices()
    project = project or samples.project(scheme, display)
    task = build_task(project, item or samples.item(trace), trace, notices, load_image=lambda _: None)
    return task, [(n.code, n.count) for n in notices]


def options(trace, scheme=None, display=None):
    return build(trace, scheme, display)[0]["data"]["step_options"]


def card(step, scheme=None, display=None) -> Reading:
    """The card of one step."""
    return read(options(samples.trace([step]), scheme, display)[0]["html"])


def shell(output, **more):
    return samples.agent(samples.call("Bash", "shell", {"command": "ls -l"}, output, **more))


def lines(count: int) -> str:
    return "\n".join(f"line {n}" for n in range(1, count + 1))


def test_options_are_the_steps_the_turns_between_them_and_all_correct():
    made = options(samples.coding_trace())
    assert [option["value"] for option in made] == [
        *("turn_0", "turn_1", "step_0", "step_1", "step_2", "turn_5", "step_3", "step_4", "step_5", "step_6"),
        "all_correct",
    ]
    assert [option["value"] for option in made if option.get("readonly")] == ["turn_0", "turn_1", "turn_5"]
    assert "Step 1" in read(made[2]["html"]).text
    assert "Step 7" in read(made[9]["html"]).text


def test_keys():
    made = options(samples.trace([samples.turn("user", "go"), *[samples.agent(text=f"{n}") for n in range(12)]]))
    keys = {option["value"]: option["hotkey"] for option in made}
    assert {value: key for value, key in keys.items() if key.isascii()} == {
        **{f"step_{n}": str(n + 1) for n in range(9)},
        "all_correct": "a",
    }
    # Label Studio gives a key to every option that has none, the turns included.
    assert all(keys.values())
    assert len(set(keys.values())) == len(keys)
    off = options(samples.trace([samples.agent(text="x")]), {"shortcuts": Shortcuts(enabled=False)})
    assert not any(option["hotkey"].isascii() for option in off)
    assert "kbd" not in off[0]["html"] + off[1]["html"]


def test_without_all_correct():
    made = options(samples.trace([samples.agent(text="x")]), {"first_error": {"allow_no_error": False}})
    assert [option["value"] for option in made] == ["step_0"]


def test_identity_and_hashes():
    task, _ = build(samples.coding_trace())
    data, meta = task["data"], task["meta"]["potato_bridge"]

    def sha(value):
        text = json.dumps(value, ensure_ascii=False, sort_keys=True, separators=(",", ":"))
        return hashlib.sha256(text.encode()).hexdigest()

    assert data["potato_bridge_id"] == "trace_042"
    assert meta == {
        "id": "trace_042",
        "hash": sha(data),
        "steps_hash": f"step_options:{sha(data['step_options'])[:16]}",
        "total_steps": 7,
        "schema": 1,
    }
    assert list(data) == ["potato_bridge_id", "task", "task_html", "files_html", "step_options"]
    other = samples.coding_trace()
    other.task.text = "Another task"
    changed = build(other)[0]["meta"]["potato_bridge"]
    assert changed["hash"] != meta["hash"]
    assert changed["steps_hash"] == meta["steps_hash"]


def test_the_task_and_the_other_texts_of_the_display():
    project = samples.project()
    project.fields += [
        DisplayField(key="task_description", label="Issue"),
        DisplayField(key="repo", label="Repository"),
        DisplayField(key="hints", type="text"),
        DisplayField(key="empty"),
    ]
    trace = samples.trace([samples.agent(text="x")], task="Fix <it>")
    item = Item(id="t", data={"repo": "a/b", "hints": ["x", {"y": 1}], "empty": ""}, file="f")
    text = read(build(trace, item=item, project=project)[0]["data"]["task_html"]).text
    assert text == 'IssueFix <it>Repositorya/bhints[\n  "x",\n  {\n    "y": 1\n  }\n]'


def test_files_with_their_change_and_their_steps():
    html = build(samples.coding_trace())[0]["data"]["files_html"]
    assert read(html).text == (
        "Files changed (4)"
        "~src/parser.pymodified+4−2step 3"
        "~tests/test_parser.pymodified+1−1step 4"
        "+NOTES.mdadded+3step 4"
        "−src/old_parser.pydeletedstep 5"
    )
    assert {"pb-added", "pb-modified", "pb-deleted"} <= read(html).classes()


def edited(*edits: Edit, is_error=None):
    calls = [ToolCall(call_id=str(n), name="E", family="edit", edits=[e]) for n, e in enumerate(edits)]
    for made in calls:
        made.result = Result(text="", is_error=is_error)
    return build(samples.trace([samples.agent(*calls)]))[0]["data"]["files_html"]


@pytest.mark.parametrize(
    ("edits", "shown"),
    [
        ([Edit(path="a", op="create"), Edit(path="a", op="modify")], "+aaddedstep 1"),
        ([Edit(path="a", op="modify"), Edit(path="a", op="delete")], "−adeletedstep 1"),
        ([Edit(path="a", op="delete"), Edit(path="a", op="create")], "~amodifiedstep 1"),
        ([Edit(path="b", op="rename", old_path="a")], "→a → brenamedstep 1"),
        ([Edit(path="a", op="create"), Edit(path="b", op="rename", old_path="a")], "+a → baddedstep 1"),
        ([Edit(path="a", op="unknown")], "~amodifiedstep 1"),
    ],
)
def test_changes_of_one_file(edits, shown):
    assert read(edited(*edits)).text == "Files changed (1)" + shown


def test_edits_without_effect_touch_no_file():
    assert read(edited(Edit(path="a", op="modify", applied=False))).text == "No files changed"
    assert read(edited(Edit(path="a", op="modify"), is_error=True)).text == "No files changed"


def test_a_terminal_with_its_command_and_exit_code():
    made = card(shell("total 0", exit_code=1))
    assert made.text == "Step 11TerminalBashexit 1ls -ltotal 0"
    assert {"pb-terminal", "pb-command", "pb-bad", "pb-f-shell"} <= made.classes()
    assert "pb-good" in card(shell("total 0", exit_code=0)).classes()
    assert "pb-badge" not in card(shell("total 0")).classes()


@pytest.mark.parametrize(
    ("output", "shown"), [(None, "No result was recorded."), ("", "ls -l"), ("\x1b[1mbold\x1b[0m\r\nx", "bold\nx")]
)
def test_results_of_a_terminal(output, shown):
    assert card(shell(output)).text.endswith(shown)


def test_errors():
    call = samples.call("Grep", "search", {"pattern": "x", "path": "src"}, "boom", is_error=True)
    assert card(samples.agent(call)).text == "Step 11SearchGreperrorxpath=srcboom"
    call.result = Result(text="boom", is_error=False, error_kind="timeout", truncated=True)
    assert "cut by the agent" in card(samples.agent(call)).text


def test_arguments_that_are_long_or_no_object():
    call = samples.call("Ask", "other", {"question": "a\nb", "choices": [1, 2]}, "")
    assert "question:\na\nbchoices".replace("b", "b\n", 1) in card(samples.agent(call)).text
    raw = ToolCall(call_id="1", name="x", arguments_raw='{"a": ', result=Result(text="y"))
    assert "arguments, not JSON" in card(samples.agent(raw)).text


DIFF = [" def f():", "-    return 1", "+    return 2", "+    # done"]


def test_a_unified_diff_with_numbers():
    made = card(samples.agent(samples.edit_call("a.py", DIFF, start=7)))
    rows = [(a["class"], a["data-o"], a["data-n"]) for tag, a in made.elements if "data-n" in a]
    assert rows == [
        ("pb-r pb-rc", "7", "7"),
        ("pb-r pb-rd", "8", ""),
        ("pb-r pb-ra", "", "8"),
        ("pb-r pb-ra", "", "9"),
    ]
    assert " def f():-    return 1+    return 2+    # done" in made.text


def test_a_diff_side_by_side():
    made = card(samples.agent(samples.edit_call("a.py", DIFF, start=None)), display={"diff_view": "split"})
    cells = [a["class"] for tag, a in made.elements if tag == "td"]
    assert cells == ["pb-r pb-rc", "pb-r pb-rc", "pb-r pb-rd", "pb-r pb-ra", "pb-r pb-none", "pb-r pb-ra"]
    new_file = card(samples.agent(samples.edit_call("a.py", ["+x"], "create")), display={"diff_view": "split"})
    assert "table" not in {tag for tag, _ in new_file.elements}


def test_a_diff_that_is_an_output():
    text = "--- a/x\n+++ b/x\n@@ -1,2 +1,2 @@\n--- a comment of SQL\n+x\n same"
    call = samples.call("git", "other", {}, text, output_type="diff")
    made = card(samples.agent(call))
    assert [a["class"] for _, a in made.elements if (a.get("class") or "").startswith("pb-r ")] == [
        *("pb-r pb-rn", "pb-r pb-rn", "pb-r pb-rh", "pb-r pb-rd", "pb-r pb-ra", "pb-r pb-rc"),
    ]


def test_long_outputs_fold_after_the_lines_of_the_config():
    made = card(shell(lines(20)), display={"max_output_lines": 5})
    assert "15 more lines" in made.text
    assert all(f"line {n}" in made.text for n in range(1, 21))
    assert "more lines" not in card(shell(lines(20))).text
    flat = card(shell(lines(200)), display={"collapse_long_outputs": False})
    assert "more lines" not in flat.text


def test_a_giant_output_is_cut_in_the_middle_and_said():
    task, notices = build(samples.trace([shell(lines(5000))]))
    text = read(task["data"]["step_options"][0]["html"]).text
    assert "line 1\n" in text
    assert text.rstrip("\n").endswith("line 5000")
    assert "line 2500\n" not in text
    assert "… 3,000 lines are not shown …" in text
    assert notices == [("output-cut", 1)]
    long_line, _ = build(samples.trace([shell("x" * 100_000)]))
    assert "… 40,000 characters are not shown …" in read(long_line["data"]["step_options"][0]["html"]).text
    assert len(json.dumps(build(samples.long_trace(300, 1000))[0])) < 3_500_000


def test_a_diff_of_many_lines_is_cut():
    lines_of_it = [f"+line {n}" for n in range(2000)]
    task, notices = build(samples.trace([samples.agent(samples.edit_call("a", lines_of_it))]))
    html = task["data"]["step_options"][0]["html"]
    assert "… 500 more lines are not shown" in html
    assert "1,450 more lines" in html
    assert notices == [("output-cut", 1)]


def test_reasoning_and_numbers_can_be_left_out():
    step = samples.agent(text="said", reasoning="thought")
    step.blocks.append(RedactedReasoningBlock(data="xyz"))
    shown = card(step).text
    assert "thought" in shown
    assert "The provider encrypted this reasoning." in shown
    assert "xyz" not in shown
    assert card(step, display={"show_reasoning": False, "show_step_numbers": False}).text == "1said"


def test_titles_alone_with_the_trace_above():
    task, _ = build(samples.coding_trace(), {"first_error": {"show_step_content": False}})
    data = task["data"]
    assert read(data["step_options"][2]["html"]).text == "Step 1I'll run the failing test first.1"
    assert read(data["step_options"][7]["html"]).text == "Step 5Bash5"
    trace = read(data["trace_html"]).text
    assert "collected 14 items" in trace
    assert "You are a coding agent." in trace
    assert "collected 14 items" not in "".join(option["html"] for option in data["step_options"])


def test_other_blocks_are_named():
    step = samples.agent(text="x")
    step.blocks += [DocumentBlock(title="spec.pdf"), UnknownBlock(raw={"type": "video"})]
    text = card(step).text
    assert "Attached document: spec.pdf" in text
    assert '"type": "video"' in text


def test_observations_and_sub_agents():
    call = samples.call("Task", "agent", {"description": "look around"}, "found it")
    call.child_trace_id = "child"
    step = samples.agent(call, text="x")
    step.observations = [Result(text="seen")]
    trace = samples.trace([step])
    trace.children = [samples.trace([samples.agent(text="inside")], trace_id="child")]
    text = read(options(trace)[0]["html"]).text
    assert text == "Step 11xAgentTasklook aroundfound itSub-agent: 1 stepsAgentinsideObservationseen"


def test_an_item_with_no_step_to_rate():
    task, notices = build(samples.trace([samples.turn("user", "hi")]))
    assert notices == [("no-steps", 1)]
    assert task["meta"]["potato_bridge"]["total_steps"] == 0


def test_an_id_that_cannot_be_stored():
    trace = samples.trace([], trace_id="a\ud800")
    with pytest.raises(InputError, match="cannot store the id"):
        build(trace)


def everything(task) -> list[str]:
    data = task["data"]
    html = [data[key] for key in ("task_html", "files_html", "trace_html") if key in data]
    return [*html, *(option["html"] for option in data["step_options"])]


@pytest.mark.parametrize("display", [{}, {"diff_view": "split", "max_output_lines": 1}])
@pytest.mark.parametrize("content", [True, False])
def test_a_hostile_trace_is_only_text(display, content):
    task, _ = build(samples.hostile_trace(), {"first_error": {"show_step_content": content}}, display)
    for html in everything(task):
        read(html)
        assert "<script" not in html
        assert "\0" not in html
    json.dumps(task, ensure_ascii=False).encode("utf-8")


ANY_TEXT = st.text(st.characters(exclude_categories=()), max_size=40) | st.sampled_from(
    [samples.HOSTILE, "<b>", '"', "'>"]
)


@DETERMINISTIC
@given(ANY_TEXT, ANY_TEXT, st.booleans())
def test_no_text_gets_out_of_its_place(text, other, split):
    call = samples.call(text, "other", {text: other}, other, language=text, is_error=True)
    call.edits = [
        Edit(path=text, old_path=other, op="rename", hunks=[Hunk(lines=["-" + text, "+" + other], section=text)])
    ]
    step = samples.agent(call, shell_call(text, other), text=text, reasoning=other)
    step.observations = [Result(text=other)]
    trace = samples.trace([samples.turn("user", text), step], task=text)
    trace.steps[0].role = other
    task, _ = build(trace, display={"diff_view": "split" if split else "unified"})
    for html in everything(task):
        read(html)
    # What one server cannot store would make it fail for the whole project.
    json.dumps(task, ensure_ascii=False).encode("utf-8")
    assert "\0" not in json.dumps(task, ensure_ascii=False)


def shell_call(command, output):
    return samples.call("Bash", "shell", {"command": command}, output, exit_code=1)


def test_step_values():
    assert fields.parse_step("step_0") == 0
    assert fields.parse_step("step_12") == 12
    for value in ("step_", "step_01", "step_-1", "step_1 ", "step_１", "turn_1", "step_99999999999", 1, None):
        assert fields.parse_step(value) is None
