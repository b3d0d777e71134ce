"""The card of a data set folder (README.md): front matter that `load_dataset` and the Hub read, and text for people."""

import re

from potato_bridge.export.options import ExportReport
from potato_bridge.export.parquet import Written
from potato_bridge.export.rows import Target
from potato_bridge.model import Project

#: A card with this line is ours: the folder may be replaced.
MARKER = "<!-- Written by potato-bridge export: the next export replaces this folder as a whole. -->"

_SIZES = (
    (1_000, "n<1K"),
    (10_000, "1K<n<10K"),
    (100_000, "10K<n<100K"),
    (1_000_000, "100K<n<1M"),
    (10_000_000, "1M<n<10M"),
)


def card(project: Project, target: Target, report: ExportReport, written: Written) -> str:
    """The README: one config named after the target, its exact counts, the ledger's totals, what the labels mean."""
    from datasets import DatasetInfo, Features  # type: ignore[import-untyped]
    from datasets.info import DatasetInfosDict  # type: ignore[import-untyped]
    from datasets.splits import SplitDict, SplitInfo  # type: ignore[import-untyped]
    from huggingface_hub import DatasetCardData

    split = SplitInfo(name="train", num_bytes=written.arrow_bytes, num_examples=written.rows)
    splits = SplitDict()
    splits.add(split)
    info = DatasetInfo(
        features=Features.from_arrow_schema(target.schema()),
        splits=splits,
        download_size=written.file_bytes,
        dataset_size=written.arrow_bytes,
    )
    demo = report.demo_rows > 0
    data = DatasetCardData(
        pretty_name=_plain(project.name),
        # Who the annotators are is for the team to say: `other` claims nothing.
        annotations_creators=["machine-generated" if demo else "other"],
        task_categories=list(target.task_categories),
        size_categories=[next((name for limit, name in _SIZES if written.rows < limit), "n>10M")],
        tags=[*target.tags, "potato-bridge", *(["demo"] if demo else [])],
        configs=[
            {
                "config_name": target.name,
                "data_files": [{"split": "train", "path": f"{target.name}/train-*.parquet"}],
            }
        ],
    )
    DatasetInfosDict({target.name: info}).to_dataset_card_data(data)
    return f"---\n{data.to_yaml()}\n---\n\n{_body(project, target, report)}"


def _body(project: Project, target: Target, report: ExportReport) -> str:
    scheme = next(scheme for scheme in project.schemes if scheme.name == target.scheme)
    lines = [MARKER, "", f"# {_markdown(project.name)}: {target.name}", ""]
    if report.demo_rows:
        lines += [
            "> [!WARNING]",
            f"> **Demo answers.** {report.demo_rows} of {report.rows} rows come from answers that a program played.",
            "> No person gave them. Do not train on this data set.",
            "",
        ]
    lines += [
        f"{_count(report.rows, 'row')} from {_count(report.records_in, 'record')} of "
        f"{_count(report.annotators, 'annotator')}; scheme `{_code(target.scheme)}`.",
        "",
    ]
    if scheme.description.strip():
        lines += ["What the annotators were asked:", "", f"> {_markdown(scheme.description)}", ""]
    lines += ["```python", "from datasets import load_dataset", ""]
    lines += [f'rows = load_dataset("path/to/this/folder", "{target.name}", split="train")', "```", ""]
    lines += [*target.explain(), "", "## Left out", ""]
    if report.reasons:
        lines += [f"Each record is a row here or a line of `ledger.jsonl`: {report.records_in} in all.", ""]
        lines += ["| outcome | records |", "|---|---:|", f"| row | {report.records_out} |"]
        lines += [f"| `{reason}` | {count} |" for reason, count in report.reasons.items()]
    else:
        lines.append("Nothing: every record is a row.")
    return "\n".join(lines) + "\n"


def _count(number: int, noun: str) -> str:
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"


def _plain(text: str) -> str:
    """One line without control or bidi characters: names come from files that others wrote."""
    return " ".join("".join(char if char.isprintable() else " " for char in text).split())


def _markdown(text: str) -> str:
    """Text that Markdown shows as it is: no markup, no HTML."""
    return re.sub(r"([\\`*_{}\[\]<>()#+!|~&$-])", r"\\\1", _plain(text))


def _code(text: str) -> str:
    return _plain(text).replace("`", "'")
