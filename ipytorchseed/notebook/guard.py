"""Keeping our failures ours: shown once, never in the way of a cell."""

from __future__ import annotations

import sys
from functools import partial, update_wrapper
from typing import TYPE_CHECKING, Any, TypeVar

from ipytorchseed.render.text import visible

if TYPE_CHECKING:
    from collections.abc import Callable

    Result = TypeVar("Result")


class Guard:
    """Wraps callbacks so that an error of ours reaches nobody, and is told once.

    Args:
        interrupted: Called when an interrupt ended a callback.

    Attributes:
        errors: What went wrong, by kind and place, in the order of first appearance.
    """

    def __init__(self, interrupted: Callable[[], object]) -> None:
        self.errors: dict[str, Exception] = {}
        self._interrupted = interrupted

    def __call__(self, callback: Callable[..., Result]) -> Callable[..., Result | None]:
        """Return ``callback`` with its errors kept here; it returns None where it failed."""
        guarded = partial(self.call, callback)
        return update_wrapper(guarded, callback)

    def call(self, callback: Callable[..., Result], *args: Any) -> Result | None:
        """Call it, and keep its errors here; return None where it failed."""
        try:
            return callback(*args)
        except KeyboardInterrupt:
            self._interrupted()
        except Exception as error:  # noqa: BLE001 -- the user's cell goes on, whatever it was
            self._tell(callback.__name__, error)
        return None

    def _tell(self, place: str, error: Exception) -> None:
        said = visible(f"{place}: {type(error).__name__}: {error}")
        if said not in self.errors:
            sys.stderr.write(
                f"ipytorchseed: something went wrong, and your cells go on ({said}).\n"
                "This is shown once. %unload_ext ipytorchseed switches the extension off.\n"
            )
        self.errors[said] = error.with_traceback(None)  # whose frames hold the user's objects
