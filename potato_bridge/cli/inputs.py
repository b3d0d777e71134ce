"""Which config and which records an export is about, where the command line leaves one of them out."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from potato_bridge.cli.common import Origin, load_project, settings
from potato_bridge.converters.potato.config import read_project
from potato_bridge.errors import InputError, UsageError
from potato_bridge.model import Project
from potato_bridge.notices import Notices

#: The name that `pull` gives to the records in a project's output folder.
RECORDS = "records.jsonl"


def records_path(project: Project, records: Path | None) -> Path:
    """The records file: as named, else of potato-bridge.yaml, else `records.jsonl` in the config's output folder."""
    path = records or settings().records or project.output_dir
    return path / RECORDS if path.is_dir() or path == project.output_dir else path


@contextmanager
def export_inputs(
    config: Path | None, records: Path | None, origin: Origin, notices: Notices
) -> Iterator[tuple[Project, Path]]:
    """The project and the records file of an export.

    The config is the one named, else that of potato-bridge.yaml, else the one whose output folder the records are in.
    The answers of an `annotation_output` are a records file for the length of the block.

    Raises:
        UsageError: Neither way leads to a config.
        InputError: There are no records.
    """
    from potato_bridge.sync.potato import is_annotation_output, potato_records

    if config is None and settings().config is None and records is not None:
        config = _config_of(records)
    if config is None and settings().config is None:
        raise UsageError(
            "no Potato config given, and step texts and prompts are in its data files",
            hint="Use -c, put `config: FILE` into potato-bridge.yaml, or let -i be the config's output folder.",
        )
    project = load_project(config, notices)
    path = records_path(project, records)
    folder = records if records is not None and records.is_dir() else path.parent
    has_states = folder.is_dir() and is_annotation_output(folder)
    if origin is Origin.AUTO and path.is_file() and has_states and (records is None or records.is_dir()):
        notices.add("records-chosen", f"{folder} holds Potato's states too; {path.name} is exported", str(folder))
    if origin is Origin.POTATO or (origin is Origin.AUTO and has_states and not path.is_file()):
        if not has_states:
            raise InputError(
                f"{folder}: no folder of it has a user_state.json", hint="Name an annotation_output with -i."
            )
        with potato_records(project, folder, notices) as found:
            yield project, found
        return
    if not path.is_file():
        raise InputError(f"{path}: no records there", hint="Run potato-bridge pull first, or name the file with -i.")
    yield project, path


def choose_target(name: str | None, project: Project) -> str:
    """The target named, else the config's `export_annotation_format`.

    Raises:
        UsageError: Neither names one, or the config names several.
    """
    if name is not None:
        return name
    if len(project.export_formats) == 1:
        return project.export_formats[0]
    found = (
        f"the config names {', '.join(project.export_formats)}" if project.export_formats else "the config names none"
    )
    raise UsageError(f"no target given, and {found}", hint="Add -f prm.")


def _config_of(records: Path) -> Path | None:
    folder = (records if records.is_dir() else records.parent).resolve()
    for parent in folder.parents[:3]:
        for path in sorted([*parent.glob("*.yaml"), *parent.glob("*.yml")]):
            try:
                project = read_project(path, Notices())
            except InputError:
                continue
            if project.output_dir.resolve() == folder:
                return path
    return None
