"""One file of a unified diff, from its header lines to what happened to it."""

import re
from dataclasses import dataclass, field

from potato_bridge.converters.diffs.delimit import is_word_diff
from potato_bridge.converters.diffs.hunks import RawHunk, read_hunks
from potato_bridge.converters.diffs.paths import DEV_NULL, split_git_header, strip_pair, unquote
from potato_bridge.converters.diffs.problems import problem
from potato_bridge.model.diff import SUBMODULE_MODE, FileChange, Status

#: The lines below `diff --git`.
GIT_HEADER = re.compile(
    r"(?P<key>old mode|new mode|deleted file mode|new file mode|copy from|copy to|rename from|rename to|rename old"
    r"|rename new|similarity index|dissimilarity index|index) (?P<value>.*)",
    re.S,
)
_INDEX = re.compile(r"([0-9a-f]{4,64})\.\.([0-9a-f]{4,64})(?: (\d{6}))?")
_PER_CENT = re.compile(r"(\d{1,3})%")
#: What stands for the time of a file that is not there: of GNU diff in any time zone, of svn.
_ABSENT = re.compile(
    r"1970-01-01 |1969-12-31 |Thu Jan {1,2}0?1 .*1970|Wed Dec 31 .*1969|\(nonexistent\)|\(revision 0\)"
)


@dataclass
class Section:
    """A file while its part of the patch is read.

    Attributes:
        change: What is known of it.
        line: 1-based line of its header.
        crlf: Whether the lines of its header end with CR LF.
        git: Whether the header is `diff --git`.
        index: Whether the header is `Index:`.
        git_names: Both names of the line `diff --git`, prefixed; None where there is none, or it does not tell.
        named: Whether the lines `---` and `+++` are there.
        certain: Whether its names are known beyond doubt (`rename from`).
        settled: Whether nothing is left to find out.
        header_end: 0-based position after the header's last line.
        status: What the header says happened; None where it does not.
        stamps: What follows the names: times, revisions.
        hunks: Not read yet.
        combined: Whether this is the diff of a merge.
        parents: Of a merge.
    """

    change: FileChange
    line: int = 0
    crlf: bool = False
    git: bool = False
    index: bool = False
    git_names: tuple[str, str] | None = None
    named: bool = False
    certain: bool = False
    settled: bool = False
    header_end: int = 0
    status: Status | None = None
    stamps: tuple[str, str] = ("", "")
    hunks: list[RawHunk] = field(default_factory=list)
    combined: bool = False
    parents: int = 2

    @property
    def is_bare_index(self) -> bool:
        """Whether there is nothing yet but `Index:`."""
        return self.index and not (self.named or self.hunks or self.change.binary)

    @classmethod
    def of_git(cls, rest: str) -> "Section":
        """A file of a git diff.

        Args:
            rest: What follows `diff --git `.
        """
        names = split_git_header(rest)
        old, new = strip_pair(*names) if names else (rest, rest)
        return cls(FileChange(path=new, old_path=old if old != new else None), git=True, git_names=names)

    def extended(self, line: str) -> None:
        """Takes one of the lines that git puts below `diff --git`."""
        found = GIT_HEADER.match(line)
        assert found is not None
        key, value, change = found["key"], found["value"], self.change
        if key in ("old mode", "deleted file mode"):
            change.old_mode = value.strip() or None
        elif key in ("new mode", "new file mode"):
            change.new_mode = value.strip() or None
        elif key == "index":
            if index := _INDEX.match(value):
                change.old_id, change.new_id, mode = index.groups()
                if mode:
                    change.old_mode = change.new_mode = mode
        elif key == "similarity index":
            if per_cent := _PER_CENT.match(value):
                change.similarity = int(per_cent.group(1))
        elif key in ("rename from", "rename old", "copy from"):
            change.old_path = unquote(value)
        elif key in ("rename to", "rename new", "copy to"):
            change.path = unquote(value)
            self.certain = change.old_path is not None
        if key == "new file mode":
            self.status = "added"
        elif key == "deleted file mode":
            self.status = "deleted"
        elif key.startswith("rename"):
            self.status = "renamed"
        elif key.startswith("copy"):
            self.status = "copied"

    def names(self, old: tuple[str, str], new: tuple[str, str]) -> None:
        """Takes the names, and what follows them, of the lines `---` and `+++`."""
        self.named = True
        self.stamps = (old[1], new[1])
        before, after = strip_pair(old[0], new[0], self.git_names)
        if DEV_NULL == before and self.status is None:
            self.status = "added"
        elif DEV_NULL == after and self.status is None:
            self.status = "deleted"
        if self.certain:
            return
        if DEV_NULL in (before, after):
            before = after = after if before == DEV_NULL else before
        self.change.path = "" if after == DEV_NULL else after
        self.change.old_path = before if before != after else None

    def finish(self, coloured: bool) -> FileChange:
        """The file, with all that is wrong with it.

        Args:
            coloured: Whether colours were removed from the text.
        """
        change = self.change
        if self.settled:
            return change
        if any(is_word_diff(hunk, coloured=coloured) for hunk in self.hunks):
            change.unread = True
            change.problems.append(problem("word-diff", self.hunks[0].line))
        else:
            if self.combined:
                change.problems.append(problem("combined-diff", self.line, parents=self.parents))
            # Of a merge, a hunk may change nothing of the first parent.
            change.hunks = read_hunks(self.hunks, change.problems, may_be_unchanged=self.combined)
        change.status = self._status()
        if not change.path:
            change.problems.insert(0, problem("no-path", self.line))
        elif change.status == "modified" and not self.hunks and not self.combined:
            change.unread = True
            change.problems.append(problem("header-only", self.line))
        return change

    def _status(self) -> Status:
        change = self.change
        if self.status is not None:
            return self.status
        if self.combined:
            return change.status
        if not self.git and len(change.hunks) == 1:
            hunk = change.hunks[0]
            if hunk.old_start == 0 and not hunk.old_count and _ABSENT.match(self.stamps[0]):
                return "added"
            if hunk.new_start == 0 and not hunk.new_count and _ABSENT.match(self.stamps[1]):
                return "deleted"
        if SUBMODULE_MODE in (change.old_mode, change.new_mode):
            return "submodule"
        if change.binary:
            return "binary"
        if change.old_mode != change.new_mode and not self.hunks:
            return "mode"
        return "modified"
