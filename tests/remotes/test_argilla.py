"""The Argilla client on the real server."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import fields

import pytest

from potato_bridge.errors import AuthError, InputError, RemoteError
from potato_bridge.remotes import argilla as module
from potato_bridge.remotes.argilla import Argilla, batches
from potato_bridge.remotes.argilla_values import Counts, Dataset, User
from potato_bridge.remotes.base import UnansweredError
from potato_bridge.remotes.http import to_json
from tests.servers.argilla import Argilla as Server
from tests.sync.fault_proxy import fault_proxy

OPTIONS = [{"value": "good", "text": "Good"}, {"value": "bad", "text": "Bad"}]


@pytest.fixture
def workspace(argilla: Server) -> str:
    return argilla.add_workspace()


@pytest.fixture
def remote(argilla: Server) -> Iterator[Argilla]:
    with Argilla(argilla.url, argilla.api_key) as client:
        yield client


@pytest.fixture
def dataset(remote: Argilla, workspace: str) -> Dataset:
    """A published data set without records."""
    draft = remote.create_dataset(workspace, "runs", guidelines="Look twice.", metadata={"made_by": "potato-bridge"})
    remote.create_field(draft.id, {"name": "text", "title": "Text", "required": True, "settings": {"type": "text"}})
    verdict = {"type": "label_selection", "options": OPTIONS}
    remote.create_question(draft.id, {"name": "verdict", "title": "Verdict", "required": True, "settings": verdict})
    remote.create_question(draft.id, {"name": "notes", "title": "Notes", "settings": {"type": "text"}})
    return remote.publish(draft.id)


def record(number: int, **more: object) -> bytes:
    return to_json({"external_id": f"item_{number}", "fields": {"text": f"text {number}"}, **more})


def push(remote: Argilla, dataset: Dataset, count: int, **more: object) -> list[str]:
    """Records with steps for names; gives the server's ids."""
    made = [record(number, **more) for number in range(count)]
    return [stored.id for batch in batches(made) for stored in remote.upsert_records(dataset.id, batch)]


def test_who_is_there(argilla: Server, remote: Argilla, workspace: str) -> None:
    admin, annotator = argilla.add_user("admin", workspace=workspace), argilla.add_user(workspace=workspace)
    assert remote.version() == "2.8.0"
    assert (remote.status().version, remote.status().engine) == ("2.8.0", "tables")
    assert (remote.me().username, remote.me().role, remote.me().manages) == ("owner", "owner", True)
    assert workspace in {found.id for found in remote.workspaces()}
    assert {admin.id, annotator.id, remote.me().id} <= remote.users(workspace).keys()
    # The server sends everybody's key along; it is not kept.
    assert "api_key" not in {field.name for field in fields(User)}

    with Argilla(argilla.url, admin.api_key) as other:
        assert other.users(workspace).keys() == {admin.id, annotator.id}
        assert [found.id for found in other.workspaces()] == [workspace]
        with pytest.raises(AuthError, match="may not do this: Operation not allowed"):
            other.create_workspace("mine")
    with Argilla(argilla.url, annotator.api_key) as other:
        assert not other.me().manages
        with pytest.raises(AuthError):
            other.users(workspace)


def test_a_key_that_is_not_known(argilla: Server) -> None:
    with (
        Argilla(argilla.url, "not-a-key") as remote,
        pytest.raises(AuthError, match="does not know this API key") as no,
    ):
        remote.me()
    assert "not-a-key" not in str(no.value) + repr(remote)


def test_the_way_of_a_dataset(remote: Argilla, workspace: str) -> None:
    draft = remote.create_dataset(workspace, "way", min_submitted=2, metadata={"a": 1})
    assert (draft.status, draft.guidelines, draft.min_submitted, draft.metadata) == ("draft", None, 2, {"a": 1})
    assert draft.inserted_at.endswith("Z")
    with pytest.raises(RemoteError, match="cannot be published without fields"):
        remote.publish(draft.id)
    with pytest.raises(RemoteError, match="already exists"):
        remote.create_dataset(workspace, "way")

    template = {"type": "custom", "template": "<p id=x></p>", "advanced_mode": True}
    field = remote.create_field(draft.id, {"name": "page", "title": "Page", "required": True, "settings": template})
    question = remote.create_question(
        draft.id, {"name": "answer", "title": "Answer", "required": True, "settings": {"type": "text"}}
    )
    prop = remote.create_metadata_property(
        draft.id, {"name": "step", "title": "Step", "settings": {"type": "integer"}, "visible_for_annotators": False}
    )
    vector = remote.create_vector_settings(draft.id, {"name": "v", "title": "V", "dimensions": 2})
    assert remote.publish(draft.id).status == "ready"
    assert remote.fields(draft.id) == [field]
    assert remote.questions(draft.id) == [question]
    assert remote.metadata_properties(draft.id) == [prop]
    assert remote.vectors_settings(draft.id) == [vector]

    remote.update_field(field.id, {"settings": template | {"template": "<p id=y></p>"}})
    remote.update_question(question.id, {"title": "Your answer"})
    assert remote.fields(draft.id)[0].settings["template"] == "<p id=y></p>"
    assert remote.questions(draft.id)[0].title == "Your answer"
    changed = remote.update_dataset(draft.id, guidelines="New.", min_submitted=1)
    assert remote.dataset(draft.id) == changed
    assert (changed.guidelines, changed.min_submitted, changed.name) == ("New.", 1, "way")
    assert remote.update_dataset(draft.id, guidelines="").guidelines is None

    assert [found.id for found in remote.datasets(workspace, "way")] == [draft.id]
    assert remote.datasets(workspace, "another") == []
    remote.delete_dataset(draft.id)
    assert remote.dataset(draft.id) is None
    assert remote.datasets(workspace) == []


def test_metadata_of_a_dataset_is_fixed(argilla: Server, remote: Argilla, dataset: Dataset) -> None:
    """Why `update_dataset` does not take it: the answer says that it was changed, and it was not."""
    path = f"/api/v1/datasets/{dataset.id}"
    answer = argilla.http.patch(path, json={"metadata": {"made_by": "another"}}).raise_for_status().json()
    assert answer["metadata"] == {"made_by": "another"}
    again = remote.dataset(dataset.id)
    assert again is not None and again.metadata == {"made_by": "potato-bridge"}


def test_an_upsert_makes_and_updates(argilla: Server, remote: Argilla, workspace: str, dataset: Dataset) -> None:
    verdict = next(question for question in remote.questions(dataset.id) if question.name == "verdict")
    offer = {"question_id": verdict.id, "value": "bad", "agent": "judge", "score": 0.5}
    ids = push(remote, dataset, 3, metadata={"run": "a"}, suggestions=[offer])
    assert remote.count_records(dataset.id) == 3

    annotator = argilla.add_user(workspace=workspace)
    with Argilla(argilla.url, annotator.api_key) as other:
        given = other.respond(ids[1], {"verdict": "good", "notes": "fine"})
        other.respond(ids[2], {}, status="discarded")
        with pytest.raises(RemoteError, match="already exists"):
            other.respond(ids[1], {"verdict": "bad"})

    # What an upsert leaves out stays.
    again = [to_json({"external_id": "item_1", "fields": {"text": "changed"}})]
    assert remote.upsert_records(dataset.id, again)[0].id == ids[1]
    found = {row.external_id: row for row in remote.records(dataset.id, suggestions=True)}
    assert [row.id for row in found.values()] == ids
    assert [row.fields["text"] for row in found.values()] == ["text 0", "changed", "text 2"]
    assert [row.metadata for row in found.values()] == [{"run": "a"}] * 3
    assert [row.status for row in found.values()] == ["pending", "completed", "pending"]
    assert found["item_1"].responses == [given]
    assert given.values == {"verdict": {"value": "good"}, "notes": {"value": "fine"}}
    assert (given.user_id, given.status, given.record_id) == (annotator.id, "submitted", ids[1])
    assert given.inserted_at.endswith("Z")
    (offered,) = found["item_0"].suggestions or []
    assert (offered.value, offered.agent, offered.score, offered.question_id) == ("bad", "judge", 0.5, verdict.id)
    discarded = found["item_2"].responses or []
    assert [(answer.status, answer.values) for answer in discarded] == [("discarded", None)]
    (progress,) = remote.progress(dataset.id)
    assert (progress.username, progress.completed, progress.pending) == (
        annotator.username,
        Counts(submitted=1),
        Counts(discarded=1),
    )
    # Not asked for is not the same as none.
    bare = next(remote.records(dataset.id, responses=False))
    assert (bare.responses, bare.suggestions) == (None, None)


def test_answers_show_in_the_last_activity_and_pushes_do_not(
    argilla: Server, remote: Argilla, workspace: str, dataset: Dataset
) -> None:
    ids = push(remote, dataset, 2)
    pushed = remote.dataset(dataset.id)
    assert pushed is not None and pushed.last_activity_at == dataset.last_activity_at
    with Argilla(argilla.url, argilla.add_user(workspace=workspace).api_key) as other:
        other.respond(ids[0], {"verdict": "good"}, status="draft")
    answered = remote.dataset(dataset.id)
    assert answered is not None and answered.last_activity_at > pushed.last_activity_at


def test_a_refused_batch_leaves_nothing(remote: Argilla, dataset: Dataset) -> None:
    bad = to_json({"external_id": "bad", "fields": {"other": "x"}})
    with pytest.raises(RemoteError, match="Record at position 1 is not valid") as refused:
        remote.upsert_records(dataset.id, [record(0), bad])
    assert not isinstance(refused.value, UnansweredError)
    with pytest.raises(RemoteError, match=r"body\.items: .*External IDs must be unique"):
        remote.upsert_records(dataset.id, [record(0), record(0)])
    # One wrong value has an error for each type that it could have had: three are shown.
    wrong = to_json({"external_id": "bad", "fields": {"text": 7}})
    with pytest.raises(RemoteError, match=r"body\.items\.0\.fields\.text\.") as refused:
        remote.upsert_records(dataset.id, [wrong])
    assert len(str(refused.value)) < 700
    assert remote.count_records(dataset.id) == 0
    with pytest.raises(InputError, match="surrogate"):
        to_json({"text": "\ud800"})


def test_all_records_come_whatever_the_page(remote: Argilla, dataset: Dataset, monkeypatch: pytest.MonkeyPatch) -> None:
    assert list(remote.records(dataset.id)) == []
    ids = push(remote, dataset, 23)
    for first, size in ((1, 1), (2, 4000), (11, 300), (22, 100_000), (23, 100_000), (50, 100_000)):
        monkeypatch.setattr(module, "_PAGE_FIRST", first)
        monkeypatch.setattr(module, "_PAGE_BYTES", size)
        assert [row.id for row in remote.records(dataset.id)] == ids, (first, size)


def test_records_deleted_while_they_are_read_hide_no_others(
    remote: Argilla, dataset: Dataset, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "_PAGE_FIRST", 5)
    ids = push(remote, dataset, 12)
    found: list[str] = []
    for row in remote.records(dataset.id):
        found.append(row.id)
        if len(found) == 5:
            remote.delete_records(dataset.id, ids[1:3])
    assert len(found) == len(set(found))
    assert set(ids) - set(ids[1:3]) <= set(found)


def test_deleting_many_and_again(remote: Argilla, dataset: Dataset) -> None:
    ids = push(remote, dataset, 120)
    remote.delete_records(dataset.id, ids[:110])
    remote.delete_records(dataset.id, ids[:110])
    assert [row.id for row in remote.records(dataset.id)] == ids[110:]


def test_the_limit_of_an_upsert_is_the_servers(remote: Argilla, dataset: Dataset) -> None:
    with pytest.raises(RemoteError, match="at most 500 items"):
        remote.upsert_records(dataset.id, [record(number) for number in range(module.MAX_RECORDS + 1)])


def test_batches_have_two_limits(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "MAX_RECORDS", 3)
    monkeypatch.setattr(module, "MAX_BYTES", 10)
    assert list(batches([])) == []
    assert list(batches([b"a"] * 7)) == [[b"a"] * 3, [b"a"] * 3, [b"a"]]
    large = b"x" * 20
    assert list(batches([b"aaaa", large, b"bbbb", b"cccc", b"dddd"])) == [
        [b"aaaa"],
        [large],
        [b"bbbb", b"cccc"],
        [b"dddd"],
    ]


@pytest.mark.parametrize("fault", ["lose-answer", "504-after", "lose-request", "504-before"])
def test_an_upsert_whose_answer_is_lost_is_repeated_without_harm(
    argilla: Server, remote: Argilla, dataset: Dataset, fault: str
) -> None:
    with fault_proxy(argilla.url, "/argilla") as proxy, Argilla(proxy.url, argilla.api_key) as through:
        proxy.spoil("PUT", "/records/bulk", fault)  # type: ignore[arg-type]
        with pytest.raises(UnansweredError, match="may have carried it out"):
            through.upsert_records(dataset.id, [record(0), record(1)])
        stored = through.upsert_records(dataset.id, [record(0), record(1)])
        assert len(proxy.requests) == 2
    assert [(row.id, row.external_id) for row in remote.records(dataset.id)] == [
        (stored[0].id, "item_0"),
        (stored[1].id, "item_1"),
    ]


def test_reading_outlives_faults(argilla: Server, remote: Argilla, dataset: Dataset) -> None:
    ids = push(remote, dataset, 3)
    with fault_proxy(argilla.url) as proxy, Argilla(proxy.url, argilla.api_key) as through:
        for fault in ("504-before", "cut-body", "429"):
            proxy.spoil("GET", "/records", fault)  # type: ignore[arg-type]
        assert [row.id for row in through.records(dataset.id)] == ids
        proxy.spoil("GET", "/records", "login-page")
        with pytest.raises(RemoteError, match="login page"):
            list(through.records(dataset.id))
