"""Finds the user's generator objects in a namespace, without running user code.

Attributes are read from ``__dict__`` and slots, never with ``getattr``. No property,
``__getattr__``, ``__len__``, ``__iter__`` or ``__eq__`` of a user's class is called.
"""

from __future__ import annotations

import random
import sys
from collections.abc import Callable, Iterator, Mapping
from types import ModuleType
from typing import Any

from msgspec import Struct
from msgspec.structs import replace

from ipytorchseed.introspection import anatomy
from ipytorchseed.introspection.anatomy import attributes, find_member, module_of_class, per_object
from ipytorchseed.introspection.ownership import is_of_library
from ipytorchseed.introspection.values import is_scalar, shell_name
from ipytorchseed.rng import library_random, numpy_random, python_random, torch_random
from ipytorchseed.rng.position import Position
from ipytorchseed.rng.seeds import LIMIT, check_seed, derive_seed
from ipytorchseed.rng.source import Kind, digest
from ipytorchseed.rng.table import seed_all

# The maximum number of attributes or items after a name: ``t.transforms[0].affine.R`` has four.
DEPTH = 4

# Larger containers are not searched: they probably contain data.
_FEW = 32

# The maximum number of attributes and items to follow at each depth, in namespace order.
_MOST = 20_000


# The types of generators that users create.
KINDS = (
    python_random.KIND, numpy_random.LEGACY, numpy_random.KIND, torch_random.KIND,
    library_random.KERAS,
)  # fmt: skip

# The last seed derived for each generator, by name: a hint for finding its position.
_derived: dict[str, int] = {}


class FoundGenerator(Struct, frozen=True):
    """A generator object of the user.

    Attributes:
        name: The expression for the generator: ``g``, ``loader.generator``, ``rngs['train']``.
        kind: The row of the generator's type in ``KINDS``.
        object: The generator. Do not keep a reference to it.
        others: Other names of the same object.
        library: The package whose object contains the generator. Empty if an object of the user, or
            of the package that defines the generator's type, contains it.
    """

    name: str
    kind: Kind
    object: Any
    others: tuple[str, ...] = ()
    library: str = ""

    @property
    def type(self) -> str:
        """The type of the generator as users write it, such as ``torch.Generator``."""
        return self.kind.type

    @property
    def described(self) -> str:
        """The type, with the library if any: ``numpy.random.RandomState in optuna``."""
        return f"{self.type} in {self.library}" if self.library else self.type

    def read(self) -> bytes:
        """Return the full state of the generator."""
        return self.kind.read(self.object)

    def write(self, state: bytes) -> None:
        """Restore a state that ``read`` returned."""
        self.kind.write(self.object, state)

    @property
    def digest(self) -> str:
        """The digest of the generator's state."""
        return digest(self.read())

    @property
    def position(self) -> Position:
        """The seed of the generator and the draws since."""
        hints = [_derived[name] for name in (self.name, *self.others) if name in _derived]
        return self.kind.locate(self.object, hints)

    def reseed(self, common: int) -> int:
        """Seed the generator from a common seed and its name; return the derived seed."""
        value = derive_seed(check_seed(common), self.name)
        self.kind.seed(self.object, value)
        _derived[self.name] = value
        return value


def find_generators(namespace: Mapping[str, object]) -> list[FoundGenerator]:
    """Find the generators in a namespace, up to ``DEPTH`` attributes or items deep.

    Args:
        namespace: Names and objects, such as a notebook's user namespace. Names that the shell
            assigns to cells and their results are skipped.

    Returns:
        One entry for each generator, under its shortest name, in namespace order. The hidden
        generators of ``random``, ``numpy.random`` and torch's devices are not included.
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
            if id(made) not in kinds:
                kinds[id(made)] = _kind_of(made, types)
            kind = kinds[id(made)]
            if kind is not None:
                state = _state_holder(value, kind)
                hidden = hidden or hidden_generators()
                if id(state) in hidden or state is None:  # None: `__init__` was not called
                    continue
                entry = FoundGenerator(name, kind, value, (), _library(holder, kind))
                known = entries.setdefault(id(state), entry)
                if name not in (known.name, *known.others):
                    entries[id(state)] = replace(known, others=(*known.others, name))
            elif depth < DEPTH and len(below) < _MOST and (depth == 0 or id(value) not in followed):
                followed.add(id(value))
                home = module_of_class(made)
                inner = holder if home in _CLOSED_MODULES else home
                children = _children(name, value)
                below += [(path, it, inner) for path, it in children if not is_scalar(it)]
        level = below
    return list(entries.values())


def seed_worker(worker_id: int) -> None:  # noqa: ARG001 -- torch calls it with the worker's number
    """Seed all random sources and generators in a worker of a ``DataLoader``.

    Pass this function as ``worker_init_fn``. torch already seeds Python, numpy and itself
    differently in each worker. This function also seeds registered sources and the generator
    objects in the dataset. Each worker has a copy of these generators, and would otherwise draw the
    same numbers from it. Their seeds are derived from the worker's seed.

    Args:
        worker_id: The number of the worker, from 0.

    Example:
        >>> loader = DataLoader(dataset, num_workers=2, worker_init_fn=its.seed_worker)
    """
    import torch
    from torch.utils.data import get_worker_info

    common = torch.initial_seed() % LIMIT
    seed_all(common)
    info = get_worker_info()
    if info is not None:
        for found in find_generators({"dataset": info.dataset}):
            found.reseed(common)


# Libraries whose objects contain generators that users created, such as a loader's.
_PASS_ON = frozenset({"numpy", "torch"})


def _library(holder: str, kind: Kind) -> str:
    """Return ``FoundGenerator.library``.

    Args:
        holder: The module of the class of the object that contains the generator.
        kind: The row of the generator's type.
    """
    package = holder.partition(".")[0]
    passed = package in _PASS_ON and package == kind.module.partition(".")[0]
    foreign = is_of_library(holder) and package not in sys.stdlib_module_names
    return package if foreign and not passed else ""


def _types() -> list[tuple[type, Kind]]:
    made = [
        (getattr(sys.modules.get(kind.module), kind.type.rpartition(".")[2], None), kind)
        for kind in KINDS
    ]
    return [(each, kind) for each, kind in made if isinstance(each, type)]


def _kind_of(made: type, types: list[tuple[type, Kind]]) -> Kind | None:
    if issubclass(made, random.SystemRandom):
        return None  # it has no state: each number is from the operating system
    return next((kind for base, kind in types if issubclass(made, base)), None)


def _state_holder(generator: object, kind: Kind) -> object:
    """Return the object that contains the state, which several generators may share.

    For numpy, this is the bit generator.
    """
    return numpy_random.engine(generator) if kind.module == "numpy.random" else generator


def is_source(generator: object, kind: Kind) -> bool:
    """Return whether a generator is the hidden generator of a source.

    Args:
        generator: The generator.
        kind: The row of the generator's type in ``KINDS``.
    """
    return id(_state_holder(generator, kind)) in hidden_generators()


def hidden_generators() -> set[int]:
    """Return the ``id`` of each generator that is a source."""
    found: list[object] = [python_random.hidden(), *torch_random.default_generators().values()]
    if numpy_random.MODULE in sys.modules:
        found += [numpy_random.hidden(), numpy_random.engine(numpy_random.hidden())]
    return {*map(id, found)}


# Modules whose own objects, such as numbers, tensors, arrays and frames, contain no generators.
_CLOSED_MODULES = frozenset({"builtins", "torch", "numpy", "pandas", "functools"})


# Attributes of each ``torch.nn.Module`` that hold tensors and hooks.
_OF_MODULES = frozenset({
    "_parameters", "_buffers", "_non_persistent_buffers_set", "_backward_pre_hooks",
    "_backward_hooks", "_is_full_backward_hook", "_forward_hooks", "_forward_hooks_with_kwargs",
    "_forward_hooks_always_called", "_forward_pre_hooks", "_forward_pre_hooks_with_kwargs",
    "_state_dict_hooks", "_state_dict_pre_hooks", "_load_state_dict_pre_hooks",
    "_load_state_dict_post_hooks",
})  # fmt: skip


def _children(name: str, value: Any) -> Iterator[tuple[str, object]]:
    inner = _unwrapped(value)
    if inner is not value:
        yield from _held(name, inner)
    yield from _held(name, value)


def _unwrapped(value: Any) -> Any:
    """Return the object inside gymnasium's wrappers, or the value itself.

    Wrappers forward attribute access: ``env.action_space`` may mean ``env.env.env.action_space``.
    https://gymnasium.farama.org/api/wrappers/#gymnasium.Wrapper
    """
    wrapper: Any = getattr(sys.modules.get("gymnasium.core"), "Wrapper", ())
    for _ in range(_FEW):
        if not issubclass(type(value), wrapper):
            break
        value = dict(attributes(value)).get("env")
    return value


def _held(name: str, value: Any) -> Iterator[tuple[str, object]]:
    kind = type(value)
    if issubclass(kind, (type, ModuleType)):
        return
    items: list[tuple[Any, Any]] = []
    base: Any = next((each for each in (dict, list, tuple) if issubclass(kind, each)), None)
    if base is not None and base.__len__(value) <= _FEW:
        items = [*dict.items(value)] if base is dict else [*enumerate(base.__iter__(value))]
    yield from ((f"{name}[{key!r}]", item) for key, item in items if type(key) in (str, int))
    if module_of_class(kind) not in _CLOSED_MODULES:
        held = [each for each in attributes(value) if each[0] not in _OF_MODULES]
        for attribute, item in [*held, *_shared(value)]:
            yield f"{name}.{_public(kind, attribute)}", item


def _shared(value: Any) -> Iterator[tuple[str, object]]:
    """Yield the generators that are attributes of an object's class."""
    kind = type(value)
    if names := _shared_of(kind):
        held = dict(attributes(value))
        yield from ((name, find_member(kind, name)) for name in names if name not in held)


def _members(kind: type, types: tuple[type, ...]) -> tuple[str, ...]:
    """Return the names of the members of a library's class that have one of the types."""
    if not is_of_library(module_of_class(kind)):
        return ()
    members = dict[str, Any]()
    for base in reversed(anatomy.mro(kind)):
        members |= anatomy.own(base)
    return tuple(name for name, member in members.items() if isinstance(member, types))


_Names = Callable[[type], tuple[str, ...]]

# The generators and the properties of a library's class, cached for each class.
_shared_of: _Names = per_object(lambda kind: _members(kind, tuple(made for made, _ in _types())))
_properties_of: _Names = per_object(lambda kind: _members(kind, (property,)))


def _public(kind: type, attribute: str) -> str:
    """Return the public property for a private attribute, or else the attribute.

    For example, return ``np_random`` for ``_np_random``. This is only done for classes of
    libraries: in a user's class, the property may be something else.
    """
    public = attribute.lstrip("_")
    return public if public != attribute and public in _properties_of(kind) else attribute
