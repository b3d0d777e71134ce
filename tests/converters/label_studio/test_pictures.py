from __future__ import annotations

import base64
import struct
from pathlib import Path

import pytest

from potato_bridge.converters.view import pictures
from potato_bridge.converters.view.pictures import MAX_PICTURE_BYTES, Pictures, files_under, measure
from potato_bridge.model.trace import ImageBlock
from potato_bridge.notices import Notices
from tests.converters.label_studio.samples import png

PNG = png(3, 2)
DATA_URI = "data:image/png;base64," + base64.b64encode(PNG).decode()


def draw(uri, load=lambda _: None, alt=None):
    notices = Notices()
    picture = Pictures(load, notices, "item x").draw(ImageBlock(uri=uri, alt=alt))
    return picture, [notice.message for notice in notices]


def test_a_web_address_is_shown_from_there():
    picture, notices = draw("https://example.com/shot.png?x=1&y=2", alt="the shop")
    assert (picture.src, picture.alt, picture.data, notices) == (
        "https://example.com/shot.png?x=1&y=2",
        "the shop",
        "",
        [],
    )


def test_a_file_is_embedded(tmp_path: Path):
    (tmp_path / "shots").mkdir()
    (tmp_path / "shots" / "one.png").write_bytes(PNG)
    picture, notices = draw("shots/one.png", files_under(tmp_path))
    assert (picture.data, picture.width, picture.height, picture.alt) == (DATA_URI, 3, 2, "one.png")
    assert notices == []


def test_a_data_uri_is_embedded():
    assert draw(DATA_URI)[0].data == DATA_URI


@pytest.mark.parametrize(
    ("uri", "why"),
    [
        (None, "the trace does not have its bytes"),
        ("missing.png", "there is no such file under task_dir"),
        ("../outside.png", "its path leads out of task_dir"),
        ("shots/../../outside.png", "its path leads out of task_dir"),
        ("/etc/passwd", "its path leads out of task_dir"),
        ("C:\\shots\\one.png", "its path leads out of task_dir"),
        ("javascript:alert(1)", "addresses of the kind javascript: are not shown"),
        ("file:///etc/passwd", "addresses of the kind file: are not shown"),
        ("http:///x.png", "addresses of the kind http: are not shown"),
        ("http://[x", "its address cannot be read"),
        ("data:image/svg+xml,<svg/>", "its data: URI is not an image in base64"),
        ("data:image/png;base64,AAA", "its data: URI is not an image in base64"),
        ("data:image/png;base64,AAAA", "it is no PNG, JPEG, GIF or WebP image"),
        ("data:text/html;base64,AAAA", "its data: URI is not an image in base64"),
    ],
)
def test_what_is_not_shown_says_why(uri, why, tmp_path):
    (tmp_path.parent / "outside.png").write_bytes(PNG)
    picture, notices = draw(uri, files_under(tmp_path))
    assert (picture.src, picture.data) == ("", "")
    assert picture.alt.endswith(f"(not shown: {why})")
    assert notices == [f"an image is shown by its name only: {why}"]


def test_a_link_does_not_lead_out(tmp_path: Path):
    (tmp_path / "secret.png").write_bytes(PNG)
    task_dir = tmp_path / "task"
    task_dir.mkdir()
    (task_dir / "link.png").symlink_to(tmp_path / "secret.png")
    assert files_under(task_dir)("link.png") is None
    assert files_under(task_dir)("a\0b") is None


def test_sizes_are_bounded(monkeypatch):
    large = PNG + bytes(MAX_PICTURE_BYTES)
    assert draw("x.png", lambda _: large)[1] == ["an image is shown by its name only: it is larger than 2 MB"]
    monkeypatch.setattr(pictures, "MAX_TASK_BYTES", len(PNG) * 2)
    notices = Notices()
    task = Pictures(lambda _: PNG, notices, "item x")
    assert [bool(task.draw(ImageBlock(uri="x.png")).data) for _ in range(3)] == [True, True, False]
    assert [notice.code for notice in notices] == ["image-not-shown"]


def webp(kind: bytes, body: bytes) -> bytes:
    return b"RIFF\0\0\0\0WEBP" + kind + bytes(4) + body + bytes(30)


@pytest.mark.parametrize(
    ("content", "known"),
    [
        (PNG, ("image/png", 3, 2)),
        (b"GIF89a" + struct.pack("<HH", 30, 20), ("image/gif", 30, 20)),
        (webp(b"VP8X", bytes(4) + b"\x1d\0\0\x13\0\0"), ("image/webp", 30, 20)),
        (webp(b"VP8L", b"\x2f" + struct.pack("<I", 29 | 19 << 14)), ("image/webp", 30, 20)),
        (webp(b"VP8 ", bytes(3) + b"\x9d\x01\x2a" + struct.pack("<HH", 30, 20)), ("image/webp", 30, 20)),
        (
            b"\xff\xd8\xff\xe0\x00\x04ab\xff\xff\xc0\x00\x11\x08" + struct.pack(">HH", 20, 30) + bytes(9),
            ("image/jpeg", 30, 20),
        ),
        (b"\xff\xd8\xff\xe0\x00\x04", None),
        (b"\xff\xd8" + b"\xff" * 50, None),
        (b"\xff\xd8\0\0\0\0\0\0\0\0\0\0", None),
        (b"\x89PNG\r\n\x1a\n", None),
        (b"<svg/>", None),
        (b"", None),
    ],
)
def test_measuring(content, known):
    assert measure(content) == known
