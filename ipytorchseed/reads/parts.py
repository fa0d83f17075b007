"""Of which values code reads some parts only: attributes, items, columns, the size."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ipytorchseed.introspection.anatomy import module_of_class, name_of_class
from ipytorchseed.reads.methods import attributes_read

if TYPE_CHECKING:
    from collections.abc import Mapping

    from ipytorchseed.reads.effects import Effects


def find_parts(effects: Effects, names: Mapping[str, Any]) -> dict[str, set[str] | None]:
    """Find which parts of the values that it names some code reads.

    Args:
        effects: What it does with names.
        names: What they hold.

    Returns:
        By name: attributes (``a:batch``, ``a:model.rate``) and items or columns (``k:price``);
        None for all of it.
    """
    used: dict[str, set[str]] = {}
    whole = set()
    for path in effects.paths:
        root, _, rest = path.partition(".")
        part = rest.partition("()")[0].replace("[", "").replace("]", "")
        if not part:
            whole.add(root)
        else:
            read = () if part.endswith("=") else _attributes(names.get(root), part)
            used.setdefault(root, set()).update(f"a:{each}" for each in read)
    varies = {path for path, key in effects.items if not key} | effects.handed
    for path, key in effects.items:
        root = path.removesuffix(".get")
        parts = used.setdefault(root, set())
        parts |= {f"k:{key}"} if key else set()
        parts -= set() if path in varies else {"a:get"}
    for root, key in effects.columns:
        if _is_frame(names.get(root)):
            used.setdefault(root, set()).add(f"k:{key}")
        else:
            whole.add(root)
    return {name: None if name in whole else used.get(name) for name in effects.reads}


def _attributes(value: object, part: str) -> set[str]:
    """Name the attributes that reading one takes: those that it reads, if it is a method."""
    return {part} if "." in part else attributes_read(value, part)


def _is_frame(value: object) -> bool:
    made = type(value)
    package = module_of_class(made).partition(".")[0]
    return (package, name_of_class(made)) == ("pandas", "DataFrame")
