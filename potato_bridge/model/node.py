"""The base of all hub types, and the codec: plain JSON in and out, in which unknown fields survive."""

from dataclasses import dataclass
from functools import cache
from typing import Any, ClassVar, Final, TypeVar

import msgspec

from potato_bridge.errors import InputError


class Node(msgspec.Struct, kw_only=True, omit_defaults=True):
    """A hub type. A field that this version does not know is kept in `unknown` and written back at its place.

    Attributes:
        unknown: Fields of the JSON object that the type has no attribute for; never a JSON key of its own.
    """

    #: Fields that are written even where they hold their default.
    ALWAYS: ClassVar[frozenset[str]] = frozenset()

    unknown: dict[str, Any] = {}


N = TypeVar("N", bound=Node)


@dataclass(frozen=True)
class _Shape:
    """How nodes hang in one field: one or a list of them; by tag where it is a union of tagged types."""

    many: bool
    cls: type[msgspec.Struct] | None
    by_tag: dict[str, type[msgspec.Struct]]
    tag_field: str


@dataclass(frozen=True)
class _Plan:
    """What one struct type needs for `_lift`: its field names, and the shapes of the fields that hold nodes."""

    fields: frozenset[str]
    nested: dict[str, _Shape]


def _shape(kind: msgspec.inspect.Type) -> _Shape | None:
    many = isinstance(kind, msgspec.inspect.ListType)
    if isinstance(kind, msgspec.inspect.ListType):
        kind = kind.item_type
    options = kind.types if isinstance(kind, msgspec.inspect.UnionType) else (kind,)
    structs = [option for option in options if isinstance(option, msgspec.inspect.StructType)]
    if not structs:
        return None
    if len(structs) == 1 and structs[0].tag is None:
        return _Shape(many, structs[0].cls, {}, "")
    by_tag = {str(struct.tag): struct.cls for struct in structs}
    return _Shape(many, None, by_tag, structs[0].tag_field or "")


@cache
def _plan(cls: type[msgspec.Struct]) -> _Plan:
    info = msgspec.inspect.type_info(cls)
    assert isinstance(info, msgspec.inspect.StructType)
    fields = {field.encode_name: field.type for field in info.fields if field.name != "unknown"}
    nested = {name: shape for name, kind in fields.items() if (shape := _shape(kind))}
    return _Plan(frozenset(fields) | ({info.tag_field} if info.tag_field else set()), nested)


def _lift_one(shape: _Shape, value: Any) -> Any:
    if not isinstance(value, dict):
        return value
    cls = shape.cls or shape.by_tag.get(str(value.get(shape.tag_field)))
    if cls is None:
        # A kind of a later version: kept whole where the union has a member for that.
        return {shape.tag_field: "unknown", "raw": value} if "unknown" in shape.by_tag else value
    return _lift(cls, value)


def _lift(cls: type[msgspec.Struct], value: dict[str, Any]) -> dict[str, Any]:
    """Moves the fields that `cls` does not know into its `unknown`, all the way down."""
    plan = _plan(cls)
    known: dict[str, Any] = {}
    unknown: dict[str, Any] = {}
    for key, item in value.items():
        if key not in plan.fields:
            unknown[key] = item
            continue
        shape = plan.nested.get(key)
        if shape is not None:
            if shape.many and isinstance(item, list):
                item = [_lift_one(shape, entry) for entry in item]
            elif not shape.many:
                item = _lift_one(shape, item)
        known[key] = item
    if unknown:
        known["unknown"] = unknown
    return known


def from_builtins(cls: type[N], value: Any) -> N:
    """A node from plain JSON values.

    Raises:
        InputError: The value is not an object, or a field has the wrong type; the message has the field's path.
    """
    if not isinstance(value, dict):
        raise InputError(f"expected a JSON object for {cls.__name__}, got {type(value).__name__}")
    try:
        return msgspec.convert(_lift(cls, value), cls)
    except msgspec.ValidationError as error:
        raise InputError(f"not a valid {cls.__name__}: {error}") from error


#: Most values are one of these, and a call for each takes most of the time.
_PLAIN: Final = frozenset({str, int, float, bool, type(None)})


def to_builtins(value: Any) -> Any:
    """Plain JSON values of a node (or of a list or dict of nodes); unknown fields stand at their old place."""
    if isinstance(value, Node):
        out: dict[str, Any] = {}
        config = value.__struct_config__
        if config.tag is not None and config.tag_field is not None:
            if config.tag == "unknown" and isinstance(raw := getattr(value, "raw", None), dict):
                return raw
            out[config.tag_field] = config.tag
        for name, encoded, default in _fields(type(value)):
            item = getattr(value, name)
            if _is_default(item, default) and name not in value.ALWAYS:
                continue
            out[encoded] = item if type(item) in _PLAIN else to_builtins(item)
        out.update(value.unknown)
        return out
    if isinstance(value, list):
        return [item if type(item) in _PLAIN else to_builtins(item) for item in value]
    if isinstance(value, dict):
        return {key: item if type(item) in _PLAIN else to_builtins(item) for key, item in value.items()}
    return value


@cache
def _fields(cls: type[Node]) -> tuple[tuple[str, str, Any], ...]:
    return tuple(
        (
            field.name,
            field.encode_name,
            field.default_factory() if field.default_factory is not msgspec.NODEFAULT else field.default,
        )
        for field in msgspec.structs.fields(cls)
        if field.name != "unknown"
    )


def _is_default(item: Any, default: Any) -> bool:
    # 0 == False and 1 == True in Python: only the same type counts as the default.
    return default is not msgspec.NODEFAULT and type(item) is type(default) and bool(item == default)


def decode(cls: type[N], line: bytes | str) -> N:
    """A node from one JSON document.

    Raises:
        InputError: Not JSON, or not such a node.
    """
    try:
        value = msgspec.json.decode(line)
    except msgspec.DecodeError as error:
        raise InputError(f"not JSON: {error}") from error
    return from_builtins(cls, value)


def encode(value: Any) -> bytes:
    """A node (or plain JSON values) as one line of JSON, UTF-8, without the newline."""
    return msgspec.json.encode(to_builtins(value))
