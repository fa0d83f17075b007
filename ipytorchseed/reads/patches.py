"""Finds attributes of packages, and checks whether the user has replaced them.

The *place* of an attribute is the name of a module and the attribute's name in it, such as
``relu``, or ``Linear.forward`` if a class has the attribute.
"""

from __future__ import annotations

import sys
from typing import Any

from ipytorchseed.introspection import values as introspection
from ipytorchseed.introspection.anatomy import module_of_class, own
from ipytorchseed.introspection.ownership import is_local_module

Place = tuple[str, str]


def place_in(owner: Any, name: str) -> Place | None:  # noqa: ANN401
    """Return the place of an attribute; None if the owner is not from a package.

    Args:
        owner: The module or class with the attribute.
        name: The name of the attribute.
    """
    if introspection.is_module(owner):
        module = introspection.module_of(owner)
        return (module, name) if module in sys.modules and not is_local_module(module) else None
    if not introspection.is_class(owner) or is_local_module(module_of_class(owner)):
        return None
    made = introspection.qualified_name(owner)
    parts = module_of_class(owner).split(".")
    for last in range(1, len(parts) + 1):  # the shortest import name: torch.nn.Linear
        module = ".".join(parts[:last])
        if introspection.imported(module, made) is owner:
            return module, f"{made}.{name}"
    return None


def find_at(place: Place) -> Any:  # noqa: ANN401
    """Return the value at a place.

    Raises:
        KeyError: The module, class or attribute does not exist.
    """
    module, name = place
    made, _, attribute = name.partition(".")
    found = introspection.module_names(sys.modules[module])[made]
    if attribute and not introspection.is_class(found):
        raise KeyError(name)
    return own(found)[attribute] if attribute else found


def place_of(name: str) -> Place | None:
    """Return the place of a dotted name, or None if its module is not imported."""
    parts = name.split(".")
    for last in range(len(parts) - 1, 0, -1):
        module = ".".join(parts[:last])
        if module in sys.modules:
            return module, ".".join(parts[last:])
    return None


def put_at(place: Place, value: Any) -> None:  # noqa: ANN401
    """Set the value at a place without running user code."""
    module, name = place
    made, _, attribute = name.partition(".")
    names = introspection.module_names(sys.modules[module])
    if attribute:
        type.__setattr__(names[made], attribute, value)
    else:
        names[made] = value


def is_replaced(place: Place) -> bool:
    """Return whether the value at a place differs from the package's original."""
    try:
        value = find_at(place)
    except KeyError:
        return False
    value = getattr(value, "__func__", value) if type(value) in _METHODS else value
    if not (introspection.is_function(value) or introspection.is_class(value)):
        return True
    packages = {each.partition(".")[0] for each in (place[0], introspection.module_of(value))}
    name = introspection.qualified_name(value)
    given = name if "." in place[1] else name.rpartition(".")[2]
    return len(packages) > 1 or place[1] != given


_METHODS = (staticmethod, classmethod)
