"""The parts of an object that its own methods and properties read."""

from __future__ import annotations

import functools
import types
from collections.abc import Iterable, Mapping
from typing import Any

from ipytorchseed.introspection.anatomy import (
    anatomy,
    find_member,
    module_of_class,
    mro,
    name_of_class,
    own,
)
from ipytorchseed.introspection.ownership import is_local_module
from ipytorchseed.introspection.values import (
    CONTAINERS,
    PLAIN,
    index_named,
    is_module,
    module_names,
)
from ipytorchseed.introspection.values import parts as contents
from ipytorchseed.reads.abstract import CALL, CONTAINS, ENTER, ITEM, ITERATE
from ipytorchseed.reads.keys import EACH, SIZES
from ipytorchseed.reads.uses import argument_read, use_of, user_function
from ipytorchseed.reads.values import captured

INSIDE, LAYER = "inside", "m:"
"""The part that stands for all that a model holds besides attributes of its own, and how one begins
that stands for a layer, parameter or buffer: ``m:head``. ``m:`` is its mode, hooks and the like."""

BY_METHODS = frozenset(f"a:{each}" for each in (CALL, CONTAINS, ITEM, ITERATE, *ENTER))
"""Parts that stand for what only objects of the user's are known to read for them."""

BY_KEYS = frozenset({f"a:{CONTAINS}", f"a:{ITERATE}", "a:keys"})
"""Parts that stand for the keys of a dictionary."""

_MODULE = "torch.nn.modules.module", "Module"
_CONTAINERS = "torch.nn.modules.container"
"""Where torch's lists and dictionaries of layers are defined."""

_CONTENT = (
    "buffers cpu double eval float half load_state_dict named_buffers named_parameters parameters"
    " requires_grad_ state_dict to train zero_grad"
)
_THROUGH = {CALL: ("forward",), **dict.fromkeys(_CONTENT.split(), ())}
"""Methods of ``torch.nn.Module``, and those of the user's that each calls."""

_METHODS = (types.FunctionType, property, functools.cached_property, classmethod, staticmethod)
_HOOKS = "__getattr__", "__getattribute__"
"""Methods by which a class answers for attributes."""

_REGISTERED = "_modules", "_parameters", "_buffers"
_INSTEAD = {CONTAINS: (ITERATE,), ITERATE: (ITEM, "__len__")}
"""Methods that Python calls where an object has no method of that name."""

_OF_MODULES = frozenset({"training", *_REGISTERED})
"""Attributes of a model that are told as other parts of it."""

_Step = tuple[str, int]

_MOST, _MOST_PARTS = 200, 300
"""Methods that are followed for one object, and objects that it holds."""


def read_by(
    names: Mapping[str, Any],
    function: str,
    place: int | str,
    *,
    of_frame: bool = False,
) -> set[str] | None:
    """Find what a function reads of an argument, as ``argument_read`` does.

    Args:
        names: Where it is found.
        function: Its name; or that of a module or an object and, after a dot, the function's there.
        place: The argument's place, from 0, or its name.
        of_frame: Whether the argument is a data frame.
    """
    read = functools.partial(argument_read, of_frame=of_frame)
    root, _, inner = function.partition(".")
    value = names.get(root)
    if not inner:
        return read(value, place)
    if is_module(value):
        return read(module_names(value).get(inner), place)
    member = find_member(type(value), inner)
    if user_function(member) is None or inner in dict(anatomy(type(value)).unsorted(value)):
        return None
    return read(member, place + 1 if isinstance(place, int) else place)


def through_methods(value: object, parts: set[str]) -> set[str] | None:
    """Put in place of methods and properties what these read.

    Args:
        value: An object, of a class of the user's.
        parts: Parts of it that code uses, as in ``parts.find_parts``.

    Returns:
        Parts of its own; of a model ``INSIDE``, or those of ``LAYER``. None for all of it.
    """
    parts = {each for part in parts for each in _layers_named(value, part)}
    parts = {LAYER if _is_setting(value, part[2:]) else part for part in parts}
    heads = {part: part[2:].partition(".")[0] for part in parts if part[:2] == "a:"}
    if user_function(find_member(type(value), ITEM)) is not None:
        heads |= {part: ITEM for part in parts if part[:2] == "k:"}
    asked = {part for part in heads if part in BY_METHODS or _leads_further(value, heads[part])}
    if not asked:
        return parts
    found = _attributes_read(value, {heads[part] for part in asked})
    return None if found is None else parts - asked | found


def method_of(value: object, name: str) -> Any:  # noqa: ANN401
    """Return the method that a class gives its object under a name; None where it has its own."""
    made = anatomy(type(value))
    if name in (made.dictionary(value) or {}) or any(name == slot for slot, _ in made.slots):
        return None
    return find_member(type(value), name)


def may_run(value: object, name: str) -> bool:
    """Tell whether to look up an attribute of an object may run code that reads others."""
    users = [own(each) for each in mro(type(value)) if is_local_module(module_of_class(each))]
    return type(find_member(type(value), name)) in _METHODS or any(
        hook in each for each in users for hook in _HOOKS
    )


def _leads_further(value: object, name: str) -> bool:
    """Tell whether an attribute of an object is none of its own parts.

    It is a method or property, or what a model keeps elsewhere: a layer, a parameter, its mode.
    """
    if type(find_member(type(value), name)) in _METHODS:
        return True
    held = {each for each, _ in anatomy(type(value)).unsorted(value)} - _OF_MODULES
    return is_model(value) and name not in held


def _attributes_read(value: object, asked: Iterable[str]) -> set[str] | None:
    """Find which parts of an object's own some of its attributes lead to; None for all."""
    users = [own(each) for each in mro(type(value)) if is_local_module(module_of_class(each))]
    if any(hook in each for each in users for hook in _HOOKS):
        return None
    members = _Members(value)
    queue: list[_Step] = [(name, 0) for name in asked]
    seen: set[_Step] = set()
    while queue:
        step = queue.pop()
        if step in seen:
            continue
        seen.add(step)
        more = members.follow(*step)
        if more is None or len(seen) > _MOST:
            return None
        queue += more
    return members.found


class _Members:
    """What the names of an object's attributes lead to.

    Args:
        value: The object.

    Attributes:
        found: The parts of its own that were met.
    """

    def __init__(self, value: object) -> None:
        self._value = value
        self._classes = mro(type(value))
        self._held = dict(anatomy(type(value)).unsorted(value))
        self._layers = _layers(value) if is_model(value) else None
        self.found = set[str]() if self._layers is None else {LAYER}

    def follow(self, path: str, first: int) -> list[_Step] | None:
        """Return what is looked up next; None where that may be anything.

        Args:
            path: The attribute, and what is looked up inside of it, as in ``Uses.names``.
            first: The first of the object's classes that is searched for it.
        """
        name = path.partition(".")[0]
        places = range(first, len(self._classes))
        at = next((each for each in places if name in own(self._classes[each])), None)
        member = None if at is None else own(self._classes[at])[name]
        if self._layers is not None and name in _OF_MODULES:
            self.found |= {INSIDE} if name in _REGISTERED else set()
            return []
        if name in self._held and type(member) is not property:
            self.found.add(f"a:{path}")
            return None if _leads_to(self._held[name], self._value) else []
        if at is None:
            if self._layers is not None:
                alone = name in self._layers and not _leads_to(self._layers[name], self._value)
                self.found.add(f"{LAYER}{name}" if alone else INSIDE)
            return None if name[:1] == "[" else [(each, 0) for each in _INSTEAD.get(name, ())]
        if _is_module(self._classes[at]):
            told = path == name or name not in EACH  # else their sizes alone
            self.found |= {INSIDE} if name in _CONTENT.split() and told else set()
            return [(each, 0) for each in _THROUGH[name]] if name in _THROUGH else None
        function = user_function(member)
        return self._enter(function, at) if function else [] if _is_plain(member) else None

    def _enter(self, function: types.FunctionType, at: int) -> list[_Step] | None:
        """Return what a method looks up, which the class at this place defines."""
        use = use_of(function, 0)
        given = use.given if use is not None else ()
        read = [argument_read(function.__globals__.get(each), place) for each, place in given]
        if use is None or use.of_frame or None in read:
            return None
        inner = f"_{name_of_class(self._classes[at]).rpartition('.')[2].lstrip('_')}"
        names = use.names.union(*filter(None, read))
        return [
            *((f"{inner}{each}" if _is_private(each) else each, 0) for each in names),
            *((each, at + 1) for each in use.above),
        ]


def _leads_to(start: object, goal: object) -> bool:
    """Tell whether code of the user's that is given one object comes by another one."""
    queue: list[Any] = [start]
    seen: dict[int, Any] = {}
    while queue and len(seen) < _MOST_PARTS:
        value = queue.pop()
        if value is goal:
            return True
        kind = type(value)
        if id(value) in seen or id(kind) in PLAIN:
            continue
        seen[id(value)] = value
        if kind is types.MethodType:
            queue.append(value.__self__)
        elif kind is types.FunctionType:
            queue += captured(value)
        elif id(kind) in CONTAINERS or any(is_local_module(module_of_class(b)) for b in mro(kind)):
            queue += contents(value)
    return False


def _is_plain(member: object) -> bool:
    """Tell whether a member of a class reads nothing of the objects it is looked up in."""
    kind = type(member)
    return kind in (staticmethod, classmethod) or find_member(kind, "__get__") is None


def _is_module(made: type) -> bool:
    return (module_of_class(made), name_of_class(made)) == _MODULE


def is_model(value: object) -> bool:
    """Tell whether an object is a ``torch.nn.Module``."""
    return any(map(_is_module, mro(type(value))))


def _registered(model: Any, kind: str) -> dict[str, Any]:  # noqa: ANN401
    """Return the layers, parameters or buffers of a model by name."""
    found = (anatomy(type(model)).dictionary(model) or {}).get(kind)
    return found if type(found) is dict else {}


def _layers(model: object) -> dict[str, object]:
    """Return what a model registers, by name; nothing where some of it has several names."""
    named = {name: each for kind in _REGISTERED for name, each in _registered(model, kind).items()}
    queue, seen = [model], set[int]()
    while queue:
        layer = queue.pop()
        if id(layer) in seen or len(seen) > _MOST_PARTS:
            return {}
        seen.add(id(layer))
        queue += [each for each in _registered(layer, "_modules").values() if each is not None]
    return {} if "_orig_mod" in named else named  # what torch.compile wraps has its own names


def _layers_named(model: object, part: str) -> list[str]:
    """Name the layers of a list of layers, or a dictionary, that an item or slice is: ``a:0``."""
    at = next((each for each in mro(type(model)) if ITEM in own(each)), None)
    if part[:2] != "k:" or at is None or module_of_class(at) != _CONTAINERS:
        return [part]
    key, names = part[2:].partition(".")[0], [*_registered(model, "_modules")]
    found: str | list[str] = key
    if key[:1] == "[":
        try:
            found = names[index_named(key[1:-1])]
        except (IndexError, TypeError, ValueError):
            return [part]
    layers = [found] if type(found) is str else [*found]
    told = {*layers} <= {*names} and ":-" not in key  # which hangs on how many there are
    return [f"a:{each}" for each in layers if told] or [part]


def _is_setting(model: object, path: str) -> bool:
    """Tell whether a layer of a model keeps ``fc.in_features``, a number or text, or a size.

    A model itself tells those of all its parameters: ``parameters.numel``.
    """
    *layers, name = path.split(".")
    tensor = layers.pop() if layers and name in SIZES else ""
    if tensor in EACH and not layers:
        return _is_module(next(each for each in mro(type(model)) if tensor in own(each)))
    for each in layers:
        model = None if may_run(model, each) else _registered(model, "_modules").get(each)
    if any(tensor in _registered(model, kind) for kind in _REGISTERED[1:]):
        return not may_run(model, tensor)
    held = anatomy(type(model)).dictionary(model) or {}
    kept = held if may_run(model, name) else held.get(name, held)
    parts = kept if type(kept) is tuple else (kept,)
    return bool(layers) and all(id(type(each)) in PLAIN for each in parts)


def _is_private(name: str) -> bool:
    return name.startswith("__") and not name.partition(".")[0].endswith("__")
