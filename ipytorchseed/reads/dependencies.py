"""What the names of a cell lead to: values, and the code of the user's that it calls.

From each name, functions and classes of the notebook and of local modules are followed through
their own global names, closures, defaults and decorators. Code of installed packages is not.
Nothing is called: attributes are read from dictionaries and slots only.
"""

from __future__ import annotations

import re
import sys
import time
from typing import TYPE_CHECKING, Any

from msgspec import Struct

from ipytorchseed.introspection import values as inside
from ipytorchseed.introspection.anatomy import module_of_class, name_of_class
from ipytorchseed.introspection.ownership import is_local_module
from ipytorchseed.reads.abstract import UNKNOWN_ORDER
from ipytorchseed.reads.code import effects_of_code
from ipytorchseed.reads.draws import Draws
from ipytorchseed.reads.entropy import ADDRESS, ADDRESSES, ANY, BY_HASH, CLOCK_TAILS, CLOCKS
from ipytorchseed.reads.hashes import has_random_order, hashes_randomly
from ipytorchseed.reads.resolution import MISSING, find_imported, nondeterministic_call
from ipytorchseed.reads.values import OutOfTimeError, Values

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from types import CodeType

    from ipytorchseed.reads.effects import Effects

_NOBODYS = re.compile(r"_+|_i+|_i?\d+|_[dio]h|In|Out|get_ipython|exit|quit|open|__\w+__|__vsc\w*")
"""Names that the shell or the interpreter puts into the namespace."""

_DUNDER = re.compile(r"__\w+__")


class Dependencies(Struct):
    """What a cell reads.

    Attributes:
        names: Where each value is found again: a module's name, or "" for the namespace, and the
            name in it.
        writes: Names of the namespace that it, or a function it may call, sets.
        sets: Attributes of local modules that it, or a function it may call, sets; and where
            they are found, as for ``names``.
        nondeterministic_calls: Functions it may call whose answer is new each time, as one would
            import them, and programs of their own that it runs, as in ``magics.Magic``.
        timing: Those of them that are clocks of which it only prints or keeps the readings.
        timed: Names of the namespace that will hold readings of clocks, or numbers and texts made
            of them, and nothing else; or addresses of objects. And those that hold such already,
            of which it makes no more than these.
        packages: Packages whose functions, classes or objects it reaches.
        files: Files that it runs in the notebook.
        hashes: Whether its results may hang on the order of hashes.
        only_loader_seed_draws: Whether all that may draw from torch are passes over a
            ``DataLoader`` that uses nothing of what they draw.
        complete: False where there was too much to follow, or where it runs a text that is not
            known before.
    """

    names: dict[str, tuple[str, str]] = {}
    writes: set[str] = set()
    sets: dict[str, tuple[str, str]] = {}
    nondeterministic_calls: set[str] = set()
    timing: set[str] = set()
    timed: set[str] = set()
    packages: set[str] = set()
    files: set[str] = set()
    hashes: bool = False
    only_loader_seed_draws: bool = False
    complete: bool = True


def find_dependencies(
    effects: Effects,
    namespace: Mapping[str, Any],
    hidden: Iterable[str] = (),
    timed: Iterable[str] = (),
    *,
    seconds: float = 0.05,
) -> Dependencies:
    """Find what a cell reads, directly and through what it calls.

    Args:
        effects: What the cell does with names.
        namespace: The user's namespace, before the cell runs.
        hidden: Names of the shell's own, which are no input.
        timed: Names that hold readings of clocks, as earlier cells' ``Dependencies.timed`` told.
        seconds: Of this thread's own time, that this may take. What is found by then is returned,
            as incomplete.
    """
    if effects.leads_nowhere:
        return Dependencies(
            writes={*effects.writes},
            packages={*effects.imports},
            files={*effects.files},
            complete=effects.complete,
        )
    walker = _Walker(namespace, frozenset(hidden), time.thread_time() + seconds)
    return walker.walk(effects, frozenset(timed))


def look_up(place: tuple[str, str], namespace: Mapping[str, Any]) -> Any:  # noqa: ANN401
    """Return the value at a place that ``find_dependencies`` named.

    Raises:
        KeyError: It is gone.
    """
    module, name = place
    return (inside.module_names(sys.modules[module]) if module else namespace)[name]


class _Home(Struct, frozen=True):
    """Where the global names of some code are found.

    Attributes:
        names: The dictionary.
        module: The module's name; "" for the notebook.
        found_again: Whether the dictionary is that of the notebook, or of the module as loaded.
        package: What its relative imports begin from.
    """

    names: Mapping[str, Any]
    module: str
    found_again: bool = True
    package: str = ""

    def holds(self, root: str, assigned: frozenset[str]) -> bool:
        """Tell whether a name still holds what it held before the cell."""
        return bool(self.module) or root.removesuffix("()") not in assigned


class _Walker(Values):
    """Follows code from name to value to code."""

    def __init__(
        self, namespace: Mapping[str, Any], hidden: frozenset[str], deadline: float
    ) -> None:
        super().__init__(deadline)
        self._found = Dependencies()
        self._notebook = _Home(namespace, "")
        self._hidden = hidden
        self._defined: Mapping[str, Effects] = {}
        self._followed: dict[int, frozenset[str]] = {}
        self._noted: dict[tuple[int, str], bool] = {}
        self._holds: set[str] = set()
        self._orders: set[str] = set()
        self._escaped: set[str] = set()
        self._draws = Draws()

    def walk(self, effects: Effects, timed: frozenset[str]) -> Dependencies:
        """Follow a cell, then all that it leads to."""
        namespace = self._notebook.names
        self._defined = effects.defined
        # What the text itself names is told, however little time there is.
        for name in effects.reads:
            if name in namespace and not effects.stars:
                self._noted[id(namespace), name] = self._note(name, namespace[name], self._notebook)
        try:
            self._follow(effects, self._notebook, frozenset())
        except OutOfTimeError:
            self.complete = False
        else:
            self.drain()
        found = self._found
        found.packages |= self.packages
        found.complete &= self.complete
        found.hashes |= not self._holds.isdisjoint(self._orders)
        found.only_loader_seed_draws = (
            found.complete and self.in_time and self._draws.only_loader_seeds(found.packages)
        )
        self._time(effects, timed)
        return found

    def _time(self, effects: Effects, timed: frozenset[str]) -> None:
        """Tell what is only timed from readings that are used."""
        escaped = set(effects.escaped)
        candidates = []
        addresses = ADDRESSES if ADDRESS not in self._notebook.names else frozenset()
        for name, made_of in effects.timed.items():
            clocks = made_of - addresses  # an address may be looked up and compared
            if all(self._is_clock(part, effects, timed) for part in clocks):
                candidates.append((name, clocks))
            else:
                escaped |= clocks
        for name, made_of in candidates:
            if escaped.isdisjoint(made_of):
                self._found.timed |= {name} | (made_of & timed - effects.handed)
        for path in escaped:
            asked = nondeterministic_call(path.removesuffix("()"), 0, self._notebook.names)
            if asked is not None:
                self._escaped.add(asked)
        self._found.timing = {
            name for name in self._found.nondeterministic_calls if name in CLOCKS
        } - self._escaped

    def _is_clock(self, part: str, effects: Effects, timed: frozenset[str]) -> bool:
        path = part.removesuffix("()")
        if path == part:
            return part in timed
        given = effects.calls.get(path, ANY)
        return nondeterministic_call(path, given, self._notebook.names) in CLOCKS

    # -- code ----------------------------------------------------------------------------------

    def _follow(self, effects: Effects, home: _Home, assigned: frozenset[str]) -> None:
        """Follow code.

        Args:
            effects: What it does with names.
            home: Where these are found.
            assigned: Names of the notebook that the cell sets before this code runs.
        """
        self._judge(effects, home, assigned)
        stars = [find_imported(path[1:], home.package)[0] for path in effects.stars]
        for name, before in sorted(effects.reads.items(), key=_fewest_known):
            self.tick()
            if home.holds(name, assigned):
                self._read(name, home, assigned if home.module else assigned | before, stars)
            else:
                self._run_new(name, assigned | before)
        for path in effects.paths:
            self.tick()
            if home.holds(path.partition(".")[0], assigned):
                self._path(path, home, assigned)

    def run(self, code: CodeType, names: Mapping[str, Any], assigned: frozenset[str]) -> None:
        home = self._home(names)
        if not home.module or is_local_module(home.module):
            self._follow(effects_of_code(code), home, assigned)

    def _run_new(self, name: str, assigned: frozenset[str]) -> None:
        """Follow a function that the cell itself defines before code of earlier cells calls it."""
        effects = self._defined.get(name)
        if effects is None:
            return
        before = self._followed.get(id(effects))
        if before is None or not before <= assigned:
            self._followed[id(effects)] = assigned if before is None else assigned & before
            self._follow(effects, self._notebook, assigned)

    def _home(self, names: Mapping[str, Any]) -> _Home:
        """Tell whose global names a dictionary holds."""
        if names is self._notebook.names:
            return self._notebook
        name = inside.text(names.get("__name__"))
        module = sys.modules.get(name)
        loaded = module is not None and inside.module_names(module) is names
        package = inside.text(names.get("__package__"))
        return _Home(names, name or "?", loaded and name != "__main__", package)

    # -- names ---------------------------------------------------------------------------------

    def _read(self, name: str, home: _Home, assigned: frozenset[str], stars: list[Any]) -> None:
        for module in stars:
            if module is not MISSING and name in inside.module_names(module):
                self._attribute(module, name, assigned)
                return
        if name in home.names:
            self._name(name, home.names[name], home, assigned)

    def _name(self, name: str, value: Any, home: _Home, assigned: frozenset[str]) -> None:  # noqa: ANN401
        """Note a name and what its value leads to."""
        key = id(home.names), name
        noted = self._noted.get(key)
        if noted is None:
            noted = self._noted[key] = self._note(name, value, home)
        if noted:
            self.push([value], assigned)

    def _note(self, name: str, value: Any, home: _Home) -> bool:  # noqa: ANN401
        """Note a name, and tell whether its value is an input, to be followed."""
        self.note_package(value)
        if inside.is_class(value):  # by whatever name it goes here
            self._draws.names.add(name_of_class(value))
        elif inside.is_function(value):
            self._draws.names.add(inside.qualified_name(value))
        if inside.is_module(value) or not self.is_input(value):
            return False
        if (_DUNDER if home.module else _NOBODYS).fullmatch(name):
            return False
        if not home.module and name in self._hidden:
            return False
        if home.found_again:
            shown = f"{home.module}.{name}" if home.module else name
            self._found.names.setdefault(shown, (home.module, name))
        return True

    def meet_class(self, made: type, assigned: frozenset[str]) -> None:
        name, module = name_of_class(made), sys.modules.get(module_of_class(made))
        if self._notebook.names.get(name) is made:
            self._name(name, made, self._notebook, assigned)
        elif module is not None and inside.module_names(module).get(name) is made:
            self._name(name, made, self._home(inside.module_names(module)), assigned)

    def meet_object(self, value: Any) -> None:  # noqa: ANN401
        self._draws.meet(value)

    def _path(self, path: str, home: _Home, assigned: frozenset[str]) -> None:
        """Follow a dotted name through modules to the attribute that is read."""
        imported = path[:1] == ":"
        if imported:
            value, rest = find_imported(path[1:], home.package)
        else:
            root, _, rest = path.partition(".")
            value = home.names.get(root, MISSING)
            if f"{root}.{rest.partition('.')[0]}" in assigned and not home.module:
                return
        steps = rest.split(".") if rest else []
        while inside.is_module(value):
            self.note_package(value)
            if not steps:
                if not imported:
                    self._whole(value, assigned)
                return
            name = steps.pop(0).removesuffix("()")
            if name.endswith("="):
                self._set_attribute(value, name[:-1])
                return
            names = inside.module_names(value)
            if name not in names:
                return
            self._attribute(value, name, assigned)
            value = names[name]

    def _attribute(self, module: Any, name: str, assigned: frozenset[str]) -> None:  # noqa: ANN401
        """Note an attribute of a module of the user's."""
        full = inside.module_of(module)
        names = inside.module_names(module)
        if full != "__main__" and is_local_module(full):
            self._name(name, names[name], self._home(names), assigned)

    def _set_attribute(self, module: Any, name: str) -> None:  # noqa: ANN401
        """Note that an attribute of a module of the user's is set."""
        full = inside.module_of(module)
        if full != "__main__" and is_local_module(full):
            self._found.sets[f"{full}.{name}"] = full, name

    def _whole(self, module: Any, assigned: frozenset[str]) -> None:  # noqa: ANN401
        """Note all that a module of the user's holds, where it is handed on as a whole."""
        if is_local_module(inside.module_of(module)):
            for name in list(inside.module_names(module)):
                self.tick()
                if type(name) is str:
                    self._attribute(module, name, assigned)

    # -- clocks, entropy and hashes --------------------------------------------------------------

    def _judge(self, effects: Effects, home: _Home, assigned: frozenset[str]) -> None:
        """Note what hangs on more than names."""
        found = self._found
        found.packages |= effects.imports
        found.files |= effects.files
        found.nondeterministic_calls |= effects.programs
        found.complete &= effects.complete
        self._holds |= effects.holds
        self._draws.names |= (
            effects.calls.keys() | effects.handed | effects.paths | effects.attributes
        )
        if not home.module:
            found.writes |= effects.writes
        for path, given in effects.calls.items():
            self.tick()
            if home.holds(path.partition(".")[0], assigned):
                self._call(path, given, home, effects)
        for path in effects.handed:
            self.tick()
            if home.holds(path.partition(".")[0], assigned):
                self._hand(path, home)
        for order in effects.orders:
            self._order(order, home, assigned)

    def _call(self, path: str, given: int, home: _Home, effects: Effects) -> None:
        """Note a call that asks a clock, for entropy, another program or for a hash."""
        if path == BY_HASH and BY_HASH not in home.names:
            self._found.hashes = True
        asked = nondeterministic_call(path, given, home.names, home.package)
        if asked is not None:
            self._found.nondeterministic_calls.add(asked)
            followed = path.rpartition(".")[2].lstrip(":") in CLOCK_TAILS
            if f"{path}()" in effects.escaped or not followed:
                self._escaped.add(asked)

    def _hand(self, path: str, home: _Home) -> None:
        """Note what is handed to a call: a function that it may call, or a set it may go over."""
        if not path.endswith("()"):
            asked = nondeterministic_call(path, ANY, home.names, home.package)
            if asked is not None:
                self._found.nondeterministic_calls.add(asked)
                self._escaped.add(asked)
        self._found.hashes |= has_random_order(home.names.get(path))

    def _order(self, order: str, home: _Home, assigned: frozenset[str]) -> None:
        """Note that the order of something is asked for, which may be a set's."""
        kind, _, path = order.partition(":")
        if order == UNKNOWN_ORDER:
            self._found.hashes = True
            return
        value = home.names.get(path, MISSING) if home.holds(path, assigned) else MISSING
        if kind == "items":
            self._found.hashes |= value is MISSING or hashes_randomly(value)
        elif has_random_order(value):
            self._found.hashes = True
        else:
            self._orders.add(path.rpartition(".")[2].lstrip(":"))


def _fewest_known(read: tuple[str, frozenset[str]]) -> int:
    return len(read[1])
