"""Screenshots: what a card shows of an image block, and why not, where it cannot.

Label Studio's sanitizer takes `data:` out of `src`, so an embedded picture is an SVG `image`, whose size must be known:
it is read from the picture's first bytes.
"""

import base64
import binascii
import re
import struct
from collections.abc import Callable
from pathlib import Path, PurePath
from typing import Final
from urllib.parse import urlsplit

from potato_bridge.converters.view.parts import Picture
from potato_bridge.model.trace import ImageBlock
from potato_bridge.notices import Notices

#: Bytes of one picture, and of all pictures of a task together, that are embedded.
MAX_PICTURE_BYTES: Final = 2_000_000
MAX_TASK_BYTES: Final = 20_000_000

_DATA_URI: Final = re.compile(r"data:image/[\w.+-]+(?:;[\w-]+=[^;,]*)*;base64,([A-Za-z0-9+/=\s%]*)", re.ASCII)

#: Reads a file that a trace names: the bytes, at most one more than `MAX_PICTURE_BYTES`; None if it is not there.
LoadImage = Callable[[str], bytes | None]


def files_under(folder: Path) -> LoadImage:
    """Reads files below a folder; a path that leads out of it, also through a link, is not read."""
    root = folder.resolve()

    def load(name: str) -> bytes | None:
        try:
            path = (root / name).resolve()
            if not path.is_relative_to(root) or not path.is_file():
                return None
            with path.open("rb") as stream:
                return stream.read(MAX_PICTURE_BYTES + 1)
        except (OSError, ValueError):
            return None

    return load


class Pictures:
    """Draws the images of one task and keeps count of the bytes that it embeds.

    Args:
        load: Reads a file below the project's `task_dir`.
        notices: Gets `image-not-shown`.
        where: The item, for the notices.
    """

    def __init__(self, load: LoadImage, notices: Notices, where: str) -> None:
        self._load = load
        self._notices = notices
        self._where = where
        self._left = MAX_TASK_BYTES

    def draw(self, block: ImageBlock) -> Picture:
        """The picture, or its words alone where it cannot be shown, with a notice that says why."""
        uri = (block.uri or "").strip()
        alt = block.alt or _name(uri) or "image"
        if not uri:
            return self._words(alt, "the trace does not have its bytes")
        if uri.startswith("data:"):
            match = _DATA_URI.fullmatch(uri)
            if match is None:
                return self._words(alt, "its data: URI is not an image in base64")
            try:
                content = base64.b64decode(match[1].replace("%2B", "+").replace("%2F", "/").replace("%3D", "="))
            except binascii.Error:
                return self._words(alt, "its data: URI is not an image in base64")
            return self._embed(content, alt)
        parts = _split_url(uri)
        if parts is None:
            return self._words(alt, "its address cannot be read")
        scheme, host = parts
        if scheme in ("http", "https") and host:
            return Picture(alt, src=uri)
        if len(scheme) > 1:  # A single letter is a drive of Windows, and no file below task_dir.
            return self._words(alt, f"addresses of the kind {scheme}: are not shown")
        if _leads_out(uri):
            return self._words(alt, "its path leads out of task_dir")
        found = self._load(uri)
        return self._words(alt, "there is no such file under task_dir") if found is None else self._embed(found, alt)

    def _embed(self, content: bytes, alt: str) -> Picture:
        if len(content) > MAX_PICTURE_BYTES:
            return self._words(alt, f"it is larger than {MAX_PICTURE_BYTES // 1_000_000} MB")
        if len(content) > self._left:
            return self._words(alt, f"the item's pictures are larger than {MAX_TASK_BYTES // 1_000_000} MB together")
        known = measure(content)
        if known is None:
            return self._words(alt, "it is no PNG, JPEG, GIF or WebP image")
        self._left -= len(content)
        mime, width, height = known
        return Picture(alt, data=f"data:{mime};base64,{base64.b64encode(content).decode()}", width=width, height=height)

    def _words(self, alt: str, why: str) -> Picture:
        self._notices.add("image-not-shown", f"an image is shown by its name only: {why}", self._where)
        return Picture(f"{alt} (not shown: {why})")


def _split_url(uri: str) -> tuple[str, str] | None:
    try:
        parts = urlsplit(uri)
    except ValueError:
        return None
    return parts.scheme, parts.netloc


def _leads_out(uri: str) -> bool:
    path = PurePath(uri.replace("\\", "/"))
    return path.is_absolute() or ".." in path.parts or ":" in uri[:2]


def _name(uri: str) -> str:
    return "" if uri.startswith("data:") else re.split(r"[/\\]", uri.split("?", 1)[0])[-1][:120]


def measure(content: bytes) -> tuple[str, int, int] | None:
    """The media type, width and height of a PNG, GIF, WebP or JPEG image; None for anything else."""
    width = height = 0
    mime = ""
    if content.startswith(b"\x89PNG\r\n\x1a\n") and len(content) >= 24:
        mime, (width, height) = "image/png", struct.unpack(">II", content[16:24])
    elif content.startswith((b"GIF87a", b"GIF89a")) and len(content) >= 10:
        mime, (width, height) = "image/gif", struct.unpack("<HH", content[6:10])
    elif content[:4] == b"RIFF" and content[8:12] == b"WEBP" and len(content) >= 30:
        mime, (width, height) = "image/webp", _webp_size(content)
    elif content.startswith(b"\xff\xd8"):
        mime, (width, height) = "image/jpeg", _jpeg_size(content)
    return (mime, width, height) if width > 0 and height > 0 else None


def _webp_size(content: bytes) -> tuple[int, int]:
    kind = content[12:16]
    if kind == b"VP8X":
        return int.from_bytes(content[24:27], "little") + 1, int.from_bytes(content[27:30], "little") + 1
    if kind == b"VP8L":
        bits = int.from_bytes(content[21:25], "little")
        return (bits & 0x3FFF) + 1, (bits >> 14 & 0x3FFF) + 1
    if kind == b"VP8 ":
        return (
            int.from_bytes(content[26:28], "little") & 0x3FFF,
            int.from_bytes(content[28:30], "little") & 0x3FFF,
        )
    return 0, 0


def _jpeg_size(content: bytes) -> tuple[int, int]:
    """Goes from marker to marker to the frame header, which has the size."""
    at = 2
    while at + 9 <= len(content):
        if content[at] != 0xFF:
            return 0, 0
        marker = content[at + 1]
        if 0xC0 <= marker <= 0xCF and marker not in (0xC4, 0xC8, 0xCC):
            height, width = struct.unpack(">HH", content[at + 5 : at + 9])
            return width, height
        # Fill bytes and markers without a length.
        at += 1 if marker == 0xFF else 2 if marker == 0x01 or 0xD0 <= marker <= 0xD9 else 0
        if marker not in (0xFF, 0x01) and not 0xD0 <= marker <= 0xD9:
            at += 2 + int.from_bytes(content[at + 2 : at + 4], "big")
    return 0, 0
