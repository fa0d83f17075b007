"""Walks through code, and collects the names that it reads, sets and calls."""

from __future__ import annotations

import ast
import copy
from collections.abc import Iterable
from itertools import chain

from ipytorchseed.reads.bindings import captures_of, names_of, targets_of, type_parameters
from ipytorchseed.reads.calls import CallWalker, both, is_namespace, text_of
from ipytorchseed.reads.effects import Effects
from ipytorchseed.reads.parsing import parse_text
from ipytorchseed.reads.queries import asked_by_query
from ipytorchseed.reads.scope import Parse, Reading

_LONGEST_NAME, _LONGEST_TEXT = 120, 240  # characters

_RESULTS = {"Out": "_", "In": "_i"}


def effects_of_functions(nodes: Iterable[ast.AST], free: Iterable[str]) -> Effects:
    """Return the effects of calling any of several functions.

    Args:
        nodes: The functions, lambdas or generator expressions.
        free: The free variables of the functions.
    """
    around = Walker({*free}, parse_text)
    for node in nodes:
        if isinstance(node, ast.Lambda):
            around.run([around.function(node, [node.body])])
        elif isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            around.run([around.function(node, node.body)])
        else:
            around.visit(node)
    return around.effects


def effects_of_module(tree: ast.Module, parse: Parse) -> Effects:
    """Return the effects of a cell."""
    walker = Walker(set(), parse)
    walker.block(tree.body)
    for name, bodies in walker.defined.items():
        inner = Walker(set(), parse)
        inner.run(bodies)
        walker.effects.defined[name] = inner.effects
    return walker.effects


class Walker(CallWalker):
    """A walker of the code of one scope: a cell or a function."""

    def visit_Name(self, node: ast.Name) -> str:
        if isinstance(node.ctx, ast.Load):
            return self._look_up(node.id)
        if isinstance(node.ctx, ast.Del):
            self.effects.actions[f"del {node.id}"] = None
        self._store(node.id)
        return ""

    def visit_Attribute(self, node: ast.Attribute) -> str:
        if not isinstance(node.ctx, ast.Load):
            self._put(node, None)
            return ""
        names = [node.attr]
        base = node.value
        while isinstance(base, ast.Attribute):
            names.append(base.attr)
            base = base.value
        path = self._load(base.id) if isinstance(base, ast.Name) else self.visit(base)
        self.effects.attributes.update(names)
        for name in reversed(names):
            path = f"{path}.{name}" if 0 < len(path) < _LONGEST_NAME else ""
        if path not in {"", *self._assigned}:
            self.effects.paths.add(path)
        return path

    def visit_Subscript(self, node: ast.Subscript) -> str:
        if not isinstance(node.ctx, ast.Load):
            self._put(node, None)
            return ""
        if is_namespace(node.value):
            return self._look_up_text(node.value, node.slice)
        number = node.slice.value if isinstance(node.slice, ast.Constant) else None
        if isinstance(node.value, ast.Name) and node.value.id in _RESULTS and type(number) is int:
            return self._look_up(f"{_RESULTS[node.value.id]}{number}")
        self._visit_parts(node)
        return ""

    def visit_Expr(self, node: ast.Expr) -> None:
        self._shown = True  # the value is at most shown
        self.visit(node.value)

    def visit_Assign(self, node: ast.Assign) -> None:
        target, value = node.targets[0], node.value
        if (
            len(node.targets) == 1
            and isinstance(target, ast.Tuple | ast.List)
            and isinstance(value, ast.Tuple | ast.List)
            and len(target.elts) == len(value.elts)
            and not any(isinstance(each, ast.Starred) for each in (*target.elts, *value.elts))
        ):
            self._set_all(zip(target.elts, value.elts, strict=True))
        else:
            self._set_all((each, value) for each in node.targets)

    def visit_AnnAssign(self, node: ast.AnnAssign) -> None:
        self.visit(node.annotation)
        if node.value is not None:
            self._set_all([(node.target, node.value)])

    def visit_AugAssign(self, node: ast.AugAssign) -> None:
        before = copy.copy(node.target)
        before.ctx = ast.Load()
        self._set_all([(node.target, ast.BinOp(before, node.op, node.value))])

    def visit_NamedExpr(self, node: ast.NamedExpr) -> str:
        path = self.visit(node.value)
        self._store(node.target.id, path)
        return path

    def _set_all(self, pairs: Iterable[tuple[ast.expr, ast.expr]]) -> None:
        """Set targets to values, after all values are evaluated."""
        made, paths = [], dict[int, str]()
        for target, value in pairs:
            reading = self._reading(value)
            if isinstance(target, ast.Attribute | ast.Subscript):
                reading = both(reading, self._readings.get(_root_of(target)))
            if id(value) not in paths:
                self._shown = reading is not None
                paths[id(value)] = self.visit(value)
                self._shown = False
            made.append((target, paths[id(value)], reading))
        for each in made:
            self._bind(*each)

    def _bind(self, target: ast.expr, path: str, reading: Reading) -> None:
        if isinstance(target, ast.Name):
            self._store(target.id, path, reading)
        elif isinstance(target, ast.Tuple | ast.List):
            for part in target.elts:
                self._bind(part, "", reading)
        elif isinstance(target, ast.Attribute | ast.Subscript):
            self._put(target, reading)
        else:
            self.visit(target)

    def _put(self, target: ast.Attribute | ast.Subscript, reading: Reading) -> None:
        """Put a value into an attribute or item."""
        if isinstance(target, ast.Subscript):
            key = text_of(target.slice)
            if is_namespace(target.value):
                if key is not None:
                    self._store(key)
                    return
                self.effects.complete = False
            path = self.visit(target.value)
            self.visit(target.slice)
            if path and key is not None:
                self.effects.actions[f"{path}[{key!r}]="] = None
        else:
            owner = target.value
            path = self._load(owner.id) if isinstance(owner, ast.Name) else self.visit(owner)
            if path:
                self._assigned.add(f"{path}.{target.attr}")
                self.effects.paths.add(f"{path}.{target.attr}=")
                self.effects.actions[f"{path}.{target.attr}="] = None
        self._time(_root_of(target), reading)

    def visit_Import(self, node: ast.Import) -> None:
        for alias in node.names:
            self.effects.actions[f"import {alias.name}"] = None
            package = alias.name.partition(".")[0]
            self._store(alias.asname or package, f":{alias.name if alias.asname else package}")

    def visit_ImportFrom(self, node: ast.ImportFrom) -> None:
        module = f"{'.' * node.level}{node.module or ''}"
        for alias in node.names:
            if alias.name == "*":
                self.effects.stars.add(f":{module}")
                self.effects.actions[f"import {module}"] = None
                continue
            path = f":{module}{'.' if node.module else ''}{alias.name}"
            self.effects.paths.add(path)
            self.effects.actions[f"import {path[1:]}"] = None
            self._store(alias.asname or alias.name, path)

    def visit_If(self, node: ast.If) -> None:
        self.visit(node.test)
        self._branch(node.body, node.orelse)

    def visit_For(self, node: ast.For | ast.AsyncFor) -> None:
        self.visit(node.iter)
        self.visit(node.target)
        self._loop(node)

    visit_AsyncFor = visit_For

    def visit_While(self, node: ast.While) -> None:
        self.visit(node.test)
        self._loop(node)

    def _loop(self, node: ast.For | ast.AsyncFor | ast.While) -> None:
        outer, self._exits = self._exits, []
        self.block(node.body)
        exits, self._exits = self._exits, outer
        self._assigned.intersection_update(*exits)
        self.block(node.orelse)
        self._assigned.intersection_update(*exits)

    def visit_Break(self, _: ast.Break | ast.Continue) -> None:
        self._exits.append({*self._assigned})

    visit_Continue = visit_Break  # type: ignore[assignment] # it uses no field of the node

    def visit_Match(self, node: ast.Match) -> None:
        self.visit(node.subject)
        self._branch(*([case] for case in node.cases), [])

    def visit_match_case(self, node: ast.match_case) -> None:
        self.visit(node.pattern)
        for name in captures_of(node.pattern):
            self._store(name)
        self.block([*filter(None, [node.guard]), *node.body])

    def visit_Try(self, node: ast.Try) -> None:
        start = {*self._assigned}
        self.block([*node.body, *node.orelse])
        end = self._assigned
        self._depth += 1
        for handler in node.handlers:
            self._assigned = {*start}
            self.visit(handler)
        self._depth -= 1
        self._assigned = end if node.body else start
        self.block(node.finalbody)

    visit_TryStar = visit_Try  # type: ignore[assignment] # the nodes have the same fields

    def visit_ExceptHandler(self, node: ast.ExceptHandler) -> None:
        if node.type is not None:
            self.visit(node.type)
        if node.name:
            self._store(node.name)
        self.block(node.body)
        if node.name:
            self.effects.actions[f"del {node.name}"] = None

    def visit_FunctionDef(self, node: ast.FunctionDef | ast.AsyncFunctionDef) -> None:
        with self._scope(type_parameters(node)):
            self._assigned |= type_parameters(node)
            for part in (*node.decorator_list, node.args, *filter(None, [node.returns])):
                self.visit(part)
        effects = self.function(node, node.body)
        if node.decorator_list:  # a decorator may call it
            self.run([effects])
        self._store(node.name, bodies=[effects])

    visit_AsyncFunctionDef = visit_FunctionDef

    def visit_Lambda(self, node: ast.Lambda) -> None:
        self.visit(node.args)
        self.run([self.function(node, [node.body])])

    def visit_ClassDef(self, node: ast.ClassDef) -> None:
        names = names_of(node)
        with self._scope(names):
            self._assigned |= type_parameters(node)
            for part in (*node.decorator_list, *node.bases, *node.keywords):
                self.visit(part)
            self.block(node.body)
            bodies = [*chain(*(self.defined.get(name, ()) for name in names))]
        self._store(node.name, bodies=bodies)

    def visit_ListComp(
        self, node: ast.ListComp | ast.SetComp | ast.GeneratorExp | ast.DictComp
    ) -> None:
        if isinstance(node, ast.SetComp):
            self._record_set()
        shown, self._shown = self._shown, False
        with self._scope(set().union(*(targets_of(loop.target) for loop in node.generators))):
            for loop in node.generators:
                for part in (loop.iter, loop.target, *loop.ifs):
                    self.visit(part)
            self._shown = shown
            for part in [node.key, node.value] if isinstance(node, ast.DictComp) else [node.elt]:
                self.visit(part)

    visit_SetComp = visit_GeneratorExp = visit_DictComp = visit_ListComp

    def visit_BoolOp(self, node: ast.BoolOp) -> None:
        first, *others = node.values
        self.visit(first)
        self._branch(others, [])

    def visit_IfExp(self, node: ast.IfExp) -> None:
        self.visit(node.test)
        self._branch([node.body], [node.orelse])

    def visit_Constant(self, node: ast.Constant) -> None:
        if type(node.value) is str:
            if 0 < len(node.value) <= _LONGEST_TEXT and not {"\n", "\0"} & {*node.value}:
                self.effects.texts.add(node.value)
            self.effects.programs |= asked_by_query(node.value)

    def visit_Compare(self, node: ast.Compare) -> None:
        if isinstance(node.ops[0], ast.In | ast.NotIn) and is_namespace(node.comparators[0]):
            self._look_up_text(node.comparators[0], node.left)
            return
        outer, self._orderless = self._orderless, True
        self._visit_parts(node)
        self._orderless = outer

    def visit_Set(self, node: ast.Set) -> None:
        values = (getattr(each, "value", None) for each in node.elts)
        if not all(isinstance(each, int | float) for each in values):
            self._record_set()
        self._visit_parts(node)


def _root_of(target: ast.expr) -> str:
    while isinstance(target, ast.Attribute | ast.Subscript):
        target = target.value
    return target.id if isinstance(target, ast.Name) else ""
