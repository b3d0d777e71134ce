"""Project → interface: the label config, the instructions, and what Label Studio's free edition cannot do of it."""

from dataclasses import dataclass
from pathlib import Path

from markupsafe import Markup, escape

from potato_bridge.converters.label_studio import fields, templates, validate
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
        control: Name of the control whose answer is the reward.
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
    display = trace_display(project)
    control = fields.control_name(scheme)
    _notices(project, scheme, control, notices)
    variables = {
        "control": control,
        "description": scheme.description or "Click the first step where the agent made a mistake",
        "required": scheme.required,
        "required_message": _required_message(scheme),
        "first_error": scheme.first_error,
        "display": display,
    }
    rendered = templates.render_label_config(template, variables)
    validate.check(rendered, control, scheme.required)
    return Interface(storable(rendered.text), _instruction(scheme), control)


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
            hint="This version shows process_reward in mode first_error. Add such a scheme to annotation_schemes.",
        )
    if scheme.mode != "first_error":
        place = f"{project.config}:{scheme.line}" if scheme.line else str(project.config)
        raise InputError(
            f"{place} {scheme.name}: process_reward in mode {scheme.mode} is not supported yet",
            hint='This version shows mode "first_error" on Label Studio.',
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


def _required_message(scheme: ProcessReward) -> str:
    return "Choose the first wrong step" + (" or “All steps correct”." if scheme.first_error.allow_no_error else ".")


def _notices(project: Project, scheme: ProcessReward, control: str, notices: Notices) -> None:
    where = f"{project.config.name}{f':{scheme.line}' if scheme.line else ''} {scheme.name}"
    documented = scheme.dialect != "code"
    asked = {
        "no-confirmation": (
            documented and scheme.first_error.require_confirmation,
            "require_confirmation: Label Studio's free edition cannot ask “Are you sure?”; an answer can be changed "
            "until it is submitted, and after that with Update",
        ),
        "no-shortcuts": (
            scheme.shortcuts.enabled and bool(scheme.shortcuts.next_step or scheme.shortcuts.prev_step),
            "keyboard_shortcuts: Label Studio has no keys for the next and the previous step; Tab and Shift+Tab go "
            f"from step to step, Space chooses, 1 to 9 choose a step and {fields.ALL_CORRECT_KEY} all steps correct "
            "(keys for labels belong to mode per_step)",
        ),
        "no-neutral": (scheme.allow_neutral, "allow_neutral has no use in mode first_error: no step can be neutral"),
        "no-prelabel": (scheme.ai_prelabel, "ai_prelabel: Label Studio does not ask a model for labels of this kind"),
        "no-verification": (
            scheme.require_verification,
            "require_verification: Label Studio does not ask to confirm each label; Submit confirms the answer",
        ),
        "no-reward-labels": (
            bool(scheme.reward_labels),
            "reward_labels is the wording of buttons that this interface does not have; first_error.labels has its own",
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
        if other is not scheme:
            kind = "process_reward" if isinstance(other, ProcessReward) else other.type
            message = f"the scheme {other.name!r} ({kind}) is not asked for: this version has no interface for it"
            if kind == "process_reward":
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
    options, keys = scheme.first_error, scheme.shortcuts.enabled
    lines = [
        f"Read the steps from the first to the last and click the <b>first wrong one</b>. The steps before it count as "
        f"“{_html(options.labels.correct)}”, it counts as “{_html(options.labels.first_error)}”, and the steps after "
        f"it as “{_html(options.labels.downstream)}”.",
    ]
    if options.allow_no_error:
        lines.append(
            f"If nothing is wrong, click “All steps correct” at the bottom: “{_html(options.labels.all_correct)}”."
        )
    lines.append("Entries with a dashed border (what the user, the system or a tool said) are shown and not rated.")
    lines.append(
        "Another click changes the answer. A click inside a tool call or an output does not: it is for reading."
    )
    if keys:
        also = f", <kbd>{fields.ALL_CORRECT_KEY}</kbd> for all steps correct" if options.allow_no_error else ""
        lines.append(f"Keys: <kbd>1</kbd> to <kbd>9</kbd> choose step 1 to 9{also}.")
    lines.append(
        "<kbd>Tab</kbd> goes from step to step, <kbd>Space</kbd> chooses, <kbd>Ctrl</kbd>+<kbd>Enter</kbd> submits."
    )
    # Label Studio takes styles out, and its pages show lists without marks and paragraphs without space.
    points = "".join(f"<p>• {line}</p>" for line in lines)
    return f"<h3>{_html(scheme.description or scheme.name)}</h3>{points}"


def _html(text: str) -> Markup:
    return escape(storable(text))
