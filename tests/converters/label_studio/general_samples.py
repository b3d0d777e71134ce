"""One scheme of each general type, as configs have them, and answers to it in all three forms, written by hand."""

from __future__ import annotations

import json
import textwrap
from pathlib import Path
from typing import Any

from potato_bridge.converters.potato.config import read_project
from potato_bridge.model import Item, Project
from potato_bridge.notices import Notices

HEAD = """\
annotation_task_name: General
task_dir: .
data_files: [data/items.jsonl]
item_properties: {id_key: id, text_key: text}
instance_display:
  fields:
    - {key: text, type: text, span_target: true}
"""
ITEM = {
    "id": "i1",
    "text": "A 😀 <b>soup</b>\r\nfor $5, Zoë.",
    "note": "é",
    "pair": ["one <b>", "two"],
    "other": "Old 😀",
}


def entry(control: str, kind: str, value: Any, to: str = "task") -> dict[str, Any]:
    tags = {"text": "textarea"}
    return {"from_name": control, "to_name": to, "type": tags.get(kind, kind), "value": {kind: value}}


def mark(start: int, end: int, text: str, label: str) -> dict[str, Any]:
    value = {"start": start, "end": end, "text": text, "labels": [label]}
    return {"from_name": "s", "to_name": "s_text", "type": "labels", "value": value}


QUOTED = 'say "so", <b>&\'s'
#: Scheme (YAML), Label Studio's results, the value in a record, what Potato stores.
CASES: list[tuple[str, list[dict[str, Any]], Any, dict[str, Any]]] = [
    ("radio, labels: [good, poor]", [entry("s", "choices", ["poor"])], "poor", {"poor": "poor"}),
    (
        f"radio, labels: [{json.dumps(QUOTED)}, '😀', {'long' * 60}]",
        [entry("s", "choices", ['say "so", <b>&\'s'])],
        'say "so", <b>&\'s',
        {'say "so", <b>&\'s': 'say "so", <b>&\'s'},
    ),
    # A dollar sign before a word would be a variable there.
    ("radio, labels: ['$5', b]", [entry("s", "choices", ["$\u20605"])], "$5", {"$5": "$5"}),
    (
        "radio, labels: [good, poor], has_free_response: true",
        [entry("s", "choices", ["good"]), entry("s_free_response", "text", ["why <b>\nnot"])],
        {"option": "good", "free_response": "why <b>\nnot"},
        {"good": "good", "free_response": "why <b>\nnot"},
    ),
    (
        "radio, labels: [good, poor], has_free_response: {instruction: Else}",
        [entry("s_free_response", "text", ["x"])],
        {"option": None, "free_response": "x"},
        {"free_response": "x"},
    ),
    (
        "multiselect, labels: [a, 'b, c', d]",
        [entry("s", "choices", ["a", "b, c"])],
        ["a", "b, c"],
        {"a": "a", "b, c": "b, c"},
    ),
    (
        "multiselect, labels: [a, b], has_free_response: true",
        [entry("s", "choices", ["b"]), entry("s_free_response", "text", ["y"])],
        {"options": ["b"], "free_response": "y"},
        {"b": "b", "free_response": "y"},
    ),
    ("text", [entry("s", "text", ["é 😀\n<b>"])], "é 😀\n<b>", {"text_box": "é 😀\n<b>"}),
    (
        "text, labels: [first, second]",
        [entry("s_2", "text", ["two"])],
        {"second": "two"},
        {"second": "two"},
    ),
    ("likert, size: 5, min_label: Poor, max_label: Good", [entry("s", "choices", ["4"])], 4, {"4": "4"}),
    ("likert, labels: [disagree, agree]", [entry("s", "choices", ["agree"])], "agree", {"agree": "agree"}),
    (
        "likert, size: 3, min_label: a, max_label: b, bad_text_label: {label_content: Unreadable}",
        [entry("s", "choices", ["bad_text"])],
        "bad_text",
        {"bad_text": "bad_text"},
    ),
    ("select, labels: [python, js]", [entry("s", "choices", ["js"])], "js", {"select-one": "js"}),
    ("number, min: 0, max: 10", [entry("s", "number", 2.5)], 2.5, {"number": "2.5"}),
    ("slider, min_value: 0, max_value: 100, starting_value: 50", [entry("s", "number", 73)], 73, {"slider": "73"}),
    (
        "slider, labels: [low, high], min_value: 0, max_value: 1, starting_value: 0",
        [entry("s", "choices", ["high"])],
        "high",
        {"high": "high"},
    ),
    (
        "span, labels: [thing, name]",
        [mark(4, 15, "<b>soup</b>", "thing"), mark(25, 28, "Zoë", "name")],
        [
            {"start": 4, "end": 15, "label": "thing", "text": "<b>soup</b>", "field": "text"},
            {"start": 25, "end": 28, "label": "name", "text": "Zoë", "field": "text"},
        ],
        {
            "_spans": [
                {
                    "name": "thing",
                    "title": "thing",
                    "start": 4,
                    "end": 15,
                    "id": "s_thing_4_15",
                    "target_field": "text",
                },
                # Potato's page leaves the line break before it out of its count.
                {"name": "name", "title": "name", "start": 24, "end": 27, "id": "s_name_24_27", "target_field": "text"},
            ]
        },
    ),
    (
        "pairwise, items_key: pair, allow_tie: true",
        [entry("s", "choices", ["tie"])],
        {"selection": "tie"},
        {"selection": "tie"},
    ),
    (
        "pairwise, items_key: pair, mode: scale",
        [entry("s", "number", -2)],
        {"scale_value": -2},
        {"scale_value": "-2"},
    ),
    (
        "pairwise, items_key: pair, mode: multi_dimension, dimensions: [{name: style}, {name: facts}]",
        [entry("s_1", "choices", ["A"]), entry("s_2", "choices", ["B"])],
        {"style": "A", "facts": "B"},
        {"style": "A", "facts": "B"},
    ),
    ("confidence", [entry("s", "choices", ["4"])], 4, {"4": "4"}),
    ("confidence, scale_type: slider", [entry("s", "number", 61.5)], 61.5, {"confidence_level": "61.5"}),
    (
        "multirate, options: [taste, price], labels: ['1', '2', '3']",
        [entry("s_1", "choices", ["2"])],
        {"taste": "2"},
        {"taste": "2"},
    ),
    (
        "semantic_differential, pairs: [[bad, good], [slow, fast]]",
        [entry("s_1", "choices", ["6"]), entry("s_2", "choices", ["1"])],
        {"bad__good": 6, "slow__fast": 1},
        {"bad__good": "6", "slow__fast": "1"},
    ),
    (
        "constant_sum, labels: [a, b], total_points: 10",
        [entry("s_1", "number", 3), entry("s_2", "number", 7)],
        {"a": 3, "b": 7},
        {"a": "3", "b": "7"},
    ),
    (
        "soft_label, labels: [a, b, c]",
        [entry("s_1", "number", 60), entry("s_2", "number", 20), entry("s_3", "number", 20)],
        {"a": 60, "b": 20, "c": 20},
        {"a": "60", "b": "20", "c": "20"},
    ),
    (
        "ranking, labels: [speed, '1', 'a, b']",
        [entry("s", "ranker", {"_": [], "ranked": ["a, b", "#1", "speed"]}, "s_list")],
        ["a, b", "1", "speed"],
        {"rank_order": "a, b,1,speed"},
    ),
    (
        "text_edit, source_field: other",
        [entry("s", "text", ["New 😀"])],
        {
            "edited_text": "New 😀",
            "original_text": "Old 😀",
            "edit_distance_chars": 3,
            "edit_distance_words": 1,
        },
        {
            "s": '{"edited_text":"New 😀","original_text":"Old 😀","edit_distance_chars":3,"edit_distance_words":1}',
        },
    ),
    (
        "extractive_qa, question_field: note, passage_field: text, highlight_color: '#ff0'",
        [entry("s_unanswerable", "choices", ["unanswerable"])],
        {"answer_text": "", "start": -1, "end": -1, "unanswerable": True},
        {"s": '{"answer_text":"","start":-1,"end":-1,"unanswerable":true}'},
    ),
    ("triage", [entry("s", "choices", ["reject"])], "reject", {"decision": "reject"}),
    (
        "hierarchical_multiselect, taxonomy: {Bug: [Crash, 'Wrong, result'], Other: {}}",
        [entry("s", "taxonomy", [["Bug", "Wrong, result"], ["Other"]])],
        ["Wrong, result", "Other"],
        {"selected_labels": "Wrong, result,Other"},
    ),
]
IDS = [f"{i}-{case[0].split(',')[0]}" for i, case in enumerate(CASES)]


def scheme(text: str, name: str = "s", **more: str) -> str:
    """A scheme's YAML: its type, and the rest of its keys."""
    kind, _, keys = text.partition(", ")
    extra = "".join(f", {key}: {value}" for key, value in more.items())
    return f"  - {{annotation_type: {kind}, name: {name}, description: Say{', ' + keys if keys else ''}{extra}}}\n"


def project(folder: Path, *schemes: str, notices: Notices | None = None) -> Project:
    """A project with these schemes and one item."""
    (folder / "data").mkdir(exist_ok=True)
    (folder / "data" / "items.jsonl").touch()
    config = folder / "config.yaml"
    config.write_text(HEAD + "annotation_schemes:\n" + textwrap.dedent("".join(schemes)), encoding="utf-8")
    return read_project(config, notices if notices is not None else Notices())


def item() -> Item:
    return Item(id="i1", data=dict(ITEM), file="data/items.jsonl", line=1)
