"""Over 500 patches that git makes of histories with odd names, modes, line ends and binaries: counted as git counts.

What is written of each is applied with git, and gives the new tree.
"""

from __future__ import annotations

import random
import time
from pathlib import Path

import pytest

from potato_bridge.converters.diffs.read import read_diff
from potato_bridge.converters.diffs.write import write_diff
from potato_bridge.model.diff import Diff
from tests.converters.diffs.git import Count, counts, git

COMMITS = 60
#: Options of `git diff`.
VARIANTS: list[list[str]] = [
    [],
    ["-U0"],
    ["-U10", "-M", "-C", "--find-copies-harder"],
    ["-M20%", "--no-prefix"],
    ["--src-prefix=i/", "--dst-prefix=w/", "-M"],
    ["-B", "-M", "--full-index"],
    ["--binary", "--minimal", "-R"],
    ["--src-prefix=before/", "--dst-prefix=after/"],
    ["--binary", "-M", "-C"],
    # No -W: git 2.39 makes hunks with it that overlap, and refuses them itself.
    ["--no-renames", "--diff-algorithm=histogram"],
    ["--color=always"],
    ["--abbrev=4", "--inter-hunk-context=8"],
]
NAMES = [
    "plain.txt",
    "src/package/module.py",
    "with space.txt",
    "trailing space ",
    "dir b/x b/y.txt",
    "a/b/c.txt",
    "b/b.txt",
    'quote"s.txt',
    "tab\there.txt",
    "new\nline.txt",
    "back\\slash.txt",
    "ünï/файл 1.txt",
    "emoji😀.py",
    "-dash.txt",
    "=== equal ===",
    "x -> y.txt",
    " and b.txt",
    "log 2024-01-02 10:00:00",
    "@@ -1 +1 @@",
    "diff --git a b",
    "<script>.js",
    "$&.txt",
    "..dots..txt",
    "\u202ebidi.txt",
    b"latin\xe9.txt".decode("utf-8", "surrogateescape"),
    "control\x01.txt",
    "carriage\r.txt",
    "{{ x }}.j2",
]
LINES = [
    "",
    "x = 1",
    "    return x",
    "-- a comment of SQL",
    "++ plus",
    "--- a/x",
    "+++ b/x",
    "@@ -1,2 +1,2 @@",
    "diff --git a/x b/x",
    "\\ No newline at end of file",
    "index 1234567..89abcde 100644",
    "[-removed-]{+added+}",
    "```",
    "*** End Patch",
    "<<<<<<< SEARCH",
    "lone\rreturn",
    "ünï \u2028 sep",
    "form\x0cfeed",
    "tab\there",
    "windows\r",
    "From 0123456789abcdef0123456789abcdef01234567 Mon Sep 17 00:00:00 2001",
]
MODES = ["100644", "100644", "100644", "100755"]


def content(rng: random.Random) -> bytes:
    kind = rng.random()
    if kind < 0.06:
        return b""
    if kind < 0.12:
        return bytes(rng.randrange(256) for _ in range(300)) + b"\0"
    lines = [
        rng.choice(LINES) + (f" {rng.randrange(40)}" if rng.random() < 0.5 else "") for _ in range(rng.randint(1, 40))
    ]
    end = "\r\n" if kind < 0.3 else "\n"
    text = end.join(lines) + (end if rng.random() < 0.75 else "")
    return text.encode() if kind > 0.17 else text.encode() + b"caf\xe9\n"


def changed(rng: random.Random, old: bytes) -> bytes:
    """A small change in a text, sometimes of its last line's end."""
    if b"\0" in old or not old or rng.random() < 0.1:
        return content(rng)
    lines = old.split(b"\n")
    for _ in range(rng.randint(1, 4)):
        at = rng.randrange(len(lines))
        what = rng.random()
        if what < 0.4:
            lines[at : at + 1] = [rng.choice(LINES).encode()]
        elif what < 0.7:
            lines.insert(at, rng.choice(LINES).encode())
        elif len(lines) > 1:
            del lines[at]
    return b"\n".join(lines)


def history(seed: int) -> bytes:
    """A stream for `git fast-import`: commits on one branch."""
    rng = random.Random(seed)
    tree: dict[str, tuple[str, bytes]] = {}
    out: list[bytes] = []
    for number in range(COMMITS):
        for _ in range(rng.randint(1, 8)):
            free = [name for name in NAMES if name not in tree]
            what = rng.random()
            if free and (what < 0.35 or len(tree) < 4):
                tree[rng.choice(free)] = (rng.choice(MODES), content(rng))
                continue
            name = rng.choice(sorted(tree))
            mode, old = tree[name]
            if mode == "160000":
                tree[name] = (mode, f"{rng.getrandbits(160):040x}".encode())
            elif what < 0.65:
                tree[name] = (mode, changed(rng, old))
            elif what < 0.72 and mode == "120000":
                tree[name] = ("100644", content(rng))
            elif what < 0.72:
                tree[name] = ("100755" if mode == "100644" else "100644", old)
            elif what < 0.80 and free:
                del tree[name]
                tree[rng.choice(free)] = (mode, old if rng.random() < 0.5 else changed(rng, old))
            elif what < 0.86 and free:
                tree[rng.choice(free)] = (mode, old)
            elif what < 0.90:
                tree[name] = ("120000", b"target/of/link")
            elif what < 0.94:
                tree["vendor/sub module"] = ("160000", f"{rng.getrandbits(160):040x}".encode())
            else:
                del tree[name]
        # Each commit changes something.
        tree["plain.txt"] = ("100644", b"commit %d\n" % number)
        out.append(b"commit refs/heads/main\ncommitter a <a@example.org> %d +0000\ndata 1\nx\n" % (number + 1))
        out.append(b"deleteall\n")
        for name, (mode, data) in sorted(tree.items()):
            quoted = b'"%s"' % b"".join(b"\\%03o" % byte for byte in name.encode("utf-8", "surrogateescape"))
            if mode == "160000":
                out.append(b"M 160000 %s %s\n" % (data, quoted))
            else:
                out.append(b"M %s inline %s\ndata %d\n%s\n" % (mode.encode(), quoted, len(data), data))
    return b"".join(out)


@pytest.fixture(scope="module")
def repository(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("repository")
    git(folder, "init", "-q", "--bare", ".")
    git(folder, "fast-import", "--quiet", "--force", data=history(20260101))
    return folder


def rows(diff: Diff) -> list[Count]:
    found: list[Count] = []
    for file in diff.files:
        found.append((file.path, None, None) if file.binary else (file.path, file.added, file.removed))
    return found


def comparable(diff: Diff, expected: list[Count]) -> tuple[list[Count], list[Count]]:
    """The rows of both, where git counts what its patch shows.

    Of a binary file that is only moved or copied, or gets a mode, a patch does not say that it is binary. A change of
    type is a deletion and an addition in a patch, of all lines; numstat compares the contents.
    """
    ours = rows(diff)
    paths = [file.path for file in diff.files]
    twice = {path for path in paths if paths.count(path) > 1}
    alike = {file.path for file in diff.files if not file.binary and not file.hunks}
    theirs = [
        (path, added or 0, removed or 0) if path in alike else (path, added, removed)
        for path, added, removed in expected
    ]
    for found in (ours, theirs):
        found[:] = sorted({(row[0], 0, 0) if row[0] in twice else row for row in found})
    return ours, theirs


def problems(diff: Diff) -> set[str]:
    return {found.code for found in diff.problems} | {found.code for file in diff.files for found in file.problems}


@pytest.mark.parametrize("quote_path", ["true", "false"])
def test_counts_are_those_of_numstat(repository: Path, quote_path: str) -> None:
    read, started, size = 0, time.process_time(), 0
    config = ["-c", f"core.quotePath={quote_path}", "-c", f"diff.mnemonicPrefix={quote_path}"]
    for number, options in enumerate(VARIANTS):
        # Both settings see all options, each of them on half of the commits.
        for commit in range(number % 2 + (quote_path == "true"), COMMITS - 1, 2):
            pair = [f"main~{commit + 1}", f"main~{commit}"]
            patch = git(repository, *config, "diff", *options, *pair).stdout
            expected = counts(
                git(repository, *config, "diff", "--numstat", "-z", *options, "--color=never", *pair).stdout
            )
            diff = read_diff(patch)
            ours, theirs = comparable(diff, expected)
            assert ours == theirs, (options, pair)
            assert problems(diff) <= {"not-utf8", "ansi-colour"}, (options, pair)
            again = read_diff(write_diff(diff))
            assert again.files == diff.files, (options, pair)
            read, size = read + 1, size + len(patch)
    print(f"{read} patches of git, {size / 1e6:.1f} MB, {time.process_time() - started:.1f} s of CPU")
    assert read > 300


def test_what_is_written_gives_the_new_tree(repository: Path) -> None:
    """Two sets of options for each commit, so that all are met; binaries are in the patches, and colours are not."""
    for commit in range(COMMITS - 1):
        for number in (2 * commit, 2 * commit + 1):
            options = VARIANTS[number % len(VARIANTS)]
            pair = [f"main~{commit + 1}", f"main~{commit}"]
            patch = git(repository, "diff", *options, "--binary", "--full-index", "--color=never", *pair).stdout
            written = write_diff(read_diff(patch)).encode("utf-8", "surrogateescape")
            old, new = reversed(pair) if "-R" in options else pair
            git(repository, "read-tree", "--index-output=index", old)
            zero = ["--unidiff-zero"] if "-U0" in options else []
            git(repository, "apply", "--cached", "--whitespace=nowarn", *zero, data=written)
            assert git(repository, "write-tree").stdout == git(repository, "rev-parse", f"{new}^{{tree}}").stdout, (
                options,
                pair,
            )


@pytest.mark.parametrize("numbering", ["log -p", "format-patch"])
def test_logs_and_mails_hold_the_patches_of_their_commits(repository: Path, numbering: str) -> None:
    span = "main~9..main~1"
    if numbering == "log -p":
        command = ["log", "-p", "--reverse", "--stat", span]
    else:
        command = ["format-patch", "--stdout", "-M", span]
    diff = read_diff(git(repository, *command).stdout)
    alone: list[Count] = []
    for commit in range(8, 0, -1):
        alone += rows(read_diff(git(repository, "diff", "-M", f"main~{commit + 1}", f"main~{commit}").stdout))
    assert rows(diff) == alone
    assert problems(diff) <= {"not-utf8"}
