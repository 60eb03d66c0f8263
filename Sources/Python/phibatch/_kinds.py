"""Columns of a JSON Schema."""

from __future__ import annotations

import datetime
from dataclasses import dataclass
from typing import Any, Callable, Mapping, Sequence, Tuple

from ._values import is_list, is_mapping

#: A kind of values that tables have a type for: ``int``, ``float``, ``bool``, ``str``, ``date``, ``datetime``,
#: ``list``, ``struct``; ``any`` stays as it is in Python, or is written as JSON.


@dataclass(frozen=True)
class Kind:
    """Type of a column's values, each of which may be missing."""

    name: str
    element: "Kind | None" = None
    members: Tuple[Tuple[str, "Kind"], ...] = ()

    def value(self, json: Any) -> Any:
        """Converts a value to Python."""
        if json is None:
            return None
        if self.name in _MADE:
            return _MADE[self.name](json)
        if self.name == "list" and self.element is not None:
            return [self.element.value(one) for one in json]
        if self.name == "struct":
            return {name: kind.value(json.get(name)) for name, kind in self.members}
        return json


ANY = Kind("any")
TEXT = Kind("str")


def _datetime(text: str) -> datetime.datetime:
    text = text.replace("t", "T").replace("z", "Z")
    if text.endswith("Z"):
        text = text[:-1] + "+00:00"
    head, dot, rest = text.partition(".")
    if dot:
        digits = len(rest) - len(rest.lstrip("0123456789"))
        # Python before 3.11 reads three or six digits of a second.
        text = head + "." + rest[:digits][:6].ljust(6, "0") + rest[digits:]
    return datetime.datetime.fromisoformat(text).astimezone(datetime.timezone.utc)


_MADE: Mapping[str, Callable[[Any], Any]] = {
    "date": datetime.date.fromisoformat, "datetime": _datetime, "float": float, "int": int,
}  # fmt: skip


def kind(schema: Any) -> Kind:
    """Returns the kind of a whole answer."""
    return _kind(schema, schema, 0)


def _kind(schema: Any, root: Any, depth: int) -> Kind:
    if not is_mapping(schema) or depth > 16:
        return ANY
    if "$ref" in schema:
        return _kind(_target(schema["$ref"], root), root, depth + 1)
    for name in ("anyOf", "oneOf"):
        if name in schema:
            parts = [_kind(part, root, depth + 1) for part in schema[name] if part != {"type": "null"}]
            return _joined(parts)
    if len(schema.get("allOf", ())) == 1:
        return _kind(schema["allOf"][0], root, depth + 1)
    if "const" in schema:
        return _of_values([schema["const"]])
    if "enum" in schema:
        return _of_values(schema["enum"])
    types = schema.get("type")
    if is_list(types):
        return _joined([_of_type(one, schema, root, depth) for one in types if one != "null"])
    return _of_type(types, schema, root, depth)


def _of_type(name: Any, schema: Mapping[str, Any], root: Any, depth: int) -> Kind:
    if name in ("integer", "number", "boolean"):
        return Kind({"integer": "int", "number": "float", "boolean": "bool"}[name])
    if name == "string":
        return Kind({"date": "date", "date-time": "datetime"}.get(schema.get("format", ""), "str"))
    if name == "array" and "prefixItems" not in schema and "items" in schema:
        return Kind("list", element=_kind(schema["items"], root, depth + 1))
    # An object with unnamed members has no fixed columns.
    if name == "object" and schema.get("properties") and not schema.get("patternProperties"):
        named = schema["properties"].items()
        return Kind("struct", members=tuple((str(key), _kind(part, root, depth + 1)) for key, part in named))
    return ANY


def _of_values(values: Sequence[Any]) -> Kind:
    found = [value for value in values if value is not None]
    for name, types in (("bool", bool), ("int", int), ("float", (int, float)), ("str", str)):
        if found and all(
            isinstance(value, types) and (name == "bool" or not isinstance(value, bool)) for value in found
        ):
            return Kind(name)
    return ANY


def _joined(kinds: Sequence[Kind]) -> Kind:
    different = set(kinds)
    if len(different) == 1:
        return kinds[0]
    if different == {Kind("int"), Kind("float")}:
        return Kind("float")
    return ANY


def _target(reference: Any, root: Any) -> Any:
    """Resolves ``#/$defs/Name``."""
    place = root
    for part in str(reference).lstrip("#").split("/")[1:]:
        if not is_mapping(place):
            return None
        place = place.get(part.replace("~1", "/").replace("~0", "~"))
    return place
