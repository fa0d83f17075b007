"""Looking into objects without running the user's code.

No property, ``__getattr__``, ``__getattribute__`` or metaclass of the user's is called:
dictionaries and slots are read through the descriptors that the interpreter made for them.
"""

from __future__ import annotations

from types import GetSetDescriptorType, MemberDescriptorType
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping


def mro(kind: type) -> tuple[type, ...]:
    """Return the bases of a class in the order in which they are asked, itself first."""
    return type.__dict__["__mro__"].__get__(kind)  # type: ignore[no-any-return]


def own(kind: type) -> Mapping[str, object]:
    """Return what a class itself defines."""
    return type.__dict__["__dict__"].__get__(kind)  # type: ignore[no-any-return]


def attributes(value: object) -> Iterator[tuple[str, object]]:
    """Read an object's own attributes from its dictionary and slots, past any user code."""
    dictionary: object = None
    for base in mro(type(value)):
        for attribute, slot in [*own(base).items()]:
            if type(attribute) is not str:
                continue
            is_dictionary = attribute == "__dict__" and type(slot) is GetSetDescriptorType
            if not is_dictionary and type(slot) is not MemberDescriptorType:
                continue
            try:
                item = slot.__get__(value)  # type: ignore[attr-defined]
            except (AttributeError, TypeError):  # a slot never filled, or another class's
                continue
            if attribute != "__dict__":
                yield attribute, item
            elif dictionary is None:
                dictionary = item
    if type(dictionary) is dict:
        for attribute, item in [*dictionary.items()]:
            if type(attribute) is str:
                yield attribute, item
