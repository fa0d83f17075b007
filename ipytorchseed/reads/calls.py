"""Walks through calls: of functions, methods, magics, ``exec`` and ``globals()``."""

from __future__ import annotations

import ast
import glob

from ipytorchseed.reads.entropy import ADDRESS, ANY, READING_TAILS, SAYS_WHEN
from ipytorchseed.reads.magics import Magic, magic_of
from ipytorchseed.reads.parsing import dotted_name, parse_text
from ipytorchseed.reads.queries import names_in_query
from ipytorchseed.reads.scope import Reading, Scope
from ipytorchseed.reads.source import remember

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

# Expressions whose values contain only the values of their parts.
_CONTAINERS = (
    *(ast.UnaryOp, ast.JoinedStr, ast.FormattedValue, ast.Starred),
    *(ast.Tuple, ast.List, ast.Set, ast.Dict),
)


class CallWalker(Scope):
    """A walker of the calls in a scope, and of readings of clocks."""

    def visit_Call(self, node: ast.Call) -> str:
        name = node.func.id if isinstance(node.func, ast.Name) else ""
        key = text_of(node.args[1]) if len(node.args) > 1 else None
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
        if tail in SAYS_WHEN and node.args and text_of(node.args[0]) in ("now", "today"):
            func = func and f"{func}.{text_of(node.args[0])}"  # see ``entropy.SAYS_WHEN``
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
        if callee.attr in _LOOKUP_METHODS and node.args and is_namespace(callee.value):
            held = self._look_up_text(callee.value, node.args[0])
            if callee.attr == "pop" and held:
                self.effects.actions[f"del {held}"] = None
        if callee.attr in _QUERIES:
            for each in node.args:
                if isinstance(each, ast.Name):
                    self.effects.held.add(("text", each.id))
                for text in filter(None, map(text_of, ast.walk(each))):
                    for name in names_in_query(text):
                        self._look_up(name)
        if callee.attr in _FILL_METHODS and node.args and isinstance(callee.value, ast.Name):
            filled = callee.value.id
            reading = both(self._reading(node.args[-1]), self._readings.get(filled))
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
        text = text_of(node.args[0]) if len(node.args) == 1 else None
        tree = parse_text(text.strip()) if text is not None else None
        if tree is not None:
            self.block(tree.body)
            return
        paths = [self.visit(each) for each in (*node.args, *node.keywords)]
        self._hold(paths[0] if len(node.args) == 1 else "")

    def _look_up_text(self, namespace: ast.expr, key: ast.expr) -> str:
        """Look up ``name`` in ``globals()["name"]``, or a pattern for ``f"name_{x}"``."""
        text = text_of(key)
        if text is not None:
            return self._look_up(text)
        self.visit(namespace)
        path, pattern = self.visit(key), _pattern_of(key)
        if pattern.strip("*"):
            self.effects.held.add(("pattern", pattern))
        else:
            self._hold(path)
        return ""

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
            parts = [each for each in ast.iter_child_nodes(node) if isinstance(each, ast.expr)]
        elif not isinstance(node, ast.Constant):
            return None
        return both(*map(self._reading, parts))

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
        return both(*map(self._reading, parts)) or None


def both(*readings: Reading) -> Reading:
    """Return what a value is computed from, given its parts."""
    known = [each for each in readings if each is not None]
    return frozenset[str]().union(*known) if len(known) == len(readings) else None


def is_namespace(node: ast.expr) -> bool:
    """Return whether a node is ``globals()`` or a similar namespace."""
    if isinstance(node, ast.Call):
        return isinstance(node.func, ast.Name) and node.func.id in _NAMESPACES and not node.args
    return isinstance(node, ast.Attribute) and node.attr == "user_ns"


def text_of(node: ast.AST) -> str | None:
    """Return the string of a string constant, or None for another node."""
    value = node.value if isinstance(node, ast.Constant) else None
    return value if type(value) is str else None


def _pattern_of(node: ast.expr) -> str:
    """Return a pattern of ``fnmatch`` for the strings that an expression may return."""
    if isinstance(node, ast.JoinedStr):
        return "".join(map(_pattern_of, node.values))
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Add):
        return _pattern_of(node.left) + _pattern_of(node.right)
    text = text_of(node)
    return "*" if text is None else glob.escape(text)
