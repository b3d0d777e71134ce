"""The table of scheme types, and docs/schemes.md, which is made of it.

`python -m potato_bridge.converters.schemes_page` prints the page.

A type is asked for where its config has a reader and Label Studio a question; all others of Potato's are refused by
name. What stands here of each type is what tests/converters/label_studio/test_general.py shows to be so.
"""

from dataclasses import dataclass
from typing import Final

from potato_bridge.converters.potato.schemes import READERS
from potato_bridge.converters.potato.vocabulary import SCHEME_TYPES


@dataclass(frozen=True, slots=True)
class Facts:
    """One type.

    Attributes:
        control: What annotators meet on Label Studio.
        value: Its value in a record.
        stored: What Potato stores for it: name → value.
        losses: What differs from Potato's page.
    """

    control: str
    value: str
    stored: str
    losses: str = ""


#: Type → its facts, in the order of the page.
FACTS: Final[dict[str, Facts]] = {
    "process_reward": Facts(
        "the steps as options (`first_error`); a page for each step (`per_step`)",
        "[object](records.md)",
        "the scheme's name → JSON",
        "see [Label Studio](label-studio.md)",
    ),
    "code_review": Facts(
        "the diff, with comments on its lines",
        "[object](records.md)",
        "the scheme's name → JSON",
        "see [records](records.md)",
    ),
    "trajectory_edit": Facts(
        "each step beside a box with its text",
        "[object](records.md)",
        "the scheme's name → JSON",
        "see [records](records.md)",
    ),
    "trajectory_eval": Facts(
        "a page for each step: Choices for correctness; where it is wrong a drop-down list of error types, Choices of "
        "severities, and a TextArea",
        '`{"steps": [{"step_index": 0, "correctness": "incorrect", "error_type": "tool", "error_subtype": "args", '
        '"severity": "major", "rationale": "…"}], "score": 95, "score_complete": true}`: see [records](records.md)',
        "the scheme's name → the same, as JSON, with an entry for each turn",
        "no score on the page; turns of users, systems and tools are shown and not asked for",
    ),
    "radio": Facts(
        "Choices, one of them; a TextArea beside them with `has_free_response`",
        '`"good"`; with a text `{"option": "good", "free_response": "…"}`, where `option` may be null',
        "option → option; `free_response` → text",
        "the order of options is the config's; options from the item are not offered",
    ),
    "multiselect": Facts(
        "Choices, several of them; a TextArea beside them with `has_free_response`",
        '`["a", "b"]`; with a text `{"options": ["a"], "free_response": "…"}`',
        "option → option for each; `free_response` → text",
        "as radio; the order of clicks is not kept",
    ),
    "text": Facts(
        "TextArea; one for each label",
        '`"…"`; with labels `{"first": "…"}`, only those that were filled in',
        "`text_box` → text; label → text",
        "`min_chars` and `allow_paste` are not enforced",
    ),
    "likert": Facts(
        "Choices in a row, with the words for both ends; one below the other with `labels`",
        '`4`; with labels `"agree"`; `"bad_text"`',
        "point → point",
    ),
    "select": Facts("Choices as a drop-down list", '`"js"`', "`select-one` → option"),
    "number": Facts(
        "Number", "`2.5`", "`number` → number", "a box that was filled in and emptied says 0, and shows it"
    ),
    "slider": Facts(
        "Number as a slider; Choices with `labels`",
        '`73`; with labels `"high"`',
        "`slider` → number; label → label",
        "an untouched slider is no answer; it stands in the middle, not at `starting_value`",
    ),
    "span": Facts(
        "Labels over a Text for each field with `span_target`, else over the item's text",
        '`[{"start": 4, "end": 15, "label": "thing", "text": "…", "field": "text"}]`: code points, the end excluded',
        "with the spans of the item: `name`, `start`, `end`, `target_field`, `id`",
        "no parts that are apart, no links to a knowledge base; required: checked after the answer; "
        "Potato leaves line breaks out of its count, and has none at the ends of a span",
    ),
    "pairwise": Facts(
        "the two texts side by side, with Choices, a slider, or Choices for each dimension",
        '`{"selection": "A"}`, `"B"` or `"tie"`; `{"scale_value": -2}`; `{"style": "A"}`',
        "`selection`, `scale_value`, dimension → the same",
        "`justification` is not asked for; sides are not swapped",
    ),
    "confidence": Facts(
        "Choices in a row; a slider with `scale_type: slider`",
        "`4`: the level, from 1; the number",
        "level → level; `confidence_level` → number",
    ),
    "multirate": Facts("Choices for each option", '`{"taste": "2"}`', "option → label", "the columns are not kept"),
    "semantic_differential": Facts(
        "Choices in a row for each pair", '`{"bad__good": 6}`: the point, from 1', "`left__right` → point"
    ),
    "constant_sum": Facts(
        "Number for each label",
        '`{"a": 3, "b": 7}`',
        "label → number",
        "the sum is checked after the answer: flag `wrong-sum`",
    ),
    "soft_label": Facts(
        "Number for each label",
        '`{"a": 60, "b": 40}`',
        "label → number",
        "as constant_sum; no chart",
    ),
    "ranking": Facts(
        "Ranker: labels are dragged into the column “Ranked”, or moved there with Space and arrows",
        '`["speed", "style"]`: the best first',
        "`rank_order` → labels with commas between them",
        "no ties; required: checked after the answer; a ranking of some labels only has the flag `incomplete-answer`",
    ),
    "triage": Facts(
        "Choices in a row", '`"accept"`, `"reject"` or `"skip"`', "`decision` → the same", "does not go on by itself"
    ),
    "text_edit": Facts(
        "TextArea that has the text when it is opened",
        '`{"edited_text": "…", "original_text": "…", "edit_distance_chars": 6, "edit_distance_words": 2}`',
        "the scheme's name → the same, as JSON",
        "no diff, no distance and no reset on the page; Submit without a change is an answer with the distance 0",
    ),
    "extractive_qa": Facts(
        "the question; Labels over a Text with the passage, of which one part is marked; Choices: unanswerable",
        '`{"answer_text": "…", "start": 4, "end": 15, "unanswerable": false}`: code points, the end excluded; '
        "unanswerable: an empty text, -1 and -1",
        "the scheme's name → the same, as JSON, in UTF-16 code units",
        "required: checked after the answer; Potato takes white space off the ends",
    ),
    "hierarchical_multiselect": Facts(
        "Taxonomy",
        '`["Crash"]`: names without what is above them',
        "`selected_labels` → names with commas between them",
        "parents and children are not ticked along; no greatest number; no tooltips",
    ),
}

_HEAD: Final = """\
# Schemes

Which of Potato's `annotation_type`s are asked for, with what, and what comes of an answer. This page is made from the
code's own table: `make schemes-page`. The keys of each type are in [configs](configs.md#general-types).

Several schemes of one config share one page, in the order of the config, each in a box with its description; a red star
marks those that are required. Labels may have a tooltip and a key. `display_logic` is followed where the page can: a
label of another scheme is chosen, is not, or anything is; several conditions at once. Else it is the notice
`condition-not-kept`. No answer is no value: a question that was left alone, or was hidden, is absent from the record.

## Asked for

| type | on Label Studio | value in a record | what Potato stores | what is lost |
|---|---|---|---|---|
"""
_REST: Final = """
## Not yet

Kept as they are, and not asked for: notice `scheme-not-supported`. What Potato stores for them is read into records and
written back as it is.

"""


def page() -> str:
    """The text of docs/schemes.md."""
    asked = [kind for kind in FACTS if kind in READERS]
    rows = [f"| `{kind}` | {' | '.join(_cells(FACTS[kind]))} |\n" for kind in asked]
    rest = ", ".join(f"`{kind}`" for kind in sorted(SCHEME_TYPES - set(asked)))
    return f"{_HEAD}{''.join(rows)}{_REST}{_wrapped(rest)}.\n"


def _cells(facts: Facts) -> list[str]:
    return [facts.control, facts.value, facts.stored, facts.losses or "nothing"]


def _wrapped(text: str, width: int = 118) -> str:
    lines = [""]
    for word in text.split(" "):
        if len(lines[-1]) + len(word) >= width:
            lines.append("")
        lines[-1] += f" {word}" if lines[-1] else word
    return "\n".join(lines)


if __name__ == "__main__":
    print(page(), end="")
