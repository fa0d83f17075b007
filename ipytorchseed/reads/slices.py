"""Which statements of a cell its results hang on, from its text alone.

A backward slice: the statements that set or change a result, those on which these hang, and so on.
Whatever is not known to be harmless counts: code of the user's may read and change whatever its
functions name, and what it is given.
"""

from __future__ import annotations

import ast
from collections import Counter
from collections.abc import Collection, Sequence

from msgspec import Struct

from ipytorchseed.reads.aliases import Aliases, find_sharing
from ipytorchseed.reads.bindings import bound_by, set_by
from ipytorchseed.reads.drawn import CHANGES, FUNCTIONS, METHODS, MODULES
from ipytorchseed.reads.draws import are_silent
from ipytorchseed.reads.inside import OPAQUE, SETTING
from ipytorchseed.reads.parsing import base_of, dotted_name, names_in, nodes_in, parse_text

RESULT, OUTPUT, _STATE = "<result>", "<output>", "<state>"
"""What is no variable: the last expression, what is printed and shown, and what libraries keep."""

_PURE = (METHODS - CHANGES - {"pop"}) | {
    *("abs", "agg", "all", "any", "argmax", "argmin", "argsort", "assign", "capitalize", "clip"),
    *("clone", "copy", "corr", "count", "cov", "cpu", "cumprod", "describe", "detach", "diff"),
    *("dot", "double", "drop", "drop_duplicates", "dropna", "dt", "encode", "endswith", "exp"),
    *("expand", "fillna", "find", "flatten", "float", "groupby", "int", "isin", "isna", "isnull"),
    *("item", "join", "log", "long", "lstrip", "map", "matmul", "melt", "merge", "mm", "mode"),
    *("nlargest", "norm", "notna", "notnull", "nsmallest", "numel", "numpy", "nunique", "permute"),
    *("pivot_table", "pow", "prod", "quantile", "rank", "ravel", "relu", "rename", "repeat"),
    *("reset_index", "rolling", "rstrip", "select_dtypes", "set_index", "shift", "sigmoid"),
    *("size", "softmax", "sort_index", "sort_values", "sqrt", "squeeze", "startswith", "swapaxes"),
    *("tail", "tanh", "title", "to_numpy", "to_list", "transpose", "unique", "unsqueeze"),
    *("value_counts", "view", "where"),
}  # fmt: skip
"""Methods of plain values that change nothing, ``inplace`` apart."""

_ASIDE = ("read", "load", "save", "set", "to_", "show", "seed", "option", "copyto", "put", "fill_")
"""How functions of numpy's and others' begin that read files or change something."""

_OF_TORCH = frozenset({
    *("abs", "arange", "argmax", "as_tensor", "cat", "clamp", "device", "exp", "eye", "from_numpy"),
    *("full", "linspace", "log", "max", "mean", "min", "numel", "ones", "ones_like", "pow", "prod"),
    *("sigmoid", "softmax", "sqrt", "stack", "std", "sum", "tanh", "tensor", "unique", "var"),
    *("where", "zeros", "zeros_like", "Tensor", "FloatTensor", "LongTensor"),
})  # fmt: skip
"""Functions of torch's that heed their arguments and settings alone."""

_PLAIN = MODULES | FUNCTIONS | {"torch"}
"""Names from which plain values come, or whose methods are called on such."""

_DRAWING = frozenset({"plt", "sns"})
"""Modules that change nothing that they are given."""

_NO_SLICE = (ast.Global, ast.Nonlocal, ast.Await, ast.Yield, ast.YieldFrom, ast.Match)


class Known(Struct, frozen=True):
    """What the names of a cell hold.

    Attributes:
        plain: Those of plain values, whose methods are a library's.
        holders: Those of them that hold other objects, as lists do.
        objects: Those of other objects of libraries, which may change whenever they are used.
        others: Those of all else: code of the user's may run with them.
        inside: Names that the user's functions may look up; None for any.
        scalars: Those of ``plain`` that hold a number or a text, which nobody can change.
        sharing: Names of values from before the cell that may share objects with each other, in
            sets that share none; None where any may.
    """

    plain: set[str]
    holders: set[str]
    objects: set[str]
    others: set[str]
    inside: set[str] | None = None
    scalars: set[str] = set()
    sharing: Sequence[set[str]] | None = None

    @property
    def values(self) -> set[str]:
        """All of them: other names are of libraries, or Python's own."""
        return self.plain | self.objects | self.others


class Slice(Struct, frozen=True):
    """What some results of a cell hang on.

    Attributes:
        names: The names that stand in its statements.
        statements: Each as a text that tells all but its place, and how variables are called that
            are steps on the way.
        quiet: Whether none of them calls anything but what is known to heed its arguments alone.
        opaque: Whether one of them may read any variable.
        outside: The names of values from before the cell that they read.
    """

    names: frozenset[str]
    statements: tuple[str, ...]
    quiet: bool
    opaque: bool
    outside: frozenset[str]


class _Statement(Struct):
    node: ast.stmt
    names: set[str]
    reads: set[str]
    sets: set[str]
    outside: set[str] = set()
    imports: set[str] = set()
    changes: set[str] = set()
    quiet: bool = True
    opaque: bool = False
    users: bool = False
    shows: bool = False


def find_slice(source: str, goals: Collection[str], known: Known) -> Slice | None:
    """Find what some results of a cell hang on.

    Args:
        source: The cell's text.
        goals: Variables, ``RESULT`` for the last expression, ``OUTPUT`` for what is shown.
        known: What the names hold that it reads or makes.

    Returns:
        None where that cannot be told.
    """
    tree = parse_text(source)
    if tree is None or (RESULT in goals and not _shows(tree.body[-1:])):
        return None
    made: set[str] = set()
    statements = []
    for node in tree.body:
        each = _look(node, known, made)
        if each is None:
            return None
        each.outside = each.reads - made - _loop_variables(node)
        each.changes &= known.values | made | each.sets  # and no module of a library's
        made |= each.sets - each.imports
        statements.append(each)
    times = Counter(name for each in statements for name in each.sets)
    varies = {name for name, count in times.items() if count > 1}  # and holds others meanwhile
    kept = _backwards(statements, {*goals}, _aliases(statements, known, varies))
    opaque = any(each.opaque for each in kept)
    touched = {RESULT, OUTPUT}.union(*(each.sets | each.changes for each in kept))
    if not kept or not (opaque or touched.issuperset(goals)):
        return None
    try:
        texts = _texts(kept, {*goals}.union(known.inside or ()))
    except RecursionError:
        return None
    names = frozenset().union(*(each.names for each in kept))
    quiet = all(each.quiet for each in kept)
    return Slice(names, texts, quiet, opaque, frozenset().union(*(each.outside for each in kept)))


def _loop_variables(statement: ast.stmt) -> set[str]:
    """Return the names that loops in a statement set before anything in it reads them."""
    loops = (ast.For, ast.AsyncFor, ast.comprehension)
    found = [each for each in nodes_in(statement) if isinstance(each, loops)]
    over = set[str]().union(*(names_in(each.iter) for each in found))
    return set[str]().union(*(names_in(each.target) for each in found)) - over


def _texts(statements: Sequence[_Statement], told: set[str]) -> tuple[str, ...]:
    """Write statements, in which it does not matter how variables are called on the way."""
    nodes = [node for each in statements for node in nodes_in(each.node)]
    found = [node for node in nodes if isinstance(node, ast.Name)]
    others = set[str]().union(*(bound_by(node) for node in nodes if not isinstance(node, ast.Name)))
    told = told.union(others, *(each.outside for each in statements))
    made = {node.id for node in found if not isinstance(node.ctx, ast.Load)} - told
    numbers = {name: f"_{number}" for number, name in enumerate(dict.fromkeys(n.id for n in found))}
    for node in found:
        node.id = numbers[node.id] if node.id in made else node.id
    return tuple(ast.unparse(each.node) for each in statements)


def _aliases(statements: Sequence[_Statement], known: Known, varies: set[str]) -> Aliases:
    found = Aliases()
    values = known.values.union(*(each.sets - each.imports for each in statements))
    values -= known.scalars - varies
    for each in statements:
        sharing = [names_in(piece) for piece in find_sharing(each.node, known.holders | varies)]
        for names in (*sharing, each.names if each.users else set[str]()):
            found.join(names & values)
    outside = set[str]().union(*(each.outside for each in statements))
    for some in (known.values,) if known.sharing is None else known.sharing:
        found.join(outside & some & values)  # they may, nobody knows
    return found


def _backwards(
    statements: Sequence[_Statement], wanted: set[str], aliases: Aliases
) -> list[_Statement]:
    """Return the statements that touch what is wanted, or what such a one hangs on, in order."""
    kept = list[_Statement]()
    for each in reversed(statements):
        touched = each.sets | aliases.of(each.changes)
        touched |= set() if each.quiet else {_STATE, OUTPUT}
        touched |= {OUTPUT} if each.shows else set()
        touched |= {RESULT} if each is statements[-1] else set()
        everything = bool(kept) and kept[-1].opaque
        if each.opaque or not wanted.isdisjoint(touched) or (everything and touched):
            each.opaque |= everything  # what is before it is heeded as well
            kept.append(each)
            wanted |= each.names if each.quiet else each.names | {_STATE}
    return kept[::-1]


def _look(node: ast.stmt, known: Known, made: set[str]) -> _Statement | None:
    """Look at a statement, and at all in it, where those before it made some names."""
    nodes = nodes_in(node)
    if any(isinstance(each, _NO_SLICE) for each in nodes):
        return None
    names = [each for each in nodes if isinstance(each, ast.Name)]
    reads = {each.id for each in names if isinstance(each.ctx, ast.Load)}
    found = _Statement(node, {each.id for each in names}, reads, set_by(nodes))
    values = known.plain | known.objects
    if not found.names.isdisjoint(known.objects):
        found.changes |= found.names
        found.quiet = False
    if not found.names.isdisjoint(known.others | (made - values)):
        _run_users(found, known)
    found.shows = _shows([node]) and not _returns_nothing(node, known.holders)
    for each in nodes:
        if isinstance(each, (ast.Import, ast.ImportFrom)):
            found.imports |= set_by(each.names)
            found.opaque |= _is_users(each)
        elif isinstance(each, ast.Call):
            _look_at_call(each, found, known)
        elif isinstance(each, (ast.Attribute, ast.Subscript)) and not isinstance(
            each.ctx, ast.Load
        ):
            found.changes |= base_of(each)
            found.opaque |= not base_of(each) <= values or _is_deep(each)
        elif isinstance(each, ast.AugAssign):
            found.reads |= base_of(each.target)
            found.changes |= base_of(each.target)
    if found.opaque:
        found.quiet = False
    return found


def _shows(statements: Sequence[ast.stmt]) -> bool:
    """Tell whether the last of some statements is an expression, which may be shown."""
    return isinstance(next(reversed(statements), None), ast.Expr)


def _returns_nothing(node: ast.stmt, holders: set[str]) -> bool:
    """Tell whether an expression is ``log.append(loss)``, of which there is nothing to show."""
    call = node.value if isinstance(node, ast.Expr) else None
    called = call.func if isinstance(call, ast.Call) else None
    if not (isinstance(called, ast.Attribute) and isinstance(called.value, ast.Name)):
        return False
    return called.attr in CHANGES and called.value.id in holders


def _is_users(node: ast.Import | ast.ImportFrom) -> bool:
    """Tell whether an import may run code of the user's, or set names that are not seen."""
    star = any(name.name == "*" for name in node.names)
    relative, module = getattr(node, "level", 0), getattr(node, "module", None)
    modules = [module] if module else [name.name for name in node.names]
    return star or relative > 0 or not are_silent({each.partition(".")[0] for each in modules})


def _run_users(found: _Statement, known: Known) -> None:
    """Note that code of the user's may run."""
    found.users = True
    found.opaque |= known.inside is None
    inside = known.inside or set()
    found.names |= inside
    found.reads |= inside
    found.changes |= found.names
    found.quiet = False


def _look_at_call(call: ast.Call, found: _Statement, known: Known) -> None:
    plain = known.plain
    path, words = dotted_name(call.func), {word.arg for word in call.keywords}
    tail, base = getattr(call.func, "attr", path), base_of(call.func)
    found.shows |= path == "print"
    found.changes |= plain if tail == "backward" else set()  # whatever takes part in it
    if not tail:
        _run_users(found, known)
    found.opaque |= tail in OPAQUE or tail.startswith(SETTING) > (tail in _PURE)
    if path.partition(".")[0] in _DRAWING:
        found.quiet = False
        return
    if words.isdisjoint({"inplace", "out"}):
        if _is_function(path) or (path != tail and base <= _PLAIN | plain and tail in _PURE):
            return
        if path != tail and base <= plain and tail in CHANGES:
            found.changes |= base
            found.opaque |= _is_deep(call.func)
            return
    _change_all(call, found)


def _is_deep(part: ast.expr) -> bool:
    """Tell whether it is a part of an item, ``a[b].c``: nobody knows who else holds that item."""
    return isinstance(getattr(part, "value", None), ast.Subscript)


def _is_function(path: str) -> bool:
    """Tell whether a function heeds nothing but its arguments and settings, and changes neither."""
    root, _, rest = path.partition(".")
    if root == "torch":
        return rest in _OF_TORCH
    if root in MODULES:
        return rest != "" and "random" not in rest and not rest.startswith(_ASIDE)
    return path in FUNCTIONS


def _change_all(call: ast.Call, found: _Statement) -> None:
    """Note a call that may change what it is given, and what libraries keep."""
    found.changes |= names_in(call)
    found.quiet = False
