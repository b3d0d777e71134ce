"""Argilla's compose file: YAML that says what docs/argilla.md says, and the version that the tests run against."""

import re
from pathlib import Path
from typing import Any

import pytest
import yaml

from potato_bridge.cli.checkup import TESTED_ARGILLA

ROOT = Path(__file__).parents[1]
FOLDER = ROOT / "examples" / "compose_argilla"
PAGE = (ROOT / "docs" / "argilla.md").read_text(encoding="utf-8")
TEXT = (FOLDER / "compose.yaml").read_text(encoding="utf-8")


@pytest.fixture(scope="module")
def services() -> dict[str, Any]:
    document = yaml.safe_load(TEXT)
    assert set(document["volumes"]) == {"home", "database", "index"}
    found: dict[str, Any] = document["services"]
    return found


def test_versions_are_pinned_to_what_is_tested(services: dict[str, Any]) -> None:
    pins = (ROOT / "tests" / "servers" / "argilla-constraints.txt").read_text(encoding="utf-8")
    (version,) = re.findall(r"^argilla-server==(\S+)", pins, re.M)
    assert version.startswith(f"{TESTED_ARGILLA}.")
    images = {name: service["image"] for name, service in services.items()}
    assert images["app"] == images["worker"] == f"argilla/argilla-server:v{version}"
    assert f"tested with Argilla {version}" in PAGE
    assert all(re.search(r":v?\d+\.\d+", image) for image in images.values())
    # Names as upstream has them: no registry is named.
    assert all(image.count("/") <= 1 and "." not in image.split("/")[0].split(":")[0] for image in images.values())


def test_server_and_worker_have_the_same_settings(services: dict[str, Any]) -> None:
    app, worker = services["app"]["environment"], services["worker"]["environment"]
    assert set(app) - set(worker) == {"USERNAME", "PASSWORD", "API_KEY"}
    assert {name: app[name] for name in worker} == worker
    db = services["db"]["environment"]
    where = f"{db['POSTGRES_USER']}:{db['POSTGRES_PASSWORD']}@db:5432/{db['POSTGRES_DB']}"
    assert app["ARGILLA_DATABASE_URL"] == f"postgresql+asyncpg://{where}"
    assert app["ARGILLA_ELASTICSEARCH"] == "http://search:9200"
    assert app["ARGILLA_REDIS_URL"] == "redis://redis:6379/0"
    for name in ("app", "worker"):
        needed = services[name]["depends_on"]
        assert set(needed) == {"db", "search", "redis"}
        assert all(services[other]["healthcheck"] and needed[other]["condition"] for other in needed)


def test_it_sends_nothing_home_and_lets_nobody_in(services: dict[str, Any]) -> None:
    environment = services["app"]["environment"]
    assert environment["HF_HUB_DISABLE_TELEMETRY"] == environment["HF_HUB_OFFLINE"] == "1"
    assert services["app"]["ports"] == ["${ARGILLA_BIND:-127.0.0.1}:${ARGILLA_PORT:-6900}:6900"]
    assert [name for name, service in services.items() if "ports" in service] == ["app"]


def test_every_variable_is_in_the_example_and_every_setting_in_the_page(services: dict[str, Any]) -> None:
    example = (FOLDER / "env.example").read_text(encoding="utf-8")
    wanted = set(re.findall(r"\$\{(\w+)", TEXT))
    assert wanted == set(re.findall(r"^#?(\w+)=", example, re.M))
    # No secret has a default, and none is written down.
    for name in ("ARGILLA_PASSWORD", "ARGILLA_API_KEY", "ARGILLA_AUTH_SECRET_KEY", "POSTGRES_PASSWORD"):
        assert set(re.findall(rf"\$\{{{name}(:?.)", TEXT)) == {":?"}
        assert f"\n{name}=\n" in example
    settings = set(services["app"]["environment"]) | wanted - {"POSTGRES_PASSWORD"}
    assert [name for name in sorted(settings) if f"`{name}`" not in PAGE] == []


def test_what_was_not_tried_is_said() -> None:
    assert "not tried" in PAGE and "not tried" in TEXT
