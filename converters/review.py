"""What the interfaces of code_review share: words, colours, notices about the change, checks of what was said."""

from typing import Final

from potato_bridge.converters.answer import Answer
from potato_bridge.converters.view.change import MAX_CHARS, MAX_FILE_LINES, MAX_LINES, ChangeView
from potato_bridge.errors import InputError
from potato_bridge.model.code_review import CodeReviewScheme, Comment
from potato_bridge.notices import Notices

#: Files of a change that can be rated on a page which opens in a few seconds.
MANY_FILES: Final = 100
#: The known categories have these colours, others the colours that are left, in their order.
_COLORS: Final = {
    "bug": "#d1242f",
    "logic": "#bc4c00",
    "security": "#a40e26",
    "performance": "#9a6700",
    "style": "#1a7f37",
    "suggestion": "#0969da",
    "question": "#8250df",
    "praise": "#bf3989",
}
_MORE_COLORS: Final = ("#57606a", "#0550ae", "#116329", "#953800", "#6639ba", "#99286e", "#7d4e00", "#4d2d00")


def shown_word(word: str) -> str:
    """A word of the config as Potato shows it: `request_changes` is “Request changes”."""
    text = word.replace("_", " ").strip()
    return text[:1].upper() + text[1:] if text else word


def category_colors(scheme: CodeReviewScheme) -> list[str]:
    """A colour for each category."""
    more = iter(_MORE_COLORS * (len(scheme.comment_categories) // len(_MORE_COLORS) + 1))
    return [_COLORS.get(category.name.lower()) or next(more) for category in scheme.comment_categories]


def tell_change(view: ChangeView, notices: Notices, where: str) -> None:
    """Says what of a change is not shown."""
    if not view.files:
        notices.add("no-change", "the run changed no file: there is nothing to comment on, only a verdict", where)
    if view.cut:
        message = (
            f"of a change of more than {MAX_LINES:,} lines ({MAX_FILE_LINES:,} in one file), the rest is not shown"
        )
        notices.add("change-cut", f"{message}: it cannot be commented on", where)
    if view.clipped:
        message = f"a line of more than {MAX_CHARS:,} characters is shown in part, and the page says so"
        notices.add("line-clipped", message, where, view.clipped)
    if len(view.files) > MANY_FILES:
        message = f"a change has more than {MANY_FILES} files ({len(view.files):,}): its page opens slowly"
        notices.add("many-files", message, where)


def where_of(comment: Comment) -> str:
    """A comment's place, for messages."""
    return comment.file if comment.line is None else f"{comment.file}:{comment.line}"


def check_comment(scheme: CodeReviewScheme, comment: Comment, answer: Answer) -> None:
    """Flags what is wrong with a comment, which is kept."""
    where = where_of(comment)
    words = (
        (comment.category, [category.name for category in scheme.comment_categories], "category"),
        (comment.severity, scheme.severity_levels, "severity"),
    )
    for found, known, what in words:
        if found and found not in known:
            answer.flag("unknown-label", f"{where}: {found!r} is no {what} of the scheme", scheme)
    if not comment.category:
        answer.flag("comment-without-category", f"{where}: the comment has no category", scheme)
    if not comment.text.strip():
        answer.flag("comment-without-text", f"{where}: the comment has no text", scheme)


def check_words(scheme: CodeReviewScheme, number: int, comment: Comment) -> None:
    """Refuses a comment that the interface has no words for.

    Raises:
        InputError: Its category or severity is none of the scheme's, or it has a suggestion and none is asked for.
    """
    if comment.category and comment.category not in {category.name for category in scheme.comment_categories}:
        raise InputError(f"comments[{number}]: {comment.category!r} is no category of the scheme")
    if comment.severity is not None and comment.severity not in scheme.severity_levels:
        raise InputError(f"comments[{number}]: {comment.severity!r} is no severity of the scheme")
    if comment.suggestion and not scheme.allow_suggestions:
        raise InputError(f"comments[{number}]: it has a suggestion, and the scheme has allow_suggestions: false")
