"""Builds the states in which experiments start, from copies.

Such a state has the values that the later run found, except some values from the earlier run.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import chain, starmap
from typing import Any

from msgspec import Struct
from msgspec.structs import replace

from ipytorchseed.errors import ReplayError
from ipytorchseed.experiment import parts
from ipytorchseed.experiment.captured import CapturedState
from ipytorchseed.experiment.copier import Copier
from ipytorchseed.experiment.engine import Engine
from ipytorchseed.experiment.parts import (
    MISSING,
    Path,
    differing,
    divide,
    has_same_form,
    is_same,
    pairs,
)
from ipytorchseed.experiment.trials import Trial, merged
from ipytorchseed.ledger.records import Part
from ipytorchseed.why.value_changes import how_far


class Mixture(Struct, eq=False, dict=True):
    """Copies of the values that two runs found, combined as a trial requires.

    Attributes:
        trials: The differences that can be restored.
        engine: The engine with the copies of the later state, once ``build`` has made it.
    """

    def __post_init__(self) -> None:
        self.engine: Engine
        self.trials: list[Trial] = []
        self._found_earlier = CapturedState()
        self._groups: list[list[str]] = []
        self._stay: dict[int, Any] = {}
        self._left_out: dict[str, None] = {}

    def _begin(self, restored: CapturedState) -> None:
        """Bind names to copies of the later state, with some values of the earlier run.

        If a class differs between the runs, all copied objects get the class that the trial
        requires, whichever run they are from.

        Args:
            restored: The values of the earlier run to restore.

        Raises:
            ReplayError: A value cannot be copied.
        """
        later, back = self.engine.original | self.engine.found.names, dict[int, Any]()
        self._stay = dict[int, Any]()
        for name in merged(self.trials).values:
            now, then = later.get(name), self._found_earlier.get(name)
            if issubclass(type(now), type) and issubclass(type(then), type):
                one, other = (now, then) if name in restored.names else (then, now)
                (back if one is now else self._stay)[id(one)] = other
        self.engine.begin(back)
        self.engine.put(restored, self._stay)
        self._check_copied(self.engine.shared)

    def _check_copied(self, shared: Mapping[str, str]) -> None:
        """Unbind variables that cannot be copied: the cell may not need them.

        Args:
            shared: The reasons why objects cannot be copied, by access path.

        Raises:
            ReplayError: A suspect, or a part of a variable, cannot be copied.
        """
        suspects = merged(self.trials).values
        for path, reason in shared.items():
            if path not in self.engine.original or path in suspects:
                raise ReplayError(f"{path} cannot be copied ({reason})")
            self.engine.namespace.pop(path, None)
            self._left_out.setdefault(path)

    def parts(self, name: str, path: Path = ()) -> list[Path]:
        """Return the paths of the differing parts of a variable, or of one of its parts.

        Parts with few objects come first: an object that several parts share is found where it is
        held most directly. Empty if it cannot be divided into parts.
        """
        if not path and self._is_class(name):
            paths: list[Path] = []
            for each in self._found_earlier.others:
                (now, then), own = self._found(each.name), each.name.startswith(f"{name}.")
                if own and now is not MISSING and not is_same(now, then):
                    paths.append((each.name.removeprefix(f"{name}."),))
            return paths
        place, inner = self._place(name, path)
        now, then, _ = parts.find_part(*self._found(place), inner)
        both = divide(now, then)[1]
        keys = sorted(differing(now, then), key=lambda key: len([*pairs(*both[key], set())]))
        return [(*path, key) for key in keys]

    def are_all(self, name: str, path: Path, chosen: Sequence[Path]) -> bool:
        """Return whether restoring parts certainly restores their whole container.

        Args:
            name: The variable.
            path: The path of the container in the variable.
            chosen: The paths of the parts.
        """
        place, inner = self._place(name, path)
        if self._is_class(place):  # a class may have been mutated between the runs
            return False
        self._put_back(Trial(parts=frozenset((name, part) for part in chosen)))
        then = self._found_earlier.get(place, MISSING)
        made, then, _ = parts.find_part(self._now(place), then, inner)
        return is_same(made, then)

    def describe(self, name: str, path: Path) -> Part:
        """Return a part with its path as code and a description of its change."""
        place, inner = self._place(name, path)
        now, then, text = parts.find_part(*self._found(place), inner)
        return Part(f"{place}{text}", how_far(parts.look(then), parts.look(now)))

    def _is_class(self, name: str) -> bool:
        return issubclass(type(self._found_earlier.get(name)), type)

    def _place(self, name: str, path: Path) -> tuple[str, Path]:
        """Return the captured name that contains a part, and the remaining path.

        An attribute of a class is captured under its dotted name.
        """
        return (f"{name}.{path[0]}", path[1:]) if path and self._is_class(name) else (name, path)

    def _found(self, name: str) -> tuple[Any, Any]:
        """Return the values of a variable that the later and the earlier run found."""
        return self.engine.found.get(name, MISSING), self._found_earlier.get(name, MISSING)

    def _now(self, name: str) -> Any:
        others = {each.name: each.now().value for each in self.engine.found.others}
        return self.engine.namespace.get(name, others.get(name, MISSING))

    def _put_back(self, trial: Trial) -> None:
        """Bind names to copies of the later state, and restore the parts of a trial.

        Raises:
            ReplayError: A value cannot be copied.
        """
        own = trial.values & {*chain(*self._groups)}
        self._begin(self._part_of_earlier(replace(trial, values=trial.values - own)))
        wanted: dict[str, set[Path]] = {name: {()} for name in own}
        for name, path in starmap(self._place, trial.parts):
            wanted.setdefault(name, set()).add(path)
        if not wanted:
            return
        copier = Copier(self.engine.limit, self._stay)
        groups = [each for each in self._groups if not wanted.keys().isdisjoint(each)]
        groups += [[name] for name in wanted.keys() - {*chain(*groups)}]
        for source in (0, 1):
            seen = set[int]()
            for name in chain(*groups):
                for mine, theirs in pairs(self._now(name), self._found(name)[source], seen):
                    copier.keep(theirs, mine)
        for group in groups:
            changed = False
            for name in group:
                paths, (now, then) = wanted.get(name, set()), self._found(name)
                if changed and () not in paths:  # undo changes of parts that it shares
                    self._put(name, now, {()}, copier)
                if paths:
                    self._put(name, then, paths, copier)
                    changed = True
        self._check_copied(copier.shared)

    def _put(self, name: str, found: Any, paths: set[Path], copier: Copier) -> None:
        """Restore parts of a value in place."""
        here = self._now(name)
        made = parts.put_back(here, found, paths, lambda part: copier.named(name, part))
        if made is not here and name in self.engine.namespace:
            self.engine.namespace[name] = made
        for each in self.engine.found.others:
            if made is not here and each.name == name:
                each.put(made)

    def _part_of_earlier(self, trial: Trial) -> CapturedState:
        """Return the values that the earlier run found in the variables of a trial."""
        found, wanted = self._found_earlier, trial.values
        names = {name: found.names[name] for name in wanted if name in found.names}
        classes = {*map(id, names.values())}
        others = [e for e in found.others if e.name in wanted or id(e.owner) in classes]
        return CapturedState(names, others)

    def _separate(self, names: frozenset[str]) -> bool:
        """Return whether variables that share objects can be restored one at a time.

        If two variables share parts, these parts are restored with the smaller variable. The
        order of restoring is added to ``_groups``.
        """
        found, sizes = {name: self._found(name) for name in names}, {}
        for name, both in found.items():
            held = [*pairs(*both, set())]
            memory = [now.nbytes for now, then in held if has_same_form(now, then)]
            sizes[name] = len(held), sum(memory)
        self._groups.append(sorted(names, key=sizes.__getitem__, reverse=True))
        self._put_back(Trial(values=names))
        if not all(is_same(self._now(name), found[name][1]) for name in names):
            return False
        for name in names:
            if differing(*found[name]) or has_same_form(*found[name]):
                self._put_back(Trial(values=frozenset({name})))
                if is_same(self._now(name), found[name][0]):  # both names refer to one object
                    return False
        return True
