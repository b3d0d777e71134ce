"""The compose file: YAML that says what docs/server.md says, and the version that the tests run against."""

import re
from pathlib import Path
from typing import Any

import pytest
import yaml

from potato_bridge.cli.checkup import TESTED

ROOT = Path(__file__).parents[1]
FOLDER = ROOT / "examples" / "compose"
PAGE = (ROOT / "docs" / "server.md").read_text(encoding="utf-8")
TEXT = (FOLDER / "compose.yaml").read_text(encoding="utf-8")


@pytest.fixture(scope="module")
def services() -> dict[str, Any]:
    document = yaml.safe_load(TEXT)
    assert set(document["volumes"]) == {"files", "database"}
    found: dict[str, Any] = document["services"]
    return found


def test_versions_are_pinned_to_what_is_tested(services: dict[str, Any]) -> None:
    constraints = (ROOT / "constraints.txt").read_text(encoding="utf-8")
    (version,) = re.findall(r"^label-studio==(\S+)", constraints, re.M)
    assert version == TESTED or version.startswith(f"{TESTED}.")
    images = {name: service["image"] for name, service in services.items()}
    assert images["app"] == images["nginx"] == f"heartexlabs/label-studio:{version}"
    assert re.fullmatch(r"postgres:\d+\.\d+", images["db"])
    assert f"tested with {version}" in PAGE
    # Names as upstream has them: no registry is named.
    assert all(image.count("/") <= 1 and "." not in image.split("/")[0].split(":")[0] for image in images.values())


def test_the_database_is_postgresql_with_the_same_account_on_both_sides(services: dict[str, Any]) -> None:
    app, db = services["app"]["environment"], services["db"]["environment"]
    assert (app["DJANGO_DB"], app["POSTGRE_HOST"]) == ("default", "db")
    for left, right in (("NAME", "DB"), ("USER", "USER"), ("PASSWORD", "PASSWORD")):
        assert app[f"POSTGRE_{left}"] == db[f"POSTGRES_{right}"]
    assert services["app"]["depends_on"]["db"]["condition"] == "service_healthy"
    assert all("healthcheck" in services[name] for name in ("app", "db"))


def test_it_sends_nothing_home_and_lets_nobody_in(services: dict[str, Any]) -> None:
    environment = services["app"]["environment"]
    assert environment["COLLECT_ANALYTICS"] == environment["LATEST_VERSION_CHECK"] == "false"
    assert environment["SENTRY_DSN"] == environment["FRONTEND_SENTRY_DSN"] == ""
    assert environment["LABEL_STUDIO_DISABLE_SIGNUP_WITHOUT_LINK"] == "true"
    assert environment["LABEL_STUDIO_ENABLE_LEGACY_API_TOKEN"] == "true"
    assert services["nginx"]["ports"] == ["${LABEL_STUDIO_BIND:-127.0.0.1}:${LABEL_STUDIO_PORT:-8080}:8085"]
    assert "ports" not in services["app"] and "ports" not in services["db"]


def test_every_variable_is_in_the_example_and_every_setting_in_the_page(services: dict[str, Any]) -> None:
    example = (FOLDER / "env.example").read_text(encoding="utf-8")
    wanted = set(re.findall(r"\$\{(\w+)", TEXT))
    assert wanted == set(re.findall(r"^#?(\w+)=", example, re.M))
    # No password has a default, and none is written down.
    for name in ("LABEL_STUDIO_PASSWORD", "POSTGRES_PASSWORD"):
        assert set(re.findall(rf"\$\{{{name}(:?.)", TEXT)) == {":?"}
        assert f"\n{name}=\n" in example
    settings = {name for name in services["app"]["environment"] if not name.startswith("POSTGRE_")}
    assert [name for name in sorted(settings | wanted - {"POSTGRES_PASSWORD"}) if f"`{name}`" not in PAGE] == []
