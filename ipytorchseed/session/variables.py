"""Fingerprints the variables that a run reads, sets, or changes indirectly."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from functools import partial
from types import ModuleType
from typing import Any

from msgspec import Struct

from ipytorchseed.fingerprint import Budget, Memo, fingerprint, same
from ipytorchseed.fingerprint.packing import Packed, pack
from ipytorchseed.fingerprint.value import PENDING, Fingerprint
from ipytorchseed.reads.dependencies import is_result, look_up
from ipytorchseed.session.confinement import leads_nowhere
from ipytorchseed.session.kept import LARGEST, KeptInputs, is_seen
from ipytorchseed.session.named_files import texts_of
from ipytorchseed.session.pending import Pending
from ipytorchseed.session.sharing import Places

# Kinds of immutable values.
_UNCHANGING = frozenset({"none", "bool", "int", "float", "complex", "str", "bytes", "function"})

# The time for finding indirect changes of variables: a share of the cell's duration, and the
# minimum and maximum in seconds.
_SHARE, _LEAST, _MOST = 0.1, 0.002, 0.02

# The maximum number of variables set by one run to inspect; variables in its text are preferred.
MOST_NAMES = 5_000


class Seen(Struct, frozen=True):
    """The last inspection of a variable.

    Attributes:
        value: The exact fingerprint of the variable.
        round: The number of the last round in which the variable was inspected.
        seconds: The duration of that inspection.
    """

    value: Fingerprint
    round: int
    seconds: float


class Variables:
    """Fingerprints variables, and compares them with their last fingerprints.

    It does not keep objects alive.

    Args:
        kept: Stores small values that cells read.

    Attributes:
        too_large: A variable that the last run read or set and that was too large to be read whole;
            empty if there is none.
    """

    def __init__(self, kept: KeptInputs) -> None:
        self.too_large = ""
        self._kept = kept
        self._memo = Memo()
        self._known: dict[str, Seen] = {}
        self._left: dict[int, Fingerprint] = {}  # by id, while the end of a run is recorded
        self._round = 0

    def look(self, value: object, budget: Budget) -> Fingerprint:
        """Return the fingerprint of a value, from a sample if time is short."""
        return fingerprint(value, memo=self._memo, budget=budget)

    def read(
        self, pending: Pending, namespace: Mapping[str, Any], is_users: Callable[[str], bool]
    ) -> None:
        """Fingerprint the values that a run may read, and add them to ``pending.reads``.

        Call this before the run.

        Args:
            pending: The run.
            namespace: The user's namespace.
            is_users: Returns whether a name is a variable of the user.
        """
        places, dependencies = Places(), pending.dependencies
        for name, place in sorted(dependencies.names.items()):
            if is_users(name) or is_result(name):
                value = look_up(place, namespace)
                places.note(name, value)
                dependencies.texts.update(texts_of(value))
                look = pending.reads[name] = self.look(value, pending.budget)
                pending.confined = pending.confined and leads_nowhere(value, look)
        pending.reads.update(places.shared(pending.reads))
        for name, value in pending.reads.items():
            if is_seen(value):
                place = dependencies.names[name]
                self._kept.add(value.digest, partial(_pack, place, namespace))

    def changes(
        self, pending: Pending, namespace: Mapping[str, Any], written: set[str], seconds: float
    ) -> dict[str, Fingerprint]:
        """Return the fingerprints of variables that the run set or changed.

        Args:
            pending: The run, which has ended.
            namespace: The user's namespace.
            written: Names that the run may have set.
            seconds: The duration of the run.
        """
        self._left.clear()
        named = [name for name in sorted(written) if type(namespace.get(name)) is not ModuleType]
        places = {name: ("", name) for name in named} | pending.dependencies.sets
        looks = {name: self._at(at, namespace, pending.budget) for name, at in places.items()}
        made = {name: value for name, value in looks.items() if value is not None}
        unchanged = True
        for name, before in pending.reads.items():
            if _is_unchanging(before) or is_result(name):
                continue
            value = made.get(name) or self._at(
                pending.dependencies.names[name], namespace, pending.budget
            )
            alike = None if value is None else same(before, value)
            unchanged &= alike is True
            if value is not None and (alike is False or value.kind == PENDING):
                made[name] = value  # a value that a GPU is still computing may have changed
        # If not touched, the run can only have changed the variables that it set.
        touched = not (pending.confined and unchanged)
        if touched:
            self._round += 1
        seen = pending.reads | made
        self.too_large = next((name for name, value in seen.items() if _is_too_large(value)), "")
        for name, value in seen.items():
            self._known.pop(name, None)
            if value.exact and not _is_unchanging(value) and not is_result(name):
                self._known[name] = Seen(value, self._round, 0.0)
        if touched:
            limit = min(max(seconds * _SHARE, _LEAST), _MOST, pending.budget.left)
            made |= self._sweep(namespace, Budget(limit, reread=0))
        return made

    def result(self, value: object, budget: Budget) -> Fingerprint:
        """Return the fingerprint of a run's result. Call this right after ``changes``."""
        found = self._left.get(id(value))
        self._left.clear()
        return self.look(value, budget) if found is None else found

    def _sweep(self, namespace: Mapping[str, Any], budget: Budget) -> dict[str, Fingerprint]:
        """Return variables that the run changed indirectly, as ``opt.step()`` does.

        The variables that were inspected longest ago are inspected first. Variables that would need
        more than the time left are skipped. A change is attributed to this run only if the variable
        was also inspected after the previous run.
        """
        changed = {}
        for name, known in list(self._known.items()):
            if known.round == self._round:
                break
            value = self._left.get(id(namespace[name])) if name in namespace else None
            if value is None and (budget.spent or known.seconds > budget.left):
                continue
            used = budget.used
            if value is None and name in namespace:
                value = self.look(namespace[name], budget)
            del self._known[name]
            if value is None:
                continue
            seconds = budget.used - used
            if not value.exact:  # try again only if there is twice as much time
                self._known[name] = Seen(known.value, known.round, 2 * seconds)
                continue
            self._known[name] = Seen(value, self._round, seconds)
            if known.round == self._round - 1 and same(known.value, value) is False:
                changed[name] = value
        return changed

    def _at(
        self, place: tuple[str, str], namespace: Mapping[str, Any], budget: Budget
    ) -> Fingerprint | None:
        """Return the fingerprint of the value at a place after a run, cached by object."""
        try:
            value = look_up(place, namespace)
        except KeyError:
            return None
        found = self._left.get(id(value))
        if found is None:
            found = self.look(value, budget)
            if place[0] == "":  # the namespace keeps it alive until the run is recorded
                self._left[id(value)] = found
        return found


def _pack(place: tuple[str, str], namespace: Mapping[str, Any]) -> Packed | None:
    return pack(look_up(place, namespace), LARGEST)


def foremost(names: set[str], first: Collection[str]) -> set[str]:
    """Return at most ``MOST_NAMES`` of the names, preferring those in ``first``."""
    if len(names) <= MOST_NAMES:
        return names
    return {*sorted(names, key=lambda name: (name not in first, name))[:MOST_NAMES]}


def _is_unchanging(value: Fingerprint) -> bool:
    """Return whether a value is immutable, including functions without state."""
    kept = value.kind == "function" and any(
        part != "code" and part[:2] != "d:" for part in value.parts
    )
    return value.kind in _UNCHANGING and not kept


def _is_too_large(value: Fingerprint) -> bool:
    return value.sampled and not value.opaque
