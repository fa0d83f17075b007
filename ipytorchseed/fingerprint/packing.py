"""Packs small values into bytes, without running user code.

It uses ``pickle``, with three differences. Objects of user classes are split into their
attributes, without calling methods. Classes, functions and modules are references, not copies.
Types with their own pickling code are only packed if they are from one of a few packages.
"""

from __future__ import annotations

import io
import pickle
import sys
import types
import weakref
from collections.abc import Callable
from itertools import count
from typing import Any

from ipytorchseed.fingerprint.elements import as_array, is_borrowed, is_plain
from ipytorchseed.fingerprint.memory import owns_array, require, view
from ipytorchseed.fingerprint.native import Unseen, native
from ipytorchseed.introspection.anatomy import anatomy, find_member, full_name, module_of_class
from ipytorchseed.introspection.values import is_scalar

# The maximum number of objects inside one value. Nested objects also use C stack.
_MOST_OBJECTS = 2_000

# Packages whose pickling code is known to have no side effects.
_SAFE = frozenset(
    {"builtins", "collections", "datetime", "decimal", "fractions", "numpy", "pandas", "pyarrow"}
)


class Packed:
    """A value as bytes.

    Args:
        data: The pickled bytes.
        references: Functions that return the classes, functions and modules in the value. Classes
            are not kept alive.
    """

    def __init__(self, data: bytes, references: list[Callable[[], Any]]) -> None:
        self._data = data
        self._references = references

    def __len__(self) -> int:
        return len(self._data)

    def unpack(self) -> Any:
        """Return a copy of the value.

        Raises:
            Exception: The value cannot be created, for example because a class has changed. The
                error can have any type.
        """
        return _Unpickler(self._data, self._references).load()


def pack(value: object, most: int) -> Packed | None:
    """Pack a value.

    Args:
        value: Any value.
        most: The maximum size in bytes.

    Returns:
        The packed value, or None if it is too large or cannot be packed without running user code.
    """
    buffer = _Buffer(most)
    pickler = _Pickler(buffer, most)
    try:
        with Unseen():
            pickler.dump(value)
    except Exception:  # noqa: BLE001 -- on any error, the value is not kept
        return None
    return Packed(buffer.getvalue(), pickler.references)


class _Buffer(io.BytesIO):
    def __init__(self, most: int) -> None:
        super().__init__()
        self._most = most

    def write(self, data: Any, /) -> int:
        if self.tell() + len(data) > self._most:
            raise OverflowError
        return super().write(data)


class _Pickler(pickle.Pickler):
    def __init__(self, buffer: _Buffer, most: int) -> None:
        super().__init__(buffer, protocol=5)
        self.references: list[Callable[[], Any]] = []
        self._most = most
        self._numbers: dict[int, int] = {}
        self._objects = count(1)

    def persistent_id(self, value: object) -> int | None:
        """Return the index of the reference for a class, function or module.

        For other values, return None. Classes, functions and modules are not copied.
        """
        if next(self._objects) > _MOST_OBJECTS:
            raise OverflowError
        kind = type(value)
        if is_scalar(value):
            return None
        if not issubclass(kind, type) and id(kind) not in _REFERRED and anatomy(kind).title != _C:
            return None
        number = self._numbers.setdefault(id(value), len(self.references))
        if number == len(self.references):
            self.references.append(_reference(value))
        return number

    def reducer_override(self, value: Any) -> Any:
        """Return how to create an object from its attributes, or ``NotImplemented``.

        Raises:
            pickle.PicklingError: Pickling the object could have side effects.
        """
        kind = type(value)
        torch: Any = sys.modules.get("torch")
        if torch is not None and hasattr(torch, "nn"):
            if kind is torch.Tensor or kind is torch.nn.Parameter:
                return self._tensor(value)
            if id(kind) in {*map(id, (torch.dtype, torch.device, torch.Size))}:
                return NotImplemented
        package = module_of_class(kind).partition(".")[0]
        self._check(value, kind)
        if package in _SAFE:
            return NotImplemented
        if find_member(kind, "__new__") is not object.__new__:
            raise pickle.PicklingError
        about = anatomy(kind)
        if about.hidden or about.slots:
            raise pickle.PicklingError
        return object.__new__, (kind,), about.dictionary(value), None, None, _set_attributes

    def _check(self, value: Any, kind: type) -> None:
        """Check that the memory of an array, or of Arrow's buffers, can be copied.

        Raises:
            OverflowError: The memory is too large.
            UnreadableError: The memory was released.
        """
        numpy: Any = sys.modules.get("numpy")
        if numpy is None:
            return
        arrays = [value] if issubclass(kind, (numpy.ndarray, numpy.void)) else []
        arrow = (anatomy(kind).dictionary(value) or {}).get("_pa_array")  # in a column of pandas
        buffers = [each for chunk in getattr(arrow, "chunks", ()) for each in chunk.buffers()]
        buffers += [value] if full_name(kind) == "pyarrow.lib.Buffer" else []
        arrays += [numpy.frombuffer(each, numpy.uint8) for each in buffers if each]
        for array in map(numpy.asarray, arrays):
            if array.nbytes > self._most:
                raise OverflowError
            if array.nbytes and not owns_array(array):
                require(array)

    def _tensor(self, value: Any) -> Any:
        """Return a function and arguments that create an equal tensor.

        Raises:
            pickle.PicklingError: The tensor is not on the CPU, is too large, is not contiguous, or
                has an autograd graph, hooks or extra attributes.
            UnreadableError: The memory was released.
        """
        at = native()
        plain = is_plain(value) and at.device(value).type == "cpu" and at.is_leaf(value)
        if not plain or at.hooks(value) or at.hooks_after(value):
            raise pickle.PicklingError
        size = at.numel(value) * at.element_size(value)
        if size > self._most or not at.is_contiguous(value) or at.attributes(value):
            raise pickle.PicklingError
        if size and is_borrowed(value):
            require(as_array(value))
        data = bytes(view(at.data_ptr(value), size)) if size else b""
        about = data, at.dtype(value), tuple(at.shape(value))
        return _make_tensor, (type(value), about, at.requires_grad(value), at.grad(value))


_C = "cython_function_or_method"
_REFERRED = frozenset(map(id, (types.FunctionType, types.BuiltinFunctionType, types.ModuleType)))


def _reference(value: Any) -> Callable[[], Any]:
    """Return a function that returns a class, function or module.

    For a class that no longer exists, the returned function returns None. A function that no longer
    exists is created again.

    Raises:
        pickle.PicklingError: The value is a function with a closure, attributes or mutable
            defaults, or its module is not loaded.
    """
    if issubclass(type(value), type):
        return weakref.ref(value)
    if type(value) is not types.FunctionType:
        return lambda: value
    kept = (*(value.__defaults__ or ()), *(value.__kwdefaults__ or {}).values())
    home = sys.modules.get(value.__module__)
    simple = all(map(is_scalar, kept)) and not vars(value)
    if value.__closure__ or not simple or getattr(home, "__dict__", None) is not value.__globals__:
        raise pickle.PicklingError
    there, code, module, name = weakref.ref(value), value.__code__, value.__module__, value.__name__
    defaults, by_name = value.__defaults__, value.__kwdefaults__

    def find() -> Any:
        """Return the function, or create it again from its code."""
        found = there()
        if found is None:
            found = types.FunctionType(code, vars(sys.modules[module]), name, defaults)
            found.__kwdefaults__ = by_name
        return found

    return find


class _Unpickler(pickle.Unpickler):
    def __init__(self, data: bytes, references: list[Callable[[], Any]]) -> None:
        super().__init__(io.BytesIO(data))
        self._references = references

    def persistent_load(self, number: Any) -> Any:
        """Return the referenced class, function or module.

        Raises:
            pickle.UnpicklingError: The class no longer exists.
        """
        found = self._references[number]()
        if found is None:
            raise pickle.UnpicklingError
        return found


def _set_attributes(made: object, state: dict[Any, Any] | None) -> None:
    """Set an object's attributes without running user code."""
    held = anatomy(type(made)).dictionary(made)
    if state and held is not None:
        held.update(state)


def _make_tensor(kind: type, about: tuple[bytes, Any, tuple[int, ...]], *rest: Any) -> Any:
    torch = sys.modules["torch"]
    (data, dtype, shape), (requires_grad, grad) = about, rest
    flat = torch.frombuffer(bytearray(data), dtype=dtype) if data else torch.empty(0, dtype=dtype)
    made = flat.reshape(shape).clone()  # into aligned memory that torch owns
    made = made.requires_grad_(requires_grad) if kind is torch.Tensor else kind(made, requires_grad)
    if grad is not None:
        made.grad = grad
    return made
