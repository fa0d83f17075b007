"""Which sources a cell seeds, or draws from before it does, from its text alone."""

from __future__ import annotations

import ast
from collections.abc import Collection, Iterator

from ipytorchseed.patterns import lazy_pattern
from ipytorchseed.reads.draws import may_draw
from ipytorchseed.reads.parsing import dotted_name, nodes_in, parse_text

_SEEDS = lazy_pattern(r"(.*_)?seed(_.*)?")
"""The last parts of names of functions that seed."""

_SETS_STATE = lazy_pattern(r"seed|set_?(rng_)?state|bit_generator")
"""What such names, and those of attributes, have in them that put a source somewhere else."""

_LIBRARIES = {"np": "numpy", "numpy": "numpy", "random": "python", "torch": "torch"}
"""By the first part of a name, the library whose sources it is about."""


def may_set_state(source: str, name: str) -> bool:
    """Tell whether a cell may put a source elsewhere than draws do: not only another library's.

    Args:
        source: The cell's text.
        name: The source, or generator.
    """
    tree = parse_text(source)
    if tree is None:  # it has magics
        return _SETS_STATE.search(source) is not None
    nodes = nodes_in(tree)
    paths = [
        dotted_name(each.func) or getattr(each.func, "attr", "")
        for each in nodes
        if isinstance(each, ast.Call)
    ]
    paths += [
        each.attr
        for each in nodes
        if isinstance(each, ast.Attribute) and each.attr == "bit_generator"
    ]
    library = name.partition(".")[0]
    return any(
        _LIBRARIES.get(path.partition(".")[0], library) == library
        for path in paths
        if _SETS_STATE.search(path.rpartition(".")[2])
    )


def drawn_before_seeding(source: str, classes: Collection[str]) -> set[str]:
    """Find the sources that a cell may draw from before the first statement that seeds any.

    Args:
        source: The cell's text.
        classes: Classes of the user's, whose objects may be models.

    Returns:
        Names of sources; none where no statement seeds.
    """
    tree = parse_text(source)
    found = set[str]()
    for path in _calls(tree.body) if tree is not None else ():
        last = path.rpartition(".")[2]
        if _SEEDS.fullmatch(last):
            return found
        if path.startswith("random."):
            found.add("python")
        elif ".random." in path:
            found.add("numpy")
        elif path in classes or may_draw(last):
            found.add("torch.cpu")
    return set()


def _calls(statements: list[ast.stmt]) -> Iterator[str]:
    """Yield the dotted names that statements call, in their order; not those of functions."""
    for each in statements:
        if isinstance(each, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            continue
        blocks = [getattr(each, field, []) for field in ("body", "orelse", "finalbody")]
        inner = [part for block in blocks for part in block]
        for head in ast.iter_child_nodes(each):
            calls = nodes_in(head) if head not in inner else []
            yield from (dotted_name(call.func) for call in calls if isinstance(call, ast.Call))
        yield from _calls(inner)
