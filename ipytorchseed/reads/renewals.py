"""Finds parts of objects that code overwrites before it reads them.

What such a part held before has no part in the result: ``meter.total = 0``, ``env.reset()`` of a
class of the user's, ``torch.nn.init.zeros_(net[0].bias)``.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable, Mapping

from msgspec import Struct

from ipytorchseed.reads.columns import by_row, columns_named
from ipytorchseed.reads.overwrites import (
    WHOLE_BY_METHOD,
    Lent,
    Parse,
    Statement,
    is_every_item,
    statements_in,
)
from ipytorchseed.reads.parsing import Visitor, dotted_name, names_in

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
        rows: Functions that it has given each row of the object by then.
        keys: Names of lists of columns that it has read by then, as in ``frame[features]``.
        after: By part that it sets, those of them that it has read before.
        lent: The function, or method of the object, that comes next, with the argument's place.
        open: Whether it has done nothing else with it.
        again: Whether it does something with it after that function.
    """

    parts: set[str] = set()
    reads: set[str] = set()
    rows: set[str] = set()
    keys: set[str] = set()
    after: dict[str, set[str]] = {}
    lent: Lent | None = None
    open: bool = True
    again: bool = False

    @property
    def is_told(self) -> bool:
        """Whether nothing that comes later tells more."""
        return not self.open and (self.again or self.lent is None)

    def read(self, part: str) -> None:
        """Note that a part is read."""
        self.again |= not self.open
        if self.open:
            self.reads.add(part)

    def put(self, part: str) -> None:
        """Note that a part is set."""
        if self.open and not any(overlap(part, each) for each in self.reads):
            self.parts.add(part)
            self.after.setdefault(part, {*self.keys})

    def close(self, lent: Lent | None = None) -> None:
        """Note that something else is done with the object."""
        self.again |= not self.open
        self.lent = lent if self.open else self.lent
        self.open = False


FITTED, EVERY = "*_", "*"
"""The parts that stand for all attributes that estimators set when they are fitted, and for all."""


def find_renewals(statements: Iterable[Statement], names: Iterable[str]) -> dict[str, Renewal]:
    """Find the parts of objects that some code sets anew before it reads them, by name.

    Args:
        statements: Those of a cell or a function.
        names: The names that are asked for.
    """
    found = {name: Renewal() for name in names}
    left = {*found}
    for each in statements:
        if not _HIDDEN.isdisjoint(each.mentions):
            break
        if not left.isdisjoint(each.mentions):
            runs = type(each.node) in _CERTAIN
            if each.loop is not None:
                _go_through(each.loop, each.parse, found)
            scan = _Scan(found, certain=runs and each.kinds.isdisjoint(_MAY_NOT_RUN))  # all, once
            if runs:
                scan.certain_to_set(each.node)
            scan.visit(each.node)
            for name, part in scan.put:
                found.setdefault(name, Renewal()).put(part.removesuffix(".data"))
            left = {name for name in left if not found[name].is_told}
        if not left or not each.kinds.isdisjoint(_LEAVES):
            break
    return {name: found[name] for name in names if found[name].parts or found[name].lent}


FITS = frozenset({"fit", "fit_predict", "fit_transform"})
"""Methods of estimators that begin anew."""


def _go_through(loop: ast.For, parse: Parse, found: Mapping[str, Renewal]) -> None:
    """Note that a loop fits all that a value holds, as in ``for name, model in models.items():``.

    The method is said to be one of ``models[]``.
    """
    owner, method = loop.iter, ""
    called = owner.func if isinstance(owner, ast.Call) and not owner.args else None
    if isinstance(called, ast.Attribute):
        owner, method = called.value, called.attr
    if not isinstance(owner, ast.Name) or method not in ("", "items", "values"):
        return
    name, items = owner.id, names_in(loop.target)
    if name not in found or any(name in names_in(each) for each in loop.body):
        return
    for item, how in find_renewals(statements_in(loop.body, parse), items).items():
        root, _, fit = ("" if how.lent is None else how.lent.function).rpartition(".")
        if root == item and fit in FITS:
            found[name].close(Lent(f"{name}[].{fit}", ""))


def overlap(one: str, other: str) -> bool:
    """Tell whether one of two parts is inside the other; a column may be named as an attribute."""
    one, other = (f"{each}.".replace("[", "").replace("]", "") for each in (one, other))
    return one.startswith(other) or other.startswith(one)


class _Scan(Visitor):
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
        self._targets: list[ast.expr] = []
        self.put: list[tuple[str, str]] = []

    def certain_to_set(self, node: ast.stmt) -> None:
        """Note what an assignment sets, whatever may not run of the value."""
        for target in getattr(node, "targets", [getattr(node, "target", None)]):
            self._targets += target.elts if isinstance(target, ast.Tuple | ast.List) else [target]

    def _of(self, name: str) -> Renewal:
        return self._found.setdefault(name, Renewal())

    def visit_Name(self, node: ast.Name) -> None:
        self._of(node.id).close()

    def visit_Attribute(self, node: ast.expr) -> None:
        name, part = _place(node)
        held = _held(node)
        if held is not None and self._of(held[0]).open:
            self._of(held[0]).keys.add(held[1])
            self._of(held[1]).close()
        elif not part:
            self._pick(node)
        elif isinstance(getattr(node, "ctx", None), ast.Load) or not any(
            node is each for each in self._targets
        ):
            self._of(name).read(part)
        else:
            self.put.append((name, part))

    def _pick(self, node: ast.expr) -> None:
        """Note which columns ``frame.loc[rows, "open"]`` reads of some rows, or sets of all."""
        named = columns_named(node)
        if named is None:
            all_of = getattr(node, "value", None) if is_every_item(node) else None
            name, part = ("", "") if all_of is None else _place(all_of)
            if part and any(node is each for each in self._targets):  # of self.steps[:]
                self.put.append((name, part))
            else:
                self.generic_visit(node)
            return
        name, columns, others = named
        every = not others or [type(each) for each in others] == [ast.Slice]
        if any(node is each for each in self._targets) and every:
            self.put += [(name, f"[{each}]") for each in columns]
            return
        for each in columns:
            self._of(name).read(f"[{each}]")
        for other in others:
            self.visit(other)

    visit_Subscript = visit_Attribute

    def visit_AugAssign(self, node: ast.AugAssign) -> None:
        name, part = _place(node.target)
        if part:
            self._of(name).read(part)
        self.generic_visit(node)

    def visit_Call(self, node: ast.Call) -> None:
        function = dotted_name(node.func)
        if self._gives_rows(node):
            return
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

    def _gives_rows(self, node: ast.Call) -> bool:
        """Note ``frame.apply(function, axis=1)``, of which functions read columns."""
        function, owner = by_row(node), getattr(node.func, "value", None)
        if not isinstance(owner, ast.Name):
            return False
        if isinstance(function, ast.Name):
            self._of(owner.id).rows |= {function.id} if self._of(owner.id).open else set()
            return True
        row = [each.arg for each in function.args.args] if isinstance(function, ast.Lambda) else []
        used = names_in(function.body) if isinstance(function, ast.Lambda) else {owner.id}
        if len(row) != 1 or owner.id in used or not isinstance(function, ast.Lambda):
            return False
        inner = _Scan({}, certain=False)
        inner.visit(function.body)
        for each in used - {row[0]}:
            self._of(each).close()
        for part in inner._of(row[0]).reads:
            self._of(owner.id).read(part)
        if not inner._of(row[0]).open:
            self._of(owner.id).close()
        return True

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


def _held(node: ast.expr) -> tuple[str, str] | None:
    """Return the names in ``frame[features]``, which may be columns that the second one holds."""
    if not (isinstance(node, ast.Subscript) and isinstance(node.ctx, ast.Load)):
        return None
    if not (isinstance(node.value, ast.Name) and isinstance(node.slice, ast.Name)):
        return None
    return node.value.id, node.slice.id


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
