"""Which field of an item is which, by name and shape: its id, its text, its list of steps. For items without a config.

Each finder gives one finding and why, or the question that it leaves open with the fields that may be the answer.
"""

import json
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from potato_bridge.converters.potato.turns import ROLE_KEYS
from potato_bridge.converters.tool_calls import IMAGE_KEYS

Rows = Sequence[Mapping[str, Any]]


@dataclass(frozen=True, slots=True)
class Finding:
    """What was chosen, and why, in words for the user."""

    value: str
    why: str


@dataclass(frozen=True, slots=True)
class Question:
    """Nothing, or more than one thing, fits.

    Attributes:
        option: The flag that answers it.
        message: What is unclear.
        candidates: Fields that may be meant, each with what it holds; empty where nothing fits.
    """

    option: str
    message: str
    candidates: tuple[Finding, ...] = ()


#: Names by how sure they are; the first tier with a field of the right shape decides.
_ID_NAMES = (
    ("id",),
    ("instance_id", "item_id", "trace_id", "trajectory_id", "traj_id", "sample_id", "example_id", "record_id"),
)
_ID_NAME = re.compile(r"(?:^|[_-])(?:id|uid|uuid|guid)$|[a-z]I[dD]$", re.IGNORECASE)
_TEXT_NAMES = (
    ("task_description",),
    ("task", "problem_statement", "instruction", "instructions", "prompt", "question", "goal", "query", "issue"),
    ("text", "description", "title", "request", "user_request"),
)
_STEPS_NAMES = frozenset(
    """structured_turns steps trajectory turns messages conversation conversations dialogue dialog trace history events
    actions thoughts cot_steps""".split()
)
#: Texts that are never the task: who worked on it, and what came out.
_NO_TASK = frozenset(
    """model agent agent_name agent_model model_name_or_path source dataset split status final_answer answer response
    output solution patch model_patch test_patch gold_patch diff created_at updated_at timestamp""".split()
)
#: A list of two texts, to be compared.
_PAIR_NAMES = frozenset(
    "pair responses replies answers candidates completions outputs generations texts options summaries".split()
)
#: What is corrected in a step, the first that most steps have; and what came out of all of them.
_EDITED = ("action", "content", "text", "message", "value", "thought", "reasoning")
_FINAL = ("final_answer", "answer", "final_response", "response", "output")
_ACTED = frozenset(("thought", "action", "observation", "action_input", "tool"))
_SEEN = frozenset(("action_type", *IMAGE_KEYS))
_SAID = frozenset(("content", "text", "message", "value"))
_STEP_FIELDS = _ACTED | {"tool_calls", "action_type", "reasoning"} | frozenset(ROLE_KEYS)
_SPEAKER = re.compile(r"[^:\n]{1,40}:\s")
_LONGEST_ID = 200


def find_id(rows: Rows) -> Finding | Question:
    """The field with a value of its own in every item."""
    fields = [key for key in _fields(rows) if _everywhere(rows, key, _is_id)]
    unique = [key for key in fields if len({str(row[key]) for row in rows if key in row}) == _count(rows, key)]
    for tier in (*_ID_NAMES, [key for key in unique if _ID_NAME.search(key)]):
        if found := [key for key in unique if key.lower() in tier or key in tier]:
            return _decide("--id-key", "the id", found, rows, "the name says so, and no two items have the same")
    short = [key for key in unique if len(rows) > 1 and not any(" " in str(row.get(key, "")) for row in rows)]
    if short:
        return _decide("--id-key", "the id", short, rows, "the only field with a short value that no other item has")
    # Items with a value twice are for the check of all items to name, line by line.
    if plain := [key for key in fields if key.lower() == "id"]:
        return Finding(plain[0], "the name says so")
    return Question("--id-key", "no field holds an id: text or a whole number that no other item has")


def find_text(rows: Rows, taken: Iterable[str]) -> Finding | Question:
    """The field with the task that the agent was given; `taken` are the fields that are something else."""
    used = set(taken)
    fields = [key for key in _fields(rows) if key not in used and _everywhere(rows, key, _is_text)]
    fields = [key for key in fields if any(row.get(key, "").strip() for row in rows)]
    for tier in _TEXT_NAMES:
        if found := [key for key in fields if key.lower() in tier]:
            return _decide("--text-key", "the task's text", found, rows, "the name says so, and it is text")
    prose = [key for key in fields if key.lower() not in _NO_TASK and _is_prose(rows, key)]
    if prose:
        return _decide("--text-key", "the task's text", prose, rows, "the only field with a text of several words")
    candidates = tuple(Finding(key, _sample(rows, key)) for key in fields)
    return Question("--text-key", "no field is clearly the text of the task", candidates)


def find_steps(rows: Rows) -> Finding | Question:
    """The field with the list of what the agent did."""
    fields = [key for key in _fields(rows) if _everywhere(rows, key, _is_list) and entries(rows, key)]
    shaped = [key for key in fields if _is_trace(entries(rows, key))]
    named = [key for key in fields if key.lower() in _STEPS_NAMES]
    why = "a list of steps: its entries have {0}"
    for found in ([key for key in named if key in shaped], shaped, named):
        if found:
            return _decide("--steps-key", "the steps", found, rows, why.format(_entry_words(entries(rows, found[0]))))
    candidates = tuple(Finding(key, _sample(rows, key)) for key in fields)
    return Question("--steps-key", "no field is clearly a list of steps", candidates)


def has_turns(found: Finding | Question | None, rows: Rows) -> bool:
    """Whether the list that was found holds steps for sure, and not just texts."""
    return isinstance(found, Finding) and _is_trace(entries(rows, found.value))


def find_pair(rows: Rows) -> Finding | Question:
    """The field with the two texts that are compared."""
    fields = [key for key in _fields(rows) if _everywhere(rows, key, _is_pair)]
    named = [key for key in fields if key.lower() in _PAIR_NAMES]
    if found := named or fields:
        return _decide("--pair-key", "the two texts to compare", found, rows, "a list of two texts in every item")
    return Question("--pair-key", "no field is a list of two texts")


def find_edited(steps_key: str, rows: Rows) -> Finding:
    """The field of a step that is corrected."""
    objects = [entry for entry in entries(rows, steps_key) if isinstance(entry, dict)]
    if not objects:
        return Finding(_EDITED[0], "the steps are texts, which are corrected as they are")
    counts = {key: sum(key in entry for entry in objects) for key in _EDITED}
    best = max(counts, key=lambda key: counts[key])
    return Finding(best, f"in {counts[best]} of {len(objects)} steps that were looked at")


def find_final(rows: Rows, taken: Iterable[str]) -> Finding | None:
    """The field with the final answer of a run; None where there is none."""
    used = set(taken)
    names = {key.lower(): key for key in _fields(rows) if key not in used and _everywhere(rows, key, _is_text)}
    found = next((names[name] for name in _FINAL if name in names), None)
    return None if found is None else Finding(found, "the name says so, and it is text")


def other_texts(rows: Rows, taken: Iterable[str]) -> list[str]:
    """Fields with a text of several words beside those that are something already."""
    used = set(taken)
    fields = [key for key in _fields(rows) if key not in used and _everywhere(rows, key, _is_text)]
    return [key for key in fields if any(" " in row.get(key, "") for row in rows)]


def find_display(steps_key: str, rows: Rows) -> Finding:
    """The display type that fits the entries of a list."""
    found = entries(rows, steps_key)
    objects = [entry for entry in found if isinstance(entry, dict)]
    keys = {key for entry in objects for key in entry}
    if any(_calls_tools(entry) for entry in objects):
        return Finding("coding_trace", "turns with tool calls")
    if steps_key == "structured_turns":
        return Finding("coding_trace", "the name says so")
    if keys & _SEEN:
        return Finding("web_agent_trace", f"steps with {_words(keys & _SEEN)}")
    if keys & _ACTED:
        return Finding("agent_trace", f"steps with {_words(keys & _ACTED)}")
    if "agent" in keys and keys & _SAID:
        return Finding("multi_agent_discussion", "turns of named agents")
    if keys & set(ROLE_KEYS) and keys & _SAID:
        return Finding("dialogue", f"turns with {_words(keys & set(ROLE_KEYS))}")
    if found and not objects and all(_SPEAKER.match(entry) for entry in found if isinstance(entry, str)):
        return Finding("dialogue", "texts that begin with a speaker")
    return Finding("agent_trace", "entries that are not turns: each is a step")


def entries(rows: Rows, key: str) -> list[Any]:
    """All entries of a list, of all rows."""
    return [entry for row in rows for entry in as_list(row.get(key)) or []]


def as_list(value: Any) -> list[Any] | None:
    """A list, or the list that a cell holds as JSON."""
    if isinstance(value, str) and value.lstrip().startswith("["):
        try:
            value = json.loads(value)
        except (ValueError, RecursionError):
            return None
    return value if isinstance(value, list) else None


def _decide(option: str, what: str, found: list[str], rows: Rows, why: str) -> Finding | Question:
    if len(found) == 1:
        return Finding(found[0], why)
    candidates = tuple(Finding(key, _sample(rows, key)) for key in found)
    return Question(option, f"{len(found)} fields could be {what}", candidates)


def _fields(rows: Rows) -> list[str]:
    return list(dict.fromkeys(key for row in rows for key in row))


def _count(rows: Rows, key: str) -> int:
    return sum(key in row for row in rows)


def _everywhere(rows: Rows, key: str, fits: Callable[[Any], bool]) -> bool:
    """Whether a field fits where it is, and is in most items: the check of all items names those without it."""
    values = [row[key] for row in rows if key in row]
    return 2 * len(values) > len(rows) and all(fits(value) for value in values)


def _is_id(value: Any) -> bool:
    if isinstance(value, str):
        return bool(value.strip()) and len(value) <= _LONGEST_ID and "\n" not in value and as_list(value) is None
    return isinstance(value, int) and not isinstance(value, bool)


def _is_text(value: Any) -> bool:
    return isinstance(value, str) and as_list(value) is None


def _is_prose(rows: Rows, key: str) -> bool:
    """Whether most of its texts have several words: a short one may be among them."""
    return 2 * sum(" " in row[key].strip() for row in rows if key in row) > _count(rows, key)


def _is_list(value: Any) -> bool:
    found = as_list(value)
    return found is not None and all(isinstance(entry, dict | str) for entry in found)


def _is_pair(value: Any) -> bool:
    found = as_list(value)
    return found is not None and len(found) == 2 and all(isinstance(entry, str) for entry in found)


def _is_trace(found: list[Any]) -> bool:
    objects = [entry for entry in found if isinstance(entry, dict)]
    return 2 * sum(bool(_STEP_FIELDS & entry.keys()) for entry in objects) > len(found)


def _calls_tools(entry: dict[str, Any]) -> bool:
    if isinstance(calls := entry.get("tool_calls"), list) and any(isinstance(call, dict) for call in calls):
        return True
    content = entry.get("content")
    blocks = content if isinstance(content, list) else []
    return any(isinstance(block, dict) and block.get("type") in ("tool_use", "tool_call") for block in blocks)


def _entry_words(found: list[Any]) -> str:
    keys = {key for entry in found if isinstance(entry, dict) for key in entry}
    return _words(keys & _STEP_FIELDS) or (f"the fields {_words(keys)}" if keys else "texts")


def _words(keys: Iterable[str]) -> str:
    return ", ".join(sorted(keys)[:6])


def _sample(rows: Rows, key: str) -> str:
    value = next(row[key] for row in rows if key in row)
    found = as_list(value)
    if found is not None:
        return f"{len(found)} entries with {_entry_words(found)}"
    text = " ".join(str(value).split())
    return repr(text if len(text) <= 40 else f"{text[:39]}…")
