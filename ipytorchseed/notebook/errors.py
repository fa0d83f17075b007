"""Reports our errors, and formats the user's without running the user's code."""

from __future__ import annotations

import re
import sys
from collections.abc import Callable, Sequence
from functools import partial, update_wrapper
from types import WrapperDescriptorType
from typing import Any, TypeVar

from IPython.core.interactiveshell import ExecutionResult, InteractiveShell

from ipytorchseed.patterns import lazy_pattern
from ipytorchseed.render.text import visible

Result = TypeVar("Result")


_COLOURS = lazy_pattern(r"\x1b\[[0-9;]*m")


def shown_traceback(shell: InteractiveShell) -> list[str]:
    """Return the last traceback that the kernel showed; empty in a terminal."""
    shown: Any = getattr(shell, "_last_traceback", None)
    return shown if type(shown) is list else []


def raised(result: ExecutionResult | None) -> BaseException | None:
    """Return the error that ended a run, from parsing or from running its cell."""
    if result is None:
        return None
    error = result.error_before_exec
    return result.error_in_exec if error is None else error  # not `or`: an error may be falsy


def error_line(error: BaseException, shown: Sequence[str]) -> str:
    """Return the class of an error and the first line of its message.

    Args:
        error: The error.
        shown: The traceback that IPython showed. The message is taken from it if formatting the
            error could run user code. If it is also empty, only the class is returned.
    """
    from ipytorchseed.introspection.anatomy import find_member
    from ipytorchseed.introspection.values import is_scalar

    kind = type(error)
    name = str(type.__dict__["__name__"].__get__(kind))
    given = BaseException.args.__get__(error)  # type: ignore[attr-defined]
    is_plain = type(find_member(kind, "__str__")) is WrapperDescriptorType  # of the interpreter
    if is_plain and all(map(is_scalar, given)):
        return f"{name}: {str(error).partition(chr(10))[0]}"
    if issubclass(kind, SyntaxError) and given and type(given[0]) is str:
        return f"{name}: {given[0]}"  # given[1] is the place, which the traceback shows
    text = _COLOURS.sub("", "\n".join(shown[-1:]))
    said = re.search(rf"^(?:.*\.)?{re.escape(name)}: (.*)", text, re.MULTILINE)
    return f"{name}: {said[1] if said else ''}"


class Guard:
    """A wrapper of callbacks: our errors are reported once and stop no cell.

    Args:
        interrupted: Called when an interrupt ended a callback.

    Attributes:
        errors: The errors, by kind and place, in the order of first appearance.
    """

    def __init__(self, interrupted: Callable[[], object]) -> None:
        self.errors: dict[str, Exception] = {}
        self._interrupted = interrupted

    def __call__(self, callback: Callable[..., Result]) -> Callable[..., Result | None]:
        """Wrap ``callback`` so that its errors are caught; it then returns None."""
        return update_wrapper(partial(self.call, callback), callback)

    def call(self, callback: Callable[..., Result], *args: Any) -> Result | None:
        """Call ``callback`` and catch its errors; return None if it failed."""
        try:
            return callback(*args)
        except KeyboardInterrupt:
            self._interrupted()
        except Exception as error:  # noqa: BLE001 -- the user's cell must continue
            self._tell(callback.__name__, error)
        return None

    def _tell(self, place: str, error: Exception) -> None:
        said = visible(f"{place}: {type(error).__name__}: {error}")
        if said not in self.errors:
            sys.stderr.write(
                f"ipytorchseed: internal error; your cells are not affected ({said}).\n"
                "This is shown once. %unload_ext ipytorchseed switches the extension off.\n"
            )
        self.errors[said] = error.with_traceback(None)  # frames keep the user's objects alive
