"""What a recorded run did, by the actions in its record: which of them seed, remove, import."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from ipytorchseed.patterns import lazy_pattern

MOST_ACTIONS = 200
"""Actions of one run that are recorded, and characters of each."""

_SEEDS = lazy_pattern(r"(.*_)?seed(_.*)?|set_?(rng_)?state")
"""The last parts of names of functions that seed, or set a state."""

_SETS_STATE = lazy_pattern(r"seed|set_?(rng_)?state|bit_generator")
"""What they have in them, or those of what else puts a source elsewhere than draws do."""

_TELLS_ALL = lazy_pattern(r"^%|=$")
"""Actions of which not only the last part tells: magics, and ``rng.bit_generator.state=``."""

_SOURCES = {"numpy": "numpy", "random": "python", "torch": "torch"}
"""By the first part of a name, the library whose sources it sets."""

_DRAWS = lazy_pattern(
    r"rand|dropout|sample|shuffle|permut|normal|uniform|bernoulli|multinomial|poisson|\.nn\.[A-Z]"
    r"|init\.|compile|attention"
)
"""In the names of functions of torch, numpy and ``random`` that draw."""

_DRAWS_NOTHING = frozenset({"getattr", "hasattr", "id", "isinstance", "len", "print", "repr"})
"""Builtins that draw from nothing that they are given."""


def is_name(action: str) -> bool:
    """Return whether an action is a call or an assignment, rather than a magic or a statement."""
    return action[:1] not in ("%", "!", "=") and " " not in action


def imports_of(actions: Iterable[str]) -> set[str]:
    """Return the packages that actions import."""
    imported = (each.removeprefix("import ") for each in actions if each.startswith("import "))
    return {each.partition(".")[0] for each in imported} - {""}


def last_part(action: str) -> str:
    """Return the last part of the name that an action calls or sets."""
    return action.rpartition(".")[2] if is_name(action) else ""


def may_set_state(actions: Iterable[str], name: str) -> bool:
    """Return whether actions may put a source elsewhere than draws do.

    Args:
        actions: As in the record of a run.
        name: The source, or generator. Functions that seed another library do not count.
    """
    library = name.partition(".")[0]
    return any(
        _SETS_STATE.search(action if _TELLS_ALL.search(action) else last_part(action)) is not None
        and _SOURCES.get(action.partition(".")[0], library) == library
        for action in actions
    )


def may_draw_first(actions: Sequence[str], name: str) -> bool:
    """Return whether actions seed a source, and may draw from it before the first that does.

    Args:
        actions: As in the record of a run.
        name: The source, or generator.
    """
    seeding = (n for n, action in enumerate(actions) if may_set_state([action], name))
    return any(map(_may_draw, actions[: next(seeding, 0)]))


def _may_draw(action: str) -> bool:
    called = last_part(action)
    if not called or called in _DRAWS_NOTHING or _SEEDS.fullmatch(called):
        return False
    own = action.startswith(("numpy.", "random.", "torch."))
    return not own or _DRAWS.search(action) is not None
