"""converters/ and label_configs/ sit at the top and are installed inside the package."""

from __future__ import annotations

import re
import subprocess
import sys
import tomllib
import zipfile
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
PYPROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
# Folder at the top of the repository: its place in the wheel, where a checkout has a link.
LINKED: dict[str, str] = PYPROJECT["tool"]["hatch"]["build"]["targets"]["wheel"]["sources"]


def files(folder: str, place: str) -> set[str]:
    """The files of a folder, under the names that the wheel has for them."""
    paths = [path for path in (ROOT / folder).rglob("*") if path.is_file()]
    relative = [path.relative_to(ROOT / folder) for path in paths]
    return {f"{place}/{path.as_posix()}" for path in relative if "__pycache__" not in path.parts}


def test_the_two_folders_are_installed_inside_the_package():
    assert LINKED["converters"] == "potato_bridge/converters"
    assert LINKED["label_configs"] == "potato_bridge/label_configs"


@pytest.mark.parametrize(("folder", "place"), LINKED.items())
def test_a_link_stands_in_for_the_folder(folder, place):
    link = ROOT / place
    assert link.is_symlink(), f"{place} is not a link: is git's core.symlinks off?"
    assert link.resolve() == ROOT / folder
    assert not link.readlink().is_absolute()


@pytest.fixture(scope="module")
def wheel(tmp_path_factory) -> set[str]:
    """The names in a freshly built wheel; no network is used."""
    out = tmp_path_factory.mktemp("wheel")
    command = [sys.executable, "-m", "build", "--wheel", "--no-isolation", "--outdir", str(out)]
    built = subprocess.run([*command, str(ROOT)], capture_output=True, text=True)
    assert built.returncode == 0, built.stdout + built.stderr
    (path,) = out.glob("*.whl")
    with zipfile.ZipFile(path) as archive:
        names = archive.namelist()
    assert len(names) == len(set(names)), "a file is in the wheel twice"
    return set(names)


def test_the_wheel_holds_only_the_package(wheel):
    top = {name.split("/")[0] for name in wheel}
    assert {name for name in top if not name.endswith(".dist-info")} == {"potato_bridge"}


@pytest.mark.parametrize(("folder", "place"), [*LINKED.items(), ("potato_bridge",) * 2])
def test_the_wheel_has_every_file_of(wheel, folder, place):
    assert files(folder, place) - wheel == set()


def test_the_wheel_can_be_imported(wheel):
    assert "potato_bridge/__init__.py" in wheel
    assert "potato_bridge/converters/__init__.py" in wheel


def test_the_installed_package_finds_its_converters_inside():
    import potato_bridge.converters

    assert potato_bridge.converters.__name__ == "potato_bridge.converters"


def test_every_direct_dependency_is_pinned():
    """`make constraints` was run after the last change; no registry is named."""
    constraints = (ROOT / "constraints.txt").read_text(encoding="utf-8")
    assert "://" not in constraints
    pinned = {line.split("==")[0] for line in constraints.splitlines()}
    project = PYPROJECT["project"]
    wanted = [*project["dependencies"], *PYPROJECT["dependency-groups"]["dev"]]
    for extra in project["optional-dependencies"].values():
        wanted += extra
    names = {re.split(r"[^\w.-]", requirement)[0] for requirement in wanted}
    assert {re.sub(r"[-_.]+", "-", name).lower() for name in names} - pinned == set()
