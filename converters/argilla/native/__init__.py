"""The native layout: no script; a record for each step, file or trace, and Argilla's own questions."""

from potato_bridge.converters.argilla.native.layout import (
    asked,
    build_records,
    build_settings,
    read_answer,
    write_answer,
)

__all__ = ["asked", "build_records", "build_settings", "read_answer", "write_answer"]
