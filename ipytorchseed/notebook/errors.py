"""An error of the user's as one line, without its code being run once more for it."""

from __future__ import annotations

import re
from types import WrapperDescriptorType
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Sequence

    from IPython.core.interactiveshell import InteractiveShell

_COLOURS = re.compile(r"\x1b\[[0-9;]*m")


def shown_traceback(shell: InteractiveShell) -> list[str]:
    """Return the traceback that a kernel showed last; a terminal keeps none."""
    shown: Any = getattr(shell, "_last_traceback", None)
    return shown if type(shown) is list else []


def error_line(error: BaseException, shown: Sequence[str]) -> str:
    """Return the class of an error and the first line of what it says.

    Args:
        error: The error.
        shown: What IPython showed of it, in which the class's own ``__str__`` has spoken; without
            it, such an error is told by its class alone.
    """
    kind = type(error)
    name = str(type.__dict__["__name__"].__get__(kind))
    if _tells_plainly(error):
        return f"{name}: {str(error).partition(chr(10))[0]}"
    said = ""
    for line in _COLOURS.sub("", "\n".join(shown[-1:])).splitlines():
        before, colon, rest = line.partition(": ")
        if colon and before.rpartition(".")[2] == name:
            said = rest
            break
    return f"{name}: {said}"


def _tells_plainly(error: BaseException) -> bool:
    """Tell whether an error says what it was made with, by the interpreter's own code."""
    from ipytorchseed.introspection.anatomy import mro, own
    from ipytorchseed.introspection.values import is_scalar

    tells = next(
        (own(base)["__str__"] for base in mro(type(error)) if "__str__" in own(base)), None
    )
    given = BaseException.args.__get__(error)  # type: ignore[attr-defined]
    return type(tells) is WrapperDescriptorType and all(map(is_scalar, given))
