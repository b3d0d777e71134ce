"""The schemes that `init` writes: each works as it is, with the defaults of Potato's documentation."""

from collections.abc import Callable, Iterable
from typing import Final

from potato_bridge.converters.potato.init_config import Draft, Mode
from potato_bridge.converters.potato.init_lines import block, flag, quoted, word
from potato_bridge.model.project import FirstErrorOptions

_DESCRIPTIONS: Final[dict[Mode, str]] = {
    "first_error": "Click the first step where the agent made a mistake",
    "per_step": "Rate each step of the agent",
}
_OTHER_MODE: Final[dict[Mode, str]] = {
    "first_error": "or per_step: every step gets a label",
    "per_step": "or first_error: one click, on the first wrong step",
}
#: General type → name of the scheme, its question, labels where none are given.
_GENERAL: Final[dict[str, tuple[str, str, tuple[str, ...]]]] = {
    "radio": ("judgement", "Which of these fits?", ("good", "bad")),
    "multiselect": ("tags", "Which of these fit?", ("good", "bad")),
    "likert": ("rating", "How good is it?", ()),
    "text": ("remarks", "What do you think of it?", ()),
    "span": ("spans", "Mark the passages", ("good", "bad")),
    "pairwise": ("preference", "Which of the two is better?", ()),
}


def scheme_lines(draft: Draft) -> Iterable[str]:
    """The entries below `annotation_schemes`."""
    return _WRITERS.get(draft.scheme, _general)(draft)


def _head(name: str, kind: str, description: str) -> Iterable[str]:
    yield from block(2, ("- name", name, "records and exports name it"))
    yield f"    annotation_type: {kind}"
    yield f"    description: {quoted(description)}"


def _process_reward(draft: Draft) -> Iterable[str]:
    assert draft.steps_key is not None
    yield "  - name: process_reward"
    yield "    annotation_type: process_reward"
    yield f"    description: {quoted(_DESCRIPTIONS[draft.mode])}"
    yield from block(
        4,
        ("steps_key", word(draft.steps_key.value), "the list whose entries are rated"),
        ("mode", draft.mode, _OTHER_MODE[draft.mode]),
    )
    yield ""
    yield from _first_error() if draft.mode == "first_error" else _per_step()


def _code_review(draft: Draft) -> Iterable[str]:
    yield from _head("review", "code_review", "Review the agent's code changes")
    yield from block(
        4,
        ("comment_categories", "", "every comment has one"),
    )
    yield "      [bug, logic, security, performance, style, suggestion, question, praise]"
    yield from block(
        4,
        ("severity_levels", "[info, minor, major, critical]", "a comment may have one"),
        ("allow_suggestions", "true", "code in place of the lines"),
        ("file_rating_dimensions", "[correctness, quality]", "stars for each file; [] asks for none"),
        ("verdict_options", "[approve, request_changes, comment_only]", ""),
    )
    yield ""
    yield from _head("summary", "text", "Summarize your review")
    yield "    rows: 4"


def _trajectory_edit(draft: Draft) -> Iterable[str]:
    assert draft.steps_key is not None and draft.step_text_key is not None
    edited, final = word(draft.step_text_key.value), draft.final_answer_key
    yield from _head("corrected_trajectory", "trajectory_edit", "Fix any wrong steps, then correct the final answer")
    yield from block(
        4,
        ("steps_key", word(draft.steps_key.value), "the list of steps"),
        ("step_text_key", edited, "what is corrected in a step"),
        ("editable_fields", f"[{edited}]", "add others, each gets a box: [thought, action]"),
        ("require_reason_on_edit", "false", "ask why, for every edit"),
        ("edit_final_answer", flag(final is not None), "a box for what came out in the end"),
    )
    name = "final_answer" if final is None else word(final.value)
    yield from block(4, ("final_answer_key" if final else "# final_answer_key", name, "the field that it stands in"))


def _general(draft: Draft) -> Iterable[str]:
    name, question, placeholder = _GENERAL[draft.scheme]
    yield from _head(name, draft.scheme, question)
    yield from block(4, ("required", "true", "an answer without it is not complete"))
    if draft.pair_key is not None:
        yield from block(
            4,
            ("items_key", word(draft.pair_key.value), "the two texts"),
            ("allow_tie", "true", "offer “No preference”"),
        )
    labels = draft.labels or placeholder
    if labels:
        yield from block(4, ("labels", "", "" if draft.labels else "yours: write the words that can be chosen"))
        yield from (f"      - {word(label)}" for label in labels)
    elif draft.scheme == "likert":
        yield from block(4, ("size", "5", "points, from 1"))
        yield from ('    min_label: "Very bad"', '    max_label: "Very good"')
    elif draft.scheme == "text":
        yield from block(4, ("rows", "3", "height of the box"))
    elif draft.scheme == "pairwise":
        yield '    # labels: ["Left", "Right"]             # what the two are called; A and B else'


def _first_error() -> Iterable[str]:
    default = FirstErrorOptions()
    yield "    first_error:"
    yield from block(
        6,
        ("correct_color", quoted(default.correct_color), "steps before the first error"),
        ("error_color", quoted(default.error_color), "the first error"),
        ("downstream_color", quoted(default.downstream_color), "steps after it"),
        ("unmarked_color", quoted(default.unmarked_color), "nothing chosen yet"),
        ("require_confirmation", flag(default.require_confirmation), "ask before a mark is set, where the tool can"),
        ("allow_no_error", flag(default.allow_no_error), "offer “All steps correct”"),
        ("show_step_content", flag(default.show_step_content), "show the steps' texts where they are marked"),
    )
    yield "      labels:"
    yield from block(
        8,
        ("correct", quoted(default.labels.correct), ""),
        ("first_error", quoted(default.labels.first_error), ""),
        ("downstream", quoted(default.labels.downstream), ""),
        ("all_correct", quoted(default.labels.all_correct), ""),
    )


def _per_step() -> Iterable[str]:
    return """\
    per_step:
      labels:                               # value is stored, display is shown, score is the reward
        - {value: correct, display: "Correct", color: "#22c55e", score: 1.0}
        - {value: incorrect, display: "Incorrect", color: "#ef4444", score: -1.0}
        # - {value: partially_correct, display: "Partially Correct", color: "#eab308", score: 0.5}
        # - {value: unnecessary, display: "Unnecessary", color: "#f97316", score: -0.5}
        # - {value: recovery, display: "Recovery from Error", color: "#3b82f6", score: 0.25}
      error_categories:                     # asked for steps that are not correct
        enabled: false
        categories: []                      # e.g. ["Wrong tool selected", "Logic error", "Other"]
      require_all_steps: true               # an answer with an unrated step is not complete
      allow_notes: false                    # a text for each step
      show_running_score: false             # the sum so far

    keyboard_shortcuts:
      enabled: true
      correct: "1"
      incorrect: "2"
      next_step: "j"
      prev_step: "k"
""".splitlines()


_WRITERS: Final[dict[str, Callable[[Draft], Iterable[str]]]] = {
    "process_reward": _process_reward,
    "code_review": _code_review,
    "trajectory_edit": _trajectory_edit,
}
