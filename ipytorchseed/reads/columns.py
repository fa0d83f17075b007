"""Which columns of data frames code names, told from its form alone."""

from __future__ import annotations

import ast
import itertools

from msgspec import Struct

from ipytorchseed.reads.keys import constant_keys
from ipytorchseed.reads.parsing import nodes_in, parse_text


class Rows(Struct):
    """Rows of what may be a data frame, as ``frame.query("n > 1").groupby("k")`` names them.

    Attributes:
        name: The frame's name.
        columns: Columns that tell the rows, their order and their groups.
        others: What else is evaluated.
        methods: The methods that are called.
    """

    name: str
    columns: list[str] = []
    others: list[ast.expr] = []
    methods: list[ast.Call] = []


def rows_of(node: ast.expr) -> Rows | None:
    """Tell the rows of which frame something is; None where it may be more than its rows."""
    rows = Rows("")
    while not isinstance(node, ast.Name):
        if isinstance(node, ast.Subscript) and (
            isinstance(node.slice, ast.Slice) or not constant_keys(node.slice, places=True)
        ):
            rows.others.append(node.slice)
            node = node.value
        elif isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
            if not _picks(node, node.func.attr, rows):
                return None
            node = node.func.value
        else:
            return None
    rows.name = node.id
    return rows


_BY = {"groupby": (0, "by"), "sort_values": (0, "by"), "set_index": (0, "keys"),
       "nlargest": (1, "columns"), "nsmallest": (1, "columns"), "query": (0, "expr"),
       "dropna": (-1, "subset"), "drop_duplicates": (0, "subset")}  # fmt: skip
"""Methods that pick, order or group rows by columns: which argument names them, and its name."""

_AS_THEY_ARE = frozenset({"copy", "head", "reset_index", "tail"})
"""Methods that give rows as they are, in their order."""


def _picks(call: ast.Call, method: str, rows: Rows) -> bool:
    """Note the columns by which a method picks rows; tells whether those are known."""
    if any(isinstance(each, ast.Starred) for each in call.args):
        return False
    place, word = _BY.get(method, (-1, ""))
    by = [each for at, each in enumerate(call.args) if at == place]
    by += [each.value for each in call.keywords if each.arg == word]
    given = [*call.args, *(each.value for each in call.keywords)]
    if word:
        keys = [columns_in_query(each) if method == "query" else constant_keys(each) for each in by]
        if not keys or not all(keys):
            return False
        rows.columns += itertools.chain(*keys)
    elif method == "assign":
        read = [_columns_of(each.value) for each in call.keywords]
        if call.args or None in read:
            return False
        rows.columns += itertools.chain(*filter(None, read))
    elif method == "sample":
        weights = [each.value for each in call.keywords if each.arg == "weights"]
        if call.args[3:] or any(isinstance(each, ast.Name) for each in weights):
            return False  # it may name a column
        rows.columns += itertools.chain(*map(constant_keys, weights))
    elif method not in _AS_THEY_ARE or (call.args and method == "copy"):
        return False
    rows.others += [each for each in given if each not in by]
    rows.methods.append(call)
    return True


def _columns_of(value: ast.expr) -> list[str] | None:
    """Return the columns that ``lambda d: d["km"] / d["h"]`` reads of a frame; None for any."""
    if not isinstance(value, ast.Lambda):
        return []
    frame = [each.arg for each in value.args.args]
    nodes = nodes_in(value.body)
    read = [
        (constant_keys(each.slice), each.value.id)
        for each in nodes
        if isinstance(each, ast.Subscript) and isinstance(each.value, ast.Name)
    ]
    keys = [each for each, name in read if name in frame and each]
    named = sum(isinstance(each, ast.Name) and each.id in frame for each in nodes)
    plain = len(frame) == 1 and len(keys) == named
    return [*itertools.chain(*keys)] if plain else None


def picked(node: ast.Subscript) -> tuple[list[str], Rows | None]:
    """Tell which columns of which rows brackets pick, of ``.loc`` as well."""
    owner: ast.expr = node.value
    part: ast.expr = node.slice
    if isinstance(owner, ast.Attribute) and owner.attr == "loc" and isinstance(part, ast.Tuple):
        owner, part = owner.value, part.elts[-1]
    keys = constant_keys(part)
    return keys, rows_of(owner) if keys else None


def columns_named(node: ast.expr) -> tuple[str, list[str], list[ast.expr]] | None:
    """Return the frame, the columns and what else is asked of ``frame[rows][["open", "high"]]``.

    None where it is nothing of the kind, or where more than these columns may be asked.
    """
    keys, rows = picked(node) if isinstance(node, ast.Subscript) else ([], None)
    if rows is None or not isinstance(node, ast.Subscript):
        return None
    beside = node.slice.elts[:-1] if isinstance(node.slice, ast.Tuple) else []
    return rows.name, [*keys, *rows.columns], [*rows.others, *beside]


def dropped_by(node: ast.Call) -> list[ast.expr]:
    """Return what names each column in ``frame.drop(columns=["open"])``; none where unknown."""
    words = {word.arg: word.value for word in node.keywords if word.arg != "errors"}
    axis = words.pop("axis", None)
    given = [*node.args, *words.values()]
    fits = words.keys() <= {"labels"} if _is_by_row(axis) else [*words, axis] == ["columns", None]
    named = given[0] if fits and len(given) == 1 else ast.List([])
    return named.elts if isinstance(named, ast.List) else [named]


ALL_BUT = "\1"
"""What a key begins with that stands for all columns but those after it."""


def by_row(node: ast.Call) -> ast.expr | None:
    """Return what ``frame.apply(function, axis=1)`` gives each row to; None for another call."""
    callee, args = node.func, node.args
    if not (isinstance(callee, ast.Attribute) and callee.attr == "apply" and len(args) == 1):
        return None
    rows = any(word.arg == "axis" and _is_by_row(word.value) for word in node.keywords)
    return args[0] if rows and isinstance(callee.value, ast.Name) else None


def _is_by_row(axis: ast.expr | None) -> bool:
    return isinstance(axis, ast.Constant) and axis.value in _BY_ROW


_BY_ROW = (1, "columns")
"""Axes along which a data frame gives a function its rows, and along which columns lie."""


def columns_in_query(node: ast.expr) -> list[str]:
    """Return the columns in ``"price > @limit"``; none where they cannot be told, or one is set."""
    text = node.value if isinstance(node, ast.Constant) else None
    tree = parse_text(text.replace("@", _VARIABLE).strip()) if isinstance(text, str) else None
    names = [each for each in nodes_in(tree) if isinstance(each, ast.Name)] if tree else []
    if any(isinstance(each.ctx, ast.Store) for each in names):
        return []
    return [each.id for each in names if not each.id.startswith(_VARIABLE)]


_VARIABLE = "_at_"
"""What stands for the sign before a variable's name, which is no Python."""
