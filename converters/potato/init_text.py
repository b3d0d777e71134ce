"""The texts of `config.yaml` and `potato-bridge.yaml` that `init` writes: commented, for people to edit."""

import re
from collections.abc import Iterable

import yaml

from potato_bridge.converters.potato.init_config import Draft, Mode
from potato_bridge.model.project import FirstErrorOptions, TraceDisplay

_DESCRIPTIONS: dict[Mode, str] = {
    "first_error": "Click the first step where the agent made a mistake",
    "per_step": "Rate each step of the agent",
}
_PLAIN = re.compile(r"[A-Za-z_][A-Za-z0-9_-]*")
#: Column of the comments.
_COMMENTS = 43
_OTHER_MODE: dict[Mode, str] = {
    "first_error": "or per_step: every step gets a label",
    "per_step": "or first_error: one click, on the first wrong step",
}


def config_text(draft: Draft, data_file: str, task_dir: str = ".") -> str:
    """The config: commented YAML in the dialect of Potato's documentation, with its defaults.

    Args:
        draft: What it says.
        data_file: Path of the items, relative to `task_dir`.
        task_dir: Folder, relative to that of the config.
    """
    id_key, text_key, steps_key = (_word(key.value) for key in (draft.id_key, draft.text_key, draft.steps_key))
    data = [f"  - {_quoted(data_file)}"]
    if draft.encoding is not None:
        data = [f"  - path: {_quoted(data_file)}", f"    encoding: {_quoted(draft.encoding)}"]
    mode = _first_error() if draft.mode == "first_error" else _per_step()
    lines = [
        "# What annotators are asked about these traces; written by `potato-bridge init`, and yours to change.",
        "# docs/configs.md of potato-bridge has every key. `potato-bridge check` reads it all and sends nothing.",
        f"annotation_task_name: {_quoted(draft.name)}",
        *_block(0, ("task_dir", _quoted(task_dir), "all paths below start here; relative to this file")),
        "",
        "data_files:",
        *data,
        "",
        "item_properties:",
        *_block(
            2,
            ("id_key", id_key, "different in every item; records name the item by it"),
            ("text_key", text_key, "the task: shown above the steps, the prompt in exports"),
        ),
        "",
        "instance_display:",
        "  fields:",
        f"    - key: {text_key}",
        "      type: text",
        '      label: "Task"',
        f"    - key: {steps_key}",
        f"      type: {draft.display.value}",
        '      label: "Agent session"',
        "      display_options:",
        *_display_options(),
        "",
        *_block(0, ("output_annotation_dir", '"annotation_output"', "where pull writes records.jsonl")),
        *_block(0, ("export_annotation_format", '"prm"', "what export writes when it is not told")),
        "",
        "annotation_schemes:",
        "  - name: process_reward",
        "    annotation_type: process_reward",
        f"    description: {_quoted(_DESCRIPTIONS[draft.mode])}",
        *_block(
            4,
            ("steps_key", steps_key, "the list whose entries are rated"),
            ("mode", draft.mode, _OTHER_MODE[draft.mode]),
        ),
        "",
        *mode,
    ]
    return "\n".join(lines) + "\n"


def settings_text(config: str) -> str:
    """`potato-bridge.yaml` for a config beside it."""
    return f"""\
# What potato-bridge need not be told each time. Options and environment variables win over this file.
# A token never stands here: set LABEL_STUDIO_API_KEY.
config: {_quoted(config)}

#notices: warn                            # what is lost on the way: ignore, warn or raise
#label_studio:
#  url: "http://localhost:8080"           # or set LABEL_STUDIO_URL
"""


def _quoted(text: str) -> str:
    """A YAML text in double quotes, on one line."""
    dumped: str = yaml.safe_dump(text, default_style='"', allow_unicode=True, width=2**31)
    return dumped.strip()


def _word(key: str) -> str:
    """A key of an item: bare where YAML takes it as the same text."""
    return key if _PLAIN.fullmatch(key) and yaml.safe_load(key) == key else _quoted(key)


def _block(indent: int, *entries: tuple[str, str, str]) -> Iterable[str]:
    """Lines of `key: value  # comment`, the comments one below the other."""
    for key, value, comment in entries:
        line = f"{' ' * indent}{key}: {value}"
        yield f"{line:<{_COMMENTS}} # {comment}" if comment else line


def _flag(value: bool) -> str:
    return "true" if value else "false"


def _display_options() -> Iterable[str]:
    default = TraceDisplay()
    return _block(
        8,
        ("diff_view", default.diff_view, "or split: before and after side by side"),
        ("terminal_theme", default.terminal_theme, "or light"),
        ("collapse_long_outputs", _flag(default.collapse_long_outputs), "fold what is longer than this many lines:"),
        ("max_output_lines", str(default.max_output_lines), ""),
        ("show_file_tree", _flag(default.show_file_tree), "the files that the agent read and changed"),
        ("show_step_numbers", _flag(default.show_step_numbers), ""),
        ("show_reasoning", _flag(default.show_reasoning), ""),
    )


def _first_error() -> Iterable[str]:
    default = FirstErrorOptions()
    yield "    first_error:"
    yield from _block(
        6,
        ("correct_color", _quoted(default.correct_color), "steps before the first error"),
        ("error_color", _quoted(default.error_color), "the first error"),
        ("downstream_color", _quoted(default.downstream_color), "steps after it"),
        ("unmarked_color", _quoted(default.unmarked_color), "nothing chosen yet"),
        ("require_confirmation", _flag(default.require_confirmation), "ask before a mark is set, where the tool can"),
        ("allow_no_error", _flag(default.allow_no_error), "offer “All steps correct”"),
        ("show_step_content", _flag(default.show_step_content), "show the steps' texts where they are marked"),
    )
    yield "      labels:"
    yield from _block(
        8,
        ("correct", _quoted(default.labels.correct), ""),
        ("first_error", _quoted(default.labels.first_error), ""),
        ("downstream", _quoted(default.labels.downstream), ""),
        ("all_correct", _quoted(default.labels.all_correct), ""),
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
