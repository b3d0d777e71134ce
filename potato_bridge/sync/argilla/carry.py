"""Answers to the version before go into the new version of a data set.

As answers of the same people where every value still fits, else as suggestions.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from potato_bridge.converters.argilla.fields import read_meta
from potato_bridge.converters.argilla.plan import QuestionPlan
from potato_bridge.converters.fingerprint import same_steps
from potato_bridge.notices import Notices
from potato_bridge.remotes.argilla import Argilla
from potato_bridge.remotes.argilla_values import Response


@dataclass(frozen=True)
class OldAnswers:
    """The answers to one record of the version before."""

    external_id: str
    steps_hash: str | None
    responses: list[Response]
    questions: Mapping[str, QuestionPlan]
    notices: Notices

    def merged(self, record: Mapping[str, Any]) -> dict[str, Any]:
        """What of a record that is about to be made has to be otherwise."""
        same = same_steps(self.steps_hash, read_meta(record.get("metadata")).get("steps_hash"))
        responses: list[dict[str, Any]] = []
        suggestions: dict[str, Any] = {one["question_name"]: one for one in record.get("suggestions", ())}
        for old in self.responses:
            values = {name: value.get("value") for name, value in (old.values or {}).items()}
            fitting = {name: value for name, value in values.items() if self._fits(name, value)}
            whole = same and len(fitting) == len(values)
            if whole and (old.status != "submitted" or self._complete(fitting)):
                answer = {"user_id": old.user_id, "status": old.status}
                responses.append({**answer, "values": {n: {"value": v} for n, v in fitting.items()} or None})
                continue
            for name, value in fitting.items():
                suggestions[name] = {"question_name": name, "value": value}
            self.notices.add(
                "answer-became-suggestion",
                "answers to the data set before do not fit the new one and are suggestions there; they stay in the old "
                "one, and in the records that were pulled",
                f"item {self.external_id}",
            )
        changed: dict[str, Any] = {"responses": responses} if responses else {}
        return changed | ({"suggestions": list(suggestions.values())} if suggestions else {})

    def _complete(self, values: Mapping[str, Any]) -> bool:
        return all(name in values for name, question in self.questions.items() if question.required)

    def _fits(self, name: str, value: Any) -> bool:
        question = self.questions.get(name)
        if question is None:
            return False
        options = question.settings.get("options")
        known = [option.get("value") for option in options] if isinstance(options, list) else []
        match question.settings.get("type"):
            case "text":
                return isinstance(value, str)
            case "label_selection" | "rating":
                return value in known
            case "multi_label_selection":
                return isinstance(value, list) and bool(value) and all(one in known for one in value)
            case "ranking":
                ranked = [one.get("value") for one in value if isinstance(one, dict)] if isinstance(value, list) else []
                return sorted(map(str, ranked)) == sorted(map(str, known))
            case "span":
                return isinstance(value, list) and all(
                    isinstance(one, dict) and one.get("label") in known for one in value
                )
        return False


@dataclass
class Carried:
    """The answers of the version before; empty where there is none, until `load` is called.

    Attributes:
        previous: Its id.
        questions: Those of the new version.
    """

    previous: str | None = None
    questions: Sequence[QuestionPlan] = ()
    _old: dict[str, OldAnswers] = field(default_factory=dict)

    def load(self, remote: Argilla, notices: Notices) -> None:
        """Reads them.

        Raises:
            RemoteError: The server fails.
        """
        if self.previous is None or self._old or remote.dataset(self.previous) is None:
            return
        questions = {question.name: question for question in self.questions}
        for record in remote.records(self.previous):
            if record.external_id is not None and record.responses:
                steps = read_meta(record.metadata).get("steps_hash")
                found = OldAnswers(record.external_id, steps, record.responses, questions, notices)
                self._old[record.external_id] = found

    def of(self, external_id: str) -> OldAnswers | None:
        """The answers to a record."""
        return self._old.get(external_id)
