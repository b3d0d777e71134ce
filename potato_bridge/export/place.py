"""Where an export goes, and how it gets there: the whole of it at the end, or nothing."""

import os
import re
import shutil
import tempfile
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from potato_bridge.errors import UsageError
from potato_bridge.export.card import MARKER
from potato_bridge.export.options import Dialect
from potato_bridge.files import lock

CARD = "README.md"
LEDGER = "ledger.jsonl"
#: Of a folder of documents: which file is what.
INDEX = "index.jsonl"

#: In a staging folder; held for as long as its export runs.
_LOCK = "lock"

#: Names that make an output one file in the documented form.
FILE_SUFFIXES = (".jsonl", ".json")


@dataclass(frozen=True, slots=True)
class Place:
    """Where to write.

    Attributes:
        path: The data set folder (`native`) or the one file (`potato`).
    """

    dialect: Dialect
    path: Path


def find_place(out: Path, dialect: Dialect | None, documented_file: str) -> Place:
    """What an output name means: `*.jsonl` and `*.json` are one documented file, any other name is a folder.

    Raises:
        UsageError: Name and dialect contradict each other, or something else is in the way.
    """
    one_file = out.suffix.lower() in FILE_SUFFIXES
    if one_file and dialect is Dialect.NATIVE:
        raise UsageError(f"{out} names one file, and dialect native is a folder", hint="Leave the suffix off.")
    if one_file and out.is_dir():
        raise UsageError(f"{out} is a folder, and its name says one file")
    if not one_file and out.exists() and not out.is_dir():
        raise UsageError(f"{out} is a file, and the data set is a folder", hint="Name a folder, or a .jsonl file.")
    if one_file:
        return Place(Dialect.POTATO, out)
    if dialect is Dialect.POTATO:
        return Place(Dialect.POTATO, out / documented_file)
    return Place(Dialect.NATIVE, out)


def refuse_inputs(outputs: Iterable[Path], inputs: Iterable[Path]) -> None:
    """Refuses to write over what is being read.

    Raises:
        UsageError: An output is one of the inputs.
    """
    taken = {path.resolve() for path in inputs}
    for path in outputs:
        if path.resolve() in taken:
            raise UsageError(f"{path} is read by this export: write to another file")


def refuse_ledger(ledgers: Iterable[Path], place: Place) -> None:
    """Refuses a ledger file that is the output, or stands in a folder that is replaced as a whole.

    Raises:
        UsageError: It is.
    """
    for path in ledgers:
        if path.resolve().is_relative_to(place.path.resolve()):
            raise UsageError(f"the ledger {path} cannot be in the output {place.path}: name another file")


def refuse_foreign(folder: Path, targets: Iterable[str]) -> None:
    """Refuses a folder that holds anything that an earlier export did not write.

    Raises:
        UsageError: The folder is not ours.
    """
    if not folder.is_dir() or not any(folder.iterdir()):
        return
    hint = "Name another folder, or remove this one."
    card = folder / CARD
    if not card.is_file() or MARKER.encode() not in card.read_bytes():
        raise UsageError(f"{folder} is there and was not written by potato-bridge export", hint=hint)
    ours = {CARD, LEDGER, *targets}
    foreign = sorted(path.name for path in folder.iterdir() if path.name not in ours)
    for target in targets:
        shards = (folder / target).iterdir() if (folder / target).is_dir() else ()
        foreign += sorted(f"{target}/{path.name}" for path in shards if not path.match("train-*.parquet"))
    if foreign:
        raise UsageError(f"{folder} holds files that potato-bridge did not write: {', '.join(foreign)}", hint=hint)


@contextmanager
def staging(out: Path) -> Iterator[Path]:
    """A folder beside `out`, on the same disk, that is gone when the block ends, with those of killed exports."""
    out.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(prefix=f".{out.name}.", suffix=".tmp", dir=out.parent) as name:
        folder = Path(name)
        held = lock(folder / _LOCK)
        try:
            yield folder
            # Not before this export is in place: what a killed one left may be all there is of the data set.
            _clear_killed(out)
        finally:
            if held is not None:
                held.close()


def _clear_killed(out: Path) -> None:
    """Removes the staging folders of exports to `out` whose process is gone."""
    ours = re.compile(rf"\.{re.escape(out.name)}\.[a-z0-9_]+\.tmp")
    for folder in out.parent.iterdir():
        file = folder / _LOCK
        # An empty lock file is one that is not locked yet.
        if not (ours.fullmatch(folder.name) and file.is_file() and file.stat().st_size):
            continue
        held = lock(file)
        if held is not None:
            held.close()
            shutil.rmtree(folder, ignore_errors=True)


def replace_folder(new: Path, out: Path) -> None:
    """Puts a folder in the place of another, or of none; where that fails the old one is there as before.

    There is a moment between two renames in which `out` is missing: no portable call swaps two folders.
    """
    for path in new.rglob("*"):
        if path.is_file():
            # After a power cut, a renamed folder may otherwise hold files without their content.
            with open(path, "rb") as file:
                os.fsync(file.fileno())
    old = new.with_name(f"{new.name}.old")
    if out.exists():
        os.rename(out, old)
    try:
        os.rename(new, out)
    except BaseException:
        if old.exists():
            os.rename(old, out)
        raise
    shutil.rmtree(old, ignore_errors=True)
