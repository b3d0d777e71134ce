"""The whole loop on a real server, as a team runs it: commands, and annotators with a browser between them."""

import json
import shutil
from pathlib import Path

import pytest

from tests.servers.annotator import errors, open_stream, open_task, press, skip, submit, update

EXAMPLE = Path(__file__).parents[2] / "examples" / "first_error"
#: The steps of the example's items that are rated, by hand.
STEPS = {"slugify-accents": 5, "empty-month": 5, "log-level-option": 5, "remove-legacy-cache": 3}


def first_error(item: str, step: int | None) -> dict[str, object]:
    total = STEPS[item]
    right = total if step is None else step
    labels = [1] * right + [-1] * (total - right)
    return {"mode": "first_error", "first_error_step": step, "total_steps": total, "labels": labels}


def choose(page, value: str) -> None:
    page.locator(f".pb-steps .lsf-choice:has(input[name={value}]) .pb-head").first.click()
    page.wait_for_selector(f".ant-radio-wrapper-checked input[name={value}]", state="attached")


@pytest.fixture
def server(label_studio) -> dict[str, str]:
    return {"LABEL_STUDIO_URL": label_studio.url, "LABEL_STUDIO_API_KEY": label_studio.api_key}


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """A copy of the example under a name of its own, so that runs on one server do not meet."""
    folder = tmp_path / "study"
    shutil.copytree(EXAMPLE, folder)
    config = folder / "config.yaml"
    text = config.read_text()
    name = '"First-error process rewards"'
    assert name in text
    config.write_text(text.replace(name, f'"Loop {tmp_path.name}"'))
    return config


def test_push_answer_pull_export(bridge, server, project, label_studio, annotator_page, tmp_path) -> None:
    planned = bridge("push", project, "--dry-run", "--json", **server)
    assert planned.code == 0, planned.err
    assert planned.json["project"] is None
    pushed = bridge("push", project, "--json", **server)
    assert pushed.code == 0, pushed.err
    assert (pushed.json["created"], pushed.json["updated"]) == (4, 0)
    number = pushed.json["project"]
    again = bridge("push", project, **server)
    assert again.code == 0 and "nothing to do" in again.out

    http = label_studio.http
    listed = http.get(f"/api/tasks/?project={number}&include=id,data").raise_for_status().json()["tasks"]
    tasks = {task["data"]["potato_bridge_id"]: task["id"] for task in listed}
    assert set(tasks) == set(STEPS)

    # One annotator: mouse, keyboard, an edit after the submission.
    ann = label_studio.add_user(f"ann-{tmp_path.name}@example.com".replace("_", "-"))
    page = annotator_page(ann)
    open_task(page, number, tasks["slugify-accents"])
    choose(page, "all_correct")
    submit(page)
    open_task(page, number, tasks["empty-month"])
    page.wait_for_selector(".pb-steps .pb-card")
    press(page, "2", ".pb-steps .ant-radio-wrapper-checked")
    submit(page)
    choose(page, "step_2")
    update(page)
    assert errors(page) == []

    # Another one skips what the stream shows, and answers one that the first has answered, too.
    ben = label_studio.add_user(f"ben-{tmp_path.name}@example.com".replace("_", "-"))
    other = annotator_page(ben)
    skipped = open_stream(other, number)
    # The stream begins with the instruction.
    dialog = other.locator("text=Labeling Instructions")
    dialog.wait_for()
    assert other.locator("text=If nothing is wrong, click “All steps correct”").count() == 1
    other.keyboard.press("Escape")
    dialog.wait_for(state="hidden")
    skip(other)
    second = next(item for item in ("empty-month", "slugify-accents") if tasks[item] != skipped)
    open_task(other, number, tasks[second])
    # What is shown is the first annotator's answer.
    other.click("[aria-label='Create an annotation']")
    other.wait_for_selector("[data-testid=bottombar-submit-button]")
    choose(other, "step_1")
    submit(other)

    records = tmp_path / "records.jsonl"
    pulled = bridge("pull", project, "-o", records, "--json", **server)
    assert pulled.code == 0, pulled.err
    assert pulled.json["new"] == 4
    lines = [json.loads(line) for line in records.read_text().splitlines()]
    names = {task: item for item, task in tasks.items()}
    found = {(line["id"], line["annotator"]): (line["status"], line["annotations"]) for line in lines}
    assert found == {
        ("slugify-accents", ann.email): ("submitted", {"process_reward": first_error("slugify-accents", None)}),
        ("empty-month", ann.email): ("submitted", {"process_reward": first_error("empty-month", 2)}),
        (names[skipped], ben.email): ("skipped", {}),
        (second, ben.email): ("submitted", {"process_reward": first_error(second, 1)}),
    }
    assert all(line["source"]["task"] == tasks[line["id"]] and "flags" not in line for line in lines)
    assert bridge("pull", project, "-o", records, "--json", **server).json["new"] == 0

    # One item of four changes: one update, and the answers stay.
    data = project.parent / "data" / "traces.jsonl"
    changed = data.read_text().replace("Remove the unused module", "Please remove the unused module")
    data.write_text(changed)
    third = bridge("push", project, "--json", **server)
    assert (third.json["created"], third.json["updated"]) == (0, 1)
    kept = bridge("pull", project, "-o", records, "--json", **server)
    assert (kept.json["new"], kept.json["changed"], kept.json["withdrawn"]) == (0, 0, 0)

    told = bridge("status", project, "-i", records, "--json", **server).json
    assert (told["items"], told["pushed"], told["submitted"], told["skipped"], told["pulled"]) == (4, 4, 3, 1, 4)

    out = tmp_path / "prm"
    exported = bridge("export", "-c", project, "-i", records, "-o", out, "--json")
    assert exported.code == 0, exported.err
    assert (exported.json["rows"], exported.json["reasons"]) == (3, {"status-skipped": 1})
    assert (out / "README.md").is_file() and list(out.glob("prm/*.parquet"))


def test_check_and_render_need_no_server(bridge, project, tmp_path) -> None:
    checked = bridge("check", project, "--json")
    assert checked.code == 0, checked.err
    assert (checked.json["items"], checked.json["steps"]) == (4, sum(STEPS.values()))
    assert "no-confirmation" in {notice["code"] for notice in checked.json["notices"]}
    assert bridge("check", project, "--notices", "raise").code == 6

    rendered = bridge("render", project, "-o", tmp_path / "out", "--json")
    assert rendered.code == 0, rendered.err
    assert [task["data"]["potato_bridge_id"] for task in json.loads((tmp_path / "out" / "tasks.json").read_text())] == [
        *STEPS
    ]
    assert "<Choices" in (tmp_path / "out" / "label_config.xml").read_text()


def test_settings_file_names_the_config_but_never_a_token(bridge, project, tmp_path) -> None:
    (tmp_path / "potato-bridge.yaml").write_text("config: study/config.yaml\n")
    assert bridge("check", "--json").json["items"] == 4
    (tmp_path / "potato-bridge.yaml").write_text("config: study/config.yaml\nlabel_studio:\n  api_key: secret\n")
    refused = bridge("check")
    assert refused.code == 3
    assert "potato-bridge.yaml:3 label_studio.api_key" in refused.err
    assert "LABEL_STUDIO_API_KEY" in refused.err and "secret" not in refused.err


def test_doctor_says_what_to_do(bridge, server) -> None:
    well = bridge("doctor", "--json", **server)
    assert well.code == 0, well.err
    assert well.json["ok"] and [check["what"] for check in well.json["checks"]][-2:] == ["version", "token"]
    no_token = bridge("doctor", LABEL_STUDIO_URL=server["LABEL_STUDIO_URL"])
    assert no_token.code == 2 and "LABEL_STUDIO_API_KEY" in no_token.out
    wrong = bridge("doctor", LABEL_STUDIO_URL=server["LABEL_STUDIO_URL"], LABEL_STUDIO_API_KEY="0" * 40)
    assert wrong.code == 5 and "0" * 40 not in wrong.out + wrong.err
    # Port 9 is discard: nothing listens there.
    nobody = bridge("doctor", LABEL_STUDIO_URL="http://127.0.0.1:9", LABEL_STUDIO_API_KEY="0" * 40)
    assert nobody.code == 4 and "127.0.0.1:9" in nobody.out


@pytest.mark.parametrize(
    ("arguments", "code", "words"),
    [
        (["push"], 2, "no Potato config given"),
        (["push", "none.yaml"], 3, "none.yaml"),
        (["export", "-f", "prm"], 2, "no output given"),
        (["export", "-f", "prm", "-o", "x", "-c", "study/config.yaml"], 3, "potato-bridge pull"),
        (
            ["export", "-f", "prn", "-o", "x", "-c", "study/config.yaml", "-i", "study/data/traces.jsonl"],
            2,
            "mean prm?",
        ),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, list) else "",
)
def test_errors_are_for_people(bridge, project, arguments, code, words) -> None:
    done = bridge(*arguments)
    assert done.code == code, done.err
    assert words in done.err and "Traceback" not in done.err and done.out == ""


RECORD = {"id": "empty-month", "annotator": "ann", "annotations": {"process_reward": first_error("empty-month", 2)}}


def test_export_finds_the_config_of_an_output_folder_and_its_target(bridge, project, tmp_path) -> None:
    folder = project.parent / "annotation_output"
    folder.mkdir()
    (folder / "records.jsonl").write_text(json.dumps(RECORD) + "\n")
    done = bridge("export", "-i", folder, "-o", "rows.jsonl", "--json")
    assert done.code == 0, done.err
    assert done.json["target"] == "prm" and done.json["rows"] == 1
    [row] = [json.loads(line) for line in (tmp_path / "rows.jsonl").read_text().splitlines()]
    assert (row["trace_id"], [step["label"] for step in row["steps"]]) == ("empty-month", [1, 1, -1, -1, -1])
    # The same with the config alone: the records are where pull puts them.
    assert bridge("export", "-c", project, "-o", "again.jsonl").code == 0
    assert (tmp_path / "again.jsonl").read_bytes() == (tmp_path / "rows.jsonl").read_bytes()

    # A records file somewhere else leads to no config.
    (tmp_path / "records.jsonl").write_text(json.dumps(RECORD) + "\n")
    lost = bridge("export", "-i", tmp_path / "records.jsonl", "-f", "prm", "-o", "x.jsonl")
    assert lost.code == 2
    assert all(words in lost.err for words in ("-c", "potato-bridge.yaml", "output folder"))

    # What the config names is refused by name where it is no target yet.
    project.write_text(
        project.read_text().replace('export_annotation_format: "prm"', 'export_annotation_format: "jsonl"')
    )
    other = bridge("export", "-c", project, "-o", "y.jsonl")
    assert other.code == 2 and "jsonl is not supported yet" in other.err and "Supported: prm" in other.err


def test_potato_states_and_pulled_records_in_one_folder(bridge, project, tmp_path) -> None:
    folder = project.parent / "annotation_output"
    (folder / "bob").mkdir(parents=True)
    blob = {"steps": [{"index": position, "reward": 1} for position in (1, 2, 3, 5, 6)], "mode": "first_error"}
    entry = [{"schema": "process_reward", "name": "process_reward"}, json.dumps(blob)]
    state = {"user_id": "bob", "instance_id_to_label_to_value": {"empty-month": [entry]}}
    (folder / "bob" / "user_state.json").write_text(json.dumps(state))
    alone = bridge("export", "-i", folder, "-o", "states.jsonl", "--json")
    assert alone.code == 0, alone.err
    [row] = [json.loads(line) for line in (tmp_path / "states.jsonl").read_text().splitlines()]
    assert [step["label"] for step in row["steps"]] == [1, 1, 1, 1, 1]

    (folder / "records.jsonl").write_text(json.dumps(RECORD) + "\n")
    both = bridge("export", "-i", folder, "-o", "records-win.jsonl", "--json")
    assert "records-chosen" in {notice["code"] for notice in both.json["notices"]}
    assert "-1" in (tmp_path / "records-win.jsonl").read_text()
    states = bridge("export", "-i", folder, "--from", "potato", "-o", "chosen.jsonl", "--json")
    assert states.code == 0, states.err
    assert (tmp_path / "chosen.jsonl").read_bytes() == (tmp_path / "states.jsonl").read_bytes()
