"""Finds generators that a cell creates and immediately sets to a saved state."""

from __future__ import annotations

import ast
from itertools import zip_longest

from ipytorchseed.reads.parsing import dotted_name, parse_text

# Creates a generator, from entropy if there is no seed.
_MADE = frozenset({
    "MT19937", "PCG64", "PCG64DXSM", "Philox", "Random", "RandomState", "SFC64", "default_rng",
})  # fmt: skip


def as_if_seeded(statement: ast.stmt, following: ast.stmt | None) -> ast.stmt:
    """Return ``rng = default_rng()`` with a seed if the next statement sets its state."""
    if not isinstance(statement, ast.Assign) or len(statement.targets) != 1:
        return statement
    made, name = statement.value, dotted_name(statement.targets[0])
    if not isinstance(made, ast.Call) or made.args or made.keywords or not name:
        return statement
    if dotted_name(made.func).rpartition(".")[2] not in _MADE:
        return statement
    called = following.value if isinstance(following, ast.Expr) else None
    if isinstance(called, ast.Call) and called.args:
        path = dotted_name(called.func)
        known = path in {f"{name}.{each}" for each in ("seed", "set_state", "setstate")}
    else:
        target = following.targets[0] if isinstance(following, ast.Assign) else following
        known = dotted_name(target or made) in {f"{name}.bit_generator.state", f"{name}.state"}
    seeded = ast.Call(made.func, [ast.Constant(0)], [])
    return (
        ast.copy_location(ast.Assign(statement.targets, seeded), statement) if known else statement
    )


def made_in_a_state(source: str) -> set[str]:
    """Return numpy's functions whose generators a cell immediately sets to a state.

    Args:
        source: The cell's text.
    """
    tree = parse_text(source)
    if tree is None:
        return set()
    pairs = zip_longest(tree.body, tree.body[1:])
    return {
        f"numpy.random.{dotted_name(statement.value.func).rpartition('.')[2]}"
        for statement, following in pairs
        if isinstance(statement, ast.Assign) and isinstance(statement.value, ast.Call)
        if as_if_seeded(statement, following) is not statement
    }
