"""Follows values to the user's code that they contain or refer to."""

from __future__ import annotations

import time
import types
from abc import ABC, abstractmethod
from collections import deque
from collections.abc import Iterable, Mapping
from contextlib import suppress
from typing import Any

from msgspec import Struct

from ipytorchseed.introspection import values as introspection
from ipytorchseed.introspection.anatomy import (
    NOT_CONTENT,
    module_of_class,
    mro,
    name_of_class,
    own,
)
from ipytorchseed.introspection.ownership import is_local_module

# The maximum number of user functions, classes and objects to follow for one cell.
_MAX_OF_USER = 2_000

# The maximum number of objects of packages to search for user code.
_MAX_OF_PACKAGES = 1_000

# The maximum number of objects of packages between a name and user code. For example, a transform
# is two steps from its loader: through the dataset.
_MAX_DEPTH = 12

_TICKS_PER_CHECK = 8  # ticks between two readings of the clock, which is a system call

_GENERATORS: dict[int, str] = {
    id(types.GeneratorType): "gi_frame",
    id(types.CoroutineType): "cr_frame",
    id(types.AsyncGeneratorType): "ag_frame",
}

# Packages whose objects may be large, and contain no user code unless they are callable.
_LEAF_PACKAGES = frozenset({"matplotlib", "pandas", "numpy", "PIL"})

_LEAVES = frozenset({("torch", "Tensor"), ("torch.nn.parameter", "Parameter")})
_FUNCTION_DICTIONARY: Any = vars(types.FunctionType)["__dict__"]


class OutOfTimeError(Exception):
    """The deadline has passed."""


class _Kind(Struct, frozen=True):
    """Facts about a class.

    Attributes:
        kind: The class.
        package: The name of its package; "" for builtins and classes of the notebook.
        local: Whether it is a user class.
        based: Whether it or a base class is a user class.
        leaf: Whether its objects contain no user code.
    """

    kind: type
    package: str
    local: bool
    based: bool
    leaf: bool


class ValueFollower(ABC):
    """A follower of values: breadth-first, and objects of packages last.

    Args:
        deadline: The ``time.thread_time`` at which to stop. CPU time is used, so that a busy
            machine does not change the result.

    Attributes:
        packages: The packages of the values that were reached.
        complete: Whether all of the user's values were followed.
    """

    def __init__(self, deadline: float) -> None:
        self._deadline = deadline
        self.packages: set[str] = set()
        self.complete = True
        self._seen: dict[int, Any] = {}
        self._kinds: dict[int, _Kind] = {}
        self._queue: deque[tuple[Any, int]] = deque()
        self._of_packages: deque[tuple[Any, int]] = deque()
        self._theirs = 0
        self._ticks = 0

    def tick(self) -> None:
        """Check the deadline.

        Raises:
            OutOfTimeError: The time is up.
        """
        if self._ticks % _TICKS_PER_CHECK == 0 and time.thread_time() > self._deadline:
            raise OutOfTimeError
        self._ticks += 1

    @abstractmethod
    def run(self, code: types.CodeType, names: Mapping[str, Any]) -> None:
        """Follow code whose global names are in ``names``."""

    @abstractmethod
    def meet_class(self, made: type) -> None:
        """Record a user class."""

    def record_package(self, value: object) -> None:
        """Record the package in which a value is defined."""
        package = introspection.module_of(value).partition(".")[0]
        if package not in ("", "builtins", "__main__"):
            self.packages.add(package)

    def is_input(self, value: Any) -> bool:  # noqa: ANN401
        """Return whether a value is an input, not a function or class of a package."""
        kind = type(value)
        if issubclass(kind, type):
            return is_local_module(module_of_class(value))
        if kind is types.FunctionType:
            local = is_local_module(introspection.module_of(value)) or is_local_module(
                value.__module__
            )
            return local or any(map(self._is_users, captured(value)))
        if kind is types.MethodType or (
            kind is types.BuiltinFunctionType and value.__self__ is not None
        ):
            local = is_local_module(introspection.module_of(value))
            return local or not introspection.is_from_its_module(value)
        return kind is not types.BuiltinFunctionType and not introspection.is_function(value)

    def _is_users(self, value: Any) -> bool:  # noqa: ANN401
        if type(value) is types.FunctionType:
            return is_local_module(introspection.module_of(value))
        return self._about(value if introspection.is_class(value) else type(value)).local

    def drain(self) -> None:
        """Follow all queued values, until the deadline."""
        while self._queue or self._of_packages:
            queue = self._queue or self._of_packages
            try:
                self._value(*queue.popleft())
            except OutOfTimeError:
                self.complete &= queue is self._of_packages and not self._queue
                return

    def push(self, values: Iterable[Any], depth: int = 0) -> None:
        """Queue the values that may contain or refer to user code.

        Args:
            values: The values.
            depth: The number of steps from a name.
        """
        for value in values:
            kind = type(value)
            if id(kind) in introspection.PLAIN:
                continue
            self.tick()
            about = self._about(kind)
            if about.package:
                self.packages.add(about.package)
            if about.leaf or (kind is types.BuiltinFunctionType and not self.is_input(value)):
                continue
            users = about.based or kind is types.FunctionType or issubclass(kind, type)
            users = users or id(kind) in introspection.CONTAINERS
            (self._queue if users else self._of_packages).append((value, depth))

    def _is_new(self, value: object) -> bool:
        """Return whether to follow a value, and mark it as followed."""
        if id(value) in self._seen:
            return False
        if len(self._seen) >= 2 * (_MAX_OF_USER + _MAX_OF_PACKAGES):
            self.complete = False
            return False
        self._seen[id(value)] = value  # the reference keeps its id from being reused
        return True

    def _about(self, kind: type) -> _Kind:
        """Return the facts about a class, from a cache if possible."""
        found = self._kinds.get(id(kind))
        if found is None or found.kind is not kind:
            module = module_of_class(kind)
            package = module.partition(".")[0]
            based = any(is_local_module(module_of_class(base)) for base in mro(kind))
            leaf = not based and (
                issubclass(kind, types.ModuleType)
                or (package in _LEAF_PACKAGES and not _is_called(kind))
                or (module, name_of_class(kind)) in _LEAVES
            )
            if package in ("builtins", "__main__") or id(kind) in introspection.CONTAINERS:
                package = ""
            found = _Kind(kind, package, is_local_module(module), based, leaf)
            self._kinds[id(kind)] = found
        return found

    # -- kinds of values -----------------------------------------------------------------------

    def _value(self, value: Any, depth: int) -> None:  # noqa: ANN401
        if not self._is_new(value):
            return
        kind = type(value)
        if kind is types.FunctionType:
            self.record_package(value)
            self.run(value.__code__, value.__globals__)
            defaults = (*(value.__defaults__ or ()), *(value.__kwdefaults__ or {}).values())
            self.push((*captured(value), *defaults))
        elif issubclass(kind, type):
            self.record_package(value)
            self._class(value)
        else:
            self._object(value, depth)

    def _class(self, made: type) -> None:
        for base in mro(made):
            if self._about(base).local:
                self.meet_class(base)
                inner = [
                    part
                    for name, part in [*own(base).items()]
                    if type(name) is not str or name not in NOT_CONTENT
                ]
                self.push(inner, 1)
        if self._about(type(made)).local:
            self.push([type(made)])

    def _object(self, value: Any, depth: int) -> None:  # noqa: ANN401
        about = self._about(type(value))
        if about.based:
            self._queue.append((about.kind, 0))
        if about.local:
            depth = 0
        elif id(about.kind) not in introspection.CONTAINERS:
            self._theirs += 1
            if self._theirs > _MAX_OF_PACKAGES:
                return
        if id(about.kind) in _GENERATORS:
            frame = getattr(value, _GENERATORS[id(about.kind)])
            if frame is not None:
                self.run(frame.f_code, frame.f_globals)
        elif depth < _MAX_DEPTH:
            self.push(introspection.parts(value), depth + 1)


def _is_called(kind: type) -> bool:
    """Return whether a class has a ``__call__`` in Python, which may call user code."""
    return any(type(own(base).get("__call__")) is types.FunctionType for base in mro(kind))


def captured(function: types.FunctionType) -> list[Any]:
    """Return the values in a function's attributes and closure."""
    held = [*introspection.items(_FUNCTION_DICTIONARY.__get__(function))]
    for cell in function.__closure__ or ():
        with suppress(ValueError):  # not filled yet
            held.append(cell.cell_contents)
    return held
