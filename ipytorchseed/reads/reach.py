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
from ipytorchseed.reads.asks import MISSING, asked_by, find_imported
from ipytorchseed.reads.code import flow_of_code
from ipytorchseed.reads.draws import Draws
from ipytorchseed.reads.entropy import ANY, BY_HASH, CLOCK_TAILS, CLOCKS
from ipytorchseed.reads.guess import UNKNOWN_ORDER
from ipytorchseed.reads.hashes import has_random_order, hashes_randomly
from ipytorchseed.reads.values import OutOfTimeError, Values

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from types import CodeType

    from ipytorchseed.reads.flow import Flow

_NOBODYS = re.compile(r"_+|_i+|_i?\d+|_[dio]h|In|Out|get_ipython|exit|quit|open|__\w+__|__vsc\w*")
"""Names that the shell or the interpreter puts into the namespace."""

_DUNDER = re.compile(r"__\w+__")


class Reached(Struct):
    """What a cell reads.

    Attributes:
        names: Where each value is found again: a module's name, or "" for the namespace, and the
            name in it.
        writes: Names of the namespace that it, or a function it may call, sets.
        sets: Attributes of local modules that it, or a function it may call, sets; and where
            they are found, as for ``names``.
        asks: Functions it may call whose answer is new each time, as one would import them, and
            programs of their own that it runs, as in ``magics.Magic``.
        timing: Those of ``asks`` that are clocks of which it only prints or keeps the readings.
        timed: Names of the namespace that will hold readings of clocks, or numbers made of them,
            and nothing else.
        uses: Packages whose functions, classes or objects it reaches.
        files: Files that it runs in the notebook.
        hashes: Whether its results may hang on the order of hashes.
        passes: Whether all that may draw from torch are passes over a ``DataLoader`` that uses
            nothing of what they draw.
        complete: False where there was too much to follow, or where it runs a text that is not
            known before.
    """

    names: dict[str, tuple[str, str]] = {}
    writes: set[str] = set()
    sets: dict[str, tuple[str, str]] = {}
    asks: set[str] = set()
    timing: set[str] = set()
    timed: set[str] = set()
    uses: set[str] = set()
    files: set[str] = set()
    hashes: bool = False
    passes: bool = False
    complete: bool = True


def reach(
    flow: Flow,
    namespace: Mapping[str, Any],
    hidden: Iterable[str] = (),
    timed: Iterable[str] = (),
    *,
    seconds: float = 0.05,
) -> Reached:
    """Find what a cell reads, directly and through what it calls.

    Args:
        flow: What the cell does with names.
        namespace: The user's namespace, before the cell runs.
        hidden: Names of the shell's own, which are no input.
        timed: Names that hold readings of clocks, as earlier cells' ``Reached.timed`` told.
        seconds: How long this may take. What is found by then is returned, as incomplete.
    """
    if flow.leads_nowhere:
        return Reached(
            writes={*flow.writes},
            uses={*flow.imports},
            files={*flow.files},
            complete=flow.complete,
        )
    walker = _Walker(namespace, frozenset(hidden), time.perf_counter() + seconds)
    return walker.walk(flow, frozenset(timed))


def look_up(place: tuple[str, str], namespace: Mapping[str, Any]) -> Any:  # noqa: ANN401
    """Return the value at a place that ``reach`` named.

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

    def holds(self, root: str, known: frozenset[str]) -> bool:
        """Tell whether a name still holds what it held before the cell."""
        return bool(self.module) or root.removesuffix("()") not in known


class _Walker(Values):
    """Follows code from name to value to code."""

    def __init__(
        self, namespace: Mapping[str, Any], hidden: frozenset[str], deadline: float
    ) -> None:
        super().__init__(deadline)
        self._found = Reached()
        self._notebook = _Home(namespace, "")
        self._hidden = hidden
        self._defined: Mapping[str, Flow] = {}
        self._followed: dict[int, frozenset[str]] = {}
        self._noted: dict[tuple[int, str], bool] = {}
        self._holds: set[str] = set()
        self._orders: set[str] = set()
        self._leaked: set[str] = set()
        self._draws = Draws()

    def walk(self, flow: Flow, timed: frozenset[str]) -> Reached:
        """Follow a cell, then all that it leads to."""
        namespace = self._notebook.names
        self._defined = flow.defined
        for name in flow.reads:  # what the text itself tells is told, however little time there is
            if name in namespace and not flow.stars:
                self._noted[id(namespace), name] = self._note(name, namespace[name], self._notebook)
        try:
            self._follow(flow, self._notebook, frozenset())
        except OutOfTimeError:
            self.complete = False
        else:
            self.drain()
        found = self._found
        found.uses |= self.uses
        found.complete &= self.complete
        found.hashes |= not self._holds.isdisjoint(self._orders)
        found.passes = found.complete and self.in_time and self._draws.passes_only(found.uses)
        self._time(flow, timed)
        return found

    def _time(self, flow: Flow, timed: frozenset[str]) -> None:
        """Tell what is only timed from readings that are used."""
        leaked = set(flow.leaked)
        candidates = []
        for name, made_of in flow.timed.items():
            if all(self._is_clock(part, flow, timed) for part in made_of):
                candidates.append((name, made_of))
            else:
                leaked |= made_of
        self._found.timed.update(name for name, made_of in candidates if leaked.isdisjoint(made_of))
        for path in leaked:
            asked = asked_by(path.removesuffix("()"), 0, self._notebook.names)
            if asked is not None:
                self._leaked.add(asked)
        self._found.timing = {name for name in self._found.asks if name in CLOCKS} - self._leaked

    def _is_clock(self, part: str, flow: Flow, timed: frozenset[str]) -> bool:
        path = part.removesuffix("()")
        if path == part:
            return part in timed
        given = flow.calls.get(path, ANY)
        return asked_by(path, given, self._notebook.names) in CLOCKS

    # -- code ----------------------------------------------------------------------------------

    def _follow(self, flow: Flow, home: _Home, known: frozenset[str]) -> None:
        """Follow code.

        Args:
            flow: What it does with names.
            home: Where these are found.
            known: Names of the notebook that the cell sets before this code runs.
        """
        self._judge(flow, home, known)
        stars = [find_imported(path[1:], home.package)[0] for path in flow.stars]
        for name, before in sorted(flow.reads.items(), key=_fewest_known):
            self.tick()
            if home.holds(name, known):
                self._read(name, home, known if home.module else known | before, stars)
            else:
                self._run_new(name, known | before)
        for path in flow.paths:
            self.tick()
            if home.holds(path.partition(".")[0], known):
                self._path(path, home, known)

    def run(self, code: CodeType, names: Mapping[str, Any], known: frozenset[str]) -> None:
        home = self._home(names)
        if not home.module or is_local_module(home.module):
            self._follow(flow_of_code(code), home, known)

    def _run_new(self, name: str, known: frozenset[str]) -> None:
        """Follow a function that the cell itself defines before code of earlier cells calls it."""
        flow = self._defined.get(name)
        if flow is None:
            return
        before = self._followed.get(id(flow))
        if before is None or not before <= known:
            self._followed[id(flow)] = known if before is None else known & before
            self._follow(flow, self._notebook, known)

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

    def _read(self, name: str, home: _Home, known: frozenset[str], stars: list[Any]) -> None:
        for module in stars:
            if module is not MISSING and name in inside.module_names(module):
                self._attribute(module, name, known)
                return
        if name in home.names:
            self._name(name, home.names[name], home, known)

    def _name(self, name: str, value: Any, home: _Home, known: frozenset[str]) -> None:  # noqa: ANN401
        """Note a name and what its value leads to."""
        key = id(home.names), name
        noted = self._noted.get(key)
        if noted is None:
            noted = self._noted[key] = self._note(name, value, home)
        if noted:
            self.push([value], known)

    def _note(self, name: str, value: Any, home: _Home) -> bool:  # noqa: ANN401
        """Note a name, and tell whether its value is an input, to be followed."""
        self.use(value)
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

    def meet_class(self, made: type, known: frozenset[str]) -> None:
        name, module = name_of_class(made), sys.modules.get(module_of_class(made))
        if self._notebook.names.get(name) is made:
            self._name(name, made, self._notebook, known)
        elif module is not None and inside.module_names(module).get(name) is made:
            self._name(name, made, self._home(inside.module_names(module)), known)

    def meet_object(self, value: Any) -> None:  # noqa: ANN401
        self._draws.meet(value)

    def _path(self, path: str, home: _Home, known: frozenset[str]) -> None:
        """Follow a dotted name through modules to the attribute that is read."""
        imported = path[:1] == ":"
        if imported:
            value, rest = find_imported(path[1:], home.package)
        else:
            root, _, rest = path.partition(".")
            value = home.names.get(root, MISSING)
            if f"{root}.{rest.partition('.')[0]}" in known and not home.module:
                return
        steps = rest.split(".") if rest else []
        while inside.is_module(value):
            self.use(value)
            if not steps:
                if not imported:
                    self._whole(value, known)
                return
            name = steps.pop(0).removesuffix("()")
            if name.endswith("="):
                self._set_attribute(value, name[:-1])
                return
            names = inside.module_names(value)
            if name not in names:
                return
            self._attribute(value, name, known)
            value = names[name]

    def _attribute(self, module: Any, name: str, known: frozenset[str]) -> None:  # noqa: ANN401
        """Note an attribute of a module of the user's."""
        full = inside.module_of(module)
        names = inside.module_names(module)
        if full != "__main__" and is_local_module(full):
            self._name(name, names[name], self._home(names), known)

    def _set_attribute(self, module: Any, name: str) -> None:  # noqa: ANN401
        """Note that an attribute of a module of the user's is set."""
        full = inside.module_of(module)
        if full != "__main__" and is_local_module(full):
            self._found.sets[f"{full}.{name}"] = full, name

    def _whole(self, module: Any, known: frozenset[str]) -> None:  # noqa: ANN401
        """Note all that a module of the user's holds, where it is handed on as a whole."""
        if is_local_module(inside.module_of(module)):
            for name in list(inside.module_names(module)):
                self.tick()
                if type(name) is str:
                    self._attribute(module, name, known)

    # -- clocks, entropy and hashes --------------------------------------------------------------

    def _judge(self, flow: Flow, home: _Home, known: frozenset[str]) -> None:
        """Note what hangs on more than names."""
        found = self._found
        found.uses |= flow.imports
        found.files |= flow.files
        found.asks |= flow.programs
        found.complete &= flow.complete
        self._holds |= flow.holds
        self._draws.names |= flow.calls.keys() | flow.handed | flow.paths | flow.attributes
        if not home.module:
            found.writes |= flow.writes
        for path, given in flow.calls.items():
            self.tick()
            if home.holds(path.partition(".")[0], known):
                self._call(path, given, home, flow)
        for path in flow.handed:
            self.tick()
            if home.holds(path.partition(".")[0], known):
                self._hand(path, home)
        for order in flow.orders:
            self._order(order, home, known)

    def _call(self, path: str, given: int, home: _Home, flow: Flow) -> None:
        """Note a call that asks a clock, for entropy, another program or for a hash."""
        if path == BY_HASH and BY_HASH not in home.names:
            self._found.hashes = True
        asked = asked_by(path, given, home.names, home.package)
        if asked is not None:
            self._found.asks.add(asked)
            followed = path.rpartition(".")[2].lstrip(":") in CLOCK_TAILS
            if f"{path}()" in flow.leaked or not followed:
                self._leaked.add(asked)

    def _hand(self, path: str, home: _Home) -> None:
        """Note what is handed to a call: a function that it may call, or a set it may go over."""
        if not path.endswith("()"):
            asked = asked_by(path, ANY, home.names, home.package)
            if asked is not None:
                self._found.asks.add(asked)
                self._leaked.add(asked)
        self._found.hashes |= has_random_order(home.names.get(path))

    def _order(self, order: str, home: _Home, known: frozenset[str]) -> None:
        """Note that the order of something is asked for, which may be a set's."""
        kind, _, path = order.partition(":")
        if order == UNKNOWN_ORDER:
            self._found.hashes = True
            return
        value = home.names.get(path, MISSING) if home.holds(path, known) else MISSING
        if kind == "items":
            self._found.hashes |= value is MISSING or hashes_randomly(value)
        elif has_random_order(value):
            self._found.hashes = True
        else:
            self._orders.add(path.rpartition(".")[2].lstrip(":"))


def _fewest_known(read: tuple[str, frozenset[str]]) -> int:
    return len(read[1])
