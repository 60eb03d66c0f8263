"""Values of tables as JSON, exactly."""

from __future__ import annotations

import dataclasses
import datetime
import decimal
import enum
import math
import os
import uuid
from typing import TYPE_CHECKING, Any, Dict, List, Mapping, cast

from ._errors import UsageError

if TYPE_CHECKING:
    from typing_extensions import TypeGuard


def is_mapping(value: Any) -> TypeGuard[Mapping[Any, Any]]:
    """Whether it is a mapping, as type checkers understand."""
    return isinstance(value, Mapping)


def is_list(value: Any) -> TypeGuard[List[Any]]:
    """Whether it is a list or a tuple."""
    return isinstance(value, (list, tuple))


def plain(value: Any, column: str) -> Any:
    """Converts a value to a line's JSON.

    Missing values (None, NaN, NaT, NA) become null. Decimals and integers beyond 64 bits, which JSON readers may
    round, become strings of their digits, so that templates write them exactly. Dates and times have ISO 8601's form.

    Raises:
        UsageError: for a value without such a form, such as bytes.
    """
    if value is None or isinstance(value, (str, bool)):
        # Strings of other libraries, such as numpy's, become plain ones.
        return str(value) if isinstance(value, str) else value
    if isinstance(value, enum.Enum):
        return plain(value.value, column)
    if isinstance(value, int):
        return int(value) if -(1 << 63) <= value < 1 << 63 else str(int(value))
    if isinstance(value, float):
        number = float(value)
        return number if math.isfinite(number) else None if math.isnan(number) else str(number)
    if isinstance(value, decimal.Decimal):
        return None if value.is_nan() else format(value, "f") if value.is_finite() else str(value)
    if type(value).__name__ in ("NaTType", "NAType"):
        return None
    if isinstance(value, (datetime.datetime, datetime.date, datetime.time)):
        return value.isoformat()
    if isinstance(value, (datetime.timedelta, uuid.UUID, os.PathLike)):
        return str(cast(Any, value))
    if isinstance(value, Mapping):
        members = cast("Mapping[Any, Any]", value)
        return {str(name): plain(member, column) for name, member in members.items()}
    if isinstance(value, (list, tuple)):
        return [plain(element, column) for element in cast("list[Any]", value)]
    if hasattr(value, "model_dump"):
        return plain(value.model_dump(), column)
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        return {field.name: plain(getattr(value, field.name), column) for field in dataclasses.fields(value)}
    if isinstance(value, (bytes, bytearray, memoryview)):
        raise UsageError(f'The column "{column}" holds bytes, which a line can\'t have; decode them first.')
    # Arrays and scalars of numpy and similar libraries.
    for name in ("to_list", "tolist", "as_py", "item"):
        method = getattr(value, name, None)
        if callable(method):
            return plain(method(), column)
    raise UsageError(f'The column "{column}" holds a {type(value).__name__}, which a line can\'t have.')


def fields(row: Mapping[str, Any]) -> Dict[str, Any]:
    """Converts a row to a line's fields."""
    return {str(name): plain(value, str(name)) for name, value in row.items()}
