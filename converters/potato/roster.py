"""Potato's roster: who may log in.

Potato lets nobody sign up under a name that has answers, so users that the bridge wrote must have an account already.
An open study without passwords asks for none. A closed one reads the roster, one JSON object to a line; in one with
passwords a line needs a password, which the bridge does not invent.
"""

import os
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import msgspec

from potato_bridge.converters.potato.yaml_marks import read_yaml
from potato_bridge.errors import InputError
from potato_bridge.files import replacing
from potato_bridge.model import Project
from potato_bridge.notices import Notices

ROSTER = "user_config.json"


def roster_path(project: Project, config: dict[str, Any]) -> Path:
    """Where Potato reads the roster of a project, by the text of its `output_annotation_dir`.

    `annotation_output` has it beside the folder, `annotation_output/`, with a slash, in it.
    """
    authentication = config.get("authentication")
    explicit = authentication.get("user_config_path") if isinstance(authentication, dict) else None
    if isinstance(explicit, str) and explicit:
        return project.task_dir / explicit
    output = config.get("output_annotation_dir")
    return project.task_dir / os.path.dirname(output if isinstance(output, str) else "") / ROSTER


def admit_users(project: Project, folder: Path, users: Iterable[str], notices: Notices) -> Path | None:
    """Adds users to the roster where the study is closed; says who needs a password where it has them.

    Args:
        project: Its config says who may log in.
        folder: Where the users' states are.
        users: Names of user folders.
        notices: Gets whom Potato will not let in, and what to do.

    Returns:
        The roster, if it was written.
    """
    users = list(users)
    if not users:
        return None
    if folder.resolve() != project.output_dir.resolve():
        message = f"Potato reads {project.output_dir} with this config, not {folder}"
        notices.add("other-output-folder", message, str(project.config))
        return None
    try:
        config = read_yaml(project.config).root
    except InputError:
        config = None
    if not isinstance(config, dict):
        return None
    path = roster_path(project, config)
    known = _listed(path)
    if config.get("require_password", True) is not False:
        missing = [user for user in users if user not in known]
        if missing:
            message = (
                f"the study asks for passwords, and Potato lets nobody sign up under a name that has answers: add a "
                f'line {{"username": "NAME", "password": "…"}} to {path} for each of {", ".join(missing)}'
            )
            notices.add("password-needed", message, str(project.config))
        return None
    gate = config.get("user_config")
    if not isinstance(gate, dict) or gate.get("allow_all_users", True):
        return None
    listed = gate.get("users")
    known |= {str(user) for user in listed} if isinstance(listed, list) else set()
    missing = [user for user in users if user not in known]
    if not missing:
        return None
    old = path.read_bytes() if path.is_file() else b""
    path.parent.mkdir(parents=True, exist_ok=True)
    with replacing(path) as file:
        file.write(old if not old or old.endswith(b"\n") else old + b"\n")
        for user in missing:
            file.write(msgspec.json.encode({"username": user}) + b"\n")
    return path


def _listed(path: Path) -> set[str]:
    names = set()
    for line in path.read_bytes().splitlines() if path.is_file() else ():
        try:
            user = msgspec.json.decode(line)
        except (msgspec.DecodeError, UnicodeDecodeError):
            # Potato skips such a line too.
            continue
        if isinstance(user, dict) and isinstance(user.get("username"), str):
            names.add(user["username"])
    return names
