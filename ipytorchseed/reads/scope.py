"""The names in a scope, and the effects of its code on them.

The bodies of loops, ``with`` and ``try`` are assumed to run. After ``if``, a name is certainly set
only if both branches set it. The names that a function reads are recorded where the name of the
function is read. The names that methods read are recorded where the name of their class is read.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from itertools import chain, zip_longest

from ipytorchseed.reads.actions import is_name
from ipytorchseed.reads.bindings import names_of
from ipytorchseed.reads.effects import Effects
from ipytorchseed.reads.seeding import as_if_seeded

# Parses the text of a cell as the shell does; returns None if it is invalid.
Parse = Callable[[str], ast.Module | None]

# What a value is computed from: calls that return readings of clocks, such as ``time.time()``, and
# names. None if it contains anything else.
Reading = frozenset[str] | None

# If an expression of one of these types is only shown, its parts are only shown too.
_PARTS_SHOWN = (
    *(ast.Name, ast.Attribute, ast.Call, ast.BinOp, ast.UnaryOp, ast.JoinedStr),
    *(ast.FormattedValue, ast.Starred, ast.Tuple, ast.List, ast.Set, ast.Dict),
    *(ast.ListComp, ast.DictComp),
)


class Scope(ast.NodeVisitor):
    """The names of one scope, a cell or a function, during the walk through its code.

    ``visit`` calls the method that is named after the class of the node, such as ``visit_Assign``.
    It returns the dotted name of the value: the first part is a name in the namespace, or a colon
    and a module's full name. ``()`` means a call, as in ``:torch.Generator().seed``. Unknown names
    are empty.

    Args:
        local: Names that are local to the scope.
        parse: Parses strings inside the code.

    Attributes:
        effects: The effects of the code so far.
        defined: The effects of the functions and classes that the code defines.
    """

    def __init__(self, local: set[str], parse: Parse) -> None:
        self.effects = Effects()
        self._local = local
        self._parse = parse
        self._assigned = {*local}  # names whose earlier values are certainly gone
        self._paths: dict[str, str] = {}  # the dotted names of values that were set
        self.defined: dict[str, list[Effects]] = {}
        self._readings: dict[str, frozenset[str]] = {}
        self._called = set[str]()  # names read by functions that may have run
        self._depth = 0  # of branches
        self._exits: list[set[str]] = []  # what is assigned where the loop is left
        self._shown = self._orderless = False  # the value is only shown; its order is ignored

    def visit(self, node: ast.AST) -> str:
        """Walk a node, and return the dotted name of its value."""
        shown, self._shown = self._shown, self._shown and isinstance(node, _PARTS_SHOWN)
        walk = getattr(self, f"visit_{type(node).__name__}", self._visit_parts)
        path: str | None = walk(node)
        self._shown = shown
        return path or ""

    def _visit_parts(self, node: ast.AST) -> None:
        for part in ast.iter_child_nodes(node):
            self.visit(part)

    def block(self, nodes: Sequence[ast.AST]) -> None:
        """Walk statements."""
        for node, following in zip_longest(nodes, nodes[1:]):
            self.visit(as_if_seeded(node, following))

    def _branch(self, *blocks: Sequence[ast.AST]) -> None:
        """Walk alternative blocks."""
        start, ends = self._assigned, []
        self._depth += 1
        for nodes in blocks:
            self._assigned = {*start}
            self.block(nodes)
            ends.append(self._assigned)
        self._depth -= 1
        self._assigned = set.intersection(*ends)

    @contextmanager
    def _scope(self, names: set[str]) -> Iterator[None]:
        """Make names local to a comprehension or to the body of a class."""
        before = self._local, {**self._paths}, {**self.defined}, {**self._readings}
        new = names - self._assigned
        self._local = self._local | names
        yield
        self._assigned -= new
        self._local, self._paths, self.defined, self._readings = before

    def _load(self, name: str) -> str:
        """Record that a name is read, and return its dotted name."""
        known = name in self._assigned
        if not known:
            self.effects.reads[name] = None
        if name in self.defined:
            self.run(self.defined[name])
        if not self._shown:
            self.effects.escaped |= self._readings.get(name, frozenset())
        return self._paths.get(name) or ("" if known else name)

    def _look_up(self, name: str, method: str = "") -> str:
        """Record that a value is used.

        Args:
            name: The name of the value.
            method: The only method that is called, with a leading dot; "" if unknown.
        """
        path = self._load(name)
        if path:  # ``__len__`` means any method that ignores order
            self.effects.paths.add(f"{path}{'.__len__' if self._orderless else method}")
        return path

    def _store(
        self, name: str, path: str = "", reading: Reading = None, bodies: Sequence[Effects] = ()
    ) -> None:
        """Record that a name is set."""
        self._assigned.add(name)
        kept = self.defined.get(name, []) if self._depth else []
        if path or not self._depth:
            self._paths[name] = path
        self.defined[name] = [*kept, *bodies]
        self._time(name, reading)
        if name not in self._local:
            self.effects.writes.add(name)
        if name in self._called:
            self.run(bodies)

    def _time(self, name: str, reading: Reading) -> None:
        """Record what the value of a name is computed from."""
        if reading is None:
            self.effects.escaped |= self._readings.pop(name, frozenset())
        else:
            self._readings[name] = reading
        if name not in self._local:
            known = self.effects.timed.get(name, frozenset())
            self.effects.timed[name] = known | (frozenset({""}) if reading is None else reading)

    def _resolve(self, path: str) -> str:
        """Return what a dotted name in an inner function means in this scope."""
        name = path.partition(".")[0].removesuffix("()")
        known = self._paths.get(name, "")
        if known:
            return f"{known}{path[len(name) :]}"
        return "" if name in self._assigned else path

    def _record_set(self, items: str = "") -> None:
        """Record that a set is created, from the items of the value named ``items``."""
        if not self._orderless:
            self.effects.sets.add(items)

    def _hold(self, path: str) -> None:
        """Record that a string, maybe a variable's value, is used as a name or as code."""
        if path.isidentifier():
            self.effects.held.add(("text", path))
        else:
            self.effects.complete = False

    def run(self, bodies: Iterable[Effects], seen: set[int] | None = None) -> None:
        """Record the effects of functions that may run here, and of functions they call.

        Args:
            bodies: The effects of the functions.
            seen: The ``id`` of effects that were already recorded.
        """
        seen = set() if seen is None else seen
        for inside in bodies:
            if id(inside) not in seen:
                seen.add(id(inside))
                self._called |= inside.reads.keys()
                self.effects.reads |= dict.fromkeys(inside.reads.keys() - self._assigned)
                self._add(inside)
                self.run(chain(*(self.defined.get(name, ()) for name in inside.reads)), seen)

    def _add(self, inside: Effects) -> None:
        """Add the effects of a function, with its dotted names resolved in this scope."""
        ours = self.effects
        for path, given in inside.calls.items():
            if found := self._resolve(path):
                ours.call(found, given)
        named = (self._resolve(each) if is_name(each) else each for each in inside.actions)
        ours.actions |= dict.fromkeys(filter(None, named))
        for field in ("paths", "handed", "escaped"):
            getattr(ours, field).update(filter(None, map(self._resolve, getattr(inside, field))))
        ours.sets.update(map(self._resolve, inside.sets))
        ours.writes |= inside.writes - self._local
        for field in ("held", "attributes", "stars", "files", "texts", "programs"):
            getattr(ours, field).update(getattr(inside, field))
        ours.complete &= inside.complete

    def function(
        self, node: ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda, body: Sequence[ast.AST]
    ) -> Effects:
        """Return the effects of calling a function."""
        inner = type(self)(names_of(node), self._parse)
        inner.block(body)
        inner.effects.escaped.update(*inner.effects.timed.values())
        return inner.effects
