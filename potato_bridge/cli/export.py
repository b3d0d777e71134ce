"""`export`: records to data that trains."""

from decimal import Decimal, InvalidOperation
from pathlib import Path
from typing import Annotated

import typer

from potato_bridge.cli.common import ConfigOption, JsonOption, NoticesOption, Origin, open_output
from potato_bridge.export.options import Dialect, ExportOptions, Neutral, TraceScore, Unrated, Words


def _gap(text: str) -> Decimal:
    """A gap as it is written: 0.5 is one half, and no float beside it."""
    try:
        gap = Decimal(text)
    except InvalidOperation as error:
        raise typer.BadParameter(f"{text!r} is no number") from error
    if not (gap.is_finite() and gap >= 0):
        raise typer.BadParameter(f"{text} is no number of at least 0")
    return gap


def _words(text: str | None, option: str) -> Words | None:
    from potato_bridge.errors import UsageError

    if text is None:
        return None
    scheme, _, values = text.partition("=")
    found = tuple(value.strip() for value in values.split(",") if value.strip())
    if not scheme.strip() or not found:
        raise UsageError(f"{option} {text!r} names no value of a scheme", hint=f"Like this: {option} outcome=success.")
    return Words(scheme.strip(), found)


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
    min_score_gap: Annotated[
        Decimal,
        typer.Option(
            "--min-score-gap",
            parser=_gap,
            metavar="NUMBER",
            help="Of pairs by rewards: how much better the chosen trace is at least.",
        ),
    ] = Decimal(0),
    trace_score: Annotated[
        TraceScore, typer.Option("--trace-score", help="Of pairs by rewards: a trace's score is the sum, or the mean.")
    ] = TraceScore.SUM,
    group_by: Annotated[
        str | None,
        typer.Option(
            "--group-by",
            metavar="FIELD",
            help="Of pairs by rewards: the item's field that names its task. Default: task_id, else instance_id, else "
            "the item's text.",
            show_default=False,
        ),
    ] = None,
    max_pairs: Annotated[
        int | None, typer.Option("--max-pairs", min=1, help="Of pairs by rewards: at most so many of one task.")
    ] = None,
    approved: Annotated[
        str | None,
        typer.Option(
            "--approved",
            metavar="SCHEME=VALUE,VALUE",
            help="Of sft and kto: which answers approve a trace. Default: the rule of the scheme's type.",
            show_default=False,
        ),
    ] = None,
    resolved_from: Annotated[
        str | None,
        typer.Option(
            "--resolved-from",
            metavar="SCHEME=VALUE,VALUE",
            help="Of swebench: which answers say that the task is resolved. Default: none does.",
            show_default=False,
        ),
    ] = None,
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
        min_score_gap=min_score_gap,
        trace_score=trace_score,
        group_by=group_by,
        max_pairs=max_pairs,
        approved=_words(approved, "--approved"),
        resolved=_words(resolved_from, "--resolved-from"),
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
