"""What `doctor` looks at, one finding each; a later check is left out where an earlier one says that it cannot work."""

from dataclasses import asdict, dataclass
from importlib.metadata import version
from typing import TYPE_CHECKING, Any

from potato_bridge.cli.common import DEFAULT_ARGILLA_URL, DEFAULT_URL, settings
from potato_bridge.errors import AuthError, BridgeError, UsageError

if TYPE_CHECKING:
    from potato_bridge.remotes.argilla import Argilla

#: The Label Studio versions that the tests run against; the interface depends on the editor's class names.
TESTED = "1.23"
#: Likewise of Argilla.
TESTED_ARGILLA = "2.8"
#: Workspaces that a finding names before it says how many more there are.
_NAMED = 10


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


def checkup(
    url: str | None, api_key: str | None, argilla_url: str | None = None, argilla_api_key: str | None = None
) -> list[Finding]:
    """Checks the packages, the settings file, and each server that is set: whether it answers, its version, the token.

    Label Studio is looked for also where nothing is set at all.
    """
    findings = [Finding("package", True, f"potato-bridge {version('potato-bridge')}")]
    try:
        found = settings()
    except BridgeError as error:
        return [*findings, _failed("settings", error)]
    findings.append(Finding("settings", True, f"config {found.config}" if found.config else "no config set"))
    url, argilla_url = url or found.label_studio_url, argilla_url or found.argilla_url
    has_argilla = bool(argilla_url or argilla_api_key)
    if url or api_key or not has_argilla:
        findings += _server(url or DEFAULT_URL, api_key)
    if has_argilla:
        findings += _argilla(argilla_url or DEFAULT_ARGILLA_URL, argilla_api_key)
    return findings


def _server(url: str, api_key: str | None) -> list[Finding]:
    from potato_bridge.remotes.label_studio import LabelStudio

    findings: list[Finding] = []
    try:
        # The version needs no token, so that a missing one does not hide a server that is not there.
        with LabelStudio(url, api_key or "none") as remote:
            found = remote.version()
            findings.append(Finding("server", True, f"{remote.url} answers"))
            hint = (
                ""
                if _is(found, TESTED)
                else f"potato-bridge is tested with {TESTED}: look at one task before you push many."
            )
            findings.append(Finding("version", True, f"Label Studio {found}", hint))
            if not api_key:
                hint = "Set LABEL_STUDIO_API_KEY: in Label Studio, Account & Settings > Access Token."
                return [*findings, Finding("token", False, "there is none", hint, UsageError.exit_code)]
            user = remote.whoami()
            return [*findings, Finding("token", True, f"accepted, as {user.email}")]
    except BridgeError as error:
        return [*findings, _failed("token" if findings else "server", error)]


def _argilla(url: str, api_key: str | None) -> list[Finding]:
    from potato_bridge.remotes.argilla import Argilla

    findings: list[Finding] = []
    what = "argilla server"
    try:
        with Argilla(url, api_key or "none") as remote:
            found = remote.version()
            findings.append(Finding(what, True, f"{remote.url} answers"))
            hint = "" if _is(found, TESTED_ARGILLA) else f"potato-bridge is tested with {TESTED_ARGILLA}."
            findings.append(Finding("argilla version", True, f"Argilla {found}", hint))
            findings.append(_search_engine(remote))
            what = "argilla key"
            if not api_key:
                hint = "Set ARGILLA_API_KEY: in Argilla, My settings > API key."
                return [*findings, Finding(what, False, "there is none", hint, UsageError.exit_code)]
            user = remote.me()
            known = f"accepted, as {user.username} ({user.role})"
            if not user.manages:
                hint = "An annotator cannot make data sets or read the answers of others: use an owner's or an admin's."
                return [*findings, Finding(what, False, known, hint, AuthError.exit_code)]
            findings.append(Finding(what, True, known))
            what = "argilla workspaces"
            names = sorted(workspace.name for workspace in remote.workspaces())
            more = f" and {len(names) - _NAMED} more" if len(names) > _NAMED else ""
            hint = "" if names else "An owner makes a workspace and adds this account to it."
            return [*findings, Finding(what, True, ", ".join(names[:_NAMED]) + more or "none", hint)]
    except BridgeError as error:
        return [*findings, _failed(what, error)]


def _search_engine(remote: "Argilla") -> Finding:
    """The server answers without it, and can then list nothing to annotators."""
    what = "argilla search engine"
    try:
        status = remote.status()
    except BridgeError as error:
        hint = "Argilla shows and takes no answers without it: look at Elasticsearch or OpenSearch."
        return Finding(what, False, error.message, hint, error.exit_code)
    return Finding(what, True, f"{status.engine} {status.engine_version}".rstrip())


def _is(version: str, tested: str) -> bool:
    return version == tested or version.startswith(f"{tested}.")


def _failed(what: str, error: BridgeError) -> Finding:
    details = "; ".join(str(problem) for problem in error.problems)
    message = f"{error.message} ({details})" if details else error.message
    return Finding(what, False, message, error.hint, error.exit_code)
