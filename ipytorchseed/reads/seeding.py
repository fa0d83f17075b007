"""Sources that a cell draws from before it seeds them, from its text alone."""

from __future__ import annotations

import ast
from collections.abc import Collection, Iterator

from ipytorchseed.patterns import lazy_pattern
from ipytorchseed.reads.draws import may_draw
from ipytorchseed.reads.parsing import dotted_name, nodes_in, parse_text

_SEEDS = lazy_pattern(r"(.*_)?seed(_.*)?")
"""The last parts of names of functions that seed."""


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
