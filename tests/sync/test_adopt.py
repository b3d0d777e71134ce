"""Onto a project that a team has already."""

from __future__ import annotations

import re
from typing import Any

import pytest

from potato_bridge.converters.label_studio.fields import MARKER
from potato_bridge.errors import OutcomeUnknownError, RemoteError, UsageError
from potato_bridge.remotes.label_studio import LabelStudio
from potato_bridge.sync.label_studio import send
from potato_bridge.sync.label_studio.adopt import Adoption
from potato_bridge.sync.label_studio.locate import project_marker
from tests.sync.fault_proxy import fault_proxy
from tests.sync.world import World, make_task

MOOD = """
<View>
  <Text name="text" value="$task"/>
  <Choices name="mood" toName="text"><Choice value="good"/><Choice value="bad"/></Choices>
  <TextArea name="why" toName="text"/>
</View>
"""


def make_theirs(world: World, title: str, tasks: list[dict[str, Any]] | None = None, **fields: Any) -> int:
    """A project that somebody made by hand."""
    http = world.server.http
    body = {"title": title, "label_config": MOOD, **fields}
    number: int = http.post("/api/projects/", json=body).raise_for_status().json()["id"]
    if tasks:
        http.post(f"/api/projects/{number}/import", json=tasks).raise_for_status()
    return number


def tasks_of(world: World, project: int) -> list[dict[str, Any]]:
    params = {"exportType": "JSON", "download_all_tasks": "true"}
    found: list[dict[str, Any]] = (
        world.server.http.get(f"/api/projects/{project}/export", params=params).raise_for_status().json()
    )
    return sorted(found, key=lambda task: int(task["id"]))


def whole(world: World, project: int) -> dict[str, Any]:
    found: dict[str, Any] = world.server.http.get(f"/api/projects/{project}/").raise_for_status().json()
    return {key: found[key] for key in ("label_config", "expert_instruction", "description", "task_number")}


def world_tasks(world: World, project: int | None) -> list[str]:
    assert project is not None
    return sorted(task["data"][MARKER] for task in tasks_of(world, project))


def accepted(seen: list[Adoption]) -> Any:
    return seen.append


def answer(world: World, task: int, *controls: tuple[str, str, dict[str, Any]], **fields: Any) -> int:
    result = [{"from_name": name, "to_name": "text", "type": kind, "value": value} for name, kind, value in controls]
    body = {"result": result, **fields}
    return int(world.server.http.post(f"/api/tasks/{task}/annotations/", json=body).raise_for_status().json()["id"])


def test_nothing_changes_before_it_was_confirmed(world: World) -> None:
    theirs = make_theirs(world, "Theirs, unconfirmed", description="Ours.", expert_instruction="Read.")
    before = whole(world, theirs)
    with pytest.raises(
        UsageError, match=f"project {theirs}, 'Theirs, unconfirmed', is not the project of config.yaml yet"
    ):
        world.push(project_ref=theirs)
    assert world.transport.writes() == []
    assert whole(world, theirs) == before
    with world.ledger() as ledger:
        assert ledger.project(world.server.url, "config.yaml") is None
    # Nor is it taken for the config's own project from now on.
    assert world.push(dry_run=True).project_id is None


def test_what_would_change_is_shown(world: World) -> None:
    foreign = [{"data": {"task": f"theirs {i}"}} for i in range(3)]
    same, (text, steps) = "trace_0", world.items["trace_1"]
    ours = [make_task(same, *world.items[same]), make_task("trace_1", text + ", once more", steps)]
    theirs = make_theirs(world, "Theirs, shown", [*foreign, *ours], description="x\npotato-bridge:abc")
    numbers = [task["id"] for task in tasks_of(world, theirs)]
    mood = ("mood", "choices", {"choices": ["good"]})
    answer(world, numbers[0], mood, ("why", "textarea", {"text": ["so"]}))
    answer(world, numbers[1], mood, was_cancelled=True)

    planned = world.push(project_ref=theirs, dry_run=True)
    assert planned.adoption is not None
    assert planned.adoption.describe() == [
        f"project {theirs}, 'Theirs, shown', is not the project of config.yaml yet. A push would",
        "  take it from another config, which has marked it as its own: both would change it in turns",
        "  replace its labeling interface",
        "    without mood: 2 answer(s) use it",
        "    without why: 1 answer(s) use it",
        "    with process_reward",
        f"  change the instruction of project {theirs}",
        f"  add our marker to the description of project {theirs}",
        "  leave 3 task(s) alone that are not of our items",
        "  use 2 task(s) that are there already, 1 of them to be updated",
        "  add 8 task(s)",
    ]
    assert planned.to_json()["adoption"]["removed"] == {"mood": 2, "why": 1}
    seen: list[Adoption] = []
    before = whole(world, theirs)
    # Label Studio keeps answers whose controls would go: it refuses, and nothing is half done.
    with pytest.raises(RemoteError, match="refuses the changed interface; nothing was changed") as caught:
        world.push(project_ref=theirs, confirm=accepted(seen))
    assert seen == [planned.adoption]
    assert "2 with from_name=mood" in str(caught.value) and "without --project" in str(caught.value)
    assert whole(world, theirs) == before
    with world.ledger() as ledger:
        assert ledger.project(world.server.url, "config.yaml") is None


def test_tasks_of_the_team_stay_as_they_are(world: World) -> None:
    theirs = make_theirs(world, "Theirs, foreign", [{"data": {"task": "theirs"}, "meta": {"batch": 7}}])
    (before,) = tasks_of(world, theirs)
    report = world.push(project_ref=theirs, confirm=accepted([]))
    assert (report.created, report.updated, report.plan.foreign) == (10, 0, 1)
    foreign, *ours = tasks_of(world, theirs)
    assert (foreign["id"], foreign["data"], foreign["meta"]) == (before["id"], before["data"], before["meta"])
    assert sorted(task["data"][MARKER] for task in ours) == sorted(world.items)


def test_an_empty_project_is_taken_by_its_title(world: World) -> None:
    title = "Theirs, empty"
    theirs = make_theirs(world, title, description="Ours.", maximum_annotations=3)
    seen: list[Adoption] = []
    report = world.push(project_ref=title, confirm=accepted(seen))
    assert (report.project_id, report.found, report.created, len(seen)) == (theirs, "option", 10, 1)
    there = world.server.http.get(f"/api/projects/{theirs}/").json()
    assert there["label_config"] == world.interface.label_config.strip()
    assert there["description"] == f"Ours.\n\n{project_marker(world.project)}"
    assert (there["title"], there["maximum_annotations"], there["show_instruction"]) == (title, 3, True)
    # From now on it is the config's: nobody asks, whether or not it is named.
    for ref in (None, title.upper(), str(theirs)):
        again = world.push(project_ref=ref)
        assert (again.project_id, again.adoption, again.plan.changes) == (theirs, None, False)


# --- by name ----------------------------------------------------------------------------------------------------------


def test_a_title_in_other_capitals_counts_where_none_is_exact(world: World) -> None:
    upper, lower = make_theirs(world, "TWINS"), make_theirs(world, "twins")
    assert [world.push(project_ref=title, dry_run=True).project_id for title in ("TWINS", "twins")] == [upper, lower]
    with pytest.raises(RemoteError, match=r"2 projects on .* have the title 'Twins'") as caught:
        world.push(project_ref="Twins")
    assert f"project {upper}: TWINS\n  project {lower}: twins\n" in str(caught.value)
    assert f"--project {upper}" in str(caught.value)
    make_theirs(world, "Only child")
    with pytest.raises(RemoteError, match=r"no project 'Onyl child' on .* that this account sees") as caught:
        world.pull(project_ref="Onyl child")
    assert "Did you mean 'Only child'?" in str(caught.value)
    with pytest.raises(RemoteError, match="no project 'nothing like it'") as caught:
        world.push(project_ref="nothing like it")
    # Of many projects the first are listed: the server is shared.
    assert re.search(r"\n  project \d+: ", str(caught.value)) and "Did you mean" not in str(caught.value)


def test_digits_are_an_id_before_they_are_a_title(world: World) -> None:
    other = make_theirs(world, "Something else")
    digits = make_theirs(world, f"{other:03}")
    unknown = make_theirs(world, "987654321")
    # "007" is the id 7; where no project has the id, the title counts.
    assert world.push(project_ref=f"{other:03}", dry_run=True).project_id == other
    assert world.push(project_ref="987654321", dry_run=True).project_id == unknown
    assert world.push(project_ref=str(digits), dry_run=True).project_id == digits


# --- imports that a server carries out later --------------------------------------------------------------------------


def test_an_import_in_the_background_is_followed_by_the_marker(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(send, "BATCH_TASKS", 4)
    monkeypatch.setattr(send, "_FIRST_PAUSE", 0.01)
    with fault_proxy(world.server.url) as proxy, LabelStudio(proxy.url, world.server.api_key) as remote:
        proxy.listings = 3
        proxy.spoil("POST", "/import", "later", times=99)
        report = world.push(remote, patience=60)
        sent = [path for method, path in proxy.requests if method == "POST" and "/import" in path]
        assert (len(sent), report.created, report.recovered) == (3, 10, 10)
        assert world_tasks(world, report.project_id) == sorted(world.items)
        again = world.push(remote)
        assert not again.plan.changes and again.plan.unchanged == 10
        with world.ledger() as ledger:
            assert ledger.intents(proxy.url, report.project_id or 0) == []


def test_an_import_in_the_background_that_never_comes(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(send, "_FIRST_PAUSE", 0.01)
    with fault_proxy(world.server.url) as proxy, LabelStudio(proxy.url, world.server.api_key) as remote:
        proxy.spoil("POST", "/import", "later")
        with pytest.raises(
            OutcomeUnknownError, match=r"in the background \(import 7\), and they are not there yet"
        ) as lost:
            world.push(remote, patience=0.1)
        assert lost.value.exit_code == 4 and "Run the same command again" in str(lost.value)
        report = world.push(remote, patience=0.1)
        assert (report.found, report.created, report.recovered) == ("ledger", 10, 0)
        assert world_tasks(world, report.project_id) == sorted(world.items)


def test_an_import_in_the_background_that_comes_after_the_push_gave_up(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(send, "_FIRST_PAUSE", 0.01)
    with fault_proxy(world.server.url) as proxy, LabelStudio(proxy.url, world.server.api_key) as remote:
        proxy.listings = 2
        proxy.spoil("POST", "/import", "later")
        with pytest.raises(OutcomeUnknownError):
            world.push(remote, patience=0)
        # The next push waits for it before it sends anything.
        report = world.push(remote, patience=60)
        assert (report.created, report.recovered, report.plan.changes) == (0, 10, False)
        assert world_tasks(world, report.project_id) == sorted(world.items)
