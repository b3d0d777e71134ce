"""What all verbs share: output, notices, errors, options, and where a setting comes from."""

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from potato_bridge.errors import BridgeError, UsageError
from potato_bridge.notices import Notices, Policy

if TYPE_CHECKING:
    from potato_bridge.cli.settings import Settings
    from potato_bridge.model import Project

#: Where Label Studio listens when nobody says otherwise.
DEFAULT_URL = "http://localhost:8080"
#: Likewise Argilla.
DEFAULT_ARGILLA_URL = "http://localhost:6900"

ConfigArgument = Annotated[
    Path | None,
    typer.Argument(
        metavar="[CONFIG]", help="Potato config. Default: `config` in potato-bridge.yaml.", show_default=False
    ),
]
ConfigOption = Annotated[
    Path | None,
    typer.Option(
        "-c", "--config", help="Potato config. Default: potato-bridge.yaml, else the config whose output folder -i is."
    ),
]
JsonOption = Annotated[bool, typer.Option("--json", help="Print one JSON document on stdout instead of text.")]
NoticesOption = Annotated[
    Policy | None, typer.Option("--notices", help="What to do about losses: ignore, warn or raise (exit code 6).")
]
UrlOption = Annotated[
    str | None,
    typer.Option(
        "--url", envvar="LABEL_STUDIO_URL", help=f"Label Studio's address. Default: {DEFAULT_URL}.", show_default=False
    ),
]
KeyOption = Annotated[
    str | None,
    typer.Option(
        "--api-key",
        envvar="LABEL_STUDIO_API_KEY",
        help="Access token (personal or legacy). Better in the environment than on the command line.",
        show_default=False,
    ),
]
ArgillaUrlOption = Annotated[
    str | None,
    typer.Option(
        "--argilla-url",
        envvar="ARGILLA_API_URL",
        help=f"Argilla's address. Default: {DEFAULT_ARGILLA_URL}, where a key is given.",
        show_default=False,
    ),
]
ArgillaKeyOption = Annotated[
    str | None,
    typer.Option(
        "--argilla-api-key",
        envvar="ARGILLA_API_KEY",
        help="Argilla's API key. Better in the environment than on the command line.",
        show_default=False,
    ),
]
ProjectOption = Annotated[
    str | None,
    typer.Option(
        "--project",
        metavar="ID|NAME",
        help="The Label Studio project, by its id or its title, where the one pushed is not meant.",
        show_default=False,
    ),
]
TemplateOption = Annotated[
    Path | None,
    typer.Option(
        "--template",
        help="A changed copy of a template in label_configs/label_studio/; of Argilla, a folder (panel.js, panel.css).",
    ),
]
PrelabelsOption = Annotated[
    Path | None,
    typer.Option(
        "--prelabels",
        help="Answers to start from, as JSON Lines: a model's, or the records of an earlier round.",
        show_default=False,
    ),
]


class Origin(StrEnum):
    """Which answers of a folder are meant, where it holds pulled records and the states of Potato's server."""

    AUTO = "auto"
    RECORDS = "records"
    POTATO = "potato"


class Output:
    """Data on stdout, everything else on stderr; one JSON document where `--json` was given.

    Args:
        as_json: Whether stdout gets JSON.
        policy: What to do about notices.
    """

    def __init__(self, as_json: bool, policy: Policy) -> None:
        self.as_json = as_json
        self.policy = policy
        self.notices = Notices()

    def say(self, text: str) -> None:
        """Progress and remarks: stderr, one line."""
        typer.echo(printable(text), err=True)

    def data(self, text: str) -> None:
        """Data for people: stdout, unless `--json` was given."""
        if not self.as_json:
            typer.echo(printable(text))

    def finish(self, document: dict[str, Any]) -> None:
        """Prints the notices, and the JSON document if asked for; raises where the policy says so."""
        if self.policy is Policy.WARN:
            for notice in self.notices:
                self.say(f"notice: {notice}")
        if self.as_json:
            from potato_bridge.model import encode

            found = [{"code": n.code, "message": n.message, "where": n.where, "count": n.count} for n in self.notices]
            typer.echo(encode({**document, "notices": found}).decode())
        self.notices.settle(self.policy)

    @contextmanager
    def progress(self, what: str, total: int | None = None) -> Iterator[Callable[[int], None]]:
        """A progress bar on stderr where that is a terminal; the function given takes how many more are done."""
        if not sys.stderr.isatty() or self.as_json:
            yield lambda advance: None
            return
        from rich.console import Console
        from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

        columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
        with Progress(*columns, console=Console(stderr=True), transient=True) as bar:
            task = bar.add_task(what, total=total)
            yield lambda advance: bar.advance(task, advance)


def printable(text: str) -> str:
    """Text for a terminal: control and bidi characters of traces and servers become visible escapes."""
    return "".join(char if char in "\n\t" or char.isprintable() else f"\\u{ord(char):04x}" for char in text)


def settings() -> "Settings":
    """`potato-bridge.yaml` of this folder or the nearest one above; empty where there is none."""
    from potato_bridge.cli.settings import find_settings

    return find_settings(Path.cwd())


def open_output(as_json: bool, policy: Policy | None) -> Output:
    """The output of one run; the policy is the flag's, else the settings file's, else `warn`."""
    return Output(as_json, policy or settings().notices or Policy.WARN)


def load_project(config: Path | None, notices: Notices) -> "Project":
    """The project of the config named, else of the one in potato-bridge.yaml.

    Raises:
        UsageError: No config is named anywhere.
    """
    from potato_bridge.converters.potato.config import read_project

    path = config or settings().config
    if path is None:
        raise UsageError(
            "no Potato config given", hint="Name it (CONFIG or -c), or put `config: FILE` into potato-bridge.yaml."
        )
    return read_project(path, notices)


def chosen_template(template: Path | None) -> Path | None:
    """The template of the flag, else of potato-bridge.yaml, else None: the packaged one."""
    return template or settings().template


def report(error: BridgeError) -> None:
    """Prints an error for people on stderr."""
    typer.echo(f"error: {printable(str(error))}", err=True)
