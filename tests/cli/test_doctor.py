"""`doctor` on Argilla, alone and beside Label Studio; and which of the two a command is for."""

from __future__ import annotations

import pytest


@pytest.fixture
def server(argilla) -> dict[str, str]:
    return {"ARGILLA_API_URL": argilla.url, "ARGILLA_API_KEY": argilla.api_key}


def checks(done) -> dict[str, dict]:
    return {check["what"]: check for check in done.json["checks"]}


def test_argilla_alone(bridge, argilla, server) -> None:
    argilla.add_workspace("doctors")
    well = bridge("doctor", "--json", **server)
    assert well.code == 0, well.out
    assert well.json["ok"] and "server" not in checks(well)
    found = {what.removeprefix("argilla "): check["message"] for what, check in checks(well).items()}
    assert found["server"] == f"{argilla.url} answers"
    assert found["version"] == "Argilla 2.8.0"
    assert found["search engine"] == "tables 0"
    assert found["key"] == "accepted, as owner (owner)"
    assert "doctors" in found["workspaces"] or "more" in found["workspaces"]
    assert argilla.api_key not in well.out + well.err


def test_what_is_wrong_with_the_key(bridge, argilla, server) -> None:
    none = bridge("doctor", ARGILLA_API_URL=argilla.url)
    assert none.code == 2 and "Set ARGILLA_API_KEY" in none.out
    wrong = bridge("doctor", **server | {"ARGILLA_API_KEY": "not-this-one"})
    assert wrong.code == 5 and "API key" in wrong.out and "not-this-one" not in wrong.out + wrong.err
    annotator = argilla.add_user(workspace=argilla.add_workspace())
    mere = bridge("doctor", **server | {"ARGILLA_API_KEY": annotator.api_key})
    assert mere.code == 5 and f"{annotator.username} (annotator)" in mere.out
    alone = argilla.add_user("admin")
    idle = bridge("doctor", **server | {"ARGILLA_API_KEY": alone.api_key})
    assert idle.code == 0 and "argilla workspaces: none" in idle.out


def test_nobody_there(bridge) -> None:
    # Port 9 is discard: nothing listens there.
    nobody = bridge("doctor", "--json", ARGILLA_API_URL="http://127.0.0.1:9", ARGILLA_API_KEY="key")
    assert nobody.code == 4
    failed = checks(nobody)["argilla server"]
    assert "127.0.0.1:9" in failed["message"] and "ARGILLA_API_URL" in failed["hint"]


def test_flag_before_environment_before_settings(bridge, tmp_path) -> None:
    """Told apart by the port that is said to be silent."""
    (tmp_path / "potato-bridge.yaml").write_text("argilla:\n  url: http://127.0.0.1:7\n")
    assert "127.0.0.1:7" in bridge("doctor").out
    environment = {"ARGILLA_API_URL": "http://127.0.0.1:9"}
    assert "127.0.0.1:9" in bridge("doctor", **environment).out
    assert "127.0.0.1:11" in bridge("doctor", "--argilla-url", "http://127.0.0.1:11", **environment).out


def test_both_servers_are_looked_at(bridge) -> None:
    both = bridge("doctor", "--json", LABEL_STUDIO_URL="http://127.0.0.1:9", ARGILLA_API_URL="http://127.0.0.1:7")
    assert both.code == 4
    assert not checks(both)["server"]["ok"] and not checks(both)["argilla server"]["ok"]
    neither = bridge("doctor", "--json")
    assert "server" in checks(neither) and "argilla server" not in checks(neither)


def test_no_key_in_the_settings(bridge, tmp_path) -> None:
    (tmp_path / "potato-bridge.yaml").write_text("argilla:\n  api_key: secret\n")
    refused = bridge("doctor")
    assert refused.code == 3
    assert "argilla.api_key" in refused.out and "ARGILLA_API_KEY" in refused.out and "secret" not in refused.out


@pytest.mark.parametrize("verb", ["push", "pull", "status"])
def test_which_server_a_command_is_for(bridge, tmp_path, verb) -> None:
    (tmp_path / "items.jsonl").write_text('{"id": "a", "text": "t"}\n')
    config = "annotation_task_name: x\ndata_files: [items.jsonl]\nitem_properties: {id_key: id, text_key: text}\n"
    scheme = "annotation_schemes:\n  - {annotation_type: radio, name: q, description: Which, labels: [a, b]}\n"
    (tmp_path / "config.yaml").write_text(config + scheme)
    nowhere = {"ARGILLA_API_URL": "http://127.0.0.1:9", "ARGILLA_API_KEY": "key"}
    argilla = bridge(verb, "config.yaml", **nowhere)
    assert argilla.code == 4 and "127.0.0.1:9" in argilla.err, argilla.err
    label_studio = bridge(verb, "config.yaml")
    assert label_studio.code == 2 and "LABEL_STUDIO_API_KEY" in label_studio.err and "Argilla" not in label_studio.err
    both = bridge(verb, "config.yaml", LABEL_STUDIO_API_KEY="x", **nowhere)
    assert both.code == 2 and "--backend" in both.err
    said = bridge(verb, "config.yaml", "--backend", "argilla", LABEL_STUDIO_API_KEY="x", **nowhere)
    assert said.code == 4, said.err
    (tmp_path / "potato-bridge.yaml").write_text("backend: argilla\n")
    assert bridge(verb, "config.yaml", LABEL_STUDIO_API_KEY="x", **nowhere).code == 4
    assert "ARGILLA_API_KEY" in bridge(verb, "config.yaml").err
    wrong = bridge(verb, "config.yaml", "--project", "7", **nowhere)
    assert wrong.code == 2 and "--project is for Label Studio" in wrong.err
    wrong = bridge(verb, "config.yaml", "--backend", "label_studio", "--layout", "native", LABEL_STUDIO_API_KEY="x")
    assert wrong.code == 2 and "--layout is for Argilla" in wrong.err
