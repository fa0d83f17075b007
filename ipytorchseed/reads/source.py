"""Finds the exact source of compiled functions.

A text only counts if it compiles to the function's own code object, including line numbers. Files
that were edited since and rewritten code do not match.
"""

from __future__ import annotations
import __future__

import ast
import linecache
import stat
from bisect import bisect_right
from collections import deque
from collections.abc import Iterator
from contextlib import suppress
from operator import le
from pathlib import Path
from types import CodeType

from ipytorchseed.introspection.quiet import hidden_warnings
from ipytorchseed.reads.parsing import NAME, nodes_in, parse_text

# Characters of one text, which takes about 40 ms to parse; and of all cached texts, about 25 MB.
_MAX_SIZE = 200_000

_WHOLE = -1
_MAX_BODIES = 16

_FLAGS = 0
for _name in __future__.all_feature_names:
    _FLAGS |= getattr(__future__, _name).compiler_flag

_NAMES: dict[type[ast.AST], str] = {
    ast.Lambda: "<lambda>",
    ast.GeneratorExp: "<genexpr>",
}
_FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)
_NAMED = {*_NAMES, *_FUNCTIONS}
_ERRORS = (SyntaxError, ValueError, RecursionError, MemoryError, OverflowError)


class Text:
    """A parsed text, compiled on demand.

    Attributes:
        tree: The text, parsed.
    """

    def __init__(self, tree: ast.Module) -> None:
        self.tree = tree
        self._lines = [*map(_first_line, tree.body)]
        self._nodes: dict[int, dict[tuple[int, str], list[ast.AST]]] = {}
        self._codes: dict[tuple[int, int], dict[tuple[int, str], list[CodeType]]] = {}

    def find(self, code: CodeType) -> list[ast.AST]:
        """Return the functions that were compiled to ``code``: one, or several on a line."""
        at = bisect_right(self._lines, code.co_firstlineno) - 1
        while at >= 0 and (self.tree.body[at].end_lineno or 0) >= code.co_firstlineno:
            nodes = self._functions(at).get((code.co_firstlineno, code.co_name), [])
            # Cells are compiled statement by statement; modules as a whole, due to future imports.
            for part in (at, _WHOLE) if nodes else ():
                codes = self._compiled(code, part)
                if code in codes:
                    return [nodes[codes.index(code)]] if _are_alike(nodes, codes) else nodes
            at -= 1
        return []

    def _functions(self, at: int) -> dict[tuple[int, str], list[ast.AST]]:
        """Return the functions in a statement, by their line and name."""
        found = self._nodes.get(at)
        if found is None:
            found = self._nodes[at] = {}
            nodes = [each for each in nodes_in(self.tree.body[at]) if type(each) in _NAMED]
            for node in sorted(nodes, key=_position):
                name = node.name if isinstance(node, _FUNCTIONS) else _NAMES[type(node)]
                found.setdefault((_first_line(node), name), []).append(node)
        return found

    def _compiled(self, code: CodeType, at: int) -> list[CodeType]:
        """Return the compiled functions of a statement, or the whole, in ``code``'s line."""
        flags = code.co_flags & _FLAGS | ast.PyCF_ALLOW_TOP_LEVEL_AWAIT
        found = self._codes.get((at, flags))
        if found is None:
            tree = self.tree if at == _WHOLE else ast.Module([self.tree.body[at]], [])
            found = self._codes[at, flags] = {}
            for each in _compile(tree, flags):
                found.setdefault((each.co_firstlineno, each.co_name), []).append(each)
        return found.get((code.co_firstlineno, code.co_name), [])


# Parsed files by name, the latest last: ``linecache``'s lines, their size, the text.
_files: dict[str, tuple[list[str], int, Text]] = {}

# Texts that run under a made-up file name, such as bodies of ``%%time``; the latest first.
_bodies: deque[Text] = deque(maxlen=_MAX_BODIES)


def remember(tree: ast.Module) -> None:
    """Keep a text whose functions cannot be found by a file name.

    Args:
        tree: The text, parsed.
    """
    _bodies.appendleft(Text(tree))


def parse_file(name: str) -> ast.Module | None:
    """Return a parsed code file, cached; None if it is gone or too long.

    Args:
        name: Its path.
    """
    if not _is_readable(name):
        return None
    linecache.checkcache(name)
    return _of_file(name).tree


def find_source(code: CodeType) -> list[ast.AST]:
    """Return the parsed functions that were compiled to a code object.

    Args:
        code: The code of a function, lambda or generator expression.

    Returns:
        One, or several if they share a line; none if the source is gone, too long, or differs.
    """
    for text in _texts(code.co_filename):
        found = text.find(code)
        if found:
            return found
    return []


def _texts(name: str) -> Iterator[Text]:
    """Yield the texts that the code of a file may have been compiled from."""
    known = None
    if name in linecache.cache:
        known = _of_file(name)
        yield known
        linecache.checkcache(name)  # forgets files that were written again
    if name in linecache.cache or _is_readable(name):
        fresh = _of_file(name)
        if fresh is not known:
            yield fresh
    elif known is None:
        yield from [*_bodies]


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
    return min(map(_position, [node, *decorators]))[0]


def _position(node: ast.AST) -> tuple[int, int]:
    return getattr(node, "lineno", 0), getattr(node, "col_offset", 0)


def _are_alike(nodes: list[ast.AST], codes: list[CodeType]) -> bool:
    """Return whether parsed and compiled functions have the same, unambiguous order."""
    ends = [(each.end_lineno, each.end_col_offset) for each in nodes]  # type: ignore[attr-defined]
    apart = all(map(le, ends, map(_position, nodes[1:])))
    return apart and len(nodes) == len(codes)


def _compile(tree: ast.Module, flags: int) -> Iterator[CodeType]:
    """Compile a text and yield the code of all functions in it, in order."""
    stack: list[CodeType] = []
    with suppress(*_ERRORS), hidden_warnings(NAME):
        stack.append(compile(tree, NAME, "exec", flags, dont_inherit=True))
    while stack:
        code = stack.pop()
        yield code
        stack += [each for each in code.co_consts[::-1] if isinstance(each, CodeType)]
