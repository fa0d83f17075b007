"""Reads slots and attributes of objects without running user code.

Classes are read with the descriptors of ``type``, so no code of a metaclass runs. Objects are read
from their slots and ``__dict__``, so no property, ``__getattr__`` or ``__getattribute__`` runs.
"""

from __future__ import annotations

import weakref
from collections.abc import Callable, Iterator, Mapping
from operator import itemgetter
from types import GetSetDescriptorType, MemberDescriptorType
from typing import Any, TypeVar

from msgspec import Struct

K = TypeVar("K")
T = TypeVar("T")

_MISSING: Any = object()
_of_type = type.__dict__
_HEAP = 1 << 9  # Py_TPFLAGS_HEAPTYPE: created at run time, like every class written in Python
_MANY = 2000  # an object with more attributes is read as a dictionary
_WORD = type.__dict__["__basicsize__"].__get__(object) // 2  # bytes of a pointer


def mro(kind: type) -> tuple[type, ...]:
    """Return the method resolution order of a class."""
    return _of_type["__mro__"].__get__(kind)  # type: ignore[no-any-return]


def own(kind: type) -> Mapping[str, Any]:
    """Return the ``__dict__`` of a class."""
    return _of_type["__dict__"].__get__(kind)  # type: ignore[no-any-return]


def find_member(kind: type, name: str, otherwise: Any = None) -> Any:
    """Return the named member of a class or its bases, without running code.

    Args:
        kind: The class.
        name: The name of the member.
        otherwise: The result if there is no such member.
    """
    return next((own(each)[name] for each in mro(kind) if name in own(each)), otherwise)


def module_of_class(kind: type) -> str:
    """Return the ``__module__`` of a class, or an empty string."""
    try:
        module = _of_type["__module__"].__get__(kind)
    except AttributeError:  # deleted by the author of the class
        return ""
    return module if type(module) is str else ""


def name_of_class(kind: type) -> str:
    """Return the ``__qualname__`` of a class, such as ``Outer.Inner``."""
    return _of_type["__qualname__"].__get__(kind)  # type: ignore[no-any-return]


def full_name(kind: type) -> str:
    """Return the module and name of a class, such as ``collections.OrderedDict``."""
    return f"{module_of_class(kind)}.{name_of_class(kind)}"


def per_object(make: Callable[[K], T]) -> Callable[[K], T]:
    """Cache the results of a function of a class or code object.

    An entry is removed when its object is deleted. The keys are ``id``, because a metaclass may
    define ``__hash__``.

    Args:
        make: Computes the result, which must not refer to the object.
    """
    known: dict[int, tuple[weakref.ref[K], T]] = {}

    def get(of: K) -> T:
        found = known.get(id(of))
        if found is not None and found[0]() is of:
            return found[1]
        made = make(of)
        key, forget = id(of), known.pop
        known[key] = weakref.ref(of, lambda _: forget(key, None)), made
        return made

    return get


class Anatomy(Struct, frozen=True):
    """The places where objects of a class store their attributes.

    Attributes:
        kind: A weak reference to the class.
        name: The name of the class with its module.
        title: The last part of the name, for display.
        slots: The names of all slots, each with the index of the defining class in the MRO.
        dictionaries: The indices in the MRO of the classes that define ``__dict__``. The first that
            can be read is used.
        hidden: Whether objects have memory that only C code can read.
    """

    kind: weakref.ref[type]
    name: str
    title: str
    slots: tuple[tuple[str, int], ...]
    dictionaries: tuple[int, ...]
    hidden: bool

    def dictionary(self, value: object) -> dict[Any, Any] | None:
        """Return the ``__dict__`` of an object, or None if it has none."""
        for at in self.dictionaries:
            found = self._read(value, "__dict__", at)
            if found is not _MISSING:
                return found if type(found) is dict else None
        return None

    def slot_values(self, value: object) -> Iterator[tuple[str, object]]:
        """Yield the name and value of each slot that is set."""
        for name, at in self.slots:
            found = self._read(value, name, at)
            if found is not _MISSING:
                yield name, found

    def attributes(self, value: object) -> list[tuple[str, object]]:
        """Return the names and values of an object's attributes, sorted by name."""
        return sorted(self.unsorted(value), key=itemgetter(0))

    def unsorted(self, value: object) -> list[tuple[str, object]]:
        """Return the names and values of an object's attributes, in order of creation.

        If there are more than 2,000, the dictionary is returned instead, as ``__dict__``.
        """
        found = [*self.slot_values(value)] if self.slots else []
        dictionary = self.dictionary(value)
        if not dictionary:
            return found
        if len(dictionary) > _MANY:
            return [*found, ("__dict__", dictionary)]
        return found + [item for item in [*dictionary.items()] if type(item[0]) is str]

    def _read(self, value: object, name: str, at: int) -> Any:
        kind = self.kind()
        bases = mro(type(value) if kind is None else kind)
        slot: Any = own(bases[at]).get(name) if at < len(bases) else None
        if not _is_descriptor(slot):  # replaced since
            return _MISSING
        try:
            return slot.__get__(value)
        except (AttributeError, TypeError):  # not set, or of another class
            return _MISSING


# Members of classes that are not content: locations, docstrings and caches.
NOT_CONTENT = frozenset({
    "__abstractmethods__", "__annotate__", "__annotate_func__", "__annotations__",
    "__annotations_cache__", "__dict__", "__doc__", "__firstlineno__", "__module__",
    "__qualname__", "__slotnames__", "__static_attributes__", "__weakref__", "_abc_impl",
    # of enum.Flag: combinations of members, created when they are first used
    "_value2member_map_",
    # of pydantic: objects compiled from the fields, which contain addresses, and caches
    "__pydantic_complete__", "__pydantic_core_schema__", "__pydantic_parent_namespace__",
    "__pydantic_serializer__", "__pydantic_setattr_handlers__", "__pydantic_validator__",
    "__signature__",
})  # fmt: skip

# Members that are addresses or offsets in C classes.
_ADDRESSES = frozenset({
    "__weakref__", "__weaklistoffset__", "__dictoffset__", "__vectorcalloffset__",
})  # fmt: skip


def _dissect(kind: type) -> Anatomy:
    slots, dictionaries = [], []
    for at, base in enumerate(mro(kind)):
        for name, entry in [*own(base).items()]:
            if type(name) is not str:
                continue
            if name == "__dict__":
                if _is_descriptor(entry):
                    dictionaries.append(at)
            elif type(entry) is MemberDescriptorType and name not in _ADDRESSES:
                slots.append((name, at))
    full, title = full_name(kind), name_of_class(kind).rpartition(".")[2]
    return Anatomy(
        weakref.ref(kind), full, title, tuple(slots), tuple(dictionaries), _has_hidden_memory(kind)
    )


def _is_descriptor(entry: object) -> bool:
    return type(entry) is MemberDescriptorType or type(entry) is GetSetDescriptorType


def _has_hidden_memory(kind: type) -> bool:
    """Return whether objects of a class have more memory than their slots need."""
    while kind is not object:
        base = _of_type["__base__"].__get__(kind)
        room = _of_type["__basicsize__"].__get__(kind) - _of_type["__basicsize__"].__get__(base)
        if _of_type["__flags__"].__get__(kind) & _HEAP:
            slots = sum(type(entry) is MemberDescriptorType for entry in [*own(kind).values()])
            added = sum(
                bool(_of_type[each].__get__(kind)) and not _of_type[each].__get__(base)
                for each in ("__dictoffset__", "__weakrefoffset__")  # which take a word each
            )
            if room > _WORD * (slots + added):
                return True
        elif room or _of_type["__itemsize__"].__get__(kind):
            return True
        kind = base
    return False


# Returns the ``Anatomy`` of a class, from a cache if possible.
anatomy = per_object(_dissect)


def dictionary_of(value: object) -> dict[Any, Any]:
    """Return the ``__dict__`` of a value, or an empty dictionary if it has none."""
    return anatomy(type(value)).dictionary(value) or {}


def attributes(value: object) -> list[tuple[str, object]]:
    """Return the names and values of an object's attributes; see ``Anatomy.unsorted``."""
    return anatomy(type(value)).unsorted(value)
