"""docs/backends.md: which scheme is asked for where, and what is lost there.

`python -m potato_bridge.converters.backends_page` prints the page. The test of the page asks the code for each row.
"""

from typing import Final

EXACT: Final = "exact"
NOT: Final = "not possible"
_FORM: Final = "exact: a form of the panel"

#: Type (of step rewards, their mode) → what is lost on Label Studio, in Argilla's panel, and without the panel.
LOSSES: Final[dict[str, tuple[str, str, str]]] = {
    "process_reward: first_error": (
        "no confirmation",
        EXACT,
        "the steps are text, and their numbers options: at most 499 steps; no colours, no confirmation",
    ),
    "process_reward: per_step": (
        "keys need Alt; no running score; slow above 300 steps",
        EXACT,
        "a record for each step; the step before it is the context; no running score",
    ),
    "code_review": (
        "a comment's text is written in the list of regions; files are rated below all diffs",
        EXACT,
        "a record for each file and one for the verdict; comments are lines of text (`12: bug: …`); no suggestions",
    ),
    "trajectory_edit": (
        "no live diff, counts or reset; a reason is not enforced",
        EXACT,
        "a record for each text; no live diff, counts or reset; a reason is not enforced; no editor for an empty text",
    ),
    "trajectory_eval": ("no score on the page", NOT, NOT),
    "radio": (EXACT, EXACT, EXACT),
    "multiselect": (EXACT, EXACT, EXACT),
    "text": (EXACT, _FORM, EXACT),
    "likert": (EXACT, EXACT, EXACT),
    "select": (EXACT, EXACT, EXACT),
    "number": (EXACT, _FORM, NOT),
    "slider": ("no starting value", _FORM, "only with `labels`"),
    "span": ("required: checked after the answer", "exact: marks in the panel", EXACT),
    "pairwise": ("no justification", "no justification", NOT),
    "confidence": (EXACT, EXACT, "only a scale of points"),
    "multirate": (EXACT, _FORM, "exact: a question for each row"),
    "semantic_differential": (EXACT, _FORM, "exact: a question for each pair"),
    "constant_sum": ("the sum is checked after the answer", "exact: the sum is asked for before Submit", NOT),
    "soft_label": ("the sum is checked after the answer", "exact: the sum is asked for before Submit", NOT),
    "ranking": (
        "required: checked after the answer",
        "at most 50 labels; else a form of the panel",
        "at most 50 labels",
    ),
    "triage": (EXACT, EXACT, EXACT),
    "text_edit": ("no diff, distance or reset", "exact: with a live diff, counts and reset", NOT),
    "extractive_qa": ("required: checked after the answer", "exact: marks in the panel", NOT),
    "hierarchical_multiselect": ("parents are not ticked along", "parents are not ticked along", NOT),
}

_HEAD: Final = """\
# Backends

Which scheme is asked for where. “Exact” is all that Potato's page asks for and that the config can say; else the cell
says what is lost. The records are equal for the same answers, wherever they were given. This page is made from the
code's own table: `make schemes-page`; what each type means is in [schemes](schemes.md).

A config with several schemes is one page on Label Studio and in Argilla's panel. Without the panel (`--layout native`),
a data set asks for one scheme that makes several records of an item (step ratings, code review, trajectory edits), or
for all that make one. Options of a choice that Argilla's questions cannot hold (one alone, more than 500, longer than
200 characters) are a form of the panel; without it such a scheme is not asked for. `display_logic` is followed on Label
Studio and by the forms of the panel. What is not asked for is the notice `scheme-not-asked`.

| scheme | Label Studio | Argilla: panel | Argilla: native |
|---|---|---|---|
"""


def page() -> str:
    """The text of docs/backends.md."""
    return _HEAD + "".join(f"| `{kind}` | {' | '.join(cells)} |\n" for kind, cells in LOSSES.items())


def types() -> set[str]:
    """The types that the page names."""
    return {kind.partition(":")[0] for kind in LOSSES}


if __name__ == "__main__":
    print(page(), end="")
