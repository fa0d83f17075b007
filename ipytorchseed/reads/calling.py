"""Calls, followed into code of the cell's own, texts of ``exec`` and the bodies of magics."""

from __future__ import annotations

import ast

from msgspec.structs import replace

from ipytorchseed.reads.calls import note_call
from ipytorchseed.reads.expressions import Expressions
from ipytorchseed.reads.guess import UNKNOWN, Body, Guess
from ipytorchseed.reads.magics import Magic, magic_of
from ipytorchseed.reads.source import remember

_FILLS = frozenset({"append", "extend", "insert", "add", "appendleft"})


class Calling(Expressions):
    """Follows calls."""

    def _on_call(self, node: ast.Call) -> Guess:
        callee = node.func
        name = callee.id if isinstance(callee, ast.Name) else ""
        if name in ("exec", "eval"):
            return self._run_text(node)
        if not name:
            magic = magic_of(node)
            if magic is not None:
                self.visit(callee)
                return self._magic(magic)
        func = self.visit(callee)
        args = [self.visit(each) for each in node.args]
        args += [self.visit(word.value) for word in node.keywords]
        for arg in args:
            if arg.bodies:
                self.run_all(arg.bodies)
        if not name and self._sorts(callee):
            return UNKNOWN
        if args and not name and self._fills(callee, args[-1]):
            return UNKNOWN
        guess = note_call(self.flow, func, args, more=_spreads(node))
        return self._enter(func, guess, certain=bool(name)) if func.bodies else guess

    def _enter(self, func: Guess, result: Guess, *, certain: bool) -> Guess:
        """Run the code that is called, and return what its result holds."""
        after: list[Body] = []
        for body in func.bodies:
            self.run(body, certain=certain)
            after += body.then
        return replace(result, bodies=tuple(after))

    def _sorts(self, func: ast.expr) -> bool:
        """Follow ``classes.sort()``, after which it no longer matters whose order they had."""
        if not (
            isinstance(func, ast.Attribute)
            and func.attr == "sort"
            and isinstance(func.value, ast.Name)
        ):
            return False
        guess = self.bound.get(func.value.id, UNKNOWN)
        if guess.order:
            self.bound[func.value.id] = replace(guess, order="")
        return bool(guess.order)

    def _fills(self, func: ast.expr, item: Guess) -> bool:
        """Follow ``times.append(now - then)``, which keeps readings among readings."""
        if not (
            isinstance(func, ast.Attribute)
            and func.attr in _FILLS
            and isinstance(func.value, ast.Name)
        ):
            return False
        name = func.value.id
        if item.bodies:
            self.fill(name, Guess(bodies=item.bodies))
        before = self.bound.get(name, UNKNOWN)
        if name not in self.known or not (before.clocks or item.clocks):
            return False
        self.fill(name, item)
        return True

    def _magic(self, magic: Magic) -> Guess:
        for text in magic.expressions:
            tree = _parsed(text)
            if tree is not None:
                self.block(tree.body)
        if magic.file:
            self.flow.files.add(magic.file)
        if magic.program:
            self.flow.programs.add(magic.program)
        tree = self.reader.parse(magic.body) if magic.cell else _parsed(magic.body)
        if tree is not None and magic.body:
            remember(tree)
            before = self.state()
            writes = set(self.flow.writes)
            self.block(tree.body)
            if magic.forgets:
                self.resume(before)
                self.flow.writes = writes
        for name in magic.writes:
            self.store(name)
        return UNKNOWN

    def _run_text(self, node: ast.Call) -> Guess:
        """Follow ``exec`` and ``eval`` of a text that stands there."""
        self.visit(node.func)
        first = node.args[0] if node.args else None
        text = first.value if isinstance(first, ast.Constant) else None
        tree = _parsed(text) if isinstance(text, str) else None
        if tree is not None and len(node.args) == 1:
            if len(tree.body) == 1 and isinstance(tree.body[0], ast.Expr):
                return self.visit(tree.body[0].value)
            self.block(tree.body)
            return UNKNOWN
        for each in (*node.args, *node.keywords):
            self.spend(self.visit(each))
        if tree is None:
            self.flow.complete = False
        return UNKNOWN

    def block(self, statements: list[ast.stmt]) -> None:
        """Follow statements."""
        raise NotImplementedError


def _spreads(node: ast.Call) -> bool:
    """Tell whether there are arguments that cannot be counted: ``*args`` and ``**options``."""
    for each in node.args:
        if type(each) is ast.Starred:
            return True
    return any(word.arg is None for word in node.keywords)


def _parsed(text: str) -> ast.Module | None:
    try:
        return ast.parse(text.strip())
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None
