"""docs/backends.md is what the code's table gives, and the table is what the code does."""

from __future__ import annotations

from pathlib import Path

import pytest

from potato_bridge.converters import backends_page
from potato_bridge.converters.argilla.native.questions import question_of as native
from potato_bridge.converters.argilla.panel.questions import question_of as panel
from potato_bridge.converters.label_studio.questions import question_of as label_studio
from potato_bridge.converters.schemes_page import FACTS
from tests.converters.label_studio.general_samples import CASES
from tests.converters.label_studio.general_samples import project as general_project
from tests.converters.label_studio.general_samples import scheme as general_scheme
from tests.several_schemes import EDIT, FIRST_ERROR, PER_STEP, REVIEW, item, project

PAGE = Path(__file__).parents[1] / "docs" / "backends.md"
OWN = {
    "process_reward: first_error": FIRST_ERROR,
    "process_reward: per_step": PER_STEP,
    "code_review": REVIEW,
    "trajectory_edit": EDIT,
    "trajectory_eval": "{annotation_type: trajectory_eval, name: t, steps_key: turns}",
}


def test_the_page_is_made_from_the_table() -> None:
    assert PAGE.read_text(encoding="utf-8") == backends_page.page(), "run `make schemes-page`"
    assert backends_page.types() == FACTS.keys()


@pytest.mark.parametrize("kind", backends_page.LOSSES)
def test_what_the_table_says_is_so(kind: str, tmp_path: Path) -> None:
    if kind in OWN:
        schemes = project(tmp_path, [OWN[kind]], item()).schemes
    else:
        texts = [case[0] for case in CASES if case[0].split(",")[0] == kind]
        schemes = [general_project(tmp_path, general_scheme(text)).schemes[0] for text in texts]
        assert schemes
    for question_of, cell in zip((label_studio, panel, native), backends_page.LOSSES[kind], strict=True):
        asked = {question_of(scheme) is not None for scheme in schemes}
        assert (True in asked) == (cell != backends_page.NOT), (question_of, cell)
        # Where some are not asked for, the cell says which are.
        long_labels = kind == "radio"
        assert long_labels or asked != {True, False} or cell.startswith("only"), (question_of, cell)
