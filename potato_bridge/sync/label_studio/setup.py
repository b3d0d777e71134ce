"""The project on the server: what of it has to change, and the change. What a team has set otherwise stays as it is."""

from collections.abc import Sequence
from typing import Any

from potato_bridge.converters.label_studio.interface import Interface
from potato_bridge.converters.label_studio.questions import hidden_data
from potato_bridge.converters.label_studio.task_list import task_list_view
from potato_bridge.errors import OutcomeUnknownError, RemoteError
from potato_bridge.model import Project
from potato_bridge.notices import Notices
from potato_bridge.remotes.base import RemoteProject
from potato_bridge.remotes.label_studio import LabelStudio
from potato_bridge.sync.label_studio.locate import is_marked, marked, project_marker, project_title
from potato_bridge.sync.ledger import Ledger
from potato_bridge.sync.plan import CreateProject, MarkProject, Operation, UpdateInstruction, UpdateInterface
from potato_bridge.sync.repeat import repeatable

_INSTRUCTION = "expert_instruction"


def project_operations(
    project: Project, interface: Interface, remote: LabelStudio, ledger: Ledger, there: RemoteProject | None
) -> list[Operation]:
    """What of the project (None: not there yet) is not as the config gives it."""
    if there is None:
        return [CreateProject(project_title(project))]
    found: list[Operation] = []
    # The server strips the label config.
    if there.label_config.strip() != interface.label_config.strip():
        found.append(UpdateInterface(there.project_id))
    # The server cleans the HTML of the instruction: compare with what it made of it.
    stored = ledger.stored_as(remote.url, there.project_id, _INSTRUCTION, interface.instruction)
    if there.instruction not in (interface.instruction, stored):
        found.append(UpdateInstruction(there.project_id))
    if not is_marked(there.description, project_marker(project)):
        found.append(MarkProject(there.project_id))
    return found


def update_project(
    project: Project,
    interface: Interface,
    remote: LabelStudio,
    ledger: Ledger,
    there: RemoteProject | None,
    operations: Sequence[Operation],
    notices: Notices,
    *,
    model_version: str = "",
) -> RemoteProject:
    """Carries out the operations on the project itself; what a team has set in it otherwise stays.

    A new project shows the pre-labels of `model_version`: set later, the server would take those of the last item.
    """
    if not operations:
        assert there is not None
        return there
    if there is None:
        result = _create_project(project, interface, remote, notices, model_version)
    else:
        fields: dict[str, Any] = {}
        for operation in operations:
            if isinstance(operation, UpdateInterface):
                fields["label_config"] = interface.label_config
            elif isinstance(operation, UpdateInstruction):
                fields[_INSTRUCTION] = interface.instruction
                if not there.instruction:
                    # Whoever had none has not chosen to hide it.
                    fields["show_instruction"] = True
            elif isinstance(operation, MarkProject):
                fields["description"] = marked(there.description, project_marker(project))
        try:
            result = repeatable(lambda: remote.update_project(there.project_id, fields))
        except OutcomeUnknownError:
            raise
        except RemoteError as error:
            if "label_config" not in fields:
                raise
            raise RemoteError(
                f"Label Studio refuses the changed interface; nothing was changed. {error.message}",
                hint="Answers there use controls or labels that the new interface does not have: put them back, or "
                "push to a project of its own (without --project, or with a copy of the config under another name).",
            ) from error
    ledger.set_stored(remote.url, result.project_id, _INSTRUCTION, interface.instruction, result.instruction)
    return result


def _create_project(
    project: Project, interface: Interface, remote: LabelStudio, notices: Notices, model_version: str
) -> RemoteProject:
    marker = project_marker(project)
    fields = {
        "title": project_title(project),
        "description": marked(
            f"Made by potato-bridge from {project.config.name}. It finds the project by the last line.", marker
        ),
        "label_config": interface.label_config,
        _INSTRUCTION: interface.instruction,
        "show_instruction": bool(interface.instruction),
        **({"show_collab_predictions": True, "model_version": model_version} if model_version else {}),
    }
    try:
        made = remote.create_project(fields)
    except OutcomeUnknownError:
        marks = (candidate for candidate in remote.projects() if is_marked(candidate.description, marker))
        found = next((whole for mark in marks if (whole := remote.project(mark.project_id)) is not None), None)
        if found is None:
            raise
        made = found
    # A server that refuses the view is still one to annotate on.
    try:
        remote.create_view(made.project_id, task_list_view(hides=hidden_data(project)))
    except RemoteError as error:
        notices.add(
            "no-task-list-view",
            "the list of tasks shows all columns, comes slowly, and may take away the pre-label of a task that is "
            f"opened by its address: hide the columns under Columns ({error.message})",
            f"project {made.project_id}",
        )
    return made
