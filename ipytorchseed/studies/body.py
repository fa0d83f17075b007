"""Runs code under several seeds, each time on copies of its inputs."""

from __future__ import annotations

from collections.abc import Callable, MutableMapping
from contextlib import nullcontext
from typing import Any

from msgspec import Struct

from ipytorchseed.determinism.interrupts import held_interrupts
from ipytorchseed.errors import ReplayError
from ipytorchseed.experiment.engine import Engine, reachable
from ipytorchseed.experiment.imports import find_reached
from ipytorchseed.experiment.repeating import Runner, one_line
from ipytorchseed.rng.generators import find_generators
from ipytorchseed.rng.table import hints_kept, seed_all
from ipytorchseed.studies.record import RESULT, Outcome, read_numbers

# Packages that are always seeded, whatever the code reads.
_SOURCES = ("numpy", "torch")


class Body(Struct, eq=False, dict=True):
    """Code that is run repeatedly without side effects in the process.

    Attributes:
        text: The code, as Python.
        namespace: The user's namespace.
        play: Runs the code.
        hidden: Names in the namespace that belong to the shell.
        stays: The names of what could not be restored. The list is extended.
        prepare: Called before each run, after the inputs are restored.
    """

    text: str
    namespace: MutableMapping[str, Any]
    play: Runner
    hidden: frozenset[str]
    stays: list[str] = []
    prepare: Callable[[], object] = lambda: None

    def __post_init__(self) -> None:
        self._reached = find_reached(self.text, str, self.namespace, self.hidden, _SOURCES)

    @property
    def reads(self) -> list[str]:
        """The names of the variables that the code may use."""
        return reachable(self.namespace, self._reached, self.hidden)

    def run(self, seed: int) -> Outcome:
        """Run the code under a seed.

        Raises:
            ReplayError: A value that the code reads cannot be copied. Nothing ran.
            KeyboardInterrupt: The user interrupted the run. Everything is restored.
        """
        with held_interrupts(), hints_kept():  # the code may call our seeding functions
            engine = Engine.of_code(self.namespace, self._reached, self.hidden)
            try:
                return self._run_under(seed, engine)
            finally:
                self.stays += [name for name in engine.leave() if name not in self.stays]

    def _run_under(self, seed: int, engine: Engine) -> Outcome:
        engine.begin()
        self._refuse_shared(engine)
        self.prepare()
        seed_all(seed)
        found = find_generators({n: v for n, v in engine.users().items() if n in engine.copied})
        alone = tuple(each.name for each in found)  # these are not seeded
        before = read_numbers(engine.users())
        shown = self.play(nullcontext())
        if shown.error is not None:
            return Outcome(seed, error=one_line(shown.error), alone=alone)
        values, made = read_numbers(engine.users()), set[str]()
        for path, value in values.items():
            is_new = repr(before.get(path)) != repr(value)  # as text: nan is not equal to itself
            if is_new or path.partition("[")[0] in self._reached.writes:
                made.add(path)
        result = shown.result
        if type(result) is not dict or any(type(key) is not str for key in result):
            result = {RESULT: result}
        names = {path.partition("[")[0] for path in made}
        if not any(self.namespace.get(name) is shown.result for name in names):
            numbers = read_numbers(result)
            values |= {path: numbers[path] for path in numbers.keys() - made}
            made |= numbers.keys()
        return Outcome(seed, values, frozenset(made), alone=alone, cut=(*engine.cut,))

    def _refuse_shared(self, engine: Engine) -> None:
        """Raise an error if a value that the runs would change cannot be copied.

        Raises:
            ReplayError: The code reads such a value by name.
        """
        for path, why in engine.shared.items():
            if path.partition("[")[0].partition(".")[0] in self._reached.names:
                msg = f"{path} cannot be copied, and each run would change it ({why}): create it"
                raise ReplayError(f"{msg} in the code of the study")
