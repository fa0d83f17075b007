"""The state of a scope during evaluation: its names and their abstract values."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterable, Sequence
from functools import reduce
from itertools import zip_longest
from typing import Any, TypeVar

from msgspec import Struct

from ipytorchseed.reads.abstract import CONSTANT, UNKNOWN, AbstractValue, contents, join
from ipytorchseed.reads.actions import is_name
from ipytorchseed.reads.effects import Effects
from ipytorchseed.reads.parsing import children_of
from ipytorchseed.reads.seeding import as_if_seeded

Evaluate = Callable[["Scope", Any], AbstractValue | None]

# Parses the text of a cell as the shell does; returns None if it is invalid.
Parse = Callable[[str], ast.Module | None]

# The names that are certainly assigned at a place in the code; None if it is never reached.
Assigned = set[str] | None

T = TypeVar("T", bound=Evaluate)

_evaluators: dict[type[ast.AST], Evaluate] = {}


def evaluates(*kinds: str) -> Callable[[T], T]:
    """Register a function as the evaluator of node classes, ignoring unknown names."""

    def register(evaluate: T) -> T:
        for kind in kinds:
            if hasattr(ast, kind):
                _evaluators[getattr(ast, kind)] = evaluate
        return evaluate

    return register


# The maximum number of nodes in a cell or function. Evaluating them takes about 50 ms.
_MAX_NODES = 8_000


class TooMuchError(Exception):
    """The code has too many nodes to be evaluated."""


class Reader(Struct):
    """A parser for strings inside the code, and the number of nodes left.

    Attributes:
        parse: Parses the text of a cell, such as the body of ``%%time``; returns None if it is
            invalid.
        left: The number of nodes that may still be evaluated.
    """

    parse: Parse
    left: int = _MAX_NODES


class Scope:
    """Evaluates the code of one scope: a cell, a function or the body of a class.

    The attributes describe the state at the current place in the code.

    Args:
        local: Names that are local to the scope.
        reader: Parses strings inside the code.
        around: The scope around the body of a class. Names that the body sets are local.

    Attributes:
        effects: The effects of the code so far.
        assigned: Names that certainly were set or deleted, so that their earlier values are gone.
        bound: Abstract values of names that were or may have been set.
        dead: Whether this place is never reached.
        depth: The number of branches and loops around this place.
        loops: For each loop around this place, its exits so far: whether by ``break``, and the
            names assigned there.
        orderless: Whether the code here ignores the order of a set.
    """

    def __init__(self, local: set[str], reader: Reader, around: Scope | None = None) -> None:
        self.effects = Effects()
        self.local = local
        self.reader = reader
        self.assigned: set[str] = {*local} if around is None else {*around.assigned}
        self.bound: dict[str, AbstractValue] = {} if around is None else {**around.bound}
        self.dead = False
        self.depth = 0
        self.loops: list[list[tuple[bool, Assigned]]] = []
        self.orderless = False
        self._surroundings = None if around is None else {*around.assigned}
        self._not_timed: set[str] = set()

    def visit(self, node: ast.AST) -> AbstractValue:
        """Evaluate a node and return its abstract value.

        Raises:
            TooMuchError: Too many nodes were evaluated.
        """
        self.reader.left -= 1
        if self.reader.left < 0:
            raise TooMuchError
        evaluate = _evaluators.get(type(node))
        if evaluate is not None:
            return evaluate(self, node) or UNKNOWN  # statements have no value
        self.use(*children_of(node))
        return UNKNOWN

    def use(self, *nodes: ast.AST) -> None:
        """Evaluate nodes whose values may be used in any way, including being called."""
        for node in nodes:
            value = self.visit(node)
            self.escape(value)
            self.run_all(value.bodies)

    def visit_all(self, nodes: Iterable[ast.AST]) -> list[AbstractValue]:
        """Evaluate nodes and return their values, which may be called later."""
        values = [self.visit(node) for node in nodes]
        for value in values:
            self.run_all(value.bodies)
        return values

    def block(self, nodes: Sequence[ast.AST]) -> AbstractValue:
        """Evaluate nodes until one leaves the block; return the last value."""
        value = UNKNOWN
        for node, following in zip_longest(nodes, nodes[1:]):
            if self.dead:
                break
            value = self.visit(as_if_seeded(node, following))
        return value

    # -- states --------------------------------------------------------------------------------

    def branch(self, *blocks: Sequence[ast.AST]) -> AbstractValue:
        """Evaluate alternative blocks, then combine their states and values."""
        start, ends, values = self.assigned, list[Assigned](), list[AbstractValue]()
        self.depth += 1
        for nodes in blocks:
            self.assigned, self.dead = {*start}, False
            values.append(self.block(nodes))
            ends.append(self.end())
        self.depth -= 1
        self.meet(ends)
        return reduce(join, values)

    def end(self) -> Assigned:
        """Return a copy of ``assigned``, or None if this place is never reached."""
        return None if self.dead else {*self.assigned}

    def meet(self, ends: Iterable[Assigned]) -> None:
        """Combine the states at the ends of several paths."""
        alive = [assigned for assigned in ends if assigned is not None]
        self.dead = not alive
        self.assigned = set.intersection(*alive) if alive else self.assigned

    def outer(self) -> frozenset[str] | set[str]:
        """Return the assigned names that are not local."""
        return self.assigned - self.local if self.local else self.assigned

    def assigned_inside(self) -> set[str]:
        """Return the assigned names that are visible inside functions defined here.

        Names that the body of a class sets are not visible there.
        """
        return self.assigned if self._surroundings is None else self._surroundings

    # -- names ---------------------------------------------------------------------------------

    def load(self, name: str) -> AbstractValue:
        """Record that a name is read, and return its abstract value."""
        bound = self.bound.get(name)
        if name in self.assigned:
            return UNKNOWN if bound is None else bound
        self.effects.read(name, self.outer())
        known = AbstractValue((name,))
        return known if bound is None else join(known, bound)

    def store(self, name: str, value: AbstractValue = UNKNOWN) -> None:
        """Record that a name is set. In the body of a class, the name becomes local."""
        if self._surroundings is not None:
            self.local.add(name)
        may_keep = self.depth > 0 and (name in self.bound or name in self.assigned)
        held = join(self.bound.get(name, UNKNOWN), value) if may_keep else value
        self.assigned.add(name)
        if held is UNKNOWN:
            self.bound.pop(name, None)
        else:
            self.bound[name] = held
        if name in self.local:
            return
        self.effects.writes.add(name)
        if not value.pure or name in self._not_timed:
            self.escape(value)
            self._stop_timing(name)
        elif value.readings:
            known = self.effects.timed.get(name, frozenset())
            self.effects.timed[name] = known | value.readings

    def record_set(self, items: str = "") -> None:
        """Record that a set is created, from the items of the value named ``items``."""
        if not self.orderless:
            self.effects.sets.add(items)

    def fill(self, name: str, value: AbstractValue) -> None:
        """Record that a value is put into the object called ``name``."""
        before = self.bound.get(name, UNKNOWN)
        if not (before.pure and value.pure):
            self.escape(before)
            self.escape(value)
            self._stop_timing(name)
        elif value.readings:
            self.store(name, contents(before, value))
        self.run_all(value.bodies)

    def _stop_timing(self, name: str) -> None:
        """Record that the value of a name contains more than readings of clocks."""
        self._not_timed.add(name)
        self.effects.timed.pop(name, None)

    def escape(self, value: AbstractValue) -> None:
        """Record that the readings in a value are not only stored or printed."""
        self.effects.escaped |= value.readings

    # -- code that runs later --------------------------------------------------------------------

    def leave(self) -> Effects:
        """Return the effects of a function, including functions defined inside it."""
        self.effects.escaped.update(*self.effects.timed.values())
        for value in [*self.bound.values()]:
            self.run_all(value.bodies)
        return self.effects

    def run_all(self, bodies: Iterable[Effects], seen: set[int] | None = None) -> None:
        """Record the effects of functions that may run here, and of functions they call.

        Args:
            bodies: The effects of the functions.
            seen: The ``id`` of effects that were already recorded.
        """
        seen = set() if seen is None else seen
        for inside in bodies:
            if id(inside) in seen:
                continue
            seen.add(id(inside))
            outer, visible = self.outer(), self.assigned_inside()
            for name, assigned in inside.reads.items():
                if name not in visible and name not in assigned:
                    self.effects.read(name, outer | assigned)
                self.run_all(self.bound.get(name, CONSTANT).bodies, seen)
            self._add_paths(inside)
            self.effects.add_plain(inside)

    def _add_paths(self, inside: Effects) -> None:
        """Add the dotted names in the effects of a function, resolved in this scope."""
        ours = self.effects
        for path, given in inside.calls.items():
            for found in self._resolve(path):
                ours.call(found, given)
        for action in inside.actions:
            ours.actions |= dict.fromkeys(self._resolve(action) if is_name(action) else [action])
        for field in ("paths", "handed", "escaped"):
            getattr(ours, field).update(*map(self._resolve, getattr(inside, field)))
        ours.sets.update(*(self._resolve(path) or [""] for path in inside.sets))
        ours.writes |= inside.writes - (self.local if self._surroundings is None else set())

    def _resolve(self, path: str) -> list[str]:
        """Return the dotted names that a path in an inner function may mean here."""
        root = path.partition(".")[0]
        name = root.removesuffix("()")
        if not name or (name not in self.assigned and name not in self.bound):
            return [path]
        value = self.bound.get(name)
        if value is None or not value.paths:
            return [] if name in self.assigned else [path]
        found = [f"{each}{path[len(name) :]}" for each in value.paths]
        return found if name in self.assigned else [path, *found]
