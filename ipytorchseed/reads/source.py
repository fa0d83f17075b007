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
from collections import defaultdict, deque
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from types import CodeType

from ipytorchseed.introspection.quiet import hidden_warnings
from ipytorchseed.reads.parsing import NAME, nodes_in, parse_text

# Characters of one text, which takes about 40 ms to parse; and of all cached texts, about 25 MB.
_MAX_SIZE = 200_000

_MAX_BODIES = 16

_FLAGS = 0
for _name in __future__.all_feature_names:
    _FLAGS |= getattr(__future__, _name).compiler_flag

_NAMES: dict[type[ast.AST], str] = {
    ast.Lambda: "<lambda>",
    ast.GeneratorExp: "<genexpr>",
}
_FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)
_ERRORS = (SyntaxError, ValueError, RecursionError, MemoryError, OverflowError)

_WHOLE = -1


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
        """Return the functions that ``code`` was compiled from: one, or several on a line."""
        key, flags = (code.co_firstlineno, code.co_name), code.co_flags & _FLAGS
        at = bisect_right(self._lines, code.co_firstlineno) - 1
        while at >= 0 and (self.tree.body[at].end_lineno or 0) >= code.co_firstlineno:
            nodes = self._functions(at).get(key, [])
            # Cells are compiled statement by statement. In modules, names that are imported in
            # other statements compile to other code.
            if nodes and any(code in self._compiled(each, flags)[key] for each in (at, _WHOLE)):
                return nodes
            at -= 1
        return []

    def _functions(self, at: int) -> dict[tuple[int, str], list[ast.AST]]:
        """Return the functions in a statement, by their line and name."""
        found = self._nodes.get(at)
        if found is None:
            found = self._nodes[at] = defaultdict(list)
            for node in nodes_in(self.tree.body[at]):
                name = node.name if isinstance(node, _FUNCTIONS) else _NAMES.get(type(node))
                if name is not None:
                    found[_first_line(node), name].append(node)
        return found

    def _compiled(self, at: int, flags: int) -> dict[tuple[int, str], list[CodeType]]:
        """Return the compiled functions of a statement or the whole, likewise."""
        found = self._codes.get((at, flags))
        if found is None:
            found = self._codes[at, flags] = defaultdict(list)
            tree = self.tree if at == _WHOLE else ast.Module([self.tree.body[at]], [])
            for each in _compile(tree, flags):
                found[each.co_firstlineno, each.co_name].append(each)
        return found


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


def _texts(name: str) -> list[Text]:
    """Return the texts that the code of a file may have been compiled from."""
    linecache.checkcache(name)  # forgets files that were written again
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


def _compile(tree: ast.Module, flags: int) -> Iterator[CodeType]:
    """Compile a text and yield the code of all functions in it."""
    stack: list[CodeType] = []
    with suppress(*_ERRORS), hidden_warnings(NAME):
        flags |= ast.PyCF_ALLOW_TOP_LEVEL_AWAIT
        stack.append(compile(tree, NAME, "exec", flags, dont_inherit=True))
    while stack:
        code = stack.pop()
        yield code
        stack += [each for each in code.co_consts if isinstance(each, CodeType)]
