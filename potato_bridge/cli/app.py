"""The command line's table of verbs and its one place for errors and exit codes."""

import os
import sys
from typing import Annotated

import typer

from potato_bridge import __version__
from potato_bridge.cli import check, convert, demo, doctor, export, init, inspect, pull, push, render, status
from potato_bridge.cli.common import report
from potato_bridge.errors import BridgeError

app = typer.Typer(
    name="potato-bridge",
    help="From Potato configs and coding-agent traces to Label Studio, and back to data that trains.",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
)


def _version(value: bool) -> None:
    if value:
        typer.echo(f"potato-bridge {__version__}")
        raise typer.Exit


@app.callback()
def _root(
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Print the version and exit.")
    ] = False,
    debug: Annotated[bool, typer.Option("--debug", help="Print tracebacks (or set POTATO_BRIDGE_DEBUG=1).")] = False,
) -> None:
    if debug:
        os.environ["POTATO_BRIDGE_DEBUG"] = "1"


app.command("check")(check.check)
app.command("render")(render.render)
app.command("push")(push.push)
app.command("pull")(pull.pull)
app.command("status")(status.status)
app.command("export")(export.export)
app.command("convert")(convert.convert)
app.command("inspect")(inspect.inspect)
app.command("init")(init.init)
app.command("doctor")(doctor.doctor)
app.command("demo")(demo.demo)


def main() -> None:
    """Runs the command line; exit codes are in docs/cli.md."""
    try:
        app()
    except BridgeError as error:
        if os.environ.get("POTATO_BRIDGE_DEBUG"):
            raise
        report(error)
        sys.exit(error.exit_code)
    except KeyboardInterrupt:
        typer.echo("interrupted; the same command goes on where it was", err=True)
        sys.exit(130)
    except Exception as error:
        if os.environ.get("POTATO_BRIDGE_DEBUG"):
            raise
        typer.echo(
            f"error: unexpected {type(error).__name__}: {error}\n"
            "This is a defect in potato-bridge. Run again with --debug and report the traceback.",
            err=True,
        )
        sys.exit(1)
