"""Captures, restores and compares the state of the process."""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping
from contextlib import ExitStack, suppress
from typing import Any

from msgspec import Struct

from ipytorchseed.determinism.libraries import keep_libraries, read_libraries
from ipytorchseed.determinism.process_settings import Undo
from ipytorchseed.determinism.table import read_flags, restore_flags
from ipytorchseed.rng.snapshot import Snapshot, restore, snapshot
from ipytorchseed.rng.torch_random import has_torch
from ipytorchseed.why.words import first_of


def working_folder() -> str:
    """Return the working folder; empty if it was removed."""
    try:
        return os.getcwd()  # noqa: PTH109 -- a string, like recorded folders
    except OSError:
        return ""


class Process(Struct):
    """The state of the whole process.

    Attributes:
        sources: The state of every source.
        flags: The value of every flag; empty without torch.
        variables: The environment variables.
        folder: The working folder; empty if it was removed.
        libraries: The settings of libraries, as JSON values.
        restore_libraries: Restores these settings, including objects that JSON cannot contain.
    """

    sources: Snapshot
    flags: Mapping[str, object]
    variables: dict[str, str]
    folder: str
    libraries: Mapping[str, Any]
    restore_libraries: Undo

    @classmethod
    def now(cls) -> Process:
        """Return the current state."""
        sources, flags = snapshot(), read_flags() if has_torch() else {}
        libraries = read_libraries(sys.modules.keys())
        return cls(sources, flags, {**os.environ}, working_folder(), libraries, keep_libraries())

    def put_back(self) -> None:
        """Restore the state. An error in one part is raised after the other parts."""
        with ExitStack() as parts:  # runs in reverse: the environment first
            parts.callback(restore, self.sources)
            if self.flags:
                parts.callback(restore_flags, self.flags)
            parts.callback(self.restore_libraries)
            parts.callback(self._enter_folder)
            parts.callback(self._set_environment)

    def moved(self) -> list[str]:
        """Return the names of sources, flags, variables and settings that differ now."""
        now = Process.now()
        pairs: tuple[tuple[Mapping[str, Any], Mapping[str, Any]], ...] = (
            (self.sources.states, now.sources.states),
            (self.variables, now.variables),
            (self.libraries, {"folder": "", **now.libraries}),
            (self.flags, now.flags),
        )
        found = [name for old, new in pairs for name in old if old[name] != new.get(name)]
        new = [name for name in now.variables if name not in self.variables]
        return ["working folder" if name == "folder" else name for name in [*found, *new]]

    def _enter_folder(self) -> None:
        with suppress(OSError):  # the folder was removed
            os.chdir(self.folder)

    def _set_environment(self) -> None:
        if dict(os.environ) != self.variables:
            for name in os.environ.keys() - self.variables.keys():
                del os.environ[name]
            os.environ.update(self.variables)


def say_restored(whole: str, stays: list[str]) -> str:
    """Return a clause that says that everything is restored, or what is not.

    Args:
        whole: The beginning of the clause: ``everything is``.
        stays: The names of what could not be restored.
    """
    return f"{whole} as before{f', except {first_of(stays, 3)}' if stays else ''}"
