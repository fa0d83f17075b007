"""Finds the source of compiled functions.

A source is only used if it contains all names in the function's code. So even if a file was edited
later, the source that is found shows every name that the code reads.
"""

from __future__ import annotations

import ast
import linecache
import stat
from collections import defaultdict, deque
from functools import lru_cache
from pathlib import Path
from types import CodeType

from ipytorchseed.patterns import lazy_pattern
from ipytorchseed.reads.parsing import parse_text

# The maximum number of characters in a source, which takes about 40 ms to parse.
_MAX_SIZE = 200_000

_MAX_BODIES, _MAX_FILES = 16, 8

_NAMES: dict[type[ast.AST], str] = {ast.Lambda: "<lambda>", ast.GeneratorExp: "<genexpr>"}
_FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)

# Matches names that the compiler adds. It also adds the class to private names: ``_Net__size``.
_IMPLICIT = lazy_pattern(r"|\..*|__\w+__")

_Functions = dict[tuple[int, str], list[ast.AST]]

# Sources without a file name that can be looked up, such as bodies of ``%%time``; the latest first.
_bodies: deque[_Functions] = deque(maxlen=_MAX_BODIES)


def remember(tree: ast.Module) -> None:
    """Store a source whose functions cannot be found by file name.

    Args:
        tree: The syntax tree of the source.
    """
    _bodies.appendleft(_functions_in(tree))


def find_source(code: CodeType) -> list[ast.AST]:
    """Return the syntax trees of the functions that code may have been compiled from.

    Args:
        code: The code of a function, lambda or generator expression.

    Returns:
        One tree, or several if they are on the same line. Empty if the source is gone, too long, or
        different from the code.
    """
    name = code.co_filename
    linecache.checkcache(name)  # drops files that have changed
    known = name in linecache.cache or _is_readable(name)
    texts = [_functions_of("".join(linecache.getlines(name)))] if known else [*_bodies]
    for functions in texts:
        named = functions.get((code.co_firstlineno, code.co_name), [])
        if found := [each for each in named if _has_names(each, code)]:
            return found
    return []


@lru_cache(maxsize=_MAX_FILES)
def _functions_of(text: str) -> _Functions:
    tree = parse_text(text) if len(text) <= _MAX_SIZE else None
    return _functions_in(tree or ast.Module([], []))


def _functions_in(tree: ast.Module) -> _Functions:
    """Return the functions in a source, by line and name."""
    found: _Functions = defaultdict(list)
    for node in ast.walk(tree):
        name = node.name if isinstance(node, _FUNCTIONS) else _NAMES.get(type(node))
        if name is not None:
            decorators: list[ast.expr] = getattr(node, "decorator_list", [])
            line = min(getattr(each, "lineno", 0) for each in (node, *decorators))
            found[line, name].append(node)
    return found


def _has_names(node: ast.AST, code: CodeType) -> bool:
    """Return whether a function's source contains all names in its compiled code."""
    words, names, stack = set[str](), set[str](), [code]
    while stack:
        each = stack.pop()
        stack += [constant for constant in each.co_consts if isinstance(constant, CodeType)]
        names.update(each.co_names, each.co_varnames, each.co_cellvars, each.co_freevars)
    for inner in ast.walk(node):
        for field in vars(inner).values():
            texts = field if type(field) is list else [field]
            words.update(*(text.split(".") for text in texts if type(text) is str))
    names = {name for name in names if not {*name.split(".")} <= words}
    unknown = (name for name in names if not _IMPLICIT.fullmatch(name))
    return all(name[:1] == "_" and f"__{name[1:].partition('__')[2]}" in words for name in unknown)


def _is_readable(name: str) -> bool:
    try:
        found = Path(name).stat()
        return stat.S_ISREG(found.st_mode) and found.st_size <= _MAX_SIZE
    except (OSError, ValueError):
        return False
