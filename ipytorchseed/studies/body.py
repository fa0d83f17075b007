"""Runs code under one seed after the other, each time on copies of what it reads."""

from __future__ import annotations

import re
from collections.abc import Callable, MutableMapping
from contextlib import nullcontext
from typing import Any

from ipytorchseed.determinism.interrupts import held_interrupts
from ipytorchseed.errors import ReplayError
from ipytorchseed.experiment.imports import import_ahead, import_sources
from ipytorchseed.experiment.repeating import (
    Runner,
    is_users,
    one_line,
    reachable,
    sandbox_of,
)
from ipytorchseed.experiment.sandbox import Sandbox, named
from ipytorchseed.reads.cell import effects_of_cell
from ipytorchseed.reads.following import find_dependencies
from ipytorchseed.rng.generators import find_generators
from ipytorchseed.rng.table import hints_kept, seed_all
from ipytorchseed.studies.record import RESULT, Outcome, read_numbers

_IN_DEPENDENCIES = 1.0
"""Seconds to find what the code reads."""


class Body:
    """Code that is run repeatedly; no run leaves anything behind in the process.

    Args:
        text: The code, as Python.
        namespace: The user's.
        run: Runs the code.
        hidden: Names of the shell's own.

    Attributes:
        prepare: Called before each run, when everything is as the user left it.
        stays: What the runs left changed.
    """

    def __init__(
        self,
        text: str,
        *,
        namespace: MutableMapping[str, Any],
        run: Runner,
        hidden: frozenset[str] = frozenset(),
    ) -> None:
        self._namespace = namespace
        self._run = run
        self._hidden = hidden
        self.prepare: Callable[[], object] = lambda: None
        self.stays: list[str] = []
        import_ahead(text, str)
        effects = effects_of_cell(text, str)
        self._reached = find_dependencies(effects, namespace, hidden, seconds=_IN_DEPENDENCIES)
        import_sources({*self._reached.packages, "numpy", "torch"})  # which a seed is for as well

    @property
    def reads(self) -> list[str]:
        """The names of the namespace whose values the code may reach."""
        return reachable(self._namespace, self._reached, self._hidden)

    def run(self, seed: int) -> Outcome:
        """Run the code under a seed.

        Raises:
            ReplayError: A value that it reads cannot be copied; nothing was run.
            KeyboardInterrupt: The user interrupts it; everything is put back.
        """
        with held_interrupts(), hints_kept():  # the code may seed as well
            return self._run_under(seed)

    def _run_under(self, seed: int) -> Outcome:
        sandbox = sandbox_of(self._namespace, self._reached, self._hidden)
        self._refuse_shared(sandbox)
        sandbox.leave()
        try:
            sandbox.enter()
            self.prepare()
            alone = self._seed(seed, sandbox)
            before = read_numbers(self._users())
            shown = self._run(nullcontext())
            if shown.error is not None:
                return Outcome(seed, error=one_line(shown.error), alone=alone)
            values = read_numbers(self._users())
            made = {path for path in values if self._made(path, values[path], before)}
            result = _read_result(shown.result)
            names = {path.partition("[")[0] for path in made}
            if not any(self._namespace.get(name) is shown.result for name in names):
                values |= {path: result[path] for path in result.keys() - made}
                made |= result.keys()
            return Outcome(seed, values, frozenset(made), alone=alone, cut=(*sandbox.cut,))
        finally:
            self.stays = [*dict.fromkeys([*self.stays, *sandbox.put_back()])]

    def _refuse_shared(self, sandbox: Sandbox) -> None:
        """Refuse values that cannot be copied and that the runs would change.

        Raises:
            ReplayError: The code reads it by name. What it may only reach does not count.
        """
        for path, why in sandbox.shared.items():
            if re.split(r"[.\[]", path)[0] in self._reached.names:
                msg = f"{path} cannot be copied, and each run would change it ({why}): make it in"
                raise ReplayError(f"{msg} the code that is run")

    def _seed(self, seed: int, sandbox: Sandbox) -> tuple[str, ...]:
        """Seed all sources; return the generators that keep their states."""
        seed_all(seed)
        names = self._users()
        found = find_generators({name: names[name] for name in names if name in sandbox.names})
        return tuple(each.name for each in found)

    def _made(self, path: str, value: float, before: dict[str, float]) -> bool:
        if path.partition("[")[0] in self._reached.writes:
            return True
        return repr(before.get(path)) != repr(value)  # by their names, as no nan is equal to one

    def _users(self) -> dict[str, Any]:
        names = named(self._namespace).items()
        return {name: value for name, value in names if is_users(name, self._hidden)}


def _read_result(result: object) -> dict[str, float]:
    """Return the numbers of a result: those of a dictionary by its keys."""
    if type(result) is dict and all(type(key) is str for key in result):
        return read_numbers(result)
    return read_numbers({RESULT: result})
