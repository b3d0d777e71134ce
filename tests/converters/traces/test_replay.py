"""The final patch by replay: `git apply` takes it on the first texts, and gives the last ones; else there is none."""

from __future__ import annotations

import subprocess
from itertools import pairwise
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from potato_bridge.converters.tool_edits import diff_hunks
from potato_bridge.converters.traces.replay import replay
from potato_bridge.model.trace import Edit, Hunk, Patch, Step, ToolCall, Trace
from tests.strategies import DETERMINISTIC


def made(*edits: Edit, cwd: str | None = "/repo", **fields: Any) -> Trace:
    calls = [ToolCall(call_id=f"c{n}", name="Edit", family="edit", edits=[edit]) for n, edit in enumerate(edits)]
    trace = Trace(trace_id="t", steps=[Step(step_id="0", index=0, kind="agent", tool_calls=calls)], **fields)
    trace.extra = {} if cwd is None else {"cwd": cwd}
    return trace


def numbered(before: list[str], after: list[str]) -> list[Hunk]:
    """The hunks of a change of whole texts, with the numbers of their lines."""
    hunk = Hunk(lines=[f"-{line}" for line in before] + [f"+{line}" for line in after])
    hunk.old_start, hunk.new_start = (1 if before else 0), (1 if after else 0)
    return [hunk]


def change(path: str, at: int, old: str, new: str, **fields: Any) -> Edit:
    hunk = Hunk(lines=[f"-{old}", f"+{new}"], old_start=at, old_len=1, new_start=at, new_len=1)
    return Edit(path=path, **{"op": "modify", "applied": True, "hunks": [hunk], "origin": "structuredPatch", **fields})


def write(path: str, text: str, **fields: Any) -> Edit:
    lines = [f"+{line}" for line in text.removesuffix("\n").split("\n")]
    lines += [] if text.endswith("\n") else ["\\ No newline at end of file"]
    return Edit(
        path=path, **{"op": "create", "applied": True, "hunks": [Hunk(lines=lines)], "origin": "write", **fields}
    )


def patch_of(trace: Trace) -> str | None:
    replay(trace)
    return None if trace.final_patch is None else trace.final_patch.text


def test_edits_come_to_one_patch() -> None:
    trace = made(
        change("/repo/a.py", 2, "b", "B"),
        change("/repo/a.py", 2, "B", "BB"),
        change("/repo/a.py", 9, "i", "I"),
        write("/repo/new.py", "one\n"),
        change("/repo/new.py", 1, "one", "two"),
        # It did not take effect.
        change("/repo/a.py", 1, "x", "y", applied=False),
    )
    assert patch_of(trace) == (
        "diff --git a/a.py b/a.py\n--- a/a.py\n+++ b/a.py\n@@ -2 +2 @@\n-b\n+BB\n@@ -9 +9 @@\n-i\n+I\n"
        "diff --git a/new.py b/new.py\nnew file mode 100644\n--- /dev/null\n+++ b/new.py\n@@ -0,0 +1 @@\n+two\n"
    )
    assert trace.final_patch is not None and trace.final_patch.origin == "replayed"


@pytest.mark.parametrize(
    ("edits", "cwd"),
    [
        # Nobody says whether it took effect.
        ([change("/repo/a.py", 2, "b", "B"), change("/repo/a.py", 3, "c", "C", applied=None)], "/repo"),
        # Nobody says where.
        (
            [
                change("/repo/a.py", 2, "b", "B"),
                Edit(path="/repo/b.py", op="modify", applied=True, hunks=diff_hunks("x", "y")),
            ],
            "/repo",
        ),
        # A file that was there is written whole: what it was is not known.
        ([change("/repo/a.py", 2, "b", "B"), write("/repo/a.py", "all\n")], "/repo"),
        ([write("/repo/b.py", "all\n", op="modify")], "/repo"),
        # Outside of the run's folder, or of none that is known.
        ([change("/repo/a.py", 2, "b", "B"), write("/tmp/x", "x\n")], "/repo"),
        ([change("/repo/a.py", 2, "b", "B")], None),
        ([change("../a.py", 2, "b", "B")], "/repo"),
        # All failed, or there are none; and what is undone is nothing.
        ([change("/repo/a.py", 2, "b", "B", applied=False)], "/repo"),
        ([], "/repo"),
        ([change("/repo/a.py", 2, "b", "B"), change("/repo/a.py", 2, "B", "b")], "/repo"),
        # It was deleted, and its text is not known.
        ([Edit(path="/repo/a.py", op="delete", applied=True)], "/repo"),
    ],
)
def test_what_is_not_certain_is_no_patch(edits: list[Edit], cwd: str | None) -> None:
    assert patch_of(made(*edits, cwd=cwd)) is None


def test_a_patch_of_the_source_stays() -> None:
    trace = made(change("/repo/a.py", 2, "b", "B"), final_patch=Patch(text="", origin="submission"))
    assert patch_of(trace) == ""


def test_relative_paths_and_sub_agents() -> None:
    child = made(change("b.py", 1, "x", "y"))
    trace = made(change("a.py", 2, "b", "B"), cwd=None, children=[child])
    assert [line for line in (patch_of(trace) or "").splitlines() if line.startswith("+++")] == [
        "+++ b/a.py",
        "+++ b/b.py",
    ]


LINES = st.lists(st.sampled_from(["a", "b", "", " c", "\td", "é", "x\r", "-- y", "++ z"]), max_size=6)


@DETERMINISTIC
@given(st.lists(LINES, min_size=2, max_size=5), st.booleans())
def test_git_takes_it_and_gives_the_last_text(
    tmp_path_factory: pytest.TempPathFactory, versions: list[list[str]], new: bool
) -> None:
    """A file through several versions, each edit whole; or a file that is made and then edited."""
    folder = tmp_path_factory.mktemp("repo")
    texts = ["".join(f"{line}\n" for line in lines) for lines in versions]
    edits = []
    for number, (before, after) in enumerate(pairwise(versions)):
        if number == 0 and new:
            edits.append(
                Edit(
                    path="a b.txt",
                    op="create",
                    applied=True,
                    origin="write",
                    hunks=[Hunk(lines=[f"+{line}" for line in after])] if after else [],
                )
            )
        elif before != after:
            edits.append(Edit(path="a b.txt", op="modify", applied=True, hunks=numbered(before, after)))
    trace = made(*edits)
    replay(trace)
    first = None if new else texts[0]
    if trace.final_patch is None:
        assert first == texts[-1] or not edits
        return
    if first is not None:
        (folder / "a b.txt").write_bytes(first.encode())
    done = subprocess.run(
        ["git", "apply", "--whitespace=nowarn", "-"],
        input=trace.final_patch.text.encode(),
        cwd=folder,
        capture_output=True,
    )
    assert done.returncode == 0, (done.stderr, trace.final_patch.text)
    assert (folder / "a b.txt").read_bytes() == texts[-1].encode()
