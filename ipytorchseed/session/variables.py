"""Fingerprints the variables that a run reads, sets, or changes indirectly."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from functools import partial
from types import FunctionType, ModuleType
from typing import Any

from msgspec import Struct
from msgspec.structs import replace

from ipytorchseed.fingerprint import Budget, Memo, fingerprint, same
from ipytorchseed.fingerprint.modules import entries
from ipytorchseed.fingerprint.native import Unseen, native
from ipytorchseed.fingerprint.packing import pack
from ipytorchseed.fingerprint.value import BELONGS, PENDING, SHAREABLE, SHARED, Fingerprint
from ipytorchseed.introspection.anatomy import dictionary_of
from ipytorchseed.introspection.values import imported, is_scalar
from ipytorchseed.reads.actions import may_set_state
from ipytorchseed.reads.dependencies import Dependencies, is_result, look_up
from ipytorchseed.reads.effects import Effects
from ipytorchseed.session.kept import LARGEST, KeptInputs, is_seen
from ipytorchseed.session.named_files import texts_of
from ipytorchseed.session.outputs import OutputWatch
from ipytorchseed.session.sources import Look, States


def find_shared(
    values: Mapping[str, object], looks: Mapping[str, Fingerprint]
) -> Iterator[tuple[str, Fingerprint]]:
    """Yield updated fingerprints of variables that share objects or memory.

    The names of the other variables are added as the part ``SHARED`` or ``BELONGS``.

    Args:
        values: The values of variables.
        looks: Their fingerprints.
    """
    owned: dict[int, list[str]] = {}
    for name, value in values.items():
        owned.setdefault(id(_owner(value)), []).append(name)
    for names in owned.values():
        alike = [name for name in names if looks[name].kind in SHAREABLE]
        for name in alike if len(alike) > 1 else ():
            inside = looks[name].parts.get(SHARED, "")
            told = " ".join(filter(None, (inside, *alike)))
            yield name, replace(looks[name], parts={**looks[name].parts, SHARED: told})
    for name in [each for each in values if looks[each].kind in _OWNERS]:
        kind, reach, find = _OWNERS[looks[name].kind]
        owners = [each for each in values if looks[each].kind == kind]
        if owners:
            held = {id(each) for each in reach(dictionary_of(values[name]))}
            own = [each for each in owners if not held.isdisjoint(map(id, find(values[each])))]
            parts = {**looks[name].parts, BELONGS: " ".join(own)}
            yield name, replace(looks[name], parts=parts)


def _moved(fields: dict[Any, Any]) -> list[object]:
    """Return the parameters that an optimizer updates."""
    groups = fields.get("param_groups")
    lists = [dict(entries(each)).get("params") for each in groups] if type(groups) is list else []
    return [each for found in lists if type(found) is list for each in found]


def _parameters(module: object) -> Iterator[object]:
    """Yield the parameters of a model and its layers."""
    queue, seen = [module], set[int]()
    while queue:
        fields = dictionary_of(layer := queue.pop())
        if id(layer) not in seen:
            seen.add(id(layer))
            yield from (each for _, each in entries(fields.get("_parameters")) if each is not None)
            queue += [each for _, each in entries(fields.get("_modules"))]


# For optimizers and schedulers: the kind of the values on which they work, a function that returns
# the objects to which they refer, and a function that returns the objects in such a value.
_OWNERS: dict[str, tuple[str, Callable[[Any], Iterable[object]], Callable[..., Any]]] = {
    "optimizer": ("module", _moved, _parameters),
    "scheduler": ("optimizer", lambda fields: [fields.get("optimizer")], lambda owner: [owner]),
}


def _owner(value: object) -> object:
    """Return the array that owns an array's memory; return other values unchanged."""
    made = imported("numpy", "ndarray")
    while type(value) is made and type(value.base) is made:  # type: ignore[attr-defined]
        value = value.base  # type: ignore[attr-defined]
    return value


class Pending(Struct):
    """The data about a run in progress, without references to user objects.

    Attributes:
        cell: The key of the cell.
        source: The text of the cell.
        execution_count: The number in ``In[...]``.
        started: The start, in seconds since 1970.
        clock: The start by ``time.perf_counter``.
        states: The states of all sources before the run.
        generators: The generators in the namespace before the run.
        settings: Flags, environment, versions and hardware.
        effects: The effects of the cell's code.
        dependencies: The dependencies of the cell.
        confined: Whether the cell can change other variables only through values that it reads, and
            these refer to no other variables.
        budget: The time budget for inspecting values.
        between: The sources that changed since the end of the last run; see ``Run``.
        outputs: The outputs so far.
        reads: The fingerprints of the values that the cell reads, before the run.
        seeds: The seeds that we applied, and how.
        overlapped: Whether another cell started during this one, in another thread.
    """

    cell: str
    source: str
    execution_count: int | None
    states: States
    generators: Mapping[str, Look]
    settings: Mapping[str, Any]
    effects: Effects
    dependencies: Dependencies
    confined: bool
    budget: Budget
    between: Mapping[str, tuple[str, str]]
    outputs: OutputWatch
    reads: dict[str, Fingerprint] = {}
    seeds: list[tuple[int, str]] = []
    overlapped: bool = False
    started: float = 0.0
    clock: float = 0.0

    def may_seed(self, name: str) -> bool:
        """Return whether the run or one of our commands may have seeded a source."""
        return bool(self.seeds) or may_set_state(self.dependencies.actions, name)


def digests_of(states: States, generators: Mapping[str, Look]) -> dict[str, str]:
    """Return the digests of sources and generators, by name."""
    return {**states.digests, **{name: look.digest for name, look in generators.items()}}


# Kinds of values that do not refer to other variables' objects, except by sharing memory.
_PLAIN = frozenset({
    "None", "bool", "bytes", "complex", "date", "datetime", "decimal", "dtype", "float", "frame",
    "index", "int", "number", "path", "range", "series", "str", "time", "timedelta",
    "torch constant",
})  # fmt: skip

# Builtins with which code can access variables that its text does not name.
_LEAD_ANYWHERE = frozenset({"__import__", "eval", "exec", "globals", "locals", "vars"})

# Prefixes of the names of dtypes whose elements are not objects.
_NUMBERS = ("int", "uint", "float", "complex", "bool", "<U", "|S", "datetime64", "timedelta64")


def is_confined(dependencies: Dependencies, patched: Collection[str]) -> bool:
    """Return whether a cell can change other variables only through values it reads.

    Args:
        dependencies: The dependencies of the cell.
        patched: Attributes of packages that earlier cells set. Any code may call them.
    """
    return (
        dependencies.complete
        and not (dependencies.sets or patched)
        and dependencies.missing.isdisjoint(_LEAD_ANYWHERE)
        and not any(map(is_result, dependencies.names))
    )


def leads_nowhere(value: Any, look: Fingerprint) -> bool:  # noqa: ANN401 -- any value
    """Return whether other variables cannot be changed through a value.

    Args:
        value: The value.
        look: The fingerprint of the value.
    """
    if not look.exact or look.opaque or "unseen" in look.parts:
        return False
    if look.kind == "array":
        return look.parts.get("dtype", "").startswith(_NUMBERS)
    if look.kind == "tensor":  # a backward pass reaches other tensors through its graph
        with Unseen():  # so that no user code runs
            return "content" in look.parts and not native().requires_grad(value)
    if type(value) is FunctionType:  # its code is followed, but not its defaults and closure
        given = [*(value.__defaults__ or ()), *(value.__kwdefaults__ or {}).values()]
        return _has_no_state(look) and all(map(is_scalar, given))
    return look.kind in _PLAIN


# Kinds of immutable values.
_UNCHANGING = frozenset(
    {"none", "bool", "int", "float", "complex", "str", "bytes", "function", "class"}
)

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
    """

    value: Fingerprint
    round: int


class Variables:
    """The fingerprints of variables, compared with the last ones.

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
        values, dependencies = dict[str, object](), pending.dependencies
        for name, place in sorted(dependencies.names.items()):
            if is_users(name) or is_result(name):
                value = values[name] = look_up(place, namespace)
                dependencies.texts.update(texts_of(value))
                look = pending.reads[name] = self.look(value, pending.budget)
                pending.confined = pending.confined and leads_nowhere(value, look)
        pending.reads.update(find_shared(values, pending.reads))
        for name, look in pending.reads.items():
            if is_seen(look):
                self._kept.add(look.digest, partial(pack, values[name], LARGEST))

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
        self.too_large = next(
            (name for name, value in seen.items() if value.sampled and not value.opaque), ""
        )
        for name, value in seen.items():
            self._known.pop(name, None)
            if value.exact and not _is_unchanging(value) and not is_result(name):
                self._known[name] = Seen(value, self._round)
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
            if value is None and budget.left <= 0:
                continue
            if value is None and name in namespace:
                value = self.look(namespace[name], budget)
            del self._known[name]
            if value is not None:
                self._known[name] = Seen(value, self._round) if value.exact else known
                last = known.round == self._round - 1
                if value.exact and last and same(known.value, value) is False:
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


def foremost(names: set[str], first: Collection[str]) -> set[str]:
    """Return at most ``MOST_NAMES`` of the names, preferring those in ``first``."""
    if len(names) <= MOST_NAMES:
        return names
    return {*sorted(names, key=lambda name: (name not in first, name))[:MOST_NAMES]}


def _is_unchanging(value: Fingerprint) -> bool:
    """Return whether a value is immutable. Some functions and classes are."""
    return value.kind in _UNCHANGING and _has_no_state(value)


def _has_no_state(function: Fingerprint) -> bool:
    return all(part == "code" or part[:2] == "d:" for part in function.parts)
