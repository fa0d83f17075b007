"""Finds parts of objects that code overwrites before it reads them.

What such a part held before has no part in the result: ``meter.total = 0``, ``env.reset()`` of a
class of the user's, ``torch.nn.init.zeros_(net[0].bias)``.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterable

from msgspec import Struct

from ipytorchseed.reads.overwrites import WHOLE_BY_METHOD, Lent, statements_in
from ipytorchseed.reads.parsing import dotted_name, nodes_in

_CERTAIN = {ast.Expr, ast.Assign, ast.AnnAssign, ast.Return}
_LEAVES = {ast.Return, ast.Break, ast.Continue}
_MAY_NOT_RUN = {ast.Lambda, ast.IfExp, ast.BoolOp, ast.comprehension}
_FILLS = WHOLE_BY_METHOD - {"load_state_dict"}
_HIDDEN = frozenset({"eval", "exec", "globals", "locals", "super", "vars"})
"""Names by which code comes by objects that it does not name."""


class Renewal(Struct):
    """What code does with an object from the begin on.

    Attributes:
        parts: Parts that it sets before it reads them: ``total``, ``[rate]``, ``[0].bias``.
        reads: Those that it has read by then.
        lent: The function, or method of the object, that comes next, with the argument's place.
        open: Whether it has done nothing else with it.
    """

    parts: set[str] = set()
    reads: set[str] = set()
    lent: Lent | None = None
    open: bool = True

    def read(self, part: str) -> None:
        """Note that a part is read."""
        if self.open:
            self.reads.add(part)

    def put(self, part: str) -> None:
        """Note that a part is set."""
        if self.open and not any(overlap(part, each) for each in self.reads):
            self.parts.add(part)

    def close(self, lent: Lent | None = None) -> None:
        """Note that something else is done with the object."""
        self.lent = lent if self.open else self.lent
        self.open = False


FITTED = "*_"
"""The part that stands for all attributes which estimators set when they are fitted."""


def find_renewals(
    body: Iterable[ast.stmt], parse: Callable[[str], ast.Module | None]
) -> dict[str, Renewal]:
    """Find the parts of objects that some code sets anew before it reads them, by name.

    Args:
        body: The statements of a cell or a function.
        parse: Parses the bodies of magics such as ``%%time``.
    """
    found: dict[str, Renewal] = {}
    for node in statements_in(body, parse):
        parts = nodes_in(node)
        kinds = {*map(type, parts)}
        if not _HIDDEN.isdisjoint(each.id for each in parts if isinstance(each, ast.Name)):
            break
        certain = type(node) in _CERTAIN and kinds.isdisjoint(_MAY_NOT_RUN)  # all runs, once
        scan = _Scan(found, certain=certain)
        scan.visit(node)
        for name, part in scan.put:
            found.setdefault(name, Renewal()).put(part.removesuffix(".data"))
        if not kinds.isdisjoint(_LEAVES):
            break
    return {name: each for name, each in found.items() if each.parts or each.lent}


def overlap(one: str, other: str) -> bool:
    """Tell whether one of two parts is inside the other."""
    one, other = f"{one}.", f"{other}."
    return one.startswith(other) or other.startswith(one)


class _Scan(ast.NodeVisitor):
    """Notes what one statement does with objects, in the order in which it is done.

    Args:
        found: What was done before, by name.
        certain: Whether all of it runs.

    Attributes:
        put: Names and the parts of their objects that it sets in the end.
    """

    def __init__(self, found: dict[str, Renewal], *, certain: bool) -> None:
        self._found = found
        self._certain = certain
        self.put: list[tuple[str, str]] = []

    def _of(self, name: str) -> Renewal:
        return self._found.setdefault(name, Renewal())

    def visit_Name(self, node: ast.Name) -> None:
        self._of(node.id).close()

    def visit_Attribute(self, node: ast.expr) -> None:
        name, part = _place(node)
        if not part:
            self.generic_visit(node)
        elif isinstance(getattr(node, "ctx", None), ast.Load) or not self._certain:
            self._of(name).read(part)
        else:
            self.put.append((name, part))

    visit_Subscript = visit_Attribute  # noqa: N815 -- the name that ast.NodeVisitor asks for

    def visit_AugAssign(self, node: ast.AugAssign) -> None:
        name, part = _place(node.target)
        if part:
            self._of(name).read(part)
        self.generic_visit(node)

    def visit_Call(self, node: ast.Call) -> None:
        function = dotted_name(node.func)
        given = [*node.args]
        name, part = _place(given[0]) if given else ("", "")
        fills = ".init." in f".{function}" and function.endswith("_")
        if part and fills and self._certain:
            self.put.append((name, part))
            del given[0]
        places: list[tuple[int | str, ast.expr]] = [*enumerate(given)]
        places += [(each.arg or "", each.value) for each in node.keywords]
        for place, each in places:
            if isinstance(each, ast.Name) and function and self._certain and not fills:
                self._of(each.id).close(Lent(function, place))
            else:
                self.visit(each)
        if len(given) == len(node.args):
            self._call(node.func, function)

    def _call(self, called: ast.expr, function: str) -> None:
        """Note what a call does with the object whose method is called."""
        owner = called.value if isinstance(called, ast.Attribute) else called
        method = called.attr if isinstance(called, ast.Attribute) else ""
        name, part = _place(owner)
        if method in _FILLS and part and self._certain:
            self.put.append((name, part))
        elif method and isinstance(owner, ast.Name):
            self._of(owner.id).close(Lent(function, "") if self._certain else None)
        else:
            self.visit(owner)


def _place(node: ast.expr) -> tuple[str, str]:
    """Return the name and the part of ``net[0].bias``; no part where this is none."""
    steps: list[str] = []
    while not isinstance(node, ast.Name):
        if isinstance(node, ast.Attribute):
            steps.append(f".{node.attr}")
        elif isinstance(node, ast.Subscript) and isinstance(node.slice, ast.Constant):
            steps.append(f".[{node.slice.value!s}]")
        else:
            return "", ""
        node = node.value
    return node.id, "".join(reversed(steps))[1:]
