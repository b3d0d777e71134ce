"""The builder: which call a result belongs to, and ids that come twice."""

from potato_bridge.converters.traces.build import Builder, total_usage
from potato_bridge.model.trace import Result, Usage
from tests.converters.traces.helpers import calls_of, check_counts, source_of


def builder() -> Builder:
    return Builder(source_of(b""), "made")


def test_a_result_belongs_to_the_latest_unanswered_call_of_its_id() -> None:
    made = builder()
    first, second = made.step("agent", "a"), made.step("agent", "b")
    made.call(first, {"id": "1", "name": "x", "input": {}})
    made.call(second, {"id": "1", "name": "y", "input": {}})
    made.result("1", Result(text="for y"))
    made.result("1", Result(text="for x"))
    assert calls_of(first) == [("x", "for x")] and calls_of(second) == [("y", "for y")]
    assert second.tool_calls[0].call_id == "b#0" and second.tool_calls[0].id_origin == "synthesised"
    assert [(loss.code, loss.where) for loss in made.trace.source.losses] == [("reused-call-id", "1")]
    check_counts(made.finish("run"))


def test_a_result_before_its_call_finds_it() -> None:
    made = builder()
    assert made.result("1", Result(text="early")) is None
    step = made.step("agent", "a")
    made.call(step, {"id": "1", "name": "x", "input": {}})
    trace = made.finish("run")
    assert calls_of(step) == [("x", "early")]
    assert [one.step_id for one in trace.steps] == ["a"] and step.index == 0
    assert [loss.code for loss in trace.source.losses] == ["unpaired-result", "result-before-call"]


def test_a_result_without_a_call_stands_by_itself() -> None:
    made = builder()
    made.result("9", Result(text="lost"))
    [step] = made.finish("run").steps
    assert (step.kind, step.flags.ratable, [one.text for one in step.observations]) == ("environment", False, ["lost"])


def test_results_without_ids_go_to_calls_in_their_order() -> None:
    made = builder()
    step = made.step("agent")
    for name in ("x", "y"):
        made.call(step, {"name": name, "input": {}})
    made.result(None, Result(text="1"))
    made.result(None, Result(text="2"))
    assert calls_of(step) == [("x", "1"), ("y", "2")]
    assert {call.result.paired_by for call in step.tool_calls if call.result} == {"order"}


def test_ids_of_steps_never_come_twice() -> None:
    made = builder()
    made.result("1", Result(text="early"))
    made.step("agent", "s1")
    # The place of the early result is given up, and with it a number of steps.
    made.call(made.trace.steps[1], {"id": "1", "name": "x", "input": {}})
    for _ in range(2):
        made.step("agent", "a")
        made.result("2", Result(text="early"))
        made.call(made.trace.steps[-2], {"id": "2", "name": "x", "input": {}})
    made.step("agent")
    made.step("agent", "a")
    trace = made.finish("run")
    check_counts(trace)
    assert [loss.where for loss in trace.source.losses if loss.code == "reused-step-id"] == ["a"]


def test_an_edit_takes_effect_where_its_result_says_so() -> None:
    made = builder()
    step = made.step("agent")
    for call_id, failed in (("1", False), ("2", True), ("3", None)):
        arguments = {"file_path": "a.py", "old_string": "x", "new_string": "y"}
        made.call(step, {"id": call_id, "name": "Edit", "input": arguments})
        made.result(call_id, Result(text="", is_error=failed))
    assert [call.edits[0].applied for call in step.tool_calls] == [True, False, None]


def test_ids_of_runs() -> None:
    def made(native: str | None, *distinct: str, unique: bool = False) -> str:
        return builder().finish(native, *distinct, unique=unique).trace_id

    assert made("session", unique=True) == "session"
    assert made("repo-1", "model a") != made("repo-1", "model b")
    assert made("repo-1", "model a") == made("repo-1", "model a")
    assert made("repo-1", "model a").startswith("repo-1-")
    assert made(None, "x").startswith("made-")


def test_the_task_is_what_a_user_said_first() -> None:
    made = builder()
    made.step("user").flags.meta = True
    step = made.step("user")
    assert made.finish("a").task.text is None
    from potato_bridge.model.trace import TextBlock

    step.blocks = [TextBlock(text="Fix it")]
    task = made.finish("a").task
    assert (task.text, task.text_origin) == ("Fix it", "first user message")


def test_a_sum_of_what_is_unknown_is_unknown() -> None:
    total = total_usage([Usage(input=1), Usage(input=2, output=0)])
    assert (total.input, total.output, total.cache_read) == (3, 0, None)
