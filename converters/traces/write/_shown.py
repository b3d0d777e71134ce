"""Blocks as text, where a format has nothing but text."""

from potato_bridge.model.trace import Block, DocumentBlock, ImageBlock, TextBlock


def shown(block: Block) -> str | None:
    """The text of a block; an image or a document is named, and of all others nothing is shown."""
    if isinstance(block, TextBlock):
        return block.text
    if isinstance(block, ImageBlock):
        return _named("image", block.alt or block.mime or _embedded(block.uri))
    if isinstance(block, DocumentBlock):
        return _named("document", block.title or block.mime or _embedded(block.uri))
    return None


def _named(what: str, name: str | None) -> str:
    return f"[{what} {name}]" if name else f"[{what}]"


def _embedded(uri: str | None) -> str | None:
    """The kind of what a `data:` URI holds."""
    return uri[5:].partition(",")[0].partition(";")[0] if uri and uri.startswith("data:") else None
