"""`demo`: the whole way, on a server of its own."""

from pathlib import Path
from typing import Annotated

import typer

from potato_bridge.cli.backends import BackendName, ServerOptions, connect_argilla
from potato_bridge.cli.common import ArgillaKeyOption, ArgillaUrlOption, JsonOption, NoticesOption, open_output

DemoBackendOption = Annotated[
    BackendName,
    typer.Option(
        "--backend",
        help="label_studio starts one; argilla works on the one at --argilla-url, as an owner, in a new workspace.",
    ),
]


def demo(
    out: Annotated[
        Path,
        typer.Option("-o", "--out", help="Folder for everything that the demo makes; an earlier demo's is replaced."),
    ] = Path("demo"),
    keep: Annotated[bool, typer.Option("--keep", help="Leave the server up until Ctrl-C, to try it by hand.")] = False,
    backend: DemoBackendOption = BackendName.LABEL_STUDIO,
    argilla_url: ArgillaUrlOption = None,
    argilla_api_key: ArgillaKeyOption = None,
    as_json: JsonOption = False,
    notices: NoticesOption = None,
) -> None:
    """Start a Label Studio, push the example, play two annotators, pull, export, and show it all."""
    import signal
    from contextlib import ExitStack, suppress
    from dataclasses import asdict
    from textwrap import shorten
    from threading import Event

    from potato_bridge.demo.run import demo as run

    output = open_output(as_json, notices)
    with ExitStack() as stack:
        argilla = None
        if backend is BackendName.ARGILLA:
            options = ServerOptions(argilla_url=argilla_url, argilla_api_key=argilla_api_key)
            argilla = stack.enter_context(connect_argilla(options))
        report = stack.enter_context(run(out, output.say, output.notices, argilla))
        output.data("\nThe first rows (demo answers: nobody judged these traces)")
        for row in report.rows:
            output.data(f"\n{row['prompt']}   [{row['id']}, {row['annotator']}]")
            for label, text in zip(row["labels"], row["completions"], strict=True):
                output.data(f"  {label!s:<6}{shorten(text, 100, placeholder=' …')}")
        left_out = ", ".join(f"{count} {reason}" for reason, count in report.left_out.items()) or "none"
        output.data(f"\n{report.answers} answers pulled; left out of the data set: {left_out}")
        output.data(f"records   {report.records}")
        output.data(f"data set  {report.dataset}   load_dataset({str(report.dataset)!r}, 'prm')")
        output.data(f"rows      {report.documented}")
        output.data(f"server    {report.project_url}")
        document = {key: str(value) if isinstance(value, Path) else value for key, value in asdict(report).items()}
        document.pop("password")
        output.finish(document)
        if keep and argilla is None:
            output.say(f"sign in as {report.username} with the password {report.password}; Ctrl-C ends the server")
            # So that a kill ends the server too, as Ctrl-C does.
            signal.signal(signal.SIGTERM, signal.default_int_handler)
            with suppress(KeyboardInterrupt):
                Event().wait()
    if not keep and argilla is None:
        output.say("the demo's server has ended; --keep leaves it up")
