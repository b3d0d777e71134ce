"""Pairs of whole traces of the same task, by the rewards of their steps.

A trace's score is the sum (or mean) of its rated steps, and the mean of it over those who rated the trace; scores are
fractions, so that 0.7 - 0.2 is 0.5. Traces of the same task with the same texts are one. Where traces of a task have
other prompts they do not pair: the prompt of a pair is that of both.
"""

import hashlib
from collections.abc import Iterator
from dataclasses import dataclass, field
from decimal import Decimal
from fractions import Fraction
from typing import TYPE_CHECKING, Any

import msgspec

from potato_bridge.converters.tool_calls import as_text
from potato_bridge.errors import InputError
from potato_bridge.export.chat import joined, said
from potato_bridge.export.options import ExportOptions, TraceScore
from potato_bridge.export.rows import Case, Head, Held, LeftOut, Reason, Row, answer, place_of
from potato_bridge.export.spool import Spool
from potato_bridge.model import Item, ProcessReward, Project, Record
from potato_bridge.model.process_reward import parse
from potato_bridge.notices import Notices

if TYPE_CHECKING:
    import pyarrow

#: Fields of an item that say which task it is; where it has none, its text does.
TASK_FIELDS = ("task_id", "instance_id")


@dataclass(slots=True)
class _Trace:
    """One trace of a task.

    Attributes:
        offset: Where its texts stand in the spool.
        scores: One for each answer.
        answers: Where the ids of the answers stand in the spool.
        held: The numbers of the records that they are of.
        rows: How many pairs it is the chosen one of; `paired`: whether it is in any; `over`: whether it was in more.
    """

    id: str
    offset: int
    scores: list[Fraction] = field(default_factory=list)
    answers: list[int] = field(default_factory=list)
    held: list[int] = field(default_factory=list)
    rows: int = 0
    paired: bool = False
    over: bool = False

    @property
    def score(self) -> Fraction:
        return sum(self.scores, Fraction(0)) / len(self.scores)


class GapPairs:
    """See the module. Texts wait in a file, so that memory holds scores alone."""

    margin = "score_gap"

    def __init__(self, project: Project, scheme: ProcessReward, options: ExportOptions, notices: Notices) -> None:
        self._project, self._scheme, self._options, self._notices = project, scheme, options, notices
        self._least = Fraction(options.min_score_gap)
        self._groups: dict[bytes, dict[bytes, _Trace]] = {}
        self._heads: list[Head] = []
        self._case: Case | None = None
        self._current: _Trace | LeftOut | None = None
        self._spool = Spool()
        self._pairs = self._chosen_chars = self._rejected_chars = self._longer = 0

    def case(self, item: Item) -> Case:
        """The item, with step texts by the scheme's `step_text_key`."""
        return Case(self._project, item, self._notices, self._scheme.step_text_key, self._options.observations)

    def row(self, case: Case | None, record: Record) -> LeftOut | Held:
        """Takes a trace's score; its pairs are made when all traces are known."""
        value = answer(record, self._scheme.name)
        if isinstance(value, LeftOut):
            return value
        try:
            labels = parse(value).labels
        except InputError as error:
            return LeftOut(Reason.INVALID_VALUE, error.message)
        if case is None:
            return LeftOut(Reason.UNKNOWN_ITEM, "no item of this id in the project's data files")
        if case.prompt is None:
            return LeftOut(Reason.NO_PROMPT, "the item has no text at its text_key")
        if len(labels) != len(case.steps):
            message = f"the answer rates {len(labels)} steps, the item has {len(case.steps)}"
            return LeftOut(Reason.STEP_COUNT_MISMATCH, message)
        rated = [Fraction(Decimal(str(label))) for label in labels if label is not None]
        if not rated:
            return LeftOut(Reason.NO_RATED_STEPS, "no step is rated")
        if case is not self._case:
            self._case, self._current = case, self._trace(case, case.prompt)
        trace = self._current
        if isinstance(trace, LeftOut):
            return trace
        assert trace is not None
        total = sum(rated, Fraction(0))
        trace.scores.append(total / len(rated) if self._options.trace_score is TraceScore.MEAN else total)
        trace.held.append(len(self._heads))
        self._heads.append(Head.of(record))
        trace.answers.append(self._spool.add({"annotator": record.annotator, **place_of(record)}))
        return Held()

    def _trace(self, case: Case, prompt: str) -> _Trace | LeftOut:
        steps = [text for text in case.texts if text]
        if not steps:
            return LeftOut(Reason.NO_COMPLETION, "no step of the trace has a text")
        name, value = self._task(case.item, prompt)
        group = self._groups.setdefault(_digest([name, value, prompt]), {})
        key = _digest([prompt, *steps])
        if key not in group:
            document = {"task": value if name else None, "prompt": prompt, "steps": steps}
            group[key] = _Trace(case.item.id, self._spool.add(document))
        return group[key]

    def _task(self, item: Item, prompt: str) -> tuple[str, str]:
        """The field that says which task an item is of, and what it says; no field: its text."""
        wanted = TASK_FIELDS if self._options.group_by is None else (self._options.group_by,)
        for name in wanted:
            if (value := item.data.get(name)) is not None:
                return name, as_text(value)
        if self._options.group_by is not None:
            self._notices.add(
                "no-task-field",
                f"an item has no field {wanted[0]!r}: its text says which task it is",
                f"item {item.id}",
            )
        return "", prompt

    # --- when all traces are known ------------------------------------------------------------------------------------

    def rows(self) -> Iterator[Row]:
        """The pairs: tasks in the order of their first trace; of each the largest gap first."""
        for group in self._groups.values():
            traces = sorted(group.values(), key=lambda trace: -trace.score)
            pairs = [
                (better.score - worse.score, better, worse)
                for place, better in enumerate(traces)
                for worse in traces[place + 1 :]
                if better.score > worse.score and better.score - worse.score >= self._least
            ]
            pairs.sort(key=lambda pair: -pair[0])
            most = len(pairs) if self._options.max_pairs is None else self._options.max_pairs
            for gap, better, worse in pairs[:most]:
                better.rows += 1
                better.paired = worse.paired = True
                yield self._row(gap, better, worse)
            for _, better, worse in pairs[most:]:
                better.over = worse.over = True

    def _row(self, gap: Fraction, better: _Trace, worse: _Trace) -> Row:
        chosen, rejected = self._spool.get(better.offset), self._spool.get(worse.offset)
        row: Row = {"prompt": said("user", chosen["prompt"])}
        for name, trace, document in (("chosen", better, chosen), ("rejected", worse, rejected)):
            row[name] = said("assistant", joined(document["steps"]))
            row[f"{name}_id"] = trace.id
            row[f"{name}_score"] = float(trace.score)
            row[f"{name}_answers"] = [self._spool.get(offset) for offset in trace.answers]
            # Not a column: what the documented form has.
            row[f"_{name}"] = document["steps"]
        row |= {"score_gap": float(gap), "scheme": self._scheme.name, "group": chosen["task"]}
        lengths = [len(row[name][0]["content"]) for name in ("chosen", "rejected")]
        self._pairs += 1
        self._chosen_chars += lengths[0]
        self._rejected_chars += lengths[1]
        self._longer += lengths[0] > lengths[1]
        return row

    def fates(self) -> Iterator[tuple[Head, int | LeftOut]]:
        """Each record: the pairs that its trace is the chosen one of are counted at the trace's first record."""
        fates: list[int | LeftOut] = [0] * len(self._heads)
        for group in self._groups.values():
            for trace in group.values():
                fate = self._fate(trace, group)
                for place, number in enumerate(trace.held):
                    fates[number] = fate if isinstance(fate, LeftOut) or place == 0 else 0
        yield from zip(self._heads, fates, strict=True)

    def close(self) -> None:
        """Lets go of the texts."""
        self._spool.close()

    def _fate(self, trace: _Trace, group: dict[bytes, _Trace]) -> int | LeftOut:
        if trace.paired:
            return trace.rows
        if len(group) == 1:
            return LeftOut(
                Reason.ONLY_TRACE, "no other trace of its task, with the same prompt and other steps, is rated"
            )
        if trace.over:
            return LeftOut(Reason.OVER_MAX_PAIRS, f"its task has {self._options.max_pairs} pairs with larger gaps")
        least = self._options.min_score_gap
        message = f"no other trace's score differs by {least} or more" if least else "all scores of its task are equal"
        return LeftOut(Reason.NO_GAP, message)

    # --- what it looks like -------------------------------------------------------------------------------------------

    def columns(self) -> "dict[str, pyarrow.DataType]":
        """The columns beside prompt, chosen and rejected."""
        import pyarrow

        text, number = pyarrow.string(), pyarrow.float64()
        names = ("annotator", "backend", "project", "task", "annotation")
        answers = pyarrow.list_(pyarrow.struct([(name, text) for name in names]))
        return {
            "group": text,
            "score_gap": number,
            "chosen_score": number,
            "rejected_score": number,
            "chosen_id": text,
            "rejected_id": text,
            "chosen_answers": answers,
            "rejected_answers": answers,
        }

    def documented(self, row: Row) -> dict[str, Any]:
        """`{"prompt", "chosen", "rejected"}`: a text, and a message for each step."""
        return {
            "prompt": row["prompt"][0]["content"],
            **{
                name: [m for text in row[f"_{name}"] for m in said("assistant", text)]
                for name in ("chosen", "rejected")
            },
        }

    def explain(self) -> list[str]:
        """What a pair is, and what its columns mean."""
        options = self._options
        least = f"by {options.min_score_gap} or more" if options.min_score_gap else "by anything"
        which = f"`{options.group_by}`" if options.group_by else "`task_id`, else `instance_id`"
        score = "mean" if options.trace_score is TraceScore.MEAN else "sum"
        lines = [
            f"One row is a pair of traces of the same task ({which}, else its text) whose scores differ {least}.",
            f"A trace's score is the {score} of its rated steps, and the mean of that over those who rated it.",
            "",
            "| column | what it holds |",
            "|---|---|",
            "| `prompt` | the task, verbatim, as a user's message |",
            "| `chosen`, `rejected` | the texts of all steps to rate, as one assistant's message |",
            "| `group` | which task it is; null where its text says so |",
            "| `score_gap`, `chosen_score`, `rejected_score` | the scores, and how much they differ |",
            "| `chosen_id`, `rejected_id` | the traces |",
            "| `chosen_answers`, `rejected_answers` | who rated them, and where the answers can be found again |",
            "| `scheme` | what was asked |",
        ]
        if self._pairs:
            ratio = self._chosen_chars / self._rejected_chars
            lines += [
                "",
                f"**Length.** The chosen texts have {ratio:.2f} times the characters of the rejected ones, and are the",
                f"longer ones in {100 * self._longer / self._pairs:.0f} % of the pairs: watch that length alone is not",
                "what a model learns.",
            ]
        return lines


def _digest(parts: list[str]) -> bytes:
    return hashlib.blake2b(msgspec.json.encode(parts), digest_size=16).digest()
