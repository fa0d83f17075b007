"""Finds the dependencies of a cell: values and user code that it may reach.

Functions and classes of the notebook and of local modules are followed through their global names,
closures, defaults and decorators. Code of installed packages is not followed. This module follows
code to names, ``names`` follows names to values, and ``values`` follows values to code.
"""

from __future__ import annotations

import fnmatch
import time
from collections.abc import Iterable, Mapping
from types import CodeType
from typing import Any

from ipytorchseed.introspection.ownership import is_local_module
from ipytorchseed.introspection.values import is_function, is_module, module_of
from ipytorchseed.patterns import lazy_pattern
from ipytorchseed.reads.actions import MAX_ACTIONS, imports_of, is_name, last_part
from ipytorchseed.reads.code import effects_of_code
from ipytorchseed.reads.dependencies import Dependencies
from ipytorchseed.reads.effects import Effects
from ipytorchseed.reads.entropy import QUERY_RANDOM
from ipytorchseed.reads.names import Home, NameFollower
from ipytorchseed.reads.nondeterminism import Nondeterminism
from ipytorchseed.reads.patches import Place, find_at, is_replaced
from ipytorchseed.reads.queries import seeds_database
from ipytorchseed.reads.resolution import find_imported, public_name
from ipytorchseed.reads.values import OutOfTimeError

_ENVIRONMENT = frozenset({"environ", "environb", "getenv"})

# Matches names of environment variables.
_VARIABLE = lazy_pattern(r"[A-Z][A-Z0-9_]{1,80}")

_WORD = lazy_pattern(r"[^\W\d]\w*")

# Matches formulas such as ``y ~ x + log(k)``, which may contain names of variables.
_FORMULA = lazy_pattern(r"[\w\s.()]+~\s*[\w(-]")


def find_dependencies(  # noqa: PLR0913 -- the last two by keyword
    effects: Effects,
    namespace: Mapping[str, Any],
    hidden: Iterable[str] = (),
    timed: Iterable[str] = (),
    *,
    patched: Mapping[str, Place] | None = None,
    seconds: float = 0.05,
) -> Dependencies:
    """Find the dependencies of a cell, including those of functions that it may call.

    Args:
        effects: The effects of the cell.
        namespace: The user's namespace, before the cell runs.
        hidden: Names in the namespace that belong to the shell, and are not inputs.
        timed: Names of readings of clocks, from ``Dependencies.timed`` of earlier cells.
        patched: Attributes of packages that earlier cells set, from their ``Dependencies.sets``.
        seconds: The limit for this thread's CPU time. If it is reached, the result is incomplete.
    """
    if effects.inert and not effects.reads:  # the cell depends only on its text
        return Dependencies(writes={*effects.writes})
    follower = _CodeFollower(namespace, frozenset(hidden), time.thread_time() + seconds)
    return follower.follow_cell(effects, frozenset(timed), patched or {})


class _CodeFollower(NameFollower):
    """A follower of code, which collects the dependencies of a cell.

    Args:
        namespace: The user's namespace.
        hidden: Names in the namespace that belong to the shell, and are not inputs.
        deadline: The ``time.thread_time`` at which to stop.
    """

    def __init__(
        self, namespace: Mapping[str, Any], hidden: frozenset[str], deadline: float
    ) -> None:
        super().__init__(namespace, hidden, deadline)
        self._defined: Mapping[str, Effects] = {}
        self._attributes: set[str] = set()
        self._nondeterminism = Nondeterminism(self._found)

    def follow_cell(
        self, effects: Effects, timed: frozenset[str], patched: Mapping[str, Place]
    ) -> Dependencies:
        """Return the dependencies of a cell; see ``find_dependencies``."""
        namespace = self._notebook.names
        self._defined = effects.defined
        # Record the names in the cell's own text first, in case the time runs out.
        for name in effects.reads:
            if name in namespace and not effects.stars:
                self.record_name(name, namespace[name], self._notebook)
        try:
            self._follow(effects, self._notebook)
            self.drain()
            if not self._found.complete:  # any string may be run as code
                self._read_all(_WORD.findall(" ".join(effects.texts)), self._notebook)
            self._record_patches(patched)
            self.drain()
        except OutOfTimeError:
            self.complete = False
        self._found.packages |= self.packages
        return self._conclude(effects, timed)

    def _conclude(self, effects: Effects, timed: frozenset[str]) -> Dependencies:
        """Add the results that depend on everything that was followed."""
        found, nondeterminism = self._found, self._nondeterminism
        found.complete &= self.complete
        names = self._notebook.names
        read = [names[name] for home, name in found.names.values() if not home and name in names]
        texts = *found.texts, *(each for each in read if type(each) is str)
        if not _ENVIRONMENT.isdisjoint(self._attributes):
            found.variables.update(filter(_VARIABLE.fullmatch, texts))
        for formula in filter(_FORMULA.match, [each for each in texts if "~" in each]):
            self._read_all(_WORD.findall(formula), self._notebook)
        nondeterminism.record_held(read, self._attributes)
        nondeterminism.record_readings(effects, names, timed)
        if any(map(seeds_database, texts)):
            found.nondeterministic_calls.discard(QUERY_RANDOM)
        return found

    def _record_patches(self, patched: Mapping[str, Place]) -> None:
        """Record the attributes that the user replaced in packages that the cell reaches."""
        reached = {*self._found.packages, *self.packages, "builtins"}
        for name, place in patched.items():
            if place[0].partition(".")[0] in reached and is_replaced(place):
                self._found.names.setdefault(name, place)
                self._found.replaced.add(name)
                self.push([find_at(place)])

    # -- code ------------------------------------------------------------------------------------

    def _follow(self, effects: Effects, home: Home, code: CodeType | None = None) -> None:
        """Follow the names in code.

        Args:
            effects: The effects of the code.
            home: The global namespace of the code.
            code: The code object, if the code is a function.
        """
        self._attributes |= effects.attributes
        self._record_effects(effects, home)
        self._record_actions(effects, home, code)
        own = code is not None and code.co_name == "__hash__"
        self._nondeterminism.look_up(effects, home, self.tick, hashing=own)
        stars = [find_imported(path[1:], home.package)[0] for path in effects.stars]
        for name in effects.reads:
            self.tick()
            if not home.module and name in self._defined and self._is_new(self._defined[name]):
                self._follow(self._defined[name], self._notebook)
            self.read(name, home, stars)
        for path in effects.paths:
            self.tick()
            self.read_path(path, home)
        for kind, held in effects.held:
            if kind == "pattern":
                known = [name for name in home.names if type(name) is str]
                self._read_all(fnmatch.filter(known, held), home)
            elif type(text := home.names.get(held)) is str:
                self._read_all(_WORD.findall(text), home)
            else:
                self._found.complete = False

    def _record_effects(self, effects: Effects, home: Home) -> None:
        """Record the effects that need not be followed."""
        found = self._found
        found.packages |= imports_of(effects.actions)
        found.files |= effects.files
        found.texts |= effects.texts
        found.complete &= effects.complete
        if not home.module:
            found.writes |= effects.writes
        elif home.found_again:
            found.sets |= {home.shown(name): (home.module, name) for name in effects.writes}

    def _record_actions(self, effects: Effects, home: Home, code: CodeType | None) -> None:
        """Insert the actions of code after the action that calls it."""
        ours, place = self._found.actions, len(self._found.actions)
        if code is not None:
            caller = code.co_qualname.removesuffix(".__init__").rpartition(".")[2]
            calls = (n for n, action in enumerate(ours, 1) if last_part(action) == caller)
            place = next(calls, place)
        named = (self._name_action(each, home) for each in effects.actions)
        new = [each[:MAX_ACTIONS] for each in dict.fromkeys(named) if each not in ours]
        ours[place:place] = new[: MAX_ACTIONS - len(ours)]

    @staticmethod
    def _name_action(action: str, home: Home) -> str:
        """Return an action with the import name of the function that it calls."""
        if not is_name(action) or action[:1] in (":", "."):
            return action.lstrip(":")
        root, dot, rest = action.partition(".")
        value = home.names.get(root)
        if is_module(value):
            return f"{public_name(value)}{dot}{rest}"
        made_in = module_of(value) if not dot and is_function(value) else ""
        if made_in and not is_local_module(made_in):
            return public_name(value)
        return home.shown(action) if root in home.names else action

    def run(self, code: CodeType, names: Mapping[str, Any]) -> None:
        home = self._home(names)
        if not home.module or is_local_module(home.module):
            self._follow(effects_of_code(code), home, code)

    def _read_all(self, names: Iterable[str], home: Home) -> None:
        """Follow the names that exist in a namespace."""
        for name in names:
            self.tick()
            if name in home.names:
                self.read(name, home)
        self.drain()
