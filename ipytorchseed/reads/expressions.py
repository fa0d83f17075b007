"""Expressions, followed in the order in which they are evaluated."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING, Any

from msgspec import Struct
from msgspec.structs import replace

from ipytorchseed.reads.calls import ask_order, combine, leak
from ipytorchseed.reads.dead import constant_answer
from ipytorchseed.reads.guess import (
    NEUTRAL,
    NOTHING,
    UNKNOWN,
    UNKNOWN_ORDER,
    Body,
    Guess,
    either,
    joined,
)
from ipytorchseed.reads.names import Names, State
from ipytorchseed.reads.scopes import arguments_of, defaults_of, targets_of

if TYPE_CHECKING:
    from collections.abc import Callable

    from ipytorchseed.reads.flow import Flow

_TEXT = Guess(pure=True)
_SET_OPERATORS = (ast.BitOr, ast.BitAnd, ast.BitXor, ast.Sub)
_ARITHMETIC = (ast.Add, ast.Sub, ast.Mult, ast.Div, ast.FloorDiv, ast.Mod)
_NAMESPACES = frozenset({"globals", "locals", "vars"})


_MOST = 8_000
"""Nodes that are followed for one cell or function: some 50 ms."""


class TooMuchError(Exception):
    """There is more code than may be followed."""


class Reader(Struct):
    """What is known of the text of which the code is part.

    Attributes:
        parse: Turns the text of a cell, such as the body of ``%%time``, into a tree, or None.
        walrus: Whether there may be ``:=`` in it.
        left: How many more nodes of it may be followed.
    """

    parse: Callable[[str], ast.Module | None]
    walrus: bool = True
    left: int = _MOST


class Expressions(Names):
    """Follows expressions.

    Args:
        local: Names that are the scope's own.
        state: What holds where it begins.
        reader: What reads the texts inside.
    """

    _methods: dict[type[ast.AST], Callable[..., Guess]]

    def __init__(self, local: set[str], state: State, reader: Reader) -> None:
        super().__init__(local, state)
        self.reader = reader

    def __init_subclass__(cls) -> None:
        """Collect the methods by the type of node that they follow."""
        kinds = {name.lower(): kind for name, kind in vars(ast).items() if name[:1].isupper()}
        cls._methods = {
            kinds[name[4:]]: getattr(cls, name)
            for name in dir(cls)
            if name.startswith("_on_") and name[4:] in kinds
        }

    def visit(self, node: ast.AST) -> Guess:
        """Follow a node and return what is known of its value.

        Raises:
            TooMuchError: There was too much before it.
        """
        self.reader.left -= 1
        if self.reader.left < 0:
            raise TooMuchError
        method = self._methods.get(type(node))
        if method is not None:
            return method(self, node)
        for field in node._fields:
            part = getattr(node, field, None)
            for child in part if type(part) is list else (part,):
                if isinstance(child, ast.AST):
                    self.spend(self.visit(child))
        return UNKNOWN

    def _on_constant(self, node: ast.Constant) -> Guess:
        if node.value is None:
            return NOTHING
        return NEUTRAL if type(node.value) in (int, float, bool) else _TEXT

    # -- names and attributes ------------------------------------------------------------------

    def _on_name(self, node: ast.Name) -> Guess:
        guess = self.load(node.id)
        self.flow.paths.update(guess.paths)
        return guess

    def _on_attribute(self, node: ast.Attribute) -> Guess:
        names = [node.attr]
        base = node.value
        while isinstance(base, ast.Attribute):
            names.append(base.attr)
            base = base.value
        self.flow.attributes.update(names)
        if isinstance(base, ast.Name):
            guess = self.load(base.id)
            if self._dotted and f"{base.id}.{names[-1]}" in self.known:
                return UNKNOWN
        else:
            guess = self.visit(base)
        if guess.bodies:
            self.run_all(guess.bodies)
        for name in reversed(names):
            guess = guess.attribute(name)
        self.flow.paths.update(guess.paths)
        return guess

    def _on_subscript(self, node: ast.Subscript) -> Guess:
        name = self.item_of_namespace(node)
        if name is not None:
            guess = self.load(name)
            self.flow.paths.update(guess.paths)
            return guess
        value = self.visit(node.value)
        self.run_all(value.bodies)
        self.spend(self.visit(node.slice))
        return Guess(clocks=value.clocks, pure=value.pure)

    def item_of_namespace(self, node: ast.Subscript) -> str | None:
        """Return the name in ``globals()["name"]``."""
        value, key = node.value, node.slice
        is_namespace = (
            isinstance(value, ast.Call)
            and isinstance(value.func, ast.Name)
            and value.func.id in _NAMESPACES
            and not value.args
        ) or (isinstance(value, ast.Attribute) and value.attr == "user_ns")
        if not is_namespace:
            return None
        if isinstance(key, ast.Constant) and isinstance(key.value, str):
            return key.value
        self.flow.complete = False
        return None

    def _on_namedexpr(self, node: ast.NamedExpr) -> Guess:
        guess = self.visit(node.value)
        self.store(node.target.id, guess)
        return guess

    # -- operators -----------------------------------------------------------------------------

    def _on_binop(self, node: ast.BinOp) -> Guess:
        return self.operate(self.visit(node.left), node.op, self.visit(node.right))

    def operate(self, left: Guess, operator: ast.operator, right: Guess) -> Guess:
        """Follow an operation on two values."""
        if left.bodies or right.bodies:
            self.run_all(joined(left, right))
        if left is UNKNOWN and right is UNKNOWN:
            return UNKNOWN
        if not isinstance(operator, (*_ARITHMETIC, *_SET_OPERATORS)):
            leak(self.flow, left, right)
            return NEUTRAL if left.neutral and right.neutral else UNKNOWN
        return combine(
            self.flow,
            left,
            right,
            of_sets=isinstance(operator, _SET_OPERATORS),
            of_text=isinstance(operator, ast.Mod),
        )

    def _on_unaryop(self, node: ast.UnaryOp) -> Guess:
        guess = self.visit(node.operand)
        if isinstance(node.op, ast.USub | ast.UAdd):
            return guess
        self.spend(guess)
        return NEUTRAL if guess.neutral else UNKNOWN

    def _on_compare(self, node: ast.Compare) -> Guess:
        self.spend(self.visit(node.left))
        for each in node.comparators:
            self.spend(self.visit(each))
        return UNKNOWN

    def _on_boolop(self, node: ast.BoolOp) -> Guess:
        guess = self.visit(node.values[0])
        ends = []
        for value in node.values[1:]:
            ends.append(self.state())
            guess = either(guess, self.visit(value))
        self.meet([self.state(), *ends])
        return guess

    def _on_ifexp(self, node: ast.IfExp) -> Guess:
        yes, no = self.test(node.test)
        guesses, ends = [], []
        for state, part in ((yes, node.body), (no, node.orelse)):
            if not state.dead:
                self.resume(state)
                guesses.append(self.visit(part))
                ends.append(self.state())
        self.meet(ends)
        return either(guesses[0], guesses[-1])

    def test(self, node: ast.expr) -> tuple[State, State]:
        """Follow a condition: return what holds where it is true, and where it is false."""
        answer = constant_answer(node)
        if answer is not None:
            dead = State(set(), {}, dead=True)
            return (self.state(), dead) if answer else (dead, self.state())
        if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not):
            yes, no = self.test(node.operand)
            return no, yes
        if isinstance(node, ast.BoolOp):
            both = isinstance(node.op, ast.And)
            ends = []
            for value in node.values:
                on, off = self.test(value) if both else reversed(self.test(value))
                ends.append(off)
                self.resume(on)
                if on.dead:
                    break
            last = self.state()
            self.meet(ends)
            early = self.state()
            return (last, early) if both else (early, last)
        self.spend(self.visit(node))
        return self.state(), self.state()

    # -- containers and texts --------------------------------------------------------------------

    def _on_list(self, node: ast.List | ast.Tuple) -> Guess:
        return self.container(
            [self.visit(each) for each in node.elts if not _plain(each)], node.elts
        )

    _on_tuple = _on_list

    def _on_dict(self, node: ast.Dict) -> Guess:
        parts = [each for pair in zip(node.keys, node.values, strict=True) for each in pair]
        return self.container(
            [self.visit(each) for each in parts if each is not None and not _plain(each)], parts
        )

    def _on_set(self, node: ast.Set) -> Guess:
        made = self.container([self.visit(each) for each in node.elts], node.elts)
        order = "" if all(map(_is_number, node.elts)) else UNKNOWN_ORDER
        return replace(made, order=order, is_set=True)

    def container(self, items: list[Guess], parts: list[Any]) -> Guess:
        """Return what is known of a container.

        Args:
            items: What is known of those of its parts that are not constants.
            parts: All its parts, as written.
        """
        if not items:
            return NEUTRAL if not parts else _TEXT
        clocks = frozenset().union(*(item.clocks for item in items))
        pure = bool(clocks) and all(item.pure or item.neutral for item in items)
        return Guess(bodies=joined(*items), clocks=clocks, pure=pure)

    def _on_starred(self, node: ast.Starred) -> Guess:
        guess = self.visit(node.value)
        ask_order(self.flow, guess.own_order())
        return guess

    def _on_joinedstr(self, node: ast.JoinedStr) -> Guess:
        items = [self.visit(each) for each in node.values if not _plain(each)]
        for item in items:
            if item.bodies:
                self.run_all(item.bodies)
        return replace(self.container(items, node.values), bodies=())

    def _on_formattedvalue(self, node: ast.FormattedValue) -> Guess:
        guess = self.visit(node.value)
        ask_order(self.flow, guess.own_order())
        if node.format_spec is not None:
            self.spend(self.visit(node.format_spec))
        return guess

    # -- functions and comprehensions --------------------------------------------------------------

    def _on_lambda(self, node: ast.Lambda) -> Guess:
        defaults = [self.visit(each) for each in defaults_of(node.args)]
        return Guess(bodies=(Body(self.lambda_flow(node)), *joined(*defaults)))

    def lambda_flow(self, node: ast.Lambda) -> Flow:
        """Return what a ``lambda`` does when it is called."""
        local = arguments_of(node.args)
        inner = type(self)(local, State(set(local), {}), self.reader)
        inner.spend(inner.visit(node.body))
        return inner.flow

    def _on_listcomp(self, node: ast.ListComp | ast.GeneratorExp | ast.SetComp) -> Guess:
        order, guess = self._comprehension(node.generators, [node.elt])
        return Guess(bodies=guess.bodies, clocks=guess.clocks, pure=guess.pure, order=order)

    _on_generatorexp = _on_listcomp

    def _on_setcomp(self, node: ast.SetComp) -> Guess:
        guess = self._on_listcomp(node)
        return replace(guess, order=UNKNOWN_ORDER, is_set=True)

    def _on_dictcomp(self, node: ast.DictComp) -> Guess:
        order, guess = self._comprehension(node.generators, [node.key, node.value])
        ask_order(self.flow, order)
        return Guess(bodies=guess.bodies)

    def _comprehension(
        self, loops: list[ast.comprehension], parts: list[ast.expr]
    ) -> tuple[str, Guess]:
        """Follow a comprehension, whose targets are nobody's but its own."""
        order = ""
        hidden: dict[str, tuple[bool, Guess | None]] = {}
        local, surroundings = self.local, self.known
        for number, loop in enumerate(loops):
            over = self.visit(loop.iter)
            if number == 0 and self.known_inside() is not self.known:
                self.known = set(self.known_inside())
            self.run_all(over.bodies)
            order = order or over.own_order()
            for name in targets_of(loop.target):
                hidden.setdefault(name, (name in self.known, self.bound.get(name)))
                self.known.add(name)
                self.bound.pop(name, None)
            self.local = self.local | hidden.keys()
            for test in loop.ifs:
                yes = self.test(test)[0]
                if not yes.dead:
                    self.resume(yes)
        guesses = [self.visit(part) for part in parts]
        self.local = local
        if surroundings is not self.known:
            self.known = surroundings | self.known
        for name, (known, bound) in hidden.items():
            (self.known.add if known else self.known.discard)(name)
            self.bound.pop(name, None)
            if bound is not None:
                self.bound[name] = bound
        clocks = frozenset().union(*(guess.clocks for guess in guesses))
        pure = bool(clocks) and all(guess.pure or guess.neutral for guess in guesses)
        return order, Guess(bodies=joined(*guesses), clocks=clocks, pure=pure)


def _plain(node: object) -> bool:
    return type(node) is ast.Constant


def _is_number(node: ast.expr) -> bool:
    return isinstance(node, ast.Constant) and type(node.value) in (int, float, bool)
