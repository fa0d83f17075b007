"""Finds generators that a cell creates and immediately sets to a saved state."""

from __future__ import annotations

import ast
from itertools import zip_longest

from ipytorchseed.reads.parsing import dotted_name, parse_text

# Functions that create a generator, seeded from entropy if no seed is passed.
_MADE = frozenset({
    "MT19937", "PCG64", "PCG64DXSM", "Philox", "Random", "RandomState", "SFC64", "default_rng",
})  # fmt: skip

# Methods and attributes that set the state of a generator.
_SETTERS = frozenset({"seed", "set_state", "setstate", "state"})


def as_if_seeded(statement: ast.AST, following: ast.AST | None) -> ast.AST:
    """Add a seed to ``rng = default_rng()`` if the next statement sets its state.

    Return other statements unchanged.
    """
    made = statement.value if isinstance(statement, ast.Assign) else None
    if not (isinstance(statement, ast.Assign) and isinstance(made, ast.Call)):
        return statement
    if made.args or made.keywords or dotted_name(made.func).rpartition(".")[2] not in _MADE:
        return statement
    target: ast.AST | None = following.targets[0] if isinstance(following, ast.Assign) else None
    if isinstance(following, ast.Expr) and isinstance(following.value, ast.Call):
        target = following.value.func if following.value.args else None
    path, _, setter = dotted_name(target or made).rpartition(".")
    name = dotted_name(statement.targets[0])
    if not name or setter not in _SETTERS or path.removesuffix(".bit_generator") != name:
        return statement
    seeded = ast.Call(made.func, [ast.Constant(0)], [])
    return ast.copy_location(ast.Assign(statement.targets, seeded), statement)


def made_in_a_state(source: str) -> set[str]:
    """Return the numpy functions that create generators whose state is set next.

    Args:
        source: The cell's text.
    """
    tree = parse_text(source) or ast.Module([], [])
    pairs = zip_longest(tree.body, tree.body[1:])
    seeded = (as_if_seeded(*pair) for pair in pairs if as_if_seeded(*pair) is not pair[0])
    calls = (each.value for each in seeded if isinstance(each, ast.Assign))
    names = (dotted_name(call.func) for call in calls if isinstance(call, ast.Call))
    return {f"numpy.random.{name.rpartition('.')[2]}" for name in names}
