"""Finds variables that share objects or memory, or refer to another variable.

For example, an optimizer refers to a model, and a scheduler to an optimizer.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any

from msgspec.structs import replace

from ipytorchseed.fingerprint.modules import entries
from ipytorchseed.fingerprint.value import BELONGS, SHAREABLE, SHARED, Fingerprint
from ipytorchseed.introspection.anatomy import dictionary_of, module_of_class, name_of_class

# The maximum number of views of views to follow.
_VIEWS = 8


class Places:
    """Groups variables by object, or for arrays by the owner of the memory."""

    def __init__(self) -> None:
        self._names: dict[int, list[str]] = {}
        self._values: dict[str, object] = {}

    def note(self, name: str, value: object) -> None:
        """Add a variable. Its value is kept alive as long as this object."""
        self._names.setdefault(id(_owner(value)), []).append(name)
        self._values[name] = value

    def shared(self, looks: Mapping[str, Fingerprint]) -> Iterator[tuple[str, Fingerprint]]:
        """Yield updated fingerprints of variables that share objects with others.

        The names of the other variables are added as the part ``SHARED`` or ``BELONGS``.
        """
        for names in self._names.values():
            alike = [name for name in names if looks[name].kind in SHAREABLE]
            for name in alike if len(alike) > 1 else ():
                inside = looks[name].parts.get(SHARED, "")
                told = " ".join(filter(None, (inside, *alike)))
                yield name, replace(looks[name], parts={**looks[name].parts, SHARED: told})
        yield from self._belonging(looks)

    def _belonging(self, looks: Mapping[str, Fingerprint]) -> Iterator[tuple[str, Fingerprint]]:
        """Yield updated fingerprints of optimizers and schedulers; see ``BELONGS``."""
        made = {name: look for name, look in looks.items() if name in self._values}
        for name in (each for each, look in made.items() if look.kind in _OWNERS):
            look = looks[name]
            owner, reach, found = _OWNERS[look.kind]
            owners = [each for each in made if made[each].kind == owner]
            if not owners:
                continue
            held = {id(each) for each in reach(dictionary_of(self._values[name]))}
            told = [
                each
                for each in owners
                if any(id(part) in held for part in found(self._values[each]))
            ]
            yield name, replace(look, parts={**look.parts, BELONGS: " ".join(told)})


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
    made = type(value)
    if (module_of_class(made), name_of_class(made)) != ("numpy", "ndarray"):
        return value
    for _ in range(_VIEWS):
        base = value.base  # type: ignore[attr-defined] # numpy's own array, no subclass
        if type(base) is not made:
            break
        value = base
    return value
