"""Target `prm`: step-labelled rows for process reward models, one per annotator and item.

The columns `prompt`, `completions`, `labels` are TRL's stepwise supervision (up to 1.13) and Axolotl's
`stepwise_supervised`. Labels are booleans and nothing else: a −1 crashes those trainers, and a float is truncated
without a word. The scores as rated stand beside them.
"""

from typing import TYPE_CHECKING, Any, ClassVar

from potato_bridge.errors import InputError
from potato_bridge.export.options import ExportOptions, Neutral, Unrated
from potato_bridge.export.rows import Case, LeftOut, Reason, Row, answer, place_of
from potato_bridge.export.schemes import choose_scheme
from potato_bridge.model import Item, ProcessReward, Project, Record
from potato_bridge.model.process_reward import parse
from potato_bridge.notices import Notices

if TYPE_CHECKING:
    import pyarrow

#: `first_error` of a row in which every step is correct, as ProcessBench has it.
ALL_CORRECT = -1


class Prm:
    """Rows of `process_reward` answers, of either mode.

    Raises:
        InputError: The project has no process_reward scheme.
        UsageError: The scheme asked for is not among its process_reward schemes.
    """

    name: ClassVar[str] = "prm"
    documented_file: ClassVar[str] = "prm_training_data.jsonl"
    tags: ClassVar[tuple[str, ...]] = ("prm", "process-reward-model", "stepwise-supervision")
    task_categories: ClassVar[tuple[str, ...]] = ("token-classification",)

    def __init__(self, project: Project, options: ExportOptions, notices: Notices) -> None:
        self._project = project
        self._options = options
        self._notices = notices
        self._scheme = choose_scheme(project, ProcessReward, options.scheme, self.name, notices)
        self.scheme = self._scheme.name

    def case(self, item: Item) -> Case:
        """The item, with step texts by the scheme's `step_text_key`."""
        return Case(self._project, item, self._notices, self._scheme.step_text_key, self._options.observations)

    def row(self, case: Case | None, record: Record) -> Row | LeftOut:
        """The row of one record, or why there is none; no case: the item is not in the data files."""
        value = answer(record, self.scheme)
        if isinstance(value, LeftOut):
            return value
        try:
            scores = [None if label is None else float(label) for label in parse(value).labels]
        except InputError as error:
            return LeftOut(Reason.INVALID_VALUE, error.message)
        if case is None:
            return LeftOut(Reason.UNKNOWN_ITEM, "no item of this id in the project's data files")
        if case.prompt is None:
            return LeftOut(Reason.NO_PROMPT, "the item has no text at its text_key")
        kept = self._kept(case, scores)
        if isinstance(kept, LeftOut):
            return kept
        labels = [score > 0 or (score == 0 and self._options.neutral is Neutral.TRUE) for score in kept.values()]
        return {
            "prompt": case.prompt,
            "completions": [case.texts[number] for number in kept],
            "labels": labels,
            "id": record.id,
            "annotator": record.annotator,
            "scheme": self.scheme,
            "mode": value["mode"],
            "first_error": labels.index(False) if False in labels else ALL_CORRECT,
            "scores": list(kept.values()),
            "step_ids": [case.steps[number].step_id for number in kept],
            **place_of(record),
        }

    def _kept(self, case: Case, scores: list[float | None]) -> dict[int, float] | LeftOut:
        """Step number to score, of the steps that the row has."""
        if len(scores) != len(case.steps):
            return LeftOut(
                Reason.STEP_COUNT_MISMATCH, f"the answer rates {len(scores)} steps, the item has {len(case.steps)}"
            )
        if not scores:
            return LeftOut(Reason.NO_RATED_STEPS, "the item has no steps to rate")
        unrated = scores.index(None) if None in scores else len(scores)
        if unrated < len(scores) and self._options.unrated is Unrated.DROP_ROW:
            return LeftOut(Reason.UNRATED_STEP, f"step {unrated} is not rated")
        rated = {number: score for number, score in enumerate(scores[:unrated]) if score is not None}
        if not rated:
            return LeftOut(Reason.NO_RATED_STEPS, "no step is rated before the first unrated one")
        neutral = self._options.neutral
        kept = {number: score for number, score in rated.items() if score or neutral is not Neutral.DROP}
        if not kept:
            return LeftOut(Reason.NO_RATED_STEPS, "every rated step is neutral, and neutral steps are dropped")
        where = f"item {case.item.id}"
        if cut := len(scores) - unrated:
            self._notices.add("unrated-cut", "a row ends before its first unrated step", where, cut)
        if dropped := len(rated) - len(kept):
            self._notices.add("neutral-dropped", "a neutral step is not in its row", where, dropped)
        return kept

    def documented(self, row: Row) -> dict[str, Any]:
        """`{"trace_id", "steps": [{"content", "label"}]}` with label 1 or -1, as Potato's documentation has it."""
        steps = zip(row["completions"], row["labels"], strict=True)
        return {
            "trace_id": row["id"],
            "steps": [{"content": content, "label": 1 if label else -1} for content, label in steps],
        }

    def schema(self) -> "pyarrow.Schema":
        """The columns and their types."""
        import pyarrow

        text = pyarrow.string()
        types = {
            "prompt": text,
            "completions": pyarrow.list_(text),
            "labels": pyarrow.list_(pyarrow.bool_()),
            "id": text,
            "annotator": text,
            "scheme": text,
            "mode": text,
            "first_error": pyarrow.int64(),
            "scores": pyarrow.list_(pyarrow.float64()),
            "step_ids": pyarrow.list_(text),
            "backend": text,
            "project": text,
            "task": text,
            "annotation": text,
        }
        return pyarrow.schema(list(types.items()))

    def check(self, batch: "pyarrow.RecordBatch | pyarrow.Table") -> str:
        """What a stepwise trainer would refuse in written rows; empty where all is well."""
        import pyarrow.compute

        pc: Any = pyarrow.compute  # its functions are made at run time, which mypy cannot see
        prompt, texts, labels = (batch.column(name) for name in ("prompt", "completions", "labels"))
        if prompt.null_count or texts.null_count or labels.null_count:
            return "a prompt, completions or labels is null"
        if pc.list_flatten(texts).null_count or pc.list_flatten(labels).null_count:
            return "a completion or a label is null"
        lengths = pc.list_value_length(texts)
        if not pc.all(pc.equal(lengths, pc.list_value_length(labels)), min_count=0).as_py():
            return "completions and labels differ in length"
        if not pc.all(pc.greater(lengths, 0), min_count=0).as_py():
            return "a row has no completions"
        return ""

    def explain(self) -> list[str]:
        """What the columns and labels mean."""
        neutral = {
            Neutral.FALSE: "A score of 0 is `false`.",
            Neutral.TRUE: "A score of 0 is `true`.",
            Neutral.DROP: "Steps with a score of 0 are not in their row.",
        }[self._options.neutral]
        unrated = {
            Unrated.CUT: "A row ends before its first unrated step.",
            Unrated.DROP_ROW: "Answers with an unrated step are left out.",
        }[self._options.unrated]
        observations = "with" if self._options.observations else "without"
        return [
            "One row is one annotator's answer to one trace.",
            "",
            "| column | what it holds |",
            "|---|---|",
            "| `prompt` | the task, verbatim |",
            f"| `completions` | the text of each rated step, {observations} what was observed after it |",
            "| `labels` | one per completion: `true` is a correct step |",
            "| `first_error` | 0-based position of the first `false`; -1 where every step of the row is correct |",
            "| `scores` | one per completion, as rated: 1.0 and -1.0 in mode `first_error` |",
            "| `step_ids` | one per completion: which step of the trace it is |",
            "| `id`, `annotator`, `scheme`, `mode` | the trace, who answered, and to what |",
            "| `backend`, `project`, `task`, `annotation` | where the answer can be found again |",
            "",
            "## Labels",
            "",
            "Mode `first_error`: the annotator named the first wrong step. Steps before it are `true`; it and all",
            "steps after it are `false`, and stay in the row.",
            "",
            "Mode `per_step`: each step was rated by itself. A score above 0 is `true`, one below 0 is `false`.",
            f"{neutral} {unrated}",
        ]
