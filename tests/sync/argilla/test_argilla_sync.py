"""Push and pull on a real Argilla, as on Label Studio."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from potato_bridge.converters.argilla.fields import read_meta
from potato_bridge.converters.argilla.layouts import LAYOUTS
from potato_bridge.converters.argilla.plan import Stored
from potato_bridge.errors import InputError, RemoteError
from potato_bridge.model import Record
from potato_bridge.model.process_reward import FirstError
from potato_bridge.sync.argilla import send
from tests.servers.argilla import Argilla, ArgillaUser
from tests.servers.argilla_desk import Desk

CONFIG = """
annotation_task_name: {name}
task_dir: .
data_files: [items.jsonl]
item_properties: {{id_key: id, text_key: task}}
max_annotations_per_item: 2
annotation_schemes:
  - {{annotation_type: process_reward, name: reward, mode: first_error, steps_key: steps, description: Find it}}
{more}
"""
NASTY_IDS = ["a b", "c/d", "</script>", "$& $$ $`", "é\u2028\u202e", "%41", "x" * 300]


class Team(Desk):
    """Ten items of four steps, which a test changes."""

    def __init__(self, argilla: Argilla, folder: Path, name: str) -> None:
        self.items = {f"trace_{n}": [f"step {n}.{k}" for k in range(4)] for n in range(10)}
        self.name, self.more, self.task = name, "", "Fix bug"
        self.folder = folder
        self.write()
        super().__init__(argilla, folder)

    def write(self) -> None:
        (self.folder / "config.yaml").write_text(CONFIG.format(name=self.name, more=self.more))
        rows = [
            {"id": item, "task": self.task, "steps": [{"action": step} for step in steps]}
            for item, steps in self.items.items()
        ]
        (self.folder / "items.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))

    def push_again(self, **options):
        self.write()
        self.read()
        return self.push(**options)

    def answer(self, item: str, step: int | None, user: ArgillaUser, status: str = "submitted", **more) -> None:
        record = self.on_server()[item]
        value = FirstError(first_error_step=step, total_steps=len(self.items[item])).to_json()
        stored = Stored(record["external_id"], record["fields"], record["metadata"])
        said = Record(id=item, annotator="", annotations={"reward": value, **more})
        [values] = LAYOUTS["panel"].write_answer(self.project, said, [stored]).values()
        body = {"status": status, "values": {name: {"value": one} for name, one in values.items()}}
        there = next((one["id"] for one in record["responses"] if one["user_id"] == user.id), None)
        http = self.argilla.client(user)
        if there:
            http.put(f"/api/v1/responses/{there}", json=body).raise_for_status()
        else:
            http.post(f"/api/v1/records/{record['id']}/responses", json=body).raise_for_status()

    def steps(self) -> dict[tuple[str, str], tuple[str, int | None]]:
        return {
            (one.id, one.annotator): (one.status, one.annotations.get("reward", {}).get("first_error_step"))
            for one in self.records()
        }


@pytest.fixture
def team(argilla, tmp_path, request):
    found = Team(argilla, tmp_path, request.node.name)
    yield found
    found.close()


def test_second_push_has_nothing_to_do(team):
    first = team.push()
    assert (first.found, first.created, first.updated) == ("created", 10, 0)
    assert sorted(team.on_server()) == sorted(team.items)
    second = team.push()
    assert second.describe() == "nothing to do: 10 item(s) are up to date"
    assert (second.found, second.plan.unchanged) == ("ledger", 10)
    # A colleague, without a ledger.
    (team.folder / ".potato-bridge" / "ledger.sqlite").unlink()
    assert (team.push().found, len(team.remote.datasets(team.workspace))) == ("marker", 1)


def test_dry_run_sends_nothing(team):
    report = team.push(dry_run=True)
    assert [op["op"] for op in report.to_json()["plan"]["operations"]] == ["create-dataset"] + ["create"] * 10
    assert team.remote.datasets(team.workspace) == []


def test_one_changed_item_is_one_update_and_answers_stay(team):
    team.push()
    ann = team.annotator()
    team.answer("trace_3", 1, ann)
    team.task = "Another text"
    team.items = {"trace_3": team.items["trace_3"]}
    report = team.push_again()
    assert (report.created, report.updated, len(report.plan.orphans)) == (0, 1, 9)
    assert len(team.on_server()["trace_3"]["responses"]) == 1
    assert "item-changed-after-answer" not in team.codes()
    assert not team.push().plan.changes


def test_changed_steps_mark_the_earlier_answers(team):
    team.push()
    ann, bob = team.annotator(), team.annotator()
    team.answer("trace_3", 3, ann)
    team.items["trace_3"] = ["a", "b"]
    team.push_again()
    assert "item-changed-after-answer" in team.codes()
    team.answer("trace_3", 1, bob)
    team.pull()
    old, new = sorted(team.records(), key=lambda one: one.annotator == bob.username)
    assert (old.annotations["reward"]["total_steps"], [flag.code for flag in old.flags]) == (4, ["item-changed"])
    assert (new.annotations["reward"]["total_steps"], new.flags) == (2, [])
    # A change of something else keeps the revisions.
    team.task = "Reworded"
    team.push_again()
    assert len(read_meta(team.on_server()["trace_3"]["metadata"])["revisions"]) == 1


def test_a_teams_metadata_survives_an_update(team):
    team.push()
    record = team.on_server()["trace_0"]
    metadata = {**record["metadata"], "batch": 7}
    team.argilla.http.patch(f"/api/v1/records/{record['id']}", json={"metadata": metadata}).raise_for_status()
    team.task = "Reworded"
    team.push_again()
    assert team.on_server()["trace_0"]["metadata"]["batch"] == 7


def test_nasty_ids(team):
    team.items = {item: ["a", "b"] for item in NASTY_IDS}
    assert team.push_again().created == len(NASTY_IDS)
    assert not team.push().plan.changes
    ann = team.annotator()
    for item in NASTY_IDS:
        team.answer(item, 1, ann)
    team.pull()
    assert [one.id for one in team.records()] == NASTY_IDS
    for record in team.on_server().values():
        assert not set("<>$&\u2028") & set(json.dumps(record, ensure_ascii=False).replace("\\u", ""))


def test_every_state_of_an_answer(team):
    team.push()
    ann, bob = team.annotator(), team.annotator()
    team.answer("trace_0", 1, ann)
    team.answer("trace_0", None, bob)
    team.answer("trace_1", 2, ann, status="draft")
    team.answer("trace_2", 2, ann, status="discarded")
    report = team.pull()
    assert (report.mode, report.new, report.submitted, report.skipped, report.difference) == ("full", 3, 2, 1, 0)
    a, b = ann.username, bob.username
    assert team.steps() == {
        ("trace_0", a): ("submitted", 1),
        ("trace_0", b): ("submitted", None),
        ("trace_2", a): ("skipped", 2),
    }
    before = team.records_file.read_bytes()
    assert team.pull().describe().startswith("nothing new")
    assert team.records_file.read_bytes() == before
    # Changed, submitted, and taken back.
    team.answer("trace_0", 3, ann)
    team.answer("trace_1", 0, ann)
    team.answer("trace_2", 2, ann, status="draft")
    report = team.pull()
    assert (report.mode, report.new, report.changed, report.withdrawn) == ("incremental", 1, 1, 1)
    assert team.steps()[("trace_0", a)] == ("submitted", 3)
    assert team.steps()[("trace_1", a)] == ("submitted", 0)
    assert team.steps()[("trace_2", a)][0] == "withdrawn"
    # A discard without any value; an account that is deleted takes its answers with it.
    record = team.on_server()["trace_4"]["id"]
    team.argilla.client(bob).post(
        f"/api/v1/records/{record}/responses", json={"status": "discarded"}
    ).raise_for_status()
    team.pull()
    assert team.steps()[("trace_4", b)] == ("skipped", None)
    team.argilla.http.delete(f"/api/v1/users/{bob.id}").raise_for_status()
    report = team.pull()
    assert (report.withdrawn, report.difference) == (2, 0)
    assert team.steps()[("trace_0", b)][0] == "withdrawn"


def test_drafts_on_demand(team):
    team.push()
    ann = team.annotator()
    team.answer("trace_1", 2, ann, status="draft")
    team.pull(drafts=True)
    assert team.steps() == {("trace_1", ann.username): ("draft", 2)}
    team.answer("trace_1", 2, ann)
    report = team.pull()
    assert (report.new, report.drafts_gone) == (1, 1)
    assert team.steps() == {("trace_1", ann.username): ("submitted", 2)}


def test_a_broken_answer_is_kept_and_reported(team):
    team.push()
    ann = team.annotator()
    record = team.on_server()["trace_0"]
    body = {"status": "submitted", "values": {"answer": {"value": '{"v":1,"schemes":{"rew'}}}
    team.argilla.client(ann).post(f"/api/v1/records/{record['id']}/responses", json=body).raise_for_status()
    team.pull()
    [found] = team.records()
    assert [flag.code for flag in found.flags] == ["bad-result", "missing-required"]
    assert found.controls == {"answer": [{"raw": '{"v":1,"schemes":{"rew'}]}
    assert "flagged-answer" in team.codes()


def test_changed_questions_are_a_new_version_with_the_answers(team):
    team.push()
    ann = team.annotator()
    team.answer("trace_0", 1, ann)
    team.answer("trace_1", 2, ann, status="draft")
    team.pull()
    old = team.dataset
    team.more = "  - {annotation_type: radio, name: mood, description: Mood, labels: [good, bad]}"
    team.write()
    team.read()
    assert [op["op"] for op in team.push(dry_run=True).to_json()["plan"]["operations"]][:1] == ["new-version"]
    report = team.push()
    assert (report.created, report.title) == (10, f"{team.name} v2")
    assert "new-version" in team.codes() and team.dataset != old
    assert {one["status"] for one in team.on_server()["trace_0"]["responses"]} == {"submitted"}
    assert {one["status"] for one in team.on_server()["trace_1"]["responses"]} == {"draft"}
    assert not team.push().plan.changes
    # The answer has moved: there is one line of it still.
    report = team.pull()
    assert (report.new, report.changed) == (0, 1)
    [record] = team.records()
    assert (record.source.project, record.annotations["reward"]["first_error_step"]) == (team.dataset, 1)
    # What became required is not answered: then it is only a suggestion.
    team.more = "  - {annotation_type: radio, name: tone, description: Tone, labels: [a, b], required: true}"
    team.push_again()
    assert "answer-became-suggestion" in team.codes()
    assert team.on_server()["trace_0"]["responses"] == []
    assert {one["value"][:6] for one in team.on_server()["trace_0"]["suggestions"]} == {'{"v":1'}
    team.pull()
    assert len(team.records()) == 1


def test_what_can_change_is_changed_in_place(team):
    team.push()
    before = team.dataset
    (team.folder / "config.yaml").write_text(
        CONFIG.format(name=team.name, more="").replace("Find it", "Find it please").replace("item: 2", "item: 3")
    )
    team.read()
    report = team.push()
    assert report.describe().startswith("change the guidelines, change how many answers complete a record: 3")
    assert team.dataset == before
    there = team.remote.dataset(before)
    assert there is not None and there.min_submitted == 3 and "please" in str(there.guidelines)
    assert not team.push().plan.changes


def test_a_refused_record_is_named_and_the_others_are_sent(team, monkeypatch):
    from potato_bridge.sync.argilla import units

    honest = units.record_body

    def body(plan):
        found = honest(plan)
        if plan.external_id in ("trace_2", "trace_7"):
            found["fields"] = {"panel": "no object"}
        return found

    monkeypatch.setattr(units, "record_body", body)
    monkeypatch.setattr(send, "BATCH_RECORDS", 4)
    with pytest.raises(RemoteError, match="refuses 2 record") as caught:
        team.push()
    assert "item 'trace_2'" in str(caught.value) and "item 'trace_7'" in str(caught.value)
    [dataset] = team.remote.datasets(team.workspace)
    assert team.remote.count_records(dataset.id) == 8
    monkeypatch.undo()
    assert team.push().created == 2


def test_a_batch_of_which_every_record_is_refused(team, monkeypatch):
    """As many as one request has; each is refused, and what comes after them is sent."""
    from potato_bridge.sync.argilla import units

    honest = units.record_body

    def body(plan):
        found = honest(plan)
        if plan.external_id.startswith("bad"):
            found["fields"] = {"panel": "no object"}
        return found

    monkeypatch.setattr(units, "record_body", body)
    team.items = {f"bad_{n}": ["a"] for n in range(send.BATCH_RECORDS)} | {"good": ["a"]}
    team.write()
    with pytest.raises(RemoteError, match=f"refuses {send.BATCH_RECORDS} record") as caught:
        team.push()
    assert "item 'bad_0'" in str(caught.value) and f"and {send.BATCH_RECORDS - 20} more" in str(caught.value)
    [dataset] = team.remote.datasets(team.workspace)
    team.dataset = dataset.id
    assert set(team.on_server()) == {"good"}


def test_a_foreign_record_is_left_alone(team):
    team.push()
    body = {"items": [{"external_id": "theirs", "fields": {"panel": {"b64": ""}}}]}
    team.argilla.http.put(f"/api/v1/datasets/{team.dataset}/records/bulk", json=body).raise_for_status()
    assert team.push().plan.foreign == 1
    team.items["theirs"] = ["a"]
    with pytest.raises(InputError, match="a record of this id that is not ours"):
        team.push_again()


def test_a_data_set_of_somebody_else_is_refused(team):
    team.argilla.http.post(
        "/api/v1/datasets", json={"name": "theirs", "workspace_id": team.workspace}
    ).raise_for_status()
    from potato_bridge.sync.ledger import Ledger
    from potato_bridge.sync.push import push

    with (
        Ledger.beside(team.project.config) as ledger,
        pytest.raises(RemoteError, match="was not made by potato-bridge"),
    ):
        push(team.backend(), ledger, notices=team.notices, project_ref="theirs")


def test_pre_labels_are_suggestions(team, tmp_path):
    def write(step):
        value = FirstError(first_error_step=step, total_steps=4).to_json()
        path = tmp_path / "model.jsonl"
        path.write_text(json.dumps({"id": "trace_0", "model_version": "m 1", "annotations": {"reward": value}}) + "\n")
        return path

    team.push(prelabels=write(2))
    [suggestion] = team.on_server()["trace_0"]["suggestions"]
    assert (json.loads(suggestion["value"])["schemes"], suggestion["agent"]) == (
        {"reward": {"first_error_step": 2}},
        "m 1",
    )
    assert not team.push(prelabels=write(2)).plan.changes
    # Without pre-labels those that are there stay.
    assert not team.push().plan.changes
    ann, bob = team.annotator(), team.annotator()
    team.answer("trace_0", 2, ann)
    team.answer("trace_0", 1, bob)
    team.pull()
    assert {one.annotator: one.source.prelabel for one in team.records()} == {
        ann.username: {"reward": "kept"},
        bob.username: {"reward": "changed"},
    }
    assert {one.source.model_version for one in team.records()} == {"m 1"}
    report = team.push(prelabels=write(3))
    assert (report.prelabels, report.updated, report.created) == (1, 0, 0)
    [suggestion] = team.on_server()["trace_0"]["suggestions"]
    assert '"first_error_step":3' in suggestion["value"]
    assert len(team.on_server()["trace_0"]["responses"]) == 2


def test_a_layout_has_a_data_set_of_its_own(team):
    team.push()
    panel = team.dataset
    report = team.push(layout="native")
    assert (report.found, report.title) == ("created", f"{team.name} (native)")
    assert team.dataset != panel and "sort=metadata.trace_id.asc" in str(report.project_url)
    # Without a word, the one that was pushed last is meant; with one, the other.
    assert team.push().project_id == report.project_id
    assert team.push(layout="panel").project_id == panel


class Steps(Team):
    """The same items, a record for each step."""

    def __init__(self, argilla: Argilla, folder: Path, name: str) -> None:
        super().__init__(argilla, folder, name)
        self.layout = "native"

    def write(self) -> None:
        super().write()
        path = self.folder / "config.yaml"
        path.write_text(
            path.read_text().replace("mode: first_error", "mode: per_step, per_step: {require_all_steps: true}")
        )

    def rate(self, item: str, labels: list[str], user: ArgillaUser) -> None:
        there = self.on_server()
        for n, label in enumerate(labels):
            record = there[f"{item}/step/{n:04d}"]
            body = {"status": "submitted", "values": {"reward": {"value": label}}}
            self.argilla.client(user).post(f"/api/v1/records/{record['id']}/responses", json=body).raise_for_status()

    def labels(self) -> dict[str, list[float | None]]:
        return {one.id: one.annotations["reward"]["labels"] for one in self.records()}


def test_an_item_of_several_records_is_pulled_when_it_is_whole(argilla, tmp_path):
    team = Steps(argilla, tmp_path, "several records")
    report = team.push_again()
    assert report.created == 40
    assert team.push().describe() == "nothing to do: 40 item(s) are up to date"
    good = team.project.schemes[0].per_step.labels[0]
    ann = team.annotator()
    team.rate("trace_0", [good.value] * 4, ann)
    team.rate("trace_1", [good.value] * 2, ann)
    report = team.pull()
    assert (report.new, report.submitted, report.difference) == (1, 6, 0)
    assert "answer-in-part" in team.codes()
    assert team.labels() == {"trace_0": [good.score] * 4}
    report = team.pull(drafts=True)
    assert {one.id: one.status for one in team.records()} == {"trace_0": "submitted", "trace_1": "draft"}
    assert team.labels()["trace_1"] == [good.score, good.score, None, None]
    # Steps go: what is left over of them is no part of the answer.
    team.items["trace_0"] = team.items["trace_0"][:2]
    team.items["trace_1"] = team.items["trace_1"][:2]
    report = team.push_again()
    assert len(report.plan.orphans) == 4
    report = team.pull()
    assert (report.new, report.drafts_gone, report.difference) == (1, 1, 0)
    assert team.labels() == {"trace_0": [good.score] * 2, "trace_1": [good.score] * 2}
    # A step comes: an answer that was whole is kept, and lacks something.
    team.items["trace_1"] = [*team.items["trace_1"], "one more"]
    # What was answered of a step that is another one now is an answer to the earlier one.
    team.items["trace_0"] = [*team.items["trace_0"], "another third step"]
    team.push_again()
    team.pull()
    other, first = sorted(team.records(), key=lambda one: one.id)
    assert "item-changed" in [flag.code for flag in other.flags]
    assert (first.status, [flag.code for flag in first.flags]) == ("submitted", ["missing-required"])
    assert first.annotations["reward"]["labels"] == [good.score, good.score, None]
    team.close()
