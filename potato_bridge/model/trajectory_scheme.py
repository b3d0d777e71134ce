"""The scheme `trajectory_edit`: annotators rewrite the steps of a trace. Its keys and their defaults are Potato's."""

from typing import ClassVar

import msgspec

from potato_bridge.model.node import Node


class TrajectoryEdit(Node, tag_field="annotation_type", tag="trajectory_edit"):
    """Corrections of steps.

    Attributes:
        steps_key: The item field that holds the steps.
        step_text_key: The field that a step which is a bare text stands for.
        editable_fields: Fields of a step that get an editor, where the step has them. The reader of
            configs puts `[step_text_key]` where they say nothing.
        require_reason_on_edit: Whether an edited field needs a reason; the final answer never has one.
        final_answer_key: The item field with the final answer.
        required: Whether an answer without this scheme is incomplete.
        line: 1-based line of the scheme in the config.
    """

    type: ClassVar[str] = "trajectory_edit"

    name: str
    description: str = ""
    steps_key: str = "steps"
    step_text_key: str = "action"
    editable_fields: list[str] = msgspec.field(default_factory=lambda: ["action"])
    show_diff: bool = True
    show_edit_distance: bool = True
    allow_reset: bool = True
    require_reason_on_edit: bool = False
    edit_final_answer: bool = False
    final_answer_key: str = "final_answer"
    required: bool = False
    line: int | None = None
