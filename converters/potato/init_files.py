"""`init` on the disk: where the config goes, whether the items lie right, and the check before anything is written."""

import filecmp
import shutil
import tempfile
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from potato_bridge.converters.diffs.of_trace import diff_of_trace
from potato_bridge.converters.potato.config import read_project
from potato_bridge.converters.potato.init_config import (
    Draft,
    Mode,
    check_labels,
    check_scheme,
    data_format,
    draft_config,
    first_rows,
)
from potato_bridge.converters.potato.init_text import SETTINGS, config_text, settings_text
from potato_bridge.converters.potato.items import read_items
from potato_bridge.converters.potato.traces import to_trace
from potato_bridge.converters.potato.turns import listing, read_turn
from potato_bridge.errors import InputError, UsageError
from potato_bridge.files import replacing
from potato_bridge.model import CodeReviewScheme, Item, ProcessReward, Project
from potato_bridge.model.project import DataFile
from potato_bridge.model.trajectory_edit import editable
from potato_bridge.model.trajectory_scheme import TrajectoryEdit
from potato_bridge.notices import Notices

_TITLES = {
    "process_reward": "Step rewards",
    "code_review": "Code review",
    "trajectory_edit": "Corrections",
}


@dataclass(frozen=True, slots=True)
class Request:
    """What the command line asked for; None: to be found out."""

    items: Path
    out: Path
    scheme: str = "process_reward"
    mode: Mode | None = None
    id_key: str | None = None
    text_key: str | None = None
    steps_key: str | None = None
    pair_key: str | None = None
    labels: tuple[str, ...] = ()
    name: str | None = None
    encoding: str | None = None
    copy: bool = False


@dataclass(slots=True)
class Counts:
    """What all items hold.

    Attributes:
        items: How many items there are.
        steps: How many entries of their lists are rated; of another scheme than process_reward, how many there are.
        shown: How many are shown and not rated.
        changed: How many items change a file, of code_review.
        texts: How many texts can be corrected, of trajectory_edit.
    """

    items: int = 0
    steps: int = 0
    shown: int = 0
    changed: int = 0
    texts: int = 0

    def words(self, scheme: str) -> str:
        """What there is to do, for people; empty where an item is just an item."""
        if scheme == "process_reward":
            rest = f"; {self.shown} entries of users, systems and tools are shown and not rated" if self.shown else ""
            return f"{self.steps} steps to rate{rest}"
        if scheme == "code_review":
            return f"{self.changed} of them change files"
        return f"{self.texts} texts to correct" if scheme == "trajectory_edit" else ""


@dataclass(frozen=True, slots=True)
class Started:
    """What was written, or would be.

    Attributes:
        config: The config.
        settings: The settings file; None where one was there already.
        data: The items, where the config finds them.
        copied: Whether they were copied there.
        draft: What the config says, and why.
        text: The config's text.
        counts: What all items hold.
    """

    config: Path
    settings: Path | None
    data: Path
    copied: bool
    draft: Draft
    text: str
    counts: Counts

    def to_json(self) -> dict[str, Any]:
        """Plain JSON values."""
        chosen = {key: {"value": found.value, "why": found.why} for key, found in self.draft.findings().items()}
        return {
            "config": str(self.config),
            "settings": None if self.settings is None else str(self.settings),
            "data": str(self.data),
            "copied": self.copied,
            "name": self.draft.name,
            "scheme": self.draft.scheme,
            "mode": self.draft.mode if self.draft.scheme == "process_reward" else None,
            "chosen": chosen,
            "items": self.counts.items,
            "steps": self.counts.steps,
            "not_rated": self.counts.shown,
            "text": self.text,
        }


def start(
    request: Request, notices: Notices, *, dry_run: bool = False, advance: Callable[[int], None] = lambda done: None
) -> Started:
    """Writes a config for items, after all of them were read with it. Overwrites nothing.

    Args:
        request: What is asked for.
        notices: Gets what reading the items says.
        dry_run: Check everything, write nothing.
        advance: Told of each item that is checked.

    Raises:
        UsageError: A file is in the way, the items lie outside of the folder, or a field must be named.
        InputError: The items are not as they must be.
    """
    check_scheme(request.scheme)
    check_labels(request.scheme, request.labels)
    if request.mode is not None and request.scheme != "process_reward":
        raise UsageError(f"a scheme of type {request.scheme} has no mode", hint="--mode is for process_reward.")
    if request.pair_key is not None and request.scheme != "pairwise":
        raise UsageError(f"a scheme of type {request.scheme} compares nothing", hint="--pair-key is for pairwise.")
    config = request.out if request.out.suffix.lower() in (".yaml", ".yml") else request.out / "config.yaml"
    folder = config.parent
    if config.exists():
        raise UsageError(
            f"{config} is there already, and init never overwrites", hint="Name another with -o, or move it."
        )
    if not request.items.is_file():
        what = "is a folder: name the file with the items" if request.items.is_dir() else "there is no such file"
        raise InputError(f"{request.items}: {what}")
    data, copied = _place(request, folder)
    file = DataFile(path=request.items, format=data_format(request.items), encoding=_encoding(request.encoding))
    try:
        draft = draft_config(
            first_rows(file, str(request.items)),
            str(request.items),
            name=(request.name or "").strip() or f"{_TITLES.get(request.scheme, 'Annotation')}: {request.items.stem}",
            scheme=request.scheme,
            mode=request.mode or "first_error",
            id_key=request.id_key,
            text_key=request.text_key,
            steps_key=request.steps_key,
            pair_key=request.pair_key,
            labels=request.labels,
            encoding=request.encoding,
        )
        counts = _check(draft, request.items, notices, advance)
    except InputError as error:
        raise _with_option(error) from error
    settings = folder / SETTINGS
    started = Started(
        config=config,
        settings=None if settings.exists() else settings,
        data=data,
        copied=copied,
        draft=draft,
        text=config_text(draft, data.relative_to(folder.resolve()).as_posix()),
        counts=counts,
    )
    if not dry_run:
        try:
            _write(started, request.items)
        except OSError as error:
            raise UsageError(
                f"{folder} cannot be written to: {error.strerror}", hint="Name another with -o."
            ) from error
    return replace(started, data=folder / data.relative_to(folder.resolve()))


def _place(request: Request, folder: Path) -> tuple[Path, bool]:
    """Where the config finds the items, and whether they have to be copied there."""
    items, home = request.items.resolve(), folder.resolve()
    if items.is_relative_to(home):
        return items, False
    if not request.copy:
        raise UsageError(
            f"{request.items} lies outside of {home}, and Potato reads no file outside of its config's folder",
            hint=f"Add --copy to copy it to {folder / 'data' / items.name}, or move it there, or put the config beside "
            f"it: -o {request.items.parent}",
        )
    target = home / "data" / items.name
    if target.exists():
        if target.is_file() and filecmp.cmp(items, target, shallow=False):
            return target, False
        raise UsageError(
            f"{folder / 'data' / items.name} is there already with another content, and init never overwrites",
            hint="Rename one of the two files.",
        )
    return target, True


def _encoding(name: str | None) -> str | None:
    if name is not None:
        try:
            # Some codecs turn bytes into bytes (base64) or text into text (rot13).
            "".encode(name)
        except (LookupError, UnicodeError, ValueError):
            raise UsageError(f"{name!r} is no text encoding", hint="E.g. utf-8, latin-1, utf-16.") from None
    return name


def _check(draft: Draft, items: Path, notices: Notices, advance: Callable[[int], None]) -> Counts:
    """Reads the config and all items with it, from a folder that vanishes; counts what they hold."""
    counts = Counts()
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "config.yaml"
        home = items.resolve()
        path.write_text(config_text(draft, home.name, str(home.parent)), encoding="utf-8")
        project = read_project(path, Notices())
        for item in read_items(project, notices):
            counts.items += 1
            _count(project, item, counts)
            advance(1)
    if draft.scheme == "code_review" and not counts.changed:
        raise InputError(
            f"{items}: no item changes a file, so there is nothing to review",
            hint="Changes are read from steps with edits of files (tool_calls).",
        )
    if draft.scheme == "trajectory_edit" and not counts.texts:
        raise InputError(f"{items}: no step has a text that can be corrected")
    return counts


def _count(project: Project, item: Item, counts: Counts) -> None:
    key = project.steps_key()
    for scheme in project.schemes:
        if isinstance(scheme, ProcessReward) and key is not None:
            kind = listing(project, key)
            rated = sum(read_turn(entry, kind).ratable for entry in item.data[key])
            counts.steps += rated
            counts.shown += len(item.data[key]) - rated
            return
        if isinstance(scheme, CodeReviewScheme):
            counts.changed += bool(diff_of_trace(to_trace(item, project, Notices())).files)
        elif isinstance(scheme, TrajectoryEdit):
            counts.texts += sum(1 for _ in editable(scheme, item.data[scheme.steps_key]))
            counts.texts += scheme.edit_final_answer and item.data.get(scheme.final_answer_key) is not None
    found = item.data.get(key) if key is not None else None
    counts.steps += len(found) if isinstance(found, list) else 0


def _with_option(error: InputError) -> InputError:
    """The problems of a data file speak of the config's keys; there is no config yet."""
    if any("encoding" in problem.hint for problem in error.problems):
        hint = "Until there is a config, the encoding is an option: --encoding latin-1 (or utf-16, …)."
        return InputError(error.message, hint=hint, problems=error.problems)
    return error


def _write(started: Started, items: Path) -> None:
    started.config.parent.mkdir(parents=True, exist_ok=True)
    if started.copied:
        started.data.parent.mkdir(exist_ok=True)
        with items.open("rb") as source, replacing(started.data) as target:
            shutil.copyfileobj(source, target)
    _create(started.config, started.text)
    # What was checked stood in another folder: the paths of this one are looked at too.
    read_project(started.config, Notices())
    if started.settings is not None:
        _create(started.settings, settings_text(started.config.name))


def _create(path: Path, text: str) -> None:
    try:
        with path.open("x", encoding="utf-8") as file:
            file.write(text)
    except FileExistsError:
        raise UsageError(f"{path} is there already, and init never overwrites", hint="Name another with -o.") from None
