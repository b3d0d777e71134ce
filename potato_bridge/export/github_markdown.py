"""Markdown for GitHub in which texts of others stay apart: none of them can swallow what follows it."""

import re


def escaped(text: str) -> str:
    """One line of text that Markdown shows as it is."""
    return re.sub(r"([\\`*_{}\[\]<>()#+!|~&$@])", r"\\\1", _one_line(text))


def code(text: str, *, in_table: bool = False) -> str:
    """A code span, whatever backticks the text has."""
    line = _one_line(text) or " "
    ticks = "`" * (_longest(r"`+", line) + 1)
    pad = " " if line.startswith("`") or line.endswith("`") else ""
    span = f"{ticks}{pad}{line}{pad}{ticks}"
    # The one character that a table takes before the span does.
    return span.replace("|", "\\|") if in_table else span


def fenced(text: str, info: str = "") -> str:
    """A block of code; a line feed at the end of the text is the end of its last line."""
    fence = "`" * max(3, _longest(r"`+", text) + 1)
    end = "" if not text or text.endswith("\n") else "\n"
    return f"{fence}{info}\n{text}{end}{fence}"


def opens_block(text: str) -> bool:
    """Whether the text may open a block of code that it does not close."""
    return "```" in text or "~~~" in text


def quoted(text: str) -> str:
    """The text in a block quote, at whose end all blocks that it opened end too."""
    return "\n".join(f"> {line}".rstrip() for line in without_open_comment(text).splitlines())


def without_open_comment(text: str) -> str:
    """The text, where `<!--` has no end: with a backslash before it, so that it hides nothing."""
    start = text.rfind("<!--")
    return text if start < 0 or "-->" in text[start:] else f"{text[:start]}\\{text[start:]}"


def _one_line(text: str) -> str:
    return " ".join("".join(char if char.isprintable() else " " for char in text).split())


def _longest(pattern: str, text: str) -> int:
    return max((len(run) for run in re.findall(pattern, text)), default=0)
