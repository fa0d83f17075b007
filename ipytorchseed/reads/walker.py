"""Walks through code, and collects the names that it reads, sets and calls.

The bodies of loops, ``with`` and ``try`` are assumed to run. After ``if``, a name is certainly set
only if both branches set it. The names that a function reads are recorded where the name of the
function is read. The names that methods read are recorded where the name of their class is read.
"""

from __future__ import annotations

import ast
import copy
import glob
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from itertools import chain, zip_longest

from ipytorchseed.reads.actions import is_name
from ipytorchseed.reads.bindings import captures_of, names_of, targets_of, type_parameters
from ipytorchseed.reads.effects import Effects
from ipytorchseed.reads.entropy import ADDRESS, ANY, READING_TAILS, SAYS_WHEN
from ipytorchseed.reads.magics import Magic, magic_of
from ipytorchseed.reads.parsing import children_of, dotted_name, nodes_in, parse_text
from ipytorchseed.reads.queries import asked_by_query, names_in_query
from ipytorchseed.reads.seeding import as_if_seeded
from ipytorchseed.reads.source import remember

# Parses the text of a cell as the shell does; returns None if it is invalid.
Parse = Callable[[str], ast.Module | None]

_LONGEST_NAME, _LONGEST_TEXT = 120, 240  # characters

_RESULTS = {"Out": "_", "In": "_i"}
_NAMESPACES = frozenset({"dir", "globals", "locals", "vars"})
_SETS = frozenset({"frozenset", "set"})

# Builtins that make sets, or that ignore the order of a set.
_ORDERLESS = _SETS | {"all", "any", "isinstance", "len", "max", "min", "sorted"}

_LOOKUP_METHODS = frozenset({"get", "pop", "setdefault"})
_FILL_METHODS = frozenset({"add", "append", "appendleft", "extend", "insert"})
_QUERIES = frozenset({"eval", "query", "sql"})

_ARITHMETIC = (ast.Add, ast.Sub, ast.Mult, ast.Div, ast.FloorDiv, ast.Mod)

# Functions that only show a reading of a clock.
_SHOWS = frozenset(
    {"print", "display", "debug", "info", "warning", "error", "critical", "log", "exception"}
    | {"write", "set_description", "set_postfix", "set_postfix_str", "pprint", "warn"}
)

# Functions and methods that convert a reading of a clock to another reading.
_RESHAPES = frozenset(
    {"abs", "astype", "float", "format", "fromtimestamp", "int", "isoformat", "item", "max", "min"}
    | {"repr", "round", "str", "strftime", "timedelta", "timestamp", "total_seconds"}
)

# If an expression of one of these types is only shown, its parts are only shown too.
_PARTS_SHOWN = (
    *(ast.Name, ast.Attribute, ast.Call, ast.BinOp, ast.UnaryOp, ast.JoinedStr),
    *(ast.FormattedValue, ast.Starred, ast.Tuple, ast.List, ast.Set, ast.Dict),
    *(ast.ListComp, ast.DictComp),
)

# Expressions whose values contain only the values of their parts.
_CONTAINERS = (
    *(ast.UnaryOp, ast.JoinedStr, ast.FormattedValue, ast.Starred),
    *(ast.Tuple, ast.List, ast.Set, ast.Dict),
)

# What a value is computed from: calls that return readings of clocks, such as ``time.time()``, and
# names. None if it contains anything else.
Reading = frozenset[str] | None


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


class Walker(ast.NodeVisitor):
    """Walks the code of one scope: a cell or a function.

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
        self._hidden = set[str]()  # names of a class's body, which comprehensions do not see
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
        for part in children_of(node):
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

    # -- names ---------------------------------------------------------------------------------

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
        if _is_namespace(node.value):
            return self._look_up_text(node.value, node.slice)
        number = node.slice.value if isinstance(node.slice, ast.Constant) else None
        if isinstance(node.value, ast.Name) and node.value.id in _RESULTS and type(number) is int:
            return self._look_up(f"{_RESULTS[node.value.id]}{number}")
        self._visit_parts(node)
        return ""

    def _look_up_text(self, namespace: ast.expr, key: ast.expr) -> str:
        """Look up ``name`` in ``globals()["name"]``, or a pattern for ``f"name_{x}"``."""
        text = _text_of(key)
        if text is not None:
            return self._look_up(text)
        self.visit(namespace)
        path, pattern = self.visit(key), _pattern_of(key)
        if pattern.strip("*"):
            self.effects.held.add(("pattern", pattern))
        else:
            self._hold(path)
        return ""

    def _hold(self, path: str) -> None:
        """Record that a string, maybe a variable's value, is used as a name or as code."""
        if path.isidentifier():
            self.effects.held.add(("text", path))
        else:
            self.effects.complete = False

    # -- statements ----------------------------------------------------------------------------

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
                reading = _both(reading, self._readings.get(_root_of(target)))
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
            key = _text_of(target.slice)
            if _is_namespace(target.value):
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

    # -- functions and classes -----------------------------------------------------------------

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
        inner = Walker(names_of(node), self._parse)
        inner.block(body)
        inner.effects.escaped.update(*inner.effects.timed.values())
        return inner.effects

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
        outer, self._hidden = self._hidden, names
        with self._scope(names):
            self._assigned |= type_parameters(node)
            for part in (*node.decorator_list, *node.bases, *node.keywords):
                self.visit(part)
            self.block(node.body)
            bodies = [*chain(*(self.defined.get(name, ()) for name in names))]
        self._hidden = outer
        self._store(node.name, bodies=bodies)

    def visit_ListComp(
        self, node: ast.ListComp | ast.SetComp | ast.GeneratorExp | ast.DictComp
    ) -> None:
        if isinstance(node, ast.SetComp):
            self._record_set()
        shown, self._shown = self._shown, False
        before, self._assigned = self._assigned, self._assigned - self._hidden
        with self._scope(set().union(*(targets_of(loop.target) for loop in node.generators))):
            for loop in node.generators:
                for part in (loop.iter, loop.target, *loop.ifs):
                    self.visit(part)
            self._shown = shown
            for part in [node.key, node.value] if isinstance(node, ast.DictComp) else [node.elt]:
                self.visit(part)
        self._assigned |= before

    visit_SetComp = visit_GeneratorExp = visit_DictComp = visit_ListComp

    # -- expressions ---------------------------------------------------------------------------

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
        if isinstance(node.ops[0], ast.In | ast.NotIn) and _is_namespace(node.comparators[0]):
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

    def _record_set(self, items: str = "") -> None:
        """Record that a set is created, from the items of the value named ``items``."""
        if not self._orderless:
            self.effects.sets.add(items)

    def _reading(self, node: ast.AST) -> Reading:
        """Return what an expression is computed from, if it may be a reading of a clock."""
        parts: list[ast.expr] = []
        if isinstance(node, ast.Name):
            known = node.id in self._assigned
            return self._readings.get(node.id) if known else frozenset({node.id})
        if isinstance(node, ast.Call):
            return self._reading_of_call(node)
        if isinstance(node, ast.BinOp) and isinstance(node.op, _ARITHMETIC):
            parts = [node.left, node.right]
        elif isinstance(node, ast.ListComp):
            parts = [node.elt]
        elif isinstance(node, _CONTAINERS):
            parts = [each for each in children_of(node) if isinstance(each, ast.expr)]
        elif not isinstance(node, ast.Constant):
            return None
        return _both(*map(self._reading, parts))

    def _reading_of_call(self, node: ast.Call) -> Reading:
        path, func = self._resolve(dotted_name(node.func)), node.func
        tail = path.rpartition(".")[2].lstrip(":") or getattr(func, "attr", "")
        if path == ADDRESS or (path and tail in READING_TAILS):
            return frozenset({f"{path}()"})
        if tail not in _RESHAPES:
            return None
        parts = [*node.args, *(word.value for word in node.keywords)]
        if (
            isinstance(func, ast.Attribute)
            and not path
            and not isinstance(func.value, ast.Constant)
        ):
            parts.append(func.value)
        return _both(*map(self._reading, parts)) or None

    # -- calls ---------------------------------------------------------------------------------

    def visit_Call(self, node: ast.Call) -> str:
        name = node.func.id if isinstance(node.func, ast.Name) else ""
        key = _text_of(node.args[1]) if len(node.args) > 1 else None
        magic = magic_of(node)
        if name in {"eval", "exec"}:
            self._run_text(node)
        elif magic is not None:
            self._magic(magic)
        elif name == "getattr" and key is not None:
            for each in node.args[2:]:
                self.visit(each)
            return self.visit(ast.Attribute(node.args[0], key, ast.Load()))
        else:
            return self._call(node, name, key)
        return ""

    def _call(self, node: ast.Call, name: str, key: str | None) -> str:
        """Walk a call of an ordinary function.

        Args:
            node: The call.
            name: The name of the function, if it is called by a plain name.
            key: The second argument, if it is a string.
        """
        shown, tail = self._shown, name or getattr(node.func, "attr", "")
        kept = self._method(node.func, node) if isinstance(node.func, ast.Attribute) else False
        self._shown = kept or (shown and tail in _RESHAPES)
        func = self._look_up(name, ".__call__") if name else self.visit(node.func)
        if tail in SAYS_WHEN and node.args and _text_of(node.args[0]) in ("now", "today"):
            func = func and f"{func}.{_text_of(node.args[0])}"  # see ``entropy.SAYS_WHEN``
        last = func.rpartition(".")[2].lstrip(":") or tail
        self._shown |= last in _SHOWS
        outer, self._orderless = self._orderless, name in _ORDERLESS
        args = [self.visit(each) for each in node.args]
        self._orderless = outer
        if name in _SETS and func == name and args[:1] != ["range()"]:
            self._record_set(args[0] if args else "")
        if name == "setattr" and key is not None and args[0]:
            self.effects.paths.add(f"{args[0]}.{key}=")
        args += [self.visit(word.value) for word in node.keywords]
        self._shown = shown
        self._record(node, func, tail)
        if last not in _SHOWS:
            self.effects.handed.update(filter(None, args))
        if func and not shown and (last in READING_TAILS or func == ADDRESS):
            self.effects.escaped.add(f"{func}()")
        return func and f"{func}()"

    def _method(self, callee: ast.Attribute, node: ast.Call) -> bool:
        """Walk methods that look up names, run queries or fill containers.

        Return whether a container of readings is filled with another reading.
        """
        if callee.attr in _LOOKUP_METHODS and node.args and _is_namespace(callee.value):
            held = self._look_up_text(callee.value, node.args[0])
            if callee.attr == "pop" and held:
                self.effects.actions[f"del {held}"] = None
        if callee.attr in _QUERIES:
            for each in node.args:
                if isinstance(each, ast.Name):
                    self.effects.held.add(("text", each.id))
                for text in filter(None, map(_text_of, nodes_in(each))):
                    for name in names_in_query(text):
                        self._look_up(name)
        if callee.attr in _FILL_METHODS and node.args and isinstance(callee.value, ast.Name):
            filled = callee.value.id
            reading = _both(self._reading(node.args[-1]), self._readings.get(filled))
            self._time(filled, reading)
            return reading is not None
        return False

    def _record(self, node: ast.Call, func: str, tail: str) -> None:
        """Record a call with the number of arguments that are not None."""
        values = [*node.args, *(word.value for word in node.keywords)]
        given = sum(not (isinstance(each, ast.Constant) and each.value is None) for each in values)
        if any(isinstance(each, ast.Starred) for each in values) or not all(
            word.arg for word in node.keywords
        ):
            given = ANY  # ``*args`` and ``**options`` cannot be counted
        action = func or (f".{tail}" if isinstance(node.func, ast.Attribute) else tail)
        self.effects.actions[action] = None
        if func:
            self.effects.call(func, given)

    def _magic(self, magic: Magic) -> None:
        self._load("get_ipython")  # IPython's translation of the magic
        effects = self.effects
        effects.actions[magic.text] = None
        for text in magic.expressions:
            tree = parse_text(text.strip())
            if tree is not None:
                self.block(tree.body)
        effects.files.update(magic.files)
        effects.texts.update(magic.words)
        if magic.program:
            effects.programs.add(magic.program)
        tree = self._parse(magic.body) if magic.cell else parse_text(magic.body.strip())
        if tree is not None and magic.body:
            remember(tree)
            before = {*self._assigned}, {*effects.writes}
            self.block(tree.body)
            if magic.forgets:
                self._assigned, effects.writes = before
        for name in magic.writes:
            self._store(name)

    def _run_text(self, node: ast.Call) -> None:
        """Walk ``exec`` and ``eval`` of a literal string or of a variable."""
        self.visit(node.func)
        text = _text_of(node.args[0]) if len(node.args) == 1 else None
        tree = parse_text(text.strip()) if text is not None else None
        if tree is not None:
            self.block(tree.body)
            return
        paths = [self.visit(each) for each in (*node.args, *node.keywords)]
        self._hold(paths[0] if len(node.args) == 1 else "")


def _both(*readings: Reading) -> Reading:
    """Return what a value is computed from, given its parts."""
    known = [each for each in readings if each is not None]
    return frozenset[str]().union(*known) if len(known) == len(readings) else None


def _root_of(target: ast.expr) -> str:
    while isinstance(target, ast.Attribute | ast.Subscript):
        target = target.value
    return target.id if isinstance(target, ast.Name) else ""


def _is_namespace(node: ast.expr) -> bool:
    """Return whether a node is ``globals()`` or a similar namespace."""
    if isinstance(node, ast.Call):
        return isinstance(node.func, ast.Name) and node.func.id in _NAMESPACES and not node.args
    return isinstance(node, ast.Attribute) and node.attr == "user_ns"


def _text_of(node: ast.AST) -> str | None:
    """Return the string of a string constant, or None for another node."""
    value = node.value if isinstance(node, ast.Constant) else None
    return value if type(value) is str else None


def _pattern_of(node: ast.expr) -> str:
    """Return a pattern of ``fnmatch`` for the strings that an expression may return."""
    if isinstance(node, ast.JoinedStr):
        return "".join(map(_pattern_of, node.values))
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Add):
        return _pattern_of(node.left) + _pattern_of(node.right)
    text = _text_of(node)
    return "*" if text is None else glob.escape(text)
