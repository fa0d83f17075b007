"""Fingerprints of optimizers: parameters, settings of groups, and state."""

from __future__ import annotations

from itertools import chain
from operator import itemgetter
from typing import Any

from xxhash import xxh3_64_hexdigest

from ipytorchseed.fingerprint.modules import HOOKS, entries
from ipytorchseed.fingerprint.scalars import count, join, text
from ipytorchseed.fingerprint.walk import Draft, Walk, Writing, digest_of
from ipytorchseed.introspection.anatomy import anatomy, dictionary_of

# Attributes that are written separately, or do not affect results. Schedulers replace ``step``.
_OWN = frozenset({"state", "param_groups", "_zero_grad_profile_name", "_opt_called",
                  "_warned_capturable_if_run_uncaptured", "step"})  # fmt: skip

_LAST = 2**31  # the position of parameters that are in no group


def write_optimizer(value: Any, walk: Walk) -> Writing:
    """Encode an optimizer, and the parameters that it updates."""
    made = anatomy(type(value))
    fields = dictionary_of(value)
    groups = [dict(entries(group)) for group in _list(fields.get("param_groups"))]
    updated = [_list(group.pop("params", None)) for group in groups]
    parameters = [*chain(*updated)]
    places = {id(each): place for place, each in enumerate(parameters)}
    found = [(places.get(id(each), _LAST), item) for each, item in entries(fields.get("state"))]
    found.sort(key=itemgetter(0))
    state = [[place for place, _ in found], [item for _, item in found]]
    blocks = yield from walk.tokens((parameters, [[*map(len, updated)], groups], state))
    others = [each for each in made.attributes(value) if each[0] not in _OWN]
    for at, (name, item) in enumerate(others):
        if name.endswith(HOOKS):
            others[at] = name, [hook for _, hook in entries(item)]
    tokens = yield from walk.named(others)
    content = text(made.name) + b"".join(blocks) + join(tokens)
    if not walk.top:
        return Draft(content, "optimizer")
    rates = [_shown(group.get("lr")) for group in groups]
    parts = {
        "lr": ", ".join(rates),
        **dict(zip(("parameters", "settings", "state"), map(digest_of, blocks), strict=True)),
        "groups": str(len(groups)),
    }
    parts |= {f"s:{name}": ", ".join(told) for name, told in _settings(groups).items()}
    parts |= {f"a:{name}": digest_of(token) for name, token in tokens if name[0] != "_"}
    hooks = [(name, token) for name, token in tokens if name.endswith(HOOKS)]
    parts["hooks"] = xxh3_64_hexdigest(join(hooks))
    summary = f"{made.title}, {count(len(parameters), 'parameter')}, lr {parts['lr']}"
    return Draft(content, "optimizer", summary, parts)


def _settings(groups: list[dict[Any, Any]]) -> dict[str, list[str]]:
    """Return the settings of each group as text, except the learning rate.

    Settings that cannot be shown as short text are left out.
    """
    every = [name for group in groups for name in group if type(name) is str]
    names = [name for name in dict.fromkeys(every) if name not in _TOLD_APART]
    found = {name: [_shown(group.get(name)) for group in groups] for name in names}
    return {name: told for name, told in found.items() if "unknown" not in told}


# Learning rates, which are a separate part.
_TOLD_APART = frozenset({"initial_lr", "lr"})


def _list(value: Any) -> list[Any]:
    return list.copy(value) if issubclass(type(value), list) else []


def _shown(value: Any) -> str:
    """Return a setting as short text, or ``unknown``."""
    kind = type(value)
    if value is None or kind is bool:
        return str(value)
    if kind in (int, float):
        return f"{value:g}"
    if kind is tuple and all(type(each) in (int, float) for each in value):
        return f"({', '.join(f'{each:g}' for each in value)})"
    return "unknown"
