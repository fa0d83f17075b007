"""Which names code reads only on its way to write a file: where none is written, it did not run.

It is what cells do that keep what took long to make: load it where the file is there, else make it
and write the file.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator
from functools import lru_cache

from msgspec import Struct

from ipytorchseed.patterns import lazy_pattern
from ipytorchseed.reads.bindings import FUNCTIONS
from ipytorchseed.reads.parsing import children_of, dotted_name, nodes_in, parse_without_magics

_WRITERS = frozenset({
    *("imsave", "savefig", "savetxt", "savez", "savez_compressed", "to_csv", "to_json"),
    *("to_pickle", "tofile", "write_bytes", "write_text"),
})  # fmt: skip
_PATHS = {"joblib.dump": 1, "np.save": 0, "numpy.save": 0, "torch.save": 1}
"""Last parts of names, and names, of what writes a file in a way that is heard.

Of names, which argument the file is; of last parts it is the first.
"""

_NATIVE = {"imwrite": 0, "save_file": 1, "to_feather": 0, "to_parquet": 0}
"""Last parts of names of what writes a file in native code: heard if the code has its name."""

_BUFFER = lazy_pattern(r"(?i)buf|stream|^(?:f|fh|fp|handle|io|out)$")
"""Finds names of what is no path, and written to all the same."""

_LEAVES = (ast.Return, ast.Raise, ast.Break, ast.Continue, ast.Yield, ast.YieldFrom, ast.Await)
_APART = (*FUNCTIONS, ast.Lambda, ast.ClassDef)


class Reading(Struct, frozen=True):
    """Names that code reads.

    Attributes:
        always: Those that it may read whether it writes a file or not.
        writing: Those of which that is not so, as far as this code goes.
        inside: Of the first, those that functions and classes read.
    """

    always: frozenset[str]
    writing: frozenset[str]
    inside: frozenset[str]


@lru_cache(maxsize=512)
def find_reading(source: str) -> Reading | None:
    """Find the names that a cell, and the functions that it defines, read.

    Args:
        source: The cell's text; lines that are magics are passed over.

    Returns:
        None where it is no Python.
    """
    tree = parse_without_magics(source)
    if tree is None:
        return None
    skipped = {id(each) for suite in _suites(tree.body) for each in _before_writing(suite)}
    names: dict[bool, set[str]] = {False: set(), True: set()}
    inside = set[str]()
    stack: list[tuple[ast.AST, bool, bool]] = [(each, False, False) for each in tree.body]
    while stack:
        node, writing, within = stack.pop()
        writing |= id(node) in skipped
        if isinstance(node, _APART):
            writing, within = False, True  # it may be called from anywhere
        elif isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load):
            names[writing].add(node.id)
            inside |= {node.id} if within and not writing else set()
        stack += [(each, writing, within) for each in children_of(node)]
    return Reading(
        frozenset(names[False]), frozenset(names[True] - names[False]), frozenset(inside)
    )


def _suites(body: list[ast.stmt]) -> Iterator[list[ast.stmt]]:
    """Find the suites of code whose statements run one after the other, or fail."""
    yield body
    for statement in body:
        fails = isinstance(statement, ast.Try) and statement.handlers  # and goes on
        for field in ("body", "orelse", "finalbody"):
            inner = getattr(statement, field, None)
            if isinstance(inner, list) and not (fails and field == "body"):
                yield from _suites(inner)
        for handler in getattr(statement, "handlers", ()):
            yield from _suites(handler.body)


def _before_writing(suite: list[ast.stmt]) -> Iterable[ast.stmt]:
    """Return the statements of a suite that run only if it writes a file."""
    places = [place for place, each in enumerate(suite) if _writes(each)]
    if not places:
        return ()
    left = [place for place in range(places[0]) if _may_leave(suite[place])]
    return suite[left[-1] + 1 if left else 0 :]


def _may_leave(statement: ast.stmt) -> bool:
    """Tell whether what comes after a statement may be left out."""
    if isinstance(statement, _APART):
        return False
    return any(isinstance(each, _LEAVES) for each in nodes_in(statement))


def _writes(statement: ast.stmt) -> bool:
    """Tell whether a statement, whenever it runs, writes a file, which is heard."""
    if isinstance(statement, (ast.Expr, ast.Assign)):
        return isinstance(statement.value, ast.Call) and _is_writer(statement.value)
    if isinstance(statement, ast.With):
        calls = [each.context_expr for each in statement.items]
        return any(isinstance(each, ast.Call) and _opens_to_write(each) for each in calls)
    return False


def _is_writer(call: ast.Call) -> bool:
    path = dotted_name(call.func)
    last = getattr(call.func, "attr", path)
    if path not in _PATHS and last not in _WRITERS and last not in _NATIVE:
        return False
    if last in ("write_bytes", "write_text"):  # of a path
        return True
    place = _PATHS.get(path, _NATIVE.get(last, 0))
    target = call.args[place] if len(call.args) > place else None
    if last in _NATIVE:
        return isinstance(target, ast.Constant)
    named = dotted_name(target).rpartition(".")[2] if target is not None else ""
    return target is not None and not _BUFFER.search(named)


def _opens_to_write(call: ast.Call) -> bool:
    mode = [*call.args[1:2], *(each.value for each in call.keywords if each.arg == "mode")]
    texts = [each.value for each in mode if isinstance(each, ast.Constant)]
    return dotted_name(call.func) == "open" and any(str(each)[:1] in "wax" for each in texts)
