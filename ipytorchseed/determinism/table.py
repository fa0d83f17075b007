"""The table of flags.

To add a flag, add a row to the module of its kind.
"""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress

from ipytorchseed.determinism import environment, inductor_flags, precision, torch_flags
from ipytorchseed.determinism.flag import Flag
from ipytorchseed.determinism.interrupts import held_interrupts

FLAGS: tuple[Flag, ...] = (
    *torch_flags.ALGORITHMS,
    *torch_flags.LIBRARIES,
    *inductor_flags.COMPILED,
    *environment.FLAGS,
    *torch_flags.MODES,
    *precision.FLAGS,
    *torch_flags.NUMBERS,
)

BY_NAME = {flag.name: flag for flag in FLAGS}


def read_flags() -> dict[str, object]:
    """Return the value of every flag by name.

    Values that cannot be read are ``Unreadable``. No device is started.
    """
    return {flag.name: flag.read() for flag in FLAGS}


def restore_flags(saved: Mapping[str, object]) -> list[str]:
    """Restore every flag that can be set.

    An interrupt is held until everything is restored.

    Args:
        saved: The result of ``read_flags``.

    Returns:
        The names of flags that torch could not restore.
    """
    touched = {}
    with held_interrupts():
        for flag in FLAGS * 2:  # since a setter may also write the rows above and below it
            if flag.read() != saved[flag.name]:
                touched[flag.name] = flag
                if flag.set is not None:
                    with suppress(
                        Exception
                    ):  # it is read again at the end, and named if it is wrong
                        flag.set(saved[flag.name])
        return [name for name, flag in touched.items() if flag.read() != saved[name]]
