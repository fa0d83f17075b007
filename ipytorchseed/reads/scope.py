"""A scope while its code is evaluated: its names, their abstract values, and which are certain."""

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
Parse = Callable[[str], ast.Module | None]
"""Turns the text of a cell into a tree, as the shell does; None where it does not parse."""

T = TypeVar("T", bound=Evaluate)

_evaluators: dict[type[ast.AST], Evaluate] = {}


def evaluates(*kinds: str) -> Callable[[T], T]:
    """Make a function the evaluator of these kinds of nodes, where Python has them."""

    def register(evaluate: T) -> T:
        for kind in kinds:
            if hasattr(ast, kind):
                _evaluators[getattr(ast, kind)] = evaluate
        return evaluate

    return register


class State(Struct, frozen=True):
    """What holds at one place of the code.

    Attributes:
        assigned: Names certain to be set, or deleted: their values of before are out of sight.
        bound: What may be told of the values of those names, and of others that may be set.
        dead: Whether this place is never reached.
    """

    assigned: set[str]
    bound: dict[str, AbstractValue]
    dead: bool = False


_MOST = 8_000
"""Nodes that are followed for one cell or function: some 50 ms."""


class TooMuchError(Exception):
    """There is more code than may be followed."""


class Reader(Struct):
    """What is known of the text of which the code is part.

    Attributes:
        parse: Turns the text of a cell, such as the body of ``%%time``, into a tree, or None.
        left: How many more nodes of it may be followed.
    """

    parse: Parse
    left: int = _MOST


class Scope:
    """Evaluates the code of one scope, in the environment of its names.

    Args:
        local: Names that are the scope's own, and nobody else's business.
        state: What holds where it begins.
        reader: What reads the texts inside.
        in_class: Whether this is the body of a class: what it sets is its own.

    Attributes:
        effects: What the code does with names.
        declared: Names that a class declares global.
        returns: What holds at each ``return``.
        loops: What holds at each ``break``, and at each ``continue``, of the loops around.
        is_generator: Whether it yields.
        tries: How many ``try`` are around.
        latest: What held before the last statement inside one.
        has_dotted: Whether an attribute of a name was set, as in ``a.b = 1``.
        orderless: Whether nothing asks for the order of a set that is made here.
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
        """Evaluate a node and return what is known of its value.

        Raises:
            TooMuchError: There was too much before it.
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
        """Evaluate what is used by one method alone, where it has a name."""
        if not isinstance(node, ast.Name):
            return self.visit(node)
        abstract = self.load(node.id)
        self.effects.paths.update(f"{path}.{method}" for path in abstract.paths)
        return abstract

    def block(self, statements: list[ast.stmt]) -> None:
        """Evaluate statements up to where they are left."""
        for statement, following in zip_longest(statements, statements[1:]):
            if self.dead:
                return
            if self.tries:
                self.latest = self.state()
            self.visit(as_if_seeded(statement, following))

    # -- states --------------------------------------------------------------------------------

    def state(self) -> State:
        """Copy what holds here."""
        return State(set(self.assigned), dict(self.bound), self.dead)

    def resume(self, state: State) -> None:
        """Go on where this holds. The state is used up."""
        self.assigned, self.bound, self.dead = state.assigned, state.bound, state.dead

    def join(self, states: Iterable[State]) -> None:
        """Go on where several ways meet. The states are used up."""
        alive = [state for state in states if not state.dead]
        if not alive:
            self.dead = True
            return
        self.resume(alive[0])
        for state in alive[1:]:
            self.assigned &= state.assigned
            self.may_be_bound(state)

    def may_be_bound(self, state: State) -> None:
        """Note what names may be bound to where another way led here."""
        if not state.dead:
            for name in {**self.bound, **state.bound}:
                ours, theirs = self.bound.get(name, UNKNOWN), state.bound.get(name, UNKNOWN)
                self.bound[name] = join(ours, theirs)

    def outer(self) -> frozenset[str] | set[str]:
        """Return those of the assigned names that are the namespace's."""
        return self.assigned - self.local if self.local else self.assigned

    def assigned_inside(self) -> set[str]:
        """Return the names certain to be set for functions here: not those of a class."""
        return self._surroundings if self.in_class else self.assigned

    # -- names ---------------------------------------------------------------------------------

    def load(self, name: str) -> AbstractValue:
        """Note that a name is looked up, and return what is known of its value."""
        bound = self.bound.get(name)
        if name in self.assigned:
            return UNKNOWN if bound is None else bound
        self.effects.read(name, self.outer())
        if name == "__class__":  # that of the class around a method, which it may call
            self.effects.attributes.add(name)
        return named(name) if bound is None else join(named(name), bound)

    def store(self, name: str, abstract: AbstractValue = UNKNOWN) -> None:
        """Note that a name is set; in a class, one of its own."""
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

    def note_set(self, items: str = "") -> None:
        """Note that a set is made, and the name of the value whose items it holds, if any."""
        if not self.orderless:
            self.effects.sets.add(items)

    def consume_all(self) -> None:
        """Note that functions made here may be called from elsewhere, by whatever holds them."""
        for abstract in [*self.bound.values()]:
            self.run_all(abstract.bodies)

    def store_attribute(self, path: str) -> None:
        """Note that ``a.b`` is set: the value that it had before is out of sight."""
        self.assigned.add(path)
        self.has_dotted = True

    def delete(self, name: str) -> None:
        """Note that a name is deleted."""
        self.effects.actions[f"del {name}"] = None
        self.store(name)
        self._mix(name)

    def fill(self, name: str, abstract: AbstractValue) -> None:
        """Note that a value is put into what a name holds."""
        before = self.bound.get(name, UNKNOWN)
        if abstract.taint or before.taint:
            if abstract.only_taint and (before.only_taint or before.neutral):
                taint = before.taint | abstract.taint
                self.store(name, replace(before, taint=taint, only_taint=True, neutral=False))
            else:
                escape(self.effects, abstract, before)
                self._mix(name)
        elif not (abstract.neutral or abstract.only_taint):
            self._mix(name)
        if abstract.bodies:
            self.bound[name] = replace(before, bodies=bodies_of(before, abstract))

    def _time(self, name: str, abstract: AbstractValue) -> None:
        timed = self.effects.timed
        if abstract.taint and abstract.only_taint and name not in self._not_timed:
            timed[name] = timed.get(name, frozenset()) | abstract.taint
        elif not (abstract.neutral or abstract.only_taint):
            escape(self.effects, abstract)
            self._mix(name)

    def _mix(self, name: str) -> None:
        """Note that a name holds more than readings of clocks."""
        self._not_timed.add(name)
        self.effects.timed.pop(name, None)

    # -- code that runs later than it is written ---------------------------------------------------

    def consume(self, abstract: AbstractValue) -> None:
        """Note that a value is used where all of its code may run, and its readings count."""
        if abstract.taint:
            escape(self.effects, abstract)
        self.run_all(abstract.bodies)

    def run_all(self, bodies: Iterable[Body], seen: set[int] | None = None) -> None:
        """Run code, and that which its result holds."""
        seen = set() if seen is None else seen
        for body in bodies:
            self.run(body, seen)
            self.run_all((each for each in body.then if id(each.effects) not in seen), seen)

    def run(self, body: Body, seen: set[int] | None = None, *, certain: bool = False) -> None:
        """Note what code does that runs here, and what the code of ours does that it calls.

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
        """Add the dotted names of code inside, as they are seen here."""
        ours = self.effects
        for path, given in inside.calls.items():
            for found in self._lead(path):
                ours.call(found, given)
        for action in inside.actions:
            ours.actions |= dict.fromkeys(self._lead(action) if is_name(action) else [action])
        for mine, theirs in (
            (ours.paths, inside.paths),
            (ours.handed, inside.handed),
            (ours.escaped, inside.escaped),
        ):
            mine.update(*map(self._lead, theirs))
        ours.sets.update(*(self._lead(path) or [""] for path in inside.sets))
        ours.writes |= inside.writes if self.in_class else inside.writes - self.local

    def _lead(self, path: str) -> list[str]:
        """Return what a dotted name of code inside means here."""
        root = path.partition(".")[0]
        name = root.removesuffix("()")
        if not name or (name not in self.assigned and name not in self.bound):
            return [path]
        abstract = self.bound.get(name)
        if abstract is None or not abstract.paths:
            return [] if name in self.assigned else [path]
        found = [f"{each}{path[len(name) :]}" for each in abstract.paths]
        return found if name in self.assigned else [path, *found]
