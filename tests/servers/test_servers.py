"""The servers and the browser that other tests rely on."""

from __future__ import annotations

import os
import select
import sys
from pathlib import Path

import httpx
import pytest

from potato_bridge.errors import RemoteError
from potato_bridge.remotes.label_studio_server import LocalLabelStudio
from tests.servers.annotator import (
    errors,
    open_stream,
    open_task,
    shown_task,
    skip,
    submit,
    update,
)

CHOICES = """
<View>
  <Text name="text" value="$text"/>
  <Choices name="verdict" toName="text"><Choice value="good"/><Choice value="bad"/></Choices>
</View>
"""


def result(choice):
    value = {"choices": [choice]}
    return [{"from_name": "verdict", "to_name": "text", "type": "choices", "value": value}]


@pytest.fixture
def project(label_studio):
    body = {"title": "Servers", "label_config": CHOICES}
    project = label_studio.http.post("/api/projects/", json=body).raise_for_status().json()["id"]
    label_studio.http.post(
        f"/api/projects/{project}/import", json=[{"text": f"text {i}"} for i in range(3)]
    ).raise_for_status()
    yield project
    label_studio.http.delete(f"/api/projects/{project}/").raise_for_status()


@pytest.fixture
def tasks(label_studio, project):
    answer = label_studio.http.get("/api/tasks", params={"project": project}).raise_for_status()
    return [task["id"] for task in answer.json()["tasks"]]


def test_both_tokens_work(label_studio):
    me = label_studio.http.get("/api/current-user/whoami").raise_for_status().json()
    assert me["email"] == label_studio.username

    refreshed = httpx.post(f"{label_studio.url}/api/token/refresh/", json={"refresh": label_studio.pat})
    access = refreshed.raise_for_status().json()["access"]
    answer = httpx.get(f"{label_studio.url}/api/current-user/whoami", headers={"Authorization": f"Bearer {access}"})
    assert answer.json()["email"] == label_studio.username


def test_sign_up_needs_an_invitation(label_studio):
    assert httpx.get(f"{label_studio.url}/user/signup/").is_success
    with httpx.Client(base_url=label_studio.url) as client:
        page = client.get("/user/signup/")
        csrf = page.text.split('name="csrfmiddlewaretoken" value="')[1].split('"')[0]
        form = {"csrfmiddlewaretoken": csrf, "email": "x@example.com", "password": "long-enough-9"}
        assert client.post("/user/signup/", data=form).status_code == 403


def test_a_second_user_annotates(label_studio, project, tasks):
    user = label_studio.add_user("servers-second@example.com")
    answer = label_studio.client(user).post(f"/api/tasks/{tasks[0]}/annotations/", json={"result": result("good")})
    assert answer.raise_for_status().json()["completed_by"] == user.id != label_studio.admin.id


def test_a_refused_account_says_why(label_studio):
    with pytest.raises(RemoteError, match="already exists"):
        label_studio.add_user(label_studio.username)


def test_the_browser_signs_in(annotator_page, project):
    page = annotator_page()
    page.goto(f"{page.server}/projects")
    page.get_by_text("Servers").first.wait_for()


def test_an_annotator_works(label_studio, annotator_page, project, tasks):
    user = label_studio.add_user("servers-annotator@example.com")
    page = annotator_page(user)

    assert open_task(page, project, tasks[1]) > 0
    page.get_by_text("good").click()
    first = submit(page)
    assert (first["task"], first["completed_by"]) == (tasks[1], user.id)

    page.get_by_text("bad").click()
    changed = update(page)
    assert changed["id"] == first["id"]
    assert changed["result"][0]["value"] == {"choices": ["bad"]}

    assert open_stream(page, project) == tasks[0]
    assert skip(page)["was_cancelled"] is True
    assert shown_task(page) == tasks[2]
    page.get_by_text("bad").click()
    assert submit(page)["task"] == tasks[2]
    assert errors(page) == []


def test_the_page_reaches_the_server_only(annotator_page):
    page = annotator_page()
    page.evaluate("fetch('http://example.com/').catch(() => null)")
    page.evaluate("console.error('ours')")
    assert page.refused == ["http://example.com/"]
    assert [error.split(" ")[0] for error in errors(page)] == ["ours"]


def test_a_missing_command_is_explained(tmp_path):
    server = LocalLabelStudio(tmp_path / "label-studio", tmp_path / "data")
    with pytest.raises(RemoteError, match="cannot run"):
        server.start()


def test_a_busy_port_is_refused(label_studio, tmp_path):
    port = httpx.URL(label_studio.url).port
    with pytest.raises(RemoteError, match=rf"port {port} is in use"):
        LocalLabelStudio("label-studio", tmp_path, port=port).start()


@pytest.fixture
def fake_server(tmp_path):
    """Makes a command that stands in for a server."""

    def make(script):
        path = Path(tmp_path / "fake")
        path.write_text(f"#!{sys.executable}\n{script}")
        path.chmod(0o755)
        return path

    return make


def test_a_failed_start_shows_the_log(tmp_path, fake_server):
    command = fake_server("print('\\x1b[31mno such table\\x1b[0m'); raise SystemExit(3)")
    with pytest.raises(RemoteError, match=r"ended with status 3(.|\n)*\nno such table$"):
        LocalLabelStudio(command, tmp_path / "data").start()


ANSWERING = """
import http.server, json, os, sys
whoami = json.dumps({"email": os.environ["LABEL_STUDIO_USERNAME"]}).encode()
class Handler(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        self.send_response(200 if self.path == "/health" else STATUS)
        self.end_headers()
        self.wfile.write(whoami)
port = int(sys.argv[sys.argv.index("--port") + 1])
http.server.HTTPServer(("127.0.0.1", port), Handler).serve_forever()
"""


def test_the_answer_of_another_server_is_not_ours(tmp_path, fake_server):
    command = fake_server(ANSWERING.replace("STATUS", "401"))
    server = LocalLabelStudio(command, tmp_path / "data", timeout=30)
    with pytest.raises(RemoteError, match="not answered by our server"):
        server.start()
    assert not server.running


def test_a_port_that_was_lost_is_replaced(tmp_path, fake_server):
    """Between choosing a port and using it, another program can take it."""
    command = fake_server(
        """
import os, signal, sys
if not os.path.exists("started-before"):
    open("started-before", "w").close()
    print("* Port " + sys.argv[sys.argv.index("--port") + 1] + " is in use.", flush=True)
    signal.pause()
"""
        + ANSWERING.replace("STATUS", "200")
    )
    with LocalLabelStudio(command, tmp_path / "data", timeout=30) as server:
        assert httpx.get(f"{server.url}/health").is_success
    assert not server.running


def test_everything_that_was_started_is_stopped(tmp_path, fake_server):
    """Also a child that ignores the polite signal."""
    command = fake_server("""
import os, signal
if os.fork() == 0:
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    os.write(os.open("../alive", os.O_WRONLY), b"x")
signal.pause()
""")
    # The pipe ends when the last process that can write to it is gone.
    os.mkfifo(tmp_path / "alive")
    pipe = os.open(tmp_path / "alive", os.O_RDONLY | os.O_NONBLOCK)
    try:
        server = LocalLabelStudio(command, tmp_path / "data", timeout=2)
        with pytest.raises(RemoteError, match="did not answer in 2 s"):
            server.start()
        assert os.read(pipe, 10) == b"x"
        ready, _, _ = select.select([pipe], [], [], 10)
        assert ready and os.read(pipe, 10) == b"", "the child is still there"
    finally:
        os.close(pipe)


def test_a_command_given_by_a_relative_path_is_found_from_the_data_folder(tmp_path, monkeypatch):
    command = tmp_path / "bin" / "label-studio"
    command.parent.mkdir()
    command.write_text("#!/bin/sh\n")
    command.chmod(0o755)
    monkeypatch.chdir(tmp_path)
    assert LocalLabelStudio("bin/label-studio", tmp_path / "data").executable == str(command)
    monkeypatch.setenv("PATH", str(command.parent))
    assert LocalLabelStudio("label-studio", tmp_path / "data").executable == str(command)
