"""Type tests that type checkers understand."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, List, Mapping

if TYPE_CHECKING:
    from typing_extensions import TypeGuard


def is_mapping(value: Any) -> TypeGuard[Mapping[Any, Any]]:
    """Whether it is a mapping."""
    return isinstance(value, Mapping)


def is_list(value: Any) -> TypeGuard[List[Any]]:
    """Whether it is a list or a tuple."""
    return isinstance(value, (list, tuple))
