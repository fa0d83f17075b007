"""Which of a cell's results depend on the numbers that it draws, from its text alone.

Numbers that are thrown away or overwritten bear on nothing, nor does the order of what is sorted
again, whoever brought that about. Only cells that call nothing but what is known not to draw are
judged.
"""

from __future__ import annotations

import ast
from collections.abc import Collection, Iterable

from msgspec import Struct

from ipytorchseed.reads.parsing import dotted_name, names_in, parse_text

_CLEAN, _ORDER, _VALUE = range(3)
"""How far something hangs on what is drawn: not at all, by its order, wholly."""

MODULES = frozenset({"collections", "itertools", "json", "math", "np", "numpy", "pd", "statistics"})
FUNCTIONS = frozenset({
    "Counter", "abs", "all", "any", "bool", "defaultdict", "dict", "enumerate", "float", "int",
    "len", "list", "max", "min", "print", "range", "reversed", "round", "set", "sorted", "str",
    "sum", "tuple", "zip",
})  # fmt: skip
METHODS = frozenset({
    "add", "all", "any", "append", "astype", "clear", "copy", "cumsum", "extend", "format", "get",
    "head", "index", "insert", "items", "join", "keys", "lower", "max", "mean", "median", "min",
    "pop", "remove", "replace", "reshape", "reverse", "round", "sort", "split", "std", "strip",
    "sum", "tolist", "update", "upper", "values", "var",
})  # fmt: skip
"""What draws nothing, whatever it is given, and changes nothing but what it is called on."""

CHANGES = frozenset({
    "add", "append", "clear", "extend", "insert", "remove", "reverse", "sort", "update",
})  # fmt: skip
"""Methods that change what they are called on, and give nothing."""

_ANY_ORDER = frozenset({"Counter", "len", "max", "min", "set", "sorted", "np.sort", "np.unique"})
"""Functions whose result is the same in whatever order they are given items."""

_CHANGES_ARGUMENTS = frozenset({"copyto", "fill_diagonal", "place", "put", "putmask"})

_PERMUTES = frozenset({"permutation", "shuffle"})


class Drawn(Struct):
    """What of a cell's results hangs on what it draws.

    Attributes:
        names: Variables that may.
        used: Variables that the cell reads after it has set them, steps on its way, each with the
            names of what it may go into: nothing for what is shown.
        result: Whether its last expression may.
        stdout: Whether what it prints may.
    """

    names: set[str]
    used: dict[str, set[str]]
    result: bool = False
    stdout: bool = False


class _UnknownError(Exception):
    """There is code of which it is not known what it does."""


def find_drawn(source: str, generators: Collection[str], mixed: Iterable[str] = ()) -> Drawn | None:
    """Find what of a cell's results may hang on the numbers that it draws.

    Args:
        source: The cell's text.
        generators: Names of the generators that it finds.
        mixed: Names of what it finds in any order.

    Returns:
        None where that cannot be told from its text.
    """
    tree = parse_text(source)
    if tree is None:
        return None
    analysis = _TaintAnalysis(generators)
    analysis.levels = dict.fromkeys(mixed, _ORDER)
    try:
        analysis.block(tree.body)
    except (_UnknownError, RecursionError):
        return None
    names = {name for name, level in analysis.levels.items() if level}
    return Drawn(names, analysis.used, analysis.last != _CLEAN, analysis.printed)


class _TaintAnalysis:
    """Follows through the statements of a cell how far each name hangs on what is drawn."""

    def __init__(self, generators: Collection[str]) -> None:
        self.levels: dict[str, int] = {}
        self.used: dict[str, set[str]] = {}
        self._into: set[str] = set()
        self.printed, self.last = False, _CLEAN
        self._generators = generators
        self._around = _CLEAN
        self._linked: dict[str, set[str]] = {}

    def block(self, statements: Iterable[ast.stmt]) -> None:
        """Follow statements."""
        for each in statements:
            self.last = _CLEAN
            self._statement(each)

    def _statement(self, node: ast.stmt) -> None:
        self._into = names_in(node) | {""}
        if isinstance(node, ast.Expr):
            self.last = self._level(node.value)
        elif isinstance(node, (ast.Assign, ast.AnnAssign, ast.AugAssign)):
            targets = node.targets if isinstance(node, ast.Assign) else [node.target]
            self._into = set().union(*map(names_in, targets))
            level = _CLEAN if node.value is None else self._level(node.value)
            for target in targets:
                old = self._level(target) if isinstance(node, ast.AugAssign) else _CLEAN
                self._put(target, max(level, old), node.value)
        elif isinstance(node, (ast.For, ast.If, ast.While)):
            self._compound(node)
        elif isinstance(node, ast.Delete):
            for name in names_in(node):
                self.levels.pop(name, None)
        elif not isinstance(node, (ast.Import, ast.ImportFrom, ast.Pass)):
            raise _UnknownError

    def _compound(self, node: ast.For | ast.If | ast.While) -> None:
        around = self._around
        for _ in range(1 if isinstance(node, ast.If) else 2):  # what is drawn may come around
            level = self._level(node.iter if isinstance(node, ast.For) else node.test)
            self._around = max(around, level)
            if isinstance(node, ast.For):
                self._put(node.target, level, node.iter)
            before = dict(self.levels)
            self.block(node.body)
            self.block(node.orelse)
            for name, known in before.items():  # none of it may have run
                self.levels[name] = max(known, self.levels.get(name, _CLEAN))
        self._around, self.last = around, _CLEAN

    def _put(self, target: ast.expr, level: int, value: ast.expr | None) -> None:
        """Follow what sets a target."""
        level = max(level, self._around)
        if isinstance(target, ast.Name):
            self.levels[target.id] = level
            self.used.pop(target.id, None)
            made_of = set() if value is None else names_in(value)
            self._linked[target.id] = made_of - MODULES - FUNCTIONS
        elif isinstance(target, (ast.Tuple, ast.List)):
            for each in target.elts:
                self._put(each, level, value)
        elif isinstance(target, ast.Subscript) and isinstance(target.value, ast.Name):
            whole = isinstance(target.slice, ast.Slice) and not any(
                (target.slice.lower, target.slice.upper, target.slice.step)
            )
            self._level(target.slice)
            self._change(target.value.id, level, anew=whole and not self._around)
        else:
            raise _UnknownError

    def _change(self, name: str, level: int, *, anew: bool = False) -> None:
        """Follow what changes the object of a name, which may be that of others."""
        self.used.pop(name, None)
        linked = {name, *self._linked.get(name, ())}
        linked |= {each for each, names in self._linked.items() if name in names}
        for each in linked if level else (name,):
            self.levels[each] = level if anew else max(level, self.levels.get(each, _CLEAN))

    def _level(self, node: ast.AST) -> int:
        """Return how far an expression hangs on what is drawn."""
        if isinstance(node, ast.Name):
            if node.id in self.levels and isinstance(node.ctx, ast.Load):
                self.used[node.id] = self.used.get(node.id, set()) | self._into - {node.id}
            return self.levels.get(node.id, _CLEAN)
        if isinstance(node, ast.Call):
            return self._call(node)
        if isinstance(node, (ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)):
            for loop in node.generators:
                self._put(loop.target, self._level(loop.iter), loop.iter)
        elif isinstance(node, (ast.Lambda, ast.NamedExpr, ast.Await, ast.Yield, ast.YieldFrom)):
            raise _UnknownError
        return max(map(self._level, ast.iter_child_nodes(node)), default=_CLEAN)

    def _call(self, node: ast.Call) -> int:
        path = dotted_name(node.func)
        root, _, rest = path.partition(".")
        tail = getattr(node.func, "attr", "")
        args = [*node.args, *(word.value for word in node.keywords)]
        level = max(map(self._level, args), default=_CLEAN)
        if root == "random" or ".random." in path or root in self._generators:
            order = tail in _PERMUTES and level < _VALUE
            if tail == "shuffle":
                for name in names_in(node.args[0]) if node.args else ():
                    self._change(name, _ORDER if order else _VALUE)
            return _ORDER if order else _VALUE
        if tail in _CHANGES_ARGUMENTS or any(word.arg == "out" for word in node.keywords):
            raise _UnknownError
        if path in FUNCTIONS or (root in MODULES and rest and tail != "sample"):
            self.printed |= path == "print" and max(level, self._around) > _CLEAN
            sorts = path.replace("numpy.", "np.") in _ANY_ORDER and not node.keywords
            return _CLEAN if sorts and level == _ORDER else level
        if not isinstance(node.func, ast.Attribute) or tail not in METHODS:
            raise _UnknownError
        owner = node.func.value
        before = self._level(owner)
        if isinstance(owner, ast.Name) and tail in CHANGES:
            sorts = tail == "sort" and not node.keywords and not self._around and before == _ORDER
            self._change(owner.id, _CLEAN if sorts else max(level, self._around), anew=sorts)
        return max(level, before)
