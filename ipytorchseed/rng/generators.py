"""Finds the user's generator objects in a namespace, without running user code.

Attributes are read from instance dictionaries and slots, never through ``getattr``. So no property,
``__getattr__``, ``__len__``, ``__iter__`` or ``__eq__`` of the user is called.
"""

from __future__ import annotations

import random
import sys
from collections.abc import Iterator, Mapping
from itertools import chain
from types import ModuleType
from typing import Any

from msgspec import Struct
from msgspec.structs import replace

from ipytorchseed.introspection.anatomy import (
    attributes,
    find_member,
    module_of_class,
    mro,
    own,
    per_object,
)
from ipytorchseed.introspection.ownership import may_be_local
from ipytorchseed.introspection.values import is_scalar, shell_name
from ipytorchseed.rng import keras_random, numpy_random, python_random, torch_random
from ipytorchseed.rng.position import Position
from ipytorchseed.rng.seeds import check_seed, derive_seed
from ipytorchseed.rng.source import Kind, digest

# Attributes or items followed from a name: ``transform.transforms[0].affine.R`` is four.
DEPTH = 4

# The largest containers that are searched; larger ones hold data, not generators.
_FEW = 32

# Attributes and items that are followed at each depth, in the order of the namespace.
_MOST = 20_000


# The types of generators that users make.
KINDS = (
    python_random.KIND, numpy_random.LEGACY, numpy_random.KIND, torch_random.KIND,
    keras_random.KIND,
)  # fmt: skip

# The seed last derived for each generator, by name: a hint for finding its position.
_derived: dict[str, int] = {}


class FoundGenerator(Struct, frozen=True):
    """A generator object of the user.

    Attributes:
        name: The expression for it: ``g``, ``loader.generator``, ``rngs['train']``.
        kind: Its row in the table.
        object: The generator. Do not keep a reference to it.
        others: Other names of the same object.
        library: The package whose object holds it; empty if it is the user's, or the generator's
            own package.
    """

    name: str
    kind: Kind
    object: Any
    others: tuple[str, ...] = ()
    library: str = ""

    @property
    def type(self) -> str:
        """Its type as users write it, ``torch.Generator``."""
        return self.kind.type

    @property
    def described(self) -> str:
        """Its type, and the library that holds it: ``numpy.random.RandomState in optuna``."""
        return f"{self.type} in {self.library}" if self.library else self.type

    def read(self) -> bytes:
        """Return its full state."""
        return self.kind.read(self.object)

    def write(self, state: bytes) -> None:
        """Restore a state that ``read`` returned."""
        self.kind.write(self.object, state)

    @property
    def digest(self) -> str:
        """The digest of its state."""
        return digest(self.read())

    @property
    def position(self) -> Position:
        """The seed that it started with and its draws since."""
        hints = [_derived[name] for name in (self.name, *self.others) if name in _derived]
        return self.kind.locate(self.object, hints)

    def reseed(self, common: int) -> int:
        """Seed it with a seed derived from a common seed and its name; return that seed."""
        value = derive_seed(check_seed(common), self.name)
        self.kind.seed(self.object, value)
        _derived[self.name] = value
        return value


def find_generators(namespace: Mapping[str, object]) -> list[FoundGenerator]:
    """Find the generators in a namespace, up to ``DEPTH`` attributes or items deep.

    Args:
        namespace: Names and objects, such as a notebook's user namespace. The shell's names for
            cells and their results are skipped.

    Returns:
        One entry for each generator, under its shortest name, in the order of the namespace.
        Excludes the hidden generators of ``random``, ``numpy.random`` and torch's devices.
    """
    kinds: dict[int, Kind | None] = {}
    types = _types()
    hidden: set[int] = set()
    entries: dict[int, FoundGenerator] = {}
    level = [
        (name, value, "")
        for name, value in list(namespace.items())
        if type(name) is str and not shell_name(name) and not is_scalar(value)
    ]
    followed: set[int] = set()
    for depth in range(DEPTH + 1):
        below: list[tuple[str, object, str]] = []
        for name, value, holder in level:
            made = type(value)
            if id(made) not in kinds:  # keeps these alive as long as their objects
                kinds[id(made)] = _kind_of(made, types)
            kind = kinds[id(made)]
            if kind is not None:
                state = _state_holder(value, kind)
                identity = id(state)
                hidden = hidden or hidden_generators()
                if identity in hidden or state is None:  # no call of numpy's ``__init__``
                    continue
                entry = FoundGenerator(name, kind, value, (), _library(holder, kind))
                known = entries.setdefault(identity, entry)
                if name not in (known.name, *known.others):
                    entries[identity] = replace(known, others=(*known.others, name))
            elif depth < DEPTH and len(below) < _MOST and (depth == 0 or id(value) not in followed):
                followed.add(id(value))
                home = module_of_class(made)
                inner = holder if home in _CLOSED_MODULES else home
                below += [
                    (path, child, inner)
                    for path, child in _children(name, value)
                    if not is_scalar(child)
                ]
        level = below
    return list(entries.values())


# Libraries whose objects hold generators that users made: a loader's of torch.
_PASS_ON = frozenset({"numpy", "torch"})


def _library(holder: str, kind: Kind) -> str:
    """Return the package whose object holds a generator; empty if it is the user's."""
    package = holder.partition(".")[0]
    passed = package in _PASS_ON and package == kind.module.partition(".")[0]
    own = not package or passed or package in sys.stdlib_module_names
    return "" if own or may_be_local(holder) else package


def _types() -> list[tuple[type, Kind]]:
    found = []
    for kind in KINDS:
        module = sys.modules.get(kind.module)
        made = getattr(module, kind.type.rpartition(".")[2], None)
        if isinstance(made, type):
            found.append((made, kind))
    return found


def _kind_of(made: type, types: list[tuple[type, Kind]]) -> Kind | None:
    for base, kind in types:
        if issubclass(made, base):
            # SystemRandom takes each number from the operating system: it has no state.
            return None if issubclass(made, random.SystemRandom) else kind
    return None


def _state_holder(generator: object, kind: Kind) -> object:
    """Return the object that holds the state.

    Several numpy ``Generator`` can share one bit generator.
    """
    return numpy_random.engine(generator) if kind.module == "numpy.random" else generator


def is_source(generator: object, kind: Kind) -> bool:
    """Return whether a generator is the hidden one of a source, not the user's.

    Args:
        generator: A generator found in a value.
        kind: Its row in the table.
    """
    return id(_state_holder(generator, kind)) in hidden_generators()


def hidden_generators() -> set[int]:
    """Return the identities of generators that are sources."""
    found: list[object] = [python_random.hidden(), *torch_random.default_generators().values()]
    if numpy_random.MODULE in sys.modules:
        found += [numpy_random.hidden(), numpy_random.engine(numpy_random.hidden())]
    return {*map(id, found)}


# Modules whose plain objects (numbers, tensors, arrays, frames) hold no generators.
_CLOSED_MODULES = frozenset({"builtins", "torch", "numpy", "pandas", "functools"})


# Attributes of each ``torch.nn.Module`` that hold tensors and hooks.
_OF_MODULES = frozenset({
    "_parameters", "_buffers", "_non_persistent_buffers_set", "_backward_pre_hooks",
    "_backward_hooks", "_is_full_backward_hook", "_forward_hooks", "_forward_hooks_with_kwargs",
    "_forward_hooks_always_called", "_forward_pre_hooks", "_forward_pre_hooks_with_kwargs",
    "_state_dict_hooks", "_state_dict_pre_hooks", "_load_state_dict_pre_hooks",
    "_load_state_dict_post_hooks",
})  # fmt: skip


# Classes that forward attribute access to one of their attributes: ``env.action_space`` is
# ``env.env.env.action_space``.
# https://gymnasium.farama.org/api/wrappers/#gymnasium.Wrapper
_WRAPPERS = {"gymnasium.core": ("Wrapper", "env")}


def _children(name: str, value: Any) -> Iterator[tuple[str, object]]:
    inner = _unwrapped(value)
    if inner is not value:
        yield from _held(name, inner)
    yield from _held(name, value)


def _unwrapped(value: Any) -> Any:
    """Return the object inside any number of wrappers, or the value itself."""
    for module, (title, attribute) in _WRAPPERS.items():
        wrapper: Any = getattr(sys.modules.get(module), title, None)
        for _ in range(_FEW if isinstance(wrapper, type) else 0):
            if issubclass(type(value), wrapper):
                value = dict(attributes(value)).get(attribute)
    return value


def _held(name: str, value: Any) -> Iterator[tuple[str, object]]:
    kind = type(value)
    if issubclass(kind, dict):
        if dict.__len__(value) <= _FEW:
            for key, item in list(dict.items(value)):
                if type(key) in (str, int):
                    yield f"{name}[{key!r}]", item
    elif issubclass(kind, (list, tuple)):
        base: Any = list if issubclass(kind, list) else tuple
        if base.__len__(value) <= _FEW:
            for index, item in enumerate([*base.__iter__(value)]):
                yield f"{name}[{index}]", item
    if not issubclass(kind, (type, ModuleType)) and module_of_class(kind) not in _CLOSED_MODULES:
        held = [each for each in attributes(value) if each[0] not in _OF_MODULES]
        for attribute, item in [*held, *_shared(value)]:
            yield f"{name}.{_public(kind, attribute)}", item


def _shared(value: Any) -> Iterator[tuple[str, object]]:
    """Yield the generators that an object has from its class."""
    kind = type(value)
    if names := _shared_of(kind):
        held = dict(attributes(value))
        yield from ((name, find_member(kind, name)) for name in names if name not in held)


def _shared_generators(kind: type) -> tuple[str, ...]:
    """Return the names of generators that objects of a library's class share."""
    if may_be_local(module_of_class(kind)):
        return ()
    types, names = tuple(made for made, _ in _types()), dict.fromkeys(chain(*map(own, mro(kind))))
    return tuple(name for name in names if isinstance(find_member(kind, name), types))


# The same, found once for each class.
_shared_of = per_object(_shared_generators)


def _public(kind: type, attribute: str) -> str:
    """Return the property by which users reach an attribute, or the attribute.

    It is ``np_random`` for ``_np_random``. Only libraries are known to keep this convention.
    """
    public = attribute.lstrip("_")
    return public if public != attribute and public in _properties_of(kind) else attribute


def _properties(kind: type) -> frozenset[str]:
    """Return the names of the properties of a library's class."""
    if may_be_local(module_of_class(kind)):
        return frozenset()
    names = {*chain(*map(own, mro(kind)))}
    return frozenset(name for name in names if isinstance(find_member(kind, name), property))


# The same, found once for each class.
_properties_of = per_object(_properties)
