"""Finds what a cell reads: the values and the code of the user's that its names lead to.

From each name, functions and classes of the notebook and of local modules are followed through
their own global names, closures, defaults and decorators. Code of installed packages is not.
Nothing is called: attributes are read from dictionaries and slots only.
"""

from __future__ import annotations

import builtins
import re
import sys
import time
from typing import TYPE_CHECKING, Any

from ipytorchseed.introspection import values as introspection
from ipytorchseed.introspection.anatomy import module_of_class, name_of_class
from ipytorchseed.introspection.ownership import is_local_module
from ipytorchseed.reads.code import effects_of_code
from ipytorchseed.reads.dependencies import Dependencies, is_result
from ipytorchseed.reads.draws import Draws
from ipytorchseed.reads.evaluator import follow
from ipytorchseed.reads.frames import names_in_query
from ipytorchseed.reads.home import DUNDER, Home, fill_in, home_of, is_plain
from ipytorchseed.reads.lending import find_renewed, how_set_anew
from ipytorchseed.reads.methods import BY_KEYS, BY_METHODS, is_model, read_by, through_methods
from ipytorchseed.reads.nondeterminism import Nondeterminism
from ipytorchseed.reads.overwrites import LAYERS, UNREAD, WHOLE
from ipytorchseed.reads.parsing import parse_text
from ipytorchseed.reads.parts import find_parts, path_otherwise
from ipytorchseed.reads.patches import Met, Place, find_at, find_used, is_replaced, place_in
from ipytorchseed.reads.resolution import MISSING, find_imported
from ipytorchseed.reads.scope import Reader, TooMuchError
from ipytorchseed.reads.uses import part_named
from ipytorchseed.reads.values import OutOfTimeError, Values

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from types import CodeType

    from ipytorchseed.reads.effects import Effects

_NOBODYS = re.compile(r"_+|_i+|_i?\d+|_[dio]h|In|Out|get_ipython|exit|quit|open|__\w+__|__vsc\w*")
"""Names that the shell or the interpreter puts into the namespace."""

_ENVIRONMENT = frozenset({"environ", "environb", "getenv"})
_VARIABLE = re.compile(r"[A-Z][A-Z0-9_]{1,80}")
"""Names by which code asks the environment, and names of its variables."""


def find_dependencies(  # noqa: PLR0913 -- the last by name
    effects: Effects,
    namespace: Mapping[str, Any],
    hidden: Iterable[str] = (),
    timed: Iterable[str] = (),
    *,
    patched: Mapping[str, Place] | None = None,
    seconds: float = 0.05,
) -> Dependencies:
    """Find what a cell reads, directly and through what it calls.

    Args:
        effects: What the cell does with names.
        namespace: The user's namespace, before the cell runs.
        hidden: Names of the shell's own, which are no input.
        timed: Names that hold readings of clocks, as earlier cells' ``Dependencies.timed`` told.
        patched: Attributes of packages that earlier cells set, as ``Dependencies.sets`` told.
        seconds: Of this thread's own time, that this may take. What is found by then is returned,
            as incomplete.
    """
    walker = _Walker(namespace, frozenset(hidden), time.thread_time() + seconds)
    return walker.walk(effects, frozenset(timed), patched or {})


class _Walker(Values):
    """Follows code from name to value to code."""

    def __init__(
        self, namespace: Mapping[str, Any], hidden: frozenset[str], deadline: float
    ) -> None:
        super().__init__(deadline)
        self._found = Dependencies()
        self._notebook = Home(namespace, "")
        self._hidden = hidden
        self._defined: Mapping[str, Effects] = {}
        self._followed: dict[int, frozenset[str]] = {}
        self._noted: dict[tuple[int, str], bool] = {}
        self._chance = Nondeterminism()
        self._draws = Draws()
        self._entire: set[str] = set()
        self._counted: set[str] = set()
        self._anew: dict[str, set[str]] = {WHOLE: set(), LAYERS: set()}
        self._as_left: dict[str, set[str]] = {WHOLE: set(), LAYERS: set()}
        self._renewed: dict[str, set[str]] = {}
        self._met = Met()

    def walk(
        self, effects: Effects, timed: frozenset[str], patched: Mapping[str, Place]
    ) -> Dependencies:
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
            if not self._found.complete and self.in_time:
                self._follow_given(effects)
        found = self._found
        found.packages |= self.packages
        if patched:
            self._note_patches(patched)
            self.drain()
        found.complete &= self.complete
        for name in [*found.parts]:
            if name in self._entire or not found.complete:
                del found.parts[name]
        found.only_loader_seed_draws = (
            found.complete and self.in_time and self._draws.only_loader_seeds(found.packages)
        )
        if found.complete and self.in_time:
            found.counted = self._counted - self._draws.uncounted
        found.overwritten = self._anew[WHOLE] - self._as_left[WHOLE]
        found.overwritten |= self._renewed_parts()
        found.initialised = self._anew[LAYERS] - self._as_left[LAYERS]
        found.heeded = self._draws.heeded(found.packages, complete=found.complete and self.in_time)
        found.passive_loaders = self._draws.passive_loaders if found.complete else 0
        found.timing, found.timed = self._chance.readings(effects, namespace, timed)
        found.nondeterministic_calls, found.hashes = self._chance.calls, self._chance.hashes
        found.mixed = self._chance.mixed
        return found

    def _note_patches(self, patched: Mapping[str, Place]) -> None:
        """Note those of the attributes of packages that the user set which the cell comes by."""
        self._met.classes += [about.kind for about in self._kinds.values() if not about.local]
        for name in find_used(patched, self._met, self._found.packages):
            if is_replaced(patched[name]):
                self._found.names.setdefault(name, patched[name])
                self._found.replaced.add(name)
                self.push([find_at(patched[name])], frozenset())

    def _renewed_parts(self) -> set[str]:
        """Return the parts of objects that all code which reads these sets anew first."""
        known = self._found.complete and self.in_time
        items = self._renewed.items() if known else ()
        return {f"{name}.{part}" for name, parts in items for part in parts}

    # -- code ----------------------------------------------------------------------------------

    def _follow(
        self,
        effects: Effects,
        home: Home,
        assigned: frozenset[str],
        code: CodeType | None = None,
    ) -> None:
        """Follow code.

        Args:
            effects: What it does with names.
            home: Where these are found.
            assigned: Names of the notebook that the cell sets before this code runs.
            code: The code, where it is a function's.
        """
        self._draws.look_up(effects, code)
        self._counted |= effects.counted
        if home.found_again:
            given = self._given(effects, home)
            for name, parts in find_parts(effects, home.names, given).items():
                read = parts and self._read_of(home.names.get(name), parts)
                if read is None:
                    self._entire.add(home.shown(name))
                else:
                    self._found.parts.setdefault(home.shown(name), set()).update(read)
        self._note_overwrites(effects, home)
        self._judge(effects, home, assigned)
        stars = [find_imported(path[1:], home.package)[0] for path in effects.stars]
        for name, before in sorted(effects.reads.items(), key=_fewest_known):
            self.tick()
            if home.holds(name, assigned):
                self._read(name, home, assigned if home.module else assigned | before, stars)
            else:
                self._run_new(name, assigned | before)
        columns = filter(None, (path_otherwise(*each) for each in effects.columns))
        for path in effects.paths.union((each[0] for each in effects.given), columns):
            self.tick()
            if home.holds(path.partition(".")[0], assigned):
                self._path(path, home, assigned)
        for kind, text in effects.held:
            try:
                self._follow_texts(kind, fill_in(text, home.names), home, assigned)
            except (RecursionError, TooMuchError):
                self._found.complete = False

    def _follow_given(self, effects: Effects) -> None:
        """Follow the cell's own texts that name variables, as some code runs texts not known.

        That may be ``eval(name) for name in self.args`` in a class, where the cell says
        ``show("prices", "prices.sum()")``.
        """
        for text in effects.texts:
            tree = parse_text(text.strip())
            inner = follow(tree, Reader(parse_text)) if tree is not None else None
            if inner is not None and not self._notebook.names.keys().isdisjoint(inner.reads):
                self._follow(inner, self._notebook, frozenset())
        self.drain()

    def _follow_texts(
        self, kind: str, texts: Iterable[str], home: Home, assigned: frozenset[str]
    ) -> None:
        """Follow names and code that stand in texts, as in ``Effects.held``."""
        known = False
        for text in texts:
            self.tick()
            tree = parse_text(text.strip()) if kind == "code" else None
            known |= kind == "query" or text in home.names or tree is not None
            if tree is not None:
                self._follow(follow(tree, Reader(parse_text)), home, assigned)
            for name in names_in_query(text) if kind == "query" else (text,):
                if name in home.names:
                    self._entire.add(home.shown(name))
                    self._read(name, home, assigned, [])
        self._found.complete &= known

    def _given(self, effects: Effects, home: Home) -> dict[str, set[str] | None]:
        """Find what functions read of the values that they are given, by name; None for all."""
        found: dict[str, set[str] | None] = {}
        for name, function, place in effects.given:
            self.tick()
            read = read_by(home.names, function, place)
            known = found.get(name, set())
            if known is not None and read is not None:
                found[name] = known.union(map(part_named, read))
            else:
                found[name] = None
        return found

    def _read_of(self, value: Any, parts: set[str]) -> set[str] | None:  # noqa: ANN401
        """Return what is read of a value where code uses these parts; None for all of it."""
        if self._about(type(value)).based or is_model(value):
            return through_methods(value, parts)
        by_keys = BY_KEYS if type(value) is dict else frozenset[str]()
        return parts if (BY_METHODS - by_keys).isdisjoint(parts) else None

    def _note_overwrites(self, effects: Effects, home: Home) -> None:
        """Note which names this code sets anew before it reads them, and which it reads as left."""
        for name in effects.reads:
            how = how_set_anew(effects.anew.get(name), effects.writes, home.names)
            shown = home.shown(name)
            for kind in (WHOLE, LAYERS) if how != UNREAD else ():
                found = self._anew if how in (kind, WHOLE) else self._as_left
                found[kind].add(shown)
            parts = find_renewed(name, effects.renewed, effects.writes, home.names)
            self._renewed[shown] = self._renewed.get(shown, parts) & parts

    def _judge(self, effects: Effects, home: Home, assigned: frozenset[str]) -> None:
        """Note what hangs on more than names."""
        found, chance = self._found, self._chance
        self._met.names |= effects.attributes | effects.reads.keys()
        found.packages |= effects.imports
        found.files |= effects.files
        found.texts |= effects.texts
        found.complete &= effects.complete
        chance.calls |= effects.programs
        chance.sets |= effects.holds
        if not home.module:
            found.writes |= effects.writes
        for path, given in effects.calls.items():
            self.tick()
            if home.holds(path.partition(".")[0], assigned):
                used = f"{path}()" in effects.escaped
                chance.call(path, given, home.names, home.package, used=used)
        for path in effects.mixed:
            if home.holds(path.partition(".")[0], assigned):
                chance.mix(path.removesuffix("()"), home.names, home.package)
        for path in effects.handed:
            self.tick()
            if home.holds(path.partition(".")[0], assigned):
                chance.hand(path, home.names, home.package)
        for order in effects.orders:
            path = order.partition(":")[2]
            known = path and home.holds(path, assigned)
            chance.order(order, home.names.get(path, MISSING) if known else MISSING)

    def run(self, code: CodeType, names: Mapping[str, Any], assigned: frozenset[str]) -> None:
        home = self._home(names)
        if not home.module or is_local_module(home.module):
            if not _ENVIRONMENT.isdisjoint(code.co_names):
                constants = [each for each in code.co_consts if type(each) is str]
                self._found.variables.update(filter(_VARIABLE.fullmatch, constants))
            self._follow(effects_of_code(code), home, assigned, code)

    def _run_new(self, name: str, assigned: frozenset[str]) -> None:
        """Follow a function that the cell itself defines before code of earlier cells calls it."""
        effects = self._defined.get(name)
        if effects is None:
            return
        before = self._followed.get(id(effects))
        if before is None or not before <= assigned:
            self._followed[id(effects)] = assigned if before is None else assigned & before
            self._follow(effects, self._notebook, assigned)

    def _home(self, names: Mapping[str, Any]) -> Home:
        return self._notebook if names is self._notebook.names else home_of(names)

    # -- names ---------------------------------------------------------------------------------

    def _read(self, name: str, home: Home, assigned: frozenset[str], stars: list[Any]) -> None:
        for module in stars:
            if module is not MISSING and name in introspection.module_names(module):
                self._attribute(module, name, assigned)
                return
        if name in home.names:
            self._use(home.names[name])
            self._name(name, home.names[name], home, assigned)
        else:
            self._met.looked_up.add((id(vars(builtins)), name))
            self._found.missing |= set() if home.module else {name}

    def _use(self, value: Any) -> None:  # noqa: ANN401
        if introspection.is_class(value):
            self._draws.use(value)

    def _name(self, name: str, value: Any, home: Home, assigned: frozenset[str]) -> None:  # noqa: ANN401
        """Note a name and what its value leads to."""
        key = id(home.names), name
        noted = self._noted.get(key)
        if noted is None:
            noted = self._noted[key] = self._note(name, value, home)
        if noted:
            self.push([value], assigned)

    def _note(self, name: str, value: Any, home: Home) -> bool:  # noqa: ANN401
        """Note a name, and tell whether its value is an input, to be followed."""
        self.note_package(value)
        self._meet(value)
        if introspection.is_function(value):  # by whatever name it goes here
            self._draws.names.add(introspection.qualified_name(value))
        followed = self.is_input(value)
        alias = not home.module and introspection.qualified_name(value).rpartition(".")[2] != name
        if introspection.is_module(value) or not (followed or alias):
            return False
        if home.module:
            if DUNDER.fullmatch(name):
                return False
        elif (name in self._hidden or _NOBODYS.fullmatch(name)) and not is_result(name):
            return False
        if home.found_again:
            self._found.names.setdefault(home.shown(name), (home.module, name))
        return followed  # what a package gives is not, but its alias may come to mean another

    def meet_class(self, made: type, assigned: frozenset[str], *, whole: bool) -> None:
        self._draws.meet_class(made)
        name, home = name_of_class(made), self._home_of(made)
        if home is not None:
            self._entire |= {home.shown(name)} if whole else set()
            self._name(name, made, home, assigned)

    def _home_of(self, made: type) -> Home | None:
        """Return where a class is found under its own name."""
        name, module = name_of_class(made), sys.modules.get(module_of_class(made))
        if self._notebook.names.get(name) is made:
            return self._notebook
        if module is not None and introspection.module_names(module).get(name) is made:
            return self._home(introspection.module_names(module))
        return None

    def meet_object(self, value: Any) -> None:  # noqa: ANN401
        self._draws.meet(value)
        made = type(value)
        home = self._home_of(made) if is_local_module(module_of_class(made)) else None
        if home is not None:
            self._entire.add(home.shown(name_of_class(made)))

    def _path(self, path: str, home: Home, assigned: frozenset[str]) -> None:
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
        while introspection.is_module(value):
            self.note_package(value)
            if not steps:
                if not imported:
                    self._whole(value, assigned)
                return
            called, name = steps[0].endswith("()"), steps.pop(0).removesuffix("()")
            if name.endswith("="):
                self._set_attribute(value, name[:-1])
                return
            names = introspection.module_names(value)
            if name not in names:
                return
            self._attribute(value, name, assigned)
            value = names[name]
            self._met.looked_up.add((id(names), name))
            self._meet(value)
            if called:
                return
        if steps and steps[0].endswith("=") and introspection.is_class(value):
            self._set_attribute(value, steps[0][:-1])

    def _meet(self, value: Any) -> None:  # noqa: ANN401
        """Keep functions and classes that code names, for ``_note_patches``."""
        if introspection.is_class(value):
            self._met.classes.append(value)
        elif introspection.is_function(value):
            self._met.functions.append(value)

    def _attribute(self, module: Any, name: str, assigned: frozenset[str]) -> None:  # noqa: ANN401
        """Note an attribute of a module of the user's, or one that the user may put into another.

        Of packages that is a function of the user's, and a number or a text, whoever set it.
        """
        full = introspection.module_of(module)
        names = introspection.module_names(module)
        code = introspection.is_function(names[name]) or introspection.is_class(names[name])
        replaced = code and is_local_module(introspection.module_of(names[name]))
        plain = not is_local_module(full) and is_plain(names, name)
        if full != "__main__" and plain:
            self._found.names.setdefault(f"{full}.{name}", (full, name))
        elif full != "__main__" and (replaced or is_local_module(full)):
            self._use(names[name])
            home = self._home(names)
            self._entire.add(home.shown(name))
            self._found.replaced |= set() if is_local_module(full) else {home.shown(name)}
            self._name(name, names[name], home, assigned)

    def _set_attribute(self, owner: Any, name: str) -> None:  # noqa: ANN401
        """Note that an attribute is set of a module, or of a class of a package."""
        full = introspection.module_of(owner)
        local = is_local_module(full)
        place = (full, name) if local and full != "__main__" else place_in(owner, name)
        if place is not None and not (local and introspection.is_class(owner)):
            self._found.sets[".".join(place)] = place

    def _whole(self, module: Any, assigned: frozenset[str]) -> None:  # noqa: ANN401
        """Note all that a module of the user's holds, where it is handed on as a whole."""
        if is_local_module(introspection.module_of(module)):
            for name in list(introspection.module_names(module)):
                self.tick()
                if type(name) is str:
                    self._attribute(module, name, assigned)


def _fewest_known(read: tuple[str, frozenset[str]]) -> int:
    return len(read[1])
