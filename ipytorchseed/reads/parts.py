"""Of which values code reads some parts only: attributes, items, columns, the size."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ipytorchseed.introspection.anatomy import module_of_class, name_of_class

if TYPE_CHECKING:
    from collections.abc import Mapping

    from ipytorchseed.reads.effects import Effects


def find_parts(
    effects: Effects, names: Mapping[str, Any], given: Mapping[str, set[str] | None]
) -> dict[str, set[str] | None]:
    """Find which parts of the values that it names some code reads.

    Args:
        effects: What it does with names.
        names: What they hold.
        given: By name, what functions read of it that it is given to, as below.

    Returns:
        By name: attributes (``a:batch``, ``a:model.rate``) and items or columns (``k:price``);
        None for all of it.
    """
    used = {name: {*parts} for name, parts in given.items() if parts is not None}
    whole = given.keys() - used.keys()
    for path in effects.paths:
        root, _, rest = path.partition(".")
        part = rest.partition("()")[0].replace("[", "").replace("]", "")
        if not part:
            whole.add(root)
        else:
            used.setdefault(root, set()).update(() if part.endswith("=") else (f"a:{part}",))
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


def _is_frame(value: object) -> bool:
    made = type(value)
    package = module_of_class(made).partition(".")[0]
    return (package, name_of_class(made)) == ("pandas", "DataFrame")
