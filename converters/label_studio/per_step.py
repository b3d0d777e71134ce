"""Mode per_step: a page for each step, with its label, its error category and its notes.

Page 0 shows what came before the first step. Label Studio counts the pages of a Repeater from 0 and can put nothing but
that number into a message, so with it "Step 3" is page 3, and a submit that misses a step can name the step. Results
are numbered the same way, from 1; records count from 0, like everywhere.
"""

import hashlib
import html
import re
from collections.abc import Mapping
from typing import Any, Final

from markupsafe import Markup, escape

from potato_bridge.converters.answer import Answer, values_of
from potato_bridge.converters.label_studio import fields, templates
from potato_bridge.converters.label_studio.question import Entries, Must, Question, Task
from potato_bridge.converters.label_studio.rewards import reward_notices, steps_then
from potato_bridge.converters.rewards import all_required, asks_category, check_total, label_of, steps_are
from potato_bridge.converters.view.parts import Card
from potato_bridge.converters.view.subject import Subject
from potato_bridge.converters.view.text import attribute, storable
from potato_bridge.errors import InputError
from potato_bridge.model import ProcessReward
from potato_bridge.model.process_reward import PerStep, StepDetail, parse_per_step
from potato_bridge.model.project import StepLabel

#: Steps of a task with which its page opens in well under ten seconds, also on a busy machine.
MANY_STEPS: Final = 300

_NUMBER: Final = re.compile(r"(0|[1-9][0-9]{0,8})", re.ASCII)
# What can stand in whenChoiceValue, in a name attribute and in CSS as it is.
_TOKEN: Final = re.compile(r"[A-Za-z_][A-Za-z0-9_-]{0,63}", re.ASCII)
# Label Studio has about thirty hotkeys to give out.
_SPARE_KEYS: Final = 50
_LABEL, _ERROR, _NOTES = "label", "error", "notes"


def token(value: str) -> str:
    """The value of a label as Label Studio stores it: its own, or a name made from it that does not change."""
    if _TOKEN.fullmatch(value):
        return value
    return f"label_{hashlib.sha256(value.encode('utf-8', 'surrogatepass')).hexdigest()[:12]}"


def _stored(category: str) -> str:
    """A category as it comes back: its text, as an attribute of the label config can hold it."""
    return html.unescape(str(attribute(category)))


def _control(scheme: ProcessReward, part: str, number: int | str) -> str:
    return f"{fields.control_name(scheme)}_{part}_{number}"


def _numbering(scheme: ProcessReward) -> str:
    return f"{fields.control_name(scheme)}_numbering"


def _spare(scheme: ProcessReward) -> str:
    return f"{fields.control_name(scheme)}_spare"


def _key(scheme: ProcessReward, label: StepLabel) -> str:
    """The access key of a label, one character; empty: none."""
    key = scheme.shortcuts.labels.get(label.value, "") if scheme.shortcuts.enabled else ""
    return key if len(key) == 1 and key.isprintable() else ""


def _variables(scheme: ProcessReward) -> dict[str, Any]:
    labels = [
        {
            "value": token(label.value),
            "display": storable(label.display),
            "color": label.color,
            "score": f"{label.score:+g}" if label.score else "0",
            "key": _key(scheme, label),
        }
        for label in scheme.per_step.labels
    ]
    return {
        "labels": labels,
        "categories": [storable(category) for category in scheme.per_step.error_categories],
        "asked": ",".join(token(label.value) for label in asks_category(scheme)),
        "notes": scheme.per_step.allow_notes,
        "required_steps": all_required(scheme),
        "no_key": fields.no_key,
        "spare_keys": _SPARE_KEYS,
    }


def _musts(scheme: ProcessReward) -> list[Must]:
    target = {"toName": (fields.TASK_OBJECT, "results point to it")}
    single = {**target, "choice": ("single-radio", "a step has one label")}
    required = all_required(scheme)
    musts = [
        Must(_control(scheme, _LABEL, fields.INDEX), single, required=required),
        Must(_numbering(scheme), target),
        Must(_spare(scheme), target),
    ]
    if asks_category(scheme):
        musts.append(Must(_control(scheme, _ERROR, fields.INDEX), target))
    if scheme.per_step.allow_notes:
        musts.append(Must(_control(scheme, _NOTES, fields.INDEX), target, kind="TextArea"))
    return musts


def _notices(scheme: ProcessReward) -> dict[str, tuple[bool, str]]:
    keys = scheme.shortcuts
    named = keys.enabled and any(keys.labels.get(label.value) for label in scheme.per_step.labels)
    return {
        **reward_notices(scheme),
        "no-shortcuts": (
            named or (keys.enabled and bool(keys.next_step or keys.prev_step)),
            "keyboard_shortcuts: the keys of labels are pressed with Alt (Alt+1; in Firefox Alt+Shift, on a Mac "
            "Ctrl+Option), and must be one character; there are no keys for the next and the previous step: Alt and "
            "an arrow turn the page",
        ),
        "no-running-score": (
            scheme.per_step.show_running_score,
            "show_running_score: Label Studio's free edition runs no script that could add up; records hold the sum",
        ),
    }


def _instruction(scheme: ProcessReward) -> list[str]:
    labels = ", ".join(f"“{_html(label.display)}”" for label in scheme.per_step.labels)
    lines = [
        f"Each step has a page. Read it and choose a label: {labels}.",
        "The first page shows what was said before the first step; entries with a dashed border are not rated.",
    ]
    if asked := asks_category(scheme):
        wording = " or ".join(f"“{_html(label.display)}”" for label in asked)
        lines.append(f"For {wording} you are also asked what kind of error it is.")
    if all_required(scheme):
        lines.append("Every step needs a label: Submit names the first one that has none.")
    lines.append(
        "<kbd>Alt</kbd>+<kbd>→</kbd> and <kbd>Alt</kbd>+<kbd>←</kbd> turn the page, <kbd>Tab</kbd> goes from label to "
        "label, <kbd>Space</kbd> chooses, <kbd>Ctrl</kbd>+<kbd>Enter</kbd> submits."
    )
    if keys := [(key, label) for label in scheme.per_step.labels if (key := _key(scheme, label))]:
        shown = ", ".join(f"<kbd>Alt</kbd>+<kbd>{_html(key)}</kbd> {_html(label.display)}" for key, label in keys)
        lines.append(f"Keys of the labels: {shown}.")
    return lines


def _data(scheme: ProcessReward, subject: Subject) -> dict[str, Any]:
    macros: Any = templates.cards()
    total = len(subject.trace.ratable())
    if total > MANY_STEPS:
        subject.notices.add(
            "many-steps",
            f"an item has more than {MANY_STEPS} steps to rate ({total:,}): its page opens slowly, at 500 steps in "
            "ten to twenty seconds; almost half of that is error_categories",
            subject.where,
        )
    pages: list[list[Card]] = [[]]
    for card in subject.cards:
        if card.number is not None:
            # What was said just before a step is read with it; what opens the run has the first page.
            first = len(pages) == 1
            before = [] if first else _said_last(pages[-1])
            pages.append([*before, card])
        else:
            pages[-1].append(card)
    return {fields.PAGES: [{"html": _page(macros.page(page, subject.display.show_step_numbers))} for page in pages]}


def _said_last(page: list[Card]) -> list[Card]:
    """Takes the entries after the step off a page."""
    step = next(position for position, card in enumerate(page) if card.number is not None)
    said = page[step + 1 :]
    del page[step + 1 :]
    return said


def _page(html_of_page: object) -> str:
    # The page is shown by a Markdown tag, which costs a tenth of a HyperText. To Markdown, HTML ends at a blank line:
    # without line breaks all of it is HTML, and no text of a trace is ever read as Markdown.
    return storable(str(html_of_page)).replace("\r", "&#13;").replace("\n", "&#10;")


def _total(data: Mapping[str, Any]) -> int:
    pages = data.get(fields.PAGES)
    return max(len(pages) - 1, 0) if isinstance(pages, list) else 0


def _owns(scheme: ProcessReward, control: str) -> bool:
    return control in (_numbering(scheme), _spare(scheme)) or _asks(scheme, control)


def _asks(scheme: ProcessReward, control: str) -> bool:
    return _place(scheme, control) is not None


def _place(scheme: ProcessReward, control: str) -> tuple[str, int] | None:
    """Part and number of a control; None if it is not the scheme's."""
    prefix = f"{fields.control_name(scheme)}_"
    part, _, number = control.removeprefix(prefix).rpartition("_")
    if not control.startswith(prefix) or part not in (_LABEL, _ERROR, _NOTES) or not _NUMBER.fullmatch(number):
        return None
    return part, int(number)


def _read(scheme: ProcessReward, task: Task, entries: Entries, answer: Answer, complete: bool) -> None:
    found: dict[str, Entries] = {}
    for entry in entries:
        found.setdefault(str(entry["from_name"]), []).append(entry)
    # They are no question: the one hides those of the first page, the other takes hotkeys.
    found.pop(_numbering(scheme), None)
    found.pop(_spare(scheme), None)
    reader = _Reader(scheme, steps_then(task, _total(task.data)), answer)
    # Labels first: whether a category can be there depends on them.
    order = {_LABEL: 0, _ERROR: 1, _NOTES: 2}
    for control, own in sorted(found.items(), key=lambda pair: order[(_place(scheme, pair[0]) or ("", 0))[0]]):
        reader.read(control, own)
    rated = [label is not None for label in reader.value.labels]
    if any(rated) or reader.value.step_details:
        answer.annotations[scheme.name] = reader.value.to_json()
    if complete and scheme.required:
        missing = [n + 1 for n, is_rated in enumerate(rated) if not is_rated and n not in reader.bad]
        if not any(rated) and not reader.bad:
            answer.flag("missing-required", "the required answer is missing", scheme)
        elif missing and scheme.per_step.require_all_steps:
            answer.flag("missing-required", f"{steps_are(missing)} not rated", scheme)


class _Reader:
    """Reads the controls of one annotation; what is no answer stays in `controls`, with a flag."""

    def __init__(self, scheme: ProcessReward, total: int, answer: Answer) -> None:
        self.value = PerStep(labels=[None] * total, step_details={})
        self.bad: set[int] = set()
        self._scheme, self._answer = scheme, answer
        self._labels = {token(label.value): label for label in scheme.per_step.labels}
        self._categories = {_stored(category): category for category in scheme.per_step.error_categories}
        self._asked = {label.value for label in asks_category(scheme)}

    def read(self, control: str, entries: Entries) -> None:
        part, number = _place(self._scheme, control) or (_LABEL, 0)
        texts = [text for entry in entries for text in values_of(entry, "text" if part == _NOTES else "choices")]
        problem: tuple[str, str] | None
        if not 1 <= number <= len(self.value.labels):
            problem = "step-out-of-range", f"step {number} is not among the {len(self.value.labels)} steps of the task"
        elif len(entries) != 1 or len(texts) != 1 or not isinstance(texts[0], str):
            problem = (
                "bad-result",
                (f"step {number}: one {part} was expected, and {len(texts)} are there in {len(entries)} entries"),
            )
        else:
            readers = {_LABEL: self._label, _ERROR: self._error, _NOTES: self._notes}
            problem = readers[part](number - 1, texts[0])
        if problem:
            self._answer.controls[control] = entries
            code, message = problem
            self._answer.flag(code, message, self._scheme)
            if part == _LABEL:
                self.bad.add(number - 1)

    def _label(self, step: int, text: str) -> tuple[str, str] | None:
        label = self._labels.get(text)
        if label is None:
            return "unknown-label", f"step {step + 1}: {text!r} is none of the labels"
        self.value.labels[step] = float(label.score)
        self._detail(step).label = label.value
        return None

    def _error(self, step: int, text: str) -> tuple[str, str] | None:
        category = self._categories.get(text)
        if category is None:
            return "unknown-label", f"step {step + 1}: {text!r} is none of the error categories"
        label = self.value.step_details[step].label if step in self.value.step_details else None
        if label not in self._asked:
            return "bad-result", f"step {step + 1}: an error category, and its label {label!r} has none"
        self._detail(step).error_category = category
        return None

    def _notes(self, step: int, text: str) -> tuple[str, str] | None:
        if text:
            # A box that was cleared comes back empty.
            self._detail(step).notes = text
        return None

    def _detail(self, step: int) -> StepDetail:
        return self.value.step_details.setdefault(step, StepDetail())


def _write(scheme: ProcessReward, data: Mapping[str, Any], value: Any) -> Entries:
    parsed = parse_per_step(value)
    check_total(value, _total(data))
    results = _preset(scheme)
    for step, score in enumerate(parsed.labels):
        detail = parsed.step_details.get(step, StepDetail())
        label = label_of(scheme, step, score, detail)
        if label is not None:
            results.append(_entry(_control(scheme, _LABEL, step + 1), "choices", token(label.value)))
        if detail.error_category is not None:
            if label not in asks_category(scheme) or detail.error_category not in scheme.per_step.error_categories:
                raise InputError(f"step {step + 1}: the error category {detail.error_category!r} cannot be given there")
            results.append(_entry(_control(scheme, _ERROR, step + 1), "choices", _stored(detail.error_category)))
        if detail.notes:
            results.append(_entry(_control(scheme, _NOTES, step + 1), "text", storable(detail.notes)))
    return results


def _preset(scheme: ProcessReward) -> Entries:
    return [_entry(_numbering(scheme), "choices", "0")]


def _entry(control: str, kind: str, text: str) -> dict[str, Any]:
    return {
        "from_name": control,
        "to_name": fields.TASK_OBJECT,
        "type": "textarea" if kind == "text" else "choices",
        "value": {kind: [text]},
    }


def _html(text: str) -> Markup:
    return escape(storable(text))


QUESTION: Final = Question[ProcessReward](
    template=templates.PER_STEP,
    style="per_step.css.j2",
    description="Rate each step independently",
    variables=_variables,
    notices=_notices,
    instruction=_instruction,
    musts=_musts,
    repeats=lambda _: (fields.PAGES,),
    data=_data,
    subject=lambda _: (fields.PAGES,),
    shows_trace=lambda _: True,
    owns=_owns,
    asks=_asks,
    read=_read,
    write=_write,
    preset=_preset,
)
