"""The demo on an Argilla server, in a workspace and with accounts that are made for it."""

import secrets
from collections.abc import Iterator, Mapping
from contextlib import contextmanager

from potato_bridge.converters.argilla.fields import read_meta
from potato_bridge.converters.argilla.layouts import LAYOUTS
from potato_bridge.converters.argilla.plan import Stored
from potato_bridge.model import Project, Record
from potato_bridge.notices import Notices
from potato_bridge.remotes.argilla import Argilla
from potato_bridge.remotes.argilla_values import Workspace
from potato_bridge.remotes.base import Ref
from potato_bridge.sync.argilla.backend import ArgillaBackend


class ArgillaDemo:
    """An Argilla server; see `run.DemoServer`."""

    name = "Argilla"

    def __init__(self, remote: Argilla, workspace: Workspace) -> None:
        self._remote, self._workspace = remote, workspace
        self.username = self.password = ""

    @classmethod
    @contextmanager
    def on(cls, remote: Argilla) -> "Iterator[ArgillaDemo]":
        """Makes a workspace for the demo. It stays: look at it, then delete it.

        Raises:
            RemoteError: The account is no owner.
        """
        yield cls(remote, remote.create_workspace(f"potato-bridge-demo-{secrets.token_hex(3)}"))

    def backend(self, project: Project, notices: Notices) -> ArgillaBackend:
        """See `run.DemoServer`."""
        return ArgillaBackend(project, self._remote, workspace=self._workspace.name, notices=notices)

    def annotate(self, project: Project, project_id: Ref, annotator: str, answers: Mapping[str, Record | None]) -> None:
        """See `run.DemoServer`."""
        records = {
            read_meta(record.metadata)["id"]: record
            for record in self._remote.records(str(project_id), responses=False)
        }
        username, _, _ = annotator.partition("@")
        user, key = self._remote.create_user(f"{username}-{secrets.token_hex(3)}", secrets.token_urlsafe(12))
        self._remote.add_to_workspace(self._workspace.id, user.id)
        with Argilla(self._remote.url, key) as remote:
            for item_id, record in answers.items():
                there = records[item_id]
                if record is None:
                    remote.respond(there.id, {}, status="discarded")
                    continue
                stored = Stored(there.external_id or "", there.fields, there.metadata or {})
                [values] = LAYOUTS["panel"].write_answer(project, record, [stored]).values()
                remote.respond(there.id, values)
                self.username = user.username
