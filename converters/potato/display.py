"""`instance_display`: which item fields are shown, and how the trace among them."""

from typing import Any, Literal, cast

from potato_bridge.converters.potato.section import Section, did_you_mean
from potato_bridge.converters.potato.vocabulary import (
    DISPLAY_TYPES,
    TRACE_TYPES,
    TRACE_UNUSED_OPTIONS,
    TURN_TYPES,
)
from potato_bridge.model.project import DisplayField, TraceDisplay

_DIFF_VIEWS = {"unified": "unified", "split": "split", "side_by_side": "split", "side-by-side": "split"}
_THEMES = {"dark": "dark", "light": "light"}
#: The same option under the name that single display types have for it.
_ALIASES = {"show_thought": "show_reasoning", "show_turn_numbers": "show_step_numbers"}
_OPTIONS = (
    "diff_view",
    "terminal_theme",
    "collapse_long_outputs",
    "max_output_lines",
    "show_file_tree",
    "show_step_numbers",
    "show_reasoning",
)
#: Defaults that differ from `TraceDisplay`'s.
_TYPE_DEFAULTS = {"eval_trace": {"max_output_lines": 20}}
_FIELD_KEYS = ("key", "type", "label", "span_target", "display_options")


def read_display(root: Section) -> list[DisplayField]:
    """The fields of `instance_display`, in their order. A config without it shows no field."""
    display = root.section("instance_display")
    if display is None:
        return []
    layout = display.section("layout")
    if layout is not None:
        # Side by side in Potato, one below the other here; the vertical default and the gap are mere looks.
        if layout.take("direction") not in (None, "vertical"):
            layout.notice("unused-key", "direction", "'direction' of instance_display.layout is always vertical here")
        layout.unread(silent=("gap",), what="layout")
    fields: list[DisplayField] = []
    sections = list(display.sections("fields"))
    if not display.has("fields"):
        display.missing("fields", "a list of {key, type}")
    # A dialogue beside a real trace is context; alone it is the trace.
    types = {section.values.get("type") for section in sections if isinstance(section.values.get("type"), str)}
    trace_types = TRACE_TYPES if types & TRACE_TYPES else TURN_TYPES
    for section in sections:
        fields.append(_read_field(section, trace_types))
    display.unread(silent=("resizable",), what="instance_display")
    return fields


def _read_field(section: Section, trace_types: frozenset[str]) -> DisplayField:
    key = section.required("key", "the item field to show")
    kind = section.required("type", "e.g. coding_trace, agent_trace, web_agent_trace, dialogue or text")
    if kind and kind not in DISPLAY_TYPES:
        hint = did_you_mean(kind, DISPLAY_TYPES)
        message = f"unknown display type {kind!r} is shown as text.{' ' + hint if hint else ''}"
        section.notice("unknown-display-type", "type", message)
    label = section.optional("label")
    flat = {name: value for name, value in section.values.items() if name not in _FIELD_KEYS}
    nested = section.section("display_options")
    options: dict[str, Any] = {}
    if section.flag("span_target", False):
        options["span_target"] = True
    # Where an option stands in both places, Potato takes the nested one.
    options |= flat | (nested.values if nested is not None else {})
    trace = None
    if kind in trace_types:
        # Problems are named at the place where the option stands.
        trace = _read_trace(nested, section, kind)
    return DisplayField(
        key=key,
        type=kind or "text",
        label=label,
        trace=trace,
        options=options,
        line=section.document.line(section.path),
    )


def _read_trace(nested: Section | None, field: Section, kind: str) -> TraceDisplay:
    places = [section for section in (nested, field) if section is not None]

    def place(option: str) -> tuple[Section, str]:
        names = (option, *(alias for alias, name in _ALIASES.items() if name == option))
        for section in places:
            for name in names:
                if section.has(name):
                    return section, name
        return field, option

    default = TraceDisplay()
    for option, value in _TYPE_DEFAULTS.get(kind, {}).items():
        setattr(default, option, value)

    def flag(option: str) -> bool:
        section, name = place(option)
        return section.flag(name, getattr(default, option))

    diff, diff_name = place("diff_view")
    theme, theme_name = place("terminal_theme")
    lines, lines_name = place("max_output_lines")
    trace = TraceDisplay(
        diff_view=cast(Literal["unified", "split"], diff.choice(diff_name, default.diff_view, _DIFF_VIEWS)),
        terminal_theme=cast(Literal["dark", "light"], theme.choice(theme_name, default.terminal_theme, _THEMES)),
        collapse_long_outputs=flag("collapse_long_outputs"),
        max_output_lines=lines.whole(lines_name, default.max_output_lines, least=1),
        show_file_tree=flag("show_file_tree"),
        show_step_numbers=flag("show_step_numbers"),
        show_reasoning=flag("show_reasoning"),
    )
    for section in places:
        section.used.update(_OPTIONS, _ALIASES)
        section.unread(known=TRACE_UNUSED_OPTIONS, what=f"a {kind} display")
    return trace
