"""The state of a scope during evaluation: its names and their abstract values."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterable
from itertools import zip_longest
from typing import Any, TypeVar

from msgspec import Struct
from msgspec.structs import replace

from ipytorchseed.reads.abstract import UNKNOWN, AbstractValue, Body, bodies_of, join, named
from ipytorchseed.reads.actions import is_name
from ipytorchseed.reads.effects import Effects
from ipytorchseed.reads.seeding import as_if_seeded
from ipytorchseed.reads.taint import escape

Evaluate = Callable[["Scope", Any], AbstractValue | None]

# Parses the text of a cell as the shell does; returns None if it is invalid.
Parse = Callable[[str], ast.Module | None]

T = TypeVar("T", bound=Evaluate)

_evaluators: dict[type[ast.AST], Evaluate] = {}


def evaluates(*kinds: str) -> Callable[[T], T]:
    """Register a function as the evaluator of kinds of nodes, if Python has them."""

    def register(evaluate: T) -> T:
        for kind in kinds:
            if hasattr(ast, kind):
                _evaluators[getattr(ast, kind)] = evaluate
        return evaluate

    return register


class State(Struct, frozen=True):
    """The state at one place of the code.

    Attributes:
        assigned: Names certain to be set or deleted here: their earlier values are unreachable.
        bound: Abstract values of those names, and of others that may be set.
        dead: Whether this place is never reached.
    """

    assigned: set[str]
    bound: dict[str, AbstractValue]
    dead: bool = False


# Nodes of one cell or function; evaluating them takes about 50 ms.
_MAX_NODES = 8_000


class TooMuchError(Exception):
    """There is more code than may be evaluated."""


class Reader(Struct):
    """How to evaluate code inside a text.

    Attributes:
        parse: Parses the text of a cell, such as the body of ``%%time``; returns None if it is
            invalid.
        left: How many more nodes may be evaluated.
    """

    parse: Parse
    left: int = _MAX_NODES


class Scope:
    """Evaluates the code of one scope, in the environment of its names.

    Args:
        local: Names that are local to the scope.
        state: The state at its beginning.
        reader: Parses strings inside the code.
        in_class: Whether this is the body of a class: names that it sets are local.

    Attributes:
        effects: What the code does with names.
        declared: Names that a class declares global.
        returns: The state at each ``return``.
        loops: The states at each ``break``, and at each ``continue``, of the loops around.
        is_generator: Whether it yields.
        tries: The number of ``try`` blocks around.
        latest: The state before the last statement inside one.
        has_dotted: Whether an attribute of a name was set, as in ``a.b = 1``.
        orderless: Whether the order of a set that is made here is ignored.
    """

    def __init__(
        self, local: set[str], state: State, reader: Reader, *, in_class: bool = False
    ) -> None:
        self.effects = Effects()
        self.local = local
        self.reader = reader
        self.in_class = in_class
        self.assigned, self.bound, self.dead = state.assigned, state.bound, state.dead
        self.declared: set[str] = set()
        self.returns: list[State] = []
        self.loops: list[tuple[list[State], list[State]]] = []
        self.is_generator = False
        self.tries = 0
        self.latest: State | None = None
        self.has_dotted = self.orderless = False
        self._surroundings = set(self.assigned) if in_class else set()
        self._not_timed: set[str] = set()

    def visit(self, node: ast.AST) -> AbstractValue:
        """Evaluate a node and return its abstract value.

        Raises:
            TooMuchError: There was too much code before it.
        """
        self.reader.left -= 1
        if self.reader.left < 0:
            raise TooMuchError
        evaluate = _evaluators.get(type(node))
        if evaluate is not None:
            return evaluate(self, node) or UNKNOWN  # statements have no value
        for field in node._fields:
            part = getattr(node, field, None)
            for child in part if type(part) is list else (part,):
                if isinstance(child, ast.AST):
                    self.consume(self.visit(child))
        return UNKNOWN

    def visit_by(self, node: ast.expr, method: str) -> AbstractValue:
        """Evaluate an object that is used only through one method, if it is a name."""
        if not isinstance(node, ast.Name):
            return self.visit(node)
        abstract = self.load(node.id)
        self.effects.paths.update(f"{path}.{method}" for path in abstract.paths)
        return abstract

    def block(self, statements: list[ast.stmt]) -> None:
        """Evaluate statements up to the first that leaves the block."""
        for statement, following in zip_longest(statements, statements[1:]):
            if self.dead:
                return
            if self.tries:
                self.latest = self.state()
            self.visit(as_if_seeded(statement, following))

    # -- states --------------------------------------------------------------------------------

    def state(self) -> State:
        """Return a copy of the state here."""
        return State(set(self.assigned), dict(self.bound), self.dead)

    def resume(self, state: State) -> None:
        """Continue from a state, which is consumed."""
        self.assigned, self.bound, self.dead = state.assigned, state.bound, state.dead

    def join(self, states: Iterable[State]) -> None:
        """Continue where several paths meet. Their states are consumed."""
        alive = [state for state in states if not state.dead]
        if not alive:
            self.dead = True
            return
        self.resume(alive[0])
        for state in alive[1:]:
            self.assigned &= state.assigned
            self.may_be_bound(state)

    def may_be_bound(self, state: State) -> None:
        """Add the values that names may have if another path led here."""
        if not state.dead:
            for name in {**self.bound, **state.bound}:
                ours, theirs = self.bound.get(name, UNKNOWN), state.bound.get(name, UNKNOWN)
                self.bound[name] = join(ours, theirs)

    def outer(self) -> frozenset[str] | set[str]:
        """Return the assigned names that belong to the namespace."""
        return self.assigned - self.local if self.local else self.assigned

    def assigned_inside(self) -> set[str]:
        """Return the assigned names that functions here see: not those of a class."""
        return self._surroundings if self.in_class else self.assigned

    # -- names ---------------------------------------------------------------------------------

    def load(self, name: str) -> AbstractValue:
        """Record that a name is read, and return its abstract value."""
        bound = self.bound.get(name)
        if name in self.assigned:
            return UNKNOWN if bound is None else bound
        self.effects.read(name, self.outer())
        if name == "__class__":  # a method may call the class around it
            self.effects.attributes.add(name)
        return named(name) if bound is None else join(named(name), bound)

    def store(self, name: str, abstract: AbstractValue = UNKNOWN) -> None:
        """Record that a name is set; in a class, it becomes local."""
        if self.in_class and name not in self.declared:
            self.local.add(name)
        if self.has_dotted:
            self.assigned = {each for each in self.assigned if not each.startswith(f"{name}.")}
        self.assigned.add(name)
        if abstract is UNKNOWN:
            self.bound.pop(name, None)
        else:
            self.bound[name] = abstract
        if name in self.local:
            return
        self.effects.writes.add(name)
        self._time(name, abstract)

    def record_set(self, items: str = "") -> None:
        """Record that a set is made, and the name of the value with its items, if any."""
        if not self.orderless:
            self.effects.sets.add(items)

    def consume_all(self) -> None:
        """Record that functions made here may be called from elsewhere, by any holder."""
        for abstract in [*self.bound.values()]:
            self.run_all(abstract.bodies)

    def store_attribute(self, path: str) -> None:
        """Record that ``a.b`` is set, so its earlier value is unreachable."""
        self.assigned.add(path)
        self.has_dotted = True

    def delete(self, name: str) -> None:
        """Record that a name is deleted."""
        self.effects.actions[f"del {name}"] = None
        self.store(name)
        self._stop_timing(name)

    def fill(self, name: str, abstract: AbstractValue) -> None:
        """Record that a value is put into the object that a name holds."""
        before = self.bound.get(name, UNKNOWN)
        if abstract.taint or before.taint:
            if abstract.only_taint and (before.only_taint or before.neutral):
                taint = before.taint | abstract.taint
                self.store(name, replace(before, taint=taint, only_taint=True, neutral=False))
            else:
                escape(self.effects, abstract, before)
                self._stop_timing(name)
        elif not (abstract.neutral or abstract.only_taint):
            self._stop_timing(name)
        if abstract.bodies:
            self.bound[name] = replace(before, bodies=bodies_of(before, abstract))

    def _time(self, name: str, abstract: AbstractValue) -> None:
        timed = self.effects.timed
        if abstract.taint and abstract.only_taint and name not in self._not_timed:
            timed[name] = timed.get(name, frozenset()) | abstract.taint
        elif not (abstract.neutral or abstract.only_taint):
            escape(self.effects, abstract)
            self._stop_timing(name)

    def _stop_timing(self, name: str) -> None:
        """Record that a name holds more than readings of clocks."""
        self._not_timed.add(name)
        self.effects.timed.pop(name, None)

    # -- code that runs later --------------------------------------------------------------------

    def consume(self, abstract: AbstractValue) -> None:
        """Record that a value is used, so its code may run and its taint escapes."""
        if abstract.taint:
            escape(self.effects, abstract)
        self.run_all(abstract.bodies)

    def run_all(self, bodies: Iterable[Body], seen: set[int] | None = None) -> None:
        """Run code, and the code that its result holds."""
        seen = set() if seen is None else seen
        for body in bodies:
            self.run(body, seen)
            self.run_all((each for each in body.then if id(each.effects) not in seen), seen)

    def run(self, body: Body, seen: set[int] | None = None, *, certain: bool = False) -> None:
        """Record the effects of code that runs here, and of the cell's code that it calls.

        Args:
            body: The code.
            seen: What was run already, by identity.
            certain: Whether it runs to its end.
        """
        seen = set() if seen is None else seen
        inside = body.effects
        if id(inside) in seen:
            return
        seen.add(id(inside))
        outer = self.outer()
        visible = self.assigned_inside()
        for name, assigned in inside.reads.items():
            if name not in visible and name not in assigned:
                self.effects.read(name, outer | assigned)
            abstract = self.bound.get(name)
            if abstract is not None:
                self.run_all(abstract.bodies, seen)
        self._add_paths(inside)
        self.effects.add_plain(inside)
        if certain:
            for name in inside.must_assign:
                self.store(name)

    def _add_paths(self, inside: Effects) -> None:
        """Add the dotted names of inner code, resolved in this scope."""
        ours = self.effects
        for path, given in inside.calls.items():
            for found in self._resolve(path):
                ours.call(found, given)
        for action in inside.actions:
            ours.actions |= dict.fromkeys(self._resolve(action) if is_name(action) else [action])
        for mine, theirs in (
            (ours.paths, inside.paths),
            (ours.handed, inside.handed),
            (ours.escaped, inside.escaped),
        ):
            mine.update(*map(self._resolve, theirs))
        ours.sets.update(*(self._resolve(path) or [""] for path in inside.sets))
        ours.writes |= inside.writes if self.in_class else inside.writes - self.local

    def _resolve(self, path: str) -> list[str]:
        """Return the meanings in this scope of a dotted name of inner code."""
        root = path.partition(".")[0]
        name = root.removesuffix("()")
        if not name or (name not in self.assigned and name not in self.bound):
            return [path]
        abstract = self.bound.get(name)
        if abstract is None or not abstract.paths:
            return [] if name in self.assigned else [path]
        found = [f"{each}{path[len(name) :]}" for each in abstract.paths]
        return found if name in self.assigned else [path, *found]
