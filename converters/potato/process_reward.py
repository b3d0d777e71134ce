"""The `process_reward` scheme in both dialects, told apart by the keys present.

The documented one has blocks (`first_error`, `per_step`), `target` and `keyboard_shortcuts`. The one of Potato's code
has `steps_key`, `step_text_key`, `reward_labels` and switches; it knows no dialog, no check for completeness and no
keys. A scheme with any documented key has the documented defaults.
"""

from typing import Literal, cast

from potato_bridge.converters.potato.section import Section, show
from potato_bridge.converters.potato.vocabulary import SCHEME_SILENT_KEYS, SCHEME_UNUSED_KEYS
from potato_bridge.model.project import (
    FirstErrorOptions,
    FirstErrorTexts,
    PerStepOptions,
    ProcessReward,
    Shortcuts,
    StepLabel,
)

Dialect = Literal["documented", "code", "both"]

_DOCUMENTED_KEYS = frozenset(("first_error", "per_step", "target", "keyboard_shortcuts"))
_CODE_KEYS = frozenset(
    (
        "steps_key",
        "step_text_key",
        "allow_neutral",
        "inline_with_trace",
        "ai_prelabel",
        "require_verification",
        "reward_labels",
    )
)
_MODES = {"first_error": "first_error", "per_step": "per_step"}
#: Label values of the pages: those that ask for an error category, and all.
_CATEGORY_VALUES = frozenset(("incorrect", "partially_correct"))
_DOCUMENTED_VALUES = _CATEGORY_VALUES | {"correct", "unnecessary", "recovery"}
_DEFAULT_KEYS = {"correct": "1", "incorrect": "2", "partially_correct": "3", "unnecessary": "4"}
_TURN_KEYS = {"next_step": "j", "prev_step": "k"}
_GREEN, _RED, _AMBER = "#22c55e", "#ef4444", "#eab308"


def read_process_reward(section: Section, name: str) -> ProcessReward:
    """Reads one scheme; `name` and `annotation_type` were read before."""
    documented = any(section.has(key) for key in _DOCUMENTED_KEYS)
    code = any(section.has(key) for key in _CODE_KEYS)
    dialect: Dialect = "both" if documented and code else "code" if code else "documented"
    mode = section.choice("mode", "first_error", _MODES)
    if not section.has("mode") and section.has("per_step") and not section.has("first_error"):
        message = f"scheme {name!r} has a per_step block and no mode: it is first_error, Potato's default"
        section.notice("mode-assumed", "per_step", message)
    wording = _read_reward_labels(section)
    neutral = section.flag("allow_neutral", False)
    if neutral and mode == "first_error":
        message = "'allow_neutral' has no effect in mode first_error"
        section.notice("unused-key", "allow_neutral", message)
        neutral = False
    per_step = _read_per_step(section, dialect, wording, neutral)
    scheme = ProcessReward(
        name=name,
        description=section.text("description", empty=True),
        mode=cast(Literal["first_error", "per_step"], mode),
        dialect=dialect,
        steps_key=section.optional("steps_key"),
        step_text_key=section.optional("step_text_key"),
        target=section.optional("target"),
        first_error=_read_first_error(section, dialect, wording),
        per_step=per_step,
        shortcuts=_read_shortcuts(section, dialect, mode, per_step),
        allow_neutral=neutral,
        inline_with_trace=section.flag("inline_with_trace", False),
        ai_prelabel=section.flag("ai_prelabel", False),
        require_verification=section.flag("require_verification", False),
        reward_labels=wording,
        required=read_required(section, True),
        line=section.document.line(section.path),
    )
    section.unread(known=SCHEME_UNUSED_KEYS, silent=SCHEME_SILENT_KEYS, what="process_reward")
    return scheme


def read_required(section: Section, default: bool) -> bool:
    """Whether an answer is required: `required`, else `label_requirement`, Potato's older word for it."""
    requirement = section.take("label_requirement")
    required = default
    if isinstance(requirement, dict):
        inner = section.section("label_requirement")
        assert inner is not None
        required = inner.flag("required", True)
        inner.unread(known=("required_label",), what="label_requirement")
    elif requirement is not None and not isinstance(requirement, bool):
        section.problem("label_requirement", f"expected true, false or {{required: …}}, found {show(requirement)}")
    elif requirement is not None:
        required = requirement
    return section.flag("required", required)


def _read_reward_labels(section: Section) -> dict[str, str]:
    labels = section.section("reward_labels")
    if labels is None:
        return {}
    wording = {key: text for key in ("correct", "neutral", "incorrect") if (text := labels.text(key))}
    labels.unread(what="reward_labels")
    return wording


def _read_first_error(section: Section, dialect: Dialect, wording: dict[str, str]) -> FirstErrorOptions:
    default = FirstErrorOptions()
    # Potato's code has no dialog: only a documented key asks for one.
    default.require_confirmation = dialect != "code"
    texts = FirstErrorTexts()
    if "correct" in wording:
        texts.correct = wording["correct"]
    if "incorrect" in wording:
        texts.first_error = texts.downstream = wording["incorrect"]
    default.labels = texts
    block = section.section("first_error")
    if block is None:
        return default
    labels = block.section("labels")
    if labels is not None:
        texts = FirstErrorTexts(
            correct=labels.text("correct", texts.correct),
            first_error=labels.text("first_error", texts.first_error),
            downstream=labels.text("downstream", texts.downstream),
            all_correct=labels.text("all_correct", texts.all_correct),
        )
        labels.unread(what="first_error.labels")
    options = FirstErrorOptions(
        correct_color=block.color("correct_color", default.correct_color),
        error_color=block.color("error_color", default.error_color),
        downstream_color=block.color("downstream_color", default.downstream_color),
        unmarked_color=block.color("unmarked_color", default.unmarked_color),
        require_confirmation=block.flag("require_confirmation", default.require_confirmation),
        allow_no_error=block.flag("allow_no_error", default.allow_no_error),
        show_step_content=block.flag("show_step_content", default.show_step_content),
        labels=texts,
    )
    block.unread(what="first_error")
    return options


def _default_labels(wording: dict[str, str], neutral: bool) -> list[StepLabel]:
    labels = [
        StepLabel(value="correct", display=wording.get("correct", "Correct"), color=_GREEN, score=1.0),
        StepLabel(value="incorrect", display=wording.get("incorrect", "Incorrect"), color=_RED, score=-1.0),
    ]
    if neutral:
        display = wording.get("neutral", "Neutral")
        labels.insert(1, StepLabel(value="neutral", display=display, color=_AMBER, score=0.0))
    return labels


def _read_per_step(section: Section, dialect: Dialect, wording: dict[str, str], neutral: bool) -> PerStepOptions:
    # Potato's code never checks that all steps are rated.
    require_all = dialect != "code"
    block = section.section("per_step")
    if block is None:
        labels = _settle_categories(_default_labels(wording, neutral))
        return PerStepOptions(labels=labels, require_all_steps=require_all)
    labels = _read_labels(block) or _default_labels(wording, neutral)
    if neutral and all(label.score != 0 for label in labels):
        labels.append(StepLabel(value="neutral", display=wording.get("neutral", "Neutral"), color=_AMBER, score=0.0))
    options = PerStepOptions(
        labels=_settle_categories(labels),
        error_categories=_read_categories(block),
        require_all_steps=block.flag("require_all_steps", require_all),
        allow_notes=block.flag("allow_notes", False),
        show_running_score=block.flag("show_running_score", False),
    )
    block.unread(what="per_step")
    return options


def _read_labels(block: Section) -> list[StepLabel]:
    labels: list[StepLabel] = []
    seen: dict[str, dict[str, int | None]] = {"value": {}, "display": {}}
    for entry in block.sections("labels"):
        value = entry.required("value", "the word that is stored, e.g. correct")
        display = entry.text("display", value.replace("_", " ").capitalize())
        if not entry.has("score"):
            entry.missing("score", "a number, e.g. 1.0")
        score = entry.number("score")
        color = entry.color("color", _GREEN if (score or 0) > 0 else _RED if (score or 0) < 0 else _AMBER)
        category = entry.flag("error_category", False) if entry.has("error_category") else None
        for key, word in (("value", value), ("display", display)):
            if word and word in seen[key]:
                entry.problem(key, f"{word!r} is the {key} of the label in line {seen[key][word]} too")
            elif word:
                seen[key][word] = entry.document.line(entry.path)
        entry.unread(silent=("tooltip", "error_category"), what="a per_step label")
        labels.append(StepLabel(value=value, display=display, color=color, score=score or 0.0, error_category=category))
    if block.values.get("labels") == []:
        block.problem("labels", "the list is empty", "Give at least two labels, or leave the key out.")
    elif len(labels) == 1:
        block.problem("labels", "there is only one label", "Give at least two.")
    return labels


def _settle_categories(labels: list[StepLabel]) -> list[StepLabel]:
    """Sets `error_category` of every label by the rule of the hub (DESIGN §2)."""
    explicit = any(label.error_category is not None for label in labels)
    documented = all(label.value in _DOCUMENTED_VALUES for label in labels)
    for label in labels:
        if explicit:
            label.error_category = bool(label.error_category)
        elif documented:
            label.error_category = label.value in _CATEGORY_VALUES
        else:
            label.error_category = label.score < 0
    return labels


def _read_categories(block: Section) -> list[str]:
    section = block.section("error_categories")
    if section is None:
        return []
    categories = section.texts("categories")
    # A list that is there is meant; the documented default of `enabled` goes with an empty one.
    enabled = section.flag("enabled", bool(categories))
    section.unread(what="error_categories")
    if enabled and not categories:
        section.problem("categories", "error categories are enabled, but there are none", "List them.")
    return categories if enabled else []


def _read_shortcuts(section: Section, dialect: Dialect, mode: str, per_step: PerStepOptions) -> Shortcuts:
    # In first_error mode the keys of the two outcomes are named after these labels.
    values = ["correct", "incorrect"] if mode == "first_error" else [label.value for label in per_step.labels]
    block = section.section("keyboard_shortcuts")
    if block is None and dialect == "code":
        # That dialect has no keys; what the backend offers by itself stays.
        return Shortcuts()
    keys: dict[str, str] = {}
    enabled = True
    if block is not None:
        enabled = block.flag("enabled", True)
        taken: dict[str, str] = {}
        for name in (*dict.fromkeys((*values, *_DEFAULT_KEYS)), *_TURN_KEYS):
            key = block.text(name)
            if key and (len(key) > 20 or any(char.isspace() for char in key)):
                block.problem(name, f'expected one key, like "1" or "j", found {show(key)}')
            elif key and key in taken:
                block.problem(name, f"the key {key!r} is that of {taken[key]!r} too", "Give each its own.")
            elif key:
                taken[key] = name
                keys[name] = key
        block.unread(what="keyboard_shortcuts")
    # The documented keys hold for what the config does not name, unless they are given to something else.
    for name, key in (_DEFAULT_KEYS | _TURN_KEYS).items():
        if name not in keys and key not in keys.values() and (name in values or name in _TURN_KEYS):
            keys[name] = key
    return Shortcuts(
        enabled=enabled,
        labels={name: key for name, key in keys.items() if name not in _TURN_KEYS},
        next_step=keys.get("next_step"),
        prev_step=keys.get("prev_step"),
    )
