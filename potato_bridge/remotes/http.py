"""One server over HTTP: tokens, retries, and every failure as an error that says what to do.

What reads is repeated after a transient fault. What writes is sent once: after a fault that leaves its outcome open,
the caller looks what became of it. The token goes into one header and nowhere else, redirects are not followed, and
no cookies are kept.
"""

import base64
import binascii
import ipaddress
import json
import logging
import re
import time
from http.cookiejar import DefaultCookiePolicy
from types import TracebackType
from typing import Any, Self
from urllib.parse import urlsplit, urlunsplit

import httpx
import msgspec
import stamina

from potato_bridge.errors import AuthError, InputError, RemoteError, UsageError
from potato_bridge.remotes.failures import (
    LABEL_STUDIO,
    WHERE_TOKENS,
    Product,
    TransientError,
    detail_of,
    no_answer,
    value_of,
)

READ_SECONDS = 120.0
WRITE_SECONDS = 60.0
_CONNECT_SECONDS = 10.0
_ATTEMPTS = 4
# A new access token is asked for this long before the old one ends.
_TOKEN_MARGIN = 30.0

# Its retries are ours to report; an application that configures logging still sees them.
logging.getLogger("stamina").addHandler(logging.NullHandler())


def _again(error: Exception) -> bool | float:
    """For stamina: whether to try again, or after how many seconds."""
    return isinstance(error, TransientError) and (error.pause or True)


def to_json(value: Any) -> bytes:
    """JSON as it is sent.

    Raises:
        InputError: A lone surrogate: a server refuses it, or takes it and then fails on every listing of the project.
    """
    try:
        return msgspec.json.encode(value)
    except UnicodeEncodeError as error:
        raise InputError("a text has half of a surrogate pair, which is no character") from error


def normal_url(url: str) -> str:
    """The address without a slash, query or fragment at its end, scheme and host in lower case.

    Raises:
        UsageError: Not an http or https address, or one that holds credentials.
    """
    try:
        parts = urlsplit(url.strip())
        host, port = parts.hostname, parts.port
    except ValueError:
        parts, host, port = urlsplit(""), None, None
    if parts.scheme.lower() not in ("http", "https") or not host:
        raise UsageError(f"{url!r} is not the address of a server", hint="Expected http://host:port or https://host.")
    if parts.username or parts.password:
        raise UsageError("the server's address holds a name or a password", hint="Give the address without them.")
    netloc = f"[{host}]" if ":" in host else host
    netloc += f":{port}" if port else ""
    return urlunsplit((parts.scheme.lower(), netloc, parts.path.rstrip("/"), "", ""))


def _is_loopback(url: str) -> bool:
    host = urlsplit(url).hostname or ""
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"


def _claims(token: str) -> dict[str, Any]:
    """What a JWT says about itself; empty for any other token. Not verified: that is the server's business."""
    parts = token.split(".")
    if len(parts) != 3:
        return {}
    try:
        claims = json.loads(base64.urlsafe_b64decode(parts[1] + "=" * (-len(parts[1]) % 4)))
    except (binascii.Error, ValueError):
        return {}
    return claims if isinstance(claims, dict) else {}


class Http:
    """A connection to one server, with one account.

    Args:
        url: Where the server answers; a path in front ("https://host/ls/") is fine.
        api_key: Its API key; of Label Studio a legacy token, or a personal access token.
        product: What kind of server it is.
        transport: What carries the requests; the network if None.

    Raises:
        UsageError: The address is none.
        AuthError: The token cannot be one.
    """

    def __init__(
        self,
        url: str,
        api_key: str,
        *,
        product: Product = LABEL_STUDIO,
        transport: httpx.BaseTransport | None = None,
    ) -> None:
        self.url = normal_url(url)
        self._product = product
        self._key = api_key.strip()
        if not self._key or not self._key.isascii() or re.search(r"[\s\x00-\x1f]", self._key):
            raise AuthError(
                "the access token is empty, or has characters that no token has", hint="Give the token alone."
            )
        claims = {} if product.key_header else _claims(self._key)
        self._personal = bool(claims)
        if claims.get("token_type") == "access":
            raise AuthError(
                "this is an access token, which ends after minutes, and not a personal access token",
                hint=f"{WHERE_TOKENS}: use the token that is shown there.",
            )
        self._access = ""
        self._access_until = 0.0
        self._answered = False
        # A proxy from the environment cannot reach our own loopback address.
        self._client = httpx.Client(
            transport=transport,
            timeout=httpx.Timeout(READ_SECONDS, connect=_CONNECT_SECONDS),
            follow_redirects=False,
            trust_env=not _is_loopback(self.url),
        )
        # A session cookie would be a second identity beside the token.
        self._client.cookies.jar.set_policy(DefaultCookiePolicy(allowed_domains=[]))

    def __repr__(self) -> str:
        """Without the token."""
        return f"{type(self).__name__}({self.url!r})"

    def __enter__(self) -> Self:
        """Nothing is sent yet."""
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Closes the connections."""
        self.close()

    def close(self) -> None:
        """Closes the connections."""
        self._client.close()

    def read(self, path: str, params: Any = None, *, missing_ok: bool = False) -> tuple[Any, int]:
        """What a GET answers; tried again after transient faults.

        Returns:
            The JSON value (None for a 404 with `missing_ok`), and the size of the answer in bytes.

        Raises:
            AuthError: The token is not accepted.
            RemoteError: No answer, a refusal, or an answer that is not JSON.
        """
        return self._repeated("GET", path, params=params, missing_ok=missing_ok)

    def write(self, method: str, path: str, body: bytes, params: Any = None, *, seconds: float = WRITE_SECONDS) -> Any:
        """What a request that changes something answers; `body` is JSON.

        It is tried again only where the server has refused it for now (429).

        Raises:
            UnansweredError: The server may or may not have carried it out.
            AuthError: The token is not accepted.
            RemoteError: It was refused, or could not be sent at all.
        """
        return self._repeated(method, path, params=params, body=body, seconds=seconds)[0]

    def _repeated(self, method: str, path: str, *, missing_ok: bool = False, **request: Any) -> tuple[Any, int]:
        try:
            for attempt in stamina.retry_context(
                _again, attempts=_ATTEMPTS, timeout=None, wait_initial=0.3, wait_max=5.0, wait_jitter=0.3
            ):
                with attempt:
                    return self._once(method, path, missing_ok=missing_ok, **request)
        except TransientError as last:
            raise last.error from last.__cause__
        raise AssertionError("unreachable")

    def _once(
        self,
        method: str,
        path: str,
        *,
        params: Any = None,
        body: bytes | None = None,
        seconds: float = READ_SECONDS,
        missing_ok: bool = False,
    ) -> tuple[Any, int]:
        identity = self._product.key_header or "Authorization"
        headers = {identity: self._authorization(), "Accept": "application/json"}
        if body is not None:
            headers["Content-Type"] = "application/json"
        timeout = httpx.Timeout(seconds, connect=_CONNECT_SECONDS)
        for may_renew in (True, False):
            try:
                answer = self._client.request(
                    method, self.url + path, params=params, content=body, headers=headers, timeout=timeout
                )
            except httpx.HTTPError as error:
                raise no_answer(error, self.url, method, path, seen=self._answered, product=self._product) from error
            self._answered = True
            if answer.status_code == 401 and self._personal and may_renew:
                # It ended early: the clocks differ, or the server was restored. Nothing was carried out.
                self._access_until = 0.0
                headers["Authorization"] = self._authorization()
                continue
            break
        if answer.status_code == 404 and missing_ok:
            return None, len(answer.content)
        value = value_of(answer, self.url, method, path, personal=self._personal, product=self._product)
        return value, len(answer.content)

    def _authorization(self) -> str:
        if self._product.key_header:
            return self._key
        if not self._personal:
            return f"Token {self._key}"
        if time.monotonic() >= self._access_until:
            self._renew()
        return f"Bearer {self._access}"

    def _renew(self) -> None:
        """Gets an access token for the personal one. Asking twice does no harm, so that faults are tried again."""
        path = "/api/token/refresh/"
        asked = time.monotonic()
        try:
            answer = self._client.post(self.url + path, json={"refresh": self._key})
        except httpx.HTTPError as error:
            raise no_answer(error, self.url, "GET", path, seen=self._answered) from error
        if answer.status_code in (400, 401, 403):
            raise AuthError(
                f"{self.url} does not accept the personal access token: {detail_of(answer)}",
                hint=f"It was revoked, has ended, or is of another server. {WHERE_TOKENS}: make a new one.",
            )
        value = value_of(answer, self.url, "GET", path, personal=True)
        access = value.get("access") if isinstance(value, dict) else None
        if not isinstance(access, str):
            raise RemoteError(f"{self.url} gives no access token for the personal one")
        claims = _claims(access)
        # By our own clock, from the moment of asking: the server's may differ from it.
        lifetime = float(claims.get("exp", 0)) - float(claims.get("iat", 0))
        self._access = access
        self._access_until = asked + max(lifetime - _TOKEN_MARGIN, 5.0)
