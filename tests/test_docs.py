"""The docs say what is so: commands, options, exit codes and notices are all there, and no link is dead."""

import inspect
import re
from pathlib import Path
from typing import Any

import pytest
import typer

from potato_bridge import __version__, errors
from potato_bridge.cli.app import app
from potato_bridge.converters.potato.schemes import READERS
from potato_bridge.export.targets import DOCUMENTS, TARGETS

ROOT = Path(__file__).parents[1]
DOCS = ROOT / "docs"
CLI = (DOCS / "cli.md").read_text()
ROOT_COMMAND = typer.main.get_command(app)
COMMANDS: dict[str, Any] = ROOT_COMMAND.commands  # type: ignore[attr-defined]
#: Options that the page describes once for every command.
SHARED = {"--help", "--json", "--notices"}


def section(command: str) -> str:
    found = re.search(rf"^## {command}\n(.*?)(?=^## |\Z)", CLI, re.M | re.S)
    assert found, f"docs/cli.md has no section {command!r}"
    return found.group(1)


@pytest.mark.parametrize("name", COMMANDS)
def test_every_option_of_a_command_is_documented_and_has_help(name: str) -> None:
    text = section(name)
    command = COMMANDS[name]
    assert command.help
    for parameter in command.params:
        if parameter.param_type_name == "option":
            assert parameter.help, f"{name} {parameter.opts} has no help"
            if not SHARED & set(parameter.opts):
                longest = max(parameter.opts, key=len)
                # The server's options are explained once, under push.
                where = text if longest not in ("--url", "--api-key") else text + section("push")
                assert longest in where, f"docs/cli.md does not explain {name} {longest}"


def test_no_option_is_documented_that_is_not_there() -> None:
    known = {option for command in COMMANDS.values() for parameter in command.params for option in parameter.opts}
    known |= {option for parameter in ROOT_COMMAND.params for option in parameter.opts} | {"--help"}
    assert set(re.findall(r"(?<![\w-])--[a-z][a-z-]+", CLI)) - known == set()


def test_every_section_is_a_command() -> None:
    assert set(re.findall(r"^## ([a-z]+)$", CLI, re.M)) == set(COMMANDS)


def test_exit_codes_are_those_of_the_errors() -> None:
    kinds = [kind for _, kind in inspect.getmembers(errors, inspect.isclass) if issubclass(kind, errors.BridgeError)]
    codes = {kind.exit_code for kind in kinds} | {0, 130}
    table = section_of_exit_codes()
    assert {int(code) for code in re.findall(r"^\| (\d+) \|", table, re.M)} == codes


def section_of_exit_codes() -> str:
    return CLI.split("## Exit codes")[1].split("\n## ")[0]


def test_every_notice_code_is_documented() -> None:
    page = (DOCS / "notices.md").read_text()
    documented = set(re.findall(r"^\| `([a-z-]+)` \|", page, re.M))
    sources = [*ROOT.glob("potato_bridge/**/*.py"), *ROOT.glob("converters/**/*.py")]
    raised: set[str] = set()
    for source in sources:
        text = source.read_text()
        raised |= set(re.findall(r'notices?\.add\(\s*"([a-z-]+)"', text))
        raised |= set(re.findall(r'\.notice\(\s*"([a-z-]+)"', text))
        # A table of code to condition and message.
        raised |= set(re.findall(r'^ +"([a-z]+(?:-[a-z]+)+)": \($', text, re.M))
    assert raised - documented == set(), "docs/notices.md lacks these"


def test_every_flag_is_documented() -> None:
    page = (DOCS / "records.md").read_text()
    documented = set(re.findall(r"^\| `([a-z-]+)` \|", page.split("## Flags")[1], re.M))
    sources = [*ROOT.glob("potato_bridge/**/*.py"), *ROOT.glob("converters/**/*.py")]
    used = {code for source in sources for code in re.findall(r'Flag\(\s*(?:code=)?"([a-z-]+)"', source.read_text())}
    assert used - documented == set()


PAGES = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", ROOT / "examples" / "README.md", *sorted(DOCS.glob("*.md"))]


@pytest.mark.parametrize("page", PAGES, ids=str)
def test_links_lead_somewhere(page: Path) -> None:
    for target in re.findall(r"\]\(([^)#\s]+)(?:#[^)]*)?\)", page.read_text()):
        if "://" not in target:
            assert (page.parent / target).exists(), f"{page.name} links to {target}"


def test_the_readme_names_every_scheme_export_and_page() -> None:
    text = (ROOT / "README.md").read_text()
    about, _, pages = text.partition("## Documentation")
    named = set(re.findall(r"`([a-z_]+)`", about.partition("## What it does today")[2]))
    assert {*READERS, *TARGETS, *DOCUMENTS} - named == set()
    assert {f"docs/{page.name}" for page in DOCS.glob("*.md")} - set(re.findall(r"\]\(([^)#]+)\)", pages)) == set()


def test_pictures_are_those_that_a_browser_test_takes() -> None:
    """None is left over, and none is shown that no test makes."""
    taken = {
        name
        for path in ROOT.glob("tests/browser/**/*.py")
        for name in re.findall(r'"([a-z-]+?)(?:\.png)?"', path.read_text())
    }
    shown = {Path(name).stem for page in PAGES for name in re.findall(r"\]\(([^)]+\.png)\)", page.read_text())}
    there = {path.stem for path in (DOCS / "images").glob("*.png")}
    assert shown == there and there - taken == set()


def test_the_changelog_begins_with_this_version() -> None:
    first = re.search(r"^## ([0-9.]+)", (ROOT / "CHANGELOG.md").read_text(), re.M)
    assert first and first.group(1) == __version__


def test_the_version_is_one() -> None:
    declared = re.search(r'^version = "([^"]+)"', (ROOT / "pyproject.toml").read_text(), re.M)
    assert declared and declared.group(1) == __version__
