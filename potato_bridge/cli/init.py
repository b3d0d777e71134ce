"""`init`: a config for a team that has items and no Potato."""

from collections.abc import Iterator
from contextlib import contextmanager
from enum import StrEnum
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Annotated

import typer

from potato_bridge.cli.common import JsonOption, NoticesOption, Output, open_output


class Mode(StrEnum):
    """How process rewards are asked for."""

    FIRST_ERROR = "first_error"
    PER_STEP = "per_step"


def init(
    items: Annotated[
        Path | None, typer.Option("--items", help="The items: .json, .jsonl, .csv, .tsv or .parquet, one item each.")
    ] = None,
    traces: Annotated[
        list[str] | None,
        typer.Option(
            "--traces",
            metavar="INPUT",
            help="Instead of --items: session files of agents, as convert takes them; items.jsonl is made of them. "
            "Can be given several times.",
            show_default=False,
        ),
    ] = None,
    out: Annotated[
        Path, typer.Option("-o", "--out", help="Folder for config.yaml, or the config itself. Default: here.")
    ] = Path(),
    scheme: Annotated[
        str,
        typer.Option(
            "--scheme",
            help="What is asked: process_reward, code_review, trajectory_edit; radio, multiselect, likert, text, span, "
            "pairwise.",
        ),
    ] = "process_reward",
    mode: Annotated[
        Mode | None,
        typer.Option(
            "--mode",
            help="Of process_reward: one click on the first wrong step, or a label for every step. "
            "Default: first_error.",
            show_default=False,
        ),
    ] = None,
    labels: Annotated[
        str | None,
        typer.Option("--labels", metavar="A,B", help="The words to choose from, with commas between."),
    ] = None,
    id_key: Annotated[str | None, typer.Option("--id-key", help="Field with the item's id.")] = None,
    text_key: Annotated[str | None, typer.Option("--text-key", help="Field with the text of the task.")] = None,
    steps_key: Annotated[str | None, typer.Option("--steps-key", help="Field with the list of steps.")] = None,
    pair_key: Annotated[
        str | None, typer.Option("--pair-key", help="Field with the list of two texts, of pairwise.")
    ] = None,
    name: Annotated[str | None, typer.Option("--name", help="Title of the project. Default: after the file.")] = None,
    encoding: Annotated[
        str | None, typer.Option("--encoding", help="Encoding of the file, where it is not UTF-8.")
    ] = None,
    copy: Annotated[
        bool, typer.Option("--copy", help="Copy the items into the config's folder, where they lie outside of it.")
    ] = False,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Print the config, and write nothing.")] = False,
    as_json: JsonOption = False,
    notices: NoticesOption = None,
) -> None:
    """Write a config for items that have none, and say what was chosen. Overwrites nothing."""
    from potato_bridge.converters.potato.init_files import Request, start
    from potato_bridge.errors import UsageError

    if (items is None) == (not traces):
        raise UsageError(
            "no items given" if items is None else "--items and --traces do not go together",
            hint="Name the file with them (--items traces.jsonl), or session files (--traces session.jsonl).",
        )
    output = open_output(as_json, notices)
    with _made_of(traces or [], output) as made:
        request = Request(
            items=made or items or Path(),
            out=out,
            scheme=scheme,
            mode=None if mode is None else mode.value,
            labels=tuple(label.strip() for label in labels.split(",")) if labels is not None else (),
            id_key=id_key,
            text_key=text_key,
            steps_key=steps_key,
            pair_key=pair_key,
            name=name,
            encoding=encoding,
            copy=copy or made is not None,
        )
        with output.progress("checking items") as advance:
            started = start(request, output.notices, dry_run=dry_run, advance=advance)
    # A dry run prints the config alone on stdout, so that it can be piped.
    tell = output.say if dry_run else output.data
    if dry_run:
        output.data(started.text.rstrip("\n"))
    tell(f"{started.config}: {'would be written' if dry_run else 'written'}")
    for key, found in started.draft.findings().items():
        tell(f"  {key:<16} {found.value}: {found.why}")
    words = started.counts.words(scheme)
    tell(f"  {'items':<16} {started.counts.items} in {started.data}{', ' if words else ''}{words}")
    if started.settings is not None:
        tell(
            f"{started.settings}: {'would be written' if dry_run else 'written'}, so that the config need not be named"
        )
    if not dry_run:
        tell(f"next: potato-bridge check {started.config}")
    output.finish({**started.to_json(), "dry_run": dry_run})


@contextmanager
def _made_of(traces: list[str], output: Output) -> Iterator[Path | None]:
    """The items of session files, until they are copied to where the config goes; None where there are none."""
    if not traces:
        yield None
        return
    from potato_bridge.cli.convert import Shape, Target, write
    from potato_bridge.converters.traces.convert import Outcome, read_traces

    with TemporaryDirectory() as folder:
        made = Path(folder) / "items.jsonl"
        outcome = Outcome()
        with output.progress("converting traces") as advance:
            found = read_traces(traces, outcome=outcome, advance=advance)
            write(found, made, Target.POTATO, Shape.TURNS, output, outcome, skip_bad=False)
        yield made
