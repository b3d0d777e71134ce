"""`doctor`: is everything there, and what to do where it is not."""

import typer

from potato_bridge.cli.common import (
    ArgillaKeyOption,
    ArgillaUrlOption,
    JsonOption,
    KeyOption,
    UrlOption,
    open_output,
)
from potato_bridge.notices import Policy


def doctor(
    url: UrlOption = None,
    api_key: KeyOption = None,
    argilla_url: ArgillaUrlOption = None,
    argilla_api_key: ArgillaKeyOption = None,
    as_json: JsonOption = False,
) -> None:
    """Check settings, servers, versions and tokens, and say what to do. Exits with 0 only if all is well."""
    from potato_bridge.cli.checkup import checkup

    output = open_output(as_json, Policy.WARN)
    findings = checkup(url, api_key, argilla_url, argilla_api_key)
    for finding in findings:
        output.data(f"{'ok  ' if finding.ok else 'FAIL'}  {finding.what}: {finding.message}")
        if finding.hint:
            output.data(f"      {finding.hint}")
    failed = next((finding for finding in findings if not finding.ok), None)
    output.finish({"ok": failed is None, "checks": [finding.to_json() for finding in findings]})
    if failed is not None:
        raise typer.Exit(failed.exit_code)
