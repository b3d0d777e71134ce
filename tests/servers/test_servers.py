from __future__ import annotations

from tests.servers.annotator import errors

CHOICES = """<View><Text name="text" value="$text"/>
<Choices name="verdict" toName="text"><Choice value="good"/><Choice value="bad"/></Choices></View>"""


def make_project(label_studio, tasks=2):
    body = {"title": "smoke", "label_config": CHOICES}
    project = label_studio.http.post("/api/projects/", json=body).raise_for_status().json()["id"]
    label_studio.http.post(
        f"/api/projects/{project}/import?return_task_ids=true",
        json=[{"text": f"text {i}"} for i in range(tasks)],
    ).raise_for_status()
    return project


def test_explore(label_studio, annotator_page):
    project = make_project(label_studio)
    tasks = label_studio.http.get("/api/tasks", params={"project": project}).json()["tasks"]
    page = annotator_page()
    page.screenshot(path="/tmp/t/projects.png")
    print(page.url, page.logs, page.refused)
    page.goto(f"{page.server}/projects/{project}/data?task={tasks[0]['id']}")
    page.wait_for_selector(".lsf-main-view__annotation")
    page.screenshot(path="/tmp/t/task.png")
    for b in page.query_selector_all("button"):
        print(b.evaluate("b => b.outerHTML.slice(0,300)"))
    print(page.logs, page.refused, errors(page))
    print(label_studio.pat)
    print(label_studio.add_user("a@example.com"))
    assert 0
