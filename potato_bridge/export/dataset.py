"""`export`: records and items in, a data set folder or a documented file out, streaming.

What is written appears at the end, whole and checked, or not at all.
"""

from collections.abc import Callable
from contextlib import ExitStack, closing, nullcontext
from pathlib import Path
from typing import BinaryIO, TypeAlias

from potato_bridge.errors import InputError, Problem
from potato_bridge.export.card import card
from potato_bridge.export.documented import DocumentWriter
from potato_bridge.export.documents import export_documents
from potato_bridge.export.index import RecordIndex, open_index
from potato_bridge.export.options import Dialect, ExportOptions, ExportReport
from potato_bridge.export.parquet import ShardWriter
from potato_bridge.export.place import (
    CARD,
    LEDGER,
    find_place,
    refuse_foreign,
    refuse_inputs,
    refuse_ledger,
    replace_folder,
    staging,
)
from potato_bridge.export.rows import Head, Held, Late, LeftOut, Lines, Row, Target, outcomes
from potato_bridge.export.tally import Tally
from potato_bridge.export.targets import DOCUMENTS, TARGETS, find_target
from potato_bridge.export.trajectory_correction import TrajectoryCorrection
from potato_bridge.export.trajectory_files import TrajectoryFiles
from potato_bridge.export.verify import verify_folder, verify_rows
from potato_bridge.files import replacing
from potato_bridge.model import Project
from potato_bridge.notices import Notices

#: Called with how many more records are done.
Progress: TypeAlias = Callable[[int], None]


def export(
    project: Project,
    records: Path,
    target: str,
    out: Path,
    options: ExportOptions | None = None,
    notices: Notices | None = None,
    progress: Progress | None = None,
) -> ExportReport:
    """Exports records as training data.

    Args:
        project: Says where the items are, and which scheme is exported.
        records: A records file, as `pull` writes it.
        target: A name in `TARGETS` or `DOCUMENTS`.
        out: `*.jsonl` or `*.json`: one file in the documented form; else a folder (see `Dialect`). A data set folder
            that an earlier export wrote is replaced as a whole.
        options: None: the defaults.
        notices: Gets what the rows could not hold.
        progress: Called with how many more records are done.

    Returns:
        The counts, which add up, and the files.

    Raises:
        UsageError: Unknown target, output in the way or not ours, options that contradict each other.
        InputError: Records, items or config are not as they must be, or no record gives a row of a data set folder.
            Nothing was written.
        BridgeError: What was written fails its check: a defect. Nothing was kept.
    """
    options = options or ExportOptions()
    notices = notices if notices is not None else Notices()
    if target in DOCUMENTS:
        documents = DOCUMENTS[target](project, options, notices)
        return export_documents(project, records, documents, out, options, notices, progress or (lambda advance: None))
    chosen = find_target(target)(project, options, notices)
    place = find_place(out, options.dialect, chosen.documented_file)
    ledger = [options.ledger] if options.ledger else []
    outputs = [place.path]
    if isinstance(chosen, TrajectoryCorrection) and place.dialect is Dialect.POTATO:
        outputs = chosen.files(place.path, alone=place.path == out).paths
    refuse_inputs([*outputs, *ledger], [records, project.config, *(file.path for file in project.data_files)])
    refuse_ledger(ledger, place)
    report = ExportReport(target=target, dialect=place.dialect, out=out)
    run = _Run(project, chosen, options, notices, progress or (lambda advance: None), report)
    with open_index(records) as index, closing(chosen) if isinstance(chosen, Late) else nullcontext():
        if place.dialect is Dialect.NATIVE:
            refuse_foreign(place.path, TARGETS)
            run.data_set(index, place.path)
        elif isinstance(chosen, TrajectoryCorrection):
            run.corrections(index, chosen.files(place.path, alone=place.path == out))
        else:
            run.documented(index, place.path)
    if not report.rows:
        notices.add("no-rows", "no record gives a row: the file is empty", str(out))
    return report


def _no_rows(report: ExportReport) -> InputError:
    """A data set folder without rows cannot be: `datasets` does not load one."""
    counts = ", ".join(f"{count} {reason}" for reason, count in report.reasons.items())
    found = f"{report.records_in} records, left out: {counts}" if counts else "the records file is empty"
    return InputError(
        f"there is no row to export ({found})",
        problems=[Problem(line["message"], path=f"{line['id']} {line['annotator']}") for line in report.left_out],
        hint="Nothing was written.",
    )


class _Run:
    """One export: what both dialects share."""

    def __init__(
        self,
        project: Project,
        target: Target,
        options: ExportOptions,
        notices: Notices,
        progress: Progress,
        report: ExportReport,
    ) -> None:
        self._project = project
        self._target = target
        self._options = options
        self._notices = notices
        self._progress = progress
        self._report = report

    def data_set(self, index: RecordIndex, out: Path) -> None:
        """Writes a folder for `load_dataset`: Parquet, card, ledger."""
        # A link to a folder stays a link.
        real = out.resolve()
        with staging(real) as stage, ExitStack() as extra:
            folder = stage / "data"
            folder.mkdir()
            with (
                open(folder / LEDGER, "wb") as ledger,
                ShardWriter(folder / self._target.name, self._target.schema(), self._options.shard_bytes) as shards,
            ):
                tally = Tally([ledger, *self._own_ledger(extra)])
                self._stream(index, tally, shards.add)
                written = shards.finish()
            tally.settle(len(index), written.rows, self._report)
            if not written.rows:
                raise _no_rows(self._report)
            verify_rows(written, self._target)
            text = card(self._project, self._target, self._report, written)
            (folder / CARD).write_text(text, encoding="utf-8", newline="\n")
            verify_folder(folder, self._target, written, stage / "cache")
            self._report.files += [out / file.relative_to(folder) for file in (folder / CARD, folder / LEDGER)]
            self._report.files += [out / file.relative_to(folder) for file in written.files]
            replace_folder(folder, real)

    def documented(self, index: RecordIndex, path: Path) -> None:
        """Writes one file in the form of Potato's documentation."""
        path.parent.mkdir(parents=True, exist_ok=True)
        as_array, target = path.suffix.lower() == ".json", self._target
        form = target.line if isinstance(target, Lines) and not as_array else target.documented
        with ExitStack() as extra:
            tally = Tally(self._own_ledger(extra))
            with replacing(path) as file:
                with DocumentWriter(file, as_array) as writer:
                    self._stream(index, tally, lambda row: writer.add(form(row)))
                tally.settle(len(index), writer.written, self._report)
            self._report.files.append(path)

    def corrections(self, index: RecordIndex, files: TrajectoryFiles) -> None:
        """Writes the documented files of trajectory corrections."""
        with ExitStack() as extra:
            tally = Tally(self._own_ledger(extra))
            with files:
                self._stream(index, tally, files.add, files.leave_out)
                tally.settle(len(index), files.rows, self._report)
            self._report.files += files.paths

    def _own_ledger(self, stack: ExitStack) -> list[BinaryIO]:
        """The ledger file that the caller named, if any; it takes its place when the stack closes."""
        path = self._options.ledger
        if path is None:
            return []
        path.parent.mkdir(parents=True, exist_ok=True)
        self._report.files.append(path)
        return [stack.enter_context(replacing(path))]

    def _stream(
        self,
        index: RecordIndex,
        tally: Tally,
        write: Callable[[Row], None],
        leave_out: Callable[[LeftOut], None] = lambda _: None,
    ) -> None:
        target = self._target
        for record, outcome in outcomes(self._project, index, target, self._notices):
            if isinstance(outcome, LeftOut):
                leave_out(outcome)
                tally.leave_out(Head.of(record), outcome)
            elif not isinstance(outcome, Held):
                rows = outcome if isinstance(outcome, list) else [outcome]
                for row in rows:
                    write(row)
                tally.row(Head.of(record), len(rows))
            self._progress(1)
        if isinstance(target, Late):
            for row in target.rows():
                write(row)
            for head, fate in target.fates():
                if isinstance(fate, LeftOut):
                    tally.leave_out(head, fate)
                else:
                    tally.row(head, fate)
