"""Names and encodings that settings, records and responses share.

Argilla puts a record into the page of a custom field as it is, by `String.replace` and into a script: `$&` in it
inserts text, `</script>` ends the script. So nothing that a trace, an item or an annotator says stands in a record of
the panel layout in the clear: it is base64, or escaped.
"""

import base64
import hashlib
import json
import math
import re
from collections.abc import Mapping
from typing import Any, Final
from urllib.parse import quote, unquote

import msgspec

from potato_bridge.converters.view.text import storable
from potato_bridge.model.project import Scheme

#: Version of the records that this code writes.
RECORD_SCHEMA: Final = 1
#: Key of a record's metadata with our own part, base64 of JSON.
META: Final = "potato_bridge"
#: Metadata that people filter and sort by.
TRACE: Final = "trace_id"
STEP: Final = "step_index"
TOTAL: Final = "total_steps"
#: The panel's field, the key of its value, and the question that it writes into.
PANEL: Final = "panel"
B64: Final = "b64"
ANSWER: Final = "answer"

#: What an external id, a metadata value or an option cannot hold in the clear.
_UNSAFE: Final = re.compile("[%<>$&\x00-\x1f\x7f-\x9f\u2028\u2029\ud800-\udfff]")
#: Levels of JSON that an answer may have; what the panel writes has six.
_DEPTH: Final = 50
_NAME: Final = re.compile(r"[a-z0-9][a-z0-9_-]{0,150}", re.ASCII)


def safe(text: str) -> str:
    """The text with all that could break a page percent-encoded; most texts stay as they are. See `unsafe`."""
    return _UNSAFE.sub(lambda match: quote(match[0], safe="", errors="surrogatepass"), text)


def unsafe(text: str) -> str:
    """The inverse of `safe`."""
    return unquote(text, errors="surrogatepass")


def question_name(scheme: Scheme) -> str:
    """The name that the questions of a scheme have, or begin with."""
    return name_for(scheme.name)


def name_for(name: str) -> str:
    """A scheme's name as that of a question: itself, or one made from it, in small letters."""
    if _NAME.fullmatch(name) and name not in (ANSWER, PANEL):
        return name
    plain = re.sub(r"[^a-z0-9_-]+", "_", name.lower()).strip("_-")[:60]
    digest = hashlib.sha256(name.encode("utf-8", "surrogatepass")).hexdigest()[:8]
    return f"{plain}_{digest}" if plain else f"q_{digest}"


def to_base64(value: Any) -> str:
    """A JSON value as base64."""
    # Half a surrogate pair is no UTF-8: JSON's own escapes hold it.
    return base64.b64encode(json.dumps(value, ensure_ascii=True, separators=(",", ":")).encode()).decode()


def from_base64(text: Any) -> Any:
    """The JSON value, or None where it is none."""
    try:
        raw = base64.b64decode(text, validate=True)
        try:
            return msgspec.json.decode(raw)
        except msgspec.DecodeError:
            # Faster, but it does not read half a surrogate pair, which `to_base64` can write.
            return json.loads(raw)
    except (TypeError, ValueError, RecursionError):
        return None


def write_meta(meta: Mapping[str, Any]) -> dict[str, str]:
    """Our own part of a record's metadata."""
    return {META: to_base64(dict(meta))}


def read_meta(metadata: Mapping[str, Any] | None) -> dict[str, Any]:
    """Our own part of a record's metadata, decoded; empty where it has none."""
    found = from_base64((metadata or {}).get(META))
    return found if isinstance(found, dict) else {}


def escaped_json(value: Any) -> str:
    """JSON for the answer question: what could break a page on re-open is written as escapes."""
    text = json.dumps(value, ensure_ascii=True, separators=(",", ":"))
    return re.sub(r"[<>$&]", lambda match: f"\\u{ord(match[0]):04x}", text)


def read_json(text: str) -> Any:
    """JSON that a person may have typed, as a record can hold it: NUL and half a surrogate pair become U+FFFD.

    Raises:
        ValueError: It is no JSON, or has numbers or depths that no file of records can have.
    """
    try:
        return _storable(json.loads(text), _DEPTH)
    except RecursionError as error:
        raise ValueError("it is too deep") from error


def _storable(value: Any, depth: int) -> Any:
    if depth == 0:
        raise ValueError("it is too deep")
    if isinstance(value, str):
        return storable(value)
    if isinstance(value, list):
        return [_storable(one, depth - 1) for one in value]
    if isinstance(value, dict):
        return {
            storable(key): one if type(one) in (int, bool) else _storable(one, depth - 1) for key, one in value.items()
        }
    if isinstance(value, float) and not math.isfinite(value):
        # Python reads NaN, Infinity and 1e999; in a record each would be null.
        raise ValueError(f"{value} is no number of JSON")
    return value
