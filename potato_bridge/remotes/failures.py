"""What can go wrong with a request, as errors that say what to do."""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlsplit

import httpx
import msgspec

from potato_bridge.errors import AuthError, RemoteError
from potato_bridge.remotes.base import UnansweredError

#: Faults that go away by themselves; a 500 is among them because servers answer so while SQLite is locked.
TRANSIENT = frozenset({408, 425, 429, 500, 502, 503, 504})
WHERE_TOKENS = "In Label Studio: Account & Settings > Personal Access Token"
_LONGEST_PAUSE = 60.0
_SHOWN = 500
_ARGILLA_ERRORS = 3
# Nothing of a request has been sent when one of these is raised.
_NOT_SENT = (httpx.ConnectError, httpx.ConnectTimeout, httpx.PoolTimeout, httpx.UnsupportedProtocol)
_BODY_LIMIT = "You cannot access body after reading from request's data stream"
LOOKS_FIRST = "Run the same command again: it looks first what has arrived."


@dataclass(frozen=True, slots=True)
class Product:
    """A kind of server, as its errors name it.

    Attributes:
        name: As people call it.
        address_from: Where its address is set.
        key_header: The header of its API keys; empty: Label Studio's two kinds of token, in `Authorization`.
        key_hint: Where a key is found.
        body_hint: What raises its limit of a request's size.
    """

    name: str
    address_from: str
    key_header: str
    key_hint: str
    body_hint: str


LABEL_STUDIO = Product(
    name="Label Studio",
    address_from="--url or LABEL_STUDIO_URL",
    key_header="",
    key_hint=WHERE_TOKENS,
    body_hint="Raise DATA_UPLOAD_MAX_MEMORY_SIZE of Label Studio, or the proxy's limit (client_max_body_size).",
)
ARGILLA = Product(
    name="Argilla",
    address_from="--argilla-url or ARGILLA_API_URL",
    key_header="X-Argilla-Api-Key",
    key_hint="In Argilla: My settings > API key; copy it whole, from this server.",
    body_hint="Raise the proxy's limit (client_max_body_size): Argilla itself has none.",
)


class TransientError(Exception):
    """Worth another try.

    Args:
        error: What the caller gets when no try is left.
        pause: Seconds that the server asks to wait.
    """

    def __init__(self, error: RemoteError, pause: float | None = None) -> None:
        super().__init__(str(error))
        self.error = error
        self.pause = pause


def no_answer(
    error: httpx.HTTPError, url: str, method: str, path: str, *, seen: bool, product: Product = LABEL_STUDIO
) -> Exception:
    """The error for a request that got no answer; `seen`: whether the server has ever answered us."""
    why = str(error) or type(error).__name__
    if isinstance(error, _NOT_SENT):
        failure = RemoteError(
            f"cannot reach {url}: {why}",
            hint=f"Is the server running, and the address right? Set it with {product.address_from}.",
        )
        # Refused from the start is a wrong address; refused later is a server that restarts.
        return TransientError(failure) if seen and method == "GET" else failure
    if method == "GET":
        return TransientError(RemoteError(f"{url} GET {path}: no answer ({why})", hint="Try again."))
    return UnansweredError(
        f"{url} {method} {path}: no answer ({why}); the server may have carried it out", hint=LOOKS_FIRST
    )


def value_of(
    answer: httpx.Response, url: str, method: str, path: str, *, personal: bool, product: Product = LABEL_STUDIO
) -> Any:
    """The JSON value of an answer; raises the error that it stands for.

    Args:
        answer: The answer.
        url: The server.
        method: "GET" where the request changed nothing.
        path: The path that was asked for.
        personal: Whether the token is a personal one.
        product: What kind of server it is.

    Raises:
        TransientError: Worth another try.
        UnansweredError: A request that writes, whose outcome the answer leaves open.
        AuthError: The token is not accepted, or the account may not do this.
        RemoteError: A refusal, a redirect, or no JSON.
    """
    status, what = answer.status_code, f"{url} {method} {path}"
    is_it = f"Is this {product.name}'s own address, and is there no login page in front of it?"
    if status == 204:
        return None
    if answer.is_success:
        try:
            return msgspec.json.decode(answer.content)
        except (msgspec.DecodeError, UnicodeDecodeError) as error:
            kind = answer.headers.get("content-type", "no type")
            if method == "GET" and "json" in kind:
                # Seen of Label Studio's export, on a busy machine, after an export that nobody waited for.
                raise TransientError(
                    RemoteError(f"{what}: the answer is cut off ({kind})", hint="Try again.")
                ) from error
            if method == "GET":
                raise RemoteError(f"{what}: the answer is not JSON ({kind})", hint=is_it) from error
            raise UnansweredError(
                f"{what}: the answer makes no sense; the server may have carried it out", hint=LOOKS_FIRST
            ) from error
    if answer.is_redirect:
        raise _redirected(answer, what)
    if status == 401:
        raise _unauthorized(answer, url, personal, product)
    detail = detail_of(answer)
    if status == 403:
        raise AuthError(f"{what}: the account may not do this: {detail}")
    if status == 413 or (status == 500 and _BODY_LIMIT in answer.text):
        raise RemoteError(
            f"{what}: the request is larger than the server or a proxy in front of it takes",
            hint=product.body_hint,
        )
    is_page = answer.headers.get("content-type", "").startswith("text/html")
    failure = RemoteError(f"{what}: {status} {detail}", hint=is_it if is_page and status < 500 else "")
    if status == 429 or (method == "GET" and status in TRANSIENT):
        raise TransientError(failure, _pause(answer.headers))
    if status >= 500 or status == 408:
        raise UnansweredError(
            f"{what}: {status} {detail}; the server may have carried it out", hint=LOOKS_FIRST, settled=status == 500
        )
    raise failure


def detail_of(answer: httpx.Response) -> str:
    """What the server says is wrong, in one short line; it quotes whole tasks, which are left out."""
    try:
        value = msgspec.json.decode(answer.content)
    except (msgspec.DecodeError, UnicodeDecodeError):
        title = re.search(r"<title>([^<]{1,200})", answer.text[:20_000])
        shown = f"a web page, {' '.join(title[1].split())!r}" if title else answer.text[:_SHOWN]
        return " ".join(shown.split()) or answer.reason_phrase
    if not isinstance(value, dict):
        return str(value)[:_SHOWN]
    if isinstance(value.get("detail"), dict):
        return _argilla_detail(value["detail"])
    errors = value.get("validation_errors")
    parts = [f"{field}: {text}" for field, texts in errors.items() for text in _texts(texts)] if errors else []
    said = value.get("detail") or value.get("error") or value.get("message")
    detail = "; ".join(parts) or str(said or answer.reason_phrase)
    return " ".join(detail.split())[:_SHOWN]


def _argilla_detail(detail: Mapping[str, Any]) -> str:
    """Of `{"code": …, "params": {"errors": [{"loc": ["body", "items", 0], "msg": …}]}}`, or `{"detail": …}` in it."""
    params = detail.get("params")
    params = params if isinstance(params, dict) else {}
    rows = params.get("errors")
    rows = [row for row in rows if isinstance(row, dict)] if isinstance(rows, list) else []
    # One wrong value has an error for each type that it might have had.
    texts = [f"{'.'.join(map(str, row.get('loc') or []))}: {row.get('msg')}" for row in rows[:_ARGILLA_ERRORS]]
    said = "; ".join(texts) or str(params.get("detail") or detail.get("code") or detail)
    return " ".join(said.split())[:_SHOWN]


def _texts(value: Any) -> list[str]:
    # "Error at item 3: … :: {the whole item}"
    return [str(text).split(" :: ")[0] for text in (value if isinstance(value, list) else [value])]


def _pause(headers: Mapping[str, str]) -> float | None:
    """Seconds of a `Retry-After`; a date there is not read."""
    text = headers.get("retry-after", "").strip()
    return min(float(text), _LONGEST_PAUSE) if re.fullmatch(r"\d{1,6}(\.\d+)?", text) else None


def _redirected(answer: httpx.Response, what: str) -> RemoteError:
    target = answer.headers.get("location", "")
    if "login" in target:
        return RemoteError(
            f"{what}: leads to a login page instead of an answer",
            hint="The address is not the API's, or a login of its own stands in front of it.",
        )
    place = urlsplit(target)
    where = f"{place.scheme}://{place.netloc}" if place.netloc else place.path
    return RemoteError(
        f"{what}: leads elsewhere ({where}); not followed, because the token would go there",
        hint="If that is the right address, give it with --url.",
    )


def _unauthorized(answer: httpx.Response, url: str, personal: bool, product: Product) -> AuthError:
    if product.key_header:
        return AuthError(f"{url} does not know this API key", hint=product.key_hint)
    detail = detail_of(answer)
    if "legacy token authentication has been disabled" in detail:
        return AuthError(
            f"{url} takes no legacy tokens",
            hint=f"{WHERE_TOKENS}: use that; or let an owner switch legacy tokens on under "
            "Organization > Access Token Settings.",
        )
    if personal:
        return AuthError(
            f"{url} does not accept the access token that it gave: {detail}",
            hint="Personal access tokens may be switched off under Organization > Access Token Settings.",
        )
    return AuthError(
        f"{url} does not know this token",
        hint=f"{WHERE_TOKENS}. A legacy token has 40 characters, a personal one has two dots in it; "
        "copy it whole, from this server.",
    )
