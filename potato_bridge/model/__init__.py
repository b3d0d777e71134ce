"""The hub: Project, Trace and Record, and the codec. Readers lead into it, writers out of it."""

from potato_bridge.model.code_review import CodeReviewScheme
from potato_bridge.model.general import General
from potato_bridge.model.node import Node, decode, encode, from_builtins, to_builtins
from potato_bridge.model.prelabel import Prelabel
from potato_bridge.model.project import Item, OtherScheme, ProcessReward, Project, Scheme
from potato_bridge.model.record import Flag, Record, Source
from potato_bridge.model.trace import Trace

__all__ = [
    "CodeReviewScheme",
    "Flag",
    "General",
    "Item",
    "Node",
    "OtherScheme",
    "Prelabel",
    "ProcessReward",
    "Project",
    "Record",
    "Scheme",
    "Source",
    "Trace",
    "decode",
    "encode",
    "from_builtins",
    "to_builtins",
]
