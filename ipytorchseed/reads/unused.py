"""Which defaults of a function, and which members of a class, no code uses that was followed."""

from __future__ import annotations

from collections.abc import Collection
from types import FunctionType
from typing import Any

from ipytorchseed.introspection import values as introspection
from ipytorchseed.introspection.anatomy import own
from ipytorchseed.reads.members import Members
from ipytorchseed.reads.options import Arguments, with_defaults


def find_unused(
    value: Any,  # noqa: ANN401
    arguments: Arguments,
    members: Members,
) -> set[str] | None:
    """Name the parts of a function or class on which nothing hangs.

    Args:
        value: What a name holds.
        arguments: How functions and classes are called.
        members: Which members of classes are called.

    Returns:
        Parts of its fingerprint; None where all count, or where it is something else.
    """
    if type(value) is FunctionType:
        return _defaults(arguments.given(value)) or None
    unused = members.unused(value) if introspection.is_class(value) else None
    if unused is None:
        return None
    given = _given(value, unused, arguments, members)
    unused |= members.defaults(value, given)
    return _defaults(given) | {f"a:{name}" for name in unused}


def _given(
    made: type, unused: Collection[str], arguments: Arguments, members: Members
) -> frozenset[str]:
    """Return the parameters of a class of which no call uses the default."""
    init = own(made).get("__init__")
    if type(init) is not FunctionType:
        return frozenset()
    if "__init__" in unused:
        return with_defaults(init)
    return frozenset() if members.all_made else with_defaults(init) & arguments.given(made)


def _defaults(names: Collection[str]) -> set[str]:
    return {f"{kind}:{name}" for kind in "dn" for name in names}
