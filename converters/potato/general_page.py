"""What the schemes of one page have to do with each other: keys, conditions, and the texts that spans are marked in."""

from collections.abc import Iterable, Mapping
from typing import Any, Final

from potato_bridge.converters.potato.section import Section, did_you_mean, show
from potato_bridge.converters.potato.yaml_marks import KeyPath
from potato_bridge.model.code_review import CodeReviewScheme
from potato_bridge.model.general import Condition, General
from potato_bridge.model.project import DisplayField, ProcessReward, Scheme

#: Keys of a first-error question: the steps, and "all steps correct".
_STEP_KEYS: Final = "123456789a"
#: Keys of the categories of a code review, as far as it has so many.
_CATEGORY_KEYS: Final = "123456789"
#: Operator → (negated, whether the answer is a list).
_OPERATORS: Final = {
    "equals": (False, False),
    "not_equals": (True, False),
    "contains": (False, True),
    "not_contains": (True, True),
    "not_empty": (False, None),
    "empty": (True, None),
}


class _NotKeptError(Exception):
    """A condition that no page of the bridge can follow; the message says why."""


def settle(
    root: Section, schemes: Iterable[tuple[KeyPath, Scheme]], fields: Iterable[DisplayField], text_key: str
) -> None:
    """Settles the general schemes of a config once all are read."""
    places = list(schemes)
    taken: dict[str, str] = {}
    by_name = {scheme.name: scheme for _, scheme in places}
    compared: set[str] = set()
    targets = [field.key for field in fields if field.options.get("span_target")]
    for _, scheme in places:
        # These keys are not in the config, and are theirs wherever they stand.
        if isinstance(scheme, ProcessReward) and scheme.mode == "first_error":
            taken |= dict.fromkeys(_STEP_KEYS, scheme.name)
        if isinstance(scheme, CodeReviewScheme):
            keys = _CATEGORY_KEYS[: len(scheme.comment_categories)]
            taken = dict.fromkeys(keys, scheme.name) | taken
    for path, scheme in places:
        if not isinstance(scheme, General):
            continue
        section = Section(root.document, root.notices, path, root.values["annotation_schemes"][path[-1]])
        if scheme.type == "span":
            scheme.fields = [scheme.field] if scheme.field else targets or [text_key]
            scheme.in_display = bool(scheme.field or targets)
        if scheme.type == "extractive_qa":
            scheme.fields = list(dict.fromkeys((scheme.field, text_key)))
        if scheme.type == "text_edit":
            scheme.field = scheme.field or text_key
        if scheme.type == "pairwise":
            scheme.shown_above = scheme.field in compared
            compared.add(scheme.field)
        _keys(section, scheme, taken)
        _conditions(section, scheme, by_name)


def _keys(section: Section, scheme: General, taken: dict[str, str]) -> None:
    dropped: dict[str, list[str]] = {}
    for option in scheme.options:
        if option.key is None:
            continue
        if len(option.key) != 1 or not option.key.isprintable():
            why = "no single character"
        elif option.key in taken:
            why = f"taken by {taken[option.key]!r}"
        else:
            taken[option.key] = scheme.name
            continue
        dropped.setdefault(why, []).append(option.key)
        option.key = None
    for why, keys in dropped.items():
        shown, labels = ", ".join(map(repr, keys)), "label has" if len(keys) == 1 else "labels have"
        message = f"{scheme.name}: {shown} {'is' if len(keys) == 1 else 'are'} {why}: the {labels} no key"
        section.notices.add("no-key", message, section.document.where(section.path))


def _conditions(section: Section, scheme: General, by_name: Mapping[str, Scheme]) -> None:
    block = section.section("display_logic")
    if block is None:
        return
    logic = block.choice("logic", "all", {"all": "all", "any": "any", "and": "all", "or": "any"})
    entries = block.entries("show_when")
    block.unread(what="display_logic")
    if not entries:
        block.problem("show_when", "there is no condition", "Give a list of {schema, operator, value}.")
        return
    try:
        found = [_condition(block, i, entry, scheme, by_name) for i, entry in enumerate(entries)]
        scheme.conditions = [_either(found)] if logic == "any" and len(found) > 1 else found
    except _NotKeptError as error:
        message = (
            f"display_logic of {scheme.name!r}: {error}; it is always shown, and an answer to it is never required"
        )
        block.notices.add("condition-not-kept", message, block.document.where(block.path))
        scheme.required = False


def _condition(block: Section, i: int, entry: Any, scheme: General, by_name: Mapping[str, Scheme]) -> Condition:
    path: KeyPath = (*block.at("show_when"), i)
    if not isinstance(entry, dict):
        block.document.problem(path, f"expected a mapping, found {show(entry)}")
        raise _NotKeptError("a condition is not one")
    if "schema" not in entry:
        raise _NotKeptError("conditions in groups cannot be followed")
    section = Section(block.document, block.notices, path, entry)
    name = section.required("schema", "the name of another scheme")
    operator = section.text("operator", "equals")
    wanted, exact = section.take("value"), section.flag("case_sensitive", False)
    section.unread(what="a condition")
    other = by_name.get(name)
    if other is None or other is scheme:
        what = "it is the scheme itself" if other is scheme else did_you_mean(name, by_name)
        section.problem("schema", f"there is no other scheme {name!r}", what)
        raise _NotKeptError(f"there is no scheme {name!r}")
    if operator not in _OPERATORS:
        raise _NotKeptError(f"the operator {operator!r} cannot be followed")
    if not isinstance(other, General) or not has_choices(other):
        raise _NotKeptError(f"{name!r} is not answered by choosing from labels")
    negated, is_list = _OPERATORS[operator]
    if is_list is None:
        return Condition(scheme=name, type=other.type, negated=negated)
    if is_list != (other.type == "multiselect"):
        raise _NotKeptError(f"{operator!r} does not fit the type {other.type!r}")
    at = section.at("value")
    places = [((*at, i), one) for i, one in enumerate(wanted)] if isinstance(wanted, list) else [(at, wanted)]
    # As written: an unquoted Yes is a boolean to YAML, and 4 a number.
    values = [_value(other, section.document.raw.get(place, str(one)), exact) for place, one in places]
    return Condition(scheme=name, type=other.type, values=values, negated=negated)


def has_choices(scheme: General) -> bool:
    """Whether a scheme is one question that is answered by choosing from labels."""
    types = ("radio", "multiselect", "select", "likert", "slider", "confidence", "triage", "pairwise")
    return scheme.type in types and bool(scheme.options) and not scheme.rows and scheme.mode != "scale"


def _value(other: General, text: str, exact: bool) -> str:
    for option in other.options:
        if option.value == text or (not exact and option.value.lower() == text.lower()):
            if "," in option.value:
                raise _NotKeptError(f"the label {option.value!r} has a comma")
            return option.value
    raise _NotKeptError(f"{other.name!r} has no label {text!r}")


def _either(found: list[Condition]) -> Condition:
    first = found[0]
    if any(other.scheme != first.scheme or other.negated or not other.values for other in found):
        raise _NotKeptError("of several conditions, one is enough only where all are about one scheme")
    values = [value for condition in found for value in condition.values]
    return Condition(scheme=first.scheme, type=first.type, values=list(dict.fromkeys(values)))
