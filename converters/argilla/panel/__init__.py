"""The panel layout: one record an item; a script in a custom field draws the interfaces and writes one answer."""

from potato_bridge.converters.argilla.panel.records import build_records
from potato_bridge.converters.argilla.panel.responses import asked, read_answer, write_answer
from potato_bridge.converters.argilla.panel.settings import build_settings

__all__ = ["asked", "build_records", "build_settings", "read_answer", "write_answer"]
