"""Copies an object part by part, each part once."""

from __future__ import annotations

import copyreg
import sys
import types
from collections.abc import Callable, Iterable, Mapping
from typing import Any

from ipytorchseed.errors import in_brief
from ipytorchseed.experiment.copying import ATOMIC, Copying, copier_for
from ipytorchseed.experiment.memories import Memories, make_sure
from ipytorchseed.fingerprint.memory import is_borrowed_image
from ipytorchseed.introspection.anatomy import (
    find_member,
    full_name,
    module_of_class,
    name_of_class,
)
from ipytorchseed.introspection.quiet import hidden_warnings
from ipytorchseed.rng.generators import hidden_generators
from ipytorchseed.rng.table import holders

# Internal modules of torch, such as for the results of ``torch.compile``.
_INTERNAL = (
    "torch._C", "torch._dynamo", "torch._functorch", "torch._inductor", "torch._library",
    "torch._ops", "torch.fx",
)  # fmt: skip

# The endings of names of immutable Arrow types.
_UNCHANGING = ("Array", "Buffer", "RecordBatch", "Scalar", "Schema", "Table", "Type")

# Steps of an access path that are shown; after them, only the last one.
_STEPS = 20


class Copier:
    """Deep copies of many values at once: shared objects and memory stay shared.

    Like ``copy.deepcopy``, with additions: tensors and arrays that share memory still share it,
    parameters keep their gradients and hooks, and what cannot be copied is shared and named
    instead of raising.

    Parts are copied from a stack in this class, not recursively: a linked list of any length
    works, whatever the user's recursion limit, and C's stack does not grow.

    Args:
        limit: The most bytes of tensors and arrays to copy; None for any.
        instead: By the identity of a class, the class that replaces it in copies.

    Attributes:
        shared: What could not be copied and is shared instead: access path and reason.
        cut: Access paths of tensors whose autograd graph could not be copied.
        joined: Pairs of names whose values share an object or memory that was copied.
        memories: The memory of tensors and arrays, copied once each.
    """

    def __init__(self, limit: int | None = None, instead: Mapping[int, type] | None = None) -> None:
        self._instead = instead or {}
        self.shared: dict[str, str] = {}
        self.cut: list[str] = []
        self.joined: set[tuple[str, str]] = set()
        self.memories = Memories(limit, self._join)
        self._name = ""
        self._reached_from: dict[int, str] = {}
        self._memo: dict[int, Any] = {}
        self._kept: list[object] = []  # kept alive, so that no id in the memo is reused
        self._sources = hidden_generators()
        self._open: list[tuple[str, Any, Copying]] = []

    def copy_all(self, values: Mapping[str, Any]) -> dict[str, Any]:
        """Copy values by name."""
        return {name: self.named(name, value) for name, value in values.items()}

    def named(self, name: str, value: Any) -> Any:
        """Copy the value of a name, or return it if it cannot be copied."""
        with hidden_warnings(__name__, DeprecationWarning):  # of itertools, from Python 3.12 on
            return self._copy(name, value)

    def _copy(self, name: str, value: Any) -> Any:
        self._name = name
        made = self._enter(name, value)
        while self._open:
            _, value, copying = self._open[-1]
            known = len(self.shared)
            try:
                part = copying.send(made)
            except StopIteration as end:
                made = end.value
            except Exception as error:  # noqa: BLE001 -- anybody's code; what fails is shared and named
                made = self.share(value, in_brief(error))
            else:
                made = self._enter(*part)
                continue
            if len(self.shared) > known:
                value = made = self._leave_whole(value)
            self._open.pop()
            self.keep(value, made)
        return made

    def _leave_whole(self, part: Any) -> Any:
        """Return a shared part, or the object around it that would free it too."""
        owners = [
            place
            for place, (_, value, _) in enumerate(self._open[:-1])
            if find_member(type(value), "__del__") is not None
        ]
        if not owners:
            return part
        owner = self._open[owners[-1]][1]
        del self._open[owners[-1] + 1 :]
        start = next((n for n, each in enumerate(self._kept) if each is owner), len(self._kept))
        for each in self._kept[start:]:  # their copies refer to the unfinished one
            self._memo.pop(id(each), None)
        return owner

    def _enter(self, step: str, value: Any) -> Any:
        """Return the copy of a value, or None after pushing its maker on the stack."""
        kind = type(value)
        if id(kind) in ATOMIC or issubclass(kind, (type, types.ModuleType)):
            return self._instead.get(id(value), value)
        if id(value) in holders or id(value) in self._sources:  # whose state is restored with those
            return value
        known = self.known(value)
        if known is not None:
            return known
        special = copier_for(kind)
        if special is None and _is_shared(value, kind):
            self.keep(value, value)
            return value
        copying = self._by_class(value, kind) if special is None else special(self, value)
        self._open.append((step, value, copying))
        return None

    def knows(self, value: Any) -> bool:
        """Return whether a value, or a parameter of it, was copied as part of others."""
        if id(type(value)) in ATOMIC:
            return False
        if id(value) in self._memo:
            return True
        torch: Any = sys.modules.get("torch")
        if not hasattr(torch, "nn") or not _is_module(value):
            return False
        return any(id(each) in self._memo for each in value.parameters())

    def known(self, value: object) -> Any:
        """Return the copy of a value, or None if there is none yet."""
        made = self._memo.get(id(value))
        if made is not None and made is not value:
            self._join(value)
        return made

    def keep(self, value: object, made: object) -> None:
        """Register the copy of a value before its parts are copied, which may refer to it."""
        self._memo[id(value)] = made
        self._kept.append(value)
        if made is not value:
            self._join(value)

    def _join(self, part: object) -> None:
        """Record that the current name reaches an object or memory, maybe as another did."""
        first = self._reached_from.setdefault(id(part), self._name)
        if first != self._name:
            self.joined.add((first, self._name))

    def path(self) -> str:
        """Return the access path of the current object, shortened in the middle."""
        steps = [step for step, _, _ in self._open]
        return "".join(steps if len(steps) <= _STEPS else [*steps[:_STEPS], " … ", steps[-1]])

    def depth(self, kind: type) -> int:
        """Return how many objects of a type are being copied, one inside the other."""
        return sum(type(value) is kind for _, value, _ in self._open)

    def share(self, value: Any, reason: str) -> Any:
        """Return the value itself, and record why it is not copied."""
        self.shared.setdefault(self.path(), f"{_name(type(value))}: {reason}")
        return value

    def _by_class(self, value: Any, kind: type) -> Copying:
        own = getattr(kind, "__deepcopy__", None)
        if own is not None:
            make_sure(value)
            return own(value, self._memo)
        if _copies_foreign_memory(value):
            return self.share(value, "its memory may be another's")
        table = copyreg.dispatch_table
        reducer = next((table[each] for each in list(table) if each is kind), None)
        return (yield from self.reduced(value, reducer))

    def reduced(self, value: Any, reducer: Callable[[Any], Any] | None = None) -> Copying:
        """Copy an object as it is pickled."""
        parts = value.__reduce_ex__(4) if reducer is None else reducer(value)
        return value if isinstance(parts, str) else (yield from self.rebuild(value, *parts))

    def rebuild(  # noqa: PLR0913, PLR0917 -- what `__reduce_ex__` returns
        self,
        value: Any,
        function: Callable[..., Any],
        arguments: tuple[Any, ...],
        state: Any = None,
        items: Any = None,
        pairs: Any = None,
        setter: Callable[[Any, Any], None] | None = None,
    ) -> Copying:
        """Create an object from its parts, as ``copy`` does.

        Args:
            value: The original.
            function: This and all that follows are what ``__reduce_ex__`` returns.
            arguments: For the function.
            state: The state of the object.
            items: The items to append.
            pairs: The items to set by key.
            setter: The function that sets its state, if it does not do so itself.
        """
        made = function(*(yield from self.parts(arguments, "")))
        self.keep(value, made)
        if state is not None:
            state = yield from self.state(state)
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
        yield from self.parts(items or (), made=made)
        yield from self.fill(made, [*(pairs or ())])
        return made

    def parts(self, values: Iterable[Any], step: str = "[{}]", made: Any = None) -> Copying:
        """Append copies of values to a list; ``step`` names a value by its index."""
        made = [] if made is None else made
        for index, each in enumerate(values):
            is_atomic = id(type(each)) in ATOMIC and id(each) not in self._instead
            made.append(each if is_atomic else (yield step.format(index), each))
        return made

    @staticmethod
    def fill(made: Any, pairs: Iterable[tuple[Any, Any]], step: str = "[{!r}]") -> Copying:
        """Fill a container with copies of pairs; ``step`` names an item by its key."""
        for key, item in pairs:
            place = key if type(key) is str else (yield "", key)
            if id(type(item)) in ATOMIC:
                made[place] = item
            else:
                made[place] = yield step.format(key) if type(key) is str else "[…]", item
        return made

    def state(self, state: Any) -> Copying:
        """Copy the state of an object: mostly its attributes."""
        if type(state) is not dict:
            return (yield "", state)
        return (yield from self.fill({}, [*state.items()], ".{}"))


def _is_shared(value: object, kind: type) -> bool:
    """Return whether a value is internal to torch, or immutable and not picklable."""
    home, name = module_of_class(kind), name_of_class(kind)
    if home == "pyarrow.lib":
        return name.endswith(_UNCHANGING)
    if home == "torch":
        return name == "layout"
    if home == "xgboost.core":  # matrices of data
        return name.endswith("DMatrix")
    return home.startswith(_INTERNAL) and not _is_module(value)


def _name(kind: type) -> str:
    is_short = module_of_class(kind) in ("builtins", "__main__")
    return name_of_class(kind) if is_short else full_name(kind)


def _copies_foreign_memory(value: Any) -> bool:
    """Return whether a value copies itself from foreign memory."""
    ctypes: Any = sys.modules.get("_ctypes")
    pillow: Any = sys.modules.get("PIL.Image")
    if ctypes is not None:
        data = ctypes._SimpleCData.__mro__[1]  # noqa: SLF001 -- what all of its types extend
        if isinstance(value, data):
            return not data._b_needsfree_.__get__(value)
    return pillow is not None and isinstance(value, pillow.Image) and is_borrowed_image(vars(value))


def _is_module(value: object) -> bool:
    return issubclass(type(value), sys.modules["torch"].nn.Module)
