"""Statements that hold others, followed in the order in which they run.

The bodies of loops, ``with`` and ``try`` are taken to run, an error to come from the last
statement of its ``try``. Of the branches of ``if`` and ``match``, only what all of them set is
certain. What a function looks up counts from where the function is called, or given away.
"""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from ipytorchseed.reads.calls import ask_order
from ipytorchseed.reads.flow import Flow
from ipytorchseed.reads.guess import UNKNOWN, Body, Guess, joined
from ipytorchseed.reads.names import State
from ipytorchseed.reads.scopes import (
    annotations_of,
    captures_of,
    defaults_of,
    names_of,
    type_parameters,
)
from ipytorchseed.reads.statements import ANNOTATIONS_ARE_EVALUATED, Statements

if TYPE_CHECKING:
    from collections.abc import Iterable

    from ipytorchseed.reads.expressions import Reader

_CONSTRUCTORS = frozenset({"__new__", "__init__", "__post_init__"})
_SWALLOWS = frozenset({"suppress", "raises", "assertRaises"})


class Blocks(Statements):
    """Follows statements of every kind."""

    # -- blocks --------------------------------------------------------------------------------

    def _on_for(self, node: ast.For | ast.AsyncFor) -> Guess:
        over = self.visit(node.iter)
        self.run_all(over.bodies)
        ask_order(self.flow, over.own_order())
        never = self.state()
        self.assign(node.target, Guess(bodies=over.bodies, clocks=over.clocks, pure=over.pure))
        self._loop(node, never, endless=False)
        return UNKNOWN

    _on_asyncfor = _on_for

    def _on_while(self, node: ast.While) -> Guess:
        yes, no = self.test(node.test)
        endless = no.dead
        if yes.dead:
            self.resume(no)
            self.block(node.orelse)
            return UNKNOWN
        self.resume(yes)
        self._loop(node, no, endless=endless)
        return UNKNOWN

    def _loop(
        self, node: ast.For | ast.AsyncFor | ast.While, never: State, *, endless: bool
    ) -> None:
        """Follow the body of a loop, taken to run at least once.

        Args:
            node: The loop.
            never: What holds where it does not.
            endless: Whether it ends only by ``break``.
        """
        breaks: list[State] = []
        again: list[State] = []
        before = {name: guess.bodies for name, guess in self.bound.items()}
        self.loops.append((breaks, again))
        self.block(node.body)
        self.meet([self.state(), *again])
        if any(guess.bodies != before.get(name, ()) for name, guess in self.bound.items()):
            again.clear()
            self.block(node.body)  # a function that it makes may be called from its beginning
            self.meet([self.state(), *again])
        self.loops.pop()
        if endless:
            self.dead = True
        elif self.dead and (node.orelse or not breaks):
            self.resume(never)
        self.block(node.orelse)
        self.meet([self.state(), *breaks])

    def _on_if(self, node: ast.If) -> Guess:
        yes, no = self.test(node.test)
        self.resume(yes)
        self.block(node.body)
        after = self.state()
        self.resume(no)
        self.block(node.orelse)
        self.meet([after, self.state()])
        return UNKNOWN

    def _on_match(self, node: ast.Match) -> Guess:
        self.run_all(self.visit(node.subject).bodies)
        ends = []
        for case in node.cases:
            on = self.state()
            for part in ast.walk(case.pattern):
                if isinstance(part, ast.MatchValue | ast.MatchClass):
                    self.spend(
                        self.visit(part.value if isinstance(part, ast.MatchValue) else part.cls)
                    )
            for name in captures_of(case.pattern):
                self.store(name)
            if case.guard is not None:
                yes, no = self.test(case.guard)
                on = no if _irrefutable(case.pattern) else on
                self.resume(yes)
            self.block(case.body)
            ends.append(self.state())
            self.resume(on)
            if case.guard is None and _irrefutable(case.pattern):
                self.dead = True
                break
        self.meet([*ends, self.state()])
        return UNKNOWN

    def _on_with(self, node: ast.With | ast.AsyncWith) -> Guess:
        swallows = False
        for item in node.items:
            guess = self.visit(item.context_expr)
            self.spend(guess)
            swallows |= guess.tail.strip(".").removesuffix("()") in _SWALLOWS
            if item.optional_vars is not None:
                self.assign(item.optional_vars, Guess(bodies=guess.bodies))
        self.block(node.body)
        if swallows:
            self.dead = False
        return UNKNOWN

    _on_asyncwith = _on_with

    def _on_try(self, node: ast.Try) -> Guess:
        start = self.state()
        self.tries += 1
        self.latest = start
        self.block(node.body)
        failed = self.latest
        self.tries -= 1
        if failed is not start:
            self.latest = failed
        body = self.state()
        self.block(node.orelse)
        normal = self.state()
        ends = []
        for handler in node.handlers:
            self.resume(State(set(failed.known), {**failed.bound, **body.bound}))
            self._handler(handler)
            ends.append(self.state())
        if normal.dead and ends:
            self.meet(ends)
        else:
            self.resume(normal)
            for end in ends:
                self.may_be_bound(end)
        if node.finalbody:
            dead, self.dead = self.dead, False
            self.block(node.finalbody)
            self.dead |= dead
        return UNKNOWN

    _on_trystar = _on_try

    def _handler(self, handler: ast.ExceptHandler) -> None:
        if handler.type is not None:
            self.spend(self.visit(handler.type))
        if handler.name:
            self.store(handler.name)
        self.block(handler.body)

    # -- scopes inside -------------------------------------------------------------------------

    def _on_functiondef(self, node: ast.FunctionDef | ast.AsyncFunctionDef) -> Guess:
        decorators = [self.visit(each) for each in node.decorator_list]
        defaults = [self.visit(each) for each in defaults_of(node.args)]
        if decorators and ANNOTATIONS_ARE_EVALUATED:  # a decorator may go by them
            for each in annotations_of(node):
                if not type_parameters(node):
                    self.spend(self.visit(each))
        flow = self.function_flow(node)
        for guess in decorators:
            self.run_all(guess.bodies)
            if guess.tail.removesuffix("()").endswith("interact"):  # ipywidgets' calls it at once
                self.run(Body(flow))
        bodies = (Body(flow), *joined(*defaults, *decorators))
        self.store(node.name, Guess(tail=node.name, bodies=bodies))
        return UNKNOWN

    _on_asyncfunctiondef = _on_functiondef

    def function_flow(self, node: ast.FunctionDef | ast.AsyncFunctionDef) -> Flow:
        """Return what a function does when it is called."""
        local, declared = names_of(node, walrus=self.reader.walrus)
        inner = Blocks(local, State(set(local), {}), self.reader)
        inner.name = node.name
        inner.block(node.body)
        inner.settle()
        for made_of in inner.flow.timed.values():
            inner.flow.leaked |= made_of
        inner.meet([inner.state(), *inner.returns])
        runs_later = inner.is_generator or isinstance(node, ast.AsyncFunctionDef)
        if not inner.dead and not runs_later:
            inner.flow.sure = inner.known & declared
        inner.spend_all()
        return inner.flow

    def _on_classdef(self, node: ast.ClassDef) -> Guess:
        for decorator in node.decorator_list:
            self.spend(self.visit(decorator))
        inner = Blocks(set(), self.state(), self.reader, in_class=True)
        for name in type_parameters(node):
            inner.store(name)
        bases = [inner.visit(each) for each in node.bases]
        for word in node.keywords:
            inner.spend(inner.visit(word.value))
        inner.block(node.body)
        first, later = Flow(), [body for base in bases for body in base.bodies]
        for base in later:
            first.add(base.flow)
        later = [body for base in later for body in base.then]
        for name in inner.local:
            bodies = inner.bound.get(name, UNKNOWN).bodies
            if name in _CONSTRUCTORS:
                for body in bodies:
                    first.add(body.flow)
            else:
                later += bodies
        for own in (inner.flow.timed, inner.flow.sure):
            own.clear()
        self.flow.add(inner.flow)
        for name in inner.declared & inner.known:
            self.store(name)
        self.store(node.name, Guess(bodies=(Body(first, tuple(later)),)))
        return UNKNOWN


def _irrefutable(pattern: ast.pattern) -> bool:
    if isinstance(pattern, ast.MatchOr):
        return any(map(_irrefutable, pattern.patterns))
    return isinstance(pattern, ast.MatchAs) and (
        pattern.pattern is None or _irrefutable(pattern.pattern)
    )


def follow_function(node: ast.AST, free: Iterable[str], reader: Reader) -> Flow:
    """Follow what a function does when it is called.

    Args:
        node: The function, lambda or generator expression.
        free: Names that it takes from the functions around it.
        reader: What reads the texts inside.
    """
    around = Blocks({*free}, State({*free}, {}), reader)
    if isinstance(node, ast.Lambda):
        around.run(Body(around.lambda_flow(node)))
    elif isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
        around.run(Body(around.function_flow(node)))
    elif isinstance(node, ast.GeneratorExp):  # whose first iterator it was given when it was made
        first, *others = node.generators
        nothing = ast.Tuple([], ast.Load())
        given = ast.comprehension(first.target, nothing, first.ifs, first.is_async)
        around.spend(around.visit(ast.GeneratorExp(node.elt, [given, *others])))
    return around.flow


def follow(tree: ast.Module, reader: Reader) -> Flow:
    """Follow the code of a cell.

    Args:
        tree: The cell, parsed.
        reader: What reads the texts inside.
    """
    walker = Blocks(set(), State(set(), {}), reader)
    walker.block(tree.body)
    walker.settle()
    flow = walker.flow
    flow.sure = {name for name in walker.known if name in flow.writes}
    for name, guess in walker.bound.items():
        if guess.bodies:
            flow.defined[name] = merged = Flow()
            walker_of_bodies = Blocks(set(), State(set(), {}), reader)
            walker_of_bodies.run_all(guess.bodies)
            merged.add(walker_of_bodies.flow)
    return flow
