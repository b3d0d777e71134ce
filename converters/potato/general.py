"""Schemes of the general types: which keys each type reads, and what becomes of them.

What a type is asked with is in `TYPES`, one row each. A key that Potato knows and that no interface of the bridge can
follow gives the notice `unused-key`.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Final

from potato_bridge.converters.potato.general_stored import names_of
from potato_bridge.converters.potato.process_reward import read_required
from potato_bridge.converters.potato.section import Section, show
from potato_bridge.converters.potato.vocabulary import SCHEME_SILENT_KEYS, SCHEME_UNUSED_KEYS
from potato_bridge.converters.potato.yaml_marks import KeyPath
from potato_bridge.model.general import Branch, General, Option

#: Potato's names of the three answers of a triage: answer → (key of its caption, caption, key of its key, key).
_TRIAGE: Final = {
    "accept": ("accept_label", "Keep", "accept_key", "1"),
    "reject": ("reject_label", "Discard", "reject_key", "2"),
    "skip": ("skip_label", "Unsure", "skip_key", "3"),
}
_CONFIDENCE: Final = ("Guessing", "Somewhat confident", "Fairly confident", "Confident", "Certain")
#: Keys of a label that Potato shows in place of its name, the first one that is there.
_SHOWN: Final = ("displayed_label", "text", "label")
_SEQUENTIAL: Final = "1234567890"


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


@dataclass(frozen=True, slots=True)
class _Type:
    """How the config of one type is read.

    Attributes:
        read: Fills a scheme from its section.
        unused: Keys of Potato's that change what annotators see, and that the bridge does not follow.
        silent: Keys that concern Potato's own page only.
    """

    read: Callable[[Section, General], None]
    unused: frozenset[str] = field(default_factory=frozenset)
    silent: frozenset[str] = field(default_factory=frozenset)


_OPTIONS_UNUSED: Final = _words(
    "option_randomization randomize_order dynamic_options dynamic_options_field codebook video_as_label lextale"
)


def read_general(section: Section, name: str) -> General:
    """Reads one scheme; `name` and `annotation_type` were read before."""
    kind = section.text("annotation_type")
    scheme = General(
        name=name,
        type=kind,
        description=section.text("description", empty=True),
        required=read_required(section, False),
        line=section.document.line(section.path),
    )
    row = TYPES[kind]
    row.read(section, scheme)
    section.used.add("display_logic")
    # A requirement for one label is checked by Potato's page alone.
    section.unread(
        known=(SCHEME_UNUSED_KEYS - {"display_logic"}) | row.unused, silent=SCHEME_SILENT_KEYS | row.silent, what=kind
    )
    return scheme


def read_options(section: Section, key: str, *, least: int = 1) -> list[Option]:
    """A list of labels: texts, or mappings with a `name`. Two of the same name, or too few, are problems."""
    value = section.take(key)
    if value is None:
        section.missing(key, "a list of texts")
        return []
    entries = list(value) if isinstance(value, dict) else section.entries(key)
    options: list[Option] = []
    first: dict[str, int | None] = {}
    for i, entry in enumerate(entries):
        path: KeyPath = (*section.at(key), entry if isinstance(value, dict) else i)
        if isinstance(entry, dict):
            option = _read_option(Section(section.document, section.notices, path, entry))
        elif entry is None:
            section.document.problem(path, "expected text, found nothing")
            continue
        else:
            option = Option(value=str(entry) if isinstance(value, dict) else section.scalar(path, entry))
        if option.value and option.value in first:
            message = f"{option.value!r} stands twice in this list, first in line {first[option.value]}"
            section.document.problem(path, message, "Remove one of them, or give it another name.")
        elif option.value:
            first[option.value] = section.document.line(path)
            options.append(option)
    if len(entries) < least:
        hint = f"Give at least {least}." if entries else "Add at least one."
        section.problem(key, "the list is empty" if not entries else f"there are only {len(entries)}", hint)
    return options


def _read_option(section: Section) -> Option:
    value = section.required("name", "the word that is stored")
    shown = [text for key in _SHOWN if (text := section.text(key))]
    key = section.text("key_value") or section.text("keybinding")
    if key and (len(key) > 20 or any(char.isspace() for char in key)):
        section.problem("key_value", f'expected one key, like "1" or "j", found {show(key)}')
    option = Option(
        value=value,
        display=shown[0] if shown else None,
        tooltip=section.optional("tooltip"),
        key=key.lower() or None,
        color=section.text("color") or None,
    )
    known = ("tooltip_file", "image", "video", "videopath")
    section.unread(known=known, silent=("abbreviation", "code"), what="a label")
    return option


def _sequential(section: Section, options: list[Option], default: bool) -> None:
    """Gives the keys 1, 2, … 9, 0, as Potato does, to options without a key of their own."""
    if not section.flag("sequential_key_binding", default) or len(options) > len(_SEQUENTIAL):
        return
    taken = {option.key for option in options}
    for option, key in zip(options, _SEQUENTIAL, strict=False):
        if option.key is None and key not in taken:
            option.key = key


def _alone(section: Section) -> bool:
    """Whether it is the only scheme: then Potato gives its options keys."""
    root = section.document.root
    schemes = root.get("annotation_schemes") if isinstance(root, dict) else None
    return isinstance(schemes, list) and len(schemes) == 1


def _free_response(section: Section, scheme: General) -> None:
    value = section.take("has_free_response")
    if isinstance(value, dict):
        inner = section.section("has_free_response")
        assert inner is not None
        scheme.free_response = inner.text("instruction", "Other (please specify)")
        inner.unread(what="has_free_response")
    elif section.flag("has_free_response", False):
        scheme.free_response = "Other (please specify)"
    if scheme.free_response is not None and any(option.value == "free_response" for option in scheme.options):
        section.problem("labels", "no label can be named 'free_response': Potato stores the text under that name")


def _radio(section: Section, scheme: General) -> None:
    scheme.options = read_options(section, "labels")
    scheme.horizontal = section.flag("horizontal", False)
    _sequential(section, scheme.options, _alone(section))
    _free_response(section, scheme)


def _multiselect(section: Section, scheme: General) -> None:
    scheme.options = read_options(section, "labels")
    _sequential(section, scheme.options, _alone(section))
    _free_response(section, scheme)


def _select(section: Section, scheme: General) -> None:
    if section.has("use_predefined_labels"):
        section.take("use_predefined_labels")
        message = "use_predefined_labels: Potato's own lists are not part of the bridge"
        section.problem("use_predefined_labels", message, "List the labels.")
        return
    scheme.options = read_options(section, "labels")


def _points(size: int) -> list[Option]:
    return [Option(value=str(point)) for point in range(1, size + 1)]


def _likert(section: Section, scheme: General) -> None:
    bad = section.section("bad_text_label")
    if section.has("labels"):
        scheme.options = read_options(section, "labels", least=2)
        section.used |= {"size", "min_label", "max_label"}
    else:
        if not section.has("size"):
            section.missing("size", "how many points the scale has, e.g. 5")
        size = section.whole("size", 5, least=2)
        if size > 100:
            section.problem("size", f"a scale of {size} points cannot be shown", "Use a slider.")
            size = 5
        scheme.options = _points(size)
        scheme.low, scheme.high = section.text("min_label", empty=True), section.text("max_label", empty=True)
        scheme.horizontal = True
    _sequential(section, scheme.options, _alone(section))
    if bad is not None:
        scheme.options.append(Option(value="bad_text", display=bad.text("label_content", "Unreadable")))
        bad.unread(what="bad_text_label")


def _text(section: Section, scheme: General) -> None:
    block = section.take("textarea")
    rows = section.whole("rows", 3, least=1)
    scheme.lines = rows if section.flag("multiline", section.has("rows")) else 1
    if isinstance(block, dict):
        inner = section.section("textarea")
        assert inner is not None
        if inner.flag("on", True):
            scheme.lines = inner.whole("rows", 3, least=1)
        inner.unread(silent=("cols",), what="textarea")
    elif block is not None and section.flag("textarea", False):
        scheme.lines = rows
    scheme.placeholder = section.text("placeholder")
    if section.has("labels"):
        scheme.rows = read_options(section, "labels")


def _bounds(section: Section, scheme: General, least: tuple[str, ...], most: tuple[str, ...]) -> None:
    for key in least:
        scheme.minimum = number if (number := section.number(key)) is not None else scheme.minimum
    for key in most:
        scheme.maximum = number if (number := section.number(key)) is not None else scheme.maximum
    scheme.step = section.number("step")
    if scheme.step is not None and scheme.step <= 0:
        section.problem("step", f"expected a step above 0, found {scheme.step:g}")
    if scheme.minimum is not None and scheme.maximum is not None and scheme.minimum >= scheme.maximum:
        message = f"the least value {scheme.minimum:g} is not below the greatest {scheme.maximum:g}"
        section.problem(next(key for key in most if section.has(key)), message)


def _number(section: Section, scheme: General) -> None:
    # Where both spellings stand, Potato takes the first.
    _bounds(section, scheme, ("min", "min_value"), ("max", "max_value"))


def _slider(section: Section, scheme: General) -> None:
    if section.has("labels"):
        # As Potato does: a slider with labels is a choice.
        scheme.options = read_options(section, "labels", least=2)
        section.used |= {"min_value", "max_value", "step"}
        return
    _range(section, scheme, "min_value", "max_value")


def _range(section: Section, scheme: General, least: str, most: str, low: float = 0, high: float = 100) -> None:
    scheme.minimum, scheme.maximum = low, high
    _bounds(section, scheme, (least,), (most,))


def _span(section: Section, scheme: General) -> None:
    scheme.options = read_options(section, "labels")
    _sequential(section, scheme.options, _alone(section))
    scheme.field = section.text("target_field")
    bad = section.section("bad_text_label")
    if bad is not None:
        bad.unread(known=("label_content",), what="bad_text_label")


def _pairwise(section: Section, scheme: General) -> None:
    modes = ("binary", "scale", "multi_dimension")
    scheme.mode = section.choice("mode", "binary", {mode: mode for mode in modes})
    scheme.field = section.text("items_key", "text")
    names = section.texts("labels") if section.has("labels") else []
    first, second = names[:2] if len(names) >= 2 else ("A", "B")
    scheme.options = [Option(value="A", display=first), Option(value="B", display=second)]
    tie = section.flag("allow_tie", False)
    default = "Tie" if scheme.mode == "multi_dimension" else "No preference"
    tie_label = section.text("tie_label", default)
    keys = section.flag("sequential_key_binding", True)
    if scheme.mode == "scale":
        _scale(section, scheme, first, second)
        return
    if tie:
        scheme.options.append(Option(value="tie", display=tie_label))
    if scheme.mode == "multi_dimension":
        scheme.rows = _dimensions(section)
    elif keys:
        for option, key in zip(scheme.options, "120", strict=False):
            option.key = key


def _scale(section: Section, scheme: General, first: str, second: str) -> None:
    block = section.section("scale") or Section(section.document, section.notices, section.at("scale"), {})
    labels = block.section("labels") or Section(section.document, section.notices, block.at("labels"), {})
    scheme.minimum, scheme.maximum = -3, 3
    _bounds(block, scheme, ("min",), ("max",))
    scheme.step = scheme.step or 1
    scheme.low = labels.text("min", f"{first} is better")
    scheme.middle = labels.text("center", "Equal")
    scheme.high = labels.text("max", f"{second} is better")
    labels.unread(what="scale.labels")
    block.unread(silent=("default",), what="scale")


def _dimensions(section: Section) -> list[Option]:
    rows: list[Option] = []
    for entry in section.sections("dimensions"):
        name = entry.required("name", "the name of the dimension")
        rows.append(Option(value=name, tooltip=entry.optional("description")))
        entry.unread(known=("allow_tie", "tie_label"), what="a dimension")
    if not rows:
        section.missing("dimensions", "a list of {name, description}")
    return rows


def _confidence(section: Section, scheme: General) -> None:
    scheme.mode = section.choice("scale_type", "likert", {"likert": "likert", "slider": "slider"})
    if scheme.mode == "slider":
        _range(section, scheme, "min_value", "max_value")
        scheme.low = section.text("left_label", "Not confident")
        scheme.high = section.text("right_label", "Very confident")
        return
    names = read_options(section, "labels", least=2) if section.has("labels") else []
    size = section.whole("scale_points", len(names) or 5, least=2)
    shown = [option.shown for option in names] or list(_CONFIDENCE)
    shown += [f"Level {level}" for level in range(len(shown) + 1, size + 1)]
    count = max(size, len(names))
    scheme.options = [Option(value=str(i + 1), display=f"{i + 1} {shown[i]}") for i in range(count)]


def _multirate(section: Section, scheme: General) -> None:
    scheme.rows = read_options(section, "options")
    scheme.options = read_options(section, "labels", least=2)


def _semantic_differential(section: Section, scheme: General) -> None:
    scheme.options = _points(section.whole("scale_points", 7, least=2))
    for i, pair in enumerate(section.entries("pairs")):
        path: KeyPath = (*section.at("pairs"), i)
        if not isinstance(pair, list) or len(pair) != 2:
            section.document.problem(path, f"expected two words, found {show(pair)}", "E.g. [slow, fast].")
            continue
        left, right = (section.scalar((*path, end), word) for end, word in enumerate(pair))
        scheme.rows.append(Option(value=f"{left}__{right}", display=f"{left}\n{right}"))
    if not section.has("pairs") or not section.values["pairs"]:
        section.missing("pairs", "a list of pairs of words, e.g. [[slow, fast]]")


def _sum(total: str, least: str) -> Callable[[Section, General], None]:
    def read(section: Section, scheme: General) -> None:
        scheme.rows = read_options(section, "labels", least=2)
        given = section.number(total)
        scheme.total = 100 if given is None else given
        scheme.minimum = section.number(least) or 0
        scheme.maximum = scheme.total

    return read


def _ranking(section: Section, scheme: General) -> None:
    scheme.options = read_options(section, "labels", least=2)


def _triage(section: Section, scheme: General) -> None:
    for value, (caption, shown, key_of, key) in _TRIAGE.items():
        scheme.options.append(Option(value=value, display=section.text(caption, shown), key=section.text(key_of, key)))
    scheme.horizontal = True


def _hierarchical(section: Section, scheme: General) -> None:
    if not section.has("taxonomy") and (section.has("taxonomy_preset") or section.has("taxonomy_file")):
        key = "taxonomy_preset" if section.has("taxonomy_preset") else "taxonomy_file"
        section.take(key)
        section.problem(key, f"{key}: its tree is not part of the config", "Write it under taxonomy.")
        return
    if not section.has("taxonomy"):
        section.missing("taxonomy", "a tree of labels, e.g. {Bug: [Crash, Wrong result]}")
    scheme.taxonomy = _branches(section, section.at("taxonomy"), section.take("taxonomy"))
    seen: set[str] = set()
    for name in names_of(scheme.taxonomy):
        if name in seen:
            hint = "Potato stores a label without what is above it: give each its own name."
            section.problem("taxonomy", f"{name!r} stands twice in the taxonomy", hint)
        seen.add(name)


def _branches(section: Section, path: KeyPath, value: Any) -> list[Branch]:
    if value is None:
        return []
    if isinstance(value, Mapping):
        return [Branch(name=str(key), children=_branches(section, (*path, key), below)) for key, below in value.items()]
    branches: list[Branch] = []
    for i, entry in enumerate(value if isinstance(value, list) else [value]):
        at: KeyPath = (*path, i) if isinstance(value, list) else path
        if isinstance(entry, Mapping):
            branches += _branches(section, at, entry)
        else:
            branches.append(Branch(name=section.scalar(at, entry)))
    return branches


def _text_edit(section: Section, scheme: General) -> None:
    # Without it, the item's text is edited.
    scheme.field = section.text("source_field", empty=True)
    scheme.lines = 6


def _extractive_qa(section: Section, scheme: General) -> None:
    scheme.question = section.text("question_field", "question")
    # Without it, Potato's page looks for this one, and takes the item's text where there is none.
    scheme.field = section.text("passage_field", "passage", empty=True) or "passage"
    scheme.options = [Option(value="answer", display="Answer", color=section.color("highlight_color", "#FFEB3B"))]
    if section.flag("allow_unanswerable", True):
        scheme.options.append(Option(value="unanswerable", display="Unanswerable"))


#: Type → how its config is read.
TYPES: Final[dict[str, _Type]] = {
    "radio": _Type(_radio, _OPTIONS_UNUSED),
    "multiselect": _Type(_multiselect, _OPTIONS_UNUSED, _words("display_config")),
    "text": _Type(
        _text, _words("min_chars allow_paste target_schema"), _words("cols show_char_count collapsible display_config")
    ),
    "likert": _Type(_likert, silent=_words("displaying_score")),
    "select": _Type(_select, _OPTIONS_UNUSED),
    "number": _Type(_number, silent=_words("custom_css tooltip_file")),
    "slider": _Type(_slider, silent=_words("starting_value show_labels maxTick")),
    "span": _Type(
        _span,
        _words("allow_discontinuous entity_linking codebook"),
        _words("show_span_labels columns displaying_score title"),
    ),
    "pairwise": _Type(_pairwise, _words("items justification randomize_order"), _words("show_labels")),
    "confidence": _Type(_confidence, _words("target_schema")),
    "multirate": _Type(
        _multirate,
        _words("options_from_data randomize_order option_randomization"),
        _words("display_config arrangement"),
    ),
    "semantic_differential": _Type(_semantic_differential),
    "constant_sum": _Type(_sum("total_points", "min_per_item"), silent=_words("input_type")),
    "soft_label": _Type(_sum("total", "min_per_label"), silent=_words("show_distribution_chart")),
    "ranking": _Type(_ranking, _words("allow_ties")),
    "triage": _Type(_triage, silent=_words("auto_advance show_progress")),
    "hierarchical_multiselect": _Type(
        _hierarchical,
        _words("auto_select_children auto_select_parent max_selections tooltips"),
        _words("show_search show_codes taxonomy_preset taxonomy_file"),
    ),
    "extractive_qa": _Type(_extractive_qa),
    "text_edit": _Type(_text_edit, silent=_words("show_diff show_edit_distance allow_reset")),
}
