"""Deep-copies values without recursion. Each object is copied once."""

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
from ipytorchseed.introspection.anatomy import find_member, module_of_class, name_of_class
from ipytorchseed.introspection.quiet import hidden_warnings
from ipytorchseed.rng.generators import hidden_generators
from ipytorchseed.rng.table import holders

# Internal modules of torch, such as for the results of ``torch.compile``.
_INTERNAL = ("torch._", "torch.fx")

# The endings of names of immutable Arrow types.
_UNCHANGING = ("Array", "Buffer", "RecordBatch", "Scalar", "Schema", "Table", "Type")

# How many steps of a long access path are shown, before the last step.
_STEPS = 20


class Copier:
    """A copier of many values, like ``copy.deepcopy`` with a common memo.

    Unlike ``deepcopy``, it preserves the memory that tensors and arrays share, and the gradients
    and hooks of parameters. An object that cannot be copied is shared and recorded; no error is
    raised.

    The copier has its own stack and does not recurse. So it copies a linked list of any length,
    whatever the recursion limit, and C's stack does not grow.

    Args:
        limit: The maximum number of bytes of tensors and arrays to copy; None for no limit.
        instead: Classes that replace other classes in copies, by the ``id`` of the replaced class.

    Attributes:
        shared: The reasons why objects could not be copied and are shared, by access path.
        cut: Access paths of tensors whose autograd graph could not be copied.
        joined: Pairs of names whose values share an object or memory that was copied.
        memories: The copied memory of tensors and arrays.
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
        """Copy the value of a variable, or return the value itself if that fails."""
        self._name = name
        with hidden_warnings(__name__, DeprecationWarning):  # itertools warns from Python 3.12 on
            made = self._enter(name, value)
            while self._open:
                _, value, copying = self._open[-1]
                known = len(self.shared)
                try:
                    made = self._enter(*copying.send(made))
                    continue
                except StopIteration as end:
                    made = end.value
                except Exception as error:  # noqa: BLE001 -- user code may raise anything
                    made = self.share(value, in_brief(error))
                if len(self.shared) > known:
                    value = made = self._leave_whole(value)
                self._open.pop()
                self.keep(value, made)
        return made

    def _leave_whole(self, part: Any) -> Any:
        """Return the object to share, after a part of it could not be copied.

        This is the part itself, unless an object around it has a ``__del__``. A copy of that object
        would release the shared part, so the whole object is shared.
        """
        around = [find_member(type(each), "__del__") for _, each, _ in self._open[:-1]]
        places = [place for place, ends in enumerate(around) if ends is not None]
        if not places:
            return part
        owner = self._open[places[-1]][1]
        del self._open[places[-1] + 1 :]
        start = next((n for n, each in enumerate(self._kept) if each is owner), len(self._kept))
        for each in self._kept[start:]:  # their copies may refer to the owner's unfinished copy
            self._memo.pop(id(each), None)
        return owner

    def _enter(self, step: str, value: Any) -> Any:
        """Return the copy of a value; or push its generator on the stack, and return None."""
        kind = type(value)
        if id(kind) in ATOMIC or issubclass(kind, (type, types.ModuleType)):
            return self._instead.get(id(value), value)
        if id(value) in holders or id(value) in self._sources:  # restored with the sources
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
        """Return whether a value, or a parameter of it, was already copied."""
        if id(type(value)) in ATOMIC:
            return False
        parameters = value.parameters() if _is_module(value) else ()
        return any(id(each) in self._memo for each in (value, *parameters))

    def known(self, value: object) -> Any:
        """Return the copy of a value, or None if there is none yet."""
        made = self._memo.get(id(value))
        if made is not None and made is not value:
            self._join(value)
        return made

    def keep(self, value: object, made: object) -> None:
        """Register the copy of a value, before any part that may refer to it is copied."""
        self._memo[id(value)] = made
        self._kept.append(value)
        if made is not value:
            self._join(value)

    def _join(self, part: object) -> None:
        """Record that the current variable contains an object or memory.

        If another variable contains it too, the pair of names is added to ``joined``.
        """
        first = self._reached_from.setdefault(id(part), self._name)
        if first != self._name:
            self.joined.add((first, self._name))

    def path(self) -> str:
        """Return the access path of the current object, shortened in the middle."""
        steps = [step for step, _, _ in self._open]
        return "".join(steps if len(steps) <= _STEPS else [*steps[:_STEPS], " … ", steps[-1]])

    def share(self, value: Any, reason: str) -> Any:
        """Return the value itself, and record why it is not copied."""
        home, name = module_of_class(type(value)), name_of_class(type(value))
        kind = name if home in ("builtins", "__main__") else f"{home}.{name}"
        self.shared.setdefault(self.path(), f"{kind}: {reason}")
        return value

    def _by_class(self, value: Any, kind: type) -> Copying:
        own = getattr(kind, "__deepcopy__", None)
        if own is not None:
            make_sure(value)
            return own(value, self._memo)
        if _copies_foreign_memory(value):
            return self.share(value, "its memory may belong to another object")
        table = copyreg.dispatch_table
        reducer = next((table[each] for each in list(table) if each is kind), None)
        return (yield from self.reduced(value, reducer))

    def reduced(self, value: Any, reducer: Callable[[Any], Any] | None = None) -> Copying:
        """Copy an object by the parts that it returns for pickling."""
        parts = value.__reduce_ex__(4) if reducer is None else reducer(value)
        return value if isinstance(parts, str) else (yield from self.rebuild(value, *parts))

    def rebuild(self, value: Any, function: Any, arguments: Any, *others: Any) -> Copying:
        """Create an object from its parts, as ``copy`` does.

        Args:
            value: The original.
            function: The function that creates the object. This and the following arguments are the
                items of the tuple that ``__reduce_ex__`` returns.
            arguments: The arguments of the function.
            others: The state of the object, the items to append, the items to set by key, and the
                function that sets the state, if not the object's ``__setstate__``.
        """
        state, items, pairs, setter = (*others, None, None, None, None)[:4]
        made = function(*(yield from self.parts(arguments, "")))
        self.keep(value, made)
        if state is not None:
            state = yield from self.state(state)
            if setter is not None:
                setter(made, state)
            elif hasattr(made, "__setstate__"):
                made.__setstate__(state)
            else:
                has_slots = isinstance(state, tuple) and len(state) == 2  # noqa: PLR2004
                fields, slots = state if has_slots else (state, None)
                if fields:
                    vars(made).update(fields)
                for name, each in (slots or {}).items():
                    setattr(made, name, each)
        yield from self.parts(items or (), made=made)
        yield from self.fill(made, [*(pairs or ())])
        return made

    def parts(self, values: Iterable[Any], step: str = "[{}]", made: Any = None) -> Copying:
        """Copy values into a list, and return it.

        Args:
            values: The values.
            step: The format of a value's step in the access path, with its index.
            made: The list; None for a new one.
        """
        made = [] if made is None else made
        for index, each in enumerate(values):
            is_atomic = id(type(each)) in ATOMIC and id(each) not in self._instead
            made.append(each if is_atomic else (yield step.format(index), each))
        return made

    @staticmethod
    def fill(made: Any, pairs: Iterable[tuple[Any, Any]], step: str = "[{!r}]") -> Copying:
        """Set copies of items in a container, and return it.

        Args:
            made: The container.
            pairs: The keys and items. Keys that are not strings are copied too.
            step: The format of an item's step in the access path, with its key.
        """
        for key, item in pairs:
            place = key if type(key) is str else (yield "", key)
            if id(type(item)) in ATOMIC:
                made[place] = item
            else:
                made[place] = yield step.format(key) if type(key) is str else "[…]", item
        return made

    def state(self, state: Any) -> Copying:
        """Copy the state of an object, usually the dictionary of its attributes."""
        if type(state) is not dict:
            return (yield "", state)
        return (yield from self.fill({}, [*state.items()], ".{}"))


def _is_shared(value: object, kind: type) -> bool:
    """Return whether copies share a value: it is immutable, or internal to torch."""
    home, name = module_of_class(kind), name_of_class(kind)
    if home == "pyarrow.lib":
        return name.endswith(_UNCHANGING)
    if home == "torch":
        return name == "layout"
    if home == "xgboost.core":  # matrices of data
        return name.endswith("DMatrix")
    return home.startswith(_INTERNAL) and not _is_module(value)


def _copies_foreign_memory(value: Any) -> bool:
    """Return whether copying a value would read memory that it does not own."""
    ctypes: Any = sys.modules.get("_ctypes")
    pillow: Any = sys.modules.get("PIL.Image")
    if ctypes is not None:
        data = ctypes._SimpleCData.__mro__[1]  # noqa: SLF001 -- the base of all ctypes types
        if isinstance(value, data):
            return not data._b_needsfree_.__get__(value)
    return pillow is not None and isinstance(value, pillow.Image) and is_borrowed_image(vars(value))


def _is_module(value: object) -> bool:
    torch: Any = sys.modules.get("torch")
    return hasattr(torch, "nn") and issubclass(type(value), torch.nn.Module)
