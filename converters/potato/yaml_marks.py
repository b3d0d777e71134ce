"""YAML as plain values, with the line of every key and entry, and the text of every scalar as it was written.

Nothing is constructed by tag: the nodes are read, so no config can run code. What PyYAML would do in silence is
said: a key that stands twice, a `yes` that YAML 1.1 reads as a boolean, an alias that blows up.
"""

import codecs
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NoReturn, TypeAlias

import yaml

from potato_bridge.errors import InputError, Problem

#: Where a value stands: keys of mappings and positions in lists, from the root.
KeyPath: TypeAlias = tuple[str | int, ...]

#: A config is written by hand; more is a data file given by mistake, or an attack.
MAX_BYTES = 4_000_000
#: Values after aliases are expanded; the largest of Potato's own examples has a few hundred.
MAX_VALUES = 100_000
MAX_DEPTH = 100

_TAG = "tag:yaml.org,2002:"
_MERGE = _TAG + "merge"
#: What is explained in better words than PyYAML's: a part of its message, our message, what to do.
_EXPLAINED = (
    ("found character '\\t'", "a tab stands where YAML allows only spaces", "Indent with spaces."),
    ("mapping values are not allowed here", "a ':' stands inside a value", "Put the value in quotes."),
    (
        "found character '@'",
        "a value starts with '@', which YAML keeps for itself",
        "Put the value in quotes.",
    ),
    ("found character '`'", "a value starts with '`', which YAML keeps for itself", "Put the value in quotes."),
    ("found character '%'", "a value starts with '%', which YAML keeps for itself", "Put the value in quotes."),
    ("found unexpected end of stream", "a quotation mark is opened and never closed", "Close it."),
    ("but found another document", "a second document starts here ('---')", "Keep one document in a config."),
    ("found undefined alias", "an alias names an anchor that does not exist", ""),
)


@dataclass
class Document:
    """A parsed YAML file.

    Attributes:
        file: Its name, as the user gave it.
        root: Plain values: dict, list, str, int, float, bool, None. Keys are text; dates are text.
        lines: 1-based line of the key (in a mapping) or the entry (in a list).
        raw: The text of each unquoted scalar that was read as something else than text.
        problems: What is wrong with it, though it can be read.
    """

    file: str
    root: Any = None
    lines: dict[KeyPath, int] = field(default_factory=dict)
    raw: dict[KeyPath, str] = field(default_factory=dict)
    problems: list[Problem] = field(default_factory=list)

    def line(self, path: KeyPath) -> int | None:
        """The line of a value, or of the nearest thing around it that is there."""
        for end in range(len(path), -1, -1):
            if path[:end] in self.lines:
                return self.lines[path[:end]]
        return None

    def problem(self, path: KeyPath, message: str, hint: str = "") -> None:
        """Notes a problem at a place."""
        self.problems.append(Problem(message, self.file, self.line(path), show_path(path), hint))

    def where(self, path: KeyPath) -> str:
        """`config.yaml:12 annotation_schemes[0]`, for a notice."""
        line = self.line(path)
        place = self.file + (f":{line}" if line is not None else "")
        return " ".join(part for part in (place, show_path(path)) if part)


def show_path(path: KeyPath) -> str:
    """`annotation_schemes[2].first_error.error_color`."""
    text = ""
    for part in path:
        if isinstance(part, int):
            text += f"[{part}]"
        elif part.replace("_", "a").replace("-", "a").isalnum():
            text += f".{part}" if text else part
        else:
            text += f"[{part!r}]"
    return text


def read_yaml(path: Path) -> Document:
    """Reads a YAML file.

    Raises:
        InputError: It cannot be read, is no UTF-8 text or no YAML; problems that leave it readable are in the document.
    """
    document = Document(str(path))
    text = _read_text(path)
    try:
        loader = yaml.SafeLoader(text)
        try:
            node = loader.get_single_node()
        finally:
            loader.dispose()
        _Builder(document).build(node)
    except yaml.MarkedYAMLError as error:
        raise _failure(path, *_explain(error)) from error
    except yaml.reader.ReaderError as error:
        line = text.count("\n", 0, error.position) + 1
        raise _failure(path, f"a control character ({error.character:#04x}) stands in the text", line) from error
    except RecursionError as error:
        raise _failure(path, "the values are nested too deeply", None) from error
    return document


def _failure(path: Path, message: str, line: int | None, hint: str = "") -> InputError:
    return InputError(f"cannot read {path}", problems=[Problem(message, str(path), line, "", hint)])


def _read_text(path: Path) -> str:
    try:
        with path.open("rb") as file:
            data = file.read(MAX_BYTES + 1)
    except OSError as error:
        hint = "Give the config file itself." if path.is_dir() else ""
        raise _failure(path, f"cannot be opened: {error.strerror}", None, hint) from error
    if len(data) > MAX_BYTES:
        raise _failure(path, f"is larger than {MAX_BYTES // 1_000_000} MB: this is no config", None)
    if data.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        raise _failure(path, "is written in UTF-16", 1, "Save it as UTF-8.")
    if b"\0" in data:
        raise _failure(path, "is a binary file, not YAML", None, "Give the config file (often config.yaml).")
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        raise _failure(path, f"is not UTF-8: byte {error.start} is wrong", line, "Save it as UTF-8.") from error


def _explain(error: yaml.MarkedYAMLError) -> tuple[str, int | None, str]:
    mark = error.problem_mark or error.context_mark
    line = None if mark is None else mark.line + 1
    if error.context and "quoted scalar" in error.context and error.context_mark is not None:
        # The place where a quotation mark was opened tells more than the end of the file.
        line = error.context_mark.line + 1
    problem = error.problem or "cannot be parsed"
    for part, message, hint in _EXPLAINED:
        if part in problem:
            return f"is not YAML: {message}", line, hint
    hint = "Look at the indentation of this line and of those before it."
    return f"is not YAML: {problem}", line, hint


class _Builder:
    """Turns nodes into plain values; knows the limits."""

    def __init__(self, document: Document) -> None:
        self.document = document
        self.constructor = yaml.constructor.SafeConstructor()
        self.count = 0

    def build(self, node: yaml.Node | None) -> None:
        if node is None:
            self._fail("the file is empty", 1)
        self.document.root = self.value(node, (), ())

    def _fail(self, message: str, line: int | None, hint: str = "") -> NoReturn:
        raise _failure(Path(self.document.file), message, line, hint)

    def value(self, node: yaml.Node, path: KeyPath, above: tuple[int, ...]) -> Any:
        line = node.start_mark.line + 1
        self.count += 1
        if self.count > MAX_VALUES:
            self._fail(f"aliases expand to more than {MAX_VALUES} values", line, "Write the values out.")
        if id(node) in above:
            self._fail("an alias refers to the value that it stands in", line)
        if len(above) > MAX_DEPTH:
            self._fail(f"values are nested more than {MAX_DEPTH} deep", line)
        # A mapping has set the line of its key already.
        self.document.lines.setdefault(path, line)
        above = (*above, id(node))
        if isinstance(node, yaml.MappingNode) and node.tag == _TAG + "map":
            return self.mapping(node, path, above)
        if isinstance(node, yaml.SequenceNode) and node.tag == _TAG + "seq":
            return [self.value(entry, (*path, i), above) for i, entry in enumerate(node.value)]
        if isinstance(node, yaml.ScalarNode):
            return self.scalar(node, path)
        self._refuse_tag(node, path)
        return None

    def _refuse_tag(self, node: yaml.Node, path: KeyPath) -> None:
        tag = "!!" + node.tag.removeprefix(_TAG) if node.tag.startswith(_TAG) else node.tag
        self.document.problem(path, f"the tag {tag} is refused", "A config holds text, numbers, lists and mappings.")

    def mapping(self, node: yaml.MappingNode, path: KeyPath, above: tuple[int, ...]) -> dict[str, Any]:
        out: dict[str, Any] = {}
        first_seen: dict[str, int] = {}
        merged: list[yaml.Node] = []
        for key_node, value_node in node.value:
            line = key_node.start_mark.line + 1
            if key_node.tag == _MERGE:
                merged += value_node.value if isinstance(value_node, yaml.SequenceNode) else [value_node]
                continue
            if not isinstance(key_node, yaml.ScalarNode):
                self.document.lines.setdefault(path, line)
                self.document.problem(path, "a list or a mapping is used as a key", "Keys are text.")
                continue
            # As written: YAML 1.1 would make True of `yes:` and 1 of `1:`, and nobody means that of a key.
            key = key_node.value
            place = (*path, key)
            if key in first_seen:
                self.document.problems.append(
                    Problem(
                        f"the key {key!r} stands twice; first in line {first_seen[key]}",
                        self.document.file,
                        line,
                        show_path(place),
                        "Keep one of them.",
                    )
                )
                continue
            first_seen[key] = line
            self.document.lines[place] = line
            out[key] = self.value(value_node, place, above)
        for source in merged:
            if not isinstance(source, yaml.MappingNode):
                self.document.problem(path, "'<<' takes a mapping, or a list of mappings")
                continue
            if id(source) in above:
                self._fail("an alias refers to the value that it stands in", source.start_mark.line + 1)
            # The keys of the mapping itself win over merged ones, and an earlier merge over a later one.
            pairs = [pair for pair in source.value if pair[0].tag == _MERGE or str(pair[0].value) not in out]
            part = yaml.MappingNode(source.tag, pairs, source.start_mark)
            out.update(self.mapping(part, path, (*above, id(source))))
        return out

    def scalar(self, node: yaml.ScalarNode, path: KeyPath) -> Any:
        kind = node.tag.removeprefix(_TAG)
        if kind in ("str", "timestamp", "value"):
            return node.value
        if kind not in ("null", "bool", "int", "float"):
            self._refuse_tag(node, path)
            return None
        self.document.raw[path] = node.value
        if kind == "null":
            return None
        try:
            if kind == "bool":
                return self.constructor.construct_yaml_bool(node)
            if kind == "int":
                return self.constructor.construct_yaml_int(node)
            number = self.constructor.construct_yaml_float(node)
        except (ValueError, KeyError, IndexError):
            self.document.problem(path, f"{node.value[:40]!r} is not a valid {kind}")
            return None
        # JSON has no .inf and .nan; as text they are kept, and refused where a number is needed.
        return number if abs(number) < float("inf") else node.value
