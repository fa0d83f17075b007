"""Members of the user's classes, which count where code names them."""

from __future__ import annotations

import itertools
import re
import types
from collections.abc import Iterable, Iterator
from collections.abc import Set as AbstractSet
from typing import Any, NamedTuple

from ipytorchseed.introspection.anatomy import (
    find_member,
    module_of_class,
    mro,
    name_of_class,
    own,
    per_object,
)
from ipytorchseed.introspection.ownership import is_local_module
from ipytorchseed.introspection.values import qualified_name
from ipytorchseed.reads.effects import Effects

_MEMBERS = (types.FunctionType, property, classmethod, staticmethod)

_PLAIN_BASES = ("abc.", "builtins.", "torch.nn.", "torch.utils.data.", "typing.")
"""Modules whose classes call no method of another name than one that they have themselves."""

_BY_TEXT = frozenset(
    {"__dict__", "__getattribute__", "__match_args__", "attrgetter", "dir", "eval", "exec"}
    | {"getattr", "getattr_static", "getmembers", "hasattr", "methodcaller", "vars"}
)
"""Names by which code may come by members that it does not name."""

_NAMES = (
    "_estimator_type aclose arccos arccosh arcsin arcsinh arctan arctan2 arctanh as_integer_ratio"
    " batch_first batch_size cbrt ceil close collate columns conjugate cos cosh decision_function"
    " default deg2rad degrees denominator device dtype emit encoding exp exp2 expm1 fabs fileno"
    " filter finalize fit fit_predict fit_transform flags floor flush fmod format get"
    " get_feature_names_out get_metadata_routing get_n_splits get_params handle hypot iloc imag"
    " inverse inverse_transform isatty items keys load_state_dict log log10 log1p log2 matmat"
    " matvec max min ndim numerator param_groups partial_fit pdf pin_memory pmf predict"
    " predict_log_proba predict_proba rad2deg radians read readable readinto readline readlines"
    " real right_inverse rint rmatmat rmatvec round score score_samples seek seekable set_epoch"
    " set_output set_params shape sin sinh size split sqrt square state_dict step support tan tanh"
    " tell to_numpy tolist transform transpose trunc update value values writable write writelines"
)
_ASKED = frozenset(_NAMES.split())
"""Members that packages may ask of whatever object they are given."""

_INSIDE = re.compile(r"\.(\w+)").findall
"""Finds the attributes that a text may name: ``"{0.width}"``."""

_LONGEST = 10_000
"""Characters of a text that are searched."""

_CONSTRUCTORS = frozenset({"__init__", "__init_subclass__", "__post_init__"})
"""Methods that run where a class is used that code names, or an unknown one."""

_MAKERS = _CONSTRUCTORS | {"__annotations__", "__class__", "get_type_hints", "type"}
"""Names by which code makes objects of a class that it does not name."""

_REMAKERS = frozenset({"__replace__", "fields", "replace"})
"""Names by which code makes objects of a data class that it does not name, or asks for defaults."""


class Member(NamedTuple):
    """A member of a class.

    Attributes:
        made: The class.
        name: The member's name there.
        value: The function, property, number or the like.
        assigned: Names of the notebook that the cell sets before it can be called.
    """

    made: type
    name: str
    value: Any
    assigned: frozenset[str]


class Members:
    """Members of the user's classes that no code is known to call yet.

    Code asks for a method, a property or data by name, and calls a constructor by the class.

    Attributes:
        by_text: Whether code may call members by texts.
    """

    def __init__(self) -> None:
        self.by_text = False
        self._waiting: dict[int | str, list[Member]] = {}
        self._called: set[int | str] = set()
        self._all = self._all_made = self._all_remade = False

    def put_aside(self, member: Member) -> bool:
        """Put a member aside until it is called, and tell whether that is not so already."""
        written = _written(member.made)
        makes = member.name in _CONSTRUCTORS or member.name in written
        key = id(member.made) if makes else member.name
        all_made = self._all_made or (self._all_remade and bool(written))
        called = self._all or key in self._called or (makes and all_made)
        if called or member.name not in (_called_by_name(member.made) or ()):
            return called and _leads_nowhere(member)
        self._waiting.setdefault(key, []).append(member)
        return True

    def name(self, effects: Effects) -> list[Member]:
        """Return the members that some code may call, as it has their names."""
        names = effects.attributes | effects.reads.keys()
        calls = effects.attributes - {"eval"} | effects.reads.keys()  # model.eval() is another
        self.by_text |= not _BY_TEXT.isdisjoint(calls)
        made = [] if _MAKERS.isdisjoint(names) else self.make_any()
        if not _REMAKERS.isdisjoint(names):
            self._all_remade = True
            waiting = itertools.chain(*self._waiting.values())
            made += self._call({id(each.made) for each in waiting if _written(each.made)})
        return made + self._call(names.union(*map(_named, effects.texts)))

    def meet(self, value: Any) -> list[Member]:  # noqa: ANN401
        """Return the members that code may call, as it has a text, or ``getattr`` by some name."""
        self.by_text |= (qualified_name(value) or name_of_class(type(value))) in _BY_TEXT
        return self._call(_named(value)) if type(value) is str else []

    def make(self, made: type) -> list[Member]:
        """Return the constructors that make an object of a class."""
        return self._call({id(base) for base in mro(made)})

    def make_any(self) -> list[Member]:
        """Return all constructors."""
        self._all_made = True
        return self._call({key for key in self._waiting if type(key) is int})

    def call_any(self) -> list[Member]:
        """Return all members."""
        self._all = True
        return self._call({*self._waiting})

    def functions(self) -> Iterator[Any]:
        """Return the methods and properties that nobody calls."""
        for each in itertools.chain(*self._waiting.values()):
            wraps = type(each.value) in (classmethod, staticmethod)
            yield each.value.__func__ if wraps else each.value

    def _call(self, keys: AbstractSet[int | str]) -> list[Member]:
        self._called |= keys
        found = [each for key in self._waiting.keys() & keys for each in self._waiting.pop(key)]
        return [each for each in found if not _leads_nowhere(each)]

    def unused(self, made: type) -> set[str] | None:
        """Return the names of a class's own members that nobody calls; None if any may be."""
        if self._all or _called_by_name(made) is None:
            return None
        return {each.name for each in itertools.chain(*self._waiting.values()) if each.made is made}


def _find_called_by_name(made: type) -> frozenset[str] | None:
    """Find which members of a class of the user's no package calls; None if it may call any."""
    theirs = [base for base in mro(made) if not is_local_module(module_of_class(base))]
    if not all(f"{module_of_class(base)}.".startswith(_PLAIN_BASES) for base in theirs):
        return None
    copied = any(find_member(made, each) is not None for each in _MADE_AGAIN)
    fields = find_member(made, _FIELDS)
    listed = own(made).keys() if copied else fields if type(fields) is dict else ()
    written = _written(made)
    inner = f"_{name_of_class(made).rpartition('.')[2].lstrip('_')}__"
    return frozenset(
        name
        for name, member in [*own(made).items()]
        if type(name) is str
        and not (type(member) is property and member.fset)  # which may be set by any name
        and not (copied and name in _CONSTRUCTORS)
        and not (name in listed and type(member) not in _MEMBERS and name not in written)
        and (name in _CONSTRUCTORS or name in written or not _is_asked(name, inner, theirs))
    )


def _find_written(made: type) -> frozenset[str]:
    """Find what ``dataclass`` wrote into a class, which hangs on its fields and their defaults.

    An object has all its fields itself, so only who makes one asks for that.
    """
    fields = own(made).get(_FIELDS)
    if type(fields) is not dict or not all(field.init for field in fields.values()):
        return frozenset()
    if not _is_written(own(made).get("__init__")):
        return frozenset()
    kept = {name for name in fields if type(own(made).get(name)) not in _MEMBERS}
    written = {name for name in _WRITTEN if _is_written(own(made).get(name))}
    return frozenset(kept | written | {_FIELDS, "__match_args__"})


def _leads_nowhere(member: Member) -> bool:
    """Tell whether ``dataclass`` wrote a method that compares or shows the fields of objects."""
    return member.name in _WRITTEN and member.name in _written(member.made) - _CONSTRUCTORS


def _is_written(method: Any) -> bool:  # noqa: ANN401
    """Tell whether ``dataclass`` wrote a method, as a text, and not the user."""
    while type(method) is types.FunctionType and "__wrapped__" in vars(method):
        method = vars(method)["__wrapped__"]
    return type(method) is types.FunctionType and method.__code__.co_filename == "<string>"


def _is_asked(name: str, private: str, bases: Iterable[type]) -> bool:
    """Tell whether code may call a member that does not have its name, that of a base included."""
    special = name[-1:] == "_" or name.startswith((private, "_repr_")) or name in _ASKED
    return special or any(name in own(base) for base in bases)


def _named(text: str) -> set[str]:
    """Return the members that a text may name; a long one is no format."""
    start = text[:_LONGEST]
    return {start, *_INSIDE(start)}


_by_size = per_object(lambda made: dict[int, "frozenset[str] | None"]())  # noqa: ARG005


def _called_by_name(made: type) -> frozenset[str] | None:
    """Return what ``_find_called_by_name`` does; a class may get further members later."""
    known, size = _by_size(made), len(own(made))
    if size not in known:
        known[size] = _find_called_by_name(made)
    return known[size]


_written = per_object(_find_written)

_FIELDS = "__dataclass_fields__"

_WRITTEN = (
    *("__delattr__", "__eq__", "__ge__", "__gt__", "__hash__", "__init__", "__le__", "__lt__"),
    *("__replace__", "__repr__", "__setattr__"),
)
"""Methods that ``dataclass`` writes."""

_MADE_AGAIN = "get_params", "with_traceback"
"""Members of classes whose objects packages make anew: by ``clone``; of exceptions, by ``copy``."""
