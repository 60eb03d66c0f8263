"""Settings as the program's options."""

from __future__ import annotations

from pathlib import Path
from typing import Any, List, Mapping

from ._errors import UsageError
from ._narrow import is_list, is_mapping


def options(settings: Mapping[str, Any]) -> List[str]:
    """Converts ``max_tokens=5`` to ``--max-tokens 5``. None is left out, True and False are flags."""
    found: List[str] = []
    for name, value in settings.items():
        option = "--" + name.replace("_", "-")
        if value is None:
            continue
        if isinstance(value, bool):
            found.append(option if value else "--no-" + option[2:])
        elif is_list(value):
            for item in value:
                found += [option, _text(name, item)]
        elif name == "logit_bias" and is_mapping(value):
            for token, bias in value.items():
                found += [option, f"{token}={bias}"]
        else:
            found += [option, _text(name, value)]
    return found


def _text(name: str, value: Any) -> str:
    if isinstance(value, (str, Path)):
        return str(value)
    if isinstance(value, (int, float)) and not isinstance(value, bool):
        return repr(value)
    raise UsageError(f"{name} can't be an option with {type(value).__name__} in it; set it in the job.")
