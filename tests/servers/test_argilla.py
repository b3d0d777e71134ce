"""The Argilla server that other tests rely on: its API, its search engine, its jobs and its pages."""

from __future__ import annotations

import pytest

from tests.servers import argilla as servers
from tests.servers.annotator import errors
from tests.servers.argilla_pages import discard, open_records, submit

TEXT = {"name": "text", "title": "Text", "required": True, "settings": {"type": "text"}}
VERDICT = {
    "name": "verdict",
    "title": "Verdict",
    "required": True,
    "settings": {
        "type": "label_selection",
        "options": [{"value": "good", "text": "Good"}, {"value": "bad", "text": "Bad"}],
    },
}
STEP = {"name": "step", "title": "Step", "settings": {"type": "integer"}}


@pytest.fixture
def workspace(argilla):
    return argilla.add_workspace()


@pytest.fixture
def dataset(argilla, workspace):
    """A published data set with four records, whose steps count down."""
    http = argilla.http
    made = http.post("/api/v1/datasets", json={"name": "smoke", "workspace_id": workspace}).raise_for_status().json()
    path = f"/api/v1/datasets/{made['id']}"
    for what, body in (("fields", TEXT), ("questions", VERDICT), ("metadata-properties", STEP)):
        http.post(f"{path}/{what}", json=body).raise_for_status()
    http.put(f"{path}/publish").raise_for_status()
    items = [
        {"external_id": f"item_{i}", "fields": {"text": f"the text {i}"}, "metadata": {"step": 9 - i}} for i in range(4)
    ]
    http.put(f"{path}/records/bulk", json={"items": items}).raise_for_status()
    yield made["id"]
    http.delete(path).raise_for_status()


def records(argilla, dataset):
    answer = argilla.http.get(f"/api/v1/datasets/{dataset}/records", params={"include": "responses"})
    return {record["external_id"]: record for record in answer.raise_for_status().json()["items"]}


def search(client, dataset, body, scope=""):
    answer = client.post(f"/api/v1{scope}/datasets/{dataset}/records/search", json=body).raise_for_status().json()
    return answer["total"], [item["record"]["external_id"] for item in answer["items"]]


def terms(values, **scope):
    return {"filters": {"and": [{"type": "terms", "scope": scope, "values": values}]}}


def answer(client, record, value, status="submitted"):
    body = {"values": {"verdict": {"value": value}}, "status": status}
    return client.post(f"/api/v1/records/{record['id']}/responses", json=body).raise_for_status().json()


def test_every_role_has_a_key_of_its_own(argilla, workspace):
    for role in ("owner", "admin", "annotator"):
        user = argilla.add_user(role, workspace=workspace)
        me = argilla.client(user).get("/api/v1/me").raise_for_status().json()
        assert (me["username"], me["role"]) == (user.username, role)
    stranger = argilla.http.get("/api/v1/me", headers={"X-Argilla-Api-Key": "nobody's"})
    assert stranger.status_code == 401


def test_answers_are_listed_and_found(argilla, workspace, dataset):
    ann, bob = (argilla.add_user(workspace=workspace) for _ in range(2))
    there = records(argilla, dataset)
    answer(argilla.client(ann), there["item_0"], "good")
    answer(argilla.client(ann), there["item_1"], "bad", "draft")
    answer(argilla.client(bob), there["item_1"], "good")

    now = records(argilla, dataset)
    assert {response["user_id"] for response in now["item_1"]["responses"]} == {ann.id, bob.id}
    assert [now[f"item_{i}"]["status"] for i in range(4)] == ["completed", "completed", "pending", "pending"]

    http = argilla.http
    state = {"entity": "response", "property": "status"}
    assert sorted(search(http, dataset, terms(["submitted"], **state))[1]) == ["item_0", "item_1"]
    assert search(http, dataset, terms(["draft"], **state)) == (1, ["item_1"])
    # The pages ask as the annotator, whose queue is what that person has not answered.
    mine = argilla.client(ann)
    assert sorted(search(mine, dataset, terms(["pending"], **state), "/me")[1]) == ["item_2", "item_3"]
    assert search(http, dataset, terms(["bad"], entity="response", question="verdict")) == (1, ["item_1"])
    assert search(http, dataset, terms(["item_3"], entity="record", property="external_id")) == (1, ["item_3"])
    by_step = {"sort": [{"scope": {"entity": "metadata", "metadata_property": "step"}, "order": "asc"}]}
    assert search(http, dataset, by_step)[1] == ["item_3", "item_2", "item_1", "item_0"]
    assert search(http, dataset, {"query": {"text": {"q": "text 2"}}}) == (1, ["item_2"])

    assert http.get(f"/api/v1/datasets/{dataset}/progress").json()["completed"] == 2
    metrics = mine.get(f"/api/v1/me/datasets/{dataset}/metrics").json()["responses"]
    assert metrics == {"total": 4, "submitted": 1, "discarded": 0, "draft": 1, "pending": 2}


def test_jobs_are_carried_out(argilla, workspace, dataset):
    """A changed distribution reaches the records through Redis and a worker."""
    user = argilla.add_user(workspace=workspace)
    answer(argilla.client(user), records(argilla, dataset)["item_0"], "good")
    distribution = {"strategy": "overlap", "min_submitted": 2}
    argilla.http.patch(f"/api/v1/datasets/{dataset}", json={"distribution": distribution}).raise_for_status()
    # Each look takes some milliseconds, the job tenths of a second.
    assert any(records(argilla, dataset)["item_0"]["status"] == "pending" for _ in range(2000))


def test_an_annotator_works_in_the_pages(argilla, argilla_page, workspace, dataset):
    user = argilla.add_user(workspace=workspace)
    page = argilla_page(user)
    there = records(argilla, dataset)

    open_records(page, dataset, sort="metadata.step.asc")
    page.get_by_text("the text 3").wait_for()
    page.get_by_text("Good", exact=True).click()
    saved = submit(page)
    assert (saved["record_id"], saved["user_id"]) == (there["item_3"]["id"], user.id)
    assert saved["values"] == {"verdict": {"value": "good"}}

    page.get_by_text("the text 2").wait_for()
    assert discard(page)["status"] == "discarded"
    page.get_by_text("the text 1").wait_for()

    open_records(page, dataset, status="submitted")
    page.get_by_text("the text 3").wait_for()
    assert errors(page) == []
    # All that the pages ask of others is two fonts.
    assert {address.split("/")[2] for address in page.refused} <= {"fonts.googleapis.com"}


def test_a_missing_server_fails_the_test(tmp_path, monkeypatch):
    monkeypatch.setenv(servers.PYTHON_VARIABLE, str(tmp_path / "python"))
    with pytest.raises(pytest.fail.Exception, match="make test"), servers.running_argilla(tmp_path):
        pass


def test_a_failed_start_shows_the_log(tmp_path, monkeypatch):
    python = tmp_path / "bin" / "python"
    python.parent.mkdir()
    # Migrates, and cannot serve.
    python.write_text('#!/bin/sh\n[ "$3" ] && exec touch "$2/argilla.db"\necho "no such table"; exit 3\n')
    python.chmod(0o755)
    monkeypatch.setenv(servers.PYTHON_VARIABLE, str(python))
    with (
        pytest.raises(pytest.fail.Exception, match=r"ended with status 3(.|\n)*no such table"),
        servers.running_argilla(tmp_path / "data"),
    ):
        pass
