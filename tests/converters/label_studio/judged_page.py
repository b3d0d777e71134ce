"""One page with a trajectory evaluation and a question about a passage, and answers to both."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from potato_bridge.converters.potato.config import read_project
from potato_bridge.model import Project
from potato_bridge.notices import Notices

CONFIG = """\
annotation_task_name: Judged {run}
task_dir: .
data_files: [data/items.jsonl]
item_properties: {{id_key: id, text_key: task}}
output_annotation_dir: annotation_output
require_password: false
instance_display:
  fields:
    - {{key: task, type: text, label: Task}}
    - {{key: steps, type: agent_trace, label: Steps}}
annotation_schemes:
  - annotation_type: trajectory_eval
    name: judge
    description: Judge each step
    required: true
    error_types: [{{name: tool <b> & $5, subtypes: [wrong "args", wrong tool]}}, reasoning]
    severities: [{{name: minor, weight: -1}}, {{name: very bad, weight: -5}}]
    max_score: 10
  - annotation_type: extractive_qa
    name: answer
    description: Where is it said
    question_field: question
    passage_field: passage
"""
STEPS: list[Any] = [
    {"role": "user", "content": "Find it <script>"},
    {"role": "assistant", "content": "first step"},
    {"role": "assistant", "content": "second {{idx}} $5"},
    {"role": "user", "content": "Go on"},
    {"role": "assistant", "content": "third step"},
]
PASSAGE = "The 😀 cat\nsat <b>on</b> it.\n\nZoë left."
ITEMS = [
    {"id": "i1", "task": "Do it", "steps": STEPS, "question": "Where <b>?", "passage": PASSAGE},
    {"id": "i2", "task": "Do that", "steps": ["a", "b"], "question": "Who?", "passage": "Nobody."},
]
RATIONALE = "because <b> & $5 😀\nline 2"
ANSWERS: dict[str, Any] = {
    "judge": {
        "steps": [
            {"step_index": 1, "correctness": "correct"},
            {
                "step_index": 2,
                "correctness": "incorrect",
                "error_type": "tool <b> & $5",
                "error_subtype": 'wrong "args"',
                "severity": "very bad",
                "rationale": RATIONALE,
            },
            {
                "step_index": 4,
                "correctness": "partially_correct",
                "error_type": "reasoning",
                "severity": "minor",
            },
        ],
        "score": 4,
        "score_complete": True,
    },
    "answer": {"answer_text": "cat\nsat <b>on</b>", "start": 6, "end": 23, "unanswerable": False},
}


def make_project(folder: Path, run: str, config: str = CONFIG) -> Project:
    """The project on disk; Potato needs another name for each."""
    (folder / "data").mkdir()
    lines = "".join(json.dumps(item, ensure_ascii=False) + "\n" for item in ITEMS)
    (folder / "data" / "items.jsonl").write_text(lines, encoding="utf-8")
    (folder / "config.yaml").write_text(config.format(run=run), encoding="utf-8")
    return read_project(folder / "config.yaml", Notices())
