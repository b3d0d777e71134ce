"""One page with every general type, an item for it, and the answers that its tests give: on Label Studio, on Potato."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from potato_bridge.converters.potato.config import read_project
from potato_bridge.model import Project
from potato_bridge.notices import Notices

CONFIG = """\
annotation_task_name: General {run}
task_dir: .
data_files: [data/items.jsonl]
item_properties: {{id_key: id, text_key: text}}
output_annotation_dir: annotation_output
require_password: false
instance_display:
  fields:
    - {{key: text, type: text, label: Text, span_target: true}}
    - {{key: note, type: text, label: Note}}
annotation_schemes:
  - {{annotation_type: radio, name: sentiment, description: 'How does it "sound"? <b>& $5', required: true,
     sequential_key_binding: true, has_free_response: {{instruction: Else}},
     labels: [positive, 'a "quoted", <b>& $5', {{name: emoji 😀, key_value: n, tooltip: A tip}}, negative]}}
  - {{annotation_type: multiselect, name: topics, description: Topics, labels: [price, 'taste, smell', service]}}
  - {{annotation_type: text, name: why, description: Why, multiline: true, rows: 3}}
  - {{annotation_type: text, name: two, description: Two boxes, labels: [first, second]}}
  - {{annotation_type: likert, name: quality, description: Quality, size: 5, min_label: Poor, max_label: Good}}
  - {{annotation_type: likert, name: agree, description: Agree, labels: [disagree, neutral, agree]}}
  - {{annotation_type: select, name: lang, description: Language, labels: [english, german, other], required: true}}
  - {{annotation_type: text, name: which, description: Which language, required: true,
     display_logic: {{show_when: [{{schema: lang, operator: equals, value: other}}]}}}}
  - {{annotation_type: number, name: count, description: How many, min: 0, max: 10}}
  - {{annotation_type: slider, name: sure, description: How sure, min_value: 0, max_value: 100,
     starting_value: 50, step: 5}}
  - {{annotation_type: span, name: ner, description: Mark, labels: [thing, {{name: person, key_value: p}}]}}
  - {{annotation_type: pairwise, name: better, description: Which is better, items_key: pair, allow_tie: true,
     sequential_key_binding: false}}
  - {{annotation_type: pairwise, name: by_much, description: By how much, items_key: pair, mode: scale}}
  - {{annotation_type: pairwise, name: by_part, description: In what, items_key: pair, mode: multi_dimension,
     dimensions: [{{name: style, description: How it reads}}, {{name: facts}}]}}
  - {{annotation_type: confidence, name: sure_too, description: Confidence}}
  - {{annotation_type: multirate, name: rates, description: Rate each, options: [taste, price],
     labels: ['1', '2', '3']}}
  - {{annotation_type: semantic_differential, name: feel, description: Feel, pairs: [[bad, good], [slow, fast]]}}
  - {{annotation_type: constant_sum, name: share, description: Share, labels: [a, b], total_points: 10}}
  - {{annotation_type: soft_label, name: soft, description: Soft, labels: [x, y]}}
  - {{annotation_type: ranking, name: order, description: Rank, labels: [speed, '1', style]}}
  - {{annotation_type: triage, name: keep, description: Keep it, accept_key: k, reject_key: j, skip_key: l}}
  - {{annotation_type: text_edit, name: fix, description: Correct it, source_field: note}}
  - {{annotation_type: hierarchical_multiselect, name: kinds, description: Kinds,
     taxonomy: {{Bug: [Crash, Slow], Other: [x]}}}}
"""
TEXT = "The 😀 soup <b>was</b> good & cheap.\nAnn cooked it for $5.\n\nZoë 👩‍👩‍👧 left."
ITEMS = [
    {"id": "i1", "text": TEXT, "note": "n <b>", "pair": ["first 😀 <b>text", "second\ntext"]},
    {"id": "i2", "text": "Another one.", "note": "x", "pair": ["x", "y"]},
]
ANSWERS: dict[str, Any] = {
    "sentiment": {"option": "emoji 😀", "free_response": "free 😀"},
    "topics": ["price", "taste, smell"],
    "why": "because <b> & $5\nline 2",
    "two": {"second": "only second"},
    "quality": 4,
    "agree": "agree",
    "lang": "other",
    "which": "Latin",
    "count": 7,
    "sure": 55,
    "ner": [
        {"start": 6, "end": 17, "label": "thing", "text": "soup <b>was", "field": "text"},
        {"start": 36, "end": 39, "label": "person", "text": "Ann", "field": "text"},
        {"start": 59, "end": 68, "label": "thing", "text": "Zoë 👩‍👩‍👧", "field": "text"},
    ],
    "better": {"selection": "tie"},
    "by_much": {"scale_value": -1},
    "by_part": {"style": "A", "facts": "B"},
    "sure_too": 4,
    "rates": {"taste": "2"},
    "feel": {"bad__good": 7, "slow__fast": 1},
    "share": {"a": 3, "b": 7},
    "soft": {"x": 60, "y": 40},
    "order": ["style", "speed", "1"],
    "keep": "reject",
    "fix": {"edited_text": "n <i>", "original_text": "n <b>", "edit_distance_chars": 1, "edit_distance_words": 1},
    "kinds": ["Slow"],
}


def make_project(folder: Path, run: str) -> Project:
    """The project on disk; Potato needs another name for each."""
    (folder / "data").mkdir()
    lines = "".join(json.dumps(item, ensure_ascii=False) + "\n" for item in ITEMS)
    (folder / "data" / "items.jsonl").write_text(lines, encoding="utf-8")
    (folder / "config.yaml").write_text(CONFIG.format(run=run), encoding="utf-8")
    return read_project(folder / "config.yaml", Notices())
