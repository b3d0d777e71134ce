"""The demo on a Label Studio that is started for it."""

import shutil
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from functools import partial
from pathlib import Path

from potato_bridge.converters.label_studio.fields import MARKER
from potato_bridge.converters.label_studio.interface import build_interface
from potato_bridge.converters.label_studio.results import write_results
from potato_bridge.errors import UsageError
from potato_bridge.model import Project, Record
from potato_bridge.notices import Notices
from potato_bridge.remotes.base import Ref
from potato_bridge.remotes.label_studio import LabelStudio
from potato_bridge.remotes.label_studio_server import LocalLabelStudio
from potato_bridge.sync.label_studio.backend import LabelStudioBackend
from potato_bridge.sync.label_studio.build import label_studio_tasks


def executable() -> Path:
    """The program.

    Raises:
        UsageError: It is not installed.
    """
    beside = Path(sys.executable).with_name("label-studio")
    found = beside if beside.exists() else shutil.which("label-studio")
    if found is None:
        raise UsageError("the demo needs a Label Studio to start", hint="Install it: pip install 'potato-bridge[demo]'")
    return Path(found)


class LabelStudioDemo:
    """A running Label Studio; see `run.DemoServer`."""

    name = "Label Studio"

    def __init__(self, server: LocalLabelStudio, remote: LabelStudio) -> None:
        self._server, self._remote = server, remote
        self.username, self.password = server.username, server.password

    @classmethod
    @contextmanager
    def running(cls, program: Path, folder: Path) -> "Iterator[LabelStudioDemo]":
        """Starts it; it is gone when the block ends."""
        with LocalLabelStudio(program, folder) as server, LabelStudio(server.url, server.token) as remote:
            yield cls(server, remote)

    def backend(self, project: Project, notices: Notices) -> LabelStudioBackend:
        """See `run.DemoServer`."""
        interface = build_interface(project, notices)
        return LabelStudioBackend(project, self._remote, interface, partial(label_studio_tasks, project))

    def annotate(self, project: Project, project_id: Ref, annotator: str, answers: Mapping[str, Record | None]) -> None:
        """See `run.DemoServer`."""
        tasks = {task["data"][MARKER]: task for task in self._remote.tasks(int(project_id), ["data", "meta"])}
        user = self._server.add_user(annotator, self._server.password)
        with LabelStudio(self._server.url, user.token) as remote:
            for item_id, record in answers.items():
                result = write_results(project, record, tasks[item_id]) if record else []
                remote.annotate(int(tasks[item_id]["id"]), result, skipped=record is None)
