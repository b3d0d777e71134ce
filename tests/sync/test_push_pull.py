"""Push and pull on a real Label Studio."""

from __future__ import annotations

import json
from pathlib import Path

import msgspec
import pytest

from potato_bridge.converters.label_studio.fields import META
from potato_bridge.errors import AuthError, InputError, OutcomeUnknownError, RemoteError, StateError
from potato_bridge.model import decode, encode
from potato_bridge.model.record import Record, Source
from potato_bridge.remotes.label_studio import LabelStudio
from potato_bridge.sync.label_studio.locate import project_marker
from potato_bridge.sync.ledger import Ledger
from potato_bridge.sync.records import write_records
from tests.servers.label_studio import LabelStudio as Server
from tests.sync.fault_proxy import fault_proxy
from tests.sync.world import World, make_task

NASTY_IDS = [
    'a"b',
    "it's",
    "  leading and trailing  ",
    "line\nbreak",
    "100%25 *?[x]",
    "é😀\u202e",
    "x" * 200,
    "Case",
    "case",
    "back\\slash,comma;semicolon",
]


# --- push -------------------------------------------------------------------------------------------------------------


def test_second_push_has_nothing_to_do(world: World) -> None:
    first = world.push()
    assert (first.found, first.created, first.updated) == ("created", 10, 0)
    assert world.markers() == sorted(world.items)
    second = world.push()
    assert not second.plan.changes
    assert second.describe() == "nothing to do: 10 item(s) are up to date"
    assert (second.found, second.plan.unchanged, world.transport.writes()) == ("ledger", 10, [])


def test_project_as_made(world: World) -> None:
    world.push()
    there = world.server.http.get(f"/api/projects/{world.project_id}/").json()
    assert there["title"] == "test_project_as_made"
    assert there["label_config"] == world.interface.label_config.strip()
    assert there["expert_instruction"] == world.interface.instruction
    assert there["show_instruction"] is True
    assert there["description"].splitlines()[-1] == project_marker(world.project)


def test_dry_run_sends_nothing_and_makes_nothing(world: World) -> None:
    with Ledger.beside(world.project.config, write=False) as ledger:
        from potato_bridge.notices import Notices
        from potato_bridge.sync.push import push

        report = push(world.backend(), ledger, notices=Notices(), dry_run=True)
    assert world.transport.writes() == []
    assert [op["op"] for op in report.to_json()["plan"]["operations"]] == ["create-project"] + ["create"] * 10
    assert not (world.folder / ".potato-bridge").exists()


def test_one_changed_item_is_one_update_and_answers_stay(world: World) -> None:
    world.push()
    answer = world.annotate("trace_3", "step_1")
    world.items["trace_3"] = ("Another text", world.items["trace_3"][1])
    report = world.push()
    assert (report.created, report.updated, report.plan.unchanged) == (0, 1, 9)
    assert [method for method, _ in world.transport.writes()] == ["PATCH"]
    task = world.on_server()[world.task_id("trace_3")]
    assert task["data"]["task"] == "Another text"
    assert [a["id"] for a in task["annotations"]] == [answer]
    assert "revisions" not in task["meta"][META]
    assert "item-changed-after-answer" not in world.codes()
    assert not world.push().plan.changes


def test_changed_steps_mark_the_earlier_answers(world: World) -> None:
    world.push()
    early = world.annotate("trace_3", "step_3")
    world.items["trace_3"] = ("Fix bug 3", ["a", "b"])
    assert world.push(dry_run=True).plan.updates[0].steps_changed
    world.push()
    assert "item-changed-after-answer" in world.codes()
    late = world.annotate("trace_3", "step_1")
    world.pull()
    old, new = world.records()
    assert (old.source and old.source.annotation, new.source and new.source.annotation) == (early, late)
    assert old.annotations["process_reward"]["total_steps"] == 4
    assert old.annotations["process_reward"]["first_error_step"] == 3
    assert [flag.code for flag in old.flags] == ["item-changed"]
    assert new.annotations["process_reward"]["total_steps"] == 2
    assert new.flags == []
    # A second change without an answer in between adds no revision; the first one's answers stay the first one's.
    world.items["trace_3"] = ("Fix bug 3", ["a"])
    world.push()
    world.items["trace_3"] = ("Fix bug 3", ["a", "b", "c"])
    world.push()
    revisions = world.on_server()[world.task_id("trace_3")]["meta"][META]["revisions"]
    assert [revision["total_steps"] for revision in revisions] == [4, 2]
    world.pull()
    assert [r.annotations["process_reward"]["total_steps"] for r in world.records()] == [4, 2]


def test_steps_that_come_back_are_the_same_steps(world: World) -> None:
    world.push()
    world.annotate("trace_3", "step_3")
    before = world.items["trace_3"]
    world.items["trace_3"] = ("Fix bug 3", ["a"])
    world.push()
    world.items["trace_3"] = before
    world.push()
    world.pull()
    assert world.records()[0].flags == []


def test_meta_of_the_team_survives_an_update(world: World) -> None:
    world.push()
    task = world.task_id("trace_0")
    meta = world.on_server()[task]["meta"] | {"team": {"batch": 7}}
    world.server.http.patch(f"/api/tasks/{task}/", json={"meta": meta}).raise_for_status()
    world.items["trace_0"] = ("new", ["a"])
    world.push()
    assert world.on_server()[task]["meta"]["team"] == {"batch": 7}


def test_items_with_nasty_ids(world: World) -> None:
    world.items = {item_id: ("text", ["a", "b"]) for item_id in NASTY_IDS}
    assert world.push().created == len(NASTY_IDS)
    assert world.markers() == sorted(NASTY_IDS)
    assert not world.push().plan.changes
    for item_id in NASTY_IDS:
        world.annotate(item_id, "step_1")
    world.pull()
    assert [record.id for record in world.records()] == NASTY_IDS


def test_batches_are_bounded(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    from potato_bridge.sync.label_studio import send

    monkeypatch.setattr(send, "BATCH_TASKS", 4)
    world.push()
    assert sum("/import" in path for _, path in world.transport.writes()) == 3
    monkeypatch.setattr(send, "BATCH_BYTES", 1000)
    world.items |= {f"big_{i}": ("x" * 400, ["a"]) for i in range(4)}
    world.push()
    assert sum("/import" in path for _, path in world.transport.writes()) == 4
    assert len(world.markers()) == 14


def test_what_cannot_be_sent_is_named_before_anything_is_sent(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    from potato_bridge.sync.label_studio import backend

    monkeypatch.setattr(backend, "MAX_BODY", 5000)
    world.items["big"] = ("x" * 6000, ["a"])
    world.items["half"] = ("\ud83d", ["a"])
    with pytest.raises(InputError) as caught:
        # The hashing of the test's own tasks escapes; the bridge sends UTF-8.
        world.push()
    assert "'big' makes a task of" in str(caught.value)
    assert "'half': a text has half of a surrogate pair" in str(caught.value)
    assert world.transport.writes() == []


def test_two_items_with_one_id(world: World) -> None:
    def twice(notices: object) -> list[dict[str, object]]:
        return [make_task("same", "a", ["x"]), make_task("same", "b", ["x"])]

    world.tasks = twice  # type: ignore[assignment,method-assign]
    with pytest.raises(InputError, match="two items have the id 'same'"):
        world.push()


def test_a_refused_item_is_named(world: World) -> None:
    def tasks(notices: object) -> list[dict[str, object]]:
        good, bad = make_task("good", "a", ["x"]), make_task("bad", "b", ["x"])
        del bad["data"]["task"]
        return [good, bad]

    world.tasks = tasks  # type: ignore[assignment,method-assign]
    with pytest.raises(RemoteError, match="item 'bad' is refused") as caught:
        world.push()
    assert '"task" key is expected' in str(caught.value)
    assert len(str(caught.value)) < 600
    with world.ledger() as ledger:
        assert ledger.intents(world.server.url, 1) == []


def test_interface_and_instruction_are_updated_only_if_changed(world: World) -> None:
    world.push()
    world.server.http.patch(
        f"/api/projects/{world.project_id}/", json={"maximum_annotations": 3, "show_instruction": False}
    ).raise_for_status()
    from potato_bridge.converters.label_studio.interface import Interface

    label_config = world.interface.label_config.replace("<View>", '<View className="new">')
    # The server cleans this: it is stored as something else than was sent.
    world.interface = Interface(label_config, "<p>unclosed & <b>bold", "process_reward")
    report = world.push()
    assert [op.kind for op in report.plan.operations] == ["update-interface", "update-instruction"]
    there = world.server.http.get(f"/api/projects/{world.project_id}/").json()
    assert there["label_config"] == label_config.strip()
    assert (there["maximum_annotations"], there["show_instruction"]) == (3, False)
    assert not world.push().plan.changes


def test_an_interface_that_breaks_answers_is_refused(world: World) -> None:
    from potato_bridge.converters.label_studio.interface import Interface

    world.push()
    world.annotate("trace_0", "step_0")
    world.interface = Interface(
        world.interface.label_config.replace('name="process_reward"', 'name="other"'), "", "other"
    )
    with pytest.raises(RemoteError, match="refuses the changed interface") as caught:
        world.push()
    assert "from_name=process_reward" in str(caught.value)


# --- finding the project ----------------------------------------------------------------------------------------------


def test_project_is_found_by_its_marker_without_a_ledger(world: World) -> None:
    made = world.push().project_id
    _forget(world)
    again = world.push()
    assert (again.found, again.project_id, again.plan.changes) == ("marker", made, False)


def test_two_projects_with_the_marker(world: World) -> None:
    world.push()
    body = {"title": "a copy", "description": f"x\n {project_marker(world.project)} \ny"}
    copy = world.server.http.post("/api/projects/", json=body).raise_for_status().json()["id"]
    _forget(world)
    with pytest.raises(RemoteError, match=r"2 projects .* have the marker") as caught:
        world.push()
    assert "--project" in str(caught.value) and f"project {copy}: a copy" in str(caught.value)
    assert world.push(project_ref=copy).project_id == copy
    assert world.push().found == "ledger"


def test_project_that_was_deleted_is_made_again(world: World) -> None:
    first = world.push().project_id
    world.server.http.delete(f"/api/projects/{first}/").raise_for_status()
    report = world.push()
    assert (report.found, report.created) == ("created", 10)
    assert report.project_id != first
    assert "project-gone" in world.codes()


def test_description_of_the_team_gets_the_marker_back(world: World) -> None:
    world.push()
    path = f"/api/projects/{world.project_id}/"
    world.server.http.patch(path, json={"description": "Ours now."}).raise_for_status()
    assert [op.kind for op in world.push().plan.operations] == ["mark-project"]
    assert world.server.http.get(path).json()["description"] == f"Ours now.\n\n{project_marker(world.project)}"


def test_no_such_project(world: World) -> None:
    with pytest.raises(RemoteError, match="no project 999999"):
        world.push(project_ref=999999)
    with pytest.raises(RemoteError, match="Push first"):
        world.pull()


def test_foreign_orphan_and_duplicate_tasks(world: World) -> None:
    world.push()
    add = f"/api/projects/{world.project_id}/import"
    foreign = {"data": {"task": "theirs", "step_options": []}}
    # A colleague's copy: the marker in the data, and no meta.
    text, steps = world.items["trace_1"]
    copy = {"data": make_task("trace_1", text, steps)["data"]}
    world.server.http.post(add, json=[foreign, copy]).raise_for_status()
    del world.items["trace_9"]
    report = world.push()
    assert not report.plan.changes
    assert world.codes() == {"foreign-task", "orphan-task", "duplicate-task"}
    assert len(world.on_server()) == 12
    # The annotated one is used, even if it is the younger.
    younger = max(
        number for number, task in world.on_server().items() if task["data"].get("potato_bridge_id") == "trace_1"
    )
    world.server.http.post(f"/api/tasks/{younger}/annotations/", json={"result": []}).raise_for_status()
    assert [update.task_id for update in world.push().plan.updates] == [younger]
    assert not world.push().plan.changes


# --- pull -------------------------------------------------------------------------------------------------------------


def test_every_kind_of_answer(world: World) -> None:
    world.push()
    other = world.server.add_user("kinds@example.com")
    one = world.annotate("trace_0", "step_2")
    two = world.annotate("trace_0", "all_correct", other)
    skip = world.annotate("trace_1", None, was_cancelled=True)
    empty = world.annotate("trace_2", None)
    world.draft("trace_3", "step_0")
    report = world.pull()
    assert (report.mode, report.new, report.submitted, report.skipped) == ("full", 4, 3, 1)
    records = world.records()
    me = world.server.admin.email
    assert [(r.id, r.annotator, r.status, r.source and r.source.annotation) for r in records] == [
        ("trace_0", me, "submitted", one),
        ("trace_0", "kinds@example.com", "submitted", two),
        ("trace_1", me, "skipped", skip),
        ("trace_2", me, "submitted", empty),
    ]
    assert records[0].annotations["process_reward"] == {
        "mode": "first_error",
        "first_error_step": 2,
        "total_steps": 4,
        "labels": [1, 1, -1, -1],
    }
    assert records[1].annotations["process_reward"]["first_error_step"] is None
    assert records[0].lead_time == 12.5
    assert (records[2].annotations, records[2].flags) == ({}, [])
    assert (records[3].annotations, [flag.code for flag in records[3].flags]) == ({}, ["missing-required"])
    assert world.codes() == {"flagged-answer"}

    with_drafts = world.pull(drafts=True)
    assert (with_drafts.new, with_drafts.changed) == (1, 0)
    draft = world.records()[-1]
    assert (draft.id, draft.status, draft.annotator) == ("trace_3", "draft", me)
    assert draft.annotations["process_reward"]["first_error_step"] == 0
    # A pull without drafts leaves the draft alone, until it is submitted.
    world.annotate("trace_4", "step_0")
    assert world.pull().drafts_gone == 0
    drafts = f"/api/tasks/{world.task_id('trace_3')}/drafts"
    for there in world.server.http.get(drafts).json():
        world.server.http.delete(f"/api/drafts/{there['id']}/").raise_for_status()
    world.annotate("trace_3", "step_1")
    assert world.pull().drafts_gone == 1
    assert [(r.id, r.status) for r in world.records()][-2:] == [("trace_4", "submitted"), ("trace_3", "submitted")]


def test_a_second_pull_downloads_only_what_changed(world: World) -> None:
    world.push()
    world.annotate("trace_0", "step_0")
    first = world.annotate("trace_1", "step_1")
    world.pull()
    before = world.records_file.read_bytes()
    inode = world.records_file.stat().st_ino

    assert world.pull().describe() == "nothing new; 2 submitted, 0 skipped on the server"
    assert world.transport.exported() == []
    assert len(world.transport.requests) == 2
    assert world.records_file.stat().st_ino == inode

    world.annotate("trace_2", "step_2")
    world.change_answer(first, "step_3")
    report = world.pull()
    assert (report.mode, report.tasks, report.new, report.changed) == ("incremental", 2, 1, 1)
    assert sorted(world.transport.exported()) == sorted([world.task_id("trace_1"), world.task_id("trace_2")])
    lines = world.records_file.read_bytes().splitlines()
    assert lines[0] == before.splitlines()[0]
    assert [record.id for record in world.records()] == ["trace_0", "trace_1", "trace_2"]
    assert world.records()[1].annotations["process_reward"]["first_error_step"] == 3


def test_new_tasks_without_answers_are_not_downloaded(world: World) -> None:
    world.push()
    world.annotate("trace_0", "step_0")
    world.pull()
    world.items |= {f"more_{i}": ("text", ["a"]) for i in range(5)}
    world.push()
    world.pull()
    assert world.transport.exported() == []


def test_deleted_answers_become_withdrawn(world: World) -> None:
    world.push()
    kept, gone, with_task = (world.annotate(f"trace_{i}", "step_0") for i in range(3))
    world.pull()
    world.delete_answer(gone)
    report = world.pull()
    assert (report.mode, report.withdrawn) == ("incremental", 1)
    # The answers of a deleted task are noticed by their number alone.
    world.server.http.delete(f"/api/tasks/{world.task_id('trace_2')}/").raise_for_status()
    report = world.pull()
    assert (report.mode, report.why, report.withdrawn) == ("full", "the counts differ", 1)
    states = {r.source.annotation: r.status for r in world.records() if r.source}
    assert states == {kept: "submitted", gone: "withdrawn", with_task: "withdrawn"}
    assert world.records()[1].annotations["process_reward"]["first_error_step"] == 0
    assert world.pull().describe() == "nothing new; 1 submitted, 0 skipped on the server"


def test_foreign_answers_are_counted_and_not_imported(world: World) -> None:
    world.push()
    add = f"/api/projects/{world.project_id}/import?return_task_ids=true"
    foreign = [{"data": {"task": "theirs", "step_options": []}}]
    (task,) = world.server.http.post(add, json=foreign).raise_for_status().json()["task_ids"]
    world.server.http.post(f"/api/tasks/{task}/annotations/", json={"result": []}).raise_for_status()
    world.annotate("trace_0", "step_0")
    for _ in range(2):
        report = world.pull()
        assert (report.foreign_tasks, report.difference, len(world.records())) == (1, 0, 1)
        assert "foreign-task" in world.codes()
    assert report.mode == "incremental"


def test_lines_of_other_sources_stay(world: World) -> None:
    others = [
        Record(id="x", annotator="me", annotations={"q": 1}),
        Record(id="trace_0", annotator="a", annotations={}, source=Source(backend="argilla", project=1, annotation=1)),
    ]
    write_records(world.records_file, others)
    before = world.records_file.read_bytes()
    world.push()
    world.annotate("trace_0", "step_0")
    world.pull()
    assert world.records_file.read_bytes().startswith(before)
    assert len(world.records()) == 3


def test_a_records_file_that_is_gone_comes_back(world: World) -> None:
    world.push()
    world.annotate("trace_0", "step_0")
    world.pull()
    before = world.records_file.read_bytes()
    world.records_file.unlink()
    assert world.pull().why == "the records file is gone"
    assert world.records_file.read_bytes() == before


def test_without_a_ledger_nothing_is_lost_or_doubled(world: World) -> None:
    world.push()
    world.annotate("trace_0", "step_0")
    world.pull()
    before = world.records_file.read_bytes()
    _forget(world)
    assert world.pull().why == "the first pull"
    assert world.records_file.read_bytes() == before


def test_an_edit_in_the_file_is_kept_and_said(world: World) -> None:
    world.push()
    edited, other = world.annotate("trace_0", "step_0"), world.annotate("trace_1", "step_0")
    world.pull()
    mine = world.records()
    mine[0].annotations["process_reward"]["first_error_step"] = 1
    write_records(world.records_file, mine)
    world.change_answer(edited, "step_3")
    world.change_answer(other, "step_3")
    report = world.pull()
    assert (report.why, report.edited, report.changed) == ("the records file was changed", 1, 1)
    assert "local-edit-kept" in world.codes()
    assert [r.annotations["process_reward"]["first_error_step"] for r in world.records()] == [1, 3]
    # It stays as long as nobody asks for the server's.
    world.annotate("trace_2", "step_0")
    assert (world.pull().mode, world.records()[0].annotations["process_reward"]["first_error_step"]) == (
        "incremental",
        1,
    )
    assert world.pull(full=True).changed == 1
    assert world.records()[0].annotations["process_reward"]["first_error_step"] == 3


def test_reformatted_lines_are_no_edits(world: World) -> None:
    world.push()
    answer = world.annotate("trace_0", "step_0")
    world.pull()
    spaced = json.dumps(json.loads(world.records_file.read_bytes()), indent=None, sort_keys=True)
    world.records_file.write_text(spaced + "\n\n", encoding="utf-8")
    world.change_answer(answer, "step_1")
    report = world.pull()
    assert (report.changed, report.edited) == (1, 0)


def test_a_damaged_records_file_stops_before_anything_is_downloaded(world: World) -> None:
    world.push()
    world.records_file.write_bytes(b'{"id": "a", "annotator": "b", "annotations": {}}\n{"id": "tru')
    with pytest.raises(InputError, match=r"records\.jsonl:2: "):
        world.pull()
    world.records_file.write_bytes(b'{"id": "a", "annotator": "b", "annotations": {}, "schema": 99}\n')
    with pytest.raises(StateError, match="newer version"):
        world.pull()
    assert world.transport.exported() == []


def test_answers_of_a_deleted_account(world: World) -> None:
    world.push()
    leaver = world.server.add_user("leaver@example.com")
    world.annotate("trace_0", "step_0", leaver)
    world.pull()
    assert world.records()[0].annotator == "leaver@example.com"
    world.server.http.delete(f"/api/users/{leaver.id}/").raise_for_status()
    world.pull(full=True)
    assert [r.annotator for r in world.records()] == ["label_studio_user_unknown"]
    assert "unknown-annotator" in world.codes()


def test_marked_records(world: World) -> None:
    world.push()
    world.annotate("trace_0", "step_0")
    world.pull(mark={"demo": True})
    assert msgspec.json.decode(world.records_file.read_bytes())["demo"] is True
    assert decode(Record, encode(world.records()[0])).unknown == {"demo": True}


def test_status(world: World) -> None:
    assert world.status().project_id is None
    world.push()
    world.annotate("trace_0", "step_0")
    world.annotate("trace_1", None, was_cancelled=True)
    world.pull()
    world.annotate("trace_2", "step_0")
    world.items["new"] = ("text", ["a"])
    report = world.status()
    assert (report.items, report.pushed, report.annotated) == (11, 10, 3)
    assert (report.submitted, report.skipped, report.pulled) == (2, 1, 2)
    assert report.annotators == {world.server.admin.email: {"skipped": 1, "submitted": 1}}


# --- faults -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("fault", ["lose-answer", "504-after", "cut-body"])
def test_an_import_whose_answer_is_lost_is_not_sent_again(world: World, fault: str) -> None:
    world.push()
    world.items |= {f"more_{i}": ("text", ["a"]) for i in range(5)}
    with fault_proxy(world.server.url) as proxy, LabelStudio(proxy.url, world.server.api_key) as remote:
        proxy.spoil("POST", "/import", fault)  # type: ignore[arg-type]
        # The proxy's address is another server to the ledger.
        report = world.push(remote, project_ref=world.project_id, patience=5)
        imports = [path for method, path in proxy.requests if method == "POST"]
    assert (len(imports), report.created, report.recovered) == (1, 5, 5)
    assert world.markers() == sorted(world.items)


@pytest.mark.parametrize("fault", ["lose-request", "504-before", "500-before"])
def test_an_import_that_never_arrived_is_sent_by_the_next_push(world: World, fault: str) -> None:
    world.push()
    project_id = world.project_id
    world.items |= {f"more_{i}": ("text", ["a"]) for i in range(5)}
    with fault_proxy(world.server.url) as proxy, LabelStudio(proxy.url, world.server.api_key) as remote:
        proxy.spoil("POST", "/import", fault)  # type: ignore[arg-type]
        with pytest.raises(OutcomeUnknownError, match="Run the same command again"):
            world.push(remote, project_ref=project_id)
        assert world.push(remote, project_ref=project_id).created == 5
        assert not world.push(remote, project_ref=project_id).plan.changes
    assert world.markers() == sorted(world.items)


def test_a_killed_push_is_noticed_by_the_next(world: World) -> None:
    world.push()
    project_id, url = world.project_id, world.server.url
    newest = max(world.on_server())
    with world.ledger() as ledger:
        # As if the process had died after the server's commit, and before anything was read.
        ledger.begin(url, project_id, newest, ["more_0"])
    body = [make_task("more_0", "text", ["a"])]
    world.server.http.post(f"/api/projects/{project_id}/import", json=body).raise_for_status()
    world.items |= {"more_0": ("text", ["a"])}
    report = world.push()
    assert (report.recovered, report.created, report.plan.changes) == (1, 0, False)
    with world.ledger() as ledger:
        assert ledger.intents(url, project_id) == []


@pytest.mark.parametrize("fault", ["lose-answer", "504-after", "lose-request"])
def test_a_project_whose_answer_is_lost_is_made_once(world: World, fault: str) -> None:
    with fault_proxy(world.server.url) as proxy, LabelStudio(proxy.url, world.server.api_key) as remote:
        proxy.spoil("POST", "/api/projects/", fault)  # type: ignore[arg-type]
        try:
            world.push(remote)
        except OutcomeUnknownError:
            assert fault == "lose-request"
            world.push(remote)
    marker = project_marker(world.project)
    [made] = [project for project in world.remote.projects() if marker in project.description]
    views = world.server.http.get("/api/dm/views/", params={"project": made.project_id}).json()
    assert len(views) == 1


def test_a_view_that_is_refused_is_said(world: World) -> None:
    with fault_proxy(world.server.url) as proxy, LabelStudio(proxy.url, world.server.api_key) as remote:
        proxy.spoil("POST", "/api/dm/views/", "500-before", times=9)
        assert world.push(remote).created == len(world.items)
    [notice] = [notice for notice in world.notices if notice.code == "no-task-list-view"]
    assert notice.where.startswith("project ")


@pytest.mark.parametrize("fault", ["lose-answer", "504-after", "lose-request", "504-before"])
def test_an_update_whose_answer_is_lost_is_repeated(world: World, fault: str) -> None:
    world.push()
    world.annotate("trace_3", "step_3")
    world.items["trace_3"] = ("Fix bug 3", ["a", "b"])
    with fault_proxy(world.server.url) as proxy, LabelStudio(proxy.url, world.server.api_key) as remote:
        proxy.spoil("PATCH", "/api/tasks/", fault)  # type: ignore[arg-type]
        assert world.push(remote, project_ref=world.project_id).updated == 1
    meta = world.on_server()[world.task_id("trace_3")]["meta"][META]
    assert [revision["total_steps"] for revision in meta["revisions"]] == [4]


@pytest.mark.parametrize("fault", ["lose-answer", "504-before", "500-before", "429", "cut-body"])
@pytest.mark.parametrize("part", ["/api/tasks/?", "/export", "/api/users/", "/api/projects/"])
def test_reading_is_tried_again(world: World, fault: str, part: str) -> None:
    world.push()
    world.annotate("trace_0", "step_0")
    with fault_proxy(world.server.url) as proxy, LabelStudio(proxy.url, world.server.api_key) as remote:
        proxy.spoil("GET", part, fault, times=2)  # type: ignore[arg-type]
        world.pull(remote, project_ref=world.project_id)
    assert [record.id for record in world.records()] == ["trace_0"]


def test_a_fault_that_stays_leaves_the_file_as_it_was(world: World) -> None:
    world.push()
    world.annotate("trace_0", "step_0")
    world.pull(project_ref=world.project_id)
    before = world.records_file.read_bytes()
    world.annotate("trace_1", "step_0")
    with fault_proxy(world.server.url) as proxy, LabelStudio(proxy.url, world.server.api_key) as remote:
        proxy.spoil("GET", "/export", "504-before", times=99)
        with pytest.raises(RemoteError, match="504"):
            world.pull(remote, project_ref=world.project_id)
        proxy.spoil("GET", "/api/users/", "login-page")
    assert world.records_file.read_bytes() == before
    world.pull()
    assert [record.id for record in world.records()] == ["trace_0", "trace_1"]


def test_a_login_page_instead_of_an_answer(world: World) -> None:
    with fault_proxy(world.server.url) as proxy, LabelStudio(proxy.url, world.server.api_key) as remote:
        proxy.spoil("GET", "/api/", "login-page", times=99)
        with pytest.raises(RemoteError, match="login page"):
            remote.version()


# --- tokens -----------------------------------------------------------------------------------------------------------


def test_both_kinds_of_token(label_studio: Server) -> None:
    for token in (label_studio.api_key, label_studio.pat):
        with LabelStudio(label_studio.url + "/", f" {token}\n") as remote:
            assert remote.whoami().email == label_studio.username
            assert remote.version().startswith("1.")
            assert token not in repr(remote)


def test_tokens_that_are_not_accepted(label_studio: Server) -> None:
    pat = label_studio.pat
    refresh = label_studio.http.post("/api/token/refresh/", json={"refresh": pat}).raise_for_status()
    head, body, signature = pat.split(".")
    cases = {
        "f" * 40: "does not know this token",
        f"{head}.{body}.{signature[:-4]}AAAA": "does not accept the personal access token: Token is invalid",
        refresh.json()["access"]: "not a personal access token",
        "two words": "characters that no token has",
        "": "the access token is empty",
    }
    for token, message in cases.items():
        with pytest.raises(AuthError, match=message) as caught, LabelStudio(label_studio.url, token) as remote:
            remote.whoami()
        assert not token or token not in str(caught.value)


def test_legacy_tokens_switched_off(label_studio: Server) -> None:
    with LabelStudio(label_studio.url, label_studio.pat) as owner:
        settings = {"api_tokens_enabled": True, "api_token_ttl_days": 73000}
        body = msgspec.json.encode({**settings, "legacy_api_tokens_enabled": False})
        owner._http.write("POST", "/api/jwt/settings", body)
        try:
            with (
                LabelStudio(label_studio.url, label_studio.api_key) as remote,
                pytest.raises(AuthError, match="takes no legacy tokens") as caught,
            ):
                remote.whoami()
        finally:
            body = msgspec.json.encode({**settings, "legacy_api_tokens_enabled": True})
            owner._http.write("POST", "/api/jwt/settings", body)
    assert "Personal Access Token" in str(caught.value)


def test_an_access_token_that_ends_early_is_renewed(label_studio: Server) -> None:
    with LabelStudio(label_studio.url, label_studio.pat) as remote:
        remote.whoami()
        remote._http._access = "ended"
        assert remote.whoami().email == label_studio.username


def test_no_server(label_studio: Server) -> None:
    with (
        LabelStudio("http://127.0.0.1:1", "f" * 40) as remote,
        pytest.raises(RemoteError, match=r"cannot reach http://127\.0\.0\.1:1: ") as caught,
    ):
        remote.version()
    assert "--url" in str(caught.value)


def test_a_server_below_a_path(world: World) -> None:
    with fault_proxy(world.server.url, "/ls") as proxy:
        for token in (world.server.api_key, world.server.pat):
            with LabelStudio(f"{proxy.url}/", token) as remote:
                assert remote.whoami().email == world.server.username
                world.push(remote)
        assert world.push().found == "marker"
        with (
            LabelStudio(proxy.url.removesuffix("/ls"), world.server.api_key) as remote,
            pytest.raises(RemoteError, match="404 a web page, 'Not here'"),
        ):
            remote.version()


def _forget(world: World) -> None:
    folder: Path = world.folder / ".potato-bridge"
    for file in folder.iterdir():
        file.unlink()
