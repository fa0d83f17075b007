"""Follows names to their values, in the notebook and in modules.

No user code runs: attributes are only read from dictionaries and slots.
"""

from __future__ import annotations

import sys
from collections.abc import Iterable, Mapping
from typing import Any

from msgspec import Struct

from ipytorchseed.introspection import values as introspection
from ipytorchseed.introspection.anatomy import module_of_class, name_of_class
from ipytorchseed.introspection.ownership import is_local_module
from ipytorchseed.patterns import lazy_pattern
from ipytorchseed.reads.dependencies import Dependencies, is_result
from ipytorchseed.reads.patches import place_in
from ipytorchseed.reads.resolution import MISSING, find_imported
from ipytorchseed.reads.values import ValueFollower

# Matches names that are reserved for the interpreter.
_DUNDER = lazy_pattern(r"__\w+__")

# Matches names that the shell or the interpreter adds to the namespace.
_SPECIAL = lazy_pattern(r"_+|_i+|_i?\d+|_[dio]h|In|Out|get_ipython|exit|quit|open|__\w+__|__vsc\w*")


class Home(Struct, frozen=True):
    """A global namespace.

    Attributes:
        names: The dictionary of the namespace.
        module: The module's name; "" for the notebook.
        found_again: Whether the namespace can be looked up later, because it belongs to the
            notebook or to a loaded module.
        package: The package to which relative imports refer.
    """

    names: Mapping[str, Any]
    module: str
    found_again: bool = True
    package: str = ""

    def shown(self, name: str) -> str:
        """Return a name with the module's name in front, except in the notebook."""
        return f"{self.module}.{name}" if self.module else name


def home_of(names: Mapping[str, Any]) -> Home:
    """Return the namespace of a dictionary of global names."""
    name = introspection.text(names.get("__name__"))
    module = sys.modules.get(name)
    loaded = module is not None and introspection.module_names(module) is names
    package = introspection.text(names.get("__package__"))
    return Home(names, name or "?", loaded and name != "__main__", package)


class NameFollower(ValueFollower):
    """A follower of names, which records those whose values are inputs.

    Args:
        namespace: The user's namespace.
        hidden: Names in the namespace that belong to the shell, and are not inputs.
        deadline: The ``time.thread_time`` at which to stop.
    """

    def __init__(
        self, namespace: Mapping[str, Any], hidden: frozenset[str], deadline: float
    ) -> None:
        super().__init__(deadline)
        self._found = Dependencies()
        self._called = self._notebook = Home(namespace, "")
        self._hidden = hidden

    def _home(self, names: Mapping[str, Any]) -> Home:
        return self._called if names is self._called.names else home_of(names)

    # -- names ---------------------------------------------------------------------------------

    def read(self, name: str, home: Home, stars: Iterable[Any] = ()) -> None:
        """Follow a global name that code reads.

        Args:
            name: The name.
            home: The namespace of the code.
            stars: Modules from which the code imports all names.
        """
        for module in stars:
            if module is not MISSING and name in introspection.module_names(module):
                self._attribute(module, name)
                return
        if name in home.names:
            self._name(name, home.names[name], home)
        else:
            self._found.missing |= set() if home.module else {name}

    def _name(self, name: str, value: Any, home: Home) -> None:  # noqa: ANN401
        """Record a name and follow its value."""
        if self.record_name(name, value, home):
            self.push([value])

    def record_name(self, name: str, value: Any, home: Home) -> bool:  # noqa: ANN401
        """Record a name if it is an input; return whether to follow its value."""
        self.record_package(value)
        followed = self.is_input(value)
        alias = not home.module and introspection.qualified_name(value).rpartition(".")[2] != name
        if introspection.is_module(value) or not (followed or alias):
            return False
        if home.module:
            if _DUNDER.fullmatch(name):
                return False
        elif (name in self._hidden or _SPECIAL.fullmatch(name)) and not is_result(name):
            return False
        if home.found_again:
            self._found.names.setdefault(home.shown(name), (home.module, name))
        return followed  # an alias of a package's function is recorded, but not followed

    def meet_class(self, made: type) -> None:
        """Record a user class, if it can be found under its own name."""
        name, module = name_of_class(made), sys.modules.get(module_of_class(made))
        for names in (self._called.names, introspection.module_names(module)):
            if names.get(name) is made:
                self.record_name(name, made, self._home(names))
                return

    # -- attributes of modules -----------------------------------------------------------------

    def read_path(self, path: str, home: Home) -> None:
        """Follow a dotted name through modules, and record the attribute read or set."""
        imported = path[:1] == ":"
        if imported:
            value, rest = find_imported(path[1:], home.package)
        else:
            root, _, rest = path.partition(".")
            value = home.names.get(root, MISSING)
        while introspection.is_module(value):
            self.record_package(value)
            if rest.endswith("=") and "." not in rest:
                break
            step, _, rest = rest.partition(".")
            name, names = step.removesuffix("()"), introspection.module_names(value)
            if not step and not imported:
                self._whole_module(value)
            if name not in names:
                return
            self._attribute(value, name)
            if step != name:  # the result of a call is unknown
                return
            value = names[name]
        is_owner = introspection.is_module(value) or introspection.is_class(value)
        if is_owner and rest.endswith("=") and "." not in rest:
            self._set_attribute(value, rest[:-1])

    def _attribute(self, module: Any, name: str) -> None:  # noqa: ANN401
        """Record an attribute of a module if the user may have set it.

        In packages, only user functions, user classes, numbers and strings are recorded.
        """
        full = introspection.module_of(module)
        if full == "__main__":
            return
        names = introspection.module_names(module)
        value, local = names[name], is_local_module(full)
        code = introspection.is_function(value) or introspection.is_class(value)
        replaced = code and is_local_module(introspection.module_of(value))
        if not local and introspection.is_scalar(value) and not _DUNDER.fullmatch(name):
            self._found.names.setdefault(f"{full}.{name}", (full, name))
        elif local or replaced:
            home = self._home(names)
            self._found.replaced |= set() if local else {home.shown(name)}
            self._name(name, value, home)

    def _set_attribute(self, owner: Any, name: str) -> None:  # noqa: ANN401
        """Record that the cell may set an attribute of a module or of a package's class."""
        full = introspection.module_of(owner)
        local = is_local_module(full)
        place = (full, name) if local and full != "__main__" else place_in(owner, name)
        if place is not None and not (local and introspection.is_class(owner)):
            self._found.sets[".".join(place)] = place

    def _whole_module(self, module: Any) -> None:  # noqa: ANN401
        """Record all attributes of a user's module that the code uses as an object."""
        if is_local_module(introspection.module_of(module)):
            for name in list(introspection.module_names(module)):
                self.tick()
                if type(name) is str:
                    self._attribute(module, name)
