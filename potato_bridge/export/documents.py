"""Targets whose output other tools take as it is: a document per review, in a folder or in one file."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, BinaryIO, ClassVar, Final, Protocol

import msgspec

from potato_bridge.errors import UsageError
from potato_bridge.export.card import MARKER
from potato_bridge.export.document_files import GithubFolder, SarifFile, SarifFolder, Sink
from potato_bridge.export.documented import DocumentWriter
from potato_bridge.export.index import RecordIndex, open_index
from potato_bridge.export.options import Dialect, ExportOptions, ExportReport
from potato_bridge.export.place import CARD, INDEX, LEDGER, refuse_inputs, replace_folder, staging
from potato_bridge.export.rows import Head, Held, LeftOut, Outcome, outcomes
from potato_bridge.export.tally import Tally
from potato_bridge.files import replacing
from potato_bridge.model import Project
from potato_bridge.notices import Notices

_SUFFIXES: Final = (".json", ".jsonl", ".sarif")
#: Target to the endings that make its output one file.
_ONE_FILE: Final = {"github": (".jsonl", ".json"), "sarif": (".sarif", ".json")}
#: Target to what its folder's README says.
_ABOUT: Final = {
    "github": f"""# Reviews for GitHub

Each JSON file is the body of a request that creates a review on a pull request:

```sh
gh api repos/OWNER/REPO/pulls/NUMBER/reviews --input FILE.json
```

`{INDEX}` says which item and annotator a file is of, and which comments are in the review's body, and why.
`{LEDGER}` has a line for each record that was left out.
""",
    "sarif": f"""# Reviews as SARIF

Each `.sarif` file is a log of SARIF 2.1.0 with the reviews of one item; a run is one annotator's.

`{INDEX}` says which item a file is of. `{LEDGER}` has a line for each record that was left out.
""",
}


class DocumentTarget(Outcome, Protocol):
    """A target that makes documents. Made for one export.

    Attributes:
        name: As `-f` takes it.
    """

    name: ClassVar[str]


def export_documents(
    project: Project,
    records: Path,
    target: DocumentTarget,
    out: Path,
    options: ExportOptions,
    notices: Notices,
    progress: Callable[[int], None],
) -> ExportReport:
    """Exports records as documents.

    Args:
        project: Says where the items are.
        records: A records file, as `pull` writes it.
        target: Makes the documents.
        out: A folder, or one file where the name ends so. A folder that an earlier export wrote is replaced as a whole.
        options: Of the dialects, there is `native` alone.
        notices: Gets what the documents could not hold.
        progress: Called with how many more records are done.

    Returns:
        The counts, which add up; of a folder's files those that say what it holds.

    Raises:
        UsageError: The output is in the way, is an input, or is not ours.
        InputError: Records, items or config are not as they must be. Nothing was written.
    """
    one_file = _is_one_file(target.name, out, options.dialect)
    ledger = [options.ledger] if options.ledger else []
    refuse_inputs([out, *ledger], [records, project.config, *(file.path for file in project.data_files)])
    if any(path.resolve().is_relative_to(out.resolve()) for path in ledger):
        raise UsageError(f"the ledger {options.ledger} cannot be in the output {out}: name another file")
    if not one_file:
        _refuse_foreign(out)
    report = ExportReport(target=target.name, dialect=Dialect.NATIVE, out=out)

    def stream(index: RecordIndex, ledgers: list[BinaryIO], sink: Sink) -> None:
        tally, written = Tally(ledgers), 0
        for record, outcome in outcomes(project, index, target, notices):
            if isinstance(outcome, LeftOut):
                tally.leave_out(Head.of(record), outcome)
            elif not isinstance(outcome, Held):
                rows = outcome if isinstance(outcome, list) else [outcome]
                for row in rows:
                    sink.add(row)
                    written += 1
                tally.row(Head.of(record), len(rows))
            progress(1)
        tally.settle(len(index), written, report)

    with open_index(records) as index, _files(ledger) as ledgers:
        if one_file:
            out.parent.mkdir(parents=True, exist_ok=True)
            with replacing(out) as file, _sink_of(target.name, file, out) as sink:
                stream(index, ledgers, sink)
            report.files.append(out)
        else:
            real = out.resolve()
            with staging(real) as stage:
                folder = stage / "data"
                folder.mkdir()
                make = SarifFolder if target.name == "sarif" else GithubFolder
                with open(folder / LEDGER, "wb") as own, make(folder) as sink:
                    stream(index, [*ledgers, own], sink)
                (folder / CARD).write_text(f"{MARKER}\n\n{_ABOUT[target.name]}", encoding="utf-8", newline="\n")
                replace_folder(folder, real)
            report.files += [out / name for name in (CARD, LEDGER, INDEX)]
    report.files += ledger
    if not report.rows:
        notices.add("no-rows", "no record gives a row: the output is empty", str(out))
    return report


def _is_one_file(name: str, out: Path, dialect: Dialect | None) -> bool:
    suffix = out.suffix.lower()
    one_file = suffix in _ONE_FILE[name]
    if dialect is Dialect.POTATO:
        raise UsageError(f"{name} has no dialect potato", hint="Leave --dialect off.")
    if one_file and dialect is Dialect.NATIVE:
        raise UsageError(f"{out} names one file, and dialect native is a folder", hint="Leave --dialect off.")
    if not one_file and suffix in _SUFFIXES:
        raise UsageError(f"{out}: {name} is a folder, or a file named *{' or *'.join(_ONE_FILE[name])}")
    if one_file and out.is_dir():
        raise UsageError(f"{out} is a folder, and its name says one file")
    return one_file


@contextmanager
def _sink_of(name: str, file: BinaryIO, out: Path) -> Iterator[Sink]:
    with SarifFile(file) if name == "sarif" else DocumentWriter(file, as_array=out.suffix.lower() == ".json") as sink:
        yield sink


@contextmanager
def _files(paths: list[Path]) -> Iterator[list[BinaryIO]]:
    """At most one file to write, which takes its place at the end."""
    if not paths:
        yield []
        return
    paths[0].parent.mkdir(parents=True, exist_ok=True)
    with replacing(paths[0]) as file:
        yield [file]


def _refuse_foreign(folder: Path) -> None:
    """Refuses a folder that holds anything that an earlier export of documents did not write."""
    if folder.exists() and not folder.is_dir():
        raise UsageError(f"{folder} is a file, and the output is a folder")
    if not folder.is_dir() or not any(folder.iterdir()):
        return
    hint = "Name another folder, or remove this one."
    card, index = folder / CARD, folder / INDEX
    if not card.is_file() or MARKER.encode() not in card.read_bytes() or not index.is_file():
        raise UsageError(f"{folder} is there and was not written by this export", hint=hint)
    ours: set[Any] = {CARD, LEDGER, INDEX}
    with open(index, "rb") as lines:
        for line in lines:
            try:
                ours.add(msgspec.json.decode(line)["file"])
            except (msgspec.DecodeError, KeyError, TypeError):
                raise UsageError(f"{index} is not as potato-bridge wrote it", hint=hint) from None
    foreign = sorted(path.name for path in folder.iterdir() if path.name not in ours)
    if foreign:
        raise UsageError(f"{folder} holds files that potato-bridge did not write: {', '.join(foreign[:5])}", hint=hint)
