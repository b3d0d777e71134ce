"""A project pushed to the shared Argilla, and people who annotate it in the panel."""

from __future__ import annotations

import json
import os
import shutil
from pathlib import Path
from typing import Any

from playwright.sync_api import FrameLocator, Locator, Page

from potato_bridge.converters.argilla.fields import unsafe
from potato_bridge.converters.argilla.plan import Layout
from potato_bridge.converters.potato.config import read_project
from potato_bridge.model import Record
from potato_bridge.notices import Notices
from potato_bridge.remotes.argilla import Argilla as Remote
from potato_bridge.sync.argilla.backend import ArgillaBackend
from potato_bridge.sync.ledger import Ledger
from potato_bridge.sync.pull import PullReport, pull
from potato_bridge.sync.push import PushReport, push
from potato_bridge.sync.records import read_records
from tests.servers.argilla import Argilla, ArgillaUser
from tests.servers.argilla_pages import open_records

ROOT = Path(__file__).resolve().parents[2]


class Desk:
    """One project in a workspace of its own.

    Args:
        argilla: The server.
        folder: Where the project is.
        example: Name of the example that it starts from; "": `folder` has one.
    """

    def __init__(self, argilla: Argilla, folder: Path, example: str = "", layout: Layout | None = None) -> None:
        self.argilla, self.folder, self.layout = argilla, folder, layout
        if example:
            shutil.copytree(ROOT / "examples" / example, folder, dirs_exist_ok=True)
            # Else a record leaves the other annotators' queues with its first answer.
            with (folder / "config.yaml").open("a") as config:
                config.write("\nmax_annotations_per_item: 2\n")
        self.workspace = argilla.add_workspace()
        [name] = [
            one["name"]
            for one in argilla.http.get("/api/v1/me/workspaces").json()["items"]
            if one["id"] == self.workspace
        ]
        self.workspace_name = str(name)
        self.remote = Remote(argilla.url, argilla.api_key)
        self.notices = Notices()
        self.records_file = folder / "records.jsonl"
        self.project = read_project(folder / "config.yaml", Notices())
        self.dataset = ""

    def close(self) -> None:
        self.remote.close()

    def read(self) -> None:
        """Reads the config again."""
        self.project = read_project(self.folder / "config.yaml", Notices())

    def backend(self, **options: Any) -> ArgillaBackend:
        self.notices = Notices()
        options = {"layout": self.layout, "workspace": self.workspace_name, "notices": self.notices, **options}
        return ArgillaBackend(self.project, self.remote, **options)

    def push(self, *, dry_run: bool = False, **options: Any) -> PushReport:
        with Ledger.beside(self.project.config) as ledger:
            report = push(self.backend(**options), ledger, notices=self.notices, dry_run=dry_run)
        self.dataset = str(report.project_id)
        return report

    def pull(self, **options: Any) -> PullReport:
        with Ledger.beside(self.project.config) as ledger:
            return pull(self.backend(), ledger, self.records_file, notices=self.notices, **options)

    def records(self) -> list[Record]:
        return list(read_records(self.records_file))

    def codes(self) -> set[str]:
        return {notice.code for notice in self.notices}

    def annotator(self) -> ArgillaUser:
        return self.argilla.add_user(workspace=self.workspace)

    def on_server(self, dataset: str = "") -> dict[str, dict[str, Any]]:
        """All records with their responses, by the id of their item."""
        path = f"/api/v1/datasets/{dataset or self.dataset}/records"
        params = {"include": "responses,suggestions", "limit": 1000}
        answer = self.argilla.http.get(path, params=params).raise_for_status()
        return {unsafe(record["external_id"]): record for record in answer.json()["items"]}

    def said(self, item: str, user: ArgillaUser) -> dict[str, Any] | None:
        """Status and values of somebody's response; the panel's answer decoded."""
        for response in self.on_server()[item]["responses"]:
            if response["user_id"] == user.id:
                values = {name: value["value"] for name, value in (response["values"] or {}).items()}
                if "answer" in values:
                    assert not set("<>&$") & set(values["answer"])
                    values["answer"] = json.loads(values["answer"])["schemes"]
                return {"status": response["status"], **values}
        return None

    def keep_only(self, item: str) -> None:
        """Deletes the other records, so that a page shows this one."""
        ids = [record["id"] for name, record in self.on_server().items() if name != item]
        self.remote.delete_records(self.dataset, ids)


def panel(page: Page) -> FrameLocator:
    """The panel of the record that is shown."""
    return page.frame_locator("iframe")


def ready(page: Page) -> FrameLocator:
    """The panel, when it has found the form."""
    found = panel(page)
    found.locator("body[data-bridge]").wait_for()
    return found


def open_panel(page: Page, dataset: str, *, status: str = "pending") -> FrameLocator:
    open_records(page, dataset, status=status)
    return ready(page)


def submit_button(page: Page) -> Locator:
    return page.locator("button.button--submit")


def shot(page: Page, name: str, at: Locator | None = None) -> None:
    """With POTATO_BRIDGE_SCREENSHOTS set, makes a picture of the documentation again."""
    if os.environ.get("POTATO_BRIDGE_SCREENSHOTS"):
        if at is not None:
            at.scroll_into_view_if_needed()
        path = ROOT / "docs" / "images" / f"{name}.png"
        page.screenshot(path=path)
        assert path.stat().st_size < 200_000, f"{path} is too large for the repository"


def is_changed(page: Page) -> bool:
    """Whether Argilla takes the record that is shown for changed since it was saved."""
    script = """() => { for (const node of document.querySelectorAll("*")) {
        const record = node.__vue__ && node.__vue__.$props && node.__vue__.$props.record;
        if (record && record.questions) return record.isModified; } }"""
    return bool(page.evaluate(script))
