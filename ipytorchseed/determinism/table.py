"""The table of flags.

To add a flag, add a row to the module of its kind.
"""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress

from ipytorchseed.determinism import environment, precision, torch_flags
from ipytorchseed.determinism.flag import Flag
from ipytorchseed.determinism.interrupts import held_interrupts

FLAGS: tuple[Flag, ...] = (
    *torch_flags.ALGORITHMS,
    *torch_flags.LIBRARIES,
    *torch_flags.COMPILED,
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
    touched = []
    with held_interrupts():
        for flag in FLAGS:  # in order: setting a flag may also set flags below it
            if flag.read() == saved[flag.name]:
                continue
            touched.append(flag)
            if flag.set is not None and flag not in precision.FLAGS:  # restored together below
                with suppress(Exception):  # the last line finds flags that failed
                    flag.set(saved[flag.name])
        with suppress(Exception):  # as above
            precision.restore(saved)
        return [flag.name for flag in touched if flag.read() != saved[flag.name]]
