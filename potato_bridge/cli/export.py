"""`export`: records to data that trains."""

from pathlib import Path
from typing import Annotated

import typer

from potato_bridge.cli.common import ConfigOption, JsonOption, NoticesOption, Origin, open_output
from potato_bridge.export.options import Dialect, ExportOptions, Neutral, Unrated


def export(
    config: ConfigOption = None,
    records: Annotated[
        Path | None,
        typer.Option(
            "-i",
            "--input",
            help="Records file, its folder, or Potato's annotation_output. Default: the config's output folder.",
        ),
    ] = None,
    origin: Annotated[
        Origin, typer.Option("--from", help="Which answers, where a folder holds records and Potato's states.")
    ] = Origin.AUTO,
    target: Annotated[
        str | None,
        typer.Option("-f", "--format", help="Target: prm, code_review, … Default: export_annotation_format."),
    ] = None,
    out: Annotated[
        Path | None,
        typer.Option("-o", "--out", help="A folder for load_dataset, or a .jsonl or .json file in Potato's form."),
    ] = None,
    dialect: Annotated[
        Dialect | None, typer.Option("--dialect", help="native: Parquet and a card. potato: the documented files.")
    ] = None,
    scheme: Annotated[
        str | None, typer.Option("--scheme", help="Name of the scheme, where the config has several.")
    ] = None,
    neutral: Annotated[Neutral, typer.Option("--neutral", help="What a neutral step becomes.")] = Neutral.FALSE,
    unrated: Annotated[
        Unrated, typer.Option("--unrated", help="End a row before its first unrated step, or leave the row out.")
    ] = Unrated.CUT,
    observations: Annotated[bool, typer.Option("--observations", help="Add tool outputs to the step texts.")] = False,
    root: Annotated[
        str | None,
        typer.Option("--root", help="Where the repository was on the agent's machine, for github and sarif."),
    ] = None,
    ledger: Annotated[
        Path | None, typer.Option("--ledger", help="File for a JSON line on each record that is left out.")
    ] = None,
    as_json: JsonOption = False,
    notices: NoticesOption = None,
) -> None:
    """Turn records into a data set, and say of each record left out why."""
    from potato_bridge.cli.inputs import choose_target, export_inputs
    from potato_bridge.errors import UsageError
    from potato_bridge.export.dataset import export as run

    if out is None:
        raise UsageError("no output given", hint="Add -o FOLDER, or -o FILE.jsonl for Potato's form.")
    output = open_output(as_json, notices)
    options = ExportOptions(
        dialect=dialect,
        scheme=scheme,
        neutral=neutral,
        unrated=unrated,
        observations=observations,
        root=root,
        ledger=ledger,
    )
    with (
        export_inputs(config, records, origin, output.notices) as (project, source),
        output.progress("exporting records") as advance,
    ):
        report = run(project, source, choose_target(target, project), out, options, output.notices, advance)
    output.data(f"{report.out}: {report.rows} rows of {report.records_in} records")
    for reason, count in report.reasons.items():
        output.data(f"  left out  {count}  {reason}")
    output.finish(report.to_json())
