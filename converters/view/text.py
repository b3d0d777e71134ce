"""Untrusted text, made safe and visible: for HTML, for CSS strings, for attributes of a label config.

A trace may hold anything: markup, control characters, marks that reorder what is read, half a surrogate pair. In the
interface all of it is data that a reviewer can see.
"""

import re
import unicodedata
from typing import Final

from markupsafe import Markup, escape

from potato_bridge.errors import InputError

#: Half a surrogate pair, imported once, makes Label Studio answer 500 for the whole project; PostgreSQL refuses NUL.
_UNSTORABLE: Final = re.compile("[\x00\ud800-\udfff]")
_SURROGATE: Final = re.compile("[\ud800-\udfff]")

# Controls (but tab and newline), marks that reorder the text, characters without width, tag characters: all can hide
# from a reviewer what a machine reads. The joiners U+200C and U+200D stay: scripts and emoji need them.
_HIDDEN_CHARS: Final = (
    "\x00-\x08\x0b-\x1f\x7f-\x9f\u00ad\u061c\u115f\u1160\u180e\u200b\u200e\u200f\u2028-\u202e\u2060-\u206f\u3164"
    "\ufeff\uffa0\ufdd0-\ufdef\ufff9-\ufffb\U000e0000-\U000e007f"
)
_HIDDEN: Final = re.compile(f"[{_HIDDEN_CHARS}]")
_HIDDEN_OR_SURROGATE: Final = re.compile(f"[{_HIDDEN_CHARS}\ud800-\udfff]")
_CONTROLS: Final = (
    "NUL SOH STX ETX EOT ENQ ACK BEL BS HT LF VT FF CR SO SI DLE DC1 DC2 DC3 DC4 NAK SYN ETB CAN EM SUB ESC FS GS RS US"
).split()
# Colours and cursor moves of a terminal, and links that it makes (OSC, ended by BEL or ESC \).
_ANSI: Final = re.compile("\x1b(?:\\[[0-?]*[ -/]*[@-~]|\\][^\x07\x1b]*(?:\x07|\x1b\\\\)|[()][0-9A-B]|[=>78cDEHM])")
_CSS_COLOUR: Final = re.compile("#(?:[0-9a-f]{3,4}|[0-9a-f]{6}|[0-9a-f]{8})|[a-z]{3,30}", re.IGNORECASE | re.ASCII)
# What Label Studio takes for a variable in an attribute: a dollar sign before one of these.
_VARIABLE: Final = re.compile(r"\$(?=[\w\[\].{}])")
_WORD_JOINER: Final = "\u2060"


def storable(text: str) -> str:
    """The text without what Label Studio cannot store; each such character becomes U+FFFD."""
    return _UNSTORABLE.sub("\ufffd", text)


def plain_terminal(text: str) -> str:
    """Terminal output without colour codes, and with one kind of line break."""
    return _ANSI.sub("", text).replace("\r\n", "\n").replace("\r", "\n")


def _visible(match: re.Match[str]) -> str:
    char = match[0]
    name = unicodedata.name(char, "control character")
    return f'<span class="pb-hidden" title="U+{ord(char):04X} {name}">{_shown(char)}</span>'


def _shown(char: str) -> str:
    code = ord(char)
    return _CONTROLS[code] if code < len(_CONTROLS) else f"U+{code:04X}"


def trace_text(text: str) -> Markup:
    """Escaped text in which hidden characters are shown by their name; the filter for all text of a trace."""
    if _HIDDEN_OR_SURROGATE.search(text) is None:
        return escape(text)
    # The line breaks of Windows are no news; a carriage return alone is one.
    clean = _SURROGATE.sub("\ufffd", text.replace("\r\n", "\n"))
    return Markup(_HIDDEN.sub(_visible, str(escape(clean))))


def visible_text(text: str) -> str:
    """Plain text in which hidden characters are shown by their name: `⟨U+202E⟩`; where markup cannot stand."""
    return _HIDDEN.sub(lambda match: f"⟨{_shown(match[0])}⟩", _SURROGATE.sub("\ufffd", text))


def css_string(text: str) -> Markup:
    """A CSS string, quotes included, that is safe in XML and in a style element too.

    Everything but letters, digits and spaces is written as an escape: Label Studio turns `<`, `>` and `&` of a style
    into entities, which CSS does not read.
    """
    safe = storable(text).replace("\n", " ")
    return Markup(
        '"' + "".join(c if c.isascii() and (c.isalnum() or c == " ") else f"\\{ord(c):x} " for c in safe) + '"'
    )


def css_colour(text: str) -> Markup:
    """A CSS colour, checked.

    Raises:
        InputError: Neither a hexadecimal colour nor a name.
    """
    if not _CSS_COLOUR.fullmatch(text.strip()):
        raise InputError(f"{text!r} is not a colour", hint="Give a hexadecimal colour such as #22c55e, or a CSS name.")
    return Markup(text.strip())


def attribute(text: str) -> Markup:
    """Text for an attribute of a label config: escaped, and `$word` kept from being taken for a variable."""
    clean = _HIDDEN.sub(lambda match: " " if match[0] in "\r\x0b\x0c" else "\ufffd", _SURROGATE.sub("\ufffd", text))
    protected = str(escape(_VARIABLE.sub("$" + _WORD_JOINER, clean)))
    # XML would turn a raw line break of an attribute into a space.
    return Markup(protected.replace("\n", "&#10;").replace("\t", "&#9;"))
