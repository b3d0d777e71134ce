"""The `code_review` scheme in both dialects.

Documentation and code of Potato share three lists; the documentation has more categories of its own. A scheme with any
key that only the documentation knows has the documented defaults.
"""

from typing import Any, Final, Literal

from potato_bridge.converters.potato.process_reward import read_required
from potato_bridge.converters.potato.section import Section, show
from potato_bridge.converters.potato.vocabulary import SCHEME_SILENT_KEYS, SCHEME_UNUSED_KEYS
from potato_bridge.model.code_review import CodeReviewScheme, CommentCategory

#: Keys that Potato's code does not know.
_DOCUMENTED_KEYS: Final = ("allow_suggestions", "severity_levels", "allow_summary", "target")
_CODE_KEYS: Final = ("steps_key",)
_CODE_CATEGORIES: Final = ("bug", "style", "suggestion", "security", "question")
_DOCUMENTED_CATEGORIES: Final = (
    "bug",
    "logic",
    "security",
    "performance",
    "style",
    "suggestion",
    "question",
    "praise",
)
_VERDICTS: Final = ["approve", "request_changes", "comment_only"]
_DIMENSIONS: Final = ["correctness", "quality"]
_SEVERITIES: Final = ["info", "minor", "major", "critical"]


def read_code_review(section: Section, name: str) -> CodeReviewScheme:
    """Reads one scheme; `name` and `annotation_type` were read before."""
    documented = any(section.has(key) for key in _DOCUMENTED_KEYS)
    code = any(section.has(key) for key in _CODE_KEYS)
    dialect: Literal["documented", "code", "both"]
    dialect = "both" if documented and code else "documented" if documented else "code"
    defaults = _DOCUMENTED_CATEGORIES if documented else _CODE_CATEGORIES
    scheme = CodeReviewScheme(
        name=name,
        description=section.text("description", empty=True),
        dialect=dialect,
        comment_categories=_categories(section) or [CommentCategory(name=word) for word in defaults],
        verdict_options=_words(section, "verdict_options", _VERDICTS, least=2),
        file_rating_dimensions=_words(section, "file_rating_dimensions", _DIMENSIONS),
        allow_suggestions=section.flag("allow_suggestions", True),
        severity_levels=_words(section, "severity_levels", _SEVERITIES),
        allow_summary=section.flag("allow_summary", False),
        steps_key=section.optional("steps_key"),
        target=section.optional("target"),
        required=read_required(section, True),
        line=section.document.line(section.path),
    )
    section.unread(known=SCHEME_UNUSED_KEYS, silent=SCHEME_SILENT_KEYS, what="code_review")
    return scheme


def _words(section: Section, key: str, default: list[str], *, least: int = 0) -> list[str]:
    """A list of different words. An empty one says that nothing is asked, where `least` is 0."""
    words = section.texts(key)
    if not section.has(key):
        return list(default)
    if isinstance(section.values[key], list) and len(words) < least and len(section.values[key]) < least:
        found = "the list is empty" if not words else "there is only one entry"
        section.problem(key, found, f"Give at least {least}, or leave the key out.")
    return words


def _categories(section: Section) -> list[CommentCategory]:
    found: list[CommentCategory] = []
    first: dict[str, int | None] = {}
    for i, entry in enumerate(section.entries("comment_categories")):
        path = (*section.at("comment_categories"), i)
        category = (
            _category(Section(section.document, section.notices, path, entry)) if isinstance(entry, dict) else None
        )
        if category is None and not isinstance(entry, dict):
            category = _plain(section, path, entry)
        if category is None:
            continue
        if category.name in first:
            message = f"the category {category.name!r} stands in line {first[category.name]} too"
            section.document.problem(path, message, "Remove one of them.")
            continue
        first[category.name] = section.document.line(path)
        found.append(category)
    if section.values.get("comment_categories") == []:
        section.problem("comment_categories", "the list is empty", "Give at least one, or leave the key out.")
    return found


def _category(section: Section) -> CommentCategory | None:
    name = section.required("name", "the word that is stored, e.g. bug")
    category = CommentCategory(name=name, description=section.text("description", empty=True))
    section.unread(what="a comment category")
    return category if name else None


def _plain(section: Section, path: Any, entry: Any) -> CommentCategory | None:
    if entry is None or isinstance(entry, list):
        message = f"expected a word or {{name, description}}, found {show(entry)}"
        section.document.problem(path, message)
        return None
    name = section.scalar(path, entry)
    return CommentCategory(name=name) if name else None
