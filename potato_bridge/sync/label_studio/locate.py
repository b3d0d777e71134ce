"""Which project on the server a config belongs to.

A user may name it, by its id or its title. Otherwise it is found again by the ledger, else by a line of its
description, `potato-bridge:<key>`. The key is made from the config's `annotation_task_name` and file name, so that a
colleague with the same config, and no ledger, finds the same project instead of making a second one.
"""

import hashlib

from potato_bridge.converters.potato.section import did_you_mean
from potato_bridge.errors import Problem, RemoteError
from potato_bridge.model import Project
from potato_bridge.notices import Notices
from potato_bridge.remotes.base import RemoteProject
from potato_bridge.remotes.label_studio import TITLE_LENGTH, LabelStudio
from potato_bridge.sync.backend import Located
from potato_bridge.sync.ledger import Ledger

_PREFIX = "potato-bridge:"
#: Digits of an id; more make a server fail, and are none.
_ID_DIGITS = 9


def project_marker(project: Project) -> str:
    """The line in the description that a project is found by."""
    key = hashlib.sha256(f"{project.name}\n{project.config.name}".encode("utf-8", "surrogatepass")).hexdigest()
    return f"{_PREFIX}{key[:16]}"


def marker_lines(description: str) -> list[str]:
    """The lines of a description that a config finds its project by, ours or another's."""
    return [line.strip() for line in description.splitlines() if line.strip().startswith(_PREFIX)]


def is_marked(description: str, marker: str) -> bool:
    """Whether a description has the line; people may have written around it."""
    return marker in marker_lines(description)


def marked(description: str, marker: str) -> str:
    """The description with the line at its end."""
    return f"{description.rstrip()}\n\n{marker}".strip()


def project_title(project: Project) -> str:
    """The project's name in the length that Label Studio takes."""
    shortest, longest = TITLE_LENGTH
    title = " ".join(project.name.split())
    if len(title) < shortest:
        title = f"{title} (potato-bridge)".strip()
    return title if len(title) <= longest else f"{title[: longest - 1]}…"


def named_project(remote: LabelStudio, name: int | str) -> RemoteProject:
    """The project with this id, else with this title, else with this title in other capitals.

    Raises:
        RemoteError: There is none, or several have the title.
    """
    text = str(name).strip()
    is_id = text.isascii() and text.isdigit() and len(text) <= _ID_DIGITS
    if is_id and (found := remote.project(int(text))):
        return found
    listed = list(remote.projects())
    matches = [candidate for candidate in listed if candidate.title == text]
    matches = matches or [candidate for candidate in listed if candidate.title.casefold() == text.casefold()]
    if len(matches) > 1:
        raise RemoteError(
            f"{len(matches)} projects on {remote.url} have the title {text!r}",
            problems=_listed(matches),
            hint=f"Say which one is meant by its id: --project {matches[0].project_id}",
        )
    # The listing has no label config and no counts.
    whole = remote.project(matches[0].project_id) if matches else None
    if whole is None:
        near = did_you_mean(text, [candidate.title for candidate in listed])
        raise RemoteError(
            f"there is no project {text if is_id else repr(text)} on {remote.url} that this account sees",
            problems=_listed(listed),
            hint=near or "Give its title, or its id: the number in the address of its page.",
        )
    return whole


def _listed(projects: list[RemoteProject]) -> list[Problem]:
    return [Problem(f"project {found.project_id}: {found.title}") for found in projects]


def locate(
    project: Project, remote: LabelStudio, ledger: Ledger, notices: Notices, project_ref: int | str | None = None
) -> Located[RemoteProject] | None:
    """The project of a config on a server; None where there is none yet.

    Args:
        project: The config.
        remote: The server.
        ledger: What this machine remembers.
        notices: Gets `project-gone` where the project that the ledger names was deleted.
        project_ref: The project's id or title, where the user says which one is meant.

    Raises:
        RemoteError: The project that the user names does not exist, or several have its title, or the marker.
    """
    known = ledger.project(remote.url, project.config.name)
    known = known if isinstance(known, int) else None
    marker = project_marker(project)
    if project_ref is not None:
        named = named_project(remote, project_ref)
        return Located(named, "option", ours=named.project_id == known or is_marked(named.description, marker))
    if known is not None:
        remembered = remote.project(known)
        if remembered is not None:
            return Located(remembered, "ledger")
        notices.add("project-gone", f"project {known} was deleted on {remote.url}; its records stay as they are")
    matches = [candidate for candidate in remote.projects() if is_marked(candidate.description, marker)]
    if len(matches) > 1:
        raise RemoteError(
            f"{len(matches)} projects on {remote.url} have the marker of {project.config.name}",
            problems=_listed(matches),
            hint=f"Say which one is meant: --project {matches[0].project_id}",
        )
    if not matches:
        return None
    # The listing has no label config and no counts.
    whole = remote.project(matches[0].project_id)
    return Located(whole, "marker") if whole is not None else None
