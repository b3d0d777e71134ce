"""The `trajectory_edit` scheme. Documentation and code of Potato agree on its nine keys."""

from potato_bridge.converters.potato.process_reward import read_required
from potato_bridge.converters.potato.section import Section
from potato_bridge.converters.potato.vocabulary import SCHEME_SILENT_KEYS, SCHEME_UNUSED_KEYS
from potato_bridge.model.trajectory_scheme import TrajectoryEdit


def read_trajectory_edit(section: Section, name: str) -> TrajectoryEdit:
    """Reads one scheme; `name` and `annotation_type` were read before."""
    step_text_key = section.text("step_text_key", "action")
    fields = section.texts("editable_fields")
    if section.values.get("editable_fields") == []:
        section.problem("editable_fields", "the list is empty", "Name at least one field, or leave the key out.")
    scheme = TrajectoryEdit(
        name=name,
        description=section.text("description", empty=True),
        steps_key=section.text("steps_key", "steps"),
        step_text_key=step_text_key,
        editable_fields=fields or [step_text_key],
        show_diff=section.flag("show_diff", True),
        show_edit_distance=section.flag("show_edit_distance", True),
        allow_reset=section.flag("allow_reset", True),
        require_reason_on_edit=section.flag("require_reason_on_edit", False),
        edit_final_answer=section.flag("edit_final_answer", False),
        final_answer_key=section.text("final_answer_key", "final_answer"),
        # Nothing has to be edited: only a config that says so wants an answer of everybody.
        required=read_required(section, False),
        line=section.document.line(section.path),
    )
    section.unread(known=SCHEME_UNUSED_KEYS, silent=SCHEME_SILENT_KEYS, what="trajectory_edit")
    return scheme
