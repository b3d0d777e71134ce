"""Whether an annotator found a trace good, or its task resolved: by words of a scheme, or by the rule of its type."""

from typing import Any

from potato_bridge.errors import InputError, UsageError
from potato_bridge.export.options import Words
from potato_bridge.export.rows import LeftOut, Reason, answer
from potato_bridge.model import CodeReviewScheme, ProcessReward, Project, Record
from potato_bridge.model.code_review import parse_code_review
from potato_bridge.model.general import General
from potato_bridge.model.process_reward import parse
from potato_bridge.notices import Notices

#: Of a code review, the verdict that approves.
APPROVE = "approve"
#: Types that have a rule of their own.
RULES = (ProcessReward, CodeReviewScheme)


class Approval:
    """One scheme's judgement of whole traces.

    Args:
        words: Which of its values mean yes; None: the rule of its type.

    Raises:
        UsageError: There is no such scheme, or one that has no such values.
    """

    def __init__(self, project: Project, scheme: str, words: Words | None) -> None:
        found = [one for one in project.schemes if one.name == scheme]
        if not found:
            names = ", ".join(one.name for one in project.schemes)
            raise UsageError(f"there is no scheme {scheme!r}", hint=f"The config has: {names}.")
        self.scheme, self._words = found[0], words
        if words is None and not isinstance(self.scheme, RULES):
            raise UsageError(f"nothing says which answers to {scheme} mean yes", hint=f"Say it: {scheme}=VALUE,VALUE.")
        if words is not None:
            self._check(words)

    def _check(self, words: Words) -> None:
        scheme = self.scheme
        if isinstance(scheme, ProcessReward):
            raise UsageError(f"{scheme.name} rates steps: it has no values to choose from", hint="Name it alone.")
        known = [option.value for option in scheme.options] if isinstance(scheme, General) else []
        known = list(scheme.verdict_options) if isinstance(scheme, CodeReviewScheme) else known
        if known and (unknown := [value for value in words.values if value not in known]):
            raise UsageError(
                f"{scheme.name} has no value {unknown[0]!r}", hint=f"It has: {', '.join(map(str, known))}."
            )

    def of(self, record: Record) -> bool | LeftOut:
        """What one record says; or why it says nothing."""
        value = answer(record, self.scheme.name)
        if isinstance(value, LeftOut):
            return value
        try:
            if isinstance(self.scheme, ProcessReward):
                return _all_right(value)
            said = [parse_code_review(value).verdict] if isinstance(self.scheme, CodeReviewScheme) else _values(value)
        except InputError as error:
            return LeftOut(Reason.INVALID_VALUE, error.message)
        said = [one for one in said if one is not None]
        if not said:
            return LeftOut(Reason.UNDECIDED, f"the answer to {self.scheme.name} chooses nothing")
        wanted = (APPROVE,) if self._words is None else self._words.values
        return any(one in wanted for one in said)

    def explain(self) -> str:
        """The rule, as the end of a sentence."""
        if self._words is not None:
            return f"`{self.scheme.name}` was answered with {' or '.join(f'`{one}`' for one in self._words.values)}"
        if isinstance(self.scheme, ProcessReward):
            return f"every step was rated above 0 in `{self.scheme.name}`"
        return f"the verdict of `{self.scheme.name}` is `{APPROVE}`"


def choose(project: Project, asked: str | None, words: Words | None, target: str, notices: Notices) -> Approval:
    """The scheme that judges whole traces: the one of the words, else the one asked for, else the first with a rule.

    Raises:
        InputError: No scheme has a rule, and none is named.
        UsageError: See `Approval`; or two schemes are named.
    """
    if words is not None:
        if asked is not None and asked != words.scheme:
            raise UsageError(f"--scheme names {asked}, and --approved {words.scheme}", hint="Leave one of them out.")
        return Approval(project, words.scheme, words)
    if asked is not None:
        return Approval(project, asked, None)
    able = [scheme for scheme in project.schemes if isinstance(scheme, RULES)]
    if not able:
        raise InputError(
            f"no scheme of {project.config} says by itself which traces are good",
            hint=f"{target} goes by process_reward and code_review, or by --approved SCHEME=VALUE,VALUE.",
        )
    if len(able) > 1:
        names = ", ".join(scheme.name for scheme in able)
        notices.add("several-schemes", f"{names}: only {able[0].name} is exported", str(project.config))
    return Approval(project, able[0].name, None)


def _all_right(value: Any) -> bool | LeftOut:
    labels = parse(value).labels
    if any(label is not None and label <= 0 for label in labels):
        return False
    if not labels or None in labels:
        return LeftOut(Reason.UNDECIDED, "no step is rated wrong, and not every step is rated")
    return True


def _values(value: Any) -> list[str]:
    """What was chosen, whatever the scheme: words, numbers, lists of them, objects with them."""
    if isinstance(value, bool) or value is None:
        return []
    if isinstance(value, dict):
        chosen = [value.get(key) for key in ("option", "options", "selection", "decision")]
        return [one for part in chosen for one in _values(part)]
    if isinstance(value, list):
        return [one for part in value for one in _values(part)]
    return [f"{value:g}" if isinstance(value, float) else str(value)]
