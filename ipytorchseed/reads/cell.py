"""Computes the effects and the digest of a cell, including the bodies of magics."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterable
from functools import cache, partial

from msgspec import Struct
from xxhash import xxh3_64_hexdigest

from ipytorchseed.patterns import lazy_pattern
from ipytorchseed.reads.bindings import bound_by
from ipytorchseed.reads.dependencies import is_too_long
from ipytorchseed.reads.effects import Effects
from ipytorchseed.reads.magics import magic_of
from ipytorchseed.reads.parsing import parse_cell
from ipytorchseed.reads.scope import Parse
from ipytorchseed.reads.walker import effects_of_module

_MAX_CELLS = 512

# In cells with more nodes (not counting constants), only the names are collected.
_MAX_NODES = 4_000
_UNCOUNTED = (ast.Constant, ast.expr_context)


# The options with which ``%%deterministic`` only checks the cell and does not seed.
_CHECK = lazy_pattern(r"(?=.*--check\b)(?:--check(?:[ =]\d+)?|--json|--isolate|\s)+")

_CLOSE = object()

# The nodes of constant expressions.
_PLAIN = (ast.Tuple, ast.List, ast.Dict, ast.UnaryOp, ast.unaryop, *_UNCOUNTED)

# The nodes of arguments whose defaults and annotations run no code.
_SIGNATURE = (*_PLAIN, ast.Name, ast.arg, ast.arguments)


class _Cell(Struct, frozen=True):
    """The cached results for a cell's text."""

    effects: Effects
    digest: str


_cells: dict[str, _Cell] = {}


def effects_of_cell(source: str, transform: Callable[[str], str]) -> Effects:
    """Return the effects of a cell's code.

    Args:
        source: The cell's text.
        transform: Converts a cell's text to Python, as the shell does. It is only called if the
            text is not valid Python. No reference to it is kept.

    Returns:
        The effects. They are empty if the text is invalid, because such a cell does not run.
    """
    return _read(source, transform).effects


def code_digest(source: str, transform: Callable[[str], str]) -> str:
    """Return a digest of a cell's code, ignoring comments and layout.

    Args:
        source: The cell's text.
        transform: See ``effects_of_cell``.
    """
    return _read(source, transform).digest


def _read(source: str, transform: Callable[[str], str]) -> _Cell:
    """Return the effects and the digest of a cell, from a cache if possible."""
    if is_too_long(source):
        return _Cell(Effects(complete=False), _hash((source,)))
    found = _cells.get(source)
    if found is None:
        parse = cache(partial(parse_cell, transform=transform))
        if len(_cells) >= _MAX_CELLS:
            _cells.pop(next(iter(_cells)), None)
        found = _cells[source] = _Cell(_effects(source, parse), _digest(source, parse))
    return found


def _digest(source: str, parse: Parse) -> str:
    tree = parse(source)
    if tree is None:
        return _hash((source,))
    body = [node for node in tree.body if not _only_checks(node)]
    try:
        return _hash(_words(ast.Module(body, tree.type_ignores), parse))
    except RecursionError:
        return _hash((source,))


def _hash(words: Iterable[str]) -> str:
    return xxh3_64_hexdigest("".join(words).encode("utf-8", "surrogatepass"))


def _effects(source: str, parse: Parse) -> Effects:
    tree = parse(source)
    if tree is None:
        return Effects()
    nodes = [*ast.walk(tree)]
    if sum(not isinstance(each, _UNCOUNTED) for each in nodes) > _MAX_NODES:
        return _every_name(nodes)
    try:
        effects = effects_of_module(tree, parse)
    except RecursionError:
        return _every_name(nodes)
    # Include attributes in functions that the cell defines, because other code may call them.
    effects.attributes.update(node.attr for node in nodes if isinstance(node, ast.Attribute))
    effects.inert = all(map(_is_inert, tree.body))
    return effects


def _is_inert(statement: ast.stmt) -> bool:
    """Return whether a statement only assigns constants or defines a function.

    ``a = b`` is not inert: IPython can be configured to show assigned values, which runs code of
    their class.
    """
    if isinstance(statement, ast.FunctionDef):
        signature = [statement.args, *filter(None, [statement.returns])]
        nodes = [node for part in signature for node in ast.walk(part)]
        return not statement.decorator_list and all(isinstance(node, _SIGNATURE) for node in nodes)
    if isinstance(statement, ast.Assign):
        targets = statement.targets
        return _is_constant(statement.value) and all(isinstance(each, ast.Name) for each in targets)
    return isinstance(statement, ast.Pass)


def _is_constant(value: ast.expr) -> bool:
    """Return whether an expression consists only of constants."""
    return all(isinstance(each, _PLAIN) for each in ast.walk(value))


def _every_name(nodes: list[ast.AST]) -> Effects:
    """Collect the names in code that is too long or too deeply nested to evaluate."""
    effects = Effects(complete=False)
    for node in nodes:
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load):
            effects.paths.add(node.id)
            effects.reads[node.id] = None
        else:
            effects.writes |= bound_by(node)
    return effects


def _only_checks(node: ast.stmt) -> bool:
    """Return whether a statement is the Python form of ``%%deterministic --check``."""
    if not (isinstance(node, ast.Expr) and isinstance(node.value, ast.Call)):
        return False
    words = [arg.value for arg in node.value.args if isinstance(arg, ast.Constant)]
    return (
        magic_of(node.value) is not None
        and words[:1] == ["deterministic"]
        and _CHECK.fullmatch(str(words[1])) is not None
    )


def _words(node: ast.AST, parse: Parse) -> list[str]:
    """Return words that represent a tree, the same in every version of Python."""
    words: list[str] = []
    stack: list[object] = [node]
    while stack:
        part = stack.pop()
        if isinstance(part, ast.AST):
            words.append(type(part).__name__)
            magic = magic_of(part) if isinstance(part, ast.Call) else None
            body = parse(magic.body) if magic is not None and magic.cell else None
            if body is not None and isinstance(part, ast.Call):
                stack += [body, *part.args[:-1]]
                continue
            fields = part.__dict__
            for field in part._fields:
                value = fields.get(field)
                if value is not None and value != [] and field != "kind":
                    words.append(field)
                    stack.append(value)
        elif isinstance(part, list):
            words.append("[")
            stack.append(_CLOSE)
            stack += reversed(part)
        else:
            words.append("]" if part is _CLOSE else f"{type(part).__name__} {_literal(part)} ")
    return words


def _literal(value: object) -> str:
    try:
        return repr(value)
    except ValueError:  # more digits than Python writes in decimal
        return hex(value) if isinstance(value, int) else ""
