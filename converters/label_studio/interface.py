"""Project → interface: the label config, the instructions, and what Label Studio's free edition cannot do of it."""

from dataclasses import dataclass
from pathlib import Path

from markupsafe import Markup, escape

from potato_bridge.converters.label_studio import fields, templates, validate
from potato_bridge.converters.label_studio.modes import MODES, mode_of
from potato_bridge.converters.label_studio.text import storable
from potato_bridge.errors import InputError
from potato_bridge.model import ProcessReward, Project
from potato_bridge.model.project import DisplayField, TraceDisplay
from potato_bridge.notices import Notices


@dataclass(frozen=True, slots=True)
class Interface:
    """What a Label Studio project is made of.

    Attributes:
        label_config: XML.
        instruction: HTML, for the project's instructions.
        control: Name of the control whose answer is the reward; with the index flag where each step has one.
    """

    label_config: str
    instruction: str
    control: str

    @property
    def controls(self) -> validate.ControlNames:
        """Names of all controls, a team's own included."""
        return validate.control_names(self.label_config)


def build_interface(project: Project, notices: Notices, template: Path | None = None) -> Interface:
    """Makes the interface of a project.

    Args:
        project: The project.
        notices: Gets what the interface cannot do of what the config asks.
        template: A label config template of the team's own; None: the package's.

    Raises:
        InputError: The project has no process_reward scheme, or one that has no interface yet; or the template is not
            as it must be.
    """
    scheme = rated_scheme(project)
    mode, display = mode_of(scheme), trace_display(project)
    control = fields.control_name(scheme)
    _notices(project, scheme, control, notices)
    variables = {
        "control": control,
        "description": scheme.description or mode.description,
        "required": scheme.required,
        "display": display,
        **mode.variables(scheme),
    }
    rendered = templates.render_label_config(mode.template, template, variables)
    musts = mode.musts(scheme)
    validate.check(rendered, musts, mode.repeats)
    return Interface(storable(rendered.text), _instruction(scheme), musts[0].name)


def rated_scheme(project: Project) -> ProcessReward:
    """The scheme that the interface asks for.

    Raises:
        InputError: There is none, or none that Label Studio can ask for yet.
    """
    scheme = project.process_reward()
    if scheme is None:
        types = sorted({s.type for s in project.schemes if not isinstance(s, ProcessReward)})
        have = f"it has: {', '.join(types)}" if types else "it has none at all"
        raise InputError(
            f"{project.config}: no annotation scheme of type process_reward ({have})",
            hint="Add a scheme of type process_reward: this version shows no other on Label Studio.",
        )
    if scheme.mode not in MODES:
        place = f"{project.config}:{scheme.line}" if scheme.line else str(project.config)
        raise InputError(
            f"{place} {scheme.name}: process_reward in mode {scheme.mode} is not supported yet",
            hint=f"This version shows the modes {' and '.join(MODES)} on Label Studio.",
        )
    return scheme


def trace_display(project: Project) -> TraceDisplay:
    """How the steps are shown: as the display of the field that holds them says, else by the defaults."""
    field = steps_field(project)
    return field.trace if field is not None and field.trace is not None else TraceDisplay()


def steps_field(project: Project) -> DisplayField | None:
    """The display field that holds the rated steps; else the first that shows a trace."""
    key = project.steps_key()
    return next((f for f in project.fields if f.key == key and f.trace is not None), project.trace_field())


def _notices(project: Project, scheme: ProcessReward, control: str, notices: Notices) -> None:
    where = f"{project.config.name}{f':{scheme.line}' if scheme.line else ''} {scheme.name}"
    asked = {
        **mode_of(scheme).notices(scheme),
        "no-scheme-target": (
            bool(scheme.target) and scheme.target != "agentic_steps",
            f"target: {scheme.target!r} is not known; the steps of the trace are rated",
        ),
        "no-prelabel": (scheme.ai_prelabel, "ai_prelabel: Label Studio does not ask a model for labels of this kind"),
        "no-verification": (
            scheme.require_verification,
            "require_verification: Label Studio does not ask to confirm each label; Submit confirms the answer",
        ),
        "control-renamed": (
            control != scheme.name,
            f"{scheme.name!r} cannot be the name of a control in Label Studio, where it is {control!r}; records keep "
            "the scheme's name",
        ),
    }
    for code, (is_asked, message) in asked.items():
        if is_asked:
            notices.add(code, message, where)
    for other in project.schemes:
        # Of a type that has no interface at all, the reader of the config has said so already.
        if other is not scheme and isinstance(other, ProcessReward):
            message = f"the scheme {other.name!r} is not asked for: one process_reward scheme is, the first"
            line = f":{other.line}" if other.line else ""
            notices.add("scheme-not-asked", message, f"{project.config.name}{line} {other.name}")
    shown = steps_field(project)
    for field in project.fields:
        if field is not shown and not is_text_field(field, project):
            message = f"the display field {field.key!r} ({field.type}) is not shown: only texts and one trace are"
            line = f":{field.line}" if field.line else ""
            notices.add("field-not-shown", message, f"{project.config.name}{line} {field.key}")


def is_text_field(field: DisplayField, project: Project) -> bool:
    """Whether a display field is shown as text above the steps."""
    return field.trace is None and (field.key == project.text_key or field.type in ("text", "plain_text", "markdown"))


def _instruction(scheme: ProcessReward) -> str:
    # Label Studio takes styles out, and its pages show lists without marks and paragraphs without space.
    points = "".join(f"<p>• {line}</p>" for line in mode_of(scheme).instruction(scheme))
    return f"<h3>{_html(scheme.description or scheme.name)}</h3>{points}"


def _html(text: str) -> Markup:
    return escape(storable(text))
