"""Finds the source of compiled functions.

A source is only used if it contains all names in the function's code. So even if a file was edited
since, the source that is found shows every name that the code reads.
"""

from __future__ import annotations

import ast
import linecache
import stat
from collections import defaultdict, deque
from pathlib import Path
from types import CodeType

from ipytorchseed.patterns import lazy_pattern
from ipytorchseed.reads.parsing import nodes_in, parse_text

# The maximum number of characters in a source, which takes about 40 ms to parse, and in all cached
# sources, whose trees take about 25 MB.
_MAX_SIZE = 200_000

_MAX_BODIES = 16

_NAMES: dict[type[ast.AST], str] = {
    ast.Lambda: "<lambda>",
    ast.GeneratorExp: "<genexpr>",
}
_FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)

# Matches names that the compiler adds. It also adds the class to private names: ``_Net__size``.
_IMPLICIT = lazy_pattern(r"|\..*|__\w+__")

_Functions = dict[tuple[int, str], list[ast.AST]]


class Text:
    """A parsed file or cell, in which functions can be found.

    Args:
        tree: The syntax tree.
    """

    def __init__(self, tree: ast.Module) -> None:
        self._statements = tree.body
        self._functions: dict[int, _Functions] = {}

    def find(self, code: CodeType) -> list[ast.AST]:
        """Return the functions that ``code`` may have been compiled from.

        There is more than one if several on the same line have the same name.
        """
        line = code.co_firstlineno
        for at, statement in enumerate(self._statements):
            if _first_line(statement) <= line <= (statement.end_lineno or 0):
                named = self._functions_in(at).get((line, code.co_name), [])
                if found := [each for each in named if _has_names(each, code)]:
                    return found
        return []

    def _functions_in(self, at: int) -> _Functions:
        """Return the functions in a statement, by line and name."""
        found = self._functions.get(at)
        if found is None:
            found = self._functions[at] = defaultdict(list)
            for node in nodes_in(self._statements[at]):
                name = node.name if isinstance(node, _FUNCTIONS) else _NAMES.get(type(node))
                if name is not None:
                    found[_first_line(node), name].append(node)
        return found


def _has_names(node: ast.AST, code: CodeType) -> bool:
    """Return whether a function's source contains all names in its compiled code."""
    words, names, stack = set[str](), set[str](), [code]
    while stack:
        each = stack.pop()
        stack += [constant for constant in each.co_consts if isinstance(constant, CodeType)]
        names.update(each.co_names, each.co_varnames, each.co_cellvars, each.co_freevars)
    for inner in nodes_in(node):
        for field in vars(inner).values():
            texts = field if type(field) is list else [field]
            words.update(*(text.split(".") for text in texts if type(text) is str))
    names = {name for name in names if not {*name.split(".")} <= words}
    unknown = (name for name in names if not _IMPLICIT.fullmatch(name))
    return all(name[:1] == "_" and f"__{name[1:].partition('__')[2]}" in words for name in unknown)


# Parsed files by name, the latest last. Values: the lines in ``linecache``, their size, the result.
_files: dict[str, tuple[list[str], int, Text]] = {}

# Sources without a file name that can be looked up, such as bodies of ``%%time``; the latest first.
_bodies: deque[Text] = deque(maxlen=_MAX_BODIES)


def remember(tree: ast.Module) -> None:
    """Store a source whose functions cannot be found by file name.

    Args:
        tree: The syntax tree of the source.
    """
    _bodies.appendleft(Text(tree))


def find_source(code: CodeType) -> list[ast.AST]:
    """Return the syntax trees of the functions that code may have been compiled from.

    Args:
        code: The code of a function, lambda or generator expression.

    Returns:
        One tree, or several if they are on the same line. Empty if the source is gone, too long, or
        different from the code.
    """
    for text in _texts(code.co_filename):
        found = text.find(code)
        if found:
            return found
    return []


def _texts(name: str) -> list[Text]:
    """Return the sources in which to search for code with a file name."""
    linecache.checkcache(name)  # drops files that have changed
    if name in linecache.cache or _is_readable(name):
        return [_of_file(name)]
    return [*_bodies]


def _is_readable(name: str) -> bool:
    try:
        found = Path(name).stat()
        return stat.S_ISREG(found.st_mode) and found.st_size <= _MAX_SIZE
    except (OSError, ValueError):
        return False


def _of_file(name: str) -> Text:
    lines = linecache.getlines(name)
    known = _files.pop(name, None)
    if known is None or known[0] is not lines:
        text = "".join(lines)
        tree = parse_text(text) if len(text) <= _MAX_SIZE else None
        known = lines, len(text), Text(tree or ast.Module([], []))
    while _files and known[1] + sum(size for _, size, _ in _files.values()) > _MAX_SIZE:
        _files.pop(next(iter(_files)))
    _files[name] = known
    return known[2]


def _first_line(node: ast.AST) -> int:
    decorators: list[ast.expr] = getattr(node, "decorator_list", [])
    return min(getattr(each, "lineno", 0) for each in (node, *decorators))
