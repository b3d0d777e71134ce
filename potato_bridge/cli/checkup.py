"""What `doctor` looks at, one finding each; a later check is left out where an earlier one says that it cannot work."""

from dataclasses import asdict, dataclass
from importlib.metadata import version
from typing import Any

from potato_bridge.cli.common import DEFAULT_URL, settings
from potato_bridge.errors import BridgeError, UsageError

#: The Label Studio versions that the tests run against; the interface depends on the editor's class names.
TESTED = "1.23"


@dataclass(frozen=True)
class Finding:
    """The outcome of one check; `exit_code` is 0 where all is well."""

    what: str
    ok: bool
    message: str
    hint: str = ""
    exit_code: int = 0

    def to_json(self) -> dict[str, Any]:
        """Plain JSON values."""
        return asdict(self)


def checkup(url: str | None, api_key: str | None) -> list[Finding]:
    """Checks the packages, the settings file, the server, its version and the token, in this order."""
    findings = [Finding("package", True, f"potato-bridge {version('potato-bridge')}")]
    try:
        found = settings()
    except BridgeError as error:
        return [*findings, _failed("settings", error)]
    findings.append(Finding("settings", True, f"config {found.config}" if found.config else "no config set"))
    address = url or found.label_studio_url or DEFAULT_URL
    return findings + _server(address, api_key)


def _server(url: str, api_key: str | None) -> list[Finding]:
    from potato_bridge.remotes.label_studio import LabelStudio

    findings: list[Finding] = []
    try:
        # The version needs no token, so that a missing one does not hide a server that is not there.
        with LabelStudio(url, api_key or "none") as remote:
            found = remote.version()
            findings.append(Finding("server", True, f"{remote.url} answers"))
            tested = found.startswith(f"{TESTED}.") or found == TESTED
            hint = "" if tested else f"potato-bridge is tested with {TESTED}: look at one task before you push many."
            findings.append(Finding("version", True, f"Label Studio {found}", hint))
            if not api_key:
                hint = "Set LABEL_STUDIO_API_KEY: in Label Studio, Account & Settings > Access Token."
                return [*findings, Finding("token", False, "there is none", hint, UsageError.exit_code)]
            user = remote.whoami()
            return [*findings, Finding("token", True, f"accepted, as {user.email}")]
    except BridgeError as error:
        return [*findings, _failed("token" if findings else "server", error)]


def _failed(what: str, error: BridgeError) -> Finding:
    details = "; ".join(str(problem) for problem in error.problems)
    message = f"{error.message} ({details})" if details else error.message
    return Finding(what, False, message, error.hint, error.exit_code)
