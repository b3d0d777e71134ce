"""Reads a Potato config into a Project. Everything wrong with it is raised at once.

Both dialects are read, the one of Potato's documentation and the one of its code. Keys that the bridge does not use
are notices where they change what annotators see (see `vocabulary`); unknown keys are notices too, never errors.
"""

from pathlib import Path
from typing import cast, get_args

from potato_bridge.converters.potato.display import read_display
from potato_bridge.converters.potato.general_page import settle
from potato_bridge.converters.potato.schemes import read_schemes
from potato_bridge.converters.potato.section import Section, did_you_mean, show
from potato_bridge.converters.potato.vocabulary import SERVER_KEYS, TRACE_TYPES, UNUSED_KEYS, USED_KEYS
from potato_bridge.converters.potato.yaml_marks import KeyPath, read_yaml
from potato_bridge.errors import InputError
from potato_bridge.model.project import (
    DataFile,
    DataFormat,
    DisplayField,
    PreAnnotation,
    ProcessReward,
    Project,
    Scheme,
)
from potato_bridge.notices import Notices

_FORMATS: tuple[str, ...] = get_args(DataFormat)
_ELSEWHERE = {
    "data_directory": "data_directory reads a folder; the bridge reads named files",
    "data_sources": "data_sources fetches remote data; the bridge reads local files",
}


def read_project(path: Path, notices: Notices) -> Project:
    """Reads a Potato config.

    Args:
        path: The config file; paths in it are relative to its `task_dir`, and that to the config's folder.
        notices: Gets what the bridge does not carry over.

    Raises:
        InputError: With all problems that were found, each with line and key path.
    """
    document = read_yaml(path)
    if not isinstance(document.root, dict):
        document.problem((), f"expected a mapping at the top, found {show(document.root)}", "Write `key: value` lines.")
        raise InputError(f"{path} is not a Potato config", problems=document.problems)
    root = Section(document, notices, (), document.root)
    root.used |= USED_KEYS
    name = root.required("annotation_task_name", 'annotation_task_name: "My task"')
    task_dir = _read_task_dir(root, path)
    id_key, text_key = _read_item_properties(root)
    data_files = _read_data_files(root, task_dir)
    fields = read_display(root)
    schemes = read_schemes(root)
    _check_steps(root, fields, schemes)
    settle(root, schemes, fields, text_key)
    project = Project(
        name=name,
        config=path.absolute(),
        task_dir=task_dir,
        id_key=id_key,
        text_key=text_key,
        output_dir=_read_output_dir(root, task_dir),
        data_files=data_files,
        fields=fields,
        schemes=[scheme for _, scheme in schemes],
        overlap=_read_overlap(root),
        export_formats=_read_export_formats(root),
        pre_annotation=_read_pre_annotation(root, task_dir),
    )
    root.unread(known=UNUSED_KEYS, silent=SERVER_KEYS)
    if document.problems:
        problems = sorted(document.problems, key=lambda problem: problem.line or 0)
        raise InputError(f"{path}: {len(problems)} problem(s)", problems=problems)
    return project


def _read_task_dir(root: Section, path: Path) -> Path:
    base = path.absolute().parent
    # Potato insists on the key; the folder of the config is what nearly every config says.
    task_dir = (base / root.text("task_dir", ".")).resolve()
    if not task_dir.is_dir():
        hint = f"It is relative to the folder of the config ({base}); `task_dir: .` is that folder."
        root.problem("task_dir", f"there is no folder {root.values.get('task_dir')!r}", hint)
    return task_dir


def _read_overlap(root: Section) -> int:
    value = root.take("max_annotations_per_item")
    # -1 is Potato's word for any number of them.
    if value in (None, -1):
        return 1
    if type(value) is not int or value < 1:
        root.problem(
            "max_annotations_per_item",
            f"expected a whole number of at least 1, found {show(value)}",
            "It is how many answers complete an item; take it out where there is no limit.",
        )
        return 1
    return value


def _read_output_dir(root: Section, task_dir: Path) -> Path:
    output = (task_dir / root.text("output_annotation_dir", "annotation_output")).resolve()
    if not output.is_relative_to(task_dir):
        root.problem("output_annotation_dir", f"{output} lies outside of task_dir", "Potato refuses that too.")
    return output


def _read_item_properties(root: Section) -> tuple[str, str]:
    example = "item_properties: {id_key: id, text_key: task_description}"
    section = root.section("item_properties")
    if section is None:
        if not root.has("item_properties"):
            root.missing("item_properties", example)
        return "", ""
    id_key = section.required("id_key", "the item field that holds its unique id")
    text_key = section.required("text_key", "the item field that holds the task's text")
    section.unread(known=("kwargs",), silent=("category_key",), what="item_properties")
    return id_key, text_key


def _read_data_files(root: Section, task_dir: Path) -> list[DataFile]:
    elsewhere = [key for key in _ELSEWHERE if root.has(key)]
    for key in elsewhere:
        root.problem(key, f"{_ELSEWHERE[key]}", "List the files under data_files.")
    if not root.has("data_files"):
        if not elsewhere:
            root.missing("data_files", "a list of paths, e.g. [data/traces.jsonl]")
        return []
    entries = root.entries("data_files")
    if isinstance(root.values["data_files"], list) and not entries:
        root.problem("data_files", "the list is empty", "Name at least one file.")
    files: list[DataFile] = []
    for i, entry in enumerate(entries):
        at = (*root.at("data_files"), i)
        if isinstance(entry, dict):
            section = Section(root.document, root.notices, at, entry)
            text = section.required("path", "{path: data/traces.jsonl}")
            at = section.at("path")
        else:
            # A bare path is short for {path: …}; its problems are named at the entry itself.
            section = Section(root.document, root.notices, at, {})
            text = root.scalar(at, entry)
            if entry is None:
                root.document.problem(at, "expected a path, found nothing")
        if not text:
            continue
        file = _read_data_file(section, at, text, task_dir)
        if file.path in [other.path for other in files]:
            root.document.problem(at, f"{text} stands twice in data_files", "Remove one of them.")
        files.append(file)
    return files


def _read_path(section: Section, at: KeyPath, text: str, task_dir: Path) -> Path:
    path = (task_dir / text).resolve()
    problem = section.document.problem
    if not path.is_relative_to(task_dir):
        problem(at, f"{text} lies outside of task_dir ({task_dir})", "Copy the file into it, or change task_dir.")
    elif not path.exists():
        problem(at, f"there is no file {text}", f"Paths are relative to task_dir ({task_dir}).")
    elif not path.is_file():
        problem(at, f"{text} is a folder", "Name the files in it one by one.")
    return path


def _read_data_file(section: Section, at: KeyPath, text: str, task_dir: Path) -> DataFile:
    path = _read_path(section, at, text, task_dir)
    file = DataFile(
        path=path,
        format=cast(DataFormat, _read_format(section, at, path)),
        id_key=section.optional("id_key"),
        text_key=section.optional("text_key"),
        encoding=_read_encoding(section),
        line=section.document.line(section.path),
    )
    if section.take("filter_by_prior_annotation") is not None:
        message = "'filter_by_prior_annotation' of a data file is not used: all its items are read"
        section.notice("unused-key", "filter_by_prior_annotation", message)
    section.unread(what="a data file")
    return file


def _read_format(section: Section, at: KeyPath, path: Path) -> str:
    formats = {name: name for name in _FORMATS}
    # Two names of one key; where both stand, `format` counts.
    kind = section.choice("type", "", formats)
    kind = section.choice("format", kind, formats)
    if kind or section.has("format") or section.has("type"):
        return kind or "json"
    suffix = path.suffix.removeprefix(".").lower()
    if suffix in _FORMATS:
        return suffix
    found = f"the extension '.{suffix}'" if suffix else "a name without extension"
    hint = did_you_mean(suffix, _FORMATS) or "Rename the file, or give its `format`."
    section.document.problem(at, f"expected one of .{', .'.join(_FORMATS)}, found {found}", hint)
    return "json"


def _read_encoding(section: Section) -> str | None:
    encoding = section.optional("encoding")
    if encoding is None:
        return None
    try:
        # Some codecs turn bytes into bytes (base64) or text into text (rot13): these are refused here.
        "".encode(encoding)
    except (LookupError, UnicodeError, ValueError):
        section.problem("encoding", f"{encoding!r} is no text encoding", "E.g. utf-8, latin-1, utf-16, shift_jis.")
        return None
    return encoding


def _read_pre_annotation(root: Section, task_dir: Path) -> PreAnnotation | None:
    section = root.section("pre_annotation")
    if section is None:
        return None
    enabled, field = section.flag("enabled", False), section.text("field", PreAnnotation().field)
    path = None
    if text := section.optional("predictions_file"):
        path = _read_path(section, section.at("predictions_file"), text, task_dir)
        if path.suffix.lower() not in (".jsonl", ".ndjson"):
            hint = "Write one object a line and name the file .jsonl; Potato reads that too."
            section.problem("predictions_file", f"{text} is not JSON Lines by its name", hint)
    if not enabled:
        message = "pre-labels are not sent: pre_annotation has no `enabled: true`"
        root.notice("prelabels-off", "pre_annotation", message)
    if not section.flag("allow_modification", True):
        message = "allow_modification: false has no effect: on Label Studio annotators can change every pre-label"
        section.notice("unused-key", "allow_modification", message)
    keys = ("show_confidence", "highlight_low_confidence")
    asked = [key for key in keys if section.values.get(key)]
    section.unread(known=asked, silent=set(keys).difference(asked), what="pre_annotation")
    return PreAnnotation(field=field, predictions_file=path) if enabled else None


def _read_export_formats(root: Section) -> list[str]:
    value = root.values.get("export_annotation_format")
    formats = root.texts("export_annotation_format") if isinstance(value, list) else []
    if not isinstance(value, list) and (text := root.optional("export_annotation_format")):
        formats = [text]
    if root.has("output_annotation_format"):
        old = root.text("output_annotation_format")
        message = "'output_annotation_format' is deprecated: Potato reads it as export_annotation_format"
        root.notice("deprecated-key", "output_annotation_format", message)
        # Potato's own rule: `json` was always written as lines, and the new key wins.
        formats = formats or (["jsonl" if old == "json" else old] if old else [])
    return formats


def _check_steps(root: Section, fields: list[DisplayField], schemes: list[tuple[KeyPath, Scheme]]) -> None:
    traces = [field.key for field in fields if field.trace is not None]
    for at, scheme in schemes:
        if not isinstance(scheme, ProcessReward) or scheme.steps_key is not None:
            continue
        if not traces:
            types = ", ".join(sorted(TRACE_TYPES))
            hint = (
                "Add `steps_key: <item field>` to the scheme, or show that field in instance_display.fields "
                f"with one of these types: {types}."
            )
            root.document.problem(at, f"{scheme.name or 'process_reward'} does not say where the steps are", hint)
        elif len(traces) > 1:
            message = (
                f"the steps are those of {traces[0]!r}, the first trace shown (also: {', '.join(traces[1:])}); "
                "steps_key of the scheme names another"
            )
            root.notices.add("several-traces", message, root.document.where(at))
