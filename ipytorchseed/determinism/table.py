"""The table of flags. Adding a flag is adding a row where its kind is listed."""

from __future__ import annotations

from contextlib import suppress
from functools import partial
from typing import TYPE_CHECKING, Final

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


def read_flags() -> Mapping[str, object]:
    """Read every flag. Nothing is started; what torch will not tell is ``Unreadable``.

    Returns:
        Values by name: the same object as at an earlier time when all was as it is now. To ask
        forty functions of torch's costs a tenth of reading the rows.
    """
    global _reader  # noqa: PLW0603 -- what is known of the process's flags is the process's
    if _reader is None or _reader.flags is not FLAGS:
        _reader = _Reader(FLAGS)
    return _reader.read()


class _Reader:
    """Reads flags, and remembers under which stamp it read them."""

    def __init__(self, flags: tuple[Flag, ...]) -> None:
        import torch

        self.flags = flags
        self._stamps = [
            _stamp_of(flag, torch._C)  # noqa: SLF001 -- there torch keeps them
            for flag in flags
            if flag not in environment.FLAGS
        ]
        self._known: dict[tuple[object, ...], Mapping[str, object]] = {}

    def read(self) -> Mapping[str, object]:
        stamp = self._stamp()
        try:
            known = self._known.get(stamp)
        except TypeError:  # a value that somebody set and that cannot be hashed
            return self._read_rows()
        if known is None:
            known = self._read_rows()
            if self._stamp() == stamp:  # no other thread came between
                if len(self._known) >= _MOST_KNOWN:
                    self._known.clear()
                self._known[stamp] = known
        return known

    def _read_rows(self) -> Mapping[str, object]:
        return {flag.name: flag.read() for flag in self.flags}

    def _stamp(self) -> tuple[object, ...]:
        """Return what is another if any flag is."""
        try:
            told = [ask() for ask in self._stamps]
        except Exception:  # noqa: BLE001 -- torch may raise anything where it will not tell one
            told = [*map(_ask, self._stamps)]
        return *environment.stamp(), *told


_MOST_KNOWN = 16
"""Stamps under which values are remembered: those outside and inside of scopes come in turns."""

_REFUSED: Final = object()
_reader: _Reader | None = None


def _stamp_of(flag: Flag, functions: object) -> Callable[[], object]:
    name, *arguments = flag.stamp or ("",)
    function = getattr(functions, name, None)
    if function is None:  # none is known, or none in this version of torch
        return flag.get
    return partial(function, *arguments) if arguments else function


def _ask(ask: Callable[[], object]) -> object:
    try:
        return ask()
    except Exception:  # noqa: BLE001 -- as above
        return _REFUSED


def restore_flags(saved: Mapping[str, object]) -> list[str]:
    """Put every flag that can be set back to values read earlier.

    An interrupt that arrives meanwhile is held until all is done.

    Args:
        saved: What ``read_flags`` returned.

    Returns:
        The names of flags that torch would not set back.
    """
    with held_interrupts():
        now = read_flags()
        touched = [flag for flag in FLAGS if _put_back(flag, now[flag.name], saved[flag.name])]
        with suppress(Exception):  # as below
            precision.restore(saved)
        return [flag.name for flag in touched if flag.read() != saved[flag.name]]


def _put_back(flag: Flag, now: object, value: object) -> bool:
    """Set a flag back, and tell whether it had been moved."""
    if flag in torch_flags.ALGORITHMS:  # the row above may have written it since
        now = flag.read()
    if now == value:
        return False
    if flag.set is not None and flag not in precision.FLAGS:  # those go back all together
        with suppress(Exception):  # it is read again at the end, and named if it is wrong
            flag.set(value)
    return True
