"""The source of compiled functions: exactly the text that they were compiled from, or none.

A text counts only where it compiles to the function's own code object, line by line: a file that
was edited since, or code that was rewritten, is not taken for what runs.
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

_LARGEST = 200_000
"""Characters of a text that is parsed, in some 40 ms; and of all that are kept, in some 25 MB."""

_WHOLE = -1
_MOST_BODIES = 16

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
    """A parsed text, compiled where it is asked for.

    Attributes:
        tree: The text, parsed.
    """

    def __init__(self, tree: ast.Module) -> None:
        self.tree = tree
        self._lines = [*map(_first_line, tree.body)]
        self._nodes: dict[int, dict[tuple[int, str], list[ast.AST]]] = {}
        self._codes: dict[tuple[int, int], dict[tuple[int, str], list[CodeType]]] = {}

    def find(self, code: CodeType) -> list[ast.AST]:
        """Return the functions that were compiled to ``code``: more than one only on one line."""
        at = bisect_right(self._lines, code.co_firstlineno) - 1
        while at >= 0 and (self.tree.body[at].end_lineno or 0) >= code.co_firstlineno:
            nodes = self._functions(at).get((code.co_firstlineno, code.co_name), [])
            # A cell is compiled statement by statement; a module as a whole, where imports count.
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
        """Return what one statement, or the whole, has of functions in the line of ``code``."""
        flags = code.co_flags & _FLAGS | ast.PyCF_ALLOW_TOP_LEVEL_AWAIT
        found = self._codes.get((at, flags))
        if found is None:
            tree = self.tree if at == _WHOLE else ast.Module([self.tree.body[at]], [])
            found = self._codes[at, flags] = {}
            for each in _compile(tree, flags):
                found.setdefault((each.co_firstlineno, each.co_name), []).append(each)
        return found.get((code.co_firstlineno, code.co_name), [])


_files: dict[str, tuple[list[str], int, Text]] = {}
"""By file name, the latest last: lines as ``linecache`` holds them, their size, what they say."""

_bodies: deque[Text] = deque(maxlen=_MOST_BODIES)
"""Texts that run under a made-up name, such as the bodies of ``%%time``; the latest first."""


def remember(tree: ast.Module) -> None:
    """Keep a text whose functions cannot be found by the name of a file.

    Args:
        tree: The text, parsed.
    """
    _bodies.appendleft(Text(tree))


def parse_file(name: str) -> ast.Module | None:
    """Return a file of code, parsed once for all who ask; None where it is gone or too long.

    Args:
        name: Its path.
    """
    if not _is_readable(name):
        return None
    linecache.checkcache(name)
    return _of_file(name).tree


def find_source(code: CodeType) -> list[ast.AST]:
    """Return the functions, as parsed, that were compiled to a code object.

    Args:
        code: The code of a function, lambda or generator expression.

    Returns:
        One, or those that one line holds; none where the source is gone, too long, or another.
    """
    for text in _texts(code.co_filename):
        found = text.find(code)
        if found:
            return found
    return []


def _texts(name: str) -> Iterator[Text]:
    """Return the texts that the code of a file may have been compiled from."""
    known = None
    if name in linecache.cache:
        known = _of_file(name)
        yield known
        linecache.checkcache(name)  # forgets what was written again since
    if name in linecache.cache or _is_readable(name):
        fresh = _of_file(name)
        if fresh is not known:
            yield fresh
    elif known is None:
        yield from [*_bodies]


def _is_readable(name: str) -> bool:
    try:
        found = Path(name).stat()
        return stat.S_ISREG(found.st_mode) and found.st_size <= _LARGEST
    except (OSError, ValueError):
        return False


def _of_file(name: str) -> Text:
    lines = linecache.getlines(name)
    known = _files.pop(name, None)
    if known is None or known[0] is not lines:
        text = "".join(lines)
        tree = parse_text(text) if len(text) <= _LARGEST else None
        known = lines, len(text), Text(tree or ast.Module([], []))
    while _files and known[1] + sum(size for _, size, _ in _files.values()) > _LARGEST:
        _files.pop(next(iter(_files)))
    _files[name] = known
    return known[2]


def _first_line(node: ast.AST) -> int:
    decorators: list[ast.expr] = getattr(node, "decorator_list", [])
    return min(map(_position, [node, *decorators]))[0]


def _position(node: ast.AST) -> tuple[int, int]:
    return getattr(node, "lineno", 0), getattr(node, "col_offset", 0)


def _are_alike(nodes: list[ast.AST], codes: list[CodeType]) -> bool:
    """Return whether functions, as parsed and as compiled, stand in one order: none in another."""
    ends = [(each.end_lineno, each.end_col_offset) for each in nodes]  # type: ignore[attr-defined]
    apart = all(map(le, ends, map(_position, nodes[1:])))
    return apart and len(nodes) == len(codes)


def _compile(tree: ast.Module, flags: int) -> Iterator[CodeType]:
    """Compile a text, and return the code of all functions in it, as they stand."""
    stack: list[CodeType] = []
    with suppress(*_ERRORS), hidden_warnings(NAME):
        stack.append(compile(tree, NAME, "exec", flags, dont_inherit=True))
    while stack:
        code = stack.pop()
        yield code
        stack += [each for each in code.co_consts[::-1] if isinstance(each, CodeType)]
