"""Between records files and Potato's `annotation_output`, for `pull --potato` and `export -i`."""

import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from potato_bridge.converters.potato.annotation_output import records_from_potato
from potato_bridge.converters.potato.user_states import state_files
from potato_bridge.converters.potato.write_output import WriteReport, write_annotation_output
from potato_bridge.model import Project
from potato_bridge.notices import Notices
from potato_bridge.sync.records import read_records, write_records


def is_annotation_output(path: Path) -> bool:
    """Whether a folder holds states that Potato's server wrote."""
    return bool(state_files(path))


@contextmanager
def potato_records(project: Project, folder: Path, notices: Notices, *, skip_corrupt: bool = False) -> Iterator[Path]:
    """The answers in an `annotation_output` as a records file, which is there for the length of the block.

    Raises:
        InputError: See `records_from_potato`.
    """
    with tempfile.TemporaryDirectory(prefix="potato-bridge-") as temporary:
        path = Path(temporary) / "records.jsonl"
        write_records(path, records_from_potato(project, folder, notices, skip_corrupt=skip_corrupt))
        yield path


def write_potato(project: Project, records: Path, folder: Path, notices: Notices) -> WriteReport:
    """Merges a records file into an `annotation_output`. Stop Potato first.

    Raises:
        InputError: See `write_annotation_output`; or the records file is none.
    """
    return write_annotation_output(project, read_records(records), folder, notices)
