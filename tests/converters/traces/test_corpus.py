"""All real files: each is read by one reader, or is one of those named here; and comes back from its item."""

from pathlib import Path

import pytest

from potato_bridge.converters.traces.convert import Choice, Outcome, read_traces
from potato_bridge.converters.traces.inputs import expand
from potato_bridge.converters.traces.reader import UnrecognisedError, detect, is_one
from tests.converters.traces.helpers import CORPUS, check_counts
from tests.converters.traces.test_potato_writer import check_round_trip

pytestmark = pytest.mark.skipif(not CORPUS.is_dir(), reason="the corpus is not at hand")

#: Folders of formats that are not read yet, and captures of a wire, which are no traces.
NOT_READ = {"copilot_cli", "inspect", "langsmith", "otlp"}
CAPTURES = {"anthropic_messages", "openai_responses"}


def test_every_file_is_recognised_as_what_it_is() -> None:
    folders: dict[str, set[str]] = {}
    for source in expand([str(CORPUS)], is_one=is_one):
        folder = Path(source.name).relative_to(CORPUS).parts[0].partition("!")[0]
        try:
            folders.setdefault(folder, set()).add(detect(source).name)
        except UnrecognisedError:
            folders.setdefault(folder, set()).add("-")
    assert {folder for folder, found in folders.items() if found == {"-"}} == {*NOT_READ, *CAPTURES, "MANIFEST.md"}
    assert {folder: found for folder, found in folders.items() if "-" not in found} == {
        "atif": {"atif"},
        "claude_code": {"claude_code"},
        "claude_sdk_stream": {"claude_stream"},
        "codex": {"codex"},
        "gemini_cli": {"gemini_cli"},
        "miniswe": {"mini_swe_agent"},
        "opencode": {"opencode"},
        "openhands": {"openhands", "swebench_predictions"},
        "openhands_v1": {"openhands_v1", "openai_chat"},
        "swe_smith": {"openai_chat"},
        "sweagent": {"swe_agent"},
        "swebench_predictions": {"swebench_predictions"},
    }


def test_every_trace_keeps_what_the_page_says_when_it_becomes_an_item() -> None:
    outcome = Outcome()
    for trace in read_traces([str(CORPUS)], choice=Choice(subagents=True), outcome=outcome):
        check_counts(trace)
        check_round_trip(trace)
    outcome.settle()
    # Counted by hand: of Claude Code six sessions and five sub-agents.
    assert outcome.formats == {
        "atif": 2,
        "claude_code": 11,
        "claude_stream": 1,
        "codex": 3,
        "gemini_cli": 3,
        "mini_swe_agent": 3,
        "openai_chat": 4,
        "opencode": 1,
        "openhands": 2,
        "openhands_v1": 2,
        "swe_agent": 3,
        "swebench_predictions": 4,
    }
