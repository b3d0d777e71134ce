from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from potato_bridge.converters.view.text import (
    attribute,
    css_colour,
    css_string,
    plain_terminal,
    storable,
    trace_text,
)
from potato_bridge.errors import InputError
from tests.converters.label_studio.html_reading import read
from tests.strategies import DETERMINISTIC

ANY_TEXT = st.text(st.characters(exclude_categories=()), max_size=60)


def test_text_is_escaped():
    assert trace_text("<b>\"x\" & 'y'</b>") == "&lt;b&gt;&#34;x&#34; &amp; &#39;y&#39;&lt;/b&gt;"


@pytest.mark.parametrize(
    ("char", "shown", "title"),
    [
        ("\0", "NUL", "U+0000 control character"),
        ("\x1b", "ESC", "U+001B control character"),
        ("\r", "CR", "U+000D control character"),
        ("\x7f", "U+007F", "U+007F control character"),
        ("\u202e", "U+202E", "U+202E RIGHT-TO-LEFT OVERRIDE"),
        ("\u2066", "U+2066", "U+2066 LEFT-TO-RIGHT ISOLATE"),
        ("\u200f", "U+200F", "U+200F RIGHT-TO-LEFT MARK"),
        ("\u200b", "U+200B", "U+200B ZERO WIDTH SPACE"),
        ("\ufeff", "U+FEFF", "U+FEFF ZERO WIDTH NO-BREAK SPACE"),
        ("\U000e0041", "U+E0041", "U+E0041 TAG LATIN CAPITAL LETTER A"),
    ],
)
def test_hidden_characters_are_shown(char, shown, title):
    assert trace_text(f"a{char}b") == f'a<span class="pb-hidden" title="{title}">{shown}</span>b'


@pytest.mark.parametrize("text", ["tab\tand\nline", "👩\u200d💻", "می\u200cخواهم", "é 😀 漢字 \u00a0"])
def test_other_text_stays(text):
    assert trace_text(text) == text


def test_line_breaks_of_windows_are_no_news():
    assert trace_text("a\r\nb") == "a\nb"


def test_half_a_surrogate_pair():
    assert trace_text("a\ud83db") == "a\ufffdb"
    assert storable("a\ud83d\0b😀") == "a\ufffd\ufffdb😀"


def test_terminal_colours_are_taken_out():
    coloured = "\x1b[31mred\x1b[0m \x1b]8;;http://x\x07link\x1b]8;;\x1b\\ 10%\r20%\r\n\x1b[2K\x1b(Bdone"
    assert plain_terminal(coloured) == "red link 10%\n20%\ndone"


def test_css_strings_hold_nothing_that_ends_them():
    assert css_string("+1") == '"\\2b 1"'
    assert css_string('"</style> \\ a\nb') == '"\\22 \\3c \\2f style\\3e  \\5c  a b"'


@pytest.mark.parametrize("colour", ["#22c55e", "#abc", "#11223344", "tomato", " red "])
def test_colours(colour):
    assert css_colour(colour) == colour.strip()


@pytest.mark.parametrize("colour", ["red;}", "#12", "url(x)", "", "re d", "#ggg"])
def test_what_is_no_colour(colour):
    with pytest.raises(InputError, match="is not a colour"):
        css_colour(colour)


def test_attributes_keep_dollar_signs_from_label_studio():
    assert attribute('Costs $5, $word, $[x "y" <z>') == ("Costs $\u20605, $\u2060word, $\u2060[x &#34;y&#34; &lt;z&gt;")
    assert attribute("a $ b$") == "a $ b$"
    assert attribute("two\nlines\tand\0") == "two&#10;lines&#9;and\ufffd"


@DETERMINISTIC
@given(ANY_TEXT)
def test_any_text_is_only_text(text):
    assert {tag for tag, _ in read(str(trace_text(text))).elements} <= {"span"}
    for char in '<>&"\n':
        assert char not in str(css_string(text))[1:-1]
    assert not set("<>\"'\n") & set(str(attribute(text)))
