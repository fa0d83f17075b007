"""Reads flags, environment, versions and hardware for the record of a run."""

from __future__ import annotations

import os
import sys
from collections.abc import Collection, Mapping
from typing import Any

from ipytorchseed.determinism import environment
from ipytorchseed.determinism.flag import PLAIN, plain
from ipytorchseed.determinism.libraries import read_libraries
from ipytorchseed.determinism.machine import FACTS
from ipytorchseed.determinism.table import read_flags
from ipytorchseed.patterns import lazy_pattern
from ipytorchseed.rng.torch_random import has_torch

# Finds environment variables in a shell command.
_OF_SHELL = lazy_pattern(r"\$\{?([A-Za-z_]\w*)")

# Finds names of environment variables whose changes are not recorded: private ones and pytest's.
_PRIVATE = lazy_pattern(r"KEY|TOKEN|SECRET|PASS|CREDENTIAL|^PYTEST_")

# The environment variables that cells in this process changed, with their original values.
CHANGED: dict[str, str | None] = {}


class Settings:
    """A reader of settings, which caches versions and hardware."""

    def __init__(self) -> None:
        self._environ: dict[str, str] = {}
        self._last: dict[str, Any] = {}
        self._facts: dict[str, Any] = {}
        self._known_with: tuple[bool, ...] = ()

    def read(
        self, source: str, packages: Collection[str] = (), variables: Collection[str] = ()
    ) -> dict[str, Any]:
        """Return all settings by name, as JSON values, without importing a package.

        Environment variables that earlier cells changed are included.

        Args:
            source: The cell's text. Environment variables in it are included.
            packages: Packages that the cell uses. Their settings are included.
            variables: Other environment variables to include.

        Returns:
            The settings. If nothing has changed, this is the same object as in the last call.
        """
        self._environ = environ = dict(os.environ)
        changed = {name: environ.get(name) for name in CHANGED}
        now = {**changed, **self._read(), **read_libraries(packages)}
        asked = {*variables, *(_OF_SHELL.findall(source) if "$" in source else ())}
        if "environ" in source or "getenv" in source:
            asked |= {name for name in environ if name in source}
        now |= {name: environ[name] for name in asked & environ.keys()}
        if now != self._last:
            self._last = now
        return self._last

    def learned(self, settings: Mapping[str, Any], actions: Collection[str]) -> Mapping[str, Any]:
        """Add settings to those of a run that were unknown before the run.

        If the run imported torch, torch's version and flags are added. If it changed environment
        variables, their earlier values are added.

        Args:
            settings: The result of ``read`` before the run.
            actions: The actions of the run. If they contain "env", all environment variables are
                compared. If not, only variables that existed both before and after the run, because
                many libraries create variables when they are imported.
        """
        then = self._environ
        if actions and then != (now := dict(os.environ)):
            names = {*then, *now} if any("env" in each for each in actions) else {*then} & {*now}
            moved = {n: then.get(n) for n in names if then.get(n) != now.get(n)}
            moved = {n: was for n, was in moved.items() if n.isupper() and not _PRIVATE.search(n)}
            CHANGED.update(moved | CHANGED)
            settings = {**moved, **settings}
        before = self._facts
        facts = self.facts()
        if facts is before:
            return settings
        new = {name: fact for name, fact in facts.items() if fact != settings.get(name) is None}
        return {**self._read(), **settings, **new} if new else settings

    def facts(self) -> dict[str, Any]:
        """Return versions and hardware, without starting a device."""
        modules = sys.modules
        torch: Any = modules.get("torch")
        ready = has_torch()
        known_with = (ready, "numpy" in modules, ready and torch.cuda.is_initialized())
        if known_with != self._known_with:
            asked = [fact for fact in FACTS if ready or not fact.needs_torch]
            self._facts = {fact.name: fact.read() for fact in asked}
            self._known_with = known_with
        return self._facts

    def _read(self) -> dict[str, Any]:
        flags = read_flags() if has_torch() else environment.read()
        return self.facts() | {
            name: value if type(value) in PLAIN else plain(value) for name, value in flags.items()
        }
