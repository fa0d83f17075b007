"""The table of flags. Adding a flag is adding a row where its kind is listed."""

from __future__ import annotations

import sys
from contextlib import suppress
from functools import partial
from typing import TYPE_CHECKING, Any

from ipytorchseed.determinism import environment, precision, torch_flags
from ipytorchseed.determinism.interrupts import held_interrupts

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from ipytorchseed.determinism.flag import Flag

FLAGS: tuple[Flag, ...] = (
    *torch_flags.ALGORITHMS,
    *torch_flags.LIBRARIES,
    *environment.FLAGS,
    *torch_flags.MODES,
    *precision.FLAGS,
    *torch_flags.NUMBERS,
)


def read_flags() -> dict[str, object]:
    """Read every flag. Nothing is started; what torch will not tell is ``Unreadable``."""
    return {flag.name: flag.read() for flag in FLAGS}


def stamps() -> list[Callable[[], object]]:
    """Return a function for each of torch's rows; together they tell whether any value changed.

    They cost a tenth of what reading the rows does. As with ``Flag.get``, each may raise.
    """
    torch: Any = sys.modules["torch"]
    return [_stamp_of(flag, torch._C) for flag in FLAGS if flag not in environment.FLAGS]  # noqa: SLF001


def _stamp_of(flag: Flag, functions: object) -> Callable[[], object]:
    name, *arguments = flag.stamp or ("",)
    function = getattr(functions, name, None)
    if function is None:  # another version of torch
        return flag.get
    return partial(function, *arguments) if arguments else function


def restore_flags(saved: Mapping[str, object]) -> list[str]:
    """Put every flag that can be set back to values read earlier.

    An interrupt that arrives meanwhile is held until all is done.

    Args:
        saved: What ``read_flags`` returned.

    Returns:
        The names of flags that torch would not set back.
    """
    with held_interrupts():
        touched = [flag for flag in FLAGS if _put_back(flag, saved[flag.name])]
        with suppress(Exception):  # as below
            precision.restore(saved)
        return [flag.name for flag in touched if flag.read() != saved[flag.name]]


def _put_back(flag: Flag, value: object) -> bool:
    """Set a flag back, and tell whether it had been moved."""
    if flag.read() == value:
        return False
    if flag.set is not None and flag not in precision.FLAGS:  # those go back all together
        with suppress(Exception):  # it is read again at the end, and named if it is wrong
            flag.set(value)
    return True
