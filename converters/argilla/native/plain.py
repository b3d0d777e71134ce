"""Texts for Argilla's own fields: cards as plain text, and plain text as HTML that shows it.

A TextField is HTML to Argilla, which cleans it. So every text is escaped; in a `pre` it keeps its spaces and line
breaks. The text of a field with spans is escaped alone: places in it are counted in what is seen.
"""

from collections.abc import Iterable
from html import escape

from potato_bridge.converters.view.parts import (
    Card,
    Clip,
    Code,
    Diff,
    Note,
    Observation,
    Part,
    Picture,
    Prose,
    Reasoning,
    Row,
    SubAgent,
    Terminal,
    Tool,
)
from potato_bridge.converters.view.text import storable, visible_text

_SIGNS = {"a": "+", "d": "-", "c": " ", "h": "", "n": ""}
#: Characters of the context that is repeated before a step.
CONTEXT = 2_000


def shown(text: str) -> str:
    """A text as HTML that looks like it."""
    plain = visible_text(storable(text).replace("\r\n", "\n"))
    return f'<pre style="white-space: pre-wrap; font-size: 13px; margin: 0">{escape(plain, quote=False)}</pre>'


def marked(text: str) -> str:
    """The text of a field with spans."""
    return escape(text, quote=False)


def card_text(card: Card) -> str:
    """A card, without its head."""
    return "\n\n".join(text for text in map(_part, card.parts) if text)


def cards_text(cards: Iterable[Card]) -> str:
    """Cards, each with its head."""
    return "\n\n".join(f"{_head(card)}\n{card_text(card)}".strip() for card in cards)


def shortened(text: str) -> str:
    """The end of a text that is only there as context."""
    return text if len(text) <= CONTEXT else f"… {text[-CONTEXT:]}"


def _head(card: Card) -> str:
    return f"[{card.role}]" if card.number is None else f"Step {card.number + 1}"


def _clip(clip: Clip | None) -> str:
    if clip is None:
        return ""
    whole = "\n".join(part for part in (clip.head, clip.more) if part)
    cut = f"\n… {clip.cut_lines} lines, {clip.cut_chars} characters are left out here …\n" if clip.cut_chars else ""
    return f"{whole}{cut}{clip.tail}"


def _row(row: Row | None) -> str:
    return f"{_SIGNS[row.op]}{row.text}" if row is not None else ""


def _part(part: Part) -> str:
    match part:
        case Prose(text=text):
            return _clip(text)
        case Reasoning(text=text):
            return f"(reasoning) {_clip(text)}"
        case Code(text=text):
            return _clip(text)
        case Terminal(command=command, output=output):
            return "\n".join(text for text in (f"$ {_clip(command)}" if command else "", _clip(output)) if text)
        case Diff(rows=rows, pairs=pairs):
            listed = rows or [row for pair in pairs for row in pair if row is not None]
            return "\n".join(map(_row, listed))
        case Note(text=words):
            return f"({words})"
        case Picture(alt=alt):
            return f"(picture: {alt})"
        case Tool():
            words = " ".join(word for word in (part.label, part.name, part.title, part.detail) if word)
            badges = " ".join(f"[{badge.text}]" for badge in part.badges)
            inner = "\n".join(text for text in map(_part, part.parts) if text)
            return "\n".join(text for text in (f"▶ {words} {badges}".strip(), inner) if text)
        case Observation(parts=parts):
            return "\n".join(text for text in map(_part, parts) if text)
        case SubAgent(title=title, cards=cards):
            return f"({title})\n{cards_text(cards)}"
    return ""
