"""`potato-bridge.yaml`: what a team does not want to type each time. It never holds a token."""

from dataclasses import dataclass
from pathlib import Path

from potato_bridge.converters.potato.init_text import SETTINGS as NAME
from potato_bridge.converters.potato.section import Section, did_you_mean
from potato_bridge.converters.potato.yaml_marks import read_yaml
from potato_bridge.errors import InputError
from potato_bridge.notices import Notices, Policy

#: Parts of a key that say that its value is a secret.
_SECRETS = ("token", "key", "secret", "password")


@dataclass(frozen=True)
class Settings:
    """The settings of one file; a path is relative to the file's folder, None where it is not set."""

    config: Path | None = None
    records: Path | None = None
    template: Path | None = None
    notices: Policy | None = None
    label_studio_url: str | None = None
    label_studio_project: str | None = None
    argilla_url: str | None = None
    argilla_workspace: str | None = None
    argilla_dataset: str | None = None
    argilla_layout: str | None = None
    backend: str | None = None


def find_settings(folder: Path) -> Settings:
    """The settings file of a folder or of the nearest one above it; empty settings where there is none.

    Raises:
        InputError: The file is not as it must be; all findings at once.
    """
    for candidate in (folder, *folder.parents):
        if (path := candidate / NAME).is_file():
            return read_settings(path)
    return Settings()


def read_settings(path: Path) -> Settings:
    """Reads one settings file.

    Raises:
        InputError: Not YAML, an unknown key, a value of the wrong kind, or a token.
    """
    document = read_yaml(path)
    if not isinstance(document.root, dict):
        raise InputError(f"{path}: expected keys and values", hint="Write, for example: config: annotation/config.yaml")
    root = Section(document, Notices(), (), document.root)

    def place(key: str) -> Path | None:
        value = root.optional(key)
        return path.parent / value if value else None

    config, records, template = place("config"), place("records"), place("template")
    policy = root.choice("notices", "", {policy.value: policy.value for policy in Policy})
    server = root.section("label_studio")
    url = server.optional("url") if server else None
    named = server.optional("project") if server else None
    argilla = root.section("argilla")
    argilla_url = argilla.optional("url") if argilla else None
    workspace = argilla.optional("workspace") if argilla else None
    dataset = argilla.optional("dataset") if argilla else None
    layout = argilla.choice("layout", "", {name: name for name in ("panel", "native")}) if argilla else None
    backend = root.choice("backend", "", {name: name for name in ("label_studio", "argilla")})
    for section in (root, *(found for found in (server, argilla) if found)):
        _refuse_others(section)
    if document.problems:
        raise InputError(f"{path} cannot be used", problems=document.problems)
    return Settings(
        config=config,
        records=records,
        template=template,
        notices=Policy(policy) if policy else None,
        label_studio_url=url,
        label_studio_project=named,
        argilla_url=argilla_url,
        argilla_workspace=workspace,
        argilla_dataset=dataset,
        argilla_layout=layout or None,
        backend=backend or None,
    )


def _refuse_others(section: Section) -> None:
    for key in section.values.keys() - section.used:
        if any(word in key.lower() for word in _SECRETS):
            variable = "ARGILLA_API_KEY" if section.path[:1] == ("argilla",) else "LABEL_STUDIO_API_KEY"
            section.problem(key, "a token does not belong in a file", f"Set {variable}, and delete it here.")
        else:
            known = f"Known keys: {', '.join(sorted(section.used))}."
            section.problem(key, f"unknown key {key!r}", did_you_mean(key, section.used) or known)
