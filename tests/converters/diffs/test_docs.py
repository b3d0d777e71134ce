"""docs/diffs.md has every format and every problem, and no other."""

import re
from pathlib import Path

from potato_bridge.converters.diffs.formats import FORMATS
from potato_bridge.converters.diffs.problems import MESSAGES

ROOT = Path(__file__).resolve().parents[3]
PAGE = (ROOT / "docs" / "diffs.md").read_text()
SOURCES = {path: path.read_text() for path in ROOT.glob("converters/diffs/*.py")}


def codes_in(part: str) -> set[str]:
    return set(re.findall(r"^\| `([a-z_0-9-]+)` \|", part, re.M))


def test_every_problem_is_documented_and_made() -> None:
    assert codes_in(PAGE.split("## Problems")[1]) == set(MESSAGES)
    sources = "".join(text for path, text in SOURCES.items() if path.name != "problems.py")
    assert {code for code in MESSAGES if f'"{code}"' not in sources} == set()


def test_every_format_is_documented() -> None:
    assert codes_in(PAGE.split("## Problems")[0]) == {form.name for form in FORMATS}
