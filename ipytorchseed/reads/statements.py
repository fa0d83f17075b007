"""Simple statements, and the scope in which they stand."""

from __future__ import annotations

import ast
import sys
from typing import TYPE_CHECKING

from ipytorchseed.reads.calling import Calling
from ipytorchseed.reads.calls import ask_order
from ipytorchseed.reads.guess import UNKNOWN, Guess, named

if TYPE_CHECKING:
    from ipytorchseed.reads.expressions import Reader
    from ipytorchseed.reads.names import State

ANNOTATIONS_ARE_EVALUATED = sys.version_info < (3, 14)


class Statements(Calling):
    """Follows statements.

    Args:
        local: Names that are the scope's own.
        state: What holds where it begins.
        reader: What reads the texts inside.
        in_class: Whether this is the body of a class: what it sets is its own.
    """

    def __init__(
        self,
        local: set[str],
        state: State,
        reader: Reader,
        *,
        in_class: bool = False,
    ) -> None:
        super().__init__(local, state, reader)
        self.in_class = in_class
        self._surroundings = set(self.known) if in_class else set()
        self.declared: set[str] = set()
        self.name = ""
        self.returns: list[State] = []
        self.loops: list[tuple[list[State], list[State]]] = []
        self.is_generator = False
        self.tries = 0
        self.latest: State | None = None

    def store(self, name: str, guess: Guess = UNKNOWN) -> None:
        """Note that a name is set; in a class body it belongs to the class."""
        """Note that a name is set; in a class, one of its own."""
        if self.in_class and name not in self.declared:
            self.local.add(name)
        super().store(name, guess)

    def known_inside(self) -> set[str]:
        """Return the names that code defined here finds set."""
        """Return the names certain to be set for functions here: not those of a class."""
        return self._surroundings if self.in_class else self.known

    def local_inside(self) -> set[str]:
        """Return the names of this scope that code defined here sees as its own."""
        """Return the names of its own that functions here see as theirs: none of a class."""
        return set() if self.in_class else self.local

    def block(self, statements: list[ast.stmt]) -> None:
        """Follow statements until one leaves the block."""
        """Follow statements up to where they are left."""
        for statement in statements:
            if self.dead:
                return
            if self.tries:
                self.latest = self.state()
            self.visit(statement)

    # -- statements that set names -------------------------------------------------------------

    def _on_expr(self, node: ast.Expr) -> Guess:
        guess = self.visit(node.value)  # shown at most, not used; a set is sorted to be shown
        if not guess.is_set:
            ask_order(self.flow, guess.order)
        return UNKNOWN

    def _on_assign(self, node: ast.Assign) -> Guess:
        value = node.value
        if isinstance(value, ast.Tuple | ast.List) and not _starred(value):
            guesses = [self.visit(each) for each in value.elts]
            whole = self.container(guesses, value.elts)
            for target in node.targets:
                if isinstance(target, ast.Tuple | ast.List) and not _starred(target):
                    for part, guess in zip(target.elts, guesses, strict=False):
                        self.assign(part, guess)
                else:
                    self.assign(target, whole)
            return UNKNOWN
        guess = self.visit(value)
        for target in node.targets:
            self.assign(target, guess)
        return UNKNOWN

    def assign(self, target: ast.expr, guess: Guess) -> None:
        """Follow what sets a target to a value."""
        if isinstance(target, ast.Name):
            self.store(target.id, guess)
        elif isinstance(target, ast.Starred):
            self.assign(target.value, UNKNOWN)
        elif isinstance(target, ast.Tuple | ast.List):
            ask_order(self.flow, guess.own_order())
            for part in target.elts:
                self.assign(part, Guess(bodies=guess.bodies, clocks=guess.clocks, pure=guess.pure))
        else:
            self.put(target, guess)

    def put(self, target: ast.expr, guess: Guess) -> None:
        """Follow what puts a value into an attribute or item."""
        if isinstance(target, ast.Subscript):
            key = self.item_of_namespace(target)
            if key is not None:
                self.store(key, guess)
                return
            self.visit(target.value)
            self.spend(self.visit(target.slice))
        elif isinstance(target, ast.Attribute):
            self._put_attribute(target, guess)
        if not guess.is_set:
            ask_order(self.flow, guess.order)
        root: ast.expr = target
        while isinstance(root, ast.Attribute | ast.Subscript):
            root = root.value
        if isinstance(root, ast.Name):
            self.fill(root.id, guess)
        else:
            self.spend(guess)

    def _put_attribute(self, target: ast.Attribute, guess: Guess) -> None:
        owner = target.value
        base = self.load(owner.id) if isinstance(owner, ast.Name) else self.visit(owner)
        self.flow.paths.update(f"{path}.{target.attr}=" for path in base.paths)
        if isinstance(owner, ast.Name):
            self.store_attribute(f"{owner.id}.{target.attr}")
        if guess.is_set and not guess.order.startswith("is:"):
            self.flow.holds.add(target.attr)

    def _on_annassign(self, node: ast.AnnAssign) -> Guess:
        if self.in_class and ANNOTATIONS_ARE_EVALUATED:  # classes of data are made from them
            self.spend(self.visit(node.annotation))
        if node.value is not None:
            self.assign(node.target, self.visit(node.value))
        return UNKNOWN

    def _on_augassign(self, node: ast.AugAssign) -> Guess:
        target = node.target
        if isinstance(target, ast.Name):
            before = self.load(target.id)
            self.flow.paths.update(before.paths)
            self.store(target.id, self.operate(before, node.op, self.visit(node.value)))
            return UNKNOWN
        if isinstance(target, ast.Attribute):
            self._on_attribute(target)
        self.put(target, self.visit(node.value))
        return UNKNOWN

    def _on_delete(self, node: ast.Delete) -> Guess:
        for target in node.targets:
            for part in target.elts if isinstance(target, ast.Tuple | ast.List) else [target]:
                if isinstance(part, ast.Name):
                    self.delete(part.id)
                elif isinstance(part, ast.Attribute | ast.Subscript):
                    self.put(part, UNKNOWN)
        return UNKNOWN

    def _on_import(self, node: ast.Import) -> Guess:
        for alias in node.names:
            package = alias.name.partition(".")[0]
            self.flow.imports.add(package)
            path = f":{alias.name if alias.asname else package}"
            self.store(alias.asname or package, named(path))
        return UNKNOWN

    def _on_importfrom(self, node: ast.ImportFrom) -> Guess:
        module = node.module or ""
        if not node.level:
            self.flow.imports.add(module.partition(".")[0])
        for alias in node.names:
            if alias.name == "*":
                self.flow.stars.add(f":{'.' * node.level}{module}")
                continue
            path = f":{'.' * node.level}{module}{'.' if module else ''}{alias.name}"
            self.flow.paths.add(path)
            self.store(alias.asname or alias.name, named(path))
        return UNKNOWN

    def _on_global(self, node: ast.Global) -> Guess:
        self.declared.update(node.names)
        return UNKNOWN

    def _on_typealias(self, node: ast.AST) -> Guess:
        self.store(node.name.id)  # type: ignore[attr-defined]
        return UNKNOWN

    # -- ways out ------------------------------------------------------------------------------

    def _on_return(self, node: ast.Return) -> Guess:
        if node.value is not None:
            guess = self.visit(node.value)
            self._give(guess)
        self.returns.append(self.state())
        self.dead = True
        return UNKNOWN

    def _on_yield(self, node: ast.Yield) -> Guess:
        self.is_generator = True
        if node.value is not None:
            self._give(self.visit(node.value))
        return UNKNOWN

    def _on_yieldfrom(self, node: ast.YieldFrom) -> Guess:
        self.is_generator = True
        guess = self.visit(node.value)
        ask_order(self.flow, guess.own_order())
        self.spend(guess)
        return UNKNOWN

    def _give(self, guess: Guess) -> None:
        self.spend(guess)
        if guess.is_set and not guess.order.startswith("is:"):
            self.flow.holds.add(f"{self.name}()")
        elif guess.order:
            ask_order(self.flow, guess.order)

    def _on_raise(self, node: ast.Raise) -> Guess:
        for part in (node.exc, node.cause):
            if part is not None:
                self.spend(self.visit(part))
        self.dead = True
        return UNKNOWN

    def _on_assert(self, node: ast.Assert) -> Guess:
        yes, no = self.test(node.test)
        if node.msg is not None and not no.dead:
            self.resume(no)
            self.spend(self.visit(node.msg))
        self.resume(yes)
        return UNKNOWN

    def _on_break(self, _: ast.Break) -> Guess:
        return self._leave(0)

    def _on_continue(self, _: ast.Continue) -> Guess:
        return self._leave(1)

    def _leave(self, way: int) -> Guess:
        if self.loops:
            self.loops[-1][way].append(self.state())
        self.dead = True
        return UNKNOWN


def _starred(node: ast.Tuple | ast.List) -> bool:
    return any(isinstance(each, ast.Starred) for each in node.elts)
