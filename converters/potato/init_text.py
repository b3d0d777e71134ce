"""The texts of `config.yaml` and `potato-bridge.yaml` that `init` writes: commented, for people to edit."""

from collections.abc import Iterable

from potato_bridge.converters.potato.init_config import Draft
from potato_bridge.converters.potato.init_lines import block, flag, quoted, word
from potato_bridge.converters.potato.init_schemes import scheme_lines
from potato_bridge.model.project import TraceDisplay

#: The name of the settings file.
SETTINGS = "potato-bridge.yaml"
#: What `export` writes of a scheme when it is not told.
_TARGETS = {
    "process_reward": "prm",
    "code_review": "code_review",
    "trajectory_edit": "trajectory_correction",
}


def config_text(draft: Draft, data_file: str, task_dir: str = ".") -> str:
    """The config: commented YAML in the dialect of Potato's documentation, with its defaults.

    Args:
        draft: What it says.
        data_file: Path of the items, relative to `task_dir`.
        task_dir: Folder, relative to that of the config.
    """
    data = [f"  - {quoted(data_file)}"]
    if draft.encoding is not None:
        data = [f"  - path: {quoted(data_file)}", f"    encoding: {quoted(draft.encoding)}"]
    about = "the task: shown above the steps" if draft.steps_key is not None else "what the question is about"
    target = _TARGETS.get(draft.scheme)
    lines = [
        "# What annotators are asked about these items; written by `potato-bridge init`, and yours to change.",
        "# docs/configs.md of potato-bridge has every key. `potato-bridge check` reads it all and sends nothing.",
        f"annotation_task_name: {quoted(draft.name)}",
        *block(0, ("task_dir", quoted(task_dir), "all paths below start here; relative to this file")),
        "",
        "data_files:",
        *data,
        "",
        "item_properties:",
        *block(
            2,
            ("id_key", word(draft.id_key.value), "different in every item; records name the item by it"),
            ("text_key", word(draft.text_key.value), f"{about}, the prompt in exports"),
        ),
        "",
        "instance_display:",
        "  fields:",
        *_fields(draft),
        "",
        *block(0, ("output_annotation_dir", '"annotation_output"', "where pull writes records.jsonl")),
        *(
            block(0, ("export_annotation_format", quoted(target), "what export writes when it is not told"))
            if target
            else ()
        ),
        "",
        "annotation_schemes:",
        *scheme_lines(draft),
    ]
    return "\n".join(lines) + "\n"


def settings_text(config: str) -> str:
    """`potato-bridge.yaml` for a config beside it."""
    return f"""\
# What potato-bridge need not be told each time. Options and environment variables win over this file.
# A token never stands here: set LABEL_STUDIO_API_KEY.
config: {quoted(config)}

#notices: warn                            # what is lost on the way: ignore, warn or raise
#label_studio:
#  url: "http://localhost:8080"           # or set LABEL_STUDIO_URL
"""


def _fields(draft: Draft) -> Iterable[str]:
    yield f"    - key: {word(draft.text_key.value)}"
    yield "      type: text"
    yield f'      label: "{"Text" if draft.steps_key is None else "Task"}"'
    if draft.scheme == "span":
        yield from block(6, ("span_target", "true", "passages are marked in this text"))
    for key in draft.others:
        yield f"    # - {{key: {word(key)}, type: text}}"
    if draft.steps_key is not None and draft.display is not None:
        yield f"    - key: {word(draft.steps_key.value)}"
        yield f"      type: {draft.display.value}"
        yield '      label: "Agent session"'
        yield "      display_options:"
        yield from _display_options()


def _display_options() -> Iterable[str]:
    default = TraceDisplay()
    return block(
        8,
        ("diff_view", default.diff_view, "or split: before and after side by side"),
        ("terminal_theme", default.terminal_theme, "or light"),
        ("collapse_long_outputs", flag(default.collapse_long_outputs), "fold what is longer than this many lines:"),
        ("max_output_lines", str(default.max_output_lines), ""),
        ("show_file_tree", flag(default.show_file_tree), "the files that the agent read and changed"),
        ("show_step_numbers", flag(default.show_step_numbers), ""),
        ("show_reasoning", flag(default.show_reasoning), ""),
    )
