"""One deep copy of many values: what was one object, or one memory, is one in the copy.

As ``copy.deepcopy``, with what that lacks: tensors and arrays that share memory still share it,
parameters keep their gradients and hooks, generators of random numbers are copied, and what cannot
be copied is shared and named instead of failing.
"""

from __future__ import annotations

import copy
import copyreg
import io
import itertools
import sys
import types
import weakref
from contextlib import suppress
from typing import TYPE_CHECKING, Any

from ipytorchseed.introspection.ownership import is_installed_file
from ipytorchseed.introspection.quiet import hidden_warnings
from ipytorchseed.session.memories import Memories, make_sure

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

_ATOMIC = frozenset(map(id, (
    type(None), type(Ellipsis), type(NotImplemented), int, float, bool, complex, str, bytes, range,
    slice, type, property, types.BuiltinFunctionType, types.CodeType,
    types.ModuleType, types.GetSetDescriptorType, types.MemberDescriptorType,
    types.MappingProxyType, types.WrapperDescriptorType, types.MethodWrapperType,
    types.MethodDescriptorType, types.ClassMethodDescriptorType,
)))  # fmt: skip
"""Types whose objects are shared: they do not change. By identity, since the user's classes may
have a hash and an equality of their own."""

_INTERNAL = (
    "torch._C", "torch._dynamo", "torch._functorch", "torch._inductor", "torch._library",
    "torch._ops", "torch.fx",
)  # fmt: skip
"""Modules of torch's whose objects are its machinery, such as what ``torch.compile`` made."""

_UNCHANGING = ("Array", "Buffer", "RecordBatch", "Scalar", "Schema", "Table", "Type")
"""How the names of Arrow's types end whose objects do not change."""

_OF_SCHEDULER = "_wrapped_by_lr_sched"
"""What tells the function that a scheduler puts in the place of its optimizer's ``step``."""


class Copier:
    """Copies values; each object once.

    Attributes:
        shared: What could not be copied and is shared instead: how one reaches it, and why.
        cut: Tensors whose autograd graph could not be copied: how one reaches each.
    """

    def __init__(self) -> None:
        self.shared: dict[str, str] = {}
        self.cut: list[str] = []
        self._memo: dict[int, Any] = {}
        self._kept: list[object] = []  # alive, so that no number in the memo is given again
        self._memories = Memories()
        self._path: list[str] = []

    def copy_all(self, values: Mapping[str, Any]) -> dict[str, Any]:
        """Copy values by name."""
        return {name: self.named(name, value) for name, value in values.items()}

    def named(self, name: str, value: Any) -> Any:  # noqa: ANN401
        """Copy a value that is reached by a name, or by a further step from what is copied."""
        self._path.append(name)
        try:
            return self.copy(value)
        finally:
            self._path.pop()

    def copy(self, value: Any) -> Any:  # noqa: ANN401
        """Copy a value, or return it where it cannot be copied."""
        kind = type(value)
        if id(kind) in _ATOMIC or issubclass(kind, (type, types.ModuleType)):
            return value
        known = self._memo.get(id(value), self)
        if known is not self:
            return known
        made = self._make(value, kind)
        self._keep(value, made)
        return made

    def knows(self, value: Any) -> bool:  # noqa: ANN401
        """Tell whether a value, or a parameter of it, was copied on the way to others."""
        if id(type(value)) in _ATOMIC:
            return False
        if id(value) in self._memo:
            return True
        torch: Any = sys.modules.get("torch")
        if not hasattr(torch, "nn") or not _is_module(value):
            return False
        return any(id(each) in self._memo for each in value.parameters())

    def _keep(self, value: object, made: object) -> None:
        self._memo[id(value)] = made
        self._kept.append(value)

    def _make(self, value: Any, kind: type) -> Any:  # noqa: ANN401
        special = _SPECIAL.get(id(kind)) or _of_library(kind)
        if special is None and kind.__module__.startswith(_INTERNAL) and not _is_module(value):
            return value
        if kind.__module__ == "pyarrow.lib" and kind.__name__.endswith(_UNCHANGING):
            return value
        try:
            if special is not None:
                return special(self, value)
            return self._other(value, kind)
        except Exception as error:  # noqa: BLE001 -- anybody's code; what fails is shared and named
            return self._share(value, f"{type(error).__name__}: {error}")

    def _share(self, value: Any, reason: str) -> Any:  # noqa: ANN401
        self.shared.setdefault("".join(self._path), f"{_name(type(value))}: {reason}")
        return value

    # -- containers --------------------------------------------------------------------------------

    def _list(self, value: list[Any]) -> list[Any]:
        made: list[Any] = []
        self._keep(value, made)
        for index, item in enumerate(value):
            made.append(self.named(f"[{index}]", item))
        return made

    def _tuple(self, value: tuple[Any, ...]) -> Any:  # noqa: ANN401
        items = [self.named(f"[{index}]", item) for index, item in enumerate(value)]
        known = self._memo.get(id(value))
        if known is not None:  # it holds itself, by way of a list
            return known
        same = all(one is other for one, other in zip(items, value, strict=True))
        return value if same else tuple(items)

    def _dict(self, value: dict[Any, Any]) -> dict[Any, Any]:
        made: dict[Any, Any] = {}
        self._keep(value, made)
        for key, item in list(value.items()):
            made[self.copy(key)] = self.named(f"[{key!r}]" if type(key) is str else "[…]", item)
        return made

    def _set(self, value: set[Any]) -> set[Any]:
        return {self.named("{…}", item) for item in value}

    def _frozenset(self, value: frozenset[Any]) -> frozenset[Any]:
        items = [(item, self.named("{…}", item)) for item in value]
        same = all(one is other for one, other in items)
        return value if same else frozenset(other for _, other in items)

    # -- code --------------------------------------------------------------------------------------

    def _function(self, value: types.FunctionType) -> types.FunctionType:
        """Copy a function that keeps something from call to call; others are shared."""
        if is_installed_file(value.__code__.co_filename) and not hasattr(value, _OF_SCHEDULER):
            return value
        defaults = (*(value.__defaults__ or ()), *(value.__kwdefaults__ or {}).values())
        if not (value.__closure__ or vars(value) or any(map(_changes, defaults))):
            return value
        cells = None if value.__closure__ is None else tuple(map(self.copy, value.__closure__))
        made = types.FunctionType(value.__code__, value.__globals__, value.__name__, None, cells)
        self._keep(value, made)
        made.__defaults__ = self.copy(value.__defaults__)
        made.__kwdefaults__ = self.copy(value.__kwdefaults__)
        made.__qualname__, made.__module__ = value.__qualname__, value.__module__
        made.__doc__, made.__annotations__ = value.__doc__, value.__annotations__
        vars(made).update(self._state(vars(value)))
        return made

    def _cell(self, value: types.CellType) -> types.CellType:
        made = types.CellType()
        self._keep(value, made)
        with suppress(ValueError):  # it is empty
            made.cell_contents = self.copy(value.cell_contents)
        return made

    def _method(self, value: types.MethodType) -> types.MethodType:
        return types.MethodType(self.copy(value.__func__), self.copy(value.__self__))

    def _weak(self, value: weakref.ref[Any]) -> weakref.ref[Any]:
        there = value()
        return value if there is None else weakref.ref(self.copy(there))

    def _text_file(self, value: io.StringIO) -> io.StringIO:
        made = io.StringIO(value.getvalue())
        made.seek(value.tell())
        return made

    def _byte_file(self, value: io.BytesIO) -> io.BytesIO:
        made = io.BytesIO(value.getvalue())
        made.seek(value.tell())
        return made

    def _iterator(self, value: Any) -> Any:  # noqa: ANN401 -- of itertools
        with hidden_warnings(__name__, DeprecationWarning):  # from Python 3.12 on
            return self._rebuild(value, *value.__reduce_ex__(4))

    # -- other objects -----------------------------------------------------------------------------

    def _other(self, value: Any, kind: type) -> Any:  # noqa: ANN401
        own = getattr(kind, "__deepcopy__", None)
        if own is not None:
            make_sure(value)
            return own(value, self._memo)
        if _points(value):
            return self._share(value, "its memory may be another's")
        table = copyreg.dispatch_table
        reducer = next((table[each] for each in list(table) if each is kind), None)
        reduced = reducer(value) if reducer is not None else value.__reduce_ex__(4)
        if isinstance(reduced, str):
            return value
        return self._rebuild(value, *reduced)

    def _rebuild(  # noqa: PLR0913, PLR0917 -- what `__reduce_ex__` returns
        self,
        value: Any,  # noqa: ANN401
        function: Callable[..., Any],
        arguments: tuple[Any, ...],
        state: Any = None,  # noqa: ANN401
        items: Any = None,  # noqa: ANN401
        pairs: Any = None,  # noqa: ANN401
        setter: Callable[[Any, Any], None] | None = None,
    ) -> Any:  # noqa: ANN401
        """Make an object from its parts, as ``copy`` does."""
        made = function(*[self.copy(each) for each in arguments])
        self._keep(value, made)
        if state is not None:
            state = self._state(state)
            if setter is not None:
                setter(made, state)
            elif hasattr(made, "__setstate__"):
                made.__setstate__(state)
            else:
                slots = None
                if isinstance(state, tuple) and len(state) == 2:  # noqa: PLR2004 -- dict and slots
                    state, slots = state
                if state:
                    vars(made).update(state)
                for name, each in (slots or {}).items():
                    setattr(made, name, each)
        for item in items or ():
            made.append(self.copy(item))
        for key, item in pairs or ():
            made[self.copy(key)] = self.named(f"[{key!r}]" if type(key) is str else "[…]", item)
        return made

    def _optimizer(self, value: Any) -> Any:  # noqa: ANN401 -- torch.optim.Optimizer
        """Copy also what its pickles leave out: hooks, and what a scheduler put around ``step``."""
        made = self._rebuild(value, *value.__reduce_ex__(4))
        rest = {name: each for name, each in vars(value).items() if name not in vars(made)}
        hooks = {name: each for name, each in vars(value).items() if name.endswith("_hooks")}
        vars(made).update(self._state(rest | hooks))
        return made

    def _state(self, state: Any) -> Any:  # noqa: ANN401
        if type(state) is dict:
            made = {}
            for key, item in list(state.items()):
                named = f".{key}" if type(key) is str else "[…]"
                made[self.copy(key)] = self.named(named, item)
            return made
        return self.copy(state)

    # -- torch and numpy ---------------------------------------------------------------------------

    def _tensor(self, value: Any) -> Any:  # noqa: ANN401
        made = self._memories.tensor(value)
        if made is None:  # no plain memory: sparse, quantized, on another device
            make_sure(value)
            made = value.detach().clone()
        if value.requires_grad:
            if value.grad_fn is not None:
                self.cut.append("".join(self._path))
                made = made.requires_grad_().clone()
            else:
                made = made.requires_grad_()
        return self._finish(value, made)

    def _parameter(self, value: Any) -> Any:  # noqa: ANN401
        data = self._memories.tensor(value)
        if data is None:
            make_sure(value)
            data = value.detach().clone()
        made = type(value)(data, value.requires_grad)
        return self._finish(value, made)

    def _finish(self, value: Any, made: Any) -> Any:  # noqa: ANN401
        """Give a tensor the gradient, the hooks and the attributes of another."""
        self._keep(value, made)
        if value.is_leaf and value.grad is not None:
            made.grad = self.named(".grad", value.grad)
        for name in ("_backward_hooks", "_post_accumulate_grad_hooks"):
            hooks = getattr(value, name, None)
            if hooks:
                setattr(made, name, copy.copy(hooks))
        if vars(value):
            vars(made).update(self._state(vars(value)))
        return made

    def _generator(self, value: Any) -> Any:  # noqa: ANN401 -- torch.Generator
        torch = sys.modules["torch"]
        if value is torch.default_generator:
            return value
        made = torch.Generator(device=value.device)
        made.set_state(value.get_state())
        return made

    def _array(self, value: Any) -> Any:  # noqa: ANN401 -- numpy.ndarray
        if value.dtype.hasobject:
            make_sure(value)
            made = value.copy()
            self._keep(value, made)
            for index in range(made.size):
                made.flat[index] = self.copy(made.flat[index])
            return made
        return self._memories.array(value)


def _name(kind: type) -> str:
    module = kind.__module__
    return (
        kind.__qualname__ if module in ("builtins", "__main__") else f"{module}.{kind.__qualname__}"
    )


def _points(value: Any) -> bool:  # noqa: ANN401
    """Tell whether a value lies in memory that may be gone, and copies itself from there."""
    ctypes: Any = sys.modules.get("_ctypes")
    pillow: Any = sys.modules.get("PIL.Image")
    if ctypes is not None:
        data = ctypes._SimpleCData.__mro__[1]  # noqa: SLF001 -- what all of its types extend
        if isinstance(value, data):
            return not data._b_needsfree_.__get__(value)
    return pillow is not None and isinstance(value, pillow.Image) and bool(vars(value).get("map"))


def _changes(value: object) -> bool:
    return id(type(value)) not in _ATOMIC and type(value) is not tuple


def _is_module(value: object) -> bool:
    return issubclass(type(value), sys.modules["torch"].nn.Module)


def _same(_: Copier, value: Any) -> Any:  # noqa: ANN401
    return value


_SPECIAL: dict[int, Callable[[Copier, Any], Any]] = {
    id(list): Copier._list,  # noqa: SLF001 -- this file's own, as below
    id(tuple): Copier._tuple,  # noqa: SLF001
    id(dict): Copier._dict,  # noqa: SLF001
    id(set): Copier._set,  # noqa: SLF001
    id(frozenset): Copier._frozenset,  # noqa: SLF001
    id(types.FunctionType): Copier._function,  # noqa: SLF001
    id(types.CellType): Copier._cell,  # noqa: SLF001
    id(types.MethodType): Copier._method,  # noqa: SLF001
    id(weakref.ref): Copier._weak,  # noqa: SLF001
    id(io.StringIO): Copier._text_file,  # noqa: SLF001
    id(io.BytesIO): Copier._byte_file,  # noqa: SLF001
    **{
        id(each): Copier._iterator  # noqa: SLF001
        for each in vars(itertools).values()
        if isinstance(each, type)
    },
}


def _of_library(kind: type) -> Callable[[Copier, Any], Any] | None:
    """Return how torch's and numpy's own types are copied."""
    torch: Any = sys.modules.get("torch")
    if torch is not None and hasattr(torch, "nn"):
        rows = (
            (torch.nn.Parameter, Copier._parameter),  # noqa: SLF001 -- this file's own, as below
            (torch.optim.Optimizer, Copier._optimizer),  # noqa: SLF001
            (torch.Generator, Copier._generator),  # noqa: SLF001
            ((torch.dtype, torch.device, torch.layout, torch.memory_format, torch.Size), _same),
        )
        if kind is torch.Tensor:
            return Copier._tensor  # noqa: SLF001
        for made, copies in rows:
            if issubclass(kind, made):
                return copies
    numpy: Any = sys.modules.get("numpy")
    return Copier._array if numpy is not None and kind is numpy.ndarray else None  # noqa: SLF001
