"""Project: a parsed Potato config. Paths are absolute; texts and colours are as the config or the defaults say."""

from pathlib import Path
from typing import Any, ClassVar, Literal, TypeAlias

import msgspec

from potato_bridge.model.code_review import CodeReviewScheme
from potato_bridge.model.general import General
from potato_bridge.model.node import Node
from potato_bridge.model.trajectory_eval import TrajectoryEval
from potato_bridge.model.trajectory_scheme import TrajectoryEdit

DataFormat: TypeAlias = Literal["json", "jsonl", "csv", "tsv", "parquet"]


class DataFile(Node):
    """One data file. Keys that the file overrides stand here; else those of the project hold."""

    path: Path
    format: DataFormat
    id_key: str | None = None
    text_key: str | None = None
    encoding: str | None = None
    line: int | None = None


class TraceDisplay(Node):
    """The seven documented `display_options` of a trace display; the defaults are Potato's.

    `diff_view` is `unified` or `split` (side by side); `terminal_theme` is `dark` or `light`.
    """

    diff_view: Literal["unified", "split"] = "unified"
    terminal_theme: Literal["dark", "light"] = "dark"
    collapse_long_outputs: bool = True
    max_output_lines: int = 50
    show_file_tree: bool = True
    show_step_numbers: bool = True
    show_reasoning: bool = True


class DisplayField(Node):
    """One field of `instance_display`. `trace` is set where its type shows a trace."""

    key: str
    type: str = "text"
    label: str | None = None
    trace: TraceDisplay | None = None
    options: dict[str, Any] = {}
    line: int | None = None


class FirstErrorTexts(Node):
    """Wording of the four states of a step; the defaults are the documented example's."""

    correct: str = "+1"
    first_error: str = "-1 (first error)"
    downstream: str = "-1 (downstream)"
    all_correct: str = "+1 (all correct)"


class FirstErrorOptions(Node):
    """The `first_error` block. Colours are CSS hex colours or names."""

    correct_color: str = "#22c55e"
    error_color: str = "#ef4444"
    downstream_color: str = "#f97316"
    unmarked_color: str = "#6b7280"
    require_confirmation: bool = True
    allow_no_error: bool = True
    show_step_content: bool = True
    labels: FirstErrorTexts = msgspec.field(default_factory=FirstErrorTexts)


class StepLabel(Node):
    """One label of `per_step`, and the score that it stands for."""

    value: str
    display: str
    color: str
    score: float
    error_category: bool | None = None


class PerStepOptions(Node):
    """The `per_step` block; the defaults are the documented reference's."""

    labels: list[StepLabel] = []
    error_categories: list[str] = []
    require_all_steps: bool = True
    allow_notes: bool = False
    show_running_score: bool = False


class Shortcuts(Node):
    """`keyboard_shortcuts`: label value to key, and the keys that turn to the next and the previous step."""

    enabled: bool = True
    labels: dict[str, str] = {}
    next_step: str | None = None
    prev_step: str | None = None


class ProcessReward(Node, tag_field="annotation_type", tag="process_reward"):
    """Step rewards.

    Attributes:
        dialect: Which keys the scheme uses: those of Potato's documentation, those of its code, or both.
        steps_key: The item field that holds the steps; None: the field that the display shows as a trace.
        step_text_key: The one field of a step that is its text; None: the rule of the hub.
        required: Whether an answer without this scheme is incomplete.
        line: 1-based line of the scheme in the config.
    """

    type: ClassVar[str] = "process_reward"

    name: str
    description: str = ""
    mode: Literal["first_error", "per_step"] = "first_error"
    dialect: Literal["documented", "code", "both"] = "documented"
    steps_key: str | None = None
    step_text_key: str | None = None
    target: str | None = None
    first_error: FirstErrorOptions = msgspec.field(default_factory=FirstErrorOptions)
    per_step: PerStepOptions = msgspec.field(default_factory=PerStepOptions)
    shortcuts: Shortcuts = msgspec.field(default_factory=Shortcuts)
    allow_neutral: bool = False
    inline_with_trace: bool = False
    ai_prelabel: bool = False
    require_verification: bool = False
    reward_labels: dict[str, str] = {}
    required: bool = True
    line: int | None = None


class OtherScheme(Node, tag_field="annotation_type", tag="other"):
    """A scheme of a type that has no reader yet: kept whole in `options`, and reported."""

    name: str
    type: str
    description: str = ""
    options: dict[str, Any] = {}
    required: bool = False
    line: int | None = None


Scheme: TypeAlias = ProcessReward | CodeReviewScheme | General | TrajectoryEdit | TrajectoryEval | OtherScheme


class PreAnnotation(Node):
    """Where pre-labels are; only there where they are enabled.

    Attributes:
        field: The item field that holds `{scheme: value}`.
        predictions_file: JSON Lines with the pre-labels of items that have no such field.
    """

    field: str = "predictions"
    predictions_file: Path | None = None


class Project(Node):
    """A Potato project.

    Attributes:
        name: `annotation_task_name`.
        config: The config file.
        task_dir: Folder that all relative paths start from.
        overlap: How many people are to answer an item, `max_annotations_per_item`; 1 where it is not limited.
        export_formats: `export_annotation_format`: the default of `potato-bridge export -f`.
        pre_annotation: Where pre-labels are; None: there are none.
    """

    name: str
    config: Path
    task_dir: Path
    id_key: str
    text_key: str
    output_dir: Path
    data_files: list[DataFile] = []
    fields: list[DisplayField] = []
    schemes: list[Scheme] = []
    overlap: int = 1
    export_formats: list[str] = []
    pre_annotation: PreAnnotation | None = None

    def process_reward(self) -> ProcessReward | None:
        """The first scheme of type process_reward, or None."""
        return next((s for s in self.schemes if isinstance(s, ProcessReward)), None)

    def trace_field(self) -> DisplayField | None:
        """The first display field that shows a trace, or None."""
        return next((field for field in self.fields if field.trace is not None), None)

    def steps_key(self) -> str | None:
        """The item field that holds the steps.

        process_reward's `steps_key`, else the trace display's field, else that of trajectory_edit, trajectory_eval or
        code_review, the first.
        """
        scheme = self.process_reward()
        if scheme is not None and scheme.steps_key is not None:
            return scheme.steps_key
        field = self.trace_field()
        if field is not None:
            return field.key
        kinds = TrajectoryEdit | TrajectoryEval | CodeReviewScheme
        others = (scheme.steps_key for scheme in self.schemes if isinstance(scheme, kinds))
        return next((key for key in others if key is not None), None)


class Item(Node):
    """One data item, as read: `data` is the JSON object; `file` and `line` say where it stands (1-based line)."""

    id: str
    data: dict[str, Any]
    file: str
    line: int | None = None
